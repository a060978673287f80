"""Monte Carlo estimates of dependency networks: their standard errors hold what they promise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

import fishernet as fn


def copying(error: float) -> fn.DependencyNetwork:
    """Two binary variables that copy each other, wrongly with a probability of `error`."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    copy = [[1 - error, error], [error, 1 - error]]
    return fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, {"a": copy, "b": copy})


def coverage(dn: fn.DependencyNetwork, truth: float, n: int, runs: int) -> float:
    """The share of 95 % intervals of P(a = 0) that hold the truth."""
    held = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)
        for seed in range(runs):
            found = fn.infer.estimate(dn, ["a"], n=n, seed=seed)
            reach = stats.t.ppf(0.975, found.degrees_of_freedom) * found.standard_errors[0]
            held += abs(found.probabilities[0] - truth) <= reach
    return held / runs


@pytest.mark.parametrize("error", [1e-4, 1e-2, 0.3])
def test_intervals_hold_the_truth_as_often_as_they_say(error: float) -> None:
    """By symmetry P(a = 0) = 1/2; of 200 intervals at 95 %, fewer than 170 have a probability of 1e-8."""
    assert coverage(copying(error), 0.5, 16_000, 200) >= 0.85


def test_chains_that_differ_more_than_their_batches_are_warned_of() -> None:
    with pytest.warns(fn.FishernetWarning, match="the chains differ more than they should"):
        found = fn.infer.estimate(copying(1e-4), ["a"], n=16_000, seed=1)
    assert found.degrees_of_freedom == 7


def test_chains_that_move_fast_are_not_warned_of() -> None:
    for seed in range(20):
        fn.infer.estimate(copying(0.3), ["a", "b"], n=8000, seed=seed)


def test_independent_rows_have_the_error_of_a_share() -> None:
    """sqrt(p (1 - p) / n); the larger of two estimates is above it, rarely by much."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    dn = fn.DependencyNetwork.from_tables([a, b], {}, {"a": [0.2, 0.8], "b": [0.5, 0.5]})
    errors = [
        fn.infer.estimate(dn, ["a"], n=16_000, scan="ordered", seed=seed).standard_errors[0] for seed in range(40)
    ]
    assert 0.9 < np.mean(errors) / np.sqrt(0.16 / 16_000) < 1.5


def test_one_chain_has_the_errors_of_its_batches() -> None:
    found = fn.infer.estimate(copying(0.3), ["a"], n=4000, chains=1, seed=1)
    assert found.degrees_of_freedom == 19
    assert (found.standard_errors > 0).all()
