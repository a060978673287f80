"""Sources of statistics that are no tables: what learners may ask of them, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fishernet as fn
from fishernet.data import Source, Statistic


class Blocks(Source):
    """Tables that lie in different places, of which only statistics travel; `asked` counts the requests."""

    def __init__(self, *tables: fn.Table) -> None:
        self._tables = tables
        self.asked = 0

    @property
    def variables(self) -> Any:
        return self._tables[0].variables

    @property
    def total(self) -> int | float:
        return sum(table.total for table in self._tables)

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        self.asked += 1
        first, *others = (table.statistics(sets) for table in self._tables)
        for answer in others:
            first = [a + b for a, b in zip(first, answer, strict=True)]
        return first

    def rows_digest(self) -> int | None:
        return sum(table.rows_digest() for table in self._tables) % 2**64


def halves(table: fn.Table) -> Blocks:
    """Return the source of a table's first third and the rest."""
    return Blocks(table[: table.n_rows // 3], table[table.n_rows // 3 :])
