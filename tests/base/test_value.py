"""Values are equal, hashed and pickled by what they were made of."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from fishernet.base.value import Value, same_values


class Point(Value):
    __slots__ = ("place", "unit")

    place: Any
    unit: str

    def __init__(self, place: Any, *, unit: str = "m") -> None:
        self._set(place=np.asarray(place), unit=unit)

    def _parts(self) -> tuple[Any, ...]:
        return (self.place,)

    def _options(self) -> dict[str, Any]:
        return {"unit": self.unit}


class Other(Point):
    __slots__ = ()


def test_equal_parts_make_equal_values_with_one_hash() -> None:
    one = Point([0.0, 1.0])
    for same in (Point([-0.0, 1.0]), pickle.loads(pickle.dumps(one))):
        assert same == one
        assert hash(same) == hash(one)
    for other in (Point([0.0, 1.5]), Point([0.0]), Point([0.0, 1.0], unit="s"), Other([0.0, 1.0]), "point"):
        assert other != one
    assert pickle.loads(pickle.dumps(Point([1], unit="s"))).unit == "s"


def test_public_attributes_are_set_once() -> None:
    point = Point([1.0])
    with pytest.raises(AttributeError, match="a Point is immutable; 'unit' cannot be set"):
        point.unit = "s"
    with pytest.raises(AttributeError, match="'place' cannot be deleted"):
        del point.place


def test_parts_are_compared_all_the_way_down() -> None:
    parts: Any = ({"a": (np.arange(3), 1)}, None)
    assert same_values(parts, ({"a": (np.arange(3), 1)}, None))
    assert not same_values(parts, ({"a": (np.arange(3), 2)}, None))
    assert not same_values(parts, ({"b": (np.arange(3), 1)}, None))
    assert not same_values(parts, ({"a": (np.arange(4), 1)}, None))
    assert not same_values(np.arange(3), None)
