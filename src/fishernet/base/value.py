"""Immutable values: equal, hashed, copied and pickled by what they were made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


class Value:
    """Something immutable; `_parts` and `_options` say what its constructor makes the same value of.

    Public attributes are set once, by `_set`. Names with an underscore hold what is worked out later.
    """

    __slots__ = ("__weakref__",)

    def _parts(self) -> tuple[Any, ...]:
        """Return the arguments."""
        raise NotImplementedError

    def _options(self) -> dict[str, Any]:
        """Return the keyword arguments."""
        return {}

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"a {type(self).__name__} is immutable; {name!r} cannot be set")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable; {name!r} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return same_values(self.__reduce__(), other.__reduce__())

    def __hash__(self) -> int:
        return hash((type(self), _hashable((self._parts(), self._options()))))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self._parts(), self._options())


def _made(kind: type[Value], parts: tuple[Any, ...], options: dict[str, Any]) -> Value:
    return kind(*parts, **options)


def same_values(a: Any, b: Any) -> bool:
    """Whether two values are equal; tuples and dicts item by item, arrays element by element."""
    if a is b:
        return True
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_values, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same_values(a[name], b[name]) for name in a)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)


def _hashable(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, Mapping):
        return tuple((name, _hashable(of)) for name, of in value.items())
    if isinstance(value, np.ndarray):  # a few numbers tell arrays apart; 0.0 and -0.0 are equal and have one hash
        return value.shape, tuple(value.ravel()[:8].tolist())
    return value
