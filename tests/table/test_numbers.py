from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fishernet as fn
from fishernet.data.numbers import named_columns

VALUES = {"a": [1.0, 2.0, 4.0], "b": [3, 1, 2]}


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["mapping", "pandas", "polars", "arrow"]
)
def test_frames_of_all_kinds(make: Any) -> None:
    found = named_columns(make(VALUES))
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(found.values, [[1, 2, 4], [3, 1, 2]])
    assert found.values.flags.c_contiguous
    assert named_columns(make(VALUES), ["b"]).values.tolist() == [[3, 1, 2]]


def test_arrays_get_names() -> None:
    array = np.array([[1, 2], [3, 4], [5, 6]])
    assert named_columns(array).names == ("v0", "v1")
    assert named_columns(array, ["x", "y"]).values.tolist() == [[1, 3, 5], [2, 4, 6]]


def test_nullable_numbers() -> None:
    found = named_columns(pd.DataFrame({"a": pd.array([1, 2, 3], dtype="Int64")}))
    assert found.values.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_null_is_named(make: Any) -> None:
    with pytest.raises(fn.SchemaError, match="'b', row 1: nan"):
        named_columns(make({"a": [1.0, 2.0], "b": [1.0, None]}))


@pytest.mark.parametrize(
    ("X", "names", "message"),
    [
        (np.array([[1.0, np.inf]]), None, "'v1', row 0: inf"),
        (np.array([[1.0, 1e200]]), None, r"'v1', row 0: 1e\+200 cannot be used"),
        (np.array([[1.0, 2.0]]), ["a"], "1 names for 2 columns"),
        (np.array([[1.0, 2.0]]), ["a", "a"], "'a'"),
        (np.array([[1.0, 2.0]]), "ab", "not the str"),
        (np.arange(3.0), None, "two axes"),
        ({"a": [1.0], "b": ["x"]}, None, "'b' is not of numbers"),
        (pd.DataFrame({"a": ["x"]}), None, "'a' is not of numbers"),
        (pd.DataFrame({"a": pd.Categorical([1])}), None, "'a' is not of numbers"),
        (pd.DataFrame([[1.0, 2.0]]), None, "not int"),
        ({"a": [True, False]}, None, "'a' is not of numbers"),
        (VALUES, ["a", "c"], "lacks the column 'c'"),
        ({"a": [1.0, 2.0], "b": [1.0]}, None, "differ in their number of rows"),
        (fn.Table.from_codes([[0], [1]]), None, "a Table holds states"),
    ],
)
def test_what_is_no_table_of_numbers(X: Any, names: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        named_columns(X, names)
