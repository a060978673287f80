"""What a score is, and those that are a penalized likelihood.

A score of a structure is the sum over its families of ``f(S + child) - g(S, r)``: S are the parents, r the number of
states of the child, and f and g see nothing but the counts of their set. So equal sets give equal bits, an arc and its
reversal over the same parents tie, and every set is counted once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fishernet.counts import Counts
from fishernet.counts.counts import occurring


@runtime_checkable
class Score(Protocol):
    """A decomposable score in nats, higher is better."""

    def joint(self, counts: Counts) -> float:
        """Return f of the counts of the parents and the child."""
        ...

    def marginal(self, counts: Counts, states: int) -> float:
        """Return g of the counts of the parents, for a child with so many states."""
        ...


class PenalizedLikelihood(ABC):
    """The maximized log-likelihood, less a price for every free parameter.

    A family's score is ``sum_jk N_ijk log(N_ijk / N_ij) - price q (r - 1)``: the sum of n log n over the cells of
    the whole family, less the same over the cells of the parents, less the penalty. The core knows this form.
    """

    @abstractmethod
    def price(self, n_rows: float) -> float:
        """Return what a free parameter costs, in nats."""

    def joint(self, counts: Counts) -> float:
        """Return the sum of n log n over the cells."""
        return sum_n_log_n(occurring(counts)[0])

    def marginal(self, counts: Counts, states: int) -> float:
        """Return the sum of n log n over the parents' cells, and the penalty."""
        configurations = float(np.prod([float(r) for r in counts.cardinalities]))
        n = counts.total
        return sum_n_log_n(occurring(counts)[0]) + self.price(n) * (states - 1) * configurations


def sum_n_log_n(n: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> float:
    """Return the sum of n log n over positive counts."""
    numbers = n.astype(np.float64)
    return float(np.sum(numbers * np.log(numbers)))
