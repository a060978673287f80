"""Kernel thinning: halves of halves of a table whose means stay near that of the whole (Dwivedi and Mackey, 2021 [1]_).

Rows are taken in pairs, and one of each pair goes to either half; which one is drawn with a preference that keeps the
signed sum of their features near 0. So a half is far nearer to the whole than one drawn at random, and halving again
gives many small parts, of which the best is refined.

References
----------
.. [1] R. Dwivedi and L. Mackey, "Kernel thinning", COLT 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, generator, stream_key
from fishernet.data.frames.rows import held
from fishernet.data.matching import Data
from fishernet.kernels import Kernel, has_features
from fishernet.kernels.rows import Rows, counted_once, rows_of
from fishernet.select.candidates import (
    Candidates,
    candidates_among,
    candidates_of,
    check_some,
    checked_kernel,
    whole_of,
)
from fishernet.select.greedy import Search, exchange_once, swaps_by_distance
from fishernet.select.rounds import n_parts, part_slices
from fishernet.select.selection import Selection

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

NAME = "kernel_thinning"
DELTA = 0.5  # the chance that a sum leaves its bounds somewhere
ENOUGH = 4  # times k^2 rows: what k rows can come near to is not farther from the table than these are
MOST_PAIRED = 2**13  # rows that are halved where the kernel's matrix between them is needed: 0.5 GB


def kernel_thinning(
    kernel: Kernel,
    table: Data,
    k: int,
    *,
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
    parts : int, optional
        Thin each of so many parts to k rows first, each compared with the whole table's mean, and then what was chosen
        there. It is for kernels with features, and takes memory for one part at a time. Without it a table is one part,
        and a stream of more than 4,194,304 rows has 1,048,576 in each.
    seed : None, int or numpy.random.Generator
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    Selection
        The part of k rows that is nearest to the table, of k 2^m rows drawn at random (up to 4 k^2 of them); then every
        row was exchanged once for the best there is (the second stage of [1]_). In several parts: for the best that was
        chosen in one of them.

    Raises
    ------
    FishernetError
        When k does not fit.
    SchemaError
        When the table or the kernel does not fit, as for `mmd_critic`, which also says when there is a warning.

    References
    ----------
    .. [1] R. Dwivedi and L. Mackey, "Kernel thinning", COLT 2021, Algorithm 1.

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
    rows = rows_of(checked_kernel(kernel, NAME), data)
    check_some(len(rows), NAME)
    k = check.integer(k, "k", least=1, most=len(rows), note="the rows of the table")
    n = n_parts(parts, data, k, len(rows), can=has_features(kernel))
    number = fixed_seed(seed)
    random = generator(number)
    reporter = Reporter(progress, "choosing rows")
    pool: Positions | None = None
    if n == 1:
        candidates = candidates_of(kernel, data, NAME)
        swaps_among = swaps_by_distance(kernel, rows, k)
        best = _thinned(kernel, candidates, rows, k, random)
        swaps = swaps_among(rows, 0, candidates)
    else:
        pool, candidates, best, swaps = _two_rounds(kernel, rows, k, n, random, reporter)
    exchange_once(swaps, best, candidates.n_rows, reporter)
    reporter.finish(k)
    candidates.warn()
    return Selection(
        indices=swaps.rows if pool is None else pool[swaps.rows],
        distance=float(swaps.trace[-1]),
        trace=swaps.trace,
        sweeps=1,
        criterion="kernel-thinning",
        seed=number,
        data=data,
        kernel=kernel,
    )


def _two_rounds(
    kernel: Any, rows: Rows, k: int, parts: int, random: np.random.Generator, reporter: Reporter
) -> tuple[Positions, Candidates, Positions, Search]:
    """Return what was chosen in all parts, ascending, as candidates, k places among it to begin with, and a search."""
    whole = whole_of(kernel, rows)
    swaps_among = swaps_by_distance(kernel, rows, k)
    won = []
    for part, at in enumerate(part_slices(len(rows), parts)):
        reporter.step(part, parts)
        where = np.arange(at.start, at.stop)
        candidates = candidates_among(kernel, counted_once(rows[at]), whole, NAME, where)
        swaps = swaps_among(rows[at], at.start, candidates)
        exchange_once(swaps, _thinned(kernel, candidates, rows[at], k, random), len(where), Reporter(None, ""))
        won.append(where[swaps.rows])
    pool = np.sort(np.concatenate(won))
    some = counted_once(rows[pool])
    candidates = candidates_among(kernel, some, whole, NAME, pool)
    of_parts = np.searchsorted(pool, np.stack(won)).astype(np.int64)
    best = _nearest_part(candidates, np.vstack([of_parts, _thinned(kernel, candidates, some, k, random)[None]]))
    return pool, candidates, best, swaps_among(some, 0, candidates)


def _thinned(kernel: Any, candidates: Candidates, rows: Rows, k: int, random: np.random.Generator) -> Positions:
    """Return the best of the parts of k rows into which rows drawn at random are halved."""
    rule: Any = getattr(kernel, "rule", None)
    linear = hasattr(rule, "halved")
    n = candidates.n_rows
    most = min(n if linear else min(n, MOST_PAIRED), ENOUGH * k * k)
    rounds = max(most // k, 1).bit_length() - 1
    order = _drawn(candidates, rows, k << rounds, random)
    key = stream_key(random)
    if linear:
        order = rule.halved(counted_once(rows), order, rounds=rounds, delta=DELTA, key=key)
    else:
        order = _halved(np.asarray(kernel(counted_once(rows[order]))), order, rounds, key)
    return _nearest_part(candidates, order.reshape(-1, k))


def _drawn(candidates: Candidates, rows: Rows, size: int, random: np.random.Generator) -> Positions:
    """Return so many rows at random, without weight 0 while there are others."""
    weights = getattr(rows, "weights", None)
    if weights is None:
        return random.permutation(candidates.n_rows)[:size].astype(np.int64)
    with np.errstate(divide="ignore"):
        keys = np.log(random.random(candidates.n_rows)) / np.asarray(weights, dtype=np.float64)
    return np.argsort(-keys, kind="stable")[:size].astype(np.int64)  # Efraimidis and Spirakis, 2006


def _halved(gram: Array, order: Positions, rounds: int, key: int) -> Positions:
    """Return rows whose parts of n / 2^rounds are near each other, by the kernel's matrix between them."""
    random = np.random.default_rng(key)
    places = np.arange(len(order))
    for round_ in range(rounds):
        size = len(order) >> round_
        share = 2 * DELTA / (rounds * len(order))
        places = np.concatenate(
            [_halve(gram, places[begin : begin + size], share, random) for begin in range(0, len(order), size)]
        )
    return order[places]


def _halve(gram: Array, part: Positions, delta: float, random: np.random.Generator) -> Positions:
    """Return one half of a part and then the other (Dwivedi and Mackey, 2021, Algorithm 1a)."""
    sums = np.zeros(len(gram))  # of the signed rows of the matrix
    variance = 0.0
    first, second = [], []
    for x, y in part.reshape(-1, 2).tolist():
        squared = max(float(gram[x, x] + gram[y, y] - 2 * gram[x, y]), 0.0)
        threshold = max(float(np.sqrt(squared * variance * 2 * np.log(2 / delta))), squared)
        to_first = 0.5
        if threshold > 0:
            to_first = 0.5 * (1 - float(sums[x] - sums[y]) / threshold)
            variance += max(squared * (1 + (squared - 2 * threshold) * variance / threshold**2), 0.0)
        keep = random.random() < to_first
        kept, other = (x, y) if keep else (y, x)
        first.append(kept)
        second.append(other)
        sums += gram[kept] - gram[other]
    return np.array(first + second, dtype=np.int64)


def _nearest_part(candidates: Candidates, parts: Positions) -> Positions:
    """Return the part whose mean is nearest to that of the table."""
    k = parts.shape[1]
    distances = [
        candidates.squared_length(part, np.full(k, 1 / k)) - 2 * float(candidates.mean[part].mean()) for part in parts
    ]
    return np.asarray(parts[int(np.argmin(distances))])
