"""What ends a delimited file and is none of its rows: lines of delimiters alone, notes, and sums.

What stands above the rows is no row either: at most `MOST_ABOVE` lines of titles.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Collection, Sequence

from fishernet.base.names import listed
from fishernet.data.encoding.labels import DECIMAL
from fishernet.data.formats.contents import Note
from fishernet.data.formats.text_file import TextFile, records
from fishernet.data.options import DEFAULT_NA

TOTAL = re.compile(rb"[\"']?(?:grand |sub)?(?:totals?|sum|overall|gesamt|summe)\b", re.IGNORECASE)
MOST_OF_LINE = 2**16  # bytes, by which the last line is known
FEWEST = 2  # columns, and rows
NOTED = 3  # columns, from which on a row with one cell may be a note
MOST_ABOVE = 16  # lines above a header
MOST_BELOW = 20  # lines below a table
SENTENCE = re.compile(r"[^\W\d_].*[\s:]")  # words, and not the first cell of a row that was cut off


def without_last_lines(
    file: TextFile, delimiter: str, width: int, known: Collection[str] = ()
) -> tuple[TextFile, Note | None]:
    """Return a file without the lines that end it and are no rows, and what they were.

    Those are lines of delimiters alone, as sheets leave them, and notes: a few lines of which the first cell alone says
    something, one of them a sentence, below rows that say more. Lines of delimiters between others stay: they are rows
    of which nothing is known, and are answered as the others are. A last row of totals is none where it has the sums.
    What begins with a label that is `known` is a row.
    """
    mark = delimiter.encode() * (width - 1)
    if width < FEWEST or file.gzipped:
        return file, None
    end = file.end(MOST_OF_LINE).rstrip(b"\r\n")
    if TOTAL.match(end.rpartition(b"\n")[2]):
        return _without_sums(file, delimiter, width, known)
    if not end.endswith(mark):
        return file, None
    with file.whole() as stream:
        lines = [line.rstrip(b"\r") for line in stream.read().rstrip(b"\r\n").split(b"\n")]
    last = list(itertools.takewhile(lambda line: line.endswith(mark), reversed(lines)))
    n_blank = len(list(itertools.takewhile(lambda line: line == mark, last)))
    n, told = n_blank, f"{n_blank:,} {'row' if n_blank == 1 else 'rows'} without a cell at the end"
    told += " is left out" if n_blank == 1 else " are left out"
    above = lines[: len(lines) - len(last)]
    rows = [line for line in above if not line.endswith(mark)]
    if width >= NOTED and _say_more(above, mark) and _are_notes(last, rows, delimiter, known):
        n, told = len(last), _notes_from(len(above) + 1)
    if n == 0:
        return file, None
    return TextFile(file.path, False, b"\n".join(lines[: len(lines) - n]) + b"\n"), Note(told)


def without_short_lines(file: TextFile, delimiter: str, width: int, first_line: int) -> tuple[TextFile, Note] | None:
    """Return a file without the notes of a cell or two below its rows, and what they were; None without any.

    One of them at least is a sentence: a row that was cut off is none.
    """
    begin, n, has_sentence = None, 0, False
    most = 2 if width > NOTED else 1  # of three cells, two may be a row that was cut off
    try:
        for record in records(file, delimiter):
            if record.line < first_line or len(record.cells) == width != 1:
                if begin is not None:
                    return None
                continue
            begin, n = begin or record.line, n + 1
            words = [cell for cell in record.cells if cell.strip()]
            if n > MOST_BELOW or not 0 < len(words) <= most or "\n" in words[0]:
                return None
            has_sentence = has_sentence or SENTENCE.search(words[0]) is not None
    except (csv.Error, UnicodeDecodeError):  # said better by what reads the rows
        return None
    if not has_sentence or begin is None or begin <= first_line:
        return None
    with file.whole() as stream:
        text = b"".join(itertools.islice(io.BytesIO(stream.read()), begin - 1))
    return TextFile(file.path, False, text), Note(_notes_from(begin))


def without_comments(file: TextFile, delimiter: str, width: int, first_line: int) -> tuple[TextFile, Note] | None:
    """Return a file without lines among its rows that begin with # and are no rows; None where others are none, too."""
    kept, n = [], 0
    try:
        for record in records(file, delimiter):
            is_row = record.line < first_line or len(record.cells) == width
            if not is_row and not record.text.startswith("#"):
                return None
            n += not is_row
            if is_row:
                kept.append(record.text)
    except (csv.Error, UnicodeDecodeError):  # said better by what reads the rows
        return None
    if not n:
        return None
    told = "1 line that begins with # is a comment" if n == 1 else f"{n:,} lines that begin with # are comments"
    text = "".join(kept).encode()
    return TextFile(file.path, False, text), Note(f"{told}, and left out")


def _notes_from(line: int) -> str:
    return f"the lines from {line:,} on are notes below the table, and left out"


def _without_sums(file: TextFile, delimiter: str, width: int, known: Collection[str]) -> tuple[TextFile, Note | None]:
    """Return a file without its last row where that is called a total and has the sum of a column."""
    with file.whole() as stream:
        above, _, last = stream.read().rstrip(b"\r\n").rpartition(b"\n")
    try:
        found = (record.cells for record in records(TextFile(file.path, False, above), delimiter))
        rows = [*itertools.dropwhile(lambda cells: len(cells) != width, found)][1:]
        totals = next(csv.reader([last.decode().rstrip("\r")], delimiter=delimiter), [])
    except (csv.Error, UnicodeDecodeError):  # said better by what reads the rows
        return file, None
    if len(totals) != width or totals[0] in known or len(rows) <= FEWEST or any(len(row) != width for row in rows):
        return file, None
    for place, total in enumerate(totals):
        cells = [row[place] for row in rows if row[place].strip() not in DEFAULT_NA]
        if len(cells) > FEWEST and all(DECIMAL.fullmatch(cell.strip()) for cell in (total, *cells)):
            of_rows = math.fsum(map(float, cells))
            if of_rows and math.isclose(of_rows, float(total), rel_tol=1e-9):
                told = f"the last row ({listed(totals, 3)}) has the sums of the others, and is left out"
                return TextFile(file.path, False, above + b"\n"), Note(told)
    return file, None


def _are_notes(lines: Sequence[bytes], above: Sequence[bytes], delimiter: str, known: Collection[str]) -> bool:
    """Whether the first cell alone of some lines says something, which in one is a longer sentence than others are."""
    try:
        said = [text for text in _first_cells(lines, delimiter) if text.strip()]
        others = _first_cells(above[-MOST_BELOW:], delimiter)
    except csv.Error:  # a file whose lines end otherwise
        return False
    if not 0 < len(said) <= MOST_BELOW or any(text in known for text in said):
        return False
    most = max((len(text.split()) for text in others), default=0)
    return any(SENTENCE.search(text) and len(text.split()) > most for text in said)


def _first_cells(lines: Sequence[bytes], delimiter: str) -> list[str]:
    rows = csv.reader((line.decode(errors="replace") for line in lines), delimiter=delimiter)
    return [row[0] for row in rows if row]


def _say_more(lines: Sequence[bytes], mark: bytes) -> bool:
    """Whether no line, but for titles at the beginning, has its first cell alone."""
    return len(lines) > FEWEST and not any(line.endswith(mark) for line in lines[MOST_ABOVE:])
