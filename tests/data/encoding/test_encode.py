"""What becomes of missing and unknown cells, with and without a schema."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet import Continuous, FishernetWarning, MissingValueError, SchemaError, Table, UnknownStateError, Variable
from tests.data.hostile import exact, labels

GAPPY: dict[str, list[Any]] = {"x": [3, None, 1, 2], "y": ["b", "c", None, "a"], "z": [True, False, True, True]}


# -------------------------------------------------------------------------------------------- states that occur


def test_states_are_the_labels_that_occur_sorted() -> None:
    columns = {"i": [10, 9, 2], "f": [5.0, -1.0, 2.0], "t": ["b", "B", "a"], "b": [True, False, True]}
    table = Table.from_frame(columns, categorical=["i", "f"])
    assert [table["i"].tolist(), table["f"].tolist()] == [[10, 9, 2], [5.0, -1.0, 2.0]]
    assert table.variables == (
        Variable("i", (2, 9, 10)),
        Variable("f", (-1.0, 2.0, 5.0)),
        Variable("t", ("B", "a", "b")),
        Variable("b", (False, True)),
    )


@given(st.permutations(range(6)))
def test_variables_do_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    columns: dict[str, list[Any]] = {"x": [5, 3, 3, 1, 2, 9], "y": ["a", "c", "b", "c", "a", "d"]}
    table = Table.from_frame(columns)
    shuffled = Table.from_frame({name: [column[i] for i in order] for name, column in columns.items()})
    assert shuffled == table[order]


def test_many_numbers_stay_numbers_unless_they_are_cut_or_declared() -> None:
    columns = {"x": [7, *range(1, 257)], "y": [*range(20), *[0] * 237], "t": [f"t{i % 49}" for i in range(257)]}
    assert Table.from_frame(columns).variables[0] == Continuous("x")
    assert Table.from_frame(columns).cardinalities == (1, 20, 49)
    assert Table.from_frame(columns, bins={"x": 300}).cardinalities == (256, 20, 49)
    assert Table.from_frame(columns, bins=2).cardinalities == (2, 20, 49)
    assert Table.from_frame(columns, bins=2, categorical=["y"]).cardinalities == (2, 20, 49)
    assert Table.from_frame({"x": pa.array(range(257)).dictionary_encode()}).cardinalities == (257,)
    assert Table.from_frame(columns, bins={"y": 2}).cardinalities == (1, 2, 49)


def test_a_column_may_be_declared_continuous_whatever_it_holds() -> None:
    texts = {"x": ["1", "2.50", None, "?"], "z": pa.array([3, 1, 3, 1]).dictionary_encode()}
    table = Table.from_frame(texts, continuous=["x", "z"])
    np.testing.assert_array_equal(table.numbers, [[1, 2.5, np.nan, np.nan], [3, 1, 3, 1]])
    assert Table.from_frame({"x": [None, None]}, continuous=["x"]).missing_counts() == {"x": 2}
    assert Table.from_frame({"x": []}, continuous=["x"]).shape == (0, 1)


def test_a_continuous_column_has_no_state_for_missing_cells() -> None:
    with pytest.raises(MissingValueError, match=r"'x' \(1\); a continuous column has no states, so cut it into bins"):
        Table.from_frame({"x": [0.5, None]}, missing="state")
    assert Table.from_frame({"x": [0.5, None, 1.5, 2.5]}, missing="drop").column("x").tolist() == [0.5, 1.5, 2.5]


def test_no_rows_no_states() -> None:
    with pytest.raises(SchemaError, match="below the names 'x', so the states of column 'x' are unknown unless they"):
        Table.from_frame({"x": []})
    assert Table.from_frame({"x": []}, schema=[Variable("x", [1])]).n_rows == 0
    declared = pa.DictionaryArray.from_arrays(pa.array([], pa.int8()), pa.array(["a", "b"]))
    assert Table.from_frame({"x": declared}).cardinalities == (2,)
    assert Table.from_frame({}).n_rows == 0


# ------------------------------------------------------------------------------------------------ missing cells


def test_missing_state_is_a_state_of_its_own_where_cells_are_missing() -> None:
    table = Table.from_frame(GAPPY, missing="state", categorical=["x"])
    assert [v.states for v in table.variables] == [(1, 2, 3, "missing"), ("a", "b", "c", "missing"), (False, True)]
    assert [column.tolist() for column in table.codes[:2]] == [[2, 3, 0, 1], [1, 2, 3, 0]]
    assert not table.has_missing


def test_the_missing_state_is_made_unique() -> None:
    table = Table.from_frame({"x": ["missing", None, "missing_"]}, missing="state")
    assert table.variables[0].states == ("missing", "missing_", "missing__")
    assert table.codes[0].tolist() == [0, 2, 1]


def test_a_binned_column_may_have_a_missing_state() -> None:
    table = Table.from_frame({"x": [1.0, 2.0, None, 3.0, 4.0]}, bins=2, missing="state")
    variable = table.variables[0]
    assert (variable.states, variable.cuts) == (("<= 2", "> 2", "missing"), (2.0,))
    assert table.codes[0].tolist() == [0, 0, 2, 1, 1]
    again = Table.from_frame({"x": [None, 9.0]}, schema=table.variables, missing="state")
    assert again.codes[0].tolist() == [2, 1]


@given(
    st.lists(st.sampled_from([1, 2, 3, None]), min_size=1),
    st.lists(st.sampled_from(["a", "b", "c", None])),
    st.sampled_from([None, 2]),
)
def test_missing_drop_is_as_if_the_rows_had_never_been(x: list[Any], y: list[Any], bins: int | None) -> None:
    size = min(len(x), len(y))
    rows = [(a, b, i) for i, (a, b) in enumerate(zip(x, y, strict=False)) if a is not None and b is not None]
    if not rows or not any(x[:size]) or not any(y[:size]):
        return
    whole = {"x": x[:size], "y": y[:size], "n": list(range(size))}
    left = {"x": [r[0] for r in rows], "y": [r[1] for r in rows], "n": [r[2] for r in rows]}
    found = Table.from_frame(whole, missing="drop", bins=bins, weights="n")
    assert exact(found) == exact(Table.from_frame(left, bins=bins, weights="n"))


def test_dropping_every_row() -> None:
    with pytest.raises(SchemaError, match="there is no row without a missing cell"):
        Table.from_frame({"x": [1, None], "y": [None, 2]}, missing="drop")
    table = Table.from_frame(
        {"x": [1, None], "y": [None, 2]}, missing="drop", schema=[Variable("x", [1]), Variable("y", [2])]
    )
    assert table.n_rows == 0


def test_a_column_of_missing_cells_only() -> None:
    frame = {"x": [None, None], "y": [1, 2], "z": ["?", ""]}
    with pytest.warns(FishernetWarning, match="the columns 'x', 'z' are left out: there are only missing cells"):
        table = Table.from_frame(frame, missing="error")
    assert table.names == ("y",)
    assert [c.why for c in table.describe().columns] == ["2 whole numbers", "only missing cells", "only missing cells"]
    assert Table.from_frame(frame, exclude=["z"], continuous=["x"], missing="keep").names == ("x", "y")
    with pytest.raises(SchemaError, match="there are only missing cells in 'x'"):
        Table.from_frame(frame, exclude=["z"], categorical=["x"])
    declared = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array(["a"]))
    assert Table.from_frame({"x": declared}, missing="keep").codes[0].tolist() == [1]
    with pytest.raises(SchemaError, match="there are only missing cells in 'x'"):
        Table.from_frame({"x": pa.nulls(2).dictionary_encode()}, missing="keep")


def test_na_values_are_text_and_apply_to_what_is_not_declared() -> None:
    columns = {"x": ["a", "?", "-"], "y": pa.array(["a", "?", "-"]).dictionary_encode(), "z": [1, 2, 2]}
    table = Table.from_frame(columns, missing="keep")
    assert [v.states for v in table.variables] == [("-", "a"), ("a", "?", "-"), (1, 2)]
    assert Table.from_frame(columns, missing="keep", na_values=["-"]).variables[0].states == ("?", "a")
    assert Table.from_frame(columns, na_values=[]).variables[0].states == ("-", "?", "a")


# -------------------------------------------------------------------------------------------------- a schema


SCHEMA = [Variable("y", ["c", "b", "a"]), Variable("x", [1, 2, 3, 4])]


def test_the_row_is_that_of_the_source() -> None:
    columns = {"x": [1, None, 9], "y": ["a", "b", "a"]}
    with pytest.raises(UnknownStateError, match="row 2: the label 9"):
        Table.from_frame(columns, schema=SCHEMA, missing="drop")


def test_unknown_labels_in_dropped_rows_do_not_matter() -> None:
    table = Table.from_frame({"x": [1, 9], "y": ["a", None]}, schema=SCHEMA, missing="drop")
    assert table.n_rows == 1


@pytest.mark.parametrize(
    ("missing", "expected"), [("error", [0, 3]), ("keep", [0, 3]), ("state", [0, 2]), ("drop", [0])]
)
def test_unknown_labels_may_become_missing_cells(missing: str, expected: list[int]) -> None:
    schema = [Variable("x", ["a", "b", "missing"])]
    table = Table.from_frame({"x": ["a", "q"]}, schema=schema, unknown="missing", missing=missing)  # type: ignore[arg-type]
    assert table.codes[0].tolist() == expected
    weighted = {"x": ["q", "a"], "n": [5, 7]}
    table = Table.from_frame(weighted, schema=schema, unknown="missing", missing=missing, weights="n")  # type: ignore[arg-type]
    assert table.weights is not None
    assert table.weights.tolist() == ([7] if missing == "drop" else [5, 7])


def test_a_declared_label_that_never_occurs_may_be_unknown() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["a", "zzz"]))
    assert Table.from_frame({"x": column}, schema=[Variable("x", ["a"])]).codes[0].tolist() == [0, 0]


def test_missing_cells_with_a_schema() -> None:
    with_state, without = Variable("x", ["a", "missing"]), Variable("x", ["a"])
    column = {"x": ["a", None]}
    assert Table.from_frame(column, schema=[with_state], missing="state").codes[0].tolist() == [0, 1]
    assert Table.from_frame(column, schema=[with_state], missing="keep").codes[0].tolist() == [0, 2]
    with pytest.raises(MissingValueError, match=r"'x' \(1\); these variables have no state for them"):
        Table.from_frame(column, schema=[without], missing="state")
    with pytest.raises(MissingValueError, match="there are missing cells"):
        Table.from_frame(column, schema=[with_state], missing="error")
    assert Table.from_frame({"x": [None, "?"]}, schema=[without], missing="keep").codes[0].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("states", "cells", "expected"),
    [
        ([1, 2], [2, 1], [1, 0]),
        ([1, 2], [2.0, 1.0], [1, 0]),
        ([1, 2], ["2", "1.0"], [1, 0]),
        ([1.0, 2.5], [1, 2.5], [0, 1]),
        ([0.1], ["0.1"], [0]),
        ([False, True], ["TRUE", "false"], [1, 0]),
        ([False, True], [True, False], [1, 0]),
        (["1", "2"], ["2", "1"], [1, 0]),
        ([1, "1"], ["1", "1"], [1, 1]),  # text is looked up as text first
        ([1, "a"], ["a", "1"], [1, 0]),
    ],
)
def test_numbers_are_matched_by_value_and_text_by_text(
    states: list[Any], cells: list[Any], expected: list[int]
) -> None:
    assert Table.from_frame({"x": cells}, schema=[Variable("x", states)]).codes[0].tolist() == expected


@pytest.mark.parametrize(
    ("states", "cells"),
    [(["1", "1.0"], [1]), (["1"], [1, 1.0, "1"]), (["1.0"], ["1"]), ([1], ["01"]), (["true"], [True])],
)
def test_text_stands_for_a_number_of_the_data_only_where_it_alone_does(states: list[Any], cells: list[Any]) -> None:
    with pytest.raises(UnknownStateError):
        Table.from_frame({"x": cells}, schema=[Variable("x", states)])


def test_bins_take_numbers_text_of_numbers_and_their_own_labels() -> None:
    schema = [Variable("x", ["low", "high", "missing"], [2.5])]
    table = Table.from_frame({"x": ["1", "9.5", "high", "low", "missing"]}, schema=schema)
    assert table.codes[0].tolist() == [0, 1, 1, 0, 2]
    assert Table.from_frame({"x": [2.5, 2.6, float("inf")]}, schema=schema).codes[0].tolist() == [0, 1, 1]
    with pytest.raises(UnknownStateError, match="row 1: the label 'medium'"):
        Table.from_frame({"x": ["1", "medium"]}, schema=schema)
    with pytest.raises(UnknownStateError, match="the label True"):
        Table.from_frame({"x": [True]}, schema=schema)


# -------------------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("weights", [[1, 2**52 + 1], ["1", "2"], [1.0, 2.0], ["1", "2.0"], [3, 3]])
def test_weights_of_any_type(weights: list[Any]) -> None:
    table = Table.from_frame({"x": ["a", "b"], "n": weights}, weights="n")
    assert table.weights is not None
    assert table.weights.tolist() == [int(float(w)) if isinstance(w, str) else int(w) for w in weights]


@pytest.mark.parametrize(
    ("weights", "what"),
    [
        ([1, -1], "is -1"),
        ([1, None], "is missing"),
        (["1", "x"], "is 'x'"),
        ([1, 2.0**63], "is 9.2"),
        (["1", "?"], "is missing"),
    ],
)
def test_what_is_no_weight(weights: list[Any], what: str) -> None:
    message = f"column 'n', row 1: a weight must be a number, 0 or more; this one {what}"
    with pytest.raises(SchemaError, match=message):
        Table.from_frame({"x": ["a", "b"], "n": weights}, weights="n", missing="keep")


def test_columns_of_length_one_state_and_many_states() -> None:
    many = [f"s{i:05}" for i in range(65_536)]
    table = Table.from_frame({"x": many[::-1], "y": ["a"] * len(many)}, categorical=["x"])
    assert table.cardinalities == (65_536, 1)
    assert table.column("x").dtype == np.uint32
    assert labels(table[:3])["x"] == many[:-4:-1]
