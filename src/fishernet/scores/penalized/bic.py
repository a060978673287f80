"""The Bayesian information criterion; turned over and divided by N it is the MDL of P2 (Eq. 21 to 23)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fishernet.scores.score import PenalizedLikelihood


@dataclass(frozen=True)
class Bic(PenalizedLikelihood):
    """``loglik - (log N / 2) sum_i q_i (r_i - 1)``, N the number of rows (the sum of their weights)."""

    def price(self, n_rows: float) -> float:
        """Return half of log N."""
        return 0.5 * math.log(n_rows) if n_rows > 0 else 0.0
