"""The page of benchmarks is what the files of the runs make; a run's file says what is needed to read it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import fishernet as fn
from benchmarks import earlier, edges, exact_ladder, report

FILES = sorted(report.RUNS.glob("*.json"))


def test_the_committed_page_and_picture_are_made_of_the_runs() -> None:
    """Otherwise: ``python -m benchmarks.report``."""
    rows = report.newest_rows()
    assert report.PAGE.read_text(encoding="utf-8") == report.page(rows)
    assert report.PICTURE.read_text(encoding="utf-8") == report.picture(rows)
    assert ElementTree.fromstring(report.picture(rows)).tag.endswith("svg")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_run_says_when_where_and_what(path: Path) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d\d-[\w-]+\.json", path.name)
    run = json.loads(path.read_text(encoding="utf-8"))
    assert path.name.startswith(run["date"])
    assert set(run["machine"]) == {"processor", "cores", "GiB", "system"}
    assert run["versions"]
    for workload in run["workloads"]:
        assert workload["topic"] in report.TOPICS
        who = [(one["who"], one["threads"]) for one in workload["runs"]]
        assert len(set(who)) == len(who), workload["workload"]
        for one in workload["runs"]:
            assert one["seconds"] is None or one["seconds"] > 0
        assert all(isinstance(goal["met"], bool) and goal["wish"] for goal in workload["goals"])


def run_of(date: str, **seconds: float) -> dict[str, Any]:
    runs = [{"who": who.replace("_", " "), "threads": 1, "seconds": time} for who, time in seconds.items()]
    goals = [{"wish": "5 x as fast as pyAgrum", "got": "", "met": False}]
    machine = {"processor": "a processor", "cores": 2, "GiB": 1, "system": "none"}
    workload = {"topic": "climbing", "title": "Hill climbing", "workload": "rows", "goals": goals, "runs": runs}
    return {"date": date, "machine": machine, "versions": {}, "workloads": [workload]}


def test_the_newest_run_of_a_workload_stands_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "RUNS", tmp_path)
    first = report.write_run(run_of("2026-01-02", fishernet=1.0, pyAgrum=2.0), "climbing")
    second = report.write_run(run_of("2026-01-02", fishernet=0.5, pyAgrum=2.0, pgmpy=3.0), "climbing")
    report.write_run(run_of("2025-12-31", fishernet=0.1, pyAgrum=2.0), "climbing")
    assert [first.name, second.name] == ["2026-01-02-01-climbing.json", "2026-01-02-02-climbing.json"]
    assert json.loads(second.read_text()) == run_of("2026-01-02", fishernet=0.5, pyAgrum=2.0, pgmpy=3.0)
    (row,) = report.newest_rows(tmp_path)
    assert (row.ratio, row.wanted_ratio, row.file) == (4.0, 5.0, second.name)
    assert "| rows | 500 ms | pyAgrum: 2 s | 4 x | 5 x as fast as pyAgrum, **missed** | [2026-01-02]" in report.page(
        [row]
    )


def test_a_form_of_ours_is_compared_with_the_peers_in_the_same_form() -> None:
    run = run_of("2026-01-02", fishernet=1.0)
    contenders = {"fishernet": 1.0, "fishernet (matrix)": 2.0, "goodpoints (matrix)": 3.0, "goodpoints (features)": 8.0}
    contenders |= {"pyAgrum (one core held)": 0.5}
    workload = run["workloads"][0]
    workload["runs"] = [{"who": who, "threads": 0, "seconds": time} for who, time in contenders.items()]
    plain, matrix = report.rows_of(run, workload, "file")
    assert plain.peer == {"who": "goodpoints (matrix)", "threads": 0, "seconds": 3.0}
    assert matrix.ratio == 1.5
    assert not matrix.goals


def test_what_is_neither_a_folder_nor_a_revision_is_refused() -> None:
    with pytest.raises(ValueError, match="'nowhere' is neither a folder nor a revision of git"):
        earlier.tree_of("nowhere")


@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")  # numbers are cut
def test_what_is_said_of_edges_is_held_to_the_graph_and_to_all_graphs() -> None:
    network, ledger = fn.datasets.load("asia"), edges.Ledger()
    few = ["asia", "tub", "smoke", "lung", "bronc"]
    graph = fn.Dag.from_edges(few, [("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc")])
    for case in (edges.Case("asia", network.sample(40, seed=1).select(few), graph), edges.numbers(0)):
        cells = ledger.measure(case).split("|")[1:-1]
        assert len(cells) == edges.HEAD[0].count("|") - 1
        if case.name == "asia":
            assert float(cells[-1]) < 0.08  # sums over all graphs
    assert ledger.summary()[0].startswith("All 2 tables")


def test_a_rung_of_the_ladder_says_what_is_proven() -> None:
    rung = exact_ladder.climb("asia", fn.datasets.load("asia").sample(200, seed=1), "bic", 2)
    assert rung.exact == pytest.approx(rung.default, abs=1e-6)
    cells = [cell.strip() for cell in rung.line().split("|")[1:-1]]
    assert len(cells) == exact_ladder.HEAD[0].count("|") - 1
    assert cells[:4] == ["asia", "200 x 8", "bic", "2"]
    assert cells[8] == "proven"
