"""The most probable explanation: the states of all variables that are most probable together."""

from __future__ import annotations

from fishernet import _core
from fishernet.infer.findings import Findings, Given, Likelihood, Model, checked_limit, impossible, model_of
from fishernet.models.factors import MAX_TABLE, check_held
from fishernet.table.variable import State


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
    findings = Findings.of(net.variables, given, likelihood)
    plan = _core.Inference(net.factors, findings.observed, findings.soft, [], True, limit)
    check_held(plan.cells_held, limit, "the junction tree's tables")
    codes = plan.maximize(findings.states, findings.likelihoods)
    if len(codes) < len(net.variables):
        raise impossible(given)
    return {variable.name: variable.states[code] for variable, code in zip(net.variables, codes, strict=True)}
