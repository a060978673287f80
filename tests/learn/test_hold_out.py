from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.learn import Likelihood, hold_out
from tests.networks import random_network
from tests.tables import random_table, tables


@given(table=tables(), share=st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9]), seed=st.integers(0, 5))
def test_the_parts_are_the_whole(table: fn.Table, share: float, seed: int) -> None:
    total = table.total
    size = math.floor(share * total + 0.5)
    if size == total:
        with pytest.raises(fn.FishernetError, match="no rows to learn from"):
            hold_out(table, share, seed=seed)
        return
    training, held_out = hold_out(table, share, seed=seed)
    assert (training.total, held_out.total) == (total - size, size)
    every = [expanded(part) for part in (training, held_out)]
    assert sorted(every[0] + every[1]) == sorted(expanded(table))
    assert training.variables == held_out.variables == table.variables


def expanded(table: fn.Table) -> list[tuple[int, ...]]:
    """Each row as often as its weight says."""
    rows = list(zip(*(column.tolist() for column in table.codes), strict=True))
    counts = [1] * table.n_rows if table.weights is None else table.weights.tolist()
    return [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]


def test_each_row_is_held_out_equally_often() -> None:
    """A row of weight w has w chances, so it is held out w * share times on average, whatever its place."""
    weights = np.array([1, 5, 0, 10, 4])
    table = fn.Table.from_codes(np.arange(5)[:, None], weights=weights)
    taken = np.zeros(5)
    for seed in range(2000):
        part = hold_out(table, 0.4, seed=seed)[1]
        assert part.weights is not None
        taken += part.weights
    means = taken / 2000
    # hypergeometric variance, at most w * 0.4 * 0.6; six standard errors
    np.testing.assert_array_less(np.abs(means - 0.4 * weights), 6 * np.sqrt(weights * 0.24 / 2000) + 1e-12)


def test_without_weights_the_split_is_the_table_s() -> None:
    table = random_table(1, 40, [3, 2])
    training, held_out = hold_out(table, 0.25, seed=9)
    assert (held_out, training) == table.split(0.25, 9)


@pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, math.nan])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(fn.FishernetError, match="from 0 to below 1"):
        hold_out(random_table(1, 40, [3, 2]), share, seed=0)


def test_more_rows_than_can_be_drawn_are_refused() -> None:
    table = fn.Table.from_codes([[0], [1]], weights=[10**9, 10**9])
    with pytest.raises(fn.FishernetError, match=r"hold out none \(0\)"):
        hold_out(table, 0.2, seed=0)
    assert hold_out(table, 0.0, seed=0)[0] == table


@given(table=tables(most_variables=4), seed=st.integers(0, 100))
def test_weights_count_rows_in_the_likelihood(table: fn.Table, seed: int) -> None:
    names = [variable.name for variable in table.variables]
    net = random_network(seed, list(table.cardinalities), zeros=0.3)
    assert list(net.names) == names
    logs = np.array([net.log_prob(np.array([row]))[0] for row in expanded(table)])
    found = Likelihood.of(net, table)
    assert found.n_rows == len(logs)
    assert found.impossible == np.isneginf(logs).sum()
    np.testing.assert_allclose(found.total, logs.sum(), rtol=1e-12)
    assert math.isnan(found.per_row) == (len(logs) == 0)


def test_one_row_may_outweigh_all_others() -> None:
    logs = np.array([-1.0, -100.0, -2.0])
    assert Likelihood.of_rows(logs).per_row_of_others == -1.5
    assert Likelihood.of_rows(logs, np.array([2, 3, 1])).per_row_of_others == pytest.approx(-4 / 3)
    assert Likelihood.of_blocks([(logs[:1], None), (logs[1:], None)]) == Likelihood.of_rows(logs)
    for few in (logs[:1], logs[:0], np.array([-1.0, -np.inf])):
        assert math.isnan(Likelihood.of_rows(few).per_row_of_others)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_without_which_nothing_could_be_learned_of_a_column_stay(weighted: bool) -> None:
    """A number that four rows know, three of them the same, and a label that one row knows."""
    frame = {
        "x": [1.25, 1.25, 1.25, 2.5, *[None] * 16],
        "a": [*[None] * 19, "yes"],
        "b": ["p", "q"] * 10,
        "w": [2, 1] * 10,
    }
    options: dict[str, Any] = {"continuous": ["x"]} | ({"weights": "w"} if weighted else {"exclude": ["w"]})
    table = fn.Table.from_frame(frame, **options)
    for seed in range(20):
        training, held_out = hold_out(table, 0.3, seed=seed)
        x, a = (
            set(column[~variable.missing(column) & (True if training.weights is None else training.weights > 0)])
            for variable, column in zip(training.variables[:2], training.codes[:2], strict=True)
        )
        assert (x, len(a)) == ({1.25, 2.5}, 1)
        assert training.total + held_out.total == table.total
        assert held_out.total >= 0.3 * table.total - 6


def test_a_column_that_hardly_a_row_knows_is_learned_from_with_rows_held_out() -> None:
    rng = np.random.default_rng(1)
    number = np.where(rng.random(15) < 0.2, rng.normal(size=15), np.nan)
    frame = {"x": number, "y": rng.normal(size=15), "a": rng.choice(["p", "q"], 15)}
    for seed in range(10):
        assert fn.learn.fit(frame, seed=seed).held_out.n_rows <= 3
