"""How distributions and tables differ: tests of tables and models, divergences, the maximum mean discrepancy."""

from fishernet.compare.change import ChangeResult, VariableChange, explain_change
from fishernet.compare.changes import Changes, explain_changes
from fishernet.compare.conditionals.configurations import ConfigurationChange
from fishernet.compare.conditionals.number_change import NumberChange
from fishernet.compare.divergences import full_conditional_divergence, kl
from fishernet.compare.falsification import Dependence, FalsifyResult, falsify
from fishernet.compare.fused import Term
from fishernet.compare.goodness_of_fit import ScoreTestResult, score_test
from fishernet.compare.manifolds import (
    StationaryDivergence,
    inconsistency_of_conditionals,
    kl_to_manifold,
    project_on_manifold,
    stationary_divergence,
)
from fishernet.compare.missing_shares import MissingChange
from fishernet.compare.monitor import Monitor, MonitorResult
from fishernet.compare.shares import Share
from fishernet.compare.two_sample import TwoSampleResult, two_sample_test
from fishernet.kernels.sets import mmd

__all__ = [
    "ChangeResult",
    "Changes",
    "ConfigurationChange",
    "Dependence",
    "FalsifyResult",
    "MissingChange",
    "Monitor",
    "MonitorResult",
    "NumberChange",
    "ScoreTestResult",
    "Share",
    "StationaryDivergence",
    "Term",
    "TwoSampleResult",
    "VariableChange",
    "explain_change",
    "explain_changes",
    "falsify",
    "full_conditional_divergence",
    "inconsistency_of_conditionals",
    "kl",
    "kl_to_manifold",
    "mmd",
    "project_on_manifold",
    "score_test",
    "stationary_divergence",
    "two_sample_test",
]


def __dir__() -> list[str]:
    return __all__
