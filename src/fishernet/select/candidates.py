"""Sums of a kernel's rows over all candidates, from which selections that grow row by row choose the next.

Under the Fisher kernel of a network's tables a combination of rows is a weighted count of their cells, and its kernel
with every candidate a look-up a variable; a kernel with features multiplies these; any other is asked for its matrix's
rows, each of them once.

A kernel that is not made of features may be none. One that is not finite or not symmetric is refused before the search.
That its matrix is not positive semidefinite is seen between some of the rows, in its diagonal, or where a squared
distance comes out below 0; then the choice goes on, and a warning says so at its end.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError
from fishernet.base.names import a, several
from fishernet.data.arrays import Weights, row_blocks
from fishernet.data.frames.rows import weights_of
from fishernet.data.matching import Data
from fishernet.kernels import has_features
from fishernet.kernels.features import weighted_mean
from fishernet.kernels.kernel import check_no_logs, is_kernel
from fishernet.kernels.rows import Rows, counted_once, rows_of
from fishernet.kernels.sets import BLOCK, mean_to

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

DIAGONAL_OF = 2**16  # rows at once
MOST_KEPT = 2**28  # numbers of rows of a kernel's matrix: 2 GB
PROBED = 64  # rows between which a kernel's matrix is looked at
ROUNDING = 1e-6  # of the largest kernel of a row with itself: a kernel may be computed in float32


class Candidates(Protocol):
    """The rows of a table under a kernel."""

    n_rows: int
    mean: Array
    """(n_rows,): the mean kernel of each row with the table's, by their weights."""
    diagonal: Array
    """(n_rows,): the kernel of each row with itself."""
    is_indefinite: bool
    """Whether it was seen that the kernel is not positive semidefinite."""

    @property
    def scale(self) -> float:
        """The largest kernel of a row with itself."""
        ...

    @property
    def between(self) -> float:
        """The mean of `mean`, by the weights."""
        ...

    @property
    def mean_diagonal(self) -> float:
        """The mean of `diagonal`, by the weights."""
        ...

    def combination(self, rows: Positions, factors: Array) -> Array:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        ...

    def between_rows(self, row: int, others: Positions) -> Array:
        """Return the kernel of one row with some others."""
        ...

    def squared(self, value: float) -> float:
        """Return a squared distance: 0 where it comes out below, which is remembered unless it is rounding."""
        ...

    def warn(self, n_refused: int = 0, *, stacklevel: int = 3) -> None:
        """Say that the kernel is not positive semidefinite, where that was seen, and how many rows were refused."""
        ...

    def squared_length(self, rows: Positions, factors: Array) -> float:
        """Return the kernel of a combination of rows with itself."""
        ...

    def squared_lengths(self, rows: Positions, ends: Positions) -> Array:
        """Return the kernel of the sum of the first rows with itself, for every end, ascending, (len(ends),)."""
        ...


def candidates_of(kernel: Any, data: Data, name: str) -> Candidates:
    """Return the rows of data as candidates under a kernel."""
    rows = rows_of(checked_kernel(kernel, name), data)
    weights = weights_of(data)
    check_some(len(rows), name)
    if weights is not None and not weights.sum():
        raise SchemaError("all rows have weight 0, so there is nothing to stand for")
    if hasattr(getattr(kernel, "rule", None), "along"):
        return _ByCells(kernel, rows, weights)
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused by its row
        found = _ByFeatures(kernel, rows, weights) if has_features(kernel) else _ByRows(kernel, rows, weights)
    _check_finite(found)
    found.look()
    return found


@dataclass(frozen=True)
class Whole:
    """What there is to know of a whole table under a kernel where rows are chosen in parts of it.

    Attributes
    ----------
    mean : (dimension,) array
        Its mean feature; under the Fisher kernel of a network's tables, the share of its weight in each cell.
    between : float
        The mean kernel of its rows with themselves.
    mean_diagonal : float
        The mean kernel of a row with itself.
    scale : float
        The largest of these, or a bound of it.
    """

    mean: Array
    between: float
    mean_diagonal: float
    scale: float


def whole_of(kernel: Any, rows: Rows) -> Whole:
    """Return what there is to know of all rows: from counts, or a block at a time."""
    weights = getattr(rows, "weights", None)
    total = float(len(rows) if weights is None else weights.sum())
    if not total:
        raise SchemaError("all rows have weight 0, so there is nothing to stand for")
    rule: Any = getattr(kernel, "rule", None)
    if hasattr(rule, "along"):
        shares = rule.cell_weights(rows)
        return Whole(shares, rule.squared_length(shares), rule.mean_length(shares), rule.most_length(shares))
    mean = np.asarray(kernel.mean_features(rows))
    between = float(mean @ mean)
    diagonal, scale = 0.0, 0.0
    for at in row_blocks(len(rows), DIAGONAL_OF):
        of = _real(kernel.diag(rows[at]), "the kernel's diagonal")
        diagonal += float(of.sum() if weights is None else of @ weights[at])
        scale = max(scale, float(np.abs(of).max()))
    return Whole(mean, between, diagonal / total, scale)


def candidates_among(kernel: Any, rows: Rows, whole: Whole, name: str, where: Positions | None = None) -> Candidates:
    """Return some rows of a table as candidates that are compared with the whole of it.

    `where` they are in the table is for messages; without it they are its first.
    """
    check_some(len(rows), name)
    with np.errstate(invalid="ignore", over="ignore"):
        if hasattr(getattr(kernel, "rule", None), "along"):
            found: _ByCells | _ByFeatures = _ByCells(kernel, rows, None, whole)
        else:
            found = _ByFeatures(kernel, rows, None, whole)
    _check_finite(found, where)
    found.between, found.mean_diagonal, found.scale = whole.between, whole.mean_diagonal, whole.scale
    return found


def check_some(n_rows: int, name: str) -> None:
    """Refuse a table without rows."""
    if n_rows == 0:
        raise FishernetError(f"{name} needs a row to choose from, and there is none")


def _check_finite(candidates: Candidates, where: Positions | None = None) -> None:
    """Refuse a kernel with NaN or infinity: each of these is in a row's kernel with itself or in its mean."""
    for values in (candidates.diagonal, candidates.mean):
        bad = ~np.isfinite(values)
        if bad.any():
            place = int(bad.argmax())
            row = place if where is None else where[place]
            raise SchemaError(
                f"the kernel of row {row} with the rows of the table is not finite; a kernel "
                "has no NaN and no infinity",
                parameter="kernel",
            )


def checked_kernel(kernel: Any, name: str) -> Any:
    """Return a kernel to calculate with."""
    if not is_kernel(kernel):
        raise SchemaError(f"{name} needs a kernel, as fn.kernels.FisherKernel(net), not {a(type(kernel).__name__)}")
    check_no_logs(kernel)
    return kernel


def _shares(weights: Weights | None, n_rows: int) -> Array:
    return np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()


def _real(values: Any, name: str) -> Array:
    """Return numbers as float64, in the same memory where they are that already."""
    found = np.asarray(values)
    if found.dtype.kind == "c":
        raise SchemaError(f"{name} must be of real numbers, not of complex ones", parameter="kernel")
    return found if found.dtype == np.float64 else check.numbers(found, name)


class _OfKernel:
    """What all have in common."""

    mean: Array

    def __init__(self, kernel: Any, rows: Rows, weights: Weights | None) -> None:
        self._kernel, self._rows = kernel, rows
        self.n_rows = len(rows)
        self.diagonal = _real(kernel.diag(rows), "the kernel's diagonal")
        if self.diagonal.shape != (self.n_rows,):
            raise SchemaError(
                f"the kernel's diagonal must have a number for each of {several(self.n_rows, 'row')}, got an array of "
                f"shape {self.diagonal.shape}",
                parameter="kernel",
            )
        self._shares = _shares(weights, self.n_rows)
        self.is_indefinite = False

    def look(self) -> None:
        """Look at the matrix between some of the rows; features make one that is symmetric and semidefinite."""

    def squared(self, value: float) -> float:
        """Return a squared distance: 0 where it comes out below, which is remembered unless it is rounding."""
        self.is_indefinite |= value < -ROUNDING * self.scale
        return max(value, 0.0)

    def warn(self, n_refused: int = 0, *, stacklevel: int = 3) -> None:
        """Say that the kernel is not positive semidefinite, where that was seen, and how many rows were refused."""
        if not self.is_indefinite and not n_refused:
            return
        refused = f"{several(n_refused, 'row')} passed over, with which the weights have no best values"
        below = "squared distances may be below 0, where 0 is told, and chosen rows need not be near the table"
        message = f"the kernel is not positive semidefinite: {refused if n_refused else below}"
        warnings.warn(FishernetWarning(message, parameter="kernel"), stacklevel=stacklevel)

    @cached_property
    def scale(self) -> float:
        """The largest kernel of a row with itself."""
        return float(np.abs(self.diagonal).max())

    @cached_property
    def mean_diagonal(self) -> float:
        """The mean kernel of a row with itself, by the weights."""
        return float(self._shares @ self.diagonal)

    @cached_property
    def between(self) -> float:
        """The mean kernel of the table's rows with themselves."""
        return float(self._shares @ self.mean)

    def between_rows(self, row: int, others: Positions) -> Array:
        """Return the kernel of one row with some others."""
        return np.asarray(self._kernel(self._rows[row : row + 1], self._rows[others])[0], dtype=np.float64)

    def squared_length(self, rows: Positions, factors: Array) -> float:
        """Return the kernel of a combination of rows with itself."""
        return float(factors @ self._kernel(counted_once(self._rows[rows])) @ factors)

    def squared_lengths(self, rows: Positions, ends: Positions) -> Array:
        """Return the kernel of the sum of the first rows with itself, for every end, ascending, (len(ends),)."""
        found, length = [], 0.0
        for first, last in pairwise([0, *ends.tolist()]):
            new = counted_once(self._rows[rows[first:last]])
            length += 2 * float(self._kernel(new, counted_once(self._rows[rows[:first]])).sum()) if first else 0.0
            length += float(self._kernel(new).sum())
            found.append(length)
        return np.array(found)


class _ByCells(_OfKernel):
    """Rows under the Fisher kernel of a network's tables."""

    def __init__(self, kernel: Any, rows: Rows, weights: Weights | None, whole: Whole | None = None) -> None:
        super().__init__(kernel, rows, weights)
        self.mean = kernel.rule.along(rows, kernel.rule.cell_weights(rows) if whole is None else whole.mean)

    def combination(self, rows: Positions, factors: Array) -> Array:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        rule = self._kernel.rule
        return np.asarray(rule.along(self._rows, rule.weighed(self._rows[rows], factors)))

    def squared_lengths(self, rows: Positions, ends: Positions) -> Array:
        """Return the kernel of the sum of the first rows with itself, for every end, ascending, (len(ends),)."""
        rule = self._kernel.rule
        weights, found = np.zeros(rule.dimension), []
        for first, last in pairwise([0, *ends.tolist()]):
            weights += rule.weighed(self._rows[rows[first:last]], np.ones(last - first))
            found.append(rule.squared_length(weights))
        return np.array(found)


class _ByFeatures(_OfKernel):
    """Rows under a kernel with features."""

    def __init__(self, kernel: Any, rows: Rows, weights: Weights | None, whole: Whole | None = None) -> None:
        super().__init__(kernel, rows, weights)
        self._features = kernel.features(rows)
        mean = weighted_mean(self._features, rows) if whole is None else whole.mean
        self.mean = np.asarray(self._features @ mean)

    def combination(self, rows: Positions, factors: Array) -> Array:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        return np.asarray(self._features @ (self._features[rows].T @ factors))

    def squared_length(self, rows: Positions, factors: Array) -> float:
        """Return the kernel of a combination of rows with itself."""
        total = self._features[rows].T @ factors
        return float(total @ total)

    def squared_lengths(self, rows: Positions, ends: Positions) -> Array:
        """Return the kernel of the sum of the first rows with itself, for every end, ascending, (len(ends),)."""
        total, found = np.zeros(self._features.shape[1]), []
        for first, last in pairwise([0, *ends.tolist()]):
            total += np.asarray(self._features[rows[first:last]].sum(axis=0)).ravel()
            found.append(float(total @ total))
        return np.array(found)


class _ByRows(_OfKernel):
    """Rows under any kernel: rows of its matrix are kept while there is room for them."""

    def __init__(self, kernel: Any, rows: Rows, weights: Weights | None) -> None:
        super().__init__(kernel, rows, weights)
        self.mean = _real(mean_to(kernel, rows, rows), "the kernel's matrix")
        self._kept: dict[int, Array] = {}
        self._most_kept = max(MOST_KEPT // self.n_rows, 1)

    def look(self) -> None:
        """Look at the matrix between some of the rows: one that is not symmetric is refused."""
        some = np.unique(np.linspace(0, self.n_rows - 1, PROBED).round().astype(np.int64))
        rows = counted_once(self._rows[some])
        matrix = _real(self._kernel(rows, rows), "the kernel's matrix")
        off = np.abs(matrix - matrix.T)
        rounding = ROUNDING * np.abs(matrix).max()
        if off.max() > rounding:
            x, y = np.unravel_index(int(off.argmax()), off.shape)
            raise SchemaError(
                f"the kernel is not symmetric: of rows {some[x]} and {some[y]} it is {matrix[x, y]:g}, and of rows "
                f"{some[y]} and {some[x]} {matrix[y, x]:g}",
                parameter="kernel",
            )
        lowest = min(float(np.linalg.eigvalsh(matrix)[0]), float(self.diagonal.min()))
        self.is_indefinite |= lowest < -len(some) * rounding or self.between < -rounding

    def combination(self, rows: Positions, factors: Array) -> Array:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        if len(rows) > self._most_kept:
            return self._by_blocks(rows, factors)
        self._keep(rows.tolist())
        total = np.zeros(self.n_rows)
        for row, factor in zip(rows.tolist(), factors.tolist(), strict=True):
            total += factor * self._kept[row]
        return total

    def _keep(self, rows: list[int]) -> None:
        """Keep some rows of the matrix, in the place of others that were kept before."""
        new = [row for row in rows if row not in self._kept]
        if not new:
            return
        wanted = set(rows)
        idle = [row for row in self._kept if row not in wanted]
        for row in idle[: max(len(self._kept) + len(new) - self._most_kept, 0)]:
            del self._kept[row]
        matrix = np.asarray(self._kernel(counted_once(self._rows[np.array(new)]), self._rows), dtype=np.float64)
        self._kept.update(zip(new, matrix, strict=True))

    def _by_blocks(self, rows: Positions, factors: Array) -> Array:
        chosen = counted_once(self._rows[rows])
        blocks = [
            self._kernel(self._rows[first : first + BLOCK], chosen) @ factors for first in range(0, self.n_rows, BLOCK)
        ]
        return np.asarray(np.concatenate(blocks), dtype=np.float64)
