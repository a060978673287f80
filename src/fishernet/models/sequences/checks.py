"""Checks of what a model of sequences is made of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError

Numbers = npt.NDArray[np.float64]

ROUNDING = 1e-9


def checked_rows(values: npt.ArrayLike, what: str, shape: tuple[int | None, ...], *, most: bool = False) -> Numbers:
    """Return probabilities, read-only, whose last axis sums to 1.

    Parameters
    ----------
    values : array_like
    what : str
        Whose they are, for messages.
    shape : tuple
        What shape they must have; None is any size from 1.
    most : bool
        Sums may also be below 1.

    Raises
    ------
    SchemaError
        When the shape is another, a number is not finite or negative, or a sum is not 1.
    """
    array = checked_numbers(values, what, shape)
    sums = array.sum(axis=-1)
    off = (sums > 1 + ROUNDING) if most else (np.abs(sums - 1) > ROUNDING)
    if np.any(off):
        row = np.unravel_index(int(np.argmax(off)), sums.shape)
        where = f"row {', '.join(map(str, row))} of {what}" if row else what
        raise SchemaError(f"{where} sums to {sums[row]:.12g}, not to {'at most ' if most else ''}1")
    return array


def checked_numbers(values: npt.ArrayLike, what: str, shape: tuple[int | None, ...]) -> Numbers:
    """Return finite, non-negative numbers of a shape, read-only."""
    array = np.array(values, dtype=np.float64, order="C")
    fits = array.ndim == len(shape) and all(
        size >= 1 if wanted is None else size == wanted for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise SchemaError(f"{what} must have shape ({wanted}), got {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array) | (array < 0))[0])
        raise SchemaError(f"{what} must hold finite numbers from 0 on, got {array[place]} at {place}")
    array.flags.writeable = False
    return array
