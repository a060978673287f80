"""Codes counted in groups of rows against a loop over rows, and hypergeometric tails against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fishernet import _core
from tests.reference.counting import group_counts


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, 40),
    cardinalities=st.lists(st.sampled_from([1, 2, 5, 255, 256, 300, 70_000]), min_size=1, max_size=4),
    weighted=st.booleans(),
    n_groups=st.integers(0, 4),
)
def test_codes_are_counted_in_every_group(
    seed: int, n: int, cardinalities: list[int], weighted: bool, n_groups: int
) -> None:
    rng = np.random.default_rng(seed)
    kinds = [np.uint8 if r < 256 else np.uint16 if r < 2**16 else np.uint32 for r in cardinalities]
    codes: list[Any] = [
        rng.integers(0, r, n, endpoint=True).astype(kind) for r, kind in zip(cardinalities, kinds, strict=True)
    ]
    weights = rng.integers(0, 9, n) if weighted else None
    table = _core.Columns(codes, np.array(cardinalities, dtype=np.int64), n, weights)
    groups = [rng.integers(0, n, rng.integers(0, 2 * n)) if n else np.zeros(0, np.int64) for _ in range(n_groups)]
    offsets = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    rows = np.concatenate([np.zeros(0, np.int64), *groups])
    asked = rng.integers(0, len(codes), 3).astype(np.int32)  # in any order, and again
    for c, found in zip(asked, _core.group_counts(table, asked, offsets, rows), strict=True):
        assert np.array_equal(found, group_counts(codes[c], cardinalities[c], weights, groups))


@settings(deadline=None, max_examples=200)
@given(data=st.data(), total=st.sampled_from([1, 2, 7, 60, 1000, 10**6]))
def test_hypergeometric_tails_are_those_of_scipy(data: Any, total: int) -> None:
    marked = data.draw(st.integers(0, min(total, 3000)))
    drawn = data.draw(st.integers(0, total))
    middle = marked * drawn // total
    hits = middle + data.draw(st.integers(-30, 30))
    lower, upper = _core.log_hypergeometric_tails(*(np.array([x]) for x in (total, marked, drawn, hits)))
    of = stats.hypergeom(total, marked, drawn)
    assert np.exp(lower[0]) == pytest.approx(of.cdf(hits), rel=1e-6, abs=1e-12)
    assert np.exp(upper[0]) == pytest.approx(of.sf(hits - 1), rel=1e-6, abs=1e-12)


def test_no_tails_are_asked_for() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert [len(tails) for tails in _core.log_hypergeometric_tails(none, none, none, none)] == [0, 0]
