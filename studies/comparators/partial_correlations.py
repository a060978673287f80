"""SPACE, sparse partial correlations by joint regression, by the R package of that name."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from studies.comparators.neighbourhoods import penalty
from studies.comparators.optional import standardized_columns

ALPHA = 0.1
STEPS = 3
HAS = 'quit(status = !requireNamespace("space", quietly = TRUE))'
RUN = """
asked <- commandArgs(trailingOnly = TRUE)
rows <- as.matrix(read.csv(asked[1], header = FALSE))
fit <- space::space.joint(rows, lam1 = as.numeric(asked[3]), lam2 = 0, weight = 2, iter = as.integer(asked[4]))
write.table(1 * (abs(fit$ParCor) > 1e-6), asked[2], sep = ",", row.names = FALSE, col.names = FALSE)
"""


def missing() -> str:
    """Return what is missing, or nothing."""
    if shutil.which("Rscript") is None:
        return "R is not installed"
    found = subprocess.run(["Rscript", "-e", HAS], capture_output=True, check=False)
    return "R's package space is not installed" if found.returncode else ""


def available() -> bool:
    """Return whether it can run here."""
    return not missing()


def space(X: Any, *, alpha: float = ALPHA) -> fn.UndirectedGraph:
    """Return the graph of the partial correlations that SPACE leaves [1]_.

    The penalty is ``n`` times that of `lasso_neighbourhoods`, as the package's manual has it; 3 iterations, columns
    standardized and weighted by their degrees.

    Parameters
    ----------
    X : (n_rows, n_columns) array or data frame of numbers
    alpha : float

    References
    ----------
    .. [1] J. Peng, P. Wang, N. Zhou and J. Zhu, "Partial correlation estimation by joint sparse regression models",
       JASA 104, 2009.
    """
    names, columns = standardized_columns(X)
    n, d = columns.shape
    with tempfile.TemporaryDirectory() as folder:
        script, rows, found = (Path(folder) / name for name in ("run.R", "rows.csv", "found.csv"))
        script.write_text(RUN)
        np.savetxt(rows, columns, delimiter=",", fmt="%.17g")
        asked = [os.fspath(rows), os.fspath(found), repr(n * penalty(n, d, alpha)), str(STEPS)]
        subprocess.run(["Rscript", os.fspath(script), *asked], check=True, capture_output=True)
        joined = np.loadtxt(found, delimiter=",", ndmin=2) != 0
    np.fill_diagonal(joined, False)
    return fn.UndirectedGraph(names, [np.flatnonzero(row) for row in joined | joined.T])
