"""Which rows are behind an answer, by the influence of each on it; and what a cause does, with its doubts."""

from fishernet.explain.arcs import arc
from fishernet.explain.changes import change
from fishernet.explain.effects import Effect, effect
from fishernet.explain.influence import GroupInfluence, Groups, Influence, RowSet, Without, rows
from fishernet.explain.labels import Mislabelled, mislabelled
from fishernet.explain.values import BlockValue, value_of

__all__ = [
    "BlockValue",
    "Effect",
    "GroupInfluence",
    "Groups",
    "Influence",
    "Mislabelled",
    "RowSet",
    "Without",
    "arc",
    "change",
    "effect",
    "mislabelled",
    "rows",
    "value_of",
]


def __dir__() -> list[str]:
    return __all__
