"""Numbers of given rank among those that lie in many places: where a column is cut into bins of equally many rows.

Each place keeps its distinct numbers, sorted, with how many rows (or what weight) lie at or below each (`Ladder`), or
the numbers as they are, of which it looks at a block at a time (`Unsorted`). While they are few, all are gathered.
Otherwise the order of the floats is used, which as 64-bit integers are in the order of the numbers: in each round every
place counts what lies below some thousand borders, which narrows the interval of each rank a thousandfold, until few
numbers are left in it. The ranks found are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

MOST_GATHERED = 2**16  # distinct numbers that travel
MOST_BORDERS = 2**12  # a round
SAMPLE = 2**12  # numbers that mostly tell whether they are few

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Sum = Callable[[Callable[[Any], Any]], Any]  # adds a function's answers of all places


@dataclass(frozen=True)
class Gathered:
    """Distinct numbers, ascending, with the rows (or units of weight) at each; None where they are too many."""

    values: Floats | None
    counts: Counts | None = None

    def __add__(self, other: Gathered) -> Gathered:
        if self.values is None or other.values is None or self.counts is None or other.counts is None:
            return Gathered(None)
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        if len(values) > MOST_GATHERED:
            return Gathered(None)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        return Gathered(values, counts)


class Place(Protocol):
    """The numbers of a column in one place."""

    def below(self, borders: Floats) -> Counts:
        """Return how many rows (or units of weight) lie at or below each border, ascending."""
        ...

    def between(self, intervals: Sequence[tuple[float, float]]) -> Gathered:
        """Return the numbers above the first and at most the second end of an interval, with their counts."""
        ...

    def largest(self, less: float | None) -> float:
        """Return the largest number below `less` (any, without it), or minus infinity if there is no such number."""
        ...

    def least(self, more: float | None) -> float:
        """Return the least number above `more` (any, without it), or infinity if there is no such number."""
        ...

    def are_whole(self) -> bool:
        """Return whether all numbers are whole."""
        ...

    def few(self, most: int) -> Gathered:
        """Return all numbers, with their counts, where they are at most so many."""
        ...

    def clipped(self, low: float, high: float) -> Place:
        """Return the numbers with those below and above two as these two."""
        ...


@dataclass(frozen=True)
class Ladder:
    """The distinct numbers of a column in one place, ascending, and the rows (or units of weight) up to each."""

    values: Floats
    rows: Counts  # (n_values + 1,), from 0 on

    @classmethod
    def of(cls, numbers: Floats, weights: Counts | None) -> Ladder:
        """Return the ladder of some numbers with the rows' weights; NaN, and what weighs nothing, does not count."""
        held = ~np.isnan(numbers) if weights is None else ~np.isnan(numbers) & (weights > 0)
        found = _counted(numbers[held] + 0.0, None if weights is None else weights[held])  # -0.0 becomes 0.0
        return cls(found[0], np.concatenate([[0], np.cumsum(found[1])]))

    def below(self, borders: Floats) -> Counts:
        """Return how many rows lie at or below each border."""
        return self.rows[np.searchsorted(self.values, borders, side="right")]

    def between(self, intervals: Sequence[tuple[float, float]]) -> Gathered:
        """Return the numbers above the first and at most the second end of an interval, with their counts."""
        ends = np.searchsorted(self.values, np.array(intervals), side="right")
        if int((ends[:, 1] - ends[:, 0]).sum()) > MOST_GATHERED:
            return Gathered(None)
        rows = np.concatenate([np.arange(a, b) for a, b in ends.tolist()])
        return Gathered(self.values[rows], np.diff(self.rows)[rows])

    def largest(self, less: float | None) -> float:
        """Return the largest number below `less` (any, without it), or minus infinity if there is no such number."""
        at = len(self.values) if less is None else int(np.searchsorted(self.values, less, side="left"))
        return float(self.values[at - 1]) if at else -np.inf

    def least(self, more: float | None) -> float:
        """Return the least number above `more` (any, without it), or infinity if there is no such number."""
        at = 0 if more is None else int(np.searchsorted(self.values, more, side="right"))
        return float(self.values[at]) if at < len(self.values) else np.inf

    def are_whole(self) -> bool:
        """Return whether all numbers are whole."""
        return bool((self.values == np.rint(self.values)).all())

    def few(self, most: int) -> Gathered:
        """Return all numbers, with their counts, where they are at most so many."""
        return Gathered(None) if len(self.values) > most else Gathered(self.values, np.diff(self.rows))

    def clipped(self, low: float, high: float) -> Ladder:
        """Return the numbers with those below and above two as these two."""
        return Ladder.of(np.clip(self.values, low, high), np.diff(self.rows))


Blocks = Callable[[], Iterator[tuple[Floats, Counts | None]]]


@dataclass(frozen=True)
class Unsorted:
    """The numbers of a column in any order, block by block, with the rows' weights; those of NaN or 0 do not count."""

    blocks: Blocks

    def _held(self) -> Iterator[tuple[Floats, Counts | None]]:
        for numbers, weights in self.blocks():
            held = ~np.isnan(numbers) if weights is None else ~np.isnan(numbers) & (weights > 0)
            yield numbers[held] + 0.0, None if weights is None else weights[held]  # -0.0 becomes 0.0

    def are_whole(self) -> bool:
        """Return whether all numbers are whole."""
        return all(bool((numbers == np.rint(numbers)).all()) for numbers, _ in self._held())

    def few(self, most: int) -> Gathered:
        """Return all numbers, with their counts, where they are at most so many."""
        found = Gathered(np.zeros(0), np.zeros(0, dtype=np.int64))
        for numbers, weights in self._held():
            if len(np.unique(numbers[:SAMPLE])) > most:
                return Gathered(None)
            found = found + _gathered(numbers, weights)
            if found.values is None or len(found.values) > most:
                return Gathered(None)
        return found

    def below(self, borders: Floats) -> Counts:
        """Return how many rows lie at or below each border."""
        found = np.zeros(len(borders) + 1, dtype=np.int64)
        for numbers, weights in self._held():
            places = np.searchsorted(borders, numbers, side="left")
            if weights is None:
                found += np.bincount(places, minlength=len(found))
            else:
                np.add.at(found, places, weights)
        return np.cumsum(found[:-1])

    def between(self, intervals: Sequence[tuple[float, float]]) -> Gathered:
        """Return the numbers above the first and at most the second end of an interval, with their counts."""
        begins, ends = np.array(intervals).T
        found = Gathered(np.zeros(0), np.zeros(0, dtype=np.int64))
        for numbers, weights in self._held():
            at = np.searchsorted(begins, numbers, side="left") - 1
            inside = (at >= 0) & (numbers <= ends[at])
            found = found + _gathered(numbers[inside], None if weights is None else weights[inside])
            if found.values is None:
                break
        return found

    def largest(self, less: float | None) -> float:
        """Return the largest number below `less` (any, without it), or minus infinity if there is no such number."""
        parts = (x if less is None else x[x < less] for x, _ in self._held())
        return max((float(x.max(initial=-np.inf)) for x in parts), default=-np.inf)

    def least(self, more: float | None) -> float:
        """Return the least number above `more` (any, without it), or infinity if there is no such number."""
        parts = (x if more is None else x[x > more] for x, _ in self._held())
        return min((float(x.min(initial=np.inf)) for x in parts), default=np.inf)

    def clipped(self, low: float, high: float) -> Unsorted:
        """Return the numbers with those below and above two as these two."""
        return Unsorted(lambda: ((np.clip(numbers, low, high), weights) for numbers, weights in self.blocks()))


def _gathered(numbers: Floats, weights: Counts | None) -> Gathered:
    """Return the distinct ones of some numbers."""
    values, counts = _counted(numbers, weights)
    return Gathered(None) if len(values) > MOST_GATHERED else Gathered(values, counts)


def _counted(numbers: Floats, weights: Counts | None) -> tuple[Floats, Counts]:
    """Return the distinct ones of some numbers, ascending, and how many rows (or units of weight) hold each."""
    if weights is None:
        return np.unique(numbers, return_counts=True)
    values, places = np.unique(numbers, return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, places, weights)
    return values, counts


@dataclass(frozen=True)
class Whole:
    """Whether all numbers of all places are whole."""

    value: bool

    def __add__(self, other: Whole) -> Whole:
        return Whole(self.value and other.value)


@dataclass(frozen=True)
class Largest:
    """The largest number of all places; -infinity where there is none."""

    value: float

    def __add__(self, other: Largest) -> Largest:
        return self if self.value >= other.value else other


def gathered(all_places: Sum, name: str, most: int = MOST_GATHERED) -> Gathered:
    """Return all distinct numbers of a column with their counts, where they are at most so many."""
    found: Gathered = all_places(partial(_all_of, name=name, most=most))
    return found if found.values is not None and len(found.values) <= most else Gathered(None)


def cut_ranks(total: int, n_bins: int) -> npt.NDArray[np.int64]:
    """Return how many rows lie at or below each cut at least: j / n_bins of them, rounded up."""
    return np.array([-(-j * total // n_bins) for j in range(1, n_bins)], dtype=np.int64)


def quantile_cuts(all_places: Sum, name: str, n_bins: int) -> list[float]:
    """Return what `fishernet.data.encoding.bins.quantile_cuts` would of a column of many numbers, all finite.

    It must have more distinct ones than are gathered.
    """
    last = all_places(partial(largest_of, name=name)).value
    first = -all_places(partial(largest_negated, name=name)).value
    ranks = cut_ranks(int(all_places(partial(rows_below, name=name, borders=np.array([last])))[0]), n_bins)
    found = _of_ranks(all_places, name, ranks, _key(np.nextafter(first, -np.inf)), _key(last))  # -0.0 is below 0.0
    cuts = {value if value < last else all_places(partial(largest_of, name=name, less=last)).value for value in found}
    return sorted(cuts)


def _of_ranks(all_places: Sum, name: str, ranks: Counts, low: int, high: int) -> list[float]:
    """Return the least number of which so many rows lie at or below it, for each rank; between two keys."""
    intervals = [(low, high)] * len(ranks)  # each number's key is above the first and at most the second
    while True:
        distinct = sorted(set(intervals))
        n_borders = max(2, MOST_BORDERS // len(distinct))
        borders = sorted({key for interval in distinct for key in _inside(*interval, n_borders)})
        below = all_places(partial(rows_below, name=name, borders=_values(borders)))
        places = np.searchsorted(below, ranks, side="left")
        lows = [borders[place - 1] if place else low for place in places.tolist()]
        intervals = [(max(a, b), borders[place]) for (a, _), b, place in zip(intervals, lows, places, strict=True)]
        if all(b - a == 1 for a, b in intervals):
            return (_values([b for _, b in intervals]) + 0.0).tolist()  # type: ignore[no-any-return]
        distinct = sorted(set(intervals))
        edges = [*zip(*(_values(ends).tolist() for ends in zip(*distinct, strict=True)), strict=True)]
        few: Gathered = all_places(partial(_between, name=name, intervals=tuple(edges)))
        if few.values is None or few.counts is None:
            continue
        begins = np.array([a for a, _ in edges])
        before = all_places(partial(rows_below, name=name, borders=begins)).tolist()
        found = []
        for (a, b), rank in zip(intervals, ranks.tolist(), strict=True):
            at = distinct.index((a, b))
            held = (few.values > edges[at][0]) & (few.values <= edges[at][1])
            upto = before[at] + np.cumsum(few.counts[held])
            found.append(float(few.values[held][int(np.searchsorted(upto, rank, side="left"))]))
        return found


def _inside(low: int, high: int, n: int) -> list[int]:
    """Return at most n ascending keys above the lower that divide an interval evenly; the upper is the last."""
    n = min(n, high - low)
    return [low + (high - low) * i // n for i in range(1, n + 1)]


# ----------------------------------------------------------------------------------------------- asked of one place


def rows_below(place: dict[str, Place], name: str, borders: Floats) -> Counts:
    """Return how many rows lie at or below each border in a place."""
    return place[name].below(borders)


def _all_of(place: dict[str, Place], name: str, most: int) -> Gathered:
    return place[name].few(most)


def are_whole(place: dict[str, Place], name: str) -> Whole:
    """Return whether all numbers in a place are whole."""
    return Whole(place[name].are_whole())


def _between(place: dict[str, Place], name: str, intervals: Sequence[tuple[float, float]]) -> Gathered:
    return place[name].between(intervals)


def largest_of(place: dict[str, Place], name: str, less: float | None = None) -> Largest:
    """Return the largest number in a place, or the largest below `less`."""
    return Largest(place[name].largest(less))


def largest_negated(place: dict[str, Place], name: str, more: float | None = None) -> Largest:
    """Return minus the least number in a place, or minus the least above `more`."""
    return Largest(-place[name].least(more))


def of_clipped(
    place: dict[str, Place], question: Callable[[dict[str, Place]], Any], name: str, low: float, high: float
) -> Any:
    """Return the answer to a question where a column's numbers are clipped to a range."""
    return question({name: place[name].clipped(low, high)})


# --------------------------------------------------------------------------------------------- floats in their order


def _key(value: float) -> int:
    """Return a number as an integer; those of finite numbers are in the numbers' order."""
    bits = int(np.array([value + 0.0]).view(np.uint64)[0])
    return (1 << 63) + bits if bits < 1 << 63 else (1 << 64) - 1 - bits


def _values(keys: Sequence[int]) -> Floats:
    """Return the numbers of integers."""
    bits = [key - (1 << 63) if key >= 1 << 63 else (1 << 64) - 1 - key for key in keys]
    return np.array(bits, dtype=np.uint64).view(np.float64)
