"""Gaussian Markov networks by fractional marginal pseudo-likelihood (FMPL): ``python -m studies.fmpl``.

Networks of 64 to 1,024 variables are learned by FMPL's three graphs and by methods with an L1 penalty, as in section
3.1.6 of Leppä-aho's thesis (2020) [1]_: how many edges each has wrong, how long it takes, and how well every column is
predicted from its neighbours.

References
----------
.. [1] J. Leppä-aho, *Methods for learning directed and undirected graphical models*, University of Helsinki. The
   experiments are those of J. Leppä-aho, J. Pensar, T. Roos and J. Corander, "Learning Gaussian graphical models with
   fractional marginal pseudo-likelihood", International Journal of Approximate Reasoning 83, 2017.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fishernet as fn
from studies import comparators, fmpl_factors, graphs
from studies.study import Array, Run, Seeds, Table, main, mean

SEEDS = Seeds({"recovery": 316, "prediction": 3160} | fmpl_factors.SEEDS)
TAKES = "--quick 10 s of processor time, usual an hour on two cores; --part computes a part alone"
SIZES, VARIABLES = (125, 250, 500, 1_000, 2_000, 4_000), (64, 128, 256, 512, 1_024)
TIMED, FEW = 1_000, 5  # rows of the told seconds; data sets of more than 128 variables
PART, N_EDGES = 64, 78  # variables and edges of a copy
DEGREES = 3.0
PENALIZED = {"glasso": {512: 0, 1_024: 0}, "NBS": {512: 2, 1_024: 1}, "SPACE": {512: 1, 1_024: 0}}
"""On how many data sets a method with an L1 penalty runs, by the number of variables, where not on all."""
DRAWN, DRAWN_ROWS = "drawn, 64 variables", 500
TABLES = {"digits": "load_digits", "breast cancer": "load_breast_cancer"}  # of scikit-learn
ALL, NONE = "all columns", "the mean"
OURS, OTHERS = ("AND", "OR", "HC"), ("glasso", "NBS", "SPACE")

METHODS: dict[str, Callable[[Array, int], fn.UndirectedGraph]] = {
    "AND": lambda X, _: fn.learn.gaussian_graph(X, rule="and"),
    "OR": lambda X, _: fn.learn.gaussian_graph(X, rule="or"),
    "HC": lambda X, _: fn.learn.gaussian_graph(X, rule="hc"),
    "glasso": lambda X, _: comparators.graphical_lasso(X),
    "NBS": lambda X, _: comparators.lasso_neighbourhoods(X),
    "SPACE": lambda X, _: comparators.space(X),
    "AND, no prior": lambda X, _: fn.learn.gaussian_graph(X, rule="and", prior=False),
    "OR, no prior": lambda X, _: fn.learn.gaussian_graph(X, rule="or", prior=False),
    "HC, no prior": lambda X, _: fn.learn.gaussian_graph(X, rule="hc", prior=False),
}


def part_edges() -> list[tuple[int, int]]:
    """Return the edges of a copy: a grid of four by four, four cliques of four, a circle of 16 and two stars of 8."""
    grid = [(4 * r + c, 4 * r + c + 1) for r in range(4) for c in range(3)]
    grid += [(4 * r + c, 4 * r + c + 4) for r in range(3) for c in range(4)]
    cliques = [(4 * k + a, 4 * k + b) for k in range(4, 8) for a in range(4) for b in range(a + 1, 4)]
    circle = [(32 + k, 32 + (k + 1) % 16) for k in range(16)]
    stars = [(hub, hub + leaf) for hub in (48, 56) for leaf in range(1, 8)]
    return grid + cliques + circle + stars


@dataclass(frozen=True)
class Copies:
    """Unconnected copies of a network of 64 variables and 78 edges, whose precision is drawn, too."""

    n_variables: int

    @property
    def graph(self) -> fn.UndirectedGraph:
        """The graph that the precision has the zeros of."""
        names = [f"v{v}" for v in range(self.n_variables)]
        starts = range(0, self.n_variables, PART)
        edges = [(names[start + a], names[start + b]) for start in starts for a, b in part_edges()]
        return fn.UndirectedGraph.from_edges(names, edges)

    @property
    def name(self) -> str:
        """What it is."""
        return f"{self.n_variables:,} variables"

    def draw(self, n: int, repetition: int) -> tuple[Array, fn.UndirectedGraph]:
        """Return rows, (n, n_variables), of a new precision, and the graph."""
        return self.rows(n, np.random.default_rng([SEEDS["recovery"], self.n_variables, n, repetition])), self.graph

    def rows(self, n: int, rng: np.random.Generator) -> Array:
        """Return rows of a new precision; copies are independent, so each has its precision drawn by itself."""
        precisions = fn.models.g_wishart(Copies(PART).graph, df=DEGREES, n=self.n_variables // PART, seed=rng)
        rows = [np.linalg.solve(np.linalg.cholesky(one).T, rng.normal(size=(PART, n))).T for one in precisions]
        return np.ascontiguousarray(np.concatenate(rows, axis=1))


def learn(truth: Copies, n: int, repetition: int, names: Sequence[str]) -> list[list[float]]:
    return graphs.distances(METHODS, truth, n, repetition, names)


def limits(run: Run, d: int) -> graphs.Limits:
    """Return on how many data sets of d variables the methods with an L1 penalty run, where not on all."""
    if run.form == "full":
        return {}
    return {m: [(np.inf, run.choose(1, PENALIZED.get(m, {}).get(d, 25)))] for m in OTHERS}


def recovery(run: Run) -> Iterator[Table]:
    variables, sizes = run.choose(VARIABLES[:1], VARIABLES), run.choose(SIZES[1:4:2], SIZES)
    run.settings.update({"rows": sizes, "G-Wishart degrees of freedom": DEGREES})
    repetitions, methods, distances, seconds = run.repetitions(quick=3, usual=25), graphs.available(METHODS), [], []
    for d in variables:
        there = repetitions if d <= 128 else min(FEW, repetitions)
        found = graphs.recover(run, learn, [Copies(d)], sizes, there, methods, limits(run, d))
        distances += graphs.distance_rows(found, there)
        seconds += [[f"{d:,} variables", *row] for row in graphs.seconds_rows(found) if row[0] == TIMED]
    yield Table("distances", ["data", "rows", *methods], distances, ".1f", best=True)
    yield Table("seconds", ["data", "rows", *methods], seconds, ".2g")


def halves(table: str, split: int) -> tuple[Array, Array]:
    """Return training and test rows, of columns that vary among the training rows, scaled by these."""
    rng = np.random.default_rng([SEEDS["prediction"], split])
    if table == DRAWN:
        X = Copies(PART).rows(DRAWN_ROWS, rng)
    else:
        load = getattr(importlib.import_module("sklearn.datasets"), TABLES[table])
        X = rng.permutation(np.asarray(load().data, dtype=np.float64))
    training, test = X[: len(X) // 2], X[len(X) // 2 :]
    kept = independent(training)
    centre, scale = training[:, kept].mean(axis=0), training[:, kept].std(axis=0)
    return (training[:, kept] - centre) / scale, (test[:, kept] - centre) / scale


def independent(X: Array, least: float = 1e-4) -> list[int]:
    """Return the columns, the first first, of which those before leave at least a share of the variance.

    Columns that are sums of others leave FMPL no score.
    """
    chosen: list[int] = []
    basis: list[Array] = []
    for v in range(X.shape[1]):
        rest = X[:, v] - X[:, v].mean()
        size = float(rest @ rest)
        if (X[:, v] == X[0, v]).mean() > 0.99:  # nearly constant: a few rows decide
            continue
        for one in basis:
            rest = rest - (one @ rest) * one
        if rest @ rest > least * size:
            chosen.append(v)
            basis.append(rest / np.sqrt(rest @ rest))
    return chosen


def error(training: Array, test: Array, neighbours: Sequence[Sequence[int]]) -> float:
    """Return the mean squared error over all columns and test rows, each predicted from its neighbours."""
    total = 0.0
    for v, near in enumerate(neighbours):
        weights, *_ = np.linalg.lstsq(training[:, near], training[:, v], rcond=None)
        total += float(((test[:, v] - test[:, near] @ weights) ** 2).mean())
    return total / len(neighbours)


def predict(table: str, split: int, methods: Sequence[str]) -> list[list[float]]:
    """Return the error and the number of edges of each method's graph, and before them the shape of the table."""
    training, test = halves(table, split)
    d = training.shape[1]
    found: list[list[float]] = [[len(training) + len(test), d]]
    for method in methods:
        neighbours: Sequence[Sequence[int]] = [[] for _ in range(d)]
        if method == ALL:
            neighbours = [[u for u in range(d) if u != v] for v in range(d)]
        elif method != NONE:
            neighbours = [list(near) for near in graphs.learned(METHODS, method, training)[0].adjacency]
        found.append([error(training, test, neighbours), sum(map(len, neighbours)) / 2])
    return found


def prediction(run: Run) -> Iterator[Table]:
    """Learn and predict on every split of every table."""
    methods = [*(m for m in graphs.available(METHODS) if m in (*OURS, *OTHERS)), ALL, NONE]
    real = [] if comparators.missing("sklearn") else list(TABLES)
    tables = [DRAWN, *run.choose(real[1:], real)]
    splits = run.choose(1, 10)
    columns, rows = ["method"], [list[object]([method]) for method in methods]
    for table in tables:
        (shape, *_), *_ = answers = list(run.map(predict, [(table, split, tuple(methods)) for split in range(splits)]))
        columns.append(f"{table}, {shape[0]:,.0f} x {shape[1]:.0f}")
        for k, row in enumerate(rows, 1):
            cell = mean([answer[k][0] for answer in answers]) or {}
            row.append(cell | {"edges": np.mean([answer[k][1] for answer in answers])})
    yield Table("prediction", columns, rows, ".4f")


REFERENCE, SETTING, EACH = "fmpl-n100.json", "test_noise_stds_n100", 50


def published_rows(inputs: int, outputs: int, n: int, noises: Sequence[float], seed: int) -> Iterator[Array]:
    """Yield the rows, in the order in which the authors' generator draws them; every draw follows the one before."""
    random = np.random.RandomState(seed)
    for noise in noises:
        for _ in range(EACH):
            x = random.randn(inputs, n)
            weights = random.randn(outputs, inputs)
            y = weights @ x + noise * random.randn(outputs, n)
            yield np.vstack([x, y / np.std(y, axis=1, keepdims=True)]).T


def precision_and_recall(graph: fn.UndirectedGraph, inputs: int) -> tuple[float, float]:
    """Compare a graph with the one in which inputs are joined with everything."""
    d = len(graph.names)
    true = {(a, b) for a in range(inputs) for b in range(a + 1, d)}
    found = {(a, b) for a, others in enumerate(graph.adjacency) for b in others if a < b}
    return len(found & true) / max(1, len(found)), len(found & true) / len(true)


def agreement(run: Run) -> Iterator[Table]:
    """Count the data sets on which precision and recall are those of the authors' own program, prior off."""
    path = run.file("reference", REFERENCE)
    if path is not None:
        yield agreement_with(path)


def agreement_with(path: Path) -> Table:
    held = json.loads(path.read_text())["data"][SETTING]
    inputs, outputs, n, each, noises = held["init"]
    assert each == EACH
    known = {entry["k"]: entry for entry in held["entries"]}
    same = dict.fromkeys(("OR", "AND", "HC"), 0)
    for k, X in enumerate(published_rows(inputs, outputs, n, noises, held["seed"])):
        for rule in same if k in known else ():
            ours = precision_and_recall(fn.learn.gaussian_graph(X, rule=rule.lower(), prior=False), inputs)  # type: ignore[arg-type]
            same[rule] += bool(np.abs(np.array(ours) - known[k][rule]).max() < 1e-6)
    return Table(
        "agreement", ["graph", "same", "data sets"], [[rule, count, len(known)] for rule, count in same.items()]
    )


def compute(run: Run) -> Iterator[Table]:
    for part in PARTS.values():
        yield from part(run)


def factors(run: Run) -> Iterator[Table]:
    yield from fmpl_factors.factors(run, part_edges())


def priors(run: Run) -> Iterator[Table]:
    yield from fmpl_factors.priors(run, part_edges())


def selections(run: Run) -> Iterator[Table]:
    if not comparators.missing("sklearn"):
        yield from fmpl_factors.selections(run, part_edges())


PARTS = {
    "recovery": recovery,
    "prediction": prediction,
    "agreement": agreement,
    "factors": factors,
    "priors": priors,
    "selections": selections,
}


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw AND beside the methods with an L1 penalty, and FMPL's three graphs."""
    graphs.draw(path("lasso"), tables["distances"], ("AND", *OTHERS))
    graphs.draw(path("graphs"), tables["distances"], OURS)


if __name__ == "__main__":
    main("fmpl", compute, draw, seeds=SEEDS, about=__doc__, takes=TAKES, parts=PARTS)
