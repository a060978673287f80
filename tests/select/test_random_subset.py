"""Rows drawn at random without replacement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError
from tests.tables import random_table

TABLE = random_table(1, 50, [2, 3, 4])


@given(st.integers(1, 50), st.integers(0, 2**32))
def test_the_rows_are_different_rows_of_the_table(k: int, seed: int) -> None:
    found = fn.select.random_subset(TABLE, k, seed=seed)
    assert found.indices.dtype == np.int64
    assert found.indices.shape == (k,)
    assert len(np.unique(found.indices)) == k
    assert 0 <= found.indices.min() <= found.indices.max() < 50


def test_every_row_and_every_pair_is_as_likely() -> None:
    """6000 draws of 3 among 8 rows: a row is in 3/8 of them, a pair in 3/28."""
    table = random_table(1, 8, [2, 3])
    together = np.zeros((8, 8))
    first = np.zeros(8)
    for seed in range(6000):
        rows = fn.select.random_subset(table, 3, seed=seed).indices
        together[np.ix_(rows, rows)] += 1
        first[rows[0]] += 1
    for share, p in ((np.diag(together), 3 / 8), (together[np.triu_indices(8, 1)], 3 / 28)):
        z = (share - 6000 * p) / np.sqrt(6000 * p * (1 - p))
        assert np.abs(z).max() < 5


def test_a_seed_repeats_a_selection() -> None:
    one, two, other = (fn.select.random_subset(TABLE, 10, seed=s).indices for s in (7, 7, 8))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    free = fn.select.random_subset(TABLE, 10)
    np.testing.assert_array_equal(fn.select.random_subset(TABLE, 10, seed=free.seed).indices, free.indices)
    rng = np.random.default_rng(7)
    first, second = (fn.select.random_subset(TABLE, 10, seed=rng).indices for _ in range(2))
    equal = fn.select.random_subset(TABLE, 10, seed=np.random.default_rng(7)).indices
    np.testing.assert_array_equal(equal, first)
    assert not np.array_equal(second, first)


def test_all_rows_may_be_asked_for() -> None:
    assert sorted(fn.select.random_subset(TABLE, 50, seed=0).indices.tolist()) == list(range(50))


def test_nothing_is_improved() -> None:
    found = fn.select.random_subset(TABLE, 5, seed=0)
    assert found.sweeps == 0


@pytest.mark.parametrize("k", [0, -1, 51, 2.5, "3", None])
def test_a_size_that_is_none_is_refused(k: Any) -> None:
    with pytest.raises(FishernetError):
        fn.select.random_subset(TABLE, k, seed=0)
