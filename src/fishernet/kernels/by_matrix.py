"""Kernels that are known by their matrix: one that is given, and the Gaussian kernel of rows of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import several
from fishernet.base.progress import Reporter
from fishernet.data.matching import as_data, is_frame, is_table
from fishernet.kernels.features import Matrix, check_cells
from fishernet.kernels.kernel import BaseKernel
from fishernet.kernels.row_sums import (
    Distances,
    MatrixSums,
    Positions,
    all_splits,
    distances_by_triangle,
    draws_of_sets,
    halved_sets_of_points,
    real_numbers,
)
from fishernet.kernels.rows import Rows

MOST_SQUARED = 1e3  # a norm, in bandwidths: 1e-13 of it is lost in differences of squares
SPLIT_BLOCK = 512  # rows of a given matrix that are multiplied by the splits at once
TILE = 512  # rows and columns of a matrix of numbers that are made at once


class Precomputed(BaseKernel):
    """A kernel that is given as its matrix; its rows are positions in it.

    Parameters
    ----------
    matrix : (n, n) array of float
        Symmetric. It is not copied where it is float64 in rows already.

    Raises
    ------
    SchemaError
        When it is no square matrix of real numbers; in calls, for what is no position.

    Examples
    --------
    >>> import fishernet as fn
    >>> import numpy as np
    >>> k = fn.kernels.Precomputed([[1.0, 0.9, 0.0], [0.9, 1.0, 0.1], [0.0, 0.1, 1.0]])
    >>> fn.select.mmd_critic(k, np.arange(3), 2).indices
    array([1, 2])
    """

    def __init__(self, matrix: npt.ArrayLike) -> None:
        found = np.ascontiguousarray(real_numbers(check.array(matrix, "matrix"), "matrix"))
        if found.ndim != 2 or found.shape[0] != found.shape[1]:
            raise SchemaError(f"matrix must be (n, n), got the shape {found.shape}", parameter="matrix")
        self.matrix = found

    def rows(self, X: Any) -> Positions:
        """Return positions as an array."""
        positions = check.array(X if hasattr(X, "__len__") else list(X), "positions")
        if positions.ndim != 1 or (positions.size and positions.dtype.kind not in "iu"):
            raise SchemaError(
                f"a precomputed kernel takes positions in its matrix, (n,) integers, not {positions.dtype} "
                f"{positions.shape}"
            )
        n = len(self.matrix)
        outside = (positions < 0) | (positions >= n)
        if outside.any():
            raise SchemaError(f"position {positions[outside][0]} is not in the matrix, which has {several(n, 'row')}")
        return positions.astype(np.int64)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs of positions, (n, m) float64."""
        x = self.rows(X)
        return self.matrix[np.ix_(x, x if Y is None else self.rows(Y))]

    def diag(self, X: Any) -> Matrix:
        """Return the value of each position with itself, (n,) float64."""
        positions = self.rows(X)
        return self.matrix[positions, positions]

    def row_sums(self, rows: Positions) -> PrecomputedSums:
        """Return what choosing and comparing rows asks, from the matrix as it lies in memory."""
        return PrecomputedSums(self, rows)

    def __repr__(self) -> str:
        return f"Precomputed(Kernel({len(self.matrix)} rows))"


class PrecomputedSums(MatrixSums):
    """Sums of rows of a given matrix."""

    _kernel: Precomputed
    _rows: Positions

    def __init__(self, kernel: Precomputed, rows: Positions, whole: None = None) -> None:
        super().__init__(kernel, rows, whole)
        self.most_halved: int = self.n_rows
        self._are_all = len(rows) == len(kernel.matrix) and bool((rows == np.arange(len(rows))).all())

    @cached_property
    def mean(self) -> Matrix:
        """The mean kernel of each row with all, (n_rows,)."""
        return self._kernel.matrix @ self._shares if self._are_all else self._mean_to(self)

    def along(self, rows: Positions, factors: Matrix) -> Matrix:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        found = self._kernel.matrix[self._rows[rows]]
        if not self._are_all:
            found = found[:, self._rows]
        return found[0] * factors[0] if len(rows) == 1 else np.asarray(factors @ found)

    def matrix(self, rows: Positions, others: Positions | None = None, of: Self | None = None) -> Matrix:
        """Return the kernel of some rows with others, or with themselves; the others may be `of` another table."""
        further = rows if others is None else others
        return self._kernel.matrix[np.ix_(self._rows[rows], (self if of is None else of)._rows[further])]

    def halves(self, order: Positions, *, rounds: int, key: int, delta: float) -> Positions:
        """Return rows in an order in which halves are near each other."""
        if not self._are_all:
            return super().halves(order, rounds=rounds, key=key, delta=delta)
        draws = np.random.default_rng(key).random(rounds * (len(order) // 2))
        return _core.halved_by_matrix(self._kernel.matrix, order, rounds, delta, draws)

    def halves_of_sets(self, sets: Positions, *, key: int, delta: float) -> Positions:
        """Return one half of each of many sets."""
        where = np.argsort(self._rows)
        if (np.diff(self._rows[where]) == 0).any():  # a position that comes twice is two rows
            return super().halves_of_sets(sets, key=key, delta=delta)
        order, draws = np.ascontiguousarray(self._rows[sets.ravel()]), draws_of_sets(sets, key)
        halved = _core.halved_by_matrix(self._kernel.matrix, order, 1, delta, draws, len(sets), exchanges=True)
        kept = halved.reshape(len(sets), -1)[:, : sets.shape[1] // 2]
        return where[np.searchsorted(self._rows, kept, sorter=where)]

    def splits(self, other: Self, n_splits: int, key: int, reporter: Reporter) -> Distances:
        """Go through the upper triangle of the given matrix once, with no copy where positions are a stretch of it."""
        n, m = self.n_rows, other.n_rows
        positions = np.concatenate([self._rows, other._rows])
        order = np.argsort(positions, kind="stable")
        taken = all_splits(n, m, n_splits, key)[order]
        return distances_by_triangle(self._triangle_of(positions[order]), taken, (n, m), reporter)

    def _triangle_of(self, positions: Positions) -> Iterator[tuple[slice, Matrix]]:
        """Yield blocks of ascending positions, each with the matrix between them and all from them on."""
        matrix = self._kernel.matrix
        first, is_stretch = positions[0], bool((np.diff(positions) == 1).all())
        for begin in range(0, len(positions), SPLIT_BLOCK):
            at = slice(begin, min(begin + SPLIT_BLOCK, len(positions)))
            if is_stretch:
                yield at, matrix[first + at.start : first + at.stop, first + at.start : first + len(positions)]
            else:
                yield at, matrix[np.ix_(positions[at], positions[begin:])]


class GaussianKernel(BaseKernel):
    """The Gaussian kernel of rows of numbers, ``exp(-|x - y|^2 / (2 bandwidth^2))``.

    Parameters
    ----------
    bandwidth : float
        Positive, in the units of the numbers; scale the columns first where their units differ.

    See Also
    --------
    Rbf : the same of another kernel's distance.

    Examples
    --------
    >>> import fishernet as fn
    >>> k = fn.kernels.GaussianKernel(1.0)
    >>> k([[0.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    def __init__(self, bandwidth: float) -> None:
        self.bandwidth: float = float(check.number(bandwidth, "bandwidth", above=0))

    def rows(self, X: Any) -> Rows:
        """Return data as a table of columns of numbers, or as an array, (n, columns) float64."""
        if is_table(X) or is_frame(X):
            table = as_data(X, "a Gaussian kernel")
            labels = [variable.name for variable in table.variables if not variable.is_continuous]
            if labels:
                raise SchemaError(f"a Gaussian kernel takes columns of numbers; {labels[0]!r} has labels")
            table.require_complete("a Gaussian kernel")
            return table
        numbers = check.numbers(X, "rows")
        if numbers.ndim == 1:
            numbers = numbers.reshape(len(numbers), 1 if numbers.size else 0)
        if numbers.ndim != 2:
            raise SchemaError(f"a Gaussian kernel takes rows of numbers, (n, columns), not an array {numbers.shape}")
        return np.ascontiguousarray(numbers)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs of rows, (n, m) float64; without Y exactly symmetric."""
        x = points(self.rows(X))
        y = x if Y is None else points(self.rows(Y))
        if x.shape[1] != y.shape[1] and len(x) and len(y):
            raise SchemaError(f"rows have {several(x.shape[1], 'column')} and {y.shape[1]}, and need the same")
        check_cells(len(x) * len(y), "the kernel matrix")
        matrix = np.empty((len(x), len(y)))
        for first in range(0, len(x), TILE):
            matrix[first : first + TILE] = self.tile(x[first : first + TILE], y)
        if Y is None:
            matrix = (matrix + matrix.T) / 2
            np.fill_diagonal(matrix, 1.0)
        return matrix

    def tile(self, x: Matrix, y: Matrix) -> Matrix:
        """Return the values for all pairs of points: by inner products where rounding allows it, else by differences.

        The squared distance ``|x|^2 + |y|^2 - 2 x y`` of points about their centre loses as many digits as the squared
        norms are larger than the squared bandwidth.
        """
        centre = y.mean(axis=0) if len(y) else 0.0
        x, y = x - centre, y - centre
        of_x, of_y = np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", y, y)
        if max(of_x.max(initial=0.0), of_y.max(initial=0.0)) > MOST_SQUARED * self.bandwidth**2:
            from scipy.spatial.distance import cdist

            found: Matrix = -cdist(x, y, "sqeuclidean")
        else:
            found = x @ y.T
            found *= 2
            found -= of_x[:, None]
            found -= of_y
            np.minimum(found, 0.0, out=found)
        found *= 1 / (2 * self.bandwidth**2)
        return np.exp(found, out=found)

    def diag(self, X: Any) -> Matrix:
        """Return 1 for each row, (n,) float64; NaN where it is not finite."""
        return np.where(np.isfinite(points(self.rows(X))).all(axis=1), 1.0, np.nan)

    def row_sums(self, rows: Rows) -> GaussianSums:
        """Return what choosing and comparing rows asks, by tiles of the matrix."""
        return GaussianSums(self, rows)

    def __repr__(self) -> str:
        return f"GaussianKernel({self.bandwidth:g})"


def points(rows: Rows) -> Matrix:
    """Return rows of numbers as an array, (n, columns)."""
    return np.ascontiguousarray(rows.numbers.T) if is_table(rows) else rows


class GaussianSums(MatrixSums):
    """Sums of rows under the Gaussian kernel."""

    _kernel: GaussianKernel

    @cached_property
    def _points(self) -> Matrix:
        return points(self._rows)

    @cached_property
    def mean(self) -> Matrix:
        """The mean kernel of each row with all, (n_rows,): each pair of rows is looked at once."""
        mean, shares = np.zeros(self.n_rows), self._shares
        for first in range(0, self.n_rows, TILE):
            down = slice(first, first + TILE)
            for begin in range(first, self.n_rows, TILE):
                across = slice(begin, begin + TILE)
                tile = self._kernel.tile(self._points[down], self._points[across])
                mean[down] += tile @ shares[across]
                if begin > first:
                    mean[across] += shares[down] @ tile
        return mean

    def _rows_of_matrix(self, rows: Positions) -> Matrix:
        return self._kernel.tile(self._points[rows], self._points)

    def halves_of_sets(self, sets: Positions, *, key: int, delta: float) -> Positions:
        """Return one half of each of many sets."""
        return halved_sets_of_points(self._points, self._kernel.bandwidth, sets, key, delta)
