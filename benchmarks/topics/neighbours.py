"""Nearest neighbours: a permutation test of conditional independence, and an undirected graph learned with it.

tigramite is told ``transform=False`` and the same k and number of permutations. The estimate is that of SciPy's
trees, to 1e-9, or to 1e-3 for tigramite, which adds noise against ties; the p-values of the two lie within five
standard errors. Of a graph's edges and those of the true one at most two differ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

import fishernet as fn
from benchmarks.calls import Array, Call, Data
from benchmarks.race import Race, Told, Verdict, below, calls_of, faster, same
from fishernet.base.vocabulary import SchemeName

TITLE = "Nearest neighbours"
N_ROWS, K, PERMUTATIONS, SEED = 1_000, 5, 200, 8
EDGES = {(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4), (4, 5), (4, 6)}


def three_columns(scheme: str) -> Data:
    """Return rows whose first two columns follow the third."""
    z, x, y = np.random.default_rng(SEED).normal(size=(3, N_ROWS))
    options = {"k": K, "permutations": PERMUTATIONS, "scheme": scheme, "seed": SEED, "near": 5}
    return Data("1 000 rows, one column given", np.column_stack([z + x, z + y, z]), options=options)


def seven_nodes(linear: bool) -> Data:
    """Return rows of two triangles and a fork, whose parents are joined; the moral graph has no other edge."""
    a, b, c, d, e, f, g = np.random.default_rng(SEED).normal(size=(7, N_ROWS))
    b += 0.8 * a if linear else 2 * np.cos(a)
    c += 0.7 * a - 0.8 * b if linear else 2 * np.abs(a) + 1.5 * np.sin(2 * b)
    d += 0.9 * c if linear else 2 * np.log(np.abs(c) + 0.1)
    e += 0.8 * c + 0.7 * d if linear else 2 * np.cos(c) + d**2 / (1 + np.abs(d))
    f += 0.8 * e if linear else 3 * np.sin(e)
    g += -0.9 * e if linear else 1.5 * np.abs(e)
    title = f"seven nodes, {'linear' if linear else 'non-linear'}, Gaussian, 1 000 rows"
    return Data(title, np.column_stack([a, b, c, d, e, f, g]))


def estimate(x: Array, y: Array, z: Array) -> float:
    """Return ``psi(k) + <psi(n_z + 1) - psi(n_xz + 1) - psi(n_yz + 1)>``; n counts what is strictly nearer."""
    joint = np.column_stack([x, y, z])
    nearer = np.nextafter(cKDTree(joint).query(joint, k=[K + 1], p=np.inf)[0][:, 0], 0)

    def psi(*columns: Array) -> Any:  # the row itself is one of those counted
        space = np.column_stack(columns)
        return digamma(cKDTree(space).query_ball_point(space, nearer, p=np.inf, return_length=True))

    return float(digamma(K) + np.mean(psi(z) - psi(x, z) - psi(y, z)))


def is_test(told: Told) -> Verdict:
    (statistic, p), rows, ours = told.answer, told.data.rows, told.answers.get("fishernet", told.answer)
    off = abs(statistic - estimate(rows[:, 0], rows[:, 1], rows[:, 2:]))
    error = math.sqrt((p + ours[1]) * (1 - (p + ours[1]) / 2) / PERMUTATIONS)
    right = off <= (1e-9 if told.label == "fishernet" else 1e-3) and abs(p - ours[1]) <= 5 * error + 2 / PERMUTATIONS
    return right, f"{statistic:.6f} nats, {off:.0e} from SciPy's; p = {p:.3f}"


def is_near_truth(told: Told) -> Verdict:
    away = {(i, j) for i, others in enumerate(told.answer) for j in others if i < j} ^ EDGES
    return len(away) <= 2, f"Hamming distance {len(away)} from the true {len(EDGES)} edges"


def tests(scheme: SchemeName) -> Race:
    def run(rows: Array) -> tuple[float, float]:
        x, y, z = rows[:, 0], rows[:, 1], rows[:, 2:]
        found = fn.independence.knn_test(x, y, z, k=K, permutations=PERMUTATIONS, scheme=scheme, seed=SEED)
        return found.statistic, found.p_value

    call, targets = Call(lambda data: data.rows.copy(), run), [below(0.06), faster(20, "tigramite")]
    peers, title = same("knn_test", "tigramite"), f"{PERMUTATIONS} {scheme} permutations"
    return Race(lambda: three_columns(scheme), call, is_test, peers, targets, title=title)


GRAPH = Call(
    lambda data: data.rows.copy(),
    lambda rows: fn.learn.markov_blankets(rows, k=K, permutations=PERMUTATIONS, scheme="simple", seed=SEED),
    lambda found, _: found.graph().adjacency,
)
RACES = (
    tests("simple"),
    tests("local"),
    Race(lambda: seven_nodes(True), GRAPH, is_near_truth, targets=[below(5)]),
    Race(lambda: seven_nodes(False), GRAPH, is_near_truth, targets=[below(5)]),
)
CALLS = calls_of(RACES)
