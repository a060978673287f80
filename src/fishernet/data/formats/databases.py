"""Reading a table that a query of a database returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import pyarrow as pa

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import shown
from fishernet.data.arrow import frame_columns
from fishernet.data.options import FrameKeywords, Options, shows_keywords
from fishernet.data.table import Table

AT_ONCE = 2**16  # rows that a cursor hands over


@shows_keywords(FrameKeywords)
def read_query(query: str, connection: Any, **keywords: Unpack[FrameKeywords]) -> Table:
    """Read the table that a query of a database returns.

    Parameters
    ----------
    query : str
        As the database takes it.
    connection : connection, cursor or engine
        Of DuckDB, of ADBC, of SQLAlchemy, or of any library that follows Python's DB-API, as sqlite3. It is neither
        closed nor committed.
    columns, exclude, categorical, continuous, order, bins, binning, schema, missing, unknown, weights, na_values
        As in `Table.from_frame`.

    Returns
    -------
    Table

    Raises
    ------
    FishernetError
        When the query fails, with what the database says.
    SchemaError, MissingValueError, UnknownStateError
        As `Table.from_frame`.

    Examples
    --------
    >>> import sqlite3
    >>> import fishernet as fn
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("create table patients (smoke text, age integer)")
    >>> _ = connection.executemany("insert into patients values (?, ?)", [("yes", 61), ("no", 35), ("no", None)])
    >>> table = fn.read_query("select smoke, age from patients", connection)
    >>> table.variables[0].states
    ('no', 'yes')
    >>> table.n_rows
    3
    """
    options = Options.of_frame(**keywords)
    try:
        found = _answer(query, connection)
    except (FishernetError, TypeError):
        raise
    except Exception as error:  # each library has errors of its own
        why = " ".join(str(error).split())
        raise FishernetError(f"the query failed: {type(error).__name__}: {why}", parameter="query") from None
    return Table.of_columns(frame_columns(found, options), options)


def _answer(query: str, connection: Any) -> Any:
    """Return what a query returns as an Arrow table, or as a mapping from columns to lists."""
    if hasattr(connection, "exec_driver_sql"):  # a connection of SQLAlchemy
        result = connection.exec_driver_sql(query)
        return _listed(list(result.keys()), result.fetchall()) if result.returns_rows else _refuse_nothing(query)
    if hasattr(connection, "connect") and hasattr(connection, "dialect"):  # an engine of SQLAlchemy
        with connection.connect() as opened:
            return _answer(query, opened)
    own = connection if hasattr(connection, "fetchmany") else connection.cursor()
    try:
        own.execute(query)
        if own.description is None:
            return _refuse_nothing(query)
        if hasattr(own, "fetch_arrow_table"):  # of DuckDB and of ADBC
            return own.fetch_arrow_table()
        return _listed([column[0] for column in own.description], [row for rows in _fetched(own) for row in rows])
    finally:
        if own is not connection:
            own.close()


def _fetched(cursor: Any) -> Iterator[list[Any]]:
    while rows := cursor.fetchmany(AT_ONCE):
        yield rows


def _listed(names: list[str], rows: list[Any]) -> dict[str, list[Any]] | pa.Table:
    if len(set(names)) < len(names):
        raise SchemaError(f"the query returns columns of the same name; give them others with 'as': {names}")
    if not rows:
        return pa.table({name: pa.nulls(0) for name in names})
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _refuse_nothing(query: str) -> Any:
    raise FishernetError(f"the query returns no rows of any kind: {shown(query, 80)}", parameter="query")
