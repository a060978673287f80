"""The invariant metric: the inverse of the Fisher information."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import ZeroProbabilityError
from fishernet.kernels.kernel import Features, Matrix
from fishernet.kernels.metrics.metric import check_cells, sparse, total_weight
from fishernet.models import BayesianNetwork
from fishernet.models.conditionals.conditional import describe_group
from fishernet.models.fisher import zero_probability
from fishernet.table import Table


class Invariant:
    """The inverse of the Fisher information: Theorem 1, by look-ups."""

    name = "invariant"

    def __init__(self, model: BayesianNetwork, groups: Sequence[Matrix]) -> None:
        self._model = model
        self._theta = [c.probabilities for c in model.conditionals]
        self._inverse_theta = [_inverse(theta) for theta in self._theta]
        self._inverse_group = [
            np.repeat(_inverse(p)[:, None], t.shape[1], axis=1) for p, t in zip(groups, self._theta, strict=True)
        ]
        self._same = [
            (1 - t) * by_theta * by_group
            for t, by_theta, by_group in zip(self._theta, self._inverse_theta, self._inverse_group, strict=True)
        ]
        self._other = [-p for p in self._inverse_group]
        self._impossible = [
            ((t == 0) | (p == 0)).astype(np.float64) for t, p in zip(self._theta, self._inverse_group, strict=True)
        ]

    @property
    def dimension(self) -> int:
        """The number of features."""
        return sum(theta.size for theta in self._theta)

    @property
    def inverse_theta(self) -> Matrix:
        """1 / theta of every cell, 0 where theta is 0; variable by variable, (dimension,)."""
        return _flat(self._inverse_theta)

    @property
    def inverse_group(self) -> Matrix:
        """1 / P(group) of every cell, (dimension,)."""
        return _flat(self._inverse_group)

    def cells(self, X: Table) -> _core.Cells:
        """Return where each row falls in the conditionals.

        Raises
        ------
        ZeroProbabilityError
            When a row has a state or a configuration of probability zero.
        """
        self._require_possible(X)
        return self._model.flat.cells(X.native)

    def gram(self, X: Table, Y: Table) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(X.n_rows * Y.n_rows, "the kernel matrix")
        x = self.cells(X)
        return _core.gram(x, x if Y is X else self.cells(Y), _flat(self._other), _flat(self._same))

    def terms(self, X: Table, Y: Table) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        check_cells(len(self._theta) * X.n_rows * Y.n_rows, "the terms of the kernel matrix")
        x = self.cells(X)
        return _core.gram_terms(x, x if Y is X else self.cells(Y), _flat(self._other), _flat(self._same))

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        self._require_possible(X)
        return self._model.flat.look_up(X.native, self._same, True)

    def features(self, X: Table) -> Features:
        """Return phi_ijk of each row, (n, dimension); a state of probability 0 that the row does not have gives 0."""
        self._require_possible(X)
        values, columns = [], []
        first = 0
        for conditional, theta, by_theta, by_group in zip(
            self._model.conditionals, self._theta, self._inverse_theta, self._inverse_group, strict=True
        ):
            group = conditional.groups(X)
            state = X.codes[conditional.child].astype(np.int64)
            entries = -np.sqrt(theta * by_group)[group]
            entries[np.arange(X.n_rows), state] += np.sqrt(by_theta * by_group)[group, state]
            values.append(entries)
            columns.append(first + group[:, None] * theta.shape[1] + np.arange(theta.shape[1]))
            first += theta.size
        return sparse(values, columns, X.n_rows, self.dimension)

    def mean_features(self, X: Table) -> Matrix:
        """Return the mean of phi_ijk, from counts: ``(N_ijk - N_ij theta_ijk) / (N sqrt(P(j) theta_ijk))``."""
        counts = self.cells(X).counts(X.weights)
        total = total_weight(X)
        means = []
        first = 0
        for theta, by_theta, by_group in zip(self._theta, self._inverse_theta, self._inverse_group, strict=True):
            of_cells = counts[first : first + theta.size].reshape(theta.shape) / total
            excess = of_cells - of_cells.sum(axis=1, keepdims=True) * theta
            means.append((excess * np.sqrt(by_theta * by_group)).ravel())
            first += theta.size
        return np.concatenate(means)

    def _require_possible(self, X: Table) -> None:
        if not any(marks.any() for marks in self._impossible):
            return
        hits = self._model.flat.look_up(X.native, self._impossible, False)
        if hits.any():
            row, position = map(int, np.argwhere(hits > 0)[0])
            raise self._why_impossible(X, row, position)

    def _why_impossible(self, X: Table, row: int, position: int) -> ZeroProbabilityError:
        conditional = self._model.conditionals[position]
        group = int(conditional.groups(X[row : row + 1])[0])
        state = int(X.codes[position][row])
        if self._theta[position][group, state] == 0:
            return zero_probability(conditional, group, state, f"row {row} has")
        configuration = describe_group(conditional, group)
        given = ", ".join(f"{name} = {label!r}" for name, label in configuration.items())
        return ZeroProbabilityError(
            f"row {row} has {given}, a configuration of the parents of {self._model.names[position]!r} that has "
            "probability 0; fit the network with smoothing > 0",
            variable=self._model.names[position],
            configuration=configuration,
        )


def _inverse(values: npt.NDArray[np.float64]) -> Matrix:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _flat(tables: Sequence[Matrix]) -> Matrix:
    return np.concatenate([table.ravel() for table in tables])
