"""What one pass knows of a column: enough to decide what it is, and small enough to travel.

A `ColumnSummary` is a column without its rows: its labels, and how many cells hold each. Summaries of two parts add, so
a table in memory, the batches of a stream and the parts on a cluster come to the same one, and `fishernet.data.decide`
decides by it alone. Where a column has very many labels, a summary keeps some that stand for all: the least and the
largest number, one that is not whole, those that are no numbers, and enough others to tell that they are many. Whatever
is decided of all labels together (they are whole, they are dates, they are more than states can be) comes out of those
as it would out of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.base.errors import SchemaError
from fishernet.data.arrays import Weights
from fishernet.data.digest import mixed
from fishernet.data.encoding.cells import SAMPLE, NumberCells, SourceColumn
from fishernet.data.encoding.dates import DATE, SECONDS_A_DAY, TIME, Unit, date_texts, parsed
from fishernet.data.encoding.labels import (
    DECIMAL,
    MOST_STATES,
    WRITTEN,
    Labels,
    in_plain,
    is_numeric,
    numbers_of,
    read_numbers,
    typed,
)
from fishernet.data.options import Options, TextFormat
from fishernet.data.variable import Bounds, label_array

MOST_LABELS = 2**12  # of a column of text that nobody asked for
WITNESSES = 32  # labels beyond the most, about as many as stand for others
MOST_SPOILING = 5  # labels that are no numbers, in a column of text that is otherwise one of numbers
PIECE = 2**20
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ColumnSummary:
    """The labels of a column, and how many cells hold each; two of them add.

    Attributes
    ----------
    name : str
    labels : (n_labels,) array
        Its distinct labels as the source has them, or some that stand for all.
    times : (n_labels,) int64
        The rows that hold each; of labels that stand for others, at least one.
    n_known, n_missing : int
        The numbers of cells.
    most : int or None
        How many labels are kept at most; None for all.
    form : TextFormat or None
        How numbers are written in the labels, where these are text of a file, whose types are not known yet.
    of_text : bool
        Whether the source gave text that declares no states.
    is_number : bool
        Whether the labels are kept as numbers: the source gave some, or text of which there is much is some.
    declared : bool
        Whether the source declares the states; of numbers, that they stay numbers.
    thinned : bool
        Whether labels are left out.
    mark : int or None
        A sum over all numbers, which tells whether they are a row of whole ones; None where they are not all whole.
    unit, cuts, bounds
        As those of `fishernet.data.encoding.cells.Cells`.
    """

    name: str
    labels: Labels
    times: Counts
    n_known: int
    n_missing: int
    most: int | None
    form: TextFormat | None = None
    of_text: bool = False
    is_number: bool = False
    declared: bool = False
    thinned: bool = False
    mark: int | None = None
    unit: Unit | None = None
    cuts: tuple[float, ...] | None = None
    bounds: Bounds | None = None

    # ------------------------------------------------------------------------------------------------- what it tells

    @property
    def n_rows(self) -> int:
        """The number of cells."""
        return self.n_known + self.n_missing

    @cached_property
    def plain_labels(self) -> list[str] | None:
        """The labels with numbers as Python writes them, where all are numbers written otherwise; None as they are."""
        return None if self.form is None or self.is_number else in_plain(self.labels.tolist(), self.form)

    @cached_property
    def typed_labels(self) -> Labels:
        """The labels, in the type that all of them have."""
        if self.form is None or self.is_number:
            return self.labels
        return typed(self.labels.tolist() if self.plain_labels is None else self.plain_labels)

    @property
    def are_numbers(self) -> bool:
        """Whether the labels are numbers that are no declared states."""
        return self.is_number or (not self.declared and self.n_known > 0 and is_numeric(self.typed_labels))

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The number that each label is, (n_labels,); NaN for one that is none."""
        return numbers_of(self.typed_labels if is_numeric(self.typed_labels) else self.labels)

    @property
    def are_texts(self) -> bool:
        """Whether the labels are text that is no numbers, no dates and no declared states."""
        labels = self.typed_labels
        return not self.declared and not self.is_number and labels.dtype.kind == "O" and set(map(type, labels)) <= {str}

    @cached_property
    def times_of_numbers(self) -> Counts:
        """How many rows hold each distinct number, ascending: ``1`` and ``1.0`` of a text file are one."""
        values, places = np.unique(self.numbers, return_inverse=True)
        return np.bincount(places, self.times, len(values)).astype(np.int64)

    def counts_rows(self) -> bool:
        """Whether the cells are whole numbers in a row, each once, in any order."""
        if self.n_missing or not self.n_known or not self.are_numbers or not _are_whole(self.numbers):
            return False
        low, high = self.numbers.min(), self.numbers.max()
        return bool(high - low == self.n_known - 1) and _mark(self) == _mark_of_row(int(low), self.n_known)

    def as_dates(self) -> ColumnSummary:
        """Return the summary of text as one of dates where all its labels are written as such; any other as it is."""
        if self.is_number or self.declared or not len(self.labels):
            return self
        labels = self.labels.tolist()
        if not all(isinstance(label, str) for label in labels) or parsed(labels[:1]) is None:
            return self
        dates = parsed(labels)
        return self if dates is None else replace(self._of_numbers(dates[0], whole=False), declared=True, unit=dates[1])

    # --------------------------------------------------------------------------------------------- what becomes of it

    def _of_numbers(self, numbers: npt.NDArray[np.float64], *, whole: bool) -> ColumnSummary:
        """Return the summary with a number in place of each label."""
        values, places = np.unique(numbers, return_inverse=True)
        times = np.bincount(places, self.times, len(values)).astype(np.int64)
        mark = _sum_of_marks(numbers, self.times) if whole and self.thinned and _are_whole(numbers) else None
        return replace(self, labels=values, times=times, is_number=True, mark=mark)

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        one, two = _alike(self, other)
        labels, places = _united(one, two)
        times = np.bincount(places, np.concatenate([one.times, two.times]), len(labels)).astype(np.int64)
        marks = [_mark(side) for side in (one, two)] if one.thinned or two.thinned else []
        return replace(
            one,
            labels=labels,
            times=times,
            n_known=one.n_known + two.n_known,
            n_missing=one.n_missing + two.n_missing,
            thinned=one.thinned or two.thinned,
            mark=None if not marks or None in marks else sum(marks) % 2**64,  # type: ignore[arg-type]
        ).thin()

    def thin(self) -> ColumnSummary:
        """Return the summary with at most so many labels as it may have, and those that stand for the others."""
        if self.most is None or len(self.labels) <= self.most + WITNESSES or (self.declared and not self.is_number):
            return self
        if is_numeric(self.labels):
            return self._with(_witnesses(self.labels.astype(np.float64), max(self.most, MOST_STATES) + 1))
        labels: list[Any] = self.labels.tolist()
        if not all(isinstance(label, str) for label in labels):
            return self
        if self.form is not None and (numbers := read_numbers(labels, self.form)) is not None:
            made = replace(self._of_numbers(numbers, whole=False), most=MOST_STATES)
            return made.thin()
        if (dated := self.as_dates()).unit is not None:
            return replace(dated, most=MOST_STATES).thin()
        return self._with(_text_witnesses(labels, self.most))

    def _with(self, kept: npt.NDArray[np.intp]) -> ColumnSummary:
        return replace(self, labels=self.labels[kept], times=self.times[kept], thinned=True, mark=_mark(self))


# --------------------------------------------------------------------------------------------------- of a part's column


def summary_of(column: SourceColumn, options: Options) -> ColumnSummary:
    """Return the summary of a column of some rows."""
    most = most_labels(column, options)
    if column.holds_numbers and most is not None:
        sample = cast(NumberCells, column).column.slice(0, SAMPLE).to_numpy()
        if len(np.unique(np.asarray(sample, dtype=np.float64))) > most + WITNESSES:
            return _of_many_numbers(cast(NumberCells, column), most)
    cells = column.coded
    times = cells.counts()
    known = int(times.sum())
    labels, times = (cells.labels, times) if column.declared else (cells.labels[times > 0], times[times > 0])
    return ColumnSummary(
        column.name,
        labels,
        times,
        known,
        column.n_rows - known,
        most,
        form=options.text if column.text else None,
        of_text=not cells.declared and all(isinstance(label, str) for label in labels.tolist()),
        is_number=column.holds_numbers,
        declared=column.declared,
        unit=column.unit,
        cuts=cells.cuts,
        bounds=cells.bounds,
    ).thin()


def most_labels(column: SourceColumn, options: Options) -> int | None:
    """Return how many labels of a column may matter, whatever it becomes; None for all."""
    if column.name in options.categorical:
        return None
    return MOST_STATES if column.holds_numbers else MOST_LABELS


def _of_many_numbers(column: NumberCells, most: int) -> ColumnSummary:
    """Return the summary of numbers of which clearly more are different than are kept."""
    numbers = column.numbers()
    x = numbers[~np.isnan(numbers)] + 0.0  # -0.0 becomes 0.0
    rows = np.unique(np.concatenate([np.arange(min(len(x), SAMPLE)), _extremes(x)]))
    labels, times = np.unique(x[rows], return_counts=True)
    mark = _sum_of_marks(x) if _are_whole(x) else None
    more: dict[str, Any] = {"is_number": True, "declared": column.declared, "unit": column.unit, "mark": mark}
    known, missing = len(x), len(numbers) - len(x)
    return ColumnSummary(column.name, labels, times, known, missing, most, thinned=True, **more).thin()


# ----------------------------------------------------------------------------------------------- adding two summaries


def _alike(one: ColumnSummary, two: ColumnSummary) -> tuple[ColumnSummary, ColumnSummary]:
    """Return two summaries of one column as summaries of one kind, as the rows of both together would have."""
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
    if one.of_text and two.of_text:
        return _as_texts(one, two)
    if one.unit is not None or two.unit is not None:
        raise SchemaError(
            f"column {one.name!r} holds dates in one part and other labels in another; make them of one kind"
        )
    return _as_labels(one), _as_labels(two)


def _as_texts(one: ColumnSummary, two: ColumnSummary) -> tuple[ColumnSummary, ColumnSummary]:
    """Return two summaries of text, one of which is kept as numbers, as both of numbers where they are, or of text."""
    kept, other = (one, two) if one.is_number else (two, one)
    dates, form = other.as_dates(), other.form
    if kept.unit is not None and dates.unit is not None:
        found = _in_unit(dates, "seconds"), _in_unit(kept, "seconds")
        other, kept = found if kept.unit != dates.unit else (dates, kept)
    elif kept.unit is None and form is not None and (numbers := read_numbers(other.labels.tolist(), form)) is not None:
        other = other._of_numbers(numbers, whole=True)
    else:
        kept, other = (_as_labels(side, most=MOST_LABELS) for side in (kept, other))
    return (kept, other) if kept.n_rows == one.n_rows and one.is_number else (other, kept)


def _in_unit(summary: ColumnSummary, unit: Unit) -> ColumnSummary:
    if summary.unit == unit:
        return summary
    factor = SECONDS_A_DAY if unit == "seconds" else 1 / SECONDS_A_DAY
    return replace(summary, labels=summary.labels * factor, unit=unit, mark=None)


def _as_labels(summary: ColumnSummary, most: int | None = -1) -> ColumnSummary:
    """Return a summary as one of labels, those alone that occur; numbers of a text file as text."""
    held = summary.times > 0
    labels, times = summary.labels[held], summary.times[held]
    if summary.of_text and summary.is_number:
        texts = date_texts(labels.tolist(), summary.unit) if summary.unit else [_text_of(x) for x in labels.tolist()]
        labels = label_array(texts)
    most = summary.most if most == -1 else most
    return replace(
        summary, labels=labels, times=times, is_number=False, declared=False, cuts=None, unit=None, mark=None, most=most
    )


def _text_of(number: float) -> str:
    return repr(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def _united(one: ColumnSummary, two: ColumnSummary) -> tuple[Labels, npt.NDArray[np.intp]]:
    """Return the labels of two summaries, and the place of each of the one's and then of the other's among them."""
    kinds = {one.labels.dtype.kind, two.labels.dtype.kind}
    if (one.is_number or not one.declared) and kinds <= {"i", "u", "f"}:
        labels, places = np.unique(np.concatenate([one.labels, two.labels]), return_inverse=True)
        return labels, places
    if len(one.labels) == len(two.labels) and one.labels.dtype == two.labels.dtype and (one.labels == two.labels).all():
        return one.labels, np.tile(np.arange(len(one.labels)), 2)
    known: dict[Any, int] = {}
    every = [*one.labels.tolist(), *two.labels.tolist()]
    found = [known.setdefault((isinstance(label, bool), label), len(known)) for label in every]
    return label_array([label for _, label in known]), np.array(found, dtype=np.intp)


# ------------------------------------------------------------------------------------- labels that stand for the others


def _witnesses(numbers: npt.NDArray[np.float64], n: int) -> npt.NDArray[np.intp]:
    """Return the places of so many numbers, and of those that stand for the others."""
    return np.unique(np.concatenate([np.arange(min(n, len(numbers))), _extremes(numbers)]))


def _extremes(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return where the least and the largest number stand, and one that is not whole where there is one."""
    if not len(numbers):
        return np.zeros(0, dtype=np.intp)
    broken = np.flatnonzero(numbers != np.rint(numbers))[:1]
    return np.array([np.argmin(numbers), np.argmax(numbers), *broken])


def _text_witnesses(labels: Sequence[str], most: int) -> npt.NDArray[np.intp]:
    """Return the places of so many texts, of some that are no numbers, and of one for each form that not all have."""
    array = pa.array(labels, pa.large_string())
    is_number = pc.match_substring_regex(array, f"^\\s*(?:{DECIMAL.pattern})%?\\s*$").to_numpy(zero_copy_only=False)
    strange = np.flatnonzero(~is_number).tolist()
    found = {0, *strange[: MOST_SPOILING + 1]}
    for form, _ in WRITTEN:
        found.update([i for i in strange if not form.fullmatch(labels[i])][:1])
    for pattern in ("%$", f"^(?:{DATE.pattern})$", f"^(?:{DATE.pattern}|{TIME.pattern})$"):
        other = pc.index(pc.match_substring_regex(array, pattern), False).as_py()
        found.update([other] if other >= 0 else [])
    if parsed(labels[:1]) is not None and parsed(labels) is None:
        first, last = 0, len(labels)  # all written as dates, and some are none: where is one?
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if parsed(labels[first:middle]) is None else (middle, last)
        found.add(first)
    return np.unique(np.array([*sorted(found), *range(min(most + 1, len(labels)))], dtype=np.intp))


# ----------------------------------------------------------------------------------- numbers that count the rows


def _are_whole(numbers: npt.NDArray[np.float64]) -> bool:
    return bool(len(numbers)) and bool((numbers == np.rint(numbers)).all()) and bool((np.abs(numbers) < 2.0**53).all())


def _mark(summary: ColumnSummary) -> int | None:
    """Return the sum of what all numbers are mixed to, modulo 2**64; None where they are not all whole."""
    if summary.thinned or not summary.are_numbers:
        return summary.mark
    return _sum_of_marks(summary.numbers, summary.times) if _are_whole(summary.numbers) else None


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
class WeightSums:
    """The sum of the weights of rows and that of their squares, and whether all are whole."""

    total: float
    squares: float
    whole: bool

    def __add__(self, other: WeightSums) -> WeightSums:
        return WeightSums(self.total + other.total, self.squares + other.squares, self.whole and other.whole)


@dataclass(frozen=True)
class TableSummary:
    """The summaries of the columns of some rows, and what the rows weigh."""

    columns: tuple[ColumnSummary, ...]
    n_rows: int
    weights: WeightSums | None = None

    def __add__(self, other: TableSummary) -> TableSummary:
        if len(self.columns) != len(other.columns):
            raise SchemaError(f"one part has {len(self.columns)} columns and another {len(other.columns)}")
        columns = tuple([a + b for a, b in zip(self.columns, other.columns, strict=True)])
        weights = None if self.weights is None or other.weights is None else self.weights + other.weights
        return TableSummary(columns, self.n_rows + other.n_rows, weights)


def summarized(cells: Sequence[SourceColumn], weights: Weights | None, n_rows: int, options: Options) -> TableSummary:
    """Return the summary of some rows of a source."""
    columns = tuple([summary_of(column, options) for column in cells])
    if weights is None:
        return TableSummary(columns, n_rows)
    floats = weights.astype(np.float64, copy=False)
    sums = WeightSums(float(floats.sum()), float(floats @ floats), weights.dtype.kind != "f")
    return TableSummary(columns, n_rows, sums)
