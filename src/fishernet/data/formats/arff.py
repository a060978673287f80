"""ARFF files, the format of Weka.

Nominal attributes declare their states, whose types are settled as those of other text (``{1, 2, 3}`` are integers);
numeric ones hold numbers, and string ones text. A bare ``?`` is a missing cell. Read line by line: comments may stand
anywhere, and quotes and escapes are ARFF's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa

from fishernet.base.errors import FileFormatError
from fishernet.base.names import check_names, several
from fishernet.data.formats.contents import Contents
from fishernet.data.formats.text_file import TextFile
from fishernet.data.options import Options
from fishernet.data.originals import written_field

VALUE = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"\s][^,]*?|))\s*(,|$)""")
NAME = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*""")
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
NUMERIC = ("numeric", "real", "integer")


@dataclass
class Attribute:
    """A column of an ARFF file while it is read.

    Attributes
    ----------
    name : str
    kind : {"nominal", "numeric", "string"}
    labels : dict
        Each label's position, in the order of declaration or appearance.
    indices : list of int
        The position of each row's label; -1 in a missing cell.
    """

    name: str
    kind: Literal["nominal", "numeric", "string"]
    labels: dict[str, int]
    indices: list[int] = field(default_factory=list)

    def as_written(self) -> pa.DictionaryArray:
        """Return the column as text."""
        indices = np.array(self.indices, dtype=np.int32)
        held = pa.array(indices, mask=indices < 0)
        return pa.DictionaryArray.from_arrays(held, pa.array(list(self.labels), pa.utf8()))


def arff_contents(file: TextFile, options: Options) -> Contents:
    """Return what an ARFF file holds."""
    options.text.refuse(f"{file.path.name} with its own rules", "encoding")
    try:
        with file.text() as text:
            lines = _lines(text)
            attributes = _declared(file, lines)
            check_names([attribute.name for attribute in attributes])
            for number, line in lines:
                _add_row(file, attributes, number, line, options.na_values)
    except UnicodeDecodeError as error:
        raise file.undecodable() or FileFormatError(file.path, f"cannot be read as text ({error})") from None
    schema = pa.schema([written_field(attribute.name, attribute.kind) for attribute in attributes])
    table = pa.Table.from_arrays([attribute.as_written() for attribute in attributes], schema=schema)
    return Contents(str(file.path), "ARFF", schema, lambda names, _: iter([table.select(list(names))]))


def _lines(text: Iterator[str]) -> Iterator[tuple[int, str]]:
    """Go through the lines that are neither empty nor a comment, with their numbers."""
    for number, raw in enumerate(text, start=1):
        line = raw.strip()
        if line and not line.startswith("%"):
            yield number, line


def _declared(file: TextFile, lines: Iterator[tuple[int, str]]) -> list[Attribute]:
    """Read the header, up to and with the line @data."""
    attributes: list[Attribute] = []
    for number, line in lines:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@data":
            return attributes
        if keyword == "@attribute":
            attributes.append(_attribute(file, number, line[len(keyword) :]))
        elif keyword != "@relation":
            raise FileFormatError(file.path, f"expected @relation, @attribute or @data, not {line[:40]!r}", line=number)
    raise FileFormatError(file.path, "has no line @data, so it is no ARFF file")


def _attribute(file: TextFile, number: int, declaration: str) -> Attribute:
    match = NAME.match(declaration)
    if match is None:
        raise FileFormatError(file.path, "an attribute needs a name and a type", line=number)
    name = _plain(match)[0]
    kind = declaration[match.end() :].strip()
    if kind.startswith("{") and kind.endswith("}"):
        states = [value for value, _ in _values(file, number, kind[1:-1])]
        labels = {state: position for position, state in enumerate(states)}
        if len(labels) < len(states) or states == [""]:
            raise FileFormatError(file.path, f"the attribute {name!r} has doubled states, or none", line=number)
        return Attribute(name, "nominal", labels)
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in NUMERIC:
        return Attribute(name, "numeric", {})
    if word == "string":
        return Attribute(name, "string", {})
    raise FileFormatError(
        file.path,
        f"the attribute {name!r} is of type {kind[:40]!r}; nominal, numeric and string ones are read",
        line=number,
    )


def _add_row(file: TextFile, attributes: list[Attribute], number: int, line: str, na_values: frozenset[str]) -> None:
    if line.startswith("{"):
        raise FileFormatError(file.path, "sparse rows are not read; save the file with dense rows", line=number)
    values = _values(file, number, line)
    if len(values) != len(attributes):
        what = f"{several(len(values), 'cell')} in this row for {several(len(attributes), 'attribute')}"
        raise FileFormatError(file.path, what, line=number)
    for attribute, (value, quoted) in zip(attributes, values, strict=True):
        position = attribute.labels.get(value)
        if value == "?" and not quoted:
            position = -1
        elif position is None:
            position = _new_label(file, attribute, number, value, quoted, na_values)
        attribute.indices.append(position)


def _new_label(
    file: TextFile, attribute: Attribute, number: int, value: str, quoted: bool, na_values: frozenset[str]
) -> int:
    """Return the position of a label that was not met before; -1 for a missing cell."""
    if value in na_values and not quoted:
        return -1
    if attribute.kind == "nominal":
        what = f"{value!r} is not among the states declared for {attribute.name!r}"
        raise FileFormatError(file.path, what, line=number)
    if attribute.kind == "numeric" and not _is_number(value):
        raise FileFormatError(file.path, f"{value!r} is no number, as {attribute.name!r} holds", line=number)
    attribute.labels[value] = len(attribute.labels)
    return attribute.labels[value]


def _is_number(value: str) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except ValueError:
        return False


def _values(file: TextFile, number: int, line: str) -> list[tuple[str, bool]]:
    """Divide a row at its commas; each value with whether it was quoted."""
    if "'" not in line and '"' not in line:
        return [(value.strip(), False) for value in line.split(",")]
    values = []
    start, more = 0, ","
    while more:
        match = VALUE.match(line, start)
        if match is None:
            raise FileFormatError(file.path, "a quote is not closed, or stands within a value", line=number)
        values.append(_plain(match))
        start, more = match.end(), match[4]
    return values


def _plain(match: re.Match[str]) -> tuple[str, bool]:
    single, double, bare = match[1], match[2], match[3]
    if bare is not None:
        return bare, False
    text = single if single is not None else double
    return ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else ESCAPED.get(m[2], m[2]), text), True
