"""Whether the structures and probabilities of classifiers are right: counted anew by NumPy, their trees by SciPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import logsumexp, xlogy

from benchmarks.checks.scores import counts
from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict, worst_difference
from benchmarks.workers.job import Job, Result

Array = npt.NDArray[np.float64]

NEAR_BEST = 0.02
"""Share of the most information that a tree may fall short of it whose maker counts otherwise."""


def information(job: Job) -> tuple[Array, Array]:
    """Return N times the information of two features given the class, and of a feature and the class."""
    codes, sizes, features, c = job.read_codes(), job.cardinalities, job.features, job.target
    classes = counts(codes, sizes, (c,))[0]
    with_class = [counts(codes, sizes, (c, v)) for v in features]
    n = len(features)
    pairs = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            cells = counts(codes, sizes, (c, features[i], features[j]))
            both = xlogy(cells, cells).sum() + xlogy(classes, classes).sum()
            pairs[i, j] = pairs[j, i] = both - sum(xlogy(m, m).sum() for m in (with_class[i], with_class[j]))
    own = np.array([xlogy(m, m).sum() - xlogy(m.sum(axis=0), m.sum(axis=0)).sum() for m in with_class])
    return pairs, own - xlogy(classes, classes).sum() + xlogy(job.n_rows, job.n_rows)


def judge_tan(job: Job, result: Result) -> Verdict:
    """Hold a tree of features to the best spanning tree."""
    pairs, _ = information(job)
    place = {v: i for i, v in enumerate(job.features)}
    edges = [(place[p], place[v]) for v in job.features for p in result["parents"][v] if p != job.target]
    classed = all(job.target in result["parents"][v] for v in job.features) and not result["parents"][job.target]
    single = all(len(result["parents"][v]) <= 2 for v in job.features)
    lengths = pairs.max() + 1 - pairs
    np.fill_diagonal(lengths, 0)  # no edge, to SciPy
    tree = minimum_spanning_tree(lengths).tocoo()
    most = float(pairs[tree.row, tree.col].sum())
    total = float(sum(pairs[a, b] for a, b in edges))
    short = (most - total) / most
    right = classed and single and short >= -NUMBERS_AGREE  # more than a tree can have: a cycle
    right &= short <= (NEAR_BEST if result.get("approximate") else NUMBERS_AGREE)
    text = f"{len(edges)} edges below the class; information {total:.3f}, "
    return Verdict(right, text + ("the most" if short <= NUMBERS_AGREE else f"{short:.2%} below the most"))


def judge_kdb(job: Job, result: Result) -> Verdict:
    """Build the structure anew from the information that NumPy counts."""
    pairs, own = information(job)
    order = np.argsort(-own, kind="stable").tolist()
    expected: list[list[int]] = [[] for _ in job.cardinalities]
    for place, i in enumerate(order):
        near = sorted(order[:place], key=lambda j: -pairs[i, j])[: job.k]
        expected[job.features[i]] = sorted([job.target, *(job.features[j] for j in near)])
    same = [sorted(row) for row in result["parents"]] == expected
    text = f"{sum(map(len, expected))} arcs, " + ("those" if same else "not those") + " of NumPy's"
    return Verdict(same, text)


def judge_naive_bayes(job: Job, result: Result) -> Verdict:
    """Compute the probability of every class in every row anew."""
    codes, sizes, c = job.read_codes(), job.cardinalities, job.target
    found = np.fromfile(job.output).reshape(job.n_rows, sizes[c])
    classes = counts(codes, sizes, (c,))[0] + (job.smoothing if result["smoothed_classes"] else 0.0)
    logs = np.tile(np.log(classes), (job.n_rows, 1))
    for v in job.features:
        cells = counts(codes, sizes, (c, v)) + job.smoothing
        logs += np.log(cells / cells.sum(axis=1, keepdims=True))[:, codes[:, v]].T
    expected = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    off = worst_difference(found, expected)
    hits = float((found.argmax(axis=1) == codes[:, c]).mean())
    return Verdict(off <= NUMBERS_AGREE, f"probabilities agree with NumPy's to {off:.0e}; {hits:.1%} of its own rows")
