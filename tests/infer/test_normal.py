"""Inference over numbers: SciPy's densities, and conditioning by covariances in place of precisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fishernet as fn
from tests.reference.gaussians import bayesian_networks, markov_networks, random_bayesian_network, random_markov_network

CHAIN = fn.GaussianMarkovNetwork(["a", "b", "c"], [0, 1, -1], [[2, -1, 0], [-1, 2, 1], [0, 1, 3]])
BOTH = st.one_of(markov_networks, bayesian_networks)


def conditioned(net: Any, known: dict[str, float], names: list[str]) -> tuple[Any, Any]:
    """The mean and covariance of some variables given others, by blocks of the covariance."""
    W = np.linalg.inv(net.precision)
    at, on = [net.names.index(n) for n in names], [net.names.index(n) for n in known]
    if not on:
        return net.mean[at], W[np.ix_(at, at)]
    move = np.linalg.solve(W[np.ix_(on, on)], W[np.ix_(on, at)]).T
    mean = net.mean[at] + move @ (np.array(list(known.values())) - net.mean[on])
    return mean, W[np.ix_(at, at)] - move @ W[np.ix_(on, at)]


def some(net: Any, data: st.DataObject) -> tuple[dict[str, float], list[str]]:
    """Numbers of some variables, and some of the others."""
    sd = np.sqrt(np.diagonal(np.linalg.inv(net.precision)))
    order = data.draw(st.permutations(range(len(net.names))))
    n_known = data.draw(st.integers(0, len(order) - 1))
    known = {net.names[v]: float(net.mean[v] + data.draw(st.floats(-3, 3)) * sd[v]) for v in order[:n_known]}
    return known, [net.names[v] for v in order[n_known : data.draw(st.integers(n_known + 1, len(order)))]]


@given(BOTH, st.data())
def test_some_numbers_given_others(net: Any, data: st.DataObject) -> None:
    known, names = some(net, data)
    mean, covariance = conditioned(net, known, names)
    scale = np.sqrt(np.diagonal(np.linalg.inv(net.precision)))[[net.names.index(n) for n in names]]
    for d in (net.query(names, given=known), fn.infer.marginal(net, names, given=known)):
        assert d.names == tuple(names)
        np.testing.assert_allclose(d.mean / scale, mean / scale, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(
            d.covariance / np.outer(scale, scale), covariance / np.outer(scale, scale), atol=1e-7
        )
        np.testing.assert_array_equal(d.covariance, d.covariance.T)
        np.testing.assert_array_equal(d.sd, np.sqrt(np.diagonal(d.covariance)))
        assert d.to_frame().to_pydict() == {"name": names, "mean": d.mean.tolist(), "sd": d.sd.tolist()}
        assert d[names[-1]].mean[0] == d.most_probable[names[-1]] == d.mean[-1]
        assert d[tuple(reversed(names))].covariance.tolist() == d.covariance[::-1, ::-1].tolist()


@given(BOTH, st.data())
def test_the_density_of_what_is_given_and_its_most_probable_rest(net: Any, data: st.DataObject) -> None:
    known, _ = some(net, data)
    at = [net.names.index(n) for n in known]
    W = np.linalg.inv(net.precision)[np.ix_(at, at)]
    expected = stats.multivariate_normal(net.mean[at], W).logpdf(list(known.values())) if known else 0.0
    assert fn.infer.log_evidence(net, known) == pytest.approx(float(expected), rel=1e-7, abs=1e-7)
    best = fn.infer.most_probable(net, given=known)
    assert list(best) == list(net.names)
    row = np.array([list(best.values())])
    peak = float(net.log_prob(row)[0])
    sd = 1 / np.sqrt(np.diagonal(net.precision))
    for v, name in enumerate(net.names):
        if name in known:
            assert best[name] == known[name]
            continue
        for step in (-0.1, 0.1):  # no step away is better
            moved = row.copy()
            moved[0, v] += step * sd[v]
            assert net.log_prob(moved)[0] < peak


@pytest.mark.parametrize("net", [random_markov_network(3, 5), random_bayesian_network(3, 5)], ids=["markov", "bayes"])
def test_draws_have_the_conditional_moments(net: Any) -> None:
    known = {net.names[1]: float(net.mean[1]) + 0.3, net.names[3]: float(net.mean[3])}
    names = [name for name in net.names if name not in known]
    rows = fn.infer.sample(net, 40_000, given=known, seed=1)
    assert rows.names == net.names
    for name, number in known.items():
        assert (rows[name] == number).all()
    mean, covariance = conditioned(net, known, names)
    X = np.array([rows[name] for name in names])
    sd = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose((X.mean(axis=1) - mean) / sd, 0, atol=0.03)
    np.testing.assert_allclose(np.cov(X) / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=0.05)
    again = fn.infer.sample(net, 40_000, given=known, seed=1)
    assert again == rows


def test_units_cost_no_digits() -> None:
    """The same distribution in nanometres and in light years."""
    units = np.array([1e9, 1.0, 1e-16])
    small = fn.GaussianMarkovNetwork(CHAIN.names, CHAIN.mean * units, CHAIN.precision / np.outer(units, units))
    one = CHAIN.query(["a", "b"], given={"c": 0.5})
    other = small.query(["a", "b"], given={"c": 0.5e-16})
    np.testing.assert_allclose(other.mean / units[:2], one.mean, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(other.sd / units[:2], one.sd, rtol=1e-13)


def test_numbers_are_given_as_in_a_table() -> None:
    expected = CHAIN.query("a", given={"b": 1.5})
    assert CHAIN.query("a", given={"b": "1.5"}).mean == expected.mean
    assert CHAIN.query("a", given={"b": np.float32(1.5)}).mean == expected.mean
    assert expected.given == {"b": 1.5}
    every = CHAIN.query(given={"b": 1.5})
    assert every.names == ("a", "c")
    assert len(every) == 2
    fixed = CHAIN.query(["b", "a"], given={"b": 1.5})
    assert fixed.mean[0] == 1.5
    assert fixed.covariance[0].tolist() == [0, 0]


def test_what_is_shown() -> None:
    d = CHAIN.query(["b", "c"], given={"a": 3})
    assert repr(d).startswith("NormalDistribution(b, c | a = 3.0: ")
    assert str(d).splitlines()[:2] == ["P(b, c | a = 3.0)", "name  mean  sd"]


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: CHAIN.query("a", given={"b": "low"}), fn.UnknownStateError, "'b' has finite numbers, and 'low' is"),
        (lambda: CHAIN.query("a", given={"b": np.nan}), fn.UnknownStateError, "nan is none"),
        (lambda: CHAIN.query("a", given={"z": 1}), fn.SchemaError, "no variable 'z'"),
        (lambda: CHAIN.query("z"), fn.SchemaError, "no variable 'z'"),
        (lambda: CHAIN.query(["a", "a"]), fn.SchemaError, "more than once"),
        (lambda: CHAIN.query(given={"a": 1, "b": 1, "c": 1}), fn.SchemaError, "every one is given"),
        (lambda: CHAIN.query("a", likelihood={"b": [1, 2]}), fn.SchemaError, "likelihoods are of states"),
        (lambda: CHAIN.query("a", chains=4), fn.SchemaError, "'chains' are options of sampling"),
        (lambda: fn.infer.predict_proba(CHAIN, {"a": [1.0]}, "b"), fn.SchemaError, "predict gives its mean"),  # type: ignore[arg-type]
        (lambda: fn.infer.JunctionTree(CHAIN), fn.SchemaError, r"net\.query"),  # type: ignore[arg-type]
        (lambda: fn.infer.family_marginals(CHAIN), fn.SchemaError, r"net\.query"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused(ask: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        ask()
