"""Strings of one length as a matrix of codes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.models.sequences.alphabet import Strings

Block = npt.NDArray[np.int32]


def one_length(what: str, strings: Strings, length: int | None = None) -> Block:
    """Return the codes of strings of one length, (n, length).

    Parameters
    ----------
    what : str
        Who asks, for the message.
    strings : Strings
    length : int, optional
        What they must have; that of the first, without it.

    Raises
    ------
    SchemaError
        When a string has another length.
    """
    lengths = strings.lengths
    if length is None:
        length = int(lengths[0]) if len(lengths) else 0
    if (lengths != length).any():
        other = int(np.argmax(lengths != length))
        raise SchemaError(
            f"{what} compares strings of one length: string {other} has {lengths[other]} symbols, others have {length}"
            "; PairHmmKernel takes strings of any lengths"
        )
    return strings.codes.reshape(len(strings), length)
