"""Estimates by weighted rows: near what is exact, as sure as they say, and refused where they say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fishernet as fn
from tests.networks import random_network
from tests.rates import assert_at_most

ASIA = fn.datasets.load("asia")
GIVEN = {"xray": "yes", "dysp": "yes"}


@pytest.mark.parametrize("names", [["lung"], ["tub", "lung"], ["smoke", "xray"]])
def test_intervals_hold_what_is_exact(names: list[str]) -> None:
    """Also of the rarest cell, which some of the estimates have no row for."""
    truth = fn.infer.marginal(ASIA, names, given=GIVEN)

    def misses() -> Any:
        for seed in range(400):
            found = fn.infer.estimate(ASIA, names, given=GIVEN, n=2_000, seed=seed)
            reach = stats.t.ppf(0.975, found.degrees_of_freedom) * found.standard_errors
            yield from (np.abs(found.probabilities - truth) > reach + 1e-12).ravel()

    assert_at_most(misses(), 0.075, fault=0.15)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_it_comes_near_what_is_exact(seed: int, n: int) -> None:
    net = random_network(seed, [2, 3, 1, 4, 2][:n], sharp=2.0)
    rows = net.sample(1, seed=seed)
    known = {net.names[0]: rows[net.names[0]][0]}
    found = fn.infer.estimate(net, [net.names[-1]], given=known, n=4_096, seed=seed)
    truth = fn.infer.marginal(net, [net.names[-1]], given=known)
    assert (np.abs(found.probabilities - truth) <= 6 * found.standard_errors + 1e-9).all()
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-9)
    assert found.n_effective is not None
    assert 1 <= found.n_effective <= found.n_rows + 1e-6


def test_one_variable_of_which_all_is_known_is_exact() -> None:
    given = {name: "no" for name in ASIA.names if name != "lung"}
    found = fn.infer.estimate(ASIA, ["lung"], given=given, n=200, seed=1)
    np.testing.assert_allclose(found.probabilities, fn.infer.marginal(ASIA, ["lung"], given=given), rtol=1e-12)
    assert (found.standard_errors < 1e-12).all()


def test_the_largest_table_fits() -> None:
    """A row says of one cell alone: no table of rows by cells, of which 4,096 by 2^22 would be 137 GB, is made."""
    net = random_network(1, [2] * 22)
    found = fn.infer.estimate(net, net.names, n=5_000, seed=1)
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-9)
    one = fn.infer.estimate(net, net.names[:2], n=5_000, seed=1)
    np.testing.assert_allclose(found.probabilities.sum(axis=tuple(range(2, 22))), one.probabilities, rtol=1e-9)


def test_a_seed_repeats_it() -> None:
    one, other = (fn.infer.estimate(ASIA, ["lung"], given=GIVEN, n=5_000, seed=3) for _ in range(2))
    assert (one.probabilities == other.probabilities).all()
    assert one.seed == 3


def test_rare_evidence_is_warned_of_and_impossible_evidence_refused() -> None:
    with pytest.warns(fn.FishernetWarning, match="worth"):
        fn.infer.estimate(ASIA, ["smoke"], given={"tub": "yes", "xray": "yes", "dysp": "no"}, n=50, seed=1)
    with pytest.raises(fn.FishernetError) as caught:
        fn.infer.estimate(ASIA, ["smoke"], given={"lung": "yes", "either": "no"}, n=1_000, seed=1)
    assert caught.value.parameter == "n"


def test_chains_are_of_dependency_networks() -> None:
    asked: dict[str, Any]
    for asked in ({"chains": 4}, {"scan": "ordered"}, {"weights": np.ones(8)}, {"burn_in": 10}, {"thin": 2}):
        with pytest.raises(fn.FishernetError) as caught:
            fn.infer.estimate(ASIA, ["lung"], **asked)
        assert caught.value.parameter == "chains"
    with pytest.raises(fn.FishernetError):
        fn.infer.estimate(fn.Gaussian(0.0, 1.0), ["lung"])  # type: ignore[arg-type]
