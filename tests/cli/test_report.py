from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import ASIA, ROWS, facts_of, good, refused, saved, written
from tests.networks import with_holes


def test_the_page_is_that_of_the_library(asia: Path, rows: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert good("report", rows, "--model", asia, "--target", "lung", "--title", "Lungs", "-o", page).out == ""
    expected = fn.report(fn.read_table(rows, schema=ASIA.variables), fn.load(asia), target="lung", title="Lungs")
    assert page.read_text(encoding="utf-8") == expected.html
    assert good("report", rows, "--model", asia, "--target", "lung", "--title", "Lungs", "-o", "-").out == expected.html


def test_the_title_is_the_name_of_the_file(rows: Path) -> None:
    facts = facts_of("report", rows)
    assert facts["title"] == rows.name
    assert facts["rows"] == ROWS.n_rows
    assert facts["variables"] == list(ROWS.names)
    assert facts["left_out"] == {}
    assert f"<title>{rows.name}</title>" in facts["html"]
    assert facts["bytes"] == len(facts["html"].encode())


def test_what_changed_is_told(asia: Path, rows: Path, tmp_path: Path) -> None:
    smokers = fn.infer.intervene(ASIA, {"smoke": "yes"}).sample(300, seed=5)
    fn.write_table(smokers, tmp_path / "smokers.csv")
    html = facts_of("report", rows, "--compare-with", tmp_path / "smokers.csv")["html"]
    assert "The two tables differ" in html
    of_model = facts_of("report", rows, "--model", asia, "--compare-with", rows)["html"]
    assert "There is no evidence that the two tables differ" in of_model


@pytest.mark.parametrize("words", [[], ["--bins", "3"], ["--bins", "size=3", "--binning", "equal-width"]])
def test_numbers_of_a_later_table_are_cut_as_those_of_the_first(words: list[str], tmp_path: Path) -> None:
    draws = np.random.default_rng(1)
    for name, shift in (("before", 0.0), ("after", 2.0)):
        sizes = [f"{'ab'[n % 2]},{size}\n" for n, size in enumerate(draws.normal(shift, size=200).tolist())]
        written(tmp_path / f"{name}.csv", "kind,size\n" + "".join(sizes))
    facts = facts_of("report", tmp_path / "before.csv", "--compare-with", tmp_path / "after.csv", *words)
    assert facts["left_out"] == {}
    assert "<b>size</b>" in facts["html"].partition("The two tables differ")[2]


def test_missing_cells_are_summed_out(asia: Path, tmp_path: Path) -> None:
    fn.write_table(with_holes(ASIA, 300, seed=1, missing=0.1), tmp_path / "holes.csv")
    assert facts_of("report", tmp_path / "holes.csv", "--model", asia)["left_out"] == {}


def test_markup_stays_text(tmp_path: Path) -> None:
    lines = [f"</script><script>alert({n % 3})</script>,<b>{n % 2}</b>" for n in range(60)]
    table = written(tmp_path / "t.csv", "<script>,</script>\n" + "\n".join(lines) + "\n")
    html = facts_of("report", table)["html"]
    assert html.count("<script") == 2
    assert "<b>0</b>" not in html


def test_refusals_are_one_sentence(asia: Path, rows: Path, tmp_path: Path) -> None:
    assert "unknown target 'cough'" in refused("report", rows, "--model", asia, "--target", "cough")
    assert "(option --target)" in refused("report", rows, "--target", "cough")
    assert "there is no directory" in refused("report", rows, "-o", tmp_path / "none" / "page.html")
    graph = saved(fn.UndirectedGraph.from_edges(ASIA.names, []), tmp_path / "graph.json")
    assert "this is an undirected graph; a model is needed" in refused("report", rows, "--model", graph)
    told = refused("report", rows, "--model", asia, "--bins", "3")
    assert told == "--bins is for tables without a model; a model knows where to cut"
    assert "there is no row" in refused("report", written(tmp_path / "empty.csv", "a,b\n"))


@pytest.mark.parametrize("word", ["--bins", "--seed", "--compare-with"])
def test_help_tells_the_options(word: str) -> None:
    assert word in good("report", "--help").out


def test_columns_that_heap_up_stay_numbers_where_that_is_asked(tmp_path: Path) -> None:
    draws = np.random.default_rng(1)
    hours = np.where(draws.random(200) < 0.4, 0.0, draws.normal(40, 5, 200).round(1)).tolist()
    path = written(tmp_path / "t.csv", "kind,hours\n" + "".join(f"{'ab'[n % 2]},{x}\n" for n, x in enumerate(hours)))
    assert "<b>hours</b>) were cut into bins" in facts_of("report", path)["html"]
    for words in (["--bins", "none"], ["--compare-with", path, "--bins", "none"]):
        assert "were cut into bins" not in facts_of("report", path, *words)["html"]


def test_without_a_file_the_page_is_named_as_the_table(
    rows: Path, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # a page of its own is written again
        assert good("report", rows, "--model", asia).out == f"written: {rows.stem}.html\n"
    page = tmp_path / f"{rows.stem}.html"
    assert page.read_text(encoding="utf-8") == good("report", rows, "--model", asia, "-o", "-").out
    page.write_text("mine", encoding="utf-8")
    assert good("report", rows, "--model", asia).out == f"written: {rows.stem}-report.html\n"
    (tmp_path / f"{rows.stem}-report.html").write_text("mine, too", encoding="utf-8")
    assert "are no pages of this command" in refused("report", rows, "--model", asia)
    assert page.read_text(encoding="utf-8") == "mine"
