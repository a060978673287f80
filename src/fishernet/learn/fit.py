"""Fitting the parameters of a network: tables to counts, regressions and precisions to scatters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import listed, positions
from fishernet.data import Continuous, CountSource, Scatter, Table, as_scatter, as_source
from fishernet.data.matching import is_frame
from fishernet.data.moments import require_varying
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.graphs.edges import require_kind
from fishernet.learn.structure import structure
from fishernet.models import BayesianNetwork, FullTable, GaussianMarkovNetwork, LinearGaussian
from fishernet.models.conditionals.base import check_cells
from fishernet.models.zero_pattern import completed_precision


def require_spread(scatter: Scatter) -> None:
    """Raise SchemaError when there are too few rows for any variance, or columns are constant, naming them."""
    if scatter.n < 2:
        raise SchemaError(f"variances need two rows at least; there {'is' if scatter.n == 1 else 'are'} {scatter.n}")
    require_varying(scatter)


def gaussian_network(X: Any, graph: UndirectedGraph) -> GaussianMarkovNetwork:
    """Fit a Gaussian Markov network: the mean, and the most likely precision with the zeros of a graph.

    The covariance of the result is that of the data (over n, not n - 1) on the diagonal and on every edge.

    Parameters
    ----------
    X : (n, d) array, Table of continuous columns, data frame, mapping from names to columns, or Scatter
        Numbers. The columns of an array are those of ``graph.names``, in their order; otherwise columns are matched by
        name.
    graph : UndirectedGraph
        On the same variables as the data.

    Returns
    -------
    GaussianMarkovNetwork
        Its variables come in the graph's order.

    Raises
    ------
    SchemaError
        When names differ from the graph's, a value is not finite, a column is constant, there are fewer than two rows,
        or the variables of a clique are collinear, as n or more always are; the variables are named.
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
    scatter = _matched(X, graph)
    require_spread(scatter)
    covariance = scatter.S / scatter.n
    return GaussianMarkovNetwork(graph.names, scatter.mean, completed_precision(covariance, graph))


def _matched(X: Any, graph: UndirectedGraph) -> Scatter:
    """Return the scatter of exactly the graph's variables, in its order."""
    if isinstance(X, Scatter):
        _require_same(X.names, graph.names)
        return X.marginal([X.names.index(name) for name in graph.names])
    if not isinstance(X, Table) and not is_frame(X):
        return as_scatter(X, graph.names)
    scatter = as_scatter(X)
    _require_same(scatter.names, graph.names)
    return scatter.marginal([scatter.names.index(name) for name in graph.names])


def _require_same(columns: tuple[str, ...], names: tuple[str, ...]) -> None:
    absent = [name for name in names if name not in set(columns)]
    more = [name for name in columns if name not in set(names)]
    if absent or more:
        sides = (("the data lack", absent), ("the graph lacks", more))
        text = "; ".join(f"{side} {listed(found)}" for side, found in sides if found)
        raise SchemaError(f"the data and the graph must have the same variables, in any order: {text}")


def parameters(dag: Dag, table: Any, *, smoothing: float | str = 1.0, ess: float | None = None) -> BayesianNetwork:
    """Fit the parameters of a Bayesian network.

    Parameters
    ----------
    dag : Dag
        The structure; its variables are matched to the table's by name.
    table : Table, data frame, CountSource or Scatter
        The data, without missing cells; columns that the graph does not have are passed over. Where all columns are
        continuous, or it is an (n, d) array of numbers with the columns of ``dag.names`` or a Scatter, the network is
        linear-Gaussian, by maximum likelihood; smoothing and ess do not go with these.
    smoothing : float, "snml" or "zeros"
        A pseudo-count added to every cell N_ijk (0: plain frequencies), or "snml": the sequential normalized maximum
        likelihood weights e(N_ijk) (N_ijk + 1), with e(n) = ((n + 1) / n)^n and e(0) = 1, or "zeros": zero counts
        become one (P2, Algorithm 5).
    ess : float, optional
        Equivalent sample size: ess / (r q) is added to every cell instead, so that equivalent structures get the same
        distribution.

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
        When a cell is missing.
    StateSpaceError
        When a conditional would have more than 2**28 cells.

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
    found = _learned_from(table, dag.names)
    if isinstance(found, Scatter):
        if ess is not None or smoothing != 1.0:
            raise FishernetError("numbers are fitted by maximum likelihood; smoothing and ess are for tables of counts")
        return _regressions(dag, found)
    source = as_source(found)
    where = positions([variable.name for variable in source.variables], dag.names, "column")
    families = [tuple(where[v] for v in (*parents, child)) for child, parents in enumerate(dag.parents)]
    places = [(*parents, child) for child, parents in enumerate(dag.parents)]
    conditionals = fit_conditionals(source, families, smoothing, ess, places)
    return BayesianNetwork([source.variables[v] for v in where], conditionals, n_rows=source.n_rows)


def _regressions(dag: Dag, scatter: Scatter) -> BayesianNetwork:
    """Return the most likely linear-Gaussian network with a structure."""
    data = scatter.marginal(positions(scatter.names, dag.names, "column"))
    require_spread(data)
    conditionals = [LinearGaussian.fit(data, (*parents, child)) for child, parents in enumerate(dag.parents)]
    variables: list[Any] = [Continuous(name) for name in dag.names]
    return BayesianNetwork(variables, conditionals, n_rows=data.n)


def fit_conditionals(
    source: CountSource,
    families: Sequence[tuple[int, ...]],
    smoothing: float | str,
    ess: float | None,
    places: Sequence[tuple[int, ...]] | None = None,
) -> list[FullTable]:
    """Fit the conditional of the last of each family's positions, given the others in their order.

    `places` are the families' positions in the network, where they are others.
    """
    for family in families:
        variables = [source.variables[v] for v in family]
        check_cells(variables, f"the conditional of {variables[-1].name!r}")
    counted = source.counts([tuple(sorted(family)) for family in families])
    return [
        FullTable.fit(
            counts, family, [source.variables[v] for v in family], smoothing=smoothing, ess=ess, positions=place
        )
        for family, place, counts in zip(families, families if places is None else places, counted, strict=True)
    ]


def bayesian_network(
    table: Any, *, smoothing: float | str = 1.0, ess: float | None = None, **options: Any
) -> BayesianNetwork:
    """Learn a Bayesian network: its structure, then its parameters.

    Parameters
    ----------
    table : Table, data frame, CountSource or Scatter
        The data, without missing cells. Where all columns are continuous, ``score="fractional"`` finds the structure.
    smoothing, ess
        As for `parameters`.
    **options
        As for `structure`: score, search, max_parents, required, forbidden, tiers, start, max_seconds, seed, progress.

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
    source = _learned_from(table, None)
    return parameters(structure(source, **options).dag, source, smoothing=smoothing, ess=ess)


def _learned_from(data: Any, names: Sequence[str] | None) -> Any:
    """Return what a network is learned from: a scatter where all columns (or the named ones) are continuous."""
    if isinstance(data, np.ndarray):
        return as_scatter(data, names)
    if is_frame(data):
        data = Table.from_frame(data)
    if not isinstance(data, Table):
        return data
    table = data if names is None else data.select(names)
    of_numbers = bool(table.variables) and all(variable.is_continuous for variable in table.variables)
    return as_scatter(table) if of_numbers else as_source(table)


def check_smoothing(smoothing: float | str, ess: float | None) -> None:
    """Raise FishernetError unless they are what `parameters` takes."""
    if ess is not None and not (isinstance(ess, int | float) and np.isfinite(ess) and ess > 0):
        raise FishernetError(f"ess must be a positive number, got {ess!r}", parameter="ess")
    wrong = f"smoothing must be a number from 0 on, 'snml' or 'zeros', got {smoothing!r}"
    if isinstance(smoothing, str):
        if smoothing not in ("snml", "zeros"):
            raise FishernetError(wrong, parameter="smoothing")
        if ess is not None:
            raise FishernetError(f"ess and smoothing {smoothing!r} exclude each other", parameter="ess")
    elif not (isinstance(smoothing, int | float) and np.isfinite(smoothing) and smoothing >= 0):
        raise FishernetError(wrong, parameter="smoothing")
