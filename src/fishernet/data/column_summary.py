"""What one pass knows of a column: enough to decide what it is, and small enough to travel.

A `ColumnSummary` is a column without its rows: its labels, and how many cells hold each. Summaries of two parts add, so
a table in memory, the batches of a stream and the parts on a cluster come to the same one, and `fishernet.data.decide`
decides by it alone. Where a column has very many labels, a summary keeps some that stand for all: the least and the
largest numbers, one that is not whole, those that are no numbers, and for each way to write numbers or dates one that
is not written so. Whatever is decided of all labels together (they are whole, they are dates, they are more than states
can be) comes out of those as it would out of all.
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
from fishernet.data.encoding.dates import SECONDS_A_DAY, Unit
from fishernet.data.encoding.labels import (
    DECIMAL,
    MOST_STATES,
    Labels,
    in_plain,
    is_numeric,
    numbers_of,
    read_numbers,
    typed,
)
from fishernet.data.encoding.readings import (
    MOST_SLIPS,
    Reading,
    plain_witnesses,
    reading_of,
    spoiling,
    witnesses,
)
from fishernet.data.options import Options, TextFormat
from fishernet.data.variable import Bounds, label_array

MOST_LABELS = 2**12  # of a column of text that nobody asked for; of more, some stand for all
WITNESSES = 64  # labels beyond the most, about as many as stand for others
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
        The rows that hold each; of labels that stand for others, at least one. The least and the largest two numbers
        have theirs, and so do words for missing cells, and limits together.
    n_known, n_missing : int
        The numbers of cells.
    most : int or None
        How many labels are kept at most; None for all.
    form : TextFormat or None
        How numbers are written in the labels, where these are text of a file, whose types are not known yet.
    of_text : bool
        Whether the source gave text that declares no states.
    is_number : bool
        Whether the labels are numbers: the source gave some, or text was read as dates.
    declared : bool
        Whether the source declares the states; of numbers, that they stay numbers.
    thinned : bool
        Whether labels are left out.
    mark : int or None
        A sum over all numbers, which tells whether they are a row of whole ones; None where they are not all whole.
    unit, cuts, bounds
        As those of `fishernet.data.encoding.cells.Cells`.
    reading : Reading or None
        How the labels, which are text, are read as numbers; None where they are none, or `as_read` was not asked.
    unusable : str
        What cells are that are no labels, as lists; empty where they are some.
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
    reading: Reading | None = None
    unusable: str = ""

    # ------------------------------------------------------------------------------------------------- what it tells

    @property
    def n_rows(self) -> int:
        """The number of cells."""
        return self.n_known + self.n_missing

    @cached_property
    def typed_labels(self) -> Labels:
        """The labels, in the type that all of them have."""
        if self.reading is not None and not self.reading.is_plain and not self.is_number:
            return self.reading.numbers(self.labels.tolist())
        if self.form is None or self.is_number:
            return self.labels
        return typed(in_plain(self.labels.tolist(), self.form) or self.labels.tolist())

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

    def as_read(self) -> ColumnSummary:
        """Return the summary of text as one of numbers or dates where all its labels are written as such."""
        if self.is_number or self.declared or not len(self.labels):
            return self
        labels = self.labels.tolist()
        if not (self.of_text or all(isinstance(label, str) for label in labels)) or is_numeric(self.typed_labels):
            return self  # plain numbers need nothing
        return self.read_by(reading_of(labels, self.times, self.form, self.n_known))

    def read_by(self, reading: Reading | None) -> ColumnSummary:
        """Return the summary of text that is read in a way; words for missing cells are no labels of it."""
        if reading is None or self.is_number or self.declared:
            return self
        absent = reading.are_absent(self.labels.tolist())
        n, labels, times = int(self.times[absent].sum()), self.labels[~absent], self.times[~absent]
        n_known, n_missing = self.n_known - n, self.n_missing + n
        read = replace(self, labels=labels, times=times, n_known=n_known, n_missing=n_missing, reading=reading)
        if reading.unit is None:
            return read
        return replace(read._of_numbers(reading.numbers(labels.tolist())), declared=True, unit=reading.unit)

    # --------------------------------------------------------------------------------------------- what becomes of it

    def _of_numbers(self, numbers: npt.NDArray[np.float64]) -> ColumnSummary:
        """Return the summary with a number in place of each label."""
        values, places = np.unique(numbers, return_inverse=True)
        times = np.bincount(places, self.times, len(values)).astype(np.int64)
        return replace(self, labels=values, times=times, is_number=True, mark=None)

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
            unusable=one.unusable or two.unusable,
            of_text=one.of_text and two.of_text,
            mark=None if not marks or None in marks else sum(marks) % 2**64,  # type: ignore[arg-type]
        ).thin()

    def thin(self) -> ColumnSummary:
        """Return the summary with at most so many labels as it may have, and those that stand for the others."""
        most = self.most if not self.thinned or self.most is None else MOST_STATES
        if most is None or len(self.labels) <= most + WITNESSES or (self.declared and not self.is_number):
            return self
        if is_numeric(self.labels):
            return self._with(_witnesses(self.labels.astype(np.float64), max(most, MOST_STATES) + 1), _mark(self))
        labels: list[Any] = self.labels.tolist()
        if not (self.of_text or all(isinstance(label, str) for label in labels)):
            return self
        numbers = None if self.form is None else read_numbers(labels, self.form)
        if numbers is None:
            kept, times = _text_witnesses(labels, self.times, self.form)
            return replace(self, times=times)._with(kept, None)
        whole = not self.thinned and _are_whole(numbers)
        mark = _sum_of_marks(numbers, self.times) if whole else self.mark
        stand = np.array(plain_witnesses(labels), dtype=np.intp)
        return self._with(np.unique(np.concatenate([_witnesses(numbers, MOST_STATES + 1), stand])), mark)

    def _with(self, kept: npt.NDArray[np.intp], mark: int | None) -> ColumnSummary:
        return replace(self, labels=self.labels[kept], times=self.times[kept], thinned=True, mark=mark)


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
        of_text=column.text or (not cells.declared and all(isinstance(label, str) for label in labels.tolist())),
        is_number=column.holds_numbers,
        declared=column.declared,
        unit=column.unit,
        cuts=cells.cuts,
        bounds=cells.bounds,
        unusable=cells.unusable,
    ).thin()


def most_labels(column: SourceColumn, options: Options) -> int | None:
    """Return how many labels of a column may matter, whatever it becomes; None for all."""
    if options.are_states(column.name):
        return None
    return MOST_STATES if column.holds_numbers else MOST_LABELS


def _of_many_numbers(column: NumberCells, most: int) -> ColumnSummary:
    """Return the summary of numbers of which clearly more are different than are kept."""
    numbers = column.numbers()
    x = numbers[~np.isnan(numbers)] + 0.0  # -0.0 becomes 0.0
    rows = np.unique(np.concatenate([np.arange(min(len(x), SAMPLE)), _extremes(x)]))
    labels, times = np.unique(x[rows], return_counts=True)
    for place in _extremes(labels)[:4].tolist():  # of which it matters how many cells hold them
        times[place] = np.count_nonzero(x == labels[place])
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
    if one.unit is not None and two.unit is not None and "time" not in (one.unit, two.unit):
        return _in_unit(one, "seconds"), _in_unit(two, "seconds")
    if one.unit is not None or two.unit is not None:
        raise SchemaError(
            f"column {one.name!r} holds dates in one part and other labels in another; make them of one kind"
        )
    return _as_labels(one), _as_labels(two)


def _in_unit(summary: ColumnSummary, unit: Unit) -> ColumnSummary:
    if summary.unit == unit:
        return summary
    factor = SECONDS_A_DAY if unit == "seconds" else 1 / SECONDS_A_DAY
    return replace(summary, labels=summary.labels * factor, unit=unit, mark=None)


def _as_labels(summary: ColumnSummary) -> ColumnSummary:
    """Return a summary as one of labels, those alone that occur."""
    held = summary.times > 0
    labels, times = summary.labels[held], summary.times[held]
    return replace(
        summary, labels=labels, times=times, is_number=False, declared=False, cuts=None, unit=None, mark=None
    )


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
    """Return where two of the least and two of the largest numbers stand, and one that is not whole if there is one."""
    if len(numbers) < 2:
        return np.arange(len(numbers))
    low, high = np.argpartition(numbers, 1)[:2], np.argpartition(numbers, len(numbers) - 2)[-2:]
    broken = np.flatnonzero(numbers != np.rint(numbers))[:1]
    return np.array([*low, *high, *broken])


def _text_witnesses(
    labels: Sequence[str], times: Counts, form: TextFormat | None
) -> tuple[npt.NDArray[np.intp], Counts]:
    """Return the places of some texts that stand for the others, and the rows of each, those of all limits at one."""
    found, limits = witnesses(labels, form)
    array = pa.array(labels, pa.large_string())
    is_number = pc.match_substring_regex(array, f"^\\s*(?:{DECIMAL.pattern})%?\\s*$").to_numpy(zero_copy_only=False)
    strange = np.flatnonzero(~is_number)[: MOST_SLIPS + 1].tolist()
    strange += spoiling(labels, form)[1][: MOST_SLIPS + 1]
    kept = np.unique(np.array([*found, *strange, *range(2 * MOST_STATES)], dtype=np.intp))
    left = limits.copy()
    left[kept] = False
    if left.any():
        times = times.copy()
        times[int(np.argmax(limits))] += times[left].sum()
    return kept, times


# ----------------------------------------------------------------------------------- numbers that count the rows


def _are_whole(numbers: npt.NDArray[np.float64]) -> bool:
    return bool(len(numbers)) and bool((numbers == np.rint(numbers)).all()) and bool((np.abs(numbers) < 2.0**53).all())


def _mark(summary: ColumnSummary) -> int | None:
    """Return the sum of what all numbers are mixed to, modulo 2**64; None where they are not all whole."""
    if summary.thinned or not summary.are_numbers:
        return summary.mark if summary.n_rows else 0
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
