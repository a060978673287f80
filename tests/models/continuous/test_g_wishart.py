"""Draws of precisions: SciPy's Wishart, marginals of blocks, and identities that integration by parts gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import fishernet as fn
from tests.reference.gaussians import pattern

N = 10_000


def graph(d: int, edges: list[tuple[int, int]]) -> fn.UndirectedGraph:
    names = [f"x{v}" for v in range(d)]
    return fn.UndirectedGraph.from_edges(names, [(names[a], names[b]) for a, b in edges])


SCALE = np.array([[1.0, 0.6, 0.3, 0.5], [0.6, 1.2, 0.6, 0.3], [0.3, 0.6, 0.9, 0.5], [0.5, 0.3, 0.5, 1.1]])
RING = [(0, 1), (1, 2), (2, 3), (0, 3)]
GRAPHS = {
    "empty": graph(4, []),
    "chain": graph(4, RING[:3]),
    "star": graph(4, [(0, 1), (0, 2), (0, 3)]),
    "triangles": graph(4, [*RING, (1, 3)]),
    "complete": graph(4, [*RING, (1, 3), (0, 2)]),
    "ring": graph(4, RING),
    "two parts": graph(4, [(0, 2), (1, 3)]),
}


def deviations(K: Any, df: float, D: Any, linked: Any) -> Any:
    """Return how many standard errors the sides of identities lie apart.

    For any entries a and b, the integral of d/dK_a (K_b p(K)) is 0, since p vanishes at the border for df > 2. So
    ``E[K_b ((df - 2) W_a - D_a) c_a] + [a = b] = 0``, with W the inverse and c = 1/2 on the diagonal, else 1.
    """
    W = np.linalg.inv(K)
    places = np.argwhere(np.triu(linked)).tolist()
    found = []
    for i, j in places:
        slope = ((df - 2) * W[:, i, j] - D[i, j]) * (0.5 if i == j else 1.0)
        for k, m in places:
            x = slope * K[:, k, m] + float((i, j) == (k, m))
            found.append(x.mean() / (x.std() / np.sqrt(len(x))))
    return np.array(found)


@pytest.mark.parametrize("name", GRAPHS)
def test_draws_follow_the_density(name: str) -> None:
    K = fn.models.g_wishart(GRAPHS[name], df=6.0, scale=SCALE, n=N, sweeps=20, seed=1)
    found = deviations(K, 6.0, SCALE, pattern(GRAPHS[name]))
    assert np.abs(found).max() < 4.5
    assert np.sqrt((found**2).mean()) < 1.8


def test_completing_a_wishart_draw_does_not() -> None:
    """The reason why "direct" is not what comes without asking."""
    K = fn.models.g_wishart(GRAPHS["chain"], df=6.0, scale=SCALE, n=5000, method="direct", seed=1)
    assert np.abs(deviations(K, 6.0, SCALE, pattern(GRAPHS["chain"]))).max() > 6
    K = fn.models.g_wishart(GRAPHS["complete"], df=6.0, scale=SCALE, n=5000, method="direct", seed=1)
    assert np.abs(deviations(K, 6.0, SCALE, pattern(GRAPHS["complete"]))).max() < 4.5


def test_the_direct_way_completes_one_wishart_draw_of_all_variables() -> None:
    """Lenkoski's algorithm: without edges what is left are the variances of one inverse Wishart draw, dependent."""
    K = fn.models.g_wishart(GRAPHS["empty"], df=6.0, scale=SCALE, n=5000, method="direct", seed=7)
    theirs = stats.invwishart(9.0, SCALE).rvs(5000, random_state=np.random.default_rng(8))
    for i, j in ((0, 1), (1, 2)):
        expected = theirs[:, i, i] / theirs[:, j, j]
        assert stats.ks_2samp(K[:, j, j] / K[:, i, i], expected).pvalue > 1e-4


@pytest.mark.parametrize("name", GRAPHS)
def test_zeros_are_exact_and_the_rest_is_positive_definite(name: str) -> None:
    for method in ("auto", "direct"):
        K = fn.models.g_wishart(GRAPHS[name], n=50, method=method, sweeps=5, seed=2)
        assert K.shape == (50, 4, 4)
        assert ((K != 0) == pattern(GRAPHS[name])).all()
        np.testing.assert_array_equal(K, K.transpose(0, 2, 1))
        assert np.linalg.eigvalsh(K).min() > 0


def test_a_complete_graph_gives_the_wishart_distribution() -> None:
    """With df + d - 1 degrees of freedom: mean and variances as known, and each entry as SciPy draws it."""
    df, inverse = 5.0, np.linalg.inv(SCALE)
    wishart = stats.wishart(df + 3, inverse)
    theirs = wishart.rvs(N, random_state=np.random.default_rng(3))
    for method, n in (("auto", N), ("direct", 4000)):
        K = fn.models.g_wishart(GRAPHS["complete"], df=df, scale=SCALE, n=n, method=method, seed=4)  # type: ignore[arg-type]
        error = np.sqrt(wishart.var() / n)
        assert (np.abs(K.mean(axis=0) - wishart.mean()) < 4.5 * error).all()
        for i, j in ((0, 0), (0, 1), (2, 3)):
            assert stats.ks_2samp(K[:, i, j], theirs[:, i, j]).pvalue > 1e-4
        log_dets = np.linalg.slogdet(K)[1], np.linalg.slogdet(theirs)[1]
        assert stats.ks_2samp(*log_dets).pvalue > 1e-4


@pytest.mark.parametrize("method", ["auto", "direct"])
@pytest.mark.parametrize("name", ["chain", "star", "triangles", "ring"])
def test_blocks_of_the_inverse_are_inverse_wishart(name: str, method: str) -> None:
    """Of a single variable: W_ii is inverse gamma (df / 2, D_ii / 2); of an edge: the block's mean is D / (df - 2).

    For graphs that are not chordal the mean follows from the same identity with a constant in place of K_b.
    """
    df, n = 5.0, 20_000 if method == "auto" else 2500
    K = fn.models.g_wishart(GRAPHS[name], df=df, scale=SCALE, n=n, method=method, sweeps=20, seed=5)  # type: ignore[arg-type]
    W = np.linalg.inv(K)
    if name != "ring" or method == "direct":
        for v in range(4):
            expected = stats.invgamma(df / 2, scale=SCALE[v, v] / 2)
            assert stats.kstest(W[:, v, v], expected.cdf).pvalue > 1e-4
    error = W.std(axis=0) / np.sqrt(n)
    linked = pattern(GRAPHS[name])
    assert (np.abs(W.mean(axis=0) - SCALE / (df - 2)) < 5 * error)[linked].all()


def test_without_edges_entries_are_independent_gammas() -> None:
    K = fn.models.g_wishart(GRAPHS["empty"], df=3.0, scale=SCALE, n=N, seed=6)
    for v in range(4):
        expected = stats.gamma(1.5, scale=2 / SCALE[v, v])
        assert stats.kstest(K[:, v, v], expected.cdf).pvalue > 1e-4
    correlations = np.corrcoef(K[:, range(4), range(4)].T)
    assert np.abs(correlations - np.eye(4)).max() < 4.5 / np.sqrt(N)


def test_seeds_repeat_draws_and_other_graphs_are_refused() -> None:
    one, same, other = (fn.models.g_wishart(GRAPHS["ring"], n=3, seed=seed) for seed in (9, 9, 10))
    assert one.tobytes() == same.tobytes() != other.tobytes()
    with pytest.raises(fn.SchemaError, match="g_wishart needs an UndirectedGraph, not Dag"):
        fn.models.g_wishart(fn.Dag.from_edges(["a"], []))  # type: ignore[arg-type]


def test_large_parts_of_a_study_are_drawn() -> None:
    """A grid of 16 variables, and disjoint copies of it: nothing between copies."""
    rows = [(4 * r + c, 4 * r + c + 1) for r in range(4) for c in range(3)]
    rows += [(4 * r + c, 4 * r + c + 4) for r in range(3) for c in range(4)]
    copies = graph(32, rows + [(a + 16, b + 16) for a, b in rows])
    K = fn.models.g_wishart(copies, seed=1)[0]
    assert ((K != 0) == pattern(copies)).all()
    assert np.linalg.eigvalsh(K)[0] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"df": 0}, "df must be a finite, positive number"),
        ({"df": np.nan}, "df must be a finite"),
        ({"scale": np.eye(3)}, r"scale must have shape \(4, 4\)"),
        ({"scale": np.diag([1, 1, 1, -1])}, "scale must be positive definite"),
        ({"scale": np.triu(np.ones((4, 4)))}, "scale must be symmetric"),
        ({"n": -1}, "n must be an integer"),
        ({"sweeps": -1}, "sweeps must be an integer"),
        ({"method": "rejection"}, "unknown method 'rejection'; there are 'auto', 'direct'"),
        ({"n": 2**31}, "take fewer|draw fewer"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        fn.models.g_wishart(GRAPHS["ring"], **options)
