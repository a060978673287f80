"""Expected features of rows of labels and numbers that lack cells: a row is a mixture over what its gaps may hold.

The features of a number's regression are of second degree in the family's numbers (`mixed`). So their expectation in a
configuration of the labels is made of its probability and of the expected sums and products of these numbers there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.data import Table
from fishernet.infer.completion import require_possible
from fishernet.infer.mixed import GappedRows
from fishernet.kernels.features import Features, Matrix, weighted_mean
from fishernet.kernels.fisher.expected_features import ExpectedFeatures, kernel_features
from fishernet.kernels.fisher.mixed import MixedInvariant
from fishernet.kernels.parts import FeatureParts
from fishernet.models import BayesianNetwork

Positions = npt.NDArray[np.int64]
Entries = tuple[Positions, Positions, Matrix]  # rows, configurations, and what a row has there


class OfNumber(Protocol):
    """What is made of the family of a number in a row, some values in its configuration."""

    def __call__(self, rows: Table, /) -> tuple[Matrix, Positions]:
        """Return the values of rows that know the family, (n_rows, k), and their configurations, (n_rows,)."""

    def expected(self, at: Positions, weights: Matrix, first: Matrix, second: Matrix, origin: Matrix, /) -> Matrix:
        """Return expected values of rows that do not, (n, k); see `NumberFeatures.expected`."""


class ExpectedMixedFeatures(ExpectedFeatures):
    """E[f | x] of a network of labels and numbers; the features of labels come first, as in `MixedInvariant`."""

    def __init__(self, net: BayesianNetwork, hidden: tuple[str, ...]) -> None:
        self._of_all = of_all = MixedInvariant(net)
        of_cells = kernel_features(of_all.of_labels, of_all.group_probabilities, range(len(of_all.of_labels.variables)))
        super().__init__(net, hidden, of_cells)
        self._numbers = of_all.numbers
        self._labels = [v for v, variable in enumerate(net.variables) if not variable.is_continuous]
        scopes = [(*net.conditionals[v].parents, v) for v in self._labels]
        sizes = [math.prod(net.variables[p].cardinality for p in scope) for scope in scopes]
        self._n_cells = sum(sizes)
        self._first = dict(zip(self._labels, np.cumsum([0, *sizes]).tolist(), strict=False))

    @property
    def dimension(self) -> int:
        """The number of features."""
        return super().dimension + sum(int(of.dimension) for of in self._numbers.values())

    @property
    def parts(self) -> FeatureParts:
        """Whose each feature is."""
        return self._of_all.feature_parts

    def mean(self, rows: Table) -> Matrix:
        """Return the mean of the features, (dimension,)."""
        return np.asarray(weighted_mean(self(rows), rows))

    def __call__(self, rows: Table) -> Features:
        """Return the expected features of each row, (n, dimension), sparse."""
        import scipy.sparse as sp  # slow to import, and needed by few calls

        entries = family_entries(self.net, self._numbers, rows)
        of_labels = [self._cells(v, entries[v]) for v in self._labels]
        cells = _sparse(of_labels, (rows.n_rows, self._n_cells))
        placed, begin = [], 0
        for v, of in self._numbers.items():
            places = np.arange(begin, begin + of.width)
            placed += [(which, at[:, None] * of.width + places, values) for which, at, values in entries[v]]
            begin += int(of.dimension)
        return sp.hstack([cells @ self.of_cells, _sparse([placed], (rows.n_rows, begin))], format="csr")

    def _cells(self, v: int, entries: Sequence[Entries]) -> list[Entries]:
        return [(which, self._first[v] + at[:, None], values) for which, at, values in entries]


def family_entries(net: BayesianNetwork, numbers: Mapping[int, OfNumber], rows: Table) -> dict[int, list[Entries]]:
    """Return of each variable what the rows have that know its family, and what the others may.

    A label has the probabilities of its family's cells, and a number what is made of its family's moments.
    """
    gapped = GappedRows(net, rows, keep=True)
    log_prob = gapped.known_terms()
    statistics: dict[int, list[tuple[Any, ...]]] = {v: [] for v in range(len(net.variables))}
    for gap, which in gapped.gaps:
        logs, families = gap.expected(gapped.cells, which, gapped.origin)
        log_prob[which] += logs
        for v, (places, *sums) in zip(gap.families, families, strict=True):
            statistics[v].append((np.repeat(which, len(places) // len(which)), places, *sums))
    require_possible(log_prob)
    found = {}
    for v, parts in statistics.items():
        found[v] = [_known(net, v, numbers.get(v), gapped)]
        if parts:
            which, places, weights, first, second = map(np.concatenate, zip(*parts, strict=True))
            there = np.flatnonzero(weights)
            at, weights = _own_order(net, v)[places[there]], weights[there]
            values = weights[:, None]
            if v in numbers:
                values = numbers[v].expected(at, weights, first[there], second[there], gapped.origin)
            found[v].append((which[there], at, values))
    return found


def _known(net: BayesianNetwork, v: int, number: OfNumber | None, gapped: GappedRows) -> Entries:
    """Return the entries of the rows that lack nothing of a family."""
    which = np.flatnonzero(~gapped.lacking(v))
    some = gapped.filled[which]
    if number is not None:
        values, at = number(some)
        return which, at, values
    at = np.zeros(len(which), dtype=np.int64)
    for p in (*net.conditionals[v].parents, v):
        at = at * net.variables[p].cardinality + some.codes[p]
    return which, at, np.ones((len(which), 1))


def _own_order(net: BayesianNetwork, v: int) -> Positions:
    """Return which configuration in a conditional's order one is whose labels are ascending."""
    labels = [p for p in (*net.conditionals[v].parents, v) if not net.variables[p].is_continuous]
    sizes = [net.variables[p].cardinality for p in labels]
    return np.arange(math.prod(sizes)).reshape(sizes).transpose(np.argsort(labels)).ravel()


def _sparse(blocks: Sequence[Sequence[Entries]], shape: tuple[int, int]) -> Features:
    """Return a matrix of entries, each at a row and some columns."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    entries = [entry for block in blocks for entry in block if len(entry[0])]
    if not entries:
        return sp.csr_array(shape)
    values = np.concatenate([value.ravel() for *_, value in entries])
    columns = np.concatenate([at.ravel() for _, at, _ in entries])
    rows = np.concatenate([np.repeat(which, at.shape[1]) for which, at, _ in entries])
    return sp.csr_array(sp.coo_array((values, (rows, columns)), shape=shape))
