"""Statistics of rows that are in memory: counted in the core, with the moments of numbers added."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import listed
from fishernet.data.arrays import row_blocks
from fishernet.data.statistics.moments import MOST_KEPT, SUMMED_ROWS, CellFinder, CellsOf, NumberRows
from fishernet.data.statistics.statistic import Floats, Statistic, most_dense_cells
from fishernet.data.variable import Column

MOST_REPEATED = 8  # times as many rows as there are: so much faster are they counted without weights
MOST_REPEATED_CELLS = 2**28


class _Rows(Protocol):
    """What of a `fishernet.Table` is counted; its attributes say more."""

    @property
    def variables(self) -> tuple[Column, ...]: ...
    @property
    def codes(self) -> tuple[npt.NDArray[Any], ...]: ...
    @property
    def numbers(self) -> Floats: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def weights(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64] | None: ...
    @property
    def total(self) -> int | float: ...
    @property
    def has_fractions(self) -> bool: ...
    @property
    def weights_in_units(self) -> tuple[npt.NDArray[np.int64] | None, float]: ...
    @property
    def has_missing(self) -> bool: ...
    @property
    def native(self) -> _core.Columns: ...
    @property
    def number_rows(self) -> NumberRows: ...
    def require_complete(self, purpose: str) -> None: ...


def statistics_of(rows: _Rows, sets: Sequence[tuple[int, ...]], most_dense: int | None = None) -> list[Statistic]:
    """Return the statistics of sets of variables, given by ascending positions, in that order.

    Those with more cells than `most_dense` hold the cells that occur; without it, as many as the rows allow are dense.
    """
    check_sets(sets, len(rows.variables))
    places = {v for v, variable in enumerate(rows.variables) if variable.is_continuous}
    mixed = [chosen for chosen in sets if not chosen or not places.issuperset(chosen)]
    found = dict(zip(mixed, _counted(rows, mixed, most_dense), strict=True)) if mixed else {}
    for chosen in sets:
        if chosen not in found:
            found[chosen] = _of_numbers(chosen, rows)
    return [found[chosen] for chosen in sets]


def _counted(rows: _Rows, sets: Sequence[tuple[int, ...]], most_dense: int | None) -> list[Statistic]:
    """Return the statistics of sets with categorical members, whose rows the core counts."""
    fractions = rows.has_fractions
    if most_dense is None:
        most_dense = most_dense_cells(rows.n_rows if fractions else int(rows.total))
    unit = rows.weights_in_units[1] if fractions else 0.0
    counted = count_cells(rows.native, rows.variables, sets, most_dense, unit)
    return _with_moments(counted, sets, rows)


def family_scores_of(rows: _Rows, families: Any, score: Any) -> npt.NDArray[np.float64] | None:
    """Return the scores of `fishernet.scores.Families`, counted and scored in the core; None where it cannot."""
    term, columns = score.core_term(rows.total), in_core(rows)
    if term is None or columns is None:
        return None
    return _core.SetTerms(columns, *term).family_scores(families.children, families.offsets, families.parents)


def in_core(rows: _Rows) -> _core.Columns | None:
    """Return the rows as the core counts and scores them in one pass; None where weights are not whole.

    Raises
    ------
    MissingValueError
        When a cell is missing.
    """
    rows.require_complete("a score")
    return None if rows.has_fractions else _counted_once(rows, rows.weights) or rows.native


def counted_in_units(rows: _Rows) -> tuple[_core.Columns, float] | None:
    """Return rows whose weights are not whole, counted in the largest unit that finds all whole, and this unit.

    None where they are whole, or all zero.
    """
    weights, unit = rows.weights_in_units
    step = int(np.gcd.reduce(weights)) if weights is not None and rows.has_fractions else 0
    if weights is None or not step:
        return None
    rows.require_complete("a score")
    whole = weights // step
    columns = _counted_once(rows, whole) or native_columns(rows.variables, rows.codes, rows.n_rows, whole)
    return columns, step * unit


def _counted_once(rows: _Rows, weights: npt.NDArray[Any] | None) -> _core.Columns | None:
    """Return rows as often as their whole weights say; None where they are counted once already, or that is too often.

    Rows that count once are counted many at a time. So it is done where it takes no longer than the core gains by it.
    """
    n_rows = 0 if weights is None else int(weights.sum())
    if weights is None or n_rows > MOST_REPEATED * rows.n_rows or n_rows * len(rows.variables) > MOST_REPEATED_CELLS:
        return None
    repeated = np.repeat(np.arange(rows.n_rows), weights.astype(np.int64))
    return native_columns(rows.variables, [codes[repeated] for codes in rows.codes], n_rows, None)


def native_columns(
    variables: Sequence[Column],
    columns: Sequence[npt.NDArray[Any]],
    n_rows: int,
    weights: npt.NDArray[np.int64] | None,
) -> _core.Columns:
    """Return columns as the core counts them; a continuous one has a single state, missing where its number is."""
    cardinalities = np.array([variable.cardinality for variable in variables], dtype=np.int64)
    codes = [variable.as_codes(column) for variable, column in zip(variables, columns, strict=True)]
    return _core.Columns(codes, cardinalities, n_rows, weights)


def check_sets(sets: Iterable[tuple[int, ...]], n_variables: int) -> None:
    """Raise SchemaError unless the positions of each set are ascending and in range."""
    for chosen in sets:
        if any(a >= b for a, b in itertools.pairwise(chosen)) or (
            chosen and not (chosen[0] >= 0 and chosen[-1] < n_variables)
        ):
            raise SchemaError(f"a set must hold ascending positions from 0 to {n_variables - 1}, got {chosen}")


def flat_sets(sets: Iterable[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Return sets as the core takes them: offsets (n + 1,) int64 and members int32, one set after the other."""
    lengths = [0]
    members: list[int] = []
    for chosen in sets:
        members.extend(chosen)
        lengths.append(len(members))
    return np.array(lengths, dtype=np.int64), np.array(members, dtype=np.int32)


def count_cells(
    native: _core.Columns,
    variables: Sequence[Column],
    sets: Sequence[tuple[int, ...]],
    most_dense: int,
    unit: float = 0.0,
) -> list[Statistic]:
    """Return the counts of sets of columns; those of more than `most_dense` cells hold the cells that occur.

    Continuous columns have no axis, and the rows in which they lack a number are left out. With a unit other than 0 the
    weights are whole numbers of it: sums of these are exact, in any order.
    """
    found = []
    for chosen, (counts, states, left_out) in zip(sets, _answers(native, variables, sets, most_dense), strict=True):
        axes = [axis for axis, v in enumerate(chosen) if not variables[v].is_continuous]
        kept = chosen if len(axes) == len(chosen) else tuple([chosen[axis] for axis in axes])
        shape = tuple([variables[v].cardinality for v in kept])
        cells: Any = counts.reshape(shape) if states is None else counts
        of = states if states is None or kept is chosen else states[:, axes]
        out: float = left_out
        if unit:
            cells, out = np.asarray(cells * unit, dtype=np.float64), left_out * unit
        found.append(Statistic.adopt(kept, shape, cells, of, out))
    return found


def all_cells(
    rows: _Rows, sets: Sequence[tuple[int, ...]], most_dense: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the counts of sets, one after the other in one array, and how many rows are left out of each.

    Variables are categorical, no set has more than `most_dense` cells, and weights are whole.
    """
    counted = _answers(rows.native, rows.variables, sets, most_dense)
    return np.concatenate([counts for counts, _, _ in counted]), np.array([left_out for _, _, left_out in counted])


def _answers(
    native: _core.Columns, variables: Sequence[Column], sets: Sequence[tuple[int, ...]], most_dense: int
) -> Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32] | None, int]]:
    """Return of each set the counts, the states of their cells where these are not all, and how many rows lack."""
    offsets, members = flat_sets(sets)
    try:
        return _core.count(native, offsets, members, most_dense)
    except MemoryError:
        raise _too_large(native, variables, sets) from None


def _too_large(native: _core.Columns, variables: Sequence[Column], sets: Sequence[tuple[int, ...]]) -> FishernetError:
    """Return an error of counts that memory does not hold: what was asked for, and what asks for less."""
    largest = max(sets, key=len)
    asked = "" if len(sets) == 1 else f"{len(sets):,} sets, the largest of which is "
    names = listed([variables[v].name for v in largest])
    return FishernetError(
        f"there is no memory for the counts of {asked}{names}: up to {native.n_rows:,} cells of {len(largest)} states "
        "each occur; ask for smaller sets (max_parents in a search), fewer at once, or fewer states (bins)"
    )


def _with_moments(counted: Sequence[Statistic], sets: Sequence[tuple[int, ...]], rows: _Rows) -> list[Statistic]:
    """Return the statistics of sets whose rows the core counted, with the moments of their continuous members.

    Sets that count the same rows go through these together.
    """
    found = list(counted)
    numbers_of: dict[int, tuple[int, ...]] = {}
    together: dict[tuple[int, ...], list[int]] = {}
    for at, (one, chosen) in enumerate(zip(counted, sets, strict=True)):
        if len(one.variables) < len(chosen):
            numbers_of[at] = tuple([v for v in chosen if rows.variables[v].is_continuous])
            together.setdefault(chosen if one.left_out else (), []).append(at)
    for incomplete, places in together.items():
        every = _numbers_of(rows)
        kept = not incomplete and rows.n_rows * len(every) <= MOST_KEPT  # so that they are brought together once
        numbers = every if kept else sorted({v for at in places for v in numbers_of[at]})
        place = {v: position for position, v in enumerate(numbers)}
        held = rows.number_rows if kept else _number_rows(rows, numbers, incomplete)
        alike = [counted[at] for at in places]
        members = [np.array([place[v] for v in numbers_of[at]], dtype=np.int32) for at in places]
        cells_of, counts = [_cells_of(one, rows) for one in alike], [one.counts.reshape(-1) for one in alike]
        for at, one, (mean, scatter) in zip(
            places, alike, held.moments_by_cell(cells_of, counts, members), strict=True
        ):
            shape, own = one.counts.shape, numbers_of[at]
            cells = one.variables, one.cardinalities, one.counts, one.states, one.left_out
            d = len(own)
            found[at] = Statistic.adopt(*cells, own, mean.reshape(*shape, d), scatter.reshape(*shape, d, d))
    return found


def _numbers_of(rows: _Rows) -> list[int]:
    """Return the positions of the columns of numbers."""
    return [v for v, variable in enumerate(rows.variables) if variable.is_continuous]


def _number_rows(rows: _Rows, numbers: Sequence[int], incomplete: Sequence[int]) -> NumberRows:
    """Return some columns of numbers, in the rows that have weight and no missing cell in some columns."""
    of = [rows.variables[v] for v in numbers], [rows.codes[v] for v in numbers]
    return NumberRows(*of, rows.weights, rows.n_rows, partial(_counted_rows, rows, incomplete))


def all_numbers(rows: _Rows) -> NumberRows:
    """Return all columns of numbers, which have no missing cell, in the rows that have weight."""
    return _number_rows(rows, _numbers_of(rows), ())


def _cells_of(counted: Statistic, rows: _Rows) -> CellsOf:
    """Return what finds the cells of a statistic's rows."""
    finder = CellFinder(counted.cardinalities, counted.states)

    def cells_of(at: slice, of: npt.NDArray[np.bool_] | slice) -> npt.NDArray[np.int64]:
        return finder([rows.codes[v][at][of] for v in counted.variables])

    return cells_of


def _of_numbers(chosen: tuple[int, ...], rows: _Rows) -> Statistic:
    """Return the statistic of continuous variables: of the rows that know all of them."""
    incomplete = chosen if rows.has_missing else ()
    of = [rows.variables[v] for v in chosen], [rows.codes[v] for v in chosen]
    n, mean, scatter = NumberRows(*of, rows.weights, rows.n_rows, partial(_whole_rows, rows, incomplete)).moments()
    left_out: int | float = 0
    for at in row_blocks(rows.n_rows, SUMMED_ROWS) if incomplete else ():
        absent = ~np.asarray(_whole_rows(rows, incomplete, at))
        left_out += (absent if rows.weights is None else rows.weights[at][absent]).sum().item()
    return Statistic.adopt((), (), n, None, left_out, chosen, mean, scatter)


def _whole_rows(rows: _Rows, chosen: Sequence[int], at: slice) -> npt.NDArray[np.bool_] | slice:
    """Return which rows of a block have no missing cell in some columns."""
    if not chosen:
        return slice(None)
    found: npt.NDArray[np.bool_] = ~np.logical_or.reduce([rows.variables[v].missing(rows.codes[v][at]) for v in chosen])
    return found


def _counted_rows(rows: _Rows, chosen: Sequence[int], at: slice) -> npt.NDArray[np.bool_] | slice:
    """Return which rows of a block count: those without a missing cell in some columns, and with a weight."""
    whole = _whole_rows(rows, chosen, at)
    if rows.weights is None:
        return whole
    heavy: npt.NDArray[np.bool_] = rows.weights[at] > 0
    return heavy if isinstance(whole, slice) else heavy & whole
