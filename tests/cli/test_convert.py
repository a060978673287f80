from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import ASIA, coin, facts_of, good, saved, written

A, B = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["x", "y"])
DAG = fn.Dag.from_edges(["a", "b"], [("a", "b")])
PAIR = fn.BayesianNetwork.from_tables([A, B], {"b": ["a"]}, {"a": [0.5, 0.5], "b": np.array([[0.5, 0.5], [0.2, 0.8]])})
MODELS: list[tuple[Any, dict[str, int]]] = [
    (ASIA, {"variables": 8, "arcs": 8}),
    (fn.DependencyNetwork.from_joint(PAIR), {"variables": 2, "arcs": 2}),
    (fn.MarkovNetwork([A, B], [(("a", "b"), [[2.0, 1.0], [1.0, 3.0]])]), {"variables": 2, "edges": 1}),
    (fn.UndirectedGraph.from_edges(["a", "b"], [("a", "b")]), {"variables": 2, "edges": 1}),
    (fn.GaussianMarkovNetwork(["a", "b"], [0, 0], [[2, 1], [1, 2]]), {"variables": 2, "edges": 1}),
    (fn.BayesianNetwork.from_regressions(DAG, [0, 0], [[], [1]], [1, 1]), {"variables": 2, "arcs": 1}),
]


@pytest.mark.parametrize(("model", "counts"), MODELS)
def test_every_kind_of_model_is_converted(tmp_path: Path, model: Any, counts: dict[str, int]) -> None:
    packed = tmp_path / "out.json.gz"
    facts = facts_of("convert", saved(model, tmp_path), packed)
    assert fn.load(packed) == model
    assert facts == {"in": str(tmp_path / "m.json"), "out": str(packed), "kind": "model", **counts}
    text = good("convert", packed, tmp_path / "back.json").out
    assert text == f"{tmp_path / 'back.json'}: a model of {counts['variables']} variables\n"


@pytest.mark.parametrize("name", ["m.bif.gz", "m.xdsl"])
def test_a_model_comes_back_from_formats_of_others(model: Path, tmp_path: Path, name: str) -> None:
    good("convert", model, tmp_path / name)
    good("convert", tmp_path / name, tmp_path / "back.json")
    assert fn.load(tmp_path / "back.json") == fn.load(model)


def test_a_network_of_numbered_variables_comes_back_from_uai(tmp_path: Path) -> None:
    net = fn.MarkovNetwork([fn.Variable("x0", [0, 1])], [(["x0"], [0.0, 3.0])])
    good("convert", saved(net, tmp_path), tmp_path / "m.uai")
    facts = facts_of("convert", tmp_path / "m.uai", tmp_path / "back.json")
    assert (facts["variables"], facts["edges"]) == (1, 0)
    assert fn.load(tmp_path / "back.json") == net


@pytest.mark.parametrize(("model", "counts"), MODELS)
def test_the_graph_of_every_kind_of_model_is_drawn(tmp_path: Path, model: Any, counts: dict[str, int]) -> None:
    good("convert", saved(model, tmp_path), tmp_path / "m.dot")
    text = (tmp_path / "m.dot").read_text(encoding="utf-8")
    assert text.count("->") + text.count("--") == counts.get("arcs", counts.get("edges", 1))


@pytest.mark.parametrize("name", ["t.tsv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_a_table_comes_back_with_its_missing_cells(csv: Path, name: str) -> None:
    text = csv.read_text(encoding="utf-8") + "old,,no\n"
    facts = facts_of("convert", written(csv, text), csv.with_name(name))
    assert (facts["kind"], facts["variables"], facts["rows"]) == ("table", 3, 101)
    good("convert", csv.with_name(name), csv.with_name("back.csv"))
    assert csv.with_name("back.csv").read_text(encoding="utf-8") == text


def test_arff_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "t.arff", "@relation r\n@attribute a {x,y}\n@data\nx\ny\n")
    good("convert", path, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").split() == ["a", "x", "y"]


def test_tables_can_be_cut_and_cleaned_on_the_way(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "x,y\n1,a\n2,\n3,b\n4,a\n")
    good("convert", path, tmp_path / "t.parquet", "--bins", "x=2", "--missing", "drop")
    assert fn.read_table(tmp_path / "t.parquet") == fn.read_table(path, bins={"x": 2}, missing="drop")


def test_what_a_format_cannot_carry_is_noted_on_one_line(tmp_path: Path) -> None:
    net = coin("a b", ["x, y", "z"])
    ended = good("convert", saved(net, tmp_path), tmp_path / "m.bif")
    assert ended.err.startswith("fishernet: note: ")
    assert ended.err.count("\n") == 1
    assert fn.read_bif(tmp_path / "m.bif") == net
