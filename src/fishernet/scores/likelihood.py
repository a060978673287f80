"""The Bayesian information criterion; turned over and divided by N it is the MDL of P2 (Eq. 21 to 23).

Akaike's information criterion, on the scale of the log-likelihood.

The criterion of Hannan and Quinn (1979).

The maximized log-likelihood: no penalty, so every further arc looks better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fishernet.scores.score import PenalizedLikelihood


@dataclass(frozen=True)
class Aic(PenalizedLikelihood):
    """``loglik - sum_i q_i (r_i - 1)``."""

    def price(self, total: float) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0


@dataclass(frozen=True)
class Bic(PenalizedLikelihood):
    """``loglik - (log N / 2) sum_i q_i (r_i - 1)``, N the number of rows (the sum of their weights)."""

    def price(self, total: float) -> float:
        """Return half of log N."""
        return 0.5 * math.log(total) if total > 1 else 0.0


@dataclass(frozen=True)
class Hqc(PenalizedLikelihood):
    """``loglik - log(log N) sum_i q_i (r_i - 1)``, N the number of rows; nothing is taken off below three rows."""

    def price(self, total: float) -> float:
        """Return log log N."""
        return math.log(math.log(total)) if total > math.e else 0.0


@dataclass(frozen=True)
class LogLikelihood(PenalizedLikelihood):
    """``sum_ijk N_ijk log(N_ijk / N_ij)``."""

    def price(self, total: float) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0
