"""Neighbourhood selection with the lasso (Meinshausen and Buehlmann), by scikit-learn (EXPERIMENTS, section 1)."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np
from scipy.stats import norm

import fishernet as fn
from studies.comparators.optional import missing_module, standardized_columns

ALPHA = 0.05
TOLERANCE = 1e-8  # scikit-learn's leaves small coefficients at zero


def missing() -> str:
    """Return what is missing, or nothing."""
    return missing_module("sklearn", "scikit-learn")


def available() -> bool:
    """Return whether it can run here."""
    return not missing()


def penalty(n: int, d: int, alpha: float = ALPHA) -> float:
    """Return ``n^(-1/2) Phi^(-1)(1 - alpha / (2 d^2))``, for columns of standard deviation 1 [1]_.

    It stands before the sum of absolute values where half the mean square is before it; with the whole mean square, as
    the authors write it, it is twice this.

    References
    ----------
    .. [1] N. Meinshausen and P. Buehlmann, "High-dimensional graphs and variable selection with the lasso", Annals of
       Statistics 34, 2006, Eq. 9.
    """
    return float(norm.isf(alpha / (2 * d**2))) / math.sqrt(n)


def lasso_neighbourhoods(X: Any, *, alpha: float = ALPHA, rule: str = "and") -> fn.UndirectedGraph:
    """Return the graph that joins columns with a coefficient in each other's lasso ("and") or in one's ("or").

    Parameters
    ----------
    X : (n_rows, n_columns) array or data frame of numbers
        Columns are standardized.
    alpha : float
        About the probability of joining two connected components.
    rule : {"and", "or"}
    """
    names, columns = standardized_columns(X)
    n, d = columns.shape
    lasso = importlib.import_module("sklearn.linear_model").Lasso
    products = columns.T @ columns
    chosen = np.zeros((d, d), dtype=bool)
    for v in range(d):
        rest = np.delete(np.arange(d), v)
        within = products[np.ix_(rest, rest)]
        model = lasso(penalty(n, d, alpha), fit_intercept=False, precompute=within, tol=TOLERANCE, max_iter=10_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it stopped before its tolerance: the support is seldom another
            chosen[v, rest] = model.fit(columns[:, rest], columns[:, v]).coef_ != 0
    joined = chosen & chosen.T if rule == "and" else chosen | chosen.T
    return fn.UndirectedGraph(names, [np.flatnonzero(row) for row in joined])
