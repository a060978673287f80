"""Scores of structures: how well a graph explains a table, less what its parameters cost.

A score is a class with ``joint`` and ``marginal`` (`Score`); `SCORES` maps names to classes,
`CONTINUOUS_SCORES` those for columns of numbers; `local_scores` is the only way from a source to scores.
"""

from fishernet.scores.base import Families, PenalizedLikelihood, Score
from fishernet.scores.dirichlet import K2, Bdeu, Bdq
from fishernet.scores.gaussian import Fractional, fmpl
from fishernet.scores.likelihood import Aic, Bic, Hqc, LogLikelihood
from fishernet.scores.local import LocalScores, local_scores
from fishernet.scores.named import CONTINUOUS_SCORES, SCORES, local_score, named_score, score
from fishernet.scores.nml import Fnml, Qnml, regret

__all__ = [
    "CONTINUOUS_SCORES",
    "K2",
    "SCORES",
    "Aic",
    "Bdeu",
    "Bdq",
    "Bic",
    "Families",
    "Fnml",
    "Fractional",
    "Hqc",
    "LocalScores",
    "LogLikelihood",
    "PenalizedLikelihood",
    "Qnml",
    "Score",
    "fmpl",
    "local_score",
    "local_scores",
    "named_score",
    "regret",
    "score",
]


def __dir__() -> list[str]:
    return __all__
