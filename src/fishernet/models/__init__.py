"""Models: frozen values that check themselves, give log-probabilities and draw samples.

A model stands on `Conditional`: P(child given its parents), as a full table, one with shared rows, or a product of
factors.
"""

from fishernet.models.bayesian_network import BayesianNetwork
from fishernet.models.conditional import Conditional
from fishernet.models.dependency_network import DependencyNetwork
from fishernet.models.full_table import FullTable
from fishernet.models.merged_table import MergedTable
from fishernet.models.product_conditional import ProductConditional

__all__ = ["BayesianNetwork", "Conditional", "DependencyNetwork", "FullTable", "MergedTable", "ProductConditional"]
