"""Products of tables in logarithms, and the sums of them over variables, of many rows at once.

A row has a table of its own where what is known of it picks cells of a conditional; a table that is the same for all
rows is held once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.infer.factors import Array

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LogTable:
    """The logarithms of a table over some variables, of every row."""

    scope: tuple[int, ...]
    """The variables' positions, ascending."""
    values: Array
    """(n_rows, states, ...), or (1, states, ...) where it is the same for all rows."""

    def over(self, scope: Sequence[int]) -> Array:
        """Return the values with an axis for each of a wider scope's variables, of length 1 where it has none."""
        sizes = dict(zip(self.scope, self.values.shape[1:], strict=True))
        return self.values.reshape(len(self.values), *(sizes.get(v, 1) for v in scope))


def product(tables: Iterable[LogTable], scope: Sequence[int], states: Mapping[int, int]) -> Array:
    """Return the product of tables over a scope that holds all of theirs, (n_rows or 1, states, ...)."""
    total = np.zeros((1, *(states[v] for v in scope)))
    for table in tables:
        total = total + table.over(scope)
    return total


def log_sum(values: Array, axis: int | tuple[int, ...]) -> Array:
    """Return the logarithm of the sum of exponentials over axes; -inf where all are."""
    if not values.size or axis == ():
        return values
    top = values.max(axis=axis, keepdims=True)
    top[~np.isfinite(top)] = 0.0
    with np.errstate(divide="ignore"):
        found = np.log(np.exp(values - top).sum(axis=axis, keepdims=True)) + top
    return np.asarray(found.squeeze(axis=axis))


def shares(values: Array) -> Array:
    """Return tables in logarithms as probabilities that sum to 1 in every row; NaN in rows that are impossible."""
    axes = tuple(range(1, values.ndim))
    total = log_sum(values, axes).reshape(-1, *(1,) * len(axes))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.exp(values - total))


class Elimination:
    """The order in which variables are summed out of a product of tables, so that few cells are held at once.

    Parameters
    ----------
    scopes : sequence of tuples
        Of the tables.
    states : mapping from position to int
        The number of states of every variable.
    keep : collection of int
        The variables that stay.
    """

    def __init__(
        self, scopes: Sequence[tuple[int, ...]], states: Mapping[int, int], keep: Collection[int] = ()
    ) -> None:
        self.states = states
        self.kept = tuple(sorted(keep))
        pool = [set(scope) for scope in scopes]
        left = {v for scope in pool for v in scope} - set(self.kept)
        self.steps: list[tuple[int, tuple[int, ...]]] = []
        self.cells = self._cells(self.kept)
        while left:
            joined = {v: set().union(*(scope for scope in pool if v in scope)) for v in left}
            v = min(left, key=lambda v: (self._cells(joined[v]), v))
            self.steps.append((v, tuple(sorted(joined[v]))))
            self.cells = max(self.cells, self._cells(joined[v]))
            pool = [scope for scope in pool if v not in scope] + [joined[v] - {v}]
            left.remove(v)

    def _cells(self, scope: Iterable[int]) -> int:
        return math.prod(self.states[v] for v in scope)

    def run(self, tables: Sequence[LogTable], *, most: bool = False) -> tuple[Array, list[Array]]:
        """Return the product summed over all but the kept variables, and the product of each step before its sum.

        With `most` the largest is taken in place of the sum.
        """
        pool, products = list(tables), []
        for v, scope in self.steps:
            mine = [table for table in pool if v in table.scope]
            whole = product(mine, scope, self.states)
            products.append(whole)
            axis = 1 + scope.index(v)
            summed = whole.max(axis=axis) if most else log_sum(whole, axis)
            pool = [table for table in pool if v not in table.scope]
            pool.append(LogTable(tuple(u for u in scope if u != v), summed))
        return product(pool, self.kept, self.states), products

    def completed(
        self, last: Array, products: Sequence[Array], n_rows: int, uniform: Array | None = None
    ) -> dict[int, Codes]:
        """Return a state of every variable in each row: the most probable together, or drawn from their distribution.

        Parameters
        ----------
        last, products
            What `run` gave, with `most` for the most probable.
        uniform : (n_variables, n_rows) array, optional
            Numbers from 0 to 1, for draws.
        """
        found: dict[int, Codes] = {}
        places = _chosen(last.reshape(len(last), -1), n_rows, None if uniform is None else uniform[-1])
        if self.kept:
            found |= dict(zip(self.kept, np.unravel_index(places, last.shape[1:]), strict=True))
        for step in range(len(self.steps) - 1, -1, -1):
            v, scope = self.steps[step]
            whole = np.moveaxis(products[step], 1 + scope.index(v), -1)
            rows = np.arange(n_rows) if len(whole) > 1 else np.zeros(n_rows, dtype=np.int64)
            of_rows = whole[(rows, *(found[u] for u in scope if u != v))]
            found[v] = _chosen(of_rows, n_rows, None if uniform is None else uniform[step])
        return found


def _chosen(of_rows: Array, n_rows: int, uniform: Array | None) -> Codes:
    """Return the place of the largest of each row's numbers, or a place drawn by their exponentials."""
    if uniform is None:
        return np.broadcast_to(of_rows.argmax(axis=1), (n_rows,)).astype(np.int64)
    ends = np.exp(of_rows - of_rows.max(axis=1, keepdims=True)).cumsum(axis=1)
    below = ends <= (uniform * ends[:, -1])[:, None] if len(ends) > 1 else ends <= (uniform * ends[0, -1])[:, None]
    return np.asarray(np.minimum(below.sum(axis=1), ends.shape[1] - 1))
