"""The reading matrix (every way in gives the same table) and what is refused."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from fishernet.base.errors import FileFormatError, FishernetWarning, MissingValueError, SchemaError, UnknownStateError
from fishernet.data import Continuous, Table, Variable, read_table
from tests.data.hostile import labels

Data = dict[str, list[Any]]

PLAIN: Data = {
    "dose": [1, 2, 1, 2, 1],
    "level": [0.5, 2.25, 0.5, -1.0, 2.25],
    "cough": ["no", "yes, dry", "no", "ünder", "yes, dry"],
    "count": [3, 0, 1, 2, 5],
}
GAPS: Data = {**PLAIN, "dose": [1, None, 1, 2, 1], "cough": ["no", "yes, dry", None, "ünder", "yes, dry"]}


def as_csv(data: Data, delimiter: str = ",") -> str:
    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        return f'"{text}"' if delimiter in text else text

    rows = zip(*data.values(), strict=True)
    return "\n".join([delimiter.join(data), *(delimiter.join(map(cell, row)) for row in rows)]) + "\n"


def as_arff(data: Data) -> str:
    def kind(values: list[Any]) -> str:
        known = [value for value in values if value is not None]
        if isinstance(known[0], str):
            return "{" + ",".join(f"'{state}'" for state in sorted(set(known))) + "}"
        return "integer" if isinstance(known[0], int) else "numeric"

    def cell(value: Any) -> str:
        return "?" if value is None else f"'{value}'" if isinstance(value, str) else str(value)

    head = "".join(f"@attribute {name} {kind(values)}\n" for name, values in data.items())
    rows = "".join(",".join(map(cell, row)) + "\n" for row in zip(*data.values(), strict=True))
    return f"% a comment\n@relation r\n{head}@data\n{rows}"


def arrow(data: Data) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in data.items()})


def write_ipc(data: Data, path: Path) -> None:
    frame = arrow(data)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, frame.schema) as writer:
        writer.write_table(frame)


def text_file(ending: str, content: Callable[[Data], str]) -> Callable[[Data, Path, dict[str, Any]], Table]:
    def read(data: Data, folder: Path, options: dict[str, Any]) -> Table:
        path = folder / f"table{ending}"
        raw = content(data).encode()
        path.write_bytes(gzip.compress(raw, mtime=0) if ending.endswith(".gz") else raw)
        return read_table(path, **options)

    return read


def binary_file(ending: str, write: Callable[[Data, Path], Any]) -> Callable[[Data, Path, dict[str, Any]], Table]:
    def read(data: Data, folder: Path, options: dict[str, Any]) -> Table:
        write(data, folder / f"table{ending}")
        return read_table(folder / f"table{ending}", **options)

    return read


def frame(make: Callable[[Data], Any]) -> Callable[[Data, Path, dict[str, Any]], Table]:
    return lambda data, folder, options: Table.from_frame(make(data), **options)


WAYS: dict[str, Callable[[Data, Path, dict[str, Any]], Table]] = {
    "csv": text_file(".csv", as_csv),
    "csv.gz": text_file(".csv.gz", as_csv),
    "tsv": text_file(".tsv", lambda data: as_csv(data, "\t")),
    "tsv.gz": text_file(".tsv.gz", lambda data: as_csv(data, "\t")),
    "arff": text_file(".arff", as_arff),
    "parquet": binary_file(".parquet", lambda data, path: pq.write_table(arrow(data), path)),
    "arrow": binary_file(".arrow", write_ipc),
    "pandas": frame(pd.DataFrame),
    "polars": frame(pl.DataFrame),
    "pyarrow": frame(arrow),
    "dict of lists": frame(dict),
    "dict of arrays": frame(lambda data: {name: np.array(v, dtype=object) for name, v in data.items()}),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Table]:
    return lambda data, **options: WAYS[request.param](data, tmp_path, options)


def test_every_way_in_gives_the_same_table(way: Callable[..., Table]) -> None:
    table = way(PLAIN)
    assert [v.name for v in table.variables] == list(PLAIN)
    assert table.variables == (
        Variable("dose", (1, 2)),
        Continuous("level"),
        Variable("cough", ("no", "yes, dry", "ünder")),
        Continuous("count"),
    )
    assert {type(state) for state in table.variables[0].states} == {int}
    assert labels(table) == PLAIN
    assert not table.has_missing


def test_every_way_in_weighs_rows(way: Callable[..., Table]) -> None:
    table = way(PLAIN, weights="count")
    assert table.names == ("dose", "level", "cough")
    assert table.weights is not None
    assert table.weights.tolist() == PLAIN["count"]


def test_every_way_in_bins_numbers(way: Callable[..., Table]) -> None:
    table = way(PLAIN, bins={"dose": [1.5, 5], "level": 2}, binning="equal-width")
    assert table.variables[0].cuts == (1.5, 5)
    assert table.column("dose").tolist() == [0, 1, 0, 1, 0]
    assert table.variables[1].cuts == (0.625,)
    assert table.column("level").tolist() == [0, 1, 0, 0, 1]


def test_every_way_in_tells_missing_cells(way: Callable[..., Table]) -> None:
    with pytest.raises(MissingValueError, match=r"'dose' \(1\), 'cough' \(1\)") as refused:
        way(GAPS, missing="error")
    assert refused.value.counts == {"dose": 1, "cough": 1}


@pytest.mark.parametrize("policy", ["drop", "state", "keep"])
def test_every_way_in_follows_the_policy(way: Callable[..., Table], policy: str) -> None:
    table = way(GAPS, missing=policy)
    if policy == "drop":
        kept = [row for row in zip(*GAPS.values(), strict=True) if None not in row]
        assert labels(table) == {name: [row[i] for row in kept] for i, name in enumerate(GAPS)}
        assert not table.has_missing
    elif policy == "keep":
        assert labels(table) == GAPS
        assert table.missing_counts() == {"dose": 1, "cough": 1}
    else:
        wanted = {name: ["missing" if v is None else v for v in values] for name, values in GAPS.items()}
        assert labels(table) == wanted
        assert table.cardinalities == (3, 1, 4, 1)
        assert not table.has_missing


def test_every_way_in_reads_by_a_schema(way: Callable[..., Table]) -> None:
    schema = [Variable("cough", ["ünder", "never", "no", "yes, dry"]), Variable("dose", [10, 2, 1.0])]
    table = way(PLAIN, schema=schema)
    assert table.variables == tuple(schema)
    assert labels(table) == {"cough": PLAIN["cough"], "dose": PLAIN["dose"]}


def test_every_way_in_names_an_unknown_label(way: Callable[..., Table]) -> None:
    schema = [Variable("cough", ["no", "yes, dry"])]
    with pytest.raises(UnknownStateError, match="column 'cough', row 3: .*'ünder'.*'no', 'yes, dry'") as refused:
        way(PLAIN, schema=schema)
    assert (refused.value.variable, refused.value.label, refused.value.row) == ("cough", "ünder", 3)
    table = way(PLAIN, schema=schema, unknown="missing")
    assert labels(table)["cough"] == ["no", "yes, dry", "no", None, "yes, dry"]


def test_every_way_in_misses_a_column(way: Callable[..., Table]) -> None:
    with pytest.raises(SchemaError, match="'fever'"):
        way(PLAIN, schema=[Variable("fever", ["no"])])
    with pytest.raises(SchemaError, match="'n'"):
        way(PLAIN, weights="n")


def test_every_way_in_keeps_a_constant_column(way: Callable[..., Table]) -> None:
    assert way({"x": ["a"] * 4, "y": [1, 2, 1, 2]}).cardinalities == (1, 2)


def test_every_way_in_takes_few_whole_numbers_for_states_and_others_for_numbers(way: Callable[..., Table]) -> None:
    data = {"few": [*range(20), *[0] * 20], "many": [*range(21), *range(19)], "parts": [1.0] * 39 + [0.5]}
    table = way(data)
    assert table.variables == (Variable("few", range(20)), Continuous("many"), Continuous("parts"))
    assert labels(table) == data
    assert way(data, categorical=["parts", "many"], continuous=["few"]).variables == (
        Continuous("few"),
        Variable("many", range(21)),
        Variable("parts", [0.5, 1.0]),
    )
    assert way(data, bins=4).cardinalities == (20, 4, 2)
    assert way(data, bins={"few": 3, None: 2}).cardinalities == (3, 2, 2)


def test_every_way_in_chooses_columns(way: Callable[..., Table]) -> None:
    assert way(PLAIN, columns=["cough", "dose"]).names == ("dose", "cough")
    assert way(PLAIN, exclude=["dose", "level"], weights="count").names == ("cough",)


def test_every_way_in_reads_numbers_by_a_schema(way: Callable[..., Table]) -> None:
    table = way(GAPS, schema=[Continuous("dose"), Continuous("level")])
    assert labels(table) == {"dose": GAPS["dose"], "level": GAPS["level"]}
    with pytest.raises(
        UnknownStateError, match="column 'cough', row 0: numbers are needed, and the label 'no' is none"
    ):
        way(PLAIN, schema=[Continuous("cough")])
    assert labels(way(PLAIN, schema=[Continuous("cough")], unknown="missing")) == {"cough": [None] * 5}
    with pytest.raises(SchemaError, match="column 'cough', row 0: a continuous column holds numbers, and 'no' is none"):
        way(PLAIN, continuous=["cough"])


def test_text_may_have_any_number_of_states(way: Callable[..., Table]) -> None:
    table = way({"name": [f"n{i}" for i in range(300)], "y": [1] * 300}, categorical=["name"])
    assert table.cardinalities == (300, 1)
    assert table.column("name").dtype == np.uint16


# ------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "there is no such file"),
        ("none.parquet", None, "there is no such file"),
        ("empty.csv", b"", "is empty"),
        ("empty.parquet", b"", "is empty"),
        ("table.npy", b"\x93NUMPY\0", r"told by its ending, one of \.csv"),
        ("table.csv", b"PK\x03\x04", "is a zip archive; unpack it"),
        ("table.csv", gzip.compress(b"a,b\n1,2\n", mtime=0), "is packed by gzip; let its name end in .csv.gz"),
        ("table.parquet.gz", b"x", "told by its ending"),
        ("ragged.csv", b"a,b\n1,2\n1\n", "line 3"),
        ("short.csv.gz", gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:40], "short.csv.gz"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as refused:
        read_table(tmp_path / name)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content", "told", "silence"),
    [
        ("semicolons.csv", b"a;b;c\nx;2;3\n", "separated by ';'", {"delimiter": ";"}),
        ("tabs.csv", b"a\tb\tc\nx\t2\t3\n", "separated by '.t', not by ','", {"delimiter": "tab"}),
        ("commas.tsv", b"a,b,c\nx,2,3\n", "separated by ','", {"delimiter": ","}),
        ("latin.csv", "a,b,c\nü,2,3\n".encode("latin-1"), "read as cp1252", {"encoding": "cp1252"}),
        ("windows.csv", "a,b,c\nx,2,3\n".encode("utf-16"), "read as utf-16", {"encoding": "utf-16"}),
        ("title.csv", b"Sales 2024\n\na,b,c\nx,2,3\ny,2,3\n", "2 lines above the header", {"skip_rows": 2}),
        ("comment.csv", b"# made by a program\na,b,c\nx,2,3\ny,2,3\n", "1 line above the header", {"skip_rows": 1}),
        ("none.csv", b"x,2,3\ny,4,5\nx,3,7\ny,4,4\n", "looks like a row", {"header_rows": 0}),
        ("gaps.csv", b"x,?,3\ny,4,5\nx,3,7\ny,4,4\n", "looks like a row", {"header_rows": 0}),
        ("units.csv", b"a,b,c\n,cm,kg\nx,2,3\ny,4,5\nx,3,7\n", "1 line below the names", {"header_rows": 2}),
    ],
)
def test_what_is_found_is_told_with_what_silences_it(
    tmp_path: Path, name: str, content: bytes, told: str, silence: dict[str, Any]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for read in (read_table, fn.scan):
        with pytest.warns(FishernetWarning, match=told) as warned:
            table = read(path)
        assert [dict(remedy.arguments) for remedy in cast(Any, warned[0].message).remedies][-1] == silence
        assert len(table.names) == 3
        with warnings.catch_warnings(action="error"):
            assert read(path, **silence) == table


@pytest.mark.parametrize("names", ["400,410,420,430", "2019,2020,2021", "0,1,2", "1,2"])
def test_numbers_in_even_steps_and_years_are_names(tmp_path: Path, names: str) -> None:
    rows = "".join(",".join(str((i * 7 + j) % 11 / 4) for j in range(len(names.split(",")))) + "\n" for i in range(9))
    (tmp_path / "t.csv").write_text(f"{names}\n{rows}")
    assert read_table(tmp_path / "t.csv").names == tuple(names.split(","))


def test_a_line_that_names_what_the_first_leaves_open_is_part_of_the_header(tmp_path: Path) -> None:
    """As answers below questions in a survey; the words may occur among the rows below."""
    rows = "".join(
        f"{1000 + i},{'Yes' if i % 2 else 'No'},{'tea' if i % 3 else ''},{'milk' if i % 5 else ''},\n"
        for i in range(30)
    )
    (tmp_path / "t.csv").write_text(f"id,Thirsty?,What do you drink?,,\n,Response,tea,milk,rum\n{rows}")
    with pytest.warns(FishernetWarning, match="1 line below the names"):
        table = read_table(tmp_path / "t.csv", columns=["Thirsty? Response", "What do you drink? milk"])
    assert (table.n_rows, table["Thirsty? Response"].tolist()[:2]) == (30, ["No", "Yes"])


@pytest.mark.parametrize(
    "above",
    ["Lots of people,,,,\ncannot resist,writing,,,\nnotes,,,,here\n", "Refreshed on:,,,,\n", "Ward 3,,,,x\n,,,2024,\n"],
)
def test_stray_words_above_a_full_row_of_names_are_no_names(tmp_path: Path, above: str) -> None:
    rows = "".join(
        f"{'xyz'[i % 3]},{'uv'[i % 2]},{i * 7 % 30 / 4},2023-05-{i % 28 + 1:02d},{i % 4}\n" for i in range(30)
    )
    (tmp_path / "t.csv").write_text(f"{above}who,where,how much,when,often\n{rows}")
    with pytest.warns(FishernetWarning, match=f"{above.count(chr(10))} lines? above the header"):
        assert read_table(tmp_path / "t.csv").names == ("who", "where", "how much", "when", "often")


@pytest.mark.parametrize("index", [None, "day"])
@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("older", [False, True])
def test_names_of_several_levels_are_those_of_the_frame(
    tmp_path: Path, index: str | None, levels: int, *, older: bool
) -> None:
    of: list[tuple[str, ...]] = [("1", "1", "lh"), ("1", "1", "rh"), ("2", "1", "lh"), ("2", "2", "lh")]
    if levels == 2:
        of = [(a, c + b) for a, b, c in of]
    columns = pd.MultiIndex.from_tuples(of, names=["network", "node", "hemi"][:levels])
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(30, 4)), columns=columns)
    frame.index.name = index
    lines = frame.to_csv().splitlines(keepends=True)
    if older and index is None:
        lines.insert(levels, ",,,,\n")  # a line for an index without a name, too
    (tmp_path / "t.csv").write_text("".join(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)
        table = read_table(tmp_path / "t.csv")
        expected = Table.from_frame(frame)
    own = expected.names
    assert table.names == (*([index] if index else []), *own)
    for name in own:
        np.testing.assert_array_equal(table[name], expected[name])


def test_a_row_without_cells_below_rows_is_no_end_of_a_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,age,age\nAnn,31,2\nBob,47,3\n,,\nCem,29,5\nDia,55,4\n")
    with pytest.warns(FishernetWarning, match="same name"):
        table = read_table(tmp_path / "t.csv", categorical=["name"])
    assert table.n_rows == 5
    assert table.names == ("name", "age", "age.1")


def test_questions_above_money_and_dates_are_part_of_the_header(tmp_path: Path) -> None:
    rows = "".join(f"{'xy'[i % 2]},${i * 7 % 90}.50,{i % 27 + 1:02d}.05.2023\n" for i in range(30))
    (tmp_path / "t.csv").write_text(f"who,paid,on\nWho was it?,How much?,When?\n{rows}")
    with pytest.warns(FishernetWarning, match="1 line below the names"):
        table = read_table(tmp_path / "t.csv")
    assert (table.n_rows, [v.is_continuous for v in table.variables]) == (30, [False, True, True])


def test_a_word_above_numbers_in_the_first_row_is_a_cell(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,score\nAnn,absent\nBob,3\nCid,4\nDan,5\nEve,3\n")
    assert read_table(tmp_path / "t.csv", categorical=["name"]).n_rows == 5


def test_a_line_for_excel_says_the_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sep=;\na;b\nx;1,5\ny;2,5\nx;1,5\n")
    for read in (read_table, fn.scan):
        assert read(path)["b"].tolist() == [1.5, 2.5, 1.5]


@pytest.mark.parametrize("mark", ["::", "||"])
def test_two_characters_between_cells(tmp_path: Path, mark: str) -> None:
    """As in the MovieLens data: commas, bars and tabs in the cells."""
    rows = [[f"m{i}", f"Title {i % 5}, The\t({1990 + i % 3})", "Comedy|Crime" if i % 2 else "War"] for i in range(60)]
    path = tmp_path / "movies.dat"
    path.write_text("".join(mark.join(row) + "\n" for row in [["movie", "title", "kind"], *rows]))
    for read in (read_table, fn.scan):
        table = read(path, categorical=["movie"])
        assert [list(row) for row in zip(*(table[name].tolist() for name in table.names), strict=True)] == rows


def test_any_text_may_stand_between_cells_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("a~~b\nx~~1.5\ny~~2.5\nx~~1.5\n")
    for read in (read_table, fn.scan):
        table = read(path, delimiter="~~", categorical=["b"])
        assert table["a"].tolist() == ["x", "y", "x"]
        assert table["b"].tolist() == [1.5, 2.5, 1.5]
    path.write_text("a~~b\nx~~\x1f\x1e\x1d\t\n")
    with pytest.raises(FileFormatError, match="every character that could stand"):
        read_table(path, delimiter="~~")


def test_names_with_two_colons_are_one_column(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("std::list\nstd::map\nstd::list\n")
    assert read_table(tmp_path / "t.txt", header_rows=0)["column 1"].tolist() == ["std::list", "std::map", "std::list"]


def test_a_first_row_from_which_the_others_are_counted_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{i},title {i},{'xy'[i % 2]}\n" for i in range(1, 30)))
    with pytest.warns(FishernetWarning, match="looks like a row"):
        table = read_table(path, categorical=["column 2"], exclude=["column 1"])
    assert table["column 2"].tolist()[:2] == ["title 1", "title 2"]
    rows = [f"x,title {i},{i}\n" for i in range(1, 20)]
    path.write_text("".join([*rows[:9], "x,title\n", *rows[9:]]))
    with pytest.raises(FileFormatError, match=r"line 10: the header has 3 cells, this row 2"):
        read_table(path)
    path.write_text("0,name,kind\n" + "".join(f"{2 * i},title {i},{'xy'[i % 2]}\n" for i in range(1, 30)))
    assert "name" in read_table(path, categorical=["name"], exclude=["0"]).names


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_of_delimiters_at_the_end_are_no_rows(tmp_path: Path, end: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(end.join(["a,b,c", "x,1,2", ",,", "y,,3", "NA,NA,NA", '"z,\n,,\n",5,6', ",,", ",,", ""]).encode())
    for read in (read_table, fn.scan):
        with pytest.warns(FishernetWarning, match="2 rows without a cell at the end are left out"):
            table = read(path)
        assert table["a"].tolist() == ["x", None, "y", None, "z,\n,,\n"]
        with pytest.warns(FishernetWarning):
            assert read(path, columns=["b"]).n_rows == 5


def test_rows_without_a_cell_that_are_written_come_back(tmp_path: Path) -> None:
    table = Table.from_frame({"a": ["x", None, "y", None], "b": [1, None, None, None]})
    fn.write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a,b\nx,1\nNA,\ny,\nNA,\n"
    assert read_table(tmp_path / "t.csv") == table


def test_numbers_in_quotes_above_numbers_are_names(tmp_path: Path) -> None:
    table = Table.from_frame({"2": [2, 3, 3, 2], "5": ["a", "b", "a", "b"]})
    fn.write_table(table, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv") == table


def test_a_space_after_each_delimiter_where_there_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "adult.data"
    path.write_text(
        "".join(f"{20 + i % 9}, {'State-gov' if i % 3 else 'Private'}, {'?' if i % 4 else 'yes'}\n" for i in range(20))
    )
    with pytest.warns(FishernetWarning, match="looks like a row"):
        table = read_table(path)
    assert table["column 2"].tolist()[:2] == ["Private", "State-gov"]
    assert table["column 3"].tolist()[:2] == ["yes", None]


def test_rows_too_short_for_their_delimiter_are_told_as_such(tmp_path: Path) -> None:
    """No comma cuts the file, and a semicolon most of it: it is no table of one column."""
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n" + "".join(f"{i % 3};{i % 2}{';x' if i % 7 else ''}\n" for i in range(1, 41)))
    for read in (read_table, fn.scan):
        told = pytest.warns(FishernetWarning, match="separated by ';'")
        with told, pytest.raises(FileFormatError, match=r"line 8: the header has 3 cells, this row 2"):
            read(path)


def test_notes_below_a_table_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{'xy'[i % 2]},{i % 7}\n" for i in range(40))
    plain = tmp_path / "plain.csv"
    plain.write_text(f"a,b\n{rows}")
    for below in ("Source: the ward", "\nSource: the ward\nNotes: none\n", '"Total: 40"\n', "====\nSource: x\n"):
        path.write_text(f"a,b\n{rows}{below}")
        for read in (read_table, fn.scan):
            with pytest.warns(FishernetWarning, match=r"the lines from 4[23] on are notes below the table"):
                assert read(path) == read_table(plain)
    for below in ("Source: the ward\nx,1\n", "y", "Source: the ward\nx,1,2\n"):  # not a note alone, nor a row cut off
        path.write_text(f"a,b\n{rows}{below}")
        with pytest.raises(FileFormatError, match="the header has 2 cells, this row 1"):
            read_table(path)


def test_a_last_row_of_sums_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{'NESW'[i % 4]}{i},{i * 37 % 91},{i / 8}\n" for i in range(12))
    totals = [sum(i * 37 % 91 for i in range(12)), sum(i / 8 for i in range(12))]
    for last in (f"Total,{totals[0]},{totals[1]}", f'"Grand total",{totals[0]},'):
        path.write_text(f"region,sales,cost\n{rows}{last}\n")
        for read in (read_table, fn.scan):
            with pytest.warns(FishernetWarning, match="the last row .* has the sums of the others"):
                assert read(path, exclude=["region"]).n_rows == 12
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(f"Sales of the year\n\nregion,sales,cost\n{rows}{last}\n".encode()))
    with pytest.warns(FishernetWarning) as warned:  # of the title, too
        assert read_table(packed, exclude=["region"]).n_rows == 12
    assert "has the sums of the others" in " ".join(str(warning.message) for warning in warned)
    path.write_text(f"region,sales,cost\n{rows}Total,{totals[0] + 1},5.5\n")  # a company of that name
    assert read_table(path, exclude=["region"]).n_rows == 13


def test_notes_below_a_table_may_have_all_its_delimiters(tmp_path: Path) -> None:
    """So a sheet writes them; a row that knows its first cell alone is none, where others are so or it is a word."""
    path, plain = tmp_path / "t.csv", tmp_path / "plain.csv"
    rows = "".join(f"{'xy'[i % 2]},{i % 7},{i % 5}\n" for i in range(40))
    plain.write_text(f"a,b,c\n{rows}")
    for above, below in (("", '"Source: x, y",,\n'), ("A title,,\n,,\n", ",,\nSource: the ward,,\nnone,,\n,,\n")):
        path.write_text(f"{above}a,b,c\n{rows}{below}")
        for read in (read_table, fn.scan):
            with pytest.warns(FishernetWarning) as warned:  # of the title, too
                assert read(path) == read_table(plain)
            told = " ".join(str(warning.message) for warning in warned)
            assert f"the lines from {44 if above else 42} on are notes below the table" in told
    for above, below in (("", "z,,\n"), ("", "Sum of all,40,\n"), ("New York,,\n" * 20, "San Jose,,\n")):
        path.write_text(f"a,b,c\n{rows}{above}{rows}{below}")
        assert read_table(path).n_rows == 81 + above.count("\n")
    path.write_text(f"a,b,c\n{rows}not known yet,,\n")  # a label of the schema, or none that is longer than all others
    assert (
        read_table(path, schema=[fn.Variable("a", ["x", "y", "not known yet"]), fn.Variable("b", range(7))]).n_rows
        == 41
    )
    path.write_bytes(f"a,b,c\n{rows}x,,\n".replace("\n", "\r").encode())  # lines that end as on old computers
    assert read_table(path).n_rows == 41


def test_comments_among_the_rows_are_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{i},x{i % 3},#{i % 4}\n" for i in range(40_000))
    path.write_text(f"# made by hand\na,b,c\n# units are mm\n{rows}# revised, twice\n1,#x,y\n")
    with pytest.warns(FishernetWarning, match="2 lines that begin with # are comments, and left out"):
        table = read_table(path, skip_rows=1)
    assert (table.n_rows, table["c"][-2:].tolist()) == (40_001, ["#3", "y"])
    with pytest.warns(FishernetWarning, match="are comments"):
        assert fn.scan(path, skip_rows=1) == table
    path.write_text(f"a,b,c\n# units are mm\n{rows}1,2\n")
    with pytest.raises(FileFormatError, match="line 2: the header has 3 cells, this row 1"):
        read_table(path)


def zipped(files: dict[str, bytes]) -> bytes:
    room = io.BytesIO()
    with zipfile.ZipFile(room, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return room.getvalue()


@pytest.mark.parametrize("name", ["t.csv.bz2", "t.csv.xz", "t.csv.zip", "archive.zip"])
def test_text_that_is_packed_otherwise(tmp_path: Path, name: str) -> None:
    text = as_csv(PLAIN).encode()
    path = tmp_path / name
    in_folder = {"data/": b"", "data/t.CSV": text, "__MACOSX/data/._t.csv": b"x"}
    packed = {".bz2": bz2.compress(text), ".xz": lzma.compress(text), ".zip": zipped(in_folder)}
    path.write_bytes(packed[path.suffix])
    (tmp_path / "t.csv").write_bytes(text)
    assert read_table(path) == fn.scan(path) == read_table(tmp_path / "t.csv")
    if path.suffix == ".zip":  # in a folder it may hold what lies beside it
        assert fn.scan(tmp_path) == read_table(path)
    for broken in (path.read_bytes()[:40], text):
        path.write_bytes(broken)
        with pytest.raises(FileFormatError, match="cannot be read"):
            read_table(path)


def test_a_zip_archive_that_is_no_table_says_what_it_holds(tmp_path: Path) -> None:
    plain = zipped({"a.csv": b"a,b\n1,2\n"})
    locked = bytearray(plain)
    locked[6] = locked[plain.index(b"PK\x01\x02") + 8] = 1
    for content, said in (
        (zipped({"a.csv": b"a\n", "b.csv": b"a\n"}), r"of 2 files \('a.csv', 'b.csv'\); unpack it"),
        (zipped({}), "of 0 files; unpack it"),
        (zipped({"a.xlsx": b"x"}), "of 'a.xlsx'; unpack it"),
        (bytes(locked), "password"),
    ):
        (tmp_path / "t.zip").write_bytes(content)
        with pytest.raises(FileFormatError, match=said):
            read_table(tmp_path / "t.zip")
    (tmp_path / "t.csv").write_bytes(plain)
    with pytest.raises(FileFormatError, match="let its name end in .zip"):
        read_table(tmp_path / "t.csv")


def test_an_empty_cell_in_quotes_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"x",1\n"",2\n"y",1\n')
    assert read_table(path)["a"].tolist() == ["x", None, "y"]
    assert read_table(path, categorical=["a"])["a"].tolist() == ["x", "", "y"]
    assert read_table(path, schema=[Variable("a", ["", "x", "y"])])["a"].tolist() == ["x", "", "y"]


def test_one_column_may_hold_other_delimiters(tmp_path: Path) -> None:
    for content in ('"a;b"\n"1;2"\n', "a\n1;2\n", "a;b\n1\n", "a;b\n"):
        (tmp_path / "t.csv").write_text(content)
        with contextlib.suppress(SchemaError):  # the last one has no rows
            assert len(read_table(tmp_path / "t.csv").variables) == 1


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="is a directory"):
        read_table(tmp_path)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_name_that_is_no_unicode(tmp_path: Path, ending: str) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9" + ending.encode())
    path.write_text("a\n1\n2\n")
    with pytest.raises(FileFormatError, match="rename the file") as refused:
        read_table(path)
    assert str(refused.value).isprintable()


def test_a_table_read_anew_by_its_own_variables(tmp_path: Path) -> None:
    """The cut points are remembered: new numbers fall into the old bins."""
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "\n".join(str(i / 7) for i in range(400)) + "\n")
    table = read_table(path, bins=5)
    new = tmp_path / "new.csv"
    new.write_text("x\n-1000\n0\n30\n1000\n")
    assert read_table(new, schema=table.variables).column("x").tolist() == [0, 0, 2, 4]


def test_the_library_reads_what_it_ships() -> None:
    assert fn.datasets.load("nursery").n_rows == 12_960
    assert fn.datasets.load("letter", bins=4, binning="equal-width").cardinalities == (*[4] * 16, 26)
