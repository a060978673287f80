"""The Gaussian core checks what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fishernet import _core

TWO = np.array([[1.0, 0.5], [0.5, 1.0]])
SIZES = np.zeros(2)


def i32(*values: int) -> Any:
    return np.array(values, np.int32)


def i64(*values: int) -> Any:
    return np.array(values, np.int64)


def blankets(**changed: Any) -> Any:
    arguments: dict[str, Any] = {
        "products": TWO,
        "rank": 9,
        "of_size": SIZES,
        "weight": 1.0,
        "first": 0,
        "last": 2,
        **changed,
    }
    return _core.find_blankets(**arguments)


def climb(**changed: Any) -> Any:
    arguments: dict[str, Any] = {
        "products": TWO,
        "rank": 9,
        "of_size": SIZES,
        "weight": 1.0,
        "edges": np.array([[0, 1]], np.int32),
    }
    return _core.climb_edges(**(arguments | changed))


def families(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"products": TWO, "of_set": np.zeros(3), "weight": 1.0}
    arguments |= {"children": i32(0, 1), "offsets": i64(0, 0, 1), "parents": i32(0)}
    return _core.gaussian_family_scores(**(arguments | changed))


def subsets(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"products": TWO, "of_set": np.zeros(3), "weight": 1.0}
    return _core.gaussian_subset_scores(**(arguments | changed))


def test_what_fits_is_taken() -> None:
    offsets, members, saturated, collinear = blankets()
    assert (offsets.tolist(), members.tolist(), saturated.tolist(), len(collinear)) == ([0, 1, 2], [1, 0], [0, 0], 0)
    assert climb()[0].tolist() == [1]
    assert families()[0] == pytest.approx([0.0, -np.log(0.75)])
    assert subsets()[0] == pytest.approx([0.0, 0.0, 0.0, -np.log(0.75)])


WRONG: list[tuple[str, Callable[[], Any]]] = [
    ("products that are not square", lambda: blankets(products=np.ones((2, 3)))),
    ("a product beyond 1", lambda: blankets(products=np.array([[1.0, 1.5], [1.5, 1.0]]))),
    ("a product that is no number", lambda: blankets(products=np.full((2, 2), np.nan))),
    ("products that are not scaled", lambda: blankets(products=np.eye(2) / 2)),
    ("a score of no size", lambda: blankets(of_size=np.zeros(0))),
    ("a size that is infinite", lambda: blankets(of_size=np.array([0.0, np.inf]))),
    ("a negative weight", lambda: blankets(weight=-1.0)),
    ("a column before the first", lambda: blankets(first=-1)),
    ("a column after the last", lambda: blankets(last=3)),
    ("an end before the beginning", lambda: blankets(first=2, last=1)),
    ("edges of three columns", lambda: climb(edges=np.zeros((1, 3), np.int32))),
    ("an edge from a column to itself", lambda: climb(edges=np.zeros((1, 2), np.int32))),
    ("an edge beyond the columns", lambda: climb(edges=np.array([[0, 2]], np.int32))),
    ("an edge twice", lambda: climb(edges=np.array([[0, 1], [0, 1]], np.int32))),
    ("a child out of range", lambda: families(children=i32(0, 2))),
    ("a family larger than the score knows", lambda: families(of_set=np.zeros(2))),
    ("offsets that do not fit", lambda: families(offsets=i64(0, 1))),
    ("all sets of too many columns", lambda: subsets(products=np.eye(33))),
    ("a weight that is no number", lambda: subsets(weight=np.nan)),
]


@pytest.mark.parametrize(("what", "call"), WRONG, ids=[what for what, _ in WRONG])
def test_what_does_not_fit_is_refused(what: str, call: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        call()


def test_collinear_columns_are_said() -> None:
    same = np.ones((2, 2))
    assert sorted(blankets(products=same)[-1].tolist()) == [0, 1]
    assert climb(products=same)[-1].tolist() == [1, 0]
    assert families(products=same)[-1].tolist() == [0, 1]
    assert subsets(products=same)[-1].tolist() == [1, 0]
