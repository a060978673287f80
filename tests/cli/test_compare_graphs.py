from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fishernet as fn
from tests.cli.running import facts_of, good


def saved(path: Path, names: list[str], *arcs: tuple[str, str]) -> Path:
    """Write a network of binary variables with these arcs."""
    dag = fn.Dag.from_edges(names, arcs)
    table = fn.Table.from_codes([[0] * len(names)], [fn.Variable(name, ["no", "yes"]) for name in names])
    net = fn.learn.parameters(dag, table)
    fn.write_bif(net, path) if path.suffix == ".bif" else fn.save(net, path)
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Return two networks: one arc is only in the first, one only in the second, one is turned, one is in both."""
    a = saved(tmp_path / "a.json", list("wxyz"), ("w", "x"), ("x", "y"), ("y", "z"))
    b = saved(tmp_path / "b.bif", list("zyxw"), ("x", "w"), ("x", "y"), ("w", "z"))
    return a, b


def test_json_names_the_arcs_that_differ(pair: tuple[Path, Path]) -> None:
    facts = facts_of("compare-graphs", *pair)
    assert facts["only_in_a"] == [["y", "z"]]
    assert facts["only_in_b"] == [["w", "z"]]
    assert facts["turned"] == [["w", "x"]]
    assert [facts[f"arcs_in_{side}"] for side in ("a", "b", "both")] == [3, 3, 1]
    assert facts["variables"] == 4
    # both are trees without colliders, so only what is joined counts: y - z and w - z
    assert (facts["shd"], facts["hamming"], facts["equivalent"]) == (2, 2, False)


def test_text_says_the_same(pair: tuple[Path, Path]) -> None:
    lines = [" ".join(line.split()) for line in good("compare-graphs", *pair).out.splitlines()]
    assert lines == [
        "only in A 1",
        "y -> z",
        "only in B 1",
        "w -> z",
        "turned in B 1",
        "w -> x",
        "variables 4",
        "arcs 3 in A, 3 in B, 1 in both",
        "equivalent no",
        "SHD of the classes 2",
        "Hamming distance 2",
    ]


@pytest.mark.parametrize(
    ("arcs", "expected"),
    [
        ([("x", "y"), ("y", "z")], (0, 0, True, [])),
        ([("y", "x"), ("y", "z")], (0, 0, True, [["x", "y"]])),  # equivalent
        ([("x", "y"), ("z", "y")], (2, 0, False, [["y", "z"]])),  # a collider: directions that matter
    ],
)
def test_equivalent_graphs_are_at_distance_0(
    tmp_path: Path, arcs: list[tuple[str, str]], expected: tuple[object, ...]
) -> None:
    a = saved(tmp_path / "a.json", list("xyz"), ("x", "y"), ("y", "z"))
    facts = facts_of("compare-graphs", a, saved(tmp_path / "b.json", list("xyz"), *arcs))
    assert (facts["shd"], facts["hamming"], facts["equivalent"], facts["turned"]) == expected


def test_the_library_says_the_same_of_learned_networks(tmp_path: Path) -> None:
    truth = fn.datasets.load("asia")
    learned = fn.learn.bayesian_network(truth.sample(300, seed=1))
    fn.save(truth, tmp_path / "truth.json")
    fn.save(learned, tmp_path / "learned.json")
    facts = facts_of("compare-graphs", tmp_path / "learned.json", tmp_path / "truth.json")
    assert facts["shd"] == fn.shd(learned.dag, truth.dag)
    assert facts["hamming"] == fn.hamming(learned.dag.skeleton(), truth.dag.skeleton())
    back = facts_of("compare-graphs", tmp_path / "truth.json", tmp_path / "learned.json")
    assert (back["only_in_a"], back["only_in_b"]) == (facts["only_in_b"], facts["only_in_a"])


@pytest.fixture
def undirected(tmp_path: Path) -> tuple[Path, Path]:
    """Return a graph and a Gaussian Markov network: two edges are in both, one is only in each."""
    graph = fn.UndirectedGraph.from_edges(list("wxyz"), [("w", "x"), ("x", "y"), ("y", "z")])
    fn.save(graph, tmp_path / "graph.json")
    precision: Any = [[3.0, 1, 0, 1], [1, 3, 1, 0], [0, 1, 3, 0], [1, 0, 0, 3]]  # of z, y, x, w
    fn.save(fn.GaussianMarkovNetwork(list("zyxw"), [0, 0, 0, 0], precision), tmp_path / "gaussian.json")
    return tmp_path / "graph.json", tmp_path / "gaussian.json"


def test_undirected_graphs_are_compared_by_their_edges(undirected: tuple[Path, Path]) -> None:
    facts = facts_of("compare-graphs", *undirected)
    assert facts["only_in_a"] == [["w", "x"]]
    assert facts["only_in_b"] == [["z", "w"]]
    assert [facts[f"edges_in_{side}"] for side in ("a", "b", "both")] == [3, 3, 2]
    assert (facts["hamming"], facts["variables"]) == (2, 4)
    lines = [" ".join(line.split()) for line in good("compare-graphs", *undirected).out.splitlines()]
    assert lines == [
        "only in A 1",
        "w - x",
        "only in B 1",
        "z - w",
        "variables 4",
        "edges 3 in A, 3 in B, 2 in both",
        "Hamming distance 2",
    ]


def test_gaussian_bayesian_networks_are_compared_by_their_arcs(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    dag = fn.Dag.from_edges(list("wxyz"), [("w", "x"), ("x", "y"), ("y", "z")])
    fn.save(fn.BayesianNetwork.from_regressions(dag, [0] * 4, [[], [1], [1], [1]], [1] * 4), tmp_path / "g.json")
    assert facts_of("compare-graphs", tmp_path / "g.json", pair[0])["shd"] == 0
