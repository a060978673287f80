"""How well the columns of chosen rows fit those of the whole table, each column by itself (P1, section 7.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import FishernetError
from fishernet.select.starts import checked_rows
from fishernet.table import Table


def chi_square_criterion(table: Table, indices: npt.ArrayLike) -> float:
    """Return minus the sum of the log p-values of the variables' chi-square tests.

    Observed are the counts of the chosen rows, expected those of the whole table scaled to as many rows. The degrees
    of freedom are the states that occur in the whole table, less one; with none, p is 1.

    Parameters
    ----------
    table : Table
        Rows count by their weights in what is expected; the chosen rows count once.
    indices : (k,) array of int
        The chosen rows.

    Returns
    -------
    float
        Smaller is better; 0 is a perfect fit. Finite however bad the fit, unless a chosen row has a state that only
        rows of weight 0 have.

    Raises
    ------
    FishernetError
        When an index is out of range or comes twice, or there is none.
    MissingValueError
        When a cell is missing.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_frame({"a": ["x", "y"] * 50})
    >>> fn.select.chi_square_criterion(table, [0, 1, 2, 3])
    0.0
    >>> round(fn.select.chi_square_criterion(table, [0, 2, 4, 6]), 3)  # -log P(chi-square with 1 dof > 4)
    3.09
    """
    rows = checked_rows(indices, table.n_rows)
    if not len(rows):
        raise FishernetError("the criterion needs at least one chosen row")
    table.require_complete("the chi-square criterion")
    statistics, freedom = [], []
    for variable, codes in zip(table.variables, table.codes, strict=True):
        whole = np.bincount(codes, weights=table.weights, minlength=variable.cardinality)
        expected = whole * (len(rows) / whole.sum()) if whole.sum() else whole
        observed = np.bincount(codes[rows], minlength=variable.cardinality)
        occurs = expected > 0
        off = np.where(occurs, observed - expected, 0.0)
        statistic = np.sum(off**2 / np.where(occurs, expected, 1.0))
        statistics.append(np.inf if observed[~occurs].any() else statistic)
        freedom.append(int(occurs.sum()) - 1)
    tails = _core.log_chi_square_tails(np.array(statistics, dtype=np.float64), np.array(freedom, dtype=np.int64))
    return float(0.0 - tails.sum())
