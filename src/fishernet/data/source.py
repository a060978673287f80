"""What a learner knows of the data: a source of counts.

A table in memory is one; a stream of batches, a pool of processes or a cluster can be others. Everything that learns a
structure or fits parameters asks a source and never sees a row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.data.counts import Counts, most_dense_cells
from fishernet.data.matching import is_frame
from fishernet.data.table import Table
from fishernet.data.variable import Variable


@runtime_checkable
class CountSource(Protocol):
    """Where counts come from.

    Attributes
    ----------
    variables : tuple of Variable
        The columns; sets of variables are given by positions among them.
    n_rows : int or float
        The number of rows, each as often as its weight says: the sum of the weights.
    """

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns."""
        ...

    @property
    def n_rows(self) -> int | float:
        """The sum of the rows' weights."""
        ...

    def counts(self, sets: Sequence[tuple[int, ...]]) -> list[Counts]:
        """Return the joint counts of sets of variables, in that order.

        Parameters
        ----------
        sets : sequence of tuples of int
            Ascending positions. Asking for many at once may save passes over the data.

        Returns
        -------
        list of Counts
            Dense while a table has at most 8 n_rows cells, otherwise the cells that occur. Rows with a missing cell
            in a set are left out of it, and their number said. The answers of two sources add.
        """
        ...


class TableCounts:
    """The counts of a table in memory, by the core.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.variables = table.require_categorical("what is learned from counts")
        self.n_rows = table.total
        _, self._unit = table.weights_in_units
        self.most_dense = most_dense_cells(table.n_rows if table.has_fractions else int(table.total))

    def counts(self, sets: Sequence[tuple[int, ...]]) -> list[Counts]:
        """Return the joint counts of sets of ascending positions, in that order."""
        for chosen in sets:
            check_set(chosen, len(self.variables))
        offsets, members = flat_sets(sets)
        answers = _core.count(self.table.native, offsets, members, self.most_dense)
        cardinalities = self.table.cardinalities
        found = []
        for chosen, (values, states, left_out) in zip(sets, answers, strict=True):
            shape = tuple([cardinalities[v] for v in chosen])
            cells = values.reshape(shape) if states is None else values
            found.append(Counts.adopt(chosen, shape, cells, states, left_out))
        return [self._weighted(counts) for counts in found] if self.table.has_fractions else found

    def _weighted(self, counts: Counts) -> Counts:
        """Return counts of units as sums of weights: exact, and so are their sums."""
        return replace(
            counts,
            values=np.asarray(counts.values * self._unit, dtype=np.float64),
            left_out=counts.left_out * self._unit,
        )


def check_set(chosen: tuple[int, ...], n_variables: int) -> None:
    """Raise SchemaError unless the positions are ascending and in range."""
    if any(a >= b for a, b in itertools.pairwise(chosen)) or (
        chosen and not (chosen[0] >= 0 and chosen[-1] < n_variables)
    ):
        raise SchemaError(f"a set must hold ascending positions from 0 to {n_variables - 1}, got {chosen}")


def flat_sets(sets: Iterable[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Return sets as the core takes them: offsets (n + 1,) int64 and members int32, one set after the other."""
    lengths = [0]
    members: list[int] = []
    for chosen in sets:
        members.extend(chosen)
        lengths.append(len(members))
    return np.array(lengths, dtype=np.int64), np.array(members, dtype=np.int32)


def as_source(data: Any) -> CountSource:
    """Return a source of counts: that of a table or a data frame, or the source itself.

    Raises
    ------
    SchemaError
        When it is neither.
    """
    if isinstance(data, Table):
        return TableCounts(data)
    if isinstance(data, CountSource):
        return data
    if is_frame(data):
        return TableCounts(Table.from_frame(data))
    raise SchemaError(
        f"a Table or a source of counts is needed, not {type(data).__name__}; "
        "fn.read_table reads a file, fn.Table.from_frame takes a data frame"
    )
