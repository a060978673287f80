"""What is installed, and columns as the comparators take them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.data.matching import as_numbers
from fishernet.data.numbers import require_varying
from fishernet.independence.continuous import standardized

Array = npt.NDArray[np.float64]


def missing_module(module: str, package: str) -> str:
    """Return what is to be said where a module is not installed, and nothing where it is."""
    return "" if find_spec(module) is not None else f"{package} is not installed (pip install {package})"


def standardized_columns(X: Any) -> tuple[tuple[str, ...], Array]:
    """Return the names of columns and the columns, (n_rows, n_columns), of mean 0 and standard deviation 1.

    Raises
    ------
    SchemaError
        When they are no finite numbers, or a column is constant.
    """
    data = as_numbers(X, purpose="a comparator")
    require_varying(data.names, data.numbers)
    return data.names, np.ascontiguousarray(standardized(data.numbers).T)
