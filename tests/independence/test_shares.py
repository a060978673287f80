"""The tests of shares against SciPy's, against all arrangements, and at their true level."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fishernet.independence.shares import LEAST_EXPECTED, LEAST_OF_TWO, compared, holm

Table = np.ndarray[Any, Any]


def p_values(marked: Any, totals: Any) -> Table:
    return np.exp(compared(np.asarray(marked, dtype=np.int64), np.asarray(totals, dtype=np.int64)).log_p)


def williams(marked: Table, totals: Table) -> float:
    """SciPy's G over Williams' factor, written as in his paper: sums over rows and columns."""
    table = np.array([marked, totals - marked])
    found = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    n, rows, columns = table.sum(), table.sum(axis=0), table.sum(axis=1)
    q = 1 + (n * (1 / rows).sum() - 1) * (n * (1 / columns).sum() - 1) / (6 * n * found.dof)
    return float(stats.chi2.sf(found.statistic / q, found.dof))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), states=st.integers(3, 7))
def test_where_all_states_are_frequent_it_is_g_with_williams_correction(seed: int, states: int) -> None:
    rng = np.random.default_rng(seed)
    totals = rng.integers(60, 3000, states)
    marked = rng.binomial(totals, rng.uniform(0.3, 0.7))
    expected = np.minimum(marked.sum(), (totals - marked).sum()) / totals.sum() * totals
    if (expected < LEAST_EXPECTED).any():
        return
    assert p_values([marked], totals)[0] == pytest.approx(williams(marked, totals), rel=1e-6, abs=1e-300)


def test_two_large_states_go_by_g_too() -> None:
    marked, totals = np.array([900, 1100]), np.array([5000, 5000])
    assert min(marked) > LEAST_OF_TWO
    assert p_values([marked], totals)[0] == pytest.approx(williams(marked, totals), rel=1e-9)


@settings(deadline=None, max_examples=100)
@given(first=st.integers(1, 60), second=st.integers(1, 60), data=st.data())
def test_two_states_are_compared_exactly(first: int, second: int, data: Any) -> None:
    k, j = data.draw(st.integers(0, first)), data.draw(st.integers(0, second))
    if not 0 < k + j < first + second:
        return
    of = stats.hypergeom(first + second, first, k + j)
    twice = 2 * min(of.cdf(k), of.sf(k - 1))
    assert p_values([[k, j]], [first, second])[0] == pytest.approx(min(1.0, twice), rel=1e-8)


def test_with_rare_states_it_is_twice_the_lesser_of_two_ways() -> None:
    # three states expect 40, 40 and 4 of the marked: the last joins the second, and is compared by itself as well
    marked, totals = np.array([33, 41, 10]), np.array([100, 100, 10])
    joined = stats.hypergeom(210, 100, 84)
    alone = stats.hypergeom(210, 10, 84)
    ways = [2 * min(joined.cdf(33), joined.sf(32)), 2 * min(alone.cdf(10), alone.sf(9))]
    assert p_values([marked], totals)[0] == pytest.approx(2 * min(ways), rel=1e-9)


@pytest.mark.parametrize(
    ("totals", "m"),
    [((3, 4, 5), 2), ((3, 4, 5), 6), ((1, 1, 10), 1), ((2, 2, 2, 6), 3), ((10, 12), 4), ((7, 7, 7), 10), ((1, 1), 1)],
)
def test_the_level_holds_over_all_arrangements(totals: tuple[int, ...], m: int) -> None:
    """Every way to place m missing cells in small tables, with its probability: P(p <= a) <= a at every a."""
    ways = [way for way in product(*(range(n + 1) for n in totals)) if sum(way) == m]
    chance = np.array([np.prod([float(comb(n, k)) for n, k in zip(totals, way, strict=True)]) for way in ways])
    chance /= comb(sum(totals), m)
    p = p_values(ways, totals)
    for a in np.unique(p):
        assert chance[p <= a * (1 + 1e-9)].sum() <= a + 1e-9


@pytest.mark.parametrize(
    ("totals", "m"),
    [
        ([100] * 4, 12),
        ([100] * 4, 60),
        ([25] * 40, 300),
        ([1000, 400, 100, 30, 10, 5, 2, 1, 1, 1], 200),
        ([900, 60, 40], 500),
        ([250, 750], 100),
    ],
)
def test_the_level_holds_in_larger_tables(totals: list[int], m: int) -> None:
    rng = np.random.default_rng(7)
    runs = 40_000
    p = p_values(rng.multivariate_hypergeometric(totals, m, size=runs), totals)
    for a in (0.5, 0.1, 0.05, 0.01, 0.001):
        margin = 4 * np.sqrt(a * (1 - a) / runs)
        assert (p <= a).mean() <= 1.1 * a + margin  # G of ten expected is a few hundredths above its level


def test_p_values_are_uniform_where_counts_are_large() -> None:
    rng = np.random.default_rng(8)
    totals = [4000, 3000, 2000, 1000]
    p = p_values(rng.multivariate_hypergeometric(totals, 3000, size=5000), totals)
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_the_effect_is_the_mutual_information() -> None:
    marked, totals = np.array([5, 40, 0]), np.array([50, 50, 20])
    joint = np.array([marked, totals - marked]) / totals.sum()
    product_of_margins = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    held = joint > 0
    expected = (joint[held] * np.log(joint[held] / product_of_margins[held])).sum()
    assert compared(marked[None], totals).information[0] == pytest.approx(expected, rel=1e-12)


def test_the_state_that_tells_most_is_named_with_its_share_and_that_of_the_others() -> None:
    found = compared(np.array([[5, 40, 5], [20, 20, 1]]), np.array([50, 50, 50]))
    assert found.state.tolist() == [1, 2]
    assert found.share.tolist() == [0.8, 0.02]
    assert found.elsewhere.tolist() == [0.1, 0.4]
    two = compared(np.array([[5, 10], [10, 5]]), np.array([50, 50]))
    assert two.state.tolist() == [1, 0]  # of two that with more


def test_there_may_be_nothing_to_compare() -> None:
    totals = np.array([10, 0, 10])
    found = compared(np.array([[0, 0, 0], [10, 0, 10], [1, 0, 3]]), totals)
    assert np.isnan(found.log_p).tolist() == [True, True, False]
    for none in (np.array([20, 0]), np.array([0, 0]), np.zeros(0, np.int64)):
        assert np.isnan(compared(np.minimum(none, 3)[None], none).log_p).all()
    assert compared(np.zeros((0, 2), np.int64), np.array([1, 2])).log_p.shape == (0,)


def test_states_that_do_not_occur_change_nothing() -> None:
    few = compared(np.array([[3, 19, 4]]), np.array([20, 30, 25]))
    more = compared(np.array([[0, 3, 0, 19, 4]]), np.array([0, 20, 0, 30, 25]))
    assert few.log_p == more.log_p
    assert (few.state[0], more.state[0]) == (1, 3)


def test_a_unit_scales_the_rows() -> None:
    marked, totals = np.array([[30, 60, 10]]), np.array([200, 200, 200])
    assert compared(marked * 4, totals * 4, 0.25).log_p == pytest.approx(compared(marked, totals).log_p, rel=1e-12)
    assert compared(marked * 4, totals * 4, 0.25).share == pytest.approx(compared(marked, totals).share)


def test_differences_beyond_all_floats_keep_their_logarithm() -> None:
    found = compared(np.array([[0, 50_000], [0, 40_000]]), np.array([50_000, 50_000]))
    assert np.isfinite(found.log_p).all()
    assert found.log_p[0] < found.log_p[1] < -10_000


def test_holm_by_its_definition() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(30) ** 3
    p[4] = p[7]
    expected = np.empty(30)
    running = 0.0
    for rank, place in enumerate(sorted(range(30), key=lambda i: p[i])):
        running = max(running, min(1.0, (30 - rank) * p[place]))
        expected[place] = running
    assert holm(p) == pytest.approx(expected)
    assert holm(np.zeros(0)).shape == (0,)
