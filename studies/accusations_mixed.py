"""Whom `explain_change` accuses in tables of labels and numbers: ``python -m studies.accusations_mixed``.

Seven columns, three of labels and four of numbers, depend on one another at random: a number linearly, a label by a
logistic regression, so that numbers lead to labels as often as the other way round. One or two of these mechanisms
change, tables are drawn before and after, and it is counted whom the answer names, with numbers as they are and in
bins. Where nothing changed, whoever is named is innocent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import fishernet as fn
from studies.study import Array, Run, Seeds, Table, main, mean

SEEDS = Seeds({"worlds": 43_1})
TAKES = "20 minutes of one processor, --quick half a minute"
LABELS, NUMBERS = 3, 4
MOVED = 0.6  # of the way from a mechanism to another random one
ROWS = ((500, 500), (2000, 2000), (3000, 200))
WAYS: dict[str, Any] = {"as they are": None, 'bins="auto"': "auto"}
KINDS = ("exactly", "some wrong", "the wrong alone", "all right, or in doubt")

Columns = dict[str, list[Any] | Array]


class Mechanism:
    """How a column comes from its parents: weights of numbers, and of states, for each of its own states."""

    def __init__(self, n_columns: int, n_states: int, random: np.random.Generator) -> None:
        self.level = random.normal(0, 0.7, n_states)
        self.of_numbers = random.normal(0, 1.1, (n_columns, n_states))
        self.of_states = random.normal(0, 1.3, (n_columns, 3, n_states))
        self.sd = random.uniform(0.6, 1.3)

    def moved(self, other: Mechanism, share: float) -> Mechanism:
        """Return what lies a share of the way to another one."""
        found = object.__new__(Mechanism)
        for name, value in vars(self).items():
            setattr(found, name, value + share * (getattr(other, name) - value))
        return found


class World:
    """A random network of labels and numbers, and which of its mechanisms change."""

    def __init__(self, random: np.random.Generator) -> None:
        d = LABELS + NUMBERS
        self.is_label = random.permutation([True] * LABELS + [False] * NUMBERS)
        self.parents = [random.choice(v, min(v, int(random.choice([0, 1, 1, 2]))), replace=False) for v in range(d)]
        self.states = [int(random.integers(2, 4)) if label else 1 for label in self.is_label]
        pairs = [[Mechanism(d, r, random) for _ in range(2)] for r in self.states]
        self.before = [first for first, _ in pairs]
        self.changed = random.choice(d, int(random.choice([1, 1, 2])), replace=False).tolist()
        self.after = [
            first.moved(other, MOVED) if v in self.changed else first for v, (first, other) in enumerate(pairs)
        ]

    def rows(self, n: int, mechanisms: list[Mechanism], random: np.random.Generator) -> Columns:
        """Return a table; every other number is seen as its exponential."""
        drawn: list[Array] = []
        for v, of in enumerate(mechanisms):
            told = np.tile(of.level, (n, 1))
            for p in self.parents[v]:
                told += of.of_states[p][drawn[p]] if self.is_label[p] else np.outer(drawn[p], of.of_numbers[p])
            if self.is_label[v]:
                drawn.append((told + random.gumbel(size=told.shape)).argmax(axis=1))
            else:
                drawn.append(told[:, 0] + of.sd * random.normal(size=n))
        return {
            f"v{v}": [f"s{k}" for k in column] if self.is_label[v] else np.exp(column / 2) if v % 2 else column
            for v, column in enumerate(drawn)
        }


def named(rows: tuple[int, int], seed: int) -> dict[str, float]:
    """Say whom the answer names where something changed, and whether anybody where nothing did."""
    random = np.random.default_rng([SEEDS["worlds"], seed, *rows])
    world = World(random)
    X, Y, same = (
        world.rows(n, of, random)
        for n, of in ((rows[0], world.before), (rows[1], world.after), (rows[1], world.before))
    )
    found: dict[str, float] = {}
    for way, bins in WAYS.items():
        how: dict[str, Any] = {"bins": bins, "permutations": 199, "resamples": 2, "seed": seed}
        said = fn.compare.explain_change(X, Y, **how)
        accused, open_, truth = set(said.changed()), set(said.in_doubt()), {f"v{v}" for v in world.changed}
        counts = (
            accused == truth,
            bool(accused - truth),
            bool(accused) and not accused & truth,
            truth <= accused | open_,
        )
        found |= {f"{way}: {kind}": float(of) for kind, of in zip(KINDS, counts, strict=True)}
        found[f"{way}: unchanged"] = float(bool(fn.compare.explain_change(X, same, **how).changed()))
    return found


def compute(run: Run) -> Iterator[Table]:
    """Count whom the answers name."""
    repetitions = run.repetitions(3, 100, 1000)
    sizes = ROWS[: run.choose(1, len(ROWS))]
    results = list(run.map(named, [(rows, seed) for rows in sizes for seed in range(repetitions)]))
    lines: list[list[Any]] = []
    for at, rows in enumerate(sizes):
        of = results[at * repetitions : (at + 1) * repetitions]
        for way in WAYS:
            cells = [mean([one[f"{way}: {kind}"] for one in of]) for kind in (*KINDS, "unchanged")]
            lines.append([f"{rows[0]:,}, {rows[1]:,}", way, *cells])
    yield Table("named", ["rows", "numbers", *KINDS, "named without a change"], lines, ".3f")


if __name__ == "__main__":
    main("accusations_mixed", compute, seeds=SEEDS, about=__doc__, takes=TAKES)
