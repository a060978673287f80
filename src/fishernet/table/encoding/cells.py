"""Columns as their sources give them: distinct labels, and which of them each cell holds.

Every source (a text file, a Parquet file, a data frame) is brought into this one form, block by block and without a
copy of what Arrow read. Encoding then decides what the states are, and turns labels into codes with one small look-up
a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fishernet.table.encoding.labels import Labels, typed

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Block:
    """Consecutive cells of a column, with a numbering of labels of their own.

    Attributes
    ----------
    indices : (n,) integers
        Each cell's label, from 0 to k - 1 in the block's numbering; k in a missing cell.
    positions : (k + 1,) int64
        The position of the block's labels among the column's; the number of those for a missing cell, and so last.
    has_nulls : bool
        Whether some of the indices are k.
    """

    indices: npt.NDArray[np.integer[Any]]
    positions: npt.NDArray[np.int64]
    has_nulls: bool


@dataclass(frozen=True)
class Cells:
    """A column before it is encoded.

    Attributes
    ----------
    name : str
        Its name.
    labels : (n_labels,) array
        Its distinct labels.
    blocks : sequence of Block
        Its cells.
    declared : bool
        Whether the labels are declared states, in their order, whether they occur or not.
    text : bool
        Whether the labels are text whose type is not known yet.
    cuts : tuple of float, optional
        The cuts, where the declared states are bins.
    is_weights : bool
        Whether the source marks the column as the table's weights.
    """

    name: str
    labels: Labels
    blocks: Sequence[Block]
    declared: bool = False
    text: bool = False
    cuts: tuple[float, ...] | None = None
    is_weights: bool = False

    @cached_property
    def typed_labels(self) -> Labels:
        """The labels, in the type that all of them have."""
        return typed(self.labels.tolist()) if self.text else self.labels

    def spread(self, values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """Return the value of each cell.

        Parameters
        ----------
        values : (n_labels + 1,) array
            One value a label, and last the one for missing cells.

        Returns
        -------
        (n_rows,) array of the same type
        """
        cells = np.empty(sum(len(block.indices) for block in self.blocks), dtype=values.dtype)
        start = 0
        for block in self.blocks:
            stop = start + len(block.indices)
            values[block.positions].take(block.indices, out=cells[start:stop], mode="clip")
            start = stop
        return cells

    def positions(self) -> npt.NDArray[np.intp]:
        """Return the position of each cell's label, (n_rows,); the number of labels in a missing cell."""
        return self.spread(np.arange(len(self.labels) + 1))

    def marked(self, labels: npt.NDArray[np.bool_], *, missing: bool = False) -> npt.NDArray[np.bool_]:
        """Return which cells hold one of the marked labels (or are missing), (n_rows,) bool."""
        return self.spread(np.append(labels, missing))

    def missing(self) -> npt.NDArray[np.bool_] | None:
        """Return which cells are missing, (n_rows,) bool, or None where none can be."""
        n_labels = len(self.labels)
        if not any(block.has_nulls or n_labels in block.positions[:-1] for block in self.blocks):
            return None
        return self.marked(np.zeros(n_labels, dtype=bool), missing=True)

    def counts(self, weights: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
        """Return how many rows (or what sum of weights) hold each label, (n_labels,) int64."""
        n_labels = len(self.labels)
        if weights is None:
            return np.bincount(self.positions(), minlength=n_labels + 1)[:n_labels]
        sums = np.zeros(n_labels + 1, dtype=np.int64)
        np.add.at(sums, self.positions(), weights)
        return sums[:n_labels]

    def without(self, labels: npt.NDArray[np.bool_]) -> Cells:
        """Return the column with some of its labels turned into missing cells."""
        numbering = np.append(np.cumsum(~labels) - 1, np.count_nonzero(~labels))
        numbering[:-1][labels] = numbering[-1]
        blocks = [replace(block, positions=numbering[block.positions]) for block in self.blocks]
        return replace(self, labels=self.labels[~labels], blocks=blocks)

    def kept(self, rows: npt.NDArray[np.bool_]) -> Cells:
        """Return the column with some of its rows only, as if the others had never been there."""
        positions = self.positions()[rows]
        n_labels = len(self.labels)
        column = replace(self, blocks=[Block(positions, np.arange(n_labels + 1), has_nulls=True)])
        if self.declared:
            return column
        return column.without(np.bincount(positions, minlength=n_labels + 1)[:n_labels] == 0)


@dataclass(frozen=True)
class Columns:
    """What a source holds: columns of equal length."""

    cells: Sequence[Cells]
    n_rows: int
