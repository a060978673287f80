from __future__ import annotations

from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import good, refused


def test_a_model_comes_back_from_bif(model: Path, tmp_path: Path) -> None:
    good("convert", model, tmp_path / "m.bif.gz")
    ended = good("convert", tmp_path / "m.bif.gz", tmp_path / "back.json", "--json")
    assert fn.load(tmp_path / "back.json") == fn.load(model)
    assert (ended.facts["kind"], ended.facts["variables"]) == ("model", 3)


@pytest.mark.parametrize("name", ["t.tsv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_a_table_comes_back_with_its_missing_cells(csv: Path, name: str) -> None:
    csv.write_text(csv.read_text(encoding="utf-8") + "old,,no\n", encoding="utf-8")
    facts = good("convert", csv, csv.with_name(name), "--json").facts
    assert (facts["kind"], facts["rows"]) == ("table", 101)
    good("convert", csv.with_name(name), csv.with_name("back.csv"))
    assert csv.with_name("back.csv").read_text(encoding="utf-8") == csv.read_text(encoding="utf-8")


def test_arff_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text("@relation r\n@attribute a {x,y}\n@data\nx\ny\n", encoding="utf-8")
    good("convert", tmp_path / "t.arff", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").split() == ["a", "x", "y"]


def test_tables_can_be_cut_and_cleaned_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,\n3,b\n4,a\n", encoding="utf-8")
    good("convert", path, tmp_path / "t.parquet", "--bins", "x=2", "--missing", "drop")
    assert fn.read_table(tmp_path / "t.parquet") == fn.read_table(path, bins={"x": 2}, missing="drop")


def test_what_a_format_cannot_carry_is_noted_on_one_line(tmp_path: Path) -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("a b", ["x, y", "z"])], {}, {"a b": [0.5, 0.5]})
    fn.save(net, tmp_path / "m.json")
    ended = good("convert", tmp_path / "m.json", tmp_path / "m.bif")
    assert ended.err.startswith("fishernet: note: ")
    assert ended.err.count("\n") == 1
    assert fn.read_bif(tmp_path / "m.bif") == net


def test_bad_input_is_one_sentence(model: Path, csv: Path, tmp_path: Path) -> None:
    assert "cannot be turned into a table" in refused("convert", model, tmp_path / "x.csv")
    assert "cannot be turned into a model" in refused("convert", csv, tmp_path / "x.json")
    assert "by the path's ending" in refused("convert", csv, tmp_path / "x.arff")
    assert "no such file" in refused("convert", tmp_path / "nope.csv", tmp_path / "x.parquet")
    assert "no directory" in refused("convert", tmp_path / "nope.csv", tmp_path / "nowhere" / "x.parquet")
    assert "no such file" in refused("convert", tmp_path / "nope.bif", tmp_path / "x.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "patients.csv"]
