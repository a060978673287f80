"""Models: frozen values that check themselves, give log-probabilities and draw samples.

A model stands on `Conditional`: P(child given its parents), as a full table, one with shared rows, a decision
tree or a product of factors.
"""

from fishernet.models.bayesian_network import BayesianNetwork
from fishernet.models.conditionals import (
    Conditional,
    FullTable,
    MergedTable,
    ProductConditional,
    Split,
    TreeConditional,
)
from fishernet.models.continuous.gaussian import Gaussian
from fishernet.models.continuous.gaussian_mixture import GaussianMixture
from fishernet.models.dependency_network import DependencyNetwork
from fishernet.models.markov_network import MarkovNetwork
from fishernet.models.sequences.alignment import Alignment
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.sequences.expected_counts import ExpectedCounts
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel
from fishernet.models.sequences.markov_chain import MarkovChain
from fishernet.models.sequences.profile import profile_hmm

__all__ = [
    "Alignment",
    "Alphabet",
    "BayesianNetwork",
    "Conditional",
    "DependencyNetwork",
    "ExpectedCounts",
    "FullTable",
    "Gaussian",
    "GaussianMixture",
    "HiddenMarkovModel",
    "MarkovChain",
    "MarkovNetwork",
    "MergedTable",
    "ProductConditional",
    "Split",
    "TreeConditional",
    "profile_hmm",
]
