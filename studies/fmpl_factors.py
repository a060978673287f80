"""What of the comparison of graphs is the prior's, the drawn networks', or the path's of penalties.

FMPL's graphs with and without its prior, of networks with weak and with strong edges; and the graphical lasso by how
far its path goes, by what its extended BIC is computed from, and beside the best graph on the path.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import fishernet as fn
from studies import comparators
from studies.comparators import Array
from studies.study import Run, Seeds, Table, mean

SEEDS = Seeds({"factors and selections": 3161})
PART = 64
WEIGHTS, EXCESS = (0.2, 0.6), 0.1
DRAWN = ("G-Wishart", "uniform")
RULES, PRIORS = ("and", "or", "hc"), (True, False)
SHARES = (1 / 64, 1 / 16, 1 / 4)  # of the variables, which the first parameter of the prior is
FAR, MANY, DENSE = 0.02, 14, 400
SELECTIONS = ("to 0.1, as is", "to 0.1, refitted", "to 0.02, as is", "to 0.02, refitted")


def uniform_precision(edges: Sequence[tuple[int, int]], d: int, rng: np.random.Generator) -> Array:
    """Return a precision with entries of 0.2 to 0.6, of either sign, on the edges; its least eigenvalue is 0.1."""
    K = np.zeros((d, d))
    for a, b in edges:
        K[a, b] = K[b, a] = rng.choice((-1, 1)) * rng.uniform(*WEIGHTS)
    least = float(np.linalg.eigvalsh(K)[0])
    return np.asarray(K + (EXCESS - least) * np.eye(d))


def draw(
    edges: Sequence[tuple[int, int]], drawn: str, d: int, n: int, repetition: int
) -> tuple[Array, fn.UndirectedGraph]:
    """Return n rows of d variables in copies of a network of 64, each of a precision of its own, and the graph."""
    rng = np.random.default_rng([SEEDS["factors and selections"], DRAWN.index(drawn), d, n, repetition])
    part = fn.UndirectedGraph.from_edges([f"v{v}" for v in range(PART)], [(f"v{a}", f"v{b}") for a, b in edges])
    copies = d // PART
    if drawn == "uniform":
        precisions = [uniform_precision(edges, PART, rng) for _ in range(copies)]
    else:
        precisions = list(fn.models.g_wishart(part, df=3.0, n=copies, seed=rng))
    rows = [np.linalg.solve(np.linalg.cholesky(one).T, rng.normal(size=(PART, n))).T for one in precisions]
    names = [f"v{v}" for v in range(d)]
    pairs = [(names[PART * c + a], names[PART * c + b]) for c in range(copies) for a, b in edges]
    return np.ascontiguousarray(np.concatenate(rows, axis=1)), fn.UndirectedGraph.from_edges(names, pairs)


def wrong(found: fn.UndirectedGraph, true: fn.UndirectedGraph) -> list[int]:
    """Return how many edges lack and how many are too many."""
    edges = [{frozenset(edge) for edge in one.edges} for one in (true, found)]
    return [len(edges[0] - edges[1]), len(edges[1] - edges[0])]


def by_factors(
    edges: tuple[tuple[int, int], ...], drawn: str, d: int, n: int, repetition: int
) -> list[list[list[int]]]:
    """Return the wrong edges of one data set, [prior, rule, (lacking, too many)]."""
    X, true = draw(edges, drawn, d, n, repetition)
    return [
        [wrong(fn.learn.gaussian_graph(X, rule=rule, prior=prior), true) for rule in RULES]  # type: ignore[arg-type]
        for prior in PRIORS
    ]


def by_selection(edges: tuple[tuple[int, int], ...], drawn: str, n: int, repetition: int) -> list[list[float]]:
    """Return the distance and the place on the path, of each way to choose and of the best graph of the longer path."""
    X, true = draw(edges, drawn, PART, n, repetition)
    columns = comparators.standardized(X)
    correlations: Array = columns.T @ columns / n
    known: list[tuple[float, int, float, float]] = []
    for share, precision in comparators.long_path(correlations, FAR, MANY):
        joined = (precision != 0) & ~np.eye(PART, dtype=bool)
        graph, count = comparators.graph(joined | joined.T), int(joined.sum()) // 2
        as_is = comparators.ebic(comparators.log_likelihood(precision, correlations, n), count, n, PART)
        again = math.inf
        if count <= DENSE:  # beyond, five times the true number, fitting takes long and no score is near the best
            again = comparators.ebic(comparators.refitted_likelihood(columns, graph), count, n, PART)
        known.append((share, sum(wrong(graph, true)), as_is, again))
    short = [one for one in known if one[0] >= 0.1 - 1e-9]
    chosen = [min(part, key=lambda one: one[k]) for part in (short, known) for k in (2, 3)]
    best = min(known, key=lambda one: one[1])
    ours = sum(wrong(fn.learn.gaussian_graph(X, rule="or"), true))
    return [*([float(one[1]), one[0]] for one in (*chosen, best)), [float(ours), math.nan]]


def factors(run: Run, edges: Sequence[tuple[int, int]]) -> Iterator[Table]:
    """Return FMPL's wrong edges by prior, by how networks are drawn and by rule."""
    places = [(64, n) for n in (250, 1_000, 4_000)]
    places += run.choose([], [(256, 250), (256, 1_000), (256, 4_000), (1_024, 1_000)])
    rows: list[list[Any]] = []
    for drawn in DRAWN:
        for d, n in places:
            sets = run.choose(1, {64: 25, 256: 15, 1_024: 10}[d])
            found = np.array(list(run.map(by_factors, [(tuple(edges), drawn, d, n, r) for r in range(sets)])))
            for k, prior in enumerate(PRIORS):
                lack, extra = (found[:, k, :, e].mean(axis=0).tolist() for e in (0, 1))
                each = [mean(found[:, k, rule].sum(axis=1)) for rule in range(len(RULES))]
                gap = mean(found[:, k, 1].sum(axis=1) - found[:, k, 0].sum(axis=1))
                split = [f"{a:.0f} + {b:.0f}" for a, b in zip(lack, extra, strict=True)]
                rows.append([drawn, f"{d:,}", n, sets, "on" if prior else "off", *each, gap, *split])
    heads = ["drawn", "variables", "rows", "sets", "prior", "AND", "OR", "HC", "OR - AND"]
    yield Table("factors", [*heads, *(f"{rule}: lacking + too many" for rule in ("AND", "OR", "HC"))], rows, ".1f")


def by_prior(edges: tuple[tuple[int, int], ...], drawn: str, d: int, n: int, repetition: int) -> list[list[int]]:
    """Return the numbers of wrong edges of one data set, [first parameter of the prior, rule]."""
    X, true = draw(edges, drawn, d, n, repetition)
    return [
        [sum(wrong(fn.learn.gaussian_graph(X, rule=rule, prior=(a, 0.5, d - 1)), true)) for rule in RULES]  # type: ignore[arg-type]
        for a in (0.5, *(share * d for share in SHARES))
    ]


def priors(run: Run, edges: Sequence[tuple[int, int]]) -> Iterator[Table]:
    """Return FMPL's wrong edges by how likely the prior finds an edge."""
    rows: list[list[Any]] = []
    for drawn in DRAWN:
        for d, n in itertools.product(run.choose((64,), (64, 256, 1_024)), run.choose((250,), (250, 1_000, 4_000))):
            sets = run.choose(1, {64: 25, 256: 15, 1_024: 5}[d])
            found = np.array(list(run.map(by_prior, [(tuple(edges), drawn, d, n, r) for r in range(sets)])))
            for k, a in enumerate(("1/2", *(f"d/{1 / share:.0f}" for share in SHARES))):
                each = [mean(found[:, k, rule]) for rule in range(len(RULES))]
                gaps = [mean(found[:, k, rule] - found[:, k, 0]) for rule in (1, 2)]
                rows.append([drawn, f"{d:,}", n, sets, a, *each, *gaps])
    heads = ["drawn", "variables", "rows", "sets", "a", "AND", "OR", "HC", "OR - AND", "HC - AND"]
    yield Table("priors", heads, rows, ".1f")


def selections(run: Run, edges: Sequence[tuple[int, int]]) -> Iterator[Table]:
    """Return the graphical lasso's distances by how its graph is chosen."""
    rows: list[list[Any]] = []
    for drawn in DRAWN:
        for n in run.choose((250,), (250, 1_000, 4_000)):
            sets = run.choose(1, 5)
            found = np.array(list(run.map(by_selection, [(tuple(edges), drawn, n, r) for r in range(sets)])))
            wrongs, shares = ([mean(found[:, k, at]) for k in range(6 - at)] for at in (0, 1))
            rows.append([drawn, n, sets, *wrongs, *shares])
    heads = ["drawn", "rows", "sets", *SELECTIONS, "best of the path", "OR of FMPL"]
    heads += [f"penalty, {name}" for name in (*SELECTIONS, "best")]
    yield Table("selections", heads, rows, [""] * 3 + [".1f"] * 6 + [".3f"] * 5)
