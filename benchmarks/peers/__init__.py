"""One worker a peer: each reads a job, runs it with its own library and writes what it found."""
