"""What a learner knows of the data: a source of statistics.

A table in memory is one, so are a scatter of numbers, a stream of batches, a pool of processes or a cluster. Everything
that learns a structure or fits parameters asks a source and never sees a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError, warn
from fishernet.base.names import Positions, are, counted, positions
from fishernet.data.matching import is_frame, is_table
from fishernet.data.options import AUTO
from fishernet.data.statistics import Statistic
from fishernet.data.table import Table
from fishernet.data.variable import Column, require_categorical, seen_among

MOST_TOLD = 6  # columns by name


@runtime_checkable
class Source(Protocol):
    """Where statistics come from.

    A class names it as its base, and has `variables`, `total` and `statistics`; what is said of the other members holds
    for a source that knows statistics alone.

    Attributes
    ----------
    variables : tuple of Variable and Continuous
        The columns; sets of variables are given by positions among them.
    total : int or float
        The sum of the rows' weights, N in every score; a whole number where the weights are.
    """

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        ...

    @property
    def total(self) -> int | float:
        """The sum of the rows' weights."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple([variable.name for variable in self.variables])

    def places(self, names: str | Iterable[str]) -> Positions:
        """Return the positions of columns; SchemaError names an unknown one, and says why one was left out."""
        return positions(self.names, names, "column")

    @property
    def rows(self) -> Table | None:
        """The table, where rows can be read one by one; None for a source that knows statistics alone."""
        return None

    @property
    def observed(self) -> Table | None:
        """The table that the statistics are of, with its missing cells, also where a model fills them in."""
        return self.rows

    @property
    def has_missing(self) -> bool:
        """Whether a cell of `rows` is missing; False for statistics alone, which tell the weight left out."""
        return False

    @property
    def by_set(self) -> bool:
        """Whether each set of variables is answered from rows of its own: those that are complete in it."""
        return False

    def in_core(self) -> _core.Columns | None:
        """Return the rows as the core counts and scores them in one pass; None where it cannot."""
        return None

    def counted_in_units(self) -> tuple[_core.Columns, float] | None:
        """Return rows whose weights are not whole, counted in a unit, and the unit; None where there are none."""
        return None

    def changed(self, change: Callable[[Table, int], Table]) -> Source:  # noqa: ARG002
        """Return the source that a function makes of the rows, of the same variables.

        Parameters
        ----------
        change : callable
            Takes a `Table` and the position of its first row among all rows.

        Raises
        ------
        SchemaError
            When the source knows statistics alone.
        """
        raise SchemaError("this needs the rows, and the source knows statistics alone; give a Table or a data frame")

    def discretize(self, bins: Any) -> Source:  # noqa: ARG002
        """Return the source with its columns of numbers cut into bins; as it is where there are no rows to cut."""
        return self

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of sets of variables, in that order.

        Parameters
        ----------
        sets : sequence of tuples of int
            Ascending positions. Asking for many at once may save passes over the data.

        Returns
        -------
        list of Statistic
            Counts are dense while there are at most ``8 total`` cells, otherwise the cells that occur. Rows with a
            missing cell in a set are left out of it, and their weight told. The answers of two sources add.
        """
        ...

    def family_scores(self, families: Any, score: Any) -> npt.NDArray[np.float64] | None:  # noqa: ARG002
        """Return the scores of `fishernet.scores.Families` in the source's own way; None to be asked for statistics."""
        return None

    def rows_digest(self) -> int | None:
        """Return `fishernet.data.digest` of the rows; None to be known by statistics alone."""
        return None


class SourcePart(Source):
    """Some of the columns of a source that knows statistics alone."""

    def __init__(self, source: Source, at: Sequence[int]) -> None:
        self._source, self._at = source, tuple(at)

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        return tuple([self._source.variables[v] for v in self._at])

    @property
    def total(self) -> int | float:
        """The sum of the rows' weights."""
        return self._source.total

    @property
    def by_set(self) -> bool:
        """As of the source."""
        return self._source.by_set

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of sets of the columns, by their positions among these."""
        place = {v: at for at, v in enumerate(self._at)}
        found = self._source.statistics([tuple(self._at[v] for v in chosen) for chosen in sets])
        return [one.moved({v: place[v] for v in (*one.variables, *one.continuous)}) for one in found]


def part_of(source: Source, at: Sequence[int]) -> Source:
    """Return a source of some columns, by their ascending positions."""
    if len(at) == len(source.variables):
        return source
    if source.rows is not None:
        return source.rows.select([source.names[v] for v in at])
    return SourcePart(source, at)


def is_source(data: object) -> TypeGuard[Source]:
    """Whether data are a table or another source of statistics."""
    return is_table(data) or (isinstance(data, Source) and not isinstance(data, type))


def as_source(data: Any) -> Source:
    """Return a source of statistics: a table or another source as it is, a data frame as a table.

    Raises
    ------
    SchemaError
        When it is neither.
    """
    if is_source(data):
        return data
    if is_frame(data):
        return Table.from_frame(data)
    raise SchemaError(
        f"a Table, a data frame or a source of statistics is needed, not {type(data).__name__}; "
        "fn.read_table reads a file, fn.Table.from_frame takes a data frame, and a class of your own names "
        "fishernet.data.Source as its base"
    )


def categorical_source(
    data: Any, *, purpose: str = "what is learned from counts", remedy: str = "", every: bool = False
) -> Source:
    """Return a source whose variables are all categorical: columns of numbers are cut into bins, with a warning.

    Columns without a known cell are left out, with a warning, but for callers who name columns and want `every` one.
    SchemaError, naming the columns of numbers, when the source has no rows that could be cut.
    """
    source, whole = as_source(data), check.flag(every, "every")
    if source.rows is not None and not whole:
        [source] = without_empty([source.rows])
    if all(not variable.is_continuous for variable in source.variables):
        return source
    cut = source.discretize(AUTO)
    require_categorical(cut.variables, purpose, remedy)  # without rows, or without a known number, nothing is cut
    warn(f"{told_of_cuts(source, cut)}; Table.from_frame(data, bins=...) cuts otherwise")
    return cut


def without_empty(tables: Sequence[Table], keep: Collection[str] = ()) -> Sequence[Table]:
    """Return tables without the columns of which no cell of any is known, but those to keep, with a warning.

    Of hidden variables it goes without saying.
    """
    lacking = [table.missing_counts() for table in tables]
    n_rows, names = sum(table.n_rows for table in tables), tables[0].names
    empty = [v for v in names if v not in keep and sum(counts.get(v, 0) for counts in lacking) == n_rows]
    if not empty or len(empty) == len(names) or not n_rows:
        return tables
    seen = set(seen_among(tables[0].variables))
    if lost := [name for name in empty if name in seen]:
        warn(f"{are(lost, 'column')} left out: there are only missing cells", parameter="exclude")
    return [table.leave_out(dict.fromkeys(empty, "only missing cells")) for table in tables]


def told_of_cuts(before: Source, after: Source) -> str:
    """Return in words which columns of numbers were cut, and into how many bins each; nothing where none was."""
    numbers = {variable.name for variable in before.variables if variable.is_continuous}
    cut = [variable for variable in after.variables if variable.name in numbers and not variable.is_continuous]
    if not cut:
        return ""
    sizes = [f"{variable.name!r} ({variable.cardinality})" for variable in cut]
    shown = ", ".join(sizes[:MOST_TOLD]) + (f" and {len(sizes) - MOST_TOLD} more" if len(sizes) > MOST_TOLD else "")
    return f"numbers are cut into bins: {shown}"


def unknown_cells(table: Table) -> Mapping[str, npt.NDArray[np.bool_]]:
    """Return which cells of a table that was read by a schema are missing for labels that this lacks, by column."""
    return table._unknown


def told_of_unknown(table: Table) -> str:
    """Return in words which columns have such cells, and how many; nothing where none has."""
    cells = {name: int(np.count_nonzero(there)) for name, there in unknown_cells(table).items()}
    return f"labels that the model does not have are taken as missing: {counted(cells)}" if cells else ""


def is_statistics(data: Any) -> bool:
    """Whether data are a source of statistics without rows that one could look at."""
    return is_source(data) and not is_table(data)
