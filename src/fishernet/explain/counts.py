"""How probabilities follow the counts that they are shares of, where some counts are only expected.

A probability is ``h(n_jk) / sum h(n_jl)`` of counts n, with h(n) = n + a for a pseudo-count a. If a row of state x in
configuration j counts w more, ``log theta_jk`` rises by ``w ([k = x] - theta_jx) h'(n_jx) / h(n_jx)``. So an answer
with the derivatives V_jk by ``log theta_jk`` rises by w times ``W_jx = (V_jx - theta_jx sum_k V_jk) h' / h``, summed
over what the row counts: the Fisher kernel between the answer and the row, over the number of rows, with the counts of
the table in the place of those that the model expects.

Where cells are missing or states hidden, counts are those expected given what is known. There a parameter also follows
the others: the information of what is known is that of complete rows less what is hidden (Louis, 1982), and W solves a
linear system, by conjugate gradients, each step of which is the difference of two E steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.explain.answers import Answer
from fishernet.models.conditionals.full_table import cell_weights

Numbers = npt.NDArray[np.float64]
Tables = list[Numbers]  # (groups, states) each, whose rows are distributions

CLOSE = 1e-6  # how near probabilities are to those of counts that they were fitted to
CLOSE_BY_EM = 0.05
LEAST_SLOPE = 1e-12  # below which probabilities are equal, and tell of no pseudo-count
USUAL = (0.0, 0.5, 1.0)  # pseudo-counts
STEP = 1e-4  # of the logarithms of probabilities, for differences of E steps
MOST_STEPS = 60  # of conjugate gradients
TOLERANCE = 1e-6  # of their residual
MOST_EM_STEPS = 500
EM_TOLERANCE = 1e-8  # of probabilities
OF_OTHER_ROWS = (
    "the model's probabilities are not those of these rows: it was learned from others, or in another way. Influences "
    "are told as of a model that expects these rows; pass those that it was learned from, or n_rows, their number"
)


class Response(Protocol):
    """What an answer's derivative becomes for each row of the table that a network was fitted to."""

    net: Any
    """The model."""
    table: Any
    """The rows, or strings."""
    weights: Numbers
    """What each row counts, (n_rows,)."""
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


def smoothing_of(theta: Tables, counts: Tables, near: float, usual: Sequence[float] = USUAL) -> list[Smoothing] | None:
    """Return how counts became the probabilities of a network, for each conditional; None where they did not.

    Two probabilities agree with many ways. So one pseudo-count for all is tried first, where it is a usual one, then
    what else has no number of its own, and last a pseudo-count for each conditional or group.
    """
    sums = [_pseudo_count_sums(t, n) for t, n in zip(theta, counts, strict=True)]
    squared, product = (float(sum(pair[of].sum() for pair in sums)) for of in (0, 1))
    whole = max(0.0, product / squared) if squared > LEAST_SLOPE else 1.0
    nearest = min(usual, key=lambda known: abs(known - whole))
    of_conditionals = [float(p.sum() / q.sum()) if q.sum() > LEAST_SLOPE else whole for q, p in sums]
    of_groups = [
        np.divide(p, q, out=np.full_like(p, own), where=q > LEAST_SLOPE)
        for (q, p), own in zip(sums, of_conditionals, strict=True)
    ]
    ways: list[list[str | Numbers]] = [
        [np.full((1, 1), nearest)] * len(theta),
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


def smoothing_said(smoothing: list[Smoothing] | None) -> float | str:
    """Return with what `fishernet.learn.parameters` smooths in that way: the first family's, where each has its own."""
    kind = smoothing[0].kind if smoothing else 1.0
    return kind if isinstance(kind, str) else float(np.ravel(kind)[0])


def _pseudo_count_sums(theta: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """Return the squares and products of each group by which ``a (1 - r theta) = theta N - n`` is solved."""
    slope, level = 1 - theta.shape[1] * theta, theta * counts.sum(axis=1, keepdims=True) - counts
    return (slope**2).sum(axis=1, keepdims=True), (slope * level).sum(axis=1, keepdims=True)


def _fits(smoothing: Smoothing, theta: Numbers, counts: Numbers, near: float) -> bool:
    off = np.abs(smoothing.probabilities(counts) - theta)[counts.sum(axis=1) > 0]
    return bool(off.size == 0 or off.max() <= near)


class OfCounts(ABC):
    """The response of a model whose probabilities are shares of what its rows count."""

    net: Any
    table: Any
    theta: Tables
    """The probabilities."""
    counts: Tables
    """What the rows count of each."""
    smoothing: list[Smoothing] | None
    """How counts became probabilities; None where they did not."""
    pulls: Tables
    """As how many rows each probability weighs."""
    hides: bool
    """Whether counts are only expected, given what is known."""
    weights: Numbers
    """(n_rows,) what each row counts."""
    most_steps: int = MOST_EM_STEPS
    """How many steps of expectation and maximization a fit takes at most."""

    @abstractmethod
    def made(self, tables: Tables, total: float) -> Any:
        """Return the model with other probabilities, fitted to so many rows."""

    @abstractmethod
    def counting(self, weights: Numbers) -> Callable[[Any], Tables]:
        """Return what tells the counts of rows with some weights under a model, which completes them."""

    @abstractmethod
    def derivative(self, answer: Answer) -> Tables:
        """Return V: the derivatives of an answer by the logarithms of the probabilities."""

    @abstractmethod
    def sums(self, W: Tables) -> Numbers:
        """Return the sum of what tables hold for all that each row counts, (n_rows,)."""

    @property
    def refits(self) -> bool:
        """Whether the model was fitted to these rows, so that a fit without some of them can be held beside it."""
        return self.smoothing is not None

    @property
    def ways(self) -> list[Smoothing]:
        """How counts become probabilities; of a model of other rows with a pseudo-count of 1."""
        return self.smoothing or [Smoothing(np.ones((1, 1)))] * len(self.theta)

    def values(self, answer: Answer) -> Numbers:
        """Return the change of an answer per unit of each row's weight, (n_rows,)."""
        return self.sums(self.direction(self.derivative(answer)))

    def without(self, weights: Numbers) -> Any:
        """Return the model fitted to the rows with other weights, with the same smoothing.

        Where steps of expectation and maximization become little shorter, one by the information of all rows is tried,
        and taken if what is left is less than half; otherwise the next trial is later.
        """
        count, total = self.counting(weights), float(weights.sum())

        def stepped(tables: Tables, net: Any) -> tuple[Tables, float]:
            later = [smoothing.probabilities(n) for smoothing, n in zip(self.ways, count(net), strict=True)]
            changes = [float(np.abs(a - b).max(initial=0)) for a, b in zip(later, tables, strict=True)]
            return later, max(changes, default=0.0)

        tables, net, wait, until, last = self.theta, self.net, 1, 1, 0.0
        later, left = stepped(tables, net)
        for step in range(self.most_steps):
            if not self.hides or left < EM_TOLERANCE:
                break
            if step >= until and left > last / 2:
                ahead = self._ahead(tables, later)
                net_ahead = self.made(ahead, total)
                found, still = stepped(ahead, net_ahead)
                if still < left / 2:
                    tables, net, later, left, last = ahead, net_ahead, found, still, 0.0
                    continue
                wait *= 2
                until = step + wait
            tables, net, last = later, self.made(later, total), left
            later, left = stepped(tables, net)
        return self.made(later, total)

    def _ahead(self, tables: Tables, later: Tables) -> Tables:
        """Return where probabilities are led by what is left of the score, which a step of EM shows."""
        weighs = [of.sum(axis=1, keepdims=True) for of in self.pulls]
        score = [n * (after - before) for n, after, before in zip(weighs, later, tables, strict=True)]
        moves = [np.clip(w, -1, 1) for w in self.direction(score)]
        return _moved(tables, moves)

    def direction(self, derivative: Tables) -> Tables:
        """Return W: the change of the answer for each cell that a row falls in."""
        start = self._centred(derivative)
        return self._with_hidden(derivative, start) if self.hides else start

    def _centred(self, V: Tables) -> Tables:
        found = []
        for v, theta, pulls in zip(V, self.theta, self.pulls, strict=True):
            apart = v - theta * v.sum(axis=1, keepdims=True)
            found.append(np.divide(apart, pulls, out=np.zeros_like(apart), where=pulls > 0))
        return found

    def _with_hidden(self, V: Tables, start: Tables) -> Tables:
        """Solve for W where a part of the information is hidden, by conjugate gradients from complete rows' W."""
        target = joined([v - t * v.sum(axis=1, keepdims=True) for v, t in zip(V, self.theta, strict=True)])
        w = joined(start)
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
        return self.parted(w)

    def _preconditioned(self, flat: Numbers) -> Numbers:
        return joined(self._centred(self.parted(flat)))

    def _information(self, flat: Numbers) -> Numbers:
        """Return the information of what is known times a direction: of complete rows, less what is hidden."""
        W = self.parted(flat)
        largest = max((float(np.abs(w).max(initial=0)) for w in W), default=0.0)
        if largest == 0:
            return np.zeros_like(flat)
        step = STEP / largest
        ahead, behind = (self._counts_along(W, sign * step) for sign in (1, -1))
        hidden = [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
        parts = []
        for w, pulls, lost, theta in zip(W, self.pulls, hidden, self.theta, strict=True):
            parts.append(w * pulls - (lost - theta * lost.sum(axis=1, keepdims=True)))
        return joined(parts)

    def _counts_along(self, W: Tables, step: float) -> Tables:
        """Return the expected counts under probabilities that are a step further in a direction."""
        return self._counts_under(self.made(_moved(self.theta, [step * w for w in W]), float(self.weights.sum())))

    @cached_property
    def _counts_under(self) -> Callable[[Any], Tables]:
        return self.counting(self.weights)

    def parted(self, flat: Numbers) -> Tables:
        """Return what stands in one row, as tables."""
        ends = np.cumsum([theta.size for theta in self.theta])
        return [part.reshape(theta.shape) for part, theta in zip(np.split(flat, ends[:-1]), self.theta, strict=True)]


def _moved(tables: Tables, moves: Tables) -> Tables:
    """Return probabilities whose logarithms are moved, as shares again."""
    moved = [theta * np.exp(w) for theta, w in zip(tables, moves, strict=True)]
    return [table / table.sum(axis=1, keepdims=True) for table in moved]


def joined(tables: Tables) -> Numbers:
    """Return the cells of all tables in one row."""
    return np.concatenate([np.zeros(0), *(table.ravel() for table in tables)])
