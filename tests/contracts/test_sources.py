"""The laws of count sources: whatever answers the protocol can be learned from, and parts add up to the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.data import Counts, CountSource, TableCounts, as_source
from tests.tables import random_table


class Parts:
    """Tables that lie in different places; only counts travel."""

    def __init__(self, tables: Sequence[fn.Table]) -> None:
        self._sources = [as_source(table) for table in tables]
        self.variables: Any = tables[0].variables
        self.n_rows: Any = sum(source.n_rows for source in self._sources)

    def counts(self, sets: Sequence[tuple[int, ...]]) -> list[Counts]:
        answers = [source.counts(sets) for source in self._sources]
        totals = answers[0]
        for answer in answers[1:]:
            totals = [a + b for a, b in zip(totals, answer, strict=True)]
        return totals


SOURCES: dict[str, Callable[[fn.Table], CountSource]] = {
    "table": TableCounts,
    "two parts": lambda table: Parts([table[: table.n_rows // 3], table[table.n_rows // 3 :]]),
    "many parts": lambda table: Parts([table[i : i + 50] for i in range(0, table.n_rows, 50)]),
}
EVERY = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
TABLE = random_table(5, 600, [2, 3, 4, 2, 30])


@EVERY
def test_it_follows_the_protocol(make: Callable[[fn.Table], CountSource]) -> None:
    source = make(TABLE)
    assert isinstance(source, CountSource)
    assert source.n_rows == 600
    assert as_source(source) is source


@EVERY
def test_answers_come_in_the_order_of_the_questions(make: Callable[[fn.Table], CountSource]) -> None:
    sets = [(4,), (), (0, 1), (0,), (1, 2, 4), (0, 1, 2, 3, 4)]
    for chosen, counts, expected in zip(sets, make(TABLE).counts(sets), as_source(TABLE).counts(sets), strict=True):
        assert counts.variables == chosen
        assert counts.is_dense == expected.is_dense
        np.testing.assert_array_equal(counts.table(), expected.table())


@EVERY
@pytest.mark.parametrize("score", ["bic", "aic"])
def test_a_network_learned_from_it_is_the_tables(make: Callable[[fn.Table], CountSource], score: str) -> None:
    source = make(TABLE)
    found, expected = fn.learn.structure(source, score=score), fn.learn.structure(TABLE, score=score)
    assert found.dag == expected.dag
    assert found.n_scores == expected.n_scores
    assert found.score == pytest.approx(expected.score, rel=1e-12)
    assert fn.learn.parameters(found.dag, source) == fn.learn.parameters(expected.dag, TABLE)
    assert fn.score(found.dag, source, score) == pytest.approx(fn.score(found.dag, TABLE, score), rel=1e-12)
