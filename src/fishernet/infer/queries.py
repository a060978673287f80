"""Exact answers to one question each, by the cheapest plan: marginals, explanations, draws, predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, Unpack, overload

import numpy as np

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import position
from fishernet.base.random import Seed, draw_count, stream_key
from fishernet.data import Table
from fishernet.data.given import code_of
from fishernet.data.variable import State
from fishernet.infer.distribution import Distribution, NormalDistribution
from fishernet.infer.evidence import Evidence, Given, Likelihood, impossible
from fishernet.infer.factors import (
    MAX_TABLE,
    Array,
    Model,
    Network,
    check_held,
    checked_limit,
    inference_of,
    model_of,
    network_of,
    planned,
    planned_or_cut,
)
from fishernet.infer.gibbs import ChainKeywords, estimate
from fishernet.infer.mixed import is_mixed
from fishernet.infer.mixed_answers import Case, log_evidence_mixed, most_probable_mixed, query_mixed, sample_mixed
from fishernet.infer.normal import (
    Normal,
    asked_for,
    is_normal,
    log_density,
    most_probable_numbers,
    query_numbers,
    sample_numbers,
)
from fishernet.infer.pseudo_gibbs import Sampled, is_sampled


class MarginalKeywords(ChainKeywords, total=False):
    """What `marginal` takes beside what is known."""

    likelihood: Likelihood
    max_table: int


MOST_AXES = 32  # of an array of NumPy 1

Intervened = TypeVar("Intervened", bound=Network)


def query(
    model: Any,
    names: str | Iterable[str] | None = None,
    *,
    given: Given = None,
    likelihood: Likelihood = None,
    max_table: int = MAX_TABLE,
    **chains: Unpack[ChainKeywords],
) -> Any:
    """Return the joint distribution of some variables of a model, given what is known; see `BayesianNetwork.query`."""
    if is_normal(model):
        _refuse_chains(chains)
        return query_numbers(model, names, given, likelihood)
    if is_mixed(model):
        _refuse_chains(chains)
        return query_mixed(model, names, given, likelihood, max_table)
    return _query_states(model, names, given, likelihood, max_table, chains)


def _query_states(
    model: Any,
    names: str | Iterable[str] | None,
    given: Given,
    likelihood: Likelihood,
    max_table: int,
    chains: Mapping[str, Any],
) -> Distribution:
    model = model if is_sampled(model) else model_of(model)
    evidence = Evidence.of(model.variables, given, likelihood)
    said = {model.names[v]: model.variables[v].states[evidence.states[v]] for v in evidence.observed}
    where = asked_for(model.names, names, said)
    variables = tuple(model.variables[v] for v in where)
    known = tuple(model.variables[v] for v in evidence.observed)
    if is_sampled(model):
        if likelihood is not None:
            raise SchemaError("a dependency network takes no likelihoods; they are for exact inference")
        found = estimate(model, [variable.name for variable in variables], given=said, **chains)
        errors = found.standard_errors
        return Distribution(variables, found.probabilities, said, errors, found.n_rows, found.seed, known)
    _refuse_chains(chains)
    limit = checked_limit(max_table)
    check_answer(model, where, limit)
    soft = () if likelihood is None else tuple(likelihood)
    return Distribution(variables, joint_of_query(model, where, evidence, given, limit), said, known=known, soft=soft)


def _refuse_chains(chains: Mapping[str, Any]) -> None:
    if chains:
        raise SchemaError(f"{', '.join(map(repr, chains))} are options of sampling; this answer is exact")


def most_probable(
    net: Model | Normal, *, given: Given = None, likelihood: Likelihood = None, max_table: int = MAX_TABLE
) -> dict[str, State]:
    """Return the most probable states of all variables together, given what is known.

    These need not be the states that are most probable one by one.

    Parameters
    ----------
    net : BayesianNetwork, MarkovNetwork or GaussianMarkovNetwork
    given : mapping from name to state or number, optional
    likelihood : mapping from name to (r,) array, optional
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    dict
        Name to state, in the network's order, with what was given. Among equally probable explanations the choice
        is always the same. Of a Gaussian network name to number: the mean given the rest.

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
    if is_normal(net):
        return dict(most_probable_numbers(net, given, likelihood))
    if is_mixed(net):
        return most_probable_mixed(net, given, likelihood, max_table)
    net = model_of(net)
    limit = checked_limit(max_table)
    evidence = Evidence.of(net.variables, given, likelihood)
    plan = planned_or_cut(net, evidence.observed, evidence.soft, [], limit, tree=True)
    codes = plan.maximize(evidence.states, evidence.likelihoods)
    if len(codes) < len(net.variables):
        raise impossible(given)
    return {variable.name: variable.states[code] for variable, code in zip(net.variables, codes, strict=True)}


def intervene(net: Intervened, states: Mapping[str, State | Mapping[Any, float]]) -> Intervened:
    """Return the network in which some variables are set from outside (Pearl's do).

    They lose their parents and have their states, or numbers, with probability 1, or states with the probabilities of a
    mapping; all other conditionals stay. What is learned from the new network is what an experiment would show if the
    arcs are causes.

    Parameters
    ----------
    net : BayesianNetwork
    states : mapping from name to state, number, or mapping from state to probability

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
    with_numbers = inference_of(net) in ("normal", "mixed") and len(net.conditionals) > 0
    found: Any = net if with_numbers else network_of(net)
    if states is None:
        raise SchemaError("intervene needs a mapping from names to states")
    drawn = {name: value for name, value in states.items() if isinstance(value, Mapping)}
    certain = {name: value for name, value in states.items() if name not in drawn}
    where = {name: at for at, name in enumerate(found.names)}
    values: dict[int, Any] = {}
    for name, shares in drawn.items():
        at = position(where, name)
        values[at] = _drawn_states(found.variables[at], shares)
    if with_numbers:
        return found.intervened(values | Case(found, certain, None).values)  # type: ignore[no-any-return]
    evidence = Evidence.of(found.variables, certain, None)
    values |= {v: int(evidence.states[v]) for v in evidence.observed}
    return found.intervened(values)  # type: ignore[no-any-return]


def _drawn_states(variable: Any, shares: Mapping[Any, Any]) -> Array:
    """Return the probabilities with which states are set from outside, (r,)."""
    if variable.is_continuous:
        raise SchemaError(f"{variable.name!r} is continuous; set it to a number", parameter="do")
    found: Array = np.zeros(variable.cardinality)
    for state, share in shares.items():
        found[code_of(variable, state, parameter="do")] = check.number(share, "a probability", least=0, most=1)
    if not math.isclose(found.sum(), 1, abs_tol=1e-9):
        raise SchemaError(f"the probabilities of {variable.name!r} add up to {found.sum():.6g}, not 1", parameter="do")
    found /= found.sum()
    return found


@overload
def marginal(
    model: Model | Sampled,
    names: str | Iterable[str],
    *,
    given: Given = None,
    likelihood: Likelihood = None,
    max_table: int = MAX_TABLE,
    **chains: Unpack[ChainKeywords],
) -> Array: ...
@overload
def marginal(
    model: Normal,
    names: str | Iterable[str],
    *,
    given: Given = None,
    likelihood: Likelihood = None,
    max_table: int = MAX_TABLE,
    **chains: Unpack[ChainKeywords],
) -> NormalDistribution: ...
def marginal(
    model: Model | Sampled | Normal,
    names: str | Iterable[str],
    *,
    given: Given = None,
    likelihood: Likelihood = None,
    max_table: int = MAX_TABLE,
    **chains: Unpack[ChainKeywords],
) -> Any:
    """Return the joint probabilities of some variables, given what is known.

    Exact for Bayesian and Markov networks; of a Bayesian network only the ancestors of what is asked and of what is
    known are looked at. For a dependency network by pseudo-Gibbs sampling: `estimate` also says its Monte Carlo error.
    ``net.query`` gives the same with labels. Numbers have a density in place of a table: of a Gaussian network it is
    what ``net.query`` gives, a `NormalDistribution` with mean and covariance.

    Parameters
    ----------
    model : BayesianNetwork, MarkovNetwork, DependencyNetwork or GaussianMarkovNetwork
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
        Sums to 1. Of a Gaussian network a `NormalDistribution`.

    Raises
    ------
    SchemaError, UnknownStateError
        When a name or a state is not the network's.
    ZeroProbabilityError
        When what is given has probability 0.
    StateSpaceError
        When tables would be too large, and answering by the cases of some variables would take over a minute or so;
        nothing has been allocated then.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.infer.marginal(asia, ["lung"], given={"xray": "yes"}).round(4)
    array([0.4887, 0.5113])
    >>> fn.infer.marginal(asia, ["lung", "bronc"], likelihood={"dysp": [2, 1]}).shape
    (2, 2)
    """
    if is_normal(model) or is_mixed(model):
        found = query(model, names, given=given, likelihood=likelihood, max_table=max_table, **chains)
        return found if any(variable.is_continuous for variable in found.variables) else found.array
    return _query_states(model, names, given, likelihood, max_table, chains).array


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
    plan = _core.FamilyPlan(net.factors, evidence.observed, evidence.soft, "auto", limit)
    if plan.cells_held > limit:
        tables = targets_given(net, families, evidence, given, limit)
    else:
        if evidence.empty:
            largest = max((math.prod(cardinalities[v] for v in family) for family in families), default=0)
            check_held(largest, limit, "the marginal of a family")
        tables = plan.run(evidence.states, evidence.likelihoods)
        if evidence.empty:  # they are of the parents alone
            return [
                p.reshape([*(cardinalities[v] for v in c.parents), 1]) * c.table()
                for c, p in zip(net.conditionals, tables, strict=True)
            ]
        if not tables:
            raise impossible(given)
    return [with_observed_axes(net, family, evidence, table) for family, table in zip(families, tables, strict=True)]


def targets_given(
    net: Model, targets: Sequence[Sequence[int]], evidence: Evidence, given: Given, limit: int
) -> list[Array]:
    """Return the joint distribution of the unobserved among each of some sets of variables, flat, by one plan."""
    free = [[v for v in target if v not in evidence.observed] for target in targets]
    plan = planned_or_cut(net, evidence.observed, evidence.soft, free, limit)
    tables, log_probability = plan.run(evidence.states, evidence.likelihoods)
    if np.isneginf(log_probability):
        raise impossible(given)
    return tables


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
    if inference_of(network) != "factors" or network.is_normalized:
        raise SchemaError(f"a partition function is of a MarkovNetwork, not of {type(network).__name__}")
    return _log_sum(network, Evidence.of(network.variables, None, None), checked_limit(max_table))


def log_evidence(
    net: Model | Normal, given: Given = None, *, likelihood: Likelihood = None, max_table: int = MAX_TABLE
) -> float:
    """Return the log-probability of what is known.

    Parameters
    ----------
    net : BayesianNetwork, MarkovNetwork or GaussianMarkovNetwork
    given : mapping from name to state or number, optional
    likelihood : mapping from name to (r,) array, optional
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    float
        In nats; -inf when it is impossible. With soft evidence: the logarithm of the expected product of the
        likelihoods where the rest is as given. Of a Gaussian network the logarithm of the density.

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
    if is_normal(net):
        return log_density(net, given, likelihood)
    if is_mixed(net):
        return log_evidence_mixed(net, given, likelihood, max_table)
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
    plan = planned_or_cut(net, evidence.observed, evidence.soft, [], limit)
    return plan.run(evidence.states, evidence.likelihoods)[1]


def check_answer(net: Model, where: Sequence[int], limit: int) -> None:
    """Raise before a joint table of some variables is made that would be too large, or have too many axes."""
    if len(where) > MOST_AXES:
        raise SchemaError(f"a joint table of {len(where)} variables has too many axes; ask for at most {MOST_AXES}")
    check_held(math.prod(net.variables[v].cardinality for v in where), limit, "the joint table")


def joint_of_query(net: Model, where: Sequence[int], evidence: Evidence, given: Given, limit: int) -> Array:
    """Return the joint of some variables, given what is known, by one elimination."""
    return with_observed_axes(net, where, evidence, *targets_given(net, [where], evidence, given, limit))


def with_observed_axes(net: Model, where: Sequence[int], evidence: Evidence, table: Array) -> Array:
    """Give the observed among some variables their axes in a table of the others, all mass at the state observed."""
    cardinalities = [net.variables[v].cardinality for v in where]
    whole = np.zeros(cardinalities)
    index = tuple(int(evidence.states[v]) if v in evidence.observed else slice(None) for v in where)
    whole[index] = table.reshape([r for r, v in zip(cardinalities, where, strict=True) if v not in evidence.observed])
    return whole


def sample(
    net: Model | Normal,
    n: int,
    *,
    given: Given = None,
    likelihood: Likelihood = None,
    max_table: int = MAX_TABLE,
    seed: Seed = None,
) -> Table:
    """Draw independent rows given what is known, by a junction tree: no row is rejected, however rare the evidence.

    Parameters
    ----------
    net : BayesianNetwork or MarkovNetwork
    n : int
        How many rows.
    given : mapping from name to state, optional
    likelihood : mapping from name to (r,) array, optional
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.
    seed : None, int or numpy.random.Generator

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
    if is_normal(net):
        return sample_numbers(net, n, given, likelihood, seed)
    if is_mixed(net):
        return sample_mixed(net, n, given, likelihood, max_table, seed)
    net = model_of(net)
    limit = checked_limit(max_table)
    rows = draw_count(n)
    evidence = Evidence.of(net.variables, given, likelihood)
    plan = planned(net, evidence.observed, evidence.soft, [], limit, tree=True)
    columns = plan.sample(evidence.states, evidence.likelihoods, rows, stream_key(seed))
    if len(columns) < len(net.variables):
        raise impossible(given)
    return Table.adopt(net.variables, columns, n_rows=rows)
