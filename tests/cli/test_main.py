from __future__ import annotations

import importlib.metadata
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from fishernet.cli.main import fishernet
from tests.cli.running import good, process, run

COMMANDS = ["learn", "score", "sample", "predict", "query", "select", "similar", "compare-graphs", "convert"]


def test_help_lists_the_commands_in_the_order_of_their_use() -> None:
    listed = good("--help").out.partition("Commands:")[2].split("\n")
    assert [line.split()[0] for line in listed if line] == COMMANDS
    assert sorted(fishernet.commands) == sorted([*COMMANDS, "demo"])


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example(command: str) -> None:
    text = good(command, "--help").out
    assert f"\n    fishernet {command} " in text  # on a line of its own, not wrapped into the text
    assert text == good(command, "-h").out


def test_the_example_of_the_whole_stands_on_its_own_lines() -> None:
    assert "\n    fishernet learn patients.csv -o model.json\n" in good("--help").out


def test_version() -> None:
    assert good("--version").out == f"fishernet {importlib.metadata.version('fishernet')}\n"


@pytest.mark.parametrize(
    "words", [[], ["nope"], ["learn"], ["learn", "a.csv", "--nope"], ["learn", "a.csv", "--max-parents", "x"]]
)
def test_a_command_line_that_makes_no_sense_is_status_2(words: list[str]) -> None:
    ended = run(*words)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("Usage: fishernet")


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
