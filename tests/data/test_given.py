"""What a person says of a variable means what a cell of a table with the same content would mean."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.data.given import code_of, value_given

BINS = fn.Variable("carat", ["<= 0.5", "(0.5, 1]", "> 1"], [0.5, 1.0])
DAYS = [datetime.date(2021, 1, 1) + datetime.timedelta(days=d) for d in range(0, 400, 3)]


@pytest.mark.parametrize(
    ("states", "said", "state"),
    [
        ([1, 2, 3], "3", 3),
        ([1, 2, 3], " 3.0", 3),
        ([1, 2, 3], np.int64(3), 3),
        ([0.5, 2.0], "2", 2.0),
        ([False, True], "true", True),
        ([False, True], "False", False),
        ([False, True], np.bool_(True), True),
        ([1, "1"], "1", "1"),
        ([1, "1"], 1, 1),
        (["NA", "?"], "NA", "NA"),
        (["01", 1], "01", "01"),
        (["01", 1], "1", 1),
    ],
)
def test_a_label_equal_to_what_is_said_wins_and_text_stands_for_what_it_would_in_a_table(
    states: list[Any], said: Any, state: Any
) -> None:
    found = value_given(fn.Variable("v", states), said)
    assert (found, type(found)) == (state, type(state))


@pytest.mark.parametrize(
    ("said", "code"),
    [(0.5, 0), (0.50001, 1), (np.float32(1), 1), (1, 1), ("1.2", 2), ("1e9", 2), (-np.inf, 0), ("> 1", 2)],
)
def test_a_number_falls_into_its_bin(said: Any, code: int) -> None:
    assert code_of(BINS, said) == code


@given(st.floats(-10, 10))
def test_a_number_falls_where_a_tables_cell_does(number: float) -> None:
    table = fn.Table.from_frame({"carat": [number]}, schema=[BINS])
    assert code_of(BINS, number) == code_of(BINS, repr(number)) == table.column("carat")[0]


@pytest.mark.parametrize(
    ("variable", "said", "hint"),
    [
        (fn.Variable("v", [1, 2]), "x", r"it has 1, 2$"),
        (fn.Variable("v", [1, 2]), 3, "it has 1, 2"),
        (fn.Variable("v", ["2.0", "2"]), 2, "its label is '2', of type str"),
        (fn.Variable("v", ["a", "b"]), None, "no state None"),
        (fn.Variable("v", ["a", "b"]), ["a"], r"no state \['a'\]"),
        (fn.Variable("v", ["a", "b"]), datetime.date(2021, 1, 1), "no state"),
        (BINS, "small", "and numbers fall into their bins"),
        (BINS, float("nan"), "no state nan"),
        (BINS, True, "no state True"),
        (BINS, datetime.date(2021, 1, 1), "no state"),
        (BINS, "2021-01-01", "no state '2021-01-01'"),
    ],
)
def test_what_means_nothing_is_refused_with_column_value_and_labels(
    variable: fn.Variable, said: Any, hint: str
) -> None:
    with pytest.raises(fn.UnknownStateError, match=hint) as caught:
        value_given(variable, said, parameter="given")
    assert (caught.value.variable, caught.value.parameter) == (variable.name, "given")
    assert caught.value.label is said
    assert repr(variable.name) in str(caught.value)


def test_what_says_the_same_as_one_state_means_it() -> None:
    assert value_given(fn.Variable("v", ["1", "2"]), 2) == "2"
    assert value_given(fn.Variable("v", ["le_34", "gt_34"]), "<= 34") == "le_34"
    assert value_given(fn.Variable("v", ["gt_34", "le_34"]), 34.5) == "gt_34"
    with pytest.raises(fn.UnknownStateError):
        value_given(fn.Variable("v", ["a_b", "a-b"]), "a b")


@pytest.mark.parametrize("kind", [datetime.date, datetime.datetime])
def test_a_date_falls_into_its_bin_however_it_is_written(kind: Any) -> None:
    """Compared with Python's own order of dates, not with the encoder."""
    days = DAYS if kind is datetime.date else [datetime.datetime(d.year, d.month, d.day, 6, 30) for d in DAYS]
    variable = fn.Table.from_frame({"day": pd.to_datetime(days) if kind is datetime.datetime else days}, bins=4)["day"]
    column = fn.Table.from_frame(
        {"day": pd.to_datetime(days) if kind is datetime.datetime else days}, bins=4
    ).variables[0]
    assert isinstance(column, fn.Variable)
    assert len(variable) == len(days)
    unit = 86_400 if kind is datetime.datetime else 1
    borders = [datetime.datetime(1970, 1, 1) + datetime.timedelta(days=cut / unit) for cut in column.cuts or ()]
    assert len(borders) == 3
    for day in days[::7]:
        moment = day if isinstance(day, datetime.datetime) else datetime.datetime(day.year, day.month, day.day)
        expected = sum(border < moment for border in borders)
        said = [day, str(day), np.datetime64(day), pd.Timestamp(day)]
        assert [code_of(column, one) for one in said] == [expected] * 4


def test_times_and_days_become_each_other() -> None:
    days = fn.Variable("d", ["<= 2021-03-28", "> 2021-03-28"], [18714.0])
    assert code_of(days, "2021-03-28 23:59:59") == 0  # a time of that day
    assert code_of(days, datetime.datetime(2021, 3, 29)) == 1
    times = fn.Variable("t", ["<= 2021-03-28 12:00:00", "> 2021-03-28 12:00:00"], [18714.5 * 86_400])
    assert code_of(times, "2021-03-28") == 0
    assert code_of(times, datetime.date(2021, 3, 29)) == 1
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert code_of(times, datetime.datetime(2021, 3, 28, 14, 0, tzinfo=zone)) == 0
    assert code_of(times, datetime.datetime(2021, 3, 28, 14, 1, tzinfo=zone)) == 1


@pytest.mark.parametrize("said", [1.5, "1.5", np.float64(1.5), " 1.5 "])
def test_a_continuous_variable_takes_numbers(said: Any) -> None:
    assert value_given(fn.Continuous("x"), said) == 1.5


def test_a_continuous_variable_of_dates_takes_dates() -> None:
    assert value_given(fn.Continuous("x", "days"), "2021-03-28") == 18714
    assert value_given(fn.Continuous("x", "seconds"), datetime.datetime(2021, 3, 28, 0, 0, 1)) == 18714 * 86_400 + 1


@pytest.mark.parametrize("said", ["x", "", None, True, float("inf"), "2021-03-28", datetime.date(2021, 3, 28), [1.0]])
def test_a_continuous_variable_refuses_what_is_no_number(said: Any) -> None:
    with pytest.raises(fn.UnknownStateError, match="finite numbers, and"):
        value_given(fn.Continuous("x"), said)
