"""Reading columns of numbers from a file, and writing them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.errors import MissingValueError, SchemaError
from fishernet.table.encoding.cells import Cells
from fishernet.table.encoding.labels import numbers_of
from fishernet.table.encoding.options import NA_VALUES, Options
from fishernet.table.numbers import LARGEST, Columns, NamedColumns
from fishernet.table.reading import columns_of
from fishernet.table.variable import counted
from fishernet.table.writing import Sink, format_of, opened, replacing


def read_numbers(
    path: str | os.PathLike[str],
    *,
    columns: Iterable[str] | None = None,
    missing: str = "error",
    na_values: Iterable[str] = NA_VALUES,
) -> NamedColumns:
    r"""Read columns of numbers from a file.

    Parameters
    ----------
    path : path
        As for `read_table`.
    columns : sequence of str, optional
        Only these columns, in the order of the file; all without it.
    missing : {"error", "drop"}
        What becomes of rows with missing cells.
    na_values : sequence of str
        Text that means a missing cell.

    Returns
    -------
    NamedColumns

    Raises
    ------
    FileFormatError
        When the file does not exist, is of no known format or is broken.
    SchemaError
        When columns are missing, doubled or without a name, there are none, or a cell is no finite number: the column
        and the first such row are named, rows counted from 0.
    MissingValueError
        When cells are missing that must not be, naming the columns and the first such row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fishernet.table.number_files import read_numbers
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "patients.csv"
    ...     _ = path.write_text("name,age,weight\nAda,36,\nAlan,41,70.5\n")
    ...     found = read_numbers(path, columns=["age", "weight"], missing="drop")
    >>> found.names, found.values
    (('age', 'weight'), array([[41. ],
           [70.5]]))
    """
    if missing not in ("error", "drop"):
        raise SchemaError(f"missing must be one of 'error', 'drop' for columns of numbers, not {missing!r}")
    options = Options.checked(
        schema=None,
        bins=None,
        binning="quantile",
        missing=missing,
        unknown="error",
        weights=None,
        na_values=na_values,
        columns=columns,
    )
    source = columns_of(Path(path), options)
    if not source.cells:
        raise SchemaError(f"{path}: there are no columns")
    absent = {cells.name: mask for cells in source.cells if (mask := cells.missing()) is not None and mask.any()}
    if absent and missing == "error":
        raise _missing(absent)
    kept = ~np.logical_or.reduce(list(absent.values())) if absent else np.ones(source.n_rows, dtype=bool)
    values = np.array([_numbers(cells)[kept] for cells in source.cells], dtype=np.float64, order="C")
    return NamedColumns(tuple(cells.name for cells in source.cells), values)


def write_numbers(rows: NamedColumns, path: str | os.PathLike[str]) -> None:
    """Write columns of numbers to a file, which `read_numbers` reads back to the last bit.

    The file is written beside and renamed, so that a failure leaves what was there.

    Parameters
    ----------
    rows : NamedColumns
    path : path
        Ends in ``.csv``, ``.tsv`` (each also with ``.gz``), ``.parquet``, ``.arrow`` or ``.feather``.

    Raises
    ------
    FileFormatError
        When the path has another ending or cannot be written to.
    """
    target = Path(path)
    write = NUMBER_FORMATS[format_of(target)]
    with replacing(target) as file, opened(target, file) as sink:
        write(rows, sink)


def _frame(rows: NamedColumns) -> pa.Table:
    return pa.table(rows.by_name())


def _write_delimited(rows: NamedColumns, file: Sink, delimiter: str) -> None:
    from pyarrow import csv

    csv.write_csv(_frame(rows), file, csv.WriteOptions(delimiter=delimiter))


def _write_parquet(rows: NamedColumns, file: Sink) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_frame(rows), file)


def _write_arrow(rows: NamedColumns, file: Sink) -> None:
    frame = _frame(rows)
    with pa.ipc.new_file(file, frame.schema) as writer:
        writer.write_table(frame)


NUMBER_FORMATS: dict[str, Callable[[NamedColumns, Sink], None]] = {
    ".csv": partial(_write_delimited, delimiter=","),
    ".tsv": partial(_write_delimited, delimiter="\t"),
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
}


def _numbers(cells: Cells) -> Columns:
    """Return the numbers of a column, NaN in missing cells."""
    numbers = numbers_of(cells.labels)
    strange = cells.marked(~(np.abs(numbers) <= LARGEST))
    if strange.any():
        row = int(np.argmax(strange))
        position = int(cells.positions()[row])
        label = cells.labels.tolist()[position]
        if not np.isnan(numbers[position]):
            raise SchemaError(f"column {cells.name!r}, row {row}: {label} cannot be used; leave the row out")
        raise SchemaError(
            f"column {cells.name!r}, row {row}: {label!r} is no number; leave the column out (columns=[...] names "
            "those to read), or write NA where a number is missing"
        )
    return cells.spread(np.append(numbers, np.nan))


def _missing(absent: dict[str, npt.NDArray[np.bool_]]) -> MissingValueError:
    counts = {name: int(mask.sum()) for name, mask in absent.items()}
    name, mask = next(iter(absent.items()))
    return MissingValueError(
        f"there are missing cells in {counted(counts)}, the first in column {name!r}, row {int(np.argmax(mask))}; "
        'missing="drop" leaves such rows out',
        counts=counts,
    )
