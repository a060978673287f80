"""By how many nats a conditional changed: estimates that chance does not enlarge, and intervals that cover."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from fishernet.compare.conditionals.nats import changed_nats
from fishernet.compare.conditionals.state_tests import conditional_test


def estimated(before: Any, after: Any, random: np.random.Generator, draws: int = 100) -> Any:
    one, other = before.astype(np.float64), after.astype(np.float64)
    p = conditional_test(np.stack([one, other]), random, 99, 499).p_value
    return changed_nats(one, other, p, draws, random)


def drawn(sizes: Any, theta: Any, random: np.random.Generator) -> Any:
    return np.stack([random.multinomial(n, p) for n, p in zip(sizes, theta, strict=True)])


@pytest.mark.parametrize("moved", [0.0, 0.5])
@pytest.mark.parametrize("shape", [(1, 2), (9, 3), (40, 4)])
def test_intervals_cover_and_estimates_are_in_the_middle(shape: tuple[int, int], moved: float) -> None:
    random = np.random.default_rng([*shape, int(10 * moved)])
    q = random.dirichlet([3.0] * shape[1], shape[0])
    p = q * np.exp(moved * random.standard_normal(q.shape))
    p /= p.sum(axis=1, keepdims=True)
    shares = random.dirichlet([4.0] * shape[0])
    trials, held, above = 60, 0, 0  # of 60, 80 % are too few
    for _ in range(trials):
        before = drawn(random.multinomial(1000, shares), q, random)
        after = drawn(random.multinomial(800, shares), p, random)
        both = (before.sum(axis=1) > 0) & (after.sum(axis=1) > 0)
        told = shares[both] / shares[both].sum()
        truth = round(float(told @ (p[both] * np.log(p[both] / q[both])).sum(axis=1)), 12)  # 0 but for rounding is 0
        found = estimated(before, after, random)
        held += found.low <= max(truth, 0) <= found.high + 1e-12
        above += found.nats > truth
        assert found.low <= found.nats <= found.high
    assert held >= binom.ppf(0.001, trials, 0.93)
    if moved:
        assert binom.ppf(0.0001, trials, 0.42) <= above <= binom.ppf(0.9999, trials, 0.58)


def test_of_many_rows_intervals_are_narrow_and_cover() -> None:
    """The estimate's standard deviation falls with the root of the number of rows (delta method)."""
    random = np.random.default_rng(6)
    p, q = np.array([[0.8, 0.1, 0.1], [0.3, 0.3, 0.4]]), np.array([[0.2, 0.5, 0.3], [0.1, 0.6, 0.3]])
    ratio = np.log(q / p)
    truth = float((q * ratio).sum() / 2)
    for n in (10**5, 10**7):
        spread = ((q * ratio**2).sum() / 2 - truth**2 + ((q / p) ** 2 * p).sum() / 2 - 1) / n
        covered = 0
        for _ in range(20):
            before, after = (drawn([n // 2, n // 2], of, random).astype(np.float64) for of in (p, q))
            found = changed_nats(before, after, 1e-4, 100, random)
            covered += found.low <= truth <= found.high
            assert found.high - found.low < 1.5 * 3.92 * math.sqrt(spread)
        assert covered >= binom.ppf(0.0005, 20, 0.93)


def test_the_interval_holds_0_where_the_test_does_not_reject() -> None:
    random = np.random.default_rng(3)
    lows = []
    for _ in range(100):
        before, after = (drawn([100, 60], [[0.7, 0.3], [0.4, 0.6]], random) for _ in range(2))
        one, other = before.astype(np.float64), after.astype(np.float64)
        p = conditional_test(np.stack([one, other]), random, 199, 199).p_value
        found = changed_nats(one, other, p, 50, random)
        assert (found.low == 0) == (p >= 0.05)
        lows.append(found.low > 0)
    assert sum(lows) <= binom.ppf(0.9999, 100, 0.05)


def test_what_the_tables_cannot_tell_is_open() -> None:
    random = np.random.default_rng(1)
    apart = estimated(np.array([[5, 5], [0, 0]]), np.array([[0, 0], [4, 6]]), random)
    assert (apart.low, apart.high, apart.covered) == (0, math.inf, 0)
    alone = estimated(np.array([[5, 0], [0, 3]]), np.array([[2, 0], [0, 6]]), random)
    assert (alone.nats, alone.low, alone.high, alone.covered) == (0, 0, 0, 1)
    half = estimated(np.array([[5, 5], [0, 0]]), np.array([[3, 3], [3, 3]]), random)
    assert half.covered == 0.5


def test_a_state_that_vanished_is_finite() -> None:
    found = estimated(np.array([[50, 50]]), np.array([[100, 0]]), np.random.default_rng(1))
    assert 0.3 < found.low <= found.nats <= found.high < 3


def test_how_rare_a_state_was_that_the_earlier_rows_lack_is_left_open() -> None:
    random = np.random.default_rng(4)
    q = np.array([[0.7, 0.3]])
    for n in (300, 3000):
        rare = 1 / (300 * n)
        truth = float(q[0, 1] * math.log(q[0, 1] / rare) + q[0, 0] * math.log(q[0, 0] / (1 - rare)))
        for _ in range(10):
            found = changed_nats(np.array([[n, 0.0]]), drawn([n], q, random).astype(np.float64), 1e-4, 100, random)
            assert found.low < truth < found.high < 2 * truth
    few = changed_nats(np.array([[3.0, 0.0]]), np.array([[97.0, 1.0]]), 1.0, 100, random)
    assert few.high < 0.5  # three rows lack a rare state by chance
