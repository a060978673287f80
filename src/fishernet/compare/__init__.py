"""How distributions, tables and learners differ.

Divergences, full-conditional manifolds, the maximum mean discrepancy, and cross-validation.
"""

from fishernet.compare.change import ChangeResult, ConfigurationChange, VariableChange, explain_change
from fishernet.compare.divergences import full_conditional_divergence, kl
from fishernet.compare.goodness_of_fit import ScoreTestResult, score_test
from fishernet.compare.manifolds import Bound, bound, inconsistency, kl_to_manifold, m_project
from fishernet.compare.shares import Share
from fishernet.compare.two_sample import TwoSampleResult, two_sample_test
from fishernet.kernels.sets import mmd
from fishernet.learn.cross_validation import CrossValidation, Likelihood, Quality, cross_validate, hold_out

__all__ = [
    "Bound",
    "ChangeResult",
    "ConfigurationChange",
    "CrossValidation",
    "Likelihood",
    "Quality",
    "ScoreTestResult",
    "Share",
    "TwoSampleResult",
    "VariableChange",
    "bound",
    "cross_validate",
    "explain_change",
    "full_conditional_divergence",
    "hold_out",
    "inconsistency",
    "kl",
    "kl_to_manifold",
    "m_project",
    "mmd",
    "score_test",
    "two_sample_test",
]


def __dir__() -> list[str]:
    return __all__
