"""Columns of numbers as tests of independence take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, warn
from fishernet.base.names import are, several
from fishernet.data.numbers import Columns, points, require_varying

MOST_STATES = 8  # a column of no more distinct values, each of them several times, is discrete
MOST_TIED = 0.1
STATES = "for states there are the tests 'g-squared' and 'chi-squared', which cut numbers with bins=4"
Spaces = tuple[Columns, Columns, Columns]  # x, y and z, (d, n) each; without a z it has no columns


def read_spaces(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike | None) -> tuple[list[str], Spaces]:
    """Return what columns are called, and x, y and z, none of them with a constant column."""
    spaces = [points(x, "x", STATES), points(y, "y", STATES)]
    n = spaces[0].shape[1]
    spaces.append(np.empty((0, n)) if z is None else points(z, "z", STATES))
    for name, space in zip("xyz", spaces, strict=True):
        if space.shape[1] != n:
            raise SchemaError(f"x has {several(n, 'row')}, and {name} has {space.shape[1]}")
        if not len(space) and name != "z":
            raise SchemaError(f"{name} has no columns")
    labels = [label for name, space in zip("xyz", spaces, strict=True) for label in labels_of(name, space)]
    require_varying(labels, np.concatenate(spaces))
    return labels, (spaces[0], spaces[1], spaces[2])


def labels_of(name: str, space: Columns) -> list[str]:
    """Return what the columns of x, y or z are called."""
    return [name] if len(space) == 1 else [f"{name}[:, {c}]" for c in range(len(space))]


class TestWise:
    """Columns of numbers, (d, n): a test takes the rows that are complete in the columns that it asks for."""

    __test__ = False  # whatever pytest makes of the name

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.is_complete: bool = not np.isnan(columns).any()

    def of(self, chosen: Sequence[int]) -> Columns | None:
        """Return some columns over the rows that are complete in them; None where one of them does not vary there."""
        found = self._columns[list(chosen)]
        if self.is_complete:
            return found
        found = np.ascontiguousarray(found[:, ~np.isnan(found).any(axis=0)])
        return found if found.size and (found != found[:, :1]).any(axis=1).all() else None


def require_known_varying(names: Sequence[str], columns: Columns) -> None:
    """Raise SchemaError, naming it, when the known numbers of a column are all the same."""
    for name, column in zip(names, columns, strict=True):
        require_varying([name], known(column)[None, :])


def known(column: Columns) -> Columns:
    """Return the numbers of a column that are not missing."""
    return column[~np.isnan(column)]


def require_continuous(names: Sequence[str], values: Columns) -> None:
    """Raise SchemaError, naming them, when columns hold a few values again and again."""
    discrete = []
    for name, column in zip(names, map(known, values), strict=True):
        n_distinct = len(np.unique(column))
        if n_distinct <= MOST_STATES and 2 * n_distinct <= len(column):
            discrete.append(name)
    if discrete:
        raise SchemaError(
            f"{are(discrete, 'column')} discrete (at most {MOST_STATES} distinct values), and nearest neighbours need "
            f"continuous columns; leave {'it' if len(discrete) == 1 else 'them'} out; {STATES}"
        )


def warn_of_ties(names: Sequence[str], values: Columns) -> None:
    """Warn when more than a tenth of the rows share their value of a column with another row."""
    tied = []
    for name, column in zip(names, map(known, values), strict=True):
        _, counts = np.unique(column, return_counts=True)
        share = counts[counts > 1].sum() / max(1, len(column))
        if share > MOST_TIED:
            tied.append(f"{name} ({share:.0%})")
    if tied:
        warn(
            f"tied values in {', '.join(tied)}: nearest neighbours are meant for continuous data; ties are counted as "
            "the formula says, which biases the estimate"
        )


def standardized(values: Columns) -> Columns:
    """Return columns, none constant, of mean 0 and standard deviation 1, where NaN is missing."""
    mean = np.nanmean if np.isnan(values).any() else np.mean
    centred = values - mean(values, axis=1, keepdims=True)
    return np.ascontiguousarray(centred / np.sqrt(mean(centred**2, axis=1, keepdims=True)))
