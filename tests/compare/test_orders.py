"""Graphs with other directions of arcs: they have no cycles, their weights add up, and few changes count most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.networks import random_network

FAST: dict[str, Any] = {"permutations": 99, "resamples": 2}


def changed(net: fn.BayesianNetwork, name: str, seed: int) -> fn.BayesianNetwork:
    """The network with another conditional of one variable."""
    tables: dict[str, Any] = {of: net.conditional(of).table() for of in net.names}
    shape = np.shape(tables[name])
    tables[name] = np.random.default_rng(seed).dirichlet(np.full(shape[-1], 0.5), shape[:-1])
    return fn.BayesianNetwork.from_tables(net.variables, {of: net.parents(of) for of in net.names}, tables)


@pytest.mark.parametrize("seed", range(6))
def test_graphs_are_of_the_same_columns_without_cycles_and_weights_add_up(seed: int) -> None:
    net = random_network(seed, [2, 3, 2, 3, 2])
    other = changed(net, net.names[seed % 5], seed)
    found = fn.compare.explain_change(net.sample(800, seed=1), other.sample(800, seed=2), **FAST)
    graphs = [dag for dag, _ in found.graphs]  # a Dag has no cycle
    assert len({dag.edges for dag in graphs}) == len(graphs)
    assert all(set(dag.names) == set(net.names) for dag in graphs)
    weights = [weight for _, weight in found.graphs]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1)
    assert weights[-1] >= weights[0] / 20 * (1 - 1e-9)
    few = fn.compare.explain_change(net.sample(800, seed=1), other.sample(800, seed=2), graphs=2, **FAST)
    assert len(few.graphs) <= 2


def test_a_graph_in_which_one_conditional_changed_outweighs_those_with_two() -> None:
    """P(a) changed, and P(b | a) did not: with b -> a both conditionals would have."""
    variables = [fn.Variable(name, ["y", "n"]) for name in "ab"]

    def net(share: float) -> fn.BayesianNetwork:
        tables: dict[str, Any] = {"a": [share, 1 - share], "b": [[0.9, 0.1], [0.3, 0.7]]}
        return fn.BayesianNetwork.from_tables(variables, {"b": ["a"]}, tables)

    found = fn.compare.explain_change(net(0.3).sample(2000, seed=1), net(0.7).sample(2000, seed=2), **FAST)
    assert set(found.graphs[0][0].edges) == {("a", "b")}
    assert found.graphs[0][1] > 0.95
    assert found.changed() == ("a",)


def test_without_a_change_the_learned_graph_stands() -> None:
    net = random_network(9, [2, 2, 3, 2])
    X, Y = net.sample(900, seed=1), net.sample(900, seed=2)
    found = fn.compare.explain_change(X, Y, **FAST)
    assert found.graphs[0][0].edges == fn.compare.explain_change(X, Y, graphs=1, **FAST).graphs[0][0].edges
