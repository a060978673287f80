"""Undirected graphs in the model file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from tests.files.hostile import texts

# A file of version 1, kept as it was: every later version must read it.
VERSION_1 = """{
"format": "fishernet",
"version": 1,
"kind": "UndirectedGraph",
"names": [
  "a",
  "b, c",
  "\\n"
],
"edges": [
  [0, 2],
  [1, 2]
]
}
"""
GRAPH = fn.UndirectedGraph.from_edges(["a", "b, c", "\n"], [("\n", "a"), ("b, c", "\n")])


@st.composite
def graphs(draw: st.DrawFn) -> fn.UndirectedGraph:
    names = draw(st.lists(texts(), max_size=6, unique=True))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    return fn.UndirectedGraph.from_edges(names, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@given(graphs())
def test_a_graph_comes_back(graph: fn.UndirectedGraph) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fn.save(graph, Path(folder, "a.json.gz"))
        assert fn.load(Path(folder, "a.json.gz")) == graph


def test_files_of_the_first_version_are_read_and_still_written(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(VERSION_1, encoding="utf-8")
    assert fn.load(tmp_path / "old.json") == GRAPH
    fn.save(GRAPH, tmp_path / "new.json")
    assert (tmp_path / "new.json").read_text(encoding="utf-8") == VERSION_1


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("names", ["a", "b", 3], r"names\[2\]: expected a text, got 3"),
        ("names", ["a", "b", "\ud800"], r"names\[2\]: .* holds half of a surrogate pair"),
        ("names", ["a", "b", "a"], "'a' appears more than once"),
        ("names", "abc", "names: expected a list"),
        ("edges", [[0, 2], [0, 3]], r"edges\[1\]: the positions must be ascending and below 3, got 0 and 3"),
        ("edges", [[1, 0]], r"edges\[0\]: the positions must be ascending"),
        ("edges", [[-1, 0]], r"edges\[0\]: the positions must be ascending"),
        ("edges", [[1, 1]], r"edges\[0\]: the positions must be ascending"),
        ("edges", [[0, 1, 2]], r"edges\[0\]: expected \[position, position\], got a list of 3"),
        ("edges", [[0, 1.0]], r"edges\[0\]: expected \[position, position\]"),
        ("edges", [[True, 2]], r"edges\[0\]: expected \[position, position\]"),
        ("edges", [[0, 1], [0, 1]], "more than once"),
        ("more", 1, "unknown field 'more'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str, value: Any, message: str) -> None:
    described = json.loads(VERSION_1) | {name: value}
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(fn.FileFormatError, match=message) as caught:
        fn.load(path)
    assert "wrong.json" in str(caught.value)


def test_half_a_surrogate_pair_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(fn.SchemaError, match="surrogate"):
        fn.save(fn.UndirectedGraph.from_edges(["\ud800"], []), tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []
