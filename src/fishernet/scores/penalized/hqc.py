"""The criterion of Hannan and Quinn (1979)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fishernet.scores.score import PenalizedLikelihood


@dataclass(frozen=True)
class Hqc(PenalizedLikelihood):
    """``loglik - log(log N) sum_i q_i (r_i - 1)``, N the number of rows; nothing is taken off below three rows."""

    def price(self, n_rows: float) -> float:
        """Return log log N."""
        return math.log(math.log(n_rows)) if n_rows > math.e else 0.0
