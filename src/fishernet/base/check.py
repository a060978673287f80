"""One vocabulary for checking arguments.

Each function returns the argument in the type that the rest of the library works with, or raises a `FishernetError`
that names the argument, says what it must be and what it was. The name is also the error's `parameter`, from which
the command line makes its option.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fishernet.base.errors import FishernetError


def integer(value: object, name: str, *, least: int | None = None, most: int | None = None, note: str = "") -> int:
    """Return a whole number within limits, both allowed; truth values are none. `note` says what the limits are."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not _within(value, least, most):
        raise FishernetError(
            f"{name} must be an integer{_limits(least, most)}{f' ({note})' if note else ''}, got {value!r}",
            parameter=name,
        )
    return int(value)


def optional_integer(value: object, name: str, *, least: int | None = None, most: int | None = None) -> int | None:
    """Return a whole number within limits, or None where none was given."""
    return None if value is None else integer(value, name, least=least, most=most)


def number(
    value: object, name: str, *, least: float | None = None, above: float | None = None, most: float | None = None
) -> float:
    """Return a finite number; `least` and `most` are allowed themselves, `above` is not. Truth values are none."""
    found = float(value) if is_number(value) else math.nan  # type: ignore[arg-type]
    if not math.isfinite(found) or not _within(found, least, most) or (above is not None and found <= above):
        limits = _limits(least, most) if above is None else f" above {above:g}" + _limits(None, most)
        raise FishernetError(f"{name} must be a number{limits}, got {value!r}", parameter=name)
    return found


def is_number(value: object) -> bool:
    """Whether something is a real number; truth values are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def share(value: object, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:  # type: ignore[operator]
        raise FishernetError(f"{name} must be strictly between 0 and 1, got {value!r}", parameter=name)
    return float(value)  # type: ignore[arg-type]


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
