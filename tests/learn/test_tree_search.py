"""Graphs for decision trees: what trees ask, over orders; rules, limits and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.learn import TreeSearch
from fishernet.models import TreeConditional
from tests.tables import random_table, tables


def grown(table: fn.Table, **options: Any) -> fn.learn.SearchResult:
    return fn.learn.structure(table, search=TreeSearch(), **options)


def first_that_is(seed: int, n: int) -> fn.Table:
    """Return rows in which the first column that is 1, of nine, decides the last: likely if its place is even."""
    random = np.random.default_rng(seed)
    others = (random.random((n, 9)) < 0.3).astype(np.int64)
    place = np.where(others.any(axis=1), others.argmax(axis=1), 9)
    last = random.random(n) < np.where(place % 2 == 0, 0.9, 0.1)
    return fn.Table.from_codes(np.column_stack([others, last]))


def test_trees_ask_what_no_table_could() -> None:
    """The last column has nine parents: 512 configurations, of which a tree needs ten."""
    table, new = first_that_is(0, 8000), first_that_is(1, 4000)
    net = fn.learn.bayesian_network(table, conditionals="tree", search=TreeSearch())
    of_tables = fn.learn.bayesian_network(table)
    assert net.log_prob(new).mean() > of_tables.log_prob(new).mean() + 0.03
    true = 9 * (0.3 * np.log(0.3) + 0.7 * np.log(0.7)) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9)
    assert net.log_prob(new).mean() == pytest.approx(true, abs=0.03)
    assert len(net.parents(net.names[-1])) >= 7
    assert net.n_parameters <= 25 < of_tables.n_parameters


def test_the_score_is_that_of_the_trees_that_are_fitted_to_the_graph_or_less() -> None:
    """The choice of parents costs more, so that trees of the same parents may grow on."""
    table = fn.datasets.load("nursery")
    found = grown(table)
    net = fn.learn.parameters(found.dag, table, conditionals="tree", smoothing=0)
    price = np.log(table.n_rows) / 2
    assert found.score <= net.log_prob(table).sum() - price * net.n_parameters + 1e-6
    assert found.finished
    assert found.n_scores >= 2 * len(table.names)


@settings(max_examples=25)
@given(tables(most_variables=5, most_rows=120), st.integers(0, 3))
def test_the_same_call_finds_the_same_graph_and_it_is_no_worse_than_none(table: fn.Table, seed: int) -> None:
    alone = fn.score(fn.Dag.from_edges(table.names, []), table, "bic")
    for restarts in (0, 3):
        one, other = (fn.learn.structure(table, search=TreeSearch(restarts=restarts), seed=seed) for _ in range(2))
        assert (one.dag, one.score, one.seed) == (other.dag, other.score, seed)
        assert one.score >= alone - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_rules_hold(seed: int) -> None:
    table = random_table(seed, 600, [2, 3, 2, 4, 2, 2], dependence=0.7)
    names, random = table.names, np.random.default_rng(seed)
    pairs = [(names[a], names[b]) for a, b in itertools.permutations(random.permutation(6).tolist(), 2)]
    forbidden, required = pairs[:8], [pairs[9]]
    found = grown(table, forbidden=forbidden, required=required, max_parents=2)
    assert not {*found.dag.edges} & {*forbidden}
    assert {*found.dag.edges} >= {*required}
    assert max(len(of) for of in found.dag.parents) <= 2
    tiers = [names[3:], names[:3]]
    dag = grown(table, tiers=tiers).dag
    assert not [arc for arc in dag.edges if arc[0] in names[:3] and arc[1] in names[3:]]
    cells = [
        np.prod([table.cardinalities[v] for v in (*of, child)]) for child, of in enumerate(grown(table).dag.parents)
    ]
    limited = grown(table, max_cells=8).dag
    assert max(cells) > 8 or limited == grown(table).dag
    for child, of in enumerate(limited.parents):
        assert np.prod([table.cardinalities[v] for v in (*of, child)]) <= 8


def test_weights_count_as_rows() -> None:
    table = random_table(3, 400, [2, 3, 2, 2], dependence=0.6)
    times = np.random.default_rng(0).integers(1, 4, 400)
    weighted = fn.Table(table.variables, table.codes, weights=times)
    assert grown(weighted).dag == grown(table[np.repeat(np.arange(400), times)]).dag


def test_the_time_is_kept_and_the_graph_is_one() -> None:
    """Trees of other columns than those that were grown in time are asked for by the graph of tables."""
    table = random_table(0, 300, [2] * 200)
    found = grown(table, max_seconds=0)
    assert not found.finished
    assert np.isnan(found.score)
    assert len(found.dag.names) == 200


def test_what_trees_cannot_be_grown_on_is_refused() -> None:
    table = first_that_is(0, 100)
    mixed = {"a": ["x", "y"] * 20, "b": np.random.default_rng(0).normal(size=40)}
    lacking = {"a": ["x", "y", None, "x"] * 20, "b": ["u", "v"] * 40}
    for rows in (mixed, lacking):
        with pytest.raises(fn.FishernetError, match="complete rows of labels"):
            fn.learn.structure(rows, search=TreeSearch(), missing="node-average" if rows is lacking else None)
    with pytest.raises(fn.FishernetError, match="penalized likelihood"):
        grown(table, score="qnml")
    with pytest.raises(fn.FishernetError):
        TreeSearch(restarts=-1)
    for wrong in ({"max_cells": 0}, {"splits": "ternary"}):
        with pytest.raises(fn.FishernetError):
            TreeSearch(**wrong)


def test_columns_that_tell_nothing_have_trees_of_one_leaf() -> None:
    random = np.random.default_rng(5)
    table = fn.Table.from_codes(random.integers(0, 3, (300, 30)))
    net = fn.learn.bayesian_network(table, conditionals="tree", search=TreeSearch())
    assert net.dag.n_edges <= 1
    assert all(isinstance(conditional, TreeConditional) for conditional in net.conditionals)


def test_ctrl_c_keeps_the_best_graph_so_far() -> None:
    def stop(what: str, done: int, total: int | None) -> None:
        if what == "growing trees":
            raise KeyboardInterrupt

    table = first_that_is(0, 2000)
    with pytest.raises(KeyboardInterrupt) as stopped:
        grown(table, progress=stop)
    best: fn.Dag = stopped.value.best  # type: ignore[attr-defined]
    assert best.names == table.names
    assert best.n_edges > 0
