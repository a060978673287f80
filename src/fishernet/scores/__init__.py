"""Scores of structures: how well a graph explains a table, less what its parameters cost.

One file a score. A score is any object with ``joint`` and ``marginal`` (`Score`); `SCORES` maps names to classes;
`local_scores` is the only way from a source of counts to scores.
"""

from fishernet.scores.aic import Aic
from fishernet.scores.bic import Bic
from fishernet.scores.dirichlet import K2, Bdeu, Bdq
from fishernet.scores.families import Families
from fishernet.scores.fractional import Fractional, fmpl
from fishernet.scores.hqc import Hqc
from fishernet.scores.local import LocalScores, local_scores
from fishernet.scores.loglik import LogLikelihood
from fishernet.scores.named import SCORES, local_score, named_score, score
from fishernet.scores.nml import Fnml, Qnml
from fishernet.scores.regret import regret
from fishernet.scores.score import BuiltIn, PenalizedLikelihood, Score

__all__ = [
    "K2",
    "SCORES",
    "Aic",
    "Bdeu",
    "Bdq",
    "Bic",
    "BuiltIn",
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
