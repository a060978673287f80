"""What there is to know of a column before it is decided what it is, for rows that lie in many places.

A `Tally` is a column without its rows: its labels, and how many cells hold each. Tallies of two parts add, and what
`fishernet.data.encoding` decides of a column it decides of a tally by the same code. Where a column has very many
labels, a tally keeps some of them that stand for all: the least and the largest number, one that is not whole, those
that are no numbers, and enough others to tell that they are many. Whatever is decided of all labels together (they are
whole, they are dates, they are more than states can be) comes out of those as it would out of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import SchemaError
from fishernet.base.names import shown
from fishernet.data.digest import mixed
from fishernet.data.encoding.cells import SAMPLE, Cells, Columns, NumberCells, SourceColumn
from fishernet.data.encoding.dates import DATE, SECONDS_A_DAY, TIME, Unit, parsed
from fishernet.data.encoding.encode import MOST_SPOILING, WRITTEN, complete_rows, split_weights
from fishernet.data.encoding.labels import MOST_STATES, Labels, is_numeric, numbers_of
from fishernet.data.options import Options
from fishernet.data.variable import Bounds, label_array

MOST_LABELS = 2**16  # of a column of text, or of one that is to be cut into bins
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """The labels of a column, and how many cells hold each; two of them add.

    Attributes
    ----------
    name : str
    labels : (n_labels,) array
        Its distinct labels, or some that stand for all.
    times : (n_labels,) int64
        The rows that hold each; more than that where labels are left out.
    heavy : (n_labels,) int64
        Those of them that weigh more than nothing.
    n_known, n_missing : int
        The numbers of cells.
    most : int or None
        How many labels are kept at most.
    thinned : bool
        Whether labels are left out.
    mark : int or None
        A sum over all numbers, which tells whether they are a row of whole ones; None where they are not all whole.
    is_number : bool
        Whether the source gave numbers.
    declared : bool
        Whether it declares the states; of numbers, that they stay numbers.
    unit, cuts, bounds
        As those of `fishernet.data.encoding.cells.Cells`.
    """

    name: str
    labels: Labels
    times: Counts
    heavy: Counts
    n_known: int
    n_missing: int
    most: int | None
    thinned: bool = False
    mark: int | None = None
    is_number: bool = False
    declared: bool = False
    unit: Unit | None = None
    cuts: tuple[float, ...] | None = None
    bounds: Bounds | None = None

    def __add__(self, other: Tally) -> Tally:
        one, two = _alike(self, other)
        labels, places = _united(one, two)
        times, heavy = (np.zeros(len(labels), dtype=np.int64) for _ in range(2))
        np.add.at(times, places, np.concatenate([one.times, two.times]))
        np.add.at(heavy, places, np.concatenate([one.heavy, two.heavy]))
        marks = [_mark(side) for side in (one, two)] if one.thinned or two.thinned else []
        return replace(
            one,
            labels=labels,
            times=times,
            heavy=heavy,
            n_known=one.n_known + two.n_known,
            n_missing=one.n_missing + two.n_missing,
            thinned=one.thinned or two.thinned,
            mark=None if not marks or None in marks else sum(marks) % 2**64,  # type: ignore[arg-type]
            most=one.most,
        ).thin()

    def thin(self) -> Tally:
        """Return the tally with at most so many labels as it may have, and those that stand for the others."""
        if self.most is None or len(self.labels) <= self.most + WITNESSES or not _may_thin(self):
            return self
        kept = np.array(sorted(_witnesses(self)), dtype=np.intp)
        labels, times, heavy = self.labels[kept], self.times[kept], self.heavy[kept]
        return replace(self, labels=labels, times=times, heavy=heavy, thinned=True, mark=_mark(self))

    def column(self) -> SourceColumn:
        """Return the tally as a column that can be decided on."""
        more: dict[str, Any] = {"declared": self.declared, "unit": self.unit}
        if self.is_number:
            labels = TalliedLabels(self.name, self.labels, (), unit=self.unit, tally=self)
            return TalliedNumbers(self.name, pa.chunked_array([], pa.float64()), **more, of=labels)
        return TalliedLabels(self.name, self.labels, (), **more, cuts=self.cuts, bounds=self.bounds, tally=self)


WITNESSES = 32  # labels beyond the most, as many as there are witnesses


def tally_of(column: SourceColumn, most: int | None, weights: npt.NDArray[Any] | None) -> Tally:
    """Return the tally of a column whose rows have these weights."""
    numbers = _many_numbers(column, most)
    if numbers is not None:
        return _of_many_numbers(column, numbers, most, weights)
    cells = column.coded
    times = cells.counts()
    heavy = times if weights is None else cells.counts((weights > 0).astype(np.int64))
    known = int(times.sum())
    return Tally(
        column.name,
        cells.labels,
        times,
        heavy,
        known,
        column.n_rows - known,
        most,
        is_number=column.holds_numbers,
        declared=column.declared,
        unit=column.unit,
        cuts=cells.cuts,
        bounds=cells.bounds,
    ).thin()


def _many_numbers(column: SourceColumn, most: int | None) -> npt.NDArray[np.float64] | None:
    """Return the numbers of a column that has clearly more different ones than are kept; None of another."""
    if most is None or not column.holds_numbers:
        return None
    numbers = column.numbers()
    return numbers if len(np.unique(numbers[:SAMPLE])) > most + WITNESSES else None


def _of_many_numbers(
    column: SourceColumn, numbers: npt.NDArray[np.float64], most: int | None, weights: npt.NDArray[Any] | None
) -> Tally:
    known = ~np.isnan(numbers)
    x = numbers[known] + 0.0  # -0.0 becomes 0.0
    weighty = np.ones(len(x), dtype=bool) if weights is None else weights[known] > 0
    rows = set(range(min(len(x), SAMPLE))) | set(_extremes(x)) | set(np.flatnonzero(weighty)[_extremes(x[weighty])])
    labels, places = np.unique(x[sorted(rows)], return_inverse=True)
    heavy = np.zeros(len(labels), dtype=np.int64)
    np.add.at(heavy, places, weighty[sorted(rows)])
    times = np.bincount(places, minlength=len(labels))
    more: dict[str, Any] = {"is_number": True, "declared": column.declared, "unit": column.unit}
    mark = _sum_of_marks(x) if _are_whole(x) else None
    found = Tally(column.name, labels, times, heavy, len(x), len(numbers) - len(x), most, True, mark, **more)
    return found.thin()


# ------------------------------------------------------------------------------------------- as a column to decide on


@dataclass(frozen=True)
class TalliedLabels(Cells):
    """A column without its rows: how often each label occurs is all that is known of them."""

    tally: Tally = None  # type: ignore[assignment]

    @property
    def n_rows(self) -> int:
        """The number of cells."""
        return self.tally.n_known + self.tally.n_missing

    @property
    def n_missing(self) -> int:
        """The number of missing cells."""
        return self.tally.n_missing

    @property
    def holds_all(self) -> bool:
        """Whether all labels are known, not only some that stand for the others."""
        return not self.tally.thinned

    def counts(self, weights: Counts | None = None) -> Counts:
        """Return how many rows hold each label; where weights are given, whatever they are, how many of the heavy ones.

        That is enough to find the range of the numbers. Ranks are found by `fishernet.data.statistics.ranks`.
        """
        return self.tally.times if weights is None else self.tally.heavy

    def n_marked(self, labels: npt.NDArray[np.bool_]) -> int:
        """Return how many cells hold one of the marked labels."""
        return int(self.tally.times[labels].sum())

    def counts_rows(self) -> bool:
        """Whether the cells are whole numbers in a row, each once, in any order."""
        numbers, n_known = self.label_numbers, self.tally.n_known
        if self.tally.n_missing or not n_known or not _are_whole(numbers):
            return False
        low, high = numbers.min(), numbers.max()
        return bool(high - low == n_known - 1) and _mark(self.tally) == _mark_of_row(int(low), n_known)

    def as_dates(self) -> SourceColumn:
        """Return a column of text as one of dates where all its labels are written as such; any other as it is."""
        found = parsed(self.labels.tolist()) if _may_be_text(self) else None
        return self if found is None else self._dated(*found)

    def _dated(self, numbers: npt.NDArray[np.float64], unit: Unit) -> TalliedNumbers:
        labels, places = np.unique(numbers, return_inverse=True)
        times, heavy = (np.zeros(len(labels), dtype=np.int64) for _ in range(2))
        np.add.at(times, places, self.tally.times)
        np.add.at(heavy, places, self.tally.heavy)
        found = replace(self.tally, labels=labels, times=times, heavy=heavy, mark=None)
        return replace(found, is_number=True, declared=True, unit=unit).column()  # type: ignore[return-value]

    def refuse_marked(self, labels: npt.NDArray[np.bool_], kept: Any, why: str) -> None:  # noqa: ARG002
        """Raise SchemaError when a cell holds a marked label, which is no number."""
        if labels.any():
            label = self.labels.tolist()[int(np.argmax(labels))]
            raise SchemaError(
                f"column {self.name!r}: {why}, and {shown(label)} is none; if it means a missing cell, write NA, or "
                "declare it as one",
                parameter="na_values",
            )


@dataclass(frozen=True)
class TalliedNumbers(NumberCells):
    """A column of numbers without its rows."""

    of: TalliedLabels = None  # type: ignore[assignment]

    @cached_property
    def coded(self) -> Cells:
        """The column by its distinct numbers."""
        return self.of

    @property
    def n_rows(self) -> int:
        """The number of cells."""
        return self.of.n_rows

    @property
    def n_missing(self) -> int:
        """The number of missing cells."""
        return self.of.n_missing

    @property
    def has_values(self) -> bool:
        """Whether a number is known."""
        return self.declared or self.of.has_values

    def looks_continuous(self) -> bool:
        """Return whether the column stays one of numbers unless it is asked otherwise."""
        return self.declared or self.of.looks_continuous()

    def counts_rows(self) -> bool:
        """Whether the cells are whole numbers in a row, each once, in any order."""
        return self.of.counts_rows()


def _may_be_text(column: Cells) -> bool:
    labels = column.labels.tolist()
    return bool(labels) and not column.declared and all(isinstance(label, str) for label in labels)


# ------------------------------------------------------------------------------------------------- adding two tallies


def _alike(one: Tally, two: Tally) -> tuple[Tally, Tally]:
    """Return two tallies of one column as tallies of one kind, as the rows of both together would be."""
    if one.name != two.name:
        raise SchemaError(f"one part has the column {one.name!r} where another has {two.name!r}")
    kinds = [(side.is_number, side.declared, side.unit) for side in (one, two)]
    if kinds[0] == kinds[1]:
        return one, two
    for empty, other in ((one, two), (two, one)):
        if not len(empty.labels):
            more: dict[str, Any] = {"declared": other.declared, "cuts": other.cuts, "bounds": other.bounds}
            filled = replace(empty, labels=other.labels[:0], is_number=other.is_number, unit=other.unit, **more)
            return (filled, other) if empty is one else (other, filled)
    if one.unit is not None and two.unit is not None:
        return _in_unit(one, "seconds"), _in_unit(two, "seconds")
    if one.unit is not None or two.unit is not None:
        raise SchemaError(
            f"column {one.name!r} holds dates in one part and other labels in another; make them of one kind"
        )
    return _as_labels(one), _as_labels(two)


def _in_unit(tally: Tally, unit: Unit) -> Tally:
    if tally.unit == unit:
        return tally
    factor = SECONDS_A_DAY if unit == "seconds" else 1 / SECONDS_A_DAY
    return replace(tally, labels=tally.labels * factor, unit=unit, mark=None)


def _as_labels(tally: Tally) -> Tally:
    """Return a tally as one of labels, those alone that occur."""
    held = tally.times > 0
    labels, times, heavy = tally.labels[held], tally.times[held], tally.heavy[held]
    return replace(tally, labels=labels, times=times, heavy=heavy, is_number=False, declared=False, cuts=None)


def _united(one: Tally, two: Tally) -> tuple[Labels, npt.NDArray[np.intp]]:
    """Return the labels of two tallies, and the place of each label of the one and then of the other among them."""
    kinds = {one.labels.dtype.kind, two.labels.dtype.kind}
    if not one.declared and kinds <= {"i", "u", "f"}:
        labels, places = np.unique(np.concatenate([one.labels, two.labels]), return_inverse=True)
        return labels, places
    if len(one.labels) == len(two.labels) and one.labels.dtype == two.labels.dtype and (one.labels == two.labels).all():
        return one.labels, np.tile(np.arange(len(one.labels)), 2)
    every = [*one.labels.tolist(), *two.labels.tolist()]
    known: dict[Any, int] = {}
    found = [known.setdefault((isinstance(label, bool), label), len(known)) for label in every]
    return label_array([label for _, label in known]), np.array(found, dtype=np.intp)


# ------------------------------------------------------------------------------------- labels that stand for the others


def _may_thin(tally: Tally) -> bool:
    """Whether the labels are of one kind, and no states that the data declare."""
    if tally.declared and not tally.is_number:
        return False
    return is_numeric(tally.labels) or all(isinstance(label, str) for label in tally.labels.tolist())


def _witnesses(tally: Tally) -> set[int]:
    """Return the places of the labels that are kept."""
    found = {0}
    text = not is_numeric(tally.labels)
    numbers = numbers_of(tally.labels)
    strange = np.flatnonzero(np.isnan(numbers)).tolist()
    if text:
        labels: list[str] = tally.labels.tolist()
        found.update(strange[: MOST_SPOILING + 1], _spoilers(labels, strange))
        dates = parsed(labels)
        numbers = numbers if dates is None else dates[0]
    for of in (np.ones(len(numbers), dtype=bool), tally.heavy > 0):
        places = np.flatnonzero(of & ~np.isnan(numbers))
        found.update(places[_extremes(numbers[places])].tolist())
    fill = np.argsort(np.isnan(numbers) + 2 * (tally.heavy == 0), kind="stable")
    assert tally.most is not None
    return found | set(fill[: max(tally.most, MOST_STATES) + 1].tolist())


def _extremes(numbers: npt.NDArray[np.float64]) -> list[int]:
    """Return where the least and the largest number stand, and one that is not whole where there is one."""
    if not len(numbers):
        return []
    broken = np.flatnonzero(numbers != np.rint(numbers))[:1]
    return [int(np.argmin(numbers)), int(np.argmax(numbers)), *broken.tolist()]


def _spoilers(labels: Sequence[str], strange: Sequence[int]) -> Iterator[int]:
    """Yield a place for each way of writing that not all labels, or not all that are no numbers, are written in."""
    for form, _ in WRITTEN:
        yield from [i for i in strange if not form.fullmatch(labels[i])][:1]
    yield from [i for i, label in enumerate(labels) if not label.endswith("%")][:1]
    yield from [i for i, label in enumerate(labels) if not DATE.fullmatch(label)][:1]
    yield from [i for i, label in enumerate(labels) if not (DATE.fullmatch(label) or TIME.fullmatch(label))][:1]
    if parsed(labels[:1]) is not None and parsed(labels) is None:
        first, last = 0, len(labels)  # all written as dates, and some are none: where is one?
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if parsed(labels[first:middle]) is None else (middle, last)
        yield first


# ----------------------------------------------------------------------------------- numbers that count the rows

PIECE = 2**20


def _are_whole(numbers: npt.NDArray[np.float64]) -> bool:
    return bool(len(numbers)) and bool((numbers == np.rint(numbers)).all()) and bool((np.abs(numbers) < 2.0**53).all())


def _mark(tally: Tally) -> int | None:
    """Return the sum of what all numbers are mixed to, modulo 2**64; None where they are not all whole."""
    if tally.thinned or not is_numeric(tally.labels):
        return tally.mark
    numbers = numbers_of(tally.labels)
    return _sum_of_marks(numbers, tally.times) if _are_whole(numbers) else None


def _sum_of_marks(numbers: npt.NDArray[Any], times: Counts | None = None) -> int:
    found = mixed(numbers.astype(np.int64).view(np.uint64))
    if times is not None:
        found *= times.view(np.uint64)
    return int(found.sum(dtype=np.uint64))


def _mark_of_row(low: int, n: int) -> int:
    """Return the mark of the whole numbers from the least on."""
    pieces = range(low, low + n, PIECE)
    return sum(_sum_of_marks(np.arange(first, min(first + PIECE, low + n))) for first in pieces) % 2**64


# ------------------------------------------------------------------------------------------------------ a whole part


@dataclass(frozen=True)
class Kept:
    """What was decided of all parts before their rows are looked at again: the columns that stay, dates with units."""

    units: dict[str, Unit | None]


@dataclass(frozen=True)
class PartTally:
    """The tallies of the columns of a part, and what its rows weigh."""

    columns: tuple[Tally, ...]
    n_rows: int
    weight: float | None = None
    whole: bool = True

    def __add__(self, other: PartTally) -> PartTally:
        if len(self.columns) != len(other.columns):
            raise SchemaError(f"one part has {len(self.columns)} columns and another {len(other.columns)}")
        columns = tuple([a + b for a, b in zip(self.columns, other.columns, strict=True)])
        weight = None if self.weight is None or other.weight is None else self.weight + other.weight
        return PartTally(columns, self.n_rows + other.n_rows, weight, self.whole and other.whole)


def tally_part(source: Columns, options: Options, kept: Kept | None = None) -> PartTally:
    """Return the tallies of a part's columns: of all its rows, or of those that are complete in the columns kept."""
    cells, weights, n_rows = columns_kept(source, options, kept)
    columns = tuple([tally_of(column, _most_labels(column, options), weights) for column in cells])
    if weights is None:
        return PartTally(columns, n_rows)
    return PartTally(columns, n_rows, float(weights.sum()), weights.dtype.kind != "f")


def columns_kept(
    source: Columns, options: Options, kept: Kept | None
) -> tuple[list[SourceColumn], npt.NDArray[Any] | None, int]:
    """Return the columns, the weights and the number of the rows that count."""
    cells, weights = split_weights(source, options)
    if kept is None:
        return cells, weights, source.n_rows
    cells = [column for column in cells if column.name in kept.units]
    cells = [c.as_dates().in_unit(unit) if (unit := kept.units[c.name]) is not None else c for c in cells]
    if options.missing != "drop":
        return cells, weights, source.n_rows
    rows = complete_rows(cells, source.n_rows)
    cells = [column.kept(rows) for column in cells]
    return cells, None if weights is None else weights[rows], int(np.count_nonzero(rows))


def _most_labels(column: SourceColumn, options: Options) -> int | None:
    """Return how many labels of a column may matter, whatever it becomes; None for all."""
    if column.name in options.categorical:
        return None
    cut = options.cut(column.name)
    if column.holds_numbers and not isinstance(cut, int):
        return MOST_STATES
    return max(MOST_LABELS, cut if isinstance(cut, int) else 0)
