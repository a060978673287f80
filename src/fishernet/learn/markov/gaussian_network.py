"""Gaussian Markov networks by maximum likelihood."""

from __future__ import annotations

from typing import Any

from fishernet.counts import Scatter, as_scatter
from fishernet.errors import SchemaError
from fishernet.graphs import UndirectedGraph
from fishernet.graphs.kinds import require_kind
from fishernet.learn.linear_gaussian import require_spread
from fishernet.models import GaussianMarkovNetwork
from fishernet.models.continuous.zero_pattern import completed_precision
from fishernet.table.numbers import is_frame
from fishernet.table.variable import listed


def gaussian_network(X: Any, graph: UndirectedGraph) -> GaussianMarkovNetwork:
    """Fit a Gaussian Markov network: the mean, and the most likely precision with the zeros of a graph.

    The covariance of the result is that of the data (over n, not n - 1) on the diagonal and on every edge.

    Parameters
    ----------
    X : (n, d) array, data frame, mapping from names to columns, or Scatter
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
    if not is_frame(X):
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
