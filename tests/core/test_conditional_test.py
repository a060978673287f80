"""Tables drawn within configurations: their probabilities, the statistics in NumPy, and the same on all threads."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import rel_entr, xlogy
from scipy.stats import binom, multivariate_hypergeom

from fishernet import _core

UNORDERED = (False, False)
ORDERS = [UNORDERED, (True, False), (False, True), (True, True)]  # of groups, of states


def exact(counts: Any, ordered: tuple[bool, bool] = UNORDERED) -> _core.ConditionalTest:
    return _core.ConditionalTest(np.ascontiguousarray(counts, dtype=np.int64), *ordered)


def random_counts(seed: int, shape: tuple[int, int, int], most: int = 20) -> Any:
    random = np.random.default_rng(seed)
    return random.integers(0, most, shape) * (random.random(shape) < 0.8)


def told_counts(counts: Any, test: _core.ConditionalTest) -> Any:
    told = counts[:, test.told]
    return told[told.sum(axis=(1, 2)) > 0][:, :, told.sum(axis=(0, 1)) > 0]


def directions(rows: Any, ranked: bool, n: int) -> Any:
    """Return mean ranks among so many rows, or the first n directions."""
    share = rows / rows.sum()
    return (np.cumsum(share) - share / 2)[None] if ranked and len(rows) > 2 else np.eye(len(rows))[:n]


def squared_shift(counts: Any, tables: Any, ordered: tuple[bool, bool]) -> Any:
    """Return the squared length, by their covariance, of deviations summed over configurations, or of their scores."""
    sizes, pooled = counts.sum(axis=2), counts.sum(axis=0)
    total = sizes.sum(axis=0)
    of_groups = directions(sizes.sum(axis=1), ordered[0], len(counts) - 1)
    of_states = directions(pooled.sum(axis=0), ordered[1], counts.shape[2])
    covariance: Any = 0.0
    for j in range(len(total)):
        p, q = sizes[:, j] / total[j], pooled[j] / total[j]
        one, other = np.diag(p) - np.outer(p, p), np.diag(q) - np.outer(q, q)
        both = np.kron(of_groups @ one @ of_groups.T, of_states @ other @ of_states.T)
        covariance = covariance + both * total[j] ** 2 / (total[j] - 1)
    off = (tables - sizes[:, :, None] * pooled / total[:, None]).sum(axis=2)
    shift = (of_groups @ off @ of_states.T).reshape(len(tables), -1)
    return ((shift @ np.linalg.pinv(covariance, hermitian=True)) * shift).sum(axis=1)


def statistics(counts: Any, tables: Any, ordered: tuple[bool, bool]) -> Any:
    """Return the five statistics of tables with the margins of counts: all groups are looked at, but of two one."""
    sizes, pooled = counts.sum(axis=2), counts.sum(axis=0)
    total = sizes.sum(axis=0)
    expected = sizes[:, :, None] * pooled / total[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        chi = np.nan_to_num((tables - expected) ** 2 / expected) * ((total - 1) / total)[:, None]
    by_configuration = chi.sum(axis=(1, 3))
    degrees = ((sizes > 0).sum(axis=0) - 1) * ((pooled > 0).sum(axis=1) - 1)
    seen = 1 if len(counts) == 2 else len(counts)
    spread = (sizes * (total - sizes) / (total - 1)) @ (pooled / total[:, None])
    by_state = spread[:seen].sum() / spread[:seen]
    large = ((tables - expected)[:, :seen] ** 2 * by_state[:, None, :]).sum(axis=(1, 2, 3))
    normal = (np.cbrt(by_configuration / degrees) - 1 + 2 / (9 * degrees)) / np.sqrt(2 / (9 * degrees))
    g = 2 * rel_entr(tables.astype(float), expected).sum(axis=(1, 2, 3))
    trend = squared_shift(counts, tables, ordered) if has_trend(counts, ordered) else np.zeros(len(g))
    return np.stack([g, large, squared_shift(counts, tables, UNORDERED), normal.max(axis=1), trend], axis=1), normal


def has_trend(counts: Any, ordered: tuple[bool, bool]) -> bool:
    return any(is_ordered and n > 2 for is_ordered, n in zip(ordered, (len(counts), counts.shape[2]), strict=True))


def weights(counts: Any, ordered: tuple[bool, bool]) -> Any:
    """Return what each statistic counts: those that say the same once."""
    if not has_trend(counts, ordered):
        return np.array([3, 1, 1, 1, 0]) / 6 if counts.shape[1] > 1 else np.eye(5)[0]
    return np.array([3, 1, 1, 1, 1]) / 7 if counts.shape[1] > 1 else np.array([3, 0, 0, 0, 1]) / 4


def ranks(values: Any) -> Any:
    rounded = np.round(values, 9)
    return (rounded[None] >= rounded[:, None]).mean(axis=1)


@pytest.mark.parametrize("times", [1, 4, 40])
def test_cells_of_several_groups_are_hypergeometric_however_they_are_drawn(times: int) -> None:
    """Few rows are dealt one by one, many a cell after the other: the same means and variances, and the margins."""
    counts, n = times * np.array([[[3, 1, 0]], [[2, 4, 1]], [[0, 3, 5]]]), 20_000
    drawn = exact(counts).drawn(7, n).reshape(n, 3, 3)
    sizes, pooled = counts[:, 0].sum(axis=1), counts[:, 0].sum(axis=0)
    total = sizes.sum()
    assert (drawn.sum(axis=2) == sizes).all()
    assert (drawn.sum(axis=1) == pooled).all()
    expected = np.outer(sizes, pooled) / total
    variance = expected * np.outer(total - sizes, total - pooled) / total / (total - 1)
    assert (np.abs(drawn.mean(axis=0) - expected) < 5 * np.sqrt(variance / n)).all()
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=6 * np.sqrt(2 / n))


@pytest.mark.parametrize("sizes", [[3, 4], [2, 3, 2]])
def test_tables_come_as_often_as_their_margins_say(sizes: list[int]) -> None:
    """Of each table, group by group: multivariate hypergeometric, given what the groups before have left."""
    pooled, n = np.array([3, 2, 2]), 40_000
    rows = np.repeat(np.arange(3), pooled)
    groups = np.split(rows, np.cumsum(sizes)[:-1])
    counts = np.stack([np.bincount(group, minlength=3) for group in groups])[:, None]
    drawn, seen = np.unique(exact(counts).drawn(5, n), axis=0, return_counts=True)
    found = dict(zip(map(tuple, drawn.tolist()), seen.tolist(), strict=True))
    possible = [
        [state for state in itertools.product(*(range(k + 1) for k in pooled)) if sum(state) == size] for size in sizes
    ]
    total = 0.0
    for table in itertools.product(*possible):
        if (np.sum(table, axis=0) != pooled).any():
            continue
        chance, left = 1.0, pooled
        for group in table[:-1]:
            chance *= multivariate_hypergeom.pmf(group, left, sum(group))
            left = left - group
        total += chance
        times = found.pop(tuple(itertools.chain(*table)), 0)
        assert abs(times - n * chance) <= 5 * np.sqrt(n * chance) + 1
    assert total == pytest.approx(1)
    assert not found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ordered", ORDERS)
@pytest.mark.parametrize("shape", [(2, 5, 2), (2, 4, 4), (2, 1, 5), (4, 3, 3), (4, 1, 2), (5, 1, 4), (7, 9, 6)])
def test_statistics_and_p_values_are_those_of_the_definition(
    seed: int, ordered: tuple[bool, bool], shape: tuple[int, int, int]
) -> None:
    """Rows may be many in a configuration, or so few that most groups and states are absent there."""
    counts = random_counts(seed, shape)
    if shape[1] > 5:
        counts *= np.random.default_rng([seed, 1]).random(shape) < 0.2
    test = exact(counts, ordered)
    told = told_counts(counts, test)
    assert test.shape == told.shape
    drawn = test.drawn(7, 200).reshape(-1, *told.shape)
    assert (drawn.sum(axis=1) == told.sum(axis=0)).all()
    assert (drawn.sum(axis=3) == told.sum(axis=2)).all()
    found, normal = statistics(told, np.concatenate([told[None], drawn]), ordered)
    np.testing.assert_allclose(test.statistics, found[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(test.deviations(7, 200), normal, rtol=1e-9, atol=1e-9)
    shares = weights(told, ordered)
    scores = [w * np.tan(np.maximum(0.5 - ranks(x), -0.25) * np.pi) for w, x in zip(shares, found.T, strict=True)]
    expected = found[:, 0] if shares[0] == 1 else sum(scores)
    np.testing.assert_allclose(test.p_values(7, 200), ranks(expected), rtol=1e-12)


@pytest.mark.parametrize("counts", [[[40, 0], [0, 40]], [[30, 3], [9, 25]], [[6, 0, 9], [1, 30, 2]], [[7, 5], [4, 6]]])
def test_dispersed_draws_find_p_values_however_small(counts: list[list[int]]) -> None:
    """The chance of all tables with these margins whose likelihood ratio is as large."""
    table = np.array(counts)
    size, pooled = table[0].sum(), table.sum(axis=0)
    firsts = [np.array(first) for first in itertools.product(*(range(k + 1) for k in pooled)) if sum(first) == size]
    ratios = np.array([-xlogy(both, both).sum() for both in (np.stack([of, pooled - of]) for of in firsts)])
    chances = np.array([multivariate_hypergeom.pmf(of, pooled, size) for of in firsts])
    p = chances[ratios <= -xlogy(table, table).sum() + 1e-9].sum()
    found = [exact(table[:, None]).dispersed_p_values(key, 20_000)[0] for key in range(10)]
    assert np.mean(found) == pytest.approx(p, rel=0.15)


@pytest.mark.parametrize("ordered", ORDERS)
@pytest.mark.parametrize("shape", [(2, 5, 2), (2, 4, 4), (4, 3, 3), (4, 1, 2), (5, 1, 4), (7, 9, 6)])
def test_dispersed_draws_say_what_others_say(ordered: tuple[bool, bool], shape: tuple[int, int, int]) -> None:
    """The weights make up for how the tables were drawn."""
    n = 20_000 if math.prod(shape) < 100 else 5_000
    for seed in range(4):
        test = exact(random_counts(seed, shape), ordered)
        p = test.p_values(5, n)[0]
        assert test.dispersed_p_values(6, n)[0] == pytest.approx(p, abs=6 * np.sqrt((p + 1e-4) / (n / 2)))


def test_p_values_of_dispersed_draws_are_as_seldom_small_as_they_say() -> None:
    random, found = np.random.default_rng(5), []
    for _ in range(3000):
        n_groups, n, n_states = random.integers(2, 5), random.integers(1, 6), random.integers(2, 5)
        shares, sizes = random.dirichlet([0.5] * n_states, n), random.integers(0, 30, (n_groups, n))
        test = exact(random.multinomial(sizes, shares[None]), ORDERS[random.integers(len(ORDERS))])
        if len(test.told):
            found.append(test.dispersed_p_values(int(random.integers(2**32)), 99)[0])
    for level in (0.001, 0.01, 0.05, 0.3):
        assert np.sum(np.array(found) <= level) <= binom.ppf(0.9999, len(found), level)


def test_divergences_are_those_of_fitted_conditionals() -> None:
    """Each table has one pseudo-row of both together; configurations count by the later rows."""
    counts = random_counts(3, (2, 4, 3)) + 1
    test = exact(counts)
    drawn = test.drawn(9, 50).reshape(-1, *test.shape)
    share = counts.sum(axis=0) / counts.sum(axis=(0, 2))[:, None]
    for table, found in zip([counts, *drawn], test.divergences(9, 50), strict=True):
        earlier, later = (table + share) / (table.sum(axis=2, keepdims=True) + 1)
        apart = (later * np.log(later / earlier)).sum(axis=1)
        assert found == pytest.approx((table[1].sum(axis=1) * apart).sum(), rel=1e-9, abs=1e-12)


def test_divergences_of_two_conditionals_have_the_mean_of_numpys_draws() -> None:
    random = np.random.default_rng(4)
    earlier, later = random.dirichlet([1.0, 2.0, 3.0], (2, 5))
    sizes, shares, n = np.array([4, 30, 200, 9, 50]), random.dirichlet([2.0] * 5), 300
    found = _core.drawn_divergences(earlier, later, sizes, shares, n, 1, 4000)
    expected = []
    for _ in range(4000):
        before = random.multinomial(sizes, earlier)
        after = random.multinomial(random.multinomial(n, shares), later)
        share = (before + after) / (before + after).sum(axis=1, keepdims=True)
        p, q = ((c + share) / (c.sum(axis=1, keepdims=True) + 1) for c in (after, before))
        expected.append((after.sum(axis=1) * rel_entr(p, q).sum(axis=1)).sum() / n)
    for moment in (np.mean, np.std):
        assert moment(found) == pytest.approx(moment(expected), abs=5 * np.std(expected) / np.sqrt(2000))


def test_draws_do_not_depend_on_the_number_of_threads() -> None:
    test, before = exact(random_counts(2, (3, 6, 3))), _core.get_threads()
    try:
        answers = []
        for threads in (1, 3):
            _core.set_threads(threads)
            answers.append(
                (
                    test.p_values(3, 500).tobytes(),
                    test.dispersed_p_values(3, 500).tobytes(),
                    test.deviations(3, 500).tobytes(),
                    test.drawn(3, 500).tobytes(),
                )
            )
    finally:
        _core.set_threads(before)
    assert answers[0] == answers[1]
    assert test.drawn(3, 70).tobytes() == test.drawn(3, 500)[:70].tobytes()
    assert test.drawn(4, 70).tobytes() != test.drawn(3, 70).tobytes()
