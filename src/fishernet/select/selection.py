"""Chosen rows, how they stand for the table they come from, and rows at random, which every choice has to beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import Framed, brief
from fishernet.base.names import several, unused_name
from fishernet.base.random import Seed, fixed_seed, stream_key
from fishernet.data import Table
from fishernet.data.matching import as_data
from fishernet.kernels import Kernel

BLOCK = 1024  # rows whose nearest chosen row is found at once


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Selection(Framed):
    """Rows chosen to stand for a table.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(300, seed=1)
    >>> chosen = fn.select.greedy_mmd(fn.kernels.FisherKernel(asia), table, 5, seed=1)
    >>> stand_in = chosen.as_table()
    >>> stand_in.n_rows, int(stand_in.weights.sum())
    (5, 300)
    """

    indices: npt.NDArray[np.int64]
    """(k,) positions of the chosen rows in the table; a row that replaced another has its place."""
    distance: float
    """The criterion: the squared MMD from the chosen rows to the table, or minus the sum of log p."""
    trace: npt.NDArray[np.float64]
    """The criterion of the start, then after every replacement."""
    sweeps: int
    """How often the chosen rows were gone through; in the last sweep nothing changed. 0: there was no search."""
    criterion: str
    """"mmd", "chi-square" or "random"."""
    seed: int | None
    """The seed that gives the same start again; None when the start was given."""
    table: Table = field(repr=False)
    """The table chosen from."""
    kernel: Kernel | None = field(repr=False)
    """The kernel of the criterion "mmd"."""

    def __post_init__(self) -> None:
        for array in (self.indices, self.trace):
            array.flags.writeable = False

    def __repr__(self) -> str:
        rows = f"{len(self.indices):,} of {several(self.table.n_rows, 'row')}: {brief(self.indices)}"
        found = "" if self.criterion == "random" else f", distance {self.distance:.6g}, {several(self.sweeps, 'sweep')}"
        return f"Selection({rows}; {self.criterion}{found})"

    def nearest(self) -> npt.NDArray[np.int64]:
        """Return, for each row of the table, the place in `indices` of the chosen row nearest to it, (n_rows,) int64.

        Nearest under the kernel, or without one the row with most cells equal; ties go to the first place.
        """
        chosen = self.table[self.indices]
        found = [np.zeros(0, dtype=np.int64)]
        if self.kernel is None:
            indicators = _indicators(chosen)
        else:
            lengths = self.kernel.diag(chosen)
        for first in range(0, self.table.n_rows, BLOCK):
            rows = self.table[first : first + BLOCK]
            if self.kernel is None:
                nearest = np.argmax(_indicators(rows) @ indicators.T, axis=1)  # the number of equal cells, exactly
            else:
                far = lengths - 2 * self.kernel(rows, chosen)
                rounding = 1e-12 * np.maximum(lengths.max(), np.abs(far).max(axis=1, keepdims=True))
                nearest = np.argmax(far <= far.min(axis=1, keepdims=True) + rounding, axis=1)
            found.append(nearest.astype(np.int64))
        return np.concatenate(found)

    def as_table(self) -> Table:
        """Return the chosen rows as a table, each weighted by the rows of the table that are nearest to it.

        The weights add up to the number of rows of the table (or to the sum of its weights), so the result can be
        learned from in its place.
        """
        chosen = self.table[self.indices]
        weights = self.table.weights
        counts = np.zeros(len(self.indices), dtype=np.int64 if weights is None else weights.dtype)
        np.add.at(counts, self.nearest(), 1 if weights is None else weights)
        return Table.adopt(chosen.variables, chosen.codes, weights=counts, n_rows=chosen.n_rows)

    def to_frame(self) -> pa.Table:
        """Return the chosen rows as a pyarrow Table: their positions, then the columns of the table."""
        return chosen_frame(self.table, self.indices, {})


def chosen_frame(table: Table, indices: npt.NDArray[np.int64], columns: Mapping[str, npt.NDArray[Any]]) -> pa.Table:
    """Return rows of a table with their positions and further columns before them, by names that are not taken."""
    rows = table[indices]
    frame = Table.adopt(rows.variables, rows.codes, n_rows=rows.n_rows).to_frame()
    for name, values in reversed({"row": indices, **columns}.items()):
        frame = frame.add_column(0, unused_name(name, frame.column_names), pa.array(values))
    return frame


def _indicators(rows: Table) -> npt.NDArray[np.float32]:
    """Return one column of zeros and ones for each state of each column."""
    blocks = [
        codes[:, None] == np.arange(r, dtype=codes.dtype)
        for codes, r in zip(rows.codes, rows.cardinalities, strict=True)
    ]
    return np.concatenate(blocks, axis=1).astype(np.float32)


def random_subset(table: Table, k: int, seed: Seed = None) -> Selection:
    """Choose rows at random, each at most once.

    Parameters
    ----------
    table : Table
    k : int
        How many rows, from 1 to the number of rows.
    seed : None, int or numpy.random.Generator

    Returns
    -------
    Selection
        Its `distance` is NaN: nothing was measured.

    Raises
    ------
    FishernetError
        When k is out of range.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(100, seed=1)
    >>> len(fn.select.random_subset(table, 10, seed=1).indices)
    10
    """
    table = as_data(table, "random_subset")
    k = check.integer(k, "k", least=1, most=table.n_rows, note="the rows of the table")
    number = fixed_seed(seed)
    rows = _core.draw_subset(table.n_rows, k, stream_key(number), 0)
    return Selection(
        indices=rows,
        distance=float("nan"),
        trace=np.zeros(0),
        sweeps=0,
        criterion="random",
        seed=number,
        table=table,
        kernel=None,
    )
