"""Which rows are behind an answer: influence of every row of the learning table on what a network says."""

from fishernet.explain.arcs import arc
from fishernet.explain.influence import GroupInfluence, Groups, Influence, RowSet, Without, rows
from fishernet.explain.labels import Mislabelled, mislabelled

__all__ = ["GroupInfluence", "Groups", "Influence", "Mislabelled", "RowSet", "Without", "arc", "mislabelled", "rows"]


def __dir__() -> list[str]:
    return __all__
