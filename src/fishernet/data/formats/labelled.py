"""Files of Stata, SPSS and SAS, whose numbers may have labels: ``.dta``, ``.sav``, ``.zsav``, ``.por``, ``.sas7bdat``.

A column of which every value has a label declares states, in the order of the values; other labels are no more than
notes on numbers. It needs pyreadstat, of the extra ``stats``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.base.errors import FileFormatError
from fishernet.base.names import listed
from fishernet.base.remedies import Remedy
from fishernet.data.arrow import is_text
from fishernet.data.formats.contents import Contents, Note

INSTALL = 'pip install "fishernet[stats]"'
MOST_WHOLE = 2.0**53
READERS = {
    ".dta": ("Stata", "read_dta"),
    ".sav": ("SPSS", "read_sav"),
    ".zsav": ("SPSS", "read_sav"),
    ".por": ("SPSS", "read_por"),
    ".sas7bdat": ("SAS", "read_sas7bdat"),
    ".xpt": ("SAS", "read_xport"),
}


def labelled_contents(path: Path) -> Contents:
    """Return what a file of a statistics program holds."""
    kind, reader = READERS.get(path.suffix.lower()) or _by_content(path)
    try:
        import pyreadstat
    except ImportError:
        fact = f"files of {kind} need pyreadstat: {INSTALL}, or export the table as CSV"
        raise FileFormatError(path, fact) from None
    read = partial(getattr(pyreadstat, reader), str(path), output_format="dict")
    far: list[str] = []
    try:
        try:
            columns, described = read()
        except OverflowError:  # a date of the year 20150: only its column is no dates
            columns, described = read(disable_datetime_conversion=True)
            far = _with_dates(columns, list(columns), read)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError) as error:
        raise FileFormatError(path, f"is no {kind} file, or a broken one ({error})") from None
    labels = described.variable_value_labels
    arrays, partly = {}, []
    for name, cells in columns.items():
        arrays[name], whole = _labelled(array_of(cells), labels.get(name, {}))
        partly += [] if whole else [name]
    table = pa.table(arrays)
    facts = {
        f"some values of {listed(partly)} have labels and others none, so these are read as they are": partly,
        f"the dates of {listed(far)} go beyond the year 9999, so {kind}'s numbers of these are read": far,
    }
    notes = tuple(
        Note(fact, "na_values", (Remedy({"exclude": names}, "leave them out"),))
        for fact, names in facts.items()
        if names
    )
    return Contents(str(path), kind, table.schema, lambda names, _: iter([table.select(list(names))]), notes)


def _with_dates(
    columns: dict[str, Any], names: list[str], read: Callable[..., tuple[dict[str, Any], Any]]
) -> list[str]:
    """Put dates in the place of their numbers in some columns, and return those that hold others, too.

    A file may have thousands of columns: each reading halves them.
    """
    try:
        columns.update(read(usecols=names)[0])
    except OverflowError:
        if len(names) == 1:
            return names
        half = len(names) // 2
        return [*_with_dates(columns, names[:half], read), *_with_dates(columns, names[half:], read)]
    return []


def _by_content(path: Path) -> tuple[str, str]:
    with path.open("rb") as file:
        return READERS[".sav" if file.read(4) == b"$FL2" else ".dta"]


def array_of(cells: Any) -> pa.Array:
    """Return a column as an Arrow array; empty text of these programs, which know no other, is a missing cell."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        numbers = pa.array(cells, from_pandas=True)
        known = cells[~np.isnan(cells)] if cells.dtype.kind == "f" else cells
        is_whole = bool((np.abs(known) < MOST_WHOLE).all() and (known == np.rint(known)).all())
        return numbers.cast(pa.int64()) if is_whole else numbers
    array = pa.array(cells, from_pandas=True)
    return pc.if_else(pc.equal(array, ""), None, array) if is_text(array.type) else array


def _labelled(array: pa.Array, labels: Mapping[Any, str]) -> tuple[pa.Array, bool]:
    """Return a column, by its labels where every value that occurs has one, and whether every value has.

    Numbers of Stata and SAS may lack for a reason that has a label and is a letter: they are missing.
    """
    codes = sorted(code for code in labels if isinstance(code, str) == is_text(array.type))
    if not codes:
        return array, True
    texts = [str(labels[code]) for code in codes]
    held = pc.index_in(array, pa.array(codes).cast(array.type, safe=False))
    if held.null_count > array.null_count or len(set(texts)) < len(texts):
        return array, False
    return pa.DictionaryArray.from_arrays(held, pa.array(texts, pa.utf8())), True
