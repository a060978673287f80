"""Where steps that shorten at one rate lead to: to their end, at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.learn.missing.extrapolation import Extrapolation

VARIABLES: list[Any] = [
    fn.Variable("a", ["p", "q"]),
    fn.Variable("b", ["r", "s", "t"]),
    fn.Continuous("x"),
    fn.Continuous("y"),
]
PARENTS = {"b": ["a"], "x": ["b"], "y": ["a", "x"]}
RATE = 0.9


def network(away: float, unit: float, of_labels: float = 0.0) -> fn.BayesianNetwork:
    """Return a network so far away from the end: its levels, coefficients and spreads, and its probabilities."""
    rng = np.random.default_rng(1)

    def moved(end: Any, size: float = 0.3) -> Any:
        return np.asarray(end) + away * size * rng.normal(size=np.shape(end))

    shares = np.array([[0.2, 0.3, 0.5], [0.1, 0.9, 0.0]]) * np.exp(of_labels * rng.normal(size=(2, 3)))
    y = {"intercept": unit * moved([1.0, 2.0]), "coefficients": moved([[0.5], [-0.5]]), "sd": np.exp(moved([0.0, 0.5]))}
    conditionals: dict[str, Any] = {
        "a": [0.4, 0.6],
        "b": shares / shares.sum(axis=1, keepdims=True),
        "x": {
            "intercept": unit * moved([0.0, 3.0, 5.0]),
            "coefficients": np.zeros((3, 0)),
            "sd": unit * np.ones(3),
        },
        "y": y | {"sd": unit * y["sd"]},
    }
    return fn.BayesianNetwork.from_tables(VARIABLES, PARENTS, conditionals)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_steps_that_shorten_at_one_rate_end_where_they_lead_to(unit: float) -> None:
    ahead = Extrapolation(np.array([0, 0, 2.0, 1.0]) * unit, np.array([1, 1, 2.0, 1.5]) * unit)
    found = ahead(network(1, unit), network(RATE, unit), network(RATE**2, unit), 1e6)
    end = network(0.0, unit)
    for name in ("x", "y"):
        one, other = (net.conditional(name) for net in (found, end))
        for part in ("intercept", "coefficients", "sd"):
            np.testing.assert_allclose(getattr(one, part), getattr(other, part), rtol=1e-6, atol=1e-6 * unit)
    np.testing.assert_allclose(found.conditional("b").probabilities, end.conditional("b").probabilities)


def test_it_goes_no_further_than_it_may() -> None:
    ahead = Extrapolation(np.zeros(4), np.ones(4))
    last = network(RATE**2, 1.0)
    near: Any = ahead(network(1, 1.0), network(RATE, 1.0), last, 1.0).conditional("x")
    third: Any = last.conditional("x")
    np.testing.assert_allclose(near.intercept, third.intercept, rtol=1e-9)  # one step ahead is the third network


def test_tables_go_on_and_keep_their_zeros() -> None:
    ahead = Extrapolation(np.zeros(4), np.ones(4))
    first, second, third = (network(0.0, 1.0, of_labels=RATE**k) for k in range(3))
    nets = ahead(first, second, third, 1e6), network(0.0, 1.0), third
    found, end, last = (np.asarray(net.conditional("b").probabilities) for net in nets)
    assert found[1, 2] == 0
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found - end).max() < 0.1 * np.abs(last - end).max()  # that rows add up to 1 bends the way a little


def test_it_leads_nowhere_where_spreads_would_be_endless() -> None:
    ahead = Extrapolation(np.zeros(4), np.ones(4))
    with pytest.raises(np.linalg.LinAlgError):
        ahead(network(0.0, 1.0), network(300.0, 1.0), network(900.0, 1.0), 1e6)
