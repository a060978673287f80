"""Scores of structures: how well a graph explains a table, less what its parameters cost.

One file a score. A score is any object with ``joint`` and ``marginal`` (`Score`); `SCORES` maps names to classes;
`local_scores` is the only way from a source of counts to scores.
"""

from fishernet.scores.aic import Aic
from fishernet.scores.bic import Bic
from fishernet.scores.families import Families
from fishernet.scores.local import LocalScores, local_scores
from fishernet.scores.loglik import LogLikelihood
from fishernet.scores.named import SCORES, local_score, named_score, score
from fishernet.scores.score import PenalizedLikelihood, Score

__all__ = [
    "SCORES",
    "Aic",
    "Bic",
    "Families",
    "LocalScores",
    "LogLikelihood",
    "PenalizedLikelihood",
    "Score",
    "local_score",
    "local_scores",
    "named_score",
    "score",
]
