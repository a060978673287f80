"""What the numbers among a regression's parents are in each configuration of their labels: P(j), means, covariances."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np

from fishernet.base.errors import StateSpaceError
from fishernet.data import Table
from fishernet.infer.factors import Array
from fishernet.infer.mixed import MixedNetwork, Regression, gap_around, shares

MOST_CELLS = 2**20  # of labels, over which moments of numbers are held
SAMPLED_ROWS = 2**17  # where there are more
SEED = 0


class ParentMoments(NamedTuple):
    """What the information of a regression has to know of the parents, in each configuration of their labels."""

    probabilities: Array
    """(q,) that of each configuration; they sum to 1."""
    mean: Array
    """(q, m) the mean of the parents that are numbers; 0 where the probability is."""
    covariance: Array
    """(q, m, m) their covariance."""


def moments_of_parents(net: MixedNetwork) -> list[ParentMoments | None]:
    """Return what each regression's parents are in the network, None for variables with labels.

    Exactly, by strong elimination, while the labels on which a family's numbers depend have at most 2^20 joint states;
    otherwise of rows that the network draws.
    """
    drawn: Table | None = None
    found: list[ParentMoments | None] = []
    for v, variable in enumerate(net.variables):
        if not variable.is_continuous:
            found.append(None)
            continue
        regression = cast(Regression, net.conditionals[v])
        try:
            found.append(_exact(net, regression))
        except StateSpaceError:
            drawn = cast(Any, net).sample(SAMPLED_ROWS, seed=SEED) if drawn is None else drawn
            found.append(_of_rows(drawn, regression, regression.sd.shape))
    return found


def _exact(net: MixedNetwork, regression: Regression) -> ParentMoments:
    labels, numbers = regression.label_parents, regression.number_parents
    parents = [*labels, *numbers]
    if not parents:
        return ParentMoments(np.ones(1), np.zeros((1, 0)), np.zeros((1, 0, 0)))
    gap = gap_around(net, (), parents, MOST_CELLS)
    nothing = np.zeros((1, len(net.variables))), np.zeros(1, dtype=np.int64)
    scope = gap.mixture_scope(numbers, labels)
    log_weights, mean, covariance = gap.mixture(*nothing, numbers, labels)
    weights, mean, covariance = shares(log_weights)[0], mean[0], covariance[0]
    first = [scope.index(v) for v in labels]
    rest = [axis for axis in range(len(scope)) if axis not in first]
    k, q, m = len(scope), math.prod(regression.sd.shape), len(numbers)
    w = weights.transpose(*first, *rest).reshape(q, weights.size // q)
    means = mean.transpose(*first, *rest, k).reshape(*w.shape, m)
    within = covariance.transpose(*first, *rest, k, k + 1).reshape(*w.shape, m, m)
    share = w.sum(axis=1)
    of = np.divide(w, share[:, None], out=np.zeros_like(w), where=share[:, None] > 0)
    centre = np.einsum("qs,qsi->qi", of, means)
    apart = means - centre[:, None]
    spread = np.einsum("qs,qsij->qij", of, within) + np.einsum("qs,qsi,qsj->qij", of, apart, apart)
    return ParentMoments(share, centre, spread)


def _of_rows(rows: Table, regression: Regression, shape: tuple[int, ...]) -> ParentMoments:
    """Return the moments of drawn rows; a configuration without one has a share of one row, and those of all."""
    q, m = math.prod(shape), len(regression.number_parents)
    codes = [rows.codes[v].astype(np.int64) for v in regression.label_parents]
    at = np.ravel_multi_index(codes, shape) if codes else np.zeros(rows.n_rows, dtype=np.int64)
    z = np.zeros((rows.n_rows, m))
    for place, v in enumerate(regression.number_parents):
        z[:, place] = rows.variables[v].scaled(rows.codes[v])
    finite = np.isfinite(z).all(axis=1)  # a number far out on its scale may be too large for its own unit
    at, z = at[finite], z[finite]
    n = np.bincount(at, minlength=q).astype(np.float64)
    centre, spread = np.tile(z.mean(axis=0), (q, 1)), np.tile(np.atleast_2d(np.cov(z.T, bias=True)), (q, 1, 1))
    for j in np.flatnonzero(n):
        own = z[at == j]
        centre[j] = own.mean(axis=0)
        spread[j] = (own - centre[j]).T @ (own - centre[j]) / len(own)
    share = (n + 1) / (n.sum() + q)
    return ParentMoments(share, centre, spread[:, :m, :m])
