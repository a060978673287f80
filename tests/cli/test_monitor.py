from __future__ import annotations

import json
from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import ASIA, facts_of, good, refused, run, written

SMOKERS = fn.infer.intervene(ASIA, {"smoke": "yes"})
OPTIONS = ("--permutations", 99)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A reference, a batch like it, and one in which all smoke and a column is gone."""
    tables = [ASIA.sample(1000, seed=1), ASIA.sample(300, seed=2), SMOKERS.sample(300, seed=3)]
    paths = [tmp_path / f"{k}.csv" for k in range(3)]
    for path, rows in zip(paths, tables, strict=True):
        frame = rows.to_frame().to_pandas()
        (frame.drop(columns="xray") if path == paths[2] else frame).to_csv(path, index=False)
    return paths


def test_a_line_of_json_a_batch_says_what_the_library_does(files: list[Path]) -> None:
    lines = [json.loads(line) for line in good("monitor", *files, *OPTIONS).out.splitlines()]
    reference, *batches = map(fn.read_table, files)
    monitor = fn.compare.Monitor(reference, permutations=99, seed=0)
    for line, path, batch in zip(lines, files[1:], batches, strict=True):
        found = monitor.update(batch)
        assert (line["file"], line["alarm"], line["rows"]) == (str(path), found.alarm, found.n_rows)
        assert (line["changed"], line["vanished"]) == (list(found.changed()), list(found.vanished))
    assert [line["alarm"] for line in lines] == [False, True]
    assert lines[1]["vanished"] == ["xray"]
    assert facts_of("monitor", *files, *OPTIONS)["batches"] == lines


def test_several_later_tables_have_a_line_each(files: list[Path]) -> None:
    words = ("compare", *files, *OPTIONS)
    first, second = good(*words).out.splitlines()
    assert first == f"{files[1]}: no evidence of a change"
    assert second.startswith(f"{files[2]}: a change (")
    facts = facts_of(*words)
    assert [batch["after"] for batch in facts["batches"]] == list(map(str, files[1:]))
    assert facts["batches"][0]["changed"] == []
    assert [missing["variable"] for missing in facts["batches"][1]["missing"]] == ["xray"]


@pytest.mark.parametrize("command", ["compare", "monitor"])
def test_the_exit_status_says_whether_something_changed_if_asked(command: str, files: list[Path]) -> None:
    assert run(command, *files, *OPTIONS).status == 0
    assert run(command, *files, *OPTIONS, "--exit-code").status == 3
    assert run(command, *files[:2], *OPTIONS, "--exit-code").status == 0
    assert run(command, files[0]).status == 2


def test_what_is_for_two_tables_is_refused_for_more(files: list[Path], tmp_path: Path) -> None:
    assert "--plot is for two tables" in refused("compare", *files, "--plot", tmp_path / "x.svg")
    assert "named twice" in refused("compare", files[0], files[1], files[1])
    (tmp_path / "other.csv").write_text("q\na\nb\n")
    assert "none of the reference's columns" in refused("monitor", files[0], tmp_path / "other.csv")


def test_a_monitor_goes_on_from_its_state(files: list[Path], tmp_path: Path) -> None:
    """Batch after batch in a process each is as all in one: the level goes on, and the graph is the same."""
    state, rest = tmp_path / "state.json", (*OPTIONS, "--state", tmp_path / "state.json")
    at_once = [json.loads(line) for line in good("monitor", *files, *OPTIONS).out.splitlines()]
    one_by_one = [json.loads(good("monitor", files[0], path, *rest).out) for path in files[1:]]
    assert one_by_one == at_once
    assert json.loads(state.read_text())["batches"] == 2
    assert "another reference" in refused("monitor", files[1], files[2], *rest)
    renamed = written(tmp_path / "renamed.csv", files[0].read_text().replace("yes", "ja").replace("no", "nein"))
    assert "another reference" in refused("monitor", renamed, files[2], *rest)
    assert "level=0.05" in refused("monitor", files[0], files[2], *rest, "--level", 0.01)
    net = tmp_path / "other.json"
    fn.save(fn.learn.parameters(fn.Dag.from_edges(ASIA.names, []), fn.read_table(files[0])), net)
    assert "another graph" in refused("monitor", files[0], files[2], *rest, "--model", net)
    assert json.loads(state.read_text())["batches"] == 2
    state.write_text("a,b\n1,2\n")
    assert "no state of a monitor" in refused("monitor", files[0], files[2], *rest)
