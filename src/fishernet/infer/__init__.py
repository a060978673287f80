"""Inference: what is probable, given what is known.

``net.query`` answers with labels, in a `Distribution` (`Beside` a table's rows if asked); `marginal`,
`family_marginals`, `log_evidence` and `most_probable` answer one question each with bare numbers, by the cheapest
exact plan. `JunctionTree` keeps a plan for many questions to one network. `predict_proba` says how probable each
state of one column is, `impute` fills in all that a table lacks, `sample` draws rows given what is known,
`group_probabilities` gives what the Fisher kernel divides by, and `intervene` sets a variable from outside. All of
that is exact, for Bayesian networks and in part for Markov networks (`log_partition`). `stationary` is the
distribution in which the pseudo-Gibbs sampling of a dependency network ends; `estimate` and `diagnose` run its
chains.

Of a Gaussian network, whose variables are numbers, `query`, `most_probable`, `log_evidence` and `sample` are answered
by its normal distribution, and `marginal` is the `NormalDistribution` of `query`. Its prediction is a mean
(``net.predict``); `predict_proba` has no meaning there. Of a network of labels and numbers all of these are answered
exactly: a number has a `NumberDistribution`, a mixture of normal ones, and several variables a `MixedDistribution`.

What is known comes as ``given``, a mapping from names to states or numbers, looked up as cells of a table are, and as
``likelihood``, a mapping from names to one number per state (soft evidence: how well each state explains what was
seen).
"""

from fishernet.infer.beside import Beside
from fishernet.infer.completion import impute
from fishernet.infer.conditioned import Conditioned
from fishernet.infer.distribution import Distribution, NormalDistribution
from fishernet.infer.factors import group_probabilities
from fishernet.infer.gibbs import Diagnosis, Estimate, diagnose, estimate
from fishernet.infer.junction_tree import JunctionTree
from fishernet.infer.mixtures import MixedDistribution, NumberDistribution
from fishernet.infer.prediction import predict_proba
from fishernet.infer.queries import (
    family_marginals,
    intervene,
    log_evidence,
    log_partition,
    marginal,
    most_probable,
    query,
    sample,
)
from fishernet.infer.stationary_distribution import stationary

__all__ = [
    "Beside",
    "Conditioned",
    "Diagnosis",
    "Distribution",
    "Estimate",
    "JunctionTree",
    "MixedDistribution",
    "NormalDistribution",
    "NumberDistribution",
    "diagnose",
    "estimate",
    "family_marginals",
    "group_probabilities",
    "impute",
    "intervene",
    "log_evidence",
    "log_partition",
    "marginal",
    "most_probable",
    "predict_proba",
    "query",
    "sample",
    "stationary",
]


def __dir__() -> list[str]:
    return __all__
