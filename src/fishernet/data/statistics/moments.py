"""Means and centred sums of products of columns of numbers, of rows that are looked at a block at a time.

Blocks have a fixed number of rows and are added in their order, so that the sums have the same bits wherever the
columns lie, and nothing as long as a column is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.data.arrays import row_blocks

SUMMED_ROWS = 2**16  # in a block: part of what the last bits of sums are
MOST_KEPT = 2**23  # numbers and cells of rows that are held for the second pass: 64 MiB

Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int64]
Kept = Callable[[slice], npt.NDArray[np.bool_] | slice]  # which rows of a block count
CellsOf = Callable[[slice, npt.NDArray[np.bool_] | slice], Cells]  # of the rows of a block that count


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
        for _, _, x, w in self.blocks():
            weight = weight + (x.shape[1] if w is None else w.sum())
            sums += (x if w is None else x * w).sum(axis=1)
        mean = sums / weight if weight else sums
        for _, _, x, w in self.blocks():
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
        origin = self._plain_mean()  # sums of numbers far from 0 would cancel
        centres = [np.zeros((len(of), len(own))) for of, own in zip(counts, members, strict=True)]
        held = self._n_rows * (len(cells_of) + self.d) <= MOST_KEPT
        parts = list(self._apart(cells_of, origin)) if held else []
        for values, weights, cells in parts if held else self._apart(cells_of, origin):
            _core.add_sums_by_cell(values, weights, cells, members, centres)
        for centre, of in zip(centres, counts, strict=True):
            centre /= np.where(of > 0, of, 1)[:, None]
        products = [np.zeros((len(of) * len(own), len(own))) for of, own in zip(counts, members, strict=True)]
        for values, weights, cells in parts if held else self._apart(cells_of, origin):
            _core.add_products_by_cell(values, weights, cells, members, centres, products)
        found = []
        for centre, of, own, half in zip(centres, counts, members, products, strict=True):
            scatter = half.reshape(-1, len(own), len(own))
            above = np.triu_indices(len(own), 1)
            scatter[:, above[0], above[1]] = scatter[:, above[1], above[0]]
            found.append((np.where((of > 0)[:, None], origin[own, 0] + centre, 0.0), scatter))
        return found

    def _apart(
        self, cells_of: Sequence[CellsOf], origin: Floats
    ) -> Iterator[tuple[Floats, Floats | None, list[Cells]]]:
        """Yield the numbers of each block, taken from the origin, (rows, d), with their weights and cells."""
        for at, kept, x, w in self.blocks():
            weights = None if w is None else np.ascontiguousarray(w, dtype=np.float64)
            cells = [np.ascontiguousarray(of(at, kept)) for of in cells_of]
            yield np.ascontiguousarray((x - origin).T), weights, cells

    def _plain_mean(self) -> Floats:
        """Return the mean of the rows that count, whatever their weights, (d, 1)."""
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
