"""What a graph does not say: pairs of columns that depend on one another beyond it.

A directed graph without cycles says that each variable is independent of those before it, in an order in which parents
come first, given its parents; all other independences follow. Each of these is tested in a table, exactly
(`conditionals.state_tests`): for a learned graph, an arc that the search left out may still be there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import SchemaError
from fishernet.base.names import cut, listed, several
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed
from fishernet.compare.conditionals.number_families import parent_columns, some_rows
from fishernet.compare.conditionals.number_tests import MOST_TOLD, Given, n_told
from fishernet.compare.conditionals.state_tests import (
    bound_without_draws,
    conditional_test,
    numbers_of_draws,
    rough_p_value,
)
from fishernet.compare.corrections import holm
from fishernet.compare.two_sample import check_permutations
from fishernet.data import Table
from fishernet.data.matching import as_data
from fishernet.data.options import AUTO, Bins
from fishernet.data.pooling import whole_rows
from fishernet.data.variable import Variable
from fishernet.graphs import Dag, Graph
from fishernet.graphs.graph import HasGraph, directed_arcs, graph_of
from fishernet.learn.missing.incomplete import AvailableCases
from fishernet.learn.numbers.preparing import within_bounds

Array = npt.NDArray[np.float64]

MOST_CELLS = 2**14  # of a test's counts
MOST_REGRESSED = 20_000  # rows, drawn at random
SCREENED = 0.1  # rough p-values above which nothing is drawn
MOST_NAMED = 3  # pairs in a repr


@dataclass(frozen=True, slots=True)
class Dependence:
    """What a table says of two columns that a graph calls independent given others."""

    first: str
    """The one that comes first in the graph's order."""
    second: str
    """The other."""
    given: tuple[str, ...]
    """The parents of the second."""
    nats: float
    """Their conditional mutual information, less what chance adds; at least 0."""
    p_value: float
    """Of the test that they are independent given the parents; NaN where the table can tell nothing."""
    p_corrected: float
    """Corrected for all pairs of the graph (Holm, 1979): the chance that any is false is at most the level."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class FalsifyResult(Framed):
    """The independences that a graph implies, as a table has them.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> alone = fn.Dag.from_edges(asia.names, [("smoke", "lung"), ("smoke", "bronc")])
    >>> [(pair.first, pair.second) for pair in fn.compare.falsify(alone, asia.sample(300, seed=1)).pairs()][:1]
    [('dysp', 'bronc')]
    """

    independences: tuple[Dependence, ...]
    """All that the graph implies, those that depend most first."""
    untested: tuple[tuple[str, str], ...]
    """Pairs whose counts, with the parents, have too many cells, or that have too many labels for a regression."""
    level: float
    """That of the tests."""
    n_rows: int
    """How many rows the table has."""
    seed: int
    """The seed that repeats it."""

    def __repr__(self) -> str:
        return f"FalsifyResult({self.sentence()})"

    def pairs(self) -> tuple[Dependence, ...]:
        """Return the pairs that depend on one another beyond the graph, the strongest first."""
        return tuple(one for one in self.independences if one.p_corrected <= self.level)

    def sentence(self) -> str:
        """Return what was found, in one sentence."""
        found, n = self.pairs(), len(self.independences)
        if not found:
            return f"no pair that no arc joins depends ({n:,} tested)"
        shown = ", ".join(f"{cut(one.first, 40)} - {cut(one.second, 40)}" for one in found[:MOST_NAMED])
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        return f"{len(found):,} of {several(n, 'pair')} that no arc joins depend on one another: {shown}{more}"

    def to_frame(self) -> pa.Table:
        """Return one row for each independence."""
        rows = self.independences
        columns: dict[str, Any] = {
            name: [getattr(row, name) for row in rows] for name in ("first", "second", "nats", "p_value", "p_corrected")
        }
        return pa.table({**columns, "given": [", ".join(row.given) for row in rows]})


def falsify(
    graph: Graph | HasGraph,
    table: Any,
    *,
    permutations: int = 999,
    level: float = 0.05,
    bins: Bins | None = None,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> FalsifyResult:
    """Test the independences that a graph implies in a table, and find the pairs that depend beyond it.

    Parameters
    ----------
    graph : BayesianNetwork or Dag
    table : Table or data frame
        It has the graph's variables. Cells may be missing: each test takes the rows that are complete in its columns.
    permutations : int
        How many tables a test draws that speaks of a dependence by its chi-squared distribution, and more as long as
        they speak of it, too: of many pairs 4,999 that lie farther apart than chance draws them, weighted so that they
        show p-values far smaller than one in so many [2]_.
    level : float
        Up to which corrected p-values count as found.
    bins : int, or mapping from column to int or to cut points; optional
        How numbers are cut that are tested given labels, as for `fishernet.Table.discretize`; by description length
        without it.
    seed : None, int or numpy.random.Generator
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    FalsifyResult

    Raises
    ------
    SchemaError
        When the graph has cycles or edges without a direction, or the table lacks one of its variables.

    Notes
    -----
    Each variable is tested with each of those before it that is no parent, given its parents, in the graph's order.
    Given labels, tests are exact for a graph that was not learned from the same rows. Given numbers, of up to 20,000
    rows, they ask whether what regressions on the parents, their squares and their products leave of both goes together
    [1]_: what depends on the parents in another form, in both, may seem to depend on one another. A learned graph was
    chosen to leave little over, so the tests are then conservative: what they find is there, and some of what is there
    they do not find.

    References
    ----------
    .. [1] R. D. Shah and J. Peters, "The hardness of conditional independence testing and the generalised covariance
       measure", Annals of Statistics 48, 2020.
    .. [2] M. T. Harrison, "Conservative hypothesis tests and confidence intervals using importance sampling",
       Biometrika 99, 2012.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.compare.falsify(asia, asia.sample(500, seed=1))
    FalsifyResult(no pair that no arc joins depends (20 tested))
    """
    check.number(level, "level", least=0, most=1)
    check_permutations(permutations)
    number = fixed_seed(seed)
    asked = graph_of(graph, "graph")
    rows = within_bounds(_of_graph(as_data(table, "falsify"), asked.names), told=False)
    dag = Dag.from_edges(rows.names, directed_arcs(asked, "graph"))
    pairs = list(_pairs(dag))
    reporter = Reporter(progress, "independences")
    found, untested = [], []
    regressions = _Regressions(rows, dag)
    counted = [pair for pair in pairs if not regressions.has_numbers_above(pair[1])]
    counts = _Counts(_in_bins(rows, bins), dag, numbers_of_draws(permutations, len(pairs), level), number)
    counts.prepare(counted)
    for done, (u, v) in enumerate(pairs):
        reporter.step(done, len(pairs))
        tested = (regressions if regressions.has_numbers_above(v) else counts).tested(u, v)
        if tested is None:
            untested.append((dag.names[u], dag.names[v]))
        else:
            found.append((u, v, *tested))
    reporter.finish(len(pairs))
    p_values = np.array([p for *_, p in found])
    known = ~np.isnan(p_values)
    corrected = np.ones(len(found))
    corrected[known] = holm(p_values[known])
    independences = [
        Dependence(dag.names[u], dag.names[v], tuple(dag.names[w] for w in sorted(dag.parents[v])), nats, p, float(c))
        for (u, v, nats, p), c in zip(found, corrected, strict=True)
    ]
    independences.sort(key=lambda one: (one.p_corrected > level, -one.nats, one.first, one.second))
    return FalsifyResult(tuple(independences), tuple(untested), level, rows.n_rows, number)


def _of_graph(table: Table, names: Sequence[str]) -> Table:
    """Return the graph's columns."""
    absent = [name for name in names if name not in set(table.names)]
    if absent:
        raise SchemaError(f"the table lacks {listed(absent)} of the graph", parameter="table")
    return table.select(sorted(names))


def _in_bins(rows: Table, bins: Bins | None) -> Table:
    if any(variable.is_continuous for variable in rows.variables):
        return rows.discretize(AUTO if bins is None else bins)
    return rows


def _pairs(dag: Dag) -> list[tuple[int, int]]:
    """Return each variable with those before it that are no parents, in an order in which parents come first."""
    parents = [set(of) for of in dag.parents]
    return [(u, v) for place, v in enumerate(dag.order) for u in dag.order[:place] if u not in parents[v]]


class _Counts:
    """Tests of pairs given labels, the parents of the second, each with draws of its own."""

    def __init__(self, rows: Table, dag: Dag, draws: tuple[int, int], seed: int) -> None:
        self._source, self._parents, self._seed = AvailableCases(rows), [tuple(sorted(p)) for p in dag.parents], seed
        self._draws = draws
        variables = [cast(Variable, variable) for variable in rows.variables]
        self._cards = [variable.cardinality for variable in variables]
        self._ordered = [variable.is_ordered for variable in variables]
        self._counted: dict[tuple[int, ...], Any] = {}

    def prepare(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Count what the tests need, all at once."""
        sets = sorted({tuple(sorted(self._columns(u, v))) for u, v in pairs if self._is_small(u, v)})
        self._counted = dict(zip(sets, self._source.statistics(sets), strict=True)) if sets else {}

    def tested(self, u: int, v: int) -> tuple[float, float] | None:
        """Return the nats and the p-value of a pair; None where its counts are too many."""
        if not self._is_small(u, v):
            return None
        columns = self._columns(u, v)
        statistic = self._counted[tuple(sorted(columns))]
        counts = statistic.table().transpose([statistic.variables.index(w) for w in columns])
        cells = np.asarray(counts, dtype=np.float64).reshape(self._cards[u], -1, self._cards[v])
        random = np.random.default_rng([self._seed, u, v])
        ordered = self._ordered[u], self._ordered[v]
        rough = rough_p_value(cells, ordered)
        if not rough <= SCREENED:
            return _information(cells), rough
        least = 1 / (1 + self._draws[1])  # that draws can show
        if rough < least and (bound := bound_without_draws(cells)) < least:
            return _information(cells), bound
        return _information(cells), conditional_test(cells, random, *self._draws, ordered).p_value

    def _columns(self, u: int, v: int) -> tuple[int, ...]:
        return (u, *self._parents[v], v)

    def _is_small(self, u: int, v: int) -> bool:
        return math.prod(float(self._cards[w]) for w in self._columns(u, v)) <= MOST_CELLS


class _Regressions:
    """Tests of pairs given parents of the second among which are numbers."""

    def __init__(self, rows: Table, dag: Dag) -> None:
        self._parents = [sorted(parents) for parents in dag.parents]
        self._is_number = [variable.is_continuous for variable in rows.variables]
        asked = any(map(self.has_numbers_above, range(len(dag.names))))
        self._rows = rows
        if asked:
            self._rows = some_rows(whole_rows(rows, "falsify, given numbers,", MOST_REGRESSED), MOST_REGRESSED)
        self._last: tuple[int, npt.NDArray[np.bool_], Given] | None = None

    def has_numbers_above(self, v: int) -> bool:
        """Return whether a variable has numbers among its parents."""
        return any(self._is_number[parent] for parent in self._parents[v])

    def tested(self, u: int, v: int) -> tuple[float, float] | None:
        """Return the nats and the p-value of a pair; None where their labels are too many."""
        known = np.ones(self._rows.n_rows, dtype=bool)
        for w in (u, v, *self._parents[v]):
            known &= ~self._rows.variables[w].missing(self._rows.codes[w])
        one, other = (self._told(w)[known] for w in (u, v))
        if len(one) * n_told(one) * n_told(other) > MOST_TOLD:
            return None
        if self._last is None or self._last[0] != v or not np.array_equal(self._last[1], known):
            # the next pair of the same child has the same rows, if no cell is missing
            self._last = v, known, Given(parent_columns(self._rows, self._parents[v])[known], other)
        return self._last[2].dependence(one)

    def _told(self, v: int) -> npt.NDArray[Any]:
        """Return a number on its scale, or the codes of labels."""
        codes = self._rows.codes[v]
        return self._rows.variables[v].scaled(codes) if self._is_number[v] else codes.astype(np.int64)


def _information(counts: Array) -> float:
    """Return the conditional mutual information of counts (groups, configurations, states) less what chance adds."""
    total = counts.sum()
    if total == 0:
        return 0.0
    of_groups, of_states, rows = counts.sum(axis=2), counts.sum(axis=0), counts.sum(axis=(0, 2))
    expected = of_groups[:, :, None] * of_states / np.maximum(rows, 1)[None, :, None]
    terms = np.where(counts > 0, counts * np.log(np.maximum(counts, 1) / np.where(expected > 0, expected, 1)), 0.0)
    degrees = (((of_groups > 0).sum(axis=0) - 1).clip(0) * ((of_states > 0).sum(axis=1) - 1).clip(0)).sum()
    return float(max(terms.sum() - degrees / 2, 0.0) / total)
