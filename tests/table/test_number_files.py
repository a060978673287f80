"""Columns of numbers read from files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import fishernet as fn
from fishernet.data.numbers import NamedColumns, read_numbers

X = np.random.default_rng(1).normal(size=(300, 3)) * [1e-30, 1.0, 1e30]


def written(folder: Path, name: str) -> Path:
    frame = pd.DataFrame(X, columns=["a", "b b", "c"])
    frame["whole"] = np.arange(300)
    path = folder / name
    if ".parquet" in name:
        frame.to_parquet(path)
    elif ".arrow" in name:
        pa.feather.write_feather(pa.Table.from_pandas(frame), path)
    elif ".arff" in name:
        rows = "".join(f"{','.join(map(repr, row))}\n" for row in frame.to_numpy().tolist())
        names = "".join(f"@attribute {name} numeric\n" for name in ("a", "'b b'", "c", "whole"))
        path.write_text(f"@relation x\n{names}@data\n{rows}", encoding="utf-8")
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    return path


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.tsv", "x.tsv.gz", "x.parquet", "x.arrow", "x.arff"])
def test_numbers_come_from_every_kind_of_file_to_the_last_bit(tmp_path: Path, name: str) -> None:
    found = read_numbers(written(tmp_path, name))
    assert found.names == ("a", "b b", "c", "whole")
    assert found.values.dtype == np.float64
    assert (found.values == np.column_stack([X, np.arange(300)]).T).all()


def test_chosen_columns_come_in_the_order_of_the_file_and_the_others_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("name,a,b\nAda,1,2\nAlan,,4\n", encoding="utf-8")
    found = read_numbers(path, columns=["b", "a"], missing="drop")
    assert (found.names, found.values.tolist()) == (("a", "b"), [[1.0], [2.0]])
    assert read_numbers(path, columns=["b"]).values.tolist() == [[2.0, 4.0]]
    day = pa.table({"day": pa.array([1, 2], pa.date32()), "x": [1.5, 2.5]})
    pa.parquet.write_table(day, tmp_path / "x.parquet")
    assert read_numbers(tmp_path / "x.parquet", columns=["x"]).values.tolist() == [[1.5, 2.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,x\n5,y\n", "column 'b', row 1: 'x' is no number; leave the column out"),
        ("a,b\n1,2\n3,true\n", "column 'b', row 1: 'true' is no number"),
        ("a,b\n1,2\n3,nan\n", "missing cells in 'b'"),
        ("a,b\n1,2\n3,inf\n", "column 'b', row 1: 'inf' is no number"),
        ("a,b\n1,2\n3,\n,\n", r"'a' \(1\), 'b' \(2\), the first in column 'a', row 2"),
        ("a,b\n1,2\n3,1e200\n", "column 'b', row 1: 1e200 cannot be used"),
    ],
)
def test_cells_that_are_no_numbers_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(fn.FishernetError, match=message):
        read_numbers(path)


def test_infinite_numbers_are_named(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": [1.0, 2.0, np.inf, -np.inf]}), tmp_path / "x.parquet")
    with pytest.raises(fn.SchemaError, match="column 'a', row 2: inf cannot be used"):
        read_numbers(tmp_path / "x.parquet")


def test_missing_cells_of_every_kind_are_dropped(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": [1.0, None, np.nan, 4.0], "b": [1, 2, 3, None]}), tmp_path / "x.parquet")
    assert read_numbers(tmp_path / "x.parquet", missing="drop").values.tolist() == [[1.0], [1.0]]
    with pytest.raises(fn.MissingValueError) as caught:
        read_numbers(tmp_path / "x.parquet")
    assert caught.value.counts == {"a": 2, "b": 1}
    with pytest.raises(fn.SchemaError, match="missing must be"):
        read_numbers(tmp_path / "x.parquet", missing="state")


def test_names_of_columns_are_checked(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv")
    with pytest.raises(fn.SchemaError, match="no column 'd', as columns asks; there are 'a', 'b b', 'c', 'whole'"):
        read_numbers(path, columns=["a", "d"])
    with pytest.raises(fn.SchemaError, match="'a' appears"):
        read_numbers(path, columns=["a", "a"])
    with pytest.raises(fn.SchemaError, match="not the str"):
        read_numbers(path, columns="a")
    with pytest.raises(fn.SchemaError, match="names no column"):
        read_numbers(path, columns=[])


def test_tables_take_some_columns_as_well(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,n,b,c\nx,2,1,u\ny,1,2,v\n", encoding="utf-8")
    table = fn.read_table(path, columns=["c", "a"], weights="n")
    assert table == fn.read_table(path, weights="n").select(["a", "c"])
    assert table.weights is not None
    with pytest.raises(fn.SchemaError, match="not both"):
        fn.read_table(path, columns=["a"], schema=table.variables)
    with pytest.raises(fn.SchemaError, match="no column 'b', as bins asks"):
        fn.read_table(path, columns=["a"], bins={"b": 2})


def test_the_same_seed_takes_the_same_rows_as_of_a_table() -> None:
    columns = NamedColumns(("row",), np.arange(50.0)[None])
    table = fn.Table.from_codes(np.arange(50)[:, None])
    for ours, theirs in zip(columns.split(0.3, 7), table.split(0.3, 7), strict=True):
        assert ours.values[0].tolist() == theirs.column("v0").tolist()
