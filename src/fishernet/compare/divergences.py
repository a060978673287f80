"""Divergences between distributions (P2, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.compare.distribution import Distribution, checked_array, common_variables, numbered
from fishernet.errors import FishernetError, SchemaError
from fishernet.models import BayesianNetwork, DependencyNetwork
from fishernet.models.pseudo_gibbs import Weights
from fishernet.table import Table, Variable
from fishernet.table.variable import positions

Array = npt.NDArray[np.float64]


def kl(p: Any, q: Any) -> float:
    """Return the Kullback-Leibler divergence ``sum p log(p / q)``.

    Parameters
    ----------
    p, q : array, Table or BayesianNetwork
        An array has one axis a variable; a table stands for its empirical distribution. With a network on one side
        tables are matched to it by names and labels, and no array of all states is made for q.

    Returns
    -------
    float
        In nats; inf where p has states that q deems impossible.

    Raises
    ------
    SchemaError
        When one is no distribution, or they are over different variables.

    Examples
    --------
    >>> import fishernet as fn
    >>> round(fn.compare.kl([0.5, 0.5], [0.9, 0.1]), 4)
    0.5108
    """
    variables = common_variables(p, q)
    of = Distribution.of(p, variables)
    return float(of.probabilities @ (np.log(of.probabilities) - _log_at(q, of, variables)))


def full_conditional_divergence(p: Any, q: Any, weights: Weights = None) -> float:
    """Return ``FC(p || q) = sum_i c_i <log p(x_i | x_-i) / q(x_i | x_-i)>`` under p (P2, Eq. 13).

    Parameters
    ----------
    p, q : array, Table or BayesianNetwork
        As for `kl`.
    weights : (n_variables,) array or mapping from name to number, optional
        The c_i, summing to 1; equal ones, when not said.

    Returns
    -------
    float
        In nats; 0 does not mean p = q where probabilities are 0.

    Examples
    --------
    >>> import fishernet as fn
    >>> p, q = [[0.4, 0.1], [0.1, 0.4]], [[0.25, 0.25], [0.25, 0.25]]
    >>> round(fn.compare.full_conditional_divergence(p, q), 4)
    0.1927
    """
    variables = common_variables(p, q)
    of = Distribution.of(p, variables)
    shares = checked_shares(weights, len(of.shape), variables)
    other = _log_conditionals_at(q, of, variables)
    total = 0.0
    for v, share in enumerate(shares):
        if share > 0:
            total += float(share * (of.probabilities @ (of.log_conditional(v) - other[:, v])))
    return total


def checked_shares(weights: Any, n: int, variables: Sequence[Variable] | None) -> Array:
    """Return one weight a variable, summing to 1; a mapping from names where the variables are known.

    Raises
    ------
    FishernetError
        When they are no probabilities.
    """
    if weights is None:
        return np.full(n, 1 / n) if n else np.zeros(0)
    if isinstance(weights, Mapping):
        if variables is None:
            raise FishernetError("weights by name need distributions with names; give one number a variable")
        names = [variable.name for variable in variables]
        positions(names, weights)
        weights = [weights.get(name, 0.0) for name in names]
    array = np.array(weights, dtype=np.float64)
    if array.shape != (n,) or not np.isfinite(array).all() or (array < 0).any() or abs(array.sum() - 1) > 1e-9:
        raise FishernetError(f"weights must be {n} non-negative numbers that sum to 1, got {array!r}")
    return array


def _log_at(q: Any, of: Distribution, variables: Sequence[Variable] | None) -> Array:
    """Return log q at the states of a distribution."""
    if isinstance(q, BayesianNetwork):
        return q.log_prob(of.table(q.variables))
    with np.errstate(divide="ignore"):
        if isinstance(q, Table):
            return np.log(_probabilities_at(Distribution.of(q, variables), of))
        return np.asarray(np.log(_same_shape(checked_array(q), of)[tuple(of.codes.T)]))


def _log_conditionals_at(q: Any, of: Distribution, variables: Sequence[Variable] | None) -> Array:
    """Return log q(x_i | x_-i) at the states of a distribution, (n_states, n_variables)."""
    n = len(of.shape)
    if isinstance(q, BayesianNetwork):
        return DependencyNetwork.from_joint(q, allow_zeros=True).log_prob_terms(of.table(q.variables))
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(q, Table):
            other = Distribution.of(q, variables)
            at = _probabilities_at(other, of)
            rest = [_rest_at(other, of, v) for v in range(n)]
        else:
            array = _same_shape(checked_array(q), of)
            index = tuple(of.codes.T)
            at = array[index]
            rest = [np.broadcast_to(array.sum(axis=v, keepdims=True), array.shape)[index] for v in range(n)]
        columns = [np.where(at > 0, np.log(at) - np.log(total), -np.inf) for total in rest]
    return np.stack(columns, axis=1) if columns else np.zeros((len(at), 0))


def _probabilities_at(other: Distribution, of: Distribution) -> Array:
    """Return another distribution's probabilities at the states of one."""
    _same_shape(other, of)
    kind, _ = numbered(np.concatenate([of.codes, other.codes]), of.shape)
    sums = np.bincount(kind[len(of.codes) :], weights=other.probabilities, minlength=int(kind.max()) + 1)
    return np.asarray(sums[kind[: len(of.codes)]])


def _rest_at(other: Distribution, of: Distribution, variable: int) -> Array:
    """Return another distribution's probabilities of all variables but one at the states of one."""
    shape = [r for v, r in enumerate(of.shape) if v != variable]
    both = np.delete(np.concatenate([of.codes, other.codes]), variable, axis=1)
    kind, _ = numbered(both, shape)
    sums = np.bincount(kind[len(of.codes) :], weights=other.probabilities, minlength=int(kind.max()) + 1)
    return np.asarray(sums[kind[: len(of.codes)]])


def _same_shape(q: Any, of: Distribution) -> Any:
    if tuple(q.shape) != of.shape:
        raise SchemaError(f"the distributions are over {of.shape} and {tuple(q.shape)} states")
    return q
