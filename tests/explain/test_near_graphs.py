"""Influence over graphs that are learned again, held beside networks that are learned from halves of the rows."""

from __future__ import annotations

import gc
import itertools
import weakref
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from tests.tables import random_table

GRAPHS = 6


def gappy(table: fn.Table) -> fn.Table:
    frame = table.to_pandas()
    frame.loc[np.random.default_rng(3).random(len(frame)) < 0.1, table.names[0]] = None
    return fn.Table.from_frame(frame, schema=table.variables)


def with_numbers(table: fn.Table) -> fn.Table:
    frame = table.to_pandas()
    random = np.random.default_rng(4)
    x = random.normal(size=len(frame)) + 2 * (frame["v0"] == "s0")
    return fn.Table.from_frame(frame.assign(x=x, y=x + random.normal(size=len(frame))))


LABELS = random_table(5, 200, [2, 3, 2, 2], dependence=0.6)
TABLES = {
    "labels": LABELS,
    "weighted": LABELS.reweighted(np.random.default_rng(6).integers(1, 4, LABELS.n_rows)),
    "lacking cells": gappy(LABELS),
    "numbers, too": with_numbers(LABELS),
    "numbers": with_numbers(LABELS).select(["x", "y"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_mean_follows_single_rows(name: str) -> None:
    table = TABLES[name]
    net = fn.learn.bayesian_network(table)
    rows = net.rows(table)[[0]]
    why = fn.explain.rows(net, table, log_prob=rows, graphs=GRAPHS, seed=1)
    assert why.said.startswith(f"the mean over {GRAPHS} graphs")
    chosen = np.arange(0, table.n_rows, 40)
    exact = why.exact(chosen)
    weights = np.ones(table.n_rows) if table.weights is None else np.asarray(table.weights)
    np.testing.assert_allclose((why.values * weights)[chosen], exact, rtol=0.15, atol=2e-4)
    np.testing.assert_allclose(why.removals[chosen], exact, rtol=0.15, atol=2e-4)
    half = np.arange(table.n_rows) < table.n_rows // 10
    assert why.without(half).refitted != why.answer


def test_what_every_half_gives_is_what_the_network_gives() -> None:
    table = fn.Table.from_frame({"x": ["a", "a", "b", "b"] * 100, "y": ["c", "d", "e", "e"] * 100})
    net = fn.learn.bayesian_network(table)
    asked: dict[str, Any] = {"query": "x", "state": "a", "given": {"y": "c"}}
    held, over = fn.explain.rows(net, table, **asked), fn.explain.rows(net, table, **asked, graphs=3, seed=0)
    assert over.answer == pytest.approx(held.answer)
    np.testing.assert_allclose(over.values, held.values)
    assert (over.smallest_set() is None) == (held.smallest_set() is None)


def test_networks_learned_from_halves_answer_as_it_says() -> None:
    # half of the rows give nursery's class fewer parents than all of them do
    nursery = fn.datasets.load("nursery")
    table = nursery[np.sort(np.random.default_rng(1).permutation(nursery.n_rows)[:2000])]
    net = fn.learn.bayesian_network(table)
    random = np.random.default_rng(2)
    halves = [np.flatnonzero(random.random(table.n_rows) < 0.5) for _ in range(40)]
    again = [fn.learn.bayesian_network(table[half]) for half in halves]
    agreed: dict[int | None, list[float]] = {None: [], 20: []}
    for row, graphs in itertools.product((3, 700, 1500, 1900), agreed):
        cells = {name: table[name][row] for name in table.names}
        state = cells.pop("class")
        truth = [one.query("class", given=cells)[state] for one in again]
        why = fn.explain.rows(net, table, query="class", state=state, given=cells, graphs=graphs, seed=3)
        agreed[graphs].append(float(spearmanr(truth, [why.values[half].sum() for half in halves]).statistic))
        told = why.agreement
        assert (told is None) == (graphs is None)
        assert told is None or agreed[None][-1] < told <= 1  # of 20 halves, in which rare graphs may be absent
    assert np.mean(agreed[20]) > np.mean(agreed[None]) + 0.07


def test_what_a_half_has_never_seen_is_no_obstacle() -> None:
    """Without smoothing a state that few rows have is impossible where a half lacks them."""
    table = fn.Table.from_frame({"x": ["a"] * 60 + ["b"] * 3, "y": ["c", "d", "d"] * 21})
    net = fn.learn.parameters(fn.learn.dag(table), table, smoothing=0)
    why = fn.explain.rows(net, table, query="y", state="c", given={"x": "b"}, graphs=30, seed=1)
    assert why.agreement is not None
    assert -1 <= why.agreement <= 1


def test_the_same_seed_gives_the_same_graphs() -> None:
    net = fn.learn.bayesian_network(LABELS)
    asked: dict[str, Any] = {"query": "v0", "graphs": 4}
    values = [fn.explain.rows(net, LABELS, seed=seed, **asked).values for seed in (1, 1, 2)]
    assert np.array_equal(values[0], values[1])
    assert fn.explain.rows(net, LABELS, seed=np.random.default_rng(1), **asked).n_rows == LABELS.n_rows


def test_progress_is_told_and_the_learned_graphs_serve_other_questions() -> None:
    net = fn.learn.bayesian_network(LABELS)
    told: list[tuple[str, int, int | None]] = []
    first = fn.explain.rows(net, LABELS, query="v0", graphs=3, seed=1, progress=lambda *of: told.append(of))
    assert told[-1] == ("learning graphs from halves", 3, 3)
    n_told = len(told)
    second = fn.explain.rows(net, LABELS, query="v1", graphs=3, seed=1, progress=lambda *of: told.append(of))
    assert len(told) == n_told
    assert first.n_rows == second.n_rows
    asked = weakref.ref(net)
    del net
    gc.collect()
    assert asked() is not None  # graphs are known by the network that they were learned for


def test_what_has_no_graph_to_learn_again_is_refused() -> None:
    net = fn.learn.bayesian_network(LABELS)
    asked: dict[str, Any] = {"query": "v0", "state": "s0", "graphs": 3}
    with pytest.raises(FishernetError) as refused:
        fn.explain.rows(net, LABELS, n_rows=1000, **asked)
    assert refused.value.parameter == "graphs"
    with pytest.raises(SchemaError) as refused:
        fn.explain.rows(fn.learn.dependency_network(LABELS), LABELS, log_prob=LABELS, graphs=3)
    assert refused.value.parameter == "graphs"
    clusters = fn.learn.clusters(LABELS, 2, seed=1).model
    with pytest.raises(SchemaError) as refused:
        fn.explain.rows(clusters, LABELS, log_prob=LABELS, graphs=3)
    assert refused.value.parameter == "graphs"
    few = fn.learn.bayesian_network(LABELS[:3])
    with pytest.raises(SchemaError) as refused:
        fn.explain.rows(few, LABELS[:3], **asked)
    assert refused.value.parameter == "graphs"
    chain = fn.MarkovChain("ab", 0, [0.5, 0.5])
    with pytest.raises(FishernetError) as refused:
        fn.explain.rows(chain, ["abba", "ab"], log_prob=["ab"], graphs=3)
    assert refused.value.parameter == "graphs"
    with pytest.raises(FishernetError) as refused:
        fn.explain.rows(net, LABELS, **{**asked, "graphs": 0})
    assert refused.value.parameter == "graphs"
