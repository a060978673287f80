"""Models: frozen values that check themselves, give log-probabilities and draw samples.

A model stands on `Conditional`: P(child given its parents), as a full table or one with shared rows.
"""

from fishernet.models.bayesian_network import BayesianNetwork
from fishernet.models.conditional import Conditional
from fishernet.models.full_table import FullTable
from fishernet.models.merged_table import MergedTable

__all__ = ["BayesianNetwork", "Conditional", "FullTable", "MergedTable"]
