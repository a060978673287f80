"""Local scores by their definition and by the library, remembered."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import fishernet as fn
from fishernet.scores import Families, LocalScores, named_score
from tests.reference.scoring import family_score


def local_score(table: fn.Table, name: str = "bic") -> Callable[[int, tuple[int, ...]], float]:
    """Return a function of (child, parents)."""

    @cache
    def local(child: int, parents: tuple[int, ...]) -> float:
        return family_score(table, child, parents, name)

    return local


def by_library(table: fn.Table, name: str) -> Callable[[int, tuple[int, ...]], float]:
    """Return the same of the library's scores."""
    scores = LocalScores(table, named_score(name))
    return cache(lambda child, parents: float(scores(Families.from_pairs([(child, parents)]))[0]))
