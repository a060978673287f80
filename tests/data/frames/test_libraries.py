"""Tables as pandas and polars frames: labels, kinds, declared states and what is missing come back."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

import fishernet as fn
from fishernet import Continuous, SchemaError, Table, Variable
from tests.data.hostile import hostile_tables
from tests.tables import tables

WAYS = [pytest.param(Table.to_pandas, id="pandas"), pytest.param(Table.to_polars, id="polars")]


@given(tables(missing=True))
def test_a_table_of_text_comes_back_from_both(table: Table) -> None:
    for frame in (table.to_pandas(), table.to_polars()):
        assert Table.from_frame(frame, weights=None if table.weights is None else "weights") == table


@given(hostile_tables(numbers=True))
def test_a_table_of_any_labels_comes_back_from_pandas(table: Table) -> None:
    plain = [v if v.is_continuous else Variable(v.name, v.states) for v in table.variables]  # cuts are lost
    weights = None if table.weights is None else "the weights"
    again = Table.from_frame(
        table.to_pandas(weights="the weights"),
        weights=weights,
        continuous=[v.name for v in plain if v.is_continuous],
    )
    assert again == Table.adopt(plain, table.codes, weights=table.weights, n_rows=table.n_rows)


STATES: list[tuple[Any, ...]] = [
    ("never", "b", "a"),
    (3, 1, 2),
    (0.5, -1.0),
    (True, False),
    ("1", 1, 2.5),
    (False, "x"),
    (2**70, 1),
    ("",),
]


@pytest.mark.parametrize("states", STATES, ids=repr)
def test_a_categorical_of_pandas_declares_states_of_any_type(states: tuple[Any, ...]) -> None:
    variable = Variable("v", states)
    table = Table.from_codes([[0], [variable.cardinality], [0]], [variable])
    frame = table.to_pandas()
    assert list(frame["v"].cat.categories) == list(states)
    assert list(map(type, frame["v"].cat.categories.tolist())) == list(map(type, states))
    assert frame["v"].isna().tolist() == [False, True, False]
    assert Table.from_frame(frame) == table


@pytest.mark.parametrize(
    ("states", "texts"),
    [
        (("never", "b"), ["never", "b"]),
        ((False, "x", 2.5, 3), ["false", "x", "2.5", "3"]),
        ((2**70, 1), [str(2**70), "1"]),
        ((3, 1), pl.Int64),
        ((0.5, -1.0), pl.Float64),
        ((True, False), pl.Boolean),
    ],
    ids=repr,
)
def test_polars_has_categories_of_text_only(states: tuple[Any, ...], texts: Any) -> None:
    variable = Variable("v", states)
    column = Table.from_codes([[0], [variable.cardinality]], [variable]).to_polars()["v"]
    assert column.dtype == (pl.Enum(texts) if isinstance(texts, list) else texts)
    assert column.to_list() == [texts[0] if isinstance(texts, list) else states[0], None]


def test_states_that_look_the_same_as_text_have_no_place_in_polars() -> None:
    with pytest.raises(SchemaError, match="states '1' and 1 look the same as text"):
        Table.from_codes([[0]], [Variable("v", ["1", 1])]).to_polars()


def test_numbers_and_dates_come_back_as_such() -> None:
    columns = {
        "x": [1.5, None, 2.25],
        "day": np.array(["2021-03-28", "NaT", "1969-12-31"], dtype="datetime64[D]"),
        "time": np.array(["2021-03-28T14:05:00.250", "1969-01-01T00:00:00", "NaT"], dtype="datetime64[ms]"),
    }
    table = Table.from_frame(columns)
    assert [variable.unit for variable in table.variables if variable.is_continuous] == [None, "days", "seconds"]
    pandas, polars = table.to_pandas(), table.to_polars()
    assert pandas["x"].dtype == np.float64
    assert pandas["x"].isna().tolist() == polars["x"].is_null().to_list() == [False, True, False]
    for name in ("day", "time"):
        assert pandas[name].dtype.kind == "M"
        np.testing.assert_array_equal(pandas[name].to_numpy(), columns[name])
        np.testing.assert_array_equal(polars[name].to_numpy(), columns[name])
    assert Table.from_frame(polars) == table
    again = Table.from_frame(pandas)
    assert again == table, "pandas knows no dates without a time, so midnights are dates"


FRAME = pd.DataFrame(
    {
        "text": ["b", "a", None],
        "whole": [10, 20, 10],
        "truth": [True, False, True],
        "sized": pd.Categorical(["M", "L", "M"], categories=["S", "M", "L"]),
        "x": [0.5, np.nan, 1.5],
        "when": pd.to_datetime(["2020-02-29", None, "2021-01-01 12:30:00"], format="ISO8601"),
    }
)


@pytest.mark.parametrize("dtypes", ["plain", "numpy_nullable", "pyarrow"])
def test_labels_and_kinds_survive_the_way_there_and_back(dtypes: Any) -> None:
    frame = FRAME if dtypes == "plain" else FRAME.convert_dtypes(dtype_backend=dtypes)
    table = Table.from_frame(frame)
    back = table.to_pandas()
    for name in FRAME:
        expected = [None if pd.isna(value) else value for value in FRAME[name].tolist()]
        assert [None if pd.isna(value) else value for value in back[name].tolist()] == expected
    assert back["sized"].cat.categories.tolist() == ["S", "M", "L"]
    assert back.dtypes.map(lambda kind: kind.kind).tolist() == ["O", "O", "O", "O", "f", "M"]
    assert Table.from_frame(back) == table


@pytest.mark.parametrize("way", WAYS)
def test_weights_go_to_a_column_of_a_free_name(way: Any) -> None:
    table = Table.from_codes([[0], [1]], weights=[2, 3])
    assert list(way(table, weights="n")["n"]) == [2, 3]
    with pytest.raises(SchemaError, match="give the weights another name") as caught:
        way(table, weights="v0")
    assert caught.value.parameter == "weights"


@pytest.mark.parametrize("way", WAYS)
def test_a_frame_without_rows_keeps_its_states(way: Any) -> None:
    table = Table([Variable("v", ["b", "a"]), Continuous("x")], [np.zeros(0, np.uint8), np.zeros(0)])
    assert Table.from_frame(way(table), continuous=["x"]) == table


def test_a_frame_without_columns() -> None:
    assert Table([], [], n_rows=3).to_pandas().shape == (3, 0)
    assert Table([], [], n_rows=3).to_polars().width == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_frame_is_the_callers_own(way: Any) -> None:
    table = Table.from_frame({"x": [0.5, 1.5, 2.5]})
    frame = way(table)
    if isinstance(frame, pd.DataFrame):
        frame.loc[0, "x"] = 9.0
    else:
        frame[0, "x"] = 9.0
    assert table.column("x")[0] == 0.5


@pytest.mark.parametrize("way", WAYS)
def test_half_a_surrogate_pair_is_refused_by_name(way: Any) -> None:
    table = Table.from_codes([[0]], [Variable("v", ["\ud800"])])
    with pytest.raises(SchemaError, match="'v' has a state that is no valid Unicode"):
        way(table)


@pytest.mark.parametrize("way", [*WAYS, Table.to_frame])
@pytest.mark.parametrize("column", [["x", "y"], [0.5, 1.5]])
def test_half_a_surrogate_pair_in_a_name_is_refused(way: Any, column: list[Any]) -> None:
    table = Table.from_frame({"good": ["a", "b"], "bad\ud800": column})
    with pytest.raises(SchemaError, match=r"the column name 'bad\\ud800' is no valid Unicode text; rename"):
        way(table)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    table = fn.Table.from_frame({"a": ["x"]})
    with pytest.raises(ImportError, match=f"to_{name} needs {name}; install it with: pip install {name}"):
        getattr(table, f"to_{name}")()
