"""Algorithm 1 of P1: replace the chosen rows one by one, each by the best there is, until none can be bettered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError, SchemaError
from fishernet.kernels import FisherKernel, Kernel
from fishernet.kernels.metrics import Invariant
from fishernet.progress import Progress, Reporter
from fishernet.random import Seed, fixed_seed, stream_key
from fishernet.select.random_subset import checked_size
from fishernet.select.selection import Selection
from fishernet.select.starts import checked_start
from fishernet.select.swaps import CoreSwaps, KernelSwaps, Swaps
from fishernet.table import Table

Make = Callable[[], Swaps]

AT_ONCE = 64  # positions visited between two reports


def greedy_mmd(
    kernel: Kernel,
    table: Table,
    k: int,
    *,
    start: npt.ArrayLike | None = None,
    n_starts: int = 1000,
    seed: Seed = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose the rows whose mean under a kernel is nearest to that of the whole table (P1, Algorithm 1).

    A sweep visits the chosen rows in order and replaces each by the row that brings the squared maximum mean
    discrepancy (P1, Eq. 10) furthest down, if one does; the search ends with a sweep without a replacement.

    Parameters
    ----------
    kernel : Kernel
        A Fisher kernel runs in the core, on counts; any other is asked for a row of its matrix at a time.
    table : Table
        Its rows count by their weights in what is to be matched; each can be chosen once.
    k : int
        How many rows to choose, from 1 to the number of rows.
    start : (k,) array of int, optional
        Positions of the rows to begin with, visited in that order. Without it, the best of random subsets.
    n_starts : int
        How many random subsets that is the best of.
    seed : None, int or numpy.random.Generator
        For the random subsets.
    progress : callable, optional
        ``progress(what, done, total)``, in positions visited.

    Returns
    -------
    Selection
        No exchange of one row would better it. Ties go to the lowest row, and a replacement must lower the distance
        by more than 1e-12 of its value; equal rows are interchangeable.

    Raises
    ------
    FishernetError
        When k, the start or n_starts does not fit.
    SchemaError
        When the table does not fit the kernel's model.
    ZeroProbabilityError
        When a row has probability zero under a Fisher kernel's network.

    Notes
    -----
    A sweep takes O(k N n) look-ups for N distinct rows of n variables. Nothing of size N x N is held.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> k = fn.kernels.FisherKernel(asia)
    >>> chosen = fn.select.greedy_mmd(k, table, 20, seed=1)
    >>> at_random = fn.select.random_subset(table, 20, seed=1)
    >>> bool(chosen.distance < 0.5 * fn.compare.mmd(k, table[at_random.indices], table))
    True
    """
    k = checked_size(k, table.n_rows)
    if isinstance(kernel, FisherKernel) and isinstance(kernel.rule, Invariant):
        rows = table.conform(kernel.model.variables)
        rows.require_complete("greedy_mmd")
        make: Make = partial(CoreSwaps.of_distance, kernel.rule, rows, k)
    else:
        make = partial(KernelSwaps, kernel, table, k)
    return _search(make, table, k, start, n_starts, seed, progress, criterion="mmd", kernel=kernel)


def greedy_chi_square(
    table: Table,
    k: int,
    *,
    start: npt.ArrayLike | None = None,
    n_starts: int = 1000,
    seed: Seed = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose the rows whose columns, each by itself, fit those of the whole table best (P1, section 7.1).

    The search of `greedy_mmd`, on `chi_square_criterion`.

    Parameters
    ----------
    table : Table
    k : int
        How many rows to choose, from 1 to the number of rows.
    start, n_starts, seed, progress
        As for `greedy_mmd`.

    Returns
    -------
    Selection

    Raises
    ------
    FishernetError
        When k, the start or n_starts does not fit.
    MissingValueError
        When a cell is missing.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(500, seed=1)
    >>> chosen = fn.select.greedy_chi_square(table, 20, seed=1)
    >>> bool(chosen.distance <= chosen.trace[0])
    True
    """
    k = checked_size(k, table.n_rows)
    table.require_complete("greedy_chi_square")
    if not table.variables:
        raise SchemaError("the table has no columns to fit")
    return _search(
        partial(CoreSwaps.of_chi_square, table, k), table, k, start, n_starts, seed, progress, criterion="chi-square"
    )


def _search(
    make: Make,
    table: Table,
    k: int,
    start: npt.ArrayLike | None,
    n_starts: int,
    seed: Seed,
    progress: Progress | None,
    *,
    criterion: str,
    kernel: Kernel | None = None,
) -> Selection:
    if table.weights is not None and not table.weights.sum():
        raise SchemaError("all rows have weight 0, so there is nothing to stand for")
    swaps = make()
    number: int | None = None
    if start is not None:
        swaps.set_start(checked_start(start, k, table.n_rows))
    else:
        if isinstance(n_starts, bool) or not isinstance(n_starts, int | np.integer) or not 1 <= n_starts < 2**31:
            raise FishernetError(f"n_starts must be a positive integer, got {n_starts!r}")
        number = fixed_seed(seed)
        swaps.draw_start(stream_key(number), int(n_starts))
    sweeps = _sweep_until_stable(swaps.visit, k, Reporter(progress, "choosing rows")) if k < table.n_rows else 0
    return Selection(
        indices=swaps.rows,
        distance=float(swaps.trace[-1]),
        trace=swaps.trace,
        sweeps=sweeps,
        criterion=criterion,
        seed=number,
        table=table,
        kernel=kernel,
    )


def _sweep_until_stable(visit: Callable[[int, int], int], k: int, reporter: Reporter) -> int:
    """Go through all positions until a sweep replaces nothing; return the number of sweeps."""
    sweeps = 0
    replaced = 1
    while replaced:
        replaced = 0
        for first in range(0, k, AT_ONCE):
            replaced += visit(first, min(k, first + AT_ONCE))
            reporter.step(sweeps * k + first, None)
        sweeps += 1
    reporter.finish(sweeps * k)
    return sweeps
