"""Graphs drawn by ``fishernet learn``."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import good, refused
from tests.cli.test_learn_gaussian import chain

KINDS = {
    "bn": [],
    "dn": ["--model", "dn"],
    "tan": ["--model", "tan", "--target", "cough"],
    "chow-liu": ["--model", "chow-liu"],
    "markov": ["--model", "markov", "--test", "g-squared"],
}
NUMBERS = {"gaussian": ["--model", "gaussian"], "fractional": ["--score", "fractional"]}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_graph_is_drawn(csv: Path, kind: str) -> None:
    for ending in ("png", "svg", "pdf"):
        path = csv.with_name(f"graph.{ending}")
        facts = good("learn", csv, *KINDS[kind], "--plot", path, "--json").facts
        assert facts["plot"] == str(path)
        assert "plot" in facts["seconds"]
        assert path.stat().st_size > 1000


@pytest.mark.parametrize("kind", NUMBERS)
def test_graphs_of_numbers_are_drawn(tmp_path: Path, kind: str) -> None:
    chain().to_csv(tmp_path / "x.csv", index=False)
    path = tmp_path / "graph.svg"
    assert f"drawn                    {path}\n" in good("learn", tmp_path / "x.csv", *NUMBERS[kind], "--plot", path).out
    assert path.stat().st_size > 1000


def test_it_is_the_graph_that_was_learned(csv: Path) -> None:
    path, model = csv.with_name("graph.svg"), csv.with_name("model.json")
    good("learn", csv, "--plot", path, "-o", model)
    fn.plot.write_graph(fn.load(model).dag, csv.with_name("again.svg"))
    assert path.read_bytes() == csv.with_name("again.svg").read_bytes()


def test_bad_paths_are_refused_before_the_table_is_read(tmp_path: Path) -> None:
    table = tmp_path / "nope.csv"
    assert "ending in .png, .svg, .pdf" in refused("learn", table, "--plot", tmp_path / "graph.jpg")
    assert "no directory" in refused("learn", table, "--plot", tmp_path / "nowhere" / "graph.svg")
    (tmp_path / "folder.svg").mkdir()
    assert "it is a directory" in refused("learn", table, "--plot", tmp_path / "folder.svg")


def test_without_matplotlib_a_sentence_says_how_to_get_it(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name))
    message = refused("learn", csv, "--plot", csv.with_name("graph.svg"))
    assert message == 'drawing needs matplotlib; pip install "fishernet[plot]" installs it'
    good("learn", csv)
