"""Marginal likelihoods under Dirichlet priors: BDeu, K2 and BDq."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.data import Statistic
from fishernet.scores.base import CoreTerm, Score, cell_counts, log_cells


@dataclass(frozen=True)
class Bdeu(Score):
    """The Bayesian Dirichlet score with a uniform prior (Heckerman, Geiger and Chickering, 1995).

    ``ess`` rows are imagined beforehand, spread evenly: ``ess / (r q)`` a cell of the family.
    """

    ess: float = 1.0
    """The equivalent sample size, positive."""

    equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.number(self.ess, "ess", above=0)

    def joint(self, statistic: Statistic) -> float:
        """Return the sum over cells of ``log G(a + n) / G(a)``, a being ess / (number of cells)."""
        return sum_log_rising(math.log(self.ess) - log_cells(statistic), cell_counts(statistic))

    def marginal(self, statistic: Statistic, states: int) -> float:  # noqa: ARG002
        """Return the same of the parents."""
        return self.joint(statistic)

    def core_term(self, total: float) -> CoreTerm:  # noqa: ARG002
        """Return the measure and the equivalent sample size."""
        return CoreTerm("bdeu", self.ess)


@dataclass(frozen=True)
class K2(Score):
    """The score of Cooper and Herskovits (1992): one imagined row a cell of the family.

    ``sum_j log (r - 1)! / (N_j + r - 1)! + sum_jk log N_jk!``; configurations that do not occur contribute 0.
    """

    def joint(self, statistic: Statistic) -> float:
        """Return the sum over cells of log n!."""
        return sum_log_rising(0.0, cell_counts(statistic))

    def marginal(self, statistic: Statistic, states: int) -> float:
        """Return the sum over the parents' cells of ``log (n + r - 1)! / (r - 1)!``."""
        return sum_log_rising(math.log(states), cell_counts(statistic))

    def core_term(self, total: float) -> CoreTerm:  # noqa: ARG002
        """Return the measure."""
        return CoreTerm("k2", 0.0)


@dataclass(frozen=True)
class Bdq(Score):
    """The quotient of two Dirichlet marginal likelihoods, of the family and of its parents.

    Both sets have ``alpha`` imagined rows in every cell, whatever their number; so they are not the marginals of one
    prior, and equivalent structures still have equal scores.
    """

    alpha: float = 1.0
    """Imagined rows a cell, positive."""

    def __post_init__(self) -> None:
        check.number(self.alpha, "alpha", above=0)

    def joint(self, statistic: Statistic) -> float:
        """Return the log marginal likelihood of a set."""
        log_all = math.log(self.alpha) + log_cells(statistic)
        whole = sum_log_rising(log_all, np.array([float(statistic.total)])) if statistic.total else 0.0
        return sum_log_rising(math.log(self.alpha), cell_counts(statistic)) - whole

    def marginal(self, statistic: Statistic, states: int) -> float:  # noqa: ARG002
        """Return the same of the parents."""
        return self.joint(statistic)

    def core_term(self, total: float) -> CoreTerm:  # noqa: ARG002
        """Return the measure and the imagined rows a cell."""
        return CoreTerm("bdq", self.alpha)


def sum_log_rising(log_a: float, n: npt.NDArray[np.float64]) -> float:
    """Return the sum over positive counts n of ``log a (a + 1) ... (a + n - 1)``; a may be too small or large."""
    return float(_core.log_rising(log_a, n).sum())
