"""Kernel thinning: halves of halves of a table whose means stay near that of the whole.

Rows are taken in pairs, and one of each pair goes to either half; which one is drawn with a preference that keeps the
signed sum of their features near 0. So a half is far nearer to the whole than one drawn at random, and halving again
gives many small parts, of which the best is refined (Dwivedi and Mackey, 2021).

Halving n rows looks at all their pairs. Compress looks at far fewer (Shetty, Dwivedi and Mackey, 2022): it joins four
small sets and halves what they make, joins four of these halves, and so on, until one set is left.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, generator, stream_key
from fishernet.base.vocabulary import word
from fishernet.data.frames.rows import held
from fishernet.data.matching import Data
from fishernet.kernels import Kernel, RowSums
from fishernet.select.candidates import row_sums_of, warn_if_indefinite
from fishernet.select.greedy import Search, exchange_once, search_by_distance
from fishernet.select.rounds import n_parts, part_slices
from fishernet.select.selection import Selection

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

NAME = "kernel_thinning"
DELTA = 0.5  # the chance that a sum leaves its bounds somewhere
TINY = 1e-9
OVERSAMPLING, MOST_OVERSAMPLING = 2, 20
ThinningName = Literal["split", "compress"]
METHODS = ("split", "compress")
ENOUGH = 4  # times k^2 rows: what k rows can come near to is not farther from the table than these are


def kernel_thinning(
    kernel: Kernel,
    table: Data,
    k: int,
    *,
    method: ThinningName = "split",
    oversampling: int = OVERSAMPLING,
    parts: int | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose rows by halving the table again and again, each half near the other in its mean, and refine the best part.

    Parameters
    ----------
    kernel : Kernel
        Any kernel. The Fisher kernel of a network of tables halves any number of rows in linear time; others halve up
        to 8,192 rows drawn at random.
    table : Table, data frame, or what else the kernel takes, as a list of strings
        Rows with weights are drawn by them; each can be chosen once.
    k : int
        How many rows to choose.
    method : {"split", "compress"}
        "split" halves rows until there are k, and looks at all pairs of rows (of a network's tables, at their cells).
        "compress" is Compress++ [2]_: it reduces the rows to ``k 2^oversampling`` in a time nearly linear in them,
        halves these, and exchanges each chosen row once for another of these. It comes somewhat less near.
    oversampling : int
        For "compress": each more doubles the rows that are left for the last step, comes nearer and takes about four
        times as long.
    parts : int, optional
        For "split": thin each of so many parts to k rows first, each compared with the whole table's mean, and then
        what was chosen there. It is for kernels with features, and takes memory for one part at a time. Without it a
        table is one part, and a stream of more than 4,194,304 rows has 1,048,576 in each.
    seed : None, int or numpy.random.Generator
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    Selection
        The part of k rows that is nearest to the table, of k 2^m rows drawn at random (up to 4 k^2 of them); then every
        row was exchanged once for the best there is (the second stage of [1]_). In several parts: for the best that was
        chosen in one of them. With "compress" `distance` is NaN, and `trace` empty, where measuring it would take all
        pairs of rows, as of kernels without features;
        ``fn.compare.mmd(kernel, found.as_table(weights="equal"), table)`` measures it.

    Raises
    ------
    FishernetError
        When k does not fit.
    SchemaError
        When the table or the kernel does not fit, as for `mmd_critic`, which also says when there is a warning.

    References
    ----------
    .. [1] R. Dwivedi and L. Mackey, "Kernel thinning", COLT 2021, Algorithm 1.
    .. [2] A. Shetty, R. Dwivedi and L. Mackey, "Distribution compression in near-linear time", ICLR 2022, Algorithms 1
       and 2.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> k = fn.kernels.FisherKernel(asia)
    >>> chosen = fn.select.kernel_thinning(k, table, 20, seed=1)
    >>> at_random = fn.select.random_subset(table, 20, seed=1)
    >>> bool(chosen.distance < fn.compare.mmd(k, table[at_random.indices], table))
    True
    """
    data = held(table)
    way = word(method, "method", METHODS)
    check.integer(oversampling, "oversampling", least=0, most=MOST_OVERSAMPLING)
    sums = row_sums_of(kernel, data, NAME)
    k = check.integer(k, "k", least=1, most=sums.n_rows, note="the rows of the table")
    if parts is not None and way == "compress":
        raise FishernetError("parts= is for method='split'; method='compress' needs none", parameter="parts")
    n = 1 if way == "compress" else n_parts(parts, data, k, sums.n_rows, can=sums.in_parts)
    number = fixed_seed(seed)
    random = generator(number)
    reporter = Reporter(progress, "choosing rows")
    pool: Positions | None = None
    is_measured = way == "split" or sums.in_parts
    if way == "compress":
        pool, sums, best, swaps = _compressed(sums, k, oversampling, random)
    elif n == 1:
        sums.check()
        best = _thinned(sums, k, random)
        swaps = search_by_distance(sums, k)
    else:
        pool, sums, best, swaps = _two_rounds(sums, k, n, random, reporter)
    exchange_once(swaps, best, sums.n_rows, reporter)
    reporter.finish(k)
    warn_if_indefinite(sums)
    return Selection(
        indices=swaps.rows if pool is None else pool[swaps.rows],
        distance=float(swaps.trace[-1]) if is_measured else float("nan"),
        trace=swaps.trace if is_measured else np.zeros(0),
        sweeps=1,
        criterion="kernel-thinning",
        seed=number,
        data=data,
        kernel=kernel,
    )


def _two_rounds(
    sums: RowSums, k: int, parts: int, random: np.random.Generator, reporter: Reporter
) -> tuple[Positions, RowSums, Positions, Search]:
    """Return what was chosen in all parts, ascending, its sums, k places among it to begin with, and a search."""
    won = []
    for part, at in enumerate(part_slices(sums.n_rows, parts)):
        reporter.step(part, parts)
        where = np.arange(at.start, at.stop)
        some = sums.some(at)
        some.check(where)
        swaps = search_by_distance(some, k)
        exchange_once(swaps, _thinned(some, k, random), len(where), Reporter(None, ""))
        won.append(where[swaps.rows])
    pool = np.sort(np.concatenate(won))
    last = sums.some(pool)
    last.check(pool)
    of_parts = np.searchsorted(pool, np.stack(won)).astype(np.int64)
    best = _nearest_part(last, np.vstack([of_parts, _thinned(last, k, random)[None]]))
    return pool, last, best, search_by_distance(last, k)


def _compressed(
    sums: RowSums, k: int, oversampling: int, random: np.random.Generator
) -> tuple[Positions, RowSums, Positions, Search]:
    """Return k 2^oversampling rows in place of all, their sums, k places among them to begin with, and a search.

    Sets of `size` rows are joined by fours and halved, level by level: 4^levels sets become one, of size 2^levels. The
    chance that sums leave their bounds is shared by the levels and the last step as in the paper.
    """
    rounds = min(oversampling, (sums.n_rows // k).bit_length() - 1)
    wanted = k << rounds
    most, levels = min(sums.n_rows, ENOUGH * k * k), 0
    while (-(-wanted >> levels + 1) << 2 * (levels + 1)) <= most:
        levels += 1
    size = -(-wanted >> levels)
    drawn = _drawn_by_weight(sums, size << 2 * levels, random)
    some = sums.some(drawn) if sums.in_parts else sums.alone(drawn)
    order, share = np.arange(len(drawn)), DELTA / max(rounds + (levels << rounds), 1)
    for _ in range(levels):
        sets = order.reshape(-1, 4 * size)
        halves = some.halves_of_sets(sets, key=stream_key(random), delta=share * 2**rounds)
        order, size = halves.ravel(), 2 * size
    pool, counts = _pool(sums, random.permutation(drawn[order])[:wanted], wanted, random)
    last = sums.some(pool) if sums.in_parts else sums.alone(pool, counts)
    last.check(pool)
    places = random.permutation(wanted).astype(np.int64)
    places = last.halves(places, rounds=rounds, key=stream_key(random), delta=max(share * rounds, TINY))
    return pool, last, _nearest_part(last, places.reshape(-1, k)), search_by_distance(last, k)


def _drawn_by_weight(sums: RowSums, size: int, random: np.random.Generator) -> Positions:
    """Return so many rows of which each counts once: at random, heavy rows as often as their share of the weight is."""
    if sums.weights is None:
        return _drawn(sums, size, random)
    ends = np.cumsum(np.asarray(sums.weights, dtype=np.float64))
    places = (random.random() + np.arange(size)) * (ends[-1] / size)  # systematic sampling: evenly spaced
    return random.permutation(np.minimum(np.searchsorted(ends, places, side="right"), sums.n_rows - 1))


def _pool(
    sums: RowSums, rows: Positions, wanted: int, random: np.random.Generator
) -> tuple[Positions, Positions | None]:
    """Return so many different rows, ascending, and how often each is among some rows; None where each is once."""
    pool, counts = np.unique(rows, return_counts=True)
    if len(pool) == wanted:
        return pool, None
    others = _drawn(sums, sums.n_rows, random)
    others = others[~np.isin(others, pool)][: wanted - len(pool)]
    order = np.argsort(np.concatenate([pool, others]))
    counts = np.concatenate([counts, np.zeros(len(others), dtype=np.int64)])
    return np.concatenate([pool, others])[order], counts[order]


def _thinned(sums: RowSums, k: int, random: np.random.Generator) -> Positions:
    """Return the best of the parts of k rows into which rows drawn at random are halved."""
    most = min(sums.most_halved, ENOUGH * k * k)
    rounds = max(most // k, 1).bit_length() - 1
    order = _drawn(sums, k << rounds, random)
    order = sums.halves(order, rounds=rounds, key=stream_key(random), delta=DELTA)
    return _nearest_part(sums, order.reshape(-1, k))


def _drawn(sums: RowSums, size: int, random: np.random.Generator) -> Positions:
    """Return so many rows at random, without weight 0 while there are others."""
    if sums.weights is None:
        return random.permutation(sums.n_rows)[:size].astype(np.int64)
    with np.errstate(divide="ignore"):
        keys = np.log(random.random(sums.n_rows)) / np.asarray(sums.weights, dtype=np.float64)
    return np.argsort(-keys, kind="stable")[:size].astype(np.int64)  # Efraimidis and Spirakis, 2006


def _nearest_part(sums: RowSums, parts: Positions) -> Positions:
    """Return the part whose mean is nearest to that of the table."""
    k = parts.shape[1]
    distances = [sums.squared_length(part, np.full(k, 1 / k)) - 2 * float(sums.mean[part].mean()) for part in parts]
    return np.asarray(parts[int(np.argmin(distances))])
