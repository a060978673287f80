"""Dependency networks: learning them, where their sampler ends, and how fast it fires. None of the peers has them.

Of 20 random variables no single addition or removal of an input raises the score. Firing a random variable once more
changes a stationary distribution by less than 1e-9 in total variation. Of rows that were fired the share of every
state lies within 0.005 of the mean of its conditional over the rows, which is exact for a random scan, whether a
joint distribution exists or not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks import sources
from benchmarks.calls import Call, Data
from benchmarks.race import Race, Told, Verdict, below, calls_of, difference, memory, rate

TITLE = "Dependency networks"
FIRINGS = 10_000_000


def grid() -> Data:
    """Return 100 000 rows of an Ising model on a grid of 5 x 5."""
    return sources.data_of("Ising5x5", sources.codes_of(sources.ising(5, 5).sample(100_000, seed=14)))


def learned(title: str, table: fn.Table, **how: Any) -> Data:
    """Return the dependency network that is learned from a table."""
    data = sources.network_of(title, fn.learn.dependency_network(table, **how))
    n = len(data.parents)
    title = f"{title}, {n} variables, {sum(map(len, data.parents)) / n:.1f} inputs each"
    return dataclasses.replace(data, title=title, options={"n_rows": FIRINGS // n})


def of_letter() -> Data:
    """Return the network of letter's columns of four states, with as many inputs as they may have, three."""
    letter = sources.letter_training()
    four = letter.rows[:, np.array(letter.cardinalities) == 4]
    return learned("letter", fn.Table.from_codes(four), score="aic", max_inputs=3)


def network(data: Data) -> fn.DependencyNetwork:
    return fn.DependencyNetwork.from_tables(*sources.named(data))


def sampler(data: Data) -> tuple[fn.DependencyNetwork, int]:
    """Return a network that has its tables made, and the number of rows."""
    dn = network(data)
    dn.sample(1, burn_in=0, seed=0)
    return dn, data.options["n_rows"]


LEARN = Call(lambda data: fn.Table.from_codes(data.rows), fn.learn.dependency_network, lambda dn, _: dn.inputs)
STATIONARY = Call(network, fn.infer.stationary)
FIRE = Call(sampler, lambda of: of[0].sample(of[1], burn_in=0, seed=1), lambda rows, _: sources.codes_of(rows))


def is_learned(told: Told) -> Verdict:
    """Try every single change of the inputs of some variables."""
    table, names, inputs = sources.table_of(told.data), told.data.names, told.answer
    gains = []
    for child in np.random.default_rng(0).permutation(len(names))[:20].tolist():
        sets = [set(inputs[child]), *(set(inputs[child]) ^ {v} for v in range(len(names)) if v != child)]
        scores = [fn.local_score(table, names[child], [names[v] for v in sorted(of)], "bic") for of in sets]
        gains.append(max(scores[1:]) - scores[0])
    text = f"{sum(map(len, inputs))} inputs; the best change of 20 variables' gains {max(gains):.3g}"
    return max(gains) <= 1e-9 * table.n_rows, text


def is_stationary(told: Told) -> Verdict:
    """Fire a random variable once: nothing must change."""
    p, data = told.answer, told.data
    after = np.zeros(p.shape)
    for v, table in enumerate(data.tables):
        family = data.family(v)
        shape = [r if u in family else 1 for u, r in enumerate(data.cardinalities)]
        after += p.sum(axis=v, keepdims=True) * table.transpose(np.argsort(family)).reshape(shape) / p.ndim
    moved, off = float(np.abs(after - p).sum()) / 2, abs(float(p.sum()) - 1)
    return moved < 1e-9 and off < 1e-9 and p.min() >= 0, f"{p.size} states; one more step changes {moved:.0e}"


def has_shares(told: Told) -> Verdict:
    """Hold every share of a state to the mean of its conditional over the rows."""
    rows, worst = told.answer, 0.0
    for v, (inputs, table) in enumerate(zip(told.data.parents, told.data.tables, strict=True)):
        asked = table[tuple(rows[:, u] for u in inputs)] if inputs else table[None]
        shares = np.bincount(rows[:, v], minlength=table.shape[-1]) / len(rows)
        worst = max(worst, difference(shares, asked.mean(axis=0)))
    return worst <= 0.005, f"shares within {worst:.4f} of the means of their conditionals"


def learning(data: Callable[[], Data], needs: str, *targets: Any) -> Race:
    return Race(data, LEARN, is_learned, targets=targets, title="learning", needs=needs)


def stationary(title: str, truth: Callable[[], Any], needs: str = "") -> Race:
    def data() -> Data:
        return learned(title, truth().sample(100_000, seed=4))

    return Race(data, STATIONARY, is_stationary, targets=[below(10)], title="stationary distribution", needs=needs)


def firing(data: Callable[[], Data], least: float) -> Race:
    return Race(data, FIRE, has_shares, targets=[rate(FIRINGS, least)], title=f"{sources.spaced(FIRINGS)} firings")


RACES = (
    learning(grid, "--quick", below(0.03)),
    learning(lambda: sources.sampled("1000 binary", sources.wide_network(1_000), 10_000), "", below(10), memory(2e9)),
    stationary("12 binary", lambda: sources.wide_network(12), "--quick"),
    stationary("20 binary", lambda: sources.wide_network(20)),
    stationary("Ising4x5", lambda: sources.ising(4, 5)),
    firing(lambda: learned("Ising5x5", fn.Table.from_codes(grid().rows)), 100e6),
    firing(of_letter, 30e6),
)
CALLS = calls_of(RACES)
