"""What tests of independence ask of columns of numbers, beyond that they are numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from fishernet.base.errors import FishernetWarning, SchemaError
from fishernet.base.names import are
from fishernet.data.numbers import Columns

MOST_STATES = 8  # a column of no more distinct values, each of them several times, is discrete
MOST_TIED = 0.1


def require_continuous(names: Sequence[str], values: Columns) -> None:
    """Raise SchemaError, naming them, when columns hold a few values again and again."""
    discrete = []
    for name, column in zip(names, values, strict=True):
        n_distinct = len(np.unique(column))
        if n_distinct <= MOST_STATES and 2 * n_distinct <= len(column):
            discrete.append(name)
    if discrete:
        raise SchemaError(
            f"{are(discrete, 'column')} discrete (at most {MOST_STATES} distinct values), and nearest neighbours need "
            "continuous columns; use a test for tables of counts, 'g-squared' or 'chi-squared'"
        )


def warn_of_ties(names: Sequence[str], values: Columns, stacklevel: int = 3) -> None:
    """Warn when more than a tenth of the rows share their value of a column with another row."""
    tied = []
    for name, column in zip(names, values, strict=True):
        _, counts = np.unique(column, return_counts=True)
        share = counts[counts > 1].sum() / max(1, len(column))
        if share > MOST_TIED:
            tied.append(f"{name} ({share:.0%})")
    if tied:
        warnings.warn(
            f"tied values in {', '.join(tied)}: nearest neighbours are meant for continuous data; ties are counted as "
            "the formula says, which biases the estimate",
            FishernetWarning,
            stacklevel=stacklevel,
        )


def standardized(values: Columns) -> Columns:
    """Return columns, none constant, of mean 0 and standard deviation 1."""
    centred = values - values.mean(axis=1, keepdims=True)
    return np.ascontiguousarray(centred / np.sqrt((centred**2).mean(axis=1, keepdims=True)))
