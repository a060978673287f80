"""Two tests of the literature that need no choice of a kernel either: MMDAgg and MMD-FUSE, from their papers.

Both take Gaussian and Laplace kernels with ten bandwidths each, from half the 5 % quantile of all distances to twice
the 95 % one, in equal ratios. MMDAgg rejects where any kernel does at a level that is corrected for all of them
(Schrab et al., 2023 [1]_); MMD-FUSE fuses the kernels' normalized statistics by a soft maximum (Biggs et al.,
2023 [2]_).

References
----------
.. [1] A. Schrab, I. Kim, M. Albert, B. Laurent, B. Guedj and A. Gretton, "MMD aggregated two-sample test", JMLR 24,
   2023: algorithm 1, section 5.2.
.. [2] F. Biggs, A. Schrab and A. Gretton, "MMD-FUSE: learning and combining kernels for two-sample testing without data
   splitting", NeurIPS 2023: sections 4 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from studies.study import Array

BANDWIDTHS = 10
HALVINGS = 50  # of the interval in which MMDAgg's corrected level lies


def kernels(points: Array) -> Iterator[Array]:
    """Yield the kernels' values between all points, without their diagonals."""
    off_diagonal = np.triu_indices(len(points), 1)
    for metric, power in (("euclidean", 2), ("cityblock", 1)):
        distances = cdist(points, points, metric)
        apart = distances[off_diagonal]
        apart = np.where(apart == 0, np.median(apart), apart)
        low, high = np.quantile(apart, [0.05, 0.95]) * (0.5, 2.0)
        for bandwidth in np.geomspace(low, high, BANDWIDTHS):
            values = np.exp(-((distances / bandwidth) ** power)).astype(np.float32)
            np.fill_diagonal(values, 0)
            yield values


def fuse(X: Array, Y: Array, permutations: int, random: np.random.Generator) -> float:
    """Return the p-value of MMD-FUSE."""
    m, n = len(X), len(Y)
    is_first = np.repeat([True, False], [m, n])
    splits = np.stack([is_first, *(random.permutation(is_first) for _ in range(permutations))], axis=1)
    first, second = splits.astype(np.float32), (~splits).astype(np.float32)
    statistics = []
    for values in kernels(np.concatenate([X, Y])):
        to_first = values @ first
        to_second = values.sum(axis=1, keepdims=True) - to_first
        squared = (
            (first * to_first).sum(axis=0, dtype=float) / (m * (m - 1))
            + (second * to_second).sum(axis=0, dtype=float) / (n * (n - 1))
            - 2 * (first * to_second).sum(axis=0, dtype=float) / (m * n)
        )
        mean_square = float(np.square(values, dtype=float).sum()) / ((m + n) * (m + n - 1))
        statistics.append(squared / math.sqrt(mean_square))
    fused = np.logaddexp.reduce(math.sqrt(n * (n - 1)) * np.array(statistics), axis=0)  # n: of the smaller table
    return float(np.mean(fused >= fused[0]))


def aggregated(X: Array, Y: Array, level: float, draws: int, random: np.random.Generator) -> bool:
    """Return whether MMDAgg rejects: tables of one size, a wild bootstrap, all kernels weighing the same.

    Half of the draws give the quantiles, the other half the level that they have together.
    """
    n = len(X)
    signs = np.concatenate([np.ones((n, 1)), random.choice([-1.0, 1.0], (n, draws))], axis=1).astype(np.float32)
    statistics = []
    for values in kernels(np.concatenate([X, Y])):
        across = values[:n, n:]
        paired = values[:n, :n] + values[n:, n:] - across - across.T
        np.fill_diagonal(paired, 0)
        statistics.append((signs * (paired @ signs)).sum(axis=0, dtype=float))
    found = np.array(statistics)
    observed, for_quantiles, for_level = found[:, 0], found[:, : 1 + draws // 2], found[:, 1 + draws // 2 :]
    ordered = np.sort(for_quantiles, axis=1)

    def quantiles(share: float) -> Array:
        at = math.ceil(ordered.shape[1] * (1 - share / len(ordered))) - 1
        return ordered[:, max(at, 0)]

    low, high = 0.0, float(len(ordered))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if np.mean((for_level > quantiles(middle)[:, None]).any(axis=0)) <= level:
            low = middle
        else:
            high = middle
    return bool((observed > quantiles(low)).any())
