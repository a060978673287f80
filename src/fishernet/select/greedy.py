"""Greedy choice of rows: replace the chosen rows one by one, each by the best there is, until none can be bettered.

This is Algorithm 1 of Leppä-aho et al. (2020). The criterion is the maximum mean discrepancy under a kernel, or how
well each column alone fits that of the whole table. Positions are visited in the core by counts, or by rows of any
kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import several
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, generator, stream_key
from fishernet.data import Table, Variable
from fishernet.data.arrays import row_blocks
from fishernet.data.frames.rows import held, weights_of
from fishernet.data.matching import Data, as_data
from fishernet.data.variable import require_categorical
from fishernet.kernels import Kernel, RowSums
from fishernet.kernels.rows import distinct_rows
from fishernet.select.candidates import check_some, row_sums_of, warn_if_indefinite
from fishernet.select.rounds import n_parts, part_slices
from fishernet.select.selection import Selection, checked_rows


def chi_square_criterion(table: Data, indices: npt.ArrayLike) -> float:
    """Return minus the sum of the log p-values of the variables' chi-square tests.

    Observed are the counts of the chosen rows, expected those of the whole table scaled to as many rows. The degrees
    of freedom are the states that occur in the whole table, less one; with none, p is 1. Missing cells are a state of
    their own: rows stand for a table that lack cells as often as it does. (Were they passed over, the rows that lack
    most would fit best.)

    Parameters
    ----------
    table : Table or data frame
        Rows count by their weights in what is expected; the chosen rows count once. Cells may be missing.
    indices : (k,) array of int
        The chosen rows.

    Returns
    -------
    float
        Smaller is better; 0 is a perfect fit. Finite however bad the fit, unless a chosen row has a state that only
        rows of weight 0 have.

    Raises
    ------
    FishernetError
        When an index is out of range or comes twice, or there is none.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_frame({"a": ["x", "y"] * 50})
    >>> fn.select.chi_square_criterion(table, [0, 1, 2, 3])
    0.0
    >>> round(fn.select.chi_square_criterion(table, [0, 2, 4, 6]), 3)  # -log P(chi-square with 1 dof > 4)
    3.09
    """
    table = as_data(table, "the chi-square criterion")
    rows = checked_rows(indices, table.n_rows)
    if not len(rows):
        raise FishernetError("the criterion needs at least one chosen row")
    require_categorical(table.variables, "the chi-square criterion")
    table = _with_missing_as_states(table)
    statistics, freedom = [], []
    for variable, codes in zip(table.variables, table.codes, strict=True):
        whole = np.bincount(codes, weights=table.weights, minlength=variable.cardinality)
        expected = whole * (len(rows) / whole.sum()) if whole.sum() else whole
        observed = np.bincount(codes[rows], minlength=variable.cardinality)
        occurs = expected > 0
        off = np.where(occurs, observed - expected, 0.0)
        statistic = np.sum(off**2 / np.where(occurs, expected, 1.0))
        statistics.append(np.inf if observed[~occurs].any() else statistic)
        freedom.append(int(occurs.sum()) - 1)
    tails = _core.log_chi_square_tails(np.array(statistics, dtype=np.float64), np.array(freedom, dtype=np.int64))
    return float(0.0 - tails.sum())


def _with_missing_as_states(table: Table) -> Table:
    """Return a table in which the missing cells of each column are a state, the last; their codes are that already."""
    if not table.has_missing:
        return table
    variables, columns = [], []
    for variable, codes in zip(table.variables, table.codes, strict=True):
        with_one_more = Variable(variable.name, range(variable.cardinality + 1))
        variables.append(with_one_more)
        columns.append(codes.astype(with_one_more.dtype))
    return Table.adopt(variables, columns, weights=table.weights, n_rows=table.n_rows)


GAIN = 1e-12  # a replacement must lower the value by more than this share of it
TIED = 1e-12  # values this near to the smallest are ties, where it is below 1
UNLIKE = 1e-5  # of the largest kernel: what exchanges add up to is not farther from what was reached
NOT_ONE_MATRIX = (
    "the kernel is not symmetric, or not the same at every call: exchanges that should have brought rows nearer did not"
)

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


class KernelSwaps:
    """The search of `_core.SwapSearch`, by rows of a kernel's matrix, one at a time.

    With s the sum of the kernel's rows of the chosen, m the kernel's mean to the whole table and d its diagonal,
    adding row c to the rest R of a set gives a constant ``+ (2 s_R(c) + d(c)) / k^2 - 2 m(c) / k``.
    """

    def __init__(self, sums: RowSums, k: int) -> None:
        self._known, self._k = sums, k
        self.rows: Positions = np.zeros(0, dtype=np.int64)
        self._trace: list[float] = []

    @property
    def trace(self) -> Array:
        """The value of the start, then after every replacement."""
        return np.maximum(self._trace, 0.0)

    def draw_start(self, key: int, n_starts: int) -> None:
        """Begin with the best of random subsets."""
        n_rows = self._known.n_rows
        subsets = [_core.draw_subset(n_rows, self._k, key, task) for task in range(n_starts)]
        values = [self._known.squared(self._value(rows)) for rows in subsets]
        self.set_start(subsets[int(np.argmin(values))])

    def set_start(self, rows: Positions) -> None:
        """Begin with these rows."""
        self.rows = rows.copy()
        self._trace = [0.0]
        self._take_stock()

    def visit(self, first: int, last: int) -> int:
        """Visit the positions from first to last - 1, and return how many rows were replaced."""
        if first == 0:
            self._take_stock()
        replaced = sum(self._replace(position) for position in range(first, last))
        if last == self._k:
            expected = self._trace[-1]
            self._take_stock()
            if abs(self._trace[-1] - expected) > UNLIKE * self._known.scale:
                raise SchemaError(NOT_ONE_MATRIX, parameter="kernel")
        return replaced

    def _take_stock(self) -> None:
        self._sums = self._known.along(self.rows, np.ones(self._k))
        self._trace[-1] = self._value(self.rows)
        self._known.squared(self._trace[-1])

    def _value(self, rows: Positions) -> float:
        """Return the squared distance of some rows; below 0 where the kernel is not positive semidefinite."""
        within = self._known.squared_length(rows, np.full(self._k, 1 / self._k))
        return within + self._known.between - 2 * float(self._known.mean[rows].mean())

    def _kernel_row(self, row: int) -> Array:
        return self._known.along(np.array([row]), np.ones(1))

    def _replace(self, position: int) -> bool:
        row = int(self.rows[position])
        value = self._trace[-1]
        rest = self._sums - self._kernel_row(row)
        added = (2 * rest + self._known.diagonal) / self._k**2 - 2 * self._known.mean / self._k
        candidates = added.copy()
        candidates[self.rows] = np.inf
        best = int(np.argmax(candidates <= candidates.min() + TIED * max(1.0, value)))
        change = float(added[best] - added[row])
        roundings = 8 * np.finfo(float).eps * (abs(float(added[best])) + abs(float(added[row])))
        if not -change > GAIN * abs(value) + roundings:
            return False
        self._sums = rest + self._kernel_row(best)
        self.rows[position] = best
        self._trace.append(value + change)
        return True


Search = _core.SwapSearch | KernelSwaps
Some = slice | Positions | None  # which rows of a table; None: all of them
Among = Callable[[Some], Search]  # the search among some rows


def search_by_distance(sums: RowSums, k: int) -> Search:
    """Return the search for the k rows of smallest squared distance: the core's, or by rows of the kernel's matrix."""
    in_core = sums.exchanges(k)
    return KernelSwaps(sums, k) if in_core is None else in_core


def _core_chi_square(table: Table, k: int) -> Among:
    """Return the core's search for the best fit of each column alone."""
    columns = _core.Conditionals(np.array(table.cardinalities, dtype=np.int64))
    for position in range(len(table.variables)):
        columns.add(position, np.zeros(0, dtype=np.int32), 1)
    weights, unit = table.weights_in_units
    counts = np.zeros(sum(table.cardinalities))
    for at in row_blocks(table.n_rows):
        counts += columns.cells(table[at].native).counts(None if weights is None else weights[at])
    counts *= unit

    def among(some: Some) -> Search:
        distinct, kind_of = distinct_rows(table if some is None else table[some])
        return _core.search_chi_square(columns.cells(distinct.native), kind_of, counts, float(table.total), k)

    return among


AT_ONCE = 64  # positions visited between two reports


def greedy_mmd(
    kernel: Kernel,
    table: Data,
    k: int,
    *,
    start: npt.ArrayLike | None = None,
    n_starts: int = 1000,
    parts: int | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose the rows whose mean under a kernel is nearest to that of the whole table [1]_.

    A sweep visits the chosen rows in order and replaces each by the row that brings the squared maximum mean
    discrepancy (Eq. 10) furthest down, if one does; the search ends with a sweep without a replacement.

    Parameters
    ----------
    kernel : Kernel
        A Fisher kernel runs in the core, on counts; any other is asked for a row of its matrix at a time.
    table : Table, data frame, or what else the kernel takes, as a list of strings
        A table's rows count by their weights in what is to be matched; each row can be chosen once.
    k : int
        How many rows to choose, from 1 to the number of rows.
    start : (k,) array of int, optional
        Positions of the rows to begin with, visited in that order. Without it, the best of random subsets.
    n_starts : int
        How many random subsets that is the best of.
    parts : int, optional
        Choose k of the rows in each of so many parts first, in one sweep against the whole table's mean, and then
        among what was chosen there, beginning with the best part. It is for kernels with features, and takes memory
        for one part at a time. Without it a table is one part, and a stream of more than 4,194,304 rows has 1,048,576
        in each.
    seed : None, int or numpy.random.Generator
        For the random subsets.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in positions visited.

    Returns
    -------
    Selection
        No exchange of one row would better it (in several parts: for a row chosen in one of them). Ties go to the
        lowest row, and a replacement must lower the distance by more than 1e-12 of its value; equal rows are
        interchangeable.

    Raises
    ------
    FishernetError
        When k, the start or n_starts does not fit.
    SchemaError
        When the table does not fit the kernel's model, or the kernel has NaN or infinity, or is not symmetric.
    ZeroProbabilityError
        When a row has probability zero under a Fisher kernel's network.

    Warns
    -----
    FishernetWarning
        When the kernel is seen not to be positive semidefinite: then distances mean little.

    Notes
    -----
    A sweep takes O(k N n) look-ups for N distinct rows of n variables. Nothing of size N x N is held.

    References
    ----------
    .. [1] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
       Behaviormetrika 47, 2020, Algorithm 1.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> k = fn.kernels.FisherKernel(asia)
    >>> chosen = fn.select.greedy_mmd(k, table, 20, seed=1)
    >>> at_random = fn.select.random_subset(table, 20, seed=1)
    >>> bool(chosen.distance < 0.5 * fn.compare.mmd(k, table[at_random.indices], table))
    True
    """
    data = held(table)
    sums = row_sums_of(kernel, data, "greedy_mmd")
    k = check.integer(k, "k", least=1, most=sums.n_rows, note="the rows of the table")
    n = n_parts(parts, data, k, sums.n_rows, can=sums.in_parts)
    last = [sums]

    def among(some: Some) -> Search:
        last[0] = sums if some is None else sums.some(some)
        where = None if some is None else np.arange(sums.n_rows)[some]
        last[0].check(where)
        return search_by_distance(last[0], k)

    asked = _Asked(k, start, n_starts, n, seed)
    found = _search(among, data, sums.n_rows, asked, Reporter(progress, "choosing rows"))
    warn_if_indefinite(last[0])
    return _selected(found, data, "mmd", kernel)


def exchange_once(swaps: Search, start: Positions, n_rows: int, reporter: Reporter) -> None:
    """Exchange each chosen row once for the best of so many rows there is, if that is better."""
    k = len(start)
    swaps.set_start(start)
    for first in range(0, k if k < n_rows else 0, AT_ONCE):
        swaps.visit(first, min(k, first + AT_ONCE))
        reporter.step(first, k)


def greedy_chi_square(
    table: Data,
    k: int,
    *,
    start: npt.ArrayLike | None = None,
    n_starts: int = 1000,
    parts: int | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose the rows whose columns, each taken alone, fit those of the whole table best.

    The search of `greedy_mmd`, on `chi_square_criterion` (Leppä-aho et al., 2020, section 7.1).

    Parameters
    ----------
    table : Table or data frame
        Cells may be missing; that is a state of their own.
    k : int
        How many rows to choose, from 1 to the number of rows.
    start, n_starts, parts, seed, progress
        As for `greedy_mmd`.

    Returns
    -------
    Selection

    Raises
    ------
    FishernetError
        When k, the start or n_starts does not fit.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(500, seed=1)
    >>> chosen = fn.select.greedy_chi_square(table, 20, seed=1)
    >>> bool(chosen.distance <= chosen.trace[0])
    True
    """
    data = held(table)
    table = as_data(data, "greedy_chi_square")
    check_some(table.n_rows, "greedy_chi_square")
    k = check.integer(k, "k", least=1, most=table.n_rows, note="the rows of the table")
    require_categorical(table.variables, "greedy_chi_square", "greedy_mmd takes a kernel for them")
    if not table.variables:
        raise SchemaError("the table has no columns to fit")
    n = n_parts(parts, data, k, table.n_rows)
    among = _core_chi_square(_with_missing_as_states(table), k)
    asked = _Asked(k, start, n_starts, n, seed)
    found = _search(among, data, table.n_rows, asked, Reporter(progress, "choosing rows"))
    return _selected(found, data, "chi-square", None)


class _Asked(NamedTuple):
    """How many rows are wanted, where to begin, and in how many parts to choose."""

    k: int
    start: npt.ArrayLike | None
    n_starts: int
    parts: int
    seed: Seed


@dataclass(frozen=True)
class _Found:
    """The chosen rows, and how the search went."""

    rows: Positions
    trace: Array
    sweeps: int
    seed: int | None


def _selected(found: _Found, data: Data, criterion: str, kernel: Kernel | None) -> Selection:
    return Selection(
        indices=found.rows,
        distance=float(found.trace[-1]),
        trace=found.trace,
        sweeps=found.sweeps,
        criterion=criterion,
        seed=found.seed,
        data=data,
        kernel=kernel,
    )


def _search(among: Among, data: Data, n_rows: int, asked: _Asked, reporter: Reporter) -> _Found:
    """Go through the chosen rows until no exchange is better."""
    weights = weights_of(data)
    if weights is not None and not weights.sum():
        raise SchemaError("all rows have weight 0, so there is nothing to stand for")
    k, begin, number = asked.k, None, None
    if asked.start is not None:
        begin = checked_rows(asked.start, n_rows)
        if len(begin) != k:
            raise FishernetError(f"the start must have k = {several(k, 'row')}, got {len(begin)}")
    else:
        check.integer(asked.n_starts, "n_starts", least=1, most=2**31 - 1)
        number = fixed_seed(asked.seed)
    pool, free = None, n_rows
    if asked.parts > 1:
        pool, begin = _pool_of_parts(among, n_rows, asked, begin, number, reporter)
        swaps, free = among(pool), len(pool)
        swaps.set_start(np.searchsorted(pool, begin).astype(np.int64))
    else:
        swaps = among(None)
        if begin is None:
            assert number is not None
            swaps.draw_start(stream_key(number), asked.n_starts)
        else:
            swaps.set_start(begin)
    sweeps = _sweep_until_stable(swaps.visit, k, reporter) if k < free else 0
    return _Found(swaps.rows if pool is None else pool[swaps.rows], swaps.trace, sweeps, number)


def _pool_of_parts(
    among: Among, n_rows: int, asked: _Asked, start: Positions | None, seed: int | None, reporter: Reporter
) -> tuple[Positions, Positions]:
    """Return the rows chosen in any part (or given), ascending, and those of the best one: each after one sweep."""
    k, parts = asked.k, asked.parts
    keys = generator(0 if seed is None else seed).integers(0, 2**64, parts, dtype=np.uint64).tolist()
    chosen = [] if start is None else [start]
    best, least = start, np.inf
    for part, at in enumerate(part_slices(n_rows, parts)):
        reporter.step(part, parts)
        swaps = among(at)
        swaps.draw_start(keys[part], asked.n_starts)
        if k < at.stop - at.start:
            swaps.visit(0, k)
        chosen.append(at.start + swaps.rows)
        if start is None and swaps.trace[-1] < least:
            best, least = chosen[-1], float(swaps.trace[-1])
    assert best is not None
    return np.unique(np.concatenate(chosen)), best


def _sweep_until_stable(visit: Callable[[int, int], int], k: int, reporter: Reporter) -> int:
    """Go through all positions until a sweep replaces nothing; return the number of sweeps."""
    sweeps = 0
    replaced = 1
    while replaced:
        replaced = 0
        for first in range(0, k, AT_ONCE):
            replaced += visit(first, min(k, first + AT_ONCE))
            reporter.step(sweeps * k + first, None)
        sweeps += 1
    reporter.finish(sweeps * k)
    return sweeps
