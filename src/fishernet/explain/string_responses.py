"""How the parameters of a model of strings follow the strings that it was learned from.

Each row of a chain, of a hidden Markov model or of a hidden tree is shares of what strings are expected to use of it
(`counts`). Steps of expectation and maximization end before the last digit, so a model with hidden states is first
taken to where they end: then all that differs without a string is the string.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fishernet.base.errors import warn
from fishernet.explain.answers import Answer
from fishernet.explain.counts import (
    CLOSE,
    CLOSE_BY_EM,
    MOST_EM_STEPS,
    OF_OTHER_ROWS,
    USUAL,
    Numbers,
    OfCounts,
    Tables,
    joined,
    smoothing_of,
)

MOST_SYMBOLS = 2e7  # that all steps of a fit look at
FEWEST_STEPS = 20
USUAL_BY_EM = (*USUAL, 0.01)  # pseudo-counts


class OfStrings(OfCounts):
    """The response of a model of strings."""

    def __init__(self, net: Any, strings: Sequence[Any], n_rows: float | None, weights: Numbers | None = None) -> None:
        self.table = strings
        self.weights = np.ones(len(strings)) if weights is None else weights
        self._given_rows = n_rows
        self.hides = net.has_hidden_states or net.encode(strings).sets is not None
        self.most_steps = int(np.clip(MOST_SYMBOLS / max(sum(map(len, strings)), 1), FEWEST_STEPS, MOST_EM_STEPS))
        self._look_at(net)
        near = CLOSE_BY_EM if self.hides else CLOSE
        self.smoothing = smoothing_of(self.theta, self.counts, near, USUAL_BY_EM) if n_rows is None else None
        if n_rows is None and self.smoothing is None:
            warn(OF_OTHER_ROWS)
        self.pulls = self._pulls()
        if self.hides and self.refits:
            self._look_at(self.without(self.weights))
            self.pulls = self._pulls()

    def _look_at(self, net: Any) -> None:
        self.net = net
        self.theta = list(net.probability_tables)
        self.counts = self.counting(self.weights)(net)

    def _pulls(self) -> Tables:
        """Return as how many uses each probability weighs; of other strings as if they used what all do."""
        if self.smoothing is not None:
            return [smoothing.pulls(n) for smoothing, n in zip(self.smoothing, self.counts, strict=True)]
        n = len(self.table)
        return [counts * ((self._given_rows or n) / n) for counts in self.counts]

    def made(self, tables: Tables, total: float) -> Any:  # noqa: ARG002
        """Return the model with other probabilities; in one with hidden states, what is impossible stays so."""
        if not self.hides:
            return self.net.with_probability_tables(tables)
        possible = [np.where(old > 0, new, 0.0) for old, new in zip(self.net.probability_tables, tables, strict=True)]
        return self.net.with_probability_tables([table / table.sum(axis=1, keepdims=True) for table in possible])

    def counting(self, weights: Numbers) -> Callable[[Any], Tables]:
        """Return what tells the counts of strings with some weights under a model."""
        strings = [self.table[place] for place in np.flatnonzero(weights).tolist()]
        encoded = self.net.encode(strings)
        return lambda net: self.parted(net.total_counts(encoded))

    def derivative(self, answer: Answer) -> Tables:
        """Return V: the derivatives of an answer by the logarithms of the probabilities."""
        return self.parted(answer.weights(self.net) @ self.net.counts(answer.rows))

    @cached_property
    def _of_each(self) -> Any:
        return self.net.counts(self.table)

    def sums(self, W: Tables) -> Numbers:
        """Return the sum of what tables hold for all that each string uses, (n_strings,)."""
        return np.asarray(self._of_each @ joined(W))

    def removals(self, answer: Answer) -> Numbers:
        """Return the answer less what it is without each string, (n_strings,): exactly, where nothing is hidden."""
        if self.hides or not self.refits:
            return self.values(answer)
        (V,), (n,), (smoothing,) = self.derivative(answer), self.counts, self.ways
        h, of_each, n_strings = smoothing.weights(n), self._of_each.tocoo(), len(self.table)
        row, state = np.divmod(of_each.col, n.shape[1])
        used = np.bincount(of_each.row * len(n) + row, of_each.data, minlength=n_strings * len(n))
        used = used.reshape(n_strings, len(n))
        rest, of_rows = h.sum(axis=1) - used, V.sum(axis=1)
        stays = rest > CLOSE  # without any use a row is uniform
        with np.errstate(divide="ignore", invalid="ignore"):
            own = V[row, state] * np.log((h[row, state] - of_each.data) / h[row, state])
            own = np.where((V[row, state] != 0) & stays[of_each.row, row], own, 0.0)
            others = np.where((of_rows != 0) & stays, of_rows * np.log(rest / h.sum(axis=1)), 0.0)
            uniform = np.where(V != 0, V * np.log(h / h.sum(axis=1, keepdims=True) * n.shape[1]), 0.0).sum(axis=1)
        lost = np.where(stays, others, uniform).sum(axis=1)
        return np.asarray(lost - np.bincount(of_each.row, own, minlength=n_strings))

    def again(self, weights: Numbers) -> OfStrings:
        """Return the response of that model."""
        return OfStrings(self.without(weights), self.table, self._given_rows, weights)
