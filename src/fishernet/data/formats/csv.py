"""The rows of delimited text files, read by Arrow.

Every column is read as text and dictionary-encoded on the way, so its labels are few and their types are settled
later. A quoted cell is text and never a missing cell (``"NA"`` is a label, ``NA`` is not), unless every cell is in
quotes, and may hold delimiters and line ends: where a file holds a quote, Arrow is told so, and looks for the ends of
rows before it cuts the file.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from fishernet.base.errors import FileFormatError, warn
from fishernet.base.names import unused_name
from fishernet.data.formats.contents import Contents, Note
from fishernet.data.formats.ending import without_comments, without_short_lines
from fishernet.data.formats.layout import Layout, layout_of
from fishernet.data.formats.text_file import TextFile, opens_quote, unclosed_quote
from fishernet.data.options import Options
from fishernet.data.originals import Written, written_field

TEXT = pa.dictionary(pa.int32(), pa.utf8())
BLOCKS = (1 << 22, 1 << 26, 2**31 - 1)  # bytes; a row must fit into one, so larger ones are tried when it does not
TOO_SMALL = ("straddl", "Could not skip")  # what Arrow says of a block that is


def delimited_contents(file: TextFile, options: Options, delimiter: str | None = None) -> Contents:
    """Return what a delimited file holds; `delimiter` is what the ending of its name says.

    A file whose names all follow a space is one of ``a, b, c``: spaces before cells are no part of them. A first column
    without a name is an index, and none of the table.
    """
    layout = layout_of(file, options, delimiter)
    names, notes = list(layout.names), layout.notes
    if layout.has_index:
        names[0] = unused_name("index", names)
        notes = (*notes, Note("the first column has no name, as the index that pandas writes; it is left out"))
    how: Written = "told" if layout.quoted and not layout.spaced else "cells"
    fields = [written_field(name, how, is_index=layout.has_index and place == 0) for place, name in enumerate(names)]
    rows = _Rows(layout, pa.schema(fields), options.na_values)
    spelled = replace(rows, na_values=frozenset()).frames
    return Contents(str(file.path), "text", rows.schema, rows.frames, notes, spelled=spelled)


@dataclass(frozen=True)
class _Rows:
    """The rows of a delimited file; an error says where it is broken."""

    layout: Layout
    schema: pa.Schema
    na_values: frozenset[str]

    def frames(self, names: Sequence[str], whole: bool) -> Iterator[pa.Table]:
        """Yield the named columns, all rows at once or some at a time."""
        layout, last = self.layout, self.schema.names[-1]
        read = list(dict.fromkeys([*names, last])) if layout.quoted else list(names)
        schema = pa.schema([self.schema.field(name) for name in names])
        end = None
        for table in self._tables(read, whole):
            frame = table.select(names)
            columns = [_unspaced(column) for column in frame.columns] if layout.spaced else frame.columns
            yield pa.Table.from_arrays(columns, schema=schema) if names else frame
            end = table.column(last) if layout.quoted and table.num_rows else end
        if end is not None:
            _refuse_open_quote(layout, end)

    def _tables(self, names: list[str], whole: bool, done: int = 0) -> Iterator[pa.Table]:
        """Yield columns by larger blocks where one is too small, or may have cut a line end in a cell in two.

        Rows that are `done` are not yielded again.

        Where a block ends between a carriage return and a line feed, Arrow leaves the line feed out, even in a quoted
        cell; a file of such cells is read as one block.
        """
        read = self._whole if whole else self._stream
        try:
            for block in BLOCKS if self.layout.first_line else ():
                found = read(names, block)
                before = 0
                try:
                    for table in found:
                        if self.layout.quoted and _may_be_cut(table, whole):
                            if block != BLOCKS[-1]:
                                break
                            if before or whole:
                                raise self._too_large_for_returns()
                        if before + table.num_rows > done or not before:
                            yield table.slice(max(0, done - before))
                        before += table.num_rows
                        done = max(done, before)
                    else:
                        return
                except pa.ArrowInvalid as error:
                    if not any(words in str(error) for words in TOO_SMALL) or block == BLOCKS[-1]:
                        raise
                finally:
                    found.close()
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):  # a header without a line end
                yield from self._without_notes(error)._tables(names, whole, done)
                return
        yield pa.table({name: pa.array([], TEXT) for name in names})

    def _without_notes(self, error: pa.ArrowInvalid) -> _Rows:
        """Return the rows without the notes below and the comments among them; raise where a row is broken."""
        layout = self.layout
        of = layout.file, layout.delimiter, len(layout.names), layout.first_line
        found = without_short_lines(*of) or without_comments(*of)
        if found is None:
            raise layout.broken(str(error).partition("\n")[0]) from None
        file, note = found
        warn(f"{file.path}: {note.fact}")
        return replace(self, layout=replace(layout, file=file))

    def _whole(self, names: list[str], block: int) -> Generator[pa.Table]:
        with self.layout.file.whole() as stream:
            yield pa_csv.read_csv(stream, **self._options(names, block))

    def _stream(self, names: list[str], block: int) -> Generator[pa.Table]:
        with (
            self.layout.file.input_stream() as stream,
            pa_csv.open_csv(stream, **self._options(names, block)) as reader,
        ):
            yield reader.schema.empty_table()  # a header without rows has no batch
            for batch in reader:
                yield pa.Table.from_batches([batch])

    def _too_large_for_returns(self) -> FileFormatError:
        told = "holds carriage returns in cells and is too large to be one block"
        return FileFormatError(self.layout.file.path, told)

    def _options(self, names: list[str], block: int) -> dict[str, Any]:
        layout = self.layout
        convert = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, TEXT),
            include_columns=names,
            strings_can_be_null=layout.quoted,
            quoted_strings_can_be_null=layout.all_quoted,
            null_values=sorted(self.na_values),
        )
        read = pa_csv.ReadOptions(block_size=block, column_names=self.schema.names, skip_rows=layout.first_line - 1)
        parse = pa_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=layout.quoted)
        return {"read_options": read, "parse_options": parse, "convert_options": convert}


def _unspaced(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text without the spaces before its labels."""
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, pc.utf8_ltrim(chunk.dictionary, " ")) for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _may_be_cut(table: pa.Table, whole: bool) -> bool:
    """Whether the rows of several blocks hold carriage returns; of a stream, which has them one by one, of one."""
    if whole and all(column.num_chunks <= 1 for column in table.columns):
        return False
    chunks = (chunk for column in table.columns for chunk in column.chunks)
    return any(pc.any(pc.match_substring(chunk.dictionary, "\r")).as_py() for chunk in chunks)


def _refuse_open_quote(layout: Layout, last: pa.ChunkedArray) -> None:
    """Raise when the last cell runs on to the end of the file, as it does after a quote that is never closed."""
    text = last[len(last) - 1].as_py() if len(last) else None
    if text is not None and ("\n" in text or "\r" in text or opens_quote(layout.file, layout.delimiter)):
        line = unclosed_quote(layout.file, layout.delimiter)
        if line is not None:
            raise FileFormatError(layout.file.path, "a quote in this row is never closed", line=line)
