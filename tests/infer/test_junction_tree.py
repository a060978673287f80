"""The junction tree: its cliques, and its answers against enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError, StateSpaceError
from tests.networks import random_network
from tests.reference import inference as reference
from tests.reference.inference import Query, all_kinds, married, queries


@st.composite
def larger_networks(draw: st.DrawFn) -> fn.BayesianNetwork:
    """Up to 18 variables: too many to enumerate, enough for cliques to be a matter of choice."""
    cardinalities = draw(st.lists(st.integers(1, 3), min_size=1, max_size=18))
    return random_network(draw(st.integers(0, 2**32)), cardinalities)


def network_of(parents: dict[str, list[str]], *, cardinality: int = 2) -> fn.BayesianNetwork:
    """Variables in the order of the keys, uniform tables."""
    variables = [fn.Variable(name, range(cardinality)) for name in parents]
    shapes = {name: (cardinality,) * (len(of) + 1) for name, of in parents.items()}
    tables: dict[str, Any] = {name: np.full(shape, 1 / cardinality) for name, shape in shapes.items()}
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


# ---------------------------------------------------------------------------------------------------------- cliques


@given(larger_networks())
def test_cliques_have_the_running_intersection_property(net: fn.BayesianNetwork) -> None:
    """A maximum spanning tree by the sizes of intersections is a junction tree if there is one (Jensen 1994)."""
    cliques = [set(clique) for clique in fn.infer.JunctionTree(net).cliques]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(cliques)))
    for a, b in itertools.combinations(range(len(cliques)), 2):
        graph.add_edge(a, b, weight=len(cliques[a] & cliques[b]))
    tree = nx.maximum_spanning_tree(graph)
    for name in net.names:
        holders = [i for i, clique in enumerate(cliques) if name in clique]
        assert holders
        assert nx.is_connected(tree.subgraph(holders))


@given(larger_networks())
def test_every_family_lies_in_a_clique(net: fn.BayesianNetwork) -> None:
    cliques = [set(clique) for clique in fn.infer.JunctionTree(net).cliques]
    for child in range(len(net.variables)):
        family = set(reference.family_names(net, child))
        assert any(family <= clique for clique in cliques)


@given(larger_networks())
def test_no_clique_lies_in_another_or_names_a_variable_twice(net: fn.BayesianNetwork) -> None:
    cliques = fn.infer.JunctionTree(net).cliques
    assert all(len(set(clique)) == len(clique) for clique in cliques)
    for a, b in itertools.permutations(cliques, 2):
        assert not set(a) <= set(b)


@given(larger_networks())
def test_width_and_cells_are_those_of_the_cliques(net: fn.BayesianNetwork) -> None:
    tree = fn.infer.JunctionTree(net)
    cardinality = {v.name: v.cardinality for v in net.variables}
    assert tree.width == max(map(len, tree.cliques)) - 1
    assert tree.n_cells == sum(math.prod(cardinality[name] for name in clique) for clique in tree.cliques)
    assert (type(tree.width), type(tree.n_cells)) == (int, int)


@pytest.mark.parametrize(
    ("parents", "treewidth"),
    [
        ({"a": []}, 0),
        ({"a": [], "b": [], "c": []}, 0),
        ({f"x{i}": [f"x{i - 1}"] if i else [] for i in range(30)}, 1),
        ({"c": [], **{f"x{i}": ["c"] for i in range(30)}}, 1),
        ({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}, 2),
        ({"a": [], "b": ["a"], "c": ["b"], "e": ["a"], "d": ["c", "e"]}, 2),  # a circle of four after marrying c and e
        ({f"x{i}": [f"x{j}" for j in range(i)] for i in range(6)}, 5),
    ],
    ids=["one", "arcless", "chain", "naive Bayes", "diamond", "circle", "complete"],
)
def test_the_width_of_small_graphs_is_their_treewidth(parents: dict[str, list[str]], treewidth: int) -> None:
    assert fn.infer.JunctionTree(network_of(parents)).width == treewidth


# ---------------------------------------------------------------------------------------------------------- answers


@given(queries())
def test_a_tree_keeps_nothing_of_what_it_was_asked(query: Query) -> None:
    tree = fn.infer.JunctionTree(query.net)
    fresh = tree.marginal(query.names)
    tree.marginal(query.names, **query.evidence)
    tree.family_marginals(**query.evidence)
    tree.log_evidence(query.given, likelihood=query.likelihood)
    np.testing.assert_array_equal(tree.marginal(query.names), fresh)


@given(all_kinds())
def test_answers_are_the_callers_own(net: fn.BayesianNetwork) -> None:
    tree = fn.infer.JunctionTree(net)
    for answer in (*tree.family_marginals(), tree.marginal(net.names)):
        if answer.flags.writeable:
            answer[...] = -1
    for got, expected in zip(tree.family_marginals(), reference.family_marginals(net), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(tree.marginal(net.names), reference.joint(net), rtol=1e-10, atol=1e-300)


# ----------------------------------------------------------------------------------------------------------- limits


def test_a_marginal_beyond_the_limit_is_refused() -> None:
    """All cliques of a chain of 12 have 44 cells together; the joint of 10 variables has 1,024."""
    net = network_of({f"x{i}": [f"x{i - 1}"] if i else [] for i in range(12)})
    tree = fn.infer.JunctionTree(net, max_table=500)
    with pytest.raises(StateSpaceError) as refused:
        tree.marginal(net.names[:10])
    assert refused.value.cells >= 1024
    assert refused.value.limit == 500


def test_a_tree_that_no_machine_could_hold_is_refused_before_it_is_made() -> None:
    """Children of all pairs marry five variables of 200 states: a clique of 3.2e11 cells at least."""
    with pytest.raises(StateSpaceError) as refused:
        fn.infer.JunctionTree(married(200))
    assert refused.value.cells >= 200**5
    assert refused.value.limit == 2**28


@pytest.mark.parametrize(
    ("names", "message"), [(["z"], "'z'"), (["a", "zz"], "'zz'"), (["a", "a"], "'a'"), (["a", "b", "a"], "'a'")]
)
def test_names_that_do_not_fit_are_named(names: list[str], message: str) -> None:
    tree = fn.infer.JunctionTree(network_of({"a": [], "b": ["a"]}))
    with pytest.raises(SchemaError, match=message):
        tree.marginal(names)
