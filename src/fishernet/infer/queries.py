"""Exact answers to one question each, by the cheapest plan: marginals, explanations, draws, predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import check_names, positions
from fishernet.base.random import Seed, draw_count, stream_key
from fishernet.data import Table, Variable, as_table
from fishernet.data.variable import State
from fishernet.infer.evidence import Evidence, Given, Likelihood, impossible, impossible_row
from fishernet.infer.factors import (
    MAX_TABLE,
    Array,
    Model,
    Network,
    check_held,
    checked_limit,
    model_of,
    network_of,
    parent_marginals,
    planned,
)
from fishernet.infer.gibbs import estimate
from fishernet.infer.pseudo_gibbs import Sampled, is_sampled

MOST_AXES = 32  # of an array of NumPy 1

Intervened = TypeVar("Intervened", bound=Network)


def most_probable(
    net: Model, *, given: Given = None, likelihood: Likelihood = None, max_table: int = MAX_TABLE
) -> dict[str, State]:
    """Return the most probable states of all variables together, given what is known.

    These need not be the states that are most probable one by one.

    Parameters
    ----------
    net : BayesianNetwork or MarkovNetwork
    given : mapping from name to state, optional
    likelihood : mapping from name to (r,) array, optional
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    dict
        Name to state, in the network's order, with what was given. Among equally probable explanations the choice
        is always the same.

    Raises
    ------
    SchemaError, UnknownStateError, ZeroProbabilityError, StateSpaceError
        As `fishernet.infer.marginal`.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> best = fn.infer.most_probable(asia, given={"dysp": "yes"})
    >>> best["bronc"], best["lung"]
    ('yes', 'no')
    """
    net = model_of(net)
    limit = checked_limit(max_table)
    evidence = Evidence.of(net.variables, given, likelihood)
    plan = planned(net, evidence.observed, evidence.soft, [], limit, tree=True)
    codes = plan.maximize(evidence.states, evidence.likelihoods)
    if len(codes) < len(net.variables):
        raise impossible(given)
    return {variable.name: variable.states[code] for variable, code in zip(net.variables, codes, strict=True)}


def intervene(net: Intervened, states: Mapping[str, State]) -> Intervened:
    """Return the network in which some variables are set from outside (Pearl's do).

    They lose their parents and have their states with probability 1; all other conditionals stay. What is learned
    from the new network is what an experiment would show if the arcs are causes.

    Parameters
    ----------
    net : BayesianNetwork
    states : mapping from name to state

    Raises
    ------
    SchemaError, UnknownStateError
        When a name or a state is not the network's.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> seen = fn.infer.marginal(asia, ["smoke"], given={"bronc": "yes"})
    >>> done = fn.infer.marginal(fn.infer.intervene(asia, {"bronc": "yes"}), ["smoke"])
    >>> seen.round(2), done.round(2)
    (array([0.67, 0.33]), array([0.5, 0.5]))
    """
    found = network_of(net)
    if states is None:
        raise SchemaError("intervene needs a mapping from names to states")
    evidence = Evidence.of(found.variables, states, None)
    return found.intervened({v: int(evidence.states[v]) for v in evidence.observed})  # type: ignore[no-any-return]


def marginal(
    model: Model | Sampled,
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
    array, one axis per name, in their order
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
    asked = [names] if isinstance(names, str) else list(check.items(names, "names"))
    if is_sampled(model):
        if likelihood is not None:
            raise SchemaError("a dependency network takes no likelihoods; they are for exact inference")
        return estimate(model, asked, given=given, **chains).probabilities
    if chains:
        raise SchemaError(f"{', '.join(map(repr, chains))} are options of sampling; this marginal is exact")
    net = model_of(model)
    limit = checked_limit(max_table)
    check_names(asked)
    evidence = Evidence.of(net.variables, given, likelihood)
    where = positions(net.names, asked)
    check_answer(net, where, limit)
    return joint_of_query(net, where, evidence, given, limit)


def family_marginals(
    net: Network, *, given: Given = None, likelihood: Likelihood = None, max_table: int = MAX_TABLE
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
    list of arrays, one per variable
        One axis per parent, in the order of its conditional, and the variable's own axis last; each sums to 1.

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
    evidence = Evidence.of(net.variables, given, likelihood)
    cardinalities = [variable.cardinality for variable in net.variables]
    families = net.scopes
    if evidence.empty:
        largest = max((math.prod(cardinalities[v] for v in family) for family in families), default=0)
        check_held(largest, limit, "the marginal of a family")
        tables = parent_marginals(net, max_table=limit)
        return [
            p.reshape([*(cardinalities[v] for v in c.parents), 1]) * c.table()
            for c, p in zip(net.conditionals, tables, strict=True)
        ]
    plan = _core.FamilyPlan(net.factors, evidence.observed, evidence.soft, "auto", limit)
    check_held(plan.cells_held, limit, "the tables for the marginals of the families")
    tables = plan.run(evidence.states, evidence.likelihoods)
    if not tables:
        raise impossible(given)
    return [with_observed_axes(net, family, evidence, table) for family, table in zip(families, tables, strict=True)]


def log_partition(network: Model, *, max_table: int = MAX_TABLE) -> float:
    """Return the logarithm of a Markov network's partition function, the sum of its potentials over all states.

    Parameters
    ----------
    network : MarkovNetwork
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    float
        In nats; -inf when every state has a potential of zero.

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
    if getattr(network, "is_normalized", True):
        raise SchemaError(f"a partition function is of a MarkovNetwork, not of {type(network).__name__}")
    return _log_sum(network, Evidence.of(network.variables, None, None), checked_limit(max_table))


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

    Raises
    ------
    ZeroProbabilityError
        When every state of a Markov network has a potential of zero.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> round(fn.infer.log_evidence(asia, {"smoke": "yes", "bronc": "no"}), 6)
    -1.609438
    """
    net = model_of(net)
    limit = checked_limit(max_table)
    total = _log_sum(net, Evidence.of(net.variables, given, likelihood), limit)
    return log_share(net, total, limit)


def log_share(net: Model, log_sum: float, limit: int) -> float:
    """Return the logarithm of the share that some states have of a model's whole sum, which is 1 if it is normalized.

    ZeroProbabilityError when the whole sum is 0.
    """
    if net.is_normalized:
        return log_sum
    whole = log_partition(net, max_table=limit)
    if math.isinf(whole):
        raise impossible(None)
    return log_sum - whole


def _log_sum(net: Model, evidence: Evidence, limit: int) -> float:
    """Return the logarithm of the sum of a model's products over all states that agree with the evidence."""
    plan = planned(net, evidence.observed, evidence.soft, [], limit)
    return plan.run(evidence.states, evidence.likelihoods)[1]


def check_answer(net: Model, where: Sequence[int], limit: int) -> None:
    """Raise before a joint table of some variables is made that would be too large, or have too many axes."""
    if len(where) > MOST_AXES:
        raise SchemaError(f"a joint table of {len(where)} variables has too many axes; ask for at most {MOST_AXES}")
    check_held(math.prod(net.variables[v].cardinality for v in where), limit, "the joint table")


def joint_of_query(net: Model, where: Sequence[int], evidence: Evidence, given: Given, limit: int) -> Array:
    """Return the joint of some variables, given what is known, by one elimination."""
    free = [v for v in where if v not in evidence.observed]
    plan = planned(net, evidence.observed, evidence.soft, [free], limit)
    tables, log_probability = plan.run(evidence.states, evidence.likelihoods)
    if np.isneginf(log_probability):
        raise impossible(given)
    return with_observed_axes(net, where, evidence, tables[0])


def with_observed_axes(net: Model, where: Sequence[int], evidence: Evidence, table: Array) -> Array:
    """Give the observed among some variables their axes in a table of the others, all mass at the state observed."""
    cardinalities = [net.variables[v].cardinality for v in where]
    whole = np.zeros(cardinalities)
    index = tuple(int(evidence.states[v]) if v in evidence.observed else slice(None) for v in where)
    whole[index] = table.reshape([r for r, v in zip(cardinalities, where, strict=True) if v not in evidence.observed])
    return whole


def sample(
    net: Model,
    n: int,
    *,
    given: Given = None,
    likelihood: Likelihood = None,
    seed: Seed = None,
    max_table: int = MAX_TABLE,
) -> Table:
    """Draw independent rows given what is known, by a junction tree: no row is rejected, however rare the evidence.

    Parameters
    ----------
    net : BayesianNetwork or MarkovNetwork
    n : int
        How many rows.
    given : mapping from name to state, optional
    likelihood : mapping from name to (r,) array, optional
    seed : None, int or numpy.random.Generator
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    Table
        All variables, with what is given. Draws are held in 32 bits.

    Raises
    ------
    SchemaError, UnknownStateError, ZeroProbabilityError, StateSpaceError
        As `fishernet.infer.marginal`.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> rows = fn.infer.sample(asia, 1000, given={"xray": "yes", "asia": "yes"}, seed=1)
    >>> bool((rows.column("xray") == asia.variables[asia.names.index("xray")].code("yes")).all())
    True
    """
    net = model_of(net)
    limit = checked_limit(max_table)
    rows = draw_count(n)
    evidence = Evidence.of(net.variables, given, likelihood)
    plan = planned(net, evidence.observed, evidence.soft, [], limit, tree=True)
    columns = plan.sample(evidence.states, evidence.likelihoods, rows, stream_key(seed))
    if len(columns) < len(net.variables):
        raise impossible(given)
    return Table.adopt(net.variables, columns, n_rows=rows)


def predict_proba(net: Network, table: Any, target: str, *, max_table: int = MAX_TABLE) -> Array:
    """Return the probability of each state of one variable, given the cells of each row that are not missing.

    Missing cells are summed out exactly. Rows with the same cells missing share a plan, and equal rows are computed
    once.

    Parameters
    ----------
    net : BayesianNetwork
    table : Table or (n_rows, n_variables) array of codes
        All variables but the target must be there; the target's column is not looked at. A missing cell's code is the
        variable's cardinality.
    target : str
        The variable to predict.
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    (n_rows, r) float64
        Rows sum to 1.

    Raises
    ------
    ZeroProbabilityError
        When a row is impossible whatever the target's state.
    StateSpaceError
        When so much is missing that a table would be too large.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> rows = asia.sample(3, seed=1).to_frame().to_pydict() | {"smoke": ["yes", None, None]}
    >>> table = fn.Table.from_frame(rows, schema=asia.variables, missing="keep")
    >>> fn.infer.predict_proba(asia, table, "lung").shape
    (3, 2)
    """
    net = network_of(net)
    limit = checked_limit(max_table)
    position = positions(net.names, [target])[0]
    if net.variables[position].is_continuous:
        raise SchemaError(f"{target!r} is continuous and has no states; predict gives its mean")
    rows = without_target(table, net.variables, position)
    if not rows.has_missing:
        return net.probabilities_given_rest(rows, position)
    codes = np.stack([column.astype(np.int32) for column in rows.codes], axis=1)
    missing = codes == np.array([variable.cardinality for variable in net.variables], dtype=np.int32)
    missing[:, position] = True
    out = np.empty((rows.n_rows, net.variables[position].cardinality))
    complete = missing.sum(axis=1) == 1
    if complete.any():
        out[complete] = net.probabilities_given_rest(rows[complete], position)
    patterns, pattern_of = np.unique(missing[~complete], axis=0, return_inverse=True)
    incomplete = np.flatnonzero(~complete)
    for number, pattern in enumerate(patterns):
        members = incomplete[pattern_of.ravel() == number]
        out[members] = _by_pattern(net, codes[members], pattern, position, members, limit)
    return out


def _by_pattern(
    net: Network,
    codes: npt.NDArray[np.int32],
    missing: npt.NDArray[np.bool_],
    target: int,
    members: npt.NDArray[np.int64],
    limit: int,
) -> Array:
    """Predict rows in which the same cells are missing."""
    known = np.where(missing, np.int32(0), codes)
    distinct, which = np.unique(known, axis=0, return_inverse=True)
    plan = planned(net, np.flatnonzero(~missing).tolist(), [], [[target]], limit)
    found = plan.run_rows(np.ascontiguousarray(distinct, dtype=np.int32))
    result = found[which.ravel()]
    nowhere = np.isnan(result).any(axis=1)
    if nowhere.any():
        raise impossible_row(int(members[int(np.argmax(nowhere))]), net.variables[target].name)
    return result


def without_target(data: Any, variables: Sequence[Variable], target: int) -> Table:
    """Return data as a table of a model's variables in which the target's column means nothing.

    Other cells may be missing.
    """
    rows = as_table(data, variables, without=(variables[target].name,))
    columns = list(rows.codes)
    columns.insert(target, np.zeros(rows.n_rows, dtype=variables[target].dtype))
    return Table.adopt(variables, columns, n_rows=rows.n_rows)
