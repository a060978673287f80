"""Files of sequences and of their models."""
