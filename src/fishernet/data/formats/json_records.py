"""Tables in JSON: records one after the other (``.jsonl``, ``.ndjson``), or one document of records or of columns.

A document may be a list of records, columns with a list or a mapping of cells each (as pandas writes them), a list of
rows below one of names, the features of GeoJSON, or a mapping in which one list of records stands. Records within
records are columns of their own, ``address.city``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from fishernet.base.errors import FileFormatError
from fishernet.base.names import doubled
from fishernet.data.formats.contents import Contents

JSON_LINES = (".jsonl", ".ndjson")
JSON_ENDINGS = (".json", ".geojson", *JSON_LINES)
MOST_NESTED = 8  # records within records
NO_TABLE = 'holds no table: that is a list of records, [{"name": value, ...}, ...], or one record a line'

Record = Mapping[str, Any]


def json_contents(path: Path) -> Contents:
    """Return what a JSON file holds."""
    columns = _columns(path, _values(path))
    try:
        table = pa.table({name: _array(cells) for name, cells in columns.items()})
    except UnicodeEncodeError:
        raise FileFormatError(path, "holds text that is not Unicode (half of a surrogate pair)") from None
    return Contents(str(path), "JSON", table.schema, lambda names, _: iter([table.select(list(names))]))


def _values(path: Path) -> Any:
    """Return the document, or the list of what stands one after the other."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(path, f"is not UTF-8 text (byte {error.start})") from None
    found = _documents(path, text)
    return found[0] if len(found) == 1 and path.suffix.lower() not in JSON_LINES else found


def _documents(path: Path, text: str) -> list[Any]:
    """Return what stands one after the other, mostly a line each."""
    decoder, found, at = json.JSONDecoder(), [], len(text) - len(text.lstrip())
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            found.append(value)
            while at < len(text) and text[at].isspace():
                at += 1
    except json.JSONDecodeError as error:
        raise FileFormatError(path, f"is no JSON, or broken: {error.msg}", line=error.lineno) from None
    except ValueError:
        raise FileFormatError(path, "holds a number of thousands of digits") from None
    except RecursionError:
        raise FileFormatError(path, "is nested too deeply") from None
    return found


def _columns(path: Path, value: Any) -> dict[str, list[Any]]:
    """Return the cells of each column."""
    if isinstance(value, dict) and {"version", "kind"} <= value.keys() and isinstance(value.get("format"), str):
        raise FileFormatError(path, "holds a model, not a table")
    records = _records(value)
    if records is not None and any(records):
        return _of_records([_flat(path, record) for record in records])
    if isinstance(value, dict) and _are_columns(list(value.values())):
        return {name: list(cells) for name, cells in value.items()}
    raise FileFormatError(path, NO_TABLE)


def _records(value: Any) -> Sequence[Record] | None:
    """Return the records of a document; None where it has none, or columns."""
    if isinstance(value, list):
        return _rows(value)
    if not isinstance(value, dict) or not value:
        return None
    if isinstance(features := value.get("features"), list) and (found := _rows(features)):
        return [of if isinstance(of := feature.get("properties"), dict) else {} for feature in found]
    if all(isinstance(of, dict) for of in value.values()):
        return _of_mappings(value)
    lists = [found for of in value.values() if isinstance(of, list) and (found := _rows(of))]
    return lists[0] if len(lists) == 1 else None


def _rows(values: Sequence[Any]) -> Sequence[Record] | None:
    """Return records, or rows below one of names as such; None where values are neither."""
    if values and all(isinstance(value, dict) for value in values):
        return values
    if len(values) < 2 or not all(isinstance(value, list) for value in values):
        return None
    names, *rows = values
    are_names = bool(names) and all(isinstance(name, str) for name in names) and doubled(names) is None
    if not are_names or any(len(row) != len(names) for row in rows):
        return None
    return [dict(zip(names, row, strict=True)) for row in rows]


def _of_mappings(value: Mapping[str, Record]) -> Sequence[Record]:
    """Return records of mappings: of columns, where rows are called 0, 1, ..., or of rows."""
    rows = dict.fromkeys(row for column in value.values() for row in column)
    if not rows or not all(row.isdigit() for row in rows):
        return list(value.values())
    return [{name: column.get(row) for name, column in value.items()} for row in rows]


def _are_columns(values: Sequence[Any]) -> bool:
    return all(isinstance(cells, list) for cells in values) and len({len(cells) for cells in values}) == 1


def _flat(path: Path, record: Record, depth: int = 0) -> dict[str, Any]:
    """Return a record with the parts of records in it beside its own; FileFormatError where two have one name."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        parts = {name: value}
        if isinstance(value, dict) and depth < MOST_NESTED:
            parts = {f"{name}.{part}": of for part, of in _flat(path, value, depth + 1).items()}
        if twice := found.keys() & parts.keys():
            raise FileFormatError(path, f"has {min(twice)!r} both as a name and as a record within another; rename one")
        found |= parts
    return found


def _of_records(records: Sequence[Record]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _array(cells: list[Any]) -> pa.Array:
    """Return cells of one type as they are, and of several as text."""
    try:
        return pa.array(cells)
    except (pa.ArrowException, OverflowError):
        return pa.array([cell if cell is None or isinstance(cell, str) else json.dumps(cell) for cell in cells])
