"""Merging rows of counts: the literal greedy search, the best of all partitions, what never occurs, many rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fishernet.learn.shared_rows import agglomeration
from fishernet.learn.shared_rows.agglomeration import agglomerated, merged_configurations
from fishernet.scores import named_score
from fishernet.scores.groups import GroupScore, group_score
from tests.reference.merging import Groups, merged_greedily, partition_score, partitions
from tests.scores.test_groups import NAMES

Rows = list[list[int]]


def of(labels: np.ndarray) -> Groups:
    return [np.flatnonzero(labels == g).tolist() for g in range(labels.max(initial=-1) + 1)]


def score(rows: Rows, name: str) -> GroupScore:
    return group_score(named_score(name), float(sum(map(sum, rows))), len(rows[0]))


def merged(rows: Rows, name: str) -> Groups:
    counts = np.array(rows, dtype=float)
    places = np.flatnonzero(counts.sum(axis=1) > 0)
    return of(merged_configurations(places, counts[places], [len(rows)], score(rows, name)))


@st.composite
def counts(draw: st.DrawFn, *, most: int = 6, zeros: bool = True) -> Rows:
    """Rows of a few distributions, some alike, some with few rows or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    q, r = draw(st.integers(1, most)), draw(st.integers(1, 4))
    theta = rng.dirichlet(np.full(r, 0.7), size=3)
    sizes = rng.choice([0, 3, 20, 100] if zeros else [3, 20, 100], size=q)
    return [rng.multinomial(n, theta[rng.integers(3)]).tolist() for n in sizes]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(counts(zeros=False))
def test_it_is_the_literal_search(name: str, rows: Rows) -> None:
    """Ties may be taken in another order where equal rows go first, and then lead to as good a score or the same."""
    got = of(agglomerated(np.array(rows, dtype=float), np.full(len(rows), 1 / len(rows)), score(rows, name)))
    expected = merged_greedily(rows, [[j] for j in range(len(rows))], name)
    shares = Counter(tuple(np.round(np.array(row) / sum(row), 9)) for row in rows)
    if max(shares.values()) == 1 or not score(rows, name).takes_equal_rows_first:
        assert sorted(got) == sorted(expected)
    assert partition_score(rows, got, name) >= partition_score(rows, expected, name) - 1e-8


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(counts(most=5))
def test_the_score_never_falls_and_is_never_above_the_best_partition(name: str, rows: Rows) -> None:
    found = partition_score(rows, merged(rows, name), name)
    alone = partition_score(rows, [[j] for j in range(len(rows))], name)
    best = max(partition_score(rows, groups, name) for groups in partitions(range(len(rows))))
    assert alone - 1e-8 <= found <= best + 1e-8


@pytest.mark.parametrize("name", ["bic", "bdeu", "qnml"])
def test_it_is_mostly_the_best_partition(name: str) -> None:
    """Five configurations of two to three distributions: 52 partitions."""
    rng = np.random.default_rng(5)
    best = 0
    for _ in range(40):
        theta = rng.dirichlet([1, 1, 1], size=3)
        rows = [rng.multinomial(rng.integers(5, 80), theta[rng.integers(3)]).tolist() for _ in range(5)]
        top = max(partition_score(rows, groups, name) for groups in partitions(range(5)))
        best += partition_score(rows, merged(rows, name), name) > top - 1e-8
    assert best >= 35


@pytest.mark.parametrize("name", [name for name in NAMES if name != "loglik"])
def test_a_planted_partition_is_recovered(name: str) -> None:
    rng = np.random.default_rng(1)
    theta = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.34, 0.33, 0.33]])
    planted = np.array([0, 1, 1, 2, 0, 2])
    rows = [rng.multinomial(20_000, theta[g]).tolist() for g in planted]
    assert merged(rows, name) == of(planted)


def test_what_never_occurs_joins_the_group_that_weighs_most_beside_it() -> None:
    """Parents of 2 and 3 states: (1, 1) has beside it (0, 1), (1, 0) and (1, 2)."""
    rows = [[90, 10], [90, 10], [10, 90], [10, 190], [0, 0], [11, 209]]
    groups = merged_configurations(
        np.array([0, 1, 2, 3, 5]), np.array([row for row in rows if sum(row)], dtype=float), [2, 3], score(rows, "bic")
    )
    assert groups.tolist() == [0, 0, 1, 1, 1, 1]
    heavy = [[90, 10], [900, 100], *rows[2:]]
    groups = merged_configurations(
        np.array([0, 1, 2, 3, 5]), np.array([r for r in heavy if sum(r)], dtype=float), [2, 3], score(heavy, "bic")
    )
    assert groups.tolist() == [0, 0, 1, 1, 0, 1]


def test_what_has_nothing_beside_it_joins_the_largest_group() -> None:
    rows = [[90, 10], [200, 800]]
    groups = merged_configurations(np.array([0, 1]), np.array(rows, dtype=float), [2, 2, 2], score(rows, "bic"))
    assert groups.tolist() == [0, 1, 0, 1, 0, 1, 1, 1]


def test_nothing_but_what_never_occurs_is_one_group() -> None:
    for name in NAMES:
        how = group_score(named_score(name), 0.0, 3)
        groups = merged_configurations(np.zeros(0, np.int64), np.zeros((0, 3)), [2, 3], how)
        assert groups.tolist() == [0] * 6


def test_under_bdeu_what_never_occurs_stays_together() -> None:
    rows = [[900, 10], [0, 0], [10, 900], [0, 0]]
    got = merged(rows, "bdeu")
    assert any(set(group) >= {1, 3} for group in got)


@pytest.mark.parametrize("name", ["bic", "k2", "bdeu", "aic"])
@pytest.mark.parametrize("states", [2, 3])
def test_of_too_many_rows_neighbours_are_merged_first_and_the_score_rises(
    name: str, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    theta = rng.dirichlet(np.ones(states), size=4)
    rows = [rng.multinomial(rng.integers(30, 60), theta[rng.integers(4)]).tolist() for _ in range(120)]
    every = merged(rows, name)
    monkeypatch.setattr(agglomeration, "MOST_COMPARED", 40)
    few = merged(rows, name)
    alone, one, two = (partition_score(rows, groups, name) for groups in ([[j] for j in range(120)], every, few))
    assert one > alone
    assert two > alone
    assert two == pytest.approx(one, rel=0.01)


def test_twenty_thousand_configurations_end() -> None:
    rng = np.random.default_rng(3)
    rows = rng.multinomial(30, [0.2, 0.3, 0.5], size=20_000)
    groups = merged_configurations(np.arange(20_000), rows.astype(float), [20_000], score(rows.tolist(), "bic"))
    assert 1 <= groups.max() + 1 < 2_000
