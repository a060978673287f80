"""Scores of families, counted and computed by NumPy and SciPy from their definitions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlogy

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64]


def counts(codes: Codes, cardinalities: Sequence[int], family: Sequence[int]) -> Counts:
    """Return how often each state of the last of some variables occurs, by those of the others."""
    shape = [cardinalities[v] for v in family]
    cells = np.zeros(len(codes), dtype=np.int64)
    for v, r in zip(family, shape, strict=True):
        cells = cells * r + codes[:, v]
    return np.bincount(cells, minlength=math.prod(shape)).reshape(-1, shape[-1])


def family_score(codes: Codes, cardinalities: Sequence[int], child: int, parents: Sequence[int], score: str) -> float:
    """Return the score of a family."""
    return OF_COUNTS[score](counts(codes, cardinalities, (*parents, child)))


def graph_score(codes: Codes, cardinalities: Sequence[int], parents: Sequence[Sequence[int]], score: str) -> float:
    """Return the score of a graph."""
    return math.fsum(family_score(codes, cardinalities, child, of, score) for child, of in enumerate(parents))


def log_likelihood(n: Counts) -> float:
    totals: Counts = n.sum(axis=1)
    return float(xlogy(n, n).sum() - xlogy(totals, totals).sum())


def bic(n: Counts) -> float:
    """BIC, or MDL: half the logarithm of the rows for every parameter."""
    return log_likelihood(n) - 0.5 * math.log(n.sum()) * float(len(n) * (n.shape[1] - 1))


def fnml(n: Counts) -> float:
    """P4, Eq. 4.6."""
    return log_likelihood(n) - math.fsum(regret(int(total), n.shape[1]) for total in n.sum(axis=1))


def qnml(n: Counts) -> float:
    """P4, Eq. 4.10."""
    rows = int(n.sum())
    return log_likelihood(n) - regret(rows, n.size) + regret(rows, len(n))


def dirichlet(n: Counts, a: float) -> float:
    """Return the log marginal likelihood under a pseudo-count of a in every cell."""
    totals, r = n.sum(axis=1), n.shape[1]
    cells = (gammaln(n + a) - gammaln(a)).sum()
    return float(cells - (gammaln(totals + r * a) - gammaln(r * a)).sum())


OF_COUNTS: dict[str, Callable[[Counts], float]] = {
    "bic": bic,
    "bdeu": lambda n: dirichlet(n, 1.0 / n.size),
    "k2": lambda n: dirichlet(n, 1.0),
    "fnml": fnml,
    "qnml": qnml,
}


@functools.cache
def regret(n: int, r: int) -> float:
    """Return the log of the normalizer of NML of n draws of r states.

    From two states, summed over all that can be drawn, it goes up by C(r) = C(r - 1) + n / (r - 2) C(r - 2).
    """
    if n == 0 or r == 1:
        return 0.0
    k = np.arange(n + 1, dtype=np.float64)
    log_ways = gammaln(n + 1.0) - gammaln(k + 1) - gammaln(n - k + 1)
    terms = log_ways + xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
    before, now = 0.0, float(np.logaddexp.reduce(terms))
    for states in range(3, r + 1):
        rising = before + math.log(n / (states - 2))
        before, now = now, max(now, rising) + math.log1p(math.exp(-abs(now - rising)))
    return now
