"""Ways to learn a network of a table that lacks cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import fishernet as fn
from fishernet.learn.missing.incomplete import AvailableCases
from studies.missing.holes import lacking

FEWEST = 20  # rows, below which nothing is learned of those that are complete
Way = Callable[[fn.Table], fn.BayesianNetwork | None]


def plain(table: fn.Table, dag: fn.Dag | None = None) -> fn.BayesianNetwork:
    """Return the network of a complete table, by BIC unless its graph is given."""
    return fn.learn.parameters(fn.learn.dag(table) if dag is None else dag, table)


def of_complete_rows(table: fn.Table, dag: fn.Dag | None = None) -> fn.BayesianNetwork | None:
    """Leave out the rows that lack a cell; None where too few are left."""
    kept = table.drop_missing()
    return plain(kept, dag) if kept.n_rows >= FEWEST else None


def own_state(table: fn.Table, dag: fn.Dag | None = None) -> fn.BayesianNetwork:
    """Make missing a state of its own; of what is learned, take the distribution where nothing is missing.

    That is, the states for missing are taken out of every conditional, and its rows normalized.
    """
    lacks = [bool(holes.any()) for holes in lacking(table)]
    variables = [
        fn.Variable(variable.name, [*map(str, variable.states), "missing"]) if more else variable
        for variable, more in zip(table.variables, lacks, strict=True)
    ]
    columns = [codes.astype(v.dtype) for v, codes in zip(variables, table.codes, strict=True)]
    learned = plain(fn.Table.adopt(variables, columns, n_rows=table.n_rows), dag)
    parents, tables = {}, {}
    for conditional in learned.conditionals:
        axes = [*conditional.parents, conditional.child]
        kept = conditional.table()[tuple(slice(0, table.variables[v].cardinality) for v in axes)]
        name = table.names[conditional.child]
        parents[name] = [table.names[v] for v in conditional.parents]
        tables[name] = kept / kept.sum(axis=-1, keepdims=True)
    return fn.BayesianNetwork.from_tables(table.variables, parents, tables)


def filled_by_mode(table: fn.Table) -> fn.Table:
    """Return the table with every missing cell filled with its column's most frequent known state."""
    columns = []
    for variable, codes, holes in zip(table.variables, table.codes, lacking(table), strict=True):
        mode = np.bincount(codes[~holes], minlength=variable.cardinality).argmax()
        columns.append(np.where(holes, mode, codes).astype(codes.dtype))
    return fn.Table.adopt(table.variables, columns, n_rows=table.n_rows)


def by_mode(table: fn.Table, dag: fn.Dag | None = None) -> fn.BayesianNetwork:
    """Fill in the modes and learn as if they had been seen."""
    return plain(filled_by_mode(table), dag)


def available_cases(table: fn.Table, dag: fn.Dag | None = None) -> fn.BayesianNetwork:
    """Count, for every set of variables, the rows that are complete there; for graphs, under plain BIC."""
    if dag is None:
        dag = fn.learn.dag(AvailableCases(table), search="hill-climb", max_parents=4)
    return fn.learn.parameters(dag, table, available_cases=True)


def node_average(table: fn.Table) -> fn.BayesianNetwork:
    """Score families by the node-average likelihood, and fit the parameters by EM."""
    return fn.learn.parameters(fn.learn.dag(table, missing="node-average"), table)


def em(table: fn.Table, dag: fn.Dag | None = None) -> fn.BayesianNetwork:
    """Expect what is missing: structural EM, or EM where the graph is given."""
    return fn.learn.parameters(fn.learn.dag(table, missing="em") if dag is None else dag, table)


WAYS: dict[str, Way] = {
    "drop rows": of_complete_rows,
    "own state": own_state,
    "mode": by_mode,
    "available cases": available_cases,
    "node-average": node_average,
    "structural EM": em,
}
GIVEN_GRAPH: dict[str, Callable[[fn.Table, fn.Dag | None], fn.BayesianNetwork | None]] = {
    "drop rows": of_complete_rows,
    "own state": own_state,
    "mode": by_mode,
    "available cases": available_cases,
    "EM": em,
}


def share_wrong(filled: fn.Table, holes: fn.Table, truth: fn.Table) -> float:
    """Return the share of the hidden cells that were filled in with another state than the true one."""
    wrong, cells = 0, 0
    for guessed, right, hidden in zip(filled.codes, truth.codes, lacking(holes), strict=True):
        wrong += int((guessed[hidden] != right[hidden]).sum())
        cells += int(hidden.sum())
    return wrong / cells if cells else float("nan")
