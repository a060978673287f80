"""Local scores by their definition, remembered."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import fishernet as fn
from tests.reference.scoring import family_score


def local_score(table: fn.Table, name: str = "bic") -> Callable[[int, tuple[int, ...]], float]:
    """Return a function of (child, parents)."""

    @cache
    def local(child: int, parents: tuple[int, ...]) -> float:
        return family_score(table, child, parents, name)

    return local
