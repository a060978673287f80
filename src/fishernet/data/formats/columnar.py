"""Parquet and Arrow files.

Where such a file was written by `write_table`, its fields carry their variables, and the table comes back as it was.
In others, dictionary-encoded columns declare their states, and the rest are labels as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.data.arrow import is_text, pandas_index
from fishernet.data.formats.contents import Contents, broken

ARROW_MAGIC = b"ARROW1"


def parquet_contents(path: Path) -> Contents:
    """Return what a Parquet file holds."""
    import pyarrow.parquet as pq

    def frames(names: Sequence[str], whole: bool) -> Iterator[pa.Table]:  # noqa: ARG001 streams read datasets
        with _naming_broken(path, "Parquet"), pq.ParquetFile(path, read_dictionary=texts) as file:
            yield file.read(columns=list(names))  # dictionaries are read faster than text

    with _naming_broken(path, "Parquet"):
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
        texts = [field.name for field in schema if is_text(field.type)]  # a damaged name cannot be told
    return _typed_contents(path, "Parquet", schema, frames, frozenset(texts))


def arrow_contents(path: Path) -> Contents:
    """Return what an Arrow IPC file or stream holds."""
    with _naming_broken(path, "Arrow"), pa.OSFile(str(path)) as file:
        is_file = file.read(len(ARROW_MAGIC)) == ARROW_MAGIC
        file.seek(0)
        table = (pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)).read_all()
        len(table.schema.names)  # damaged ones cannot be told
    return _typed_contents(path, "Arrow", table.schema, lambda names, _: iter([table.select(list(names))]))


def _typed_contents(
    path: Path,
    kind: str,
    schema: pa.Schema,
    frames: Callable[..., Iterator[pa.Table]],
    undeclared: frozenset[str] = frozenset(),
) -> Contents:
    try:
        pandas_index(schema)
    except UnicodeDecodeError as error:
        raise broken(path, kind, error) from None
    except SchemaError as error:
        raise FileFormatError(path, str(error)) from None
    return Contents(str(path), kind, schema, frames, undeclared=undeclared)


@contextmanager
def _naming_broken(path: Path, kind: str) -> Iterator[None]:
    """Name the file that Arrow cannot read."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise broken(path, kind, error) from None
