"""A number that tells the rows of a table from other rows, in whatever order and place they lie.

Each cell has 64 random bits, those of a row are added and mixed, and those of the rows are added as often as each row
counts, all modulo 2**64. So parts of the data add up to the digest of all, wherever they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.data.arrays import row_blocks
from fishernet.data.variable import Column

Words = npt.NDArray[np.uint64]

BLOCK = 2**16  # rows: their words stay in the processor's cache


def rows_digest(
    variables: Sequence[Column], columns: Sequence[npt.NDArray[Any]], weights: npt.NDArray[Any] | None, n_rows: int
) -> int:
    """Return the digest of rows, from 0 to 2**64 - 1; equal rows have equal ones."""
    keys = mixed(np.arange(len(variables), dtype=np.uint64))
    words_of_codes = [
        None if variable.is_continuous else mixed(np.arange(variable.cardinality + 1, dtype=np.uint64) + key)
        for variable, key in zip(variables, keys, strict=True)
    ]
    total = 0
    for at in row_blocks(n_rows, BLOCK):
        rows = np.zeros(at.stop - at.start, dtype=np.uint64)
        for column, key, words in zip(columns, keys, words_of_codes, strict=True):
            rows += mixed(_bits(column[at]) + key) if words is None else words[column[at]]
        rows = mixed(rows)
        if weights is not None:
            whole = weights.dtype.kind != "f"
            rows = rows * weights[at].astype(np.uint64) if whole else mixed(rows ^ _bits(weights[at]))
        total += int(rows.sum(dtype=np.uint64))
    return total % 2**64


def _bits(numbers: npt.NDArray[np.float64]) -> Words:
    """Return the bits of numbers, where equal numbers have equal ones, and all that are missing."""
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0).view(np.uint64)  # -0.0 becomes 0.0


def mixed(x: Words) -> Words:
    """Return 64 bits that depend on all bits of each number (SplitMix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
