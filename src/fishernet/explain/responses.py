"""How the parameters of a fitted network follow the rows that they were fitted to.

A probability is ``h(n_jk) / sum h(n_jl)`` of counts n, with h(n) = n + a for a pseudo-count a. If a row of state x in
configuration j counts w more, ``log theta_jk`` rises by ``w ([k = x] - theta_jx) h'(n_jx) / h(n_jx)``. So an answer
with the derivatives V_jk by ``log theta_jk`` rises by w times ``W_jx = (V_jx - theta_jx sum_k V_jk) h' / h``, summed
over the families of the row: the Fisher kernel between the answer and the row, over the number of rows, with the counts
of the table in the place of those that the network expects. V is made of expected counts (`answers`).

Of rows that lack cells W is expected given what they know. There a parameter also follows the others: the information
of what is known is that of complete rows less what the gaps hide (Louis, 1982), and W solves a linear system, by
conjugate gradients, each step of which is the difference of two E steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import warn
from fishernet.data import Table
from fishernet.data.arrays import row_blocks
from fishernet.explain.answers import Answer
from fishernet.infer import group_probabilities
from fishernet.infer.completion import expected_indicators
from fishernet.kernels.fisher.family_counts import family_counts
from fishernet.learn.missing.incomplete import CompletedRows
from fishernet.models.conditionals.full_table import cell_weights
from fishernet.models.model import is_directed

Numbers = npt.NDArray[np.float64]
Tables = list[Numbers]  # (groups, states) a conditional
Places = npt.NDArray[np.int64]

CLOSE = 1e-6  # how near probabilities are to those of counts that they were fitted to
CLOSE_BY_EM = 0.05
BLOCK = 2**16  # rows whose expected cells are held at once
LEAST_SLOPE = 1e-12  # below which probabilities are equal, and tell of no pseudo-count
STEP = 1e-4  # of the logarithms of probabilities, for differences of E steps
MOST_STEPS = 60  # of conjugate gradients
TOLERANCE = 1e-6  # of their residual
MOST_COMPLETED = 256  # ways to complete a row of an answer that are followed one by one
MOST_PARTS = 8  # rows of an answer that are looked at one by one
MOST_EM_STEPS = 500
EM_TOLERANCE = 1e-8  # of probabilities
OF_OTHER_ROWS = (
    "the network's probabilities are not those of this table's rows: it was learned from others, or in another way. "
    "Influences are told as of a network that expects these rows; pass the table that it was learned from, or n_rows, "
    "the number of its rows"
)


class Response(Protocol):
    """What an answer's derivative becomes for each row of the table that a network was fitted to."""

    net: Any
    """The network."""
    table: Table
    """The rows."""
    refits: bool
    """Whether it was learned from these rows, so that a fit without some of them can be held beside it."""

    def values(self, answer: Answer) -> Numbers:
        """Return the change of an answer per unit of each row's weight, (n_rows,)."""

    def removals(self, answer: Answer) -> Numbers:
        """Return the answer less what it is without each row, (n_rows,), with the row's own leverage counted."""

    def without(self, weights: Numbers) -> Any:
        """Return the network fitted to the table's rows with other weights."""

    def again(self, weights: Numbers) -> Response:
        """Return the response of that network."""


# ------------------------------------------------------------------------------------------ tables of probabilities


@dataclass(frozen=True)
class Smoothing:
    """What a conditional's probabilities are of its counts: shares of the weights of its cells."""

    kind: str | Numbers
    """"snml", "zeros", or the pseudo-count of each group, (groups, 1)."""

    def weights(self, counts: Numbers) -> Numbers:
        """Return h(n) of each cell."""
        if isinstance(self.kind, str):
            return cell_weights(counts, self.kind, None)
        return counts + self.kind

    def pulls(self, counts: Numbers) -> Numbers:
        """Return h / h' of each cell: as how many rows it weighs."""
        if not isinstance(self.kind, str):
            return counts + self.kind
        if self.kind == "zeros":
            return np.maximum(counts, 1.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(counts > 0, 1 / np.log1p(1 / counts), 1.0), dtype=np.float64)

    def probabilities(self, counts: Numbers) -> Numbers:
        """Return the rows of probabilities; of a group without any weight the shares are equal."""
        weights = self.weights(counts)
        total = weights.sum(axis=1, keepdims=True)
        equal = np.full_like(weights, 1 / weights.shape[1])
        return np.asarray(np.divide(weights, total, out=equal, where=total > 0))


def smoothing_of(theta: Tables, counts: Tables, near: float) -> list[Smoothing] | None:
    """Return how counts became the probabilities of a network, for each conditional; None where they did not.

    Two probabilities agree with many ways. So one pseudo-count for all is tried first, where it is a usual one, then
    what else has no number of its own, and last a pseudo-count for each conditional or group.
    """
    sums = [_pseudo_count_sums(t, n) for t, n in zip(theta, counts, strict=True)]
    squared, product = (float(sum(pair[of].sum() for pair in sums)) for of in (0, 1))
    whole = max(0.0, product / squared) if squared > LEAST_SLOPE else 1.0
    usual = min((0.0, 0.5, 1.0), key=lambda known: abs(known - whole))
    of_conditionals = [float(p.sum() / q.sum()) if q.sum() > LEAST_SLOPE else whole for q, p in sums]
    of_groups = [
        np.divide(p, q, out=np.full_like(p, own), where=q > LEAST_SLOPE)
        for (q, p), own in zip(sums, of_conditionals, strict=True)
    ]
    ways: list[list[str | Numbers]] = [
        [np.full((1, 1), usual)] * len(theta),
        ["snml"] * len(theta),
        ["zeros"] * len(theta),
        [np.full((1, 1), whole)] * len(theta),
        [np.full((1, 1), max(0.0, own)) for own in of_conditionals],
        [np.maximum(0.0, own) for own in of_groups],
    ]
    for kinds in ways:
        made = [Smoothing(kind) for kind in kinds]
        if all(_fits(one, t, n, near) for one, t, n in zip(made, theta, counts, strict=True)):
            return made
    return None


def _pseudo_count_sums(theta: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """Return the squares and products of each group by which ``a (1 - r theta) = theta N - n`` is solved."""
    slope, level = 1 - theta.shape[1] * theta, theta * counts.sum(axis=1, keepdims=True) - counts
    return (slope**2).sum(axis=1, keepdims=True), (slope * level).sum(axis=1, keepdims=True)


def _fits(smoothing: Smoothing, theta: Numbers, counts: Numbers, near: float) -> bool:
    off = np.abs(smoothing.probabilities(counts) - theta)[counts.sum(axis=1) > 0]
    return bool(off.size == 0 or off.max() <= near)


class OfTables:
    """The response of a network whose variables have labels."""

    def __init__(self, net: Any, table: Table, n_rows: float | None) -> None:
        self.net: Any = net
        self.table: Table = table
        self.rows: Any = net.rows(table)
        weights, unit = self.rows.weights_in_units
        self._weights = np.ones(self.rows.n_rows) if weights is None else weights * unit
        if not is_directed(net):
            self.rows.require_complete("the rows behind an answer of a dependency network")
        self._gaps = self.rows.has_missing
        self._given_rows = n_rows
        self.theta: Tables = [c.probabilities for c in net.conditionals]
        self.counts: Tables = self.counts_of(self._weights) if self._gaps else complete_counts(net, self.rows, None)
        near = CLOSE_BY_EM if self._gaps else CLOSE
        self.smoothing: list[Smoothing] | None = smoothing_of(self.theta, self.counts, near) if n_rows is None else None
        self.refits: bool = self.smoothing is not None
        if n_rows is None and self.smoothing is None:
            warn(OF_OTHER_ROWS)
        self.pulls: Tables = self._pulls()

    @property
    def ways(self) -> list[Smoothing]:
        """How counts become probabilities; of a network of other rows with a pseudo-count of 1."""
        return self.smoothing or [Smoothing(np.ones((1, 1)))] * len(self.theta)

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

    def counts_of(self, weights: Numbers) -> Tables:
        """Return the (expected) counts of all cells with some weights of the rows."""
        if self._gaps:
            return self._expected(CompletedRows(self.net, self.rows, weights), self.net)
        return complete_counts(self.net, self.rows, weights)

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

    def direction(self, derivative: Tables) -> Tables:
        """Return W: the change of the answer for each cell that a row falls in."""
        start = self._centred(derivative)
        if not self._gaps:
            return start
        return self._with_gaps(derivative, start)

    def _centred(self, V: Tables) -> Tables:
        found = []
        for v, theta, pulls in zip(V, self.theta, self.pulls, strict=True):
            apart = v - theta * v.sum(axis=1, keepdims=True)
            found.append(np.divide(apart, pulls, out=np.zeros_like(apart), where=pulls > 0))
        return found

    def _with_gaps(self, V: Tables, start: Tables) -> Tables:
        """Solve for W where gaps hide a part of the information, by conjugate gradients from complete rows' W."""
        target = _joined([v - t * v.sum(axis=1, keepdims=True) for v, t in zip(V, self.theta, strict=True)])
        w = _joined(start)
        residual = target - self._information(w)
        precondition = self._preconditioned(residual)
        search, length = precondition, float(residual @ precondition)
        begin = length
        for _ in range(MOST_STEPS):
            if not length > TOLERANCE**2 * max(begin, 1e-300):
                break
            image = self._information(search)
            bent = float(search @ image)
            if not bent > 0:
                break
            w = w + (length / bent) * search
            residual = residual - (length / bent) * image
            precondition = self._preconditioned(residual)
            before, length = length, float(residual @ precondition)
            search = precondition + (length / before) * search
        return self._parted(w)

    def _preconditioned(self, flat: Numbers) -> Numbers:
        return _joined(self._centred(self._parted(flat)))

    def _information(self, flat: Numbers) -> Numbers:
        """Return the information of what is known times a direction: of complete rows, less what the gaps hide."""
        W = self._parted(flat)
        largest = max((float(np.abs(w).max(initial=0)) for w in W), default=0.0)
        if largest == 0:
            return np.zeros_like(flat)
        step = STEP / largest
        ahead, behind = (self._moved(W, sign * step) for sign in (1, -1))
        hidden = [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
        parts = []
        for w, pulls, lost, theta in zip(W, self.pulls, hidden, self.theta, strict=True):
            parts.append(w * pulls - (lost - theta * lost.sum(axis=1, keepdims=True)))
        return _joined(parts)

    def _moved(self, W: Tables, step: float) -> Tables:
        """Return the expected counts under probabilities that are a step further in a direction."""
        conditionals = []
        for conditional, theta, w in zip(self.net.conditionals, self.theta, W, strict=True):
            moved = theta * np.exp(step * w)
            conditionals.append(conditional.with_probabilities(moved / moved.sum(axis=1, keepdims=True)))
        return self._expected(self._completed, type(self.net)(self.net.variables, conditionals))

    @cached_property
    def _completed(self) -> CompletedRows:
        return CompletedRows(self.net, self.rows, self._weights)

    def _parted(self, flat: Numbers) -> Tables:
        ends = np.cumsum([theta.size for theta in self.theta])
        return [part.reshape(theta.shape) for part, theta in zip(np.split(flat, ends[:-1]), self.theta, strict=True)]

    def sums(self, W: Tables) -> Numbers:
        """Return the sum over each row's cells, expected where cells are missing, (n_rows,)."""
        if not self._gaps:
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

    def values(self, answer: Answer) -> Numbers:
        """Return the change of an answer per unit of each row's weight, (n_rows,)."""
        return self.sums(self.direction(self.derivative(answer)))

    def removals(self, answer: Answer) -> Numbers:
        """Return the answer less what it is without each row, (n_rows,): exact within each conditional."""
        if self._gaps or self.smoothing is None:
            return self._weights * self.values(answer)
        weights = answer.weights(self.net)
        if not answer.rows.has_missing or answer.children is not None:
            return self.removed_by(self._derivative(answer, weights))
        if len(weights) > MOST_PARTS:
            return self._weights * self.sums(self.direction(self._derivative(answer, weights)))
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
            return self._weights * self.sums(self.direction(counts))
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
                found[block] += _removed_rows(v, smoothing, n, at[block], x[block], self._weights[block])
        return found

    def without(self, weights: Numbers) -> Any:
        """Return the network fitted to the rows with other weights, with the same smoothing."""
        if not self._gaps:
            return self._maximized(self.counts_of(weights), weights)
        completed, net = CompletedRows(self.net, self.rows, weights), self.net
        for _ in range(MOST_EM_STEPS):
            later = self._maximized(self._expected(completed, net), weights)
            pairs = zip(net.conditionals, later.conditionals, strict=True)
            moved = max(float(np.abs(a.probabilities - b.probabilities).max()) for a, b in pairs)
            net = later
            if moved < EM_TOLERANCE:
                break
        return net

    def again(self, weights: Numbers) -> OfTables:
        """Return the response of that network."""
        return OfTables(self.without(weights), self.table.reweighted(weights), self._given_rows)

    def _maximized(self, counts: Tables, weights: Numbers) -> Any:
        made = [
            conditional.with_probabilities(smoothing.probabilities(n))
            for conditional, smoothing, n in zip(self.net.conditionals, self.ways, counts, strict=True)
        ]
        return type(self.net)(self.net.variables, made, n_rows=float(weights.sum()))


def _joined(tables: Tables) -> Numbers:
    return np.concatenate([np.zeros(0), *(table.ravel() for table in tables)])


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
