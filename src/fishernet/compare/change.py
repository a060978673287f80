"""What changed between two tables: which conditionals, from what to what, and what is only inherited from upstream.

The Kullback-Leibler divergence of a network fitted to the later rows from one of the same graph fitted to the earlier
rows is a sum over the variables (the chain rule): each carries the nats by which its own conditional changed, given its
parents, whatever happened to these. A marginal may change although its conditional did not; that change is inherited.

A graph is learned from both tables together. Data leave some arcs open, and where a change is seen depends on them; so
the answer is an average over graphs of nearly equal score, and says which findings are not the same in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import a, cut, listed
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, generator, stream_key
from fishernet.base.vocabulary import word
from fishernet.compare.conditional_tests import conditional_draws, step_down_max_t
from fishernet.compare.corrections import MOST_SPLITS, holm, max_t
from fishernet.compare.mechanisms import divergences, marginals, nats_by_configuration, rows_of_table
from fishernet.compare.near_graphs import near_graphs
from fishernet.compare.shares import first_names
from fishernet.compare.two_sample import check_permutations, joined, split_distances, without_determined_columns
from fishernet.data import State, Statistic, Table
from fishernet.data.options import Bins
from fishernet.data.pooling import stacked
from fishernet.graphs import Dag, Graph
from fishernet.graphs.graph import HasGraph, graph_of
from fishernet.infer.factors import is_model, parent_marginals
from fishernet.kernels import FisherKernel
from fishernet.kernels.features import Features
from fishernet.kernels.kernel import FeatureMade
from fishernet.kernels.parts import FeatureParts
from fishernet.kernels.rows import Rows
from fishernet.learn import parameters, structure
from fishernet.learn.missing.incomplete import AvailableCases
from fishernet.learn.structures import usual_score
from fishernet.models import BayesianNetwork
from fishernet.models.conditionals.base import shown_states
from fishernet.scores.named import named_score

Array = npt.NDArray[np.float64]

SUPPORTED = 0.5  # of the graphs' weight, above which a variable counts as changed: a tie of direction is in doubt
DIGITS = 12  # of means of p-values: with weights that add up to 1 but for rounding, 1 shall be 1
LEAST_LEFT = 1e-12  # the share of a variance that a regression leaves, at least
SAME = 1e-12  # marginals of two networks that differ by less are equal but for rounding
SURE = 0.95  # of the graphs' weight: a finding with less, and more than the rest to 1, hangs on the graph


@dataclass(frozen=True, slots=True)
class VariableChange:
    """How one variable's conditional and its marginal changed."""

    variable: str
    """Its name."""
    nats: float
    """What its conditional carries of KL(after || before) beyond chance, averaged over the graphs; at least 0."""
    low: float
    """The 95 % interval of it, over reweighted or resampled rows and the graphs; NaN for networks."""
    high: float
    by_chance: float
    """What would be expected if nothing had changed: about (parameters / 2) (1 / rows before + 1 / rows after)."""
    p_max_t: float
    """Of the test of its conditional given its parents, corrected for all variables, averaged over the graphs."""
    support: float
    """The weight of the graphs in which the corrected p-value is at most the level."""
    changed: bool
    """Whether its conditional changed: the support is above one half."""
    marginal_p: float
    """Of a test of its marginal distribution alone, corrected for all variables (Holm)."""
    inherited_from: tuple[str, ...]
    """Where its marginal changed and its conditional did not: the variables upstream whose conditionals did."""


@dataclass(frozen=True, slots=True, repr=False)
class ConfigurationChange:
    """How the distribution of a variable changed in one configuration of its parents."""

    variable: str
    """Its name."""
    configuration: Mapping[str, State]
    """The states of its parents."""
    nats: float
    """What it carries of KL(after || before)."""
    probability: float
    """Of the configuration, after."""
    before: Mapping[State, float]
    """The probability of each state."""
    after: Mapping[State, float]

    def __repr__(self) -> str:
        given = f" given {cut(shown_states(dict(self.configuration)), 200)}" if self.configuration else ""
        state, name = self.state, cut(self.variable, 80)
        change = f"{self.before[state]:.3g} -> {self.after[state]:.3g}, {self.nats:.4g} nats"
        return f"ConfigurationChange({name} = {cut(str(state), 80)}{given}: {change})"

    @property
    def state(self) -> State:
        """The state whose probability changed most, the first of those that changed alike."""
        return max(self.after, key=lambda state: round(abs(self.after[state] - self.before[state]), 12))


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
    """KL(after || before), corrected for chance and averaged over the graphs: the sum of the variables' nats."""
    by_variable: Mapping[str, VariableChange]
    """How each variable changed."""
    by_configuration: tuple[ConfigurationChange, ...]
    """What each configuration of the parents carries in the best graph, the largest first; of tables of states."""
    graphs: tuple[tuple[Dag, float], ...]
    """The graphs, the best first, and their weights."""
    level: float
    """That of the tests."""
    n_rows: tuple[int, int] | None
    """How many rows there were before and after; None for networks."""
    seed: int
    """The seed of permutations and bootstrap."""

    def __repr__(self) -> str:
        doubted = self.in_doubt()
        doubts = f"; in doubt: {first_names(doubted)}" if doubted else ""
        return f"ChangeResult({self.nats:.4g} nats; changed: {first_names(self.changed()) or 'nothing'}{doubts})"

    def changed(self) -> tuple[str, ...]:
        """Return the variables whose conditional changed, those that carry most first."""
        found = [change for change in self.by_variable.values() if change.changed]
        return tuple(change.variable for change in sorted(found, key=lambda c: (-c.nats, c.variable)))

    def inherited(self) -> Mapping[str, tuple[str, ...]]:
        """Return the variables whose marginal alone changed, and from where."""
        return {c.variable: c.inherited_from for c in self.by_variable.values() if c.inherited_from}

    def in_doubt(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Return the variables of which graphs of nearly equal score disagree, and the arcs that only some have.

        The arcs are those at the variable, or where none of these is disputed, all that are.
        """
        return {
            c.variable: _disputed(self.graphs, c.variable)
            for c in self.by_variable.values()
            if 1 - SURE < c.support < SURE
        }

    def to_frame(self, by: Literal["variable", "configuration"] = "variable") -> pa.Table:
        """Return one row a variable, or one a configuration and state."""
        if word(by, "by", ("variable", "configuration"), error=FishernetError) == "variable":
            names = ("variable", "nats", "low", "high", "by_chance", "p_max_t", "support", "changed", "marginal_p")
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
    graphs: int = 10,
    permutations: int = 999,
    resamples: int = 200,
    level: float = 0.05,
    smoothing: float = 1.0,
    bins: Bins | None = None,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> ChangeResult:
    """Say which conditionals changed between two tables, by how many nats, and from what to what.

    Parameters
    ----------
    before, after : Table, data frame, or BayesianNetwork
        Two tables of the same columns, or two networks over one graph, of which the answer is exact: no test, no
        interval.
    net : BayesianNetwork or Dag, optional
        The graph to explain by. Without it, one is learned from both tables together, and the answer averaged over
        graphs of nearly equal score.
    graphs : int
        Over how many graphs at most: those within log 20 nats of the best score, by changes of single arcs.
    permutations : int
        How many draws the tests of the conditionals make.
    resamples : int
        Of the bootstrap, for the intervals.
    level : float
        Up to which corrected p-values count as found.
    smoothing : float
        The pseudo-count of the two fitted networks, above 0, so that no divergence is infinite.
    bins : int, or mapping from column to int or to cut points; optional
        As for `two_sample_test`.
    seed : None, int or numpy.random.Generator
        Of permutations and bootstrap. By default the same answer each time.
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    ChangeResult
        The same in whatever order columns and rows come.

    Raises
    ------
    SchemaError
        When columns differ, a table has no row, or networks do not have one graph.

    Warns
    -----
    FishernetWarning
        When permutations are so few that no p-value can be 0.05.

    See Also
    --------
    two_sample_test : whether there is a change at all.

    Notes
    -----
    For columns of states, the parents' configurations and their sizes in both tables are held, and rows of one
    configuration change places; the corrected p-values (Westfall and Young, 1993, step-down) hold whatever changed
    upstream, if the graph is given and rows are independent. Columns of numbers are tested by exchanging whole rows:
    there, a change upstream can name its children too. A cell may be missing for any reason that depends on the parents
    alone; rows that lack a cell of a family are left out of that family's test.

    Conclusions are about conditionals given the parents in these graphs. Where arcs are read as causes, a changed
    conditional is a changed mechanism; `ChangeResult.in_doubt` says where the direction of an arc that data cannot tell
    decides.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> cured = fn.infer.intervene(asia, {"bronc": "no"})
    >>> found = fn.compare.explain_change(asia.sample(3000, seed=1), cured.sample(3000, seed=2), asia)
    >>> found.changed(), dict(found.inherited())
    (('bronc',), {'dysp': ('bronc',)})
    """
    level = check.number(level, "level", least=0, most=1)
    check.integer(graphs, "graphs", least=1)
    check.integer(resamples, "resamples", least=2, most=MOST_SPLITS)
    check.number(smoothing, "smoothing", above=0)
    check_permutations(permutations)
    number = fixed_seed(seed)
    if _are_networks(before, after):
        return _of_networks(before, after, level, number)
    if net is not None:
        graph_of(net, "net")
    first, second = joined(before, after, bins, "explain_change", ("before", "after"))
    if net is None:
        first, second = without_determined_columns(first, second, each=True)
    order = first.names
    names = sorted(order)
    tables = _in_order(first.select(names)), _in_order(second.select(names))
    near = _graphs_of(tables, net, graphs)
    dags = [dag for dag, _ in near]
    numbers = any(variable.is_continuous for variable in tables[0].variables)
    families = None if numbers else _Families(tables, dags)
    if families is None:
        p_values = [_test_of_numbers(tables, dag, permutations, number) for dag in dags]
    else:
        p_values = _tests_of_states(families, dags, permutations, number)
    told = _told(near, Reporter(progress, "graphs"))
    found = [_Explained.of(tables, dag, smoothing, p) for dag, p in zip(told, p_values, strict=True)]
    weights = np.array([weight for _, weight in near])
    intervals = _intervals(tables, found, weights, families, smoothing, resamples, number)
    return _averaged(tables, near, found, weights, intervals, level, order, number)


def _in_order(table: Table) -> Table:
    """Return the rows sorted, so that splits and resamples are the same in whatever order they came."""
    return table[np.lexsort(table.codes)] if table.variables else table


def _are_networks(before: Any, after: Any) -> bool:
    networks = [is_model(data) for data in (before, after)]
    if any(networks) and not all(networks):
        raise SchemaError(
            "explain_change takes two tables, or two networks; a network and a table are compared by score_test"
        )
    return all(networks)


def _of_networks(before: Any, after: Any, level: float, seed: int) -> ChangeResult:
    """Return the exact shares of two networks over one graph."""
    if set(before.names) != set(after.names) or set(before.dag.edges) != set(after.dag.edges):
        raise SchemaError("explain_change needs two networks over one graph; fit both to it by learn.parameters")
    if before.variables != after.variables:
        raise SchemaError("explain_change needs networks whose variables come in one order, with the same states")
    parts = nats_by_configuration(after, before)
    nats = [float(part.sum()) for part in parts]
    changed = {name for name, n in zip(after.names, nats, strict=True) if n > 0}
    same = [np.allclose(*pair, rtol=0, atol=SAME) for pair in zip(marginals(before), marginals(after), strict=True)]
    by_variable = {}
    for name, n, is_same in zip(after.names, nats, same, strict=True):
        found = name in changed
        upstream = () if found or is_same else _upstream(after.dag, name, changed)
        by_variable[name] = VariableChange(
            name, n, math.nan, math.nan, 0.0, math.nan, float(found), found, math.nan, upstream
        )
    changes = _configurations(before, after, parts)
    return ChangeResult(sum(nats), MappingProxyType(by_variable), changes, ((after.dag, 1.0),), level, None, seed)


def _arcs_of(graph: Graph) -> list[tuple[str, str]]:
    """Return the arcs of a directed graph without cycles, as names."""
    links = graph.links()
    if not links.layered or links.lines:
        message = (
            f"net must be a BayesianNetwork or a Dag, not {a(type(graph).__name__)}, which has cycles or no directions"
        )
        raise SchemaError(message, parameter="net")
    return [(graph.names[u], graph.names[v]) for u, v in links.arcs]


def _graphs_of(tables: tuple[Table, Table], net: Graph | HasGraph | None, most: int) -> tuple[tuple[Dag, float], ...]:
    """Return the graph that was given, or graphs of nearly equal score; on the tables' columns in their order."""
    names = tables[0].names
    if net is not None:
        graph = graph_of(net, "net")
        if set(graph.names) != set(names):
            different = sorted(set(graph.names) ^ set(names))
            raise SchemaError(f"the graph and the tables must have the same variables; {listed(different)} differ")
        return ((Dag.from_edges(names, _arcs_of(graph)), 1.0),)
    rows = stacked(tables)
    score = usual_score(rows)
    best = structure(rows, score=score, seed=0).dag
    source = AvailableCases(rows) if rows.has_missing else rows
    return near_graphs(source, best, named_score(score), most)


def _told(near: Sequence[tuple[Dag, float]], reporter: Reporter) -> Iterator[Dag]:
    for done, (dag, _) in enumerate(near):
        reporter.step(done, len(near))
        yield dag
    reporter.finish(len(near))


@dataclass(frozen=True, eq=False)
class _Explained:
    """What one graph says."""

    before: BayesianNetwork
    after: BayesianNetwork
    parts: list[Array]  # nats by variable and configuration
    p_max_t: Array  # by variable

    @classmethod
    def of(cls, tables: tuple[Table, Table], dag: Dag, smoothing: float, p_max_t: Array) -> _Explained:
        before, after = (_fitted(dag, table, smoothing) for table in tables)
        return cls(before, after, nats_by_configuration(after, before), p_max_t)

    def families(self) -> list[tuple[int, ...]]:
        """Return each variable's parents with itself as the last, in the order of its conditional."""
        return [(*c.parents, c.child) for c in self.after.conditionals]

    def nats(self) -> Array:
        return np.array([float(part.sum()) for part in self.parts])


def _tests_of_states(families: _Families, dags: Sequence[Dag], permutations: int, seed: int) -> list[Array]:
    """Return the corrected p-values of the conditionals in each graph, each tested within its parents' states."""
    random = generator(seed)
    of_graphs = [[(*sorted(parents), v) for v, parents in enumerate(dag.parents)] for dag in dags]
    drawn = {
        family: conditional_draws(*families.cells(family), permutations, random)
        for family in sorted({family for of_graph in of_graphs for family in of_graph})
    }
    return [step_down_max_t(np.stack([drawn[family] for family in of_graph], axis=1)) for of_graph in of_graphs]


def _test_of_numbers(tables: tuple[Table, Table], dag: Dag, permutations: int, seed: int) -> Array:
    """Return the corrected p-values of linear-Gaussian conditionals: rows change places between the tables."""
    rows = stacked(tables)
    kernel = _CompleteFamilies(_fitted(dag, rows, 0.0))
    first, second = (kernel.row_sums(kernel.rows(table)) for table in tables)
    distances = split_distances(first, second, permutations, stream_key(seed), Reporter(None, ""))
    assert distances.by_variable is not None
    return max_t(distances.by_variable)


class _CompleteFamilies(FeatureMade):
    """The Fisher kernel of a network of numbers, in which a row tells of the conditionals alone whose family it knows.

    What is expected of a missing cell comes through other conditionals: where one of these changed, all would seem to.
    """

    def __init__(self, net: BayesianNetwork) -> None:
        self._kernel = FisherKernel(net, seed=0)
        self._families = [[*c.parents, c.child] for c in net.conditionals]

    @property
    def feature_parts(self) -> FeatureParts | None:
        return self._kernel.feature_parts

    def rows(self, X: Table) -> Rows:
        return self._kernel.rows(X)

    def features(self, X: Table) -> Features:
        known = ~np.isnan(X.numbers)
        tells = np.stack([known[family].all(axis=0) for family in self._families], axis=1)
        parts = self._kernel.feature_parts
        assert parts is not None
        return np.asarray(self._kernel.features(X) * tells[:, parts.variable_of])


class _Families:
    """The counts of families in both tables, over the rows that are complete in a family; each is counted once."""

    def __init__(self, tables: tuple[Table, Table], dags: Sequence[Dag]) -> None:
        sets = sorted({tuple(sorted((*parents, v))) for dag in dags for v, parents in enumerate(dag.parents)})
        counted = [AvailableCases(table).statistics(sets) for table in tables]
        self._statistics = dict(zip(sets, zip(*counted, strict=True), strict=True))

    def cells(self, family: tuple[int, ...]) -> tuple[Array, Array]:
        """Return the counts before and after, (configurations, states): the child is the family's last member."""
        before, after = self._statistics[tuple(sorted(family))]
        return _cells(before, family), _cells(after, family)


def _fitted(dag: Dag, table: Table, smoothing: float) -> BayesianNetwork:
    if table.variables and all(variable.is_continuous for variable in table.variables):
        return parameters(dag, table)
    em: dict[str, Any] = {"seed": 0} if table.has_missing else {}
    return parameters(dag, table, smoothing=smoothing, **em)


def _averaged(
    tables: tuple[Table, Table],
    near: tuple[tuple[Dag, float], ...],
    found: list[_Explained],
    weights: Array,
    intervals: Array,
    level: float,
    order: Sequence[str],
    seed: int,
) -> ChangeResult:
    """Return the mean of what graphs say, by their weights."""
    names = tables[0].names
    nats = weights @ np.maximum([_corrected(one, tables) for one in found], 0.0)
    of_graphs = np.array([one.p_max_t for one in found])
    p_values, support = (np.round(weights @ values, DIGITS) for values in (of_graphs, of_graphs <= level))
    marginal = holm(np.array([_marginal_p(tables, v) for v in range(len(names))]))
    chance = weights @ np.array([_by_chance(one.after, tables) for one in found])
    changed = {name for name, s in zip(names, support, strict=True) if s > SUPPORTED}
    best = near[0][0]
    by_variable = {}
    for v, name in enumerate(names):
        inherits = name not in changed and marginal[v] <= level
        by_variable[name] = VariableChange(
            name,
            float(nats[v]),
            float(intervals[v, 0]),
            float(intervals[v, 1]),
            float(chance[v]),
            float(p_values[v]),
            float(support[v]),
            name in changed,
            float(marginal[v]),
            _upstream(best, name, changed) if inherits else (),
        )
    return ChangeResult(
        float(nats.sum()),
        MappingProxyType({name: by_variable[name] for name in order}),
        _configurations(found[0].before, found[0].after, found[0].parts),
        near,
        level,
        (tables[0].n_rows, tables[1].n_rows),
        seed,
    )


def _upstream(dag: Dag, name: str, changed: Collection[str]) -> tuple[str, ...]:
    return tuple(other for other in dag.ancestors(name) if other in changed and other != name)


def _by_chance(net: BayesianNetwork, tables: tuple[Table, Table]) -> Array:
    """Return the nats that each variable is expected to carry where nothing changed."""
    rows = 1 / tables[0].n_rows + 1 / tables[1].n_rows
    return np.array([conditional.n_parameters * rows / 2 for conditional in net.conditionals])


def _marginal_p(tables: tuple[Table, Table], v: int) -> float:
    """Return the p-value of a test of one column alone: chi-squared, or of numbers Kolmogorov and Smirnov's."""
    variable = tables[0].variables[v]
    known = [table.codes[v][~variable.missing(table.codes[v])] for table in tables]
    if min(map(len, known)) == 0:
        return 1.0
    if variable.is_continuous:
        from scipy.stats import ks_2samp  # slow to import, and needed by few calls

        return float(ks_2samp(known[0], known[1]).pvalue)
    counts = np.array([np.bincount(codes, minlength=variable.cardinality) for codes in known], dtype=np.float64)
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return 1.0
    from scipy.special import gammaincc  # slow to import, and needed by few calls

    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(gammaincc((counts.shape[1] - 1) / 2, ((counts - expected) ** 2 / expected).sum() / 2))


def _configurations(
    before: BayesianNetwork, after: BayesianNetwork, parts: Sequence[Array]
) -> tuple[ConfigurationChange, ...]:
    """Return how each configuration changed, the largest first; of networks of tables."""
    if any(variable.is_continuous for variable in after.variables):
        return ()
    found = []
    shares = parent_marginals(after)
    for v, (nats, one, other) in enumerate(zip(parts, before.conditionals, after.conditionals, strict=True)):
        p, q = (rows_of_table(c) for c in (one, other))
        parents, states = other.variables[:-1], after.variables[v].states
        for j in np.flatnonzero(nats > 0):
            at = np.unravel_index(int(j), [parent.cardinality for parent in parents]) if parents else ()
            configuration = {parent.name: parent.states[int(k)] for parent, k in zip(parents, at, strict=True)}
            rows = (dict(zip(states, row[j].tolist(), strict=True)) for row in (p, q))
            share = float(shares[v][j])
            found.append(ConfigurationChange(after.names[v], configuration, float(nats[j]), share, *rows))
    return tuple(sorted(found, key=lambda change: (-change.nats, change.variable)))


def _disputed(graphs: Sequence[tuple[Dag, float]], name: str) -> tuple[tuple[str, str], ...]:
    """Return the arcs that some graphs have and others not: those at a variable, or all if there are none."""
    arcs: list[set[tuple[str, str]]] = [set(dag.edges) for dag, _ in graphs]
    disputed = sorted(arcs[0].union(*arcs) - arcs[0].intersection(*arcs))
    return tuple(arc for arc in disputed if name in arc) or tuple(disputed)


# --------------------------------------------------------------------------------------------------------- intervals


def _intervals(
    tables: tuple[Table, Table],
    found: Sequence[_Explained],
    weights: Array,
    families: _Families | None,
    smoothing: float,
    resamples: int,
    seed: int,
) -> Array:
    """Return 95 % intervals of each variable's nats, (n_variables, 2): percentiles over resampled rows and graphs.

    The divergence of fitted networks is too large by what chance adds, and resampling adds it once more; so resamples
    are moved to have the estimate corrected for chance as their mean, and cut at 0.
    """
    random = generator(seed)
    if families is None:
        drawn = _resampled_regressions(tables, found, resamples, random)
    else:
        drawn = _resampled_counts(families, found, smoothing, resamples, random)
    moved = np.concatenate(
        [of - of.mean(axis=0) + _corrected(one, tables) for of, one in zip(drawn, found, strict=True)]
    )
    shares = np.repeat(weights / resamples, resamples)
    ends = [_percentile(values, shares) for values in moved.T]
    return np.asarray(np.clip(np.array(ends).reshape(-1, 2), 0.0, None))


def _corrected(one: _Explained, tables: tuple[Table, Table]) -> Array:
    """Return each variable's nats less what chance adds to them."""
    return one.nats() - _by_chance(one.after, tables)


def _percentile(values: Array, shares: Array) -> tuple[float, float]:
    """Return the values below which 2.5 and 97.5 % of the shares lie."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(shares[order])
    low, high = np.minimum(np.searchsorted(reached, [0.025, 0.975]), len(values) - 1)
    return float(values[order[low]]), float(values[order[high]])


def _resampled_counts(
    families: _Families, found: Sequence[_Explained], smoothing: float, resamples: int, random: np.random.Generator
) -> list[Array]:
    """Return each variable's nats with resampled counts of its family, (resamples, n_variables) for each graph."""
    of_graphs = [one.families() for one in found]
    nats = {
        family: _resampled_family(families.cells(family), smoothing, resamples, random)
        for family in dict.fromkeys(family for of_graph in of_graphs for family in of_graph)  # graphs share most
    }
    return [np.stack([nats[family] for family in of_graph], axis=1) for of_graph in of_graphs]


def _cells(statistic: Statistic, family: tuple[int, ...]) -> Array:
    """Return the counts of a family, (configurations, states): the child is its last member."""
    counts = statistic.table().transpose([statistic.variables.index(v) for v in family])
    return np.asarray(counts, dtype=np.float64).reshape(-1, counts.shape[-1])


def _resampled_family(counts: Sequence[Array], smoothing: float, resamples: int, random: np.random.Generator) -> Array:
    """Return the nats of a conditional with resampled counts, of before and after, (resamples,)."""
    thetas, weights = [], np.empty(0)
    for table in counts:
        total = table.sum()
        shares = table.ravel() / max(total, 1.0)
        drawn = random.multinomial(round(total), shares, size=resamples) if total else np.zeros((resamples, table.size))
        cells = drawn.reshape(resamples, *table.shape) + smoothing
        of_parents = cells.sum(axis=2)
        weights = of_parents / of_parents.sum(axis=1, keepdims=True)  # those of the later table stay
        thetas.append(cells / of_parents[:, :, None])
    return np.asarray((weights * divergences(thetas[1], thetas[0])).sum(axis=1))


def _resampled_regressions(
    tables: tuple[Table, Table],
    found: Sequence[_Explained],
    resamples: int,
    random: np.random.Generator,
) -> list[Array]:
    """Return each variable's nats of regressions fitted to reweighted rows, (resamples, n_variables) for each graph.

    Rows are given random weights, flat on the simplex (Rubin's Bayesian bootstrap, 1981), and not drawn again: few rows
    drawn again may all be the same row, to which no regression can be fitted. A regression takes the rows that are
    complete in its family, as counts do.
    """
    of_graphs = [one.families() for one in found]
    nats = {family: np.empty(resamples) for of_graph in of_graphs for family in of_graph}  # graphs share most
    numbers = [table.numbers for table in tables]
    for resample in range(resamples):
        weighted = [_Reweighted(columns, random.standard_exponential(columns.shape[1:])) for columns in numbers]
        for family, drawn in nats.items():
            drawn[resample] = _nats_of_regression(*(rows.moments(family) for rows in weighted))
    return [np.stack([nats[family] for family in of_graph], axis=1) for of_graph in of_graphs]


class _Reweighted:
    """Columns of numbers, (d, n), with weights of their rows."""

    def __init__(self, columns: Array, weights: Array) -> None:
        self._columns, self._weights = columns, weights
        self._whole = None if np.isnan(columns).any() else _moments(columns, weights)

    def moments(self, family: Sequence[int]) -> tuple[Array, Array]:
        """Return the mean and the covariance of some columns, over the rows that are complete in them."""
        at = list(family)
        if self._whole is not None:
            mean, covariance = self._whole
            return mean[at], covariance[np.ix_(at, at)]
        complete = ~np.isnan(self._columns[at]).any(axis=0)
        return _moments(self._columns[at][:, complete], self._weights[complete])


def _moments(columns: Array, weights: Array) -> tuple[Array, Array]:
    shares = weights / weights.sum()
    mean = columns @ shares
    off = columns - mean[:, None]
    return mean, (off * shares) @ off.T


def _nats_of_regression(before: tuple[Array, Array], after: tuple[Array, Array]) -> float:
    """Return the divergence of two regressions of the last column on the others, whose means are those after."""
    fits = []
    for mean, covariance in (before, after):
        sizes = np.sqrt(np.diagonal(covariance)) + np.finfo(float).tiny
        R = covariance / sizes[:, None] / sizes
        slopes = np.linalg.lstsq(R[:-1, :-1], R[:-1, -1])[0] if len(R) > 1 else np.zeros(0)
        rest = max(1.0 - float(slopes @ R[:-1, -1]), LEAST_LEFT) * sizes[-1] ** 2
        slopes = slopes * sizes[-1] / sizes[:-1]
        fits.append((mean[-1] - slopes @ mean[:-1], slopes, rest))
    (level, slopes, rest), (level_after, slopes_after, rest_after) = fits
    mean, covariance = after[0][:-1], after[1][:-1, :-1]
    turned = slopes_after - slopes
    apart = (level_after - level + turned @ mean) ** 2 + turned @ covariance @ turned
    return float(0.5 * (np.log(rest / rest_after) + (rest_after + apart) / rest - 1))
