"""Which rows are behind an answer: influence of every row of the learning table on what a network says."""

from fishernet.explain.arcs import arc
from fishernet.explain.influence import GroupInfluence, Groups, Influence, RowSet, Without, rows
from fishernet.explain.labels import Mislabelled, mislabelled
from fishernet.explain.values import BlockValue, value_of

__all__ = [
    "BlockValue",
    "GroupInfluence",
    "Groups",
    "Influence",
    "Mislabelled",
    "RowSet",
    "Without",
    "arc",
    "mislabelled",
    "rows",
    "value_of",
]


def __dir__() -> list[str]:
    return __all__
