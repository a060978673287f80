"""Few weighted rows whose weighted mean is as near to a table's as so few can come: a coreset for maximum likelihood.

With Fisher features the squared distance between two means is the squared mismatch of the gradients of the
log-likelihood, in the Fisher metric. Where the weighted rows know as much of each parameter as the table, a network
that is fitted to them loses half the squared distance per row, to second order (`docs/coresets.md`).

Rows are gathered some at a time, the best of each of several groups, towards which a step improves most, and weighed
anew (`fishernet.select.weighing`). Then those that are needed least make room for others, as long as that
helps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.base.progress import Progress, Reporter
from fishernet.data.frames.rows import held, weights_of
from fishernet.data.matching import Data
from fishernet.kernels import Kernel, RowSums
from fishernet.select.candidates import row_sums_of, warn_if_indefinite
from fishernet.select.prototypes import Asked, Pool
from fishernet.select.selection import Selection
from fishernet.select.weighing import Weighing, nothing_to_weigh

Array = npt.NDArray[np.float64]

WORK = 50_000_000  # rows times passes over them, until as many as are wanted are gathered
FIRST_SHARE, LEAST_GAIN = 0.3, 1e-3  # of the rows that make room first; by which the distance falls, or fewer do
MOST_ROUNDS = 40
BESIDE = 8  # rows of steepest slope, between which single rows are moved
EXACT = 1e-9  # of the table's spread: a distance that whole weights would not keep


def coreset(
    kernel: Kernel,
    table: Data,
    k: int | None = None,
    *,
    tolerance: float | None = None,
    parts: int | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose few rows and weights from which the parameters of a network are nearly those of the whole table.

    They stand for the table in the graph of the network whose kernel chose them: another graph learned from them would
    have arcs that mean nothing.

    Parameters
    ----------
    kernel, table, parts, progress
        As for `mmd_critic`. With the Fisher kernel of a network that was fitted to the table, networks that are fitted
        to the weighted rows lose least.
    k : int, optional
        How many rows to choose; at most so many where `tolerance` is given. Fewer are enough where their weighted mean
        is the table's.
    tolerance : float, optional
        Choose until the distance is at most this share of the table's spread, the mean squared distance of a row to the
        mean of all: m rows drawn at random, with equal weights, reach 1 / m.

    Returns
    -------
    Selection
        `weights` add up to the table's total; they are whole numbers where those of the table are, so that
        `Selection.as_table` is a table in which each row comes so many times. Half of `distance` is about what a
        network fitted to it loses per row of the table, in nats; it loses more where configurations of parents occur in
        no chosen row, of which the distance knows nothing.

    Raises
    ------
    FishernetError, SchemaError
        As for `mmd_critic`.

    Warns
    -----
    FishernetWarning
        When the kernel is seen not to be positive semidefinite, or rows had to be passed over for it.

    See Also
    --------
    protodash : adds one row at a time, so that the first rows are the choice for a smaller k.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(2000, seed=1)
    >>> chosen = fn.select.coreset(fn.kernels.FisherKernel(asia), table, 10)
    >>> int(chosen.weights.sum()), chosen.as_table().total
    (2000, 2000)
    >>> chosen.distance < fn.select.protodash(fn.kernels.FisherKernel(asia), table, 10).distance * 1.1
    True
    """
    data = held(table)

    def choose(sums: RowSums, most: int, level: float, pool: Pool) -> tuple[list[int], list[float]]:
        weighing, trace = _gathered(sums, most, level, pool)
        return weighing.rows, trace

    known = row_sums_of(kernel, data, "coreset")
    reporter = Reporter(progress, "choosing rows")
    pool = Pool.of(known, data, Asked(k, tolerance, parts), reporter, choose)
    sums = pool.sums
    weighing, trace = _gathered(sums, pool.most, pool.level, pool)
    if not weighing.rows:
        raise nothing_to_weigh(sums.is_indefinite or weighing.n_refused > 0)
    weighing = _improved(weighing, sums, pool, trace)
    warn_if_indefinite(sums, weighing.n_refused)
    own = weights_of(data)
    total = float(known.n_rows if own is None else own.sum())
    if total.is_integer() and (own is None or not np.mod(own, 1).any()):
        shares = _whole(weighing, sums, int(total))
    else:
        shares = weighing.weights * total
    held_rows = np.flatnonzero(shares)
    weighing = weighing.only(held_rows.tolist(), shares[held_rows] / total)
    trace.append(weighing.distance)
    reporter.finish(len(held_rows))
    return Selection(
        indices=np.array(pool.positions(weighing.rows), dtype=np.int64),
        distance=trace[-1],
        trace=np.array(trace),
        sweeps=0,
        criterion="coreset",
        seed=None,
        data=data,
        kernel=kernel,
        weights=shares[held_rows],
    )


def _gathered(sums: RowSums, most: int, level: float, pool: Pool) -> tuple[Weighing, list[float]]:
    """Return rows that were added until there are enough, or none helps, and the distances on the way."""
    weighing = Weighing(sums, sum_to_one=True)
    trace: list[float] = []
    level = max(level, EXACT * float(sums.mean_diagonal))
    _add(weighing, most, _at_once(sums, most), level, pool, trace)
    return weighing, trace


def _at_once(sums: RowSums, most: int) -> int:
    """Return how many rows are added before all rows are looked at again."""
    return max(1, most * sums.n_rows // WORK)


def _add(weighing: Weighing, most: int, at_once: int, level: float, pool: Pool, trace: list[float]) -> None:
    """Add the best row of each of some groups, again and again, and weigh all anew."""
    tried = np.zeros(weighing.n_rows, dtype=bool)
    tried[weighing.rows] = True
    while len(weighing.rows) < most and not (trace and trace[-1] <= level):
        gains = np.where(tried, -np.inf, weighing.gains)
        if pool.won is not None:
            gains[pool.won.ranks > len(weighing.rows)] = -np.inf
        n = min(at_once, most - len(weighing.rows)) if weighing.rows else 1
        added = 0
        for group in range(n):
            of_group = gains[group::n]
            row = group + n * int(of_group.argmax()) if len(of_group) else 0
            if not tried[row] and (gains[row] > 0 or not weighing.rows):
                tried[row] = True
                added += weighing.add(row)
        if not added and not (gains > 0).any():
            break
        if weighing.rows:
            trace.append(weighing.distance)
            pool.reporter.step(len(weighing.rows), most)


def _improved(weighing: Weighing, sums: RowSums, pool: Pool, trace: list[float]) -> Weighing:
    """Return rows among which no share of those that are needed least is better replaced."""
    share, most = FIRST_SHARE, pool.most
    enough = max(pool.level, EXACT * float(sums.mean_diagonal))
    for _ in range(MOST_ROUNDS):
        n = len(weighing.rows)
        leaving = max(int(share * n), int(np.count_nonzero(weighing.weights <= 0)))
        if leaving < 1 or n - leaving < 1 or weighing.distance <= enough:
            break
        order = np.argsort(-weighing.needed, kind="stable")[: n - leaving]
        other = weighing.only(order.tolist(), None)
        way: list[float] = []
        _add(other, most, _at_once(sums, most), enough, pool, way)
        if other.distance < (1 - LEAST_GAIN) * weighing.distance:
            weighing = other
            trace.append(weighing.distance)
        else:
            share /= 2
    return weighing


def _whole(weighing: Weighing, sums: RowSums, total: int) -> Array:
    """Return weights in whole rows, (k,), that add up to the total: rounded, then moved row by row while that helps."""
    exact = weighing.weights * total
    counts = np.floor(exact)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: round(total - counts.sum())]] += 1
    matrix, towards = weighing.matrix, sums.mean[np.array(weighing.rows)]
    diagonal = np.diagonal(matrix)
    slope = 2 * (matrix @ (counts / total) - towards) / total
    least = 1e-15 * float(np.abs(diagonal).max()) / total
    for _ in range(4 * len(counts)):
        ones = np.argsort(np.where(counts >= 1, -slope, np.inf), kind="stable")[:BESIDE]
        ones, others = ones[counts[ones] >= 1], np.argsort(slope, kind="stable")[:BESIDE]
        apart = diagonal[ones, None] + diagonal[others] - 2 * matrix[np.ix_(ones, others)]
        change = slope[others] - slope[ones, None] + apart / total**2  # by one row, from one to another
        best, where = float(change.min()), np.unravel_index(int(change.argmin()), change.shape)
        if best >= -least:
            break
        one, other = ones[where[0]], others[where[1]]
        counts[one] -= 1
        counts[other] += 1
        slope += 2 * (matrix[other] - matrix[one]) / total**2
    return counts
