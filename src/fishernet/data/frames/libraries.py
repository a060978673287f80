"""Tables as the data frames of pandas and polars, which are imported when one is asked for.

States are the categories of a pandas Categorical, whatever their type. Polars has categories of text only (its Enum),
so that states that are numbers or truth values are plain columns there.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import SchemaError
from fishernet.data.arrow import dictionary_array, free_name, require_text
from fishernet.data.encoding.dates import as_dates, in_arrow
from fishernet.data.variable import Column, Variable

Cells = npt.NDArray[Any]
Named = dict[str, Any]  # columns by name


class GivesFrames(ABC):
    """What gives its rows to other libraries: the part of a `Table` that they see."""

    __slots__ = ()

    @abstractmethod
    def to_frame(self, *, weights: str = "weights") -> pa.Table:
        """Return the labels and numbers as a pyarrow table."""

    @abstractmethod
    def _held(self) -> tuple[Sequence[Column], Sequence[Cells], int, npt.NDArray[Any] | None]:
        """Return the variables, their columns, the number of rows and their weights."""

    def to_pandas(self, *, weights: str = "weights") -> Any:
        """Return the table's labels and numbers as a pandas DataFrame.

        A categorical column is a Categorical with the declared states, in their order, a continuous one float64, and
        one of dates or times datetime64. ``Table.from_frame`` gives the same table again, but for cut points (bins go
        by their labels), and days, which are times then.

        Parameters
        ----------
        weights : str
            The name of the column that the weights go to, where the table has some.

        Raises
        ------
        SchemaError
            When the weights' name is taken, or a name or a state is no valid Unicode text.
        ImportError
            When pandas is not installed.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.Table.from_frame({"smoke": ["yes", "no", None], "height": [1.62, None, 1.71]})
        >>> table.to_pandas()["smoke"].cat.categories.tolist()
        ['no', 'yes']
        >>> fn.Table.from_frame(table.to_pandas()) == table
        True
        """
        variables, columns, n_rows, of_rows = self._held()
        return pandas_frame(variables, columns, n_rows, _more(variables, of_rows, weights))

    def to_polars(self, *, weights: str = "weights") -> Any:
        """Return the table's labels and numbers as a polars DataFrame; see `to_pandas`.

        States that are text are an Enum, which declares them; numbers and truth values are plain columns, since polars
        has no categories of these, and states of several types are written as text. Missing cells are null.
        """
        variables, columns, _, of_rows = self._held()
        return polars_frame(variables, columns, _more(variables, of_rows, weights))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to whatever speaks Arrow's interface, as polars, DuckDB and pandas do."""
        return self.to_frame().__arrow_c_stream__(requested_schema)


def _more(variables: Sequence[Column], weights: npt.NDArray[Any] | None, name: str) -> Named:
    """Return the column of weights, by its name."""
    return {} if weights is None else {free_name(name, [variable.name for variable in variables]): weights}


def pandas_frame(variables: Sequence[Column], columns: Sequence[Cells], n_rows: int, more: Named) -> Any:
    """Return columns of codes and numbers, and more columns behind them, as a pandas DataFrame."""
    pd = _library("pandas")
    require_text(variable.name for variable in variables)
    found: Named = {}
    for variable, column in zip(variables, columns, strict=True):
        if variable.is_continuous:
            found[variable.name] = column.copy() if variable.unit is None else _dates(column, variable.unit)
        else:
            found[variable.name] = _categorical(pd, variable, column)
    return pd.DataFrame(found | more, index=pd.RangeIndex(n_rows))


def _dates(numbers: npt.NDArray[np.float64], unit: str) -> Cells:
    """Return days or seconds as pandas keeps them: it has no days."""
    dates = as_dates(numbers, unit)
    return dates if unit == "time" else dates.astype("datetime64[s]" if unit == "days" else "datetime64[us]")


def _categorical(pd: Any, variable: Variable, codes: Cells) -> Any:
    known = np.where(codes == variable.cardinality, -1, codes.astype(np.int64))
    try:
        return pd.Categorical.from_codes(known, categories=pd.Index(list(variable.states)))
    except UnicodeEncodeError:
        raise SchemaError(f"variable {variable.name!r} has a state that is no valid Unicode text") from None


def polars_frame(variables: Sequence[Column], columns: Sequence[Cells], more: Named) -> Any:
    """Return columns of codes and numbers, and more columns behind them, as a polars DataFrame."""
    pl = _library("polars")
    require_text(variable.name for variable in variables)
    found: Named = {}
    for variable, column in zip(variables, columns, strict=True):
        if not variable.is_continuous:
            found[variable.name] = _polars_states(pl, variable, column)
        elif variable.unit is not None:
            found[variable.name] = pl.Series(variable.name, in_arrow(column, variable.unit))
        else:
            found[variable.name] = pl.Series(variable.name, column, nan_to_null=True)
    return pl.DataFrame(found | more)


def _polars_states(pl: Any, variable: Variable, codes: Cells) -> Any:
    array = dictionary_array(variable, codes)
    states = array.dictionary.to_pylist()
    series = pl.Series(variable.name, array.dictionary_decode())
    return series.cast(pl.Enum(states)) if isinstance(states[0], str) else series


def _library(name: str) -> Any:
    """Return an installed library of data frames; ImportError says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"to_{name} needs {name}; install it with: pip install {name}") from error
