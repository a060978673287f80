"""Cuts between bins of equally many rows, found without gathering the numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from fishernet.data.blocks.places import Mapped
from fishernet.data.encoding.bins import quantile_cuts
from fishernet.data.statistics import ranks

RNG = np.random.default_rng(1)
COLUMNS = {
    "normal": RNG.normal(size=2000),
    "over many magnitudes": np.exp(RNG.normal(size=2000) * 60) * RNG.choice([-1, 1], 2000),
    "whole": RNG.integers(-500, 500, 2000).astype(float),
    "mostly zero": np.concatenate([np.zeros(1900), RNG.normal(size=100), [-0.0]]),
    "mostly the largest": np.concatenate([np.full(1900, 1e9), RNG.normal(size=100)]),
    "few": RNG.normal(size=200),
}


@pytest.mark.parametrize("x", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_bins", [2, 5, 37])
def test_cuts_are_those_of_all_numbers(x: Any, weighted: bool, n_bins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "MOST_GATHERED", 50)
    monkeypatch.setattr(ranks, "MOST_BORDERS", 16)
    weights = np.random.default_rng(2).integers(0, 3, len(x)) if weighted else np.ones(len(x), dtype=int)
    held = [
        {"x": ranks.Ladder.of(part, w if weighted else None)}
        for part, w in zip(np.array_split(x, 7), np.array_split(weights, 7), strict=True)
    ]
    everywhere = partial(Mapped().sum, held)
    values, places = np.unique(x[weights > 0], return_inverse=True)
    counts = np.bincount(places, weights=weights[weights > 0]).astype(np.int64)
    assert ranks.quantile_cuts(everywhere, "x", n_bins) == quantile_cuts(values, counts, n_bins)


def test_few_numbers_are_gathered() -> None:
    held = [{"x": ranks.Ladder.of(np.array([3.0, 1.0, np.nan, 3.0]), None)}] * 3
    found: Any = ranks.gathered(partial(Mapped().sum, held), "x", 2)
    assert (found.values.tolist(), found.counts.tolist()) == ([1.0, 3.0], [3, 6])
