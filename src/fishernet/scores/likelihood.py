"""Penalized likelihoods: BIC (which is MDL), AIC, HQC, and the likelihood itself, to which every arc looks better."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fishernet.data import Source
from fishernet.scores.base import PenalizedLikelihood, prior_price


@dataclass(frozen=True)
class Aic(PenalizedLikelihood):
    """Akaike's information criterion, on the scale of the log-likelihood: ``loglik - sum_i q_i (r_i - 1)``."""

    def price(self, total: float) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0


@dataclass(frozen=True)
class Bic(PenalizedLikelihood):
    """The Bayesian information criterion: ``loglik - (log N / 2) sum_i q_i (r_i - 1)``, N the sum of the rows' weights.

    Turned over and divided by N it is the MDL of Takabatake and Akaho (2021, Eq. 21 to 23).
    """

    prior: bool = False
    """Whether each arc to a number pays 1.5 times the logarithm of the number of columns, as in the extended BIC
    (Foygel and Drton, 2010, with gamma 0.75). Learners set it for labels and numbers together: a regression has so few
    parameters that noise would get arcs where columns are many. With it the parameters of regressions also cost more
    where rows are few (McQuarrie, 1999), as ``fishernet.scores.mixed`` says."""

    def arc_price(self, source: Source) -> float:
        """Return what an arc to a number costs, in nats."""
        return prior_price(source.variables) if self.prior else 0.0

    def price(self, total: float) -> float:
        """Return half of log N."""
        return 0.5 * math.log(total) if total > 1 else 0.0


@dataclass(frozen=True)
class Hqc(PenalizedLikelihood):
    """The criterion of Hannan and Quinn (1979): ``loglik - log(log N) sum_i q_i (r_i - 1)``; no price below 3 rows."""

    def price(self, total: float) -> float:
        """Return log log N."""
        return math.log(math.log(total)) if total > math.e else 0.0


@dataclass(frozen=True)
class LogLikelihood(PenalizedLikelihood):
    """The maximized log-likelihood, ``sum_ijk N_ijk log(N_ijk / N_ij)``."""

    def price(self, total: float) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0
