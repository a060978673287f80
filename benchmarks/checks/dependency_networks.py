"""Whether answers on dependency networks are right: everything is counted, scored and fired anew by NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from benchmarks.checks.scores import counts, family_score
from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict, worst_difference
from benchmarks.workers.job import Job, Result

Array = npt.NDArray[np.float64]

N_VARIABLES = 20
"""Of so many random variables, every single change of the inputs is tried."""
STEP_CHANGES = 1e-9
"""How far one step may move a stationary distribution, in total variation."""
SHARES_AGREE = 0.005
"""How far a share of a chain may lie from the mean of the conditional that it should be."""


def judge_dependency_network(job: Job, result: Result) -> Verdict:
    """Judge the conditionals by counting, and the inputs by what single changes would do to their score."""
    codes, parents = job.read_codes(), result["parents"]
    off = 0.0
    for child, (inputs, table) in enumerate(zip(parents, result["tables"], strict=True)):
        n = np.maximum(counts(codes, job.cardinalities, (*inputs, child)), 1)  # P2, Algorithm 5
        off = max(off, worst_difference(table, (n / n.sum(axis=1, keepdims=True)).ravel()))
    chosen = np.random.default_rng(job.seed).permutation(len(parents))[:N_VARIABLES].tolist()
    tried, gain = 0, -np.inf
    for child in chosen:
        own = family_score(codes, job.cardinalities, child, parents[child], "bic")
        for toggled in set(range(len(parents))) - {child}:
            changed = sorted(set(parents[child]) ^ {toggled})
            gain = max(gain, family_score(codes, job.cardinalities, child, changed, "bic") - own)
            tried += 1
    text = f"{sum(map(len, parents))} inputs; conditionals agree with counts to {off:.0e}; of {tried} changes "
    text += "none scores higher" if gain <= NUMBERS_AGREE * len(codes) else f"one gains {gain:.3g}"
    return Verdict(off <= NUMBERS_AGREE and gain <= NUMBERS_AGREE * len(codes), text)


def judge_stationary(job: Job, result: Result) -> Verdict:
    """Fire a random variable once: nothing must change."""
    del result
    p = np.fromfile(job.output).reshape(job.cardinalities)
    after = np.zeros(p.shape)
    for v in range(p.ndim):
        after += p.sum(axis=v, keepdims=True) * spread(job, v) / p.ndim
    moved, off = float(np.abs(after - p).sum()) / 2, abs(float(p.sum()) - 1)
    right = moved < STEP_CHANGES and off < NUMBERS_AGREE and bool((p >= 0).all())
    return Verdict(right, f"{p.size} states; one more step changes {moved:.0e}")


def spread(job: Job, v: int) -> Array:
    """Return the conditional of a variable with an axis for every variable, of length 1 where it is not asked."""
    family = job.family(v)
    return (
        job.table(v)
        .transpose(np.argsort(family))
        .reshape([r if u in family else 1 for u, r in enumerate(job.cardinalities)])
    )


def judge_fire(job: Job, result: Result) -> Verdict:
    """Hold every share of a state to the mean of its conditional over the rows, to which a random scan brings it."""
    del result
    rows = np.fromfile(job.output, dtype=np.uint8).reshape(len(job.cardinalities), job.n_rows)
    worst = 0.0
    for v, inputs in enumerate(job.parents):
        asked = job.table(v)[tuple(rows[u] for u in inputs)] if len(inputs) else job.table(v)[None]
        shares = np.bincount(rows[v], minlength=job.cardinalities[v]) / job.n_rows
        worst = max(worst, worst_difference(shares, asked.mean(axis=0)))
    text = f"shares within {worst:.4f} of the means of their conditionals"
    return Verdict(worst <= SHARES_AGREE, text)
