"""How usual each cell of a row is to a network: its log-probability, or minus its part of the row's own Fisher kernel.

The Fisher kernel of a row with itself is the squared length of the row's score under the Fisher information: how far
the row alone would pull the network's parameters; a row of the network has `n_parameters` of it on average. Both are
sums over the variables. A state adds, with theta its probability in its parents' configuration j::

    log theta        and        -(1 / theta - 1) / P(j)

and a number with the noise e, whose parents' numbers are z (`mixed`), on its scale::

    -e^2 / 2 - log(sd sqrt(2 pi))        and        -(e^2 (1 + |S_j^-1/2 (z - m_j)|^2) + (e^2 - 1)^2 / 2) / P(j)

Where cells are missing it is what is expected given the rest of the row. Numbers that are missing are normal together,
and their fourth moments are made of means and covariances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.random import Seed
from fishernet.data import Table
from fishernet.infer import group_probabilities
from fishernet.infer.completion import expected_indicators
from fishernet.infer.parent_moments import moments_of_parents
from fishernet.kernels.features import Matrix
from fishernet.kernels.fisher.expected_mixed import OfNumber, family_entries
from fishernet.kernels.fisher.metrics import inverse_of
from fishernet.kernels.fisher.mixed import NumberFeatures, NumberMoments
from fishernet.models import BayesianNetwork, ConditionalGaussian

Measure = Literal["fisher", "log-probability"]
LOG_ROOT = 0.5 * math.log(2 * math.pi)


class RowTerms:
    """What each variable adds to the measure of a row.

    Parameters
    ----------
    net : BayesianNetwork
    measure : {"fisher", "log-probability"}
    seed : None, int or numpy.random.Generator
        For networks that are too large for exact inference, whose configurations' probabilities are sampled.
    """

    def __init__(self, net: BayesianNetwork, measure: Measure, seed: Seed = None) -> None:
        self.net: BayesianNetwork = net
        fisher = measure == "fisher"
        self._label_at = [v for v, variable in enumerate(net.variables) if not variable.is_continuous]
        labels = net if net.inference == "factors" else net.of_labels()
        probabilities = group_probabilities(labels, seed=seed) if fisher else [None] * len(self._label_at)
        pairs = zip(labels.conditionals, probabilities, strict=True)
        self._of_cells = [_of_cells(conditional, of_groups) for conditional, of_groups in pairs]
        self._of_numbers: dict[int, OfNumber] = {}
        if net.inference == "factors":
            return
        for v, of_parents in enumerate(moments_of_parents(net)):
            if of_parents is not None:
                conditional = cast(ConditionalGaussian, net.conditionals[v])
                kind = _Lengths if fisher else _Logs
                self._of_numbers[v] = kind(NumberFeatures(conditional, of_parents))

    def __call__(self, rows: Table) -> Matrix:
        """Return the terms of rows that are possible, (n_rows, n_variables)."""
        found = np.zeros((rows.n_rows, len(self.net.variables)))
        if self.net.inference == "factors":
            cells = expected_indicators(self.net, rows)
            ends = np.cumsum([0, *map(len, self._of_cells)])
            for v, (values, (first, last)) in enumerate(zip(self._of_cells, pairwise(ends), strict=True)):
                found[:, v] = cells[:, first:last] @ values
            return found
        of_label: Mapping[int, Matrix] = dict(zip(self._label_at, self._of_cells, strict=True))
        for v, entries in family_entries(self.net, self._of_numbers, rows).items():
            for which, at, values in entries:
                weighed = values if v in self._of_numbers else values * of_label[v][at][:, None]
                found[:, v] += np.bincount(which, weights=weighed[:, 0], minlength=rows.n_rows)
        return found


def _of_cells(conditional: Any, of_groups: Matrix | None) -> Matrix:
    """Return what each cell of a conditional's table adds, by the probabilities of groups or as logarithms."""
    table = conditional.table()
    if of_groups is None:  # 0 for 0: such a cell is in no row that is possible
        return np.asarray(np.log(table, out=np.zeros_like(table), where=table > 0).ravel())
    table = table.reshape(-1, table.shape[-1])
    groups = conditional.group_map()
    of_configurations = np.asarray(of_groups if groups is None else of_groups[groups])[:, None]
    lengths = (inverse_of(table) - 1) * inverse_of(of_configurations)
    return np.asarray(-np.where(table > 0, lengths, 0.0).ravel())


class _Lengths:
    """Minus the squared lengths of a number's features, as `OfNumber`."""

    def __init__(self, of: NumberFeatures) -> None:
        self.of = of

    def __call__(self, rows: Table) -> tuple[Matrix, npt.NDArray[np.int64]]:
        features, at = self.of(rows)
        return -(features**2).sum(axis=1, keepdims=True), at

    def expected(self, at: npt.NDArray[np.int64], weights: Matrix, *sums: Matrix) -> Matrix:
        m = NumberMoments(self.of, at, weights, *sums)
        square, variance = m.e_squared, m.e_variance
        fourth = m.e**4 + 6 * m.e**2 * variance + 3 * variance**2
        u_squared = np.maximum(m.u_variance, 0) + m.u**2
        crossed = square[:, None] * u_squared + 2 * m.with_e**2 + 4 * m.e[:, None] * m.u * m.with_e
        lengths = square + crossed.sum(axis=1) + (fourth - 2 * square + 1) / 2
        return np.asarray(-(weights * self.of.inverse[at] * lengths)[:, None])


class _Logs:
    """The log-density of a number on its scale, as `OfNumber`."""

    def __init__(self, of: NumberFeatures) -> None:
        self.of = of
        self._highest = -np.log(of.conditional.by_group()[2]) - LOG_ROOT

    def __call__(self, rows: Table) -> tuple[Matrix, npt.NDArray[np.int64]]:
        at, e = self.of.conditional.noise(rows)
        return (self._highest[at] - e**2 / 2)[:, None], at

    def expected(self, at: npt.NDArray[np.int64], weights: Matrix, *sums: Matrix) -> Matrix:
        square = NumberMoments(self.of, at, weights, *sums).e_squared
        return np.asarray((weights * (self._highest[at] - square / 2))[:, None])
