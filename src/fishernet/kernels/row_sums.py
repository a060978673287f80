"""Sums of a kernel's rows: all that `select` and `compare` know of a kernel on given rows.

A kernel makes them by ``kernel.row_sums(rows)``. There are three ways: `fisher.invariant` counts the cells of a
network's tables in the core, `FeatureSums` adds features, and `MatrixSums` asks for rows of the kernel's matrix. None
of them holds a matrix of all pairs of rows that was not given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import several
from fishernet.base.progress import Reporter
from fishernet.data.arrays import Weights, row_blocks
from fishernet.data.frames.rows import weights_of
from fishernet.data.matching import is_table
from fishernet.data.pooling import stacked
from fishernet.kernels.features import (
    Features,
    Matrix,
    checked_length,
    is_sparse,
    products_of_sets,
    shares_of,
    side_by_side,
    weighted_mean,
)
from fishernet.kernels.parts import FeatureParts
from fishernet.kernels.rows import Rows, reweighted

Positions = npt.NDArray[np.int64]

BLOCK = 1024  # rows of a kernel matrix held at once
DIAGONAL_OF = 2**16  # rows at once
MOST_KEPT = 2**28  # numbers of rows of a kernel's matrix: 2 GB
MOST_OF_SETS = 2**22  # numbers of matrices, and columns, of the sets that are multiplied at once: 32 MB each
MOST_PAIRED = 2**13  # rows between which a kernel's matrix is made: 0.5 GB
MOST_POINTS = 2**27  # numbers of dense features: 1 GB
MOST_SPLIT_CELLS = 2**27  # numbers that are kept of all configurations and splits: 1 GB
PROBED = 64  # rows between which a kernel's matrix is looked at
ROUNDING = 1e-6  # of the largest kernel of a row with itself: a kernel may be computed in float32
THIN = 8  # times fewer entries than columns a row: from there on sparse products are the faster ones


@dataclass(frozen=True, eq=False)
class Distances:
    """|mean feature of a part - mean feature of the rest|^2 for splits, of which the first is the observed one."""

    total: Matrix
    """(1 + splits,)."""
    by_variable: Matrix | None = None
    """(1 + splits, n_variables), where the kernel is a sum over variables."""
    by_group: Matrix | None = None
    """(1 + splits, configurations), where it is a sum over these too, and they are not too many."""


class RowSums(Protocol):
    """A kernel on given rows.

    Means are by the weights of the rows. Those of `some` rows are compared with the mean of all that they were taken
    from, so that large tables can be chosen from in parts.

    Attributes
    ----------
    n_rows : int
    most_halved : int
        The number of rows that `halves` takes.
    in_parts : bool
        Whether `some` rows can be compared with the mean of all in time linear in these.
    is_indefinite : bool
        Whether it was seen that the kernel is not positive semidefinite.
    """

    n_rows: int
    most_halved: int
    in_parts: bool
    is_indefinite: bool

    @property
    def mean(self) -> Matrix:
        """The mean kernel of each row with all, (n_rows,)."""
        ...

    @property
    def diagonal(self) -> Matrix:
        """The kernel of each row with itself, (n_rows,)."""
        ...

    @property
    def scale(self) -> float:
        """The largest kernel of a row with itself, or a bound of it."""
        ...

    @property
    def between(self) -> float:
        """The mean kernel of all rows with all."""
        ...

    @property
    def mean_diagonal(self) -> float:
        """The mean kernel of a row with itself."""
        ...

    @property
    def weights(self) -> Weights | None:
        """How much each row counts; None where each counts once."""
        ...

    def check(self, where: Positions | None = None) -> None:
        """Refuse a kernel that is not finite or not symmetric; `where` the rows are in their table is for messages."""
        ...

    def squared(self, value: float) -> float:
        """Return a squared distance: 0 where it comes out below, which is remembered unless it is rounding."""
        ...

    def along(self, rows: Positions, factors: Matrix) -> Matrix:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        ...

    def matrix(self, rows: Positions, others: Positions | None = None, of: Self | None = None) -> Matrix:
        """Return the kernel of some rows with others, or with themselves; the others may be `of` another table."""
        ...

    def squared_length(self, rows: Positions, factors: Matrix) -> float:
        """Return the kernel of a combination of rows with itself."""
        ...

    def squared_lengths(self, rows: Positions, ends: Positions) -> Matrix:
        """Return the kernel of the sum of the first rows with itself, for every end, ascending, (len(ends),)."""
        ...

    def mean_with(self, other: Self) -> float:
        """Return the mean of the kernel over all pairs of rows of two tables."""
        ...

    def squared_distance(self, other: Self) -> float:
        """Return the squared distance of the mean features of two tables; not below 0."""
        ...

    def splits(self, other: Self, n_splits: int, key: int, reporter: Reporter) -> Distances:
        """Return the distance of these rows to others, and so many times that of rows that changed their places."""
        ...

    def halves(self, order: Positions, *, rounds: int, key: int, delta: float) -> Positions:
        """Return rows in an order in which halves are near each other (Dwivedi and Mackey, 2021, Algorithm 1a).

        The order is halved so often, and its first half followed by its second. Signed sums stay within their bounds
        with a probability of 1 - delta in all.
        """
        ...

    def halves_of_sets(self, sets: Positions, *, key: int, delta: float) -> Positions:
        """Return one half of each of many sets, (n, size) to (n, size // 2): either, with equal chances.

        Signed sums stay within their bounds with a probability of 1 - delta in all.
        """
        ...

    def exchanges(self, k: int) -> _core.SwapSearch | None:
        """Return the core's search for k rows, each of which is exchanged; None: rows are exchanged in Python."""
        ...

    def some(self, rows: slice | Positions) -> RowSums:
        """Return some of the rows, each of which counts once, to be compared with the mean of all."""
        ...

    def alone(self, rows: Positions, times: Positions | None = None) -> RowSums:
        """Return some rows to be compared with their own mean; each counts once, or so many times as is said of it."""
        ...


@dataclass(frozen=True)
class Whole:
    """What there is to know of a whole table where rows are looked at in parts.

    Attributes
    ----------
    mean : (dimension,) array
        Its mean feature; under the Fisher kernel of a network's tables, the share of its weight in each cell.
    between, mean_diagonal, scale : float
        As of `RowSums`.
    """

    mean: Matrix
    between: float
    mean_diagonal: float
    scale: float


class Pairwise(Protocol):
    """A kernel as the makers of sums know it."""

    def __call__(self, X: Rows, Y: Rows | None = None, /) -> Matrix:
        """Return the values for all pairs."""
        ...

    def diag(self, X: Rows, /) -> Matrix:
        """Return the value of each row with itself."""
        ...


class WithFeatures(Pairwise, Protocol):
    """A kernel with features, as the makers of sums know it."""

    @property
    def feature_parts(self) -> FeatureParts | None:
        """Whose each feature is."""
        ...

    def features(self, X: Rows, /) -> Features:
        """Return the features of each row."""
        ...

    def mean_features(self, X: Rows, /) -> Matrix:
        """Return the mean of the rows' features."""
        ...


class SumsOfKernel:
    """What all ways have in common: the kernel is asked for the few values that are wanted between rows."""

    in_parts = True

    def __init__(self, kernel: Pairwise, rows: Rows, whole: Whole | None = None) -> None:
        self._kernel, self._rows, self._of = kernel, rows, whole
        self.n_rows: int = checked_length(rows, "rows")
        self.most_halved: int = min(self.n_rows, MOST_PAIRED)
        self.is_indefinite: bool = False

    @property
    def weights(self) -> Weights | None:
        """How much each row counts; None where each counts once."""
        return weights_of(self._rows)

    @cached_property
    def diagonal(self) -> Matrix:
        """The kernel of each row with itself, (n_rows,)."""
        found = real_numbers(self._kernel.diag(self._rows), "the kernel's diagonal")
        if found.shape != (self.n_rows,):
            raise SchemaError(
                f"the kernel's diagonal must have a number for each of {several(self.n_rows, 'row')}, got an array of "
                f"shape {found.shape}",
                parameter="kernel",
            )
        return found

    @property
    def mean(self) -> Matrix:
        """The mean kernel of each row with all, (n_rows,)."""
        raise NotImplementedError

    @cached_property
    def scale(self) -> float:
        """The largest kernel of a row with itself."""
        return float(np.abs(self.diagonal).max()) if self._of is None else self._of.scale

    @cached_property
    def mean_diagonal(self) -> float:
        """The mean kernel of a row with itself."""
        return float(self._shares @ self.diagonal) if self._of is None else self._of.mean_diagonal

    @cached_property
    def between(self) -> float:
        """The mean kernel of all rows with all."""
        return float(self._shares @ self.mean) if self._of is None else self._of.between

    @cached_property
    def _shares(self) -> Matrix:
        return shares_of(self._rows, self.n_rows)

    def check(self, where: Positions | None = None) -> None:
        """Refuse a kernel with NaN or infinity: each of these is in a row's kernel with itself or in its mean."""
        with np.errstate(invalid="ignore", over="ignore"):
            each = self.diagonal, self.mean
        for values in each:
            bad = ~np.isfinite(values)
            if bad.any():
                place = int(bad.argmax())
                raise SchemaError(
                    f"the kernel of row {place if where is None else where[place]} with the rows of the table is not "
                    "finite; a kernel has no NaN and no infinity",
                    parameter="kernel",
                )

    def squared(self, value: float) -> float:
        """Return a squared distance: 0 where it comes out below, which is remembered unless it is rounding."""
        self.is_indefinite |= value < -ROUNDING * self.scale
        return max(value, 0.0)

    def along(self, rows: Positions, factors: Matrix) -> Matrix:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        raise NotImplementedError

    def matrix(self, rows: Positions, others: Positions | None = None, of: Self | None = None) -> Matrix:
        """Return the kernel of some rows with others, or with themselves; the others may be `of` another table."""
        taken = reweighted(self._rows[rows])
        if others is None:
            return np.asarray(self._kernel(taken), dtype=np.float64)
        further = reweighted((self if of is None else of)._rows[others])
        return np.asarray(self._kernel(taken, further), dtype=np.float64)

    def squared_length(self, rows: Positions, factors: Matrix) -> float:
        """Return the kernel of a combination of rows with itself."""
        return float(factors @ self.matrix(rows) @ factors)

    def squared_lengths(self, rows: Positions, ends: Positions) -> Matrix:
        """Return the kernel of the sum of the first rows with itself, for every end, ascending, (len(ends),)."""
        found, length = [], 0.0
        for first, last in pairwise([0, *ends.tolist()]):
            new = rows[first:last]
            length += 2 * float(self.matrix(new, rows[:first]).sum()) if first else 0.0
            length += float(self.matrix(new).sum())
            found.append(length)
        return np.array(found)

    def halves(self, order: Positions, *, rounds: int, key: int, delta: float) -> Positions:
        """Return rows in an order in which halves are near each other, by the kernel's matrix between them."""
        if not rounds:
            return order
        draws = np.random.default_rng(key).random(rounds * (len(order) // 2))
        matrix = np.ascontiguousarray(self.matrix(order))
        return order[_core.halved_by_matrix(matrix, np.arange(len(order)), rounds, delta, draws)]

    def halves_of_sets(self, sets: Positions, *, key: int, delta: float) -> Positions:
        """Return one half of each of many sets, by the kernel's matrix between the rows of a set."""
        draws = draws_of_sets(sets, key)
        found = []
        for number, (rows, matrix) in enumerate(zip(sets, self._matrices_of_sets(sets), strict=True)):
            of_set = np.append(draws[number * (len(rows) // 2) :][: len(rows) // 2], draws[number - len(sets)])
            places = np.arange(len(rows))
            halved = _core.halved_by_matrix(matrix, places, 1, delta / len(sets), of_set, exchanges=True)
            found.append(rows[halved[: len(rows) // 2]])
        return np.stack(found)

    def _matrices_of_sets(self, sets: Positions) -> Iterator[Matrix]:
        """Yield the kernel between the rows of each set, (size, size)."""
        return (np.ascontiguousarray(self.matrix(rows)) for rows in sets)

    def exchanges(self, k: int) -> _core.SwapSearch | None:  # noqa: ARG002
        """Return None: rows are exchanged in Python."""
        return None

    def alone(self, rows: Positions, times: Positions | None = None) -> Self:
        """Return some rows to be compared with their own mean; each counts once, or so many times as is said of it."""
        return type(self)(self._kernel, reweighted(self._rows[rows], times))


class FeatureSums(SumsOfKernel):
    """Sums of rows under a kernel with features."""

    _kernel: WithFeatures

    def __init__(self, kernel: WithFeatures, rows: Rows, whole: Whole | None = None) -> None:
        super().__init__(kernel, rows, whole)

    @cached_property
    def _features(self) -> Features:
        return self._kernel.features(self._rows)

    @cached_property
    def mean(self) -> Matrix:
        """The mean kernel of each row with all, (n_rows,)."""
        mean = weighted_mean(self._features, self._rows) if self._of is None else self._of.mean
        return np.asarray(self._features @ mean)

    @cached_property
    def _whole(self) -> Whole:
        """What there is to know of all rows, of which so many are looked at at a time."""
        if self._of is not None:
            return self._of
        mean = np.asarray(self._kernel.mean_features(self._rows))
        weights = self.weights
        total = float(self.n_rows if weights is None else weights.sum())
        diagonal, scale = 0.0, 0.0
        for at in row_blocks(self.n_rows, DIAGONAL_OF):
            of = real_numbers(self._kernel.diag(self._rows[at]), "the kernel's diagonal")
            diagonal += float(of.sum() if weights is None else of @ weights[at])
            scale = max(scale, float(np.abs(of).max()))
        return Whole(mean, float(mean @ mean), diagonal / total, scale)

    def some(self, rows: slice | Positions) -> FeatureSums:
        """Return some of the rows, each of which counts once, to be compared with the mean of all."""
        return FeatureSums(self._kernel, reweighted(self._rows[rows]), self._whole)

    def along(self, rows: Positions, factors: Matrix) -> Matrix:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        return np.asarray(self._features @ (self._features[rows].T @ factors))

    def squared_length(self, rows: Positions, factors: Matrix) -> float:
        """Return the kernel of a combination of rows with itself."""
        total = self._features[rows].T @ factors
        return float(total @ total)

    def squared_lengths(self, rows: Positions, ends: Positions) -> Matrix:
        """Return the kernel of the sum of the first rows with itself, for every end, ascending, (len(ends),)."""
        total, found = np.zeros(self._features.shape[1]), []
        for first, last in pairwise([0, *ends.tolist()]):
            total += np.asarray(self._features[rows[first:last]].sum(axis=0)).ravel()
            found.append(float(total @ total))
        return np.array(found)

    def halves_of_sets(self, sets: Positions, *, key: int, delta: float) -> Positions:
        """Return one half of each of many sets, by inner products of dense points unless these are many or thin."""
        if _is_thin(self._features) or sets.size * self._features.shape[1] > MOST_POINTS:
            return super().halves_of_sets(sets, key=key, delta=delta)
        taken = self._features[sets.ravel()]
        points = np.ascontiguousarray(taken.toarray() if is_sparse(taken) else taken, dtype=np.float64)
        return sets.ravel()[halved_sets_of_points(points, 0.0, np.arange(sets.size).reshape(sets.shape), key, delta)]

    def _matrices_of_sets(self, sets: Positions) -> Iterator[Matrix]:
        """Yield the kernel between the rows of each set: of sparse features in one product for many sets."""
        if not is_sparse(self._features):
            yield from super()._matrices_of_sets(sets)
            return
        at_once = max(MOST_OF_SETS // max(sets.shape[1] ** 2, self._features.shape[1]), 1)
        for first in range(0, len(sets), at_once):
            yield from products_of_sets(self._features, sets[first : first + at_once])

    def mean_with(self, other: Self) -> float:
        """Return the inner product of the mean features of two tables."""
        return float(self._kernel.mean_features(self._rows) @ other._kernel.mean_features(other._rows))

    def squared_distance(self, other: Self) -> float:
        """Return the squared distance of the mean features of two tables."""
        difference = self._kernel.mean_features(self._rows) - other._kernel.mean_features(other._rows)
        return float(difference @ difference)

    def splits(self, other: Self, n_splits: int, key: int, reporter: Reporter) -> Distances:
        """Add the features of the rows that each split takes first."""
        n, m = self.n_rows, other.n_rows
        features, parts = self._with(other), self._kernel.feature_parts
        center = np.asarray(features.mean(axis=0)).ravel()
        total = np.empty(1 + n_splits)
        by_variable = None if parts is None else np.empty((1 + n_splits, len(parts.names)))
        n_groups = 0 if parts is None or parts.group_of is None else len(parts.variable_of_group)
        few = n_groups > 0 and (1 + n_splits) * n_groups <= MOST_SPLIT_CELLS
        by_group = np.empty((1 + n_splits, n_groups)) if few else None
        for at, taken in drawn_splits(n, m, n_splits, key):
            sums = np.asarray(features.T @ taken) - n * center[:, None]
            squares = (sums * (1 / n + 1 / m)) ** 2
            total[at] = squares.sum(axis=0)
            if parts is not None and by_variable is not None:
                by_variable[at] = _summed(squares, parts.variable_of, len(parts.names))
            if parts is not None and parts.group_of is not None and by_group is not None:
                by_group[at] = _summed(squares, parts.group_of, n_groups)
            reporter.step(at.stop, 1 + n_splits)
        return Distances(total, by_variable, by_group)

    def _with(self, other: Self) -> Features:
        """Return the features of the rows of two tables, one below the other."""
        if is_table(self._rows):
            return self._kernel.features(stacked([self._rows, other._rows]))
        both = [self._kernel.features(self._rows), self._kernel.features(other._rows)]
        return side_by_side([one.T for one in both]).T.tocsr() if is_sparse(both[0]) else np.vstack(both)


def _is_thin(features: Features) -> bool:
    """Return whether so few entries are not 0 that sparse products take less time than dense ones."""
    return is_sparse(features) and features.nnz * THIN < features.shape[0] * features.shape[1]


def _summed(squares: Matrix, of: Positions, n: int) -> Matrix:
    """Return the sums of rows by what they belong to, (columns, n)."""
    sums = np.zeros((n, squares.shape[1]))
    np.add.at(sums, of, squares)
    return sums.T


class MatrixSums(SumsOfKernel):
    """Sums of rows under any kernel: rows of its matrix are kept while there is room for them.

    A kernel that is not made of features may be none. One that is not symmetric is refused; that its matrix is not
    positive semidefinite is seen between some of the rows, in its diagonal, or where a squared distance comes out
    below 0.
    """

    in_parts = False

    def __init__(self, kernel: Pairwise, rows: Rows, whole: None = None) -> None:
        super().__init__(kernel, rows, whole)
        self._kept: dict[int, Matrix] = {}
        self._most_kept = max(MOST_KEPT // max(self.n_rows, 1), 1)

    @cached_property
    def mean(self) -> Matrix:
        """The mean kernel of each row with all, (n_rows,)."""
        return self._mean_to(self)

    def _mean_to(self, other: Self) -> Matrix:
        """Return the mean kernel of each row with the rows of another table, by blocks."""
        shares = other._shares
        blocks = [self._kernel(self._rows[at : at + BLOCK], other._rows) for at in range(0, self.n_rows, BLOCK)]
        return real_numbers(np.concatenate([b @ shares for b in blocks]) if blocks else np.zeros(0), MATRIX)

    def check(self, where: Positions | None = None) -> None:
        """Refuse a kernel that is not finite, or not symmetric between some of the rows."""
        super().check(where)
        some = np.unique(np.linspace(0, self.n_rows - 1, PROBED).round().astype(np.int64))
        matrix = real_numbers(self.matrix(some, some), MATRIX)
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
        self.is_indefinite: bool = self.is_indefinite or lowest < -len(some) * rounding or self.between < -rounding

    def some(self, rows: slice | Positions) -> RowSums:  # noqa: ARG002
        """Refuse: the mean of all would take all pairs of rows."""
        raise SchemaError("rows are chosen in parts under kernels with features only", parameter="parts")

    def along(self, rows: Positions, factors: Matrix) -> Matrix:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        if len(rows) > self._most_kept:
            chosen = reweighted(self._rows[rows])
            blocks = [
                self._kernel(self._rows[at : at + BLOCK], chosen) @ factors for at in range(0, self.n_rows, BLOCK)
            ]
            return np.asarray(np.concatenate(blocks), dtype=np.float64)
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
        self._kept.update(zip(new, self._rows_of_matrix(np.array(new)), strict=True))

    def _rows_of_matrix(self, rows: Positions) -> Matrix:
        """Return the kernel of some rows with every row."""
        return np.asarray(self._kernel(reweighted(self._rows[rows]), self._rows), dtype=np.float64)

    def mean_with(self, other: Self) -> float:
        """Return the mean of the kernel over all pairs of rows of two tables."""
        return float(self._shares @ self._mean_to(other))

    def squared_distance(self, other: Self) -> float:
        """Return the squared distance of the mean features of two tables, 0 where it comes out below."""
        within = self._shares @ self._mean_to(self) + other._shares @ other._mean_to(other)
        return max(float(within - 2 * self._shares @ self._mean_to(other)), 0.0)

    def splits(self, other: Self, n_splits: int, key: int, reporter: Reporter) -> Distances:
        """Go through the upper triangle of the kernel's matrix once."""
        n, m = self.n_rows, other.n_rows
        return distances_by_triangle(self._triangle(other), all_splits(n, m, n_splits, key), (n, m), reporter)

    def _triangle(self, other: Self) -> Iterator[tuple[slice, Matrix]]:
        """Yield blocks of rows of the two tables, each with its kernel with its own rows and all that come later."""
        for begin in range(0, self.n_rows, BLOCK):
            part, later = self._rows[begin : begin + BLOCK], self._rows[begin:]
            at = slice(begin, begin + len(part))
            yield at, np.hstack([self._kernel(part, later), self._kernel(part, other._rows)])
        for begin in range(0, other.n_rows, BLOCK):
            part, later = other._rows[begin : begin + BLOCK], other._rows[begin:]
            yield slice(self.n_rows + begin, self.n_rows + begin + len(part)), self._kernel(part, later)


MATRIX = "the kernel's matrix"


def draws_of_sets(sets: Positions, key: int) -> Matrix:
    """Return numbers from 0 to 1 by which sets are halved: one for each pair of rows, then one for each set."""
    return np.random.default_rng(key).random(sets.size // 2 + len(sets))


def halved_sets_of_points(points: Matrix, bandwidth: float, sets: Positions, key: int, delta: float) -> Positions:
    """Return one half of each set of points, under the Gaussian kernel or with bandwidth 0 by inner products."""
    draws = draws_of_sets(sets, key)
    order = np.ascontiguousarray(sets.ravel())
    halved = _core.halved_points(points, bandwidth, order, 1, delta, draws, len(sets), exchanges=True)
    return halved.reshape(len(sets), -1)[:, : sets.shape[1] // 2]


def drawn_splits(n_first: int, n_second: int, n_splits: int, key: int) -> Iterator[tuple[slice, Matrix]]:
    """Yield which splits come next, and which rows their first part takes, (rows, splits) of 0 and 1."""
    for begin in range(0, 1 + n_splits, _core.SPLIT_LANES):
        count = min(_core.SPLIT_LANES, 1 + n_splits - begin)
        taken = _core.splits(n_first + n_second, n_first, key, begin, count)
        yield slice(begin, begin + count), taken.astype(np.float64)


def all_splits(n_first: int, n_second: int, n_splits: int, key: int) -> Matrix:
    """Return which rows the first part takes under every split, (rows, 1 + splits) of 0 and 1."""
    return np.concatenate([block for _, block in drawn_splits(n_first, n_second, n_splits, key)], axis=1)


def distances_by_triangle(
    blocks: Iterable[tuple[slice, Matrix]], taken: Matrix, sizes: tuple[int, int], reporter: Reporter
) -> Distances:
    """Return the distances of splits from blocks of rows of a symmetric matrix, each from its own rows on.

    With z the indicator of the first part, the distance is a quadratic form of z. A kernel is symmetric, so that half
    of its matrix tells all.
    """
    n, m = sizes
    inside = np.zeros(taken.shape[1])  # z' K z
    sums = np.zeros(n + m)  # K 1
    for at, matrix in blocks:
        own, later = np.split(matrix, [at.stop - at.start], axis=1)
        product = later @ taken[at.stop :]
        product *= 2
        product += own @ taken[at]
        inside += np.einsum("ij,ij->j", taken[at], product)
        sums[at] += matrix.sum(axis=1)
        sums[at.stop :] += later.sum(axis=0)
        reporter.step(at.stop, n + m)
    both = 1 / n + 1 / m
    return Distances(np.asarray(inside * both**2 - 2 * (sums @ taken) * both / m + sums.sum() / m**2))


def real_numbers(values: npt.ArrayLike, name: str) -> Matrix:
    """Return numbers as float64, in the same memory where they are that already."""
    found = np.asarray(values)
    if found.dtype.kind == "c":
        raise SchemaError(f"{name} must be of real numbers, not of complex ones", parameter="kernel")
    return found if found.dtype == np.float64 else check.numbers(found, name)
