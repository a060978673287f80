"""The penalty of exact NML, where it can be computed, beside those of the scores that approximate it.

The normalizer of NML sums the maximized likelihood over all data sets of n rows (P4, Eq. 4.3): here over all vectors
of counts, each times the number of data sets that have it. For a star and a collider of binary variables the sum over
the leaves is done in closed form, so that hundreds of rows can be summed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, logsumexp, xlogy

import fishernet as fn

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

NAMES = ("A", "B", "C")
SHAPES = {
    "A  B": "AB",
    "A -> B": "AB A>B",
    "A  B  C": "ABC",
    "A -> B  C": "ABC A>B",
    "B <- A -> C": "ABC A>B A>C",
    "A -> C <- B": "ABC A>C B>C",
    "A -> B -> C <- A": "ABC A>B A>C B>C",
}
"""One DAG of each class of two or three variables, but for the variables' names."""
STAR, COLLIDER = "B <- A -> C", "A -> C <- B"


@dataclass(frozen=True)
class Penalties:
    """What each score subtracts from the maximized log-likelihood of one graph, in nats."""

    exact: float
    qnml: float
    fnml: float
    """The mean over the data sets, weighted by the graph's NML distribution: it depends on the data."""
    fnml_range: tuple[float, float]
    bic: float


def shape(name: str) -> fn.Dag:
    """Return one of the graphs."""
    names, *arcs = SHAPES[name].split()
    return fn.Dag.from_edges(list(names), [(arc[0], arc[2]) for arc in arcs])


def compositions(n: int, cells: int) -> Counts:
    """Return every vector of so many counts that sum to n, a row each."""
    rows, left = np.empty((1, 0), dtype=np.int64), np.array([n])
    for _ in range(cells - 1):
        choices = left + 1
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        count = np.arange(choices.sum()) - starts
        rows = np.column_stack([np.repeat(rows, choices, axis=0), count])
        left = np.repeat(left, choices) - count
    return np.column_stack([rows, left])


def regrets(n: int, r: int = 2) -> Array:
    """Return the regret of 0, ..., n draws from r states."""
    return np.array([fn.regret(k, r) for k in range(n + 1)])


def by_enumeration(dag: fn.Dag, n: int) -> Penalties:
    """Return the penalties of a graph of binary variables, by all vectors of counts."""
    counts = compositions(n, 2 ** len(dag.names))
    tables = counts.reshape(-1, *[2] * len(dag.names))
    log_weight = gammaln(n + 1) - gammaln(counts + 1.0).sum(axis=1)
    of_n, fnml = regrets(n), np.zeros(len(counts))
    for v, parents in enumerate(dag.parents):
        others = tuple(1 + u for u in range(len(dag.names)) if u != v and u not in parents)
        family = tables.sum(axis=others)
        configurations = family.sum(axis=1 + sorted([v, *parents]).index(v))
        log_weight += _xlogx(family) - _xlogx(configurations)
        fnml += of_n[configurations.reshape(len(counts), -1)].sum(axis=1)
    return _penalties(dag, n, log_weight, fnml)


def of_star(n: int) -> Penalties:
    """Return the penalties of a binary variable with two binary children, and so of a chain of three."""
    k = np.arange(n + 1)
    leaves = 2 * (regrets(n)[k] + regrets(n)[n - k])
    likelihood = xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
    choose = gammaln(n + 1) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return _penalties(shape(STAR), n, choose + likelihood + leaves, fn.regret(n, 2) + leaves)


def of_collider(n: int) -> Penalties:
    """Return the penalties of a binary variable with two binary parents that are not adjacent."""
    cells = compositions(n, 4)
    child = regrets(n)[cells].sum(axis=1)
    log_weight = gammaln(n + 1) - gammaln(cells + 1.0).sum(axis=1) + child
    for margin in (cells[:, :2].sum(axis=1), cells[:, ::2].sum(axis=1)):
        log_weight += xlogy(margin, margin / n) + xlogy(n - margin, (n - margin) / n)
    return _penalties(shape(COLLIDER), n, log_weight, 2 * fn.regret(n, 2) + child)


def _penalties(dag: fn.Dag, n: int, log_weight: Array, fnml: Array) -> Penalties:
    exact = float(logsumexp(log_weight))
    mean = float(np.exp(log_weight - exact) @ fnml)
    q = [2 ** len(parents) for parents in dag.parents]
    qnml = sum(fn.regret(n, 2 * of) - fn.regret(n, of) for of in q)
    return Penalties(exact, qnml, mean, (float(fnml.min()), float(fnml.max())), sum(q) * float(np.log(n)) / 2)


def _xlogx(counts: Counts) -> Array:
    flat = counts.reshape(len(counts), -1)
    return np.asarray(xlogy(flat, flat).sum(axis=1))


def is_union_of_tournaments(dag: fn.Dag) -> bool:
    """Whether every two variables that are connected are adjacent: then qNML is NML."""
    adjacent = {frozenset(edge) for edge in dag.edges}
    return not any(
        frozenset((a, b)) in adjacent and frozenset((b, c)) in adjacent and frozenset((a, c)) not in adjacent
        for a, b, c in product(dag.names, repeat=3)
        if len({a, b, c}) == 3
    )
