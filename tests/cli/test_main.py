from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import good, process


def test_one_story_on_a_real_table(tmp_path: Path) -> None:
    """From a table to a network, and on from there, as processes that know of each other by files alone."""
    table = fn.datasets.load("nursery")
    fn.write_table(table, tmp_path / "nursery.csv")

    def told(*words: object) -> str:
        ended = process(*words, cwd=tmp_path)
        assert (ended.status, ended.err) == (0, "")
        return ended.out

    out = told("learn", "nursery.csv", "-o", "net.json", "--max-parents", 2)
    net = fn.load(tmp_path / "net.json")
    assert net.n_rows == table.n_rows
    for parent, child in net.dag.edges:
        assert f" {parent} -> {child}\n" in out

    mean = net.log_prob(table).mean()
    assert f"{mean:,.4f}" in told("score", "net.json", "nursery.csv")

    told("sample", "net.json", "-n", 5000, "--seed", 7, "-o", "drawn.csv")
    drawn = fn.read_table(tmp_path / "drawn.csv", schema=net.variables)
    assert drawn == net.sample(5000, seed=7)

    told("convert", "net.json", "net.bif")
    told("convert", "drawn.csv", "drawn.parquet")
    rows = told("score", "net.bif", "drawn.parquet", "--rows").splitlines()
    np.testing.assert_array_equal(np.array(rows, dtype=float), net.log_prob(drawn))

    ended = process("predict", "net.bif", "drawn.parquet", "--target", "class", cwd=tmp_path)
    predicted = net.predict_proba(drawn, "class").argmax(axis=1)
    accuracy = (predicted == drawn.column("class")).mean()
    assert ended.err.startswith(f"accuracy {accuracy:.4f}")
    assert len(ended.out.splitlines()) == 5001


@pytest.mark.parametrize("command", ["", "describe", "learn", "score", "convert"])
def test_help_says_in_five_points_how_a_table_is_read(command: str) -> None:
    out = good(*command.split(), "--help").out
    lines = [line.strip() for line in out.splitlines()]
    start = next(place for place, line in enumerate(lines) if line.startswith("- Text, truth values"))
    assert all(line.startswith("- ") for line in lines[start : start + 5])
    assert all(word in lines[start + 3] for word in ("NA", "N/A", "NaN", "null", "?"))
    assert out.index("- Text, truth") < out.index("Example") < out.index("Options:")
