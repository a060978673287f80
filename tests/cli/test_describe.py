"""``fishernet describe``, and what is said of how a table is read."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import COMMAND, facts_of, good, refused, written

ROWS = "".join(f'"p,{i}",{18 + i % 60},w{i % 3},2021-03-{1 + i % 28:02}\n' for i in range(200))
PEOPLE = "id,age,ward,day\n" + ROWS


def test_each_column_is_described_with_the_options_that_overrule(tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", PEOPLE)
    said = good("describe", path)
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines[0] == "200 rows, 3 columns"
    [age] = [line for line in lines if line.startswith("age continuous")]
    assert age.endswith("18 to 77 0 numbers --bins age=4 or --categorical age")
    [day] = [line for line in lines if line.startswith("day continuous")]
    assert day.endswith("2021-03-01 to 2021-03-28 0 dates, in days since 1970 --bins day=4 or --categorical day")
    assert "id left out 0 200 different texts in 200 rows: an identifier --categorical id" in lines
    assert "is an identifier and is left out" in said.err


def test_what_a_shell_would_take_apart_is_quoted(tmp_path: Path) -> None:
    rows = "".join(f"{i / 7},{i % 3},x\n" for i in range(30))
    path = written(tmp_path / "t.csv", '"P(<= 2)","a,b",it\'s\n' + rows)
    out = good("describe", path).out
    typed = [shlex.split(line.partition(" --")[2]) for line in out.splitlines()[2:5]]
    assert [words[1] for words in typed] == ["P(<= 2)=4", '"a,b"', "it's"]
    assert facts_of("describe", path, "--continuous", typed[1][1])["columns"][1]["kind"] == "continuous"


def test_the_options_overrule(tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", PEOPLE)
    facts = facts_of("describe", path, "--categorical", "id,age", "--exclude", "ward", "--bins", "day=2")
    assert {c["name"]: c["kind"] for c in facts["columns"]} == dict.fromkeys(["id", "age", "day"], "categorical")
    facts = facts_of("describe", path, "--columns", "ward,age", "--bins", "4", "--bins", "age=2")
    assert [c["holds"] for c in facts["columns"]] == ["'<= 44', '> 44'", "'w0', 'w1', 'w2'"]
    assert facts["rows"] == 200


@pytest.mark.parametrize("command", ["describe", "learn"])
def test_text_files_of_other_lands(tmp_path: Path, command: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("län;pris\nskåne;1.234,5\nblekinge;-\nskåne;7,25\n".encode("latin-1"))
    words = ["--encoding", "latin-1", "--delimiter", ";", "--decimal", ",", "--thousands", ".", "--na-values", "-"]
    if command == "describe":
        for options in (words, []):
            columns = facts_of(command, path, *options)["columns"]
            assert [(c["holds"], c["missing"]) for c in columns] == [("'blekinge', 'skåne'", 0), ("7.25 to 1234.5", 1)]
    else:
        assert facts_of(command, path, *words, "--exclude", "pris", "--holdout", 0)["variables"] == ["län"]


def holes(tmp_path: Path) -> Path:
    """Blood is taken in ward B for every second patient; the weight of every fifth is not known."""
    rows = [(i, "AB"[i % 2], "" if i % 4 == 1 else i % 7, "" if i % 5 == 0 else 50 + i % 40) for i in range(400)]
    lines = [",".join(map(str, row)) for row in [("id", "ward", "blood", "weight"), *rows]]
    return written(tmp_path / "holes.csv", "\n".join(lines) + "\n")


def test_what_missing_cells_depend_on_is_told_below(tmp_path: Path) -> None:
    path = holes(tmp_path)
    table, odd, plan, below = good("describe", path, "--exclude", "id", "--bins", "none").out.split("\n\n", 3)
    assert "copies of another row" in odd
    assert "100 rows lack 'blood', 80 rows lack 'weight': learned by EM" in " ".join(plan.split())
    assert table.splitlines()[0] == "400 rows, 3 columns"
    said = " ".join(below.split())
    assert said.startswith("Missing cells: not completely at random. In 1 of 2 columns with missing cells")
    assert "- `blood` is missing in 25 % of rows, more often where `ward` is 'B' (50 % against 0 %, p = " in said
    assert "- no dependence found: `weight`" in said
    assert said.endswith("because of their own values (not at random).")
    assert max(map(len, below.splitlines())) <= 100
    assert not any(line.startswith(("%", "= ", "< ")) for line in below.splitlines())


def test_what_missing_cells_depend_on_is_among_the_facts(tmp_path: Path) -> None:
    path = holes(tmp_path)
    facts = facts_of("describe", path, "--exclude", "id")["missingness"]
    assert facts["against_completely_at_random"] is True
    assert facts["alpha"] == 0.05
    assert facts["verdict"].startswith("Not completely at random: `blood` is missing more often where `ward` is 'B'")
    blood, weight = facts["columns"]
    assert (blood["name"], blood["missing"], blood["depends_on"], weight["depends_on"]) == ("blood", 100, 1, 0)
    assert (blood["strongest"]["other"], blood["strongest"]["share"]) == ("ward", 0.5)
    found = fn.independence.missingness(fn.read_table(path, exclude=["id"]))
    assert blood["strongest"]["p_value"] == pytest.approx(found.columns[0].strongest.p_value)  # type: ignore[union-attr]


def test_of_a_table_without_missing_cells_nothing_is_said(tmp_path: Path) -> None:
    path = holes(tmp_path)
    for words in (["--missing", "drop", "--bins", 3], ["--missing", "state", "--bins", 3], ["--columns", "ward"]):
        assert "issing cells" not in good("describe", path, *words).out
        facts = facts_of("describe", path, *words)["missingness"]
        assert (facts["against_completely_at_random"], facts["columns"]) == (False, [])


def test_a_table_comes_through_standard_input() -> None:
    found = subprocess.run([*COMMAND, "describe", "-"], input=PEOPLE, capture_output=True, text=True, check=True)
    assert found.stdout.startswith("200 rows, 3 columns")


def test_words_for_missing_cells_of_one_column(tmp_path: Path) -> None:
    rows = "".join(f"{(0, 1, 9)[i % 3]},{i % 10},{-99 if i % 20 == 0 else i % 50}\n" for i in range(300))
    path = written(tmp_path / "t.csv", 'children,n,"x,y"\n' + rows)
    said = good("describe", path)
    assert "type --na-values '\"x,y=-99\"' to read such cells as missing" in said.err
    words = ["--na-values", "children=9,8", "--na-values", "", "--na-values", '"x,y=-99"']
    columns = facts_of("describe", path, *words)["columns"]
    assert {c["name"]: c["missing"] for c in columns} == {"children": 100, "n": 0, "x,y": 15}
    assert "there is no column 'child', as na_values asks" in refused("describe", path, "--na-values", "child=9")
    cut = facts_of("learn", path, *words, "--missing", "state", "--holdout", 0)
    assert "children" in cut["variables"]


def test_what_is_odd_is_told_and_a_page_is_written(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a,b<i>\n" + "x,1\ny,2\n" * 30)
    said = good("describe", path, "--html", tmp_path / "t.html").out
    assert "58 rows are copies of another row" in said
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "58 rows are copies" in page
    assert "b&lt;i&gt;" in page
    assert "b<i>" not in page
    assert facts_of("describe", path)["alerts"]


def test_lines_that_are_too_long_for_a_terminal_are_broken_in_two() -> None:
    table = fn.Table.from_frame({"ward": ["north", "south"] * 20, "age": [float(i) / 3 for i in range(40)]})
    wide, narrow = table.describe().text(lambda _: "--exclude it"), table.describe().text(lambda _: "--exclude it", 75)
    assert max(map(len, wide.splitlines())) > 75
    assert max(map(len, narrow.splitlines())) <= 75
    for line in ("ward", "age"):
        assert sum(found.startswith(line) for found in narrow.splitlines()) == 2
