"""The Fisher kernel of a network's tables with the inverse of its Fisher information, by counts of cells in the core.

A combination of rows is a weighted count of their cells, and its kernel with a row a look-up a variable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.base.progress import Reporter
from fishernet.data import Source, Table
from fishernet.data.arrays import row_blocks
from fishernet.kernels.features import NO_WEIGHT, Features, Matrix, check_cells, sparse
from fishernet.kernels.fisher.family_counts import are_few, family_counts
from fishernet.kernels.fisher.metrics import Metric, flat, inverse_of
from fishernet.kernels.parts import FeatureParts, parts_of_tables
from fishernet.kernels.row_sums import MOST_SPLIT_CELLS, Distances, Positions, SumsOfKernel, Whole
from fishernet.kernels.rows import distinct_rows, reweighted
from fishernet.models import BayesianNetwork

LOOKED_UP = 2**16  # rows at once, of which a number a variable is held
CELLS_OF = 2**18  # rows at once, whose cells under many splits are counted
MOST_COUNTS = 2**26  # in cells under splits at once; for more splits rows are gone through again
LEAST_BLOCKS = 4  # of splits that are looked at together: so many at once, whatever the number of cells


class Invariant(Metric):
    """The inverse of a Bayesian network's Fisher information (Leppä-aho et al., 2020, Theorem 1), by look-ups.

    `inverse_theta` and `inverse_group` hold 1 / theta (0 where theta is 0) and 1 / P(group) of every cell, variable by
    variable, (dimension,).
    """

    name = "invariant"
    has_terms = True
    takes_statistics = True

    def __init__(self, model: BayesianNetwork, groups: Sequence[Matrix]) -> None:
        self._model = model
        self._theta = [c.probabilities for c in model.conditionals]
        ends = np.cumsum([0, *(theta.size for theta in self._theta)]).tolist()
        self._slices = [slice(first, last) for first, last in pairwise(ends)]
        theta = flat(self._theta)
        shapes = np.array([table.shape for table in self._theta], dtype=np.int64).reshape(-1, 2)
        self._states = states = np.repeat(shapes[:, 1], shapes[:, 0])
        self._groups = np.cumsum(states) - states  # where each begins
        self.inverse_theta: Matrix = inverse_of(theta)
        self.inverse_group: Matrix = np.repeat(inverse_of(flat(groups)), states)
        self._same, self._other = (1 - theta) * self.inverse_theta * self.inverse_group, -self.inverse_group
        self._same_parts = self._parts(self._same)
        impossible = (theta == 0) | (self.inverse_group == 0)
        self._impossible = self._parts(impossible.astype(np.float64)) if impossible.any() else None

    @property
    def dimension(self) -> int:
        """The number of features."""
        return len(self.inverse_theta)

    @property
    def feature_parts(self) -> FeatureParts:
        """Whose each feature is."""
        counting = (self.inverse_theta > 0) & (self.inverse_group > 0)
        return parts_of_tables(self._model.names, self._model.conditionals, counting)

    def row_sums(self, rows: Table) -> CellSums:
        """Return what choosing and comparing rows asks, by counts of cells."""
        return CellSums(self, rows)

    def smallest_expected(self, n_rows: float) -> float | None:
        """Return the least number of so many rows that the network expects in a cell that counts, or infinity."""
        counting = (self.inverse_theta > 0) & (self.inverse_group > 0) & (self.inverse_theta != 1)
        if not counting.any():
            return math.inf
        return float(n_rows / (self.inverse_theta * self.inverse_group)[counting].max())

    def fewest_regressed(self, n_rows: float) -> float:  # noqa: ARG002
        """Return infinity: there are no regressions."""
        return math.inf

    def split_distances(
        self, tables: Sequence[Table], *, key: int, n_splits: int, by_group: bool
    ) -> tuple[Matrix, Matrix]:
        """Return |mean feature of a part - mean feature of the rest|^2 for random splits of the rows of two tables.

        Parts have as many rows as the first table; split 0 takes just these. (n_splits, n_variables), and of every
        configuration (n_splits, groups), or without columns.
        """
        theta, weights = flat(self._theta), self.inverse_theta * self.inverse_group
        sizes = [table.n_rows for table in tables]
        at_once = max(MOST_COUNTS // (_core.SPLIT_LANES * self.dimension), LEAST_BLOCKS) * _core.SPLIT_LANES
        found = []
        for first in range(0, n_splits, at_once):
            counts: _core.SplitCounts | None = None
            for cells in self._cells_of_blocks(tables):
                if counts is None:
                    count = min(at_once, n_splits - first)
                    counts = _core.SplitCounts(cells, sum(sizes), sizes[0], key, first, count)
                counts.add(cells)
            assert counts is not None
            found.append(counts.distances(theta, weights, by_group))
        by_variable, by_groups = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return by_variable, by_groups

    def _cells_of_blocks(self, tables: Sequence[Table]) -> Iterator[_core.Cells]:
        """Yield where rows fall, of one table after the other, so many at a time."""
        for table in tables:
            for at in row_blocks(table.n_rows, CELLS_OF):
                yield self.cells(table if table.n_rows <= CELLS_OF else table[at], at.start)

    def _parts(self, cells: Matrix) -> list[Matrix]:
        """Return one number a cell as one (groups, states) array a variable."""
        return [cells[part].reshape(theta.shape) for part, theta in zip(self._slices, self._theta, strict=True)]

    def cells(self, X: Table, first_row: int = 0) -> _core.Cells:
        """Return where each row falls in the conditionals; ZeroProbabilityError for one of probability zero."""
        self._require_possible(X, first_row)
        return self._model.flat.cells(X.native)

    def __call__(self, X: Table, Y: Table | None = None) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(X.n_rows * (X if Y is None else Y).n_rows, "the kernel matrix")
        x = self.cells(X)
        return _core.gram(x, x if Y is None else self.cells(Y), self._other, self._same)

    def terms(self, X: Table, Y: Table | None = None) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        check_cells(len(self._theta) * X.n_rows * (X if Y is None else Y).n_rows, "the terms of the kernel matrix")
        x = self.cells(X)
        return _core.gram_terms(x, x if Y is None else self.cells(Y), self._other, self._same)

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        self._require_possible(X)
        return self._model.flat.look_up(X.native, self._same_parts, True)

    def features(self, X: Table) -> Features:
        """Return phi_ijk of each row, (n, dimension); a state of probability 0 that the row does not have gives 0."""
        self._require_possible(X)
        values, columns = [], []
        first = 0
        rows = np.arange(X.n_rows)
        inverses = zip(self._parts(self.inverse_theta), self._parts(self.inverse_group), strict=True)
        for conditional, theta, (by_theta, by_group) in zip(
            self._model.conditionals, self._theta, inverses, strict=True
        ):
            group = conditional.groups(X)
            state = X.codes[conditional.child].astype(np.int64)
            entries = -np.sqrt(theta * by_group)[group]
            entries[rows, state] += np.sqrt(by_theta * by_group)[group, state]
            values.append(entries)
            columns.append(first + group[:, None] * theta.shape[1] + np.arange(theta.shape[1]))
            first += theta.size
        return sparse(values, columns, X.n_rows, self.dimension)

    def mean_features(self, X: Table) -> Matrix:
        """Return the mean of phi_ijk, from counts: ``(N_ijk - N_ij theta_ijk) / (N sqrt(P(j) theta_ijk))``."""
        counts, total = self.counts(X)
        return self._mean(self._parts(counts), total)

    def counts(self, X: Table) -> tuple[Matrix, float]:
        """Return the weight of the rows in each cell, (dimension,), and of all rows."""
        total = float(X.n_rows if X.weights is None else X.weights.sum())
        if are_few(self._model.conditionals, X.n_rows):
            counts = flat(family_counts(self._model.conditionals, X, range(len(self._theta))))
            if self._impossible_among(counts).any() or (X.weights is not None and not X.weights.all()):
                self._require_possible(X)  # names the row; one of weight 0 is not counted
            return counts, total
        weights, unit = X.weights_in_units
        counts = np.zeros(self.dimension)
        for at in row_blocks(X.n_rows):
            counts += self.cells(X[at], at.start).counts(None if weights is None else weights[at])
        return counts * unit, total

    def _impossible_among(self, counts: Matrix) -> npt.NDArray[np.bool_]:
        """Return in which cells rows are that have probability 0, (dimension,)."""
        return np.asarray((counts > 0) & ((self.inverse_theta == 0) | (self.inverse_group == 0)))

    def mean_length(self, weights: Matrix) -> float:
        """Return the mean kernel of a row with itself, from the shares of the rows in each cell."""
        return float(weights @ self._same)

    def most_length(self, weights: Matrix) -> float:
        """Return what no row's kernel with itself is above, from the shares of the rows in each cell."""
        return sum(float(self._same[at][weights[at] > 0].max(initial=0.0)) for at in self._slices)

    def weighed(self, X: Table, factors: Matrix) -> Matrix:
        """Return the sum of factors of the rows in each cell, (dimension,)."""
        return self._model.flat.cells(X.native).sums(np.ascontiguousarray(factors, dtype=np.float64))

    def along(self, X: Table, weights: Matrix) -> Matrix:
        """Return the kernel of each row with a combination of rows, (n,): of these only what falls in each cell counts.

        A row in state k and group j adds ``(w_jk / theta_jk - sum_k w_jk) / P(j)``. That no row is impossible is
        not looked at.
        """
        return self._model.flat.look_up(X.native, self._parts(self._toward(weights)), True)

    def squared_length(self, weights: Matrix) -> float:
        """Return the kernel of a combination of rows with itself, from what falls in each cell."""
        return float(weights @ self._toward(weights))

    def _toward(self, weights: Matrix) -> Matrix:
        """Return the kernel of one row in each cell with a combination of rows, (dimension,)."""
        of_groups = np.repeat(np.add.reduceat(weights, self._groups), self._states)
        return np.asarray((weights * self.inverse_theta - of_groups) * self.inverse_group)

    def mean_of_statistics(self, source: Source) -> Matrix:
        """Return the mean feature of rows of which a source knows the counts of families; columns go by name."""
        where = source.places(self._model.names)
        for v, variable in zip(where, self._model.variables, strict=True):
            if source.variables[v] != variable:
                raise SchemaError(f"{variable.name!r} has other states in the source than in the network")
        counts = family_counts(self._model.conditionals, source, where)
        impossible = self._impossible_among(flat(counts))
        if impossible.any():
            v = int(np.searchsorted([part.stop for part in self._slices], int(np.argmax(impossible)), side="right"))
            name = self._model.names[v]
            raise ZeroProbabilityError(
                f"there are rows with a state of {name!r} that has probability 0 under the network; fit it with "
                "smoothing above 0",
                variable=name,
                configuration={},
                parameter="smoothing",
            )
        return self._mean(counts, float(source.total))

    def _mean(self, counts: Sequence[Matrix], total: float) -> Matrix:
        """Return the mean feature of rows that weigh so much, from the counts of their cells."""
        if not total > 0:
            raise SchemaError(NO_WEIGHT)
        means = []
        for of_cells, theta in zip(counts, self._theta, strict=True):
            share = of_cells / total
            means.append(share - share.sum(axis=1, keepdims=True) * theta)
        return flat(means) * np.sqrt(self.inverse_theta * self.inverse_group)

    def _require_possible(self, X: Table, first_row: int = 0) -> None:
        """Raise ZeroProbabilityError where a row is impossible; `first_row` is where the rows begin, for messages."""
        if self._impossible is None:
            return
        for at in row_blocks(X.n_rows, LOOKED_UP):
            hits = self._model.flat.look_up(X[at].native, self._impossible, False)
            if hits.any():
                row, position = map(int, np.argwhere(hits > 0)[0])
                raise self._why_impossible(X, at.start + row, position, first_row)

    def _why_impossible(self, X: Table, row: int, position: int, first_row: int) -> ZeroProbabilityError:
        conditional = self._model.conditionals[position]
        group = int(conditional.groups(X[row : row + 1])[0])
        state = int(X.codes[position][row])
        who = f"row {row + first_row} has"
        if self._theta[position][group, state] == 0:
            return conditional.zero_probability(group, state, who)
        return conditional.impossible_configuration(group, who)


class CellSums(SumsOfKernel):
    """Sums of rows under the Fisher kernel of a network's tables, from counts of their cells."""

    _kernel: Invariant
    _rows: Table

    def __init__(
        self, kernel: Invariant, rows: Table, whole: Whole | None = None, counts: tuple[Matrix, float] | None = None
    ) -> None:
        super().__init__(kernel, rows, whole)
        self.most_halved: int = self.n_rows
        self._counts_of_all, self._first_row = counts, 0

    @cached_property
    def _counts(self) -> tuple[Matrix, float]:
        """The weight in each cell of the rows that these are compared with, and of all of them."""
        return self._kernel.counts(self._rows) if self._counts_of_all is None else self._counts_of_all

    @cached_property
    def _cell_shares(self) -> Matrix:
        counts, total = self._counts
        return np.asarray(counts / total)

    @cached_property
    def mean(self) -> Matrix:
        """The mean kernel of each row with all, (n_rows,)."""
        return self._kernel.along(self._rows, self._cell_shares)

    def check(self, where: Positions | None = None) -> None:
        """Nothing is to be refused: look-ups are finite, and of features."""

    @cached_property
    def _whole(self) -> Whole:
        if self._of is not None:
            return self._of
        shares, kernel = self._cell_shares, self._kernel
        return Whole(shares, kernel.squared_length(shares), kernel.mean_length(shares), kernel.most_length(shares))

    def some(self, rows: slice | Positions) -> CellSums:
        """Return some of the rows, each of which counts once, to be compared with the mean of all."""
        found = CellSums(self._kernel, reweighted(self._rows[rows]), self._whole, self._counts)
        found._first_row = rows.start or 0 if isinstance(rows, slice) else 0
        return found

    def along(self, rows: Positions, factors: Matrix) -> Matrix:
        """Return the sum of factors times the kernel of some rows with every row, (n_rows,)."""
        return self._kernel.along(self._rows, self._kernel.weighed(self._rows[rows], factors))

    def squared_lengths(self, rows: Positions, ends: Positions) -> Matrix:
        """Return the kernel of the sum of the first rows with itself, for every end, ascending, (len(ends),)."""
        weights, found = np.zeros(self._kernel.dimension), []
        for first, last in pairwise([0, *ends.tolist()]):
            weights += self._kernel.weighed(self._rows[rows[first:last]], np.ones(last - first))
            found.append(self._kernel.squared_length(weights))
        return np.array(found)

    def mean_with(self, other: Self) -> float:
        """Return the inner product of the mean features of two tables."""
        return float(self._kernel.mean_features(self._rows) @ other._kernel.mean_features(other._rows))

    def squared_distance(self, other: Self) -> float:
        """Return the squared distance of the mean features of two tables."""
        difference = self._kernel.mean_features(self._rows) - other._kernel.mean_features(other._rows)
        return float(difference @ difference)

    def splits(self, other: Self, n_splits: int, key: int, reporter: Reporter) -> Distances:  # noqa: ARG002
        """Count the cells of the rows that each split takes first."""
        few = (1 + n_splits) * len(self._kernel.feature_parts.variable_of_group) <= MOST_SPLIT_CELLS
        tables = [self._rows, other._rows]
        by_variable, by_group = self._kernel.split_distances(tables, key=key, n_splits=1 + n_splits, by_group=few)
        return Distances(by_variable.sum(axis=1), by_variable, by_group if few else None)

    def halves(self, order: Positions, *, rounds: int, key: int, delta: float) -> Positions:
        """Return rows in an order in which halves are near each other."""
        return self._halved(order, rounds, delta, key, 1)

    def halves_of_sets(self, sets: Positions, *, key: int, delta: float) -> Positions:
        """Return one half of each of many sets, in time linear in their rows."""
        halved = self._halved(np.ascontiguousarray(sets.ravel()), 1, delta, key, len(sets))
        return halved.reshape(len(sets), -1)[:, : sets.shape[1] // 2]

    def _halved(self, order: Positions, rounds: int, delta: float, key: int, n_parts: int) -> Positions:
        kernel = self._kernel
        cells = kernel.cells(self._rows)
        return _core.halved(cells, kernel.inverse_theta, kernel.inverse_group, order, rounds, delta, key, n_parts)

    def exchanges(self, k: int) -> _core.SwapSearch | None:
        """Return the core's search for k rows, each of which is exchanged; equal rows count as one."""
        kernel = self._kernel
        distinct, kind_of = distinct_rows(self._rows)
        try:
            cells = kernel.cells(distinct)
        except ZeroProbabilityError:
            kernel.cells(self._rows, self._first_row)  # names an impossible row by its place in the table
            raise
        counts, total = self._counts
        return _core.search_distance(cells, kind_of, counts, total, k, kernel.inverse_theta, kernel.inverse_group)
