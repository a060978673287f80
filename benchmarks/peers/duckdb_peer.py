"""DuckDB: counts of sets of columns, by GROUP BY, of codes of one byte in memory."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from benchmarks.calls import Call, Data, threads

Counts = list[Any]
AT_ONCE = 37  # sets in a query


def set_threads(_: int) -> None:
    """Leave it to the connection, which is made later."""


def table(data: Data) -> tuple[duckdb.DuckDBPyConnection, list[list[str]]]:
    """Return a connection that holds the codes as UTINYINT, and the sets of columns by name."""
    read = ds.dataset(data.options["files"]).to_table()
    names = [f"v{i}" for i in range(read.num_columns)]
    coded = {
        n: c.unify_dictionaries().combine_chunks().indices.cast("uint8")
        for n, c in zip(names, read.columns, strict=True)
    }
    connection = duckdb.connect()
    if threads():
        connection.execute(f"SET threads = {threads()}")
    codes = pa.table(coded)  # noqa: F841 the query finds it by its name
    connection.execute("CREATE TABLE codes AS SELECT * FROM codes")
    return connection, [[names[v] for v in chosen] for chosen in data.options["sets"]]


def one_by_one(handed: tuple[duckdb.DuckDBPyConnection, list[list[str]]]) -> Counts:
    connection, sets = handed
    ask = "SELECT count(*) AS n FROM codes GROUP BY {}"
    return [connection.execute(ask.format(", ".join(chosen))).fetchnumpy()["n"] for chosen in sets]


def grouping_sets(handed: tuple[duckdb.DuckDBPyConnection, list[list[str]]]) -> Counts:
    """Return the same by queries of several sets each."""
    connection, sets = handed
    found: Counts = []
    for begin in range(0, len(sets), AT_ONCE):
        part = sets[begin : begin + AT_ONCE]
        names = sorted({name for chosen in part for name in chosen})
        of = ", ".join(f"({', '.join(chosen)})" for chosen in part)
        marks = f"GROUPING({', '.join(names)})"
        rows = connection.execute(
            f"SELECT {marks} AS g, count(*) AS n FROM codes GROUP BY GROUPING SETS ({of})"
        ).fetchnumpy()
        bits = [
            sum(1 << (len(names) - 1 - at) for at, name in enumerate(names) if name not in chosen) for chosen in part
        ]
        found += [rows["n"][rows["g"] == mark] for mark in bits]
    return found


def tell(found: Counts, _: Data) -> Counts:
    return [np.sort(np.asarray(counts)) for counts in found]


CALLS = {"one_by_one": Call(table, one_by_one, tell), "grouping_sets": Call(table, grouping_sets, tell)}
