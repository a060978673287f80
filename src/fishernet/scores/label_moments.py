"""Moments of the numbers of a source in the configurations of its labels, as the core takes and counts them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.data import Source, Statistic
from fishernet.data.statistics.statistic import occurring

Positions = tuple[int, ...]  # ascending

MOST_VALUES = 2**25  # numbers of rows that the core goes through by itself: 256 MiB


def moments_of(statistic: Statistic) -> _core.LabelMoments:
    """Return a statistic's moments as the core takes them: of the configurations that occur."""
    d = len(statistic.continuous)
    held = np.flatnonzero(statistic.counts.reshape(-1))
    states, counts = occurring(statistic)
    rows, columns = np.tril_indices(d)
    return _core.LabelMoments(
        np.array(statistic.variables, dtype=np.int32),
        np.array(statistic.continuous, dtype=np.int32),
        np.array(statistic.cardinalities, dtype=np.uint32),
        np.ascontiguousarray(states),
        counts.reshape(-1).astype(np.float64),
        statistic.mean.reshape(-1, d)[held],
        statistic.scatter.reshape(-1, d * d)[np.ix_(held, rows * d + columns)],
    )


def moment_store(source: Source) -> tuple[_core.MomentStore, npt.NDArray[np.float64]]:
    """Return what keeps the moments of a source without missing cells, and counts them as they are asked for.

    With it comes the mean of each number, (n_columns,); 0 of labels.
    """
    cardinalities, numbers = kinds_of(source)
    rows, origin = _rows_of(source, numbers)
    store = _core.MomentStore(cardinalities, numbers, float(source.total), rows or partial(_counted, source))
    means = store.means()
    means[numbers] += origin
    return store, means


def kinds_of(source: Source) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return how many states each column has, of which those of numbers are not looked at, and which are numbers."""
    cardinalities = np.array([variable.cardinality for variable in source.variables], dtype=np.int64)
    return cardinalities, np.flatnonzero([variable.is_continuous for variable in source.variables]).astype(np.int32)


def _rows_of(
    source: Source, numbers: npt.NDArray[np.int32]
) -> tuple[_core.LabelledNumbers | None, npt.NDArray[np.float64]]:
    """Return what the core goes through by itself, where there are rows and memory holds their numbers.

    With it comes what its numbers are counted from.
    """
    rows, nowhere = source.rows, np.zeros(len(numbers))
    if rows is None or rows.n_rows * len(numbers) > MOST_VALUES:
        return None, nowhere
    if rows.weights is not None and not rows.weights.all():
        return None, nowhere
    weights = None if rows.weights is None else rows.weights.astype(np.float64)
    origin, values = rows.number_rows.apart()
    return _core.LabelledNumbers(rows.native, numbers, values, weights), origin


def _counted(source: Source, sets: Sequence[tuple[Positions, Positions]]) -> Iterator[_core.LabelMoments]:
    """Yield the moments of numbers in the configurations of labels, set after set, from a source's statistics."""
    for statistic in source.statistics([tuple(sorted((*labels, *numbers))) for labels, numbers in sets]):
        statistic.require_complete(source.variables, "a score")
        yield moments_of(statistic)
