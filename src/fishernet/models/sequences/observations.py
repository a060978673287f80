"""Sequences of numbers, counts and labels, as one array: they are read once, here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.display import Brief
from fishernet.base.errors import SchemaError
from fishernet.base.names import a, listed, several, shown
from fishernet.data import as_table
from fishernet.data.matching import is_frame, is_table
from fishernet.data.numbers import LARGEST
from fishernet.data.variable import Column
from fishernet.models.emissions.base import Offsets, Where
from fishernet.models.gaussian import Numbers

SHAPES = (
    "give a list of sequences, each a list or an array of numbers, an array with a row for each step, or a table; one "
    "sequence x is [x]"
)


@dataclass(frozen=True, eq=False, repr=False)
class Observations(Brief):
    """The steps of sequences, one after the other."""

    X: Numbers
    """(n_steps, d): numbers, or codes of labels; NaN where a cell is missing."""
    offsets: Offsets
    """(n_sequences + 1,) sequence i is ``X[offsets[i]:offsets[i + 1]]``."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of steps of each sequence."""
        return np.diff(self.offsets)

    def split(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Return what belongs to the steps, a part for each sequence."""
        ends = self.offsets.tolist()
        return [values[first:end] for first, end in itertools.pairwise(ends)]


def listed_sequences(sequences: Any) -> list[Any]:
    """Return sequences as a list; SchemaError where one sequence or one table is given in their place."""
    if is_table(sequences) or is_frame(sequences):
        raise SchemaError(f"one table is one sequence; {SHAPES}", parameter="sequences")
    if isinstance(sequences, str | bytes) or not isinstance(sequences, Iterable):
        raise SchemaError(f"{a(type(sequences).__name__)} is no list of sequences; {SHAPES}", parameter="sequences")
    if isinstance(sequences, np.ndarray) and sequences.ndim == 2 and sequences.dtype.kind in "iuf":
        raise SchemaError(
            f"an array of shape {sequences.shape} may be one sequence or many: write [X] for one with a row for each "
            "step, list(X) for a sequence in each row",
            parameter="sequences",
        )
    if getattr(sequences, "ndim", 1) == 0:
        raise SchemaError(f"a single number is no list of sequences; {SHAPES}", parameter="sequences")
    return list(sequences)


def is_rows(sequence: Any) -> bool:
    """Return whether one sequence is a table, whose columns have names."""
    return is_table(sequence) or is_frame(sequence)


def read_sequences(sequences: Any, variables: Sequence[Column]) -> Observations:
    """Return sequences as steps of some variables.

    Tables are matched by the names of their columns and by labels; arrays have the columns in their order, and codes of
    labels. None and NaN are missing.

    Raises
    ------
    SchemaError
        When something is no sequence, has other columns, or a number is infinite or too large to be squared.
    """
    items = listed_sequences(sequences)
    parts = [
        _of_table(item, variables) if is_rows(item) else _of_array(item, number, len(variables))
        for number, item in enumerate(items)
    ]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    X = np.concatenate([*parts, np.zeros((0, len(variables)))])
    beyond = np.abs(X) > LARGEST
    if beyond.any():
        row, column = map(int, np.argwhere(beyond)[0])
        where = f"{Where(offsets).of(row)}: column {variables[column].name!r}"
        known = f"numbers must be finite, {LARGEST:g} at most, and NaN or None where missing"
        raise SchemaError(f"{where} is {X[row, column]}; {known}")
    return Observations(X, offsets)


def _of_table(data: Any, variables: Sequence[Column]) -> Numbers:
    table = as_table(data, variables)
    X = np.empty((table.n_rows, len(variables)))
    for place, (variable, column) in enumerate(zip(variables, table.codes, strict=True)):
        X[:, place] = column
        if not variable.is_continuous:
            X[column == variable.cardinality, place] = np.nan
    return X


def numbers_of(item: Any, number: int) -> Numbers:
    """Return one sequence as an array of floats of any shape; SchemaError where it holds something else."""
    try:
        if isinstance(item, str | bytes):
            raise TypeError
        return np.asarray(item, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError(
            f"sequence {number} is no sequence of numbers: {shown(item, 80)}; labels beside numbers are columns of a "
            "table, and strings of symbols need emission='labels'",
            parameter="sequences",
        ) from None


def _of_array(item: Any, number: int, d: int) -> Numbers:
    """Return one sequence as (n, d) numbers."""
    array = numbers_of(item, number)
    if array.ndim == 1 and (d == 1 or not array.size):
        return array.reshape(-1, d)
    if array.ndim != 2 or array.shape[1] != d:
        size = "a single number" if not array.ndim else f"an array of shape {array.shape}"
        raise SchemaError(
            f"sequence {number} is {size}; each step has {several(d, 'number')}"
            + (f", and {SHAPES}" if not array.ndim else ""),
            parameter="sequences",
        )
    return array


def doubled_columns(names: Sequence[str]) -> list[str]:
    """Return the names that come twice."""
    return sorted({name for name in names if names.count(name) > 1})


def require_distinct(names: Sequence[str]) -> None:
    """Raise SchemaError when two emissions have a column of one name."""
    twice = doubled_columns(names)
    if twice:
        raise SchemaError(f"two emissions have the column {listed(twice)}; give each its own names=")
