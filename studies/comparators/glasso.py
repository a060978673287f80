"""The graphical lasso of scikit-learn, its penalty chosen by the extended BIC (EXPERIMENTS, section 1)."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import fishernet as fn
from studies.comparators.optional import Array, missing_module, standardized_columns

GAMMA = 0.5
N_PENALTIES, SMALLEST = 10, 0.1  # as in the R package huge


def missing() -> str:
    """Return what is missing, or nothing."""
    return missing_module("sklearn", "scikit-learn")


def available() -> bool:
    """Return whether it can run here."""
    return not missing()


def ebic(log_likelihood: float, n_edges: int, n: int, d: int, gamma: float = GAMMA) -> float:
    """Return the extended BIC of a Gaussian graph, ``-2 log L + E log n + 4 E gamma log d``; small is good [1]_.

    References
    ----------
    .. [1] R. Foygel and M. Drton, "Extended Bayesian information criteria for Gaussian graphical models", NIPS 2010.
    """
    return -2 * log_likelihood + n_edges * math.log(n) + 4 * n_edges * gamma * math.log(d)


def log_likelihood(precision: Array, correlations: Array, n: int) -> float:
    """Return the log-likelihood of n centred rows, without the constant ``n d log(2 pi) / 2``."""
    sign, log_determinant = np.linalg.slogdet(precision)
    return n / 2 * (log_determinant - float((precision * correlations).sum())) if sign > 0 else -math.inf


def penalties(correlations: Array, number: int = N_PENALTIES, smallest: float = SMALLEST) -> Array:
    """Return penalties from the one that leaves no edge down to a share of it, evenly spaced in logarithms."""
    most = float(np.abs(correlations - np.diag(np.diag(correlations))).max())
    return np.geomspace(most, smallest * most, number)


def path(correlations: Array, along: Array) -> Iterator[Array]:
    """Yield the precision for each penalty; the path ends where the solver finds the matrix too ill-conditioned."""
    estimate = importlib.import_module("sklearn.covariance").graphical_lasso
    for penalty in along:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it stopped before its tolerance: the edges are seldom others
                yield np.asarray(estimate(correlations, alpha=float(penalty), enet_tol=1e-6)[1])
        except (FloatingPointError, np.linalg.LinAlgError):
            return


def graphical_lasso(X: Any, *, gamma: float = GAMMA, n_penalties: int = N_PENALTIES) -> fn.UndirectedGraph:
    """Return the graph on the path of the graphical lasso that has the smallest extended BIC.

    Parameters
    ----------
    X : (n_rows, n_columns) array or data frame of numbers
        Columns are standardized.
    gamma : float
        Of the extended BIC; 0 is the plain one.
    n_penalties : int
        How many, from the smallest that leaves no edge down to a tenth of it.
    """
    names, columns = standardized_columns(X)
    n, d = columns.shape
    correlations: Array = columns.T @ columns / n
    best, edges = math.inf, np.zeros((d, d), dtype=bool)
    for precision in path(correlations, penalties(correlations, n_penalties)):
        joined = (precision != 0) & ~np.eye(d, dtype=bool)
        score = ebic(log_likelihood(precision, correlations, n), int(joined.sum()) // 2, n, d, gamma)
        if score < best:
            best, edges = score, joined
    return fn.UndirectedGraph(names, [np.flatnonzero(row) for row in edges | edges.T])
