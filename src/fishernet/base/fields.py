"""The fields of a JSON object, taken one by one and checked; what is wrong is said with file and place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.names import listed


def is_unicode(label: str) -> bool:
    """Return whether a str consists of characters, and not of halves of surrogate pairs."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True


class Fields:
    """The fields of one JSON object, which stands at `where` in the file, like ``variables[3]``; empty for the whole.

    Each is taken once; `end` refuses what nobody took, since an unknown field may change what the others mean.
    """

    def __init__(self, path: object, where: str, value: object) -> None:
        self.path = path
        self.where = where
        if not isinstance(value, dict):
            raise self.wrong(f"expected an object with fields, got {shown(value)}")
        self._values: dict[str, object] = dict(value)

    def wrong(self, what: str, name: str | None = None) -> FileFormatError:
        """Return the error that says what is wrong with the object or one of its fields."""
        place = ".".join(part for part in (self.where, name) if part)
        return FileFormatError(self.path, f"{place}: {what}" if place else what)

    def take(self, name: str) -> object:
        """Return a field's value, whatever it is."""
        if name not in self._values:
            raise self.wrong(f"the field {name!r} is missing")
        return self._values.pop(name)

    def text(self, name: str) -> str:
        """Return a field that is a str."""
        value = self.take(name)
        if not isinstance(value, str):
            raise self.wrong(f"expected a text, got {shown(value)}", name)
        if not is_unicode(value):
            raise self.wrong(f"{value!r} holds half of a surrogate pair", name)
        return value

    def whole(self, name: str) -> int:
        """Return a field that is an integer from 0."""
        value = self.take(name)
        if type(value) is not int or value < 0:
            raise self.wrong(f"expected an integer from 0, got {shown(value)}", name)
        return value

    def amount(self, name: str) -> int | float:
        """Return a field that is a finite number from 0."""
        value = self.take(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
            raise self.wrong(f"expected a number from 0, got {shown(value)}", name)
        return value

    def truth(self, name: str) -> bool:
        """Return a field that is true or false."""
        value = self.take(name)
        if not isinstance(value, bool):
            raise self.wrong(f"expected true or false, got {shown(value)}", name)
        return value

    def items(self, name: str) -> list[Any]:
        """Return a field that is a list."""
        value = self.take(name)
        if not isinstance(value, list):
            raise self.wrong(f"expected a list, got {shown(value)}", name)
        return value

    def objects(self, name: str) -> list[Fields]:
        """Return a field that is a list of objects."""
        place = f"{self.where}.{name}" if self.where else name
        return [Fields(self.path, f"{place}[{i}]", value) for i, value in enumerate(self.items(name))]

    def numbers(self, values: list[Any], name: str) -> npt.NDArray[np.float64]:
        """Return what stands in a field as numbers; neither truth values nor texts are some."""
        if not set(map(type, values)) <= {int, float}:
            wrong = next(value for value in values if type(value) not in (int, float))
            raise self.wrong(f"expected numbers, got {shown(wrong)}", name)
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError as error:
            raise self.wrong("a number is too large", name) from error

    def number(self, name: str) -> float:
        """Return a field that is a number."""
        return float(self.numbers([self.take(name)], name)[0])

    def rows(self, name: str, width: int, what: str) -> npt.NDArray[np.float64]:
        """Return a field that is a list of lists of as many numbers; `what` says what they are."""
        rows = self.items(name)
        for position, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != width:
                raise self.wrong(f"expected a list of {width} {what}, got {shown(row)}", f"{name}[{position}]")
        return self.numbers([number for row in rows for number in row], name).reshape(len(rows), width)

    def positions(self, name: str, of: Mapping[str, int]) -> list[int]:
        """Return the positions of the variables that a field lists by name, each once."""
        found: list[int] = []
        for i, variable in enumerate(self.items(name)):
            if not isinstance(variable, str) or variable not in of:
                raise self.wrong(f"{shown(variable)} is no variable; there are {listed(of)}", f"{name}[{i}]")
            if of[variable] in found:
                raise self.wrong(f"{variable!r} appears more than once", f"{name}[{i}]")
            found.append(of[variable])
        return found

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Turn what the library says of the values inside into an error of the file, with the place."""
        try:
            yield
        except FileFormatError:
            raise
        except FishernetError as error:
            raise self.wrong(str(error)) from error

    def has(self, name: str) -> bool:
        """Return whether a field is there."""
        return name in self._values

    def is_null(self, name: str) -> bool:
        """Return whether a field is null; then it is taken."""
        if self.has(name) and self._values[name] is None:
            del self._values[name]
            return True
        return False

    def end(self) -> None:
        """Raise when a field was not taken."""
        if self._values:
            raise self.wrong(f"there is the unknown field {listed(self._values)}")


def shown(value: object) -> str:
    """Return a value of a JSON file as a message shows it: short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None:
        return "null"
    written = repr(value)
    return written if len(written) <= 40 else f"{written[:40]}..."
