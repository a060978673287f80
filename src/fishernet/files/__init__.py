"""Files of models and of sequences: the library's own format, exact and versioned, and those of other programs."""

from fishernet.files.bif_reader import read_bif
from fishernet.files.bif_writer import write_bif
from fishernet.files.formats import load, save
from fishernet.files.newick import read_newick, read_newicks
from fishernet.files.sequences import NamedStrings, read_fasta, read_stockholm
from fishernet.files.uai import read_uai, read_uai_evidence, write_uai
from fishernet.files.xdsl import read_xdsl, write_xdsl

__all__ = [
    "NamedStrings",
    "load",
    "read_bif",
    "read_fasta",
    "read_newick",
    "read_newicks",
    "read_stockholm",
    "read_uai",
    "read_uai_evidence",
    "read_xdsl",
    "save",
    "write_bif",
    "write_uai",
    "write_xdsl",
]


def __dir__() -> list[str]:
    return __all__
