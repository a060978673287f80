"""Tests of one conditional within its parents' configurations: exact draws, the correction, and who is accused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, hypergeom

import fishernet as fn
from fishernet.compare.conditional_tests import conditional_draws, step_down_max_t

ASIA = fn.datasets.load("asia")


def test_the_statistic_is_g_summed_over_configurations() -> None:
    random = np.random.default_rng(1)
    before, after = random.integers(1, 30, (2, 4, 3)).astype(float)
    expected = sum(
        chi2_contingency(pair, correction=False, lambda_="log-likelihood").statistic
        for pair in np.stack([before, after], axis=1)
    )
    assert conditional_draws(before, after, 1, random)[0] == pytest.approx(expected, rel=1e-9)


def test_configurations_that_tell_nothing_add_nothing() -> None:
    """One table lacks the first, the second has one state alone, and the third has no row."""
    before = np.array([[3.0, 4.0], [5.0, 0.0], [0.0, 0.0]])
    after = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 0.0]])
    assert conditional_draws(before, after, 20, np.random.default_rng(1)).tolist() == [0.0] * 21


def test_draws_have_the_hypergeometric_distribution() -> None:
    """Of 5 + 7 rows with 6 in the first state, each G statistic comes as often as the counts that have it."""
    before, after = np.array([[4.0, 1.0]]), np.array([[2.0, 5.0]])
    drawn = conditional_draws(before, after, 40_000, np.random.default_rng(2))
    counts = np.arange(6)
    statistics = [
        conditional_draws(np.array([[k, 5.0 - k]]), np.array([[6.0 - k, 1.0 + k]]), 0, np.random.default_rng(0))[0]
        for k in counts
    ]
    chances = hypergeom.pmf(counts, 12, 6, 5)
    exact = chances[np.array(statistics) >= drawn[0] - 1e-9].sum()
    assert (drawn >= drawn[0] - 1e-9).mean() == pytest.approx(exact, abs=0.012)


def test_a_single_column_keeps_its_own_p_value_and_constant_ones_have_none() -> None:
    statistics = np.random.default_rng(3).chisquare(3, (100, 1))
    alone = (statistics >= statistics[0]).mean()
    assert step_down_max_t(statistics)[0] == pytest.approx(alone)
    with_constant = np.hstack([np.zeros((100, 1)), statistics, np.full((100, 1), 7.0)])
    assert step_down_max_t(with_constant) == pytest.approx([1.0, alone, 1.0])


def test_a_change_that_was_found_does_not_burden_the_others() -> None:
    """The largest is compared with all columns, the next one with those that are left."""
    random = np.random.default_rng(4)
    statistics = random.chisquare(2, (1000, 4))
    statistics[0] = [200.0, 9.0, 1.0, 1.0]
    three = step_down_max_t(statistics[:, 1:])
    four = step_down_max_t(statistics)
    assert four[0] == 0.001
    assert four[1:] == pytest.approx(three)


def asia_of(smokers: float) -> fn.BayesianNetwork:
    tables: dict[str, Any] = {name: ASIA.conditional(name).table() for name in ASIA.names}
    tables["smoke"] = [smokers, 1 - smokers]
    return fn.BayesianNetwork.from_tables(ASIA.variables, {n: ASIA.parents(n) for n in ASIA.names}, tables)


@pytest.mark.parametrize(("earlier", "later", "rows"), [(0.05, 0.95, (5000, 200)), (0.5, 0.9, (100, 1000))])
def test_a_change_upstream_accuses_no_other_variable(earlier: float, later: float, rows: tuple[int, int]) -> None:
    """Over 300 pairs of tables, falsely named variables are as rare as the level says: 5 % and what chance adds."""
    one, other = asia_of(earlier), asia_of(later)
    named = 0
    for seed in range(300):
        X, Y = one.sample(rows[0], seed=seed), other.sample(rows[1], seed=seed + 10_000)
        found = fn.compare.explain_change(X, Y, ASIA.dag, permutations=99, resamples=2, seed=seed)
        named += bool(set(found.changed()) - {"smoke"})
        assert "smoke" in found.changed()
    assert named <= binom.ppf(0.9999, 300, 0.05)


def test_unequal_shares_of_missing_cells_accuse_nobody() -> None:
    """One table is complete, half of the cells of the other are missing completely at random."""
    random = np.random.default_rng(5)
    named = 0
    for seed in range(100):
        frame = ASIA.sample(1000, seed=seed + 5000).to_pandas()
        holes = frame.mask(random.random(frame.shape) < 0.5)
        found = fn.compare.explain_change(
            ASIA.sample(100, seed=seed), holes, ASIA.dag, permutations=99, resamples=2, seed=seed
        )
        named += bool(found.changed())
    assert named <= binom.ppf(0.9999, 100, 0.05)
