"""The empirical metric: scores whitened by those of reference rows."""

from __future__ import annotations

import numpy as np

from fishernet.errors import FishernetError, StateSpaceError
from fishernet.kernels.kernel import Features, Matrix
from fishernet.kernels.metrics.metric import check_cells, inner, total_weight
from fishernet.kernels.metrics.practical import Practical
from fishernet.models import BayesianNetwork
from fishernet.table import Table

MOST_WHITENED = 2**27  # cells of the matrix of second moments, 1 GiB


class Empirical:
    """The pseudo-inverse of the scores' second moments over reference rows.

    Eigenvalues below 1e-10 of the largest count as 0.
    """

    name = "empirical"

    def __init__(self, model: BayesianNetwork, reference: Table) -> None:
        self._scores = Practical(model)
        cells = self._scores.dimension**2
        if cells > MOST_WHITENED:
            raise StateSpaceError(
                "the matrix of the scores' second moments",
                cells=cells,
                limit=MOST_WHITENED,
                remedy="use the metric 'invariant', which needs no matrix",
            )
        scores = self._scores.features(reference)
        weights = np.ones(reference.n_rows) if reference.weights is None else reference.weights.astype(np.float64)
        weighted = scores.multiply((weights / total_weight(reference))[:, None]).tocsr()
        moments = (scores.T @ weighted).toarray()
        eigenvalues, vectors = np.linalg.eigh(moments)
        kept = eigenvalues > 1e-10 * eigenvalues.max(initial=0.0)
        self._whiten: Matrix = vectors[:, kept] / np.sqrt(eigenvalues[kept])

    @property
    def dimension(self) -> int:
        """The rank of the second moments."""
        return int(self._whiten.shape[1])

    def gram(self, X: Table, Y: Table) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(X.n_rows * Y.n_rows, "the kernel matrix")
        return inner(self.features(X), None if Y is X else self.features(Y))

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        return np.asarray((self.features(X) ** 2).sum(axis=1))

    def terms(self, X: Table, Y: Table) -> Matrix:  # noqa: ARG002
        """Raise: the variables are mixed."""
        raise FishernetError("under the metric 'empirical' the variables are mixed and have no terms of their own")

    def features(self, X: Table) -> Features:
        """Return the whitened scores, (n, dimension)."""
        return np.asarray(self._scores.features(X) @ self._whiten)

    def mean_features(self, X: Table) -> Matrix:
        """Return their mean, (dimension,)."""
        return np.asarray(self._scores.mean_features(X) @ self._whiten)
