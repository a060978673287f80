"""Immutable values: equal, hashed, copied and pickled by what they were made of."""

from __future__ import annotations

import copyreg
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from fishernet.base.names import a


class Value(ABC):
    """Something immutable; `_parts` and `_options` say what its constructor makes the same value of.

    Public attributes are set once, by `_set`. Names with an underscore hold what is worked out later.
    """

    __slots__ = ("__weakref__",)

    @abstractmethod
    def _parts(self) -> tuple[Any, ...]:
        """Return the arguments."""

    def _options(self) -> dict[str, Any]:
        """Return the keyword arguments."""
        return {}

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"{a(type(self).__name__)} is immutable; {name!r} cannot be set")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{a(type(self).__name__)} is immutable; {name!r} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return same_values(self.__reduce__(), other.__reduce__())

    def __hash__(self) -> int:
        return hash((type(self), _hashable((self._parts(), self._options()))))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self._parts(), self._options())


def _read_only(mapping: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(mapping)


def _reduced(mapping: Any) -> tuple[Any, ...]:
    return _read_only, (dict(mapping),)


copyreg.pickle(MappingProxyType, _reduced)  # results hold some, and Python has no way to pickle or copy them


def _made(kind: type[Value], parts: tuple[Any, ...], options: dict[str, Any]) -> Value:
    return kind(*parts, **options)


def same_values(one: Any, other: Any) -> bool:
    """Whether two values are equal; tuples and dicts item by item, arrays element by element."""
    if one is other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same_values, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_values(one[name], other[name]) for name in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _hashable(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, Mapping):
        return tuple((name, _hashable(of)) for name, of in value.items())
    if isinstance(value, np.ndarray):  # a few numbers tell arrays apart; 0.0 and -0.0 are equal and have one hash
        return value.shape, tuple(value.ravel()[:8].tolist())
    return value
