"""Models: frozen values that check themselves, give log-probabilities and draw samples.

A model stands on `Conditional`: P(child given its parents), as a full table, one with shared rows, a decision
tree, a product of factors or a regression.
"""

from fishernet.models.bayesian_network import BayesianNetwork
from fishernet.models.conditionals import (
    Conditional,
    ConditionalGaussian,
    FullTable,
    Grouped,
    MergedTable,
    ProductConditional,
    Split,
    TreeConditional,
)
from fishernet.models.dependency_network import DependencyNetwork
from fishernet.models.emissions import GaussianEmission, LabelEmission, PoissonEmission
from fishernet.models.gaussian import Gaussian, GaussianMixture
from fishernet.models.gaussian_markov_network import GaussianMarkovNetwork
from fishernet.models.markov_network import MarkovNetwork
from fishernet.models.model import LikelihoodModel, Model
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel
from fishernet.models.sequences.hmm_counts import HmmCounts
from fishernet.models.sequences.markov_chain import MarkovChain
from fishernet.models.sequences.numeric_hmm import NumericHiddenMarkovModel
from fishernet.models.sequences.pair_hmm import pair_hmm_dna, pair_hmm_from_substitutions, pair_hmm_protein
from fishernet.models.sequences.profile import Alignment, profile_hmm
from fishernet.models.trees.hidden_tree import HiddenTree
from fishernet.models.trees.named_tree import NamedTree, birth_death_tree
from fishernet.models.wishart import g_wishart

__all__ = [
    "Alignment",
    "Alphabet",
    "BayesianNetwork",
    "Conditional",
    "ConditionalGaussian",
    "DependencyNetwork",
    "FullTable",
    "Gaussian",
    "GaussianEmission",
    "GaussianMarkovNetwork",
    "GaussianMixture",
    "Grouped",
    "HiddenMarkovModel",
    "HiddenTree",
    "HmmCounts",
    "LabelEmission",
    "LikelihoodModel",
    "MarkovChain",
    "MarkovNetwork",
    "MergedTable",
    "Model",
    "NamedTree",
    "NumericHiddenMarkovModel",
    "PoissonEmission",
    "ProductConditional",
    "Split",
    "TreeConditional",
    "birth_death_tree",
    "g_wishart",
    "pair_hmm_dna",
    "pair_hmm_from_substitutions",
    "pair_hmm_protein",
    "profile_hmm",
]


def __dir__() -> list[str]:
    return __all__
