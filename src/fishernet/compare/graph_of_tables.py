"""The graph and the network of several tables together, by which they are compared.

Of many rows the graph is learned from some that are drawn at random: in all together, whatever table they are of, so
that a test which exchanges rows between the tables stays exact. Tests by the graph take all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, warn
from fishernet.base.names import listed, several
from fishernet.base.progress import Watch
from fishernet.compare.conditionals.number_families import MOST_ROWS
from fishernet.data import Source, Table
from fishernet.data.blocks import Blocks
from fishernet.data.matching import is_table
from fishernet.data.options import AUTO
from fishernet.data.pooling import Together, stacked
from fishernet.data.variable import Variable, mixes_numbers
from fishernet.graphs import Dag, Graph
from fishernet.graphs.graph import HasGraph, directed_arcs, graph_of
from fishernet.learn import parameters, structure
from fishernet.learn.missing.ways import nearly_empty
from fishernet.learn.order import FEW_OF_BOTH, Order
from fishernet.learn.rules import Rules
from fishernet.models import BayesianNetwork
from fishernet.scores import Families, LocalScores, Score
from fishernet.scores.likelihood import Bic
from fishernet.scores.node_average import NodeAverage

MOST_LEARNED = 100_000  # rows that a graph is learned from: of 13 columns in 5 s, and with the arcs that all rows give
MOST_KEPT = 4  # graphs
FEWEST = 2  # rows that a configuration of numbers in bins has on average, where these are looked at
RESTARTS = 2  # of the search for a graph of labels and numbers: more find little, and take long
FEW_TOGETHER = 30  # columns of which parents that help only together are looked for: of more it takes long
MOST_PARENTS = 10  # of a column among very many: copies and sums of others would give it dozens, which take minutes

_known: dict[Any, Dag] = {}  # graphs by their rows: a test and an explanation of the same tables share one


@dataclass(frozen=True)
class GraphOfTables:
    """A graph of several tables, and from how many rows it was learned where these are not all."""

    dag: Dag
    n_learned: int | None = None


def given_graph(net: Graph | HasGraph, names: Sequence[str]) -> Dag:
    """Return the graph that was given, on the tables' columns; SchemaError if it has others."""
    graph = graph_of(net, "net")
    if set(graph.names) != set(names):
        different = sorted(set(graph.names) ^ set(names))
        raise SchemaError(f"the graph and the tables must have the same variables; {listed(different)} differ")
    return Dag.from_edges(names, directed_arcs(graph, "net"))


def shared_with_graph(
    net: Graph | HasGraph, tables: Sequence[Table], read: Sequence[Table], purpose: str
) -> tuple[Dag, list[Table]]:
    """Return the columns that tables of the same variables share with a graph, and the graph on these.

    What the graph lacks is left out with a warning, and so is a variable that not all tables have, as they were `read`:
    its children are given their other parents. SchemaError where no table has a variable of the graph.
    """
    graph = graph_of(net, "net")
    in_graph = set(graph.names)
    names = [name for name in tables[0].names if name in in_graph]
    beyond = [name for name in tables[0].names if name not in in_graph]
    if in_graph - {name for table in read for name in table.names} or not names:
        return given_graph(net, tables[0].names), list(tables)
    if beyond:
        not_there = "is not" if len(beyond) == 1 else "are not"
        warn(f"{purpose} answers without some columns: {listed(beyond)} {not_there} in the graph")
    arcs = [arc for arc in directed_arcs(graph, "net") if set(arc) <= set(names)]
    return Dag.from_edges(names, arcs), [table.select(names) for table in tables]


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
        mixed = mixes_numbers(rows.variables)
        _known[key] = dag = _seen_two_ways(rows) if mixed else structure(rows, seed=0).dag
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
    drawn = f"the graph was learned from {n_learned:,} of {all_rows}, drawn at random"
    return f"{drawn}; tests of labels take all, and tests of numbers up to {MOST_ROWS:,} of each table"


def in_order(table: Table) -> Table:
    """Return the columns by name, and if they are few, rows of numbers sorted: no split hangs on the order they had."""
    sorted_columns = table.select(sorted(table.names))
    numbers = table.n_rows <= MOST_LEARNED and any(variable.is_continuous for variable in table.variables)
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


class _Gains:
    """Scores families of labels and numbers by what the parents tell, in the one of two ways in which they tell more.

    A regression sees a line in few rows. Bins see whatever shape, as that of numbers whose slope is another in each
    table, which lines through the rows of both together may not show at all.
    """

    in_core, of_sets = None, False

    def __init__(self, rows: Table) -> None:
        self.source: Source = rows
        self.score: Score = NodeAverage(prior=True) if rows.has_missing else Bic(prior=True)
        cut = rows.discretize(AUTO)
        self._ways = LocalScores(rows, self.score), LocalScores(cut, self.score)
        self._states = np.array([float(cast(Variable, variable).cardinality) for variable in cut.variables])
        self._number = np.array([variable.is_continuous for variable in rows.variables])
        alone = Families.from_pairs((v, ()) for v in range(len(self._number)))
        self._alone = [way(alone) for way in self._ways]

    @property
    def n_distinct(self) -> int:
        """The number of distinct families scored so far."""
        return self._ways[1].n_distinct

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, less those of the children alone, (n_families,)."""
        found = np.full(len(families), -np.inf)
        of_number = self._number[families.children]
        ways = zip(self._ways, self._alone, (of_number, ~of_number | self._few(families)), strict=True)
        for way, alone, fits in ways:
            of = np.flatnonzero(fits)
            if len(of):
                some = families.take(of)
                found[of] = np.maximum(found[of], way(some) - alone[some.children])
        return found

    def _few(self, families: Families) -> npt.NDArray[np.bool_]:
        """Return which families have so few configurations in bins that the rows could tell of each."""
        return families.configurations(self._states) * FEWEST <= self.source.total

    def for_core(self) -> Callable[..., npt.NDArray[np.float64]]:
        """Return what a search of the core calls."""
        return lambda *flat: self(Families(*flat))


def _seen_two_ways(rows: Table) -> Dag:
    """Return the graph of labels and numbers, in which no arc runs from a number to a label."""
    states = [variable.cardinality for variable in rows.variables]
    forbidden = [(parent, child) for parent in nearly_empty(rows) for child in rows.names if child != parent]
    limit, restarts = (None, RESTARTS) if len(states) <= FEW_OF_BOTH else (MOST_PARENTS, 0)
    rules = Rules.of(rows.names, states=states, forbidden=forbidden, max_parents=limit).of_columns(rows.variables)
    search = Order(seed=0, restarts=restarts, together=len(states) <= FEW_TOGETHER)
    return search.run(_Gains(rows), rules, Watch(None, "learning the structure")).dag
