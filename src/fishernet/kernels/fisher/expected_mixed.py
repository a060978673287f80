"""Expected features of rows of labels and numbers that lack cells: a row is a mixture over what its gaps may hold.

The features of a number's regression are of second degree in the family's numbers (`mixed`). So their expectation in a
configuration of the labels is made of its probability and of the expected sums and products of these numbers there.

Where a row lacks so many labels that these are more than memory holds of many rows, its expectation is a weighted mean
over some draws of what it lacks, by the same random numbers for every row: its features depend on the row alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.data import Table
from fishernet.infer.completion import require_possible
from fishernet.infer.mixed import Gap, GappedRows
from fishernet.kernels.features import Features, Matrix, weighted_mean
from fishernet.kernels.fisher.expected_features import ExpectedFeatures, kernel_features
from fishernet.kernels.fisher.mixed import MixedInvariant
from fishernet.kernels.parts import FeatureParts
from fishernet.models import BayesianNetwork

MOST_EXPECTED = 1 << 14  # numbers of a row, beyond which what it lacks is drawn
MOST_CELLS = 1 << 20  # the same of the cells of a table over missing labels, which each row goes through
AT_ONCE = 1 << 24  # numbers of rows
DRAWS = 32

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
    gapped = GappedRows(net, rows, keep=True, limit=math.inf)  # beyond one, rows are drawn
    log_prob = gapped.known_terms()
    found: dict[int, list[Entries]] = {}
    for v in range(len(net.variables)):
        which = np.flatnonzero(~gapped.lacking(v))
        found[v] = [(which, *_of_known(net, v, numbers.get(v), gapped.filled[which]))]
    statistics = _Statistics(net, numbers, gapped.origin, found)
    concerned = np.zeros((len(net.variables), rows.n_rows), dtype=bool)  # families of what is drawn
    for gap, which in gapped.gaps:
        if (a_row := _numbers_of_a_row(net, gap)) > MOST_EXPECTED or gap.core.most_cells([]) > MOST_CELLS:
            concerned[np.ix_(np.array(gap.families), which)] = True
            continue
        for some in _in_parts(which, a_row):
            logs, families = gap.expected(gapped.cells, some, gapped.origin)
            log_prob[some] += logs
            for v, sums in zip(gap.families, families, strict=True):
                statistics.add(v, some, sums)
    statistics.take()
    require_possible(log_prob)
    for some in _in_parts(np.flatnonzero(concerned.any(axis=0)), DRAWS * len(net.variables)):
        drawn, weights = _drawn(net, rows[some], gapped.filled[some], concerned[:, some])
        for v in np.flatnonzero(concerned[:, some].any(axis=1)).tolist():
            of = np.flatnonzero(np.repeat(concerned[v, some], DRAWS))
            at, values = _of_known(net, v, numbers.get(v), drawn[of])
            found[v].append((np.repeat(some, DRAWS)[of], at, values * weights[of, None]))
    return found


class _Statistics:
    """Expected statistics of rows, from which entries are made of many gaps at once."""

    def __init__(
        self, net: BayesianNetwork, numbers: Mapping[int, OfNumber], origin: Matrix, found: dict[int, list[Entries]]
    ) -> None:
        self._net, self._numbers, self._origin, self._found = net, numbers, origin, found
        self._parts: dict[int, list[tuple[npt.NDArray[Any], ...]]] = {}
        self._held = 0

    def add(self, v: int, which: Positions, of: tuple[npt.NDArray[Any], ...]) -> None:
        """Take what is expected of the family of a variable in some rows, without what is impossible."""
        places, weights, first, second = of
        there = np.flatnonzero(weights)
        rows = np.repeat(which, len(places) // len(which))
        self._parts.setdefault(v, []).append(tuple(part[there] for part in (rows, places, weights, first, second)))
        self._held += len(there) * (3 + first.shape[1] + second.shape[1] ** 2)
        if self._held > AT_ONCE:
            self.take()

    def take(self) -> None:
        """Make the entries of what was added."""
        for v, parts in self._parts.items():
            which, places, weights, first, second = map(np.concatenate, zip(*parts, strict=True))
            at, values = _own_order(self._net, v)[places], weights[:, None]
            if v in self._numbers:
                values = self._numbers[v].expected(at, weights, first, second, self._origin)
            self._found[v].append((which, at, values))
        self._parts, self._held = {}, 0


def _of_known(net: BayesianNetwork, v: int, number: OfNumber | None, rows: Table) -> tuple[Positions, Matrix]:
    """Return the configuration of each of some rows that lack nothing of a family, and the values there."""
    if number is not None:
        values, at = number(rows)
        return at, values
    at = np.zeros(rows.n_rows, dtype=np.int64)
    for p in (*net.conditionals[v].parents, v):
        at = at * net.variables[p].cardinality + rows.codes[p]
    return at, np.ones((rows.n_rows, 1))


def _in_parts(which: Positions, a_row: int) -> Iterator[Positions]:
    """Yield so few rows at once that they have `AT_ONCE` numbers, where each has so many."""
    step = max(1, AT_ONCE // max(1, a_row))
    return (which[begin : begin + step] for begin in range(0, len(which), step))


def _numbers_of_a_row(net: BayesianNetwork, gap: Gap) -> int:
    """Return how many numbers are expected of a row, of all configurations that its families may have."""
    total = 0
    for v in gap.families:
        family = {*net.conditionals[v].parents, v}
        numbers = {p for p in family if net.variables[p].is_continuous}
        scope = gap.mixture_scope(numbers & {*gap.missing}, (family - numbers) & {*gap.missing})
        states = math.prod(net.variables[p].cardinality for p in scope)
        total += states * (1 + len(numbers) + len(numbers) ** 2)
    return total


def _drawn(net: BayesianNetwork, rows: Table, filled: Table, concerned: npt.NDArray[np.bool_]) -> tuple[Table, Matrix]:
    """Return rows `DRAWS` times each, with what they lack drawn, and how much each counts, (n DRAWS,).

    What is missing is drawn from above, and counts by how probable it makes what is known below (Shachter and Peot
    1990), of the families that are concerned, (n_variables, n).
    """
    noise = np.random.default_rng(0).standard_normal((len(net.variables), DRAWS))
    columns = [np.repeat(column, DRAWS) for column in filled.codes]
    logs = np.zeros((rows.n_rows, DRAWS))
    for v in net.dag.order:
        if not concerned[v].any():
            continue
        lacks = net.variables[v].missing(rows.codes[v])
        if lacks.any():
            values = net.conditionals[v].draw(columns, np.tile(noise[v], rows.n_rows))
            columns[v] = np.where(np.repeat(lacks, DRAWS), values, columns[v]).astype(columns[v].dtype)
        counts = concerned[v] & ~lacks
        if counts.any():
            whole = Table.adopt(rows.variables, columns, n_rows=len(columns[v]))
            logs[counts] += net.conditionals[v].log_prob(whole).reshape(logs.shape)[counts]
    top = logs.max(axis=1, keepdims=True)
    possible = np.isfinite(top)
    weights = np.where(possible, np.exp(logs - np.where(possible, top, 0.0)), 1.0)  # where none is, each counts as much
    drawn = Table.adopt(rows.variables, columns, n_rows=rows.n_rows * DRAWS)
    return drawn, (weights / weights.sum(axis=1, keepdims=True)).ravel()


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
