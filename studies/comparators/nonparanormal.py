"""The nonparanormal transformation: columns made normal by their ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from fishernet.data.matching import as_numbers
from fishernet.data.numbers import require_varying
from studies.comparators.optional import Array


def missing() -> str:
    """Return what is missing: nothing, for it needs what the library needs."""
    return ""


def available() -> bool:
    """Return whether it can run here."""
    return not missing()


def nonparanormal(X: Any) -> Array:
    """Return columns whose value is the normal quantile of their rank, ``Phi^(-1)(rank / (n + 1))``, scaled.

    What increasing functions were applied to the columns before does not matter [1]_. Equal values share the mean of
    their ranks; every column is given standard deviation 1. Of the forms in use this is the one with ``n + 1`` below
    (the "shrinkage" of the R package huge).

    Parameters
    ----------
    X : (n_rows, n_columns) array or data frame of numbers

    Returns
    -------
    (n_rows, n_columns) float64

    References
    ----------
    .. [1] H. Liu, J. Lafferty and L. Wasserman, "The nonparanormal: semiparametric estimation of high dimensional
       undirected graphs", JMLR 10, 2009.
    """
    data = as_numbers(X, purpose="a comparator")
    require_varying(data.names, data.numbers)
    quantiles = norm.ppf(rankdata(data.numbers, axis=1) / (data.n_rows + 1))
    scaled: Array = (quantiles / quantiles.std(axis=1, keepdims=True)).T
    return np.ascontiguousarray(scaled)
