"""Columns of numbers: read from arrays and data frames, and checked.

Inside, columns are a C-contiguous (n_columns, n_rows) float64 array, so that each is a stretch of memory.

Reading columns of numbers from a file, and writing them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import MissingValueError, SchemaError
from fishernet.base.io import replacing
from fishernet.base.names import are, check_names, counted, listed, require_str
from fishernet.base.random import Seed, drawn_share
from fishernet.data.encode import Cells, numbers_of
from fishernet.data.options import NA_VALUES, Options
from fishernet.data.reading import columns_of
from fishernet.data.table import Table
from fishernet.data.writing import Sink, format_of, opened

Columns = npt.NDArray[np.float64]

LARGEST = 1e150  # squares and differences stay finite


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """Columns of numbers with their names.

    Attributes
    ----------
    names : tuple of str
    values : (n_columns, n_rows) float64
    """

    names: tuple[str, ...]
    values: Columns

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.values.shape[1])

    def by_name(self) -> dict[str, Columns]:
        """Return each column by its name, as functions take them that match columns by names."""
        return dict(zip(self.names, self.values, strict=True))

    def split(self, fraction: float, seed: Seed = None) -> tuple[NamedColumns, NamedColumns]:
        """Divide the rows at random in two, as `Table.split` does: the same seed takes the same rows."""
        first = drawn_share(self.n_rows, fraction, seed)
        return NamedColumns(self.names, self.values[:, first]), NamedColumns(self.names, self.values[:, ~first])


def named_columns(X: Any, names: Iterable[str] | None = None) -> NamedColumns:
    """Read columns of numbers.

    Parameters
    ----------
    X : (n_rows, n_columns) array, pandas, polars or pyarrow frame, or mapping from names to columns
    names : sequence of str, optional
        Of the columns of an array (otherwise v0, v1, ...); of a frame, those that are taken, in this order.

    Raises
    ------
    SchemaError
        When there are no columns, one is not of numbers or holds NaN or infinite values (its name and the first row are
        said), or names do not fit.
    """
    if isinstance(X, Table):
        raise SchemaError("a Table holds states, not numbers; give an array or a data frame of numbers")
    if names is not None and isinstance(names, str):
        raise SchemaError(f"names must be a sequence of str, not the str {names!r}")
    chosen = None if names is None else list(names)
    if chosen is not None:
        check_names(chosen)
    if not is_frame(X):
        return _array_columns(np.asarray(X), chosen)
    found = _frame_columns(X, chosen)
    for name, column in found.items():
        _require_finite(name, column)
    lengths = {len(column) for column in found.values()}
    if len(lengths) > 1:
        raise SchemaError(f"the columns differ in their number of rows: {listed(sorted(lengths))}")
    if not found:
        raise SchemaError("the data have no columns")
    values = np.array(list(found.values()), dtype=np.float64, order="C")
    return NamedColumns(tuple(found), values)


def points(values: npt.ArrayLike, what: str) -> Columns:
    """Return points, (n,) or (n, d), as (d, n) columns.

    Raises
    ------
    SchemaError
        When they have other axes, are no numbers, or a value is NaN or infinite, naming column and row.
    """
    array = np.asarray(values)
    if array.ndim not in (1, 2):
        raise SchemaError(f"{what} must have the shape (n,) or (n, d), got {array.shape}")
    table = array[:, None] if array.ndim == 1 else array
    labels = [what] if table.shape[1] == 1 else [f"{what}[:, {c}]" for c in range(table.shape[1])]
    columns = [_as_numbers(label, table[:, c]) for c, label in enumerate(labels)]
    for label, column in zip(labels, columns, strict=True):
        _require_finite(label, column)
    return np.array(columns, dtype=np.float64, order="C").reshape(len(columns), table.shape[0])


def require_varying(names: Sequence[str], values: Columns) -> None:
    """Raise SchemaError, naming them, when columns hold one value only."""
    constant = [name for name, column in zip(names, values, strict=True) if len(column) and (column == column[0]).all()]
    if constant:
        raise SchemaError(f"{are(constant, 'column')} constant; leave out what does not vary")


def is_frame(X: Any) -> bool:
    """Whether data are columns with names: a mapping, or a frame of some library."""
    return isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "column_names")


def _array_columns(array: npt.NDArray[Any], names: list[str] | None) -> NamedColumns:
    if array.ndim != 2:
        raise SchemaError(f"data must have two axes (rows, columns), got shape {array.shape}")
    of = [f"v{c}" for c in range(array.shape[1])] if names is None else names
    if len(of) != array.shape[1]:
        raise SchemaError(f"{len(of)} names for {array.shape[1]} columns")
    if not of:
        raise SchemaError("the data have no columns")
    if array.dtype.kind in "iuf":
        values = np.array(array.T, dtype=np.float64, order="C")
    else:
        values = np.array([_as_numbers(name, array[:, c]) for c, name in enumerate(of)])
    if not (np.abs(values) <= LARGEST).all():
        for name, column in zip(of, values, strict=True):
            _require_finite(name, column)
    return NamedColumns(tuple(of), values)


def _frame_columns(X: Any, names: list[str] | None) -> dict[str, Columns]:
    read: Callable[[str, Any], Columns]
    if isinstance(X, Mapping):
        there, read = list(X), _as_numbers
        columns = {name: np.asarray(column) for name, column in X.items()}
    else:
        import narwhals.stable.v2 as nw

        columns = nw.from_native(X, eager_only=True)
        there, read = columns.columns, _series_numbers
    require_str(there)
    check_names(there)
    wanted = there if names is None else names
    absent = [name for name in wanted if name not in there]
    if absent:
        raise SchemaError(f"the frame lacks the column {listed(absent)}; it has {listed(there)}")
    return {name: read(name, columns[name]) for name in wanted}


def _series_numbers(name: str, series: Any) -> Columns:
    if not series.dtype.is_numeric():
        raise _no_numbers(name, series.dtype)
    return _as_numbers(name, series.to_numpy())


def _no_numbers(name: str, dtype: object) -> SchemaError:
    return SchemaError(
        f"column {name!r} is not of numbers ({dtype}); leave it out, or make a Table of states of the data"
    )


def _as_numbers(name: str, column: npt.NDArray[Any]) -> Columns:
    if column.ndim != 1:
        raise SchemaError(f"column {name!r} must have one axis, got shape {column.shape}")
    if column.dtype == object:  # pandas' nullable numbers
        try:
            return np.array([np.nan if value is None else value for value in column.tolist()], dtype=np.float64)
        except (TypeError, ValueError):
            pass
    if column.dtype.kind not in "iuf":
        raise _no_numbers(name, column.dtype)
    return column.astype(np.float64)


def _require_finite(name: str, column: Columns) -> None:
    bad = np.flatnonzero(~(np.abs(column) <= LARGEST))
    if len(bad):
        row = int(bad[0])
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise SchemaError(
            f"column {name!r}, row {row}{more}: {column[row]} cannot be used; leave these rows out, or fill them in"
        )


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
    >>> from fishernet.data.numbers import read_numbers
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
