"""CSV and TSV: quoting, line ends, block borders, and files that are broken."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fishernet import FileFormatError, FishernetWarning, SchemaError, Table, Variable, read_table, scan
from fishernet.data.formats import csv as delimited
from tests.data.hostile import labels, texts

slow_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


def written(folder: Path, content: str | bytes, name: str = "file.csv") -> Path:
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def held(folder: Path, content: str | bytes, name: str = "file.csv", **keywords: Any) -> dict[str, list[Any]]:
    return labels(read_table(written(folder, content, name), missing="keep", **keywords))


@pytest.fixture(params=["file.csv", "file.csv.gz"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_plain_file(tmp_path: Path, name: str) -> None:
    assert held(tmp_path, "a,b\n1,x\n2,\n?,y\n", name) == {"a": [1, 2, None], "b": ["x", None, "y"]}


def test_a_quoted_cell_is_text_and_missing_only_if_empty(tmp_path: Path, name: str) -> None:
    content = 'a,b\n"NA",NA\n"",\n"?",?\n"x","y"\n'
    assert held(tmp_path, content, name) == {"a": ["NA", None, "?", "x"], "b": [None, None, None, "y"]}


def test_quotes_delimiters_and_line_ends_in_cells(tmp_path: Path, name: str) -> None:
    content = 'a,"b\n,c"\n"x, y","say ""hi"""\n"two\nlines","\r\n"\n5" pipe,it\'s\n'
    expected = {"a": ["x, y", "two\nlines", '5" pipe'], "b\n,c": ['say "hi"', "\r\n", "it's"]}
    assert held(tmp_path, content, name) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_and_byte_order_marks(tmp_path: Path, name: str, end: str, mark: str, last: bool) -> None:
    content = mark + end.join(["a,b", "1,x", "", "2,y"]) + end * last
    assert held(tmp_path, content, name) == {"a": [1, 2], "b": ["x", "y"]}
    quoted = mark + end.join(['"a",b', '1,"x"', "", '2,"y"']) + end * last
    assert held(tmp_path, quoted, name) == {"a": [1, 2], "b": ["x", "y"]}


def test_tabs(tmp_path: Path) -> None:
    for name in ("file.tsv", "file.tsv.gz", "FILE.TSV"):
        assert held(tmp_path, 'a\tb\nm,5\t"x\ty"\n', name) == {"a": ["m,5"], "b": ["x\ty"]}


def test_spaces_are_kept(tmp_path: Path) -> None:
    assert held(tmp_path, "a, b,c\nq ,x ,1\n2, y,1\n") == {"a": ["q ", "2"], " b": ["x ", " y"], "c": [1, 1]}
    assert held(tmp_path, 'a," b"\nq,x\n2, y\n') == {"a": ["q", "2"], " b": ["x", " y"]}


def test_spaces_after_every_delimiter_are_no_part_of_cells(tmp_path: Path, name: str) -> None:
    content = "a, b, c\n 1, x, NA\n2, y , 5\n"
    if name.endswith((".tsv", ".tsv.gz")):
        content = content.replace(",", "\t")
    assert held(tmp_path, content, name) == {"a": [1, 2], "b": ["x", "y "], "c": [None, 5]}


def test_rows_of_many_labels_between_blanks_are_cells_and_sentences_are_not(tmp_path: Path) -> None:
    rows = [f"A1{i % 3}  {i % 7} A3{i % 2} A4 A6{i % 5} A75 A9 A10{i % 4} A12 A14" for i in range(1, 40)]
    path = tmp_path / "german.data"
    path.write_text("\n".join(rows) + "\n")
    with pytest.warns(FishernetWarning, match="looks like a row"):
        table = read_table(path)
    assert (table.n_rows, len(table.variables)) == (39, 10)
    assert table.variables[0].states == ("A10", "A11", "A12")
    path = tmp_path / "made.csv"
    path.write_text("made\n" + "\n".join(f"Mon Jan {i:02d} 12:00:00 UTC 2020" for i in range(1, 29)) + "\n")
    assert len(read_table(path, categorical=["made"]).variables) == 1


def test_numbers_between_blanks_are_cells_below_titles_and_whatever_the_name_says(tmp_path: Path) -> None:
    rows = "".join(f"{i / 4} {i % 7}\n" for i in range(40))
    for name in ("made.csv", "made.txt"):
        for above in ("", "# A. Author, B. Author, A title, 2008.\n# Web: https://example.org\n", "x y\n"):
            path = tmp_path / name
            path.write_text(above + rows)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FishernetWarning)
                table = read_table(path)
            assert (table.n_rows, len(table.names)) == (40, 2), (name, above)
    path = tmp_path / "places.csv"
    path.write_text("place\n" + rows)
    assert read_table(path, categorical=["place"]).names == ("place",)


def test_a_long_preamble_of_comments_is_no_part_of_the_table_however_it_is_cut(tmp_path: Path) -> None:
    comments = "".join(f"# line {i}, of what the file holds: a, b\n#\n" for i in range(90))
    path = tmp_path / "made.csv"
    path.write_text(comments + "pclass,sex,age\n" + "".join(f"{i % 3},{'mf'[i % 2]},{i / 2}\n" for i in range(60)))
    with pytest.warns(FishernetWarning, match="180 lines above the header are no part"):
        table = read_table(path)
    assert (table.n_rows, table.names) == (60, ("pclass", "sex", "age"))
    again = read_table(path, skip_rows=180)
    assert (again.variables, again.n_rows) == (table.variables, 60)
    path.write_text("#pclass,sex,age\n" + "".join(f"{i % 3},{'mf'[i % 2]},{i / 2}\n" for i in range(60)))
    assert read_table(path).n_rows == 60


def test_numbers_between_spaces_are_numbers(tmp_path: Path) -> None:
    assert held(tmp_path, "a,b\n  1,x\n 20,y\n300,x\n") == {"a": [1, 20, 300], "b": ["x", "y", "x"]}


def test_na_values(tmp_path: Path, name: str) -> None:
    assert held(tmp_path, "a,b\n-,NA\nx,\n", name, na_values=["-"]) == {"a": [None, "x"], "b": ["NA", ""]}
    assert held(tmp_path, 'a,b\n"-",NA\nx,\n', name, na_values=[]) == {"a": ["-", "x"], "b": ["NA", ""]}


def test_a_header_alone(tmp_path: Path, name: str) -> None:
    for content in ("a,b", "a,b\n", '"a","b"', '"a",b\r\n'):
        path = written(tmp_path, content, name)
        with pytest.raises(SchemaError, match="there is no row below the names"):
            read_table(path)
        table = read_table(path, schema=[Variable("b", ["x"]), Variable("a", [1])])
        assert (table.n_rows, table.names) == (0, ("b", "a"))


cells = st.lists(st.lists(texts, min_size=3, max_size=3), min_size=1, max_size=6)


@slow_fixture
@given(cells, st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]), st.booleans())
def test_what_pythons_writer_writes(tmp_path: Path, rows: list[list[str]], quoting: Any, gzipped: bool) -> None:
    """A file by the standard library, every label read as it was written."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting).writerows([["a", "b", "c"], *rows])
    path = written(tmp_path, text.getvalue(), "file.csv.gz" if gzipped else "file.csv")
    schema = [Variable(n, sorted({row[i] for row in rows})) for i, n in enumerate("abc")]
    found = labels(read_table(path, schema=schema, na_values=[]))
    assert found == {n: [row[i] for row in rows] for i, n in enumerate("abc")}


@settings(slow_fixture, max_examples=20)
@given(cells, st.integers(40, 200), st.booleans())
def test_block_borders_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[list[str]], block: int, subset: bool
) -> None:
    # pyarrow up to 24 loses its place at the border of a block when a cell holds NUL
    assume(int(pa.__version__.split(".")[0]) > 24 or not any("\0" in cell for row in rows for cell in row))
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["a", "b", "c"], *(rows * 5)])
    path = written(tmp_path, text.getvalue())
    schema = [Variable(n, sorted({row[i] for row in rows})) for i, n in enumerate("abc")][: 2 if subset else 3]
    whole = read_table(path, schema=schema, na_values=[])
    with monkeypatch.context() as patch:
        patch.setattr(delimited, "BLOCKS", (block, 2**20))
        assert read_table(path, schema=schema, na_values=[]) == whole
        assert scan(path, schema=schema, na_values=[], cache="memory") == whole
    assert labels(whole)["b"] == [row[1] for row in rows] * 5


@pytest.mark.parametrize("block", range(20, 40))
def test_a_block_that_ends_within_a_quoted_line_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    path = written(tmp_path, "a,b\r\n" + '1,"x\r\ny"\r\n' * 30)
    monkeypatch.setattr(delimited, "BLOCKS", (block, 2**20))
    for read in (read_table, scan):
        assert read(path).variables[1].states == ("x\r\ny",)
        assert read(path).n_rows == 30
    monkeypatch.setattr(delimited, "BLOCKS", (block,))
    for read in (read_table, scan):
        with pytest.raises(FileFormatError, match="too large to be one block"):
            read(path)


def test_a_row_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "BLOCKS", (64, 4096))
    assert held(tmp_path, f"a,b\n{'x' * 1000},1\ny,2\n")["a"] == ["x" * 1000, "y"]
    path = written(tmp_path, "a,b\n" + "".join(f"{i % 3},{'x' * (1000 if i == 90 else 1)}\n" for i in range(100)))
    assert scan(path) == read_table(path)  # also where rows were read before the long one
    assert scan(path).n_rows == 100
    with pytest.raises(FileFormatError, match="straddling"):
        held(tmp_path, f"a,b\n{'x' * 10_000},1\ny,2\n")


def test_a_schema_reads_its_columns_only(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, 'c,b,a\n"x\ny",1,p\nz,oops,q\n', name)
    table = read_table(path, schema=[Variable("a", ["q", "p"])])
    assert labels(table) == {"a": ["p", "q"]}


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        ("", "is empty", None),
        ("\n\n", "is empty; a table needs a header", None),
        ("a,b\n1,2\n3\n", "the header has 2 cells, this row 1", 3),
        ("a,b\n1,2\n\n3,4,5\n", "the header has 2 cells, this row 3", 4),
        ('a,b\n1,"2\n3"\n3,4,5\n', "the header has 2 cells, this row 3", 4),
        ('a,b\n1,2\n"3,4\n5,6\n', "a quote may not be closed", 3),
        ('a,b\n1,2\n1,"x', "a quote in this row is never closed", 3),
        ('a,b\n1,2\n1,"x\n3,4\n', "a quote in this row is never closed", 3),
        ('a\n1\n"x\n2\n', "a quote in this row is never closed", 3),
        (b"a,b\n1,x\n2,\xff\0\n", "the byte 0xff is not UTF-8", 3),
        ("<!DOCTYPE html>\n<p>a,b\n<p>1,2\n", "holds an HTML or XML page", 1),
        ('[{"a": 1, "b": 2},\n{"a": 3, "b": 4}]\n', "holds JSON", 1),
    ],
)
def test_broken_files(tmp_path: Path, content: str | bytes, message: str, line: int | None) -> None:
    path = written(tmp_path, content)
    with pytest.raises(FileFormatError, match=message) as e:
        read_table(path)
    assert e.value.line == line
    assert e.value.path == str(path)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("name", ["long.csv", "long.csv.gz"])
@pytest.mark.parametrize("row", ['"north,yes\n', 'north,"yes\n'])
def test_a_quote_that_is_never_closed_in_a_long_file(tmp_path: Path, name: str, row: str) -> None:
    path = written(tmp_path, "region,churned\n" + "north,yes\n" * 9 + row + "north,yes\n" * 500_000, name)
    for read in (read_table, scan):
        with pytest.raises(FileFormatError, match="a quote") as e:
            read(path)
        assert e.value.line == 11


def test_one_quoted_line_end_wherever_a_block_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a,b\n" + "yes,no\n" * 30 + '"l1\nl2",no\n' + "yes,no\n" * 30)
    for block in range(200, 240):
        monkeypatch.setattr(delimited, "BLOCKS", (block, 2**20))
        assert held(tmp_path, path.read_bytes())["a"] == ["yes"] * 30 + ["l1\nl2"] + ["yes"] * 30
        assert scan(path) == read_table(path)


@pytest.mark.parametrize("schema", [None, [Variable("a", [1, 3, 5])]])
def test_an_open_quote_is_seen_when_the_column_is_not_read(tmp_path: Path, schema: list[Variable] | None) -> None:
    for name in ("file.csv", "file.csv.gz"):
        path = written(tmp_path, 'a,b\n1,2\n3,"x\n5,y\n', name)
        with pytest.raises(FileFormatError, match="never closed"):
            read_table(path, schema=schema)


def test_doubled_and_empty_names(tmp_path: Path) -> None:
    with pytest.warns(FishernetWarning, match="the later ones are called 'a.1', 'b.2'"):
        assert list(held(tmp_path, "a,b,a,b,b.1\n1,2,3,4,5\n")) == ["a", "b", "a.1", "b.2", "b.1"]
    with pytest.warns(FishernetWarning, match="column 2 has no name and is called 'column 2'"):
        assert list(held(tmp_path, "a,,c\n1,2,3\n")) == ["a", "column 2", "c"]
    with pytest.warns(FishernetWarning, match="2 columns have no names and are called 'column 2', 'column 4'") as said:
        assert list(held(tmp_path, "a,,c,\n1,2,3,4\n")) == ["a", "column 2", "c", "column 4"]
    assert len(said) == 1


def test_the_index_that_pandas_writes_is_left_out(tmp_path: Path) -> None:
    with pytest.warns(FishernetWarning, match="the first column has no name, as the index that pandas writes"):
        assert held(tmp_path, ",b\n1,2\n2,3\n") == {"b": [2, 3]}


@pytest.mark.parametrize("cut", [3, 15, 200, -9, -3])
def test_a_truncated_gzip_file(tmp_path: Path, cut: int) -> None:
    data = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(2000)))
    path = tmp_path / "file.csv.gz"
    path.write_bytes(data[:cut])
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_table(path)


@pytest.mark.parametrize(("encoding", "remedy"), [("utf-8", r"fn\.scan"), ("latin-1", "write it as UTF-8")])
def test_a_small_file_that_unpacks_to_more_than_memory_holds(
    encoding: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "a,b\n" + "x,y\n" * 500_000, "bomb.csv.gz")
    monkeypatch.setattr("fishernet.data.formats.text_file.memory_limit", lambda: 4 * 1_990_000)
    with pytest.raises(FileFormatError, match=r"bomb\.csv\.gz: .*more than 0\.0 GB of text.*" + remedy):
        read_table(path, encoding=encoding)
    assert scan(path).n_rows == 500_000  # as the sentence says
    monkeypatch.setattr("fishernet.data.formats.text_file.memory_limit", lambda: 4 * 2_010_000)
    assert read_table(path, encoding=encoding).n_rows == 500_000


def test_what_is_no_gzip_file_and_gzip_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "file.csv.gz"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="Not a gzipped file"):
        read_table(path)
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    assert read_table(path).n_rows == 2


def test_the_table_does_not_depend_on_threads_or_order(tmp_path: Path) -> None:
    rows = [f"{i % 7},{'abc'[i % 3]},{i % 5 + 1}.0" for i in range(2000)]
    path = written(tmp_path, "a,b,c\n" + "\n".join(rows) + "\n")
    table = read_table(path)
    backwards = read_table(written(tmp_path, "a,b,c\n" + "\n".join(reversed(rows)) + "\n", "back.csv"))
    assert backwards == table[::-1]
    assert table.variables[2] == Variable("c", (1.0, 2.0, 3.0, 4.0, 5.0))


def test_wide_files(tmp_path: Path) -> None:
    names = [f"column number {i}" for i in range(3000)]
    content = ",".join(names) + "\n" + ",".join("ab"[i % 2] for i in range(3000)) + "\n"
    table: Table = read_table(written(tmp_path, content))
    assert table.names == tuple(names)


def test_rows_that_all_begin_as_comments_do_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    path.write_text("colour,n\n" + "".join(f"#{i % 7:06x},{i % 3}\n" for i in range(500)))
    assert read_table(path).cardinalities == (7, 3)
    path.write_text("#colour,n\n" + "".join(f"#{i % 7:06x},{i % 3}\n" for i in range(500)))
    assert read_table(path).n_rows == 500


def test_delimiters_of_several_characters_are_found_below_comments(tmp_path: Path) -> None:
    path = tmp_path / "made.dat"
    path.write_text(
        "# a title\n# and more: a, b\nx::y::z\n" + "".join(f"{i % 4}::a{i % 3}::{i / 2}\n" for i in range(60))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)
        table = read_table(path)
    assert (table.n_rows, table.names) == (60, ("x", "y", "z"))
