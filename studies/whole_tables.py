"""Whether two tables differ, without any setting: ``python -m studies.whole_tables``.

`fn.compare.two_sample_test` as it comes, beside MMD-FUSE and MMDAgg, on what these two were tried with by their authors
(a uniform distribution with bumps, a mixture with a wider or narrower part) and on tables in which only a dependence
changes, of numbers and of a number on a label. Where nothing changed, whoever rejects is wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import fishernet as fn
from studies import mmd_tests
from studies.study import Array, Run, Seeds, Table, main, mean

SEEDS = Seeds({"tables": 42_0})
TAKES = "three quarters of an hour of one processor, --quick half a minute"
LEVEL, ROWS, SPLITS = 0.05, 500, 499
CORNERS = np.array([(20.0, 20.0), (-20.0, 20.0), (20.0, -20.0), (-20.0, -20.0)])

Columns = dict[str, Any]
Source = Callable[[np.random.Generator, bool], Columns]


def bumps(n_columns: int, size: float) -> Source:
    """Return numbers in the unit cube, uniform but for two waves along each side (Schrab et al., 2023, section 5.4).

    A size of 1 leaves a density of 0 at the bottom of the waves.
    """

    def wave(x: Array) -> Array:
        inside = np.clip(4 * np.abs(x % 1 - np.where(x % 1 < 0.5, 0.25, 0.75)), 0, 1 - 1e-9)
        heights: Array = np.where(x % 1 < 0.5, 1.0, -1.0) * np.exp(1 - 1 / (1 - inside**2))
        return heights

    def draw(random: np.random.Generator, changed: bool) -> Columns:
        signs = random.choice([-1.0, 1.0], (2,) * n_columns)
        kept = np.empty((0, n_columns))
        while len(kept) < ROWS:
            x = random.random((4 * ROWS, n_columns))
            part = tuple((2 * x).astype(int).T)
            density = 1 + changed * size * signs[part] * wave(2 * x).prod(axis=1)
            kept = np.concatenate([kept, x[2 * random.random(len(x)) < density]])
        return {f"x{j}": kept[:ROWS, j] for j in range(n_columns)}

    return draw


def mixture(sd: float) -> Source:
    """Return points around the corners of a square, normal, around the last with another standard deviation."""

    def draw(random: np.random.Generator, changed: bool) -> Columns:
        part = random.integers(0, 4, ROWS)
        points = CORNERS[part] + np.where(changed & (part == 3), sd, 1.0)[:, None] * random.normal(size=(ROWS, 2))
        return {"x0": points[:, 0], "x1": points[:, 1]}

    return draw


def correlated(correlation: float, others: int) -> Source:
    """Return normal numbers, two of which become correlated, beside others that stay independent."""

    def draw(random: np.random.Generator, changed: bool) -> Columns:
        x = random.normal(size=(ROWS, 2 + others))
        rho = correlation * changed
        x[:, 1] = rho * x[:, 0] + np.sqrt(1 - rho**2) * x[:, 1]
        return {f"x{j}": x[:, j] for j in range(2 + others)}

    return draw


def by_label(shift: float, others: int) -> Source:
    """Return a skewed number that is moved up or down by a label of four states, beside other labels."""

    def draw(random: np.random.Generator, changed: bool) -> Columns:
        labels = random.integers(0, 4, (ROWS, 1 + others))
        moved = random.normal(size=ROWS) + changed * shift * (labels[:, 0] % 2 - 0.5)
        return {"x": np.exp(moved)} | {f"l{j}": [f"s{k}" for k in labels[:, j]] for j in range(1 + others)}

    return draw


SOURCES: dict[str, Source] = {
    "uniform, bumps in 1 column, 0.5": bumps(1, 0.5),
    "uniform, bumps in 2 columns, 0.8": bumps(2, 0.8),
    "mixture, one part of sd 1.4": mixture(1.4),
    "mixture, one part of sd 0.6": mixture(0.6),
    "numbers, a correlation of 0.25 among 6": correlated(0.25, 4),
    "numbers, a correlation of 0.25 among 20": correlated(0.25, 18),
    "a number by a label, among 5 columns": by_label(0.8, 3),
}


def points(columns: Columns) -> Array:
    """Return numbers as they are, and a column of zeros and ones for every state."""
    parts = [
        np.array(column)[:, None] if isinstance(column, np.ndarray) else np.eye(4)[[int(label[1]) for label in column]]
        for column in columns.values()
    ]
    return np.concatenate(parts, axis=1)


def ours(X: Columns, Y: Columns, seed: int) -> bool:
    return fn.compare.two_sample_test(X, Y, permutations=SPLITS, seed=seed).p_value <= LEVEL


def fuse(X: Columns, Y: Columns, seed: int) -> bool:
    return mmd_tests.fuse(points(X), points(Y), SPLITS, np.random.default_rng(seed)) <= LEVEL


def aggregated(X: Columns, Y: Columns, seed: int) -> bool:
    return mmd_tests.aggregated(points(X), points(Y), LEVEL, 2 * SPLITS, np.random.default_rng(seed))


WAYS = {"ours": ours, "MMD-FUSE": fuse, "MMDAgg": aggregated}


def rejected(source: str, changed: bool, seed: int) -> dict[str, float]:
    """Return who rejects that two tables come from one source, of which the second may have changed."""
    random = np.random.default_rng([SEEDS["tables"], seed, list(SOURCES).index(source), changed])
    X, Y = SOURCES[source](random, False), SOURCES[source](random, changed)
    return {way: float(test(X, Y, seed)) for way, test in WAYS.items()}


def compute(run: Run) -> Iterator[Table]:
    """Count who rejects."""
    n = run.repetitions(3, 100, 1000)
    sources = list(SOURCES)[:: run.choose(3, 1)]
    settings = list(itertools.product((True, False), sources))
    results = list(run.map(rejected, [(source, changed, seed) for changed, source in settings for seed in range(n)]))
    for at, (title, changed) in enumerate((("power", True), ("level", False))):
        lines = []
        for k, source in enumerate(sources):
            start = (at * len(sources) + k) * n
            of = results[start : start + n]
            lines.append([source, *(mean([one[way] for one in of]) for way in WAYS)])
        yield Table(title, ["changed" if changed else "not changed", *WAYS], lines, ".3f")


if __name__ == "__main__":
    main("whole_tables", compute, seeds=SEEDS, about=__doc__, takes=TAKES)
