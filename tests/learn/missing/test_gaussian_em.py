"""Gaussian networks from rows that lack numbers: a closed form, expected scatters, gradients, and odd input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, FishernetWarning, MissingValueError, SchemaError
from fishernet.learn.em import Effort, fit
from fishernet.learn.missing.gaussian_em import GaussianSteps, gaussian_em

Numbers = npt.NDArray[np.float64]
PAIR = fn.UndirectedGraph.from_edges(["x", "y"], [("x", "y")])
ARC = fn.Dag.from_edges(["x", "y"], [("x", "y")])
ABCD = ["a", "b", "c", "d"]
CHAIN = fn.UndirectedGraph.from_edges(ABCD, [("a", "b"), ("b", "c"), ("c", "d")])


def correlated(n: int, seed: int, missing: float, d: int = 4) -> Numbers:
    """Rows of correlated numbers of unlike scales, in which some are missing, (n, d)."""
    rng = np.random.default_rng(seed)
    X: Numbers = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * np.array([1.0, 10.0, 0.1, 1.0])[:d] + np.arange(d)
    X[rng.random((n, d)) < missing] = np.nan
    return X


def table_of(X: Numbers, names: str = "abcd", weights: Any = None) -> fn.Table:
    return fn.Table([fn.Continuous(name) for name in names], list(X.T.copy()), weights=weights)


def log_likelihood(X: Numbers, mean: Numbers, covariance: Numbers) -> Numbers:
    """The log-density of what is known of each row, by SciPy."""
    found = np.zeros(len(X))
    for row, x in enumerate(X):
        k = np.flatnonzero(~np.isnan(x))
        if len(k):
            found[row] = scipy.stats.multivariate_normal(mean[k], covariance[np.ix_(k, k)]).logpdf(x[k])
    return found


def test_two_columns_of_which_one_lacks_cells_have_a_closed_form() -> None:
    """Anderson, 1957: x from all rows, y given x from the complete ones."""
    rng = np.random.default_rng(1)
    x = rng.normal(3.0, 2.0, 200)
    y = 1.0 - 0.7 * x + rng.normal(size=200)
    y[x > 3.5] = np.nan  # at random: by what is known
    known = ~np.isnan(y)
    slope, level = np.polyfit(x[known], y[known], 1)
    rest = np.mean((y[known] - level - slope * x[known]) ** 2)
    mean = [x.mean(), level + slope * x.mean()]
    covariance = [[x.var(), slope * x.var()], [slope * x.var(), rest + slope**2 * x.var()]]
    table = table_of(np.stack([x, y], axis=1), "xy")
    for net in (fn.learn.gaussian_network(table, PAIR), fn.learn.parameters(ARC, table)):
        np.testing.assert_allclose(net.mean, mean, rtol=1e-4)
        np.testing.assert_allclose(net.covariance, covariance, rtol=1e-3)
    arc: Any = fn.learn.parameters(ARC, table.to_pandas()).conditional("y")
    np.testing.assert_allclose(arc.coefficients, [slope], rtol=1e-3)


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.3, 0.8]), st.booleans())
def test_the_expected_scatter_is_that_of_rows_filled_one_by_one(seed: int, missing: float, weighted: bool) -> None:
    X = correlated(12, seed, missing)
    if np.isnan(X).all(axis=0).any():
        return
    w = np.random.default_rng(seed).integers(0, 3, 12) if weighted else np.ones(12, dtype=np.int64)
    if w.sum() < 1 or np.isnan(X[w > 0]).all(axis=0).any():
        return
    rng = np.random.default_rng(seed + 1)
    A = rng.normal(size=(4, 4))
    net = fn.GaussianMarkovNetwork(ABCD, rng.normal(size=4), A @ A.T + np.eye(4))
    steps: GaussianSteps[Any] = GaussianSteps.of(table_of(X, weights=w if weighted else None), lambda scatter: net)
    log_prob, scatter = steps.expected(net)
    first, second = np.zeros(4), np.zeros((4, 4))
    for row, x in enumerate(X):
        h, k = np.flatnonzero(np.isnan(x)), np.flatnonzero(~np.isnan(x))
        full, extra = x.copy(), np.zeros((4, 4))
        C = net.covariance
        pull = C[np.ix_(h, k)] @ np.linalg.inv(C[np.ix_(k, k)]) if len(k) else np.zeros((4, 0))
        full[h] = net.mean[h] + pull @ (x[k] - net.mean[k])
        extra[np.ix_(h, h)] = C[np.ix_(h, h)] - pull @ C[np.ix_(k, h)]
        first += w[row] * full
        second += w[row] * (np.outer(full, full) + extra)
    total = w.sum()
    np.testing.assert_allclose(scatter.mean, first / total, rtol=1e-7, atol=1e-9)
    wanted = second - np.outer(first, first) / total
    np.testing.assert_allclose(scatter.S, wanted, rtol=1e-6, atol=1e-8 * np.abs(second).max())
    assert log_prob == pytest.approx(w @ log_likelihood(X, net.mean, net.covariance), rel=1e-9, abs=1e-9)


def test_it_ends_where_the_gradient_is_zero() -> None:
    """By central differences of the likelihood along every free parameter of a chain, in units of its scale."""
    X = correlated(60, 3, 0.25)
    net = fn.learn.gaussian_network(table_of(X), CHAIN, tolerance=1e-14)
    assert net.precision[0, 2] == net.precision[0, 3] == net.precision[1, 3] == 0
    scale = np.sqrt(np.diagonal(net.precision))

    def value(mean: Numbers, precision: Numbers) -> float:
        covariance: Any = np.linalg.inv(precision)
        return float(log_likelihood(X, mean, covariance).sum())

    step = 1e-5
    for v in range(4):
        moved = [net.mean + sign * step / scale * (np.arange(4) == v) for sign in (1, -1)]
        assert abs(value(moved[0], net.precision) - value(moved[1], net.precision)) / (2 * step) < 1e-2
    for i, j in [*((v, v) for v in range(4)), (0, 1), (1, 2), (2, 3)]:
        change = np.zeros((4, 4))
        change[i, j] = change[j, i] = scale[i] * scale[j] * step
        up, down = value(net.mean, net.precision + change), value(net.mean, net.precision - change)
        assert abs(up - down) / (2 * step) < 1e-2, (i, j)


@pytest.mark.parametrize("missing", [0.1, 0.4])
def test_the_likelihood_never_falls_and_both_kinds_of_complete_graph_agree(missing: float) -> None:
    X = correlated(80, 5, missing)
    every = [(a, b) for i, a in enumerate("abcd") for b in "abcd"[i + 1 :]]
    undirected = fn.learn.gaussian_network(table_of(X), fn.UndirectedGraph.from_edges(ABCD, every))
    directed = fn.learn.parameters(fn.Dag.from_edges(ABCD, every), table_of(X))
    np.testing.assert_allclose(directed.covariance, undirected.covariance, rtol=1e-2, atol=1e-3)
    best = log_likelihood(X, undirected.mean, undirected.covariance).sum()
    assert log_likelihood(X, directed.mean, directed.covariance).sum() == pytest.approx(best, rel=1e-6)
    found = gaussian_em(
        table_of(X),
        lambda scatter: fn.learn.gaussian_network(scatter, CHAIN),
        Effort(1, 50, 1e-9),
    )
    assert (np.diff(found.trace) >= -1e-9 * abs(found.trace[0])).all()
    assert found.log_likelihood == pytest.approx(float(found.model.log_prob(table_of(X)).sum()), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_extrapolated_regressions_end_as_high_in_fewer_steps_in_any_unit(seed: int) -> None:
    X = correlated(200, seed, 0.5)
    dag = fn.Dag.from_edges(ABCD, [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")])

    def ended(X: Numbers, *, regressions: bool) -> Any:
        refit = lambda scatter: fn.learn.parameters(dag, scatter)  # noqa: E731
        return gaussian_em(table_of(X), refit, Effort(1, 5000, 1e-9), regressions=regressions)

    far, plain = ended(X, regressions=True), ended(X, regressions=False)
    assert far.converged
    assert far.log_likelihood >= plain.log_likelihood - 1e-4
    assert len(far.trace) < len(plain.trace)
    assert (np.diff(far.trace) >= -1e-9 * abs(far.trace[0])).all()
    units = np.array([1e6, 1e-6, 1.0, 1e3])
    other = ended(X * units, regressions=True)
    known = (~np.isnan(X)).sum(axis=0)
    assert other.log_likelihood == pytest.approx(far.log_likelihood - known @ np.log(units), abs=1e-3)


def test_complete_columns_are_fitted_as_ever_and_weights_are_rows() -> None:
    X = correlated(50, 2, 0.0)
    X[0, 3] = np.nan
    chain = fn.Dag.from_edges(ABCD, [("a", "b"), ("b", "c")])
    found = fn.learn.parameters(chain, table_of(X))
    for name in "abc":  # d stands alone, so that nothing is told of the others by its hole
        one: Any = found.conditional(name)
        of_three = fn.learn.parameters(fn.Dag.from_edges(ABCD[:3], chain.edges), table_of(X).select(ABCD[:3]))
        whole: Any = of_three.conditional(name)
        np.testing.assert_allclose(one.coefficients, whole.coefficients, rtol=1e-9, atol=1e-12)
    times = np.random.default_rng(1).integers(0, 3, 50)
    X = correlated(50, 4, 0.2)
    weighted = fn.learn.gaussian_network(table_of(X, weights=times), CHAIN)
    repeated = fn.learn.gaussian_network(table_of(np.repeat(X, times, axis=0)), CHAIN)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-6)


def test_densities_of_rows_with_holes_are_marginals() -> None:
    X = correlated(30, 7, 0.4)
    X[0] = np.nan
    net = fn.learn.gaussian_network(correlated(50, 8, 0.0)[:, [0, 1, 2, 3]], CHAIN)
    wanted = log_likelihood(X, net.mean, net.covariance)
    for data in (X, table_of(X), table_of(X).to_pandas()):
        np.testing.assert_allclose(net.log_prob(data), wanted, rtol=1e-8, atol=1e-10)
    assert net.log_prob(X)[0] == 0


def test_the_time_may_end_it() -> None:
    table = table_of(correlated(60, 3, 0.4))
    with pytest.warns(FishernetWarning, match="stopped by max_seconds=0"):
        fn.learn.gaussian_network(table, CHAIN, max_seconds=0)
    with pytest.warns(FishernetWarning, match="stopped by max_seconds=0"):
        fn.learn.parameters(fn.Dag(ABCD, [()] * 4), table, max_seconds=0)


def test_weights_that_are_fractions_count_as_parts_of_rows() -> None:
    X, counts = correlated(60, 3, 0.3), np.random.default_rng(1).integers(1, 5, 60)
    for rows in (X, np.nan_to_num(X)):
        whole, parts = (table_of(rows, weights=weights) for weights in (counts, counts * 0.37))
        one, other = (fn.learn.gaussian_network(table, CHAIN) for table in (whole, parts))
        np.testing.assert_allclose(other.mean, one.mean, rtol=1e-3)
        np.testing.assert_allclose(other.precision, one.precision, rtol=1e-3, atol=1e-9)


def test_bad_input_is_refused() -> None:
    X = correlated(30, 3, 0.2)
    dag = fn.Dag(ABCD, [()] * 4)
    with pytest.raises(MissingValueError):  # a bare array has no missing cells
        fn.learn.gaussian_network(X, CHAIN)
    never = X.copy()
    never[:, 1] = np.nan
    for learn in (lambda t: fn.learn.gaussian_network(t, CHAIN), lambda t: fn.learn.parameters(dag, t)):
        with pytest.raises(SchemaError, match="the column 'b' is without any known cell"):
            learn(table_of(never))
        still = X.copy()
        still[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, 2.0)
        with pytest.raises(SchemaError, match="'b' is constant"):
            learn(table_of(still))
    with pytest.raises(FishernetError, match="takes the option 'restarts'"):
        fn.learn.parameters(dag, table_of(X), restarts=3)
    with pytest.raises(FishernetError, match="smoothing and ess are for tables of counts"):
        fn.learn.parameters(dag, table_of(X), smoothing=2.0)
    with pytest.raises(FishernetError, match="max_steps"):
        fn.learn.gaussian_network(correlated(30, 3, 0.0), CHAIN, max_steps=3)


@dataclass
class Walk:
    """A model that is a number, one larger after each step, and its likelihood."""

    log_likelihood: Callable[[float], float]
    size: int = 1

    def expected(self, model: float) -> tuple[float, float]:
        return self.log_likelihood(model), model

    def maximized(self, model: float, counts: float) -> float:
        return model + 1

    def log_prior(self, model: float) -> float:
        return 0.0


def walked(log_likelihood: Callable[[float], float], leap: Any = None) -> Any:
    how: dict[str, Any] = {"drawn": lambda _: 0.0, "seed": None, "leap": leap}
    return fit("a line", Walk(log_likelihood), Effort(1, 2000, 1e-9), start=0.0, **how)


def test_leaps_stay_numbers_where_each_gains_and_none_is_the_last() -> None:
    reaches: list[float] = []

    def leap(first: float, second: float, third: float, most: float) -> float:
        reaches.append(most)
        return third

    assert not walked(lambda model: model, leap).converged
    assert len(reaches) > 600
    assert max(reaches) < 1e150


def test_steps_that_only_lose_end_at_the_best_before_them() -> None:
    """What is added to the counts may lead away from the largest likelihood, without end."""
    found = walked(lambda model: -abs(model - 5))
    assert found.converged
    assert found.model == 5
    assert found.log_likelihood == found.objective == 0
    assert found.trace == (-5, -4, -3, -2, -1, 0)
    assert walked(lambda model: model if model < 3 else model / 2).model > 1000  # it loses once, and gains again
