"""Tests of one conditional within its parents' configurations: exact draws, the correction, and who is accused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import fishernet as fn
from fishernet.compare.conditionals.state_tests import conditional_test
from fishernet.compare.corrections import Outcome, holm_sidak
from tests.networks import with_holes
from tests.rates import assert_at_most

ASIA = fn.datasets.load("asia")


def p_value(before: Any, after: Any, draws: int = 999, seed: int = 0, more: int = 0) -> float:
    counts = np.stack([np.array(table, dtype=np.float64) for table in (before, after)])
    return conditional_test(counts, np.random.default_rng(seed), draws, more).p_value


def test_configurations_that_tell_nothing_count_for_nothing() -> None:
    """One table lacks the first, the second has one state alone, and the third has no row."""
    before, after = [[3, 4], [5, 0], [0, 0]], [[0, 0], [7, 0], [0, 0]]
    assert math.isnan(p_value(before, after))
    telling = [[9, 1], [2, 8]], [[1, 9], [6, 4]]
    assert p_value([*before, *telling[0]], [*after, *telling[1]]) == p_value(*telling)


def test_states_that_never_occur_count_for_nothing() -> None:
    narrow = p_value([[9, 1], [2, 8]], [[1, 9], [6, 4]])
    assert p_value([[9, 0, 1], [2, 0, 8]], [[1, 0, 9], [6, 0, 4]]) == narrow


def test_draws_have_the_hypergeometric_distribution() -> None:
    """Of 5 + 7 rows with 6 in the first state, each deviation comes as often as the counts that have it."""
    counts = np.arange(6)
    chances, deviations = hypergeom.pmf(counts, 12, 6, 5), np.abs(counts - 2.5)
    for k in counts:
        exact = chances[deviations >= deviations[k] - 1e-9].sum()
        found = p_value([[k, 5 - k]], [[6 - k, 1 + k]], 40_000)
        assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-4)


@pytest.mark.parametrize("shape", [(1, 2), (3, 2), (2, 4), (12, 3)])
def test_the_joined_test_is_exact_whatever_the_sizes_are(shape: tuple[int, int]) -> None:
    """Conditionals are the same, and sizes of configurations are not: p <= t with a probability of t at most."""
    random = np.random.default_rng(shape)
    n, states = shape
    found = []
    for seed in range(400):
        theta = random.dirichlet([0.5] * states, n)
        tables = [
            np.stack([random.multinomial(size, p) for size, p in zip(random.integers(0, most, n), theta, strict=True)])
            for most in (40, 9)
        ]
        p = p_value(tables[0], tables[1], 99, seed, 499)
        found.append(1.0 if math.isnan(p) else p)
    for level in (0.02, 0.05, 0.2):
        assert np.mean(np.array(found) <= level) <= binom.ppf(0.9999, 400, level) / 400


def test_where_many_draws_may_be_needed_p_values_may_be_far_below_one_in_so_many() -> None:
    """By dispersed draws, taken twice; where a small shift of 300 configurations is what there is, by the others."""
    random, likely = np.random.default_rng(3), np.random.default_rng(4).uniform(0.3, 0.7, 300)
    shifted = _tilted(np.stack([likely, 1 - likely], axis=1), 0.25)[:, 0]
    hits = np.stack([random.binomial(40, p) for p in (likely, shifted)])
    slight = np.stack([hits, 40 - hits], axis=2)
    for counts, least, most in (([[[45, 30, 20, 30]], [[15, 50, 40, 10]]], 2e-9, 2e-7), (slight, 2 / 60_001, 4e-4)):
        found = conditional_test(np.array(counts, dtype=np.float64), random, 199, 60_000).p_value
        assert least * 0.999 <= found <= most


def test_more_groups_than_two_are_tested_exactly() -> None:
    """Three groups, of which one has no row in the second configuration; the child does not depend on the group."""
    random = np.random.default_rng(11)
    sizes = np.array([[20, 12], [7, 0], [30, 5]])
    theta = random.dirichlet([1.0, 1.0, 1.0], 2)
    found = []
    for _ in range(400):
        counts = np.stack([[random.multinomial(n, p) for n, p in zip(of, theta, strict=True)] for of in sizes])
        found.append(conditional_test(counts.astype(np.float64), random, 99, 99).p_value)
    for level in (0.05, 0.2):
        assert np.mean(np.array(found) <= level) <= binom.ppf(0.9999, 400, level) / 400
    assert np.mean(found) < 0.56
    apart = np.array([[[20, 1], [5, 5]], [[2, 18], [5, 5]], [[10, 10], [5, 5]]])
    assert conditional_test(apart * 1.0, random, 99, 999).p_value <= 0.01


def test_of_two_groups_it_does_not_matter_which_comes_first() -> None:
    random = np.random.default_rng(12)
    for _ in range(10):
        before, after = random.integers(0, 30, (2, 3, 3))
        apart = p_value(before, after, 1999, 1) - p_value(after, before, 1999, 2)
        assert abs(apart) < 0.06


def test_a_statistic_that_sees_nothing_does_not_hide_what_the_others_see() -> None:
    """The shifts of both configurations cancel each other exactly."""
    assert p_value([[400, 100], [100, 400]], [[250, 250], [250, 250]]) == 0.001


CHANGES: dict[str, Any] = {  # which statistic sees what
    "every cell": lambda theta, _: theta[:, ::-1],
    "a shift of all": lambda theta, _: _tilted(theta, 0.5),
    "one way here, the other there": lambda theta, _: np.where(
        np.arange(len(theta))[:, None] % 2, _tilted(theta, 0.6), _tilted(theta, -0.6)
    ),
    "one configuration": lambda theta, j: np.where(np.arange(len(theta))[:, None] == j, theta[:, ::-1], theta),
}


def _tilted(theta: Any, by: float) -> Any:
    odds = theta * np.exp([by, 0.0])
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_different_kinds_are_found(change: str) -> None:
    random = np.random.default_rng(7)
    found = 0
    for seed in range(60):
        first = random.uniform(0.1, 0.35, 20)
        theta = np.stack([first, 1 - first], axis=1)
        later = CHANGES[change](theta, 4)
        before, after = (np.stack([random.multinomial(60, p) for p in of]) for of in (theta, later))
        found += p_value(before, after, 199, seed, 999) <= 0.05
    assert found >= 45


@pytest.mark.parametrize(("shift", "found"), [(0.5, 0.73), (0.0, 0.0)])
def test_a_small_shift_of_ratings_is_seen_where_there_are_parents(shift: float, found: float) -> None:
    """Answers from 1 to 10 in six groups each move up a little: all cells alike see it in half of the tables."""
    random, names = np.random.default_rng(3), ("group", "rating")
    accused, runs = 0, 40
    for seed in range(runs):
        theta = random.dirichlet([3.0] * 10, 6)
        later = theta * np.exp(shift * np.linspace(-1, 1, 10))
        tables = []
        for n, p in ((400, theta), (250, later / later.sum(axis=1, keepdims=True))):
            groups = np.repeat(np.arange(6), random.multinomial(n, [1 / 6] * 6))
            ratings = np.array([random.choice(10, p=p[g]) + 1 for g in groups])
            tables.append({"group": np.array(list("fedcba"))[groups], "rating": ratings})
        graph = fn.Dag.from_edges(names, [names])
        change = fn.compare.explain_change(tables[0], tables[1], graph, permutations=99, resamples=10, seed=seed)
        accused += "rating" in change.changed()
    assert accused >= binom.ppf(0.0001, runs, found)
    assert shift or accused <= binom.ppf(0.9999, runs, 0.05)


def test_p_values_of_independent_tests_are_corrected_step_by_step() -> None:
    found = corrected([0.01, math.nan, 0.5, 0.02])
    expected = [1 - 0.99**3, math.nan, 0.5, 1 - 0.98**2]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert corrected([0.3, 0.001]).tolist() == pytest.approx([0.3, 1 - 0.999**2])
    assert corrected([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert len(corrected([])) == 0


def corrected(p_values: Sequence[float]) -> Any:
    return holm_sidak([Outcome(p) for p in p_values])


def test_a_test_counts_as_far_as_it_can_be_small() -> None:
    """The first can say 0.01 or 0.03, the second 0.03 at least, and of the third others would have been drawn."""
    first, second = Outcome(0.01, np.array([0.01, 0.03])), Outcome(0.4, np.array([0.03]))
    third, every = Outcome(0.3, np.array([0.004, 0.09]), low=0.1), Outcome(0.2)
    assert [first.chance(t) for t in (0.005, 0.01, 0.02, 0.03, 0.05)] == [0, 0.01, 0.01, 0.03, 0.03]
    assert [third.chance(t) for t in (0.005, 0.09, 0.095)] == [0.005, 0.09, 0.09]
    assert Outcome(0.05, np.array([0.001]), high=0.02).chance(0.03) == 0.03
    found = holm_sidak([first, second, third, every])
    assert found[0] == pytest.approx(1 - 0.99**3)
    assert found[3] == pytest.approx(1 - (1 - 0.2) ** 3)
    assert holm_sidak([Outcome(0.02, np.array([0.02])), Outcome(0.6, np.array([0.05]))])[0] == pytest.approx(0.02)


def test_possible_p_values_are_those_of_all_tables() -> None:
    """Of three rows against three, two of six with the state: 0, 1 or 2 of them are in the first table."""
    counts = np.array([[[0.0, 3.0]], [[2.0, 1.0]]])
    found = conditional_test(counts, np.random.default_rng(1), 299, 20_000)
    assert found.p_value == pytest.approx(0.4, abs=0.02)  # 0 or 2, either with 3 of 15
    assert found.chance(0.09) == 0
    one_sided = conditional_test(np.array([[[3.0, 0.0]], [[0.0, 4.0]]]), np.random.default_rng(1), 299, 20_000)
    assert one_sided.p_value == pytest.approx(1 / 35, abs=0.006)
    assert one_sided.chance(0.05) == one_sided.p_value


def test_few_rows_accuse_as_often_as_the_level_says_and_find_more() -> None:
    """Six conditionals of 20 rows each, of which the first changed: by what p-values are possible more is found."""
    random, found, plainly = np.random.default_rng(8), [], []

    def names_another() -> Iterator[bool]:
        for _ in range(400):
            theta = random.dirichlet(np.ones(3), (6, 2))
            after = np.concatenate([theta[:1, :, ::-1], theta[1:]])
            counts = [
                [[random.multinomial(5, p) for p in of] for of in pair] for pair in zip(theta, after, strict=True)
            ]
            tests = [conditional_test(np.array(of, dtype=np.float64), random, 299, 999) for of in counts]
            told, plain = (holm_sidak(of) for of in (tests, [Outcome(test.p_value) for test in tests]))
            found.append(told[0] <= 0.05)
            plainly.append(plain[0] <= 0.05)
            yield bool((told[1:] <= 0.05).any())

    assert_at_most(list(names_another()), 0.05, fault=0.1)
    assert sum(found) > sum(plainly)


def asia_of(smokers: float) -> fn.BayesianNetwork:
    tables: dict[str, Any] = {name: ASIA.conditional(name).table() for name in ASIA.names}
    tables["smoke"] = [smokers, 1 - smokers]
    return fn.BayesianNetwork.from_tables(ASIA.variables, {n: ASIA.parents(n) for n in ASIA.names}, tables)


@pytest.mark.parametrize(("earlier", "later", "rows"), [(0.05, 0.95, (5000, 200)), (0.5, 0.9, (100, 1000))])
def test_a_change_upstream_accuses_no_other_variable(earlier: float, later: float, rows: tuple[int, int]) -> None:
    """Falsely named variables are as rare as the level says; tests of whole marginals name some in most tables."""
    one, other = asia_of(earlier), asia_of(later)

    def names_another(seed: int) -> bool:
        X, Y = one.sample(rows[0], seed=seed), other.sample(rows[1], seed=seed + 10_000)
        found = fn.compare.explain_change(X, Y, ASIA.dag, permutations=99, resamples=2, seed=seed)
        assert "smoke" in found.changed()
        return bool(set(found.changed()) - {"smoke"})

    assert_at_most(map(names_another, range(300)), 0.05, fault=0.2)


def test_unequal_shares_of_missing_cells_accuse_nobody() -> None:
    """One table is complete, half of the cells of the other are missing completely at random."""

    def names_one(seed: int) -> bool:
        holes = with_holes(ASIA, 1000, seed + 5000, 0.5)
        tables = ASIA.sample(100, seed=seed), holes
        return bool(fn.compare.explain_change(*tables, ASIA.dag, permutations=99, resamples=2, seed=seed).changed())

    assert_at_most(map(names_one, range(120)), 0.05, fault=0.2)
