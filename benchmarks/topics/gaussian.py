"""Gaussian columns: FMPL's three graphs, one after the other, and the maximum-likelihood precision of a given graph.

The rows are of unconnected copies of a network of 64 variables and 78 edges, its precision drawn, too. Of our graph,
taking any edge out is no gain. scikit-learn's is that of the graphical lasso, its penalty by cross-validation; its
edges are only counted. What makes a precision the maximum: its inverse is the covariance on the edges.
"""

from __future__ import annotations

import numpy as np

import fishernet as fn
from benchmarks.calls import Call, Data
from benchmarks.race import Race, Target, Told, Verdict, below, calls_of, faster, same
from benchmarks.sources import spaced

TITLE = "Gaussian graphs and networks"
PART = 64


def graph(d: int) -> fn.UndirectedGraph:
    """Return copies of a grid of four by four, four cliques of four, a circle of 16 and two stars of 8."""
    edges = [(4 * r + c, 4 * r + c + 1) for r in range(4) for c in range(3)]
    edges += [(4 * r + c, 4 * r + c + 4) for r in range(3) for c in range(4)]
    edges += [(4 * k + a, 4 * k + b) for k in range(4, 8) for a in range(4) for b in range(a + 1, 4)]
    edges += [(32 + k, 32 + (k + 1) % 16) for k in range(16)]
    edges += [(hub, hub + leaf) for hub in (48, 56) for leaf in range(1, 8)]
    names = [f"v{v}" for v in range(d)]
    return fn.UndirectedGraph.from_edges(
        names, [(names[s + a], names[s + b]) for s in range(0, d, PART) for a, b in edges]
    )


def copies(d: int) -> Data:
    """Return rows of so many columns, and the graph they are of."""
    rng = np.random.default_rng(9)
    factors = np.linalg.cholesky(fn.models.g_wishart(graph(PART), df=3.0, n=d // PART, seed=rng))
    rows = [np.linalg.solve(half.T, rng.normal(size=(PART, 1_000))).T for half in factors]
    adjacency = tuple(tuple(others) for others in graph(d).adjacency)
    return Data(f"{spaced(d)} columns, 1 000 rows", np.concatenate(rows, axis=1), parents=adjacency)


GRAPHS = Call(
    lambda data: data.rows.copy(),
    lambda rows: [fn.learn.gaussian_graph(rows, rule=rule) for rule in ("and", "or", "hc")],
    lambda graphs, _: [graph.adjacency for graph in graphs],
    note="three graphs, each from the rows; the edges are HC's",
)
PRECISION = Call(
    lambda data: (data.rows.copy(), fn.UndirectedGraph(data.names, data.parents)),
    lambda handed: fn.learn.gaussian_network(*handed),
    lambda network, _: network.precision,
)


def is_graph(told: Told) -> Verdict:
    """Count the edges that are not the true graph's; of ours, take some of them out."""
    blankets, rows = [set(map(int, others)) for others in told.answer[-1]], told.data.rows
    found, truth = ({(i, j) for i, row in enumerate(of) for j in row if i < j} for of in (blankets, told.data.parents))
    text = f"{len(found)} edges, {len(found ^ truth)} of them and of the true {len(truth)} differ"
    if told.label != "fishernet":  # the peer's graph has no score of ours
        return True, text

    def lost(v: int, u: int) -> float:
        d, p = len(blankets), len(blankets[v])  # the prior of blankets of p and of p - 1 members
        prior = np.log((0.5 + p - 1) / (0.5 + d - 1 - p))
        return fn.scores.fmpl(rows, v, blankets[v]) - fn.scores.fmpl(rows, v, blankets[v] - {u}) + float(prior)

    chosen = np.random.default_rng(0).permutation(np.array(sorted(found)))[:50].tolist()
    least = min(lost(i, j) + lost(j, i) for i, j in chosen)
    return least > -1e-6, f"{text}; without any of {len(chosen)} edges the score falls, by {least:.2f} at the least"


def is_maximum(told: Told) -> Verdict:
    covariance, joined = np.cov(told.data.rows.T, bias=True), np.eye(len(told.answer), dtype=bool)
    for v, others in enumerate(told.data.parents):
        joined[v, list(others)] = True
    scales = np.sqrt(np.diag(covariance))
    off = np.abs((np.linalg.inv(told.answer) - covariance) / np.outer(scales, scales))[joined].max()
    return bool(not told.answer[~joined].any() and off < 1e-8), f"the covariance on the edges to {off:.0e}; else zeros"


def graphs(d: int, target: Target, *peers: str) -> Race:
    return Race(lambda: copies(d), GRAPHS, is_graph, same("gaussian_graph", *peers), [target], title="three graphs")


RACES = (
    graphs(64, below(5e-3)),
    graphs(256, faster(50, "scikit-learn"), "scikit-learn"),
    graphs(1_024, below(1)),
    Race(lambda: copies(256), PRECISION, is_maximum, title="precision of the graph"),
    Race(lambda: copies(1_024), PRECISION, is_maximum, title="precision of the graph"),
)
CALLS = calls_of(RACES)
