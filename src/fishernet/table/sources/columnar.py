"""Parquet and Arrow files.

Where such a file was written by `write_table`, its fields carry their variables, and the table comes back as it was.
In others, dictionary-encoded columns declare their states, and the rest are labels as they are.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from fishernet.errors import FileFormatError
from fishernet.table.encoding.cells import Columns
from fishernet.table.encoding.options import Options
from fishernet.table.sources.arrow import chosen_names, columns_of

ARROW_MAGIC = b"ARROW1"


def parquet_columns(path: Path, options: Options) -> Columns:
    """Read the columns of a Parquet file that the options ask for.

    Raises
    ------
    FileFormatError
        When the file is no Parquet file, or is broken.
    SchemaError
        When columns are missing, doubled, have no name, or are of a type without labels.
    """
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
        names = chosen_names(schema, options)
        texts = [name for name in names if _is_text(schema.field(name).type)]
        with pq.ParquetFile(path, read_dictionary=texts) as file:  # dictionaries are read faster than text
            table = file.read(columns=names)
        return _checked(table, options, frozenset(texts))
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, "Parquet", error) from None


def arrow_columns(path: Path, options: Options) -> Columns:
    """Read the columns of an Arrow IPC file or stream that the options ask for; raises as `parquet_columns`."""
    try:
        with pa.OSFile(str(path)) as file:
            is_file = file.read(len(ARROW_MAGIC)) == ARROW_MAGIC
            file.seek(0)
            reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
            table = reader.read_all()
        return _checked(table, options)
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, "Arrow", error) from None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _checked(table: pa.Table, options: Options, undeclared: frozenset[str] = frozenset()) -> Columns:
    table.validate(full=True)
    return columns_of(table, options, undeclared)


def _broken(path: Path, kind: str, error: Exception) -> FileFormatError:
    return FileFormatError(path, f"is no {kind} file, or a broken one ({str(error).partition(chr(10))[0]})")
