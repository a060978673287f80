"""The orders that words have, found or asked for."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import fishernet as fn
from fishernet.base.errors import SchemaError

ORDERED = [
    ["low", "med", "high", "vhigh"],
    ["S", "M", "L", "XL"],
    ["under 18", "18-24", "25-34", "35-64", "65+"],
    ["<5", "5 to 9", "10 to 99", "100 or more"],
    ["5,000-10,000", "10,000-20,000", "> 20,000"],
    ["(0, 5]", "(5, 10]", "(10, 20]"],
    ["grade 1", "grade 2", "grade 10"],
    ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"],
    ["never", "sometimes", "often", "always"],
    ["Jan", "Feb", "Mar", "Oct"],
    ["Mon", "Tue", "Sun"],
    ["none", "mild", "severe"],
    ["1st", "2nd", "3rd", "10th", "21st"],
    ["9th grade", "10th grade", "11th grade"],
    ["2 of 10", "9 of 10", "10 of 10"],
    ["1/10", "2/10", "10/10"],
    ["I", "II", "IV", "V", "IX"],
    ["Stage I", "Stage IIA", "Stage IIB", "Stage V", "Stage IX"],
    ["A+", "A", "A-", "B", "F"],
    ["AAA", "AA+", "AA", "A", "BBB"],
]
BY_LETTERS = [
    ["no", "yes"],
    ["f", "m"],
    ["A", "B", "C"],
    ["0-1", "1-0", "2-1"],  # scores of games
    ["high", "low", "unknown"],  # one word is on no scale
    ["b1", "b10x", "b2"],
    ["med", "medium", "x-ray"],
    ["1.10.2", "1.2.0", "1.9.9"],
    ["E10", "E2", "F3"],
    ["1.10.0", "1.2.0", "1.9.0"],
    ["C", "D", "I", "M", "X"],
    ["V", "X", "XI"],  # letters of a code: there is no I
    ["Group I", "Group IX", "Other V"],
    ["A", "A B", "B"],
    ["1st", "2th", "x3rd"],
]


def _table(states: list[str], **how: Any) -> fn.Table:
    rows = states * 3
    random.Random(1).shuffle(rows)
    return fn.Table.from_frame({"x": rows}, **how)


@pytest.mark.parametrize("states", ORDERED, ids=lambda states: states[0])
def test_words_with_an_order_of_their_own(states: list[str], tmp_path: Path) -> None:
    table = _table(states)
    assert table.variables[0].states == tuple(states)
    fn.write_table(table, tmp_path / "t.csv")
    for again in (fn.read_table(tmp_path / "t.csv"), fn.scan(tmp_path / "t.csv")):
        assert again == table
    assert "in the order of its words" in str(table.describe())


@pytest.mark.parametrize("states", BY_LETTERS, ids=lambda states: states[0])
def test_other_words_by_letters(states: list[str]) -> None:
    assert _table(states).variables[0].states == tuple(sorted(states))


def test_an_order_that_is_asked_for(tmp_path: Path) -> None:
    states = ["tall", "grande", "venti"]
    table = _table(states, order={"x": [*states, "trenta"]})
    assert table.variables[0].states == ("tall", "grande", "venti", "trenta")
    fn.write_table(table, tmp_path / "t.csv")
    assert fn.read_table(tmp_path / "t.csv", order={"x": [*states, "trenta"]}) == table
    numbers = fn.Table.from_frame({"x": [3, 1, 2] * 4}, order={"x": ["2", "3", "1"]})
    assert numbers.variables[0].states == (2, 3, 1)
    with pytest.raises(SchemaError, match="column 'x' also holds 'venti'; name all of its states") as refused:
        _table(states, order={"x": ["tall", "grande"]})
    assert refused.value.parameter == "order"
    for wrong in ({"x": "tall"}, {"x": ["a"]}, {"x": ["a", "a"]}):
        with pytest.raises(SchemaError) as refused:
            _table(states, order=wrong)
        assert refused.value.parameter == "order"
    with pytest.raises(SchemaError, match="both a column of ordered states and one of numbers"):
        _table(states, order={"x": states}, continuous=["x"])


def test_ordered_categoricals_declare_their_order() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["a", "b", "c"] * 2, ["c", "a", "b"], ordered=True)})
    assert fn.Table.from_frame(frame).variables[0].states == ("c", "a", "b")
