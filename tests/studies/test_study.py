"""What the studies share: means, results as JSON, tables as Markdown, figures, and that reports quote their results."""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from studies import figures, subsets
from studies.missing import experiments as missing
from studies.study import DOCS, OTHER_SEEDS, TOLD, Run, Seeds, Table, main, mean, moved, read, workers, write
from studies.tables import markdown, second_seed, short, with_tables

REPORTS = Path(__file__).parents[2] / DOCS
PAGES = sorted(page for page in REPORTS.glob("*.md") if page.stem != "index")
nan = np.nan


def test_means_are_of_the_values_that_there_are() -> None:
    error = np.std([1, 3, 8], ddof=1) / np.sqrt(3)
    assert mean([1.0, 3.0, nan, 8.0], usual=3) == {"mean": 4.0, "error": pytest.approx(error)}
    assert mean([2.0, nan], usual=2, published=2.5) == {"mean": 2.0, "n": 1, "published": 2.5}
    assert mean([nan, nan]) is None


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    table = Table("it", ["a", "b"], [["x", {"mean": 1 / 3, "n": 2}], [1, [0.25, 1.0]], [nan, None]], ".1f")
    write(tmp_path / "new" / "it.json", {"study": "it", "seconds": 1.5}, [table])
    header, (found,) = read(tmp_path / "new" / "it.json")
    assert header == {"study": "it", "seconds": 1.5}
    assert found.rows == [["x", {"mean": 0.33333333, "n": 2}], [1, [0.25, 1.0]], [None, None]]
    assert (found.name, found.columns, found.format) == ("it", ["a", "b"], ".1f")


def test_cells_as_markdown() -> None:
    cells = [1234, 0.5, None, "text", [1.0, 2.0], {"mean": 1.0, "error": 0.25, "published": 1.5}, {"mean": 2.0, "n": 3}]
    table = Table("it", [f"c{k}" for k in range(7)], [cells], best=True)
    last = markdown(table).splitlines()[-1]
    assert last == "| 1,234 | 0.50 | - | text | 1.00 2.00 | **1.00 ± 0.25** (1.50) | 2.00 (3) |"
    assert [short(value) for value in (0.0, 0.0045, 0.1, 12.34)] == ["0", "4.5E-3", "0.100", "12.3"]


def test_only_the_chosen_rows_are_printed() -> None:
    table = Table("it", ["name", "n"], [["a", 1], ["b", 2], ["c", 1]], only=(1,))
    assert markdown(table).splitlines()[2:] == ["| a | 1 |", "| c | 1 |"]


def test_a_second_seed_is_another_in_every_process_and_keeps_its_results_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds, kept = Seeds({"rows": 7}), tmp_path / "kept"
    monkeypatch.setenv(OTHER_SEEDS, "0")
    assert (seeds["rows"], moved(3)) == (7, 3)
    assert list(Run(keep=kept).map(moved, [(3,)])) == [3]
    monkeypatch.setenv(OTHER_SEEDS, "2")
    assert seeds["rows"] - 7 == moved(3) - 3 > 2
    assert list(Run(keep=kept).map(moved, [(3,)])) == [moved(3)]
    with workers(2) as pool:
        assert list(Run(workers=pool).map(moved, [(3,), (4,)])) == [moved(3), moved(4)]
    assert dict(seeds) == {"rows": 7}


def test_means_of_other_seeds_are_compared_by_the_errors_of_both() -> None:
    def cell(middle: float, error: float) -> dict[str, float]:
        return {"mean": middle, "error": error}

    one = Table("it", ["a", "b", "c"], [["x", cell(1.0, 0.3), 5], ["y", cell(2.0, 0.4), None]])
    other = Table("it", ["a", "b", "c"], [["x", cell(2.6, 0.4), 9], ["y", cell(2.0, 0.3), cell(1, 1)]])
    (row,) = second_seed([one, Table("alone", ["a"], [[cell(1, 1)]])], [other]).rows
    assert row == ["it", 2, 1, pytest.approx(1.6 / 0.5)]
    fewer = Table("it", ["a", "c"], [["y", 3], ["x", 2]])
    rows: list[list[Any]] = [["x", cell(5.0, 0.1), 1.5], ["y", cell(2.0, 0.4), None]]
    columns = ["a", "b", "e"]
    (moved,) = second_seed([one], [Table("it", columns, rows[::-1]), fewer][:1]).rows  # by names, in whatever order
    assert moved == ["it", 2, 1, pytest.approx(4.0 / np.hypot(0.3, 0.1))]
    assert second_seed([one], [fewer]).rows == []
    same = Table("it", ["a"], [[cell(1, 0)], [cell(1, 0)]])
    assert second_seed([same], [Table("it", ["a"], [[cell(1, 0)], [cell(2, 0)]])]).rows == [["it", 2, 1, np.inf]]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_reports_quote_all_of_their_results(path: Path) -> None:
    header, tables = read(REPORTS / "results" / f"{path.stem}.json")
    report = path.read_text(encoding="utf-8")
    assert with_tables(report, tables, header) == report
    assert all(f"<!-- table: {table.name} -->" in report for table in tables if not table.name.endswith("-classes"))
    assert header["study"] == path.stem.replace("-", "_")
    for figure in [part.split(")")[0] for part in report.split("](")[1:] if part.startswith("figures/")]:
        assert ElementTree.parse(path.parent / figure).getroot().tag.endswith("svg")


@pytest.mark.parametrize("name", sorted(path.stem.replace("-", "_") for path in PAGES))
def test_the_help_of_every_study_says_how_long_both_forms_take(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [name, "--help"])
    is_folder = (REPORTS.parents[1] / "studies" / name).is_dir()
    module = f"studies.{name}.__main__" if is_folder else f"studies.{name}"
    monkeypatch.delitem(sys.modules, module, raising=False)  # runpy warns of what is imported already
    with pytest.raises(SystemExit):
        runpy.run_module(f"studies.{name}", run_name="__main__")
    said = " ".join(capsys.readouterr().out.split())
    _, _, takes = said.partition("How long: ")
    quick = re.search(r"--quick ([^,;.]*)", takes)
    assert quick, takes
    for part in (quick[1], takes.replace(quick[0], "")):
        assert re.search(r"(s|minutes?|hours?)\b", part), takes


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_mark_of_a_report_is_without_its_table(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"<!-- (?:table: .+|computed) -->\n(?!\|)", text)


def test_a_report_says_what_computed_each_table() -> None:
    part = dict(zip(TOLD, ["0.2", "2026-11-23", "P", 12.4, 3.6, 1, 2, "usual"], strict=True))
    header = {"fishernet": "0.1", "date": "2026-11-21", "seconds": None, "parts": {"x": part | {"tables": ["b", "c"]}}}
    said = with_tables("<!-- computed -->\n| old |\n\nend\n", [Table(name, [], []) for name in "abcd"], header)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines()[1:-2]]
    assert rows[2] == ["a, d", "0.1", "2026-11-21", *["not recorded"] * 6]
    assert rows[3] == ["b, c", "0.2", "2026-11-23", "P", "12", "4", "1", "2", "usual"]
    assert said.endswith("|\n\nend\n")


def square(k: int) -> list[float]:
    return [k**2 / 3]


def test_what_is_kept_is_not_computed_again(tmp_path: Path) -> None:
    keep = tmp_path / "kept.jsonl"
    made: list[int] = []

    def work(k: int) -> list[float]:
        made.append(k)
        return square(k)

    first = list(Run(keep=keep).map(work, [(1,), (2,)]))
    again = list(Run(keep=keep).map(work, [(2,), (3,), (1,)]))
    assert first == [[1 / 3], [4 / 3]]
    assert again == [[4 / 3], [3.0], [1 / 3]]
    assert made == [1, 2, 3]
    assert len(keep.read_text().splitlines()) == 3


def test_kept_seconds_are_the_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep, clocks = tmp_path / "kept.jsonl", iter([10.0, 12.5, 20.0, 21.0])
    monkeypatch.setattr("time.process_time", lambda: next(clocks))
    first = Run(keep=keep)
    assert list(first.map(square, [(1,), (2,)])) == [[1 / 3], [4 / 3]]
    assert first.earlier == []
    lines = [json.loads(line) for line in keep.read_text().splitlines()]
    assert lines == [["square(1,)", [1 / 3], 2.5], ["square(2,)", [4 / 3], 1.0]]
    again = Run(keep=keep)
    assert list(again.map(square, [(2,), (1,), (2,)])) == [[4 / 3], [1 / 3], [4 / 3]]
    assert sum(again.earlier) == 3.5, "what is asked for twice took its time once"


def test_the_time_of_what_was_kept_counts(tmp_path: Path) -> None:
    keep = tmp_path / "kept.jsonl"
    keep.write_text(
        '["square(1,)", [0.5], 20.0]\n["square(2,)", [1.5], 30.0]\n["square(4,)", [0.0], 40.0]\n["square(5,)", [2.5]]\n'
    )
    run = Run(keep=keep)
    assert list(run.map(square, [(2,), (3,), (1,), (5,)])) == [[1.5], [3.0], [0.5], [2.5]]
    assert sum(run.earlier) == 50


def test_the_order_is_that_of_the_tasks_in_several_processes() -> None:
    tasks = [(k,) for k in range(5)]
    with workers(2) as pool:
        assert list(Run(workers=pool).map(square, tasks)) == list(Run().map(square, tasks))


def test_the_command_line_writes_results_under_a_header(tmp_path: Path) -> None:
    def compute(run: Run) -> Iterator[Table]:
        yield Table("it", ["n"], [[run.repetitions(quick=2, usual=5)]])

    path = main(
        "a_study", compute, seeds={"all": 7}, takes="a second", arguments=["--quick", "--output", str(tmp_path)]
    )
    assert path == tmp_path / "results" / "a-study.json"
    header, (table,) = read(path)
    assert table.rows == [[2]]
    assert header["processor_seconds"] >= 0
    expected = {"study": "a_study", "form": "quick", "seeds": {"all": 7}, "settings": {"repetitions": 2}}
    assert expected.items() <= header.items()
    assert {"fishernet", "processor", "threads", "date", "seconds", "processes"} <= header.keys()


@pytest.mark.parametrize(
    "wrong", [["--repetitions", "0"], ["--processes", "0"], ["--quick", "--full"], ["--seed", "1"]]
)
def test_wrong_command_lines_are_refused(wrong: list[str]) -> None:
    with pytest.raises(SystemExit):
        main("it", lambda _: iter([]), seeds={}, takes="a second", arguments=wrong)


LINES = [
    figures.Line("one", [1, 10, 100], [{"mean": 1.0, "error": 0.1, "published": 1.2}, None, {"mean": 3.0}]),
    figures.Line("two", [1, 10, 100], [2.0, 3.0, 1.0], {"linestyle": "--"}),
]


def test_figures_are_the_same_bytes_at_every_run_and_leave_settings_alone(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)
    for name in ("one", "other"):
        figures.lines(tmp_path / name / "it.svg", dict.fromkeys("abcd", LINES), x="rows", y="seconds", log="xy")
        dots = {"a": {"x": {"r": {"mean": 1.0, "error": 0.2}, "s": None}, "y": {"r": {"mean": 2.0}, "s": None}}}
        figures.dots(tmp_path / name / "dots.svg", dots, x="share", line=0.5)
    for name in ("it.svg", "dots.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
        assert ElementTree.parse(tmp_path / "one" / name).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert dict(matplotlib.rcParams) == before


def test_a_legend_is_no_wider_than_its_figure_and_its_rows_are_full() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    shapes = {}
    for n, name in [(1, "alone"), (4, "short"), (4, "a name of middle length"), (6, "a name of middle length")]:
        drawing = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = drawing.add_subplot()
        for k in range(n):
            axes.plot([0, 1], [k, k], label=f"{name} {k}")
        figures.add_legend(drawing, [axes])
        drawing.draw_without_rendering()
        places = [text.get_window_extent().x0 for legend in drawing.legends for text in legend.get_texts()]
        shapes[n, name] = len(set(map(round, places)))
        assert all(legend.get_window_extent().width <= drawing.bbox.width for legend in drawing.legends)
    assert list(shapes.values()) == [0, 4, 2, 2], "so many columns"


@pytest.mark.parametrize("looks", [subsets.LOOKS, missing.LOOKS], ids=["few rows", "missing"])
def test_the_looks_of_a_study_are_told_apart_in_grey_and_read_on_white(looks: dict[str, Any]) -> None:
    """What has one look is never in one figure: EM is structural EM with the graph known."""
    drawn = [look for name, look in looks.items() if name != "EM"]
    assert len({(look["marker"], str(look["linestyle"])) for look in drawn}) == len(drawn)
    assert min(contrast(look["color"]) for look in drawn) >= 4.5


def test_markers_tell_their_numbers_and_lines_differ_without_colours(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figures.lines(tmp_path / "it.svg", {"a": LINES}, x="rows", y="seconds")
    svg = "{http://www.w3.org/2000/svg}"
    told = [one.text for one in ElementTree.parse(tmp_path / "it.svg").getroot().iter(f"{svg}title")]
    assert told[:2] == ["one, rows 1: 1 ± 0.1", "one, rows 100: 3"]
    assert len(told) == 2 + 3
    assert len(set(zip(figures.MARKERS, map(str, figures.STYLES), strict=True))) == len(figures.COLOURS)


@pytest.mark.parametrize("colour", figures.COLOURS)
def test_colours_stand_out_from_white_as_text_must(colour: str) -> None:
    assert contrast(colour) >= 4.5


def contrast(colour: str) -> float:
    """Return the contrast with white by the formula of the Web Content Accessibility Guidelines."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(1.05 / (np.dot([0.2126, 0.7152, 0.0722], linear) + 0.05))


def test_a_part_is_put_into_the_results_that_are_there(tmp_path: Path) -> None:
    def part(run: Run) -> Iterator[Table]:
        del run
        yield Table("b", ["x"], [[2]])

    def whole(run: Run) -> Iterator[Table]:
        yield Table("a", ["x"], [[1]])
        yield from part(run)

    def first(run: Run) -> Iterator[Table]:
        del run
        yield Table("a", ["x"], [[3]])

    parts = {"first": first, "second": part}
    asked = ["--output", str(tmp_path)]
    main("it", whole, seeds={"s": 1}, takes="a second", parts=parts, arguments=asked)
    path = main("it", whole, seeds={"t": 2}, takes="a second", parts=parts, arguments=[*asked, "--part", "second"])
    header, tables = read(path)
    assert [table.name for table in tables] == ["a", "b"]
    assert header["seeds"] == {"s": 1, "t": 2}
    assert header["parts"]["second"]["tables"] == ["b"]
    told = {"fishernet", "processor", "date", "threads", "seconds", "processor_seconds"}
    assert set(header["parts"]["second"]) >= told
    assert set(header) >= told, "the head is of table a"
    main("it", whole, seeds={"t": 2}, takes="a second", parts=parts, arguments=[*asked, "--part", "first"])
    header, tables = read(path)
    assert [table.rows for table in tables] == [[[3]], [[2]]]
    assert set(header) == {"study", "seeds", "parts"}
    assert set(header["parts"]) == {"first", "second"}


def test_a_part_of_which_every_table_is_computed_anew_goes(tmp_path: Path) -> None:
    def of(*names: str) -> Callable[[Run], Iterator[Table]]:
        return lambda _: iter([Table(name, ["x"], [[1]]) for name in names])

    parts = {"old": of("b", "c"), "new": of("b"), "newer": of("c")}
    asked = ["--output", str(tmp_path)]
    path = main("it", of("a", "b", "c"), seeds={}, takes="a second", parts=parts, arguments=asked)
    expected = [{"old": ["b", "c"]}, {"old": ["c"], "new": ["b"]}, {"new": ["b"], "newer": ["c"]}]
    for name, left in zip(parts, expected, strict=True):
        main("it", of(), seeds={}, takes="a second", parts=parts, arguments=[*asked, "--part", name])
        assert {key: held["tables"] for key, held in read(path)[0]["parts"].items()} == left


def positions(path: Path) -> list[tuple[float, float]]:
    """Return where the markers that tell their numbers stand."""
    svg = "{http://www.w3.org/2000/svg}"
    markers = [
        one for one in ElementTree.parse(path).getroot().iter(f"{svg}use") if one.find(f"{svg}title") is not None
    ]
    return [(float(one.get("x", "")), float(one.get("y", ""))) for one in markers]


def test_markers_apart_stand_beside_each_other_and_the_same_axes_at_the_same_height(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    cells = [1.0, 5.0]
    one, other = (figures.Line(name, [10, 100], cells) for name in ("one", "other"))
    panels = {"a": [one, other], "b": [figures.Line("one", [10, 100], [2.0, 9.0])]}
    for apart, same in ((0.0, False), (0.1, True)):
        figures.lines(tmp_path / "it.svg", panels, x="rows", y="edges", log="x", apart=apart, same=same, level=0.0)
        first, second = positions(tmp_path / "it.svg")[:2], positions(tmp_path / "it.svg")[2:4]
        assert all((x < aside) == (apart > 0) for (x, _), (aside, _) in zip(first, second, strict=True))
        assert [y for _, y in first] == [y for _, y in second]
        (_, low), (_, high) = first
        (_, from_two), (_, nine) = positions(tmp_path / "it.svg")[4:]
        step, of_other = (low - high) / 4, (from_two - nine) / 7
        assert (step == pytest.approx(of_other, rel=1e-3)) == same


def test_panels_of_dots_have_the_same_axis_if_asked(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    panels = {name: {"x": {"r": {"mean": 1.0}, "s": {"mean": most}}} for name, most in (("a", 2.0), ("b", 4.0))}
    for same in (False, True):
        figures.dots(tmp_path / "dots.svg", panels, x="share", line=0.5, same=same)
        (one, _), (two, _), (first, _), (four, _) = positions(tmp_path / "dots.svg")
        assert (two - one == pytest.approx((four - first) / 3, rel=1e-3)) == same


def test_nothing_is_written_when_drawing_fails(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with (
        pytest.raises(ZeroDivisionError),
        figures.panels_of(tmp_path / "it.svg", ["a"], x="x", y="y", tips={}) as (axes,),
    ):
        axes.plot([1, 1 / 0])
    assert not list(tmp_path.iterdir())
    assert [figures.plain(value) for value in (0.01, 1.0, 5_000.0)] == ["0.01", "1", "5,000"]
