"""The free entries of a precision matrix with a zero pattern: its diagonal, then its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.models.continuous.checks import Numbers

DENSE = 16  # with an edge among so many pairs, products of whole matrices are faster


@dataclass(frozen=True, eq=False)
class Entries:
    """The places of the free entries: ``(i, i)`` for every variable, then ``(i, j)``, i < j, for every edge.

    Attributes
    ----------
    size : int
        Variables.
    rows, columns : (n_edges,) arrays
    """

    size: int
    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]

    @classmethod
    def of_adjacency(cls, adjacency: Sequence[Sequence[int]]) -> Self:
        """Return the entries of a graph, edges in the order of `UndirectedGraph.edges`."""
        pairs = [(i, j) for i, others in enumerate(adjacency) for j in others if i < j]
        rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return cls(len(adjacency), rows, columns)

    def __len__(self) -> int:
        return self.size + len(self.rows)

    def taken(self, matrix: Numbers) -> Numbers:
        """Return the entries of a symmetric matrix, (n_entries,)."""
        return np.concatenate([np.diagonal(matrix), matrix[self.rows, self.columns]])

    def filled(self, values: Numbers) -> Numbers:
        """Return the symmetric matrix with these entries and zeros elsewhere, (size, size)."""
        matrix = np.zeros((self.size, self.size))
        np.fill_diagonal(matrix, values[: self.size])
        matrix[self.rows, self.columns] = values[self.size :]
        matrix[self.columns, self.rows] = values[self.size :]
        return matrix

    def inner(self, x: Numbers, y: Numbers) -> float:
        """Return the sum of products of all entries of two symmetric matrices; each edge has two."""
        return float(x @ y + x[self.size :] @ y[self.size :])

    def information(self, W: Numbers) -> Numbers:
        """Return the information of the entries at a covariance W: ``1/2 tr(W E_a W E_b)``, (n_entries, n_entries)."""
        diagonal = np.arange(self.size)
        i, j = np.concatenate([diagonal, self.rows]), np.concatenate([diagonal, self.columns])
        weight = np.where(i == j, 0.5, 1.0)
        crossed = W[np.ix_(i, i)] * W[np.ix_(j, j)] + W[np.ix_(i, j)] * W[np.ix_(j, i)]
        return np.asarray(weight[:, None] * weight * crossed)


class Curvature:
    """``D -> W D W`` on the entries alone: the second derivative of ``-log det`` at the inverse of W.

    Parameters
    ----------
    entries : Entries
    W : (size, size) array
    """

    def __init__(self, entries: Entries, W: Numbers) -> None:
        self._entries = entries
        self._W = W
        self._dense = DENSE * len(entries.rows) > entries.size**2
        self._right = W[:, [] if self._dense else entries.columns]

    @property
    def diagonal(self) -> Numbers:
        """What each entry does to itself: W_ii^2, and W_ii W_jj + W_ij^2; (n_entries,)."""
        own = np.diagonal(self._W)
        edges = self._entries
        return np.concatenate([own**2, own[edges.rows] * own[edges.columns] + self._W[edges.rows, edges.columns] ** 2])

    def __call__(self, direction: Numbers) -> Numbers:
        """Return the entries of W D W, D being given by its entries."""
        if self._dense:
            return self._entries.taken(self._W @ self._entries.filled(direction) @ self._W)
        left = self._sparse(direction) @ self._W
        own = np.einsum("ki,ki->i", self._W, left)
        return np.concatenate([own, np.einsum("km,km->m", left[:, self._entries.rows], self._right)])

    def _sparse(self, values: Numbers) -> Any:
        import scipy.sparse as sp  # slow to import, and needed by few calls

        n, edges = self._entries.size, self._entries
        at = np.arange(n)
        where = np.concatenate([at, edges.rows, edges.columns]), np.concatenate([at, edges.columns, edges.rows])
        return sp.csr_array((np.concatenate([values, values[n:]]), where), shape=(n, n))
