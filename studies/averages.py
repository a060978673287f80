"""Means over what is there, where NaN stands for what was not run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def counts(values: Array, axis: int) -> Array:
    """Return how many numbers there are along an axis."""
    return np.asarray((~np.isnan(values)).sum(axis=axis), dtype=np.float64)


def means(values: Array, axis: int) -> Array:
    """Return the means along an axis; NaN where nothing is."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=axis) / counts(values, axis))


def standard_errors(values: Array, axis: int) -> Array:
    """Return the standard errors of the means along an axis; NaN where there are fewer than two numbers."""
    there = counts(values, axis)
    spread = means((values - np.expand_dims(means(values, axis), axis)) ** 2, axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(there > 1, np.sqrt(spread / (there - 1)), np.nan))
