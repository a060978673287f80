"""The worker of scikit-learn: kernel matrices, naive Bayes, and the graphical lasso with a cross-validated penalty.

The kernels, which know no network, are the yardstick of ours.

The linear kernel of one-hot rows counts their equal cells; the Hamming distance is the share of unequal ones. The rows
are encoded beforehand ("handing over").
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.covariance import GraphicalLassoCV
from sklearn.metrics.pairwise import linear_kernel, pairwise_distances
from sklearn.naive_bayes import CategoricalNB
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.workers.job import Job, Result, main
from benchmarks.workers.timing import measure


def one_hot(job: Job) -> np.ndarray:
    """Return the table with a column a state, dense float64."""
    codes, first = job.read_codes(), np.concatenate([[0], np.cumsum(job.cardinalities)])
    dense = np.zeros((job.n_rows, first[-1]))
    np.put_along_axis(dense, codes + first[:-1], 1.0, axis=1)
    return dense


def gram(job: Job) -> Result:
    if job.form == "linear kernel":
        timing = measure(lambda: one_hot(job), linear_kernel, repeats=job.repeats)
        kind, note = "equal", "of dense one-hot rows in float64"
    else:
        timing = measure(
            lambda: job.read_codes().astype(np.float64, order="C"),
            lambda codes: pairwise_distances(codes, metric="hamming", n_jobs=job.threads or None),
            repeats=job.repeats,
        )
        kind, note = "unequal", "of codes in float64, row by row"
    return timing.as_result() | {"kind": kind, "entries": timing.answer[tuple(job.entries().T)].tolist(), "note": note}


def naive_bayes(job: Job) -> Result:
    """Fit its naive Bayes, whose class shares are as counted, and predict its own rows."""
    codes = job.read_codes()
    features, target = np.ascontiguousarray(codes[:, job.features]), codes[:, job.target]
    timing = measure(
        lambda: CategoricalNB(alpha=job.smoothing),
        lambda model: model.fit(features, target).predict_proba(features),
        repeats=job.repeats,
    )
    timing.answer.tofile(job.output)
    return timing.as_result() | {"smoothed_classes": False}


def gaussian_graph(job: Job) -> Result:
    """Join columns whose entry of the precision is not zero."""
    numbers = job.read_numbers()
    scaled = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of penalties at which it does not converge, which it leaves out
        timing = measure(
            scaled.copy, lambda rows: GraphicalLassoCV(n_jobs=job.threads or None).fit(rows), repeats=job.repeats
        )
    joined = (timing.answer.precision_ != 0) & ~np.eye(job.n_columns, dtype=bool)
    return timing.as_result() | {
        "adjacency": [np.flatnonzero(row).tolist() for row in joined],
        "note": f"penalty {timing.answer.alpha_:.3g} of its default grid, by five-fold cross-validation",
    }


if __name__ == "__main__":
    main({"gram": gram, "naive_bayes": naive_bayes, "gaussian_graph": gaussian_graph}, threadpool_limits)
