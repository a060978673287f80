"""What ends a delimited file and is none of its rows: lines of delimiters alone, notes, and sums."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Sequence

from fishernet.base.names import listed
from fishernet.data.encoding.labels import DECIMAL
from fishernet.data.formats.contents import Note
from fishernet.data.formats.text_file import LAST_ROWS, NOTE, TextFile, records
from fishernet.data.options import DEFAULT_NA

TOTAL = re.compile(rb"[\"']?(?:grand |sub)?(?:totals?|sum|overall|gesamt|summe)\b", re.IGNORECASE)
MOST_OF_LINE = 2**16  # bytes, by which the last line is known
FEWEST = 2  # columns, and rows
NOTED = 3  # columns, from which on a row with one cell may be a note
MOST_ABOVE = 16  # lines above a header


def without_last_lines(file: TextFile, delimiter: str, width: int) -> tuple[TextFile, Note | None]:
    """Return a file without the lines that end it and are no rows, and what they were.

    Those are lines of delimiters alone, as sheets leave them, and notes: a few lines of which the first cell alone says
    something, one of them a sentence, below rows that say more. Lines of delimiters between others stay: they are rows
    of which nothing is known, and are answered as the others are. A last row of totals is none where it has the sums.
    """
    mark = delimiter.encode() * (width - 1)
    if width < FEWEST or file.gzipped:
        return file, None
    end = file.end(MOST_OF_LINE).rstrip(b"\r\n")
    if TOTAL.match(end.rpartition(b"\n")[2]):
        return _without_sums(file, delimiter, width)
    if not end.endswith(mark):
        return file, None
    with file.whole() as stream:
        lines = [line.rstrip(b"\r") for line in stream.read().rstrip(b"\r\n").split(b"\n")]
    last = list(itertools.takewhile(lambda line: line.endswith(mark), reversed(lines)))
    n_blank = len(list(itertools.takewhile(lambda line: line == mark, last)))
    n, told = n_blank, f"{n_blank:,} {'row' if n_blank == 1 else 'rows'} without a cell at the end"
    told += " is left out" if n_blank == 1 else " are left out"
    if width >= NOTED and _are_notes(last, delimiter, width) and _say_more(lines[: len(lines) - len(last)], mark):
        n, told = len(last), f"the lines from {len(lines) - len(last) + 1:,} on are notes below the table, and left out"
    if n == 0:
        return file, None
    return TextFile(file.path, False, b"\n".join(lines[: len(lines) - n]) + b"\n"), Note(told)


def _without_sums(file: TextFile, delimiter: str, width: int) -> tuple[TextFile, Note | None]:
    """Return a file without its last row where that is called a total and has the sum of a column."""
    with file.whole() as stream:
        above, _, last = stream.read().rstrip(b"\r\n").rpartition(b"\n")
    try:
        rows = [record.cells for record in records(TextFile(file.path, False, above), delimiter)][1:]
        totals = next(csv.reader([last.decode().rstrip("\r")], delimiter=delimiter), [])
    except (csv.Error, UnicodeDecodeError):  # said better by what reads the rows
        return file, None
    if len(totals) != width or len(rows) <= FEWEST or any(len(row) != width for row in rows):
        return file, None
    for place, total in enumerate(totals):
        known = [row[place] for row in rows if row[place].strip() not in DEFAULT_NA]
        if len(known) > FEWEST and all(DECIMAL.fullmatch(cell.strip()) for cell in (total, *known)):
            found = math.fsum(map(float, known))
            if found and math.isclose(found, float(total), rel_tol=1e-9):
                told = f"the last row ({listed(totals, 3)}) has the sums of the others, and is left out"
                return TextFile(file.path, False, above + b"\n"), Note(told)
    return file, None


def _are_notes(lines: Sequence[bytes], delimiter: str, width: int) -> bool:
    """Whether the first cell alone of some lines says something, which is a sentence in one."""
    texts = [line.decode(errors="replace") for line in lines]
    try:
        cells = list(csv.reader(texts, delimiter=delimiter))
    except csv.Error:  # a file whose lines end otherwise
        return False
    said = [row[0] for row in cells if any(map(str.strip, row))]
    if not 0 < len(said) <= LAST_ROWS or len(cells) != len(texts) or any(len(row) != width for row in cells):
        return False
    return all(map(str.strip, said)) and any(NOTE.search(text) for text in said)


def _say_more(lines: Sequence[bytes], mark: bytes) -> bool:
    """Whether no line, but for titles at the beginning, has its first cell alone."""
    return len(lines) > FEWEST and not any(line.endswith(mark) for line in lines[MOST_ABOVE:])
