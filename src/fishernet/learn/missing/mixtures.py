"""The E step of a mixture: one variable that nobody observed is the only parent of all others.

Given the hidden class the cells of a row are independent, so what a row tells of its class is a sum of logarithms, and
for all rows one product of matrices. Any other network takes the general way (`fishernet.infer.completion`).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.data import Table
from fishernet.infer.completion import require_possible
from fishernet.models import BayesianNetwork

Cells = npt.NDArray[np.float64]


class Mixture:
    """The rows of a mixture as indicators of their cells, and of what they lack.

    Parameters
    ----------
    rows : Table
        Of the network's variables, in its order.
    hidden : int
        The position of the class.
    weights : (n_rows,) float64, optional
    """

    def __init__(self, rows: Table, hidden: int, weights: Cells | None) -> None:
        self._hidden, self._weights = hidden, weights
        self._seen = [v for v in range(len(rows.variables)) if v != hidden]
        sizes = [rows.variables[v].cardinality for v in self._seen]
        self._ends = np.cumsum(sizes)[:-1]
        codes = np.stack([rows.codes[v].astype(np.int64) for v in self._seen], axis=1)
        known = codes < sizes
        self._cells = _indicators(known, codes + np.concatenate([[0], self._ends]), sum(sizes))
        self._lacking = None if known.all() else _indicators(~known, np.arange(len(sizes)), len(sizes))

    @classmethod
    def of(cls, model: BayesianNetwork, rows: Table, weights: Cells | None) -> Self | None:
        """Return the rows under a network that is a mixture; None under any other."""
        roots = [v for v, parents in enumerate(model.dag.parents) if not parents]
        if len(roots) != 1 or len(model.names) < 2 or not rows.n_rows:
            return None
        star = all(parents == (roots[0],) for v, parents in enumerate(model.dag.parents) if v != roots[0])
        nobody = (rows.codes[roots[0]] >= rows.variables[roots[0]].cardinality).all()
        return cls(rows, roots[0], weights) if star and nobody else None

    def expected(self, model: BayesianNetwork) -> tuple[Cells, list[Cells]]:
        """Return the log-probability of what is known of each row, and the expected counts, a flat table a variable."""
        tables = [model.conditionals[v].probabilities for v in self._seen]
        prior = model.conditionals[self._hidden].probabilities
        with np.errstate(divide="ignore"):
            joint = self._cells @ np.log(np.concatenate(tables, axis=1)).T + np.log(prior)
        most = joint.max(axis=1, keepdims=True)
        require_possible(most[:, 0])
        shares = np.exp(joint - most)
        sums = shares.sum(axis=1, keepdims=True)
        log_prob = (most + np.log(sums))[:, 0]
        shares /= sums
        if self._weights is not None:
            shares *= self._weights[:, None]
        counts = [part.T for part in np.split(self._cells.T @ shares, self._ends)]
        if self._lacking is not None:
            lacking = self._lacking.T @ shares
            counts = [of + less[:, None] * table for of, less, table in zip(counts, lacking, tables, strict=True)]
        counts.insert(self._hidden, shares.sum(axis=0))
        return log_prob, [np.ascontiguousarray(of).ravel() for of in counts]


def _indicators(where: npt.NDArray[np.bool_], columns: npt.NDArray[np.int64], width: int) -> Any:
    """Return a scipy.sparse.csr_array, (n, width), that has a 1 at the column of each cell that is marked."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    ends = np.concatenate([[0], np.cumsum(where.sum(axis=1))])
    at = np.broadcast_to(columns, where.shape)[where]
    return sp.csr_array((np.ones(len(at)), at, ends), shape=(len(where), width))
