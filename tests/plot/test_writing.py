"""Drawings in files."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import fishernet as fn
from fishernet.plot.tooltips import check_picture_path

BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_a_file_of_each_kind_is_written_the_same_every_time(tmp_path: Path, suffix: str) -> None:
    net = fn.datasets.load("asia")
    for name in ("a", "b"):
        fn.plot.write_graph(net, tmp_path / f"{name}{suffix}")
    first = (tmp_path / f"a{suffix}").read_bytes()
    assert first.startswith(BEGINNINGS[suffix])
    assert len(first) > 1000
    assert (tmp_path / f"b{suffix}").read_bytes() == first
    fn.plot.write_graph(net, tmp_path / f"b{suffix}", labels=False)
    assert (tmp_path / f"b{suffix}").read_bytes() != first


def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    graph = fn.datasets.load("alarm").dag.skeleton()
    fn.plot.write_graph(graph, tmp_path / "here.svg")
    script = "import sys, fishernet as fn; fn.plot.write_graph(fn.datasets.load('alarm').dag.skeleton(), sys.argv[1])"
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "there.svg")], check=True)
    assert (tmp_path / "there.svg").read_bytes() == (tmp_path / "here.svg").read_bytes()


def test_other_endings_are_refused_and_nothing_is_left_behind(tmp_path: Path) -> None:
    net = fn.datasets.load("asia")
    for name in ("x.jpg", "x", "x.svg.gz"):
        with pytest.raises(fn.FileFormatError, match=r"ending in \.png, \.svg, \.pdf"):
            fn.plot.write_graph(net, tmp_path / name)
    with pytest.raises(fn.FileFormatError, match="cannot be written"):
        fn.plot.write_graph(net, tmp_path / "nowhere" / "x.svg")
    assert list(tmp_path.iterdir()) == []
    check_picture_path("fine.PNG")


def test_without_matplotlib_a_sentence_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name))
    for draw in (
        lambda: fn.plot.write_graph(fn.datasets.load("asia"), tmp_path / "x.svg"),
        lambda: fn.plot.graph(fn.datasets.load("asia")),
        lambda: check_picture_path("x.png"),
        lambda: fn.plot.theme("dark").__enter__(),
    ):
        with pytest.raises(fn.FishernetError, match=r'pip install "fishernet\[plot\]"'):
            draw()
