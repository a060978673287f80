"""What scikit-learn's users pass as X, y and sample_weight, checked and as columns.

Arrays go through scikit-learn's own validation. Frames do not, as that would turn labels into numbers or refuse them;
only the names and the number of their columns are checked there.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from fishernet.errors import SchemaError

Columns = list[Any]  # one array, or one series of a data frame, a feature
Array = npt.NDArray[Any]


def training_columns(estimator: Any, X: Any, y: Any) -> tuple[Columns, Array]:
    """Return the features' columns and the classes, (n_rows,), and note the features in the estimator.

    Raises
    ------
    ValueError
        When shapes do not fit, there are no rows or no columns, a number is infinite, or y holds no classes.
    TypeError
        When X is sparse, or a cell is no label.
    """
    if not _is_frame(X):
        array, classes = validate_data(estimator, X, y, dtype=None, ensure_all_finite="allow-nan")
        columns = _array_columns(array)
    else:
        validate_data(estimator, X, y, skip_check_array=True)
        classes = column_or_1d(y, warn=True)
        check_consistent_length(X, classes)
        columns = _frame_columns(X)
    _refuse_missing(classes)
    check_classification_targets(classes)
    return columns, classes


def columns_like_training(estimator: Any, X: Any) -> Columns:
    """Return the columns of the features that the estimator was fitted on.

    Raises
    ------
    ValueError
        When there are other features than then.
    """
    if not _is_frame(X):
        return _array_columns(validate_data(estimator, X, reset=False, dtype=None, ensure_all_finite="allow-nan"))
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return _frame_columns(X)


def positive_weights(sample_weight: Any, X: Any) -> npt.NDArray[np.float64]:
    """Return the weights, (n_rows,) float64.

    Raises
    ------
    ValueError
        When one is negative or not finite, or none is positive.
    """
    weights: npt.NDArray[np.float64] = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weights.any():
        raise ValueError("sample_weight is zero in every row, so there is nothing to learn from")
    return weights


def rows_of(columns: Columns, kept: npt.NDArray[np.bool_]) -> Columns:
    """Return some rows of the columns."""
    import narwhals.stable.v2 as nw

    return [
        column[kept]
        if isinstance(column, np.ndarray)
        else nw.from_native(column, series_only=True).filter(kept.tolist()).to_native()
        for column in columns
    ]


def _is_frame(X: Any) -> bool:
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def _frame_columns(X: Any) -> Columns:
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    n_rows, n_columns = frame.shape
    if not n_rows or not n_columns:
        missing = "row" if n_columns else "feature"
        raise SchemaError(f"found a frame with 0 {missing}(s) (shape={frame.shape}) while a minimum of 1 is required.")
    return [frame[:, position].to_native() for position in range(n_columns)]


def _array_columns(array: Array) -> Columns:
    if array.dtype == object:
        for (row, column), cell in np.ndenumerate(array):
            if not (isinstance(cell, str | numbers.Real | np.bool_) or _is_missing(cell)):
                raise TypeError(
                    f"column {column}, row {row}: the argument must be a string or a number, not {type(cell).__name__}"
                )
    return list(array.T)


def _refuse_missing(classes: Array) -> None:
    absent = [row for row, label in enumerate(classes.tolist()) if _is_missing(label)]
    if absent:
        raise ValueError(
            f"Input y contains NaN or None {len(absent)} times, first in row {absent[0]}; leave such rows out"
        )


def _is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, or what pandas has for them."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")
