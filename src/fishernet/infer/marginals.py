"""Marginals by the cheapest exact plan for one question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import SchemaError
from fishernet.infer.estimates import estimate
from fishernet.infer.findings import Findings, Given, Likelihood, Model, checked_limit, impossible, model_of, network_of
from fishernet.models import BayesianNetwork, DependencyNetwork, MarkovNetwork
from fishernet.models.factors import MAX_TABLE, check_held, parent_marginals
from fishernet.table.variable import check_names, positions

Array = npt.NDArray[np.float64]

MOST_AXES = 32  # of an array of NumPy 1


def marginal(
    model: Model | DependencyNetwork,
    names: Iterable[str],
    *,
    given: Given = None,
    likelihood: Likelihood = None,
    max_table: int = MAX_TABLE,
    **chains: Any,
) -> Array:
    """Return the joint probabilities of some variables, given what is known.

    Exact for Bayesian and Markov networks; of a Bayesian network only the ancestors of what is asked and of what is
    known are looked at. For a dependency network by pseudo-Gibbs sampling: `estimate` also says its Monte Carlo error.

    Parameters
    ----------
    model : BayesianNetwork, MarkovNetwork or DependencyNetwork
    names : iterable of str
        The variables, each once.
    given : mapping from name to state, optional
        What is known. A variable that is also asked for has all its mass at its state.
    likelihood : mapping from name to (r,) array, optional
        Soft evidence: how well each state explains what was seen of the variable; only ratios matter.
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.
    **chains
        For a dependency network, what `estimate` takes: n, chains, scan, weights, burn_in, thin, seed.

    Returns
    -------
    array, one axis a name, in their order
        Sums to 1.

    Raises
    ------
    SchemaError, UnknownStateError
        When a name or a state is not the network's.
    ZeroProbabilityError
        When what is given has probability 0.
    StateSpaceError
        When a table would be too large; nothing has been allocated then.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.infer.marginal(asia, ["lung"], given={"xray": "yes"}).round(4)
    array([0.4887, 0.5113])
    >>> fn.infer.marginal(asia, ["lung", "bronc"], likelihood={"dysp": [2, 1]}).shape
    (2, 2)
    """
    asked = [names] if isinstance(names, str) else list(names)
    if isinstance(model, DependencyNetwork):
        if likelihood is not None:
            raise SchemaError("a dependency network takes no soft evidence")
        return estimate(model, asked, given=given, **chains).probabilities
    if chains:
        raise SchemaError(f"{', '.join(map(repr, chains))} are options of sampling; this marginal is exact")
    net = model_of(model)
    limit = checked_limit(max_table)
    check_names(asked)
    findings = Findings.of(net.variables, given, likelihood)
    where = positions(net.names, asked)
    check_answer(net, where, limit)
    return joint_of_query(net, where, findings, given, limit)


def family_marginals(
    net: BayesianNetwork, *, given: Given = None, likelihood: Likelihood = None, max_table: int = MAX_TABLE
) -> list[Array]:
    """Return the joint probabilities of every variable and its parents, by the cheapest exact plan.

    That is one junction tree, some trees of parts of the graph, or one elimination a family: where a network has
    many barren descendants, the last can be thousands of times cheaper than the first.

    Parameters
    ----------
    net : BayesianNetwork
    given : mapping from name to state, optional
    likelihood : mapping from name to (r,) array, optional
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    list of arrays, one a variable
        One axis a parent, in the order of its conditional, and the variable's own axis last; each sums to 1.

    Raises
    ------
    SchemaError, UnknownStateError, ZeroProbabilityError, StateSpaceError
        As `marginal`.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.infer.family_marginals(asia)[asia.names.index("xray")].round(4)
    array([[0.0635, 0.0013],
           [0.0468, 0.8884]])
    """
    net = network_of(net)
    limit = checked_limit(max_table)
    findings = Findings.of(net.variables, given, likelihood)
    cardinalities = [variable.cardinality for variable in net.variables]
    families = [(*c.parents, c.child) for c in net.conditionals]
    if findings.empty:
        largest = max((math.prod(cardinalities[v] for v in family) for family in families), default=0)
        check_held(largest, limit, "the marginal of a family")
        tables = parent_marginals(net.factors, cardinalities, max_table=limit)
        return [
            p.reshape([*(cardinalities[v] for v in c.parents), 1]) * c.table()
            for c, p in zip(net.conditionals, tables, strict=True)
        ]
    plan = _core.FamilyPlan(net.factors, findings.observed, findings.soft, "auto", limit)
    check_held(plan.cells_held, limit, "the tables for the marginals of the families")
    tables = plan.run(findings.states, findings.likelihoods)
    if not tables:
        raise impossible(given)
    families = [(*c.parents, c.child) for c in net.conditionals]
    return [with_observed_axes(net, family, findings, table) for family, table in zip(families, tables, strict=True)]


def log_partition(network: MarkovNetwork, *, max_table: int = MAX_TABLE) -> float:
    """Return the logarithm of a Markov network's partition function, the sum of its potentials over all states.

    Parameters
    ----------
    network : MarkovNetwork
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    StateSpaceError
        When the tables would have more.

    Examples
    --------
    >>> import fishernet as fn
    >>> a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    >>> pair = fn.MarkovNetwork([a, b], [(("a", "b"), [[2.0, 1.0], [1.0, 2.0]])])
    >>> round(fn.infer.log_partition(pair), 6)  # log 6
    1.791759
    """
    if not isinstance(network, MarkovNetwork):
        raise SchemaError(f"a partition function is of a MarkovNetwork, not of {type(network).__name__}")
    return _log_sum(network, Findings.of(network.variables, None, None), checked_limit(max_table))


def log_evidence(
    net: Model, given: Given = None, *, likelihood: Likelihood = None, max_table: int = MAX_TABLE
) -> float:
    """Return the log-probability of what is known.

    Parameters
    ----------
    net : BayesianNetwork or MarkovNetwork
    given : mapping from name to state, optional
    likelihood : mapping from name to (r,) array, optional
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    float
        In nats; -inf when it is impossible. With soft evidence: the logarithm of the expected product of the
        likelihoods where the rest is as given.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> round(fn.infer.log_evidence(asia, {"smoke": "yes", "bronc": "no"}), 6)
    -1.609438
    """
    net = model_of(net)
    limit = checked_limit(max_table)
    total = _log_sum(net, Findings.of(net.variables, given, likelihood), limit)
    return total - log_partition(net, max_table=limit) if isinstance(net, MarkovNetwork) else total


def _log_sum(net: Model, findings: Findings, limit: int) -> float:
    """Return the logarithm of the sum of a model's products over all states that agree with the findings."""
    plan = _core.Inference(net.factors, findings.observed, findings.soft, [], False, limit)
    check_held(plan.cells_held, limit, "a table of the elimination")
    return plan.run(findings.states, findings.likelihoods)[1]


def check_answer(net: Model, where: Sequence[int], limit: int) -> None:
    """Raise before a joint table of some variables is made that would be too large, or have too many axes."""
    if len(where) > MOST_AXES:
        raise SchemaError(f"a joint table of {len(where)} variables has too many axes; ask for at most {MOST_AXES}")
    check_held(math.prod(net.variables[v].cardinality for v in where), limit, "the joint table")


def joint_of_query(net: Model, where: Sequence[int], findings: Findings, given: Given, limit: int) -> Array:
    """Return the joint of some variables, given what is known, by one elimination."""
    free = [v for v in where if v not in findings.observed]
    plan = _core.Inference(net.factors, findings.observed, findings.soft, [free], False, limit)
    check_held(plan.cells_held, limit, "a table of the elimination")
    tables, log_probability = plan.run(findings.states, findings.likelihoods)
    if np.isneginf(log_probability):
        raise impossible(given)
    return with_observed_axes(net, where, findings, tables[0])


def with_observed_axes(net: Model, where: Sequence[int], findings: Findings, table: Array) -> Array:
    """Give the observed among some variables their axes in a table of the others, all mass at the state observed."""
    cardinalities = [net.variables[v].cardinality for v in where]
    whole = np.zeros(cardinalities)
    index = tuple(int(findings.states[v]) if v in findings.observed else slice(None) for v in where)
    whole[index] = table.reshape([r for r, v in zip(cardinalities, where, strict=True) if v not in findings.observed])
    return whole
