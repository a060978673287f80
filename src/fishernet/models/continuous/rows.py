"""What a model of several named variables is given: rows of numbers, and its own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.models.continuous.checks import Numbers
from fishernet.table.numbers import named_columns


def rows_of(X: Any, names: Sequence[str]) -> Numbers:
    """Return the rows of some variables, (n, len(names)).

    Parameters
    ----------
    X : (n, len(names)) array, data frame, or mapping from names to columns
        The columns of a frame are found by name; those with other names are passed over.
    names : sequence of str

    Raises
    ------
    SchemaError
        When a column is absent, or has a value that is no finite number (its name and row are said).
    """
    if isinstance(X, list | tuple | np.ndarray):
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise SchemaError(f"the rows are no array: {error}") from None
        if X.shape == (0,):
            X = np.empty((0, len(names)))
        if X.ndim != 2 or X.shape[1] != len(names):
            raise SchemaError(f"an array of rows must have shape (n, {len(names)}) here, got {X.shape}")
    return np.ascontiguousarray(named_columns(X, list(names)).values.T)


def checked_array(values: npt.ArrayLike, what: str, shape: tuple[int, ...]) -> Numbers:
    """Return finite numbers of a shape, read-only.

    Raises
    ------
    SchemaError
        When the shape is another, or a number is not finite.
    """
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise SchemaError(f"{what} must be an array of numbers: {error}") from None
    if array.shape != shape:
        raise SchemaError(f"{what} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise SchemaError(f"{what} must be finite, got {array[place]} at {place}")
    array.flags.writeable = False
    return array
