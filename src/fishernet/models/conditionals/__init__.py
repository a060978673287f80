"""Conditionals: P(child given its parents), in every kind. `Conditional` is what they have in common."""

from fishernet.models.conditionals.base import Conditional, Grouped
from fishernet.models.conditionals.full_table import FullTable, MergedTable
from fishernet.models.conditionals.linear_gaussian import LinearGaussian
from fishernet.models.conditionals.product import ProductConditional
from fishernet.models.conditionals.tree import Split, TreeConditional

CONDITIONALS: dict[str, type[Conditional]] = {
    "FullTable": FullTable,
    "LinearGaussian": LinearGaussian,
    "MergedTable": MergedTable,
    "ProductConditional": ProductConditional,
    "TreeConditional": TreeConditional,
}
"""The kinds, by the names that they have in files."""

__all__ = [
    "CONDITIONALS",
    "Conditional",
    "FullTable",
    "Grouped",
    "LinearGaussian",
    "MergedTable",
    "ProductConditional",
    "Split",
    "TreeConditional",
]
