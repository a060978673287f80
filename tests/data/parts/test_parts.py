"""Rows in several places answer what one table of all rows would."""

from __future__ import annotations

import itertools
import operator
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.data import Parts, Table
from fishernet.data.parts.parts import summed
from tests.tables import random_table

SETS = [s for size in range(5) for s in itertools.combinations(range(6), size)]


def mixed(n_rows: int, seed: int, weights: str = "none", missing: float = 0.1) -> Table:
    rng = np.random.default_rng(seed)
    states = random_table(seed, n_rows, [2, 3, 40, 60], missing=missing)
    x, y = rng.normal(50, 2, size=(2, n_rows))
    x[rng.random(n_rows) < missing] = np.nan
    variables = (states.variables[0], fn.Continuous("x"), *states.variables[1:], fn.Continuous("y"))
    held = {"none": None, "whole": rng.integers(0, 4, n_rows), "fractions": rng.random(n_rows) * 3}
    return Table(variables, [states.codes[0], x, *states.codes[1:], y], weights=held[weights], n_rows=n_rows)


def cut(table: Table, n_parts: int) -> Parts:
    borders = np.linspace(0, table.n_rows, n_parts + 1).astype(int)
    return Parts([table[a:b] for a, b in itertools.pairwise(borders.tolist())])


@pytest.mark.parametrize("n_parts", [1, 7, 100])
@pytest.mark.parametrize("weights", ["none", "whole", "fractions"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_statistics_are_those_of_one_table(n_parts: int, weights: str, missing: float) -> None:
    table = mixed(600, 3, weights, missing)
    parts = cut(table, n_parts)
    assert parts.total == table.total
    assert (parts.n_rows, parts.names, parts.n_parts) == (table.n_rows, table.names, n_parts)
    forms = set()
    for found, expected in zip(parts.statistics(SETS), table.statistics(SETS), strict=True):
        assert (found.variables, found.continuous) == (expected.variables, expected.continuous)
        assert found.is_dense == expected.is_dense
        forms.add(found.is_dense)
        assert found.counts.dtype == expected.counts.dtype
        if found.variables or weights != "fractions":
            np.testing.assert_array_equal(found.counts, expected.counts)
            assert found.left_out == expected.left_out
        if expected.states is not None:
            np.testing.assert_array_equal(found.states, expected.states)
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-9)
        np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-9, atol=1e-9)
        assert not found.counts.flags.writeable
    assert forms == {True, False}


def test_parts_without_rows_add_nothing() -> None:
    table = mixed(50, 1)
    parts = Parts([table[:0], table, table[:0]])
    for found, expected in zip(parts.statistics(SETS), table.statistics(SETS), strict=True):
        assert found.is_dense == expected.is_dense
        np.testing.assert_array_equal(found.counts, expected.counts)


def test_answers_come_in_the_order_of_the_rows() -> None:
    table = mixed(100, 2)
    rows = np.concatenate(list(cut(table, 7).each(lambda part: part.codes[0])))
    np.testing.assert_array_equal(rows, table.codes[0])
    assert cut(table, 7).sum(lambda part: part.n_rows) == 100


@given(st.lists(st.text("abc", max_size=2), min_size=1, max_size=200))
def test_answers_are_added_in_their_order(texts: list[str]) -> None:
    assert summed(texts) == reduce(operator.add, texts)


@pytest.mark.parametrize("n", [1, 5, 8, 9, 17, 64, 65, 600])
def test_sums_of_floats_are_added_by_eights(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n).tolist()
    expected: list[float] = values
    while len(expected) > 1:
        expected = [reduce(operator.add, expected[i : i + 8]) for i in range(0, len(expected), 8)]
    assert summed(values) == expected[0]


@pytest.mark.parametrize("score", ["bic", "bdeu", "qnml"])
def test_what_is_learned_is_what_one_table_teaches(score: Any) -> None:
    table = random_table(5, 900, [2, 3, 4, 2, 6])
    parts = cut(table, 9)
    found, expected = fn.learn.structure(parts, score=score), fn.learn.structure(table, score=score)
    assert found.dag == expected.dag
    assert found.score == expected.score
    assert fn.score(found.dag, parts, score) == fn.score(found.dag, table, score)
    assert fn.learn.parameters(found.dag, parts) == fn.learn.parameters(found.dag, table)
    assert fn.learn.chow_liu(parts) == fn.learn.chow_liu(table)
    assert fn.learn.tan(parts, "v0") == fn.learn.tan(table, "v0")
    assert fn.learn.kdb(parts, "v0", k=2) == fn.learn.kdb(table, "v0", k=2)
    assert fn.learn.dependency_network(parts) == fn.learn.dependency_network(table)


def test_sets_and_parts_that_do_not_fit_are_refused() -> None:
    table = mixed(50, 1)
    with pytest.raises(fn.SchemaError, match="ascending positions"):
        cut(table, 3).statistics([(1, 0)])
    with pytest.raises(fn.SchemaError, match="at least one table"):
        Parts([])
    with pytest.raises(fn.SchemaError, match="parts are tables, and the one at 1 is a str"):
        Parts([table, "table"])  # type: ignore[list-item]
    with pytest.raises(fn.SchemaError, match="table 1 has other variables"):
        Parts([table, table.select(["x"])])
    assert cut(table, 3).statistics([]) == []
