"""A categorical table: rows of codes with the variables that say what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Self, SupportsIndex

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base.errors import MissingValueError, SchemaError
from fishernet.base.names import check_names, counted, listed, positions
from fishernet.base.random import Seed, drawn_share
from fishernet.data.arrow import frame_columns, table_of
from fishernet.data.encode import (
    Codes,
    as_integers,
    checked_codes,
    checked_column,
    checked_weights,
    encode,
    guessed_variable,
    own_column,
    own_weights,
    recode,
    row_positions,
)
from fishernet.data.options import NA_VALUES, Bins, Options
from fishernet.data.variable import Variable

Rows = slice | SupportsIndex | npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_] | Sequence[int] | Sequence[bool]


class Table:
    """A categorical table; immutable.

    Made by `read_table`, `Table.from_frame` and `Table.from_codes`. A cell is stored as its state's code; a missing
    cell's code is the variable's cardinality. Each column has the smallest unsigned type that holds its codes.

    Parameters
    ----------
    variables : sequence of Variable
        One a column; names are unique.
    columns : sequence of (n_rows,) unsigned integer arrays
        The codes, each column of its own type; at most the variable's cardinality. They are copied.
    weights : (n_rows,) int64 array, optional
        How many times each row counts (an aggregated table); None means once.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_frame({"smoke": ["yes", "no", "no"], "cough": ["yes", "yes", "no"]})
    >>> table
    Table(3 rows, 2 variables)
    >>> table.column("smoke")
    array([1, 0, 0], dtype=uint8)
    >>> table.variables[0].states
    ('no', 'yes')
    """

    __slots__ = ("__weakref__", "_columns", "_has_missing", "_n_rows", "_native", "_variables", "_weights")

    _variables: tuple[Variable, ...]
    _columns: tuple[Codes, ...]
    _weights: npt.NDArray[np.int64] | None
    _n_rows: int
    _has_missing: bool | None
    _native: _core.Columns | None

    def __init__(
        self,
        variables: Sequence[Variable],
        columns: Sequence[Codes],
        *,
        weights: npt.ArrayLike | None = None,
        n_rows: int | None = None,
    ) -> None:
        self._keep(own_column, variables, columns, own_weights(weights), n_rows)

    @classmethod
    def adopt(
        cls,
        variables: Sequence[Variable],
        columns: Sequence[Codes],
        *,
        weights: npt.NDArray[np.integer[Any]] | None = None,
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
        checked: Callable[[Variable, Codes, int], Codes],
        variables: Sequence[Variable],
        columns: Sequence[Codes],
        weights: npt.NDArray[np.integer[Any]] | None,
        n_rows: int | None,
    ) -> None:
        check_names([variable.name for variable in variables])
        if len(columns) != len(variables):
            raise SchemaError(f"{len(variables)} variables need {len(variables)} columns, got {len(columns)}")
        self._variables = tuple(variables)
        self._n_rows = rows = int(n_rows if n_rows is not None else len(columns[0]) if columns else 0)
        self._columns = tuple(checked(*pair, rows) for pair in zip(self._variables, columns, strict=True))
        self._weights = None if weights is None else checked_weights(weights, rows)
        self._has_missing = None
        self._native = None

    @classmethod
    def from_codes(
        cls,
        codes: npt.ArrayLike,
        variables: Sequence[Variable] | None = None,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> Self:
        """Make a table of an array of codes.

        Parameters
        ----------
        codes : (n_rows, n_variables) array of integers
            Integer-valued floats are taken too. The code of a missing cell is the variable's cardinality.
        variables : sequence of Variable, optional
            What the columns are; without them the names are v0, v1, ... and the states 0 up to the largest code.
        weights : (n_rows,) array of non-negative integers, optional
            How many times each row counts.

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
        if array.shape[1] != len(variables):
            raise SchemaError(f"codes have {array.shape[1]} columns for {len(variables)} variables")
        columns = [checked_codes(array[:, i], variable) for i, variable in enumerate(variables)]
        return cls.adopt(variables, columns, weights=own_weights(weights), n_rows=array.shape[0])

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        schema: Iterable[Variable] | None = None,
        bins: Bins | None = None,
        binning: str = "quantile",
        missing: str = "error",
        unknown: str = "error",
        weights: str | None = None,
        na_values: Iterable[str] = NA_VALUES,
    ) -> Self:
        """Make a table of a data frame.

        Parameters
        ----------
        frame : pandas, polars or pyarrow frame, or mapping from names to columns
            A categorical column (pandas Categorical, polars Enum, Arrow dictionary) keeps its declared states, in
            their order, whether they occur or not. The states of any other column are the labels that occur, sorted:
            numbers by value, text by code point. None, null and NaN are missing cells; an index is left out.
        schema : sequence of Variable, optional
            Encode by these variables (``table.variables``, ``model.variables``): columns are matched by name, others
            ignored. A label is looked up among the states, text also as the number or truth value it stands for; a
            numeric column of a variable with cuts is binned by them.
        bins : int, or mapping from column to int or to ascending cut points, optional
            Cut numeric columns (that are not categorical, unless named) into at most so many bins, closed on the
            right; columns with no more distinct numbers than that keep them as states. Needed for columns with more
            than 256 distinct numbers.
        binning : {"quantile", "equal-width"}
            How an int in `bins` is turned into cut points; see `fishernet.data.options`.
        missing : {"error", "drop", "state", "keep"}
            Missing cells raise, their rows are left out, they become a state ``"missing"`` of their own, or they stay
            missing (the code is the cardinality).
        unknown : {"error", "missing"}
            With a schema, a label that the variable does not have raises, or the cell becomes a missing one (to which
            ``missing="error"`` does not object).
        weights : str, optional
            The column that says how many times each row counts; it is no variable of the table.
        na_values : sequence of str
            Text that means a missing cell, in columns that are not categorical.

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
        """
        options = Options.checked(
            schema=schema,
            bins=bins,
            binning=binning,
            missing=missing,
            unknown=unknown,
            weights=weights,
            na_values=na_values,
        )
        encoded = encode(frame_columns(frame, options), options)
        return cls.adopt(encoded.variables, encoded.columns, weights=encoded.weights, n_rows=encoded.n_rows)

    def to_frame(self, *, weights: str = "weights") -> pa.Table:
        """Return the table's labels as a pyarrow table, one dictionary-encoded column a variable.

        Declared states stay, in their order; missing cells are null; bins go by their labels. States of several types
        are written as text. Each field also carries its variable in its metadata, so ``Table.from_frame`` gives the
        same table again; through pandas or polars (``to_frame().to_pandas()``) types that were mixed and cut points
        are lost.

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

    # ------------------------------------------------------------------------------------------------ what it holds

    @property
    def variables(self) -> tuple[Variable, ...]:
        """One `Variable` a column."""
        return self._variables

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return tuple(variable.name for variable in self._variables)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of states of each variable."""
        return tuple(variable.cardinality for variable in self._variables)

    @property
    def n_rows(self) -> int:
        """The number of rows stored (weights not counted)."""
        return self._n_rows

    @property
    def weights(self) -> npt.NDArray[np.int64] | None:
        """(n_rows,) int64, read-only: how many times each row counts; None means once."""
        return self._weights

    @property
    def codes(self) -> tuple[Codes, ...]:
        """One read-only (n_rows,) unsigned array a column, each of its own type."""
        return self._columns

    def column(self, name: str) -> Codes:
        """Return the codes of one column, (n_rows,) unsigned and read-only."""
        return self._columns[positions(self.names, [name], "column")[0]]

    @property
    def has_missing(self) -> bool:
        """Whether any cell is missing."""
        if self._has_missing is None:
            self._has_missing = any(
                self._n_rows and int(column.max()) == variable.cardinality
                for variable, column in zip(self._variables, self._columns, strict=True)
            )
        return self._has_missing

    def missing_counts(self) -> dict[str, int]:
        """Return the number of missing cells of each column that has some, by name."""
        if not self.has_missing:
            return {}
        pairs = zip(self._variables, self._columns, strict=True)
        counts = {variable.name: int(np.count_nonzero(column == variable.cardinality)) for variable, column in pairs}
        return {name: count for name, count in counts.items() if count}

    def require_complete(self, purpose: str) -> None:
        """Raise MissingValueError, naming columns and counts, when a cell is missing.

        Parameters
        ----------
        purpose : str
            What cannot deal with missing cells, as the message begins.
        """
        counts = self.missing_counts()
        if counts:
            raise MissingValueError(
                f"{purpose} needs a table without missing cells; missing in {counted(counts)}; "
                'read the table with missing="drop" or missing="state"',
                counts=counts,
            )

    @property
    def native(self) -> _core.Columns:
        """The columns as the core sees them; made once, and kept with what the core derives from them."""
        if self._native is None:
            cardinalities = np.array(self.cardinalities, dtype=np.int64)
            self._native = _core.Columns(list(self._columns), cardinalities, self._n_rows, self._weights)
        return self._native

    # -------------------------------------------------------------------------------------------------- parts of it

    def __len__(self) -> int:
        return self._n_rows

    def __repr__(self) -> str:
        weighted = "" if self._weights is None else ", weighted"
        return f"Table({self._n_rows:,} rows, {len(self._variables)} variables{weighted})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self._variables == other._variables
            and self._n_rows == other._n_rows
            and all(np.array_equal(a, b) for a, b in zip(self._columns, other._columns, strict=True))
            and (self._weights is None) == (other._weights is None)
            and (self._weights is None or np.array_equal(self._weights, other._weights))  # type: ignore[arg-type]
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(type(self).adopt, weights=self._weights, n_rows=self._n_rows)
        return make, (self._variables, self._columns)

    def __getitem__(self, rows: Rows) -> Self:
        """Return some rows as a table of the same variables.

        Parameters
        ----------
        rows : slice, int, (k,) array of integers or (n_rows,) array of bool
            Negative positions count from the end.
        """
        picked = rows if isinstance(rows, slice) else row_positions(rows, self._n_rows)
        n_rows = len(range(*picked.indices(self._n_rows))) if isinstance(picked, slice) else len(picked)
        weights = None if self._weights is None else self._weights[picked]
        return self.adopt(self._variables, [column[picked] for column in self._columns], weights=weights, n_rows=n_rows)

    def select(self, names: Iterable[str]) -> Self:
        """Return the named columns, in that order, without a copy."""
        chosen = positions(self.names, names, "column")
        variables = [self._variables[i] for i in chosen]
        columns = [self._columns[i] for i in chosen]
        return self.adopt(variables, columns, weights=self._weights, n_rows=self._n_rows)

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

    def conform(self, variables: Sequence[Variable]) -> Self:
        """Return the table with exactly these variables, its labels looked up in theirs.

        Columns are matched by name, in any order; others are left out. A column whose variable is already equal is
        taken as it is.

        Parameters
        ----------
        variables : sequence of Variable
            What the columns shall be (those of a model).

        Raises
        ------
        SchemaError
            When a column is missing.
        UnknownStateError
            When a row holds a label that the variable does not have, naming column, label and first row.
        """
        if self._variables == tuple(variables):
            return self
        where = {name: position for position, name in enumerate(self.names)}
        absent = [variable.name for variable in variables if variable.name not in where]
        if absent:
            raise SchemaError(f"the table lacks the column {listed(absent)}; it has {listed(self.names)}")
        columns = []
        for variable in variables:
            position = where[variable.name]
            columns.append(recode(self._columns[position], self._variables[position], variable))
        return self.adopt(variables, columns, weights=self._weights, n_rows=self._n_rows)
