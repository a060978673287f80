"""What a metric of a Fisher kernel offers, and what several of them need."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError, StateSpaceError
from fishernet.kernels.kernel import Features, Matrix
from fishernet.table import Table

MOST_CELLS = 2**31  # of a matrix, 16 GiB


class Metric(Protocol):
    """A Fisher kernel on tables of the network's variables."""

    name: str

    @property
    def dimension(self) -> int:
        """The number of features."""
        ...

    def gram(self, X: Table, Y: Table) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        ...

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        ...

    def terms(self, X: Table, Y: Table) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        ...

    def features(self, X: Table) -> Features:
        """Return the features, (n, dimension)."""
        ...

    def mean_features(self, X: Table) -> Matrix:
        """Return their mean, (dimension,)."""
        ...


def weighted_mean(features: Features, X: Any) -> Matrix:
    """Return the mean of rows of features, by the weights of a table.

    Raises
    ------
    SchemaError
        When there is no row of positive weight.
    """
    weights = getattr(X, "weights", None)
    n_rows = features.shape[0]
    shares = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if not shares.sum() > 0:
        raise SchemaError("a mean needs a row of positive weight; the table has none")
    return np.asarray(features.T @ (shares / shares.sum())).ravel()


def total_weight(X: Table) -> float:
    """Return the sum of a table's weights, which is positive.

    Raises
    ------
    SchemaError
        When it is not.
    """
    total = float(X.n_rows if X.weights is None else X.weights.sum())
    if not total > 0:
        raise SchemaError("a mean needs a row of positive weight; the table has none")
    return total


def inner(x: Features, y: Features | None) -> Matrix:
    """Return the inner products of rows, exactly symmetric for one matrix."""
    product = x @ (x if y is None else y).T
    dense: Matrix = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
    return (dense + dense.T) / 2 if y is None else dense


def sparse(values: list[Matrix], columns: list[npt.NDArray[np.int64]], n_rows: int, dimension: int) -> Features:
    """Return a sparse matrix of blocks of the same columns a row, (n_rows, width) each, side by side."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    width = sum(block.shape[1] for block in values)
    data = np.concatenate(values, axis=1).ravel()
    indices = np.concatenate(columns, axis=1).ravel()
    return sp.csr_array((data, indices, np.arange(n_rows + 1) * width), shape=(n_rows, dimension))


def check_cells(cells: int, what: str) -> None:
    """Raise StateSpaceError before a matrix is made that would not fit."""
    if cells > MOST_CELLS:
        raise StateSpaceError(what, cells=cells, limit=MOST_CELLS, remedy="take the rows in parts, or use features")
