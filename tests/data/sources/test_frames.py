"""Data frames of every library, and mappings of columns of every kind."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet import Continuous, FishernetWarning, SchemaError, Table, Variable
from tests.data.hostile import labels, texts

MAKERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "dict": dict,
    "dict of arrays": lambda columns: {k: np.array(v, dtype=object) for k, v in columns.items()},
    "dict of series": lambda columns: {k: pd.Series(v, dtype=object) for k, v in columns.items()},
    "dict of polars": lambda columns: {k: pl.Series(v, strict=False) for k, v in columns.items()},
    "dict of tuples": lambda columns: {k: tuple(v) for k, v in columns.items()},
    "dict of generators": lambda columns: {k: (x for x in v) for k, v in columns.items()},
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas with an index": lambda columns: pd.DataFrame(columns, dtype=object).set_index(pd.Index([7, 7, 3, 1])),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "pyarrow chunks": lambda columns: pa.concat_tables([pa.table(columns)[:1], pa.table(columns)[1:]]),
}
COLUMNS: dict[str, list[Any]] = {
    "t": ["b", "a", "b", "c"],
    "i": [3, 1, 3, 1],
    "f": [0.5, -1.5, 0.5, 2.0],
    "b": [True, False, True, True],
}


@pytest.fixture(params=sorted(MAKERS))
def make(request: pytest.FixtureRequest) -> Callable[[dict[str, list[Any]]], Any]:
    return MAKERS[request.param]


def test_every_frame_gives_the_same_table(make: Callable[[dict[str, list[Any]]], Any]) -> None:
    table = Table.from_frame(make(COLUMNS))
    t, i, b = Variable("t", ("a", "b", "c")), Variable("i", (1, 3)), Variable("b", (False, True))
    assert table.variables == (t, i, Continuous("f"), b)
    assert labels(table) == COLUMNS


@pytest.mark.parametrize("policy", ["keep", "state", "drop"])
def test_every_frame_tells_missing_cells(make: Callable[[dict[str, list[Any]]], Any], policy: str) -> None:
    gappy = {
        name: [None if row == at else cell for row, cell in enumerate(column)]
        for at, (name, column) in enumerate(COLUMNS.items())
        if at < 3
    }
    table = Table.from_frame(make(gappy), missing=policy, categorical=["f"])  # type: ignore[arg-type]
    expected = Table.from_frame(gappy, missing=policy, categorical=["f"])  # type: ignore[arg-type]
    assert table == expected
    assert (
        labels(expected)["t"]
        == {"keep": [None, *COLUMNS["t"][1:]], "state": ["missing", "a", "b", "c"], "drop": ["c"]}[policy]
    )


# --------------------------------------------------------------------------------------------- declared states


def test_declared_states_are_kept_in_their_order() -> None:
    states = ("z", "never", "a")
    cells = ["a", None, "z", "a"]
    frames: list[Any] = [
        pd.DataFrame({"x": pd.Categorical(cells, categories=states)}),
        pd.DataFrame({"x": pd.Categorical(cells, categories=states, ordered=True)}),
        {"x": pd.Categorical(cells, categories=states)},
        pl.DataFrame({"x": pl.Series(cells, dtype=pl.Enum(states))}),
        {"x": pl.Series(cells, dtype=pl.Enum(states))},
        pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 2]), pa.array(states))}),
        pl.DataFrame({"x": pl.Series(["z", *cells], dtype=pl.Enum(states))})[1:],
    ]
    for frame in frames:
        table = Table.from_frame(frame, missing="keep")
        assert table.variables[0].states == states
        assert labels(table)["x"] == cells


def test_categories_may_be_numbers_or_truth_values_or_mixed() -> None:
    for categories in ([3, 1, 2], [2.5, 0.5], [True, False], [1, "a"], ["a", True], ["NA", "?", ""]):
        cells = [categories[1], None, categories[0]]
        frame = pd.DataFrame({"x": pd.Categorical(cells, categories=categories)})
        table = Table.from_frame(frame, missing="keep")
        assert table.variables[0].states == tuple(categories)
        assert labels(table)["x"] == cells


def test_a_polars_categorical_declares_nothing_so_its_states_are_sorted() -> None:
    series = pl.Series(["b", "a", None, "c"], dtype=pl.Categorical)
    for frame in (pl.DataFrame({"x": series}), {"x": series}):
        assert Table.from_frame(frame, missing="keep").variables[0].states == ("a", "b", "c")
    assert Table.from_frame(pl.DataFrame({"x": series})[3:]).variables[0].states == ("c",)


def test_categories_that_are_no_labels() -> None:
    with pytest.raises(SchemaError, match="column 'x' holds lists.*labels are text"):
        Table.from_frame(pd.DataFrame({"x": pd.Categorical([(1, 2), (3, 4)])}))


# ------------------------------------------------------------------------------------------- missing values


@pytest.mark.parametrize("nothing", [None, float("nan"), np.nan, pd.NA, pd.NaT, np.float32("nan")])
def test_whatever_is_nothing_is_missing(nothing: Any) -> None:
    for cells in (["a", nothing], [1, nothing], [1.5, nothing], [True, nothing]):
        for frame in (
            {"x": cells},
            {"x": np.array(cells, dtype=object)},
            pd.DataFrame({"x": pd.Series(cells, dtype=object)}),
        ):
            table = Table.from_frame(frame, missing="keep")
            assert labels(table)["x"] == [cells[0], None]


def test_nullable_and_masked_columns() -> None:
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int64"),
            "b": pd.array([True, None], dtype="boolean"),
            "s": pd.array(["a", None], dtype="string"),
            "p": pd.array(["a", None], dtype=pd.ArrowDtype(pa.string())),
        }
    )
    assert labels(Table.from_frame(frame, missing="keep")) == {
        "i": [1, None],
        "b": [True, None],
        "s": ["a", None],
        "p": ["a", None],
    }
    masked = np.ma.MaskedArray([1, 2, 3], mask=[False, True, False])
    assert labels(Table.from_frame({"x": masked}, missing="keep")) == {"x": [1, None, 3]}


def test_integers_with_gaps_are_the_same_numbers_in_pandas() -> None:
    table = Table.from_frame(pd.DataFrame({"x": [1, None, 2]}), missing="keep")
    assert table == Table.from_frame({"x": [1, None, 2]}, missing="keep")


# --------------------------------------------------------------------------------------------- mixed columns


@given(
    st.lists(
        texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.none(), min_size=1, max_size=8
    )
)
def test_columns_of_several_types(cells: list[Any]) -> None:
    if all(cell is None for cell in cells):
        return
    cells = cells * 2  # numbers that come again are states
    frames = [{"x": cells}, {"x": np.array([*cells, None], dtype=object)[:-1]}]
    for frame in [*frames, pd.DataFrame({"x": pd.Series(cells, dtype=object)})]:
        table = Table.from_frame(frame, missing="keep", na_values=[])
        assert labels(table)["x"] == cells


def test_types_are_kept_in_mixed_columns() -> None:
    table = Table.from_frame({"x": ["1", 1, 2.5, "a", None, "?"]}, missing="keep")
    assert table.variables[0].states == (1, 2.5, "1", "a")
    assert [type(state) for state in table.variables[0].states] == [int, float, str, str]
    assert table.codes[0].tolist() == [2, 0, 1, 3, 4, 4]


@pytest.mark.parametrize("cells", [[True, 1], [1.0, True], [0, False, "a"], (True, 2, 1)])
def test_truth_values_beside_the_same_numbers_are_refused(cells: list[Any]) -> None:
    with pytest.raises(SchemaError, match="the state .* appears more than once"):
        Table.from_frame({"x": cells})


def test_numpy_arrays_of_every_kind() -> None:
    frame = {
        "i": np.array([2, 1], dtype=np.int8),
        "f": np.array([2.5, np.nan], dtype=np.float32),
        "b": np.array([True, False]),
        "u": np.array(["é", "b"]),
        "o": np.array(["x", None], dtype=object),
        "strided": np.arange(4)[::2],
    }
    expected = {"i": [2, 1], "f": [2.5, None], "b": [True, False], "u": ["é", "b"], "o": ["x", None], "strided": [0, 2]}
    assert labels(Table.from_frame(frame, missing="keep")) == expected


# ---------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (np.zeros((2, 2)), "not ndarray; codes go through Table.from_codes"),
        ([[1, 2]], "not list"),
        (pd.Series([1]), "not Series"),
        (pl.Series([1]), "not Series"),
        (pl.LazyFrame({"x": [1]}), "not LazyFrame; collect it first"),
        ("table.csv", "not str"),
        (None, "not NoneType"),
        (pd.DataFrame([[1, 2]], columns=[np.nan, 1]), r"a column's name must be a str, not float \(nan\)"),
        (pd.DataFrame([[1, 2]], columns=[True, False]), r"a column's name must be a str, not bool \(True\)"),
        ({None: ["a"]}, "a column's name must be a str, not NoneType"),
        ({"": ["a"]}, "column 1 has no name"),
        ({"x": "abc"}, "column 'x' must be a list or an array of labels, not str"),
        ({"x": 3}, "column 'x' must be a list or an array of labels, not int"),
        ({"x": {"a": 1}}, "not dict"),
        ({"x": np.zeros((2, 2))}, r"column 'x' must have one axis, got shape \(2, 2\)"),
        ({"x": [1, 2], "y": [1]}, "column 'y' has 1 row, and column 'x' has 2"),
        ({"x": ["a", ["b"]]}, r"column 'x' holds lists; labels are text, numbers or truth"),
        ({"x": [b"\xff"]}, "column .x. holds bytes"),
        (pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)}), "column 'x' holds values of type object"),
        (pl.DataFrame({"x": [[1]]}), "column 'x' holds lists"),
    ],
)
def test_what_is_no_frame(frame: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Table.from_frame(frame)


def test_names_of_pandas_are_text() -> None:
    frame = pd.DataFrame(np.eye(4), columns=[0.5, 1, datetime.date(2020, 1, 2), np.float32(2.5)])
    assert Table.from_frame(frame).names == ("0.5", "1", "2020-01-02", "2.5")
    long = pd.DataFrame({"g": [1, 1, 2, 2, 3, 3], "x": [0.1, 0.2, 0.4, 0.9, 0.3, 0.8]})
    by_group = long.groupby("g").agg({"x": ["mean", "std"]})
    assert Table.from_frame(by_group).names == ("x_mean", "x_std")
    assert Table.from_frame(by_group.reset_index(), exclude=["g"]).names == ("x_mean", "x_std")
    twice = pd.concat([long[["x"]], long[["x"]] ** 2, long[["g"]]], axis=1)
    with pytest.warns(FishernetWarning, match="columns have the same name; the later ones are called 'x.1'"):
        table = Table.from_frame(twice)
    assert table.names == ("x", "x.1", "g")
    np.testing.assert_array_equal(table.column("x.1"), long["x"] ** 2)


def test_objects_of_python() -> None:
    """Of pandas, which keeps them as they are, and of lists."""
    data = {
        "price": [decimal.Decimal("1.5"), decimal.Decimal(3), None],
        "at": [datetime.time(14, 30), None, datetime.time(0)],
        "took": [datetime.timedelta(seconds=90), datetime.timedelta(0), None],
    }
    for frame in (data, pd.DataFrame(data)):
        table = Table.from_frame(frame, continuous=["price", "took"])
        assert table.variables == (Continuous("price"), Continuous("at", "time"), Continuous("took"))
        np.testing.assert_array_equal(table.numbers, [[1.5, 3, np.nan], [52_200, np.nan, 0], [90, 0, np.nan]])
    months = pd.DataFrame({"month": pd.period_range("2024-01", periods=3, freq="M").repeat(2)})
    assert Table.from_frame(months).variables == (Continuous("month", "days"),)
    assert Table.from_frame(months, categorical=["month"]).variables[0].states == ("2024-01", "2024-02", "2024-03")
