"""Conditionals: P(child given its parents), in every kind. `Conditional` is what they have in common."""

from fishernet.models.conditionals.conditional import Conditional
from fishernet.models.conditionals.full_table import FullTable, MergedTable
from fishernet.models.conditionals.product_conditional import ProductConditional
from fishernet.models.conditionals.tree_conditional import Split, TreeConditional

__all__ = ["Conditional", "FullTable", "MergedTable", "ProductConditional", "Split", "TreeConditional"]
