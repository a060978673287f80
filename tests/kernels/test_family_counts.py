"""Mean Fisher features come from the counts of families, and are the mean of the rows' features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.kernels.fisher import family_counts
from fishernet.kernels.fisher.invariant import Invariant
from tests.networks import networks, random_network, with_holes
from tests.reference.fisher import merged_network

WEIGHTS = ("none", "whole", "fractions")
COUNTED = pytest.mark.parametrize("counted", [True, False], ids=["by counts", "by rows"])


def rows_of(net: fn.BayesianNetwork, n: int, seed: int, weights: str) -> fn.Table:
    """Possible rows, some of weight 0."""
    drawn, rng = net.sample(n, seed=seed), np.random.default_rng(seed)
    if weights == "none":
        return drawn
    values = rng.integers(0, 4, n) if weights == "whole" else rng.random(n) * (rng.random(n) < 0.8)
    values[0] = 1
    return fn.Table(drawn.variables, drawn.codes, weights=values)


def brute_mean(kernel: Any, rows: fn.Table) -> Any:
    """The mean of the features of rows that are looked at one by one, and what its rounding is measured by."""
    weights = np.ones(rows.n_rows) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    features = np.stack([np.asarray(_dense(kernel.features(rows[i : i + 1])))[0] for i in range(rows.n_rows)])
    return weights @ features / weights.sum(), 1 + np.abs(features).max(initial=0.0)


def _dense(features: Any) -> Any:
    return features.toarray() if hasattr(features, "toarray") else features


def assert_mean(kernel: Any, rows: fn.Table) -> None:
    expected, size = brute_mean(kernel, rows)
    np.testing.assert_allclose(kernel.mean_features(rows), expected, rtol=1e-12, atol=1e-12 * size)


@settings(max_examples=60)
@given(networks(most_variables=4), st.integers(1, 60), st.integers(0, 2**32), st.sampled_from(WEIGHTS))
def test_the_mean_is_that_of_the_rows(net: fn.BayesianNetwork, n: int, seed: int, weights: str) -> None:
    rows = rows_of(net, n, seed, weights)
    assert_mean(fn.kernels.FisherKernel(net), rows)
    assert_mean(fn.kernels.FisherKernel(net, metric="practical"), rows)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("metric", ["invariant", "practical"])
def test_configurations_that_share_a_row_are_counted_together(metric: Any, weights: str) -> None:
    net = merged_network(2)
    rows = rows_of(net, 40, 3, weights)
    assert family_counts.are_few(net.conditionals, rows.n_rows)
    assert_mean(fn.kernels.FisherKernel(net, metric=metric), rows)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from(WEIGHTS))
def test_missing_cells_are_expected_given_the_row(seed: int, weights: str) -> None:
    net = random_network(seed % 100, [2, 3, 1, 2], sharp=2.0)
    holes = with_holes(net, 30, seed, 0.3)
    rows = fn.Table(holes.variables, holes.codes, weights=rows_of(net, 30, seed, weights).weights)
    assert_mean(fn.kernels.HiddenVariableKernel(net), rows)
    assert_mean(fn.kernels.FisherKernel(net, hidden=()), rows)
    if rows.has_missing:
        for metric in ("invariant", "practical"):
            with pytest.raises(fn.MissingValueError):
                fn.kernels.FisherKernel(net, metric=metric).mean_features(rows)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_counts_and_rows_give_the_same_shares_of_cells(weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_network(5, [3, 2, 4, 3], zeros=0.2)
    rows = rows_of(net, 200, 6, weights)
    metric = Invariant(net, fn.kernels.FisherKernel(net).group_probabilities)
    by_counts = metric.counts(rows)
    monkeypatch.setattr("fishernet.kernels.fisher.invariant.are_few", lambda *_: False)
    by_rows = metric.counts(rows)
    np.testing.assert_array_equal(by_counts[0], by_rows[0])
    assert by_counts[1] == by_rows[1]


@pytest.mark.parametrize("metric", ["invariant", "practical"])
@pytest.mark.parametrize("weight", [1, 0])
@COUNTED
def test_an_impossible_row_is_named(metric: Any, weight: int, counted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not counted:
        monkeypatch.setattr("fishernet.kernels.fisher.invariant.are_few", lambda *_: False)
    variables = [fn.Variable("a", ["x", "y"]), fn.Variable("b", ["x", "y"])]
    tables: dict[str, Any] = {"a": [0.5, 0.5], "b": [[0.5, 0.5], [1.0, 0.0]]}
    net = fn.BayesianNetwork.from_tables(variables, {"b": ["a"]}, tables)
    codes = np.array([[0, 0]] * 50 + [[1, 1]] + [[1, 0]] * 9)
    weights = np.where(codes[:, 1] == 1, weight, 1)
    rows = fn.Table.from_codes(codes, variables, weights=weights)
    with pytest.raises(fn.ZeroProbabilityError, match="row 50" if metric == "invariant" else "row"):
        fn.kernels.FisherKernel(net, metric=metric).mean_features(rows)


def test_families_with_more_cells_than_rows_can_tell_are_gone_through_row_by_row() -> None:
    net = random_network(1, [4, 4, 4, 4], sharp=2.0)
    largest = max(np.prod([v.cardinality for v in c.variables]) for c in net.conditionals)
    few = int(largest) // 8 - 1
    assert not family_counts.are_few(net.conditionals, few)
    assert not family_counts.are_few(net.conditionals, 0)
    assert family_counts.are_few(net.conditionals, few + 1)
    assert_mean(fn.kernels.FisherKernel(net), net.sample(few, seed=1))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_what_is_known_of_a_whole_table_is_the_mean_over_its_rows(weights: str) -> None:
    net = random_network(5, [3, 2, 4, 3], zeros=0.2)
    kernel, rows = fn.kernels.FisherKernel(net), rows_of(net, 200, 6, weights)
    of_rows = np.ones(rows.n_rows) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    shares = of_rows / of_rows.sum()
    # a multiple of it has features, and no cells
    whole, other = (one.row_sums(rows).some(slice(None)) for one in (kernel, 2 * kernel))
    assert whole.between == pytest.approx(shares @ kernel(rows) @ shares, rel=1e-10)
    assert whole.mean_diagonal == pytest.approx(shares @ kernel.diag(rows), rel=1e-12)
    assert whole.scale >= kernel.diag(rows[np.flatnonzero(of_rows)]).max() * (1 - 1e-12)
    assert (other.between, other.mean_diagonal) == pytest.approx((2 * whole.between, 2 * whole.mean_diagonal))


def test_no_weight_has_no_mean() -> None:
    net = random_network(5, [3, 2])
    drawn = net.sample(100, seed=1)
    rows = fn.Table(drawn.variables, drawn.codes, weights=np.zeros(100, dtype=np.int64))
    for metric in ("invariant", "practical"):
        with warnings.catch_warnings(), pytest.raises(fn.SchemaError, match="positive weight"):
            fn.kernels.FisherKernel(net, metric=metric).mean_features(rows)
