"""All substrings of one length as numbers: what Markov chains and spectrum kernels count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet.models.sequences.alphabet import Strings

Integers = npt.NDArray[np.int64]


def windows(strings: Strings, bases: Sequence[int]) -> tuple[Integers, Integers]:
    """Return every substring of a length, as the string that it is in and as a number.

    Parameters
    ----------
    strings : Strings
    bases : sequence of int
        As long as the substrings; how many codes there can be at each of their positions. Their product fits int64.

    Returns
    -------
    owners : (n_windows,) int64
        Which string a substring is in; ascending.
    numbers : (n_windows,) int64
        The position of the substring's codes in an array of that shape, in C order.
    """
    width = len(bases)
    n_places = len(strings.codes) - width + 1
    if n_places <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    numbers = np.zeros(n_places, np.int64)
    for place, base in enumerate(bases):
        numbers *= base
        numbers += strings.codes[place : place + n_places]
    owners = np.repeat(np.arange(len(strings)), strings.lengths)
    inside = owners[:n_places] == owners[width - 1 :]
    return owners[:n_places][inside], numbers[inside]


def with_end(strings: Strings, code: int) -> Strings:
    """Return the strings, each with one more code at its end."""
    codes = np.insert(strings.codes, strings.offsets[1:], code)
    return Strings(codes, strings.offsets + np.arange(len(strings.offsets)))
