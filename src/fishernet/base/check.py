"""One vocabulary for checking arguments.

Each function returns the argument in the type that the rest of the library works with, or raises a `FishernetError`
that names the argument, says what it must be and what it was. The name is also the error's `parameter`, from which
the command line makes its option.
"""

from __future__ import annotations

import codecs
import errno
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import a, shown

MOST = 2**63 - 1  # what the core takes


def integer(
    value: object,
    name: str,
    *,
    least: int | None = None,
    most: int | None = None,
    note: str = "",
    error: type[FishernetError] = FishernetError,
) -> int:
    """Return a whole number within limits, both allowed; truth values are none. `note` says what the limits are.

    Without an upper limit it is what the core takes, 2**63 - 1.
    """
    if most is None and isinstance(value, int | np.integer) and value > MOST:
        most = MOST
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not _within(value, least, most):
        limits = f"{_limits(least, most)}{f' ({note})' if note else ''}"
        raise error(f"{name} must be an integer{limits}, got {shown(value)}", parameter=_parameter(name))
    return int(value)


def optional_integer(value: object, name: str, *, least: int | None = None, most: int | None = None) -> int | None:
    """Return a whole number within limits, or None where none was given."""
    return None if value is None else integer(value, name, least=least, most=most)


def number(
    value: object,
    name: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    error: type[FishernetError] = FishernetError,
) -> float:
    """Return a finite number; `least` and `most` are allowed themselves, `above` is not. Truth values are none."""
    found = _as_float(value) if is_number(value) else math.nan
    if not math.isfinite(found) or not _within(found, least, most) or (above is not None and found <= above):
        limits = _limits(least, most) if above is None else f" above {above:g}" + _limits(None, most)
        raise error(f"{name} must be a number{limits}, got {shown(value)}", parameter=_parameter(name))
    return found


def is_number(value: object) -> bool:
    """Whether something is a real number; truth values are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def share(value: object, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:  # type: ignore[operator]
        raise FishernetError(f"{name} must be strictly between 0 and 1, got {shown(value)}", parameter=name)
    return float(value)  # type: ignore[arg-type]


def items(value: Any, name: str, of: str = "names") -> tuple[Any, ...]:
    """Return what a sequence or another iterable holds; a single str is none. `of` says what it must hold."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise SchemaError(
            f"{name} must be a sequence of {of}, not {a(type(value).__name__)}", parameter=_parameter(name)
        )
    return tuple(value)


def encoding(value: str) -> str:
    """Return the name of an encoding of text as Python has it."""
    try:
        return codecs.lookup(value).name
    except (LookupError, TypeError, ValueError):  # a name with a surrogate or a null is no text to look up
        message = f"encoding must be one that Python knows, as 'latin-1' or 'utf-16', not {shown(value)}"
        raise SchemaError(message, parameter="encoding") from None


def numbers(value: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Return numbers as a new array of float64, C-contiguous, of any shape."""
    try:
        return np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError, RecursionError):
        message = f"{name} must be an array of numbers, got {shown(value, 80)}"
        raise SchemaError(message, parameter=_parameter(name)) from None


def array(value: Any, name: str) -> npt.NDArray[Any]:
    """Return an array of whatever there is, of any type and shape, where rows are of one length."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RecursionError):
        message = f"{name} must be an array whose rows have one length, got {shown(value, 80)}"
        raise SchemaError(message, parameter=_parameter(name)) from None


def flag(value: object, name: str) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool | np.bool_ | int):
        raise SchemaError(f"{name} must be True or False, got {shown(value, 80)}", parameter=_parameter(name))
    return bool(value)


def path(value: object, name: str = "path") -> Path:
    """Return the path of a file."""
    try:
        found = os.fsdecode(value)  # type: ignore[arg-type]
    except TypeError:
        raise SchemaError(f"{name} must be a path, as a str, not {a(type(value).__name__)}", parameter=name) from None
    if "\0" in found:
        raise SchemaError(f"{name} must be a path, and {shown(found)} has a zero byte", parameter=name)
    try:
        os.lstat(found)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise SchemaError(f"{name} {shown(found)} is too long for a file's name", parameter=name) from None
    return Path(found)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an int beyond all floats
        return math.inf


def _parameter(name: str) -> str | None:
    return name if name.isidentifier() else None


def _within(value: Any, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def _limits(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {_shown(least)} to {_shown(most)}"
    if least is not None:
        return f" of at least {_shown(least)}"
    return "" if most is None else f" of at most {_shown(most)}"


def _shown(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
