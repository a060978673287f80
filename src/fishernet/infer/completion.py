"""Rows with missing cells: the probability of what is known, of each cell that is not, and completed rows.

Missing variables that share a conditional are a component. Given the known cells of a row, its components are
independent, and each depends on the known states around it alone: so the core answers each distinct question once,
however many rows ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.base.random import Seed, generator, stream_key
from fishernet.base.vocabulary import word
from fishernet.data import Table, Variable, as_table
from fishernet.data.matching import frame_names, is_frame, is_table
from fishernet.data.variable import require_categorical
from fishernet.infer.evidence import impossible_row
from fishernet.infer.factors import MAX_TABLE, Array, Model, Network, check_held, checked_limit, network_of
from fishernet.infer.mixed import AnyConditional, is_mixed
from fishernet.infer.mixed_answers import mixed_imputation
from fishernet.infer.normal import completed, is_normal

How = Literal["most_probable", "most-probable", "draw"]
HOWS = ("most-probable", "draw")  # as `word` spells them


def completion(
    net: Model, rows: Table, *, needed: bool = False, target: int = -1, limit: int = MAX_TABLE
) -> _core.Completion:
    """Return what answers for rows of a network's variables that lack cells.

    With `needed`, missing variables are left out on which neither what is known nor the variable at the position
    `target` depends. StateSpaceError when a component's tables would have more than `limit` cells.
    """
    require_categorical(net.variables, "what sums missing cells out")
    plan = _core.Completion(rows.native, net.factors, needed, target, limit)
    check_held(plan.cells_held, limit, "the tables for a row's missing cells")
    return plan


def incomplete_log_prob(net: Network, rows: Table, limit: int = MAX_TABLE) -> Array:
    """Return the log-probability of what each row knows, (n_rows,)."""
    return completion(net, rows, needed=True, limit=limit).log_prob()


def chained_terms(
    conditionals: Sequence[AnyConditional], order: Sequence[int], log_prob: Callable[[Table], Array], rows: Table
) -> Array:
    """Return the log-probability of each known cell given the known ones before it, (n_rows, n_variables).

    `log_prob` is that of what rows know; it is asked where a parent is missing. Parents come before their children, so
    where all are known, nothing else before a cell says more of it. A missing cell has the term 0; after an impossible
    cell terms are NaN.
    """
    terms = np.zeros((rows.n_rows, len(rows.variables)))
    possible = np.ones(rows.n_rows, dtype=bool)
    missing = np.array([variable.missing(codes) for variable, codes in zip(rows.variables, rows.codes, strict=True)])
    columns = [variable.missing_column(rows.n_rows) for variable in rows.variables]
    now = Table.adopt(rows.variables, list(columns), n_rows=rows.n_rows)
    for v in order:
        columns[v] = rows.codes[v]
        before, now = now, Table.adopt(rows.variables, list(columns), n_rows=rows.n_rows)
        known, lacking = ~missing[v], missing[list(conditionals[v].parents)].any(axis=0)
        if (told := known & ~lacking).any():
            terms[told, v] = conditionals[v].log_prob(rows if told.all() else rows[told])
        if (open_ := known & lacking & possible).any():
            terms[open_, v] = log_prob(now[open_]) - log_prob(before[open_])
        terms[known & ~possible, v] = np.nan
        possible &= ~np.isneginf(terms[:, v])
    return terms


def expected_indicators(net: Model, rows: Table, limit: int = MAX_TABLE) -> Any:
    """Return the probability of every cell of a model's factors in each row, given what the row knows.

    A scipy.sparse.csr_array, (n_rows, cells of all factors): one factor after the other, the last axis fastest.
    ZeroProbabilityError when a row is impossible.
    """
    import scipy.sparse as sp  # slow to import, and needed by few calls

    plan = completion(net, rows, limit=limit)
    require_possible(plan.log_prob())
    ends, cells, shares = plan.indicators()
    width = sum(int(np.prod([net.variables[v].cardinality for v in scope])) for scope in net.scopes)
    return sp.csr_array((shares, cells, ends), shape=(rows.n_rows, width))


def rows_without(data: Any, variables: Sequence[Variable], hidden: Collection[str]) -> Table:
    """Return data as a table of a model's variables, in which the hidden ones are missing even where they are there.

    Cells of others may be missing. A bare array has all variables, or those that are not hidden.
    """
    if is_table(data) or is_frame(data) or np.ndim(data) != 2 or np.shape(data)[1] == len(variables):
        seen = as_table(data, variables, without=hidden)
    else:
        seen = as_table(data, [variable for variable in variables if variable.name not in hidden])
    known = dict(zip(seen.names, seen.codes, strict=True))
    columns = [
        variable.missing_column(seen.n_rows) if variable.name in hidden else known[variable.name]
        for variable in variables
    ]
    return Table.adopt(variables, columns, weights=seen.weights, n_rows=seen.n_rows)


def require_possible(log_prob: Array) -> None:
    """Raise ZeroProbabilityError, naming the first row, when one has probability 0."""
    impossible = np.isneginf(log_prob)
    if impossible.any():
        row = int(np.argmax(impossible))
        raise ZeroProbabilityError(
            f"what is known of row {row} has probability 0 under the network; fit it with smoothing above 0",
            variable="",
            configuration={},
            parameter="smoothing",
        )


def impute(net: Any, table: Any, *, how: How = "most_probable", max_table: int = MAX_TABLE, seed: Seed = None) -> Table:
    """Return a table whose missing cells are filled in; what is known stays.

    Parameters
    ----------
    net : BayesianNetwork
        Of categorical variables, or a Gaussian network.
    table : Table, data frame or (n_rows, n_variables) array
        The variables of the network; a column that is not there at all is missing in every row.
    how : {"most_probable", "draw"}
        The states (or numbers) that are most probable together given what the row knows, or a draw of them from their
        joint distribution: with draws, shares and dependences in the filled table are those of the network, and several
        draws (multiple imputation) show how much the missing cells leave open.
    max_table : int
        How many cells (8 bytes each) the tables for one row may have.
    seed : None, int or numpy.random.Generator
        For draws.

    Returns
    -------
    Table
        The network's variables in its order, the rows as they came.

    Raises
    ------
    SchemaError, UnknownStateError
        When labels do not fit.
    ZeroProbabilityError
        When what is known of a row has probability 0; the first one is named.
    StateSpaceError
        When so much is missing that a table would be too large.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.infer.impute(asia, {"smoke": ["yes"], "dysp": ["yes"], "xray": ["no"]})["bronc"].tolist()
    ['yes']
    """
    network: Any = net if is_normal(net) or is_mixed(net) else network_of(net)
    way = word(how, "how", HOWS, error=SchemaError)
    limit = checked_limit(max_table)
    named = table.names if is_table(table) else frame_names(table) if is_frame(table) else network.names
    rows = rows_without(table, network.variables, [name for name in network.names if name not in named])
    if not rows.has_missing:
        return rows
    if is_normal(net):
        draws = generator(seed)
        noise = None if way == "most-probable" else lambda *shape: draws.standard_normal(shape)
        columns = list(completed(net, rows.numbers, noise=noise))
        return Table.adopt(net.variables, columns, n_rows=rows.n_rows, weights=rows.weights)
    if is_mixed(net):
        return mixed_imputation(net, rows, seed, draw=way == "draw", limit=limit)
    plan = completion(network, rows, limit=limit)
    require_possible(plan.log_prob())
    columns = plan.most_probable() if way == "most-probable" else plan.draw(stream_key(seed))
    return Table.adopt(network.variables, columns, n_rows=rows.n_rows, weights=rows.weights)


def predicted(net: Network, rows: Table, target: int, limit: int = MAX_TABLE) -> npt.NDArray[np.float64]:
    """Return the probability of each state of one variable given what each row knows of the others, (n_rows, r).

    Its own column is not looked at. ZeroProbabilityError when a row is impossible whatever the state.
    """
    variable = net.variables[target]
    columns = list(rows.codes)
    columns[target] = variable.missing_column(rows.n_rows)
    lacking = Table.adopt(net.variables, columns, n_rows=rows.n_rows)
    plan = completion(net, lacking, needed=True, target=target, limit=limit)
    probabilities, log_prob = plan.target_answers(target)
    impossible = np.isneginf(log_prob)
    if impossible.any():
        raise impossible_row(int(np.argmax(impossible)), variable.name)
    return probabilities
