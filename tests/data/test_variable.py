"""A variable checks itself: names, states, cuts, and the state for missing cells."""

from __future__ import annotations

import copy
import dataclasses
import enum
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet import Continuous, SchemaError, Variable
from fishernet.base.names import check_names, counted, listed, positions
from fishernet.data.variable import code_dtype, fresh_missing_state
from tests.data.hostile import state_lists, texts


@given(state_lists)
def test_a_code_is_the_position_of_its_state(states: list[str]) -> None:
    variable = Variable("x", states)
    assert variable.cardinality == len(states)
    assert [variable.code(state) for state in states] == list(range(len(states)))
    assert variable.code("no such state at all") is None


@given(state_lists)
def test_equal_variables_are_equal_hash_alike_and_survive_copies(states: list[str]) -> None:
    variable = Variable("x", states)
    for other in (Variable("x", iter(states)), copy.copy(variable), pickle.loads(pickle.dumps(variable))):
        assert other == variable
        assert hash(other) == hash(variable)
        assert [other.code(state) for state in states] == list(range(len(states)))
    assert variable != Variable("y", states)
    assert variable != Variable("x", [*states, "one more state"])


def test_a_variable_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Variable("x", ["a"]).name = "y"  # type: ignore[misc]


class Colour(enum.IntEnum):
    RED = 1


def test_states_become_plain_python_values() -> None:
    states = Variable("x", [np.int8(1), np.float32(0.5), np.str_("a")]).states  # type: ignore[list-item]
    assert states == (1, 0.5, "a")
    assert [type(state) for state in states] == [int, float, str]
    assert type(Variable("x", [Colour.RED]).states[0]) is int
    assert type(Variable("x", [np.True_]).states[0]) is bool  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([], "has no states"),
        ("ab", "not one str"),
        (["a", "b", "a"], "state 'a' appears more than once"),
        ([1, True], "state True appears more than once|state 1 appears more than once"),
        ([0.0, -0.0], "appears more than once"),
        ([None], "must be a str, int, float or bool, not NoneType"),
        ([b"a"], "not bytes"),
        ([float("nan")], "nan cannot be a state"),
        ([float("inf")], "inf cannot be a state"),
    ],
)
def test_states_that_cannot_be(states: list[str], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Variable("x", states)


def test_a_name_is_text() -> None:
    with pytest.raises(SchemaError, match="name must be a str, not int"):
        Variable(3, ["a"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("states", "cuts", "message"),
    [
        (["a", "b"], [], "2 bins need 1 cuts, got 0"),
        (["a", "b"], [1, 2], "2 bins need 1 cuts, got 2"),
        (["a", "b", "c"], [1], "3 bins need 2 cuts, got 1"),
        (["a", "missing", "c"], [1], "3 bins need 2 cuts, got 1"),
        (["a", "b", "c"], [2, 1], "ascending"),
        (["a", "b", "c"], [1, 1], "ascending"),
        (["a", "b"], [float("inf")], "finite"),
        (["a", "b"], [float("nan")], "finite"),
    ],
)
def test_cuts_that_do_not_fit(states: list[str], cuts: list[float], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Variable("x", states, cuts)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5, unique=True).map(sorted),
    st.lists(st.floats(), max_size=20),
)
def test_bins_are_closed_on_the_right(cuts: list[float], values: list[float]) -> None:
    variable = Variable("x", range(len(cuts) + 1), cuts)
    expected = [len(cuts) + 1 if value != value else sum(cut < value for cut in cuts) for value in values]
    assert variable.bin(values).tolist() == expected


def test_bin_needs_cuts() -> None:
    with pytest.raises(SchemaError, match="has no cut points"):
        Variable("x", ["a"]).bin([1.0])


@pytest.mark.parametrize(
    ("states", "cuts", "expected"),
    [
        (["a", "b"], None, None),
        (["a", "missing"], None, "missing"),
        (["missing", "missing_", "a"], None, "missing_"),
        (["missing", "missing__"], None, "missing__"),
        (["missing!"], None, None),
        ([1, 2, "missing"], None, "missing"),
        (["<= 1", "> 1"], [1.0], None),
        (["<= 1", "> 1", "missing"], [1.0], "missing"),
        (["<= 1", "missing"], [1.0], None),  # here it is a bin
    ],
)
def test_the_state_of_missing_cells(states: list[str], cuts: list[float] | None, expected: str | None) -> None:
    assert Variable("x", states, cuts).missing_state == expected


@given(st.lists(texts, unique=True))
def test_a_fresh_state_for_missing_cells_is_new_and_found(states: list[str]) -> None:
    fresh = fresh_missing_state(states)
    assert fresh not in states
    assert Variable("x", [*states, fresh]).missing_state == fresh


@pytest.mark.parametrize(
    ("cardinality", "dtype"),
    [(1, "uint8"), (255, "uint8"), (256, "uint16"), (65535, "uint16"), (65536, "uint32"), (2**32, "uint64")],
)
def test_a_columns_type_holds_the_code_of_a_missing_cell(cardinality: int, dtype: str) -> None:
    assert code_dtype(cardinality) == np.dtype(dtype)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([1, 2, 5], True),
        ([0.5, 1.5], True),
        ([2, 1, 3], False),
        ([1, 2, "missing"], True),
        ([1, "two", 3], False),
        (["low", "medium", "high"], True),
        (["low", "medium", "high", "missing"], True),
        (["high", "low", "medium"], False),
        (["5-9", "10-19", "20+"], True),
        (["grade 9", "grade 10", "grade 11"], True),
        (["blue", "green", "red"], False),
        (["only"], False),
    ],
)
def test_states_from_low_to_high_are_ordered(states: list[str | float], expected: bool) -> None:
    assert Variable("a", states).is_ordered is expected


def test_bins_and_numbers_are_ordered() -> None:
    assert Variable("a", ["low", "high"], cuts=[3.0]).is_ordered
    assert Continuous("a").is_ordered


def test_names_are_looked_up() -> None:
    assert positions(["a", "b", "c"], ["c", "a"]) == (2, 0)
    with pytest.raises(SchemaError, match="no column 'd'; there are 'a', 'b'"):
        positions(["a", "b"], ["d"], "column")


def test_names_must_be_unique() -> None:
    check_names(["a", "b"])
    with pytest.raises(SchemaError, match="the name 'a', 'b' appears more than once"):
        check_names(["b", "a", "a", "c", "b", "a"])


def test_messages_list_the_first_few() -> None:
    assert listed("abc", most=2) == "'a', 'b' and 1 more"
    assert listed("ab", most=2) == "'a', 'b'"
    assert counted({"a": 1234, "b": 5}, most=1) == "'a' (1,234) and 1 more"
