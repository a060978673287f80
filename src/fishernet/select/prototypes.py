"""Prototypes that are chosen one after the other: rows whose mean, or weighted mean, is near that of a table.

`mmd_critic` adds the row that brings the mean of the chosen ones nearest to the table's (Kim et al., 2016 [1]_);
`protodash` adds the row along which the weighted mean improves fastest, and weighs all chosen rows anew (Gurumoorthy
et al., 2019 [2]_). The first j of k chosen rows are those that would be chosen for j. `criticisms` are rows that the
chosen ones do not explain.

The weights of [2]_ are free. Under the Fisher kernel of a network that was fitted to the table, its mean feature is
nearly 0, so that weights of nearly 0 would come near it with any rows. So they add up to 1 here, unless one says
otherwise, and the next row is the one towards which a step improves most, not the steepest, which is an outlier.

The guarantees of these papers need a kernel without negative values whose diagonal dominates; the Fisher kernel takes
negative values, so that gains may grow now and then.

References
----------
.. [1] B. Kim, R. Khanna and O. Koyejo, "Examples are not enough, learn to criticize! Criticism for interpretability",
   NIPS 2016.
.. [2] K. Gurumoorthy, A. Dhurandhar, G. Cecchi and C. Aggarwal, "Efficient data representation by selecting prototypes
   with importance weights", ICDM 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.progress import Progress, Reporter
from fishernet.data.frames.rows import held
from fishernet.data.matching import Data
from fishernet.kernels import Kernel, RowSums
from fishernet.select.candidates import row_sums_of, warn_if_indefinite
from fishernet.select.rounds import Winners, n_parts, winners
from fishernet.select.selection import Selection, checked_rows
from fishernet.select.weighing import JITTER, TIED, Weighing, nothing_to_weigh, spread

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


def mmd_critic(
    kernel: Kernel,
    table: Data,
    k: int | None = None,
    *,
    tolerance: float | None = None,
    parts: int | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose rows one after the other, each so that their mean comes nearest to that of the whole table [1]_.

    Parameters
    ----------
    kernel : Kernel
        Any kernel: of tables, numbers, strings or trees. The Fisher kernel of a network of tables works on counts.
    table : Table, data frame, or what else the kernel takes, as a list of strings
        A table's rows count by their weights in what is to be matched; each row can be chosen once.
    k : int, optional
        How many rows to choose; at most so many where `tolerance` is given.
    tolerance : float, optional
        Choose until the distance is at most this share of the table's spread, the mean squared distance of a row to the
        mean of all: m rows drawn at random reach 1 / m.
    parts : int, optional
        Choose from the rows in so many parts first, each compared with the whole table's mean, and then among what was
        chosen there: the j-th from the first j of every part. It is for kernels with features, and takes memory for one
        part at a time. Without it a table is one part, and a stream of more than 4,194,304 rows has 1,048,576 in each.
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    Selection
        In the order of choice, with the distance after every choice in `trace`. Ties go to the lowest row.

    Raises
    ------
    FishernetError
        When k does not fit, or neither k nor tolerance is given.
    SchemaError
        When the table does not fit the kernel, or the kernel has NaN or infinity, or is not symmetric.

    Warns
    -----
    FishernetWarning
        When the kernel is seen not to be positive semidefinite: then distances mean little.

    See Also
    --------
    greedy_mmd : exchanges chosen rows until none can be bettered.

    References
    ----------
    .. [1] B. Kim, R. Khanna and O. Koyejo, "Examples are not enough, learn to criticize! Criticism for
       interpretability", NIPS 2016.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> chosen = fn.select.mmd_critic(fn.kernels.FisherKernel(asia), table, 20)
    >>> few = fn.select.mmd_critic(fn.kernels.FisherKernel(asia), table, 5)
    >>> chosen.indices[:5].tolist() == few.indices.tolist()
    True
    """
    data = held(table)
    sums = row_sums_of(kernel, data, "mmd_critic")
    pool = Pool.of(sums, data, Asked(k, tolerance, parts), Reporter(progress, "choosing rows"), _critic)
    chosen, trace = _critic(pool.sums, pool.most, pool.level, pool)
    pool.reporter.finish(len(chosen))
    warn_if_indefinite(pool.sums)
    return _selected(pool.positions(chosen), trace, None, "mmd-critic", data, kernel)


def _critic(sums: RowSums, most: int, level: float, pool: Pool) -> tuple[list[int], list[float]]:
    chosen: list[int] = []
    trace: list[float] = []
    to_chosen, within, towards = np.zeros(sums.n_rows), 0.0, 0.0
    free = np.ones(sums.n_rows, dtype=bool)
    while len(chosen) < most and not (trace and trace[-1] <= level):
        n = len(chosen) + 1
        gains = 2 * (towards + sums.mean) / n - (within + 2 * to_chosen + sums.diagonal) / n**2
        row = _best(gains, free & pool.open(sums, n))
        within += 2 * float(to_chosen[row]) + float(sums.diagonal[row])
        towards += float(sums.mean[row])
        to_chosen += sums.along(np.array([row]), np.ones(1))
        chosen.append(row)
        free[row] = False
        trace.append(sums.squared(within / n**2 - 2 * towards / n + sums.between))
        pool.reporter.step(n, most)
    return chosen, trace


def protodash(
    kernel: Kernel,
    table: Data,
    k: int | None = None,
    *,
    tolerance: float | None = None,
    sum_to_one: bool = True,
    parts: int | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose rows and weigh them, none below 0, so that their weighted mean comes near that of the table [1]_.

    Parameters
    ----------
    kernel, table, k, tolerance, parts, progress
        As for `mmd_critic`.
    sum_to_one : bool
        Whether the weights add up to 1, so that they are shares of the table, and the next row is the one towards which
        a step improves most. With False, weights are free and the next row is the one of steepest gradient, as in
        [1]_; that is for kernels without negative values. Under the Fisher kernel of a network that was fitted to the
        table, weights of nearly 0 would be best.

    Returns
    -------
    Selection
        In the order of choice. `weights` are those of the last step; a row may have weight 0, when later ones made it
        needless. It ends early when no row improves the distance.

    Raises
    ------
    FishernetError, SchemaError
        As for `mmd_critic`; when free weights have nothing to weigh, because no row is nearer than none.

    Warns
    -----
    FishernetWarning
        When the kernel is seen not to be positive semidefinite, or rows had to be passed over for it.

    References
    ----------
    .. [1] K. Gurumoorthy, A. Dhurandhar, G. Cecchi and C. Aggarwal, "Efficient data representation by selecting
       prototypes with importance weights", ICDM 2019.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> chosen = fn.select.protodash(fn.kernels.FisherKernel(asia), table, 20)
    >>> bool((chosen.weights >= 0).all()), round(float(chosen.weights.sum()), 6)
    (True, 1.0)
    """
    data = held(table)
    check.flag(sum_to_one, "sum_to_one")

    def choose(sums: RowSums, most: int, level: float, pool: Pool) -> tuple[list[int], list[float]]:
        weighing, trace = _weigh(sums, most, level, pool, sum_to_one=sum_to_one)
        return weighing.rows, trace

    known = row_sums_of(kernel, data, "protodash")
    pool = Pool.of(known, data, Asked(k, tolerance, parts), Reporter(progress, "choosing rows"), choose)
    weighing, trace = _weigh(pool.sums, pool.most, pool.level, pool, sum_to_one=sum_to_one)
    pool.reporter.finish(len(weighing.rows))
    if not weighing.rows:
        raise nothing_to_weigh(pool.sums.is_indefinite or weighing.n_refused > 0)
    warn_if_indefinite(pool.sums, weighing.n_refused)
    return _selected(pool.positions(weighing.rows), trace, weighing.weights, "protodash", data, kernel)


def _weigh(sums: RowSums, most: int, level: float, pool: Pool, *, sum_to_one: bool) -> tuple[Weighing, list[float]]:
    weighing = Weighing(sums, sum_to_one)
    trace: list[float] = []
    gains = weighing.gains
    free = np.ones(sums.n_rows, dtype=bool)
    while len(weighing.rows) < most and not (trace and trace[-1] <= level):
        left = free & pool.open(sums, int(np.count_nonzero(~free)) + 1)
        if not left.any():
            break
        row = _best(gains, left)
        free[row] = False
        if gains[row] <= 0 and (trace or not sum_to_one):
            break  # no row improves the distance
        if not weighing.add(row):
            continue
        gains = weighing.gains
        trace.append(weighing.distance)
        pool.reporter.step(len(weighing.rows), most)
    return weighing, trace


Choose = Callable[[RowSums, int, float, "Pool"], tuple[list[int], list[float]]]


@dataclass(frozen=True)
class Pool:
    """What rows are chosen from one after the other: all of a table, or those that were chosen in parts of it.

    Attributes
    ----------
    sums : RowSums
    most : int
        How many are chosen at most.
    level : float
        The distance at which there are enough.
    reporter : Reporter
    won : Winners or None
        Where the rows come from.
    """

    sums: RowSums
    most: int
    level: float
    reporter: Reporter
    won: Winners | None = None

    @classmethod
    def of(cls, sums: RowSums, data: Data, asked: Asked, reporter: Reporter, choose: Choose) -> Pool:
        """Return all rows, or those of parts chosen by a function."""
        most = _most(asked.k, asked.tolerance, sums.n_rows)
        n = n_parts(asked.parts, data, asked.k, sums.n_rows, can=sums.in_parts)
        if n == 1:
            sums.check()
            return cls(sums, most, _level(sums, asked.tolerance), reporter)

        def chosen(some: RowSums, _: Positions) -> list[int]:
            pool = cls(some, min(most, some.n_rows), _level(some, asked.tolerance), Reporter(None, ""))
            return choose(some, pool.most, pool.level, pool)[0]

        won = winners(sums, n, chosen, reporter)
        return cls(won.sums, min(most, len(won.rows)), _level(won.sums, asked.tolerance), reporter, won)

    def open(self, sums: RowSums, n: int) -> npt.NDArray[np.bool_]:
        """Return which rows may be the n-th: of those chosen in parts, the first n of each; (n_rows,)."""
        return np.ones(sums.n_rows, dtype=bool) if self.won is None else self.won.ranks < n

    def positions(self, chosen: list[int]) -> list[int]:
        """Return where chosen rows are in the table."""
        return chosen if self.won is None else self.won.rows[np.array(chosen, dtype=np.int64)].tolist()


class Asked(NamedTuple):
    """How many rows are to be chosen, and in how many parts."""

    k: int | None
    tolerance: float | None
    parts: int | None


def criticisms(
    kernel: Kernel,
    table: Data,
    selection: Selection | npt.ArrayLike,
    m: int,
    *,
    parts: int | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose rows that the prototypes do not explain, and that are not like each other [1]_.

    Parameters
    ----------
    kernel : Kernel
    table : Table, data frame, or what else the kernel takes
        What the prototypes were chosen from.
    selection : Selection or (k,) array of int
        The prototypes, or their positions; weights of a selection count.
    m : int
        How many rows to choose, none of them a prototype.
    parts : int, optional
        Choose m of the rows in each of so many parts first, and then among these: as for `mmd_critic`.
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    Selection
        In the order of choice. Its `trace` has what is maximized: the sum of ``|witness|`` over the chosen rows, where
        the witness of a row is its mean kernel with the table less that with the prototypes, plus the logarithm of the
        determinant of the chosen rows' kernel matrix. `witness` is not kept: rows above 0 are frequent and lack a
        prototype, rows below 0 are over-represented.

    Raises
    ------
    FishernetError
        When m is more than there are rows beside the prototypes, or a position does not fit.
    SchemaError
        As for `mmd_critic`, which also says when there is a warning.

    References
    ----------
    .. [1] B. Kim, R. Khanna and O. Koyejo, "Examples are not enough, learn to criticize! Criticism for
       interpretability", NIPS 2016.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> k = fn.kernels.FisherKernel(asia)
    >>> odd = fn.select.criticisms(k, table, fn.select.mmd_critic(k, table, 10), 3)
    >>> len(odd.indices)
    3
    """
    data = held(table)
    sums = row_sums_of(kernel, data, "criticisms")
    rows, weights = _prototypes(selection, sums.n_rows)
    left = sums.n_rows - len(rows)
    if not left:
        raise FishernetError("every row is a prototype, so there is none to criticize them")
    m = check.integer(m, "m", least=1, most=left, note="the rows that are no prototypes")
    n = n_parts(parts, data, m, sums.n_rows, can=sums.in_parts)
    reporter = Reporter(progress, "choosing rows")
    where, ranks = None, None
    if n == 1:
        sums.check()
    else:

        def odd(some: RowSums, where: Positions) -> list[int]:
            most = min(m, some.n_rows - len(rows))
            return _criticize(some, np.searchsorted(where, rows), weights, most, Reporter(None, ""))[0]

        won = winners(sums, n, odd, reporter, np.sort(rows))
        sums, where, ranks = won.sums, won.rows, won.ranks
        rows = np.searchsorted(where, rows)
    chosen, trace = _criticize(sums, rows, weights, m, reporter, ranks)
    reporter.finish(m)
    warn_if_indefinite(sums)
    found = chosen if where is None else where[chosen].tolist()
    return _selected(found, trace, None, "criticisms", data, kernel)


def _criticize(
    sums: RowSums,
    rows: Positions,
    weights: Array,
    m: int,
    reporter: Reporter,
    ranks: Positions | None = None,
) -> tuple[list[int], list[float]]:
    """Return the rows that prototypes explain least, and what is maximized after each; the n-th has a rank below n."""
    witness = np.abs(sums.mean - sums.along(rows, weights))
    free = np.ones(sums.n_rows, dtype=bool)
    free[rows] = False
    rest = sums.diagonal.copy()  # what the chosen criticisms leave of each row
    floor = JITTER * float(rest.max(initial=0.0))
    basis: list[Array] = []
    chosen: list[int] = []
    value, trace = 0.0, []
    for n in range(1, m + 1):
        gains = witness + np.log(np.maximum(rest, max(floor, 1e-300)))
        row = _best(gains, free if ranks is None else free & (ranks < n))
        value += float(gains[row])
        trace.append(value)
        chosen.append(row)
        free[row] = False
        if rest[row] > floor:
            column = sums.along(np.array([row]), np.ones(1))
            for known in basis:
                column -= known * known[row]
            column /= math.sqrt(float(rest[row]))
            basis.append(column)
            rest = np.maximum(rest - column**2, 0.0)
        reporter.step(n, m)
    return chosen, trace


def _prototypes(selection: Selection | npt.ArrayLike, n_rows: int) -> tuple[Positions, Array]:
    """Return the positions of prototypes, and their weights: those of a selection, or equal ones."""
    given, weights = (selection.indices, selection.weights) if isinstance(selection, Selection) else (selection, None)
    rows = checked_rows(given, n_rows)
    if not len(rows):
        raise FishernetError("the selection has no prototypes")
    return rows, np.full(len(rows), 1 / len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)


def _most(k: int | None, tolerance: float | None, n_rows: int) -> int:
    if k is None and tolerance is None:
        raise FishernetError("say how many rows to choose (k), or how near they shall come (tolerance)", parameter="k")
    return n_rows if k is None else check.integer(k, "k", least=1, most=n_rows, note="the rows of the table")


def _level(sums: RowSums, tolerance: float | None) -> float:
    """Return the distance at which there are rows enough."""
    if tolerance is None:
        return -1.0
    check.number(tolerance, "tolerance", least=0)
    return tolerance * spread(sums)


def _best(gains: Array, free: npt.NDArray[np.bool_]) -> int:
    """Return the first free row whose gain is as large as the largest."""
    open_gains = np.where(free, gains, -np.inf)
    largest = float(open_gains.max())
    return int(np.argmax(open_gains >= largest - TIED * max(1.0, abs(largest))))


def _selected(
    chosen: list[int], trace: list[float], weights: Array | None, criterion: str, data: Data, kernel: Kernel
) -> Selection:
    return Selection(
        indices=np.array(chosen, dtype=np.int64),
        distance=trace[-1] if trace else float("nan"),
        trace=np.array(trace),
        sweeps=0,
        criterion=criterion,
        seed=None,
        data=data,
        kernel=kernel,
        weights=weights,
    )
