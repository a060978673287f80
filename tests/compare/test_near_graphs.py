"""Graphs of nearly equal score, against all graphs on a few variables."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.compare.near_graphs import WITHIN, near_graphs
from fishernet.graphs import Dag
from fishernet.scores.named import named_score
from tests.tables import random_table

Parents = tuple[tuple[int, ...], ...]


def all_dags(n: int) -> list[Parents]:
    """By every subset of ordered pairs, without circles: 25 on 3 variables, 543 on 4."""
    found = []
    choices = [
        [of for size in range(n) for of in itertools.combinations([u for u in range(n) if u != v], size)]
        for v in range(n)
    ]
    for parents in itertools.product(*choices):
        left, rest = set(range(n)), True
        while left and rest:
            free = {v for v in left if not left & set(parents[v])}
            rest = bool(free)
            left -= free
        if not left:
            found.append(parents)
    return found


def arcs(parents: Parents) -> set[tuple[int, int]]:
    return {(p, v) for v, of in enumerate(parents) for p in of}


def reachable(best: Parents, losses: dict[Parents, float]) -> set[Parents]:
    """From the best one by changes of single arcs, through graphs that are near enough; additions to the best alone."""
    found, waiting = {best}, [best]
    while waiting:
        here = waiting.pop()
        own = arcs(here)
        for there, loss in losses.items():
            if loss > WITHIN + 1e-9 or there in found:
                continue
            other = arcs(there)
            gone, new = own - other, other - own
            deleted = len(gone) == 1 and not new
            turned = len(gone) == 1 and new == {(b, a) for a, b in gone}
            added = len(new) == 1 and not gone and here == best
            if deleted or turned or added:
                found.add(there)
                waiting.append(there)
    return found


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_they_are_all_that_can_be_reached_with_the_weights_of_their_scores(n: int, seed: int, score: Any) -> None:
    dags = all_dags(n)
    assert len(dags) == {3: 25, 4: 543}[n]
    table = random_table(seed, 60, [2, 3, 2, 2][:n])
    scores = {p: fn.score(Dag(table.names, p), table, score) for p in dags}
    most = max(scores.values())
    losses = {p: most - s for p, s in scores.items()}
    best = min(losses, key=lambda p: (losses[p], p))
    found = near_graphs(table, Dag(table.names, best), named_score(score), 10_000)
    assert {tuple(map(tuple, dag.parents)) for dag, _ in found} == reachable(best, losses)
    weights = np.array([weight for _, weight in found])
    assert weights.sum() == pytest.approx(1, rel=1e-12)
    assert (np.diff(weights) <= 1e-12).all()
    expected = np.array([math.exp(-losses[tuple(map(tuple, dag.parents))]) for dag, _ in found])
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-7)
    assert tuple(map(tuple, found[0][0].parents)) == best


def test_a_class_of_equivalent_graphs_has_equal_weights() -> None:
    """A chain of four variables has four directions, and all are found from any."""
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable(name, ["x", "y"]) for name in "abcd"],
        {"b": ["a"], "c": ["b"], "d": ["c"]},
        {"a": [0.5, 0.5], **{name: [[0.9, 0.1], [0.1, 0.9]] for name in "bcd"}},
    )
    table = net.sample(4000, seed=1)
    found = near_graphs(table, net.dag, named_score("bic"), 100)
    same = [(dag, weight) for dag, weight in found if dag.is_equivalent(net.dag)]
    assert len(same) == 4
    assert {round(weight, 12) for _, weight in same} == {round(same[0][1], 12)}
    assert min(weight for _, weight in same) > max([w for d, w in found if not d.is_equivalent(net.dag)], default=0)


def test_no_more_than_asked_for_the_first_the_given_one() -> None:
    table = random_table(1, 60, [2, 3, 2, 2])
    best = fn.learn.dag(table, search="exact")
    every = near_graphs(table, best, named_score("bic"), 1000)
    few = near_graphs(table, best, named_score("bic"), 2)
    assert len(few) == 2 < len(every)
    assert few[0][0] == best
    assert sum(weight for _, weight in few) == pytest.approx(1, rel=1e-12)
    ((only, weight),) = near_graphs(table, best, named_score("bic"), 1)
    assert (only, weight) == (best, 1.0)


def test_of_no_variable_and_of_one() -> None:
    table = random_table(1, 20, [3])
    ((dag, weight),) = near_graphs(table, Dag(table.names, [()]), named_score("bic"), 9)
    assert (dag.edges, weight) == ((), 1.0)


def test_a_given_graph_that_is_not_the_best_comes_after_what_is_better() -> None:
    table = random_table(3, 400, [2, 2], dependence=0.95)
    empty = Dag(table.names, [(), ()])
    gain = fn.score(Dag(table.names, [(), (0,)]), table) - fn.score(empty, table)
    found = near_graphs(table, empty, named_score("bic"), 9)
    weights = {dag.edges: weight for dag, weight in found}
    assert weights[found[0][0].edges] == max(weights.values())
    assert math.log(weights[("v0", "v1"),] / weights[()]) == pytest.approx(gain, rel=1e-7)
