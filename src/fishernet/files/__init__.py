"""Files of models: the library's own format, exact and versioned, and the Interchange Format of other programs."""

from fishernet.files.bif import read_bif, write_bif
from fishernet.files.model_file import load, save

__all__ = ["load", "read_bif", "save", "write_bif"]
