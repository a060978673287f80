"""What scikit-learn's users pass as X, y and sample_weight, checked, as columns, and as counts.

Arrays go through scikit-learn's own validation. Frames do not, as that would turn labels into numbers or refuse them;
only the names and the number of their columns are checked there.

In training, cells may be missing and rows may weigh fractions. Where missing cells are not left to expectation and
maximization, parameters are fitted to the cells that are known. Structures cannot be compared in that way: each would
be scored on other rows, and which rows these are tells more than an arc does. So for the structure missing cells are
filled with labels drawn given the class alone, which makes no dependence between features that was not there.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from fishernet.base.errors import SchemaError
from fishernet.base.random import generator
from fishernet.data import Source, Statistic, Table
from fishernet.data.statistics import most_dense_cells
from fishernet.data.statistics.counting import count_cells
from fishernet.data.variable import Column

is_frame = nw.dependencies.is_into_dataframe
Columns = list[Any]  # one array, or one series of a data frame, a feature
Array = npt.NDArray[Any]


def training_columns(estimator: Any, X: Any, y: Any) -> tuple[Columns, Array]:
    """Return the features' columns and the classes, (n_rows,), and note the features in the estimator."""
    if not is_frame(X):
        array, classes = validate_data(estimator, X, y, dtype=None, ensure_all_finite="allow-nan")
        columns = _array_columns(array)
    else:
        validate_data(estimator, X, y, skip_check_array=True)
        classes = column_or_1d(y, warn=True)
        check_consistent_length(X, classes)
        columns = _frame_columns(X)
    _check_classes(classes)
    return columns, classes


def feature_columns(estimator: Any, X: Any, *, reset: bool) -> Columns:
    """Return the columns of the features: note them in the estimator, or raise ValueError where it has others."""
    if not is_frame(X):
        array = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return _array_columns(array)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return _frame_columns(X)


def feature_names(estimator: Any) -> list[str]:
    """Return the names of the features that an estimator was fitted on: x0, x1, ... where they had none."""
    named = getattr(estimator, "feature_names_in_", None)
    return [f"x{i}" for i in range(estimator.n_features_in_)] if named is None else [str(name) for name in named]


def listed_cells(column: Any) -> list[Any]:
    """Return the cells of a column."""
    cells = column.tolist() if isinstance(column, np.ndarray) else nw.from_native(column, series_only=True).to_list()
    return list(cells)


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN, or what pandas has for them."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def target_name(y: Any, taken: Any, otherwise: str = "class") -> str:
    """Return a name that no feature has: that of y if it has one, or one that begins with another."""
    named = getattr(y, "name", None)
    name = named if isinstance(named, str) and named else otherwise
    while name in taken:
        name += "_"
    return name


def _check_classes(classes: Array) -> None:
    absent = [row for row, label in enumerate(classes.tolist()) if is_missing(label)]
    if absent:
        times = f"{len(absent)} times, first in row {absent[0]}"
        raise ValueError(f"Input y contains NaN or None {times}; leave such rows out")
    check_classification_targets(classes)


def positive_weights(sample_weight: Any, X: Any) -> npt.NDArray[np.float64]:
    """Return the weights, (n_rows,) float64, none of them negative and one at least positive."""
    weights: npt.NDArray[np.float64] = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weights.any():
        raise ValueError("sample_weight is zero in every row, so there is nothing to learn from")
    return weights


def rows_of(columns: Columns, kept: npt.NDArray[np.bool_]) -> Columns:
    """Return some rows of the columns."""
    return [
        column[kept]
        if isinstance(column, np.ndarray)
        else nw.from_native(column, series_only=True).filter(kept.tolist()).to_native()
        for column in columns
    ]


def _frame_columns(X: Any) -> Columns:
    frame = nw.from_native(X, eager_only=True)
    n_rows, n_columns = frame.shape
    if not n_rows or not n_columns:
        missing = "row" if n_columns else "feature"
        raise SchemaError(f"found a frame with 0 {missing}(s) (shape={frame.shape}) while a minimum of 1 is required.")
    return [frame[:, position].to_native() for position in range(n_columns)]


def _array_columns(array: Array) -> Columns:
    if array.dtype == object:
        for (row, column), cell in np.ndenumerate(array):
            if not (isinstance(cell, str | numbers.Real | np.bool_) or is_missing(cell)):
                raise TypeError(
                    f"column {column}, row {row}: the argument must be a string or a number, not {type(cell).__name__}"
                )
    return list(array.T)


WEIGHT_BITS = 52  # of a sum of weights at most; the core counts in integers, and doubles hold them all
SEED = 0  # the same table is filled in the same way each time


def whole_weights(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], float]:
    """Return weights as integers, and what one of them stands for: 1 where all weights are whole numbers.

    Their product is the weights, to 2^-50 of their sum. Where all weights are multiples of the smallest positive one it
    is exactly as if they had been counts.
    """
    total = float(weights.sum())
    if np.array_equal(weights, np.rint(weights)) and total < 2.0**WEIGHT_BITS:
        return weights.astype(np.int64), 1.0
    smallest = float(weights[weights > 0].min())
    if total / smallest < 2.0**WEIGHT_BITS:
        multiples = weights / smallest
        if np.allclose(multiples, np.rint(multiples), rtol=2.0**-WEIGHT_BITS, atol=0):
            return np.rint(multiples).astype(np.int64), smallest
    _, exponent = np.frexp(total)  # total < 2^exponent
    unit = max(float(np.ldexp(1.0, int(exponent) - WEIGHT_BITS)), float(np.nextafter(0, 1)))
    return np.rint(weights / unit).astype(np.int64), unit


def filled(table: Table, target: int) -> Table:
    """Return a table whose missing cells are drawn from the labels that their column has in rows of the same class.

    Every column has a known cell, and the class (at the position `target`) is known everywhere.
    """
    if not table.has_missing:
        return table
    classes = table.codes[target].astype(np.int64)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights.astype(np.float64)
    rng = generator(SEED)
    columns = []
    for variable, column in zip(table.variables, table.codes, strict=True):
        codes = column.astype(np.int64)
        missing = codes == variable.cardinality
        counts = np.zeros((table.variables[target].cardinality, variable.cardinality))
        known = weights[~missing] if weights[~missing].any() else np.ones((~missing).sum())  # weights may all be 0
        np.add.at(counts, (classes[~missing], codes[~missing]), known)
        overall = counts.sum(axis=0)
        # a class may have no known cell, and so may all
        shares = counts + (known.mean() * overall / overall.sum() if len(known) else 1.0)
        steps = shares.cumsum(axis=1)[classes[missing]]
        drawn = rng.random(len(steps)) * steps[:, -1]
        codes[missing] = (steps[:, :-1] <= drawn[:, None]).sum(axis=1)
        columns.append(codes.astype(column.dtype))
    return Table.adopt(table.variables, columns, weights=table.weights, n_rows=table.n_rows)


class KnownRows(Source):
    """A source that leaves rows with a missing cell in a set out of it, without a word.

    The table's weights are integers, and `unit` is what a weight of 1 stands for.
    """

    def __init__(self, table: Table, unit: float = 1.0) -> None:
        self._table, self._unit = table, unit

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        return self._table.variables

    @property
    def total(self) -> int | float:
        """The sum of the rows' weights."""
        return self._table.total if self._unit == 1 else self._table.total * self._unit

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of sets of variables, of float64 counts, in that order."""
        # the number of rows decides which tables hold every cell; a small unit must not make it all of them
        cells = self._table.native, self._table.variables, sets, most_dense_cells(self._table.n_rows)
        return [replace(found, left_out=0) for found in count_cells(*cells, unit=self._unit)]
