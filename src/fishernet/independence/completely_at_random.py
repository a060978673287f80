"""Whether cells are missing completely at random, as far as the cells that are known can tell.

Three cases are told apart [1]_. Cells are missing *completely at random* when whether they are does not depend on
values at all; *at random* when it depends on what is known of the row only; *not at random* when it depends on what
the cell would have shown. The first says something about known cells: in the rows where column B is known, whether A
is missing is independent of B. That is tested here, for every pair, and so the first case can be refuted. It cannot be
shown, and between the second and the third no table decides: the cells that would are missing.

Columns that are missing in the same rows are no evidence against the first case, for it says nothing of how missing
cells depend on one another. So these pairs are tested for themselves, and the verdict does not look at them.

References
----------
.. [1] D. B. Rubin, "Inference and missing data", Biometrika 63, 1976; R. J. A. Little, "A test of missing completely
   at random for multivariate data with missing values", Journal of the American Statistical Association 83, 1988.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.data import State, Table
from fishernet.data.encoding.bins import interval_labels, quantile_cuts
from fishernet.data.encoding.dates import date_texts
from fishernet.data.encoding.labels import as_text
from fishernet.data.matching import as_data
from fishernet.data.variable import Column
from fishernet.independence.missing_cells import FIELDS, ColumnMissingness, MissingnessResult, MissingnessTest, On
from fishernet.independence.shares import Comparison, compared, holm

Codes = npt.NDArray[np.unsignedinteger[Any]]
Counts = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64] | None

MOST_BINS = 100
ROWS_AT_ONCE = 2**23  # of the groups that the core counts in one call
CELLS_AT_ONCE = 2**22  # of the counts that it returns, and that are compared at once


def missingness(data: Any, *, alpha: float = 0.05, bins: int = 4) -> MissingnessResult:
    """Test on which columns it depends which cells are missing.

    For every column with missing cells and every other one, the share of missing cells is compared from state to state
    of the other column, in the rows where that is known; and between the rows where it is missing and those where it
    is known. Columns of numbers are cut into bins by quantiles. The test is a likelihood-ratio test, exact where few
    rows are expected (see `fishernet.independence.shares`); p-values are corrected by Holm's method, so that with a
    probability of at least ``1 - alpha`` nothing is found where cells are missing completely at random. Tests that are
    the same, for columns that are missing in the same rows, count once.

    Parameters
    ----------
    data : Table or data frame
        With its missing cells (``missing="keep"``). A row of weight 3 counts as three rows; weights that are not whole
        (of a survey) are scaled to their effective number of rows, ``(sum w)^2 / sum w^2``.
    alpha : float
        The level of all tests together, above 0 and below 1.
    bins : int
        Into how many bins columns of numbers are cut, about equally many rows in each. From 2 to 100.

    Returns
    -------
    MissingnessResult
        Printed it says in words which cells are missing where; `to_frame` has every test.

    Raises
    ------
    SchemaError
        When the data are no table.
    FishernetError
        When alpha or bins is out of range.

    Notes
    -----
    Numbers are cut, and not compared by a test of ranks, because such a test sees a trend only: where a laboratory
    loses what is very high and what is very low, ranks show nothing. Cut into four, a trend needs about 1.4 times as
    many rows to be found; ties need no care, a handful of missing cells has exact p-values, and what is found can be
    said as a difference of two shares.

    Tests are of pairs: a column that only goes along with the one that decides is named as well.

    The time is proportional to the number of missing cells times that of columns.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> age = np.arange(20.0, 80.0, 0.25)
    >>> pressure = [None if years > 65 and i % 2 else 100 + i % 7 for i, years in enumerate(age)]
    >>> found = fn.independence.missingness({"age": age, "pressure": pressure})
    >>> print(found.verdict)
    Not completely at random: `pressure` is missing more often where `age` is > 64.75 (50 % against 0 %, p = 1e-20).
    >>> found.to_frame().column_names[:5]
    ['column', 'other', 'on', 'p_value', 'p_adjusted']
    """
    level = check.number(alpha, "alpha", above=0, most=1)
    n_bins = check.integer(bins, "bins", least=2, most=MOST_BINS)
    table = as_data(data, "missingness")
    weights, unit = table.weights_in_units
    total = table.n_rows if weights is None else int(weights.sum())
    lacking = _Lacking.of(table, weights, total)
    labels: list[Sequence[State]] = [()] * len(table.variables)
    on_values = on_missing = _Pairs.none(len(lacking.positions), len(table.variables))
    if len(lacking.positions):
        labels, columns = _coded(table, weights, n_bins)
        on_values, on_missing = _compared(lacking, columns, labels, total, _independent_rows(weights, unit, total))
    families = (
        _Family.of("values", on_values, lacking),
        _Family.of("missing", on_missing, lacking),
    )
    return _Assembly(table, lacking, labels, *families).result(level, unit)


# ------------------------------------------------------------------------------------------ columns as they are counted


def _coded(table: Table, weights: Weights, n_bins: int) -> tuple[list[Sequence[State]], _core.Columns]:
    """Return the labels of each column's states, and the columns as the core counts them, numbers cut into bins."""
    labels: list[Sequence[State]] = []
    codes: list[Codes] = []
    for variable, column in zip(table.variables, table.codes, strict=True):
        if variable.is_continuous:
            cuts = _cuts(column, weights, n_bins)
            labels.append(_bin_labels(variable, cuts))
            codes.append(_binned(column, cuts))
        else:
            labels.append(variable.states)
            codes.append(column)
    cardinalities = np.array([max(1, len(states)) for states in labels], dtype=np.int64)
    return labels, _core.Columns(codes, cardinalities, table.n_rows, weights)


def _cuts(column: npt.NDArray[np.float64], weights: Weights, n_bins: int) -> list[float]:
    """Return where to cut numbers; between any two where there are no more different ones than bins."""
    held = ~np.isnan(column) if weights is None else ~np.isnan(column) & (weights > 0)
    numbers = column[held]
    if weights is None:
        numbers = np.sort(numbers)
        counts = np.ones(len(numbers), dtype=np.int64)
    else:
        order = np.argsort(numbers, kind="stable")
        numbers, counts = numbers[order], weights[held][order]
    first = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])) if len(numbers) else np.zeros(0, np.int64)
    values = numbers[first]
    if len(values) <= n_bins:
        cuts: list[float] = values[:-1].tolist()
    else:
        cuts = quantile_cuts(values, np.add.reduceat(counts, first), n_bins)
    return [cut for cut in cuts if np.isfinite(cut)]


def _binned(column: npt.NDArray[np.float64], cuts: Sequence[float]) -> Codes:
    """Return the bin of each number, closed on the right; beyond the last one where it is missing."""
    codes = np.zeros(len(column), dtype=np.uint8)
    for cut in cuts:
        codes += column > cut
    codes[np.isnan(column)] = len(cuts) + 1
    return codes


def _bin_labels(variable: Column, cuts: Sequence[float]) -> list[str]:
    if not cuts:
        return ["any number"]
    return interval_labels(cuts, None if variable.unit is None else date_texts(cuts, variable.unit))


def _independent_rows(weights: Weights, unit: float, total: int) -> float:
    """Return how many independent rows a count of one stands for: 1 where weights are whole, else by Kish."""
    if weights is None or unit == 1.0 or not total:
        return 1.0
    scaled = weights / total
    return float(1 / (scaled @ scaled) / total)


# ------------------------------------------------------------------------------------------------------ what is missing


@dataclass(frozen=True, slots=True, eq=False)
class _Lacking:
    """The columns with missing cells, and for those that have known ones too the fewer of both."""

    weights: npt.NDArray[np.int64]  # (columns,) of missing cells
    positions: npt.NDArray[np.int64]  # of columns with missing cells and known ones
    rows: list[
        npt.NDArray[np.int64]
    ]  # of each of these, the rows that lack it, or those that have it where these are fewer
    are_known: list[bool]  # whether these rows have it
    patterns: npt.NDArray[np.int64]  # of each, a number: equal where columns are missing in the same rows

    @classmethod
    def of(cls, table: Table, weights: Weights, total: int) -> _Lacking:
        lost = np.zeros(len(table.variables), dtype=np.int64)
        positions, rows, are_known = [], [], []
        for place, (variable, column) in enumerate(zip(table.variables, table.codes, strict=True)):
            if not table.has_missing or not variable.any_missing(column):
                continue
            absent = variable.missing(column)
            lost[place] = np.count_nonzero(absent) if weights is None else weights[absent].sum()
            if 0 < lost[place] < total:
                known = 2 * np.count_nonzero(absent) > len(absent)
                positions.append(place)
                rows.append(np.flatnonzero(absent != known))
                are_known.append(bool(known))
        first: dict[tuple[bool, bytes], int] = {}
        keys = zip(are_known, (blake2b(chosen.data).digest() for chosen in rows), strict=True)
        patterns = np.array([first.setdefault(key, len(first)) for key in keys], dtype=np.int64)
        return cls(lost, np.array(positions, dtype=np.int64), rows, are_known, patterns)

    def batches(self) -> Iterator[tuple[slice, npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Yield some of the positions, with their offsets and rows as the core takes them."""
        sizes = np.array([len(rows) for rows in self.rows], dtype=np.int64)
        first = 0
        while first < len(sizes):
            ends = np.cumsum(sizes[first:])
            last = first + max(1, int(np.searchsorted(ends, ROWS_AT_ONCE, side="right")))
            yield slice(first, last), np.append(0, ends[: last - first]), np.concatenate(self.rows[first:last])
            first = last


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """The comparisons of every column with missing cells with every column, (columns with missing cells, columns)."""

    log_p: npt.NDArray[np.float64]
    information: npt.NDArray[np.float64]
    state: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]
    elsewhere: npt.NDArray[np.float64]

    @classmethod
    def none(cls, k: int, n: int) -> _Pairs:
        lacking = np.full((k, n), np.nan)
        return cls(lacking, lacking.copy(), np.zeros((k, n), np.int64), lacking.copy(), lacking.copy())

    def keep(self, rows: slice, column: int, found: Comparison) -> None:
        self.log_p[rows, column] = found.log_p
        self.information[rows, column] = found.information
        self.state[rows, column] = found.state
        self.share[rows, column] = found.share
        self.elsewhere[rows, column] = found.elsewhere


def _compared(
    lacking: _Lacking, columns: _core.Columns, labels: Sequence[Sequence[State]], total: int, unit: float
) -> tuple[_Pairs, _Pairs]:
    """Return the comparisons on values and those on missing cells."""
    k, n = len(lacking.positions), len(labels)
    on_values, on_missing = _Pairs.none(k, n), _Pairs.none(k, n)
    whole, every = np.array([0, columns.n_rows], dtype=np.int64), np.arange(columns.n_rows, dtype=np.int64)
    everywhere = [_counts(columns, place, whole, every)[0] for place in range(n)]
    known_rows = np.array(lacking.are_known)[:, None]
    for part, offsets, rows in lacking.batches():
        for place, totals in enumerate(everywhere):
            for some in _parts(part, len(totals)):
                own = offsets[some.start - part.start : some.stop - part.start + 1]
                counts = _counts(columns, place, own - own[0], rows[own[0] : own[-1]])
                marked = np.where(known_rows[some], totals - counts, counts)
                marked[lacking.positions[some] == place] = 0  # a column is not compared with itself
                on_values.keep(some, place, compared(marked[:, :-1], totals[:-1], unit))
                if 0 < totals[-1] < total:
                    on_missing.keep(some, place, _of_missing(marked, totals, unit))
    return on_values, on_missing


def _parts(part: slice, width: int) -> Iterator[slice]:
    """Yield parts of a slice, so that the counts of each are not too many at once."""
    step = max(1, CELLS_AT_ONCE // width)
    for first in range(part.start, part.stop, step):
        yield slice(first, min(first + step, part.stop))


def _counts(columns: _core.Columns, place: int, offsets: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> Counts:
    """Return how often each state of a column occurs in groups of rows, that of missing cells last."""
    [counts] = _core.group_counts(columns, np.array([place], dtype=np.int32), offsets, rows)
    return counts


def _of_missing(marked: Counts, totals: Counts, unit: float) -> Comparison:
    """Compare where the other column is known with where it is missing; the shares are those of the latter first."""
    two = compared(
        np.column_stack([marked[:, :-1].sum(axis=1), marked[:, -1]]), np.array([totals[:-1].sum(), totals[-1]]), unit
    )
    known = two.state == 0
    share, elsewhere = np.where(known, (two.elsewhere, two.share), (two.share, two.elsewhere))
    return replace(two, share=share, elsewhere=elsewhere)


# ----------------------------------------------------------------------------------------------------- what is answered


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """Tests that are corrected together; what is not in it is not tested, and has p-values of NaN."""

    on: On
    pairs: _Pairs
    adjusted: npt.NDArray[np.float64]  # as the pairs' arrays
    tests: npt.NDArray[np.int64]  # (tests, 2): which row and column of them each test is
    n_different: int  # tests: columns that are missing in the same rows share theirs

    @classmethod
    def of(cls, on: On, pairs: _Pairs, lacking: _Lacking) -> _Family:
        k, n = pairs.log_p.shape
        tested = ~np.isnan(pairs.log_p)
        others = np.arange(n)  # a number of each, equal where tests are the same
        if on == "missing":  # each pair of columns is one test
            tested &= others > lacking.positions[:, None]
            others[lacking.positions] = lacking.patterns
        tests = np.argwhere(tested)
        ends = np.column_stack([lacking.patterns[tests[:, 0]], others[tests[:, 1]]])
        if on == "missing":
            ends.sort(axis=1)
        _, first, same = np.unique(ends @ np.array([max(k, n), 1]), return_index=True, return_inverse=True)
        adjusted = np.full((k, n), np.nan)
        adjusted[tested] = holm(np.exp(pairs.log_p[tested][first]))[same]
        if on == "missing":
            square = adjusted[:, lacking.positions]
            adjusted[:, lacking.positions] = np.fmax(square, square.T)
        return cls(on, pairs, adjusted, tests, len(first))


@dataclass(frozen=True, slots=True, eq=False)
class _Assembly:
    """What was found, about to become a result."""

    table: Table
    lacking: _Lacking
    labels: Sequence[Sequence[State]]
    on_values: _Family
    on_missing: _Family

    def result(self, alpha: float, unit: float) -> MissingnessResult:
        variables = self.table.variables
        place_of = {int(place): row for row, place in enumerate(self.lacking.positions)}
        columns = []
        for place in np.flatnonzero(self.lacking.weights).tolist():
            lost = int(self.lacking.weights[place])
            missing = lost * unit if self.table.has_fractions else lost
            columns.append(self._column(place, place_of.get(place), missing, alpha))
        marked = (variable.name for variable in variables if variable.missing_state is not None)
        tests = pa.concat_tables([self._frame(self.on_values), self._frame(self.on_missing)])
        total = self.table.total
        return MissingnessResult(
            total, len(variables), alpha, tuple(columns), tests, self.on_values.n_different, next(marked, None)
        )

    def _column(self, place: int, row: int | None, missing: float, alpha: float) -> ColumnMissingness:
        name, share = self.table.names[place], missing / self.table.total
        if row is None:
            return ColumnMissingness(name, missing, share, 0, None, 0, None, 0)
        found = [
            (int((family.adjusted[row] <= alpha).sum()), self._strongest(family, row))
            for family in (self.on_values, self.on_missing)
        ]
        untested = int(np.isnan(self.on_values.pairs.log_p[row]).sum()) - 1
        return ColumnMissingness(name, missing, share, *found[0], *found[1], untested)

    def _strongest(self, family: _Family, row: int) -> MissingnessTest | None:
        log_p = family.pairs.log_p[row]
        return None if np.isnan(log_p).all() else self._test(family, row, int(np.nanargmin(log_p)))

    def _test(self, family: _Family, row: int, other: int) -> MissingnessTest:
        pairs = family.pairs
        return MissingnessTest(
            column=self.table.names[self.lacking.positions[row]],
            other=self.table.names[other],
            on=family.on,
            p_value=float(np.exp(pairs.log_p[row, other])),
            p_adjusted=float(family.adjusted[row, other]),
            mutual_information=float(pairs.information[row, other]),
            state=self.labels[other][pairs.state[row, other]] if family.on == "values" else None,
            share=float(pairs.share[row, other]),
            share_elsewhere=float(pairs.elsewhere[row, other]),
            binned=self.table.variables[other].is_continuous or self.table.variables[other].cuts is not None,
        )

    def _frame(self, family: _Family) -> pa.Table:
        """Return one row a test; names and states are looked up once each."""
        rows, others = family.tests.T
        pairs, at = family.pairs, (rows, others)
        names = pa.array(self.table.names, pa.string())
        columns = {
            "column": names.take(pa.array(self.lacking.positions[rows])),
            "other": names.take(pa.array(others)),
            "on": pa.repeat(pa.scalar(family.on), len(rows)),
            "p_value": np.exp(pairs.log_p[at]),
            "p_adjusted": family.adjusted[at],
            "mutual_information": pairs.information[at],
            "state": pa.nulls(len(rows), pa.string())
            if family.on == "missing"
            else self._states(pairs.state[at], others),
            "share": pairs.share[at],
            "share_elsewhere": pairs.elsewhere[at],
        }
        return pa.table([pa.array(columns[name], kind) for name, kind in FIELDS.items()], names=list(FIELDS))

    def _states(self, states: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> pa.Array:
        offsets = np.cumsum([0, *(len(labels) for labels in self.labels)])
        texts = pa.array([as_text(state) for labels in self.labels for state in labels], pa.string())
        return texts.take(pa.array(offsets[others] + states))
