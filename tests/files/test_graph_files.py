from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from tests.files.examples import EXAMPLES
from tests.files.hostile import texts

ASIA = fn.datasets.load("asia")
DAG = fn.Dag.from_edges(["a", 'b "c"', "d\\"], [("a", 'b "c"'), ("d\\", 'b "c"')])
LINE = fn.Dag.from_edges(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("d", "c")])


def text_of(model: Any, path: Path) -> str:
    fn.save(model, path)
    return path.read_text(encoding="utf-8")


def test_dot_has_names_in_quotes(tmp_path: Path) -> None:
    assert text_of(DAG, tmp_path / "a.dot") == (
        'digraph {\n  "a";\n  "b \\"c\\"";\n  "d\\\\";\n  "a" -> "b \\"c\\"";\n  "d\\\\" -> "b \\"c\\"";\n}\n'
    )
    undirected = fn.UndirectedGraph.from_edges(["a", "b"], [("a", "b")])
    assert text_of(undirected, tmp_path / "a.dot") == 'graph {\n  "a";\n  "b";\n  "a" -- "b";\n}\n'
    assert '"a" -> "b" [dir=none];' in text_of(fn.graphs.cpdag(LINE), tmp_path / "a.dot")


NETWORKS: dict[str, tuple[Any, bool, list[tuple[str, str]]]] = {
    "network": (ASIA, True, list(ASIA.dag.edges)),
    "graph of a network": (ASIA.dag, True, list(ASIA.dag.edges)),
    "dependency network": (EXAMPLES["dependency network"], True, [("b", "a"), ("a", "b"), ("a", "c"), ("b", "c")]),
    "Markov network": (EXAMPLES["Markov network"], False, [("a", "b")]),
    "Gaussian Markov network": (EXAMPLES["Gaussian Markov network"], False, [("a", "c")]),
    "graph": (EXAMPLES["graph"], False, [("a", "\n"), ("b, c", "\n")]),
    "regressions": (EXAMPLES["regressions"], True, [("c", "a"), ("b", "a"), ("b", "c")]),
}


@pytest.mark.parametrize("name", list(NETWORKS))
def test_networkx_reads_the_graph_of_any_network(name: str, tmp_path: Path) -> None:
    model, directed, edges = NETWORKS[name]
    fn.save(model, tmp_path / "a.graphml")
    graph = networkx.read_graphml(tmp_path / "a.graphml")
    assert graph.is_directed() == directed
    assert list(graph.nodes) == list(model.names)
    expected = set(edges) if directed else set(map(frozenset, edges))
    assert (set(graph.edges) if directed else set(map(frozenset, graph.edges))) == expected


def test_a_cpdag_comes_back_as_networkx_holds_it(tmp_path: Path) -> None:
    cpdag = fn.graphs.cpdag(LINE)
    fn.save(cpdag, tmp_path / "a.graphml")
    again = networkx.read_graphml(tmp_path / "a.graphml")
    assert set(again.edges(data="directed")) == set(fn.graphs.to_networkx(cpdag).edges(data="directed"))


@given(names=st.lists(texts(), min_size=1, unique=True))
def test_names_with_any_characters_come_back_or_are_refused(
    names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("graph") / "a.graphml"
    graph = fn.UndirectedGraph.from_edges(names, [(names[0], name) for name in names[1:]])
    if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "".join(names)):
        with pytest.raises(fn.SchemaError, match="GraphML cannot hold"):
            fn.save(graph, path)
        return
    fn.save(graph, path)
    assert list(networkx.read_graphml(path).nodes) == names


def test_what_has_no_graph_is_refused(tmp_path: Path) -> None:
    for ending in (".dot", ".graphml"):
        with pytest.raises(
            fn.SchemaError, match=r"model must be a graph, or a model that has one; Gaussian\(.* has no"
        ):
            fn.save(fn.Gaussian(0, 1), tmp_path / f"a{ending}")
    assert list(tmp_path.iterdir()) == []
