"""Moments of numbers in the configurations of sets of labels, which a search asks for again and again.

Rows are gone through seldom: sets of labels that are asked for together are joined while the joint set has far fewer
configurations than there are rows, and moments in the configurations of a set add up to those of each set within it.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.data import Source, Statistic
from fishernet.data.statistics.counting import flat_sets
from fishernet.data.statistics.statistic import occurring

Floats = npt.NDArray[np.float64]
Labels = tuple[int, ...]  # ascending positions of variables with labels
Numbers = tuple[int, ...]  # ascending positions of numbers

SETS_AT_ONCE = 32  # whose moments are counted together
ROWS_OF_CELL = 32  # in each configuration of a joint set, at least, in the mean: adding up is cheaper than counting
MOST_OF_JOINT = 2**20  # numbers in the moments of a joint set: 8 MiB
MOST_OF_ADDED = 2**14  # up to so many numbers, what was added up is for all numbers, and remembered
MOST_HELD = 2**26  # numbers in moments that are remembered: 512 MiB
MOST_SETS = 512  # that are remembered, so that they are looked through fast
OPEN_SETS = 16  # joint sets that take others in
MOST_VALUES = 2**25  # numbers of rows that the core goes through by itself: 256 MiB
MOST_AT_ONCE = 2**25  # numbers in moments that are counted together


class CellMoments(NamedTuple):
    """The rows in each configuration of some labels that occurs, as the core takes them.

    Their weights, (q,), the means of d numbers, (q, d), and the centred sums of the products of each number with itself
    and those before it, (q, d (d + 1) / 2).
    """

    weights: Floats
    means: Floats
    products: Floats

    @classmethod
    def of(cls, statistic: Statistic) -> CellMoments:
        """Return the moments of a statistic's cells that occur."""
        d = len(statistic.continuous)
        counts = statistic.counts.reshape(-1)
        held = np.flatnonzero(counts)
        rows, columns = np.tril_indices(d)
        products = statistic.scatter.reshape(-1, d * d)[np.ix_(held, rows * d + columns)]
        return cls(counts[held].astype(np.float64), statistic.mean.reshape(-1, d)[held], products)

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return self.products.size


class _Counted(NamedTuple):
    """What was counted of a set of labels: the states of each configuration that occurs, and its moments."""

    labels: Labels
    numbers: Numbers
    states: npt.NDArray[np.uint32]
    moments: CellMoments
    mask: int
    """The labels as bits, by which those that hold others are found fast."""

    def within(self, sets: Sequence[tuple[Labels, Sequence[int], Numbers]]) -> list[CellMoments]:
        """Return the moments of some of the numbers in the configurations of some of the labels, of several sets.

        Each is given by its labels, their cardinalities and its numbers.
        """
        place = {v: at for at, v in enumerate(self.numbers)}
        members = [np.array([place[v] for v in numbers], dtype=np.int32) for _, _, numbers in sets]
        groups = [self._groups(labels, cardinalities) for labels, cardinalities, _ in sets]
        sizes = [math.prod(cardinalities) for _, cardinalities, _ in sets]
        return [CellMoments(*found) for found in _core.pooled_moments(*self.moments, members, groups, sizes)]

    def _groups(self, labels: Labels, cardinalities: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return which configuration of some labels each of all labels belongs to."""
        groups = np.zeros(len(self.states), dtype=np.int64)
        for label, cardinality in zip(labels, cardinalities, strict=True):
            groups *= cardinality
            groups += self.states[:, self.labels.index(label)]
        return groups


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
        self._counted: OrderedDict[Labels, _Counted] = OrderedDict()
        self._added: dict[Labels, CellMoments] = {}
        self._size = self._added_size = 0

    def of(self, asked: Mapping[Labels, Numbers]) -> Iterator[tuple[Labels, Numbers, CellMoments]]:
        """Yield each set of labels with numbers, those asked for among them, and their moments."""
        waiting: dict[Labels, Numbers] = {}
        held: dict[Labels, list[Labels]] = {}
        for labels, numbers in asked.items():
            if labels in self._added:
                yield labels, self._numbers, self._added[labels]
            elif (holder := self._holder(labels, numbers)) is not None:
                held.setdefault(holder, []).append(labels)
            else:
                waiting[labels] = numbers
        for holder, within in held.items():
            yield from self._within(self._counted[holder], within, asked)
        for part in self._batches(self._joint(waiting)):
            for counted in self._count({labels: numbers for labels, (numbers, _) in part.items()}):
                self._remember(counted)
                yield from self._within(counted, part[counted.labels][1], asked)

    def configurations(self, labels: Iterable[int]) -> int:
        """Return how many configurations labels have."""
        return math.prod([self._cardinalities[v] for v in labels])

    def size_of(self, labels: Iterable[int]) -> int:
        """Return how many numbers the moments in each configuration of labels are at most."""
        return self.configurations(labels) * len(self._numbers) ** 2

    def _count(self, sets: Mapping[Labels, Numbers]) -> Iterator[_Counted]:
        """Yield the moments of some numbers in the configurations of sets of labels."""
        of_rows = [labels for labels in sets if self._rows is not None and self._may_join(labels)]
        if self._rows is not None and of_rows:
            native, origin, values, weights = self._rows
            found = _core.moments_within(native, values, weights, *flat_sets(of_rows))
            for labels, (states, total, means, products) in zip(of_rows, found, strict=True):
                moments = CellMoments(total, means + origin, products)
                yield _Counted(labels, self._numbers, states, moments, _mask(labels))
        others = [labels for labels in sets if labels not in of_rows]
        asked = [tuple(sorted((*labels, *sets[labels]))) for labels in others]
        for labels, statistic in zip(others, self._source.statistics(asked) if asked else (), strict=True):
            statistic.require_complete(self._source.variables, "a score")
            yield _Counted(labels, sets[labels], occurring(statistic)[0], CellMoments.of(statistic), _mask(labels))

    @cached_property
    def _rows(self) -> tuple[_core.Columns, Floats, Floats, Floats | None] | None:
        """What the core goes through by itself, where there are rows and memory holds their numbers."""
        rows = self._source.rows
        if rows is None or rows.n_rows * len(self._numbers) > MOST_VALUES:
            return None
        if rows.weights is not None and not rows.weights.all():
            return None
        weights = None if rows.weights is None else rows.weights.astype(np.float64)
        return rows.native, *rows.number_rows.apart(), weights

    def _holder(self, labels: Labels, numbers: Numbers) -> Labels | None:
        """Return the smallest set that was counted with all of some labels and numbers."""
        mask = _mask(labels)
        holders = [held for held in self._counted.values() if mask & held.mask == mask]
        every = len(self._numbers)
        holders = [held for held in holders if len(held.numbers) == every or set(numbers) <= set(held.numbers)]
        if not holders:
            return None
        found = min(holders, key=lambda held: held.moments.size).labels
        self._counted.move_to_end(found)
        return found

    def _within(
        self, counted: _Counted, within: Sequence[Labels], asked: Mapping[Labels, Numbers]
    ) -> Iterator[tuple[Labels, Numbers, CellMoments]]:
        """Yield what `of` does, of sets within one that was counted."""
        if self._added_size > MOST_AT_ONCE:
            self._added, self._added_size = {}, 0
        complete = len(counted.numbers) == len(self._numbers)
        few = {labels for labels in within if complete and self.size_of(labels) <= MOST_OF_ADDED}
        sets = []
        for labels in within:
            if labels != counted.labels:
                cardinalities = [self._cardinalities[v] for v in labels]
                sets.append((labels, cardinalities, self._numbers if labels in few else asked[labels]))
        if counted.labels in within:
            yield counted.labels, counted.numbers, counted.moments
        for (labels, _, numbers), moments in zip(sets, counted.within(sets) if sets else [], strict=True):
            if labels in few:
                self._added[labels] = moments
                self._added_size += moments.size
            yield labels, numbers, moments

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

    def _remember(self, counted: _Counted) -> None:
        """Hold what was counted, instead of what was not asked for the longest."""
        self._forget(counted.labels)
        self._counted[counted.labels] = counted
        self._size += counted.moments.size
        while len(self._counted) > 1 and (self._size > MOST_HELD or len(self._counted) > MOST_SETS):
            self._forget(next(iter(self._counted)))

    def _forget(self, labels: Labels) -> None:
        if (held := self._counted.pop(labels, None)) is not None:
            self._size -= held.moments.size


def _mask(labels: Labels) -> int:
    return sum(1 << v for v in labels)
