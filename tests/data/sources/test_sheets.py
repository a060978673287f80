"""Sheets of Excel and LibreOffice."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from pathlib import Path
from typing import Any, cast

import pytest

import fishernet as fn
from fishernet.base.errors import FileFormatError, FishernetWarning

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

ROWS: list[list[Any]] = [
    ["name", "age", "seen", "at", "smoker", "code"],
    ["a", 61, datetime.date(2020, 1, 2), datetime.time(14, 30), True, "007"],
    ["b", 35.5, datetime.date(2021, 3, 4), datetime.time(9, 5), False, "012"],
    ["a", None, datetime.date(2021, 3, 4), datetime.time(9, 5, 10), False, "007"],
    ["b", 48, None, None, True, "012"],
]


def saved(path: Path, sheets: dict[str, Any], *, merged: str | None = None, hidden: str = "") -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if merged is not None:
            sheet.merge_cells(merged)
        sheet.sheet_state = "hidden" if name == hidden else "visible"
    book.save(path)
    return path


def test_cells_of_all_types(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.xlsx", {"patients": ROWS})
    csv = tmp_path / "t.csv"
    csv.write_text(
        "name,age,seen,at,smoker,code\na,61,2020-01-02,14:30:00,true,007\nb,35.5,2021-03-04,09:05:00,false,012\n"
        "a,,2021-03-04,09:05:10,false,007\nb,48,,,true,012\n"
    )
    table = fn.read_table(path)
    assert table == fn.read_table(csv)
    assert fn.scan(path) == table
    assert table.variables[0].states == ("a", "b")
    assert table.variables[-1].states == ("007", "012")


def test_titles_units_and_merged_cells(tmp_path: Path) -> None:
    rows = [["Report of the ward"], [], ["ward", "height", "weight"], [None, "cm", "kg"], ["north", 170, 60]]
    rows += [[None, 180, 81], ["south", 165, 59], ["south", 171, 88]]
    path = saved(tmp_path / "t.xlsx", {"data": rows}, merged="A5:A6")
    with pytest.warns(FishernetWarning) as warned:
        table = fn.read_table(path, continuous=["height", "weight"])
    assert table.names == ("ward", "height", "weight")
    assert [table.variables[0].states[code] for code in table.column("ward")] == ["north", "north", "south", "south"]
    told = " ".join(str(w.message) for w in warned)
    assert "sheet 'data'" in told
    assert "above the header" in told
    assert "1 line below the names" in told
    assert "1 group of merged cells" in told


def test_which_sheet_is_read(tmp_path: Path) -> None:
    other = [["x", "y"], [1, 2], [3, 4], [5, 9]]
    sheets = {"secret": other, "empty": [], "first": ROWS, "second": other}
    path = saved(tmp_path / "t.xlsx", sheets, hidden="secret")
    with pytest.warns(FishernetWarning, match="2 other sheets") as warned:
        assert fn.read_table(path).names[0] == "name"
    [remedy] = cast(Any, warned[0].message).remedies
    with warnings.catch_warnings(action="error"):
        assert fn.read_table(path, **remedy.arguments).names[0] == "name"
        assert fn.read_table(path, sheet="second").names == ("x", "y")
        assert fn.read_table(path, sheet="secret").names == ("x", "y")
    with pytest.raises(FileFormatError, match=r"no sheet 'third' of cells; there are 'secret', 'empty'"):
        fn.read_table(path, sheet="third")
    with pytest.raises(FileFormatError, match="holds no cells"):
        fn.read_table(path, sheet="empty")
    path = saved(tmp_path / "charts.xlsx", {"chart": [], "secret": other}, hidden="secret")
    with pytest.raises(FileFormatError, match="of the sheets that are shown none holds cells; sheet='secret'"):
        fn.read_table(path)


def test_what_is_no_sheet(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(FileFormatError, match="is no sheet, or a broken one"):
        fn.read_table(tmp_path / "t.xlsx")
    saved(tmp_path / "none.xlsx", {"a": [], "b": []})
    with pytest.raises(FileFormatError, match="holds no sheet with cells"):
        fn.read_table(tmp_path / "none.xlsx")
    saved(tmp_path / "sheet.csv", {"a": ROWS})
    assert fn.read_table(tmp_path / "sheet.csv").names[0] == "name"


def test_a_table_is_written_as_a_sheet(tmp_path: Path) -> None:
    table = fn.read_table(saved(tmp_path / "t.xlsx", {"patients": ROWS}))
    fn.write_table(table, tmp_path / "again.xlsx")
    assert fn.read_table(tmp_path / "again.xlsx") == table


CONTENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2">
<office:body><office:spreadsheet><table:table table:name="one">{}</table:table></office:spreadsheet></office:body>
</office:document-content>"""


MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">
<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>
</manifest:manifest>"""


def cell(value: Any) -> str:
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
    number = f'office:value-type="float" office:value="{value}"'
    return f"<table:table-cell {number}><text:p>{value}</text:p></table:table-cell>"


@pytest.mark.parametrize("name", ["t.ods", "t", "t.csv"])
def test_a_sheet_of_libreoffice_under_any_name(tmp_path: Path, name: str) -> None:
    rows: list[list[Any]] = [["ward", "height"], ["north", 170.5], ["south", 165], ["north", 181]]
    text = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    with zipfile.ZipFile(tmp_path / name, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("content.xml", CONTENT.format(text))
        packed.writestr("META-INF/manifest.xml", MANIFEST)
    table = fn.read_table(tmp_path / name)
    assert table.variables[0].states == ("north", "south")
    assert table.column("height").tolist() == [170.5, 165, 181]


def test_formulas_that_were_never_computed_and_charts(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "data"
    for row in (["a", "b"], ["x", "=1/0"], ["y", "=A1"], ["x", None]):
        book.active.append(row)
    book.create_chartsheet("chart")
    book.save(tmp_path / "t.xlsx")
    with pytest.warns(FishernetWarning, match="'b' is left out: there are only missing cells"):
        assert fn.read_table(tmp_path / "t.xlsx").names == ("a",)
    with pytest.raises(FileFormatError, match="no sheet 'chart' of cells"):
        fn.read_table(tmp_path / "t.xlsx", sheet="chart")


def test_a_password_is_told(tmp_path: Path) -> None:
    path = tmp_path / "locked.xlsx"  # as Excel writes one: a compound file with an encrypted package in it
    path.write_bytes(
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(512)
    )
    with pytest.raises(FileFormatError, match="protected by a password"):
        fn.read_table(path)


def test_a_cell_far_from_the_table_is_told(tmp_path: Path) -> None:
    """Readers make room for all cells between: of two corners of an Excel sheet for 17 billion."""
    for rows in (ROWS, []):
        for place, said in (("XFD1048576", "XFD and in row 1,048,576"), ("ZZ900000", "ZZ and in row 900,000")):
            path = saved(tmp_path / "t.xlsx", {"first": [["x"]], "data": rows})
            book = openpyxl.load_workbook(path)
            book["data"][place] = "x"
            book.save(path)
            with pytest.raises(FileFormatError, match=f"the sheet 'data' has cells in column {said}"):
                fn.read_table(path, sheet="data")
            assert fn.read_table(path, sheet="first", schema=[fn.Continuous("x")]).n_rows == 0
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(path, "w") as packed:  # a broken name above others
        for name, part in parts.items():
            packed.writestr(name, part.replace(b'r="ZZ900000"', b'r="A4294967295"'))
    with pytest.raises(FileFormatError, match="row 4,294,967,295"):
        fn.read_table(path, sheet="data")


def test_rows_far_below_the_others_are_left_out_and_told(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.xlsx", {"data": [*ROWS, *[[]] * 2000, [*[None] * 40, "x"], ["y"]]})
    with pytest.warns(FishernetWarning, match="row 2,006 stands 2,000 empty rows below the others") as told:
        table = fn.read_table(path)
    assert len(told) == 1  # no column is wider for what is left out
    assert table == fn.read_table(saved(tmp_path / "u.xlsx", {"data": ROWS}))
    assert fn.read_table(saved(tmp_path / "t.xlsx", {"data": [*ROWS, *[[]] * 9, ["a"]]})).n_rows == 14


def test_a_sheet_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.xlsx", {"data": ROWS})
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(path, "w") as packed:
        for name, part in parts.items():
            packed.writestr(name, part.replace(b'"rId1"', b'"rId99"') if name == "xl/workbook.xml" else part)
    with pytest.raises(FileFormatError, match=r"a broken one \((?!Cannot detect).*\); save the sheet as CSV"):
        fn.read_table(path)


def test_a_sheet_of_one_row_has_columns_and_no_row(tmp_path: Path) -> None:
    path = saved(tmp_path / "one.xlsx", {"a": [["x", "y"]]})
    variables: list[Any] = [fn.Continuous("x"), fn.Variable("y", ["u", "v"])]
    table = fn.read_table(path, schema=variables)
    assert (table.names, table.n_rows) == (("x", "y"), 0)
