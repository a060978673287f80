"""Kernels of hidden tree models (P3, 12.1.6)."""

from fishernet.kernels.trees.hidden_tree import HiddenTreeKernel
from fishernet.kernels.trees.pruned import PrunedTreeKernel

__all__ = ["HiddenTreeKernel", "PrunedTreeKernel"]
