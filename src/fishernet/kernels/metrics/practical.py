"""The practical metric: the scores as they are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fishernet.kernels.kernel import Features, Matrix
from fishernet.kernels.metrics.metric import check_cells, inner, sparse, weighted_mean
from fishernet.models import BayesianNetwork
from fishernet.models.fisher import zero_probability
from fishernet.table import Table


class Practical:
    """No metric: the dot product of the scores."""

    name = "practical"

    def __init__(self, model: BayesianNetwork) -> None:
        self._model = model
        self._widths = [c.probabilities.shape[0] * (c.probabilities.shape[1] - 1) for c in model.conditionals]

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        return self._model.n_parameters

    def gram(self, X: Table, Y: Table) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(X.n_rows * Y.n_rows, "the kernel matrix")
        return inner(self.features(X), None if Y is X else self.features(Y))

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        return np.asarray(self.features(X).power(2).sum(axis=1)).ravel()

    def terms(self, X: Table, Y: Table) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        check_cells(len(self._widths) * X.n_rows * Y.n_rows, "the terms of the kernel matrix")
        x = self.features(X).tocsc()
        y = x if Y is X else self.features(Y).tocsc()
        ends = np.cumsum([0, *self._widths])
        return np.stack([inner(x[:, a:b], None if Y is X else y[:, a:b]) for a, b in pairwise(ends)])

    def features(self, X: Table) -> Features:
        """Return the scores (P1, Eq. 8), (n, n_parameters)."""
        values, columns = [], []
        first = 0
        for conditional, width in zip(self._model.conditionals, self._widths, strict=True):
            theta = conditional.probabilities
            group = conditional.groups(X)
            state = X.codes[conditional.child].astype(np.int64)
            of_row = theta[group, state]
            if (of_row == 0).any():
                row = int(np.argmax(of_row == 0))
                raise zero_probability(conditional, int(group[row]), int(state[row]), f"row {row} has")
            free = np.arange(theta.shape[1] - 1)
            last = state == theta.shape[1] - 1
            values.append(((free == state[:, None]).astype(float) - last[:, None]) / of_row[:, None])
            columns.append(first + group[:, None] * len(free) + free)
            first += width
        matrix = sparse(values, columns, X.n_rows, self.dimension)
        matrix.eliminate_zeros()
        return matrix

    def mean_features(self, X: Table) -> Matrix:
        """Return the mean score, (n_parameters,)."""
        return weighted_mean(self.features(X), X)
