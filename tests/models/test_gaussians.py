"""Normal distributions and their mixtures: densities, and information by integration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import fishernet as fn

means = st.floats(-5, 5)
widths = st.floats(0.2, 5)
points = st.lists(st.floats(-20, 20), min_size=1, max_size=5)


@st.composite
def mixtures(draw: st.DrawFn) -> fn.GaussianMixture:
    n = draw(st.integers(1, 4))
    weights = np.array(draw(st.lists(st.floats(0.05, 1), min_size=n, max_size=n)))
    return fn.GaussianMixture(weights / weights.sum(), draw(st.lists(means, min_size=n, max_size=n)), draw(widths))


@given(means, widths, points)
def test_the_density_is_the_normal_one(mean: float, sd: float, x: list[float]) -> None:
    np.testing.assert_allclose(fn.Gaussian(mean, sd).log_prob(x), stats.norm.logpdf(x, mean, sd), rtol=1e-12)


@given(mixtures(), points)
def test_the_density_of_a_mixture_is_the_weighted_sum(model: fn.GaussianMixture, x: list[float]) -> None:
    parts = [w * stats.norm.pdf(x, m, model.sd) for w, m in zip(model.weights, model.means, strict=True)]
    np.testing.assert_allclose(np.exp(model.log_prob(x)), np.sum(parts, axis=0), rtol=1e-9, atol=1e-300)


def integrated(model: fn.GaussianMixture, i: int, j: int, edges: list[float]) -> float:
    def value(x: float) -> float:
        scores = model.fisher_scores([x])[0]
        return float(np.exp(model.log_prob([x])[0]) * scores[i] * scores[j])

    return float(integrate.quad(value, edges[0], edges[-1], points=edges[1:-1], limit=400, epsabs=1e-11)[0])


def test_the_information_of_one_is_known() -> None:
    np.testing.assert_allclose(fn.Gaussian(1.5, 0.7).fisher_information(), np.diag([1, 2]) / 0.49, rtol=1e-12)


@pytest.mark.parametrize("positions", [[0.0, 2.0], [0.0, 0.1, 9.0], [-30.0, 30.0]])
def test_the_information_of_a_mixture_is_the_expected_product_of_scores(positions: list[float]) -> None:
    model = fn.GaussianMixture(np.arange(1, len(positions) + 1) / sum(range(len(positions) + 1)), positions, 0.9)
    edges = [positions[0] - 15, *positions, positions[-1] + 15]
    n = model.n_parameters
    expected = [[integrated(model, i, j, edges) for j in range(n)] for i in range(n)]
    np.testing.assert_allclose(model.fisher_information(), expected, atol=1e-8)


def test_points_far_away_have_finite_logs_and_posteriors() -> None:
    mixture = fn.GaussianMixture([0.5, 0.5], [0, 1], 1e-3)
    assert np.isfinite(mixture.log_prob([1e6])).all()
    assert mixture.posterior([1e6]).tolist() == [[0, 1]]
    assert fn.Gaussian(0, 1e-200).log_prob([1.0])[0] == -np.inf


def test_a_component_of_weight_zero_adds_nothing() -> None:
    np.testing.assert_array_equal(fn.GaussianMixture([1, 0], [0, 5], 1).fisher_scores([2.0]), [[2, 0]])


@pytest.mark.parametrize("x", [[0.0, np.nan], [np.inf], [[1.0, 2.0]], ["a"], 3.0])
def test_what_is_no_list_of_finite_numbers_is_refused(x: Any) -> None:
    for model in (fn.Gaussian(0, 1), fn.GaussianMixture([1], [0], 1)):
        for method in (model.log_prob, model.fisher_scores):
            with pytest.raises(fn.SchemaError, match="observation"):
                method(x)


@pytest.mark.parametrize("sd", [0, -1, np.nan, np.inf, "wide"])
def test_a_width_that_is_none_is_refused(sd: Any) -> None:
    with pytest.raises(fn.SchemaError, match="standard deviation"):
        fn.Gaussian(0, sd)
    with pytest.raises(fn.SchemaError, match="standard deviation"):
        fn.GaussianMixture([1], [0], sd)


def test_weights_must_fit_the_means_and_sum_to_one() -> None:
    with pytest.raises(fn.SchemaError, match="weights sums to 0.9"):
        fn.GaussianMixture([0.5, 0.4], [0, 1], 1)
    with pytest.raises(fn.SchemaError, match="1 means for 2 weights"):
        fn.GaussianMixture([0.5, 0.5], [0], 1)
