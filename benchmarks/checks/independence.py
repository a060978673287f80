"""Whether tests on numbers are right: the estimate by SciPy's trees, the p-value by permutations of our own here."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree
from scipy.special import digamma

from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict
from benchmarks.workers.job import Job, Result

Array = npt.NDArray[np.float64]

NOISE = 1e-3
"""How far an estimate may be off where a library adds noise of 1e-6 against ties, which moves some counts by one."""
NEAR = 5
WRONG_EDGES = 2


def estimate(x: Array, y: Array, z: Array, k: int) -> float:
    """Return ``psi(k) + <psi(n_z + 1) - psi(n_xz + 1) - psi(n_yz + 1)>``; n counts what is strictly nearer."""
    joint = np.column_stack([x, y, z])
    nearer = np.nextafter(cKDTree(joint).query(joint, k=[k + 1], p=np.inf)[0][:, 0], 0)

    def psi(*columns: Array) -> Array:
        space = np.column_stack(columns)
        inside = cKDTree(space).query_ball_point(space, nearer, p=np.inf, return_length=True)
        found: Array = digamma(inside)  # the row itself is one of them
        return found

    return float(digamma(k) + np.mean(psi(z) - psi(x, z) - psi(y, z)))


def local_order(near: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return an order that takes each row from its near ones, one that is not taken yet where there is any (Runge)."""
    order, taken = np.empty(len(near), dtype=np.int64), np.zeros(len(near), dtype=bool)
    for row in rng.permutation(len(near)):
        choice = rng.permutation(near[row])
        free = choice[~taken[choice]]
        order[row] = free[0] if len(free) else choice[-1]
        taken[order[row]] = True
    return order


def judge_knn_test(job: Job, result: Result) -> Verdict:
    """Hold the estimate against that of trees, and the p-value against that of other permutations."""
    numbers = job.read_numbers()
    x, y, z = numbers[:, 0], numbers[:, 1], numbers[:, 2:]
    known = estimate(x, y, z, job.k)
    rng = np.random.default_rng(job.seed)
    near = cKDTree(z).query(z, k=NEAR, p=np.inf)[1]
    total, exceeding = job.permutations, 0
    for _ in range(total):
        order = local_order(near, rng) if job.scheme == "local" else rng.permutation(job.n_rows)
        exceeding += estimate(x, y[order], z, job.k) >= known
    expected = (1 + exceeding) / (1 + total)
    off = abs(result["statistic"] - known)
    away = abs(result["p_value"] - expected)
    share = (result["p_value"] + expected) / 2
    right = off <= (NUMBERS_AGREE if "digest" in result else NOISE)
    right &= away <= 5 * math.sqrt(2 * share * (1 - share) / total) + 2 / total
    return Verdict(
        right,
        f"{result['statistic']:.6f} nats, {off:.0e} from SciPy's; p = {result['p_value']:.3f}, {expected:.3f} by other "
        "permutations",
    )


def judge_markov_graph(job: Job, result: Result) -> Verdict:
    """Count the edges that are not those of the graph that the rows were drawn from."""
    found, truth = (
        {(i, j) for i, others in enumerate(adjacency) for j in others if i < j}
        for adjacency in (result["adjacency"], job.parents)
    )
    away = len(found ^ truth)
    return Verdict(away <= WRONG_EDGES, f"{len(found)} edges, Hamming distance {away} from the true {len(truth)}")
