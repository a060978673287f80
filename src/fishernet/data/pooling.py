"""Tables of the same columns as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fishernet.base.errors import SchemaError, UnknownStateError, warn
from fishernet.base.names import listed, several, unused_name
from fishernet.base.random import generator
from fishernet.data.matching import as_data, is_table
from fishernet.data.source import Source, as_source
from fishernet.data.statistics import Statistic
from fishernet.data.table import Table
from fishernet.data.variable import Column, Variable, require_categorical

MOST_REASONS = 8  # why columns are left out, of each a sentence
NEW = "(not seen before)"  # the state of all labels that a reference lacks


def pooled(first: Any, second: Any, purpose: str) -> tuple[Table, Table]:
    """Return two tables or frames with the same variables: the columns that both have, with the states of both.

    A column that one of them lacks, or that is something else there, is left out with a warning.

    A column of numbers in one that holds states in the other becomes one of numbers, where these states are numbers.
    One that is cut into bins in one table alone is cut at the same points in the other.

    Raises
    ------
    SchemaError
        When no column is left. One is left out where only one table has it, it is cut into bins at different points,
        holds dates in one and numbers in the other, or has a state 1 in one and '1' in the other.
    """
    one, other = as_data(first, purpose), as_data(second, purpose)
    variables, left = _shared(one.variables, other.variables, ("in the first table", "in the second table"), purpose)
    if left and not variables:
        raise SchemaError(f"{purpose} needs two tables of the same columns, and none is fit for it: {'; '.join(left)}")
    if left:
        warn(f"{purpose} answers without some columns: {'; '.join(left)}")
    return one.conform(variables), other.conform(variables)


def pooled_all(tables: Mapping[str, Any], purpose: str) -> dict[str, Table]:
    """Return tables or frames, by name, with the columns of the first one, and the states of all.

    A later table that lacks a column has missing cells there, with a warning; a column that only later ones have, or
    that is something else in one of them, is left out, with a warning.

    Raises
    ------
    SchemaError
        When a table shares no column with the first one, or none is left.
    """
    found = {name: as_data(table, purpose) for name, table in tables.items()}
    variables: Sequence[Column] = next(iter(found.values())).variables
    left: list[str] = []
    for name, table in list(found.items())[1:]:
        there = set(table.names)
        absent = [variable for variable in variables if variable.name not in there]
        if len(absent) == len(variables):
            raise SchemaError(f"{purpose} needs tables of the same columns; {name} has none of the first table's")
        if absent:
            warn(f"{purpose} takes all cells of {listed(v.name for v in absent)} in {name} for missing: it lacks them")
            found[name] = table = _with_missing(table, absent)
        variables, lost = _shared(variables, table.variables, ("in tables before it", f"in {name}"), purpose)
        left += lost
    if left and not variables:
        raise SchemaError(f"{purpose} needs tables of the same columns, and none is fit for it: {'; '.join(left)}")
    if left:
        warn(f"{purpose} answers without some columns: {'; '.join(left)}")
    return {name: table.conform(variables) for name, table in found.items()}


def _with_missing(table: Table, variables: Sequence[Column]) -> Table:
    """Return a table with more columns, all of whose cells are missing."""
    n = table.n_rows
    empty = [np.full(n, np.nan) if v.is_continuous else np.full(n, v.cardinality, v.dtype) for v in variables]
    return Table.adopt([*table.variables, *variables], [*table.codes, *empty], weights=table.weights, n_rows=n)


def _shared(
    first: Sequence[Column], second: Sequence[Column], places: tuple[str, str], purpose: str
) -> tuple[list[Column], list[str]]:
    """Return the columns that both have, with the states of both, and what is to be said of the others."""
    of_second = {variable.name: variable for variable in second}
    variables, left = [], []
    for variable in first:
        if variable.name in of_second:
            try:
                variables.append(_united(variable, of_second[variable.name], purpose))
            except SchemaError as error:
                left.append(str(error))
    of_first = {variable.name: variable for variable in first}
    if len(left) > MOST_REASONS:
        left[MOST_REASONS:] = [f"so it is with {several(len(left) - MOST_REASONS, 'other column')}"]
    for place, names, there in zip(places, (of_first, of_second), (of_second, of_first), strict=True):
        only = [name for name in names if name not in there]
        if only:
            left.append(f"{listed(only)} {'is' if len(only) == 1 else 'are'} only {place}")
    return variables, left


def _united(one: Column, other: Column, purpose: str) -> Column:
    """Return a variable that has the cells of both."""
    if one == other:
        return one
    cut = [column for column in (one, other) if not column.is_continuous and column.cuts is not None]
    if len(cut) == 1:
        return cut[0]  # numbers of the other fall into these bins, and labels as they are read from a file are found
    if cut:
        raise SchemaError(
            f"{one.name!r} is cut into bins at different points in the two tables, and {purpose} compares bin with "
            "bin; read the second with schema=first.variables"
        )
    if one.is_continuous and other.is_continuous and one.unit == other.unit:
        return one if one.scale is not None or other.scale is None else other  # a scale changes no number
    if one.is_continuous and other.is_continuous:
        kinds = [
            {None: "numbers", "days": "dates", "seconds": "times", "time": "times of the day"}[side.unit]
            for side in (one, other)
        ]
        raise SchemaError(
            f"{one.name!r} holds {kinds[0]} in the first table and {kinds[1]} in the second, and {purpose} compares "
            "like with like; make both of one kind, or leave the column out"
        )
    if one.is_continuous or other.is_continuous:
        return _of_numbers(one, other, purpose) if one.is_continuous else _of_numbers(other, one, purpose)
    new = [state for state in other.states if state not in set(one.states)]
    as_text = {str(state): state for state in one.states}
    twins = next(((as_text[str(state)], state) for state in new if str(state) in as_text), None)
    if twins is not None:
        raise SchemaError(
            f"{one.name!r} has the state {twins[0]!r} in the first table and {twins[1]!r} in the second, which "
            f"{purpose} would take for different ones; write both columns as numbers, or both as text"
        )
    return Variable(one.name, [*one.states, *new])


def _of_numbers(number: Column, labels: Column, purpose: str) -> Column:
    """Return a column of numbers that labels of the same name in another table are, too."""
    every = Table.adopt([labels], [np.arange(labels.cardinality, dtype=labels.dtype)])
    try:
        every.conform([number])
    except (SchemaError, UnknownStateError) as error:
        raise SchemaError(
            f"{number.name!r} holds numbers in one of the tables and labels in the other, and {purpose} compares like "
            "with like; read it alike in both"
        ) from error
    return number


class Together(Source):
    """Sources of the same variables as one: their statistics added."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        return self._sources[0].variables

    @property
    def total(self) -> int | float:
        """The sum of the rows' weights."""
        return sum(source.total for source in self._sources)

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of sets of variables over all rows."""
        answers = zip(*(source.statistics(sets) for source in self._sources), strict=True)
        return [reduce(add, parts) for parts in answers]


def counted(first: Any, second: Any, purpose: str, names: tuple[str, str]) -> tuple[Source, Source]:
    """Return two sources of counts with the same variables, where one of them at least knows statistics alone.

    Raises
    ------
    SchemaError
        When their columns differ, one has numbers or no row, or weights are not whole.
    """
    sources = [as_source(first), as_source(second)]
    known = next(source for source in sources if not is_table(source))
    sources = [source.conform(known.variables) if is_table(source) else source for source in sources]
    if sources[0].variables != sources[1].variables:
        raise SchemaError(
            f"{purpose} needs sources of the same columns with the same states, in one order; read both by one schema"
        )
    require_categorical(known.variables, f"{purpose} by statistics alone")
    for name, source in zip(names, sources, strict=True):
        if source.total <= 0 or source.total != round(source.total):
            raise SchemaError(f"{name} must have rows, and weights that are whole; they add up to {source.total:g}")
    return sources[0], sources[1]


def missing_counts(source: Source) -> dict[str, int]:
    """Return how many cells of each column are missing, of those where any is."""
    if is_table(source):
        return source.missing_counts()
    found = source.statistics([(v,) for v in range(len(source.variables))])
    return {name: round(of.left_out) for name, of in zip(source.names, found, strict=True) if of.left_out}


def stacked(tables: Sequence[Table]) -> Table:
    """Return the rows of tables of the same variables below each other; rows without weights weigh 1."""
    first = tables[0]
    columns = [np.concatenate(parts) for parts in zip(*(table.codes for table in tables), strict=True)]
    weights = None
    if any(table.weights is not None for table in tables):
        weights = np.concatenate([np.ones(t.n_rows, np.int64) if t.weights is None else t.weights for t in tables])
    return Table.adopt(first.variables, columns, weights=weights, n_rows=sum(table.n_rows for table in tables))


def whole_rows(table: Table, purpose: str, most: int | None = None) -> Table:
    """Return a table without weights, in which each row stands as often as its weight says.

    Where weights are fractions, as of surveys, a row is kept with a probability in proportion to its weight: the rows
    that are kept are independent ones of the population that the weights speak of. How many these are is told. They are
    the same for the same table, and others for another one, since a seed for all would favour the same rows everywhere.
    Of whole weights that add up to more than `most`, so many rows are drawn.
    """
    if table.weights is None:
        return table
    weights = np.asarray(table.weights)
    if not table.has_fractions:
        ends = np.cumsum(weights.astype(np.int64))
        total = int(ends[-1]) if len(ends) else 0
        every = most is None or total <= most
        places = np.arange(total) if every else generator(0).choice(total, most, replace=False, shuffle=False)
        rows = np.sort(np.searchsorted(ends, places, side="right"))
    else:
        rows = np.flatnonzero(generator(table.rows_digest()).random(table.n_rows) * weights.max() < weights)
        warn(
            f"{purpose} takes whole rows, and some weights are fractions: {len(rows):,} of {table.n_rows:,} rows are "
            "drawn in proportion to their weights"
        )
    found = table[rows]
    return Table.adopt(found.variables, found.codes, n_rows=found.n_rows)


def with_new_state(table: Table, names: Iterable[str] | None = None) -> Table:
    """Return a table whose columns of states, the named or all, have one more state, the last, for other labels."""
    wanted = set(table.names if names is None else names)
    variables = [_with_new(v) if v.name in wanted and not v.is_continuous else v for v in table.variables]
    return table.conform(variables)


def _with_new(variable: Column) -> Column:
    return Variable(variable.name, [*variable.states, unused_name(NEW, set(map(str, variable.states)))])
