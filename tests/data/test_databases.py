"""Tables that queries return."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError

DATA: dict[str, list[Any]] = {"smoke": ["yes", "no", "no", None], "age": [61.5, 35.0, None, 48.0], "n": [1, 2, 1, 2]}


@pytest.fixture
def connection() -> Any:
    found = sqlite3.connect(":memory:")
    found.execute("create table patients (smoke text, age real, n integer)")
    found.executemany("insert into patients values (?, ?, ?)", list(zip(*DATA.values(), strict=True)))
    yield found
    found.close()


def test_a_query_is_read_as_a_frame_of_its_rows(connection: Any) -> None:
    expected = fn.data.Table.from_frame(DATA)
    assert fn.read_query("select * from patients", connection) == expected
    assert fn.read_query("select * from patients", connection.cursor()) == expected
    assert fn.read_query("select smoke, n from patients", connection, categorical=["n"]).names == ("smoke", "n")


def test_other_databases() -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = fn.data.Table.from_frame(DATA).to_frame()
    with duckdb.connect() as opened:
        opened.register("patients", frame)
        assert fn.read_query("select smoke from patients", opened).variables[0].states == ("no", "yes")


def test_an_engine_of_sqlalchemy() -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as opened:
        assert fn.read_query("select 'a' as x union all select 'b'", opened).n_rows == 2
    assert fn.read_query("select 'a' as x union all select 'b'", engine).variables[0].states == ("a", "b")


def test_what_fails(connection: Any) -> None:
    with pytest.raises(FishernetError, match="the query failed: OperationalError: no such table: nobody"):
        fn.read_query("select * from nobody", connection)
    with pytest.raises(FishernetError, match="returns no rows of any kind"):
        fn.read_query("create table t (x integer)", connection)
    with pytest.raises(SchemaError, match="columns of the same name"):
        fn.read_query("select n, n from patients", connection)
    with pytest.raises(SchemaError, match="there is no row"):
        fn.read_query("select smoke from patients where n = 9", connection)
