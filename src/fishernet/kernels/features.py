"""Matrices of features, dense or sparse: their inner products, means and lengths, and how large they may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.data.frames.rows import weights_of

Matrix = npt.NDArray[np.float64]
Features = Any  # scipy.sparse.csr_array where most entries are 0, else a float64 array

MOST_CELLS = 2**31  # of a matrix, 16 GiB
NO_WEIGHT = "a mean needs a row of positive weight; there is none"


def check_cells(cells: int, what: str) -> None:
    """Raise StateSpaceError before a matrix is made that would not fit."""
    if cells > MOST_CELLS:
        raise StateSpaceError(what, cells=cells, limit=MOST_CELLS, remedy="take the rows in parts, or use features")


def is_sparse(matrix: Any) -> bool:
    """Return whether features are a scipy.sparse array."""
    return hasattr(matrix, "tocsr")


def inner(x: Features, y: Features | None) -> Matrix:
    """Return the inner products of rows, exactly symmetric for one matrix."""
    product = x @ (x if y is None else y).T
    dense: Matrix = product.toarray() if is_sparse(product) else np.asarray(product)
    return (dense + dense.T) / 2 if y is None else dense


def products_of_sets(features: Features, sets: npt.NDArray[np.int64]) -> Matrix:
    """Return the inner products within sets of rows of a sparse matrix, (n, size) to (n, size, size).

    Each set has columns of its own in one product, so that no two rows of different sets meet there.
    """
    import scipy.sparse as sp  # slow to import, and needed by few calls

    n, size = sets.shape
    taken = features[sets.ravel()].tocsr()
    width = taken.shape[1]
    columns = taken.indices + np.repeat(np.repeat(np.arange(n) * width, size), np.diff(taken.indptr))
    apart = sp.csr_array((taken.data, columns, taken.indptr), shape=(n * size, n * width))
    found = (apart @ apart.T).tocoo()
    products = np.zeros((n * size, size))
    products[found.row, found.col % size] = found.data
    return products.reshape(n, size, size)


def squared_lengths(features: Features) -> Matrix:
    """Return the inner product of each row with itself, (n,)."""
    if is_sparse(features):
        return np.asarray(features.power(2).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", features, features))


def scaled(features: Features, factors: Matrix) -> Features:
    """Return each row times its factor."""
    column = factors[:, None]
    return features.multiply(column).tocsr() if is_sparse(features) else features * column


def checked_length(X: Any, name: str) -> int:
    """Return how many rows or strings there are."""
    if not isinstance(X, str) and getattr(X, "ndim", 1) == 0:  # one of NumPy's strings is one
        raise SchemaError(
            f"{name} must be a table, a frame, an array or a list of rows or strings, not one {type(X).__name__}",
            parameter=name,
        )
    return len(X)


def shares_of(X: Any, n_rows: int) -> Matrix:
    """Return each row's share of a table's weight, or 1 / n of anything else, (n,); SchemaError when all are 0."""
    weights = weights_of(X)
    shares = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if not shares.sum() > 0:
        raise SchemaError(NO_WEIGHT)
    normalized: Matrix = shares / shares.sum()
    return normalized


def weighted_mean(features: Features, X: Any) -> Matrix:
    """Return the mean of the features of rows X, which count by their weights, (dimension,)."""
    return np.asarray(features.T @ shares_of(X, features.shape[0])).ravel()


def side_by_side(blocks: list[Features]) -> Features:
    """Return matrices side by side: sparse where one of them is."""
    if not any(is_sparse(block) for block in blocks):
        return np.hstack(blocks)
    import scipy.sparse as sp  # slow to import, and needed by few calls

    return sp.hstack([block if is_sparse(block) else sp.csr_array(block) for block in blocks], format="csr")


def sparse(values: list[Matrix], columns: list[npt.NDArray[np.int64]], n_rows: int, dimension: int) -> Features:
    """Return a sparse matrix of blocks of the same columns a row, (n_rows, width) each, side by side."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    width = sum(block.shape[1] for block in values)
    if not width:
        return sp.csr_array((n_rows, dimension))
    data = np.concatenate(values, axis=1).ravel()
    indices = np.concatenate(columns, axis=1).ravel()
    return sp.csr_array((data, indices, np.arange(n_rows + 1) * width), shape=(n_rows, dimension))
