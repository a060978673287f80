"""Marginals of some variables, by elimination or by a tree."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import fishernet as fn
from fishernet.base.errors import SchemaError, StateSpaceError
from tests.networks import random_network
from tests.reference.inference import Query, married, queries


@pytest.mark.parametrize("seed", range(5))
def test_elimination_and_the_tree_agree_where_nobody_can_enumerate(seed: int) -> None:
    net = random_network(seed, [2, 3, 4] * 8)  # 24**8, about 1e11 joint states
    row = net.sample(1, seed=seed)
    evidence = {f"v{i}": row.variables[i].states[int(row.codes[i][0])] for i in (1, 7, 20)}
    tree = fn.infer.JunctionTree(net)
    for names in (["v0"], ["v23", "v2"], ["v5", "v11", "v17"]):
        got = fn.infer.marginal(net, names, given=evidence)
        np.testing.assert_allclose(got, tree.marginal(names, given=evidence), rtol=1e-10, atol=1e-300)


def test_all_names_may_be_given() -> None:
    net = random_network(4, [2, 3])
    got = fn.infer.marginal(net, ["v0", "v1"], given={"v0": "s1", "v1": "s0"})
    np.testing.assert_array_equal(got, [[0, 0, 0], [1, 0, 0]])


# ------------------------------------------------------------------------------------------------------ independence


@given(queries())
def test_evidence_that_is_d_separated_changes_nothing(query: Query) -> None:
    """P(x | z, w) = P(x | z) when z separates x from w, by networkx's reading of the graph (Pearl 1988)."""
    net = query.net
    graph = nx.DiGraph()
    graph.add_nodes_from(net.names)
    graph.add_edges_from((net.names[p], net.names[c.child]) for c in net.conditionals for p in c.parents)
    free = [name for name in net.names if name not in query.given]
    state = fn.infer.most_probable(net, given=query.given)  # so that z and w are possible together
    for x, w in itertools.permutations(free, 2):
        if nx.is_d_separator(graph, {x}, {w}, set(query.given)):
            with_w = fn.infer.marginal(net, [x], given={**query.given, w: state[w]})
            without = fn.infer.marginal(net, [x], given=query.given)
            np.testing.assert_allclose(with_w, without, rtol=1e-10, atol=1e-300)


def test_causes_explain_each_other_away() -> None:
    """Two fair coins are independent until their parity is seen."""
    coins = [fn.Variable(name, ["heads", "tails"]) for name in ("a", "b")]
    parity = fn.Variable("parity", ["same", "different"])
    net = fn.BayesianNetwork.from_tables(
        [*coins, parity],
        {"parity": ["a", "b"]},
        {"a": [0.5, 0.5], "b": [0.5, 0.5], "parity": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]},
    )
    np.testing.assert_allclose(fn.infer.marginal(net, ["a"], given={"b": "heads"}), [0.5, 0.5], rtol=1e-13)
    known = {"b": "heads", "parity": "different"}
    np.testing.assert_array_equal(fn.infer.marginal(net, ["a"], given=known), [0, 1])


# --------------------------------------------------------------------------------------------------- awkward networks


def test_small_probabilities_keep_their_digits() -> None:
    """Bayes' rule with 1e-9 on both sides: P(a = 1 | b = 1) = 1e-9 / (1e-9 + (1 - 1e-9) 1e-9)."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    tables: dict[str, Any] = {"a": [1 - 1e-9, 1e-9], "b": [[1 - 1e-9, 1e-9], [0, 1]]}
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, tables)
    got = fn.infer.marginal(net, ["a"], given={"b": 1})
    np.testing.assert_allclose(got, [(1 - 1e-9) / (2 - 1e-9), 1 / (2 - 1e-9)], rtol=1e-13)
    joint = fn.infer.marginal(net, ["a", "b"])
    np.testing.assert_allclose(joint, [[(1 - 1e-9) ** 2, (1 - 1e-9) * 1e-9], [0, 1e-9]], rtol=1e-13)


def test_two_hundred_states_are_bayes_rule() -> None:
    rng = np.random.default_rng(0)
    prior, table = rng.dirichlet(np.ones(200)), rng.dirichlet(np.ones(150), size=200)
    variables = [fn.Variable("x", range(200)), fn.Variable("y", range(150))]
    net = fn.BayesianNetwork.from_tables(variables, {"y": ["x"]}, {"x": prior, "y": table})
    np.testing.assert_allclose(fn.infer.marginal(net, ["y"]), prior @ table, rtol=1e-12)
    posterior = prior * table[:, 149]
    np.testing.assert_allclose(fn.infer.marginal(net, ["x"], given={"y": 149}), posterior / posterior.sum(), rtol=1e-12)


# ------------------------------------------------------------------------------------------------------------- limits


def test_descendants_that_nobody_saw_cost_nothing() -> None:
    """No junction tree of this network fits, but P(x0 | one child) is a matter of three variables."""
    net = married(200)
    with pytest.raises(StateSpaceError):
        fn.infer.JunctionTree(net)
    table = net.conditional("x0x3").table()[:, :, 1]
    expected = table.sum(axis=1) / table.sum()
    np.testing.assert_allclose(fn.infer.marginal(net, ["x0"], given={"x0x3": 1}), expected, rtol=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    net = married(200)
    children = dict.fromkeys(net.names[5:], 0)
    with pytest.raises(StateSpaceError) as refused:
        fn.infer.marginal(net, ["x0"], given=children)
    assert refused.value.cells > refused.value.limit == 2**28


@pytest.mark.parametrize(("names", "message"), [(["z"], "'z'"), (["v0", "zz"], "'zz'"), (["v1", "v0", "v1"], "'v1'")])
def test_names_that_do_not_fit_are_named(names: list[str], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        fn.infer.marginal(random_network(0, [2, 2]), names)


def test_a_joint_table_that_would_be_too_large_is_refused_even_where_it_is_known() -> None:
    names = [f"v{i}" for i in range(40)]
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable(n, ["a", "b"]) for n in names], {}, {n: [0.5, 0.5] for n in names}
    )
    with pytest.raises(fn.StateSpaceError):
        fn.infer.marginal(net, names[:30], given=dict.fromkeys(names, "a"))
    with pytest.raises(fn.SchemaError, match="at most 32"):
        fn.infer.marginal(net, names, given=dict.fromkeys(names, "a"))
    assert fn.infer.marginal(net, names[:10], given=dict.fromkeys(names, "a")).ravel()[0] == 1
