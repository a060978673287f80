"""Prior, strength and path: drawn precisions, and what is counted."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from studies import comparators, fmpl, fmpl_factors


def test_uniform_precisions_have_the_entries_that_are_said() -> None:
    edges = fmpl.part_edges()
    K = fmpl_factors.uniform_precision(edges, 64, np.random.default_rng(1))
    off = K - np.diag(np.diag(K))
    there = np.abs(off[np.triu_indices(64, 1)])
    assert np.count_nonzero(there) == len(edges) == 78
    assert (there[there > 0] >= 0.2).all()
    assert (there <= 0.6).all()
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(0.1, abs=1e-9)


def test_wrong_edges_are_the_hamming_distance() -> None:
    true = fn.UndirectedGraph.from_edges(list("abc"), [("a", "b"), ("b", "c")])
    found = fn.UndirectedGraph.from_edges(list("abc"), [("a", "b"), ("a", "c")])
    assert fmpl_factors.wrong(found, true) == [1, 1]
    assert sum(fmpl_factors.wrong(found, true)) == fn.hamming(found, true)


def test_refitted_likelihood_is_the_largest_of_a_graph() -> None:
    """Of the full graph it is that of the inverse covariance, of the empty graph that of the variances."""
    X = np.random.default_rng(2).normal(size=(50, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.3], [0, 0, 1]])
    X = comparators.standardized(X)
    S = X.T @ X / 50
    full = comparators.graph(~np.eye(3, dtype=bool))
    empty = comparators.graph(np.zeros((3, 3), dtype=bool))
    expected = comparators.log_likelihood(np.asarray(np.linalg.inv(S), dtype=np.float64), S, 50)
    assert comparators.refitted_likelihood(X, full) == pytest.approx(expected, rel=1e-9)
    assert comparators.refitted_likelihood(X, empty) == pytest.approx(-50 * 3 / 2, rel=1e-9)
