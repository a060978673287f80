"""Two tables of the same columns: what they share, what they do not, and their rows below each other."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from fishernet import Continuous, Table, Variable
from fishernet.base.errors import FishernetError, FishernetWarning, UnknownStateError
from fishernet.data.pooling import pooled, stacked, whole_rows

HALVES = np.linspace(0, 1, 30)
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(30)]
TIMES = [datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=i) for i in range(30)]


def both(first: Any, second: Any) -> tuple[list[Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """The variables, which must be the same, and the rows of each."""
    one, other = pooled(first, second, "the test")
    assert one.variables == other.variables
    return list(one.variables), one.to_frame().to_pylist(), other.to_frame().to_pylist()


def test_states_of_one_table_alone_are_states_of_both() -> None:
    variables, one, other = both({"a": ["x", "y"], "b": ["u", "v"]}, {"b": ["w", "u"], "a": ["z", "y"]})
    assert variables == [Variable("a", ["x", "y", "z"]), Variable("b", ["u", "v", "w"])]
    assert one == [{"a": "x", "b": "u"}, {"a": "y", "b": "v"}]
    assert other == [{"a": "z", "b": "w"}, {"a": "y", "b": "u"}]


def test_missing_cells_stay_missing() -> None:
    _, one, other = both({"a": ["x", None]}, {"a": ["z", "y"]})
    assert [row["a"] for row in one] == ["x", None]
    assert [row["a"] for row in other] == ["z", "y"]


@pytest.mark.parametrize("turned", [False, True])
def test_whole_numbers_in_one_and_numbers_in_the_other_are_numbers(turned: bool) -> None:
    tables = [{"a": [1, 2, 3] * 5}, {"a": HALVES}]
    variables, *rows = both(*(reversed(tables) if turned else tables))
    assert variables == [Continuous("a")]
    assert [row["a"] for row in rows[turned]] == [1.0, 2.0, 3.0] * 5
    assert [row["a"] for row in rows[not turned]] == HALVES.tolist()


@pytest.mark.parametrize("turned", [False, True])
def test_numbers_fall_into_the_bins_of_the_table_that_is_cut(turned: bool) -> None:
    tables = [Table.from_frame({"a": HALVES}, bins={"a": [0.5]}), Table.from_frame({"a": HALVES * 4})]
    variables, *rows = both(*(reversed(tables) if turned else tables))
    assert variables == [tables[0].variables[0]]
    assert [row["a"] for row in rows[not turned]] == ["<= 0.5" if x <= 0.5 else "> 0.5" for x in HALVES * 4]


def test_bins_that_were_written_to_a_file_are_found_by_their_labels() -> None:
    cut = Table.from_frame({"a": HALVES}, bins={"a": [0.5]})
    variables, _, other = both(cut, {"a": ["> 0.5", "<= 0.5"]})
    assert variables == [cut.variables[0]]
    assert [row["a"] for row in other] == ["> 0.5", "<= 0.5"]
    with pytest.raises(UnknownStateError, match="'u' is not among the states '<= 0.5'"):
        pooled(cut, {"a": ["u", "v"]}, "the test")


def test_dates_of_both_stay_dates() -> None:
    variables, one, _ = both({"a": DAYS}, {"a": DAYS[::-1]})
    assert (variables[0].is_continuous, variables[0].unit) == (True, "days")
    assert one[0]["a"] == DAYS[0]


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "columns": (
        {"a": ["x", "y"], "c": ["x", "y"]},
        {"d": ["x", "y"]},
        "^the test needs two tables of the same columns, and none is fit for it: 'a', 'c' are only in the first ",
    ),
    "cut points": (
        Table.from_frame({"a": HALVES}, bins={"a": [0.5]}),
        Table.from_frame({"a": HALVES}, bins={"a": [0.6]}),
        "'a' is cut into bins at different points in the two tables, and the test compares bin with bin; read the "
        "second with schema=first.variables$",
    ),
    "text against numbers": (
        {"a": HALVES},
        {"a": ["u", "v"]},
        "'a' holds numbers in one of the tables and labels in the other",
    ),
    "dates against numbers": (
        {"a": DAYS},
        {"a": HALVES},
        "'a' holds dates in the first table and numbers in the second",
    ),
    "times against dates": (
        {"a": TIMES},
        {"a": DAYS},
        "'a' holds times in the first table and dates in the second, and",
    ),
    "1 against '1'": (
        {"a": [1, 2]},
        {"a": ["u", "1"]},
        "'a' has the state 1 in the first table and '1' in the second, which the",
    ),
    "None": (None, {"a": ["x"]}, "the test needs a Table or a data frame, not NoneType"),
    "a list": ({"a": ["x"]}, ["x"], "the test needs a Table or a data frame, not list"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_tables_that_differ_are_refused_with_how(name: str) -> None:
    first, second, message = REFUSED[name]
    with pytest.raises(FishernetError, match=message):
        pooled(first, second, "the test")


# ------------------------------------------------------------------------------------------------ stacked, repeated


def weighted(weights: list[Any]) -> Table:
    return Table([Variable("a", ["x", "y"])], [np.array([0, 1, 0], np.uint8)], weights=weights)


def test_rows_stand_below_each_other_with_their_weights() -> None:
    plain = Table([Variable("a", ["x", "y"])], [np.array([1, 2], np.uint8)])
    both_rows = stacked([weighted([2, 0, 3]), plain])
    assert both_rows.codes[0].tolist() == [0, 1, 0, 1, 2]
    assert both_rows.weights is not None
    assert both_rows.weights.tolist() == [2, 0, 3, 1, 1]
    assert both_rows.total == 7
    assert both_rows.has_missing
    assert stacked([plain, plain]).weights is None
    assert stacked([plain[:0], plain]).n_rows == 2


def test_rows_stand_as_often_as_they_weigh() -> None:
    found = whole_rows(weighted([2, 0, 3]), "the test")
    assert (found.codes[0].tolist(), found.weights) == ([0, 0, 0, 0, 0], None)
    plain = Table([Variable("a", ["x", "y"])], [np.array([1, 0], np.uint8)])
    assert whole_rows(plain, "the test") is plain
    assert whole_rows(weighted([2.0, 1.0, 0.0]), "the test").codes[0].tolist() == [0, 0, 1]


def test_rows_of_fractions_are_drawn_in_proportion_to_their_weights() -> None:
    n = 20_000
    codes = np.arange(n, dtype=np.uint8) % 3
    shares = np.array([0.3, 1.2, 2.4])[codes]
    table = Table([Variable("a", ["x", "y", "z"])], [codes], weights=shares)
    with pytest.warns(FishernetWarning, match=r"the test takes whole rows, .* of 20,000 rows are drawn in proportion"):
        found = whole_rows(table, "the test")
    kept = np.bincount(found.codes[0]) / np.bincount(codes)
    assert found.weights is None
    assert kept[2] == 1
    for share, of in zip(kept[:2], (0.125, 0.5), strict=True):
        assert abs(share - of) < 5 * np.sqrt(of * (1 - of) / (n / 3))
    with pytest.warns(FishernetWarning):
        assert whole_rows(table, "the test").codes[0].tolist() == found.codes[0].tolist()
    even = Table([Variable("a", ["x", "y", "z"])], [codes], weights=np.full(n, 0.25))
    with pytest.warns(FishernetWarning, match="20,000 of 20,000"):
        assert whole_rows(even, "the test").n_rows == n


@pytest.mark.parametrize("turned", [False, True])
def test_a_column_of_numbers_in_one_and_of_words_in_the_other_is_left_out(turned: bool) -> None:
    letters = ["u", "v"] * 30
    frames: list[Any] = [
        {"a": letters, "b": [0.5 * i for i in range(60)]},
        {"a": letters, "b": ["low", "high"] * 30},
    ]
    with pytest.warns(FishernetWarning, match="'b' holds numbers in one of the tables and labels in the other"):
        one, other = pooled(frames[turned], frames[not turned], "the test")
    assert one.names == other.names == ("a",)
