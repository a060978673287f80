"""Models of sequences: strings, or lists of symbols."""
