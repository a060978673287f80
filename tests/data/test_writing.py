"""What is written is read back, or refused, or warned of."""

from __future__ import annotations

import csv
import gzip
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.base.errors import FileFormatError, FishernetWarning, SchemaError
from fishernet.base.io import replacing
from fishernet.data import Continuous, Table, Variable, read_table, scan, write_table
from fishernet.data.writing import FORMATS, ROWS
from tests.data.hostile import exact, hostile_tables, labels
from tests.tables import random_table

TEXT = ["csv", "tsv", "csv.gz", "tsv.gz"]
BINARY = ["parquet", "arrow", "feather"]


@given(hostile_tables(numbers=True), st.sampled_from(BINARY))
def test_binary_files_keep_everything(tmp_path_factory: pytest.TempPathFactory, table: Table, ending: str) -> None:
    path = tmp_path_factory.mktemp("binary") / f"t.{ending}"
    write_table(table, path, weights="the weights")
    assert exact(read_table(path, missing="keep")) == exact(table)
    assert exact(read_table(path, missing="keep", schema=table.variables)) == exact(table)


@given(hostile_tables(numbers=True), st.sampled_from(TEXT))
def test_text_files_are_exact_with_a_schema(
    tmp_path_factory: pytest.TempPathFactory, table: Table, ending: str
) -> None:
    path = tmp_path_factory.mktemp("text") / f"t.{ending}"
    weights = None if table.weights is None else "the weights"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)
        write_table(table, path, weights="the weights")
    again = read_table(path, schema=table.variables, missing="keep", weights=weights)
    assert exact(again) == exact(table)


@given(hostile_tables(missing=False, numbers=True))
def test_text_files_without_a_schema_keep_labels_or_warn(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    path = tmp_path_factory.mktemp("plain") / "t.csv"
    if not table.n_rows or table.weights is not None:
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FishernetWarning)
        write_table(table, path)
        found = [] if caught else labels(read_table(path))
    if not caught:  # a name that is a number above numbers is told when it is read
        assert found == labels(table)


@pytest.mark.parametrize(("name", "label"), [(" ", "NA"), (" ", ""), ("[", "x"), ('{"', "{")])
def test_quotes_and_brackets_are_what_the_schema_says(tmp_path: Path, name: str, label: str) -> None:
    """A file all of whose cells are in quotes, or one that begins as JSON does."""
    table = Table([Variable(name, [label]), Variable("[b", ["y"])], [np.zeros(2, dtype=np.uint8)] * 2)
    for some in (table, table.select([name])):
        path = tmp_path / f"{some.n_rows}{len(some.names)}.tsv"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FishernetWarning)
            write_table(some, path)
        assert exact(read_table(path, schema=some.variables, missing="keep")) == exact(some)


def test_a_warning_names_the_columns_that_change(tmp_path: Path) -> None:
    table = Table([Variable("x", ["1", "2"]), Variable("y", ["a", "b"])], Table.from_codes([[0, 1], [1, 0]]).codes)
    with pytest.warns(FishernetWarning, match="labels of column 'x' will have another type"):
        write_table(table, tmp_path / "t.csv")


def test_numbers_that_would_be_states_are_warned_of_and_come_back_with_a_schema(tmp_path: Path) -> None:
    whole = Table([Continuous("x"), Continuous("y")], [np.array([1.0, np.nan, 3.0]), np.array([0.1, 1e-300, 1 / 3])])
    with pytest.warns(FishernetWarning, match="the labels of column 'x' will have another type, be numbers or states"):
        write_table(whole, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").variables == (Variable("x", [1, 3]), Continuous("y"))
    assert exact(read_table(tmp_path / "t.csv", schema=whole.variables)) == exact(whole)
    assert exact(read_table(tmp_path / "t.csv", continuous=["x"])) == exact(whole)
    many = Table.from_codes([[code] for code in range(30)])
    with pytest.warns(FishernetWarning, match="column 'v0'"):
        write_table(many, tmp_path / "many.csv")
    assert read_table(tmp_path / "many.csv", categorical=["v0"]) == many


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx", ".parquet"])
@pytest.mark.parametrize("n_infinite", [2, 40])
def test_infinite_numbers_come_back(tmp_path: Path, ending: str, n_infinite: int) -> None:
    x = np.arange(80) / 8
    x[:n_infinite:2], x[1:n_infinite:2] = np.inf, -np.inf
    table = Table([Continuous("x")], [x])
    write_table(table, tmp_path / f"t{ending}")
    assert read_table(tmp_path / f"t{ending}") == table


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_infinite_numbers_of_pandas_are_the_same_in_files_and_streams(tmp_path: Path, ending: str) -> None:
    """Also where a part of the rows holds no other number, and where each number occurs in several rows."""
    x = np.concatenate([np.full(50, np.inf), np.arange(150) % 30 / 7, [-np.inf]])
    frame = pd.DataFrame({"x": x, "y": np.arange(201) / 3})
    path = tmp_path / f"t{ending}"
    frame.to_csv(path, index=False) if ending == ".csv" else frame.to_parquet(path)
    table = Table.from_frame(frame)
    assert read_table(path) == table
    stream = scan(path)
    assert stream.variables == table.variables
    assert stream.rows_digest() == table.rows_digest()


@pytest.mark.parametrize("written", ["{:.2f}", "{:.2f} EUR", "$ {:,.2f}", "{:,.2f}%", "{:.2f}k"])
def test_infinite_numbers_stand_beside_numbers_of_any_form(tmp_path: Path, written: str) -> None:
    """Also where words are missing cells, and where labels stand for others."""
    x = np.arange(12_000) * 1.5 + 0.25
    x[5::7], x[6::7], x[::70] = np.inf, -np.inf, np.nan
    words = {np.inf: "Inf", -np.inf: "-Inf"}
    cells = ["none" if number != number else words.get(number, written.format(number)) for number in x.tolist()]
    pd.DataFrame({"x": cells, "y": np.arange(12_000) % 3}).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    expected = x * (1000 if written.endswith("k") else 1)
    np.testing.assert_allclose(table.column("x"), expected, rtol=1e-12)
    assert scan(tmp_path / "t.csv") == table


def test_capital_truth_values_stay_text(tmp_path: Path) -> None:
    """TRUE and FALSE are R's words, and labels of many networks: they come back as they were, without a warning."""
    table = Table([Variable("x", ["FALSE", "TRUE"])], Table.from_codes([[0], [1]]).codes)
    write_table(table, tmp_path / "t.csv")
    assert exact(read_table(tmp_path / "t.csv")) == exact(table)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet", "arrow"])
def test_nothing_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    path.write_bytes(b"old")

    def fail(table: Table, file: Any, *_: object) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setitem(FORMATS, f".{ending.removesuffix('.gz')}", fail)
    with pytest.raises(KeyboardInterrupt):
        write_table(Table.from_codes([[0], [1]]), path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208


def test_an_existing_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_table(Table.from_codes([[0], [1]]), path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_table(Table.from_codes([[0], [1]]), tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "v0\n0\n1\n"


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    (tmp_path / "t.csv").symlink_to("/dev/null")
    write_table(Table.from_codes([[0], [1]]), tmp_path / "t.csv")
    assert not Path("/dev/null").is_file()
    assert list(tmp_path.iterdir()) == [tmp_path / "t.csv"]


def test_gzip_does_not_take_its_slowest_way(tmp_path: Path) -> None:
    """RFC 1952: the ninth byte is 2 where the compressor used its slowest algorithm."""
    path = tmp_path / "t.csv.gz"
    write_table(Table.from_frame({"x": ["a", "b"]}), path)
    assert path.read_bytes()[:3] == b"\x1f\x8b\x08"
    assert path.read_bytes()[8] != 2


@pytest.mark.parametrize("name", ["t.ods", "t", "t.parquet.gz"])
def test_endings_that_are_not_known(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match="by the path's ending"):
        write_table(Table.from_codes([[0], [1]]), tmp_path / name)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_table(Table.from_codes([[0], [1]]), tmp_path / "none" / "t.csv")
    with pytest.raises(FileFormatError, match="cannot be written"), replacing(tmp_path):
        pass


@pytest.mark.parametrize(
    "variable", [Variable("x", [1, "1"]), Variable("x", [True, "true"]), Variable("x", [0, 1], cuts=[5.0])]
)
def test_states_that_text_cannot_tell_apart_are_refused(tmp_path: Path, variable: Variable) -> None:
    table = Table.from_codes([[0], [1]], [variable])
    with pytest.raises(SchemaError, match="variable 'x': the state .* could not be told from others in a text file"):
        write_table(table, tmp_path / "t.csv")
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_text_that_looks_like_something_else_is_quoted(tmp_path: Path) -> None:
    states = ["1", "1.5", "true", "NA", "", "?", " x", "a;b", "TRUE", "007", "plain"]
    table = Table.from_codes([[i, 0] for i in range(len(states))], [Variable("x", states), Variable("y", [1])])
    with pytest.warns(FishernetWarning, match="column 'x'"):  # without a schema an empty cell is missing
        write_table(table, tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()[1:]
    quoted = [line.removesuffix(",1").startswith('"') for line in lines]
    assert quoted == [True] * 8 + [False] * 3


def test_missing_cells_of_a_single_column_are_no_empty_lines(tmp_path: Path) -> None:
    table = Table.from_codes([[0], [2], [1], [2]], [Variable("x", ["", "NA"])])
    with pytest.warns(FishernetWarning, match="column 'x'"):
        write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == 'x\n""\nNA\n"NA"\nNA\n'
    assert exact(read_table(tmp_path / "t.csv", schema=table.variables, missing="keep")) == exact(table)


def test_more_rows_than_are_put_together_at_a_time(tmp_path: Path) -> None:
    table = random_table(5, 2 * ROWS + 3, [2, 5], weighted=True, missing=0.1)
    write_table(table, tmp_path / "t.csv", weights="n")
    again = read_table(tmp_path / "t.csv", schema=table.variables, missing="keep", weights="n")
    assert exact(again) == exact(table)


def test_tables_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="without columns"):
        write_table(Table([], []), tmp_path / "t.csv")
    weighted = Table.from_codes([[0], [1]], weights=[1, 2])
    with pytest.raises(SchemaError, match="different name"):
        write_table(weighted, tmp_path / "t.csv", weights="v0")


FORMULAS = ["=1+2", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\tx", "\rx", "-5", "+1e3", "plain", "a=b"]


@pytest.mark.parametrize("ending", TEXT)
def test_formulas_are_written_as_they_are_or_escaped(tmp_path: Path, ending: str) -> None:
    """By default the same table is read again; escaped, only text that is no number has an apostrophe before it."""
    labels = [*FORMULAS]
    table = Table([Variable("=name", labels)], [np.arange(len(labels), dtype=np.uint8)])
    path = tmp_path / f"t.{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)
        write_table(table, path)
        assert exact(read_table(path, schema=table.variables)) == exact(table)
        write_table(table, path, escape_formulas=True)
    opened = gzip.open if ending.endswith("gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        rows = [row[0] for row in csv.reader(file, delimiter="\t" if "tsv" in ending else ",")]
    assert rows == ["'=name", *(f"'{label}" for label in labels[:6]), *labels[6:]]


def test_numbers_are_no_formulas(tmp_path: Path) -> None:
    table = Table.from_frame({"x": [-1.5, 2.25, None]})
    write_table(table, tmp_path / "a.csv")
    write_table(table, tmp_path / "b.csv", escape_formulas=True)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
