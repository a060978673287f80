"""Parquet and Arrow files in pieces, which threads, processes or the workers of a cluster read and keep.

A piece are neighbouring files, or some groups of rows of one. It travels as their names, and a worker reads its columns
by Arrow, as a stream does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.data.arrow import columns_of, is_text
from fishernet.data.blocks import Blocks, blocks_of, neighbours, places_of
from fishernet.data.encoding.cells import Columns
from fishernet.data.options import Options
from fishernet.data.streams.batches import (
    COLUMNAR,
    broken,
    common_kind,
    dataset_of,
    file_stamp,
    keeps_dictionaries,
    needed_names,
    paths_of,
)

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset, Expression, Fragment

MOST_BYTES = 2**28  # of a piece while it is read
MOST_INDEX, MOST_CELL = 4, 16  # bytes of a cell of text, and of any other of no fixed width
NEEDED = "client= takes Dask frames, Parquet files and Arrow files"


@dataclass(frozen=True)
class Piece:
    """Rows of files, not read yet.

    Attributes
    ----------
    path : str
        The file, or the first and the last one.
    dataset : pyarrow.dataset.Dataset
        Of these rows.
    names : tuple of str
        The columns that are read.
    wanted : pyarrow.dataset.Expression, optional
        Which rows are read.
    undeclared : frozenset of str
        Dictionaries that declare no states.
    stamps : tuple
        The size and time of the last write (`file_stamp`) of each file when the piece was made. A worker may read it
        much later, or again after another one was lost, and must not find other rows.
    """

    path: str
    dataset: Dataset
    names: tuple[str, ...]
    wanted: Expression | None
    undeclared: frozenset[str]
    stamps: tuple[tuple[str, int, int | None], ...]

    def read(self, options: Options) -> Columns:
        """Return the columns that the options ask for; indices of labels take no more bytes than they need."""
        try:
            if self.wanted is not None and keeps_dictionaries(self.dataset):  # checked first, as `batches` does
                table = self.dataset.to_table()
                table.validate(full=True)
                table = table.filter(self.wanted).select(list(self.names))
            else:
                table = self.dataset.to_table(columns=list(self.names), filter=self.wanted)
            columns = columns_of(table, options, self.undeclared).narrow()
        except (pa.ArrowException, OSError) as error:
            if len(self.dataset.files) == 1:  # of which the path tells
                raise
            raise broken(self.dataset, error) from None
        for path, *before in self.stamps:
            if list(file_stamp(Path(path))[:2]) != before:
                raise FileFormatError(path, "has changed since it was scanned; scan it again")
        return columns


def of_files(source: Any, client: Any, options: Options, wanted: Expression | None) -> Blocks:
    """Have a cluster, or whatever maps, read files piece by piece, and return the source of what was read.

    Raises
    ------
    FileFormatError
        When a file does not exist, is broken, or has other columns or types than the first.
    SchemaError
        When the source is no files, or of a kind whose columns have no types; as `fishernet.Table.from_frame` of all.
    FishernetError
        As `fishernet.data.blocks.of_dask`, and as `Blocks`.
    """
    found = paths_of(source)
    if found is None:
        raise SchemaError(f"{NEEDED}; the source is none of these", parameter="client")
    files, folder = [path.absolute() for path in found[0]], found[1]
    kind = common_kind(files, folder)
    if kind not in COLUMNAR:
        raise SchemaError(
            f"{NEEDED}, and not {str(files[0])!r}; read text files with dask.dataframe.read_csv",
            parameter="client",
        )
    options.text.refuse(files[0].name)
    dataset, undeclared = dataset_of(files, kind, None if folder is None else folder.absolute())
    names = needed_names(list(dataset.schema.names), options)
    options = replace(options, exclude=())  # they are not read
    columns_of(dataset.schema.empty_table().select(names), options, undeclared)  # refuses types that hold no labels
    places = places_of(client, "client")
    schema = dataset.schema.empty_table().select(names).schema
    pieces = []
    for some in _cut(dataset, kind, schema, places.n_threads):
        paths = list(dict.fromkeys(fragment.path for fragment in some))
        stamps = tuple((path, *file_stamp(Path(path))[:2]) for path in paths)
        called = paths[0] if len(paths) == 1 else f"{paths[0]} to {paths[-1]}"
        pieces.append(Piece(called, _only(dataset, some), tuple(names), wanted, undeclared, stamps))
    keep = not any(is_text(field.type) for field in schema)  # of text there may be much
    return blocks_of(places, [partial(Piece.read, piece, options) for piece in pieces], options, keep=keep)


def _cut(dataset: Dataset, kind: str, schema: pa.Schema, n: int) -> list[list[Fragment]]:
    """Return the fragments of pieces of about one size, as many as workers can read at once, or more of long files."""
    files = list(dataset.get_fragments())
    width = max(1, sum(_bytes_of(field.type) for field in schema))
    sizes = [width * file.count_rows() for file in files]
    most = max(1, min(MOST_BYTES, -(-sum(sizes) // n)))
    parts: list[tuple[Fragment, int]] = []
    for file, size in zip(files, sizes, strict=True):
        n_parts = -(-size // most) if kind == "parquet" else 1
        groups = [group.id for group in file.row_groups] if n_parts > 1 else []
        cut = [some.tolist() for some in np.array_split(groups, min(n_parts, len(groups)))] if len(groups) > 1 else []
        parts += [(file.subset(row_group_ids=some), size // len(cut)) for some in cut] or [(file, size)]
    together = neighbours([size for _, size in parts], most)
    return [[part for part, _ in parts[some]] for some in together]


def _bytes_of(kind: pa.DataType) -> int:
    """Return how many bytes a cell takes while it is read."""
    if pa.types.is_dictionary(kind):
        kind = kind.index_type
    return MOST_INDEX if is_text(kind) else kind.bit_width // 8 if pa.types.is_primitive(kind) else MOST_CELL


def _only(dataset: Dataset, fragments: Sequence[Fragment]) -> Dataset:
    """Return the rows of some fragments of a dataset, with the columns of all."""
    import pyarrow.dataset as pa_ds

    return pa_ds.FileSystemDataset(fragments, dataset.schema, dataset.format, dataset.filesystem)
