"""Arrow tables: every type of label, declared states, and variables carried in metadata."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet import Continuous, FishernetWarning, SchemaError, Table, Variable
from fishernet.data.arrow import VARIABLE
from tests.data.hostile import exact, hostile_tables, labels


def one(array: Any, **keywords: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """The states of a table of one column, and its cells."""
    table = Table.from_frame(pa.table({"x": array}), categorical=["x"], **keywords)
    return table.variables[0].states, labels(table)["x"]


@pytest.mark.parametrize(
    "kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
)
def test_numbers_of_any_size(kind: str) -> None:
    array = pa.array(np.array([2, 1, 2], dtype=kind))
    assert one(array) == ((1, 2), [2, 1, 2])
    assert type(one(array)[0][0]) is (float if kind.startswith("float") else int)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_text_of_any_type(kind: pa.DataType) -> None:
    assert one(pa.array(["b", None, "a", "?"], kind)) == (("a", "b"), ["b", None, "a", None])


def test_other_types_of_label() -> None:
    assert one(pa.array([True, None, False])) == ((False, True), [True, None, False])
    assert one(pa.array([1.5, float("nan"), None])) == ((1.5,), [1.5, None, None])
    assert one(pa.array(["1.5", "2"]).cast(pa.decimal128(5, 2))) == ((1.5, 2.0), [1.5, 2.0])
    assert one(pa.array([b"b", b"a"])) == (("a", "b"), ["b", "a"])
    assert one(pa.array([b"b", b"a"]).dictionary_encode()) == (("b", "a"), ["b", "a"])
    assert one(pa.array([2**64 - 1, 0], pa.uint64())) == ((0, 2**64 - 1), [2**64 - 1, 0])


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([b"\xff", b"b"]),
        pa.array([b"\xff", b"b"]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type),
)
def test_types_without_labels(array: pa.Array) -> None:
    with pytest.raises(SchemaError, match="column 'x' holds .*; labels are text, numbers or truth values"):
        one(array)
    frame = pa.table({"x": array, "y": [1, 2]})
    with pytest.warns(FishernetWarning, match=r"left out: .*pass exclude=\['x'\] to silence this warning"):
        assert Table.from_frame(frame).names == ("y",)
    assert Table.from_frame(frame, exclude=["x"]) == Table.from_frame(frame, schema=[Variable("y", [1, 2])])


def test_durations_are_seconds_and_times_at_midnight_are_dates() -> None:
    frame = pa.table(
        {
            "took": pa.array([90, None, 3], pa.duration("s")),
            "day": pa.array([0, 86_400, None], pa.timestamp("s")),
            "at": pa.array([0, 86_401, None], pa.timestamp("s")),
        }
    )
    table = Table.from_frame(frame, continuous=["took"])
    assert table.variables == (Continuous("took"), Continuous("day", "days"), Continuous("at", "seconds"))
    np.testing.assert_array_equal(table.numbers, [[90, np.nan, 3], [0, 1, np.nan], [0, 86_401, np.nan]])
    assert Table.from_frame(table.to_frame()) == table
    parts = [frame.slice(0, 1), frame.slice(1)]  # midnight alone in the first
    assert fn.scan(parts, continuous=["took"]) == table


def test_a_dictionary_declares_states_in_its_order() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([2, None, 0]), pa.array(["b", "never", "a"]))
    assert one(array) == (("b", "never", "a"), ["a", None, "b"])
    array = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.uint8()), pa.array([3, 1]))
    assert one(array) == ((3, 1), [1, 3])


def test_chunks_with_dictionaries_of_their_own() -> None:
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["b", "a"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["c", "b"])),
    ]
    assert one(pa.chunked_array(chunks)) == (("b", "a", "c"), ["a", "b", "c", "b", None])
    assert one(pa.chunked_array([["b", "a"], ["c", None, "b"]])) == (("a", "b", "c"), ["b", "a", "c", None, "b"])


def test_dictionaries_with_nulls_and_repeated_labels() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["a", None, "b", "a"]))
    assert one(array) == (("a", "b"), ["a", None, "b", "a"])


def test_a_sliced_array_and_an_empty_chunk() -> None:
    array = pa.chunked_array([pa.array(["a", "b", "c"])[1:], pa.array([], pa.string())])
    assert one(array) == (("b", "c"), ["b", "c"])


def test_record_batches_and_the_index_of_pandas() -> None:
    assert Table.from_frame(pa.record_batch({"x": [1, 2]})).n_rows == 2
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": ["a", "b"]}, index=pd.Index(["r", "s"], name="row"))
    arrow = pa.Table.from_pandas(frame)
    assert arrow.column_names == ["x", "row"]
    assert Table.from_frame(arrow).names == ("x",)


def test_doubled_names() -> None:
    arrow = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(SchemaError, match="the name 'x' appears more than once"):
        Table.from_frame(arrow)


# -------------------------------------------------------------------------------------------------- to_frame


@given(hostile_tables())
def test_a_frame_gives_the_same_table_again(table: Table) -> None:
    assert exact(Table.from_frame(table.to_frame(), missing="keep")) == exact(table)
    assert exact(Table.from_frame(table.to_frame(), missing="keep", schema=table.variables)) == exact(table)


@given(hostile_tables())
def test_a_frame_holds_the_labels_and_declares_the_states(table: Table) -> None:
    frame = table.to_frame()
    frame.validate(full=True)
    assert {name: frame[name].to_pylist() for name in table.names} == labels(table)
    for variable in table.variables:
        assert pa.types.is_dictionary(frame.field(variable.name).type)
        assert frame[variable.name].chunk(0).dictionary.to_pylist() == list(variable.states)


@given(hostile_tables())
def test_without_metadata_the_dictionary_speaks(table: Table) -> None:
    frame = table.to_frame().replace_schema_metadata(None)
    bare = pa.table({name: frame[name] for name in table.names})
    found = Table.from_frame(bare, missing="keep")
    assert [v.states for v in found.variables] == [v.states for v in table.variables]
    assert labels(found) == labels(table)


MIXED = Variable("x", [1, "a", 2.5])


def test_mixed_states_go_as_text_and_come_back_as_they_were() -> None:
    table = Table.from_codes([[0], [1], [2], [3]], [MIXED])
    frame = table.to_frame()
    assert frame["x"].to_pylist() == ["1", "a", "2.5", None]
    assert exact(Table.from_frame(frame, missing="keep")) == exact(table)
    through_text = pa.table({"x": frame["x"].cast(pa.string())})
    assert labels(Table.from_frame(through_text, missing="keep")) == {"x": ["1", "a", "2.5", None]}


def test_integers_and_floats_go_as_floats_where_that_is_exact() -> None:
    table = Table.from_codes([[0], [1]], [Variable("x", [1, 2.5])])
    assert table.to_frame()["x"].to_pylist() == [1.0, 2.5]
    assert exact(Table.from_frame(table.to_frame())) == exact(table)
    large = Table.from_codes([[0], [1]], [Variable("x", [2**60 + 1, 2.5])])
    assert large.to_frame()["x"].to_pylist() == [str(2**60 + 1), "2.5"]
    assert exact(Table.from_frame(large.to_frame())) == exact(large)
    huge = Table.from_codes([[0], [1]], [Variable("x", [2**70, -1])])
    assert exact(Table.from_frame(huge.to_frame())) == exact(huge)
    truth = Table.from_codes([[0], [1]], [Variable("x", [True, 2])])
    assert truth.to_frame()["x"].to_pylist() == ["true", "2"]
    assert exact(Table.from_frame(truth.to_frame())) == exact(truth)


@pytest.mark.parametrize("states", [[1, "1"], [True, "true"], [2.0, "2.0"]])
def test_states_that_look_the_same_are_refused(states: list[Any]) -> None:
    table = Table.from_codes([[0], [1]], [Variable("x", states)])
    with pytest.raises(SchemaError, match="variable 'x': the states .* look the same as text"):
        table.to_frame()


def test_text_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(SchemaError, match="variable 'x' has a state that is no valid Unicode text"):
        Table.from_codes([[0]], [Variable("x", ["\ud800"])]).to_frame()


def test_bins_keep_their_cuts() -> None:
    table = Table.from_frame({"x": [1.0, 2.0, 3.0, None, 5.0]}, bins=2, missing="state")
    assert table.to_frame()["x"].to_pylist() == ["<= 2", "<= 2", "> 2", "missing", "> 2"]
    again = Table.from_frame(table.to_frame())
    assert exact(again) == exact(table)
    assert Table.from_frame({"x": [0.0]}, schema=again.variables).codes[0].tolist() == [0]


def test_bins_with_numbers_for_states_are_not_binned_again() -> None:
    table = Table.from_codes([[0], [1], [1]], [Variable("x", [0, 1], [5.0])])
    assert exact(Table.from_frame(table.to_frame(), schema=table.variables)) == exact(table)


def test_weights_are_a_marked_column() -> None:
    table = Table.from_codes([[0], [1]], weights=[3, 0])
    frame = table.to_frame()
    assert frame.column_names == ["v0", "weights"]
    assert exact(Table.from_frame(frame)) == exact(table)
    assert exact(Table.from_frame(frame, schema=table.variables)) == exact(table)
    assert table.to_frame(weights="n").column_names == ["v0", "n"]
    with pytest.raises(SchemaError, match="there is a variable 'v0'; give the weights another name"):
        table.to_frame(weights="v0")
    assert Table.from_frame(frame, schema=[Variable("weights", [0, 3])]).weights is None
    with_other = frame.append_column("m", pa.array([1, 1]))
    found = Table.from_frame(with_other, weights="m")
    assert (
        found.names,
        None if found.weights is None else found.weights.tolist(),
    ) == (
        ("v0", "weights"),
        [1, 1],
    )


def test_rows_without_columns() -> None:
    table = Table.from_codes(np.zeros((3, 0), dtype=int))
    assert Table.from_frame(table.to_frame()).n_rows == 3


def test_pandas_and_polars_take_the_frame() -> None:
    table = Table.from_frame({"x": ["b", "a", None], "y": [2, 1, 2]}, missing="keep")
    pd = pytest.importorskip("pandas")
    frame = table.to_frame().to_pandas()
    assert isinstance(frame["x"].dtype, pd.CategoricalDtype)
    assert Table.from_frame(frame, missing="keep") == table
    pl = pytest.importorskip("polars")
    assert pl.from_arrow(table.to_frame())["x"].to_list() == ["b", "a", None]


# ------------------------------------------------------------------------------------------------- metadata


def with_metadata(array: pa.Array, metadata: Any) -> pa.Table:
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    return pa.Table.from_arrays([array], schema=pa.schema([pa.field("x", array.type, metadata={VARIABLE: text})]))


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ("{", "its metadata 'fishernet.variable' describe no variable"),
        ("[]", "describe no variable"),
        ({"cuts": []}, "describe no variable"),
        ({"states": "ab"}, "describe no variable"),
        ({"states": []}, "has no states"),
        ({"states": ["a", "a"]}, "appears more than once"),
        ({"states": [None]}, "must be a str, int, float or bool"),
        ({"states": ["a", "b"], "cuts": [1, 2]}, "2 bins need 1 cuts"),
        ({"states": ["a", "b"], "cuts": ["x"]}, "describe no variable"),
        ({"states": ["a", "b"], "cuts": 3}, "describe no variable"),
    ],
)
def test_metadata_are_checked(metadata: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as e:
        Table.from_frame(with_metadata(pa.array(["a"]), metadata))
    assert "column 'x'" in str(e.value)


def test_metadata_that_do_not_fit_the_column() -> None:
    with pytest.raises(SchemaError, match="column 'x' holds 'c', and its metadata declare the states 'a', 'b'"):
        Table.from_frame(with_metadata(pa.array(["a", "c"]), {"states": ["a", "b"]}))
    table = Table.from_frame(with_metadata(pa.array(["b", None]), {"states": ["a", "b"]}), missing="keep")
    assert (table.variables[0].states, table.codes[0].tolist()) == (("a", "b"), [1, 2])


def test_a_renamed_or_filtered_column_keeps_its_variable() -> None:
    table = Table.from_frame({"x": ["c", "a", "b"]})
    frame = table.to_frame().rename_columns(["y"]).slice(1, 1)
    assert Table.from_frame(frame).variables == (Variable("y", ["a", "b", "c"]),)


@given(hostile_tables(), st.data())
def test_columns_may_be_chosen_and_ordered_anew(table: Table, data: st.DataObject) -> None:
    order = data.draw(st.permutations(table.names))
    weights = [] if table.weights is None else ["weights"]
    frame = table.to_frame().select([*weights, *order]) if "weights" not in table.names else table.to_frame()
    found = Table.from_frame(frame, missing="keep")
    assert exact(found.select(table.names)) == exact(table)
