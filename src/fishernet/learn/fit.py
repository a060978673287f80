"""Fitting the parameters of a network to counts.

The parameters of a linear-Gaussian Bayesian network by maximum likelihood: a regression for each variable.

Gaussian Markov networks by maximum likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, MissingValueError, SchemaError, ZeroProbabilityError
from fishernet.base.names import listed, positions
from fishernet.data import Counts, CountSource, Scatter, Table, Variable, as_scatter, as_source
from fishernet.data.matching import is_frame
from fishernet.data.moments import require_varying
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.graphs.edges import require_kind
from fishernet.learn.structure import structure
from fishernet.models import BayesianNetwork, FullTable, GaussianBayesianNetwork, GaussianMarkovNetwork
from fishernet.models.conditionals.conditional import check_cells
from fishernet.models.conditionals.linear_gaussian import COLLINEAR, regression
from fishernet.models.zero_pattern import completed_precision


def linear_gaussian(dag: Dag, scatter: Scatter) -> GaussianBayesianNetwork:
    """Return the most likely linear-Gaussian network with a structure.

    Raises
    ------
    SchemaError
        When a variable is absent or constant, parents are collinear, or a variable is a linear combination of its
        parents, as it is with too few rows; it is named.
    """
    where = positions(scatter.names, dag.names, "column")
    data = scatter.marginal(where)
    require_spread(data)
    sizes = np.sqrt(np.diagonal(data.S))
    R = data.S / sizes[:, None] / sizes
    intercepts, sds = np.empty(len(dag.names)), np.empty(len(dag.names))
    coefficients = []
    for child, parents in enumerate(dag.parents):
        _require_freedom(R, [*parents, child], dag.names, data.n)
        slopes, rest = regression(R, child, parents)
        slopes = slopes * sizes[child] / sizes[list(parents)]
        coefficients.append(slopes)
        intercepts[child] = data.mean[child] - slopes @ data.mean[list(parents)]
        sds[child] = sizes[child] * math.sqrt(rest / data.n)
    return GaussianBayesianNetwork(dag, intercepts, coefficients, sds)


def require_spread(scatter: Scatter) -> None:
    """Raise SchemaError when there are too few rows for any variance, or columns are constant, naming them."""
    if scatter.n < 2:
        raise SchemaError(f"variances need two rows at least; there {'is' if scatter.n == 1 else 'are'} {scatter.n}")
    require_varying(scatter)


def _require_freedom(R: npt.NDArray[np.float64], family: Sequence[int], names: Sequence[str], n: int) -> None:
    """Raise SchemaError when one of a child's parents, or the child, is a linear combination of those before it."""
    for k, variable in enumerate(family):
        _, rest = regression(R, variable, family[:k])
        if rest >= COLLINEAR:
            continue
        before = [names[v] for v in family[:k]]
        if k < len(family) - 1:
            raise SchemaError(
                f"the parents of {names[family[-1]]!r} are collinear in {n} rows: {names[variable]!r} is a linear "
                f"combination of {listed(before)}; leave one of them out, or take more rows"
            )
        raise SchemaError(
            f"the standard deviation of {names[variable]!r} would be 0: in {n} rows it is a linear combination of its "
            f"parents, {listed(before)}; leave one of them out, or take more rows"
        )


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


Cells = npt.NDArray[np.float64]


@overload
def parameters(dag: Dag, table: Scatter | npt.NDArray[Any]) -> GaussianBayesianNetwork: ...


@overload
def parameters(
    dag: Dag, table: CountSource, *, smoothing: float | str = 1.0, ess: float | None = None
) -> BayesianNetwork: ...


@overload
def parameters(dag: Dag, table: Any, *, smoothing: float | str = 1.0, ess: float | None = None) -> Any: ...


def parameters(dag: Dag, table: Any, *, smoothing: float | str = 1.0, ess: float | None = None) -> Any:
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
    BayesianNetwork, or GaussianBayesianNetwork for numbers
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
    >>> fn.learn.parameters(dag, {"v0": [0.5, 1.5, 2.5], "v1": [1.5, 2.5, 6.5]}).coefficients[1]
    array([2.5])
    """
    check_smoothing(smoothing, ess)
    table = _learned_from(table, dag.names)
    if isinstance(table, Scatter):
        if ess is not None or smoothing != 1.0:
            raise FishernetError("numbers are fitted by maximum likelihood; smoothing and ess are for tables of counts")
        return linear_gaussian(dag, table.marginal(positions(table.names, dag.names, "column")))
    source = as_source(table)
    where = positions([variable.name for variable in source.variables], dag.names, "column")
    families = [tuple(where[v] for v in (*parents, child)) for child, parents in enumerate(dag.parents)]
    conditionals = fit_conditionals(source, families, smoothing, ess)
    placed = [
        FullTable(child, dag.parents[child], c.variables, c.probabilities) for child, c in enumerate(conditionals)
    ]
    return BayesianNetwork([source.variables[v] for v in where], placed, n_rows=source.n_rows)


def fit_conditionals(
    source: CountSource, families: Sequence[tuple[int, ...]], smoothing: float | str, ess: float | None
) -> list[FullTable]:
    """Fit the conditional of the last of each family's positions, given the others in their order."""
    for family in families:
        variables = [source.variables[v] for v in family]
        check_cells(variables, f"the conditional of {variables[-1].name!r}")
    counted = source.counts([tuple(sorted(family)) for family in families])
    conditionals = []
    for family, counts in zip(families, counted, strict=True):
        variables = [source.variables[v] for v in family]
        _require_all_rows(counts, variables[-1])
        axes = [counts.variables.index(v) for v in family]
        cells = counts.table().transpose(axes).reshape(-1, variables[-1].cardinality).astype(np.float64)
        probabilities = normalized(cell_weights(cells, smoothing, ess), variables)
        conditionals.append(FullTable(family[-1], family[:-1], variables, probabilities))
    return conditionals


@overload
def bayesian_network(table: Scatter | npt.NDArray[Any], **options: Any) -> GaussianBayesianNetwork: ...


@overload
def bayesian_network(
    table: CountSource, *, smoothing: float | str = 1.0, ess: float | None = None, **options: Any
) -> BayesianNetwork: ...


@overload
def bayesian_network(table: Any, *, smoothing: float | str = 1.0, ess: float | None = None, **options: Any) -> Any: ...


def bayesian_network(table: Any, *, smoothing: float | str = 1.0, ess: float | None = None, **options: Any) -> Any:
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
    BayesianNetwork, or GaussianBayesianNetwork for numbers

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


def _require_all_rows(counts: Counts, child: Variable) -> None:
    if counts.left_out:
        raise MissingValueError(
            f"the conditional of {child.name!r} needs complete rows; {counts.left_out} rows have a missing cell among "
            "it and its parents; read the table with missing 'drop' or 'state'",
            counts={},
            parameter="missing",
        )


def cell_weights(cells: Cells, smoothing: float | str, ess: float | None) -> Cells:
    """Return what each cell weighs, (q, r)."""
    if ess is not None:
        return cells + ess / cells.size
    if smoothing == "zeros":
        return np.where(cells > 0, cells, 1.0)
    if smoothing == "snml":
        with np.errstate(divide="ignore", invalid="ignore"):
            e = np.exp(cells * np.log1p(1 / cells))  # ((n + 1) / n)^n
        return np.where(cells > 0, e, 1.0) * (cells + 1)
    return cells + float(smoothing)


def normalized(weights: Cells, variables: Sequence[Variable]) -> Cells:
    """Return each row divided by its sum.

    Raises
    ------
    ZeroProbabilityError
        When a row is all zeros, naming the first such configuration.
    """
    sums = weights.sum(axis=1, keepdims=True)
    empty = np.flatnonzero(sums == 0)
    if len(empty):
        *parents, child = variables
        states = np.unravel_index(empty[0], [v.cardinality for v in parents]) if parents else ()
        configuration: dict[str, object] = {v.name: v.states[int(k)] for v, k in zip(parents, states, strict=True)}
        shown = ", ".join(f"{name} = {label!r}" for name, label in configuration.items())
        where = f"; {len(empty)} configurations of its parents never occur, the first is {shown}" if parents else ""
        raise ZeroProbabilityError(
            f"the conditional of {child.name!r} cannot be fitted without smoothing{where}; use smoothing above 0",
            variable=child.name,
            configuration=configuration,
            parameter="smoothing",
        )
    weights /= sums
    return weights
