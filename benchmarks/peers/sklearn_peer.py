"""scikit-learn: kernel matrices, which know no network, naive Bayes, and the graphical lasso with a chosen penalty."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.covariance import GraphicalLassoCV
from sklearn.metrics.pairwise import linear_kernel, pairwise_distances
from sklearn.naive_bayes import CategoricalNB
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.calls import Call, Data, threads

set_threads = threadpool_limits


def one_hot(data: Data) -> np.ndarray:
    """Return the table with a column a state, dense float64."""
    first = np.concatenate([[0], np.cumsum(data.cardinalities)])
    dense = np.zeros((len(data.rows), first[-1]))
    np.put_along_axis(dense, data.rows + first[:-1], 1.0, axis=1)
    return dense


def entries(matrix: np.ndarray, data: Data) -> list[np.ndarray]:
    return [matrix[tuple(data.pairs().T)]]


def lasso(rows: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of penalties at which it does not converge, which it leaves out
        return GraphicalLassoCV(n_jobs=threads() or None).fit((rows - rows.mean(axis=0)) / rows.std(axis=0))


CALLS = {
    "linear_kernel": Call(one_hot, linear_kernel, entries, note="of dense one-hot rows in float64"),
    "hamming": Call(
        lambda data: data.rows.astype(np.float64, order="C"),
        lambda codes: pairwise_distances(codes, metric="hamming", n_jobs=threads() or None),
        entries,
        note="of codes in float64, row by row",
    ),
    "naive_bayes": Call(
        lambda data: (CategoricalNB(alpha=1.0), *data.split()), lambda h: h[0].fit(*h[1:]).predict_proba(h[1])
    ),
    "gaussian_graph": Call(
        lambda data: data.rows.copy(),
        lasso,
        lambda fit, _: [
            [np.flatnonzero(row) for row in (fit.precision_ != 0) & ~np.eye(len(fit.precision_), dtype=bool)]
        ],
        note="penalty of its default grid, by five-fold cross-validation",
    ),
}
