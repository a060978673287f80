"""Where pseudo-Gibbs sampling can end: full-conditional manifolds (Takabatake and Akaho, section 3).

E(theta_i) is the set of distributions whose full conditional of variable i is theta_i. An update of i projects a
distribution on it (Theorem 2), and the stationary distribution of a random scan is near every distribution that is near
all of them (Theorem 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.display import Brief
from fishernet.base.errors import SchemaError
from fishernet.base.names import positions
from fishernet.compare.divergences import (
    Distribution,
    checked_array,
    checked_shares,
    full_conditional_divergence,
    on_axes,
)
from fishernet.data.frames.rows import held
from fishernet.infer import stationary
from fishernet.infer.pseudo_gibbs import is_sampled
from fishernet.models import DependencyNetwork

Array = npt.NDArray[np.float64]


def kl_to_manifold(p: Any, dn: DependencyNetwork, variable: str) -> float:
    """Return ``KL(p || E(theta_i)) = <log p(x_i | x_-i) / theta_i(x_i | y_i)>`` under p.

    For the conditionals that fit p best it is ``H(X_i | Y_i) - H(X_i | X_-i)`` [1]_.

    Parameters
    ----------
    p : array, Table, data frame or BayesianNetwork
        An array has one axis a variable; a table stands for its empirical distribution.
    dn : DependencyNetwork
    variable : str
        The name of variable i.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    SchemaError
        When p is no distribution over the network's variables.

    References
    ----------
    .. [1] K. Takabatake and S. Akaho, "Reconsidering dependency networks from an information geometry perspective",
       Eq. 19.
    """
    _check_network(dn)
    v = positions(dn.names, [variable])[0]
    of = Distribution.of(p, dn.variables)
    terms = dn.log_prob_terms(of.table(dn.variables))[:, v]
    return float(of.probabilities @ (of.log_conditional(v) - terms))


def project_on_manifold(p: npt.ArrayLike, dn: DependencyNetwork, variable: str) -> Array:
    """Return what an update of one variable makes of a distribution: its m-projection on E(theta_i) [1]_.

    Parameters
    ----------
    p : array, one axis a variable
    dn : DependencyNetwork
    variable : str
        The name of variable i.

    Returns
    -------
    array, one axis a variable
        ``p(x_-i) theta_i(x_i | y_i)``.

    References
    ----------
    .. [1] K. Takabatake and S. Akaho, "Reconsidering dependency networks from an information geometry perspective",
       Theorem 2.

    Examples
    --------
    >>> import fishernet as fn
    >>> a, b = fn.Variable("a", ["no", "yes"]), fn.Variable("b", ["no", "yes"])
    >>> copy = [[0.9, 0.1], [0.1, 0.9]]
    >>> dn = fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, {"a": copy, "b": copy})
    >>> fn.compare.project_on_manifold([[0.25, 0.25], [0.25, 0.25]], dn, "a")
    array([[0.45, 0.05],
           [0.05, 0.45]])
    """
    _check_network(dn)
    v = positions(dn.names, [variable])[0]
    array = checked_array(p)
    shape = tuple(variable.cardinality for variable in dn.variables)
    if array.shape != shape:
        raise SchemaError(f"p must have one axis a variable, {shape}, got {array.shape}")
    return np.asarray(array.sum(axis=v, keepdims=True) * on_axes(dn.conditionals[v], shape))


@dataclass(frozen=True, slots=True, repr=False)
class StationaryDivergence(Brief):
    """How far a distribution is from where a random scan ends, and its bound (Takabatake and Akaho, Theorem 3)."""

    divergence: float
    """FC(p || pi), the full-conditional divergence from p to the stationary distribution, in nats."""
    bound: float
    """The weighted sum of KL(p || E(theta_i)), which it does not exceed, in nats."""
    by_variable: dict[str, float]
    """KL(p || E(theta_i)) of each variable, in nats."""


def stationary_divergence(p: Any, dn: DependencyNetwork, weights: Any = None) -> StationaryDivergence:
    """Return how far p is from where a random scan ends, and what bounds that (Takabatake and Akaho, Theorem 3).

    Parameters
    ----------
    p : array, Table, data frame or BayesianNetwork
    dn : DependencyNetwork
        Small enough for `fishernet.infer.stationary`.
    weights : (n_variables,) array, optional
        How probable the update of each variable is, summing to 1.

    Returns
    -------
    StationaryDivergence
    """
    _check_network(dn)
    shares = checked_shares(weights, len(dn.variables), dn.variables)
    pi = stationary(dn, weights=None if weights is None else shares)
    p = held(p)  # it is gone through more than once
    by_variable = {name: kl_to_manifold(p, dn, name) for name in dn.names}
    right = float(sum(share * value for share, value in zip(shares, by_variable.values(), strict=True)))
    of = Distribution.of(p, dn.variables)
    dense = np.zeros(of.shape)
    dense[tuple(of.codes.T)] = of.probabilities
    return StationaryDivergence(
        full_conditional_divergence(dense, pi, None if weights is None else shares), right, by_variable
    )


def inconsistency_of_conditionals(dn: DependencyNetwork, weights: Any = None) -> float:
    """Return how far a network's conditionals are from those of one joint distribution.

    Parameters
    ----------
    dn : DependencyNetwork
        Small enough for `fishernet.infer.stationary`.
    weights : (n_variables,) array, optional
        The c_i, summing to 1.

    Returns
    -------
    float
        The weighted sum of KL(pi || E(theta_i)) at the stationary distribution pi, in nats. It is 0 if and only if a
        joint distribution with these full conditionals exists.

    Examples
    --------
    >>> import fishernet as fn
    >>> a, b = fn.Variable("a", ["no", "yes"]), fn.Variable("b", ["no", "yes"])
    >>> copy, flip = [[0.9, 0.1], [0.1, 0.9]], [[0.4, 0.6], [0.6, 0.4]]
    >>> odd = fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, {"a": copy, "b": flip})
    >>> fn.compare.inconsistency_of_conditionals(odd) > 0.1
    True
    """
    _check_network(dn)
    shares = checked_shares(weights, len(dn.variables), dn.variables)
    pi = stationary(dn, weights=None if weights is None else shares)
    return float(sum(share * kl_to_manifold(pi, dn, name) for share, name in zip(shares, dn.names, strict=True)))


def _check_network(dn: object) -> None:
    if not is_sampled(dn):
        raise SchemaError(f"full-conditional manifolds are of a DependencyNetwork, not of {type(dn).__name__}")
