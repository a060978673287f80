"""Rows drawn exactly from what is known."""

from __future__ import annotations

from fishernet import _core
from fishernet.infer.findings import Findings, Given, Likelihood, Model, checked_limit, impossible, model_of
from fishernet.models.factors import MAX_TABLE, check_held
from fishernet.random import Seed, checked_count, stream_key
from fishernet.table import Table


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
    rows = checked_count(n, "the number of rows", 0)
    findings = Findings.of(net.variables, given, likelihood)
    plan = _core.Inference(net.factors, findings.observed, findings.soft, [], True, limit)
    check_held(plan.cells_held, limit, "the junction tree's tables")
    columns = plan.sample(findings.states, findings.likelihoods, rows, stream_key(seed))
    if len(columns) < len(net.variables):
        raise impossible(given)
    return Table(net.variables, columns, n_rows=rows)
