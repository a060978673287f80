"""How a delimited text file is laid out: what stands between its cells, where its header is, and what is no row.

The first rows tell, once, and whoever reads the file then knows the names of its columns and the line at which its rows
begin. What was found that a caller may not expect is told in a `Note`, with what overrules it.
"""

from __future__ import annotations

import csv
import io
import itertools
import mmap
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fishernet.base.errors import FileFormatError
from fishernet.base.names import all_different, listed, several, told_of_renamed
from fishernet.base.remedies import Remedy
from fishernet.data.encoding.labels import DECIMAL
from fishernet.data.encoding.readings import reading_of
from fishernet.data.formats.contents import Note
from fishernet.data.formats.ending import MOST_ABOVE, without_last_lines
from fishernet.data.formats.text_file import Record, TextFile, explain, records
from fishernet.data.options import DEFAULT_NA, PLAIN, Options

DELIMITERS = (",", ";", "\t", "|")  # what tables are cut by elsewhere
SAID = re.compile(r"\"?sep=(.)\"?", re.IGNORECASE)
MOST_SAID = 16  # characters of the line that says it
BLANKS = " "  # stands for any number of blanks and tabs between cells
DOUBLED = ("::", "||")  # delimiters of two characters
UNITS = ("\x1f", "\x1e", "\x1d", "\t")  # one of which stands for a delimiter of several characters
SAMPLE_ROWS, LEAST_ROWS = 64, 4  # that are looked at, and of very long ones
SAMPLE_CHARACTERS = 2**20
MOST_HEADERS = 4  # lines of names, questions and units
LEAST_BESIDE = 3  # words beside one above numbers, which make a header of them
SAYS_LITTLE = 4  # a line says little that has words in one column of so many
FIRST_BELOW = 8  # rows below a line, by which it is known to hold names
MOSTLY = 2 / 3  # share of the rows that a delimiter must cut into equally many cells, where none does so in all
TITLED = 3  # columns, from which on a row with one cell is a title
MOST_NEW = 3  # of so many labels of a first row one may be missing from the rows below, as in any row
YEARS = range(1900, 2101)
QUOTED_NUMBER = re.compile(r"\"[+-]?[0-9.]+\"")  # a name, where the numbers below are in no quotes
LIKE_MISSING = ("missing", "unknown", "none", "refused", "unk", "not known", "no answer", "dk")
MANY_CELLS = 8  # of a row that blanks cut: more than words of a date, or of sentences of equal length
LEAST_BELOW = 2  # rows that tell what a column holds
NO_TABLE = (  # what a text begins with that is no table
    (
        re.compile(r"\s*<(?:!doctype|html|\?xml|table|head|body)\b", re.IGNORECASE),
        "an HTML or XML page, no table; export it as CSV",
    ),
    (re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{])"), "JSON; let its name end in .json or .jsonl"),
)


@dataclass(frozen=True)
class Layout:
    """How a delimited file is laid out.

    Attributes
    ----------
    file : TextFile
    delimiter : str
    names : tuple of str
        The names of the columns, all different; the first may be empty, if it is an index as pandas and R write one.
    first_line : int
        The line of the first row, counted from 1; 0 in a file without rows.
    spaced : bool
        Whether a space follows each delimiter.
    quoted : bool
        Whether there may be quotes; Arrow then tells missing cells from quoted text.
    all_quoted : bool
        Whether every cell is in quotes, which then mean nothing.
    notes : tuple of Note
    """

    file: TextFile
    delimiter: str
    names: tuple[str, ...]
    first_line: int
    spaced: bool = False
    quoted: bool = False
    all_quoted: bool = False
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def has_index(self) -> bool:
        """Whether the first of several columns has no name, as the index that pandas writes."""
        return len(self.names) > 1 and not self.names[0]

    def broken(self, why: str) -> FileFormatError:
        """Return an error that says where the file is broken."""
        return explain(self.file, self.delimiter, len(self.names), why, self.first_line)


def layout_of(file: TextFile, options: Options, named: str | None = None) -> Layout:
    """Return how a file is laid out; `named` is the delimiter that the ending of its name tells."""
    file, delimiter, sample, notes = _cells(file, options, named)
    place = _place_of_names(sample, options)
    first = _header_place(sample, options.text.skip_rows) if place is None else place
    if first and options.text.skip_rows is None:
        notes.append(_note_of_titles(sample[first].line - 1))
    rows, asked = sample[first:], options.text.header_rows
    n_headers = _n_headers(rows, known=place is not None) if asked is None else min(asked, len(rows))
    if asked is None and n_headers != 1:
        notes.append(_note_of_headers(n_headers, rows))
    below = rows[n_headers:]
    spaced = _are_spaced(rows[:n_headers] or rows)
    names = [name.strip() if spaced else name for name in _names(rows, n_headers)]
    return Layout(
        file,
        delimiter,
        tuple(_different(names, below, notes)),
        below[0].line if below else 0,
        spaced,
        file.gzipped or _holds(file, b'"'),
        len(below) > 0 and not _quotes_tell(options) and all(_is_quoted(record, delimiter) for record in rows),
        tuple(notes),
    )


# ---------------------------------------------------------------------------------------------- what separates cells


def _cells(file: TextFile, options: Options, named: str | None) -> tuple[TextFile, str, list[Record], list[Note]]:
    """Return a file as cells: without what ends it and is no row, its delimiter, its first rows, and what was found."""
    said = _said_delimiter(file)
    asked = options.text.delimiter or said
    delimiter, sample, notes = (asked, [], []) if asked and len(asked) > 1 else _delimited(file, asked, named)
    if delimiter == BLANKS or len(delimiter) > 1:
        file, delimiter = _with_tabs(file) if delimiter == BLANKS else _with_units(file, delimiter)
        sample = _sample(file, delimiter)
    if _place_of_names(sample, options) is None:
        _refuse_other_content(file, sample)
    if said is not None and len(sample) > 1:
        sample = sample[1:]
    if "" in options.na_values:
        known = {
            str(state) for variable in options.schema or () if not variable.is_continuous for state in variable.states
        }
        file, note = without_last_lines(file, delimiter, _width(sample), known)
        notes += [] if note is None else [note]
    return file, delimiter, sample, notes


def _sample(file: TextFile, delimiter: str) -> list[Record]:
    """Return comments and the first rows of a file as a delimiter cuts them; of rows that are very long only a few."""
    found: list[Record] = []
    n_rows, length = 0, 0
    try:
        for record in records(file, delimiter):
            found.append(record)
            length += len(record.text)
            n_rows += n_rows > 0 or not record.text.startswith("#")
            if n_rows == SAMPLE_ROWS or (length > SAMPLE_CHARACTERS and not 0 < n_rows < LEAST_ROWS):
                break
    except UnicodeDecodeError:
        raise explain(file, delimiter, 0, "no header") from None
    except csv.Error as error:
        if not found:
            raise FileFormatError(file.path, f"the header cannot be read ({error})", line=1) from None
    if not found:
        raise FileFormatError(file.path, "is empty; a table needs a header")
    return found


def _delimited(file: TextFile, asked: str | None, named: str | None) -> tuple[str, list[Record], list[Note]]:
    """Return what stands between the cells of a file, its first rows, and a note where its name says otherwise."""
    first = asked or named or DELIMITERS[0]
    sample = _sample(file, first)
    if asked is not None or (named is not None and _evenness(sample)[0] == 2):
        return first, sample, []
    best = (_evenness(sample), first, sample)
    for delimiter in DELIMITERS:
        if delimiter != first:
            other = _sample(file, delimiter)
            best = max(best, (_evenness(other), delimiter, other), key=lambda one: one[0])
    doubled = next((mark for mark in DOUBLED if named is None and _n_cut_by(mark, sample) > best[0][1]), None)
    if doubled is not None:
        return doubled, sample, []
    if best[0] == (0, 0) and _is_cut_by_blanks(sample, all_numbers=named is not None):
        best = ((0, 1), BLANKS, sample)
    if best[0] == (0, 0) and _width(sample) == 1:  # rows may be too short or too long: that is told by who reads them
        others = [
            (_share_of_width(other), delimiter, other)
            for delimiter in DELIMITERS
            for other in [_sample(file, delimiter)]
        ]
        share, delimiter, other = max(others, key=lambda one: one[0])
        best = ((0, 1), delimiter, other) if share >= MOSTLY else best
    _, delimiter, sample = best
    if named is None or delimiter == named:
        return delimiter, sample, []
    silence = Remedy({"delimiter": "tab" if delimiter == "\t" else delimiter}, "silence this warning")
    fact = f"the cells are separated by {delimiter!r}, not by {named!r}, and are read so"
    return delimiter, sample, [Note(fact, "delimiter", (silence,))]


def _said_delimiter(file: TextFile) -> str | None:
    """Return the delimiter that the first line names for Excel, as ``sep=;``; None where it names none."""
    try:
        with file.text() as text:
            found = SAID.fullmatch(text.readline(MOST_SAID).strip())
    except UnicodeDecodeError:  # said better by what reads the rows
        return None
    return None if found is None else found[1]


def _are_spaced(rows: Sequence[Record]) -> bool:
    """Whether a space follows each delimiter of some rows."""
    return all(
        len(record.cells) > 1 and '"' not in record.text and all(cell.startswith(" ") for cell in record.cells[1:])
        for record in rows
    )


def _below_comments(sample: Sequence[Record]) -> list[Record]:
    """Return the rows below comments; all where there are comments alone."""
    return list(itertools.dropwhile(lambda record: record.text.startswith("#"), sample)) or list(sample)


def _width(sample: Sequence[Record]) -> int:
    """Return how many cells most rows have."""
    counts = Counter(len(record.cells) for record in _below_comments(sample))
    return max(counts, key=lambda width: (counts[width], width))


def _share_of_width(sample: Sequence[Record]) -> float:
    """Return the share of rows that have as many cells as most, several; 0 where most have one."""
    width, rows = _width(sample), _below_comments(sample)
    return sum(len(record.cells) == width for record in rows) / len(rows) if width >= TITLED else 0.0


def _evenness(sample: Sequence[Record]) -> tuple[int, int]:
    """Return how well a delimiter cuts rows, 2 where all are cut evenly, 1 but for titles, and into how many cells."""
    width, sample = _width(sample), _below_comments(sample)
    rows = list(itertools.dropwhile(lambda record: len(record.cells) == 1, sample))
    n_titles = len(sample) - len(rows)
    if width == 1 or len(rows) <= max(1, n_titles) or any(len(record.cells) != width for record in rows):
        return 0, 0
    return (1 if n_titles else 2), width


def _n_cut_by(mark: str, sample: Sequence[Record]) -> int:
    """Return into how many cells, three or more, a delimiter of several characters cuts all lines; else 0."""
    rows = _below_comments(sample)
    counts = {1 + line.count(mark) for record in rows for line in record.text.splitlines() if line.strip()}
    return min(counts) if len(counts) == 1 and min(counts) >= TITLED else 0


def _is_cut_by_blanks(sample: Sequence[Record], all_numbers: bool) -> bool:
    """Whether the lines of a file are cut evenly by any number of blanks, mostly into numbers or into many cells.

    Where its name says otherwise, into numbers alone, with as many names above them or none.
    """
    rows = _below_comments(sample)
    cut = [_cut_by_blanks(line) for record in rows for line in record.text.splitlines() if line.strip()]
    width = len(cut[-1])
    cut = list(itertools.dropwhile(lambda cells: len(cells) not in (width, width - 1), cut))  # titles
    if width < 2 or len(cut) <= LEAST_BELOW or any(len(cells) != width for cells in cut[1:]):
        return False
    cells = [cell for row in cut[1:] for cell in row]
    n_numbers = sum(map(_is_number, cells))
    if all_numbers:
        return len(cut[0]) == width and n_numbers == len(cells)
    return len(cut[0]) in (width, width - 1) and (width >= MANY_CELLS or 2 * n_numbers >= len(cells))


def _cut_by_blanks(line: str) -> list[str]:
    return next(csv.reader([" ".join(line.split())], delimiter=" "), [])


def _with_tabs(file: TextFile) -> tuple[TextFile, str]:
    """Return a file whose cells are separated by blanks as one whose cells are separated by tabs, and these."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    with file.whole() as stream:
        lines = stream.read().decode("utf-8-sig").splitlines()
    writer.writerows(cells for cells in map(_cut_by_blanks, lines) if cells)
    return TextFile(file.path, False, text.getvalue().encode()), "\t"


def _with_units(file: TextFile, delimiter: str) -> tuple[TextFile, str]:
    """Return a file with a delimiter of one character instead of several, and that one, which the file has nowhere."""
    with file.whole() as stream:
        content = stream.read()
    unit = next((unit for unit in UNITS if unit.encode() not in content), None)
    if unit is None:
        fact = f"has every character that could stand for the delimiter {delimiter!r}; write it with one character"
        raise FileFormatError(file.path, fact, parameter="delimiter")
    return TextFile(file.path, False, content.replace(delimiter.encode(), unit.encode())), unit


def _holds(file: TextFile, text: bytes) -> bool:
    """Whether a file that is not compressed holds some bytes."""
    if file.content is not None:
        return text in file.content
    with file.binary() as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(text) >= 0


def _is_quoted(record: Record, delimiter: str) -> bool:
    """Whether all cells of a row are in quotes."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="").writerow(record.cells)
    return text.getvalue() == record.text.lstrip("\ufeff").rstrip("\r\n")


def _quotes_tell(options: Options) -> bool:
    """Whether a schema has a label that means a missing cell where it stands without quotes."""
    labels = {label for variable in options.schema or () if not variable.is_continuous for label in variable.states}
    return not labels.isdisjoint({"", *options.na_values})


def _refuse_other_content(file: TextFile, sample: Sequence[Record]) -> None:
    """Raise FileFormatError where the text is of another kind than a table."""
    text = sample[0].text + (sample[1].text if len(sample) > 1 else "")
    for pattern, what in NO_TABLE:
        if pattern.match(text):
            raise FileFormatError(file.path, f"holds {what}", line=1)


# ------------------------------------------------------------------------------------------------ where the header is


def _place_of_names(sample: Sequence[Record], options: Options) -> int | None:
    """Return where the row stands that holds the names of a schema; None without one, and where no row does."""
    wanted = {variable.name for variable in options.schema or ()}
    if not wanted or options.text.skip_rows is not None:
        return None
    return next((i for i, r in enumerate(sample) if wanted <= {*r.cells, *map(str.strip, r.cells)}), None)


def _header_place(sample: Sequence[Record], skip_rows: int | None) -> int:
    """Return how many of the first rows stand above the header: titles, comments and rows of delimiters."""
    if skip_rows is not None:
        return min(sum(record.line <= skip_rows for record in sample), len(sample) - 1)
    width = _width(sample)
    if width == 1:
        comments = list(itertools.takewhile(lambda record: record.text.startswith("#"), sample))
        return len(comments) if len(comments) < len(sample) else 0
    for place, record in enumerate(sample):
        full = sum(bool(cell.strip()) for cell in record.cells)
        is_title = len(record.cells) < width - 1 or (full < 2 and width >= TITLED)
        is_title = is_title or (len(record.cells) == 1 < width and not _goes_on(sample[place + 1 :]))
        is_comment = record.text.startswith("#") and (len(record.cells) != width or not _goes_on(sample[place + 1 :]))
        if not is_title and not is_comment:
            return _fuller_place(sample, place, width) if len(sample) - place > 1 else 0
    return 0


def _fuller_place(sample: Sequence[Record], place: int, width: int) -> int:
    """Return where a full row of mostly different words stands above numbers, below what has gaps and is no header.

    That is a few lines with stray words, or one line that says little: names of groups of columns say more.
    """
    said = sum(bool(cell.strip()) for cell in sample[place].cells)
    if said == width:
        return place
    for at in range(place + 1, min(place + MOST_ABOVE, len(sample) - LEAST_BELOW)):
        cells = [cell.strip() for cell in sample[at].cells]
        if len(cells) != width or not all(cells):
            continue
        kinds = _kinds(sample[at + 1 : at + 1 + FIRST_BELOW])
        are_names = SAYS_LITTLE * len(set(cells)) > (SAYS_LITTLE - 1) * width and not any(
            _kind([cells[column]]) for column in kinds
        )
        is_far = at > place + 1 or SAYS_LITTLE * said <= width
        return at if kinds and are_names and is_far else place
    return place


def _goes_on(rows: Sequence[Record]) -> bool:
    """Whether the first of some rows has numbers where those below it have, and so is not their header."""
    kinds = _kinds(rows[1:]) if len(rows) > LEAST_BELOW else {}
    return any(_is_number(rows[0].cells[place]) for place in kinds if place < len(rows[0].cells))


def _n_headers(rows: Sequence[Record], *, known: bool) -> int:
    """Return how many rows are names, questions or units: none where the first, if unknown, looks like all others."""
    if len(rows) <= LEAST_BELOW:
        return 1
    if levels := _n_levels(rows):
        return levels + _is_of_index(rows[levels])
    says_names = QUOTED_NUMBER.search(rows[0].text) and not any(QUOTED_NUMBER.search(row.text) for row in rows[1:])
    if not known and not says_names and _looks_like_a_row(rows[0].cells, rows[1:]):
        return 0
    most = min(MOST_HEADERS, len(rows) - LEAST_BELOW - 1)
    below = rows[max(1, most) :]
    kinds, names = _kinds(below), rows[0].cells

    def goes_on(row: Record) -> bool:
        return _is_another_header(row.cells, below) or _fills_names(names, row.cells, kinds)

    return 1 + len(list(itertools.takewhile(goes_on, rows[1:most])))


def _n_levels(rows: Sequence[Record]) -> int:
    """Return how many lines the names of columns of several levels take, as pandas writes them; 0 if they have one.

    The last has words above numbers, names of the first come again, and no two columns have the same in all lines.
    """
    below, width = rows[MOST_HEADERS + 1 :], len(rows[0].cells)
    if width < TITLED or len(below) < LEAST_BELOW:
        return 0
    n = 1 + max((at for at in range(1, MOST_HEADERS) if _is_another_header(rows[at].cells, below)), default=0)
    if n == 1 or any(len(row.cells) != width or not all(row.cells[1:]) for row in rows[:n]):
        return 0
    columns = list(zip(*(row.cells[1:] for row in rows[:n]), strict=True))
    return n if len({column[0] for column in columns}) < len(columns) == len(set(columns)) else 0


def _is_of_index(row: Record) -> bool:
    """Whether a line says at most what the first column is called."""
    return not any(cell.strip() for cell in row.cells[1:])


def _kinds(rows: Sequence[Record]) -> dict[int, str]:
    """Return which columns hold numbers or dates in all of some rows that have a cell, and how they are written."""
    found = {}
    for place in range(len(rows[0].cells)):
        cells = [r.cells[place] for r in rows if len(r.cells) > place and r.cells[place].strip() not in DEFAULT_NA]
        if len(cells) < LEAST_BELOW:
            continue
        if (kind := _kind(cells)) is not None:
            found[place] = kind
    return found


def _kind(cells: Sequence[str]) -> str | None:
    """Return what cells hold: plain numbers, numbers or dates of another writing, or (None) text."""
    if all(map(_is_number, cells)):
        return "numbers"
    return None if reading_of(cells, np.ones(len(cells), dtype=np.int64), PLAIN) is None else "written otherwise"


def _is_number(cell: str) -> bool:
    return DECIMAL.fullmatch(cell.strip()) is not None


def _looks_like_a_row(cells: Sequence[str], below: Sequence[Record]) -> bool:
    """Whether what should be names are numbers above numbers, and labels most of which occur again below.

    Labels may all be new where a number is that from which the rows below are counted.
    """
    if len(cells) != _width(below):
        return False
    kinds = _kinds(below)
    above = {place: cells[place] for place, kind in kinds.items() if kind == "numbers"}
    numbers = [cell for cell in above.values() if cell.strip() not in DEFAULT_NA]
    if not numbers or not all(map(_is_number, numbers)):
        return False
    others = {place: cell for place, cell in enumerate(cells) if place not in above}
    known = {place: {record.cells[place] for record in below if len(record.cells) > place} for place in others}
    said = {place: cell for place, cell in others.items() if cell.strip() not in DEFAULT_NA}
    if said:
        if any(_counts_on([cells, *(record.cells for record in below)], place) for place in above):
            return True
        return MOST_NEW * sum(cell not in known[place] for place, cell in said.items()) <= len(said)
    values = [float(cell) for cell in numbers]
    steps = {round(b - a, 9) for a, b in itertools.pairwise(values)}
    are_even = len(steps) == 1 and min(steps) > 0 and (len(values) > LEAST_BESIDE or values[0] in (0, 1))
    are_names = are_even or set(values) <= set(YEARS)  # wavelengths, say, or places
    return not are_names


def _counts_on(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Whether each of many rows has a whole number in a place, one more than that before."""
    numbers = [int(cells[place]) for cells in rows if len(cells) > place and cells[place].strip().isdecimal()]
    return FIRST_BELOW < len(numbers) == len(rows) and all(b == a + 1 for a, b in itertools.pairwise(numbers))


def _is_another_header(cells: Sequence[str], below: Sequence[Record]) -> bool:
    """Whether a row has words above columns of numbers and dates, and says nothing that a row below says.

    Above one such column alone a word may mean a missing cell, so then several other cells must be words of their own.
    """
    kinds = _kinds(below)
    words = [cell for place in kinds if place < len(cells) and (cell := cells[place].strip())]
    others = [cell.strip() for place, cell in enumerate(cells) if place not in kinds]
    known = {cell.strip() for record in below for cell in record.cells}
    if not words or any(_kind([w]) or _may_be_missing(w) for w in words):
        return False
    if any(cell and cell in known for cell in (*words, *others)):
        return False
    return len(words) > 1 or (len(others) >= LEAST_BESIDE and all(others) and len({*words, *others}) == len(cells))


def _fills_names(names: Sequence[str], cells: Sequence[str], kinds: Iterable[int]) -> bool:
    """Whether a row has words where several names are lacking, and none but words above numbers and dates."""
    filled = [cell.strip() for name, cell in zip(names, cells, strict=False) if not name.strip() and cell.strip()]
    above = [cells[place].strip() for place in kinds if place < len(cells)]
    return len(filled) > 1 and bool(above) and not any(word and _kind([word]) for word in (*above, *filled))


def _may_be_missing(word: str) -> bool:
    """Whether a word stands for a missing cell in many tables."""
    return word in DEFAULT_NA or word.lower() in LIKE_MISSING or not any(map(str.isalpha, word))


def _note_of_titles(n: int) -> Note:
    fact = f"{several(n, 'line')} above the header {'is' if n == 1 else 'are'} no part of the table"
    return Note(fact, "skip_rows", (Remedy({"skip_rows": n}, "silence this warning"),))


def _note_of_headers(n: int, rows: Sequence[Record]) -> Note:
    one = Remedy({"header_rows": 1}, "take the first line alone for the header")
    if n == 0:
        first = listed(rows[0].cells, 3)
        fact = f"the first line ({first}) looks like a row, not like names, so the columns are numbered"
        return Note(fact, "header_rows", (one, Remedy({"header_rows": 0}, "silence this warning")))
    fact = f"{several(n - 1, 'line')} below the names {'is' if n == 2 else 'are'} part of the header, and no rows"
    return Note(fact, "header_rows", (one, Remedy({"header_rows": n}, "silence this warning")))


# --------------------------------------------------------------------------------------------- what columns are called


def _names(rows: Sequence[Record], n_headers: int) -> list[str]:
    """Return the names of the columns; an empty one where rows have a cell more than the header."""
    below = rows[n_headers:]
    width = _width(below) if below else len(rows[0].cells)
    if n_headers == 0:
        return [f"column {place + 1}" for place in range(width)]
    headers = [record.cells for record in rows[:n_headers]]
    levels = _n_levels(rows) if n_headers > 1 else 0
    if levels and n_headers == levels + _is_of_index(rows[levels]):
        index = headers[-1][0] if n_headers > levels else "_".join(filter(None, (cells[0] for cells in headers)))
        return [index, *map("_".join, zip(*(cells[1:] for cells in headers[:levels]), strict=True))]
    names = _joined(headers)
    if below and width == len(names) + 1 and all(len(record.cells) == width for record in below):
        if all(not record.cells[-1].strip() for record in below):
            return [*names, ""]
        return ["", *names]
    return names


def _joined(headers: Sequence[Sequence[str]]) -> list[str]:
    """Return names from several lines: the first line, unless it names groups of columns."""
    first = list(headers[0])
    if len(headers) == 1 or (all(first) and len(set(first)) == len(first)):
        return first
    group, found = "", []
    for place, name in enumerate(first):
        group = name or group
        below = headers[1][place] if place < len(headers[1]) else ""
        found.append(" ".join(word for word in (group, below) if word))
    return found


def _different(names: Sequence[str], below: Sequence[Record], notes: list[Note]) -> list[str]:
    """Return names that are all different and, but for the first, not empty; say which were changed.

    A column without a name and without cells is no loss: it is left out and told where columns are decided on.
    """
    called, unnamed = list(names), []
    for place, name in enumerate(names):
        if not name and (place or len(names) == 1):
            called[place] = f"column {place + 1}"
            if any(record.cells[place].strip() for record in below if len(record.cells) > place):
                unnamed.append(called[place])
    found, changed = all_different(called)
    if unnamed:
        what = (
            f"{unnamed[0]} has no name and is" if len(unnamed) == 1 else f"{len(unnamed)} columns have no names and are"
        )
        notes.append(Note(f"{what} called {listed(unnamed)}", "exclude"))
    if changed:
        notes.append(Note(told_of_renamed(changed), "exclude"))
    return found
