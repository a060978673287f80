"""Kernels: similarities between rows that know how the columns depend on one another.

`FisherKernel` is the kernel of a model with a likelihood: a Bayesian network, a hidden Markov model and others;
`HiddenVariableKernel` is that of a Bayesian network where variables are hidden or cells are missing.
`CountKernel` compares strings by what a model's hidden states are expected to have done. A kernel is called on
two tables (or lists of strings) and gives a matrix; one with *features* is their inner product, and so also gives the
mean of a whole table, from which `set_kernel` and `fishernet.compare.mmd` compare tables in time linear in their rows.
`Similarity` has those of single columns and of pairs (overlap, Goodall, Lin, ConDist, ...), to compare with.
`Normalized` and `Rbf` wrap any kernel; sums, products and positive multiples of kernels are kernels.
"""

from fishernet.kernels.agreement import AgreementKernel
from fishernet.kernels.by_matrix import GaussianKernel, Precomputed
from fishernet.kernels.fisher.hidden_variables import HiddenVariableKernel
from fishernet.kernels.fisher.kernel import FisherKernel
from fishernet.kernels.gram import gram_matrix
from fishernet.kernels.kernel import FeatureKernel, Kernel, LogKernel, has_features
from fishernet.kernels.row_sums import FeatureSums, MatrixSums, RowSums
from fishernet.kernels.sequences.counts import CountKernel
from fishernet.kernels.sequences.hidden_tree import HiddenTreeKernel, PrunedTreeKernel
from fishernet.kernels.sequences.hmm import HmmKernel, PairHmmKernel
from fishernet.kernels.sequences.marginalization import HiddenBinomialKernel, MarginalizationKernel
from fishernet.kernels.sequences.spectrum import SpectrumKernel
from fishernet.kernels.sets import set_kernel
from fishernet.kernels.similarity import Similarity
from fishernet.kernels.wrappers import Normalized, Rbf

__all__ = [
    "AgreementKernel",
    "CountKernel",
    "FeatureKernel",
    "FeatureSums",
    "FisherKernel",
    "GaussianKernel",
    "HiddenBinomialKernel",
    "HiddenTreeKernel",
    "HiddenVariableKernel",
    "HmmKernel",
    "Kernel",
    "LogKernel",
    "MarginalizationKernel",
    "MatrixSums",
    "Normalized",
    "PairHmmKernel",
    "Precomputed",
    "PrunedTreeKernel",
    "Rbf",
    "RowSums",
    "Similarity",
    "SpectrumKernel",
    "gram_matrix",
    "has_features",
    "set_kernel",
]


def __dir__() -> list[str]:
    return __all__
