"""Which rows are behind an answer: influence of every row of the learning table on what a network says."""

from fishernet.explain.influence import Group, Groups, Influence, RowSet, Without, rows

__all__ = ["Group", "Groups", "Influence", "RowSet", "Without", "rows"]


def __dir__() -> list[str]:
    return __all__
