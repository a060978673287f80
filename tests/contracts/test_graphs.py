"""The laws of graphs, for every kind: names, edges, equality, copies and orders. A new kind joins `KINDS`."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import SchemaError
from fishernet.graphs import Cpdag, Dag, UndirectedGraph, cpdag, hamming, is_chordal, moral, shd, to_networkx

HOSTILE = ["", " ", "a b", 'quo"te', "it's", "a,b", "new\nline", "naïve", "变量", "🐟", "->", "None"]
Make = Callable[[Any, Any], Any]


def undirected_cpdag(names: Any, edges: Any) -> Cpdag:
    return Cpdag(names, [], edges)


KINDS: dict[str, Make] = {
    "Dag": Dag.from_edges,
    "UndirectedGraph": UndirectedGraph.from_edges,
    "Cpdag": undirected_cpdag,
    "DirectedGraph": fn.graphs.DirectedGraph.from_edges,
}
EVERY = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def edges_of(graph: Any) -> tuple[Any, ...]:
    return graph.undirected if hasattr(graph, "undirected") else graph.edges  # type: ignore[no-any-return]


@EVERY
def test_copies_are_equal_and_others_are_not(make: Make) -> None:
    graph = make(["a", "b", "c"], [("a", "b")])
    for twin in (make(iter(["a", "b", "c"]), {("a", "b")}), pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert twin == graph
        assert hash(twin) == hash(graph)
        assert edges_of(twin) == edges_of(graph)
    others = [make(["a", "b", "c"], [("a", "c")]), make(["b", "a", "c"], [("a", "b")]), make(["a", "b"], [("a", "b")])]
    assert graph not in [*others, *(other(["a", "b", "c"], [("a", "b")]) for other in KINDS.values() if other != make)]


@EVERY
def test_nothing_can_be_changed(make: Make) -> None:
    graph = make(["a", "b"], [("a", "b")])
    edges = edges_of(graph)
    for name in [name for name in dir(graph) if not name.startswith("_")] + ["other"]:
        with pytest.raises(AttributeError):
            setattr(graph, name, ())
    with pytest.raises(AttributeError):
        del graph.names
    assert edges_of(graph) == edges == (("a", "b"),)


@EVERY
def test_hostile_names_are_only_names(make: Make) -> None:
    edges = list(itertools.pairwise(HOSTILE))
    graph = make(HOSTILE, edges)
    assert graph.names == tuple(HOSTILE)
    assert edges_of(graph) == tuple(edges)
    assert "\n" not in repr(graph)
    assert tuple(to_networkx(graph).nodes) == tuple(HOSTILE)


@EVERY
def test_repr_counts_variables_and_edges(make: Make) -> None:
    kind = type(make([], [])).__name__
    assert repr(make([], [])) == f"{kind}(0 variables, 0 edges)"
    assert repr(make(["a"], [])) == f"{kind}(1 variable, 0 edges)"
    names = [f"v{i}" for i in range(30)]
    assert repr(make(names, itertools.pairwise(names))).startswith(f"{kind}(30 variables, 29 edges: 'v0' -")
    assert repr(make(names, itertools.pairwise(names))).endswith("'v6', ...)")


@EVERY
@pytest.mark.parametrize(
    ("names", "edges", "message"),
    [
        (["a", "b"], [("a", "b"), ("a", "b")], "more than once"),
        (["a", "b"], [("a", "B")], "no variable 'B'; there are 'a', 'b'"),
        (["a", "b", "a"], [], "the name 'a' appears more than once"),
        (["a", "b"], ["ab"], "an edge must be a pair of names, got 'ab'"),
        (["a", "b"], 7, "edges must be a sequence of pairs of names, not an int"),
        ("ab", [("a", "b")], "names must be a sequence of str"),
        (["a", 3], [], "must be a str, not int"),
    ],
)
def test_wrong_names_and_edges_are_refused(make: Make, names: Any, edges: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make(names, edges)


@pytest.mark.parametrize(
    ("ask", "takes"),
    [
        (moral, "Dag"),
        (cpdag, "Dag"),
        (Dag([], []).is_equivalent, "Dag"),
        (is_chordal, "UndirectedGraph"),
    ],
)
def test_another_kind_is_refused_by_name(ask: Callable[[Any], Any], takes: str) -> None:
    for other in [make([], []) for make in KINDS.values()] + [[("a", "b")], None]:
        if type(other).__name__ not in takes.split(" or "):
            with pytest.raises(SchemaError, match=f" needs an? {takes}, not {type(other).__name__}"):
                ask(other)
        else:
            ask(other)


@pytest.mark.parametrize(
    ("ask", "takes", "refused"),
    [
        (lambda graph: shd(graph, graph), "Dag Cpdag", "shd needs a Dag or Cpdag .directed, without cycles., not an? "),
        (lambda graph: hamming(graph, graph), "UndirectedGraph", "hamming needs an undirected graph, not an? "),
        (to_networkx, "Dag Cpdag UndirectedGraph DirectedGraph", ""),
    ],
)
def test_what_asks_for_links_takes_every_graph_with_such_links(
    ask: Callable[[Any], Any], takes: str, refused: str
) -> None:
    for other in [make([], []) for make in KINDS.values()]:
        if type(other).__name__ in takes.split():
            ask(other)
        else:
            with pytest.raises(SchemaError, match=f"{refused}{type(other).__name__}; see"):
                ask(other)
    with pytest.raises(SchemaError, match="must be a graph, or a model that has one;"):
        ask(fn.Gaussian(0, 1))


def test_without_networkx_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx"):
        to_networkx(Dag(["a"], [()]))


def test_networkx_gets_each_kind_as_its_own() -> None:
    dag = Dag.from_edges(["d", "c", "b", "a"], [("b", "c"), ("a", "c"), ("d", "a")])
    completed = cpdag(dag)
    assert (completed.directed, completed.undirected) == ((("b", "c"), ("a", "c")), (("d", "a"),))
    for graph, kind, edges in (
        (dag, nx.DiGraph, {("b", "c"), ("a", "c"), ("d", "a")}),
        (dag.skeleton(), nx.Graph, {("c", "b"), ("c", "a"), ("d", "a")}),
        (completed, nx.DiGraph, {("b", "c", True), ("a", "c", True), ("d", "a", False), ("a", "d", False)}),
    ):
        found = to_networkx(graph)
        assert type(found) is kind
        assert set(found.edges(data="directed") if graph is completed else found.edges) == edges


SCRIPT = """
from fishernet.base.errors import CycleError
from fishernet.graphs import Dag, UndirectedGraph, cpdag, moral, shd, to_networkx

names = [f"v{i}" for i in range(40)]
edges = {(names[i], names[j]) for i in range(40) for j in range(i + 1, 40) if (i * j + i + j) % 11 == 0}
dag = Dag.from_edges(names, edges)
graph = UndirectedGraph.from_edges(names, edges)
completed = cpdag(dag)
print(dag.edges, dag.parents, dag.children, dag.order, dag.ancestors(set(names[30:])), dag.markov_blanket("v9"))
print(graph.edges, graph.adjacency, graph.components(), graph.neighbors("v5"), moral(dag).edges)
print(completed.directed, completed.undirected, completed.extension().edges, list(completed.marks.items()))
print(list(to_networkx(completed).edges), shd(dag, completed))
try:
    Dag.from_edges(names, edges | {(b, a) for a, b in edges if a > "v2"})
except CycleError as error:
    print(error)
"""


def test_no_order_depends_on_how_python_hashes_strings() -> None:
    outputs = set()
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", SCRIPT]
        outputs.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(outputs) == 1
    assert "the edges close a cycle" in outputs.pop()


# ------------------------------------------------------------------------------------------- graphs of other kinds


@pytest.mark.parametrize("kind", ["Dag", "UndirectedGraph"])
def test_a_graph_comes_back_from_networkx(kind: str) -> None:
    graph = MAKE_OF_EDGES[kind](["c", "a", "b", "alone"], [("a", "b"), ("c", "b")])
    assert type(graph).from_networkx(to_networkx(graph)) == graph


MAKE_OF_EDGES: dict[str, Any] = {"Dag": Dag.from_edges, "UndirectedGraph": UndirectedGraph.from_edges}


@pytest.mark.parametrize(
    ("make", "given", "told"),
    [
        (Dag.from_networkx, nx.Graph([("a", "b")]), "a DiGraph of networkx is needed; this one is undirected"),
        (UndirectedGraph.from_networkx, nx.DiGraph([("a", "b")]), "an undirected Graph .* this one is directed"),
        (Dag.from_networkx, [("a", "b")], "a DiGraph of networkx is needed, not list"),
        (Dag.from_networkx, nx.DiGraph([(0, 1)]), "must be a str, not int"),
        (Dag.from_networkx, nx.MultiDiGraph([("a", "b"), ("a", "b")]), "more than once"),
        (Dag.from_networkx, nx.DiGraph([("a", "b"), ("b", "a")]), "cycle"),
    ],
)
def test_graphs_of_networkx_that_are_refused(make: Callable[[Any], Any], given: Any, told: str) -> None:
    with pytest.raises(fn.FishernetError, match=told):
        make(given)


def test_networks_stand_for_their_graphs() -> None:
    asia = fn.datasets.load("asia")
    other = fn.learn.bayesian_network(asia.sample(500, seed=1))
    assert fn.shd(asia, other) == fn.shd(asia.dag, other.dag) == fn.shd(asia, other.dag) > 0
    of_asia = to_networkx(asia)
    assert Dag.from_networkx(of_asia) == asia.dag
    assert all(of_asia.nodes[v.name]["states"] == v.states for v in asia.variables)
    markov = fn.MarkovNetwork(
        asia.variables[:3], [(("asia", "tub"), [[1, 2], [3, 4]]), (("tub", "smoke"), [[1, 2]] * 2)]
    )
    assert markov.edges == (("asia", "tub"), ("tub", "smoke"))
    empty = UndirectedGraph(markov.names, [()] * 3)
    assert fn.hamming(markov, empty) == fn.hamming(empty, markov) == 2
    with pytest.raises(SchemaError, match="hamming needs an undirected graph, not a Dag"):
        fn.hamming(asia, asia)


def test_edges_of_numbers_keep_their_partial_correlations() -> None:
    precision = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    drawn = to_networkx(fn.GaussianMarkovNetwork(["x", "y", "z"], np.zeros(3), precision))
    by_hand = {("x", "y"): 1 / 2, ("y", "z"): -0.5 / np.sqrt(2)}  # minus the entry over the roots of the diagonal's
    assert {(a, b): r for a, b, r in drawn.edges(data="partial_correlation")} == pytest.approx(by_hand)


def test_a_dependency_network_has_arcs_both_ways() -> None:
    dn = fn.DependencyNetwork.from_joint(fn.datasets.load("asia"), allow_zeros=True)
    arcs = {(dn.names[p], name) for name, inputs in zip(dn.names, dn.inputs, strict=True) for p in inputs}
    assert set(to_networkx(dn).edges) == set(dn.edges) == arcs
