"""The scatter of columns of numbers: what a learner of Gaussian models knows of the data.

For numbers it takes the place of the counts: the scatter of a set of columns is a part of that of all columns, and the
scatters of two parts of the data add up to that of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.counts.source import check_set
from fishernet.errors import SchemaError
from fishernet.table.numbers import named_columns
from fishernet.table.variable import check_names

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, where sources of counts have a variable.

    Attributes
    ----------
    name : str
    """

    name: str

    @property
    def cardinality(self) -> int:
        """1: the score of a family does not depend on which of its columns is the child."""
        return 1


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Scatter:
    """The number of rows, the mean and the centred sums of products of columns of numbers; immutable.

    It is a source as searches over structures know it, whose answer for a set of columns is their scatter.

    Parameters
    ----------
    n : int
        Rows.
    mean : (d,) array
        Of each column.
    S : (d, d) array
        ``(X - mean)' (X - mean)``.
    names : sequence of str, optional
        Of the columns; v0, v1, ... without it.

    Raises
    ------
    SchemaError
        When the shapes do not fit, a number is not finite, or S is not symmetric or has a negative diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0], [6.0, 2.0]])
    >>> parts = fn.counts.Scatter.from_data(X[:1]) + fn.counts.Scatter.from_data(X[1:])
    >>> parts.n, parts.mean, parts.S
    (4, array([3., 2.]), array([[20.,  6.],
           [ 6.,  6.]]))
    """

    n: int
    """Rows."""
    mean: Floats
    """The mean of each column, (d,)."""
    S: Floats
    """The centred sums of products, (d, d)."""
    names: tuple[str, ...]
    """Of the columns."""

    left_out = 0  # rows with missing cells, of which there are none among numbers

    def __init__(self, n: int, mean: npt.ArrayLike, S: npt.ArrayLike, names: Iterable[str] | None = None) -> None:
        centre, products = np.array(mean, dtype=np.float64), np.array(S, dtype=np.float64)
        d = len(centre) if centre.ndim == 1 else -1
        if products.shape != (d, d):
            raise SchemaError(f"the mean must be (d,) and S (d, d), got {centre.shape} and {products.shape}")
        labels = tuple(f"v{c}" for c in range(d)) if names is None else tuple(names)
        check_names(labels)
        if len(labels) != d:
            raise SchemaError(f"{len(labels)} names for {d} columns")
        if isinstance(n, bool) or n != int(n) or n < 0:
            raise SchemaError(f"the number of rows must be a non-negative integer, got {n!r}")
        if not (np.isfinite(centre).all() and np.isfinite(products).all()):
            raise SchemaError("the mean and S must be finite")
        sizes = np.sqrt(np.abs(np.diag(products)))
        if (np.diag(products) < 0).any() or (np.abs(products - products.T) > 1e-9 * np.outer(sizes, sizes)).any():
            raise SchemaError("S must be symmetric, without negative numbers on its diagonal")
        self._set(int(n), centre, products, labels)

    def _set(self, n: int, mean: Floats, S: Floats, names: tuple[str, ...]) -> None:
        mean.setflags(write=False)
        S.setflags(write=False)
        for field, value in (("n", n), ("mean", mean), ("S", S), ("names", names)):
            object.__setattr__(self, field, value)

    @classmethod
    def from_data(cls, X: Any, names: Iterable[str] | None = None) -> Self:
        """Return the scatter of an array or a frame of numbers.

        Parameters
        ----------
        X : (n, d) array, pandas, polars or pyarrow frame, or mapping from names to columns
        names : sequence of str, optional
            Of the columns of an array; of a frame, those that are taken, in this order.

        Raises
        ------
        SchemaError
            When a column is not of finite numbers (its name and the row are said), or names do not fit.
        """
        columns = named_columns(X, names)
        mean = columns.values.mean(axis=1) if columns.n_rows else np.zeros(len(columns.names))
        centred = columns.values - mean[:, None]
        made = cls.__new__(cls)
        made._set(columns.n_rows, mean, centred @ centred.T, columns.names)
        return made

    @cached_property
    def variables(self) -> tuple[NumberColumn, ...]:
        """The columns."""
        return tuple(NumberColumn(name) for name in self.names)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.n

    @property
    def uncentred(self) -> Floats:
        """The sums of products of the columns as they are, ``X' X``, (d, d)."""
        return self.S + self.n * np.outer(self.mean, self.mean)

    def counts(self, sets: Sequence[tuple[int, ...]]) -> list[Scatter]:
        """Return the scatters of sets of columns by ascending positions, in that order."""
        for chosen in sets:
            check_set(chosen, len(self.names))
        return [self.marginal(chosen) for chosen in sets]

    def marginal(self, chosen: Sequence[int]) -> Scatter:
        """Return the scatter of some of the columns, by their positions."""
        at = list(chosen)
        part = object.__new__(Scatter)
        part._set(self.n, self.mean[at], self.S[np.ix_(at, at)], tuple(self.names[c] for c in at))
        return part

    def __add__(self, other: Scatter) -> Scatter:
        if self.names != other.names:
            raise SchemaError(f"scatters of other columns do not add: {self.names} and {other.names}")
        n = self.n + other.n
        if n == 0:
            return self
        apart = other.mean - self.mean
        total = object.__new__(Scatter)
        mean = self.mean + other.n / n * apart
        between = self.n * (other.n / n) * np.outer(apart, apart)
        total._set(n, mean, self.S + other.S + between, self.names)
        return total

    def __repr__(self) -> str:
        return f"Scatter({self.n} rows, {len(self.names)} columns)"


def as_scatter(X: Any, names: Iterable[str] | None = None) -> Scatter:
    """Return the scatter of data of numbers, or the scatter itself."""
    if not isinstance(X, Scatter):
        return Scatter.from_data(X, names)
    if names is not None and tuple(names) != X.names:
        raise SchemaError(f"the scatter has the columns {X.names}, and names says {tuple(names)}")
    return X
