"""The study of whole tables: its sources, and the tests of others against their definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from studies import mmd_tests, whole_tables
from studies.study import Array, Run


def unbiased(values: Any, is_first: Any) -> float:
    """The unbiased squared distance of two groups' mean features, by its definition."""
    first, second = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    within = [np.mean([values[i, j] for i in group for j in group if i != j]) for group in (first, second)]
    return float(sum(within) - 2 * np.mean([values[i, j] for i in first for j in second]))


def test_fuse_is_the_soft_maximum_of_normalized_distances() -> None:
    random = np.random.default_rng(1)
    X, Y = random.normal(size=(7, 2)), random.normal(0.3, 1.0, size=(5, 2))
    is_first = np.repeat([True, False], [7, 5])
    draws = np.random.default_rng(3)
    splits = [is_first, *(draws.permutation(is_first) for _ in range(19))]
    fused = []
    for split in splits:
        of_kernels = []
        for values in mmd_tests.kernels(np.concatenate([X, Y])):
            off = values[~np.eye(12, dtype=bool)]
            of_kernels.append(math.sqrt(5 * 4) * unbiased(values, split) / math.sqrt(np.mean(off.astype(float) ** 2)))
        fused.append(np.log(np.mean(np.exp(of_kernels))))
    expected = np.mean(np.array(fused) >= fused[0] - 1e-5)
    assert 0.2 <= expected <= 0.8
    assert mmd_tests.fuse(X, Y, 19, np.random.default_rng(3)) == pytest.approx(expected, abs=0.051)


def test_bandwidths_span_all_distances() -> None:
    points = np.array([[0.0], [1.0], [3.0]])
    found = list(mmd_tests.kernels(points))
    assert len(found) == 20
    low, high = np.quantile([1.0, 3.0, 2.0], [0.05, 0.95]) * (0.5, 2)
    for values, bandwidth, power in ((found[0], low, 2), (found[9], high, 2), (found[10], low, 1)):
        assert values[0, 1] == pytest.approx(math.exp(-((1 / bandwidth) ** power)), rel=1e-5)
        assert values[0, 0] == 0


def test_aggregated_sees_a_shift_and_keeps_its_level() -> None:
    def draw(random: np.random.Generator, shift: float) -> tuple[Array, Array]:
        return random.normal(size=(40, 2)), random.normal(shift, 1.0, size=(40, 2))

    seen = [
        mmd_tests.aggregated(*draw(np.random.default_rng(s), 2.0), 0.05, 1000, np.random.default_rng(s))
        for s in range(5)
    ]
    assert all(seen)
    wrong = [
        mmd_tests.aggregated(*draw(np.random.default_rng(s), 0.0), 0.05, 1000, np.random.default_rng(s))
        for s in range(60)
    ]
    assert sum(wrong) <= 12  # 1e-4 at 6.5 %


def test_bumps_have_the_density_that_they_say() -> None:
    """Of one column: the first quarter of the waves against the second, by quadrature."""
    draw = whole_tables.bumps(1, 1.0)
    drawn = np.concatenate([draw(np.random.default_rng(s), True)["x0"] for s in range(60)])
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    signs = np.array([np.random.default_rng(s).choice([-1.0, 1.0], 2) for s in range(60)])
    x = (np.arange(20_000) + 0.5) / 80_000  # the first quarter
    height = np.exp(1 - 1 / (1 - np.clip(4 * np.abs(2 * x - 0.25), 0, 1 - 1e-9) ** 2)).mean()
    share = 0.25 * (1 + signs[:, 0].mean() * height)
    n = len(drawn)
    assert np.mean(drawn < 0.25) == pytest.approx(share, abs=5 * math.sqrt(0.25 / n))
    flat = draw(np.random.default_rng(1), False)["x0"]
    assert np.mean(flat < 0.25) == pytest.approx(0.25, abs=0.1)


@pytest.mark.parametrize("source", list(whole_tables.SOURCES))
def test_sources_give_points_and_correlate_what_they_say(source: str) -> None:
    draw = whole_tables.SOURCES[source]
    columns = draw(np.random.default_rng(1), True)
    points = whole_tables.points(columns)
    assert len(points) == whole_tables.ROWS
    assert np.isfinite(points).all()
    if "correlation" in source:
        large = np.concatenate([whole_tables.points(draw(np.random.default_rng(s), True)) for s in range(20)])
        correlations = np.corrcoef(large.T) - np.eye(large.shape[1])
        assert correlations[0, 1] == pytest.approx(0.25, abs=0.05)
        assert np.abs(correlations[2:]).max() < 0.05


@pytest.mark.slow
def test_the_quick_form_has_all_tables() -> None:
    tables = {table.name: table for table in whole_tables.compute(Run("quick", asked_repetitions=1))}
    assert list(tables) == ["power", "level"]
    assert [row[0] for row in tables["power"].rows] == list(whole_tables.SOURCES)[::3]
