"""The Fisher kernel of networks of labels and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag

import fishernet as fn
from tests.reference.mixed import random_network

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_has_the_inverse_information_between_scores(seed: int) -> None:
    net = random_network(seed)
    X, Y = net.sample(7, seed=1), net.sample(5, seed=2)
    between = block_diag(*(np.linalg.inv(block) for of in net.fisher_information() for block in of if len(block)))
    expected = net.fisher_scores(X) @ between @ net.fisher_scores(Y).T
    kernel = fn.kernels.FisherKernel(net)
    scale = np.sqrt(np.outer(kernel.diag(X), kernel.diag(Y)))
    np.testing.assert_allclose(kernel(X, Y) / scale, expected / scale, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_information_is_the_expected_product_of_scores(seed: int) -> None:
    """By simulation: each parameter in units of its own spread."""
    net = random_network(seed, labels=2, numbers=2)
    scores = net.fisher_scores(net.sample(60_000, seed=seed))
    information = block_diag(*(block for of in net.fisher_information() for block in of))
    size = np.sqrt(np.diag(information))
    apart = (scores.T @ scores / len(scores) - information) / size[:, None] / size
    spread = np.sqrt((scores**2).T @ scores**2 / len(scores)) / size[:, None] / size  # of a product of two scores
    assert (np.abs(apart) < 6 * spread / np.sqrt(len(scores)) + 1e-9).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_features_terms_and_means_agree_with_the_matrix(seed: int) -> None:
    net = random_network(seed)
    kernel, X, Y = fn.kernels.FisherKernel(net), net.sample(8, seed=3), net.sample(6, seed=4)
    K = kernel(X, Y)
    size = np.abs(K).max()
    phi, psi = kernel.features(X), kernel.features(Y)
    np.testing.assert_allclose((phi @ psi.T).toarray(), K, atol=1e-9 * size)
    np.testing.assert_allclose(kernel.terms(X, Y).sum(axis=0), K, atol=1e-9 * size)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-9)
    many = net.sample(600, seed=6)
    whole = kernel(many)
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_allclose(whole[500:, :9], kernel(many[500:], many[:9]), atol=1e-9 * np.abs(whole).max())
    np.testing.assert_allclose(kernel.mean_features(X), np.asarray(phi.mean(axis=0)).ravel(), atol=1e-9 * size)
    parts: Any = kernel.feature_parts
    assert len(parts.variable_of) == kernel.dimension == phi.shape[1]
    assert parts.degrees_of_freedom.sum() == net.n_parameters


def test_under_the_model_the_mean_feature_is_nothing_and_the_length_the_number_of_parameters() -> None:
    net = random_network(2, labels=2, numbers=3)
    kernel, rows = fn.kernels.FisherKernel(net), net.sample(50_000, seed=5)
    assert kernel.mean_features(rows) @ kernel.mean_features(rows) < 3 * net.n_parameters / 50_000
    assert kernel.diag(rows).mean() == pytest.approx(net.n_parameters, rel=0.1)


def test_it_does_not_depend_on_units() -> None:
    rng = np.random.default_rng(1)
    label, x = rng.integers(0, 2, 300), rng.normal(size=300)
    y = x * (1 + label) + rng.normal(size=300)
    found = []
    for unit, shift in ((1.0, 0.0), (1e-6, 3.0), (1e6, -1e7)):
        table = fn.Table.from_frame({"l": np.array(["a", "b"])[label], "x": unit * x + shift, "y": y})
        net = fn.learn.parameters(fn.Dag.from_edges(table.names, [("l", "y"), ("x", "y")]), table)
        found.append(fn.kernels.FisherKernel(net)(table[:20]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-6, atol=1e-6)


def test_tables_are_compared_by_it_and_rows_chosen() -> None:
    rng = np.random.default_rng(3)

    def rows(n: int, slope: float) -> fn.Table:
        label, x = rng.integers(0, 2, n), rng.normal(size=n)
        return fn.Table.from_frame(
            {"l": np.array(["a", "b"])[label], "x": x, "y": slope * x + label + rng.normal(size=n)}
        )

    first, same, changed = rows(800, 1.0), rows(800, 1.0), rows(800, 0.2)
    kernel = fn.kernels.FisherKernel(fn.learn.bayesian_network(first))
    assert fn.compare.mmd(kernel, first, same) < fn.compare.mmd(kernel, first, changed)
    assert fn.compare.two_sample_test(first, changed, kernel, seed=1).p_value < 0.01
    assert fn.select.greedy_mmd(kernel, first, 20).rows.n_rows == 20
