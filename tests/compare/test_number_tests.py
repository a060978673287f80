"""Tests of regressions in two tables: who is accused when only the parent changed, and what is found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import fishernet as fn
from fishernet.compare.conditionals.number_tests import regression_p_value

NOISE: dict[str, Any] = {
    "normal": lambda random, n: random.standard_normal(n),
    "heavy": lambda random, n: random.standard_t(4, n),
    "skewed": lambda random, n: random.exponential(size=n) - 1,
}


def pair(kind: str, sizes: tuple[int, int], shift: float, seed: int) -> tuple[np.random.Generator, list[Any]]:
    """Return parents and children, (n, 2) before and after; the parent alone is shifted."""
    random = np.random.default_rng([seed, *sizes])
    tables = []
    for n, at in zip(sizes, (0.0, shift), strict=True):
        parent = NOISE[kind](random, n) + at
        tables.append(np.column_stack([parent, parent + NOISE[kind](random, n)]))
    return random, tables


@pytest.mark.parametrize(("sizes", "shift"), [((200, 200), 2.0), ((400, 60), 1.0), ((3000, 300), 1.0)])
@pytest.mark.parametrize("kind", NOISE)
def test_a_shift_of_the_parent_accuses_no_child(kind: str, sizes: tuple[int, int], shift: float) -> None:
    trials = 150
    wrong = 0
    for seed in range(trials):
        random, (before, after) = pair(kind, sizes, shift, seed)
        wrong += regression_p_value(before, after, random, 99) <= 0.05
    assert wrong <= binom.ppf(0.9999, trials, 0.06)


@pytest.mark.parametrize("change", ["level", "slope", "spread"])
def test_a_change_of_the_child_is_found(change: str) -> None:
    found = 0
    for seed in range(40):
        random, (before, after) = pair("normal", (300, 300), 0.5, seed)
        rest = after[:, 1] - after[:, 0]
        after[:, 1] = {
            "level": after[:, 1] + 0.5,
            "slope": 0.5 * after[:, 0] + rest,
            "spread": after[:, 0] + 1.6 * rest,
        }[change]
        found += regression_p_value(before, after, random, 99) <= 0.05
    assert found >= 34


def test_units_and_places_do_not_matter() -> None:
    random, (before, after) = pair("skewed", (150, 120), 1.0, 3)
    scale, place = np.array([1e9, 1e-9]), np.array([5e9, -3e-9])
    one, other = (
        regression_p_value(x, y, np.random.default_rng(1), 199)
        for x, y in ((before, after), (before * scale + place, after * scale + place))
    )
    assert other == pytest.approx(one, abs=0.02)
    assert random is not None


def test_what_the_rows_cannot_tell_is_open() -> None:
    random = np.random.default_rng(1)
    rows = random.normal(size=(30, 3))
    constant = rows * [1, 1, 0]
    assert math.isnan(regression_p_value(rows[:0], rows, random, 19))
    assert math.isnan(regression_p_value(rows[:3], rows[3:6], random, 19))
    assert math.isnan(regression_p_value(constant[:15], constant[15:], random, 19))
    same_parent = rows * [0, 1, 1]
    assert 0 < regression_p_value(same_parent[:15], same_parent[15:], random, 19) <= 1


def test_tables_of_numbers_name_the_root_that_changed_and_not_its_children() -> None:
    """Over 25 pairs with the graph given: x moves, y and z depend on it as before."""
    dag = fn.Dag.from_edges(["x", "y", "z"], [("x", "y"), ("y", "z")])
    wrong = 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        frames: list[Any] = []
        for n, at in ((300, 0.0), (150, 1.5)):
            x = random.normal(size=n) + at
            y = x + random.normal(size=n)
            frames.append({"x": x, "y": y, "z": random.normal(size=n) - y})
        found = fn.compare.explain_change(frames[0], frames[1], dag, permutations=99, resamples=2, seed=seed)
        assert "x" in found.changed()
        wrong += len(found.changed()) > 1
    assert wrong <= binom.ppf(0.9999, 25, 0.05)
