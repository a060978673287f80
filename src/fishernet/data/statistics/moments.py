"""Means and centred sums of products of columns of numbers, of rows that are looked at a block at a time.

Blocks have a fixed number of rows and are added in their order, so that the sums have the same bits wherever the
columns lie, and nothing as long as a column is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.data.arrays import row_blocks

SUMMED_ROWS = 2**16  # in a block: part of what the last bits of sums are
MOST_KEPT = 2**23  # numbers of rows that are kept, and cells of rows that are held for the second pass: 64 MiB each

Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int64]
Kept = Callable[[slice], npt.NDArray[np.bool_] | slice]  # which rows of a block count
CellsOf = Callable[[slice, npt.NDArray[np.bool_] | slice], Cells]  # of the rows of a block that count


class _Apart(NamedTuple):
    """Which rows of a block count, their numbers, (rows, d), less an origin, and weights."""

    at: slice
    kept: npt.NDArray[np.bool_] | slice
    values: Floats
    weights: Floats | None


class NumberRows:
    """Columns of numbers, of which some rows count, by their weights.

    Parameters
    ----------
    variables : sequence of Continuous
        Whose scales they are taken on.
    columns : sequence of (n_rows,) float64 arrays
    weights : (n_rows,) array, or None
    n_rows : int
    kept : callable
        Says of a block which of its rows count.
    """

    def __init__(
        self,
        variables: Sequence[Any],
        columns: Sequence[npt.NDArray[Any]],
        weights: npt.NDArray[Any] | None,
        n_rows: int,
        kept: Kept,
    ) -> None:
        self._variables, self._columns, self._weights = variables, columns, weights
        self._n_rows, self._kept = n_rows, kept
        self._held: list[_Apart] | None = None

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self._columns)

    def blocks(self) -> Iterator[tuple[slice, npt.NDArray[np.bool_] | slice, Floats, npt.NDArray[Any] | None]]:
        """Yield the rows of each block, which of them count, and their numbers, (d, rows), and weights."""
        for at in row_blocks(self._n_rows, SUMMED_ROWS):
            kept = self._kept(at)
            pairs = zip(self._variables, self._columns, strict=True)
            x = np.array([variable.scaled(column[at][kept]) for variable, column in pairs])
            yield at, kept, x, None if self._weights is None else self._weights[at][kept]

    def moments(self) -> tuple[npt.NDArray[Any], Floats, Floats]:
        """Return the weight of the rows, and their mean, (d,), and centred sums of products, (d, d)."""
        weight, sums, scatter = np.array(0), np.zeros(self.d), np.zeros((self.d, self.d))
        held = list(self.blocks()) if self._n_rows * self.d <= MOST_KEPT else None
        for _, _, x, w in held or self.blocks():
            weight = weight + (x.shape[1] if w is None else w.sum())
            sums += (x if w is None else x * w).sum(axis=1)
        mean = sums / weight if weight else sums
        for _, _, x, w in held or self.blocks():
            x -= mean[:, None]
            if w is not None:
                x *= np.sqrt(w)
            scatter += x @ x.T
        return np.asarray(weight), mean, scatter

    def moments_by_cell(
        self,
        cells_of: Sequence[CellsOf],
        counts: Sequence[npt.NDArray[Any]],
        members: Sequence[npt.NDArray[np.int32]],
    ) -> list[tuple[Floats, Floats]]:
        """Return for each of several ways to put rows into cells the means and the centred sums of products.

        (n_cells, d) and (n_cells, d, d), of d of the columns. The numbers of a block are brought together once.

        Parameters
        ----------
        cells_of : sequence of callables
            Each gives the cell of every row of a block that counts.
        counts : sequence of (n_cells,) arrays
            The weight of the rows in each cell.
        members : sequence of (d,) int32 arrays
            The positions of the columns that are asked for.
        """

        def with_cells() -> Iterator[tuple[_Apart, list[Cells]]]:
            for block in self._apart():
                yield block, [np.ascontiguousarray(of(block.at, block.kept)) for of in cells_of]

        parts = list(with_cells()) if self._n_rows * len(cells_of) <= MOST_KEPT else None
        centres = [np.zeros((len(of), len(own))) for of, own in zip(counts, members, strict=True)]
        for block, cells in parts or with_cells():
            _core.add_sums_by_cell(block.values, block.weights, cells, members, centres)
        for centre, of in zip(centres, counts, strict=True):
            centre /= np.where(of > 0, of, 1)[:, None]
        products = [np.zeros((len(of) * len(own), len(own))) for of, own in zip(counts, members, strict=True)]
        for block, cells in parts or with_cells():
            _core.add_products_by_cell(block.values, block.weights, cells, members, centres, products)
        found = []
        for centre, of, own, scatter in zip(centres, counts, members, products, strict=True):
            mean = np.where((of > 0)[:, None], self._origin[own, 0] + centre, 0.0)
            found.append((mean, scatter.reshape(-1, len(own), len(own))))
        return found

    def apart(self) -> tuple[Floats, Floats]:
        """Return an origin, (d,), and the numbers of the rows that count less that origin, (n, d)."""
        values = [block.values for block in self._apart()]
        return self._origin[:, 0], values[0] if len(values) == 1 else np.concatenate(values)

    def _apart(self) -> Iterator[_Apart]:
        """Yield the rows of each block, taken from the origin; they are kept where they are few."""
        if self._held is not None:
            yield from self._held
            return
        found = []
        for at, kept, x, w in self.blocks():
            weights = None if w is None else np.ascontiguousarray(w, dtype=np.float64)
            block = _Apart(at, kept, np.ascontiguousarray((x - self._origin).T), weights)
            if self._n_rows * self.d <= MOST_KEPT:
                found.append(block)
            yield block
        if self._n_rows * self.d <= MOST_KEPT:
            self._held = found

    @cached_property
    def _origin(self) -> Floats:
        """The mean of the rows that count, whatever their weights, (d, 1): sums of numbers far from 0 would cancel."""
        n, sums = 0, np.zeros(self.d)
        for _, _, x, _ in self.blocks():
            n += x.shape[1]
            sums += x.sum(axis=1)
        mean: Floats = (sums / n if n else sums)[:, None]
        return mean


class CellFinder:
    """Where the cells of rows are: among all of them, or among those that occur, in lexicographic order."""

    def __init__(self, cardinalities: Sequence[int], states: npt.NDArray[np.uint32] | None) -> None:
        self._cardinalities, self._states = tuple(cardinalities), states
        self._fits = math.prod(self._cardinalities) < 2**62
        self._keys = None if states is None or not self._fits else self._numbered(list(states.T))

    def _numbered(self, codes: Sequence[npt.NDArray[Any]]) -> Cells:
        found: Cells = codes[0].astype(np.int64)
        for column, cardinality in zip(codes[1:], self._cardinalities[1:], strict=True):
            found *= cardinality
            found += column
        return found

    def __call__(self, codes: Sequence[npt.NDArray[Any]]) -> Cells:
        """Return the cell of each row of some columns of codes."""
        if self._states is None:
            return self._numbered(codes)
        if self._keys is not None:
            return np.searchsorted(self._keys, self._numbered(codes))
        rows = np.concatenate([self._states, np.stack(codes, axis=1)])
        places = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
        return np.asarray(places[len(self._states) :])
