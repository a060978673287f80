"""How regressions of numbers, and the labels beside them, follow the rows that they were fitted to.

Tables of labels follow them as in a network of labels alone (`responses`): none has numbers as parents.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fishernet.base.errors import warn
from fishernet.data import Table
from fishernet.explain.answers import Answer
from fishernet.explain.counts import OF_OTHER_ROWS, Numbers, Smoothing, Tables, smoothing_said
from fishernet.explain.responses import OfTables
from fishernet.infer.parent_moments import ParentMoments, moments_of_parents
from fishernet.kernels.fisher.expected_mixed import family_entries
from fishernet.kernels.fisher.mixed import NumberFeatures
from fishernet.learn.fitting import parameters
from fishernet.models.conditionals.conditional_gaussian import SHRUNK_ROWS

CLOSE_OF_NUMBERS = 1e-3  # what a regression may leave in the mean, in standard deviations: parents may be collinear
MOST_CONFIGURATIONS = 256  # in which the rows that are added to each are followed
SMALLEST = 1e-300


class OfBoth:
    """The response of a network of numbers, or of labels and numbers.

    Intercept and coefficients of a regression respond by its rows' noise and leverage, its standard deviation by the
    square of the noise; configurations are weighed as the table has them (`kernels.fisher.mixed` has the scores).
    """

    def __init__(self, net: Any, table: Table, n_rows: float | None) -> None:
        self.net: Any = net
        self.table: Table = table
        self.rows: Any = net.rows(table)
        weights = self.rows.weights
        self.weights: Numbers = np.ones(self.rows.n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
        self._gaps = self.rows.has_missing
        self.total: float = float(n_rows or self.rows.total)
        self._given_rows = n_rows
        self._label_at = [v for v, variable in enumerate(net.variables) if not variable.is_continuous]
        asked = self.total if self._gaps else n_rows
        self.labels: OfTables = OfTables(net.of_labels(), self._of_labels(self.rows), asked)
        self._added = SHRUNK_ROWS * self._smoothing
        self.numbers: dict[int, NumberFeatures] = {
            v: NumberFeatures(net.conditionals[v], of)
            for v, of in enumerate(self._moments(n_rows is not None or self._gaps))
            if of is not None
        }
        others = not self._gaps and n_rows is None and any(map(self._leaves_something, self.numbers.values()))
        if others:
            warn(OF_OTHER_ROWS)
        self.refits: bool = not others and n_rows is None and (self._gaps or self.labels.refits)

    def _leaves_something(self, of: NumberFeatures) -> bool:
        """Whether a regression on numbers alone leaves in these rows what their own would not."""
        if of.conditional.n_groups > 1 or not self.rows.n_rows:
            return False
        values, _ = of(self.rows)
        return bool(np.abs(self.weights @ values[:, :-1]).max() > CLOSE_OF_NUMBERS * self.total)

    @property
    def smoothing(self) -> list[Smoothing] | None:
        """How counts of labels became probabilities."""
        return self.labels.smoothing

    @property
    def _smoothing(self) -> float:
        """The pseudo-count of labels, by which the rows added to each configuration go as well."""
        said = smoothing_said(self.smoothing)
        return 1.0 if isinstance(said, str) else said

    def _moments(self, of_network: bool) -> list[ParentMoments | None]:
        if of_network:
            return moments_of_parents(self.net)
        pairs = zip(self.net.variables, self.net.conditionals, strict=True)
        return [
            _seen_moments(self.rows, self.weights, conditional, self._added) if variable.is_continuous else None
            for variable, conditional in pairs
        ]

    def _of_labels(self, rows: Table) -> Table:
        variables = [self.net.variables[v] for v in self._label_at]
        return Table.adopt(variables, [rows.codes[v] for v in self._label_at], n_rows=rows.n_rows, weights=rows.weights)

    def _derivatives(self, answer: Answer) -> tuple[Tables, dict[int, Numbers]]:
        """Return the derivatives by the logarithms of probabilities, and by the features of each regression."""
        weights = answer.weights(self.net)
        kept = np.flatnonzero(weights)
        weights, entries = weights[kept], self._entries(answer.rows[kept])
        of_labels = []
        for v in self._label_at:
            conditional = self.net.conditionals[v]
            flat = np.zeros(math.prod(variable.cardinality for variable in conditional.variables))
            for which, at, values in entries.get(v, ()):
                np.add.at(flat, at, values[:, 0] * weights[which])
            cells = flat.reshape(-1, conditional.variables[-1].cardinality)
            of_labels.append(np.stack([conditional.sum_by_group(c) for c in cells.T], axis=1))
        of_numbers = {}
        for v, of in self.numbers.items():
            sums = np.zeros((of.conditional.n_groups, of.width))
            for which, at, values in entries.get(v, ()):
                np.add.at(sums, at, values * weights[which, None])
            of_numbers[v] = sums
        return of_labels, of_numbers

    def _entries(self, rows: Table) -> dict[int, Any]:
        """Return `family_entries` of the variables that have to do with the rows: those they know, and what is above.

        The others are expected as their parents say, so that an answer does not hang on them.
        """
        known = [v.name for v, column in zip(rows.variables, rows.codes, strict=True) if not v.missing(column).all()]
        if not known:
            return {}
        asked = {*known, *self.net.dag.ancestors(known)}
        places = [v for v, name in enumerate(self.net.names) if name in asked]
        if len(places) == len(self.net.names):
            return dict(family_entries(self.net, self.numbers, rows))
        net = self.net.part(places)
        numbers = {at: self.numbers[v].of(net.conditionals[at]) for at, v in enumerate(places) if v in self.numbers}
        return {places[at]: of for at, of in family_entries(net, numbers, rows.select(net.names)).items()}

    def values(self, answer: Answer) -> Numbers:
        """Return the change of an answer per unit of each row's weight, (n_rows,)."""
        of_labels, of_numbers = self._derivatives(answer)
        W = self.labels.direction(of_labels)
        if not self._gaps:
            found = self.labels.sums(W) if self._label_at else np.zeros(self.rows.n_rows)
            for v, of in self.numbers.items():
                values, at = of(self.rows)
                found += np.einsum("nk,nk->n", values, of_numbers[v][at]) / self.total
                found += self._by_all_rows(of, of_numbers[v])
            return found
        found = np.zeros(self.rows.n_rows)
        entries = family_entries(self.net, self.numbers, self.rows)
        of_configurations = [
            (w if c.group_map() is None else w[c.group_map()]).ravel()
            for c, w in zip(self.labels.net.conditionals, W, strict=True)
        ]
        for v, flat in zip(self._label_at, of_configurations, strict=True):
            for which, at, values in entries[v]:
                np.add.at(found, which, values[:, 0] * flat[at])
        for v, sums in of_numbers.items():
            for which, at, values in entries[v]:
                np.add.at(found, which, np.einsum("nk,nk->n", values, sums[at]) / self.total)
        return found

    def _by_all_rows(self, of: NumberFeatures, sums: Numbers) -> Numbers:
        """Return what each row does by the rows that are added to each configuration, spread as all rows are."""
        q = of.conditional.n_groups
        if q == 1 or q > MOST_CONFIGURATIONS or not self._added:
            return np.zeros(self.rows.n_rows)
        share = self.weights / self.weights.sum()
        found = np.zeros(self.rows.n_rows)
        for j in np.flatnonzero(sums.any(axis=1)):
            of_row = of.in_configuration(self.rows, int(j)) @ sums[j] / self.total
            found += of_row - share @ of_row
        return np.asarray(found * self._added / self.weights.sum())

    def removals(self, answer: Answer) -> Numbers:
        """Return the answer less what it is without each row, (n_rows,), with its leverage in the regressions."""
        if self._gaps:
            return self.weights * self.values(answer)
        of_labels, of_numbers = self._derivatives(answer)
        found = np.zeros(self.rows.n_rows)
        if self._label_at:
            found += self.weights * self.labels.sums(self.labels.direction(of_labels))
        for v, of in self.numbers.items():
            values, at = of(self.rows)
            n = self.total / of.inverse[at]
            squared = np.maximum(values[:, -1] * np.sqrt(2 / of.inverse[at]) + 1, 0.0)  # e^2
            with np.errstate(divide="ignore", invalid="ignore"):
                length = (values[:, :-1] ** 2).sum(axis=1) / self.total
                leverage = np.where(squared > 0, length / squared, 0.0) * self.weights
                rest = np.maximum(1 - leverage, SMALLEST)
                level = np.einsum("nk,nk->n", values[:, :-1], of_numbers[v][at, :-1]) / self.total
                level *= self.weights / rest
                kept = (1 - self.weights * squared / (n * rest)) * n / (n - self.weights)
                spread = -0.5 * np.log(np.maximum(kept, SMALLEST)) * np.sqrt(2 / of.inverse[at])
            found += level + spread * of_numbers[v][at, -1] + self.weights * self._by_all_rows(of, of_numbers[v])
        return found

    def without(self, weights: Numbers) -> Any:
        """Return the network fitted to the rows with other weights."""
        kept = np.flatnonzero(weights)
        rows = self.rows[kept].reweighted(None if (weights[kept] == 1).all() else weights[kept])
        return parameters(self.net.dag, rows, smoothing=self._smoothing if self._label_at else 1.0)

    def again(self, weights: Numbers) -> OfBoth:
        """Return the response of that network."""
        return OfBoth(self.without(weights), self.table.reweighted(weights), self._given_rows)


def _seen_moments(rows: Table, weights: Numbers, conditional: Any, added: float) -> ParentMoments:
    """Return what a regression's parents are in the rows that it was fitted to, and in those that are added."""
    at, q, m = conditional.groups(rows), conditional.n_groups, len(conditional.number_parents)
    z = np.stack(conditional.inputs(rows.codes), axis=1) if m else np.zeros((rows.n_rows, 0))
    total = float(weights.sum())
    middle = weights @ z / total
    z = z - middle
    n: Numbers = np.bincount(at, weights, minlength=q).astype(np.float64)
    sums = np.reshape([np.bincount(at, weights * column, minlength=q) for column in z.T], (m, q)).T
    products = np.zeros((q, m, m))
    for i in range(m):
        for j in range(i + 1):
            products[:, i, j] = products[:, j, i] = np.bincount(at, weights * z[:, i] * z[:, j], minlength=q)
    if q > 1:
        n = n + added
        products += added / total * products.sum(axis=0)
    centre = sums / np.maximum(n, SMALLEST)[:, None]
    spread = products / np.maximum(n, SMALLEST)[:, None, None] - centre[:, :, None] * centre[:, None, :]
    return ParentMoments(n / total, centre + middle, spread)
