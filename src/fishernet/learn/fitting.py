"""Fitting the parameters of a network: tables to counts, regressions and precisions to scatters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack, cast

import numpy as np

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import listed, shown
from fishernet.base.progress import Watch
from fishernet.base.vocabulary import ConditionalsName, refuse_options, word
from fishernet.data import Scatter, Source, Table, as_scatter, as_source
from fishernet.data.matching import as_numbers, is_frame, is_table
from fishernet.data.moments import require_varying
from fishernet.data.options import Bins
from fishernet.data.source import is_source
from fishernet.data.variable import Column, mixes_numbers
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.graphs.edges import require_kind
from fishernet.learn.conditional_fits import Fit, fit_conditionals
from fishernet.learn.em import Effort, warn_of_stop
from fishernet.learn.keywords import EmKeywords, NetworkKeywords, ParameterKeywords
from fishernet.learn.missing.gaussian_em import gaussian_em
from fishernet.learn.missing.incomplete import (
    AvailableCases,
    check_start,
    complete_rows,
    em_fit,
    knowing_gaps,
    least_total,
)
from fishernet.learn.missing.mixed_em import fit_mixed
from fishernet.learn.numbers.preparing import prepared_for
from fishernet.learn.shared_rows.agglomeration import MergedFit
from fishernet.learn.shared_rows.trees import TreeFit, leaf_price
from fishernet.learn.structures import options_for, structure
from fishernet.models import BayesianNetwork, GaussianMarkovNetwork
from fishernet.models.conditionals.base import Grouped
from fishernet.models.zero_pattern import completed_precision
from fishernet.scores import named_score

GAUSSIAN_STEPS = 5000  # of EM of numbers, whose steps are cheap
GAUSSIAN_TOLERANCE = 1e-9  # nats a known cell
MIXED_STEPS = 100
MIXED_TOLERANCE = 1e-6


def require_spread(scatter: Scatter) -> None:
    """Raise SchemaError when there are too few rows for any variance, or columns are constant, naming them."""
    if scatter.n < 2:
        raise SchemaError(f"variances need two rows at least; there {'is' if scatter.n == 1 else 'are'} {scatter.n}")
    require_varying(scatter)


def gaussian_network(X: Any, graph: UndirectedGraph, **em: Unpack[EmKeywords]) -> GaussianMarkovNetwork:
    """Fit a Gaussian Markov network: the mean, and the most likely precision with the zeros of a graph.

    The covariance of the result is that of the data (over n, not n - 1) on the diagonal and on every edge.

    Parameters
    ----------
    X : (n, d) array, Table of continuous columns, data frame, mapping from names to columns, or Scatter
        Numbers. The columns of an array are those of ``graph.names``, in their order; otherwise columns are matched by
        name, and those that the graph does not have are passed over. Cells of a table or a frame may be missing (at
        random, as for `em_fit`); the network is then the likeliest for what is known, by expectation and maximization.
    graph : UndirectedGraph
        On variables of the data.
    **em
        Where cells are missing, what `em_fit` takes of these: max_steps, tolerance, max_seconds, progress.

    Returns
    -------
    GaussianMarkovNetwork
        Its variables come in the graph's order.

    Raises
    ------
    SchemaError
        When the data lack a variable of the graph, a value is not finite, a column is constant, there are fewer than
        two rows, or the variables of a clique are collinear, as n or more always are; the variables are named.
    ConvergenceError
        When there are too few rows for the graph in another way.

    See Also
    --------
    fishernet.learn.markov_graph : learns a graph.

    Notes
    -----
    For variances of 1, the derivatives of the log-likelihood of a row are below 1e-8.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> a, b, c = np.random.default_rng(1).normal(size=(3, 500))
    >>> data = {"a": a, "b": a + b, "c": a + b + c}
    >>> chain = fn.UndirectedGraph.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
    >>> net = fn.learn.gaussian_network(data, chain)
    >>> net.partial_correlations.round(1) + 0
    array([[1. , 0.4, 0. ],
           [0.4, 1. , 0.7],
           [0. , 0.7, 1. ]])
    """
    require_kind("gaussian_network", graph, UndirectedGraph, hint="dag.skeleton() and moral(dag) make one of a Dag")

    def fitted(scatter: Scatter) -> GaussianMarkovNetwork:
        require_spread(scatter)
        covariance = scatter.S / scatter.n
        precision = completed_precision(covariance, graph)
        return GaussianMarkovNetwork(graph.names, scatter.mean, precision, n_rows=scatter.n)

    if is_table(X) or is_frame(X):
        table = as_numbers(X, purpose="a Gaussian model", gaps=True)
        _require_columns(table.names, graph)
        if table.has_missing:
            rows = table.select(graph.names)
            net = cast(GaussianMarkovNetwork, _by_gaussian_em(rows, fitted, em))
            complete = complete_rows(rows, [*graph.edges, *((name,) for name in graph.names)])
            return GaussianMarkovNetwork(net.names, net.mean, net.precision, n_rows=net.n_rows, n_complete=complete)
        X = table.select(graph.names)
    refuse_options(em, (), "a fit to complete rows")
    return fitted(_matched(X, graph))


def _by_gaussian_em(
    rows: Table, fitted: Callable[[Scatter], Any], options: Mapping[str, Any], *, regressions: bool = False
) -> Any:
    """Return the likeliest model for rows that lack numbers."""
    refuse_options(options, ("max_steps", "tolerance", "max_seconds", "progress"), "EM of numbers")
    max_seconds = options.get("max_seconds")
    effort = Effort(1, options.get("max_steps", GAUSSIAN_STEPS), options.get("tolerance", GAUSSIAN_TOLERANCE))
    watch = Watch(options.get("progress"), "fitting a network", max_seconds)
    found = gaussian_em(rows, fitted, effort, watch, regressions=regressions)
    warn_of_stop(found, max_seconds)
    return found.model


def _matched(X: Any, graph: UndirectedGraph) -> Scatter:
    """Return the scatter of the graph's variables, in its order."""
    scatter = as_scatter(X, None if is_source(X) or is_frame(X) else graph.names)
    _require_columns(scatter.names, graph)
    return scatter.marginal([scatter.names.index(name) for name in graph.names])


def _require_columns(names: Sequence[str], graph: UndirectedGraph) -> None:
    """Raise SchemaError unless the data have all variables of the graph."""
    absent = [name for name in graph.names if name not in set(names)]
    if absent:
        raise SchemaError(f"the data lack {listed(absent)}, which the graph has; they have {listed(names)}")


def parameters(
    dag: Dag,
    table: Any,
    *,
    conditionals: ConditionalsName = "table",
    smoothing: float | str = 1.0,
    ess: float | None = None,
    hidden: Mapping[str, int | Iterable[int] | None] | None = None,
    available_cases: bool = False,
    **options: Unpack[ParameterKeywords],
) -> BayesianNetwork:
    """Fit the parameters of a Bayesian network.

    Parameters
    ----------
    dag : Dag
        The structure; its variables are matched to the table's by name.
    table : Table, data frame or Source
        The data; columns that the graph does not have are passed over. Where cells of categorical columns of a table
        are missing, the fit is that of expectation and maximization (`em_fit`). Where all columns are continuous, or it
        is an (n, d) array of numbers with the columns of ``dag.names`` or a Scatter, the network is linear-Gaussian, by
        maximum likelihood (where cells of a table are missing, of what is known, by the same means); smoothing and ess
        do not go with these.
    conditionals : {"table", "tree", "merged"}
        "table": a row of probabilities for each configuration of the parents. "tree": a decision tree over the parents,
        grown and pruned by a score, whose leaves share rows [1]_. "merged": any configurations may share a row, as
        `merge_rows` finds them. Both take the rows that are complete in a family, and keep the graph.
    smoothing : float, "snml" or "zeros"
        A pseudo-count added to every cell N_ijk (0: plain frequencies), or "snml": the sequential normalized maximum
        likelihood weights e(N_ijk) (N_ijk + 1), with e(n) = ((n + 1) / n)^n and e(0) = 1, or "zeros": zero counts
        become one (Takabatake and Akaho, 2021, Algorithm 5).
    ess : float, optional
        Equivalent sample size: ess / (r q) is added to every cell instead, so that equivalent structures get the same
        distribution.
    hidden : mapping from name to int, several of them, or None, optional
        Variables of the graph that nobody observed, and how many states each has: a number, or several of which BIC
        chooses, as ``range(1, 7)``, or None for 1, 2, ... until BIC falls (`em_fit` tells the scores). They are fitted
        by expectation and maximization.
    available_cases : bool
        Counts, for each family, the rows that are complete in it, instead: faster, and right only where cells are
        missing completely at random.
    **options
        With missing cells or hidden variables, what `em_fit` takes besides: restarts, max_steps, tolerance, start,
        max_seconds, seed, progress. For trees ``score="bic"``, a penalized likelihood, and ``splits="binary"`` (a set
        of states against the rest) or "multiway" (a branch for each). For merged rows the score, and its own
        hyperparameters.

    Returns
    -------
    BayesianNetwork
        Its variables come in the graph's order; `n_rows` is the number of rows fitted on.

    Raises
    ------
    SchemaError
        When variables of the graph are not in the data. Of numbers: when one is not finite, a column is constant,
        parents are collinear, or a variable is a linear combination of its parents, as it is with too few rows; it is
        named.
    ZeroProbabilityError
        When nothing is added and a configuration of parents never occurs.
    MissingValueError
        When a number is missing, or a source that is no table lacks cells.
    StateSpaceError
        When a conditional would have more than 2**28 cells.

    References
    ----------
    .. [1] N. Friedman and M. Goldszmidt, "Learning Bayesian networks with local structure", 1998.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_codes([[0, 0], [0, 0], [0, 1], [1, 1]])
    >>> dag = fn.Dag.from_edges(["v0", "v1"], [("v0", "v1")])
    >>> fn.learn.parameters(dag, table, smoothing=0).conditional("v1").probabilities.round(3)
    array([[0.667, 0.333],
           [0.   , 1.   ]])
    >>> fn.learn.parameters(dag, {"v0": [0.5, 1.5, 2.5], "v1": [1.5, 2.5, 6.5]}).conditional("v1").coefficients
    array([2.5])
    """
    check_smoothing(smoothing, ess)
    make = word(conditionals, "conditionals", KINDS)
    check.flag(available_cases, "available_cases")
    source = _learned_from(table, dag.names)
    hidden = hidden or {}
    lacks_states = _lacks_states(source, dag.names)
    if make == "table" and (hidden or (lacks_states and not available_cases and source.rows is not None)):
        if source.rows is None:
            raise SchemaError("hidden variables need the rows; give a Table or a data frame", parameter="hidden")
        return em_fit(dag, source.rows, hidden=hidden, smoothing=smoothing, ess=ess, **options).model  # type: ignore[arg-type, misc]
    incomplete = None if available_cases or make != "table" else _incomplete_numbers(source, dag.names)
    if incomplete is not None:
        _refuse_smoothing(smoothing, ess)
        refit = partial(_linear_gaussian, dag, incomplete.variables)
        fitted = _by_gaussian_em(incomplete, refit, options, regressions=True)
        return knowing_gaps(cast(BayesianNetwork, fitted), incomplete)
    if hidden:
        raise FishernetError(
            f"hidden variables are fitted by tables; they do not go with conditionals {make!r}", parameter="hidden"
        )
    lacking = None if available_cases or make != "table" else _incomplete_mixed(source, dag.names)
    if lacking is not None:
        allowed = ("max_steps", "tolerance", "max_seconds", "progress", "start")
        refuse_options(options, allowed, "EM of labels and numbers")
        max_seconds, start = options.get("max_seconds"), options.get("start")
        if start is not None:
            check_start(start, dag, lacking)
        effort = Effort(1, options.get("max_steps", MIXED_STEPS), options.get("tolerance", MIXED_TOLERANCE))
        watch = Watch(options.get("progress"), "fitting a network", max_seconds)
        found = fit_mixed(dag, lacking, effort, watch, smoothing=smoothing, ess=ess, start=start)
        warn_of_stop(found, max_seconds)
        return knowing_gaps(found.model, lacking)
    kind = KINDS[make](source.total, options)
    if available_cases or lacks_states:
        source = AvailableCases(source)
    where = source.places(dag.names)
    variables = [source.variables[v] for v in where]
    how: dict[str, Any] = {"smoothing": smoothing, "ess": ess}
    if variables and all(variable.is_continuous and variable.scale is None for variable in variables):
        if kind is not None:
            wrong = f"numbers have regressions; conditionals {make!r} are of states"
            raise FishernetError(wrong, parameter="conditionals")
        _refuse_smoothing(smoothing, ess)
        source, where, how = Scatter.of(source, where), tuple(range(len(where))), {"every": variables}
        require_spread(source)
    families = [tuple(where[v] for v in (*parents, child)) for child, parents in enumerate(dag.parents)]
    places = [(*parents, child) for child, parents in enumerate(dag.parents)]
    statistics = source.statistics([tuple(sorted(family)) for family in families])
    made = fit_conditionals(source, families, places, kind=kind, statistics=statistics, **how)
    complete = least_total(statistics) if source.by_set else None
    return BayesianNetwork(variables, made, n_rows=source.total, n_complete=complete)


def _tables(total: float, options: Mapping[str, Any]) -> None:  # noqa: ARG001
    refuse_options(options, (), "a fit to complete rows")


def _trees(total: float, options: Mapping[str, Any]) -> TreeFit:
    refuse_options(options, ("score", "splits"), "a fit of trees to complete rows")
    return TreeFit(leaf_price(named_score(options.get("score", "bic")), total), options.get("splits", "binary"))


def _merged(total: float, options: Mapping[str, Any]) -> MergedFit:
    return MergedFit(named_score(**{"score": "bic", **options}), total)


KINDS: dict[str, Callable[[float, Mapping[str, Any]], Fit | None]] = {
    "table": _tables,
    "tree": _trees,
    "merged": _merged,
}


def _refuse_smoothing(smoothing: float | str, ess: float | None) -> None:
    if ess is not None or smoothing != 1.0:
        raise FishernetError("numbers are fitted by maximum likelihood; smoothing and ess are for tables of counts")


def _incomplete_numbers(source: Source, names: Sequence[str]) -> Table | None:
    """Return the columns of a graph where they are numbers of a table and some are missing."""
    if not source.has_missing or source.rows is None:
        return None
    source.places(names)
    used = source.rows.select(names)
    numbers = used.has_missing and all(variable.is_continuous for variable in used.variables)
    return as_numbers(used, purpose="a Gaussian model", gaps=True) if numbers else None


def _incomplete_mixed(source: Source, names: Sequence[str]) -> Table | None:
    """Return the columns of a graph where they are labels and numbers of a table and some are missing."""
    if not source.has_missing or source.rows is None:
        return None
    used = source.rows.select(names)
    return used if used.has_missing and mixes_numbers(used.variables) else None


def may_begin(net: BayesianNetwork | None, dag: Dag, table: Table) -> bool:
    """Return whether EM of labels and numbers of a table can begin with a network: no label is impossible by it."""
    if net is None or net.dag != dag or _incomplete_mixed(table, dag.names) is None:
        return False
    labels = [c for c in net.conditionals if not c.variables[-1].is_continuous]
    return all(bool((c.table() > 0).all()) for c in labels)


def _linear_gaussian(dag: Dag, variables: Sequence[Column], scatter: Scatter) -> BayesianNetwork:
    """Return a graph's network fitted to the scatter of its variables, in their order."""
    require_spread(scatter)
    families = [(*parents, child) for child, parents in enumerate(dag.parents)]
    return BayesianNetwork(variables, fit_conditionals(scatter, families, every=variables), n_rows=scatter.total)


def _lacks_states(source: Source, names: Sequence[str]) -> bool:
    """Return whether cells of some categorical columns are missing from a source."""
    used = [v for v in source.variables if v.name in names]
    if not source.has_missing or any(variable.is_continuous for variable in used):
        return False
    return source.rows is None or source.rows.select([v.name for v in used]).has_missing


def refitted(net: Any, table: Any, *, smoothing: float = 1.0) -> Any:
    """Fit the parameters of a network to other rows: its graph and its groups of configurations stay.

    Parameters
    ----------
    net : BayesianNetwork or GaussianMarkovNetwork
    table : Table, or array of numbers
        Of the network's variables, without missing cells.
    smoothing : float
        What is added to the count of every state in every group.
    """
    if not net.conditionals:
        return gaussian_network(table, net.graph)
    if not net.runs_in_core:
        smoothed: Any = {} if net.inference == "normal" else {"smoothing": smoothing}
        return parameters(net.dag, net.rows(table), **smoothed)
    weights, unit = table.weights_in_units
    counts = net.flat.cells(net.rows(table, complete_for="a fit").native).counts(weights) * unit
    conditionals, first = [], 0
    for conditional in cast(Sequence[Grouped], net.conditionals):
        shape = conditional.probabilities.shape
        cells = counts[first : first + math.prod(shape)].reshape(shape) + smoothing
        empty = cells.sum(axis=1, keepdims=True) == 0
        cells = np.where(empty, 1.0, cells)  # a group without a row tells nothing of its states
        conditionals.append(conditional.with_probabilities(cells / cells.sum(axis=1, keepdims=True)))
        first += math.prod(shape)
    return BayesianNetwork(net.variables, conditionals, n_rows=table.total)


def bayesian_network(
    table: Any,
    *,
    conditionals: ConditionalsName = "table",
    smoothing: float | str = 1.0,
    ess: float | None = None,
    bins: Bins | None = None,
    **options: Unpack[NetworkKeywords],
) -> BayesianNetwork:
    """Learn a Bayesian network: its structure, then its parameters.

    Numbers have regressions, on the scales on which they are most nearly normal (`Table.rescale`); no arc runs from a
    number to labels. Those of an array, which has no labels beside them, are taken as they are.

    Parameters
    ----------
    table : Table, data frame or Source
        The data. Where all columns are continuous, the default score is "fractional". Cells of a table may be missing:
        `structure` says how a graph is learned then, and the parameters are fitted by expectation and maximization.
    conditionals, smoothing, ess
        As for `parameters`. The graph is learned as for tables; then trees are grown, or rows merged, by the same
        score. With ``search=TreeSearch()`` it is learned for trees, which can have many parents.
    bins : int, "auto" or mapping, optional
        Which columns of numbers are cut into bins, as for `Table.discretize`; ``{}`` for none. By default those in
        which one number has three tenths of the rows and three times as many as its neighbours, as no income has, say,
        and those in whose bins the table is more probable by far; they are told in a warning. In a table of numbers
        alone none is where ``score``, ``search`` or arcs that are asked for need numbers.
    **options
        As for `structure`: score, search, max_parents, required, forbidden, tiers, start, max_seconds, missing, seed,
        progress.

    Returns
    -------
    BayesianNetwork

    Examples
    --------
    >>> import fishernet as fn
    >>> net = fn.learn.bayesian_network(fn.datasets.load("nursery"))
    >>> net.n_rows
    12960
    """
    check_smoothing(smoothing, ess)
    source = _learned_from(table)
    how: Mapping[str, Any] = options
    if source.rows is not None:
        names, source = source.names, prepared_for(source.rows, bins, **options)
        how = options_for(names, source.names, options)
    make = word(conditionals, "conditionals", KINDS)
    local: dict[str, Any] = {} if make == "table" else {"score": options.get("score", "bic")}
    if make != "table":
        KINDS[make](source.total, local)  # refuses a score that does not go with them before there is a search
    dag = structure(source, **how).dag
    return parameters(dag, source, conditionals=make, smoothing=smoothing, ess=ess, **local)


def _learned_from(data: Any, names: Sequence[str] | None = None) -> Source:
    """Return what a network is learned from."""
    return as_scatter(data, names) if isinstance(data, np.ndarray) else as_source(data)


def check_smoothing(smoothing: float | str, ess: float | None) -> None:
    """Raise FishernetError unless they are what `parameters` takes."""
    if ess is not None and not (check.is_number(ess) and 0 < ess < math.inf):
        raise FishernetError(f"ess must be a positive number, got {shown(ess)}", parameter="ess")
    named = isinstance(smoothing, str) and smoothing in ("snml", "zeros")
    number = math.nan if isinstance(smoothing, str) or not check.is_number(smoothing) else float(smoothing)
    if not named and not 0 <= number < math.inf:
        wrong = f"smoothing must be a number from 0 on, 'snml' or 'zeros', got {shown(smoothing)}"
        raise FishernetError(wrong, parameter="smoothing")
    if named and ess is not None:
        raise FishernetError(f"ess and smoothing {smoothing!r} exclude each other", parameter="ess")
