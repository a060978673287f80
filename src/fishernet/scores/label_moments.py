"""Moments of numbers in the configurations of sets of labels, which a search asks for again and again.

Rows are gone through seldom: sets of labels that are asked for together are joined while the joint set has far fewer
configurations than there are rows, and moments in the configurations of a set add up to those of each set within it.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.data import Source, Statistic
from fishernet.data.statistics.counting import flat_sets
from fishernet.data.statistics.statistic import occurring

Floats = npt.NDArray[np.float64]
Labels = tuple[int, ...]  # ascending positions of variables with labels
Numbers = tuple[int, ...]  # ascending positions of numbers
_Within = tuple[_core.LabelMoments, Labels, Numbers]  # what was counted, and what is added up of it

SETS_AT_ONCE = 32  # whose moments are counted together
ROWS_OF_CELL = 32  # in each configuration of a joint set, at least, in the mean: adding up is cheaper than counting
MOST_OF_JOINT = 2**20  # numbers in the moments of a joint set: 8 MiB
MOST_OF_ADDED = 2**14  # up to so many numbers, what was added up is for all numbers, and remembered
MOST_HELD = 2**26  # numbers in moments that are remembered: 512 MiB
MOST_SETS = 512  # that are remembered, so that they are looked through fast
OPEN_SETS = 16  # joint sets that take others in
MOST_VALUES = 2**25  # numbers of rows that the core goes through by itself: 256 MiB
MOST_AT_ONCE = 2**25  # numbers in moments that are counted together


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


class LabelMoments:
    """Moments of the numbers of a source without missing cells, in the configurations of sets of its labels.

    Parameters
    ----------
    source : Source
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._numbers = tuple(v for v, variable in enumerate(source.variables) if variable.is_continuous)
        self._cardinalities = [variable.cardinality for variable in source.variables]
        self._counted: OrderedDict[Labels, _core.LabelMoments] = OrderedDict()
        self._masks: dict[Labels, int] = {}  # labels that were counted as bits: those that hold others are found fast
        self._holders: dict[Labels, Labels] = {}
        self._added: dict[Labels, _core.LabelMoments] = {}
        self._size = self._added_size = 0

    def of(self, asked: Mapping[Labels, Numbers]) -> Iterator[list[_core.LabelMoments]]:
        """Yield the moments of each set of labels, with those numbers at least that are asked for; some at a time."""
        waiting: dict[Labels, Numbers] = {}
        added: list[_core.LabelMoments] = []
        within: list[_Within] = []
        for labels, numbers in asked.items():
            if labels in self._added:
                added.append(self._added[labels])
            elif (holder := self._holder(labels, numbers)) is not None:
                within.append((self._counted[holder], labels, numbers))
            else:
                waiting[labels] = numbers
        if added:
            yield added
        yield from self._within(within)
        for part in self._batches(self._joint(waiting)):
            within = []
            for counted in self._count({labels: numbers for labels, (numbers, _) in part.items()}):
                self._remember(counted)
                within += [(counted, labels, asked[labels]) for labels in part[counted.labels][1]]
            yield from self._within(within)

    def configurations(self, labels: Iterable[int]) -> int:
        """Return how many configurations labels have."""
        return math.prod([self._cardinalities[v] for v in labels])

    def size_of(self, labels: Iterable[int]) -> int:
        """Return how many numbers the moments in each configuration of labels are at most."""
        return self.configurations(labels) * len(self._numbers) ** 2

    def _count(self, sets: Mapping[Labels, Numbers]) -> Iterator[_core.LabelMoments]:
        """Yield the moments of some numbers in the configurations of sets of labels."""
        if self._rows is None:
            asked = [tuple(sorted((*labels, *numbers))) for labels, numbers in sets.items()]
            for statistic in self._source.statistics(asked):
                statistic.require_complete(self._source.variables, "a score")
                yield moments_of(statistic)
            return
        columns, every, values, weights = self._rows
        by_numbers: dict[Numbers, list[Labels]] = {}
        for labels, numbers in sets.items():
            by_numbers.setdefault(numbers, []).append(labels)
        for numbers, several in by_numbers.items():
            of = np.array(numbers, dtype=np.int32)
            own = values if numbers == self._numbers else np.ascontiguousarray(values[:, np.searchsorted(every, of)])
            yield from _core.moments_of_rows(columns, of, own, weights, *flat_sets(several))

    @cached_property
    def _rows(self) -> tuple[_core.Columns, npt.NDArray[np.int32], Floats, Floats | None] | None:
        """What the core goes through by itself, where there are rows and memory holds their numbers."""
        rows = self._source.rows
        if rows is None or rows.n_rows * len(self._numbers) > MOST_VALUES:
            return None
        if rows.weights is not None and not rows.weights.all():
            return None
        weights = None if rows.weights is None else rows.weights.astype(np.float64)
        _, values = rows.number_rows.apart()
        return rows.native, np.array(self._numbers, dtype=np.int32), values, weights

    @cached_property
    def means(self) -> dict[int, float] | None:
        """The mean of each number, where the core goes through the rows."""
        if self._rows is None or self._source.rows is None:
            return None
        _, _, values, weights = self._rows
        origin, _ = self._source.rows.number_rows.apart()
        means = origin + (np.average(values, axis=0, weights=weights) if len(values) else 0.0)
        return dict(zip(self._numbers, means.tolist(), strict=True))

    def _holder(self, labels: Labels, numbers: Numbers) -> Labels | None:
        """Return the smallest set that was counted with all of some labels and numbers."""
        found = self._holders.get(labels)
        if found is None or found not in self._counted or not self._holds(found, numbers):
            mask = _mask(labels)
            holders = [held for held, of in self._masks.items() if mask & of == mask and self._holds(held, numbers)]
            if not holders:
                return None
            self._holders[labels] = found = min(holders, key=lambda held: self._counted[held].size)
        self._counted.move_to_end(found)
        return found

    def _holds(self, counted: Labels, numbers: Numbers) -> bool:
        of = self._counted[counted].numbers
        return len(of) == len(self._numbers) or set(numbers) <= set(of)

    def _within(self, sets: Sequence[_Within]) -> Iterator[list[_core.LabelMoments]]:
        """Yield the moments of sets within those that were counted, so many at a time as memory should hold."""
        if self._added_size > MOST_AT_ONCE:
            self._added, self._added_size = {}, 0
        yield [counted for counted, labels, _ in sets if labels == counted.labels]
        part: list[_Within] = []
        size = 0
        for counted, labels, numbers in sets:
            if labels == counted.labels:
                continue
            if self._is_kept(labels, counted):
                numbers = self._numbers
            part.append((counted, labels, numbers))
            size += self.configurations(labels) * len(numbers) ** 2
            if size > MOST_AT_ONCE:
                yield self._add_up(part)
                part, size = [], 0
        if part:
            yield self._add_up(part)

    def _is_kept(self, labels: Labels, counted: _core.LabelMoments) -> bool:
        return self.size_of(labels) <= MOST_OF_ADDED and len(counted.numbers) == len(self._numbers)

    def _add_up(self, sets: Sequence[_Within]) -> list[_core.LabelMoments]:
        held = {id(counted): counted for counted, _, _ in sets}
        places = {one: at for at, one in enumerate(held)}
        of_set = np.array([places[id(counted)] for counted, _, _ in sets], dtype=np.int32)
        labels, numbers = flat_sets(of for _, of, _ in sets), flat_sets(of for _, _, of in sets)
        found = _core.moments_within(list(held.values()), of_set, *labels, *numbers)
        for (counted, of, _), moments in zip(sets, found, strict=True):
            if self._is_kept(of, counted):
                self._added[of] = moments
                self._added_size += moments.size
        return found

    def _joint(self, waiting: Mapping[Labels, Numbers]) -> dict[Labels, tuple[Numbers, list[Labels]]]:
        """Return sets that are counted, with their numbers and the sets that are added up from each.

        A set that has too many configurations to be joined is counted for those of its numbers that are asked for.
        """
        joint: list[tuple[set[int], list[Labels]]] = []
        alone: dict[Labels, tuple[Numbers, list[Labels]]] = {}
        for labels in sorted(waiting, key=lambda labels: (-len(labels), labels)):
            if not self._may_join(labels):
                alone[labels] = waiting[labels], [labels]
                continue
            open_sets = joint[-OPEN_SETS:]
            place = next((one for one in open_sets if one[0].issuperset(labels)), None)
            place = place or next((one for one in open_sets if self._may_join(one[0].union(labels))), None)
            if place is None:
                joint.append((set(labels), [labels]))
            else:
                place[0].update(labels)
                place[1].append(labels)
        return {tuple(sorted(labels)): (self._numbers, within) for labels, within in joint} | alone

    def _may_join(self, labels: Iterable[int]) -> bool:
        """Whether a set of labels has so few configurations that all numbers are counted in them."""
        cells = self.configurations(labels)
        return ROWS_OF_CELL * cells <= self._source.total and cells * len(self._numbers) ** 2 <= MOST_OF_JOINT

    def _batches(
        self, sets: Mapping[Labels, tuple[Numbers, list[Labels]]]
    ) -> Iterator[dict[Labels, tuple[Numbers, list[Labels]]]]:
        """Yield sets that are counted together."""
        part: dict[Labels, tuple[Numbers, list[Labels]]] = {}
        size = 0
        for labels, of in sets.items():
            own = self.configurations(labels) * len(of[0]) ** 2
            if part and (len(part) == SETS_AT_ONCE or size + own > MOST_AT_ONCE):
                yield part
                part, size = {}, 0
            part[labels] = of
            size += own
        if part:
            yield part

    def _remember(self, counted: _core.LabelMoments) -> None:
        """Hold what was counted, instead of what was not asked for the longest."""
        labels = counted.labels
        self._forget(labels)
        self._counted[labels], self._masks[labels] = counted, _mask(labels)
        self._size += counted.size
        while len(self._counted) > 1 and (self._size > MOST_HELD or len(self._counted) > MOST_SETS):
            self._forget(next(iter(self._counted)))

    def _forget(self, labels: Labels) -> None:
        if (held := self._counted.pop(labels, None)) is not None:
            self._size -= held.size
            del self._masks[labels]


def _mask(labels: Labels) -> int:
    return sum(1 << v for v in labels)
