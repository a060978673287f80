"""Checks of the numbers that a model of real numbers is given."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError

Numbers = npt.NDArray[np.float64]


def checked_data(x: npt.ArrayLike) -> Numbers:
    """Return observations, (n,) float64.

    Raises
    ------
    SchemaError
        When they are no one-dimensional array of finite numbers.
    """
    try:
        values = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"the observations must be an array of numbers: {error}") from None
    if values.ndim != 1:
        raise SchemaError(f"the observations must be a one-dimensional array, got shape {values.shape}")
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise SchemaError(f"observation {place} is {values[place]}; leave out what is not a finite number")
    return values


def checked_number(value: float, what: str, *, positive: bool = False) -> float:
    """Return a finite number, positive where it must be."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SchemaError(f"{what} must be a number, got {value!r}") from None
    if not np.isfinite(number) or (positive and number <= 0):
        raise SchemaError(f"{what} must be a finite{', positive' if positive else ''} number, got {value!r}")
    return number


def log_normal(distance: Numbers, sd: float) -> Numbers:
    """Return the log-density of a normal distribution at a distance from its mean, in units of sd."""
    with np.errstate(over="ignore"):  # so far away that the density is 0
        return np.asarray(-0.5 * distance**2 - np.log(sd) - 0.5 * np.log(2 * np.pi))
