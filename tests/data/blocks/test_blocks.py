"""Rows in several places answer what one table of all rows would."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import operator
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.data import Blocks, Table
from fishernet.data.blocks.places import summed
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


def cut(table: Table, n_parts: int) -> Blocks:
    borders = np.linspace(0, table.n_rows, n_parts + 1).astype(int)
    return Blocks([table[a:b] for a, b in itertools.pairwise(borders.tolist())])


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
    parts = Blocks([table[:0], table, table[:0]])
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
        Blocks([])
    with pytest.raises(fn.SchemaError, match="parts are tables, and the one at 1 is a str"):
        Blocks([table, "table"])  # type: ignore[list-item]
    with pytest.raises(fn.SchemaError, match="table 1 has other variables"):
        Blocks([table, table.select(["x"])])
    assert cut(table, 3).statistics([]) == []


def died(table: Table) -> int:
    os._exit(1)


@pytest.mark.parametrize("engine", ["threads", "processes", "pool", "own"])
def test_whatever_maps_asks_the_blocks(engine: str) -> None:
    table = mixed(600, 3, "whole", missing=0).select(["v0", "v1", "v2", "v3"])
    with contextlib.ExitStack() as stack:
        engines: dict[str, Callable[[], Any]] = {
            "threads": lambda: stack.enter_context(ThreadPoolExecutor(3)),
            "processes": lambda: stack.enter_context(ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))),
            "pool": lambda: stack.enter_context(multiprocessing.get_context("spawn").Pool(2)),
            "own": lambda: lambda function, items: [function(one) for one in items],
        }
        blocks = Blocks([table[:100], table[100:101], table[101:]], map=engines[engine]())
        assert blocks.rows_digest() == table.rows_digest()
        assert (
            fn.learn.structure(blocks, search="hill-climb").score
            == fn.learn.structure(table, search="hill-climb").score
        )
        if engine == "processes":
            with pytest.raises(fn.FishernetError, match="died"):
                list(blocks.each(died))


def test_what_does_not_map_is_refused() -> None:
    with pytest.raises(
        fn.SchemaError, match="map must be a Dask client, an executor or a function as map, not an int"
    ) as told:
        Blocks([mixed(3, 1)], map=3)
    assert told.value.parameter == "map"


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_threads_read_files_as_one_table(ending: str, tmp_path: Path) -> None:
    table = mixed(900, 5)
    for i in range(3):
        fn.write_table(table[300 * i : 300 * (i + 1)], tmp_path / f"{i}.{ending}")
    expected = fn.scan(tmp_path)
    with ThreadPoolExecutor(3) as threads:
        found: Any = fn.scan(tmp_path, client=threads)
        assert found.variables == expected.variables
        assert str(found.describe()) == str(expected.describe())
        assert found.rows_digest() == expected.rows_digest()
        (tmp_path / f"1.{ending}").write_bytes(b"nothing")
        with pytest.raises(fn.FileFormatError, match=f"1.{ending}"):
            fn.scan(tmp_path, client=threads)


PEOPLE = {
    "id": [f"patient {i}" for i in range(60)],
    "age": [20.5 + i % 37 for i in range(60)],
    "ward": ["north", "south", None] * 20,
    "children": [i % 3 for i in range(60)],
}


@pytest.mark.parametrize("bins", [None, "auto", 3])
def test_what_columns_are_and_why_is_that_of_one_table(bins: Any) -> None:
    with pytest.warns(fn.FishernetWarning):
        table = Table.from_frame(PEOPLE, bins=bins)
    told = table.describe()
    assert [column.kind for column in told.columns].count("left out") == 1
    assert all(column.why for column in told.columns)
    for n_parts in (1, 2, 7):
        parts = cut(table, n_parts)
        assert parts.describe() == told
        assert parts.changed(lambda part, _: part).describe() == told
        assert parts.discretize(2).describe() == table.discretize(2).describe()


def test_reasons_that_differ_between_tables_are_left_out() -> None:
    text, other = {"x": ["a", "b"] * 9, "y": ["0", "1"] * 9}, {"x": ["a", "b"] * 9, "y": ["1", "0"] * 9}
    tables = [Table.from_frame(text), Table.from_frame(other, categorical=["y"])]
    assert tables[0].variables == tables[1].variables
    reasons = [{column.name: column.why for column in table.describe().columns} for table in tables]
    assert reasons[0]["y"] != reasons[1]["y"]
    for order in (tables, tables[::-1]):
        found = {column.name: column.why for column in Blocks(order).describe().columns}
        assert found == {"x": reasons[0]["x"], "y": ""}


def test_some_rows_say_why_their_columns_are_what_they_are() -> None:
    table = Table.from_frame({"x": [0.5, 1.5, 2.5] * 5, "y": ["a", "b", "c"] * 5})
    reasons = [column.why for column in table.describe().columns]
    for rows in (slice(4), [3, 1, 1], np.arange(15) % 2 == 0):
        assert [column.why for column in table[rows].describe().columns] == reasons
