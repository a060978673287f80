"""Tables in JSON, in the forms in which people have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import fishernet as fn
from tests.cli.running import good, refused

FRAME = pd.DataFrame(
    {
        "name": ["a", "b", "b", "a", "b", "a"],
        "size": [1.5, 2.25, None, 4.0, 8.5, 0.25],
        "seen": ["2023-05-01", "2023-06-02", "2023-06-03", "2024-01-01", "2024-02-02", "2024-03-03"],
        "good": [True, False, True, True, None, False],
    }
)
RECORDS = json.loads(FRAME.to_json(orient="records"))
CELLS = [("m", "x", 1), ("f", "y", 2), ("m", "x", 1)]
EXPECTED = fn.Table.from_frame(FRAME, missing="keep")


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.json", FRAME.to_json(orient="records")),
        ("t.json", FRAME.to_json(orient="records", indent=2)),
        ("t.json", FRAME.to_json(orient="columns")),
        ("t.json", FRAME.to_json(orient="table", index=False)),
        ("t.json", FRAME.set_axis([f"r{i}" for i in FRAME.index]).to_json(orient="index")),
        ("t.json", json.dumps({"data": RECORDS, "count": 6, "next": None})),
        ("t.json", json.dumps({name: [record[name] for record in RECORDS] for name in FRAME})),
        ("t.json", json.dumps([list(FRAME), *[list(record.values()) for record in RECORDS]])),
        ("t.geojson", json.dumps({"type": "FeatureCollection", "features": [{"properties": r} for r in RECORDS]})),
        ("t.json", FRAME.to_json(orient="records", lines=True)),
        ("t.jsonl", FRAME.to_json(orient="records", lines=True)),
        ("t.ndjson", "\ufeff" + FRAME.to_json(orient="records", lines=True).replace("\n", "\r\n\r\n")),
    ],
    ids=range(12),
)
def test_every_form_is_the_same_table(tmp_path: Path, name: str, text: str) -> None:
    path = written(tmp_path / name, text)
    assert fn.read_table(path, missing="keep") == EXPECTED
    stream = fn.scan(path, missing="keep")
    assert stream.variables == EXPECTED.variables
    assert stream.rows_digest() == EXPECTED.rows_digest()


@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_records_in_records_are_columns_and_lists_are_left_out(tmp_path: Path) -> None:
    people = [{"who": {"sex": s, "at": {"city": c}}, "tags": [1], "n": n} for s, c, n in CELLS]
    table = fn.read_table(written(tmp_path / "t.json", [*people, *people]))
    assert table.names == ("who.sex", "who.at.city", "n")


def test_cells_of_several_types_are_text_and_absent_ones_missing(tmp_path: Path) -> None:
    rows = [{"x": 1, "y": "a"}, {"x": "one"}, {"y": "b", "x": None}, {"x": True, "y": "a"}]
    table = fn.read_table(written(tmp_path / "t.json", rows), missing="keep")
    assert table.variables[0].states == ("1", "one", "true")
    assert table.missing_counts() == {"x": 1, "y": 1}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("t.json", '[{"a": 1}, {"a": 2}', "line 1: is no JSON, or broken"),
        ("t.json", '{"a": 1}\n{"a": 2', "line 2: is no JSON, or broken"),
        ("t.jsonl", '{"a": 1}\n\n{"a": }', "line 3: is no JSON, or broken"),
        ("t.json", "[{}]", "holds no table"),
        ("t.json", '[{"a.b": 1, "a": {"b": 2}}]', "has 'a.b' both as a name and as a record within another"),
        ("t.json", "[" + "9" * 5000 + "]", "holds a number of thousands of digits"),
        ("t.json", "[]", "holds no table: that is a list of records"),
        ("t.json", "3", "holds no table"),
        ("t.json", '{"a": 1}', "holds no table"),
        ("t.json", "[1, 2]", "holds no table"),
        ("t.json", '[["a", "b"], [1]]', "holds no table"),
        ("t.json", '{"a": [1, 2], "b": [1]}', "holds no table"),
        ("t.json", "[" * 100_000, "is nested too deeply|is no JSON"),
        ("t.json", '[{"a": "\\ud800"}]', "not Unicode"),
        ("t.json", '[{"\\ud800": 1}]', "not Unicode"),
    ],
)
def test_what_is_no_table_is_one_sentence(tmp_path: Path, name: str, text: str, why: str) -> None:
    with pytest.raises(fn.FileFormatError, match=why):
        fn.read_table(written(tmp_path / name, text))


def test_text_that_is_not_utf_8_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(b'[{"a": "\xe9"}]')
    with pytest.raises(fn.FileFormatError, match=r"is not UTF-8 text \(byte 8\)"):
        fn.read_table(tmp_path / "t.json")


def test_commands_take_tables_and_models_in_json(tmp_path: Path) -> None:
    rows = [{"a": a, "b": b} for a, b in zip("xyxyxxyy" * 5, "uvuvuvvv" * 5, strict=True)]
    table = written(tmp_path / "t.json", rows)
    good("learn", table, "--holdout", 0, "-o", tmp_path / "m.json")
    good("score", tmp_path / "m.json", table)
    good("convert", table, tmp_path / "t.csv")
    assert fn.read_table(tmp_path / "t.csv") == fn.read_table(table)
    assert "holds a model, not a table" in refused("learn", tmp_path / "m.json")
