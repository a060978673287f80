"""The graph and the network of several tables together, by which they are compared.

Of many rows the graph is learned from some that are drawn at random: in all together, whatever table they are of, so
that a test which exchanges rows between the tables stays exact. Tests by the graph take all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fishernet.base.names import several
from fishernet.data import Source, Table
from fishernet.data.blocks import Blocks
from fishernet.data.matching import is_table
from fishernet.data.pooling import Together, stacked
from fishernet.graphs import Dag
from fishernet.learn import parameters, structure
from fishernet.models import BayesianNetwork

MOST_LEARNED = 100_000  # rows that a graph is learned from: of 13 columns in 5 s, and with the arcs that all rows give
MOST_KEPT = 4  # graphs

_known: dict[Any, Dag] = {}  # graphs by their rows: a test and an explanation of the same tables share one


@dataclass(frozen=True)
class GraphOfTables:
    """A graph of several tables, and from how many rows it was learned where these are not all."""

    dag: Dag
    n_learned: int | None = None


def graph_of_tables(sources: Sequence[Source]) -> GraphOfTables:
    """Return the graph of all rows together, or of `MOST_LEARNED` of them where there are rows to draw from.

    It is the same whatever order the rows came in, if it is from all.
    """
    tables = [source for source in sources if is_table(source)]
    if len(tables) < len(sources):
        together = Together(sources)
        return GraphOfTables(structure(together, seed=0).dag)
    some = _drawn(tables)
    rows = in_order(stacked(some))
    key = rows.variables, rows.n_rows, rows.rows_digest()
    dag = _known.get(key)
    if dag is None:
        _known[key] = dag = structure(rows, seed=0).dag
    for old in list(_known)[:-MOST_KEPT]:
        _known.pop(old, None)
    return GraphOfTables(dag, rows.n_rows if some is not tables else None)


def network_of_both(first: Table, second: Table) -> BayesianNetwork:
    """Return a Bayesian network learned from two tables together, the same in whatever order their columns come."""
    names = sorted(first.names)
    tables = [first.select(names), second.select(names)]
    counts_alone = not any(v.is_continuous for v in first.variables) and not any(t.has_missing for t in tables)
    return parameters(graph_of_tables(tables).dag, Blocks(tables) if counts_alone else stacked(_drawn(tables)))


def told_of_rows(n_learned: int, n_rows: Sequence[int]) -> str:
    """Return in words that a graph was learned from some rows."""
    all_rows = several(sum(n_rows), "row")
    return f"the graph was learned from {n_learned:,} of {all_rows}, drawn at random; the tests take all"


def in_order(table: Table) -> Table:
    """Return the columns by name, and rows of numbers sorted: splits and resamples hang on no order they came in."""
    sorted_columns = table.select(sorted(table.names))
    numbers = any(variable.is_continuous for variable in table.variables)
    return sorted_columns[np.lexsort(sorted_columns.codes)] if numbers else sorted_columns


def _drawn(tables: Sequence[Table]) -> Sequence[Table]:
    """Return tables as they are, or where they have many rows, some rows of each."""
    ends = np.cumsum([table.n_rows for table in tables])
    if ends[-1] <= MOST_LEARNED:
        return tables
    places = np.sort(np.random.default_rng(0).choice(ends[-1], MOST_LEARNED, replace=False, shuffle=False))
    starts = np.concatenate([[0], ends[:-1]])
    return [
        table[places[(places >= start) & (places < end)] - start]
        for table, start, end in zip(tables, starts, ends, strict=True)
    ]
