"""What changed between two tables: which conditionals, from what to what, and what is only inherited from upstream.

The Kullback-Leibler divergence of the later distribution from the earlier one is, over one graph, a sum over the
variables (the chain rule): each carries the nats by which its own conditional changed, given its parents, whatever
happened to these. A marginal may change although its conditional did not; that change is inherited.

A graph is learned from both tables together. Data leave the direction of some arcs open, and where a change is seen
depends on it; so the answer is an average over graphs, in which those count more in which fewer conditionals changed
(`conditionals.orders`), and says which findings are not the same in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import cut
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed
from fishernet.base.vocabulary import word
from fishernet.compare.conditionals.configurations import ConfigurationChange, of_networks
from fishernet.compare.conditionals.families import Effort, Families, Family
from fishernet.compare.conditionals.mixed_families import Counts, families_between
from fishernet.compare.conditionals.nats import Nats
from fishernet.compare.conditionals.number_change import NumberChange
from fishernet.compare.conditionals.orders import families_of, graphs_of_sparse_change
from fishernet.compare.corrections import MOST_SPLITS, holm
from fishernet.compare.graph_of_tables import (
    GraphOfTables,
    given_graph,
    graph_of_tables,
    in_order,
    shared_with_graph,
    told_of_rows,
)
from fishernet.compare.mechanisms import marginals, nats_by_configuration
from fishernet.compare.missing_shares import MissingChange, missing_changes
from fishernet.compare.shares import first_names
from fishernet.compare.two_sample import check_permutations, joined, without_determined_columns
from fishernet.data import Source, State
from fishernet.data.matching import as_data
from fishernet.data.options import Bins
from fishernet.data.pooling import counted
from fishernet.data.source import is_statistics
from fishernet.graphs import Dag, Graph
from fishernet.graphs.graph import HasGraph, graph_of
from fishernet.infer.factors import is_model
from fishernet.models.conditionals.base import shown_states

Array = npt.NDArray[np.float64]
Weighted = tuple[tuple[Dag, float], ...]  # graphs and their weights, the best first

MOST_ARCS = 4  # that a sentence lists
DIGITS = 12  # of means of p-values: with weights that add up to 1 but for rounding, 1 shall be 1
OF_NATS = tuple(field.name for field in fields(Nats))
SAME = 1e-12  # marginals of two networks that differ by less are equal but for rounding
SURE = 0.95  # of the graphs' weight: a finding with less, and more than the rest to 1, is in doubt


@dataclass(frozen=True, slots=True)
class VariableChange:
    """How one variable's conditional and its marginal changed."""

    variable: str
    """Its name."""
    nats: float
    """What its conditional carries of KL(after || before), averaged over the graphs; chance does not enlarge it."""
    low: float
    """The 95 % interval of it, over the graphs that make up 95 % of the weight; NaN for networks."""
    high: float
    by_chance: float
    """What two fitted conditionals would be apart on average if nothing had changed."""
    covered: float
    """The share of the later rows that the nats tell of: whose parents' configuration occurs in both tables."""
    p_corrected: float
    """Of the test of its conditional given its parents, corrected for all variables, averaged over the graphs."""
    support: float
    """The weight of the graphs in which the corrected p-value is at most the level."""
    changed: bool
    """Whether its conditional changed: a support of at least 0.95, and `low` at least the smallest effect that counts.

    It is in doubt from a support of 0.95 down to 0.05.
    """
    marginal_p: float
    """Of a test of its marginal distribution alone, corrected for all variables (Holm)."""
    inherited_from: tuple[str, ...]
    """Where its marginal changed and its conditional did not: the variables upstream whose conditionals did."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class ChangeResult(Framed):
    """What changed between two tables or networks.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> smokers = fn.infer.intervene(asia, {"smoke": "yes"})
    >>> found = fn.compare.explain_change(asia, smokers)
    >>> round(found.nats, 3), found.changed()
    (0.693, ('smoke',))
    """

    nats: float
    """What the conditionals that changed, or may have, carry of KL(after || before): the sum of their nats."""
    by_variable: Mapping[str, VariableChange]
    """How each variable changed."""
    by_configuration: tuple[ConfigurationChange, ...]
    """What each configuration of the parents carries in the best graph, the largest first; of tables of states."""
    missing: tuple[MissingChange, ...]
    """The columns whose share of missing cells changed, those that changed most first; whatever their values are."""
    new_labels: Mapping[str, Mapping[State, int]]
    """The labels that only the later table has, by column, with their rows."""
    graphs: tuple[tuple[Dag, float], ...]
    """The graphs, the best first, and their weights."""
    level: float
    """That of the tests."""
    n_rows: tuple[int, int] | None
    """How many rows there were before and after; None for networks."""
    seed: int
    """The seed of permutations and bootstrap."""
    min_effect: float = 0.0
    """The smallest effect that counts, in nats."""
    numbers: Mapping[str, NumberChange] = field(default_factory=dict)
    """What the changed conditional of each number that changed, or is in doubt, makes of it in the best graph."""
    n_learned: int | None = None
    """How many rows, drawn at random, the graph was learned from where not from all."""

    def __repr__(self) -> str:
        doubted = self.in_doubt()
        doubts = f"; in doubt: {first_names(doubted)}" if doubted else ""
        lacking = [change.variable for change in self.missing]
        missing = f"; share of missing cells changed: {first_names(lacking)}" if lacking else ""
        changed = first_names(self.changed()) or "nothing"
        return f"ChangeResult({self.nats:.4g} nats; changed: {changed}{doubts}{missing})"

    @property
    def graph(self) -> Dag:
        """The best graph."""
        return self.graphs[0][0]

    def changed(self) -> tuple[str, ...]:
        """Return the variables whose conditional changed, those that carry most first."""
        found = [change for change in self.by_variable.values() if change.changed]
        return tuple(change.variable for change in sorted(found, key=lambda c: (-c.nats, c.variable)))

    def inherited(self) -> Mapping[str, tuple[str, ...]]:
        """Return the variables whose marginal alone changed, and from where."""
        return {c.variable: c.inherited_from for c in self.by_variable.values() if c.inherited_from}

    def told_of_rows(self) -> str | None:
        """Return in words that the graph was learned from some rows; None where it was from all, or given."""
        return None if self.n_learned is None else told_of_rows(self.n_learned, self.n_rows or ())

    def in_doubt(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Return the variables of which the graphs disagree, and the arcs that only some of them have.

        The arcs are those at the variable, or where none of these is disputed, all that are.
        """
        return {
            c.variable: _disputed(self.graphs, c.variable)
            for c in self.by_variable.values()
            if 1 - SURE < c.support < SURE
        }

    def undecided(self) -> tuple[str, ...]:
        """Return what the data leave open, a sentence for each group of variables that arcs between them decide on."""
        doubted, found = dict(self.in_doubt()), []
        while doubted:
            group, waiting, arcs = set[str](), [min(doubted)], set[tuple[str, str]]()
            while waiting:
                name = waiting.pop()
                if name in doubted and name not in group:
                    group.add(name)
                    arcs.update(doubted[name])
                    waiting += [end for arc in doubted[name] for end in arc if name in arc]
            found.append(_open_question(sorted(group), arcs))
            doubted = {name: of for name, of in doubted.items() if name not in group}
        return tuple(found)

    def to_frame(self, by: Literal["variable", "configuration"] = "variable") -> pa.Table:
        """Return one row a variable, or one a configuration and state."""
        if word(by, "by", ("variable", "configuration"), error=FishernetError) == "variable":
            names = (
                "variable",
                "nats",
                "low",
                "high",
                "by_chance",
                "covered",
                "p_corrected",
                "support",
                "changed",
                "marginal_p",
            )
            rows = list(self.by_variable.values())
            columns = {name: [getattr(row, name) for row in rows] for name in names}
            return pa.table({**columns, "inherited_from": [", ".join(row.inherited_from) for row in rows]})
        cells = [(c, state) for c in self.by_configuration for state in c.before]
        return pa.table(
            {
                "variable": [c.variable for c, _ in cells],
                "configuration": [shown_states(dict(c.configuration)) for c, _ in cells],
                "nats": [c.nats for c, _ in cells],
                "probability": [c.probability for c, _ in cells],
                "state": [str(state) for _, state in cells],
                "before": [c.before[state] for c, state in cells],
                "after": [c.after[state] for c, state in cells],
            }
        )


def explain_change(
    before: Any,
    after: Any,
    net: Graph | HasGraph | None = None,
    *,
    graphs: int = 60,
    permutations: int = 999,
    resamples: int = 200,
    level: float = 0.05,
    min_effect: float = 0.0,
    smoothing: float = 1.0,
    bins: Bins | None = None,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> ChangeResult:
    """Say which conditionals changed between two tables, by how many nats, and from what to what.

    Parameters
    ----------
    before, after : Table, data frame, Source, or BayesianNetwork
        Two tables of the same columns, or two networks over one graph, of which the answer is exact: no test, no
        interval. Rows with weights as for `two_sample_test`. Of sources that know statistics alone, as `Blocks`, counts
        are asked; of streams, too.
    net : BayesianNetwork or Dag, optional
        The graph to explain by. Without it, one is learned from both tables together, and the answer averaged over
        graphs with other directions of its arcs: those in which few conditionals changed count most. Of more than
        100,000 rows, it is learned from so many drawn at random, and all are tested. A column that a given graph lacks
        is left out with a warning; where a table lacks a variable of the graph, its children are given their other
        parents.
    graphs : int
        How many graphs are looked at, at most.
    permutations : int
        How many draws a test makes at first; ten times as many, or more for many variables, where these speak of a
        change.
    resamples : int
        How many tables are drawn for an interval, at each divergence that is tried; of numbers, reweighted tables.
    level : float
        Up to which corrected p-values count as found.
    min_effect : float
        The smallest effect that counts, in nats: a variable changed if its test says so and the lower end of its 95 %
        interval is at least this. With many rows a test finds changes that matter to nobody.
    smoothing : float
        The pseudo-count of each state in the probabilities before and after of `by_configuration`, above 0.
    bins : int, or mapping from column to int or to cut points; optional
        As for `two_sample_test`.
    seed : None, int or numpy.random.Generator
        Of permutations and bootstrap. By default the same answer each time.
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    ChangeResult
        The same in whatever order columns and rows come; of more than 100,000 rows without `net`, columns alone.

    Raises
    ------
    SchemaError
        When columns differ, a table has no row, or networks do not have one graph.
    MissingValueError
        When a source of statistics alone lacks cells, and no graph is given.

    Warns
    -----
    FishernetWarning
        When permutations are so few that no p-value can be 0.05.

    See Also
    --------
    two_sample_test : whether there is a change at all.
    explain_changes : of more than two tables.

    Notes
    -----
    For columns of states, the parents' configurations and their sizes in both tables are held, and rows of one
    configuration change places. Four statistics are joined: many small changes, a shift of the same direction
    everywhere and a large change in one configuration are each seen by another one. Numbers, and labels below numbers,
    are tested within strata of the propensity of the later table given the parents (Rosenbaum and Rubin, 1983), by a
    regression's residuals: nearly exact, as far as rows of one stratum are alike in what the parents do to them. The
    corrected p-values (Holm's with Sidak's bound, and as Tarone's, 1990, where few rows allow few p-values) hold
    whatever changed upstream, if the graph is given and rows are independent. A cell may be missing for any reason that
    depends on the parents alone, which may differ between the tables; rows that lack a cell of a family are left out of
    that family's test.

    The nats of states tell of the configurations that both tables have. Estimate and interval invert a test along a
    path from no change to what both tables say, so that chance does not enlarge them, and an interval holds 0 where the
    test does not reject.

    Conclusions are about conditionals given the parents in these graphs. Where arcs are read as causes, a changed
    conditional is a changed mechanism. Without a graph, that changes are sparse decides on directions (Perry, von
    Kuegelgen and Schoelkopf, 2022); `ChangeResult.undecided` says what it leaves open.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> cured = fn.infer.intervene(asia, {"bronc": "no"})
    >>> found = fn.compare.explain_change(asia.sample(3000, seed=1), cured.sample(3000, seed=2), asia)
    >>> found.changed(), dict(found.inherited())
    (('bronc',), {'dysp': ('bronc',)})
    """
    options = Options.checked(permutations, resamples, level, min_effect, smoothing, seed)
    check.integer(graphs, "graphs", least=1)
    if _are_networks(before, after):
        return _of_networks(before, after, options)
    if net is not None:
        graph_of(net, "net")
    one: Source
    other: Source
    if is_statistics(before) or is_statistics(after):
        one, other = counted(before, after, "explain_change", ("before", "after"))
        names = one.names
    else:
        read = as_data(before, "explain_change"), as_data(after, "explain_change")
        first, second = joined(read[0], read[1], bins, "explain_change", ("before", "after"))
        if net is None:
            first, second = without_determined_columns(first, second, each=True)
        else:
            net, (first, second) = shared_with_graph(net, (first, second), read, "explain_change")
        names = first.names
        one, other = in_order(first), in_order(second)
    families = families_of_tables((one, other), options)
    graph = graph_of_tables((one, other)) if net is None else GraphOfTables(given_graph(net, one.names))
    near = sparse_graphs(families, graph.dag, graphs, options.level) if net is None else ((graph.dag, 1.0),)
    result = explained((one, other), families, near, names, options, progress)
    return replace(result, n_learned=graph.n_learned)


@dataclass(frozen=True)
class Options:
    """How two tables are compared; the arguments of `explain_change`, checked."""

    permutations: int
    resamples: int
    level: float
    min_effect: float
    smoothing: float
    seed: int

    @classmethod
    def checked(
        cls, permutations: int, resamples: int, level: float, min_effect: float, smoothing: float, seed: Seed
    ) -> Options:
        """Return the options; an error of one that cannot be."""
        level = check.number(level, "level", least=0, most=1)
        min_effect = check.number(min_effect, "min_effect", least=0)
        check.integer(resamples, "resamples", least=2, most=MOST_SPLITS)
        check.number(smoothing, "smoothing", above=0)
        check_permutations(permutations)
        return cls(permutations, resamples, level, min_effect, smoothing, fixed_seed(seed))


def explained(
    tables: tuple[Source, Source],
    families: Families,
    near: Weighted,
    names: Sequence[str],
    options: Options,
    progress: Progress | None = None,
) -> ChangeResult:
    """Return what changed between two tables by graphs with weights; the variables in the order of the names."""
    found = _Told.of(families, near, options.level, progress)
    result = _result(tables, families, near, found, options)
    return replace(result, by_variable=MappingProxyType({name: result.by_variable[name] for name in names}))


def families_of_tables(tables: tuple[Source, Source], options: Options, counts: Counts | None = None) -> Families:
    """Return the families of two tables, whose counts may be known."""
    return families_between(
        tables, Effort(options.permutations, options.resamples, options.level, options.seed), counts
    )


def _are_networks(before: Any, after: Any) -> bool:
    networks = [is_model(data) for data in (before, after)]
    if any(networks) and not all(networks):
        raise SchemaError(
            "explain_change takes two tables, or two networks; a network and a table are compared by score_test"
        )
    return all(networks)


def _of_networks(before: Any, after: Any, options: Options) -> ChangeResult:
    """Return the exact shares of two networks over one graph."""
    if set(before.names) != set(after.names) or set(before.dag.edges) != set(after.dag.edges):
        raise SchemaError("explain_change needs two networks over one graph; fit both to it by learn.parameters")
    if before.variables != after.variables:
        raise SchemaError("explain_change needs networks whose variables come in one order, with the same states")
    parts = nats_by_configuration(after, before)
    nats = [float(part.sum()) for part in parts]
    changed = {name for name, n in zip(after.names, nats, strict=True) if n > 0 and n >= options.min_effect}
    same = [np.allclose(*pair, rtol=0, atol=SAME) for pair in zip(marginals(before), marginals(after), strict=True)]
    by_variable = {}
    for name, n, is_same in zip(after.names, nats, same, strict=True):
        found = name in changed
        upstream = () if found or is_same else _upstream(after.dag, name, changed)
        by_variable[name] = VariableChange(
            name, n, math.nan, math.nan, 0.0, 1.0, math.nan, float(found), found, math.nan, upstream
        )
    numbers = any(variable.is_continuous for variable in after.variables)
    changes = () if numbers else of_networks(before, after)
    graphs, how = ((after.dag, 1.0),), (options.level, None, options.seed, options.min_effect)
    return ChangeResult(sum(nats), MappingProxyType(by_variable), changes, (), {}, graphs, *how)


def sparse_graphs(families: Families, best: Dag, most: int, level: float) -> Weighted:
    """Return graphs in which few conditionals changed, with their weights."""
    found = graphs_of_sparse_change(families, tuple(tuple(sorted(p)) for p in best.parents), most, level)
    return tuple((Dag(best.names, parents), weight) for parents, weight in found)


def _families_of_dag(dag: Dag) -> list[Family]:
    return families_of(tuple(tuple(sorted(parents)) for parents in dag.parents))


@dataclass(frozen=True, eq=False)
class _Told:
    """What the graphs say of each variable, by their weights."""

    support: Array
    p_corrected: Array
    nats: Array  # (variables, 5): as the fields of `Nats`

    @classmethod
    def of(cls, families: Families, near: Weighted, level: float, progress: Progress | None) -> _Told:
        of_graphs, weights = [_families_of_dag(dag) for dag, _ in near], np.array([weight for _, weight in near])
        families.prepare({family for of in of_graphs for family in of})
        reporter = Reporter(progress, "graphs")
        p_values, nats = [], []
        for done, of in enumerate(of_graphs):
            reporter.step(done, len(of_graphs))
            p_values.append(np.nan_to_num(families.corrected(of), nan=1.0))
            nats.append([astuple(families.nats(f)) for f in of])
        reporter.finish(len(of_graphs))
        corrected, said = np.array(p_values).reshape(len(near), -1), np.array(nats).reshape(len(near), -1, 5)
        support, p_corrected = (np.round(weights @ values, DIGITS) for values in (corrected <= level, corrected))
        heavy = np.cumsum(weights) - weights < SURE  # the heaviest graphs, the first of which comes first
        together = np.tensordot(weights, np.where(np.isfinite(said), said, 0.0), axes=1)
        together[:, 1], together[:, 2] = said[heavy, :, 1].min(axis=0), said[heavy, :, 2].max(axis=0)
        return cls(support, p_corrected, together)


def _result(
    tables: tuple[Source, Source], families: Families, near: Weighted, found: _Told, options: Options
) -> ChangeResult:
    names, level = tables[0].names, options.level
    marginal = holm(np.array([families.marginal_p_value(v) for v in range(len(names))]))
    lows = found.nats[:, OF_NATS.index("low")]
    counts = (found.support >= SURE) & (lows >= options.min_effect)
    changed = {name for name, it_does in zip(names, counts, strict=True) if it_does}
    best = near[0][0]
    of_best = _families_of_dag(best)
    told = {name: families.number_change(of_best[v]) for v, name in enumerate(names) if found.support[v] > 1 - SURE}
    by_variable = {}
    for v, name in enumerate(names):
        inherits = found.support[v] <= 1 - SURE and marginal[v] <= level
        by_variable[name] = VariableChange(
            name,
            **dict(zip(OF_NATS, found.nats[v].tolist(), strict=True)),
            p_corrected=float(found.p_corrected[v]),
            support=float(found.support[v]),
            changed=name in changed,
            marginal_p=float(marginal[v]),
            inherited_from=_upstream(best, name, changed) if inherits else (),
        )
    return ChangeResult(
        float(found.nats[found.support > 1 - SURE, 0].sum()),
        MappingProxyType(by_variable),
        families.configurations(of_best, options.smoothing),
        missing_changes(*tables, level),
        MappingProxyType(families.new_labels()),
        near,
        level,
        (round(tables[0].total), round(tables[1].total)),
        options.seed,
        options.min_effect,
        MappingProxyType({name: change for name, change in told.items() if change is not None}),
    )


def _upstream(dag: Dag, name: str, changed: Collection[str]) -> tuple[str, ...]:
    return tuple(other for other in dag.ancestors(name) if other in changed and other != name)


def _open_question(group: Sequence[str], arcs: Collection[tuple[str, str]]) -> str:
    """Return the sentence that says which arcs decide which variables of a group changed."""
    pairs = sorted({(min(arc), max(arc)) for arc in arcs})
    names = " or ".join([*filter(None, [", ".join(cut(name, 40) for name in group[:-1])]), cut(group[-1], 40)])
    if pairs == [tuple(group)]:
        return f"{names} changed, by the direction of the arc between them"
    between = ", ".join(f"{cut(one, 40)} - {cut(other, 40)}" for one, other in pairs[:MOST_ARCS])
    return f"{names} may have changed, by the arcs {between}{' and others' if len(pairs) > MOST_ARCS else ''}"


def _disputed(graphs: Sequence[tuple[Dag, float]], name: str) -> tuple[tuple[str, str], ...]:
    """Return the arcs that some graphs have and others not: those at a variable, or all if there are none."""
    arcs: list[set[tuple[str, str]]] = [set(dag.edges) for dag, _ in graphs]
    disputed = sorted(arcs[0].union(*arcs) - arcs[0].intersection(*arcs))
    return tuple(arc for arc in disputed if name in arc) or tuple(disputed)
