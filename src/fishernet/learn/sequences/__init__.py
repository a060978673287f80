"""Learning models of sequences."""
