"""How tables of labels follow the rows that they were fitted to.

What follows from counts alone is in `counts`; V, an answer's derivatives, is made of expected counts (`answers`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import warn
from fishernet.data import Table
from fishernet.data.arrays import row_blocks
from fishernet.explain.answers import Answer
from fishernet.explain.counts import (
    CLOSE,
    CLOSE_BY_EM,
    OF_OTHER_ROWS,
    Numbers,
    OfCounts,
    Smoothing,
    Tables,
    smoothing_of,
)
from fishernet.infer import group_probabilities
from fishernet.infer.completion import expected_indicators
from fishernet.kernels.fisher.family_counts import family_counts
from fishernet.learn.missing.incomplete import CompletedRows
from fishernet.models.model import is_directed

Places = npt.NDArray[np.int64]

BLOCK = 2**16  # rows whose expected cells are held at once
MOST_COMPLETED = 256  # ways to complete a row of an answer that are followed one by one
MOST_PARTS = 8  # rows of an answer that are looked at one by one


class OfTables(OfCounts):
    """The response of a network whose variables have labels."""

    def __init__(self, net: Any, table: Table, n_rows: float | None) -> None:
        self.net: Any = net
        self.table: Table = table
        self.rows: Any = net.rows(table)
        weights, unit = self.rows.weights_in_units
        self.weights = np.ones(self.rows.n_rows) if weights is None else weights * unit
        if not is_directed(net):
            self.rows.require_complete("the rows behind an answer of a dependency network")
        self.hides = self.rows.has_missing
        self._given_rows = n_rows
        self.theta = [c.probabilities for c in net.conditionals]
        self.counts = self.counting(self.weights)(net) if self.hides else complete_counts(net, self.rows, None)
        near = CLOSE_BY_EM if self.hides else CLOSE
        self.smoothing = smoothing_of(self.theta, self.counts, near) if n_rows is None else None
        if n_rows is None and self.smoothing is None:
            warn(OF_OTHER_ROWS)
        self.pulls = self._pulls()

    def _pulls(self) -> Tables:
        """Return as how many rows each cell of the conditionals weighs."""
        if self.smoothing is not None:
            pairs = zip(self.smoothing, self.counts, strict=True)
            return [smoothing.pulls(counts) for smoothing, counts in pairs]
        n = self._given_rows or self.net.n_rows or self.rows.total
        if is_directed(self.net):
            masses = group_probabilities(self.net)
        else:  # which has no joint distribution
            masses = [counts.sum(axis=1) / self.rows.total for counts in self.counts]
        return [n * mass[:, None] * theta for mass, theta in zip(masses, self.theta, strict=True)]

    def made(self, tables: Tables, total: float) -> Any:
        """Return the network with other probabilities, fitted to so many rows."""
        made = [c.with_probabilities(table) for c, table in zip(self.net.conditionals, tables, strict=True)]
        return type(self.net)(self.net.variables, made, n_rows=total)

    def counting(self, weights: Numbers) -> Callable[[Any], Tables]:
        """Return what tells the counts of rows with some weights under a network, which completes them."""
        if self.hides:
            return partial(self._expected, CompletedRows(self.net, self.rows, weights))
        counts = complete_counts(self.net, self.rows, weights)
        return lambda _: counts

    def _expected(self, completed: CompletedRows, net: Any) -> Tables:
        """Return the counts of all cells that completed rows are expected to have under a network."""
        found = []
        for conditional, flat in zip(net.conditionals, completed.expected(net)[1], strict=True):
            cells = flat.reshape(-1, conditional.variables[-1].cardinality)
            found.append(np.stack([conditional.sum_by_group(c) for c in cells.T], axis=1))
        return found

    def derivative(self, answer: Answer) -> Tables:
        """Return V: the derivatives of an answer by the logarithms of the probabilities."""
        return self._derivative(answer, answer.weights(self.net))

    def _derivative(self, answer: Answer, weights: Numbers) -> Tables:
        rows, kept = answer.rows, np.flatnonzero(weights)  # what is impossible has no weight
        if len(kept) < len(weights):
            rows, weights = rows[kept], weights[kept]
        if answer.children is not None or not rows.has_missing:
            return complete_counts(self.net, rows, weights, answer.children)
        return self._expected(CompletedRows(self.net, rows, np.ascontiguousarray(weights)), self.net)

    def sums(self, W: Tables) -> Numbers:
        """Return the sum over each row's cells, expected where cells are missing, (n_rows,)."""
        if not self.hides:
            return _looked_up(self.net, self.rows, W)
        of_cells = np.concatenate(
            [
                (w if conditional.group_map() is None else w[conditional.group_map()]).ravel()
                for conditional, w in zip(self.net.conditionals, W, strict=True)
            ]
        )
        blocks = row_blocks(self.rows.n_rows, BLOCK)
        return np.concatenate(
            [np.zeros(0), *(expected_indicators(self.net, self.rows[at]) @ of_cells for at in blocks)]
        )

    def removals(self, answer: Answer) -> Numbers:
        """Return the answer less what it is without each row, (n_rows,): exact within each conditional."""
        if self.hides or self.smoothing is None:
            return self.weights * self.values(answer)
        weights = answer.weights(self.net)
        if not answer.rows.has_missing or answer.children is not None:
            return self.removed_by(self._derivative(answer, weights))
        if len(weights) > MOST_PARTS:
            return self.weights * self.sums(self.direction(self._derivative(answer, weights)))
        found = np.zeros(self.rows.n_rows)
        for row in np.flatnonzero(weights).tolist():
            found += weights[row] * self._removed_of_row(answer.rows[[row]])
        return found

    def _removed_of_row(self, row: Table) -> Numbers:
        """Return what the log-probability of a row that lacks cells loses without each row of the table, (n_rows,).

        Where it can be completed in few ways, what changes in each of these is followed, and it is exact. Otherwise it
        is to first order: leverage in each conditional by itself would leave out what takes it back in the next.
        """
        gaps = [v for v, c in zip(row.variables, row.codes, strict=True) if v.missing(c)[0]]
        if math.prod(variable.cardinality for variable in gaps) > MOST_COMPLETED:
            counts = self._expected(CompletedRows(self.net, row, np.ones(1)), self.net)
            return self.weights * self.sums(self.direction(counts))
        completed = completions(row)
        shares = np.exp(self.net.log_prob(completed) - self.net.log_prob(row))
        found = np.zeros(self.rows.n_rows)
        for way in np.flatnonzero(shares > 0):
            counts = complete_counts(self.net, completed[[int(way)]], np.ones(1))
            found += shares[way] * np.exp(-self.removed_by(counts))
        with np.errstate(divide="ignore"):
            return -np.log(found)

    def removed_by(self, V: Tables) -> Numbers:
        """Return what each row takes with it of a sum of logarithms with such derivatives, (n_rows,)."""
        fits = list(zip(V, self.ways, self.counts, strict=True))
        if self.rows.weights is None:
            return self.sums([_removed(v, smoothing, n) for v, smoothing, n in fits])
        found = np.zeros(self.rows.n_rows)
        for place, (v, smoothing, n) in enumerate(fits):
            at, x = self.net.flat.groups(self.rows.native, place), self.rows.codes[place].astype(np.int64)
            for block in row_blocks(len(at), BLOCK):
                found[block] += _removed_rows(v, smoothing, n, at[block], x[block], self.weights[block])
        return found

    def again(self, weights: Numbers) -> OfTables:
        """Return the response of that network."""
        return OfTables(self.without(weights), self.table.reweighted(weights), self._given_rows)


def _looked_up(net: Any, rows: Table, tables: Tables) -> Numbers:
    """Return the sum of what tables hold for each complete row, (n_rows,)."""
    return np.asarray(net.flat.look_up(rows.native, tables, True))


def complete_counts(net: Any, rows: Table, weights: Numbers | None, children: Sequence[int] | None = None) -> Tables:
    """Return the weight of rows in each cell of the conditionals of some variables; 0 in those of others."""
    if weights is None:
        return family_counts(net.conditionals, rows, range(len(net.names)))
    found = []
    for v, conditional in enumerate(net.conditionals):
        groups, r = conditional.probabilities.shape
        if children is not None and v not in children:
            found.append(np.zeros((groups, r)))
            continue
        at = net.flat.groups(rows.native, v) * r + rows.codes[v]
        found.append(np.bincount(at, weights, minlength=groups * r).reshape(groups, r))
    return found


def completions(row: Table) -> Table:
    """Return all rows that one row may be, of labels."""
    gaps = [v for v, c in zip(row.variables, row.codes, strict=True) if v.missing(c)[0]]
    sizes = [variable.cardinality for variable in gaps]
    ways = math.prod(sizes)
    states = dict(zip((v.name for v in gaps), np.unravel_index(np.arange(ways), sizes) if gaps else (), strict=True))
    columns = [
        states[v.name].astype(v.dtype) if v.name in states else np.repeat(column, ways)
        for v, column in zip(row.variables, row.codes, strict=True)
    ]
    return Table.adopt(row.variables, columns, n_rows=ways)


def _log_change(v: Numbers, of_group: Numbers, own: Numbers, others: Numbers) -> Numbers:
    """Return the change of a sum of logarithms of probabilities.

    `own` and `others` are by what the row's own probability and the others of its group are multiplied; `v` and
    `of_group` are the derivatives by the logarithm of the row's own and of all.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(v != 0, v * np.log(own), 0.0) + np.where(of_group != v, (of_group - v) * np.log(others), 0.0)


def _removed(V: Numbers, smoothing: Smoothing, n: Numbers) -> Numbers:
    """Return for each cell what an answer loses when a row of weight 1 leaves it, (groups, states)."""
    h, left = smoothing.weights(n), smoothing.weights(np.maximum(n - 1, 0.0))
    return _loss(V, V.sum(axis=1, keepdims=True), h, left, h.sum(axis=1, keepdims=True))


def _removed_rows(V: Numbers, smoothing: Smoothing, n: Numbers, at: Places, x: Places, weight: Numbers) -> Numbers:
    """Return the same of rows in cells, each of its own weight, (n_rows,)."""
    h, rows = smoothing.weights(n), np.arange(len(at))
    counts = n[at]
    counts[rows, x] = np.maximum(counts[rows, x] - weight, 0.0)
    kind = smoothing.kind
    of_rows = Smoothing(kind if isinstance(kind, str) else np.broadcast_to(kind, (len(n), 1))[at])
    return _loss(V[at, x], V.sum(axis=1)[at], h[at, x], of_rows.weights(counts)[rows, x], h.sum(axis=1)[at])


def _loss(V: Numbers, of_group: Numbers, h: Numbers, left: Numbers, total: Numbers) -> Numbers:
    """Return what an answer loses when the weight of a cell falls from h to what is left, in a group of a total."""
    rest = total - h + left
    with np.errstate(divide="ignore", invalid="ignore"):
        others = total / rest
        found = -_log_change(V, of_group, left / h * others, others)
    return np.where((rest > 0) & (h > 0), found, 0.0)
