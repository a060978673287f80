"""Estimates by weighted rows, for networks whose tables are too large to be exact with (likelihood weighting [1]_).

What is given is set, rows are drawn from what is left of the network, and each counts by how probable it makes what is
given. The distribution of one variable is, of each row, that given all others (Rao and Blackwell), not the state drawn.

References
----------
.. [1] R. Fung and K.-C. Chang, "Weighing and integrating evidence for stochastic simulation in Bayesian networks",
   1990; R. D. Shachter and M. A. Peot, "Simulation approaches to general probabilistic inference on belief networks",
   1990.
.. [2] A. Agresti and B. A. Coull, "Approximate is better than 'exact' for interval estimation of binomial
   proportions", 1998.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError
from fishernet.base.names import several
from fishernet.data import Table
from fishernet.data.variable import State
from fishernet.infer.evidence import Evidence
from fishernet.infer.factors import Array

BLOCK, MOST_SHARES = 2**12, 2**22  # rows at a time, and the shares that they may have


def weighted_shares(
    net: Any, where: Sequence[int], given: Mapping[str, State] | None, n: int, seed: int
) -> tuple[Array, Array, float]:
    """Return the probability of every cell of some variables, flat, its standard error, and what the rows are worth.

    That is the number of rows of equal weights that would be as sure, ``sum(w)^2 / sum(w^2)``.
    """
    observed = Evidence.of(net.variables, given, None)
    codes = {v: int(observed.states[v]) for v in observed.observed}
    set_apart = net.intervened(codes) if codes else net
    top, sums = -math.inf, [0.0] * 5  # of w, w f, w^2, w^2 f, w^2 f^2, over rows with weights up to exp(top)
    for block, size in enumerate(_sizes(net, where, codes, n)):
        rows = set_apart.sample(size, seed=np.random.default_rng([seed, block]))
        logs = np.zeros(size)
        for v in codes:
            with np.errstate(divide="ignore"):
                logs += net.conditionals[v].log_prob(rows)
        most = float(logs.max(initial=-math.inf))
        if most == -math.inf:
            continue
        if most > top:
            sums = [of * math.exp((top - most) * power) for of, power in zip(sums, (1, 1, 2, 2, 2), strict=True)]
            top = most
        weights = np.exp(logs - top)
        counting = np.flatnonzero(weights)
        added = _sums(net, where, codes, rows[counting], weights[counting])
        sums = [of + more for of, more in zip(sums, added, strict=True)]
    total, of_cells, squared, squared_of_cells, squares_of_cells = sums
    if not total:
        raise FishernetError(
            f"none of {several(n, 'row')} agrees with what is given: it is impossible or too rare for weighted rows; "
            "ask for more (n=), or give less",
            parameter="n",
        )
    found: Array = np.asarray(of_cells / total)
    spread = np.maximum(0, squares_of_cells - 2 * found * squared_of_cells + found**2 * squared)
    worth = float(total**2 / squared)
    errors: Array = np.sqrt(spread) / total
    if not _is_averaged(where, codes):  # a cell that few rows have, or none, is not as sure as they say [2]_
        apart = (worth * found + 2) / (worth + 4)
        errors = np.maximum(errors, np.sqrt(apart * (1 - apart) / (worth + 4)))
    return found, errors, worth


def _sizes(net: Any, where: Sequence[int], codes: Mapping[int, int], n: int) -> Iterator[int]:
    """Return how many rows are drawn at a time."""
    shares = net.variables[where[0]].cardinality if _is_averaged(where, codes) else 1
    most = max(1, min(BLOCK, MOST_SHARES // shares))
    for first in range(0, n, most):
        yield min(most, n - first)


def _is_averaged(where: Sequence[int], codes: Mapping[int, int]) -> bool:
    """Whether each row gives a distribution, not one state: of one variable that is not given."""
    return len(where) == 1 and where[0] not in codes


def _sums(net: Any, where: Sequence[int], codes: Mapping[int, int], rows: Table, w: Array) -> tuple[Any, ...]:
    """Return the sums over rows of w, w f, w^2, w^2 f, w^2 f^2; f is what a row says of each cell."""
    if _is_averaged(where, codes):
        f = _given_others(net, where[0], rows)
        return w.sum(), w @ f, w @ w, w**2 @ f, w**2 @ f**2
    shape = tuple(net.variables[v].cardinality for v in where)
    cells = cells_of_rows(rows, where, shape)  # of which f is 1
    of_cells, squared = (np.bincount(cells, of, math.prod(shape)) for of in (w, w**2))
    return w.sum(), of_cells, w @ w, squared, squared


def cells_of_rows(rows: Table, where: Sequence[int], shape: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the cell of each row in a flat table of some variables, (n_rows,)."""
    cells = np.zeros(rows.n_rows, dtype=np.int64)
    for v, r in zip(where, shape, strict=True):
        cells = cells * r + rows.codes[v]
    return cells


def _given_others(net: Any, v: int, rows: Table) -> Array:
    """Return how probable each state of a variable is given all others, (n_rows, r); one is possible in each row."""
    touched = [of for of in net.conditionals if of.child == v or v in of.parents]
    variable = net.variables[v]
    logs = np.zeros((rows.n_rows, variable.cardinality))
    for state in range(variable.cardinality):
        columns = list(rows.codes)
        columns[v] = np.full(rows.n_rows, state, dtype=variable.dtype)
        with_state = Table.adopt(rows.variables, columns, n_rows=rows.n_rows)
        with np.errstate(divide="ignore"):
            logs[:, state] = sum(of.log_prob(with_state) for of in touched)
    shares: Array = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares
