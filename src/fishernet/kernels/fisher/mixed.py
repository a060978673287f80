"""The Fisher kernel of a network of labels and numbers with the inverse of its Fisher information, in closed form.

The information has a block for each conditional and, within it, for each configuration j of the parents' labels. Of a
number with the regression ``mu_j(z) + sd_j e`` on the numbers z the scores by intercept, coefficients and sd are
``e / sd``, ``z e / sd`` and ``(e^2 - 1) / sd``, with the information ``P(j) E[(1, z)(1, z)' | j] / sd^2`` and
``2 P(j) / sd^2``. Taken from the mean of z in j, intercept and coefficients have nothing in common, so the number adds

    ([j = j'] / P(j)) (e e' (1 + (z - m_j)' S_j^-1 (z' - m_j)) + (e^2 - 1)(e'^2 - 1) / 2)

with m_j and S_j the mean and the covariance of z in j. Nothing depends on the units of a column. A variable with labels
adds what it adds in a network of labels alone (`invariant`): none has numbers as parents.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.data import State, Table
from fishernet.data.arrays import row_blocks
from fishernet.infer import group_probabilities
from fishernet.infer.parent_moments import ParentMoments, moments_of_parents
from fishernet.kernels.features import Features, Matrix, check_cells, sparse
from fishernet.kernels.fisher.invariant import Invariant
from fishernet.kernels.fisher.metrics import Metric, whitening
from fishernet.kernels.kernel import FeatureMade
from fishernet.kernels.parts import FeatureParts
from fishernet.models import BayesianNetwork, ConditionalGaussian

MOST_DENSE = 64  # features of a number up to which those of other configurations are multiplied as zeros
DENSE_ROWS = 512  # of the matrix at once
LEAST_SPREAD = 1e-14  # the share of their spread that parents may have in a direction and still tell nothing by it


class NumberFeatures:
    """The features of one number: ``e``, ``S_j^-1/2 (z - m_j) e`` and ``(e^2 - 1) / sqrt 2``, over ``sqrt P(j)``."""

    def __init__(self, conditional: ConditionalGaussian, of: ParentMoments) -> None:
        self.conditional: ConditionalGaussian = conditional
        self.mean: Matrix = of.mean
        self.width: int = 2 + of.mean.shape[1]
        self.dimension: int = conditional.n_groups * self.width
        self.inverse: Matrix = np.divide(
            1.0, of.probabilities, out=np.zeros_like(of.probabilities), where=of.probabilities > 0
        )
        self.whiten: Matrix = np.zeros_like(of.covariance)
        for at, block in zip(self.whiten, of.covariance, strict=True):
            found = whitening(block, LEAST_SPREAD)
            at[:, : found.shape[1]] = found

    def of(self, conditional: ConditionalGaussian) -> NumberFeatures:
        """Return the features of the number where its conditional stands at other positions."""
        found = copy(self)
        found.conditional = conditional
        return found

    def __call__(self, rows: Table) -> tuple[Matrix, npt.NDArray[np.int64]]:
        """Return the features of each row in its configuration, (n_rows, m + 2), and the configurations, (n_rows,)."""
        at, e = self.conditional.noise(rows)
        scale = np.sqrt(self.inverse[at])
        if not scale.all():
            row = int(np.argmin(scale))
            raise self.conditional.impossible_configuration(int(at[row]), f"row {row} has")
        return self._values(rows, at, e, scale), at

    def in_configuration(self, rows: Table, group: int) -> Matrix:
        """Return what the features of each row would be if its labels were of one configuration, (n_rows, m + 2)."""
        at = np.full(rows.n_rows, group)
        e = self.conditional.noise_in(rows, at)
        return self._values(rows, at, e, np.sqrt(self.inverse[at]))

    def _values(self, rows: Table, at: npt.NDArray[np.int64], e: Matrix, scale: Matrix) -> Matrix:
        found = np.empty((rows.n_rows, self.width))
        found[:, 0] = e * scale
        if self.width > 2:
            z = np.stack(self.conditional.inputs(rows.codes), axis=1) - self.mean[at]
            W = self.whiten[at] if len(self.whiten) > 1 else self.whiten[0]
            found[:, 1:-1] = (np.einsum("ni,nik->nk", z, W) if len(self.whiten) > 1 else z @ W) * found[:, :1]
        found[:, -1] = (e**2 - 1) * scale / np.sqrt(2)
        return found

    def expected(
        self, at: npt.NDArray[np.int64], weights: Matrix, first: Matrix, second: Matrix, origin: Matrix
    ) -> Matrix:
        """Return expected features in configurations of rows that lack cells, (n, m + 2).

        Parameters
        ----------
        at : (n,)
            The configurations.
        weights : (n,)
            Their probabilities.
        first, second : (n, m + 1) and (n, m + 1, m + 1)
            With these, the sums and the products (lower triangle) of the family's numbers, ascending, from an origin.
        origin : (n_variables,)
        """
        m, scale = NumberMoments(self, at, weights, first, second, origin), weights * np.sqrt(self.inverse[at])
        found = np.empty((len(at), self.width))
        found[:, 0] = m.e * scale
        found[:, 1:-1] = (m.u * m.e[:, None] + m.with_e) * scale[:, None]
        found[:, -1] = (m.e_squared - 1) * scale / np.sqrt(2)
        return found


class NumberMoments:
    """The means and covariances of a number's noise and whitened parents in rows that lack cells; see `expected`."""

    def __init__(
        self,
        of: NumberFeatures,
        at: npt.NDArray[np.int64],
        weights: Matrix,
        first: Matrix,
        second: Matrix,
        origin: Matrix,
    ) -> None:
        scope = [*of.conditional.number_parents, of.conditional.child]
        order = np.argsort(np.argsort(scope))  # of the parents and then the child, among ascending numbers
        mean = first[:, order] / weights[:, None]
        products = (np.tril(second) + np.swapaxes(np.tril(second, -1), 1, 2))[:, order][:, :, order]
        covariance = products / weights[:, None, None] - mean[:, :, None] * mean[:, None, :]
        intercept, slopes, sd = (one[at] for one in of.conditional.by_group())
        linear = np.concatenate([-slopes, np.ones_like(sd)[:, None]], axis=1) / sd[:, None]
        whiten = of.whiten[at]
        self.e: Matrix = np.einsum("ni,ni->n", linear, mean + origin[scope]) - intercept / sd
        self.e_variance: Matrix = np.maximum(np.einsum("ni,nij,nj->n", linear, covariance, linear), 0)
        self.u: Matrix = np.einsum("ni,nik->nk", mean[:, :-1] + origin[scope[:-1]] - of.mean[at], whiten)
        self.u_variance: Matrix = np.einsum("nik,nij,njk->nk", whiten, covariance[:, :-1, :-1], whiten)
        self.with_e: Matrix = np.einsum("nik,nij,nj->nk", whiten, covariance[:, :-1], linear)

    @property
    def e_squared(self) -> Matrix:
        """E[e^2], (n,)."""
        return np.asarray(self.e_variance + self.e**2)


class MixedInvariant(FeatureMade, Metric):
    """The inverse of the Fisher information of a network of labels and numbers."""

    name = "invariant"
    has_terms = True

    def __init__(self, model: BayesianNetwork) -> None:
        self._model = model
        self.of_labels: BayesianNetwork = model.of_labels()
        self.group_probabilities: list[Matrix] = group_probabilities(self.of_labels)
        self._labels = Invariant(self.of_labels, self.group_probabilities)
        self._label_at = [v for v, variable in enumerate(model.variables) if not variable.is_continuous]
        pairs = enumerate(moments_of_parents(model))
        self.numbers: dict[int, NumberFeatures] = {
            v: NumberFeatures(cast(ConditionalGaussian, model.conditionals[v]), of) for v, of in pairs if of is not None
        }

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self._labels.dimension + sum(int(of.dimension) for of in self.numbers.values())

    @property
    def feature_parts(self) -> FeatureParts:
        """Whose each feature is: those of labels come first."""
        inner = self._labels.feature_parts
        at = np.array(self._label_at, dtype=np.int64)
        assert inner.group_of is not None
        owners, groups, of_groups = [at[inner.variable_of]], [inner.group_of], [at[inner.variable_of_group]]
        describers: list[Any] = [inner.describe] * len(inner.variable_of_group)
        first = [0] * len(describers)
        for v, of in self.numbers.items():
            n = of.conditional.n_groups
            groups.append(len(describers) + np.repeat(np.arange(n), of.width))
            owners.append(np.full(of.dimension, v))
            of_groups.append(np.full(n, v))
            first += [len(describers)] * n
            describers += [of.conditional.describe_group] * n

        def describe(group: int) -> Mapping[str, State]:
            found: Mapping[str, State] = describers[group](group - first[group])
            return found

        counting = np.ones(self.dimension, dtype=bool)
        if inner.counting is not None:
            counting[: len(inner.counting)] = inner.counting
        of_numbers = [np.full(of.conditional.n_groups, of.width) for of in self.numbers.values()]
        free = np.concatenate([inner.degrees_of_freedom, *of_numbers])
        return FeatureParts(
            self._model.names,
            np.concatenate(owners),
            np.concatenate(groups),
            np.concatenate(of_groups),
            describe,
            counting,
            free,
        )

    def smallest_expected(self, n_rows: float) -> float | None:
        """Return the least number of so many rows that the network expects in a cell of labels that counts."""
        return self._labels.smallest_expected(n_rows)

    def fewest_regressed(self, n_rows: float) -> float:
        """Return how many of so many rows are expected in the configuration that has fewest of a number."""
        return float(n_rows / max(of.inverse.max() for of in self.numbers.values()))

    def _of_labels(self, X: Table) -> Table:
        columns = [X.codes[v] for v in self._label_at]
        variables = [self._model.variables[v] for v in self._label_at]
        return Table.adopt(variables, columns, n_rows=X.n_rows, weights=X.weights)

    def __call__(self, X: Table, Y: Table | None = None) -> Matrix:
        """Return the kernel of all pairs, (n, m); without Y exactly symmetric."""
        found = self._labels(self._of_labels(X), None if Y is None else self._of_labels(Y))
        wide = [of for of in self.numbers.values() if of.dimension <= MOST_DENSE]
        x, y = _dense(wide, X), None if Y is None else _dense(wide, Y)
        for at in row_blocks(len(found), DENSE_ROWS):
            if y is not None:
                found[at] += x[at] @ y.T
                continue
            rest = slice(at.start, len(found))
            found[at, rest] += x[at] @ x[rest].T
            upper = np.triu(found[at, at])
            found[at, at] = upper + np.triu(upper, 1).T  # exactly symmetric
            found[rest, at] = found[at, rest].T
        for of in self.numbers.values():
            if of.dimension > MOST_DENSE:
                _add_products(found, of(X), None if Y is None else of(Y))
        return found

    def terms(self, X: Table, Y: Table | None = None) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        shape = (len(self._model.names), X.n_rows, (X if Y is None else Y).n_rows)
        check_cells(math.prod(shape), "the terms of the kernel matrix")
        found = np.zeros(shape)
        found[self._label_at] = self._labels.terms(self._of_labels(X), None if Y is None else self._of_labels(Y))
        for v, of in self.numbers.items():
            _add_products(found[v], of(X), None if Y is None else of(Y))
        return found

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        found = np.array(self._labels.diag(self._of_labels(X)))
        for of in self.numbers.values():
            found += (of(X)[0] ** 2).sum(axis=1)
        return found

    def features(self, X: Table) -> Features:
        """Return the features of each row, (n, dimension), sparse: those of labels, then those of numbers."""
        import scipy.sparse as sp  # slow to import, and needed by few calls

        values, columns, first = [], [], 0
        for of in self.numbers.values():
            entries, at = of(X)
            values.append(entries)
            columns.append(first + at[:, None] * of.width + np.arange(of.width))
            first += of.dimension
        numbers = sparse(values, columns, X.n_rows, first)
        return sp.hstack([self._labels.features(self._of_labels(X)), numbers], format="csr")


def _dense(numbers: Sequence[NumberFeatures], rows: Table) -> Matrix:
    """Return features of numbers with a place for each configuration, (n_rows, dimension): products in one go."""
    found, first = np.zeros((rows.n_rows, sum(int(of.dimension) for of in numbers))), 0
    every = np.arange(rows.n_rows)[:, None]
    for of in numbers:
        entries, at = of(rows)
        found[every, first + at[:, None] * of.width + np.arange(of.width)] = entries
        first += int(of.dimension)
    return found


def _add_products(out: Matrix, x: tuple[Matrix, Any], y: tuple[Matrix, Any] | None) -> None:
    """Add the inner products of features in the same configuration to a matrix, (n, m)."""
    for rows, others in _pairs(x[1], None if y is None else y[1]):
        left = x[0][rows]
        right = left if y is None else y[0][others]
        if len(left) == len(out) and len(right) == out.shape[1]:
            out += left @ right.T
        else:
            out[np.ix_(rows, others)] += left @ right.T


def _pairs(x: npt.NDArray[np.int64], y: npt.NDArray[np.int64] | None) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of two tables that are in each configuration."""
    for group in np.unique(x).tolist():
        rows = np.flatnonzero(x == group)
        others = rows if y is None else np.flatnonzero(y == group)
        if len(others):
            yield rows, others
