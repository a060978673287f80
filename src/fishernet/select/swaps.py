"""Two ways to visit the positions of Algorithm 1: in the core by counts, or by rows of any kernel."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.kernels import Kernel
from fishernet.kernels.metrics import Invariant
from fishernet.kernels.sets import mean_to
from fishernet.table import Table

GAIN = 1e-12  # a replacement must lower the value by more than this share of it
TIED = 1e-12  # values this near to the smallest are ties, where it is below 1

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


class Swaps(Protocol):
    """The state of a search."""

    def draw_start(self, key: int, n_starts: int) -> None:
        """Begin with the best of random subsets."""
        ...

    def set_start(self, rows: Positions) -> None:
        """Begin with these rows."""
        ...

    def visit(self, first: int, last: int) -> int:
        """Visit the positions from first to last - 1, and return how many rows were replaced."""
        ...

    @property
    def rows(self) -> Positions:
        """The chosen rows, by position."""
        ...

    @property
    def trace(self) -> Array:
        """The value of the start, then after every replacement."""
        ...


class CoreSwaps:
    """The search in the core, where a row is its cells, and equal rows are one candidate."""

    def __init__(self, search: _core.SwapSearch) -> None:
        self._search = search
        self.draw_start = search.draw_start
        self.set_start = search.set_start
        self.visit = search.visit

    @classmethod
    def of_distance(cls, rule: Invariant, rows: Table, k: int) -> Self:
        """Return the search for the smallest squared distance under a Fisher kernel."""
        distinct, kind_of = distinct_rows(rows)
        counts, total = _counts(rule.cells(rows), rows)
        cells = rule.cells(distinct)
        search = _core.search_distance(cells, kind_of, counts, total, k, rule.inverse_theta, rule.inverse_group)
        return cls(search)

    @classmethod
    def of_chi_square(cls, table: Table, k: int) -> Self:
        """Return the search for the best fit of every column by itself."""
        columns = _core.Conditionals(np.array(table.cardinalities, dtype=np.int64))
        for position in range(len(table.variables)):
            columns.add(position, np.zeros(0, dtype=np.int32), 1)
        distinct, kind_of = distinct_rows(table)
        counts, total = _counts(columns.cells(table.native), table)
        return cls(_core.search_chi_square(columns.cells(distinct.native), kind_of, counts, total, k))

    @property
    def rows(self) -> Positions:
        """The chosen rows, by position."""
        return self._search.rows

    @property
    def trace(self) -> Array:
        """The value of the start, then after every replacement."""
        return self._search.trace


class KernelSwaps:
    """The search by rows of a kernel's matrix, a few at a time.

    With s the sum of the kernel's rows of the chosen, m the kernel's mean to the whole table and d its diagonal,
    adding row c to the rest R of a set gives a constant ``+ (2 s_R(c) + d(c)) / k^2 - 2 m(c) / k``.
    """

    def __init__(self, kernel: Kernel, table: Table, k: int) -> None:
        self._kernel, self._table, self._k = kernel, table, k
        self._mean = mean_to(kernel, table, table)
        weights = np.ones(table.n_rows) if table.weights is None else table.weights.astype(np.float64)
        self._between = float(weights @ self._mean / weights.sum())  # the table's kernel with itself
        self._diagonal = kernel.diag(table)
        self.rows: Positions = np.zeros(0, dtype=np.int64)
        self._trace: list[float] = []

    @property
    def trace(self) -> Array:
        """The value of the start, then after every replacement."""
        return np.array(self._trace)

    def draw_start(self, key: int, n_starts: int) -> None:
        """Begin with the best of random subsets."""
        n_rows = self._table.n_rows
        subsets = [_core.draw_subset(n_rows, self._k, key, task) for task in range(n_starts)]
        values = [self._value(rows) for rows in subsets]
        self.set_start(subsets[int(np.argmin(values))])

    def set_start(self, rows: Positions) -> None:
        """Begin with these rows."""
        self.rows = rows.copy()
        self._trace = [0.0]
        self._take_stock()

    def visit(self, first: int, last: int) -> int:
        """Visit the positions from first to last - 1, and return how many rows were replaced."""
        if first == 0:
            self._take_stock()
        replaced = sum(self._replace(position) for position in range(first, last))
        if last == self._k:
            self._take_stock()
        return replaced

    def _take_stock(self) -> None:
        self._sums = self._k * mean_to(self._kernel, self._table, self._table_of(self.rows))
        self._trace[-1] = self._value(self.rows)

    def _value(self, rows: Positions) -> float:
        chosen = self._table_of(rows)
        within = float(mean_to(self._kernel, chosen, chosen).mean())
        return max(within + self._between - 2 * float(self._mean[rows].mean()), 0.0)

    def _table_of(self, rows: Positions) -> Table:
        chosen = self._table[rows]
        return Table(chosen.variables, chosen.codes, n_rows=chosen.n_rows)  # each once, whatever its weight

    def _kernel_row(self, row: int) -> Array:
        of_row: Array = self._kernel(self._table[row : row + 1], self._table)[0]
        return of_row

    def _replace(self, position: int) -> bool:
        row = int(self.rows[position])
        value = self._trace[-1]
        rest = self._sums - self._kernel_row(row)
        added = (2 * rest + self._diagonal) / self._k**2 - 2 * self._mean / self._k
        candidates = added.copy()
        candidates[self.rows] = np.inf
        best = int(np.argmax(candidates <= candidates.min() + TIED * max(1.0, value)))
        change = float(added[best] - added[row])
        roundings = 8 * np.finfo(float).eps * (abs(float(added[best])) + abs(float(added[row])))
        if not -change > GAIN * value + roundings:
            return False
        self._sums = rest + self._kernel_row(best)
        self.rows[position] = best
        self._trace.append(value + change)
        return True


def distinct_rows(table: Table) -> tuple[Table, Positions]:
    """Return the distinct rows of a table, in the order in which they first occur, and which one each row equals."""
    keys = _row_keys(table)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return table[first[order]], rank[inverse.ravel()].astype(np.int64)


def _row_keys(table: Table) -> npt.NDArray[np.generic]:
    """Return one comparable key a row: a number where the codes fit into one, else its bytes."""
    sizes = [r + 1 for r in table.cardinalities]
    if np.prod([float(r) for r in sizes]) < 2**62:
        keys = np.zeros(table.n_rows, dtype=np.int64)
        for codes, size in zip(table.codes, sizes, strict=True):
            keys = keys * size + codes
        return keys
    rows = np.ascontiguousarray(np.stack([codes.astype(np.uint32) for codes in table.codes], axis=1))
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _counts(cells: _core.Cells, table: Table) -> tuple[Array, float]:
    """Return the sum of the weights of the rows in every cell, and of all rows."""
    total = float(table.n_rows if table.weights is None else table.weights.sum())
    return cells.counts(table.weights), total
