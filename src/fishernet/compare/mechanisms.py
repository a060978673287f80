"""The Kullback-Leibler divergence of two networks over one graph, conditional by conditional.

By the chain rule ``KL(p || q) = sum_i E_p[KL(p(x_i | parents) || q(x_i | parents))]``: each variable carries the nats
by which its own conditional differs, averaged over its parents' configurations under p.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.infer.factors import parent_marginals
from fishernet.models import BayesianNetwork

Array = npt.NDArray[np.float64]


def nats_by_configuration(p: BayesianNetwork, q: BayesianNetwork) -> list[Array]:
    """Return what each configuration of each variable's parents adds to KL(p || q), (configurations,) each.

    The networks have one graph. Of a variable that is a number there is one entry. inf where q deems impossible what p
    does not.
    """
    if p.variables and all(variable.is_continuous for variable in p.variables):
        return [np.array([_of_regressions(p, q, v)]) for v in range(len(p.variables))]
    found = []
    for v, of_parents in enumerate(parent_marginals(p)):
        apart = divergences(*(rows_of_table(net.conditionals[v]) for net in (p, q)))
        found.append(of_parents * np.where(of_parents > 0, apart, 0.0))  # what never occurs adds nothing, inf or not
    return found


def rows_of_table(conditional: Any) -> Array:
    """Return the probabilities of each configuration, (configurations, states)."""
    table: Array = conditional.table()
    return table.reshape(-1, table.shape[-1])


def divergences(p: Array, q: Array) -> Array:
    """Return KL(p || q) of distributions on the last axis; 0 log 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
    return np.asarray(np.maximum(terms.sum(axis=-1), 0.0))


def _of_regressions(p: BayesianNetwork, q: BayesianNetwork, v: int) -> float:
    """Return E_p[KL] of two linear-Gaussian conditionals with the same parents."""
    (intercept, slopes, sd), (other_intercept, other_slopes, other_sd) = (
        net.conditionals[v].as_regression() for net in (p, q)
    )
    at = list(p.conditionals[v].parents)
    mean, covariance = p.mean[at], p.covariance[np.ix_(at, at)]
    shift, turn = intercept - other_intercept, slopes - other_slopes
    apart = float((shift + turn @ mean) ** 2 + turn @ covariance @ turn)
    return max(math.log(other_sd / sd) + (sd**2 + apart) / (2 * other_sd**2) - 0.5, 0.0)


def marginals(net: BayesianNetwork) -> list[Array]:
    """Return the distribution of each variable alone: the probabilities of its states, or its mean and variance."""
    if net.variables and all(variable.is_continuous for variable in net.variables):
        return list(np.stack([net.mean, np.diag(net.covariance)], axis=1))
    found = parent_marginals(net)
    return [of_parents @ rows_of_table(c) for of_parents, c in zip(found, net.conditionals, strict=True)]
