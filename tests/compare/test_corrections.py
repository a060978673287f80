"""p-values beside permutations, and those corrected for their number, against SciPy and definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from fishernet.compare.corrections import benjamini_hochberg, holm, max_t, permutation_p_values

p_values = st.lists(st.sampled_from([0.0, 1e-9, 0.01, 0.02, 0.05, 0.3, 0.5, 1.0]), min_size=1, max_size=9)


@given(p_values)
def test_benjamini_hochberg_is_scipy_s(alone: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(np.array(alone)), false_discovery_control(alone), rtol=1e-12)


@given(p_values)
def test_holm_rejects_what_its_steps_reject(alone: list[float]) -> None:
    """The literal procedure at every level that matters: smallest first, p_(k) <= level / (n - k), until one is not."""
    n = len(alone)
    adjusted = holm(np.array(alone))
    assert (adjusted >= np.array(alone)).all()
    for level in {*(p * k for p in alone for k in range(1, n + 1) if p * k < 1), 0.03}:
        rejected = set()
        for k, i in enumerate(sorted(range(n), key=lambda i: alone[i])):
            if alone[i] * (n - k) > level:
                break
            rejected.add(i)
        assert {i for i in range(n) if adjusted[i] <= level} == rejected


def test_they_are_empty_of_nothing() -> None:
    for correct in (holm, benjamini_hochberg):
        assert len(correct(np.empty(0))) == 0
    assert len(max_t(np.empty((5, 0)))) == 0


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 30))
def test_permutation_p_values_are_shares_of_rows_that_reach_the_first(
    seed: int, columns: int, permutations: int
) -> None:
    drawn = np.random.default_rng(seed).integers(0, 4, size=(1 + permutations, columns)).astype(float)
    found = permutation_p_values(drawn)
    for v in range(columns):
        reach = sum(value >= drawn[0, v] for value in drawn[1:, v])
        assert found[v] == pytest.approx((1 + reach) / (1 + permutations), abs=1e-12)


def test_what_differs_by_rounding_ties() -> None:
    assert permutation_p_values(np.array([[0.3], [0.1 + 0.2], [0.3 - 1e-16], [0.2]]))[0] == 0.75
    assert permutation_p_values(np.array([[0.0], [0.0], [1.0]]))[0] == 1


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(2, 30))
def test_max_t_compares_with_the_largest_standardized_statistic(seed: int, columns: int, permutations: int) -> None:
    drawn = np.random.default_rng(seed).exponential(size=(1 + permutations, columns))
    found = max_t(drawn)
    spreads, means = drawn.std(axis=0), drawn.mean(axis=0)
    largest = [max((row[v] - means[v]) / spreads[v] for v in range(columns)) for row in drawn]
    for v in range(columns):
        own = (drawn[0, v] - means[v]) / spreads[v]
        assert found[v] == pytest.approx(np.mean([value >= own - 1e-9 * abs(own) for value in largest]), abs=1e-12)
    assert (found >= permutation_p_values(drawn) - 1e-12).all()
    np.testing.assert_array_equal(max_t(drawn * [10.0**v for v in range(columns)]), found)  # in whatever units


def test_a_statistic_that_never_varies_is_no_finding_and_does_not_count() -> None:
    drawn = np.random.default_rng(1).exponential(size=(50, 2))
    found = max_t(np.column_stack([drawn, np.full(50, 3.0), np.zeros(50)]))
    assert found[2:].tolist() == [1, 1]
    np.testing.assert_array_equal(found[:2], max_t(drawn))


def test_max_t_of_one_column_is_its_p_value() -> None:
    drawn = np.random.default_rng(2).exponential(size=(200, 1))
    assert max_t(drawn)[0] == permutation_p_values(drawn)[0]


def test_copies_of_one_statistic_cost_nothing() -> None:
    """Max-T knows what joins the columns; Holm does not."""
    drawn = np.random.default_rng(3).exponential(size=(400, 1))
    drawn[0] = 4.0
    copies = np.repeat(drawn, 10, axis=1)
    np.testing.assert_allclose(max_t(copies), permutation_p_values(drawn)[0], rtol=1e-12)
    assert holm(permutation_p_values(copies))[0] == pytest.approx(10 * permutation_p_values(drawn)[0], rel=1e-12)
