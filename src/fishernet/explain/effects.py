"""What a variable does to another, if a graph is one of causes: the effect of setting it, with its doubts.

In a graph of causes, ``P(y | do(x))`` is what y is distributed as when x is set from outside: the arcs into x are cut
[1]_. The network of the graph answers it exactly; its parameters come from a table, so networks drawn from their
posterior distribution given the table say how sure the answer is; where cells are missing, they are drawn as well [2]_.
Data tell a graph from another only up to its equivalence class: of a class each member has its own effect, of which the
range is told [3]_.

References
----------
.. [1] J. Pearl, *Causality*, 2nd edition, Cambridge University Press 2009, chapter 3.
.. [2] M. A. Tanner and W. H. Wong, "The calculation of posterior distributions by data augmentation", Journal of the
   American Statistical Association 82, 1987.
.. [3] M. H. Maathuis, M. Kalisch and P. Bühlmann, "Estimating high-dimensional intervention effects from observational
   data", Annals of Statistics 37, 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import count, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.names import listed, several, shown
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed
from fishernet.data import Statistic, Table
from fishernet.data.matching import as_data
from fishernet.explain.identified import Identified
from fishernet.graphs import Cpdag, Dag
from fishernet.graphs.graph import HasGraph, graph_of
from fishernet.infer import impute
from fishernet.learn.conditional_fits import fit_conditionals
from fishernet.learn.fitting import parameters
from fishernet.learn.missing.mixed_em import reach
from fishernet.learn.numbers.preparing import within_bounds
from fishernet.models import BayesianNetwork

Array = npt.NDArray[np.float64]

MOST_STRATA = 20  # of a number above labels
MOST_MEMBERS = 200  # graphs of a class
FIRST_SWEEPS, SWEEPS = 20, 3  # of missing cells, before the first network and between networks


@dataclass(frozen=True, eq=False, repr=False)
class Effect(Framed):
    """What setting one variable does to another.

    Of a column of labels, ``answers[i, j]`` is the probability of state j of `y` when `x` is set to its i-th value; of
    a number, ``answers[i, 0]`` is its mean. `changes` are the differences to the first value of `x`.
    """

    x: str
    y: str
    values: tuple[Any, ...]
    """What x is set to."""
    states: tuple[Any, ...]
    """The states of y; "mean" alone where it is a number."""
    answers: Array
    """(n_values, n_states)."""
    low: Array
    high: Array
    """(n_values, n_states): the interval of each change; of a class over all its graphs."""
    level: float
    """Of the intervals."""
    adjusted: tuple[tuple[str, ...] | None, ...]
    """For each graph a smallest set of variables by which the effect can be told from the rows alone; None where there
    is none."""
    through: tuple[tuple[str, ...] | None, ...]
    """For each graph the variables between x and y by which it is told where what must be adjusted for is not in the
    table; else None."""
    unobserved: tuple[str, ...]
    """The graph's variables that the table lacks."""
    by_graph: Array
    """(n_graphs, n_values, n_states): the changes under each graph of the class; one of a Dag."""
    n: int
    """How many networks were drawn."""
    seed: int
    """The seed that draws them again."""

    @property
    def changes(self) -> Array:
        """(n_values, n_states): by how much more y has each state, or is in the mean, than at the first value of x."""
        found: Array = self.answers - self.answers[0]
        return found

    def __repr__(self) -> str:
        graphs = "" if len(self.by_graph) == 1 else f" under {several(len(self.by_graph), 'graph')}"
        return f"Effect(do({self.x}) on {self.y}{graphs}; {several(len(self.values), 'value')} of {self.x!r})"

    def __str__(self) -> str:
        lines = [repr(self)]
        if self.unobserved:
            lines.append(f"the table lacks {listed(self.unobserved)}")
        between = sorted({name for names in self.through for name in names or ()})
        if between:
            lines.append(f"told through {listed(between)}, whatever common causes {self.x} and {self.y} have")
        for i, value in enumerate(self.values):
            for j, state in enumerate(self.states):
                what = f"E({self.y})" if self.states == ("mean",) else f"P({self.y} = {shown(state)})"
                line = f"{what} when {self.x} is set to {shown(value)}: {self.answers[i, j]:.4g}"
                if i:
                    line += f", {self.changes[i, j]:+.4g} ({self.low[i, j]:+.4g} to {self.high[i, j]:+.4g})"
                lines.append(line)
        return "\n".join(lines)

    def to_frame(self) -> pa.Table:
        """Return a row for each value of x and state of y: the answer, the change and its interval."""
        cells = [(i, j) for i in range(len(self.values)) for j in range(len(self.states))]
        columns = {"answer": self.answers, "change": self.changes, "low": self.low, "high": self.high}
        named = {self.x: [shown(self.values[i]) for i, _ in cells], self.y: [shown(self.states[j]) for _, j in cells]}
        return pa.table(named | {name: [float(of[cell]) for cell in cells] for name, of in columns.items()})


def effect(
    graph: Dag | Cpdag | HasGraph,
    table: Any,
    x: str,
    y: str,
    *,
    values: Sequence[Any] | None = None,
    n: int = 200,
    level: float = 0.95,
    seed: Seed = None,
    progress: Progress | None = None,
) -> Effect:
    """Say what setting x does to y, if the graph is one of causes, with an interval.

    Parameters
    ----------
    graph : Dag, Cpdag or BayesianNetwork
        The graph of causes; of a network its graph alone. The table may lack some of its variables: then the effect is
        told by an adjustment set that it has, or by what it has between x and y. Of a `Cpdag` all its graphs are asked
        (up to 200): the answers are their mean, and the intervals hold those of all.
    table : Table or data frame
        What parameters are fitted to; cells may be missing. Numbers on which labels depend in the graph are cut into
        strata, the more the more rows there are, which is told.
    x, y : str
        The cause, and what it acts on.
    values : sequence, optional
        What x is set to: by default all its states, or of a number its mean and a standard deviation above it. Changes
        are to the first.
    n : int
        How many networks are drawn from the posterior distribution.
    level : float
        Of the intervals, between the quantiles of the changes in the networks that are drawn.
    seed : None, int or numpy.random.Generator
    progress : callable or True, optional

    Returns
    -------
    Effect

    Raises
    ------
    SchemaError
        When a name is unknown, x is y, a value is none of x, or the effect cannot be told from what the table has.
    FishernetError
        When n or the level is out of range, or the class has more than 200 graphs.

    Notes
    -----
    All of it stands and falls with the graph: that its arcs are causes, and that no common cause of two variables is
    left out. No data can show that; `fishernet.compare.falsify` shows where they contradict the graph. The interval is
    about the rows, not about the graph; that of a class is about both.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> found = fn.explain.effect(asia.dag, asia.sample(2000, seed=1), "smoke", "lung", n=50, seed=1)
    >>> found.states, found.changes.shape
    (('yes', 'no'), (2, 2))
    """
    causes: Any = graph_of(graph)
    check.integer(n, "n", least=1)
    check.number(level, "level", above=0, most=1)
    rows = as_data(table, "effect")
    rows = within_bounds(rows.select([name for name in causes.names if name in rows.names or name in (x, y)]))
    plain = [v.name for v in rows.variables if v.is_continuous and v.scale is None and v.resolution is None]
    rows = rows.rescale(dict.fromkeys(plain))  # a number that others determine varies by its rounding, then
    rows, ways = _with_strata(rows, lambda rows: [Identified.of(of, x, y, rows.variables) for of in _graphs_of(causes)])
    number = fixed_seed(seed)
    chosen = _values(rows, x, values)
    whole = np.array([_answers(way.asked(parameters(way.dag, rows)), x, y, chosen) for way in ways])
    drawn = np.empty((n, *whole.shape))
    networks = zip(*(_drawn(way.dag, rows, np.random.default_rng(number)) for way in ways), strict=True)
    reporter = Reporter(progress, "drawing networks")
    for sample, of_ways in enumerate(islice(networks, n)):
        reporter.step(sample, n)
        drawn[sample] = [_answers(way.asked(net), x, y, chosen) for way, net in zip(ways, of_ways, strict=True)]
    reporter.finish(n)
    changes = drawn - drawn[:, :, :1]
    # of few draws NumPy's own quantiles are too near to the middle
    low, high = np.quantile(changes, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")
    variable = rows.variables[rows.names.index(y)]
    return Effect(
        x,
        y,
        tuple(chosen),
        ("mean",) if variable.is_continuous else variable.states,
        whole.mean(axis=0),
        low.min(axis=0),
        high.max(axis=0),
        float(level),
        tuple(way.adjusted for way in ways),
        tuple(way.through for way in ways),
        tuple(name for name in causes.names if name not in rows.names),
        whole - whole[:, :1],
        int(n),
        number,
    )


def _with_strata(rows: Table, ways_of: Callable[[Table], list[Identified]]) -> tuple[Table, list[Identified]]:
    """Return a table, and how an effect is told of it, with numbers in strata on which labels depend.

    Few strata leave some of what a number confounds, and many have too few rows each: a label below d numbers has
    n^(1 / (d + 2)) strata of each.
    """
    cut: dict[str, int] = {}
    while True:
        ways = ways_of(rows)  # refuses names
        numbers = {variable.name for variable in rows.variables if variable.is_continuous}
        above = [
            numbers & {way.dag.names[p] for p in parents}
            for way in ways
            for name, parents in zip(way.dag.names, way.dag.parents, strict=True)
            if name not in numbers
        ]
        new = set[str]().union(*above)
        if not new:
            break
        n_strata = round(float(rows.total) ** (1 / (2 + max(map(len, above)))))
        cut |= dict.fromkeys(sorted(new), min(max(n_strata, 2), MOST_STRATA))
        rows = rows.discretize({name: cut[name] for name in new})
    if cut:
        strata = ", ".join(f"{name!r} ({n})" for name, n in cut.items())
        warn(f"numbers on which labels depend are cut into strata: {strata}")
    return rows, ways


def _values(rows: Table, x: str, values: Sequence[Any] | None) -> list[Any]:
    """Return what x is set to."""
    variable = rows.variables[rows.names.index(x)]
    if values is not None:
        if len(values) < 2:
            raise SchemaError(f"two values of {x!r} at least are compared", parameter="values")
        return list(values)
    if not variable.is_continuous:
        return list(variable.states)
    cells = np.asarray(rows.column(x), dtype=np.float64)
    mean, sd = float(np.nanmean(cells)), float(np.nanstd(cells))
    return [mean, mean + sd]


def _drawn(dag: Dag, rows: Table, random: np.random.Generator) -> Iterator[BayesianNetwork]:
    """Yield networks of a graph from the posterior distribution of their parameters given a table.

    Missing cells are drawn given a network, and the next network is drawn given them (Tanner and Wong, 1987).
    """
    families = [(*parents, child) for child, parents in enumerate(dag.parents)]
    sets = [tuple(sorted(family)) for family in families]
    rows = rows.select(dag.names)

    def given(statistics: Sequence[Statistic]) -> BayesianNetwork:
        conditionals = fit_conditionals(rows, families, statistics=statistics, random=random)
        return BayesianNetwork(rows.variables, conditionals, n_rows=rows.total)

    if not rows.has_missing:
        statistics = rows.statistics(sets)
        while True:
            yield given(statistics)
    net = parameters(dag, rows)
    lacking = rows.missing_counts()
    limited = {v: reach(rows, v) for v, one in enumerate(rows.variables) if one.is_continuous and one.name in lacking}
    for sweep in count(1 - FIRST_SWEEPS):
        filled = impute(net, rows, how="draw", seed=random)
        columns = list(filled.codes)
        for v, limits in limited.items():
            variable = rows.variables[v]
            columns[v] = variable.unscaled(np.clip(variable.scaled(columns[v]), *limits))
        net = given(Table.adopt(filled.variables, columns, weights=rows.weights).statistics(sets))
        if sweep >= 0 and sweep % SWEEPS == 0:
            yield net


def _answers(net: BayesianNetwork, x: str, y: str, values: Sequence[Any]) -> Array:
    """Return the probabilities or the mean of y at each value of x, (n_values, n_states)."""
    found = []
    for value in values:
        answer: Any = net.given(do={x: value}).query(y)
        found.append(
            np.ravel(answer.mean)[:1] if net.variables[net.dag.names.index(y)].is_continuous else np.asarray(answer)
        )
    return np.array(found, dtype=np.float64)


@singledispatch
def _graphs_of(graph: Any) -> list[Dag]:
    return [graph]


@_graphs_of.register
def _(graph: Cpdag) -> list[Dag]:
    found = list(islice(graph.members(), MOST_MEMBERS + 1))
    if len(found) > MOST_MEMBERS:
        raise FishernetError(
            f"the class has more than {MOST_MEMBERS} graphs; direct some of its edges, and give a Dag",
            parameter="graph",
        )
    return found
