"""DAGs: what they hold, what they answer and what they refuse."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.base.errors import SchemaError
from fishernet.graphs import Dag, UndirectedGraph, to_networkx


def test_what_a_dag_holds() -> None:
    dag = Dag.from_edges(["d", "c", "b", "a"], [("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")])
    assert dag.names == ("d", "c", "b", "a")
    assert dag.parents == ((1, 3), (2, 3), (), ())
    assert dag.children == ((), (0,), (1,), (0, 1))
    assert dag.edges == (("c", "d"), ("a", "d"), ("b", "c"), ("a", "c"))
    assert dag.order == (2, 3, 1, 0)
    assert dag.n_edges == 4
    assert dag.skeleton() == UndirectedGraph.from_edges(dag.names, dag.edges)


@given(...)
def test_edges_and_parents_make_the_same_dag_again(dag: Dag, data: st.DataObject) -> None:
    assert Dag.from_edges(dag.names, data.draw(st.permutations(dag.edges))) == dag
    assert Dag(dag.names, [data.draw(st.permutations(found)) for found in dag.parents]) == dag
    assert dag.n_edges == len(dag.edges)
    assert all(
        (child in dag.children[parent]) == (parent in dag.parents[child])
        for parent, child in itertools.product(range(len(dag.names)), repeat=2)
    )


@given(...)
def test_ancestors_are_those_of_networkx(dag: Dag, data: st.DataObject) -> None:
    given_names = data.draw(st.lists(st.sampled_from(dag.names))) if dag.names else []
    other = to_networkx(dag)
    expected = set().union(*(nx.ancestors(other, name) for name in given_names))
    assert dag.ancestors(given_names) == tuple(name for name in dag.names if name in expected)


def test_a_given_variable_is_an_ancestor_only_of_others() -> None:
    dag = Dag(["a", "b", "c"], [(), (0,), (1,)])
    assert dag.ancestors("b") == ("a",)
    assert dag.ancestors(["b", "c"]) == ("a", "b")
    assert dag.ancestors([]) == ()


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_markov_blanket_is_what_must_be_known(n: int, all_dags: Callable[[int], list[Dag]]) -> None:
    """A set separates the variable from all others if and only if it contains the blanket (Pearl 1988)."""
    for dag in all_dags(n):
        for name in dag.names:
            others = [other for other in dag.names if other != name]
            blanket = dag.markov_blanket(name)
            assert blanket == tuple(other for other in dag.names if other in blanket)
            for known in itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(n)):
                rest = [other for other in others if other not in known]
                assert dag.is_d_separated(name, rest, known) == (set(blanket) <= set(known))


def test_wrong_questions_are_refused() -> None:
    dag = Dag(["a", "b"], [(), (0,)])
    with pytest.raises(SchemaError, match="no variable 'x'"):
        dag.ancestors(["a", "x"])
    with pytest.raises(SchemaError, match="no variable 'x'"):
        dag.markov_blanket("x")
    with pytest.raises(SchemaError, match="only the first has 'b'; only the second has 'c'"):
        dag.is_equivalent(Dag(["a", "c"], [(), (0,)]))
