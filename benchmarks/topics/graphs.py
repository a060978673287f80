"""Graphs by tests of independence, all graphs near the best, and networks whose arcs are not all there is.

PC on rows of alarm: an answer is right where it has at most five edges too many or too few; causal-learn's is held to
the same. All graphs near the best have no peer; their best score must be that of exact search. Networks of decision
trees and hidden Chow-Liu trees must make their rows more probable than a tree of the columns does.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import fishernet as fn
from benchmarks.calls import Call, Data
from benchmarks.race import Race, Told, Verdict, below, calls_of, faster
from benchmarks.sources import alarm, codes_of, data_of

TITLE = "Graphs by tests, graphs near the best, trees inside networks"
ALPHA, WITHIN = 0.05, 3.0
MOST_WRONG = 5


def alarms() -> Data:
    data = alarm(10_000)
    true = fn.datasets.load("alarm").dag
    return dataclasses.replace(data, parents=true.parents, options={"alpha": ALPHA})


def table_of(data: Data) -> fn.Table:
    return fn.Table.from_codes(data.rows)


def pairs(found: fn.learn.PcResult, _: Data) -> list[list[int]]:
    where = {name: place for place, name in enumerate(found.names)}
    return sorted(sorted((where[a], where[b])) for a, b in (*found.directed, *found.undirected))


def is_near_the_truth(told: Told) -> Verdict:
    true = {(min(p, c), max(p, c)) for c, of in enumerate(told.data.parents) for p in of}
    found = {tuple(pair) for pair in told.answer}
    wrong = len(true ^ found)
    return wrong <= MOST_WRONG, f"{len(found)} edges, {wrong} of them and of the true {len(true)} differ"


def asia() -> Data:
    rows = codes_of(fn.datasets.load("asia").sample(500, seed=1))
    return data_of("asia", rows)


def is_the_best(told: Told) -> Verdict:
    best, n, complete = told.answer
    exact = fn.learn.structure(table_of(told.data), score="bic", search="exact").score
    return bool(complete and abs(best - exact) < 1e-6), f"{n:,} classes within {WITHIN:g} nats, the best {best:.4f}"


def all_near(table: fn.Table) -> Any:
    return fn.learn.best_graphs(table, score="bic", within=WITHIN)


def decision_trees(table: fn.Table) -> Any:
    return fn.learn.bayesian_network(table, conditionals="tree", search=fn.learn.TreeSearch())


def hidden_tree(table: fn.Table) -> Any:
    return fn.learn.hidden_chow_liu(table, 8, seed=1).model


def mean_log_prob(found: Any, data: Data) -> float:
    return float(found.log_prob(table_of(data)).mean())


def is_above_a_tree(told: Told) -> Verdict:
    table = table_of(told.data)
    tree = fn.learn.parameters(fn.learn.chow_liu(table), table).log_prob(table).mean()
    return bool(told.answer > tree), f"{told.answer:.3f} nats a row, a tree of the columns {tree:.3f}"


RACES = (
    Race(
        alarms,
        Call(table_of, lambda table: fn.learn.pc(table, alpha=ALPHA), pairs),
        is_near_the_truth,
        {"causal-learn": "pc"},
        [faster(20, "causal-learn")],
        title=f"PC, G-squared, level {ALPHA:g}",
        tells=True,
    ),
    Race(
        asia,
        Call(table_of, all_near, lambda found, _: [float(found.scores[0]), len(found), found.complete]),
        is_the_best,
        targets=[below(1)],
        title=f"all graphs within {WITHIN:g} nats of the best",
        tells=True,
    ),
    Race(
        alarms,
        Call(table_of, decision_trees, mean_log_prob),
        is_above_a_tree,
        targets=[below(5)],
        title="a network of decision trees",
        tells=True,
    ),
    Race(
        alarms,
        Call(table_of, hidden_tree, mean_log_prob),
        is_above_a_tree,
        targets=[below(10)],
        title="a hidden Chow-Liu tree, 8 states",
        tells=True,
    ),
)
CALLS = calls_of(RACES)
