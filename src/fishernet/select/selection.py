"""Chosen rows, how they stand for the table they come from, and rows at random, which every choice has to beat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import Framed, brief
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import several
from fishernet.base.random import Seed, fixed_seed, stream_key
from fishernet.base.vocabulary import word
from fishernet.data import Table
from fishernet.data.arrays import Weights
from fishernet.data.frames.rows import arrow_rows, held, n_rows_of, taken, weights_of
from fishernet.data.matching import Data, as_data
from fishernet.kernels import Kernel
from fishernet.kernels.kernel import adapted
from fishernet.select.candidates import check_some

WEIGHTS = ("own", "equal", "nearest")
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
    """"mmd", "chi-square", "random", "mmd-critic", "protodash", "coreset", "kernel-thinning" or "criticisms"."""
    seed: int | None
    """The seed that gives the same start again; None when the start was given."""
    data: Data = field(repr=False)
    """What was chosen from, as it was given: a table, a frame, a list of strings or an array."""
    kernel: Kernel | None = field(repr=False)
    """The kernel of the criterion, where it has one."""
    weights: npt.NDArray[np.float64] | None = None
    """(k,): what each chosen row counts in the weighted sum that is nearest to the table's mean: shares (protodash), or
    rows that add up to the table's total (coreset)."""

    def __post_init__(self) -> None:
        for array in (self.indices, self.trace, *(() if self.weights is None else (self.weights,))):
            array.flags.writeable = False

    @property
    def gains(self) -> npt.NDArray[np.float64]:
        """By how much each choice or replacement after the first bettered the criterion, (len(trace) - 1,)."""
        steps = np.diff(self.trace)
        return np.asarray(steps if self.criterion == "criticisms" else -steps)

    def __repr__(self) -> str:
        n_rows = n_rows_of(self.data, "a selection")
        rows = f"{len(self.indices):,} of {several(n_rows, 'row')}: {brief(self.indices)}"
        found = "" if self.criterion == "random" else f", distance {self.distance:.6g}, {several(self.sweeps, 'sweep')}"
        return f"Selection({rows}; {self.criterion}{found})"

    @property
    def rows(self) -> Data:
        """The chosen rows, in the kind of data they were chosen from; a pandas frame's with its index."""
        return taken(self.data, self.indices)

    @property
    def table(self) -> Table:
        """The table chosen from; a frame is read as one. SchemaError of what is neither."""
        return as_data(self.data, "a table of the chosen rows")

    def nearest(self) -> npt.NDArray[np.int64]:
        """Return, for each row of the data, the place in `indices` of the chosen row nearest to it, (n_rows,) int64.

        Nearest under the kernel, or without one the row with most cells equal, where numbers are the more equal the
        smaller their difference, as a share of the column's range. Ties go to the first place.
        """
        if self.kernel is None:
            return _most_equal(self.table, self.indices)
        kernel = adapted(self.kernel)
        rows = kernel.rows(self.data)
        chosen = rows[self.indices]
        lengths = kernel.diag(chosen)
        found = [np.zeros(0, dtype=np.int64)]
        for first in range(0, len(rows), BLOCK):
            far = lengths - 2 * kernel(rows[first : first + BLOCK], chosen)
            rounding = 1e-12 * np.maximum(lengths.max(), np.abs(far).max(axis=1, keepdims=True))
            found.append(np.argmax(far <= far.min(axis=1, keepdims=True) + rounding, axis=1).astype(np.int64))
        return np.concatenate(found)

    def stands_for(self) -> Weights:
        """Return how many rows of the data each chosen row is the nearest to, (k,); rows of a table by their weights.

        They add up to the number of rows, or to the sum of the weights.
        """
        weights = weights_of(self.data)
        counts = np.zeros(len(self.indices), dtype=np.int64 if weights is None else weights.dtype)
        np.add.at(counts, self.nearest(), 1 if weights is None else weights)
        return counts

    def as_table(self, *, weights: Literal["own", "equal", "nearest"] | None = None) -> Table:
        """Return the chosen rows as a weighted table, to be learned from in place of the whole one.

        Parameters
        ----------
        weights : {"own", "equal", "nearest"}, optional
            "own" are the selection's own weights (of `protodash` and `coreset`), scaled to the weight of the whole
            table; "equal" the same for every row, right for rows whose plain mean is near the table's (`greedy_mmd`);
            "nearest" how many
            rows each is the nearest to (`stands_for`). Without it, "own" where there are some, otherwise "nearest".

        Raises
        ------
        SchemaError
            When rows were chosen from a list or an array (`rows` and `stands_for` are for these), or there are no
            weights of its own.
        """
        own = self.weights is not None and self.weights.sum() > 0
        way = ("own" if own else "nearest") if weights is None else word(weights, "weights", WEIGHTS, error=SchemaError)
        chosen = self.table[self.indices]
        if way == "own" and not own:
            raise SchemaError(
                "the selection has no weights of its own; those of protodash and coreset have", parameter="weights"
            )
        if way == "nearest":
            shares = self.stands_for()
        else:
            of_rows = np.ones(len(self.indices)) if self.weights is None or way == "equal" else self.weights
            shares = of_rows * (float(self.table.total) / of_rows.sum())
        return Table.adopt(chosen.variables, chosen.codes, weights=shares, n_rows=chosen.n_rows)

    def to_frame(self) -> pa.Table:
        """Return the chosen rows as a pyarrow Table: their positions, then their columns (or the items of a list)."""
        return arrow_rows(self.data, self.indices, {})


def _most_equal(table: Table, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the place of the chosen row with most cells equal to those of each row."""
    chosen = table[indices]
    indicators = _indicators(chosen)
    lows, spans = _ranges(table.numbers)
    places = [np.zeros(0, dtype=np.int64)]
    for first in range(0, table.n_rows, BLOCK):
        rows = table[first : first + BLOCK]
        equal = (_indicators(rows) @ indicators.T).astype(np.float64)  # the number of equal cells, exactly
        for x, y, low, span in zip(rows.numbers, chosen.numbers, lows, spans, strict=True):
            near = 1 - np.abs(((x - low) / span)[:, None] - (y - low) / span)
            equal += np.where(np.isnan(near), 0.0, near)
        places.append(np.argmax(equal, axis=1).astype(np.int64))
    return np.concatenate(places)


def _ranges(numbers: npt.NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """Return the least number of each column, and how far the largest is from it (1 where all are equal)."""
    known = [column[np.isfinite(column)] for column in numbers]
    lows = [float(column.min()) if column.size else 0.0 for column in known]
    spans = [float(np.ptp(column)) if column.size else 0.0 for column in known]
    return lows, [span if span > 0 else 1.0 for span in spans]


def _indicators(rows: Table) -> npt.NDArray[np.float32]:
    """Return one column of zeros and ones for each state of each categorical column."""
    blocks = [
        codes[:, None] == np.arange(variable.cardinality, dtype=codes.dtype)
        for codes, variable in zip(rows.codes, rows.variables, strict=True)
        if not variable.is_continuous
    ]
    return np.concatenate([*blocks, np.zeros((rows.n_rows, 0), dtype=bool)], axis=1).astype(np.float32)


def random_subset(table: Data, k: int, *, seed: Seed = None) -> Selection:
    """Choose rows at random, each at most once.

    Parameters
    ----------
    table : Table, data frame, list of strings or array
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
    data = held(table)
    n_rows = n_rows_of(data, "random_subset")
    check_some(n_rows, "random_subset")
    k = check.integer(k, "k", least=1, most=n_rows, note="the rows of the table")
    number = fixed_seed(seed)
    rows = _core.draw_subset(n_rows, k, stream_key(number), 0)
    return Selection(
        indices=rows,
        distance=float("nan"),
        trace=np.zeros(0),
        sweeps=0,
        criterion="random",
        seed=number,
        data=data,
        kernel=None,
    )


def checked_rows(rows: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.int64]:
    """Return positions of rows of a table as int64; FishernetError when they are none, or one comes twice."""
    array = check.array(rows, "rows")
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise FishernetError(f"rows must be a one-dimensional array of integers, got {array.dtype} {array.shape}")
    positions = array.astype(np.int64)
    outside = (positions < 0) | (positions >= n_rows)
    if outside.any():
        raise FishernetError(f"row {positions[outside][0]} is not in the table, which has {several(n_rows, 'row')}")
    values, counts = np.unique(positions, return_counts=True)
    if (counts > 1).any():
        raise FishernetError(f"row {values[counts > 1][0]} comes more than once; a row can be chosen only once")
    return positions
