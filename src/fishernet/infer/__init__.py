"""Inference: what is probable, given what is known.

`marginal`, `family_marginals`, `log_evidence` and `most_probable` answer one question each, by the cheapest exact plan.
`JunctionTree` keeps a plan for many questions to one network. `predict_proba` fills in what a table lacks,
`sample` draws rows given what is known, `group_probabilities` gives what the Fisher kernel divides by, and `intervene`
sets a variable from outside. All of that is exact, for Bayesian networks and in part for Markov networks
(`log_partition`). `stationary` is the distribution in which the pseudo-Gibbs sampling of a dependency network ends;
`estimate` and `diagnose` run its chains.

What is known comes as ``given``, a mapping from names to states, and as ``likelihood``, a mapping from names to one
number a state (soft evidence: how well each state explains what was seen).
"""

from fishernet.infer.diagnosis import Diagnosis, diagnose
from fishernet.infer.estimates import Estimate, estimate
from fishernet.infer.explain import most_probable
from fishernet.infer.groups import group_probabilities
from fishernet.infer.interventions import intervene
from fishernet.infer.junction_tree import JunctionTree
from fishernet.infer.marginals import family_marginals, log_evidence, log_partition, marginal
from fishernet.infer.posterior import sample
from fishernet.infer.predict import predict_proba
from fishernet.infer.stationary_distribution import stationary

__all__ = [
    "Diagnosis",
    "Estimate",
    "JunctionTree",
    "diagnose",
    "estimate",
    "family_marginals",
    "group_probabilities",
    "intervene",
    "log_evidence",
    "log_partition",
    "marginal",
    "most_probable",
    "predict_proba",
    "sample",
    "stationary",
]
