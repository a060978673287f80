"""One file a topic: what is raced, on which data, how answers are checked, what is hoped for; `RACES` is its table."""
