from __future__ import annotations

from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import good, refused


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
    facts = good("compare-graphs", *pair, "--json").facts
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
        "variables 4",
        "arcs 3 in A, 3 in B, 1 in both",
        "equivalent no",
        "SHD of the classes 2",
        "Hamming distance 2",
        "only in A 1",
        "y -> z",
        "only in B 1",
        "w -> z",
        "turned in B 1",
        "w -> x",
    ]


def test_equivalent_graphs_are_at_distance_0_though_arcs_are_turned(tmp_path: Path) -> None:
    a = saved(tmp_path / "a.json", ["x", "y"], ("x", "y"))
    b = saved(tmp_path / "b.json", ["x", "y"], ("y", "x"))
    facts = good("compare-graphs", a, b, "--json").facts
    assert (facts["shd"], facts["hamming"], facts["equivalent"], facts["turned"]) == (0, 0, True, [["x", "y"]])


def test_directions_that_matter_count_in_the_shd_alone(tmp_path: Path) -> None:
    chain = saved(tmp_path / "a.json", ["x", "y", "z"], ("x", "y"), ("y", "z"))
    collider = saved(tmp_path / "b.json", ["x", "y", "z"], ("x", "y"), ("z", "y"))
    facts = good("compare-graphs", chain, collider, "--json").facts
    assert (facts["shd"], facts["hamming"], facts["equivalent"]) == (2, 0, False)


def test_the_library_says_the_same_of_learned_networks(tmp_path: Path) -> None:
    truth = fn.datasets.load("asia")
    learned = fn.learn.bayesian_network(truth.sample(300, seed=1))
    fn.save(truth, tmp_path / "truth.json")
    fn.save(learned, tmp_path / "learned.json")
    facts = good("compare-graphs", tmp_path / "learned.json", tmp_path / "truth.json", "--json").facts
    assert facts["shd"] == fn.shd(learned.dag, truth.dag)
    assert facts["hamming"] == fn.hamming(learned.dag.skeleton(), truth.dag.skeleton())
    back = good("compare-graphs", tmp_path / "truth.json", tmp_path / "learned.json", "--json").facts
    assert (back["only_in_a"], back["only_in_b"]) == (facts["only_in_b"], facts["only_in_a"])


def test_bad_input_is_one_sentence(pair: tuple[Path, Path], dependency: Path, tmp_path: Path) -> None:
    a, _ = pair
    other = saved(tmp_path / "other.json", ["w", "x", "q"])
    message = refused("compare-graphs", a, other)
    assert "the same variables" in message
    assert "only the first has 'y', 'z'; only the second has 'q'" in message
    assert "a dependency network; compare-graphs needs a Bayesian network" in refused("compare-graphs", a, dependency)
    assert "no such file" in refused("compare-graphs", a, tmp_path / "nope.json")
    assert ".json or .bif" in refused("compare-graphs", a, tmp_path / "table.csv")
    assert "no directory" in refused("compare-graphs", *pair, "-o", tmp_path / "nowhere" / "x.txt")


@pytest.fixture
def undirected(tmp_path: Path) -> tuple[Path, Path]:
    """Return a graph and a Gaussian Markov network: two edges are in both, one is only in each."""
    graph = fn.UndirectedGraph.from_edges(list("wxyz"), [("w", "x"), ("x", "y"), ("y", "z")])
    fn.save(graph, tmp_path / "graph.json")
    precision = [
        [3.0, 1.0, 0.0, 1.0],
        [1.0, 3.0, 1.0, 0.0],
        [0.0, 1.0, 3.0, 0.0],
        [1.0, 0.0, 0.0, 3.0],
    ]  # of z, y, x, w
    fn.save(fn.GaussianMarkovNetwork(list("zyxw"), [0, 0, 0, 0], precision), tmp_path / "gaussian.json")
    return tmp_path / "graph.json", tmp_path / "gaussian.json"


def test_undirected_graphs_are_compared_by_their_edges(undirected: tuple[Path, Path]) -> None:
    facts = good("compare-graphs", *undirected, "--json").facts
    assert facts["only_in_a"] == [["w", "x"]]
    assert facts["only_in_b"] == [["z", "w"]]
    assert [facts[f"edges_in_{side}"] for side in ("a", "b", "both")] == [3, 3, 2]
    assert (facts["hamming"], facts["variables"]) == (2, 4)
    lines = [" ".join(line.split()) for line in good("compare-graphs", *undirected).out.splitlines()]
    assert lines == [
        "variables 4",
        "edges 3 in A, 3 in B, 2 in both",
        "Hamming distance 2",
        "only in A 1",
        "w - x",
        "only in B 1",
        "z - w",
    ]


def test_gaussian_bayesian_networks_are_compared_by_their_arcs(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    dag = fn.Dag.from_edges(list("wxyz"), [("w", "x"), ("x", "y"), ("y", "z")])
    fn.save(fn.BayesianNetwork.from_regressions(dag, [0] * 4, [[], [1], [1], [1]], [1] * 4), tmp_path / "g.json")
    assert good("compare-graphs", tmp_path / "g.json", pair[0], "--json").facts["shd"] == 0


def test_graphs_of_two_kinds_are_not_compared(pair: tuple[Path, Path], undirected: tuple[Path, Path]) -> None:
    for one, other in ((pair[0], undirected[0]), (undirected[1], pair[0])):
        message = refused("compare-graphs", one, other)
        assert f"{pair[0]} has arcs and" in message
        assert "compare two graphs of one kind" in message


def test_undirected_graphs_over_other_variables_are_not_compared(tmp_path: Path, undirected: tuple[Path, Path]) -> None:
    fn.save(fn.UndirectedGraph.from_edges(["x", "y"], []), tmp_path / "other.json")
    assert "'z'" in refused("compare-graphs", undirected[0], tmp_path / "other.json")
