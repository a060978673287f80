"""Normalized maximum likelihood: fNML and qNML (P4, sections 4.1 and 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fishernet.counts import Counts
from fishernet.scores.regret import regrets, set_regret
from fishernet.scores.score import BuiltIn, Rule, cell_counts, sum_n_log_n


@dataclass(frozen=True)
class Fnml(BuiltIn):
    """Factorized NML (P4, Eq. 4.6): the child's regret in every configuration of its parents that occurs.

    ``loglik - sum_ij reg(N_ij, r_i)``. No parameter to choose; not the same for equivalent structures.
    """

    def joint(self, counts: Counts) -> float:
        """Return the sum of n log n over the cells."""
        return sum_n_log_n(cell_counts(counts))

    def marginal(self, counts: Counts, states: int) -> float:
        """Return the sum over the parents' cells of ``n log n + reg(n, r)``."""
        n = cell_counts(counts)
        return sum_n_log_n(n) + float(regrets(n.astype(np.int64), states).sum())

    def rule(self, n_rows: float) -> Rule:  # noqa: ARG002
        """Return the measure."""
        return Rule("fnml", 0.0)


@dataclass(frozen=True)
class Qnml(BuiltIn):
    """Quotient NML (P4, Eq. 4.8 to 4.10): ``loglik - sum_i (reg(N, q_i r_i) - reg(N, q_i))``.

    No parameter to choose, and the same for equivalent structures.
    """

    def joint(self, counts: Counts) -> float:
        """Return the log of the NML of a set taken as one variable, up to N log N."""
        return sum_n_log_n(cell_counts(counts)) - set_regret(counts.total, counts.cardinalities)

    def marginal(self, counts: Counts, states: int) -> float:  # noqa: ARG002
        """Return the same of the parents."""
        return self.joint(counts)

    def rule(self, n_rows: float) -> Rule:  # noqa: ARG002
        """Return the measure."""
        return Rule("qnml", 0.0)
