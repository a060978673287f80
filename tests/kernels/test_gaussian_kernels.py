"""The Fisher kernel of Gaussian networks: of arrays and of frames, and through scikit-learn's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import block_diag

import fishernet as fn
from fishernet.kernels import FeatureKernel, FisherKernel
from fishernet.sklearn import FisherFeatures
from tests.reference.gaussians import random_bayesian_network, random_markov_network

MARKOV, BAYES = random_markov_network(3, 4, 0.5), random_bayesian_network(3, 4, 0.5)
MODELS: list[Any] = [MARKOV, BAYES]
X, Y = np.random.default_rng(0).normal(size=(5, 4)), np.random.default_rng(1).normal(size=(3, 4))


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("metric", ["invariant", "practical", "empirical"])
def test_it_is_a_kernel_with_features(model: Any, metric: str) -> None:
    reference = {"reference": model.sample(100, seed=1)} if metric == "empirical" else {}
    kernel = FisherKernel(model, metric=metric, **reference)
    assert isinstance(kernel, FeatureKernel)
    assert kernel.dimension == model.n_parameters
    features, gram = kernel.features(X), kernel(X)
    assert features.shape == (5, kernel.dimension)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_allclose(gram, features @ features.T, rtol=1e-9)
    np.testing.assert_allclose(kernel(X, Y), features @ kernel.features(Y).T, rtol=1e-9)
    np.testing.assert_allclose(kernel.diag(X), np.diag(gram), rtol=1e-9)
    np.testing.assert_allclose(kernel.mean_features(X), features.mean(axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_invariant_kernel_has_the_inverse_information_between_scores(model: Any) -> None:
    information = model.fisher_information()
    between = np.linalg.inv(information if model is MARKOV else block_diag(*information))
    expected = model.fisher_scores(X) @ between @ model.fisher_scores(Y).T
    np.testing.assert_allclose(FisherKernel(model)(X, Y), expected, rtol=1e-7, atol=1e-9)


def test_two_ways_to_write_one_distribution_have_one_kernel() -> None:
    """A complete DAG and a complete graph parametrize all normal distributions: the invariant kernel is the same."""
    bayes = random_bayesian_network(7, 4, 1.0)
    expected = FisherKernel(bayes)(X, Y)
    np.testing.assert_allclose(FisherKernel(bayes.to_markov_network())(X, Y), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_frames_are_matched_by_name(model: Any) -> None:
    kernel = FisherKernel(model)
    frame = pd.DataFrame(X, columns=list(model.names))[list(model.names)[::-1]].assign(weights=7.0)
    columns = {name: frame[name].to_numpy() for name in frame}
    for named in (frame, columns):
        np.testing.assert_array_equal(kernel(named), kernel(X))
        np.testing.assert_array_equal(kernel(named, Y), kernel(X, Y))
        np.testing.assert_array_equal(kernel.mean_features(named), kernel.mean_features(X))
    empirical = FisherKernel(model, metric="empirical", reference=frame)
    np.testing.assert_array_equal(empirical(X), FisherKernel(model, metric="empirical", reference=X)(X))


def test_a_kind_of_parameters_alone() -> None:
    kernel = FisherKernel(MARKOV, parameters=["mean"])
    off = X - MARKOV.mean
    np.testing.assert_allclose(kernel(X), off @ MARKOV.precision @ off.T, rtol=1e-9, atol=1e-9)


def test_rows_of_another_width_are_refused() -> None:
    with pytest.raises(fn.SchemaError, match=r"shape \(n, 4\)"):
        FisherKernel(MARKOV)(X[:, :3])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_features_for_scikit_learn(model: Any) -> None:
    features = FisherFeatures(model, metric="invariant").fit_transform(X)
    np.testing.assert_allclose(features @ features.T, FisherKernel(model)(X), rtol=1e-9)
    rows = MARKOV.sample(50, seed=2)
    learned = FisherFeatures(fn.learn.gaussian_network, options={"graph": MARKOV.graph}).fit(rows)
    np.testing.assert_array_equal(learned.transform(X), learned.model_.fisher_scores(X))
