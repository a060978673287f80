"""Where nothing differs, p-values are uniform: simulations with fixed seeds.

Shares of p-values up to a level are compared with the level; they err by binomial chance, of which four standard
deviations are allowed. A test that is exact is held to both sides, one that is near for many rows to a margin besides.
Of 200 runs that are 0.06 at 0.05 and 0.14 at 0.5, of 100 runs 0.09 and 0.2: a test that forgets what chance adds, or
that is far too careful, is off by more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.kernels import FisherKernel, HiddenVariableKernel, Rbf, SpectrumKernel
from tests.networks import random_network, with_holes
from tests.rates import assert_at_most as assert_rate_at_most

LEVELS = (0.05, 0.2, 0.5, 0.8)
NET = random_network(11, [2, 3, 2, 2], sharp=4.0)
pytestmark = pytest.mark.filterwarnings("ignore::fishernet.base.errors.FishernetWarning")


def assert_uniform(found: Sequence[float], *, margin: float = 0.0) -> None:
    """Shares of p-values up to each level are the level, but for chance and the margin."""
    for level in LEVELS:
        share = float(np.mean(np.array(found) <= level + 1e-9))
        chance = 4 * math.sqrt(level * (1 - level) / len(found))
        assert abs(share - level) <= chance + margin, (level, share)


def assert_at_most(wrong: Sequence[bool], level: float, *, margin: float = 0.0) -> None:
    share = float(np.mean(wrong))
    assert share <= level + 4 * math.sqrt(level * (1 - level) / len(wrong)) + margin, share


def strings(seed: int, n: int) -> list[str]:
    return ["".join(row) for row in np.random.default_rng(seed).choice(list("ab"), size=(n, 5))]


GAUSSIAN = fn.learn.bayesian_network(np.random.default_rng(1).normal(size=(500, 3)).cumsum(axis=1))
PERMUTED: dict[str, tuple[Any, Callable[[int, int], Any]]] = {
    "Fisher": (FisherKernel(NET), lambda seed, n: NET.sample(n, seed=seed)),
    "learned from both": (None, lambda seed, n: NET.sample(n, seed=seed)),
    "holes": (HiddenVariableKernel(NET), lambda seed, n: with_holes(NET, n, seed, 0.2)),
    "Gaussian": (FisherKernel(GAUSSIAN), lambda seed, n: GAUSSIAN.sample(n, seed=seed)),
    "Rbf": (Rbf(FisherKernel(NET), 1.0), lambda seed, n: NET.sample(n, seed=seed)),
    "strings": (SpectrumKernel(2), strings),
}


@pytest.mark.parametrize("name", PERMUTED)
def test_permutation_p_values_are_uniform_and_families_of_variables_are_kept(name: str) -> None:
    """Exact: with 19 permutations, p is at most 0.05 in one of 20 cases, and any variable is found in no more."""
    kernel, sample = PERMUTED[name]
    found = [
        fn.compare.two_sample_test(sample(2 * seed, 24), sample(2 * seed + 1, 36), kernel, permutations=19, seed=seed)
        for seed in range(100 if kernel is None else 200)
    ]
    assert_uniform([one.p_value for one in found])
    assert_at_most([bool(one.changed(0.2)) for one in found], 0.2)
    assert_at_most([any(s.p_corrected <= 0.2 for s in one.by_configuration) for one in found], 0.2)


@pytest.mark.parametrize("n", [(300, 300), (120, 400)])
def test_chi_squared_p_values_are_nearly_uniform_for_many_rows(n: tuple[int, int]) -> None:
    kernel = FisherKernel(NET)
    assert_uniform(
        [
            fn.compare.two_sample_test(
                NET.sample(n[0], seed=2 * seed),
                NET.sample(n[1], seed=2 * seed + 1),
                kernel,
                method="chi-square",
                seed=0,
            ).p_value
            for seed in range(150)
        ],
        margin=0.02,
    )


def test_p_values_by_blocks_are_nearly_uniform() -> None:
    """The estimates of 25 blocks are skewed, and their mean nearly normal."""
    kernel = Rbf(FisherKernel(NET), 1.0)
    assert_uniform(
        [
            fn.compare.two_sample_test(
                NET.sample(500, seed=2 * seed), NET.sample(500, seed=2 * seed + 1), kernel, method="block", seed=seed
            ).p_value
            for seed in range(150)
        ],
        margin=0.03,
    )


# ------------------------------------------------------------------------------------------------------- score test


@pytest.mark.parametrize("reference", ["chi-square", "bootstrap"])
def test_score_tests_of_known_parameters_are_uniform(reference: Any) -> None:
    kernel = FisherKernel(NET)
    found = [
        fn.compare.score_test(kernel, NET.sample(300, seed=seed), reference=reference, simulations=19, seed=seed)
        for seed in range(150)
    ]
    assert {one.n_fitted for one in found} == {None}
    assert_uniform([one.p_value for one in found], margin=0.02 if reference == "chi-square" else 0.0)
    assert_at_most([bool(one.misfits(0.2)) for one in found], 0.2, margin=0.02)


@pytest.mark.parametrize("reference", ["chi-square", "bootstrap"])
def test_score_tests_of_fitted_parameters_are_uniform(reference: Any) -> None:
    """Where the error of the fit is left out (n_fitted=0), half of all tests are wrong at 0.05."""
    found, forgetful = [], []
    for seed in range(120):
        fitted = fn.learn.parameters(NET.dag, NET.sample(500, seed=2 * seed))
        rows = NET.sample(400, seed=2 * seed + 1)
        kernel = FisherKernel(fitted)
        found.append(fn.compare.score_test(kernel, rows, reference=reference, simulations=19, seed=seed))
        if seed < 60:
            forgetful.append(
                fn.compare.score_test(kernel, rows, reference="chi-square", n_fitted=0, simulations=19).p_value
            )
    assert {one.n_fitted for one in found} == {500}
    assert_uniform([one.p_value for one in found], margin=0.03)
    assert_at_most([bool(one.misfits(0.2)) for one in found], 0.2, margin=0.03)
    assert np.mean(np.array(forgetful) <= 0.05) > 0.2


def test_score_tests_of_gaussian_networks_are_uniform() -> None:
    kernel = FisherKernel(GAUSSIAN)
    for reference in ("chi-square", "bootstrap"):
        found = [
            fn.compare.score_test(
                kernel, GAUSSIAN.sample(400, seed=seed), n_fitted=0, reference=reference, simulations=19, seed=seed
            ).p_value
            for seed in range(120)
        ]
        assert_uniform(found, margin=0.02 if reference == "chi-square" else 0.0)


def test_score_tests_of_rows_with_holes_are_uniform() -> None:
    """Holes of the drawn tables lie where those of the given one do, whatever the rows hold."""
    kernel = HiddenVariableKernel(NET)
    found = [
        fn.compare.score_test(kernel, with_holes(NET, 60, seed, 0.2), simulations=19, seed=seed) for seed in range(120)
    ]
    assert {one.reference for one in found} == {"bootstrap"}
    assert_uniform([one.p_value for one in found])


# --------------------------------------------------------------------------------------------------- explain_change


def test_explanations_of_equal_sources_find_a_change_in_no_more_than_the_level() -> None:
    wrong = (
        bool(
            fn.compare.explain_change(
                NET.sample(100, seed=2 * seed),
                NET.sample(100, seed=2 * seed + 1),
                NET,
                permutations=19,
                resamples=2,
                level=0.2,
                seed=seed,
            ).changed()
        )
        for seed in range(200)
    )
    assert_rate_at_most(wrong, 0.2, fault=0.4)
