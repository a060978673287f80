"""Whether chosen rows are right: their distance is computed anew, and what is near them is not better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict, fitted_of, table_of
from benchmarks.workers.job import Job, Result
from fishernet import _core
from fishernet.base.random import stream_key

N_POSITIONS, N_ROWS = 20, 200
"""Chosen rows that are exchanged one by one, and rows that each is exchanged for."""

Rows = npt.NDArray[np.int64]
Criterion = Callable[[Rows], float]


def criterion_of(job: Job) -> Criterion:
    """Return what a selection makes small, as a function of the chosen rows."""
    table = table_of(job)
    if job.criterion == "chi-square":
        return lambda rows: fn.select.chi_square_criterion(table, rows)
    kernel = fn.kernels.FisherKernel(fitted_of(job))
    return lambda rows: fn.compare.mmd(kernel, table[rows], table)


def judge_selection(job: Job, result: Result) -> Verdict:
    """Judge rows that no exchange should better."""
    rows, criterion = np.array(result["rows"], dtype=np.int64), criterion_of(job)
    if not are_rows(job, rows):
        return Verdict(False, "not k different rows")
    value, off = recomputed(criterion, rows, result["distance"])
    tried = exchanges(rows, job.n_rows, np.random.default_rng(job.seed))
    best = min(criterion(other) for other in tried)
    text = f"{value:.5g}, agrees with the rows' own to {off:.0e}; of {len(tried)} exchanges "
    text += "none is better" if best >= value * (1 - NUMBERS_AGREE) else f"one reaches {best:.5g}"
    return Verdict(off <= NUMBERS_AGREE and best >= value * (1 - NUMBERS_AGREE), text)


def judge_starts(job: Job, result: Result) -> Verdict:
    """Judge the best of random subsets by all of them."""
    rows, criterion = np.array(result["rows"], dtype=np.int64), criterion_of(job)
    if not are_rows(job, rows):
        return Verdict(False, "not k different rows")
    value, off = recomputed(criterion, rows, result["distance"])
    key = stream_key(job.seed)
    best = min(criterion(_core.draw_subset(job.n_rows, job.k, key, task)) for task in range(job.n_starts))
    right = off <= NUMBERS_AGREE and abs(value - best) <= NUMBERS_AGREE * best
    text = f"{value:.5g}, agrees with the rows' own to {off:.0e}; the best of the {job.n_starts} is {best:.5g}"
    return Verdict(right, text)


def are_rows(job: Job, rows: Rows) -> bool:
    """Return whether there are k different rows of the table."""
    return len(set(rows.tolist())) == len(rows) == job.k and bool(((rows >= 0) & (rows < job.n_rows)).all())


def recomputed(criterion: Criterion, rows: Rows, told: float) -> tuple[float, float]:
    """Return the criterion of rows, and how far from it what was told lies, as a share of it."""
    value = criterion(rows)
    return value, abs(told - value) / value


def exchanges(rows: Rows, n_rows: int, rng: np.random.Generator) -> list[Rows]:
    """Return the rows with one of some exchanged for one of some others, each in turn."""
    positions = rng.permutation(len(rows))[:N_POSITIONS]
    others = rng.permutation(np.setdiff1d(np.arange(n_rows), rows))[:N_ROWS]
    found = []
    for position in positions:
        for other in others:
            exchanged = rows.copy()
            exchanged[position] = other
            found.append(exchanged)
    return found
