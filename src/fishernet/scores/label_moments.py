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


def moment_store(source: Source) -> _core.MomentStore:
    """Return what keeps the moments of a source without missing cells, and counts them as they are asked for."""
    cardinalities = np.array([variable.cardinality for variable in source.variables], dtype=np.int64)
    numbers = np.flatnonzero([variable.is_continuous for variable in source.variables]).astype(np.int32)
    rows = _rows_of(source, numbers)
    return _core.MomentStore(cardinalities, numbers, float(source.total), rows or partial(_counted, source))


def _rows_of(source: Source, numbers: npt.NDArray[np.int32]) -> _core.LabelledNumbers | None:
    """Return what the core goes through by itself, where there are rows and memory holds their numbers."""
    rows = source.rows
    if rows is None or rows.n_rows * len(numbers) > MOST_VALUES:
        return None
    if rows.weights is not None and not rows.weights.all():
        return None
    weights = None if rows.weights is None else rows.weights.astype(np.float64)
    _, values = rows.number_rows.apart()
    return _core.LabelledNumbers(rows.native, numbers, values, weights)


def _counted(source: Source, sets: Sequence[tuple[Positions, Positions]]) -> Iterator[_core.LabelMoments]:
    """Yield the moments of numbers in the configurations of labels, set after set, from a source's statistics."""
    for statistic in source.statistics([tuple(sorted((*labels, *numbers))) for labels, numbers in sets]):
        statistic.require_complete(source.variables, "a score")
        yield moments_of(statistic)
