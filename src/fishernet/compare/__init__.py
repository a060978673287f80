"""How distributions and tables differ: divergences, full-conditional manifolds and the maximum mean discrepancy."""

from fishernet.compare.divergences import full_conditional_divergence, kl
from fishernet.compare.manifolds import Bound, bound, inconsistency, kl_to_manifold, m_project
from fishernet.compare.mmd import mmd

__all__ = ["Bound", "bound", "full_conditional_divergence", "inconsistency", "kl", "kl_to_manifold", "m_project", "mmd"]
