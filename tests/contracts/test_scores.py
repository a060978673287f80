"""The laws of scores, for every one that has a name. A new score joins by its name."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.scores import SCORES, Score, named_score
from tests.tables import random_table

EVERY = pytest.mark.parametrize("name", sorted(SCORES))
LIKELIHOODS = ["aic", "bic", "loglik", "mdl", "hqc"]
EQUIVALENT = [*LIKELIHOODS, "bdeu", "bdq", "qnml"]  # the same for Markov-equivalent structures
OTHERS = ["fnml", "k2"]


@EVERY
def test_it_follows_the_protocol(name: str) -> None:
    assert isinstance(named_score(name), Score)


@EVERY
def test_it_is_finite_where_there_is_little_to_see(name: Any) -> None:
    for table in (random_table(0, 0, [2, 3]), random_table(0, 1, [2, 3]), random_table(0, 5, [1, 1])):
        for edges in ([], [("v0", "v1")]):
            assert math.isfinite(fn.score(fn.Dag.from_edges(table.names, edges), table, name))


@EVERY
def test_the_order_of_rows_does_not_matter(name: Any) -> None:
    table = random_table(1, 500, [2, 3, 4])
    dag = fn.Dag.from_edges(table.names, [("v0", "v2"), ("v1", "v2")])
    mixed = table[np.random.default_rng(0).permutation(500)]
    assert fn.score(dag, mixed, name) == fn.score(dag, table, name)


@EVERY
def test_it_is_the_sum_of_its_local_scores(name: Any) -> None:
    table = random_table(1, 500, [2, 3, 4])
    dag = fn.Dag.from_edges(table.names, [("v0", "v2"), ("v1", "v2")])
    local = [fn.local_score(table, "v0", [], name), fn.local_score(table, "v1", [], name)]
    assert fn.score(dag, table, name) == pytest.approx(sum(local) + fn.local_score(table, "v2", ["v0", "v1"], name))


@pytest.mark.parametrize("name", EQUIVALENT)
def test_markov_equivalent_structures_tie(name: Any) -> None:
    table = random_table(1, 500, [2, 3, 4, 2])
    pairs = [(a, b) for a, b in itertools.permutations(table.names, 2)]
    dags = []
    for edges in itertools.chain.from_iterable(itertools.combinations(pairs, size) for size in (2, 3)):
        if len({frozenset(edge) for edge in edges}) == len(edges):
            try:
                dags.append(fn.Dag.from_edges(table.names, edges))
            except fn.CycleError:
                continue
    scores = [fn.score(dag, table, name) for dag in dags[:80]]
    found = 0
    for (a, x), (b, y) in itertools.combinations(zip(dags[:80], scores, strict=True), 2):
        if a.is_equivalent(b):
            found += 1
            assert x == pytest.approx(y, rel=1e-13)
    assert found > 20


def test_every_score_is_equivalent_or_not() -> None:
    assert sorted([*EQUIVALENT, *OTHERS]) == sorted(SCORES)


@pytest.mark.parametrize("name", OTHERS)
def test_some_scores_prefer_one_of_two_equivalent_structures(name: Any) -> None:
    table = random_table(1, 500, [2, 3])
    there, back = (fn.Dag.from_edges(table.names, [edge]) for edge in (("v0", "v1"), ("v1", "v0")))
    assert there.is_equivalent(back)
    assert abs(fn.score(there, table, name) - fn.score(back, table, name)) > 0.01


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_state_that_never_occurs_costs_its_parameters_and_no_more(name: Any) -> None:
    table = random_table(1, 500, [2, 3])
    dag = fn.Dag.from_edges(table.names, [("v0", "v1")])
    wider = table.conform([table.variables[0], fn.Variable("v1", [*table.variables[1].states, "never"])])
    price = {"loglik": 0.0, "aic": 1.0, "hqc": math.log(math.log(500))}.get(name, 0.5 * math.log(500))
    assert fn.score(dag, wider, name) == pytest.approx(fn.score(dag, table, name) - 2 * price, rel=1e-13)
