"""The study of summaries, on tiny sizes: losses by their definition, and what the report says of sizes and print."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies import summarize as study
from studies.study import Run, Table
from studies.subsets import SIZES


def test_the_loss_is_minus_the_mean_log_probability() -> None:
    test = fn.Table.from_codes([[0], [0], [1]])
    model = fn.learn.parameters(fn.Dag(["v0"], [[]]), fn.Table.from_codes([[0], [1], [1]]))
    expected = -(2 * np.log(2 / 5) + np.log(3 / 5)) / 3
    (found,) = study.loss(test)(model)
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_graph_is_the_climbs_from_nothing() -> None:
    """Two columns that are equal are joined, one that is independent of both is not."""
    codes = np.array([[a, a, b] for a in (0, 1) for b in (0, 1)] * 10)
    assert study.structure(fn.Table.from_codes(codes)).n_edges == 1


@pytest.mark.parametrize(("rows", "share", "expected"), [(75, 10, 8), (75, 30, 22), (4, 10, 1), (16_280, 10, 1_000)])
def test_sizes_are_shares_of_the_rows_with_a_limit(rows: int, share: int, expected: int) -> None:
    assert study.size(rows, share) == expected


def test_there_are_thirty_other_tables() -> None:
    assert len(study.SOURCES) == 30
    assert len({source.file for source in study.SOURCES.values()}) == 30


def test_printed_seconds_stand_at_the_smallest_and_largest_size() -> None:
    class Never:
        def seconds(self, way: str, at: int) -> list[float]:
            del way, at
            return [1.0]

    cells = {k: list(study.seconds("letter", Never(), 0, k)) for k in SIZES}  # type: ignore[arg-type]
    assert [cells[k][1].get("published") for k in SIZES] == [42, None, None, 1_140]
    assert [cells[k][-1] for k in SIZES] == [45, None, None, 101]


def test_the_other_tables_are_drawn_even_where_few_rows_do_better_than_all(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    heads = ["table", "% chosen", "all rows", "MMD", "random"]
    rows = [["a", share, 1.0, {"mean": 0.9}, {"mean": 1.3}] for share in study.SHARES]
    study.thirty(Table("everywhere", heads, rows), tmp_path / "it.svg")
    assert (tmp_path / "it.svg").stat().st_size > 1_000


@pytest.mark.slow
def test_the_quick_form_needs_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(study, "SIZES", (50, 100, 700, 1_000))
    monkeypatch.setattr(study, "three", lambda _: {"nursery": None})
    tables = {table.name: table for table in study.compute(Run("quick", asked_repetitions=2))}
    assert set(tables) == {"losses", "margins", "weights", "seconds", "kernel-seconds"}
    for row in tables["margins"].rows:
        assert row[2]["mean"] > 0  # random rows are the worse
    study.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert {path.stem for path in tmp_path.iterdir()} == {"figure-1"}
