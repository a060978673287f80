"""Whether structures and local scores are right: everything is counted and scored anew by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.checks.graphs import Parents, best_gain, judge_graphs
from benchmarks.checks.scores import family_score, graph_score
from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict, table_of, worst_difference
from benchmarks.workers.job import Job, Result

N_FAMILIES = 200
"""Families whose score is computed anew."""
N_CHILDREN = 100
"""Of so many variables among candidates, every single change is tried."""
N_SAMPLES = 100
"""Samples that the strengths of edges are held against."""
STRENGTHS_AGREE = 5.0
"""Standard deviations that two shares of samples may lie apart."""


def told_score(job: Job, result: Result) -> tuple[float, float]:
    """Return a graph's score, and how far it lies from what the search says."""
    value = graph_score(job.read_codes(), job.cardinalities, result["parents"], result["criterion"])
    return value, worst_difference(result["score"], value)


def judge_structure(job: Job, result: Result) -> Verdict:
    """Judge a graph by its score and by what other searches, or single changes, come to."""
    parents = tuple(tuple(row) for row in result["parents"])
    value, off = told_score(job, result)
    if job.search == "exact":
        better, text = other_searches(job, result["criterion"], value)
    elif job.candidates is not None:
        better, text = candidate_changes(job, parents)
    else:
        gain = best_gain(table_of(job), parents, result["criterion"])
        better = gain > NUMBERS_AGREE * abs(value)
        text = f"a single change gains {gain:.3g}" if better else "no single change gains"
    text = f"{sum(map(len, parents))} arcs, {value:.3f}, as NumPy scores it to {off:.0e}; {text}"
    return Verdict(off <= NUMBERS_AGREE and not better, text)


def other_searches(job: Job, score: str, value: float) -> tuple[bool, str]:
    """Return whether hill climbing or a search over orders comes above a score, and by how much they stay below."""
    below = []
    for search in ("hill-climb", "order"):
        dag = fn.learn.dag(table_of(job), score=score, search=search)
        below.append(value - graph_score(job.read_codes(), job.cardinalities, dag.parents, score))
    text = f"hill climbing stays {below[0]:.3f} below, search over orders {below[1]:.3f}"
    return min(below) < -NUMBERS_AGREE * abs(value), text


def candidate_changes(job: Job, parents: Parents) -> tuple[bool, str]:
    """Return whether arcs leave the candidates of binary variables, or a change among these would gain."""
    codes, above = job.read_codes(), [0] * len(parents)
    for v in fn.Dag(job.names, parents).order:
        for p in parents[v]:
            above[v] |= above[p] | 1 << p
    near = candidates(codes, job.candidates or 0)
    outside = sum(not near[tail, head] for head, row in enumerate(parents) for tail in row)
    tried, best = 0, -np.inf
    for child in np.random.default_rng(job.seed).permutation(len(parents))[:N_CHILDREN].tolist():
        own = family_score(codes, job.cardinalities, child, parents[child], "bic")
        for other in np.flatnonzero(near[child]).tolist():
            if other not in parents[child] and above[other] >> child & 1:
                continue  # a cycle
            changed = sorted({*parents[child]} ^ {other})
            best = max(best, family_score(codes, job.cardinalities, child, changed, "bic") - own)
            tried += 1
    gains = best > NUMBERS_AGREE * len(codes)
    text = f"{outside} arcs leave the candidates; of {tried} additions and removals "
    return bool(outside) or gains, text + (f"one gains {best:.3g}" if gains else "none gains")


def candidates(codes: npt.NDArray[np.uint8], most: int) -> npt.NDArray[np.bool_]:
    """Return who is a candidate of whom, either way: those that binary variables share most information with."""
    x = codes.astype(np.float64)
    n, ones = len(x), x.sum(axis=0)
    both = x.T @ x
    information = np.zeros(both.shape)
    for a, b, cell in (
        (ones, ones, both),
        (ones, n - ones, ones[:, None] - both),
        (n - ones, ones, ones[None, :] - both),
        (n - ones, n - ones, n - ones[:, None] - ones[None, :] + both),
    ):
        expected = a[:, None] * b[None, :] / n
        information += np.where(cell > 0, cell * np.log(np.where(cell > 0, cell, 1) / expected), 0)
    np.fill_diagonal(information, -np.inf)
    nearest = np.argsort(-information, axis=1, kind="stable")[:, :most]
    near = np.zeros(both.shape, dtype=bool)
    np.put_along_axis(near, nearest, True, axis=1)
    return near | near.T


def judge_order(job: Job, results: Sequence[Result | None]) -> list[Verdict | None]:
    """Judge the graphs of all together, and the score that ours tells."""
    verdicts: list[Verdict | None] = []
    for verdict, result in zip(judge_graphs(job, results), results, strict=True):
        if verdict is None or result is None or "score" not in result:
            verdicts.append(verdict)
            continue
        _, off = told_score(job, result)
        text = f"{verdict.text}; as NumPy scores it to {off:.0e}"
        verdicts.append(Verdict(verdict.right and off <= NUMBERS_AGREE, text))
    return verdicts


def judge_local_scores(job: Job, result: Result) -> Verdict:
    """Compute random ones of the scores anew."""
    del result
    n, codes, found = len(job.cardinalities), job.read_codes(), np.fromfile(job.output)
    sets = [chosen for size in range(job.most + 1) for chosen in combinations(range(n - 1), size)]
    if len(found) != n * len(sets):
        return Verdict(False, f"{len(found)} scores of {n * len(sets)} families")
    asked = np.random.default_rng(job.seed).integers(len(found), size=N_FAMILIES).tolist()
    expected = []
    for family in asked:
        child, parents = family // len(sets), sets[family % len(sets)]
        others = [v + (v >= child) for v in parents]
        expected.append(family_score(codes, job.cardinalities, child, others, job.score))
    off = worst_difference(found[asked], expected)
    return Verdict(off <= NUMBERS_AGREE, f"{N_FAMILIES} of {len(found)} scores agree with NumPy's to {off:.0e}")


def judge_edge_strengths(job: Job, result: Result) -> Verdict:
    """Hold the shares against those of samples that NumPy draws; each is learned from by hill climbing."""
    codes, strength = job.read_codes(), np.array(result["strength"])
    n, rng = len(job.cardinalities), np.random.default_rng(job.seed)
    joined = np.zeros((n, n))
    for _ in range(N_SAMPLES):
        rows = rng.integers(job.n_rows, size=job.n_rows)
        for head, row in enumerate(fn.learn.dag(fn.Table.from_codes(codes[rows]), score=job.score).parents):
            for tail in row:
                joined[tail, head] += 1
                joined[head, tail] += 1
    other = joined / N_SAMPLES
    pooled = (other * N_SAMPLES + strength * job.n_samples + 1) / (N_SAMPLES + job.n_samples + 2)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / N_SAMPLES + 1 / job.n_samples))
    apart = float(np.max(np.abs(other - strength) / spread))
    text = f"{int((strength > 0.5).sum()) // 2} edges in more than half of the samples; "
    text += f"shares within {apart:.1f} sd of those of {N_SAMPLES} other samples"
    right = apart <= STRENGTHS_AGREE and bool((strength == strength.T).all())
    return Verdict(right, text)
