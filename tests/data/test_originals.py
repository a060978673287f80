"""Rows that go back as they came: cells that nobody touched keep their text, words for missing ones included."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from fishernet.data.originals import shown_cells, typed_frame
from fishernet.data.streams.originals import Originals, ScannedOriginals
from fishernet.data.writing import write_frame
from tests.cli.running import good, written

PLAIN = "a,b,c,d\nNA,1,x,-\n?,2,,1.50\n3,null,NA,2.50\n,007,x,N/A\n"
QUOTED = 'a,b\n"one, two",NA\nthree,?\n,"x ""y"""\nNaN,null\n'
KNOWN = {"a": [None, None, 3, None], "b": ["1", "2", None, "007"], "c": ["x", None, None, "x"]}


@pytest.mark.parametrize("text", [PLAIN, QUOTED, "a,b\nx,1\ny,2\n", "a\nNA\n?\nx\n"])
def test_words_for_missing_cells_go_back_as_they_came(text: str, tmp_path: Path) -> None:
    path, back = written(tmp_path / "a.csv", text), tmp_path / "b.csv"
    write_frame(Originals(path).frame, back)
    assert back.read_text() == text
    if '"' not in text:
        write_frame(ScannedOriginals(path).take(Originals(path).rows().positions), back)
        assert back.read_text() == text


def test_other_formats_have_no_words_for_missing_cells(tmp_path: Path) -> None:
    frame = Originals(written(tmp_path / "a.csv", PLAIN)).frame
    write_frame(frame, tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").select(["a", "b", "c"]).to_pydict() == KNOWN
    assert typed_frame(frame).select(["a", "b", "c"]).to_pydict() == KNOWN
    assert shown_cells(frame, 0) == {"a": None, "b": "1", "c": "x", "d": "-"}


def test_a_sheet_keeps_its_words_in_text(tmp_path: Path) -> None:
    frame = Originals(written(tmp_path / "a.csv", 'a,b\n"NA",1\nx,2\n')).frame  # a label, in quotes
    write_frame(frame, tmp_path / "a.xlsx")
    write_frame(Originals(tmp_path / "a.xlsx").frame, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == "a,b\nNA,1\nx,2\n"


def test_cells_of_a_sheet_keep_their_types_and_words(tmp_path: Path) -> None:
    """Numbers beside words stay numbers, dates beside NA dates, and codes with zeros before them text."""
    openpyxl = pytest.importorskip("openpyxl")
    day = datetime.datetime(2024, 2, 29)
    rows = [("a", "when", "code", "b"), (1.5, day, "007", "yes"), ("-", "NA", "12", "N/A"), (3, day, "NULL", None)]
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    write_frame(Originals(tmp_path / "a.xlsx").frame, tmp_path / "b.xlsx")
    assert list(openpyxl.load_workbook(tmp_path / "b.xlsx").active.iter_rows(values_only=True)) == rows


def test_a_word_that_is_a_label_in_quotes_is_not_put_in_for_a_missing_cell(tmp_path: Path) -> None:
    """Where both stand in one column, the missing cell is left empty: the label would not be told from it."""
    text = 'a,b\n"NA",1\nNA,2\n?,3\n'
    write_frame(Originals(written(tmp_path / "a.csv", text)).frame, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == 'a,b\n"NA",1\n,2\n?,3\n'
    assert fn.read_table(tmp_path / "b.csv") == fn.read_table(tmp_path / "a.csv")


def test_a_spreadsheet_takes_no_word_for_a_formula(tmp_path: Path) -> None:
    frame = Originals(written(tmp_path / "a.csv", "a,b\n-NaN,x\n1.5,y\n")).frame
    write_frame(frame, tmp_path / "b.csv", escape_formulas=True)
    assert (tmp_path / "b.csv").read_text() == "a,b\n,x\n1.5,y\n"


def test_commands_fill_cells_and_leave_others_as_they_came(tmp_path: Path) -> None:
    rows = "".join(f"{i},{'yes' if i % 3 else 'no'},{'yes' if i % 3 else 'no'}\n" for i in range(60))
    path, model = written(tmp_path / "a.csv", f"id,x,y\n{rows}NA,?,yes\nn/a,no,null\n"), tmp_path / "a.json"
    good("learn", path, "-o", model)
    assert good("impute", model, path).out.splitlines()[-2:] == ["NA,yes,yes", "n/a,no,no"]
    _, *chosen = good("select", model, path, "-k", 62).cells
    assert {tuple(row[1:4]) for row in chosen} >= {("NA", "?", "yes"), ("n/a", "no", "null")}
    assert good("predict", model, path, "--target", "y", "--id", "id,x").cells[-2][:2] == ["NA", "?"]


ODD = pa.table(
    {
        "a": ["x", "y"] * 30,
        "lists": pa.array([["p,q", 'r"s'], None] * 30),
        "records": pa.array([{"k": 1, "day": datetime.date(2020, 1, 2)}, {"k": 2, "day": None}] * 30),
        "bytes": [b"\xff\x01", b"ab"] * 30,
        "letters": [b"12", b"b"] * 30,
    }
)
ODD_CELLS = ("x", '["p,q", "r\\"s"]', '{"k": 1, "day": "2020-01-02"}', "ff01", "12")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx"])
def test_lists_records_and_bytes_are_written_as_text(ending: str, tmp_path: Path) -> None:
    write_frame(ODD, tmp_path / f"b{ending}")
    back = fn.read_table(tmp_path / f"b{ending}", categorical=ODD.column_names)
    assert tuple(back[name][0] for name in back.names) == ODD_CELLS
    assert back.missing_counts() == {"lists": 30}


@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_commands_write_rows_that_hold_them(tmp_path: Path) -> None:
    table, model = tmp_path / "a.parquet", tmp_path / "a.json"
    pq.write_table(ODD, table)
    good("learn", table, "-o", model)
    for words in (["cluster", table, "-k", 2], ["impute", model, table], ["select", model, table, "-k", 3]):
        for path in (tmp_path / "b.csv", tmp_path / "b.xlsx", tmp_path / "b.parquet"):
            good(*words, "-o", path)
    assert fn.read_table(tmp_path / "b.csv", categorical=["bytes"])["bytes"].tolist()[0] in ("ff01", "6162")
