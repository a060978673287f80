"""Rows at random: what every choice has to beat."""

from __future__ import annotations

import numpy as np

from fishernet import _core
from fishernet.errors import FishernetError
from fishernet.random import Seed, fixed_seed, stream_key
from fishernet.select.selection import Selection
from fishernet.table import Table


def random_subset(table: Table, k: int, seed: Seed = None) -> Selection:
    """Choose rows at random, each at most once.

    Parameters
    ----------
    table : Table
    k : int
        How many rows, from 1 to the number of rows.
    seed : None, int or numpy.random.Generator

    Returns
    -------
    Selection
        Its `distance` is NaN: nothing was measured.

    Raises
    ------
    FishernetError
        When k is out of range.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(100, seed=1)
    >>> len(fn.select.random_subset(table, 10, seed=1).indices)
    10
    """
    k = checked_size(k, table.n_rows)
    number = fixed_seed(seed)
    rows = _core.draw_subset(table.n_rows, k, stream_key(number), 0)
    return Selection(
        indices=rows,
        distance=float("nan"),
        trace=np.zeros(0),
        sweeps=0,
        criterion="random",
        seed=number,
        table=table,
        kernel=None,
    )


def checked_size(k: object, n_rows: int) -> int:
    """Return the number of rows to choose.

    Raises
    ------
    FishernetError
        When it is no integer from 1 to the number of rows.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise FishernetError(f"the number of rows to choose must be an integer, got {k!r}")
    if not 1 <= k <= n_rows:
        raise FishernetError(f"the number of rows to choose must be from 1 to {n_rows:,} (the table's rows), got {k}")
    return int(k)
