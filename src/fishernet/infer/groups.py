"""P1's P(pi_i = j): how probable each group of configurations of a variable's parents is."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError, StateSpaceError
from fishernet.infer.findings import checked_limit, network_of
from fishernet.models import BayesianNetwork
from fishernet.models.factors import MAX_TABLE, parent_marginals, sum_by_group
from fishernet.random import Seed, generator

Array = npt.NDArray[np.float64]

CELLS_AT_ONCE = 2**22  # of sampled rows: what a cache holds
FEWEST_ROWS = 2**13  # sampled at once: two blocks, for two threads
METHODS = ("auto", "tree", "elimination", "sample")


def group_probabilities(
    net: BayesianNetwork,
    *,
    method: str = "auto",
    n_samples: int = 1_000_000,
    seed: Seed = None,
    max_table: int = MAX_TABLE,
) -> list[Array]:
    """Return the probability of every group of every conditional.

    Parameters
    ----------
    net : BayesianNetwork
    method : {"auto", "tree", "elimination", "sample"}
        One junction tree, one elimination a family in its ancestral graph, or sampled rows. "auto" takes the cheapest
        exact plan (also a mixture of trees and eliminations) while its tables fit, and samples otherwise.
    n_samples : int
        Rows to sample, where that is done.
    seed : None, int or numpy.random.Generator
        For the sampling.
    max_table : int
        How many cells (8 bytes each) the tables of an exact plan held at once may have.

    Returns
    -------
    list of (groups,) arrays, one a variable
        Exact ones sum to 1. Sampled ones are ``(count + 1) / (n_samples + configurations)``, so that none is 0 [1]_.

    Raises
    ------
    StateSpaceError
        When "tree" or "elimination" was asked for and its tables do not fit.
    SchemaError
        When the method is none of these, or the number of samples is not positive.

    References
    ----------
    .. [1] P1, section 7.1.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.infer.group_probabilities(asia)[asia.names.index("dysp")].round(4)
    array([0.0359, 0.4141, 0.029 , 0.521 ])
    """
    net = network_of(net)
    limit = checked_limit(max_table)
    if method not in METHODS:
        raise SchemaError(f"unknown method {method!r}; known are {', '.join(map(repr, METHODS))}")
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise SchemaError(f"n_samples must be a positive integer, got {n_samples!r}")
    if method != "sample":
        cardinalities = [variable.cardinality for variable in net.variables]
        try:
            of_parents = parent_marginals(net.factors, cardinalities, method=method, max_table=limit)
            return [sum_by_group(c, p) for c, p in zip(net.conditionals, of_parents, strict=True)]
        except StateSpaceError:
            if method != "auto":
                raise
    return _sampled(net, int(n_samples), seed)


def _sampled(net: BayesianNetwork, n_samples: int, seed: Seed) -> list[Array]:
    """Return the groups' shares of sampled rows with a count of one added to every configuration."""
    random = generator(seed)
    counts = np.zeros(sum(c.probabilities.size for c in net.conditionals))
    at_once = max(FEWEST_ROWS, CELLS_AT_ONCE // max(1, len(net.variables)))
    for first in range(0, n_samples, at_once):
        rows = net.sample(min(at_once, n_samples - first), seed=random)
        counts += net.flat.cells(rows.native).counts(None)
    shares = []
    first = 0
    for conditional in net.conditionals:
        shape = conditional.probabilities.shape
        of_groups = counts[first : first + math.prod(shape)].reshape(shape).sum(axis=1)
        group_of = conditional.flat()[1]
        sizes = np.ones(shape[0]) if group_of is None else np.bincount(group_of, minlength=shape[0])
        shares.append((of_groups + sizes) / (n_samples + sizes.sum()))
        first += math.prod(shape)
    return shares
