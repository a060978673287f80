"""Learning from rows with missing cells, and with variables that nobody observed.

The E step is a source of expected statistics (`ExpectedCounts`): what is known of a row counts once, what it lacks with
its probability. Everything that learns from a source learns from it. `em_fit` alternates it with the fit of the
parameters. `AvailableCases` counts, for every set of variables, the rows that are complete there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import are, listed, positions, several
from fishernet.base.progress import Progress, Watch
from fishernet.base.random import Seed, fixed_seed, stream_key
from fishernet.data import Source, Statistic, Table, Variable, as_source, as_table
from fishernet.data.matching import as_data
from fishernet.data.source import categorical_source
from fishernet.data.statistics.counting import check_sets
from fishernet.data.statistics.statistic import most_dense_cells
from fishernet.data.variable import Column, require_categorical
from fishernet.graphs import Dag
from fishernet.infer.completion import completion, require_possible
from fishernet.infer.factors import MAX_TABLE, checked_limit, network_of
from fishernet.infer.hidden_forest import HiddenForest
from fishernet.learn.em import Effort, EmResult, fit, warn_of_stop
from fishernet.learn.missing.extrapolation import Extrapolation
from fishernet.learn.missing.hidden_states import Numbers, chosen_states
from fishernet.models import BayesianNetwork, FullTable
from fishernet.models.conditionals.base import check_cells

Cells = npt.NDArray[np.float64]

MOST_COMPLETIONS = 2**10  # states of a gap that are counted one by one; of more, as many are drawn


class AvailableCases(Source):
    """The statistics of a source in which the rows that lack a cell of a set are left out of it, without a word.

    Parameters
    ----------
    source : Table or Source
        Whose statistics they are.

    Examples
    --------
    >>> import fishernet as fn
    >>> from fishernet.learn.missing.incomplete import AvailableCases
    >>> table = fn.Table.from_frame({"a": ["x", None, "y"], "b": [0, 1, None]})
    >>> AvailableCases(table).statistics([(0,), (0, 1)])[1].total
    1
    """

    def __init__(self, source: Source) -> None:
        self.source: Source = as_source(source)

    @property
    def by_set(self) -> bool:
        """True: the rows that are counted are not the same for all sets."""
        return True

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        return self.source.variables

    @property
    def total(self) -> int | float:
        """The sum of the rows' weights."""
        return self.source.total

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of sets of variables, of the rows that are complete there."""
        return [
            Statistic.adopt(s.variables, s.cardinalities, s.counts, s.states, 0, s.continuous, s.mean, s.scatter)
            for s in self.source.statistics(sets)
        ]

    def rows_digest(self) -> int | None:
        """Return the digest of the source's rows."""
        return self.source.rows_digest()


class ExpectedCounts(Source):
    """The expected statistics of rows with missing cells under a network, a source like any other.

    Parameters
    ----------
    net : BayesianNetwork
        Of categorical variables.
    rows : Table
        Of the network's variables, in its order.
    most : int
        A row's gap (missing variables that are joined) with up to so many joint states is counted exactly, a larger one
        by as many draws.
    seed : None, int or numpy.random.Generator
        For these draws.

    Raises
    ------
    ZeroProbabilityError
        When what is known of a row has probability 0.
    """

    def __init__(self, net: BayesianNetwork, rows: Table, *, most: int = MOST_COMPLETIONS, seed: Seed = 0) -> None:
        network_of(net)
        self._net, self._rows = net, as_table(rows, net.variables)
        self._plan = completion(net, self._rows)
        self.log_prob: npt.NDArray[np.float64] = self._plan.log_prob()
        require_possible(self.log_prob)
        self._plan.complete(check.integer(most, "most", least=1, most=2**16), stream_key(seed))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The network's variables."""
        return self._net.variables

    @property
    def total(self) -> int | float:
        """The sum of the rows' weights."""
        return self._rows.total

    @property
    def observed(self) -> Table:
        """The rows with their missing cells."""
        return self._rows

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the expected counts of sets of variables, in that order."""
        check_sets(sets, len(self.variables))
        weights = row_weights(self._rows)
        found = self._plan.set_counts([list(chosen) for chosen in sets], weights, most_dense_cells(self.total))
        return [self._statistic(chosen, *one) for chosen, one in zip(sets, found, strict=True)]

    def _statistic(self, chosen: tuple[int, ...], cells: npt.NDArray[np.int64] | None, counts: Cells) -> Statistic:
        shape = tuple(self.variables[v].cardinality for v in chosen)
        if cells is None:
            return Statistic.adopt(chosen, shape, counts.reshape(shape), None, 0)
        states = np.stack(np.unravel_index(cells, shape), axis=1).astype(np.uint32)
        return Statistic.adopt(chosen, shape, counts, states, 0)


def row_weights(rows: Table) -> Cells | None:
    """Return the weights of a table's rows as the core takes them."""
    return None if rows.weights is None else np.ascontiguousarray(rows.weights, dtype=np.float64)


# ------------------------------------------------------------------------------------------------ EM of parameters


class NetworkSteps:
    """The two steps for networks with one graph and some rows; `priors` are added to the cells of each table."""

    def __init__(self, rows: Table, priors: Sequence[float], max_table: int = MAX_TABLE) -> None:
        self._rows, self._priors, self._max_table = rows, priors, max_table
        self._weights = row_weights(rows)
        # Made at the first model, whose graph is that of all.
        self._completed: HiddenForest | CompletedRows | None = None
        missing = sum(rows.missing_counts().values())
        self.size: int = rows.n_rows * len(rows.variables) - missing

    def expected(self, model: BayesianNetwork) -> tuple[float, list[Cells]]:
        """Return the log-likelihood of what is known, and the expected counts, a flat table a variable."""
        if self._completed is None:
            forest = HiddenForest.of(model, self._rows)
            self._completed = forest or CompletedRows(model, self._rows, self._weights, self._max_table)
        log_prob, counts = self._completed.expected(model)
        return float(log_prob.sum() if self._weights is None else log_prob @ self._weights), counts

    def maximized(self, model: BayesianNetwork, counts: list[Cells]) -> BayesianNetwork:
        """Return the network that maximizes the expected log-likelihood; rows without any mass stay as they were."""
        tables = []
        for conditional, cells, prior in zip(model.conditionals, counts, self._priors, strict=True):
            smoothed = cells.reshape(conditional.probabilities.shape) + prior
            sums = smoothed.sum(axis=1, keepdims=True)
            tables.append(np.divide(smoothed, sums, out=conditional.probabilities.copy(), where=sums > 0))
        return with_tables(model, tables)

    def log_prior(self, model: BayesianNetwork) -> float:
        """Return what the prior adds: for each cell, what is added to its count times its logarithm."""
        with np.errstate(divide="ignore"):  # a start may have zeros: it is improved on
            return sum(
                prior * float(np.log(conditional.probabilities).sum())
                for conditional, prior in zip(model.conditionals, self._priors, strict=True)
                if prior
            )


class CompletedRows:
    """Rows of a network, completed by its distribution given what is known of them."""

    def __init__(self, model: BayesianNetwork, rows: Table, weights: Cells | None, max_table: int = MAX_TABLE) -> None:
        self._plan = completion(model, rows, limit=max_table)
        self._weights = weights
        self._known = self._plan.known_counts(weights)  # of families that rows know whole

    def expected(self, model: BayesianNetwork) -> tuple[Cells, list[Cells]]:
        """Return the log-probability of what is known of each row, and the expected counts, a flat table a variable."""
        self._plan.take(model.factors)
        lacking, log_prob = self._plan.expected(self._weights)
        require_possible(log_prob)
        return log_prob, [known + more for known, more in zip(self._known, lacking, strict=True)]


def with_tables(model: BayesianNetwork, tables: Sequence[Cells]) -> BayesianNetwork:
    """Return a network of full tables with other probabilities."""
    conditionals = [
        FullTable(c.child, c.parents, c.variables, table, tolerance=1e-6)
        for c, table in zip(model.conditionals, tables, strict=True)
    ]
    return BayesianNetwork(model.variables, conditionals, n_rows=model.n_rows)


def em_fit(
    dag: Dag,
    table: Any,
    *,
    hidden: Mapping[str, int | Iterable[int] | None] | None = None,
    smoothing: float = 1.0,
    ess: float | None = None,
    restarts: int = 10,
    max_steps: int = 500,
    tolerance: float = 1e-7,
    start: BayesianNetwork | None = None,
    accelerate: bool = True,
    max_table: int = MAX_TABLE,
    max_seconds: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> EmResult[BayesianNetwork]:
    """Fit the parameters of a Bayesian network to rows with missing cells by expectation and maximization.

    It is right when cells are *missing at random*: whether one is missing may depend on what is known of its row, not
    on what it would have shown [1]_.

    Parameters
    ----------
    dag : Dag
        The structure; its variables are the table's columns, matched by name, and the hidden ones.
    table : Table or data frame
        Categorical columns; cells may be missing.
    hidden : mapping from name to int, several of them, or None, optional
        Variables that nobody observed, and how many states each has (0, 1, ...). Of several numbers, as ``range(1,
        7)``, all are tried; None tries 1, 2, ... up to 8 until the score falls. The score is BIC, the log-likelihood
        of the known cells less ``log(N) / 2`` per free parameter, and `scores` of the result has it of all that were
        tried. Where several variables have a choice they take turns, until a round changes nothing.
    smoothing, ess
        As for `parameters`, as numbers: what is added to the expected counts. The result maximizes the log-likelihood
        with the prior that this stands for.
    restarts : int
        With hidden variables, at how many random networks the fit begins; the best result is kept. Without, one
        start: the fit to the available cases.
    max_steps : int
        Steps of each restart.
    tolerance : float
        A restart ends when a step gains less than this, in nats a known cell.
    start : BayesianNetwork, optional
        Where to begin, with the graph `dag`; no restarts then.
    accelerate : bool
        Extrapolates steps where that gains (SQUAREM [2]_); the result climbs all the same.
    max_table : int
        How many cells (8 bytes each) the tables for one row may have.
    max_seconds : float, optional
        After this time the best fit so far is the result, with a warning; `finished` of the result is False then.
    seed : None, int or numpy.random.Generator
        For the restarts; each number of hidden states is fitted with the same seed.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``.

    Returns
    -------
    EmResult
        The network is its `model`; `trace` never falls.

    Raises
    ------
    SchemaError
        When a hidden variable is also a column, a variable is neither, or a column has no known cell.
    ZeroProbabilityError
        When what is known of a row is impossible under `start`.
    StateSpaceError
        When a row lacks so much that a table would be too large.
    KeyboardInterrupt
        On Ctrl-C; its attribute ``best`` is the best network so far (of the numbers of hidden states being fitted).

    Warns
    -----
    FishernetWarning
        When the time was over before the fit ended.

    References
    ----------
    .. [1] A. P. Dempster, N. M. Laird and D. B. Rubin, "Maximum likelihood from incomplete data via the EM algorithm",
       1977; S. L. Lauritzen, "The EM algorithm for graphical association models with missing data", 1995.
    .. [2] R. Varadhan and C. Roland, "Simple and globally convergent methods for accelerating the convergence of any EM
       algorithm", 2008.

    Examples
    --------
    >>> import fishernet as fn
    >>> rain, wet = fn.Variable("rain", ["no", "yes"]), fn.Variable("wet", ["no", "yes"])
    >>> rows = {"rain": ["no", "no", "yes", None, None], "wet": ["no", "no", "yes", "yes", "no"]}
    >>> table = fn.Table.from_frame(rows, schema=[rain, wet])
    >>> dag = fn.Dag.from_edges(["rain", "wet"], [("rain", "wet")])
    >>> found = fn.learn.em_fit(dag, table, smoothing=0)
    >>> found.model.conditional("rain").probabilities.round(3)
    array([[0.6, 0.4]])
    """
    effort = Effort(restarts, max_steps, tolerance)
    check.flag(accelerate, "accelerate")
    watch = Watch(progress, "fitting a network", max_seconds)
    numbers = _numbers_of(hidden, start)
    data = as_data(table, "EM")
    is_open = any(of.is_open for of in numbers.values())
    how: dict[str, Any] = {"smoothing": smoothing, "ess": ess, "start": start, "accelerate": accelerate}
    how |= {"max_table": checked_limit(max_table), "seed": fixed_seed(seed) if is_open else seed}

    def fitted(states: Mapping[str, int]) -> EmResult[BayesianNetwork]:
        about = watch.about(f"fitting with {_told(states)}") if is_open else watch
        return fit_rows(dag, incomplete_rows(dag, data, states), effort, about, hidden=states, **how)

    if is_open:
        found = chosen_states(numbers, data.total, fitted, lambda: watch.late)
    else:
        found = fitted({name: of.first for name, of in numbers.items()})
    warn_of_stop(found, max_seconds)
    return found if numbers else replace(found, model=knowing_gaps(found.model, data))


def complete_rows(rows: Table, families: Iterable[Iterable[str]]) -> float:
    """Return how many rows, by weight, know all variables of a family: of that of which fewest do."""
    pairs = zip(rows.names, rows.variables, rows.codes, strict=True)
    known = {name: ~variable.missing(column) for name, variable, column in pairs}
    weights = np.ones(rows.n_rows) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    sums = [weights[np.logical_and.reduce([known[name] for name in family])].sum() for family in families]
    return round(float(rows.total * min(sums) / weights.sum()), 6)


def least_total(statistics: Sequence[Statistic]) -> float | None:
    """Return how many rows there are of the set of variables that fewest rows know."""
    return min((round(float(of.total), 6) for of in statistics), default=None)


def knowing_gaps(net: BayesianNetwork, rows: Table) -> BayesianNetwork:
    """Return a network that was fitted to rows, and knows how many of them are complete in a family."""
    if not rows.has_missing or not net.conditionals:
        return net
    complete = complete_rows(rows, [[variable.name for variable in of.variables] for of in net.conditionals])
    return BayesianNetwork(net.variables, net.conditionals, n_rows=net.n_rows, n_complete=complete)


def _told(states: Mapping[str, int]) -> str:
    return ", ".join(f"{name} of {several(number, 'state')}" for name, number in states.items())


def fit_rows(
    dag: Dag,
    rows: Table,
    effort: Effort,
    watch: Watch,
    *,
    hidden: Mapping[str, int] | None = None,
    smoothing: float = 1.0,
    ess: float | None = None,
    start: BayesianNetwork | None = None,
    accelerate: bool = True,
    max_table: int = MAX_TABLE,
    seed: Seed = None,
) -> EmResult[BayesianNetwork]:
    """Fit the parameters of a graph to its rows, those that `incomplete_rows` gives; the rest is as for `em_fit`."""
    steps = NetworkSteps(rows, _priors(dag, rows, smoothing, ess), max_table)
    if start is not None:
        check_start(start, dag, rows)
        start = with_tables(start, [c.table().reshape(-1, c.variables[-1].cardinality) for c in start.conditionals])
    elif not hidden:
        start = available_fit(dag, rows)
    drawn = partial(_random_network, dag, rows, hidden or {})
    leap = Extrapolation.of(rows) if accelerate else None
    return fit("a network", steps, effort, start=start, drawn=drawn, seed=seed, leap=leap, watch=watch)


def _numbers_of(hidden: Mapping[str, Any] | None, start: object) -> dict[str, Numbers]:
    """Return how many states each hidden variable may have; a start leaves no choice."""
    numbers = {name: Numbers.of(name, asked) for name, asked in (hidden or {}).items()}
    if start is not None and (chosen := [name for name, one in numbers.items() if one.is_open]):
        raise FishernetError(
            f"a start has a number of states for {listed(chosen)}; say that in hidden, or leave the start out",
            parameter="hidden",
        )
    return numbers


def observed_rows(data: Any, purpose: str) -> Table:
    """Return data as a table of states, each with a known cell, under which hidden variables can be learned."""
    rows = cast(Table, categorical_source(as_data(data, purpose), purpose=purpose))
    if not rows.variables:
        raise SchemaError(f"{purpose} needs columns, and the table has none")
    if not rows.n_rows or not rows.total:
        raise SchemaError(f"{purpose} needs rows, and the table has none")
    lacking = rows.missing_counts()
    if unknown := [name for name in rows.names if lacking.get(name, 0) == rows.n_rows]:
        raise SchemaError(f"{are(unknown, 'column')} without any known cell; leave out what tells nothing (exclude=)")
    return rows


def incomplete_rows(dag: Dag, table: Table, hidden: Mapping[str, int]) -> Table:
    """Return the rows of a graph's variables in its order; hidden variables lack in all of them."""
    there = [variable.name for variable in table.variables]
    if both := [name for name in hidden if name in there]:
        raise SchemaError(
            f"{listed(both)} is hidden and a column of the data as well; leave the column out (exclude=), or take "
            "another name",
            parameter="hidden",
        )
    if stray := [name for name in hidden if name not in dag.names]:
        raise SchemaError(f"the graph has no hidden variable {listed(stray)}", parameter="hidden")
    seen = [name for name in dag.names if name not in hidden]
    positions(there, seen, "column")
    data = table.select(seen)
    require_categorical(data.variables, "EM of tables of counts", "read the data with bins=4")
    at = {name: place for place, name in enumerate(seen)}
    variables: list[Any] = []
    columns: list[npt.NDArray[Any]] = []
    for name in dag.names:
        if name in at:
            variable, column = data.variables[at[name]], data.codes[at[name]]
            if data.n_rows and not (column < variable.cardinality).any():
                raise SchemaError(
                    f"column {name!r} has no known cell, so nothing can be learned of it; exclude it, or leave it out "
                    f"and make it a hidden variable: hidden={{{name!r}: 2}}",
                    parameter="hidden",
                )
        else:
            states = check.integer(hidden[name], f"hidden[{name!r}]", least=1)
            variable = Variable(name, range(states), hidden=True)
            column = np.full(data.n_rows, states, dtype=variable.dtype)
        variables.append(variable)
        columns.append(column)
    return Table.adopt(variables, columns, weights=data.weights, n_rows=data.n_rows)


def _priors(dag: Dag, rows: Table, smoothing: object, ess: float | None) -> list[float]:
    """Return what is added to each cell of every variable's table."""
    if isinstance(smoothing, str):
        raise FishernetError(
            f"smoothing {smoothing!r} is for complete counts; with missing cells it is a number from 0 on",
            parameter="smoothing",
        )
    by_size = ess is not None
    amount = check.number(ess, "ess", above=0) if by_size else check.number(smoothing, "smoothing", least=0)
    added = []
    for child, parents in enumerate(dag.parents):
        cells = check_cells([rows.variables[v] for v in (*parents, child)], f"the conditional of {dag.names[child]!r}")
        added.append(amount / cells if by_size else amount)
    return added


def check_start(start: BayesianNetwork, dag: Dag, rows: Table) -> None:
    """Raise SchemaError unless a network has a graph, and the variables of rows, in their order."""
    same = start.names == dag.names and all(
        set(c.parents) == set(parents) for c, parents in zip(start.conditionals, dag.parents, strict=True)
    )
    if not same or tuple(start.variables) != tuple(rows.variables):
        raise SchemaError("the start must have the variables, states and arcs of the graph", parameter="start")


def available_fit(dag: Dag, rows: Table) -> BayesianNetwork:
    """Return the network fitted, family by family, to the rows that are complete there."""
    return fit_to(dag, AvailableCases(rows))


def fit_to(dag: Dag, source: Source, *, smoothing: float = 1.0) -> BayesianNetwork:
    """Return a graph's network with tables fitted to the counts of a source of the same variables."""
    families = [(*parents, child) for child, parents in enumerate(dag.parents)]
    variables: Any = source.variables
    statistics = source.statistics([tuple(sorted(family)) for family in families])
    conditionals = [
        FullTable.fit(found, family, [variables[v] for v in family], smoothing=smoothing)
        for found, family in zip(statistics, families, strict=True)
    ]
    return BayesianNetwork(variables, conditionals, n_rows=source.total)


def _random_network(dag: Dag, rows: Table, hidden: Mapping[str, int], random: np.random.Generator) -> BayesianNetwork:
    """Return a start: families without a hidden variable as the available cases say, others drawn around shares."""
    fitted = available_fit(dag, rows)
    tables = []
    for child, conditional in enumerate(fitted.conditionals):
        touched = [name for name in (dag.names[v] for v in (*conditional.parents, child)) if name in hidden]
        if not touched:
            tables.append(conditional.probabilities)
            continue
        variable, column = rows.variables[child], rows.codes[child]
        counts = np.bincount(column, row_weights(rows), variable.cardinality + 1)[:-1] + 1.0
        drawn = counts * np.exp(random.normal(0.0, 0.7, conditional.probabilities.shape))
        tables.append(drawn / drawn.sum(axis=1, keepdims=True))
    return with_tables(fitted, tables)
