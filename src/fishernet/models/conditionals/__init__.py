"""Conditionals: P(child given its parents), in every kind. `Conditional` is what they have in common."""

from fishernet.models.conditionals.base import Conditional, Grouped
from fishernet.models.conditionals.conditional_gaussian import ConditionalGaussian
from fishernet.models.conditionals.full_table import FullTable, MergedTable
from fishernet.models.conditionals.product import ProductConditional
from fishernet.models.conditionals.tree import Split, TreeConditional

CONDITIONALS: dict[str, type[Conditional]] = {
    "ConditionalGaussian": ConditionalGaussian,
    "FullTable": FullTable,
    "MergedTable": MergedTable,
    "ProductConditional": ProductConditional,
    "TreeConditional": TreeConditional,
}
"""The kinds, by the names that they have in files."""

__all__ = [
    "CONDITIONALS",
    "Conditional",
    "ConditionalGaussian",
    "FullTable",
    "Grouped",
    "MergedTable",
    "ProductConditional",
    "Split",
    "TreeConditional",
]
