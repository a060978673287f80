"""Files of models: the library's own format, exact and versioned, and the Interchange Format of other programs."""

from fishernet.files.bif import read_bif, write_bif
from fishernet.files.model_file import load, save
from fishernet.files.newick import read_newick, read_newicks

__all__ = ["load", "read_bif", "read_newick", "read_newicks", "save", "write_bif"]
from fishernet.files.sequences import NamedStrings, read_fasta, read_stockholm

__all__ = ["NamedStrings", "load", "read_bif", "read_fasta", "read_stockholm", "save", "write_bif"]
