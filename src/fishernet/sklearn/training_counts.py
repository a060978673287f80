"""Counts of a training table whose cells may be missing, and whose rows may weigh fractions.

Parameters are fitted to the cells that are known. Structures cannot be compared in that way: each would be scored on
other rows, and which rows these are tells more than an arc does. So for the structure missing cells are filled with
labels drawn given the class alone, which makes no dependence between features that was not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fishernet.counts import Counts, TableCounts
from fishernet.random import generator
from fishernet.table import Table, Variable

WEIGHT_BITS = 52  # a sum of weights has so many bits at most; the core counts in integers, and doubles hold them all
SEED = 0  # the same table is filled in the same way each time


def whole_weights(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], float]:
    """Return weights as integers, and what one of them stands for: 1 where all weights are whole numbers.

    Parameters
    ----------
    weights : (n_rows,) float64
        Not negative, and not all zero.

    Returns
    -------
    ((n_rows,) int64, float)
        Their product is the weights, to 2^-50 of their sum. Where all weights are multiples of the smallest positive
        one it is exactly as if they had been counts.
    """
    total = float(weights.sum())
    if np.array_equal(weights, np.rint(weights)) and total < 2.0**WEIGHT_BITS:
        return weights.astype(np.int64), 1.0
    smallest = float(weights[weights > 0].min())
    if total / smallest < 2.0**WEIGHT_BITS:
        multiples = weights / smallest
        if np.allclose(multiples, np.rint(multiples), rtol=2.0**-WEIGHT_BITS, atol=0):
            return np.rint(multiples).astype(np.int64), smallest
    _, exponent = np.frexp(total)  # total < 2^exponent
    unit = max(float(np.ldexp(1.0, int(exponent) - WEIGHT_BITS)), float(np.nextafter(0, 1)))
    return np.rint(weights / unit).astype(np.int64), unit


def filled(table: Table, target: int) -> Table:
    """Return a table whose missing cells are drawn from the labels that their column has in rows of the same class.

    Parameters
    ----------
    table : Table
        Every column has a known cell, and the class is known everywhere.
    target : int
        The position of the class.
    """
    if not table.has_missing:
        return table
    classes = table.codes[target].astype(np.int64)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights.astype(np.float64)
    rng = generator(SEED)
    columns = []
    for variable, column in zip(table.variables, table.codes, strict=True):
        codes = column.astype(np.int64)
        missing = codes == variable.cardinality
        counts = np.zeros((table.variables[target].cardinality, variable.cardinality))
        known = weights[~missing] if weights[~missing].any() else np.ones((~missing).sum())  # weights may all be 0
        np.add.at(counts, (classes[~missing], codes[~missing]), known)
        overall = counts.sum(axis=0)
        shares = counts + known.mean() * overall / overall.sum()  # a class may have no known cell
        steps = shares.cumsum(axis=1)[classes[missing]]
        drawn = rng.random(len(steps)) * steps[:, -1]
        codes[missing] = (steps[:, :-1] <= drawn[:, None]).sum(axis=1)
        columns.append(codes.astype(column.dtype))
    return Table(table.variables, columns, weights=table.weights, n_rows=table.n_rows)


class KnownRows:
    """A source of counts that leaves rows with a missing cell in a set out of it, without a word.

    Parameters
    ----------
    table : Table
        Its weights are integers.
    unit : float
        What a weight of 1 stands for.
    """

    def __init__(self, table: Table, unit: float = 1.0) -> None:
        self._counts = TableCounts(table)
        self._unit = unit
        self.variables: tuple[Variable, ...] = table.variables
        self.n_rows = max(1, round(self._counts.n_rows * unit))
        # decides which tables hold every cell; a small unit must not make it all of them
        self._counts.n_rows = table.n_rows

    def counts(self, sets: Sequence[tuple[int, ...]]) -> list[Counts]:
        """Return the joint counts of sets of variables, float64, in that order."""
        found = self._counts.counts(sets)
        return [replace(counts, values=counts.values.astype(np.float64) * self._unit, left_out=0) for counts in found]
