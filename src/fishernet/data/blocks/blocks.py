"""Rows that lie in several blocks, here or elsewhere, as one source of statistics.

A place answers what it is asked of its own rows, and the answers add: nothing travels but functions and what they
answer. They are added in the order of the rows, never in that of time, so the sum has the same bits each time.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import Positions, a, several
from fishernet.base.vocabulary import BinningName
from fishernet.data.arrays import in_units, weight_unit
from fishernet.data.blocks.places import Places
from fishernet.data.blocks.workers import places_of
from fishernet.data.decide import Decision, column_places
from fishernet.data.describe import Description, Spreads, Summary, described, spreads
from fishernet.data.encode import told_of_bins
from fishernet.data.encoding.bins import bins_found, in_bins, is_cut, place_of
from fishernet.data.encoding.cells import joined
from fishernet.data.matching import is_table
from fishernet.data.options import Bins, Options
from fishernet.data.source import Source
from fishernet.data.statistics import Statistic, most_dense_cells
from fishernet.data.statistics.counting import all_cells, check_sets, statistics_of
from fishernet.data.statistics.ranks import Place
from fishernet.data.table import Table
from fishernet.data.variable import Column

Answer = TypeVar("Answer")


class Blocks(Source):
    """Rows that lie in several places: a source of statistics, and of whatever else adds.

    `fishernet.scan` makes it of a Dask data frame, whose rows stay with the workers of the cluster.

    Parameters
    ----------
    tables : sequence of Table
        The parts, in the order of the rows; all of the same variables.
    map : callable or object
        Who asks the parts: ``map(function, parts)``, as Python's own, or what has such a method, as an executor of
        threads or processes, a pool of multiprocessing or Ray, or a Dask client, whose workers then hold the parts.

    Raises
    ------
    SchemaError
        When there is no table, or their variables differ.
    FishernetError
        When a process dies that was asked, or the scheduler of a cluster cannot be reached.

    Examples
    --------
    >>> import fishernet as fn
    >>> from fishernet.data import Blocks
    >>> table = fn.datasets.load("nursery")
    >>> parts = Blocks([table[:5000], table[5000:9000], table[9000:]])
    >>> parts
    Blocks(12,960 rows, 9 variables, 3 parts)
    >>> fn.learn.dag(parts) == fn.learn.dag(table)
    True
    >>> net = fn.learn.parameters(fn.learn.dag(parts), parts)
    >>> [len(answer) for answer in parts.each(net.log_prob)]
    [5000, 4000, 3960]
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as threads:
    ...     fn.learn.dag(Blocks([table[:5000], table[5000:]], map=threads)) == fn.learn.dag(table)
    True
    """

    _facts: list[_Facts]

    def __init__(self, tables: Iterable[Table], *, map: Any = builtins.map) -> None:  # noqa: A002 what all call it
        held = check.items(tables, "tables", "Table")
        if not held:
            raise SchemaError("parts need at least one table")
        for i, table in enumerate(held):
            if not is_table(table):
                raise SchemaError(f"parts are tables, and the one at {i} is {a(type(table).__name__)}")
            if table.variables != held[0].variables:
                raise SchemaError(f"table {i} has other variables than the first; give it theirs by table.conform")
        unit = common_unit([facts_of(table) for table in held])
        tables = [weighed_in(table, unit) for table in held]
        places = places_of(map, "map")
        facts = [facts_of(table) for table in tables]
        self._keep(places, places.placed(tables), held[0].variables, facts, _shared_decisions(held))

    @classmethod
    def adopt(
        cls,
        places: Places,
        held: Sequence[Any],
        variables: Sequence[Column],
        facts: Sequence[_Facts],
        decisions: Sequence[Decision] = (),
    ) -> Self:
        """Make it of handles of tables that are elsewhere, with what is to be known of each."""
        parts = cls.__new__(cls)
        parts._keep(places, held, variables, facts, decisions)
        return parts

    def _keep(
        self,
        places: Places,
        held: Sequence[Any],
        variables: Sequence[Column],
        facts: Sequence[_Facts],
        decisions: Sequence[Decision],
    ) -> None:
        self._places, self._held, self._facts = places, list(held), list(facts)
        self._variables, self._decisions = tuple(variables), tuple(decisions)
        self._unit = common_unit(facts)

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        return self._variables

    @property
    def n_rows(self) -> int:
        """The number of rows stored (weights not counted)."""
        return sum(facts.n_rows for facts in self._facts)

    @property
    def has_missing(self) -> bool:
        """Whether cells are missing."""
        return any(facts.has_missing for facts in self._facts)

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self._held)

    @property
    def total(self) -> int | float:
        """The sum of the weights, N in every formula; a float where they are not whole numbers."""
        if not self._unit:
            return sum(int(facts.weight) for facts in self._facts)
        return sum(round(facts.weight / self._unit) for facts in self._facts) * self._unit

    def each(self, function: Callable[[Table], Answer]) -> Iterator[Answer]:
        """Yield the function's answer for the table of every part, in the order of the rows.

        Parameters
        ----------
        function : callable
            Takes a `Table`. It travels to where the rows are, and its answer back, so both are pickled there.
        """
        return self._places.each(self._held, function)

    def places(self, names: str | Iterable[str]) -> Positions:
        """Return the positions of columns; SchemaError names an unknown one, and says why one was left out."""
        return column_places(self.names, names, self._decisions)

    def sum(self, function: Callable[[Table], Answer]) -> Answer:
        """Return the sum of the function's answers for the tables of all parts, added with ``+`` where the rows are.

        The order of addition depends on nothing but the number of parts.
        """
        answer: Answer = self._places.sum(self._held, function)
        return answer

    def describe(self) -> Description:
        """Return what each column is, as `Table.describe` does of the rows together."""

        def spreads_in(ranges: Mapping[str, tuple[float, float]]) -> Spreads:
            return self.sum(partial(_spreads_of, ranges=dict(ranges)))

        return described(self._variables, self.sum(_summary_of), self._decisions, spreads_in)

    def changed(self, change: Callable[[Table, int], Table]) -> Self:
        """Return the parts that a function makes of these, where they are, of the same variables.

        Parameters
        ----------
        change : callable
            Takes the `Table` of a part, and as which row of all its first one counts. It travels to the rows.
        """
        begins = np.cumsum([0, *(facts.n_rows for facts in self._facts)])[:-1].tolist()
        held = self._places.each_own(self._held, [_Changed(change, begin) for begin in begins])
        facts = list(self._places.each(held, facts_of))
        return self.adopt(self._places, held, self._variables, facts, self._decisions)

    def discretize(self, bins: Bins, *, binning: BinningName = "quantile") -> Self:
        """Cut columns of numbers into bins where they are; see `Table.discretize`, of which it has the same points."""
        options = Options.checked(bins=bins, binning=binning)
        options.choose(self.names)
        variables, held = cut_held(self._places, self._held, self._variables, options)
        told = told_of_bins(self._decisions, variables)
        return self.adopt(self._places, held, variables, list(self._places.each(held, facts_of)), told)

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of sets of variables, given by ascending positions, in that order.

        Counts are what a table of all rows answers. Means and scatters of numbers agree to rounding.
        """
        check_sets(sets, len(self._variables))
        if not sets:
            return []
        n = self.n_rows if self._unit else self.total
        most_dense = most_dense_cells(n / self.n_parts)  # of a part; of all parts there are more
        asked = _Asked(tuple(map(tuple, sets)), most_dense)
        whole = not any(self._variables[v].is_continuous for chosen in sets for v in chosen)
        found: _Batch = self._places.sum(self._held, asked, any_order=whole)
        return found.statistics(asked, self._variables, most_dense_cells(n), fractions=bool(self._unit))

    def rows_digest(self) -> int:
        """Return a number that tells the rows from others, in whatever order; see `fishernet.data.digest`."""
        return self.sum(_digest_of) % 2**64

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        sizes = several(self.n_rows, "row"), several(len(self._variables), "variable"), several(self.n_parts, "part")
        return f"Blocks({', '.join(sizes)})"


# --------------------------------------------------------------------------------------------- what is asked of a part


@dataclass(frozen=True)
class _Facts:
    """What is to be known of a part: rows, weight, whether it has fractions, bytes, and whether cells are missing."""

    n_rows: int
    weight: float
    fractions: bool
    n_bytes: int
    has_missing: bool


def _summary_of(table: Table) -> Summary:
    return table.summary()


def _spreads_of(table: Table, ranges: Mapping[str, tuple[float, float]]) -> Spreads:
    return spreads(table.variables, table.codes, ranges)


def _digest_of(table: Table) -> int:
    return table.rows_digest()


def facts_of(table: Table) -> _Facts:
    """Return what is to be known of a part."""
    n_bytes = sum(column.nbytes for column in table.codes)
    return _Facts(table.n_rows, table.total, table.has_fractions, n_bytes, table.has_missing)


def common_unit(facts: Sequence[_Facts]) -> float:
    """Return the unit in which weights are counted everywhere; 0 where all are whole."""
    if not any(one.fractions for one in facts):
        return 0.0
    return weight_unit(math.fsum(one.weight for one in facts))


def weighed_in(table: Table, unit: float) -> Table:
    """Return a table whose weights are rounded to a unit, so that sums over all parts are exact; 0 for as they are."""
    if not unit or table.weights is None or not table.has_fractions:
        return table
    weights = in_units(table.weights, unit)[0] * unit
    return Table.adopt(table.variables, table.codes, weights=weights, n_rows=table.n_rows)


def cut_held(
    places: Places, held: Sequence[Any], variables: Sequence[Column], options: Options
) -> tuple[list[Column], Sequence[Any]]:
    """Return variables with their numbers cut at points found from the tables of all parts, and handles of these."""
    asked = tuple([variable.name for variable in variables if is_cut(variable, options)])
    if not asked:
        return list(variables), held
    facts = list(places.each(held, facts_of))
    unit, total = common_unit(facts) or None, math.fsum(one.weight for one in facts)
    numbers = places.each_own(held, [partial(_numbers_of, names=asked, unit=unit, total=total)] * len(held))
    ask = partial(places.sum, numbers)
    found = [bins_found(ask, v, options, (total and unit) or 1.0) if v.name in asked else v for v in variables]
    return found, places.each_own(held, [partial(_in_bins, variables=tuple(found))] * len(held))


def _numbers_of(table: Table, names: Sequence[str], unit: float | None, total: float) -> dict[str, Place]:
    """Return the numbers of some columns of a part, as cuts are found from them."""
    weights = table.weights if total else None
    of = {variable.name: (variable, column) for variable, column in zip(table.variables, table.codes, strict=True)}
    return {name: place_of(*of[name], weights, unit, anyway=True) for name in names}


def _in_bins(table: Table, variables: Sequence[Column]) -> Table:
    columns = [
        column if have == want or want.is_continuous else joined(in_bins(have, column, want), len(column), want.dtype)
        for have, want, column in zip(table.variables, variables, table.codes, strict=True)
    ]
    return Table.adopt(variables, columns, weights=table.weights, n_rows=table.n_rows)


@dataclass(frozen=True)
class _Changed:
    """What is made of a part that begins with some row."""

    change: Callable[[Table, int], Table]
    first_row: int

    def __call__(self, table: Table) -> Table:
        return self.change(table, self.first_row)


@dataclass(frozen=True)
class _Asked:
    """The statistics of some sets, asked of a part."""

    sets: tuple[tuple[int, ...], ...]
    most_dense: int

    def __call__(self, table: Table) -> _Batch:
        are_flat = self.flat(table.variables)
        if all(are_flat) and not table.has_fractions:
            return _Batch(*all_cells(table, self.sets, self.most_dense), ())
        found = statistics_of(table, self.sets, self.most_dense)
        flat = [one for one, is_flat in zip(found, are_flat, strict=True) if is_flat]
        rest = [one for one, is_flat in zip(found, are_flat, strict=True) if not is_flat]
        counts = np.concatenate([one.counts.reshape(-1) for one in flat]) if flat else np.zeros(0, dtype=np.int64)
        return _Batch(counts, np.array([one.left_out for one in flat]), tuple(rest))

    def flat(self, variables: Sequence[Column]) -> list[bool]:
        """Return of each set whether its answer is counts of all cells."""
        sizes = [0 if variable.is_continuous else variable.cardinality for variable in variables]
        cells = [math.prod([sizes[v] for v in chosen]) for chosen in self.sets]
        return [0 < n <= self.most_dense for n in cells]


@dataclass(frozen=True)
class _Batch:
    """Answers for many sets: counts of all cells in one array, which travels and adds as one; and other statistics."""

    counts: npt.NDArray[Any]
    left_out: npt.NDArray[Any]
    rest: tuple[Statistic, ...]

    def __add__(self, other: _Batch) -> _Batch:
        rest = tuple([a + b for a, b in zip(self.rest, other.rest, strict=True)])
        return _Batch(self.counts + other.counts, self.left_out + other.left_out, rest)

    def statistics(
        self, asked: _Asked, variables: Sequence[Column], most_dense: int, *, fractions: bool
    ) -> list[Statistic]:
        """Return the statistics of the sets asked for, in the form in which one table answers."""
        sizes = [variable.cardinality for variable in variables]
        counts = self.counts.astype(np.float64, copy=False) if fractions else self.counts
        left_out, rest = iter(self.left_out.tolist()), iter(self.rest)
        found, begin = [], 0
        for chosen, is_flat in zip(asked.sets, asked.flat(variables), strict=True):
            if not is_flat:
                found.append(next(rest).held(most_dense))
                continue
            shape = tuple([sizes[v] for v in chosen])
            end = begin + math.prod(shape)
            found.append(Statistic.adopt(chosen, shape, counts[begin:end].reshape(shape), None, next(left_out)))
            begin = end
        return found


def _shared_decisions(tables: Sequence[Table]) -> tuple[Decision, ...]:
    """Return what was decided of each column, and why, where it is the same for all tables."""
    first, *others = [table._decisions for table in tables]
    shared = set(first).intersection(*others)
    return tuple([decision for decision in first if decision in shared])
