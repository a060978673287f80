"""The joint counts of a set of variables: the statistics from which structures and parameters are learned.

Counts of two parts of the data add up to the counts of the whole, wherever the parts lie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, StateSpaceError

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]

DENSE_CELLS_PER_ROW = 8  # a table with more cells than this for every row holds only the cells that occur
MOST_CELLS = 2**31


def most_dense_cells(n_rows: int | float) -> int:
    """Return the number of cells up to which the counts of so many rows hold all cells."""
    return max(1, math.floor(DENSE_CELLS_PER_ROW * n_rows))


@dataclass(frozen=True, eq=False)
class Counts:
    """The joint table of a set of variables; immutable: it takes copies of its arrays.

    Attributes
    ----------
    variables : tuple of int
        Positions of the variables, ascending.
    cardinalities : tuple of int
        Their numbers of states.
    values : ndarray of int64 (float64 for expected counts and for weights that are not whole)
        Dense: one axis a variable. Otherwise (n_cells,): the cells that occur.
    states : (n_cells, n_variables) ndarray of uint32, or None
        The states of the cells that occur, in lexicographic order; None when dense.
    left_out : int or float
        The weight of the rows with a missing cell among these variables; they are not counted.
    """

    variables: tuple[int, ...]
    cardinalities: tuple[int, ...]
    values: Numbers
    states: npt.NDArray[np.uint32] | None
    left_out: int | float = 0

    def __post_init__(self) -> None:
        values: Any = np.array(self.values)
        self._keep(values, None if self.states is None else np.array(self.states))

    def _keep(self, values: Numbers, states: npt.NDArray[np.uint32] | None) -> None:
        for name, array in (("values", values), ("states", states)):
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def adopt(
        cls,
        variables: tuple[int, ...],
        cardinalities: tuple[int, ...],
        values: Numbers,
        states: npt.NDArray[np.uint32] | None,
        left_out: int | float = 0,
    ) -> Self:
        """Make counts that keep the given arrays without a copy; for arrays that nobody else writes to."""
        counts = cls.__new__(cls)
        for name, value in (("variables", variables), ("cardinalities", cardinalities), ("left_out", left_out)):
            object.__setattr__(counts, name, value)
        counts._keep(values, states)
        return counts

    @property
    def is_dense(self) -> bool:
        """Whether all cells are held, not only those that occur."""
        return self.states is None

    @property
    def total(self) -> int | float:
        """The number of rows counted."""
        total: int | float = self.values.sum().item()
        return total

    def table(self) -> Numbers:
        """Return all cells, one axis a variable.

        Raises
        ------
        StateSpaceError
            When there are more than 2**31.
        """
        if self.states is None:
            return self.values
        cells = math.prod(self.cardinalities)
        if cells > MOST_CELLS:
            raise StateSpaceError(
                f"the counts of {len(self.variables)} variables",
                cells=cells,
                limit=MOST_CELLS,
                remedy="use fewer variables or merge states",
            )
        full: npt.NDArray[Any] = np.zeros(cells, dtype=self.values.dtype)
        places = np.ravel_multi_index(tuple(self.states.T), self.cardinalities) if self.variables else slice(None)
        full[places] = self.values if len(self.values) else 0
        return full.reshape(self.cardinalities)

    def marginal(self, variables: Sequence[int]) -> Counts:
        """Return the counts of some of the variables, summed over the others."""
        axes = [self.variables.index(variable) for variable in variables]
        shape = tuple(self.cardinalities[axis] for axis in axes)
        if self.states is None:
            others = tuple(axis for axis in range(len(self.variables)) if axis not in axes)
            return Counts.adopt(tuple(variables), shape, np.asarray(self.values.sum(axis=others)), None, self.left_out)
        values, states = merge_cells(self.values, self.states[:, axes])
        n_rows = int(self.total) + self.left_out
        return sized(Counts.adopt(tuple(variables), shape, values, states, self.left_out), n_rows)

    def __add__(self, other: Counts) -> Counts:
        if (self.variables, self.cardinalities) != (other.variables, other.cardinalities):
            raise SchemaError(
                f"counts of {self.variables} with cardinalities {self.cardinalities} and of {other.variables} "
                f"with {other.cardinalities} do not add"
            )
        left_out = self.left_out + other.left_out
        if self.states is None and other.states is None:
            total = np.asarray(self.values + other.values)  # of no variables it is a scalar
            return Counts.adopt(self.variables, self.cardinalities, total, None, left_out)
        parts = [occurring(self), occurring(other)]
        values, states = merge_cells(
            np.concatenate([values for values, _ in parts]), np.concatenate([states for _, states in parts])
        )
        n_rows = int(values.sum()) + left_out
        return sized(Counts.adopt(self.variables, self.cardinalities, values, states, left_out), n_rows)


def occurring(counts: Counts) -> tuple[Numbers, npt.NDArray[np.uint32]]:
    """Return the cells that occur, (n_cells,), and their states, (n_cells, n_variables), in lexicographic order."""
    if counts.states is not None:
        return counts.values, counts.states
    flat = counts.values.reshape(-1)
    cells = np.flatnonzero(flat)
    states = np.zeros((len(cells), len(counts.variables)), dtype=np.uint32)
    if counts.variables:
        states[:] = np.stack(np.unravel_index(cells, counts.cardinalities), axis=1)
    return flat[cells], states


def merge_cells(values: Numbers, states: npt.NDArray[Any]) -> tuple[Numbers, npt.NDArray[np.uint32]]:
    """Return cells in lexicographic order, equal ones added up."""
    if len(values) == 0:
        return values, states.astype(np.uint32)
    order = np.lexsort(states.T[::-1]) if states.shape[1] else np.arange(len(values))
    ordered = states[order]
    first = np.ones(len(values), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.add.reduceat(values[order], np.flatnonzero(first)), ordered[first].astype(np.uint32)


def sized(counts: Counts, n_rows: int | float) -> Counts:
    """Return the counts in the form that so many rows have: all cells while these are few."""
    if math.prod(counts.cardinalities) > most_dense_cells(n_rows):
        return counts
    return Counts.adopt(counts.variables, counts.cardinalities, counts.table(), None, counts.left_out)
