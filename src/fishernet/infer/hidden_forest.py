"""Rows of networks whose hidden variables form a forest, with the columns as its leaves: all rows at once.

Mixtures, hidden Chow-Liu trees and the like: no variable has two parents, and only what nobody observed has children.
What a row is probable by goes up such a forest, and what each hidden variable may be comes down again (Pearl, 1988), as
products of matrices for many rows together. Any other network takes the general way (`fishernet.infer.completion`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np

from fishernet import _core
from fishernet.data import Table
from fishernet.infer.completion import require_possible
from fishernet.infer.factors import Array


class TreeNetwork(Protocol):
    """What is asked of a network: tables of probabilities, one a variable."""

    @property
    def conditionals(self) -> Sequence[Any]:
        """One per variable."""


class HiddenForest:
    """Rows, and which variable is above which.

    Parameters
    ----------
    rows : Table
        Of all variables; hidden ones are missing in every row.
    parents : sequence of int
        The parent of each variable, -1 of a root.
    hidden : sequence of bool
        Which variables are hidden: roots and parents are.
    """

    def __init__(self, rows: Table, parents: Sequence[int], hidden: Sequence[bool]) -> None:
        self._rows = rows
        marks = np.asarray(hidden, dtype=np.uint8)
        self._native = _core.HiddenForest(rows.native, np.asarray(parents, dtype=np.int32), marks)
        self._weights = None if rows.weights is None else np.ascontiguousarray(rows.weights, dtype=np.float64)

    @classmethod
    def of(cls, net: TreeNetwork, rows: Table) -> Self | None:
        """Return the rows under a network of that kind; None under any other."""
        tied = any(len(of.parents) > 1 for of in net.conditionals)
        if not rows.n_rows or tied or any(variable.is_continuous for variable in rows.variables):
            return None
        parents = [of.parents[0] if of.parents else -1 for of in net.conditionals]
        pairs = zip(rows.variables, rows.codes, strict=True)
        hidden = [bool(variable.missing(column).all()) for variable, column in pairs]
        above = [v if parent < 0 else parent for v, parent in enumerate(parents)]
        return cls(rows, parents, hidden) if all(hidden[v] for v in above) else None

    def expected(self, net: TreeNetwork) -> tuple[Array, list[Array]]:
        """Return the log-probability of what is known of each row, and the expected counts, a flat table a variable.

        ZeroProbabilityError when a row is impossible.
        """
        tables = [of.table().ravel() for of in net.conditionals]
        log_prob, counts = self.counts(np.concatenate(tables))
        return log_prob, np.split(counts, np.cumsum([len(table) for table in tables])[:-1])

    def log_prob(self, net: TreeNetwork) -> Array:
        """Return the log-probability of what is known of each row, (n_rows,)."""
        return self.log_prob_of(np.concatenate([of.table().ravel() for of in net.conditionals]))

    def counts(self, cells: Array, begin: int = 0, end: int | None = None) -> tuple[Array, Array]:
        """Return what `expected` does, of some rows; the tables, (states of the parent, states), follow one another."""
        last = self._rows.n_rows if end is None else end
        weights = None if self._weights is None else self._weights[begin:last]
        counts, log_prob = self._native.expected(cells, weights, begin, last)
        require_possible(log_prob)
        return log_prob, counts

    def log_prob_of(self, cells: Array) -> Array:
        """Return what `log_prob` does, of tables that follow one another."""
        return self._native.log_prob(cells, 0, self._rows.n_rows)
