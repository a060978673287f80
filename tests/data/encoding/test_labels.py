"""The types that text labels are given, and the order of states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.data.encoding.labels import as_text, is_numeric, numbers_of, sorted_states, typed, value_of
from fishernet.data.variable import State, label_array
from tests.data.hostile import texts

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["1", "-2", "0"], [1, -2, 0]),
        (["1", str(2**70)], [1, 2**70]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1", "1.0", "1.00"], [1.0, 1.0, 1.0]),
        ([".28", "5.", "+1", "1e-3", "-2E5"], [0.28, 5.0, 1.0, 0.001, -2e5]),
        (["-0", "0"], [0.0, 0.0]),
        (["true", "false"], [True, False]),
        (["False", "True"], [False, True]),
        (["true"], [True]),
        (["TRUE", "FALSE"], ["TRUE", "FALSE"]),
        (["true", "False"], ["true", "False"]),
        (["false"], [False]),
        (["007", "1"], ["007", "1"]),
        (["00", "1"], ["00", "1"]),
        (["00.5", "1"], ["00.5", "1"]),
        (["-007"], ["-007"]),
        (["1_000"], ["1_000"]),
        (["nan", "1.5"], ["nan", "1.5"]),
        (["inf", "1.5"], [np.inf, 1.5]),
        (["Inf", "-1", "-Infinity", "-inf"], [np.inf, -1.0, -np.inf, -np.inf]),
        (["inf", "-inf"], ["inf", "-inf"]),
        (["info", "1.5"], ["info", "1.5"]),
        (["inf", "1e999", "1"], ["inf", "1e999", "1"]),
        (["1e999", "1"], ["1e999", "1"]),
        ([" 1", "2"], [" 1", "2"]),
        (["0x10"], ["0x10"]),
        (["\N{ARABIC-INDIC DIGIT ONE}"], ["\N{ARABIC-INDIC DIGIT ONE}"]),
        (["true", "1"], ["true", "1"]),
        (["tRue"], ["tRue"]),
        (["1", "a"], ["1", "a"]),
        (["9" * 5000], ["9" * 5000]),
        ([""], [""]),
    ],
)
def test_labels_are_given_the_type_that_all_of_them_have(given: list[str], expected: list[State]) -> None:
    found = typed(given).tolist()
    assert [(type(label), repr(label)) for label in found] == [(type(label), repr(label)) for label in expected]


@given(st.lists(st.integers(), min_size=1, unique=True))
def test_integers_come_back_from_text(values: list[int]) -> None:
    assert typed([as_text(value) for value in values]).tolist() == values


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.5), min_size=1, unique=True))
def test_floats_come_back_from_text_to_the_last_bit(values: list[float]) -> None:
    found = typed([as_text(value) for value in values]).tolist()
    assert found == values
    assert {type(value) for value in found} == {float}


@given(st.text())
def test_one_text_means_what_a_column_of_it_means(text: str) -> None:
    value = value_of(text)
    alone = text not in ("TRUE", "FALSE") and value not in (np.inf, -np.inf)  # which states or numbers beside them tell
    taken = value is not None and alone
    assert typed([text]).tolist() == [value if taken else text]


@given(st.lists(numbers | st.booleans() | texts, max_size=8))
def test_an_array_of_labels_holds_them_as_they_are(values: list[State]) -> None:
    found = label_array(values).tolist()
    assert found == values
    assert [type(label) for label in found] == [type(label) for label in values]


@given(st.lists(numbers | st.booleans() | texts, max_size=8))
def test_numbers_among_labels(values: list[State]) -> None:
    found = numbers_of(label_array(values)).tolist()
    for label, number in zip(values, found, strict=True):
        value = value_of(label.strip().removesuffix("%")) if isinstance(label, str) else label
        if value is None or isinstance(value, bool | str):
            assert np.isnan(number)
        elif abs(value) < 1e300:
            assert number == float(value)


def test_integers_beyond_floats_are_infinite_numbers() -> None:
    assert numbers_of(label_array([10**400, -(10**400)])).tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], True),
        ([1.5], True),
        ([1, 2**70], True),
        ([1, 2.5], True),
        ([True], False),
        (["1"], False),
        ([1, "a"], False),
    ],
)
def test_truth_values_and_text_are_no_numbers(values: list[State], expected: bool) -> None:
    assert is_numeric(label_array(values)) is expected


@given(st.lists(numbers | texts, min_size=1, max_size=8, unique=True))
def test_states_are_sorted_and_each_label_finds_its_own(values: list[Any]) -> None:
    states, codes = sorted_states(label_array(values))
    assert [states[code] for code in codes] == values
    assert sorted(codes.tolist()) == list(range(len(values)))
    numeric = [state for state in states if not isinstance(state, str)]
    text = [state for state in states if isinstance(state, str)]
    assert states == sorted(numeric) + sorted(text)


def test_equal_numbers_are_one_state() -> None:
    states, codes = sorted_states(np.array([2.0, 1.0, 2.0]))
    assert (states, codes.tolist()) == ([1.0, 2.0], [1, 0, 1])


def test_truth_values_stand_before_numbers_before_text() -> None:
    assert sorted_states(label_array(["a", 3, True, False, -1.5]))[0] == [False, True, -1.5, 3, "a"]


@pytest.mark.parametrize(
    ("state", "text"), [(True, "true"), (False, "false"), (3, "3"), (3.0, "3.0"), (1e22, "1e+22"), ("x", "x")]
)
def test_how_states_are_written(state: State, text: str) -> None:
    assert as_text(state) == text
