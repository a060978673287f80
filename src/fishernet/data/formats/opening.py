"""The formats of files that hold tables: which one a file has, and what opens it.

The ending of a name tells the format; where it says nothing, the first bytes do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from fishernet.base.errors import FileFormatError, SchemaError, warn
from fishernet.base.io import UTF16_MARKS, naming_unreadable
from fishernet.base.remedies import Remedy
from fishernet.data.formats.arff import arff_contents
from fishernet.data.formats.columnar import arrow_contents, parquet_contents
from fishernet.data.formats.contents import Contents
from fishernet.data.formats.csv import delimited_contents
from fishernet.data.formats.json_records import JSON_ENDINGS, json_contents
from fishernet.data.formats.labelled import READERS, labelled_contents
from fishernet.data.formats.layout import layout_of
from fishernet.data.formats.r_frames import R_ENDINGS, r_contents
from fishernet.data.formats.sheets import SHEETS, sheet_contents
from fishernet.data.formats.text_file import PACKED, TextFile, only_in_zip
from fishernet.data.options import Options

TEXT: dict[str, str | None] = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None, ".data": None}
ARFF = ".arff"
TYPED: dict[str, Callable[[Path], Contents]] = {  # whose columns have types
    ".parquet": parquet_contents,
    ".pq": parquet_contents,
    **dict.fromkeys((".arrow", ".feather", ".ipc"), arrow_contents),
    **dict.fromkeys(READERS, labelled_contents),
    **dict.fromkeys(JSON_ENDINGS, json_contents),
}
KINDS = (
    dict.fromkeys(TEXT, "text") | {ARFF: "arff"} | dict.fromkeys(SHEETS, "sheet") | dict.fromkeys(READERS, "labelled")
)
KINDS |= (
    dict.fromkeys(R_ENDINGS, "r")
    | {".parquet": "parquet", ".pq": "parquet"}
    | dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow")
    | dict.fromkeys(JSON_ENDINGS, "json")
)
MAGIC = {  # what a file begins with, and the ending that it should have
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"$FL2": ".sav",
    b"<stata_dta>": ".dta",
    b"PK\x03\x04": ".zip",
    b"\xd0\xcf\x11\xe0": ".xls",
}
IN_ZIP = {b"opendocument.spreadsheet": ".ods", b"xl/": ".xlsx", b"[Content_Types].xml": ".xlsx"}
NO_TABLES = {
    b"%PDF": "a PDF; save its table as CSV",
    b"SQLite format 3": "a database; read what a query returns, with fn.read_query",
    b"\x1f\x8b": "packed by gzip; let its name end in .csv.gz",
    b"\xfd7zXZ": "packed by xz; let its name end in .csv.xz",
    b"\x28\xb5\x2f\xfd": "packed by zstd; unpack it",
}
OTHERS = frozenset((".xml", ".html", ".py", ".md", ".bif", ".uai", ".xdsl", ".net", ".dsc", ".nwk", ".fa", ".fasta"))
GUESSED = ("cp1252", "latin-1")  # what text is that is neither UTF-8 nor UTF-16: the first that can be


def ending_of(path: Path) -> tuple[str, str]:
    """Return the ending of a file's name that tells its format, and the one that tells how it is packed, or none."""
    name = path.name.lower()
    packing = next((ending for ending in PACKED if name.endswith(ending)), "")
    if packing == ".zip" and path.is_file():
        with naming_unreadable(path):
            return Path(only_in_zip(path).lower()).suffix, packing
    return Path(name.removesuffix(packing)).suffix, packing


def kind_of(path: Path) -> str:
    """Return the kind of a file, as parquet, arrow, arff or text; the ending of one of an unknown kind."""
    ending = _ending(path)
    return KINDS.get(ending, ending)


def _ending(path: Path) -> str:
    """Return the ending that a file has or, where its first bytes say otherwise or its ending nothing, should have."""
    ending, packing = ending_of(path)
    if packing or not path.is_file() or KINDS.get(ending, "text") != "text":
        return ending
    with naming_unreadable(path), path.open("rb") as file:
        first = file.read(2**12)
    for magic, what in NO_TABLES.items():
        if first.startswith(magic):
            raise FileFormatError(path, f"is {what}")
    for magic, known in MAGIC.items():
        if first.startswith(magic):
            return _of_zip(path, first) if known == ".zip" else known
    if ending in KINDS or ending in OTHERS or not first:
        return ending
    if first.lstrip().lower().startswith(b"@relation"):
        return ARFF
    return ".txt" if first.startswith(UTF16_MARKS) or b"\0" not in first else ending


def _of_zip(path: Path, first: bytes) -> str:
    for name, known in IN_ZIP.items():
        if name in first:
            return known
    raise FileFormatError(path, "is a zip archive; unpack it, or let its name end in .zip")


def opened(path: Path, options: Options) -> Contents:
    """Return what a file holds; "-" is the text that comes through standard input.

    Raises
    ------
    FileFormatError
        When there is no such file, it is of no known format, or its header is broken.
    SchemaError
        When `options` say how text is written, and the file is none.
    """
    if path.name == "-" or path.is_fifo():
        return _of_text(TextFile.of_stream(path, options.text.encoding), options, None)
    if not path.is_file():
        raise FileFormatError(path, "is a directory, not a file" if path.is_dir() else "there is no such file")
    if not path.stat().st_size:
        raise FileFormatError(path, "is empty")
    ending, packing = _ending(path), ending_of(path)[1]
    if packing == ".zip" and ending not in (*TEXT, ARFF):
        raise FileFormatError(path, f"is a zip archive of {only_in_zip(path)!r}; unpack it")
    if ending not in KINDS or (packing and ending not in (*TEXT, ARFF)):
        known = [
            *TEXT,
            ARFF,
            *(f"{text}.gz" for text in (*TEXT, ARFF)),
            ".csv.bz2",
            ".csv.xz",
            ".csv.zip",
            *TYPED,
            *SHEETS,
            *R_ENDINGS,
        ]
        raise FileFormatError(path, f"the format of a table is told by its ending, one of {', '.join(known)}")
    with naming_unreadable(path):
        if ending in TYPED:
            options.text.refuse(path.name)
            return TYPED[ending](path)
        if ending in R_ENDINGS:
            options.text.refuse(path.name, "sheet")
            return r_contents(path, options)
        if ending in SHEETS:
            options.text.refuse(path.name, "sheet", "decimal", "thousands", "dates", "skip_rows", "header_rows")
            return sheet_contents(path, options)
        if options.text.sheet is not None:
            raise SchemaError(
                f"sheet is for files of sheets, which {path.name} is not; leave it out", parameter="sheet"
            )
        file = TextFile.of(path, packing, options.text.encoding)
        return arff_contents(file, options) if ending == ARFF else _of_text(file, options, TEXT[ending])


def plain_delimiter(path: Path, options: Options) -> str:
    """Return what stands between the cells of a text file with one row of names; refuse one that is laid out otherwise.

    Whoever hands the file to another reader needs no more.
    """
    ending, packing = ending_of(path)
    with naming_unreadable(path):
        file = TextFile.of(path, packing, options.text.encoding)
        layout = layout_of(file, options, TEXT.get(ending))
    if layout.first_line > 2 or "" in layout.names or layout.notes or layout.file != file:
        raise FileFormatError(path, "is not laid out plainly, with names in the first line; read it without a cluster")
    return layout.delimiter


# -------------------------------------------------------------------------------------------- text of other encodings


def _of_text(file: TextFile, options: Options, delimiter: str | None) -> Contents:
    """Return what a delimited file holds; text that turns out not to be UTF-8 is read as what it may be."""
    if options.text.encoding != "utf-8":
        return delimited_contents(file, options, delimiter)
    reread = _Reread(file, options, delimiter)
    try:
        contents = delimited_contents(file, options, delimiter)
    except FileFormatError as error:
        return reread.instead_of(error)
    return replace(contents, frames=lambda names, whole: reread.frames(contents, names, whole))


@dataclass(frozen=True)
class _Reread:
    """A text file that is taken for UTF-8 as long as nothing in it speaks against that."""

    file: TextFile
    options: Options
    delimiter: str | None

    def instead_of(self, error: FileFormatError) -> Contents:
        """Return what the file holds in another encoding, and say which; raise the error where it is about another."""
        if error.parameter != "encoding":
            raise error
        with self.file.whole() as stream:
            content = stream.read()
        if b"\0" in content and not content.startswith(UTF16_MARKS):
            raise error
        for encoding in ("utf-16", *GUESSED) if content.startswith(UTF16_MARKS) else GUESSED:
            try:
                text = content.decode(encoding)
            except UnicodeError:
                continue
            where = "" if error.line is None else f" (line {error.line})"
            warn(
                f"{self.file.path}: is not UTF-8 text{where} and is read as {encoding}",
                parameter="encoding",
                remedies=(Remedy({"encoding": encoding}, "silence this warning"),),
            )
            file = TextFile(self.file.path, False, text.encode())
            return delimited_contents(file, self.options, self.delimiter)
        raise error

    def frames(self, contents: Contents, names: Sequence[str], whole: bool) -> Iterator[pa.Table]:
        """Yield the rows of the file, from the first that is no UTF-8 on in another encoding."""
        done = 0
        try:
            for frame in contents.frames(names, whole):
                yield frame
                done += frame.num_rows
            return
        except FileFormatError as error:
            other = self.instead_of(error)
        for frame in other.frames(names, whole):
            yield frame.slice(min(done, frame.num_rows))
            done = max(0, done - frame.num_rows)
