"""A table: columns of codes and of numbers, with the variables that say what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self, SupportsIndex, Unpack, cast, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import MOST_COLUMNS, MOST_ROWS, page, table_html
from fishernet.base.errors import MissingValueError, SchemaError
from fishernet.base.names import Positions, counted, listed, several
from fishernet.base.random import Seed, drawn_share, generator
from fishernet.base.remedies import Remedy
from fishernet.base.vocabulary import BinningName, UnknownName
from fishernet.data.alerts import alerts_of
from fishernet.data.arrays import (
    Weights,
    as_integers,
    checked_codes,
    checked_column,
    checked_weights,
    guessed_variable,
    in_units,
    own_column,
    own_weights,
    row_positions,
    same_cells,
    stacked,
    total_weight,
)
from fishernet.data.arrow import frame_columns, table_of
from fishernet.data.decide import Decision, column_places
from fishernet.data.describe import Description, Summary, described, spreads, summarized
from fishernet.data.digest import rows_digest
from fishernet.data.encode import Encoded, Scales, encoded, on_scales, told_of_bins, with_missing_states
from fishernet.data.encoding.alike import places_alike
from fishernet.data.encoding.bins import cut_here, drawn_numbers
from fishernet.data.encoding.cells import Columns, joined
from fishernet.data.encoding.recode import recode
from fishernet.data.frames.libraries import GivesFrames
from fishernet.data.options import Bins, FrameKeywords, Options, shows_keywords
from fishernet.data.statistics.counting import (
    all_numbers,
    counted_in_units,
    family_scores_of,
    in_core,
    native_columns,
    statistics_of,
)
from fishernet.data.statistics.moments import NumberRows
from fishernet.data.statistics.statistic import Statistic
from fishernet.data.variable import Column, Limits, Variable, any_missing, checked_variables

Rows = slice | SupportsIndex | npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_] | Sequence[int] | Sequence[bool]
Cells = npt.NDArray[Any]

HEAD = 10  # rows that str(table) shows


class Table(GivesFrames):
    """Rows of categorical variables and of numbers; immutable.

    Made by `read_table`, `Table.from_frame` and `Table.from_codes`. A cell of a `Variable` is stored as its state's
    code, and a missing one as the variable's cardinality, each column in the smallest unsigned type that holds its
    codes. A cell of a `Continuous` column is a float64, and a missing one NaN.

    Parameters
    ----------
    variables : sequence of Variable and Continuous
        One a column; names are unique.
    columns : sequence of (n_rows,) arrays
        Codes of the variable's own unsigned type, or float64. They are copied.
    weights : (n_rows,) int64 array, optional
        How much each row counts: how many times (an aggregated table), or the weights of a survey; None means once.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_frame({"smoke": ["yes", "no", "no"], "height": [1.62, 1.8, 1.71]})
    >>> table
    Table(3 rows, 2 variables)
    >>> table.column("smoke"), table.column("height")
    (array([1, 0, 0], dtype=uint8), array([1.62, 1.8 , 1.71]))
    >>> table.variables[0].states
    ('no', 'yes')
    """

    __slots__ = (
        "__weakref__",
        "_columns",
        "_decisions",
        "_has_missing",
        "_n_rows",
        "_native",
        "_number_rows",
        "_numbers",
        "_unknown",
        "_variables",
        "_weights",
    )

    _variables: tuple[Column, ...]
    _columns: tuple[Cells, ...]
    _weights: Weights | None
    _n_rows: int
    _has_missing: bool | None
    _decisions: tuple[Decision, ...]
    _unknown: dict[str, npt.NDArray[np.bool_]]  # cells whose labels a schema lacks, which are taken as missing
    _native: _core.Columns | None
    _number_rows: NumberRows | None
    _numbers: npt.NDArray[np.float64] | None

    def __init__(
        self,
        variables: Sequence[Column],
        columns: Sequence[Cells],
        *,
        weights: npt.ArrayLike | None = None,
        n_rows: int | None = None,
    ) -> None:
        self._keep(own_column, variables, columns, own_weights(weights), n_rows)

    @classmethod
    def adopt(
        cls,
        variables: Sequence[Column],
        columns: Sequence[Cells],
        *,
        weights: npt.NDArray[Any] | None = None,
        n_rows: int | None = None,
    ) -> Self:
        """Make a table that keeps the given arrays, without a copy and without a look at the codes.

        For arrays that nobody else holds, or that are another table's, and whose codes are known to be right: those
        that the library has made itself.
        """
        table = cls.__new__(cls)
        table._keep(checked_column, variables, columns, weights, n_rows)
        return table

    def _keep(
        self,
        checked: Callable[[Column, Cells, int], Cells],
        variables: Sequence[Column],
        columns: Sequence[Cells],
        weights: npt.NDArray[Any] | None,
        n_rows: int | None,
    ) -> None:
        variables, columns = checked_variables(variables), check.items(columns, "columns", "arrays")
        if len(columns) != len(variables):
            sizes = f"{several(len(variables), 'variable')} and {several(len(columns), 'column')}"
            raise SchemaError(f"{sizes}: each variable needs one column")
        self._variables = tuple(variables)
        found = len(np.atleast_1d(check.array(columns[0], "columns"))) if columns and n_rows is None else 0
        self._n_rows = rows = check.integer(found if n_rows is None else n_rows, "n_rows", least=0)
        self._columns = tuple([checked(*pair, rows) for pair in zip(self._variables, columns, strict=True)])
        self._weights = None if weights is None else checked_weights(weights, rows)
        self._has_missing = self._native = self._numbers = self._number_rows = None
        self._decisions, self._unknown = (), {}

    @classmethod
    def from_codes(
        cls,
        codes: npt.ArrayLike,
        variables: Sequence[Column] | None = None,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> Self:
        """Make a table of an array of codes.

        Parameters
        ----------
        codes : (n_rows, n_variables) array of integers
            Integer-valued floats are taken too. The code of a missing cell is the variable's cardinality.
        variables : sequence of Variable, optional
            What the columns are, all of them categorical; without them the names are v0, v1, ... and the states 0 up to
            the largest code.
        weights : (n_rows,) array of non-negative numbers, optional
            How much each row counts: how many times, or the weights of a survey.

        Raises
        ------
        SchemaError
            When the shape does not fit, or a code lies outside the variable's states, naming row and column.

        Examples
        --------
        >>> import fishernet as fn
        >>> fn.Table.from_codes([[0, 1], [1, 2]]).cardinalities
        (2, 3)
        """
        array = as_integers(codes, "codes")
        if array.ndim != 2:
            raise SchemaError(f"codes must have two axes (rows, variables), got shape {array.shape}")
        if variables is None:
            if array.shape[0] == 0 and array.shape[1]:
                raise SchemaError("codes without rows need variables: their states cannot be guessed")
            variables = [guessed_variable(f"v{i}", array[:, i]) for i in range(array.shape[1])]
        variables = checked_variables(variables)
        if array.shape[1] != len(variables):
            raise SchemaError(
                f"codes have {several(array.shape[1], 'column')} for {several(len(variables), 'variable')}"
            )
        numbers = [variable.name for variable in variables if variable.is_continuous]
        if numbers:
            raise SchemaError(f"{listed(numbers)} hold numbers, which have no codes; see Table.from_frame")
        columns = [checked_codes(array[:, i], cast(Variable, variable)) for i, variable in enumerate(variables)]
        return cls.adopt(variables, columns, weights=own_weights(weights), n_rows=array.shape[0])

    @classmethod
    @shows_keywords(FrameKeywords)
    def from_frame(cls, frame: Any, **keywords: Unpack[FrameKeywords]) -> Self:
        """Make a table of a data frame.

        Numbers are continuous, but for columns of few distinct ones that come again: at most 20 whole ones, each in two
        rows on average, or at most 10 others, each in two rows at least. All else is categorical: text, truth values,
        those few numbers, and what the frame declares to be so (pandas Categorical, polars Enum, Arrow dictionary),
        which keeps its declared states, in their order, whether they occur or not. The states of any other column are
        the labels that occur, sorted: numbers by value, text by code point. None, null and NaN are missing cells; an
        index is left out, and so are identifiers: text that tells rows apart, whole numbers that count the rows, and
        different ones in a column called ``id`` or alike. `describe` says what was decided, and why.

        Parameters
        ----------
        frame : pandas, polars or pyarrow frame, what has __arrow_c_stream__, or mapping from names to columns
        columns : sequence of str, optional
            Only these columns, in the order of the frame; all without it.
        exclude : sequence of str
            Columns to leave out.
        categorical, continuous : sequence of str
            Columns that are so whatever they hold; text that is numbers may be continuous.
        order : mapping from column to sequence of str
            All states of a column in their order. Without it sizes, scales of questionnaires, months, ranges of numbers
            and names with numbers stand in an order of their own, other labels by letters.
        bins : int, "auto", or mapping from column to one of these or to ascending cut points, optional
            Cut continuous columns, and those that a mapping names, into at most so many bins, closed on the right,
            which makes them categorical; those with no more distinct numbers than that keep them as states. "auto":
            into as many as the numbers tell, by description length. In a mapping, the key None stands for all other
            continuous columns.
        binning : {"quantile", "equal-width"}
            How an int in `bins` is turned into cut points; see `fishernet.data.encoding.bins`.
        schema : sequence of Variable and Continuous, optional
            Encode by these variables (``table.variables``, ``model.variables``): columns are matched by name, others
            ignored. A label is looked up among the states, text also as the number or truth value it stands for; a
            column of numbers is binned where the variable has cuts.
        missing : {"keep", "error", "drop", "state"}
            Missing cells stay missing (the code is the cardinality, the number NaN), raise, their rows are left out, or
            they become a state ``"missing"`` of their own.
        unknown : {"error", "missing"}
            With a schema, a label that the variable does not have raises, or the cell becomes a missing one (to which
            ``missing="error"`` does not object).
        weights : str, optional
            The column that says how much each row counts; it is no variable of the table.
        weight_kind : {"counts", "survey"}, optional
            "counts": each row stands for so many. "survey": weights are scaled to add up to Kish's effective number of
            rows, the squared sum over the sum of squares, so that they never say more than the rows. By default whole
            numbers are counts, and fractions survey weights.
        na_values : sequence of str, or mapping from columns to these
            Text that means a missing cell, in columns that are not categorical by declaration. ``{"children": ["9"]}``
            adds words for one column, where 9 and 9.0 are the same; None as a key stands for all columns.

        Raises
        ------
        SchemaError
            When columns are missing, doubled, without a name or of a type without labels, or no states can be found.
        MissingValueError
            When cells are missing that must not be.
        UnknownStateError
            When a label is not among the states of the schema.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"age": [21, 35, 62, 48], "cough": ["no", "yes", "no", None]}, bins=2,
        ...                             missing="state")
        >>> table.variables[0].states
        ('<= 35', '> 35')
        >>> table.variables[1].states
        ('no', 'yes', 'missing')
        >>> new = fn.Table.from_frame({"cough": ["yes"], "age": [50]}, schema=table.variables)
        >>> [int(column[0]) for column in new.codes]
        [1, 1]
        >>> fn.Table.from_frame({"age": [21, 35, 62, 48]}, continuous=["age"]).variables
        (Continuous(name='age'),)
        """
        options = Options.of_frame(**keywords)
        return cls.of_columns(frame_columns(frame, options), options)

    @classmethod
    def of_columns(cls, source: Columns, options: Options) -> Self:
        """Make a table of the columns of a source, encoded as the options say."""
        return cls.of_encoded(encoded(source, options))

    @classmethod
    def of_encoded(cls, found: Encoded) -> Self:
        """Make a table of columns that are encoded, without a copy."""
        table = cls.adopt(found.variables, found.columns, weights=found.weights, n_rows=found.n_rows)
        table._decisions, table._unknown = found.decisions, found.unknown
        return table

    def to_frame(self, *, weights: str = "weights") -> pa.Table:
        """Return the table's labels and numbers as a pyarrow table, one column a variable.

        A categorical column is dictionary-encoded, a continuous one float64. Declared states stay, in their order;
        missing cells are null; bins go by their labels. States of several types are written as text. Each field also
        carries its variable in its metadata, so ``Table.from_frame`` gives the same table again.

        Parameters
        ----------
        weights : str
            The name of the column that the weights go to, where the table has some.

        Raises
        ------
        SchemaError
            When two states of one variable look the same as text (``1`` and ``"1"``), or the weights' name is taken.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"smoke": ["yes", "no", "no"]})
        >>> table.to_frame()["smoke"].to_pylist()
        ['yes', 'no', 'no']
        >>> fn.Table.from_frame(table.to_frame()) == table
        True
        """
        return table_of(self._variables, self._columns, self._n_rows, self._weights, weights)

    def _held(self) -> tuple[tuple[Column, ...], tuple[Cells, ...], int, Weights | None]:
        return self._variables, self._columns, self._n_rows, self._weights

    # ------------------------------------------------------------------------------------------------ what it holds

    @property
    def variables(self) -> tuple[Column, ...]:
        """One `Variable` or `Continuous` a column."""
        return self._variables

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return tuple([variable.name for variable in self._variables])

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of states of each variable; 1 of a continuous one, which adds no cells to a joint table."""
        return tuple([variable.cardinality for variable in self._variables])

    @property
    def n_rows(self) -> int:
        """The number of rows stored (weights not counted)."""
        return self._n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return self._n_rows, len(self._variables)

    @property
    def by_set(self) -> bool:
        """Whether each set of variables is answered from rows of its own: no, from all rows."""
        return False

    @property
    def on_disk(self) -> bool:
        """Whether the rows lie on a disk, as those of a `Stream` do; those of a table lie in memory."""
        return False

    @property
    def weights(self) -> Weights | None:
        """(n_rows,), read-only: how much each row counts; None means once. int64 where all are whole, else float64."""
        return self._weights

    @property
    def total(self) -> int | float:
        """The sum of the weights, N in every formula; a float where they are not whole numbers."""
        return self._n_rows if self._weights is None else total_weight(self._weights)

    @property
    def has_fractions(self) -> bool:
        """Whether the weights are not whole numbers."""
        return self._weights is not None and self._weights.dtype.kind == "f"

    @property
    def weights_in_units(self) -> tuple[npt.NDArray[np.int64] | None, float]:
        """The weights as integers for exact sums, and what 1 stands for; (weights, 1) where they are whole."""
        return (None, 1.0) if self._weights is None else in_units(self._weights)

    def places(self, names: str | Iterable[str]) -> Positions:
        """Return the positions of columns; SchemaError names an unknown one, and says why one was left out."""
        return column_places(self.names, names, self._decisions)

    @property
    def codes(self) -> tuple[Cells, ...]:
        """One read-only (n_rows,) array a column: codes of its own unsigned type, or float64 numbers."""
        return self._columns

    def column(self, name: str) -> Cells:
        """Return the cells of one column, (n_rows,) and read-only: unsigned codes, or float64 numbers."""
        return self._columns[self.places(name)[0]]

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The continuous columns, (number of them, n_rows) float64 and C-contiguous, read-only; NaN is missing."""
        if self._numbers is not None:
            return self._numbers
        chosen = [i for i, variable in enumerate(self._variables) if variable.is_continuous]
        numbers = stacked([self._columns[i] for i in chosen], self._n_rows)
        columns = list(self._columns)
        for i, row in zip(chosen, numbers, strict=True):
            columns[i] = row  # so that the numbers are kept once
        self._columns, self._numbers = tuple(columns), numbers
        return numbers

    @property
    def rows(self) -> Self:
        """The table itself: its rows can be read (`Source.rows`)."""
        return self

    def changed(self, change: Callable[[Table, int], Table]) -> Table:
        """Return what a function makes of the rows, of which the first has position 0 (`Source.changed`)."""
        return change(self, 0)

    @property
    def observed(self) -> Table:
        """The table itself, as sources have it."""
        return self

    @property
    def has_missing(self) -> bool:
        """Whether any cell is missing."""
        if self._has_missing is None:
            self._has_missing = any_missing(self._variables, self._columns)
        return self._has_missing

    def missing_counts(self) -> dict[str, int]:
        """Return the number of missing cells of each column that has some, by name."""
        if not self.has_missing:
            return {}
        pairs = zip(self._variables, self._columns, strict=True)
        counts = {variable.name: int(np.count_nonzero(variable.missing(column))) for variable, column in pairs}
        return {name: count for name, count in counts.items() if count}

    def require_complete(self, purpose: str) -> None:
        """Raise MissingValueError with columns and counts when a cell is missing; `purpose` begins the message."""
        counts = self.missing_counts()
        if counts:
            numbers = any(variable.is_continuous and variable.name in counts for variable in self._variables)
            remedies = [Remedy({"missing": "drop"}, "leave out these rows when the table is read")]
            if not numbers:
                remedies.append(Remedy({"missing": "state"}, "treat missing as a state"))
            fact = f"{purpose} needs a table without missing cells; missing in {counted(counts)}"
            raise MissingValueError(fact, counts=counts, parameter="missing", remedies=remedies)

    @property
    def native(self) -> _core.Columns:
        """The columns as the core counts them; made once, and kept with what the core derives from them.

        A continuous column is one of a single state, missing where its number is: counts of any set of columns leave
        out the rows in which one of them is missing.
        """
        if self._native is None:
            self._native = native_columns(self._variables, self._columns, self._n_rows, self.weights_in_units[0])
        return self._native

    # ----------------------------------------------------------------------------------------- what learners ask it

    @property
    def number_rows(self) -> NumberRows:
        """All columns of numbers, as their moments are taken; made at first use. For columns without missing cells."""
        self._number_rows = self._number_rows or all_numbers(self)
        return self._number_rows

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of sets of variables, given by ascending positions, in that order.

        Rows with a missing cell in a set are left out of it, and their weight told.
        """
        return statistics_of(self, sets)

    def family_scores(self, families: Any, score: Any) -> npt.NDArray[np.float64] | None:
        """Return the scores of `fishernet.scores.Families`, counted and scored in the core; None where it cannot."""
        return family_scores_of(self, families, score)

    def in_core(self) -> _core.Columns | None:
        """Return the rows as the core counts and scores them; None where weights are not whole (`Source.in_core`)."""
        return in_core(self)

    def counted_in_units(self) -> tuple[_core.Columns, float] | None:
        """Return rows whose weights are not whole as the core counts them, and the unit (`Source.counted_in_units`)."""
        return counted_in_units(self)

    def rows_digest(self) -> int:
        """Return a number that tells the rows from others, in whatever order; see `fishernet.data.digest`."""
        return rows_digest(self._variables, self._columns, self._weights, self._n_rows)

    # -------------------------------------------------------------------------------------------------- parts of it

    def __len__(self) -> int:
        return self._n_rows

    def __repr__(self) -> str:
        weighted = "" if self._weights is None else ", weighted"
        return f"Table({several(self._n_rows, 'row')}, {several(len(self._variables), 'variable')}{weighted})"

    def _repr_html_(self) -> str:
        shown = self[:MOST_ROWS]
        cells = [shown[name].tolist() for name in self.names[:MOST_COLUMNS]]
        n_columns = len(self._variables)
        return page(repr(self), table_html(self.names[:MOST_COLUMNS], zip(*cells, strict=True), len(self), n_columns))

    def __str__(self) -> str:
        shown = self[:HEAD]
        cells = [[str(value) for value in shown[name].tolist()] for name in self.names]
        widths = [max(map(len, [name, *column])) for name, column in zip(self.names, cells, strict=True)]
        rows = [self.names, *zip(*cells, strict=True)] if cells else []
        lines = ["  ".join(map(str.rjust, row, widths)) for row in rows]
        return "\n".join([repr(self), *lines, *(["..."] if self._n_rows > HEAD else [])])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self._variables == other._variables
            and self._n_rows == other._n_rows
            and all(map(same_cells, self._columns, other._columns))
            and np.array_equal(self._weights, other._weights)  # type: ignore[arg-type]
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self).adopt, weights=self._weights, n_rows=self._n_rows), (self._variables, self._columns)

    @overload
    def __getitem__(self, rows: str) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, rows: Rows) -> Self: ...
    def __getitem__(self, rows: Rows | str) -> Self | npt.NDArray[Any]:
        """Return some rows as a table of the same variables, or a column by its name.

        Parameters
        ----------
        rows : slice, int, (k,) array of integers or (n_rows,) array of bool; or str
            Negative positions count from the end. The name of a column gives its labels, (n_rows,), None where one is
            missing; or its numbers, NaN where one is.
        """
        if isinstance(rows, str):
            position = self.places(rows)[0]
            return self._variables[position].labels(self._columns[position])
        picked = rows if isinstance(rows, slice) else row_positions(rows, self._n_rows)
        n_rows = len(range(*picked.indices(self._n_rows))) if isinstance(picked, slice) else len(picked)
        weights = None if self._weights is None else self._weights[picked]
        made = self.adopt(self._variables, [c[picked] for c in self._columns], weights=weights, n_rows=n_rows)
        made._decisions = self._decisions
        return made

    def head(self, n: int = 5) -> Self:
        """Return the first rows; ``print(table.head())`` shows their labels."""
        return self[: check.integer(n, "n", least=0)]

    def describe(self) -> Description:
        """Return what each column is: its kind, its states or range, how many cells are missing, and why.

        Of a table that was read without a schema it also says what was decided, and which keyword of `read_table` and
        `Table.from_frame` overrules it; columns left out as identifiers are told last.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"cough": ["no", "yes", "no"], "sex": ["f", "f", "m"]})
        >>> print(table.describe())
        3 rows, 2 columns
        column  kind         shape  typical   holds        missing  why   to overrule
        cough   categorical  █▄     'no' 67%  'no', 'yes'        0  text  exclude=['cough']
        sex     categorical  █▄     'f' 67%   'f', 'm'           0  text  exclude=['sex']
        """
        of = self._variables, self._columns
        return described(self._variables, self.summary(), self._decisions, partial(spreads, *of))

    def alerts(self) -> tuple[str, ...]:
        """Return a sentence for each thing that is odd, before anything is learned.

        Copies of rows; columns that are empty, the same in (nearly) all rows, or that say the same as another or follow
        from it; numbers that stand for many rows, or that are far from all others in several.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"zip": [1, 1, 2, 2, 3] * 5, "city": ["a", "a", "b", "b", "b"] * 5})
        >>> table.alerts()
        ('22 rows are copies of another row (0.88 of all)', "'city' follows from 'zip'")
        """
        whole = not any(decision.left_out for decision in self._decisions)
        return alerts_of(self._variables, self._columns, self._n_rows, whole=whole)

    def summary(self) -> Summary:
        """Return what the columns hold; that of other rows of the same variables can be added."""
        return summarized(self._variables, self._columns, self._n_rows)

    def drop_missing(self) -> Self:
        """Return the rows without a missing cell."""
        if not self.has_missing:
            return self
        known = np.ones(self._n_rows, dtype=bool)
        for variable, column in zip(self._variables, self._columns, strict=True):
            known &= ~variable.missing(column)
        return self[known]

    def discretize(self, bins: Bins, *, binning: BinningName = "quantile") -> Self:
        """Cut columns of numbers into bins, which makes them categorical.

        Parameters
        ----------
        bins : int, "auto", or mapping from column to one of these or to ascending cut points
            As for `from_frame`. An int is for every continuous column, as is one under the key None for those that a
            mapping does not name. A categorical column whose states are numbers is cut where it is named.
        binning : {"quantile", "equal-width"}
            How an int is turned into cut points; rows count by their weights.

        Raises
        ------
        SchemaError
            When there is no such column, or it does not hold numbers.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"height": [1.62, 1.80, 1.71, 1.68]}).discretize(2)
        >>> table.variables[0].states
        ('<= 1.68', '> 1.68')
        """
        options = Options.checked(bins=bins, binning=binning)
        options.choose(self.names)
        pairs = zip(self._variables, self._columns, strict=True)
        cut = [cut_here(variable, column, self._weights, options) for variable, column in pairs]
        columns = [joined(blocks, self._n_rows, np.dtype(variable.dtype)) for variable, blocks in cut]
        variables = [variable for variable, _ in cut]
        return self._remade(variables, columns, told_of_bins(self._decisions, variables))

    def rescale(self, scales: Scales = "auto") -> Self:
        """Give columns of numbers the scales on which they are more nearly normal, and the unit of their rounding.

        Their numbers stay as they are. A mapping says of columns "auto", the likeliest by BIC, "log", "power",
        "arcsinh", "quantiles" (lines through quantiles, for a column of any shape), "identity" or a Scale. SchemaError
        when there is no such column, or it has states.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"income": [1.5**k for k in range(60)]})
        >>> print(table.rescale().variables[0].scale)
        log(x)
        """
        return self._remade(on_scales(self._variables, self._columns, scales), self._columns, self._decisions)

    def with_missing_states(self) -> Self:
        """Make missing cells a state ``"missing"`` of their own, in each column that lacks some.

        Raises
        ------
        MissingValueError
            When a number is missing: a continuous column has no states, so cut it into bins first.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"cough": ["yes", None, "no"]})
        >>> table.with_missing_states().variables[0].states
        ('no', 'yes', 'missing')
        """
        variables = with_missing_states(self._variables, self.missing_counts())
        columns = [column.astype(v.dtype, copy=False) for v, column in zip(variables, self._columns, strict=True)]
        return self._remade(variables, columns, self._decisions)

    def _remade(
        self, variables: Sequence[Column], columns: Sequence[Cells], decisions: tuple[Decision, ...] = ()
    ) -> Self:
        """Return other variables and columns of the same rows."""
        made = self.adopt(variables, columns, weights=self._weights, n_rows=self._n_rows)
        made._decisions = decisions
        return made

    def to_numbers(self, *, within: Mapping[str, Limits] | None = None, seed: Seed = None) -> Self:
        """Draw a number for every cell of a column that was cut into bins, uniformly within its bin.

        The outer bins end where the column did that was cut (`Variable.bounds`), and where only whole numbers were
        seen, whole numbers are drawn; dates and times are so again. Missing cells stay missing, other columns as they
        are. Binned by the same cuts, the numbers give the same table again.

        Parameters
        ----------
        within : mapping from name to (low, high), optional
            Limits of a column's numbers, None for none, where its cells are bins that have some within.
        seed : None, int or numpy.random.Generator

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"age": [21, 35, 62, 48]}, bins={"age": [40]})
        >>> drawn = table.to_numbers(seed=1)
        >>> drawn["age"]
        array([31., 40., 44., 61.])
        >>> drawn.conform(table.variables) == table
        True
        """
        return self._remade(*drawn_numbers(self._variables, self._columns, generator(seed), within or {}))

    def select(self, names: Iterable[str]) -> Self:
        """Return the named columns, in that order, without a copy."""
        chosen = self.places(names)
        return self._remade([self._variables[i] for i in chosen], [self._columns[i] for i in chosen])

    def reweighted(self, weights: Weights | None) -> Self:
        """Return the same rows with other weights, at least 0; with None every row counts once."""
        return self.adopt(self._variables, self._columns, weights=weights, n_rows=self._n_rows)

    def leave_out(self, why: Mapping[str, str]) -> Self:
        """Return the table without some columns; `describe` says why each is left out."""
        made = self.select([name for name in self.names if name not in why])
        left = [Decision(name, reason, left_out=True) for name, reason in why.items()]
        made._decisions = (*(d for d in self._decisions if d.name not in why), *left)
        return made

    def split(self, fraction: float, seed: Seed = None) -> tuple[Self, Self]:
        """Divide the rows at random in two tables.

        Parameters
        ----------
        fraction : float
            The share of the rows in the first table, from 0 to 1 (rounded to whole rows).
        seed : None, int or numpy.random.Generator

        Returns
        -------
        (Table, Table)
            Rows keep their order within each part.
        """
        first = drawn_share(self._n_rows, fraction, seed)
        return self[first], self[~first]

    def conform(self, variables: Sequence[Column], *, unknown: UnknownName = "error") -> Self:
        """Return the table with exactly these variables, its labels looked up in theirs.

        Columns are matched by name, in any order; others are left out, and a hidden variable without a column is
        missing in all rows. Names and labels that are not found may be there in other signs, as those of a model that
        comes back from another program are: ``Age (years)`` for ``Age_years`` is taken, with a warning, where no
        other says the same. A column whose variable is already equal is taken as it is. Numbers are looked up among
        states, or binned where the variable has cuts; states that are numbers become these where the variable is
        continuous.

        Parameters
        ----------
        variables : sequence of Variable and Continuous
            What the columns shall be (those of a model).
        unknown : {"error", "missing"}
            What becomes of a label that the variable does not have.

        Raises
        ------
        SchemaError
            When a column is missing.
        UnknownStateError
            When a row holds a label that the variable does not have, naming column, label and first row.
        """
        variables = checked_variables(variables)
        if self._variables == variables:
            return self
        columns = [recode(column, have, want, unknown=unknown) for have, column, want in self._matched(variables)]
        return self._remade(variables, columns)

    def _matched(self, variables: Sequence[Column]) -> list[tuple[Column, Cells, Column]]:
        """Return what each variable's column is here, its cells, and the variable."""
        unseen = {variable.name for variable in variables if variable.hidden}.difference(self.names)
        there = [variable for variable in variables if variable.name not in unseen]
        at = dict(zip([want.name for want in there], places_alike(self._variables, there), strict=True))
        return [
            (want, want.missing_column(self._n_rows), want)
            if want.name in unseen
            else (self._variables[at[want.name]], self._columns[at[want.name]], want)
            for want in variables
        ]
