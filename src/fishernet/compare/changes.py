"""What changed in each of several tables: batches against the first one, the one before, or all others.

The comparisons share tables, and so their p-values depend on one another: an unusual reference differs from every
batch. The level is therefore divided by the number of comparisons (Bonferroni), which holds whatever joins them; within
a comparison the variables share it as in `explain_change`. All comparisons speak of one graph, learned once from all
rows together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.names import a, cut, several
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed
from fishernet.base.vocabulary import word
from fishernet.compare.change import (
    ChangeResult,
    Options,
    explained,
    families_of_tables,
    sparse_graphs,
)
from fishernet.compare.conditionals.mixed_families import family_counts
from fishernet.compare.graph_of_tables import GraphOfTables, given_graph, graph_of_tables, in_order, shared_with_graph
from fishernet.compare.shares import first_names
from fishernet.compare.two_sample import joined_all, without_determined_columns
from fishernet.data import Table
from fishernet.data.matching import as_data, is_frame, is_table
from fishernet.data.options import Bins
from fishernet.data.pooling import stacked
from fishernet.graphs import Dag, Graph
from fishernet.graphs.graph import HasGraph, graph_of
from fishernet.infer.factors import is_model

PURPOSE = "explain_changes"
AGAINST = ("first", "previous", "rest")
REST = "the rest"
MOST_SHOWN = 6  # batches in a repr


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Changes(Framed):
    """What changed in each of several tables.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> smokers = fn.infer.intervene(asia, {"smoke": "yes"})
    >>> months = {"May": asia.sample(800, seed=1), "June": asia.sample(800, seed=2)}
    >>> months["July"] = smokers.sample(800, seed=3)
    >>> found = fn.compare.explain_changes(months, asia)
    >>> dict(found.changed())
    {'June': (), 'July': ('smoke',)}
    """

    by_name: Mapping[str, ChangeResult]
    """The result of each comparison, by the name of the later table; its level is its part of the whole."""
    references: Mapping[str, str]
    """What each was compared with, by name."""
    graph: Dag
    """The graph that was given, or learned from all rows; each comparison looks at other directions of its arcs."""
    level: float
    """That of all comparisons and variables together."""

    def __repr__(self) -> str:
        changed = {name: of for name, of in self.changed().items() if of}
        lacking = [name for name, of in self.by_name.items() if of.missing]
        told = [f"{cut(name, 40)} ({first_names(of, 4)})" for name, of in list(changed.items())[:MOST_SHOWN]]
        more = [f"... {len(changed)} in all"] if len(changed) > MOST_SHOWN else []
        missing = f"; share of missing cells changed: {first_names(lacking)}" if lacking else ""
        said = ", ".join(told + more) or "nothing"
        return f"Changes({several(len(self.by_name), 'comparison')}; changed: {said}{missing})"

    def changed(self) -> Mapping[str, tuple[str, ...]]:
        """Return, for each later table, the variables whose conditional changed, those that carry most first."""
        return {name: result.changed() for name, result in self.by_name.items()}

    def to_frame(self) -> pa.Table:
        """Return one row a later table and variable."""
        frames = [
            result.to_frame()
            .add_column(0, "against", pa.array([self.references[name]] * len(result.by_variable)))
            .add_column(0, "table", pa.array([name] * len(result.by_variable)))
            for name, result in self.by_name.items()
        ]
        return pa.concat_tables(frames)


def explain_changes(
    tables: Any,
    net: Graph | HasGraph | None = None,
    *,
    by: str | None = None,
    against: Literal["first", "previous", "rest"] = "first",
    graphs: int = 60,
    permutations: int = 999,
    resamples: int = 200,
    level: float = 0.05,
    min_effect: float = 0.0,
    smoothing: float = 1.0,
    bins: Bins | None = None,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> Changes:
    """Say which conditionals changed in each of several tables.

    Parameters
    ----------
    tables : sequence of tables or frames, mapping from names to these, or one table or frame
        The tables, at least two. Those of a sequence are called "1", "2", ...
    net : BayesianNetwork or Dag, optional
        The graph to explain by. Without it, one is learned from all rows together, and each comparison averages over
        graphs with other directions of its arcs, as `explain_change` does.
    by : str, optional
        Of one table: the column of states that says of which table a row is. The tables come in the order of its
        states; a row that lacks this cell is left out, with a warning.
    against : {"first", "previous", "rest"}
        Whether each table is compared with the first one, with the one before it, or with all others together.
    graphs, permutations, resamples : int
        As for `explain_change`.
    level : float
        The probability, at most, that any variable of any comparison is said to have changed where none did. Each
        comparison has the level divided by their number. Shares of missing cells have this level of their own.
    min_effect : float
        As for `explain_change`.
    smoothing : float
    bins : int, or mapping from column to int or to cut points; optional
        As for `two_sample_test`, at points of all tables together.
    seed : None, int or numpy.random.Generator
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    Changes

    Raises
    ------
    SchemaError
        When there are fewer than two tables, one has no row, or none of the first one's columns.

    Warns
    -----
    FishernetWarning
        When a table lacks a column of the first one, all of whose cells then count as missing; when a column is left
        out that only later tables have, or that is something else in one of them.

    See Also
    --------
    explain_change : two tables.
    Monitor : batches that come one after another.

    Notes
    -----
    Tables that share a reference make tests that depend on one another, so Holm's and Sidak's method, by which
    variables share a comparison's part of the level, does not hold over comparisons; Bonferroni's does. A batch's
    finding depends on the reference: if the reference was unusual, all batches differ from it.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> smokers = fn.infer.intervene(asia, {"smoke": "yes"})
    >>> batches = [asia.sample(800, seed=1), smokers.sample(800, seed=2), smokers.sample(800, seed=3)]
    >>> dict(fn.compare.explain_changes(batches, asia, against="previous").changed())
    {'2': ('smoke',), '3': ()}
    """
    check.integer(graphs, "graphs", least=1)
    options = Options.checked(permutations, resamples, level, min_effect, smoothing, seed)
    way = word(against, "against", AGAINST, error=FishernetError)
    if net is not None:
        graph_of(net, "net")
    named = {name: as_data(table, PURPOSE) for name, table in _named(tables, by).items()}
    read = joined_all(named, bins, PURPOSE)
    if net is None:
        read = list(without_determined_columns(*read))
    else:
        net, read = shared_with_graph(net, read, list(named.values()), PURPOSE)
    names = read[0].names
    ready = dict(zip(named, (in_order(table) for table in read), strict=True))
    columns = next(iter(ready.values())).names
    graph = graph_of_tables(list(ready.values())) if net is None else GraphOfTables(given_graph(net, columns))
    dag = graph.dag
    counts = dict(zip(ready, family_counts(list(ready.values())), strict=True))
    pairs = _pairs(list(ready), way)
    share = replace(options, level=options.level / len(pairs))
    found = {}
    reporter = Reporter(progress, "comparisons")
    for done, (earlier, later) in enumerate(pairs):
        reporter.step(done, len(pairs))
        if earlier == REST:
            other = in_order(stacked([table for name, table in ready.items() if name != later]))
            two, known = (other, ready[later]), (counts[later].of(other), counts[later])
        else:
            two, known = (ready[earlier], ready[later]), (counts[earlier], counts[later])
        families = families_of_tables(two, share, known)
        near = sparse_graphs(families, dag, graphs, share.level) if net is None else ((dag, 1.0),)
        found[later] = replace(explained(two, families, near, names, share), n_learned=graph.n_learned)
    reporter.finish(len(pairs))
    references = {later: earlier for earlier, later in pairs}
    return Changes(MappingProxyType(found), MappingProxyType(references), dag, options.level)


def _pairs(names: Sequence[str], against: str) -> list[tuple[str, str]]:
    """Return the names of what is compared: earlier and later."""
    if against == "rest":
        return [(REST, name) for name in names]
    return [(names[0] if against == "first" else before, name) for before, name in pairwise(names)]


def _named(tables: Any, by: str | None) -> dict[str, Any]:
    """Return the tables by name."""
    if by is not None:
        found: dict[str, Any] = _split(as_data(tables, PURPOSE), by)
    elif is_table(tables) or (is_frame(tables) and not _holds_tables(tables)):
        raise SchemaError("explain_changes takes several tables, or one and by=, the column that tells them apart")
    elif isinstance(tables, Mapping):
        found = {str(name): table for name, table in tables.items()}
    elif isinstance(tables, Sequence) and not isinstance(tables, str):
        found = {str(number): table for number, table in enumerate(tables, start=1)}
    else:
        raise SchemaError(f"tables must be a sequence or a mapping of tables, not {a(type(tables).__name__)}")
    if any(is_model(table) for table in found.values()):
        raise SchemaError("explain_changes compares tables, and one of these is a network; explain_change takes two")
    if len(found) < 2:
        raise SchemaError(f"explain_changes compares at least two tables, not {len(found)}")
    return found


def _holds_tables(tables: Any) -> bool:
    return isinstance(tables, Mapping) and all(is_table(of) or is_frame(of) for of in tables.values())


def _split(table: Table, by: str) -> dict[str, Table]:
    """Return the rows of each state of a column, without it; states without rows have no table."""
    if by not in table.names:
        raise SchemaError(f"the table has no column {by!r}", parameter="by")
    column = table.variables[table.names.index(by)]
    if column.is_continuous:
        raise SchemaError(
            f"{by!r} is a column of numbers or dates; cut it into states first, as by table.discretize({{{by!r}: 12}})",
            parameter="by",
        )
    codes = table.column(by)
    absent = int(np.count_nonzero(codes == column.cardinality))
    if absent:
        warn(f"explain_changes leaves out {several(absent, 'row')} without a cell in {by!r}")
    rest = table.select([name for name in table.names if name != by])
    rows = {str(state): np.flatnonzero(codes == code) for code, state in enumerate(column.states)}
    return {state: rest[where] for state, where in rows.items() if len(where)}
