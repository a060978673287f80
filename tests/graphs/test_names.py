"""Names, positions and edges are checked at the border, and the message says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fishernet.base.errors import SchemaError
from fishernet.base.names import listed, numbered, positions
from fishernet.graphs.edges import adjacent, arrangement, joined

WHERE = {"a": 0, "b": 1, "c": 2}


def test_names_keep_their_order() -> None:
    assert numbered(["z", "a", "m"]) == {"z": 0, "a": 1, "m": 2}
    assert list(numbered(name for name in ["z", "a"])) == ["z", "a"]
    assert numbered([]) == {}


@pytest.mark.parametrize("names", ["abc", b"abc", {"a", "b"}, frozenset({"a"}), 3, None])
def test_names_without_an_order_are_refused(names: Any) -> None:
    with pytest.raises(SchemaError, match="sequence of str in the variables' order"):
        numbered(names)


def test_one_name_or_several() -> None:
    assert positions(WHERE, "b") == (1,)
    assert positions(WHERE, ["c", "a"]) == (2, 0)
    assert positions(WHERE, []) == ()
    assert positions({"bc": 0, "b": 1, "c": 2}, "bc") == (0,)


def test_long_lists_are_cut() -> None:
    assert listed([1, 2, 3], most=3) == "1, 2, 3"
    assert listed([1, 2, 3, 4, 5], most=3) == "1, 2, 3 and 2 more"


def test_arrangement_finds_every_name() -> None:
    assert arrangement(WHERE, ["c", "a", "b"]) == (2, 0, 1)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (["a", "b"], "in any order: only the first has 'c'$"),
        (["a", "b", "c", "d"], "in any order: only the second has 'd'$"),
        (["a", "b", "x"], "only the first has 'c'; only the second has 'x'"),
    ],
)
def test_arrangement_names_what_differs(others: list[str], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        arrangement(WHERE, others)


def test_edges_become_positions() -> None:
    assert joined(WHERE, [("c", "a"), ["a", "b"]]) == [(2, 0), (0, 1)]  # type: ignore[list-item]


@pytest.mark.parametrize("edge", ["ab", ("a",), ("a", "b", "c"), {"a", "b"}, 3, None])
def test_an_edge_is_an_ordered_pair(edge: Any) -> None:
    with pytest.raises(SchemaError, match="an edge must be a pair of names, got "):
        joined(WHERE, [("a", "b"), edge])


def test_positions_are_sorted_plain_integers() -> None:
    found = adjacent(["a", "b", "c"], [np.array([2, 1]), set(), [np.uint8(0)]], "parents")
    assert found == ((1, 2), (), (0,))
    assert {type(item) for item in found[0] + found[2]} == {int}


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[], []], "3 variables need 3 tuples of parents, got 2"),
        ([[], [], [3]], "the parents of 'c': the position 3 is not from 0 to 2"),
        ([[], [-1, 0], []], "the parents of 'b': the position -1 is not from 0 to 2"),
        ([[], [], [1, 0, 1]], r"the parents of 'c' name 'b' \(position 1\) more than once"),
        ([[], ["a"], []], "the parents of 'b' must be positions .integers., got 'a'; from_edges takes names"),
        ([[], "a", []], "the parents of 'b' must be a tuple of positions, not 'a'; from_edges takes names"),
        ([[], 0, []], "the parents of 'b' must be a tuple of positions, not 0"),
        ([[], [0.0], []], "the parents of 'b' must be positions .integers., got 0.0"),
        ([[False, True, False]] * 3, "the parents of 'a' must be positions .integers., got False"),
        ({"a": [], "b": [], "c": []}, "one tuple of positions per variable, not dict"),
        ("abc", "one tuple of positions per variable, not str"),
        (4, "one tuple of positions per variable, not int"),
    ],
)
def test_wrong_positions_are_named(lists: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        adjacent(["a", "b", "c"], lists, "parents")


def test_an_adjacency_matrix_is_not_taken_for_positions() -> None:
    with pytest.raises(SchemaError, match="more than once"):
        adjacent(["a", "b", "c"], np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]]), "parents")
    with pytest.raises(SchemaError, match="must be positions"):
        adjacent(["a", "b", "c"], np.zeros((3, 3), dtype=bool), "parents")
