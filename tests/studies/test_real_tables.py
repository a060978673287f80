"""Every command on small tables: what the pages and the summary hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import real_tables
from tests.cli.running import written

ROWS = "".join(f"{i},p{i},{18 + i % 60},{'' if i % 9 == 0 else 'mf'[i % 2]},{i / 7:.2f},\n" for i in range(150))
COMMANDS = [
    *("describe", "learn", "score", "query", "select", "similar", "cluster", "impute", "predict", "sample"),
    *("compare", "report", "convert"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two tables, with no other tables about."""
    monkeypatch.setattr(real_tables, "frames", lambda: iter(()))
    data = tmp_path / "data"
    data.mkdir()
    written(data / "people.csv", ",id,age,sex,dose,empty\n" + ROWS)
    written(data / "broken.csv", "a,b\n1\n")
    return tmp_path


def run(folder: Path, *words: str) -> int:
    return (
        CliRunner()
        .invoke(real_tables.main, ["--data", str(folder / "data"), "--to", str(folder / "out"), *words])
        .exit_code
    )


@pytest.mark.filterwarnings("ignore")
def test_every_command_runs_and_is_written_down(folder: Path) -> None:
    assert run(folder, "--only", "people") == 0
    found = json.loads((folder / "out" / "summary.json").read_text())
    assert (found["tables"], found["calls"], found["refused"], found["broken"]) == (1, len(COMMANDS) + 1, 0, 0)
    page = (folder / "out" / "people.csv.txt").read_text()
    assert [line.split()[2] for line in page.splitlines() if line.startswith("$ fish")] == [*COMMANDS, "describe"]
    assert "people.csv: 150 rows, 5 columns" in page


@pytest.mark.filterwarnings("ignore")
def test_what_is_refused_is_told(folder: Path) -> None:
    assert run(folder) == 1
    found = json.loads((folder / "out" / "summary.json").read_text())
    assert [(one["table"], one["command"]) for one in found["refusals"]] == [("broken.csv", "describe")]
    assert "line 2" in found["refusals"][0]["said"]
    assert found["broken"] == 0
