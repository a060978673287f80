"""ARFF files, the format of Weka.

Nominal attributes declare their states, whose types are settled as those of other text (``{1, 2, 3}`` are integers);
numeric ones hold numbers, and string ones text. A bare ``?`` is a missing cell. Read line by line: comments may stand
anywhere, and quotes and escapes are ARFF's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from fishernet.base.errors import FileFormatError
from fishernet.base.names import several
from fishernet.data.csv import TextFile
from fishernet.data.encoding.cells import Block, Cells, Columns, Contents
from fishernet.data.encoding.labels import INTEGER, Labels, typed
from fishernet.data.options import Options
from fishernet.data.originals import frame_of_text
from fishernet.data.variable import label_array

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
    kind : str
        "nominal", "numeric" or "string".
    labels : dict
        Each label's position, in the order of declaration or appearance.
    indices : list of int
        The position of each row's label; -1 in a missing cell.
    """

    name: str
    kind: str
    labels: dict[str, int]
    indices: list[int] = field(default_factory=list)

    def cells(self) -> Cells:
        """Return the column as cells."""
        texts = list(self.labels)
        indices = np.array(self.indices, dtype=np.int64)
        has_nulls = bool((indices < 0).any())
        indices[indices < 0] = len(texts)
        block = Block(indices, np.arange(len(texts) + 1), has_nulls)
        return Cells(self.name, self._typed(texts), [block], declared=self.kind == "nominal")

    def as_written(self) -> Cells:
        """Return the column as cells whose labels are the text of the file."""
        return replace(self.cells(), labels=label_array(list(self.labels)))

    def _typed(self, texts: list[str]) -> Labels:
        if self.kind == "numeric" and not all(map(INTEGER.fullmatch, texts)):
            return np.array([float(text) + 0.0 for text in texts])
        if self.kind == "string":
            return label_array(texts)
        labels = typed(texts)
        return labels if len(np.unique(labels)) == len(texts) else label_array(texts)


def arff_columns(file: TextFile, options: Options) -> Columns:
    """Read the columns of an ARFF file that the options ask for."""
    return arff_contents(file, options).columns(options)


def arff_contents(file: TextFile, options: Options) -> Contents:
    """Read all columns of an ARFF file; raises as `arff_columns`."""
    options.text.refuse(f"{file.path.name} with its own rules", "encoding")
    try:
        with file.text() as text:
            lines = _lines(text)
            attributes = _declared(file, lines)
            names = [attribute.name for attribute in attributes]
            options.choose(names)  # refuses names early
            n_rows = 0
            for number, line in lines:
                _add_row(file, attributes, number, line, options.na_values)
                n_rows += 1
    except UnicodeDecodeError as error:
        raise file.undecodable() or FileFormatError(file.path, f"cannot be read as text ({error})") from None

    def columns(wanted: Options) -> Columns:
        chosen = set(wanted.choose(names))
        return Columns([attribute.cells() for attribute in attributes if attribute.name in chosen], n_rows)

    return Contents(frame_of_text([attribute.as_written() for attribute in attributes], names), columns)


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
