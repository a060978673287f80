"""Files of sequences."""

from fishernet.files.sequences.fasta import NamedStrings, read_fasta
from fishernet.files.sequences.stockholm import read_stockholm

__all__ = ["NamedStrings", "read_fasta", "read_stockholm"]
