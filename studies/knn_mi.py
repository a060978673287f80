"""Markov networks by nearest neighbours: ``python -m studies.knn_mi``.

Undirected graphs are learned by mutual information from nearest neighbours with permutations, and by the methods that
section 3.2.4 of Leppä-aho's thesis [1]_ compares it with: how many edges each has wrong. Then how often simple and
local permutations reject, and what all find among the proteins of Sachs et al. (2005).

References
----------
.. [1] J. Leppä-aho, *Methods for learning directed and undirected graphical models*, University of Helsinki. The
   experiments are those of J. Leppä-aho, S. Räisänen, X. Yang and T. Roos, "Learning non-parametric Markov networks
   with mutual information", PGM 2018.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fishernet as fn
from fishernet.base.vocabulary import SchemeName
from studies import comparators, figures, graphs
from studies.study import Array, Run, Table, main

SEEDS = {"recovery": 3240, "schemes": 3230}
SIZES = (125, 250, 500, 1_000, 2_000)
ALPHA, K, PERMUTATIONS, SKIP_BELOW, K_PERM = 0.05, 5, 200, 0.001, 5
NOMINAL = int(ALPHA * (PERMUTATIONS + 1)) / (PERMUTATIONS + 1)
"""The largest p-value of so many permutations that rejects."""

Rng = np.random.Generator
Triple = tuple[Array, Array, Array | None]


def knn_mi(X: Array, seed: int, scheme: str = "simple") -> fn.UndirectedGraph:
    """Learn as the paper does: IAMB, AND, simple permutations, its rule for skipping them."""
    options: dict[str, Any] = {"permutations": PERMUTATIONS, "scheme": scheme, "k_perm": K_PERM}
    return fn.learn.markov_graph(X, test="knn-mi", alpha=ALPHA, k=K, skip_below=SKIP_BELOW, seed=seed, **options)


LOCAL = "knnMI, local"
METHODS: dict[str, Callable[[Array, int], fn.UndirectedGraph]] = {
    "knnMI": knn_mi,
    "fisherZ": lambda X, _: fn.learn.markov_graph(X, test="fisher-z", alpha=ALPHA),
    "KCIT": lambda X, _: fn.learn.markov_graph(X, test=comparators.kcit(X), alpha=ALPHA),
    "RCIT": lambda X, seed: fn.learn.markov_graph(X, test=comparators.rcit(X, seed), alpha=ALPHA),
    "NPN_glasso": lambda X, _: comparators.graphical_lasso(comparators.nonparanormal(X)),
    "NPN_mb": lambda X, _: comparators.lasso_neighbourhoods(comparators.nonparanormal(X)),
    LOCAL: lambda X, seed: knn_mi(X, seed, "local"),
}
PARENTS = ((), (0,), (0, 1), (2,), (2, 3), (4,), (4,))
"""Of the seven nodes: two triangles and a fork, whose parents are joined, so that the moral graph has no other edge."""
NOISES: dict[str, Callable[[Rng, int], Array]] = {
    "Gaussian": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-1, 1, size=n),
    "t, 2 d.f.": lambda rng, n: rng.standard_t(2, size=n),
}
LINEAR: tuple[Callable[[Array], Any], ...] = (
    lambda _: 0.0,
    lambda x: 0.8 * x[0],
    lambda x: 0.7 * x[0] - 0.8 * x[1],
    lambda x: 0.9 * x[2],
    lambda x: 0.8 * x[2] + 0.7 * x[3],
    lambda x: 0.8 * x[4],
    lambda x: -0.9 * x[4],
)
NON_LINEAR: tuple[Callable[[Array], Any], ...] = (
    lambda _: 0.0,
    lambda x: 2 * np.cos(x[0]),
    lambda x: 2 * np.abs(x[0]) + 1.5 * np.sin(2 * x[1]),
    lambda x: 2 * np.log(np.abs(x[2]) + 0.1),
    lambda x: 2 * np.cos(x[2]) + x[3] ** 2 / (1 + np.abs(x[3])),
    lambda x: 3 * np.sin(x[4]),
    lambda x: 1.5 * np.abs(x[4]),
)


def generator(name: str, n_variables: int, n: int, repetition: int) -> Rng:
    return np.random.default_rng([SEEDS["recovery"], n_variables, n, repetition, *name.encode()])


@dataclass(frozen=True)
class SevenNodes:
    """Copies, unconnected, of the network of seven nodes and eight edges."""

    linear: bool
    noise: str
    copies: int = 1

    @property
    def name(self) -> str:
        """What it is."""
        return f"{'linear' if self.linear else 'non-linear'}, {self.noise}"

    def draw(self, n: int, repetition: int) -> tuple[Array, fn.UndirectedGraph]:
        """Return rows, the columns of one copy after those of another, and the moral graph."""
        rng = generator(self.name, 7 * self.copies, n, repetition)
        x = np.empty((self.copies, 7, n))
        for copy in x:
            for v, mean_of in enumerate(LINEAR if self.linear else NON_LINEAR):
                copy[v] = mean_of(copy) + NOISES[self.noise](rng, n)
        arcs = [(parent, child) for child, parents in enumerate(PARENTS) for parent in parents]
        edges = [(f"v{7 * c + a}", f"v{7 * c + b}") for c in range(self.copies) for a, b in arcs]
        graph = fn.UndirectedGraph.from_edges([f"v{v}" for v in range(7 * self.copies)], edges)
        return np.ascontiguousarray(x.reshape(-1, n).T), graph


@dataclass(frozen=True)
class Nonparanormal:
    """A Gaussian network of a random graph, its columns put through ``sign(x) |x|^3``."""

    n_variables: int

    @property
    def name(self) -> str:
        """What it is."""
        return f"nonparanormal, {self.n_variables} nodes"

    def draw(self, n: int, repetition: int) -> tuple[Array, fn.UndirectedGraph]:
        """Return rows of a new network, and its graph."""
        rng = generator(self.name, self.n_variables, n, repetition)
        graph = random_graph(self.n_variables, rng)
        half = np.linalg.cholesky(fn.models.g_wishart(graph, df=3.0, seed=rng)[0])
        rows = np.linalg.solve(half.T, rng.normal(size=(self.n_variables, n))).T
        powered: Array = np.sign(rows) * np.abs(rows) ** 3
        return powered, graph


def random_graph(d: int, rng: Rng) -> fn.UndirectedGraph:
    """Return a graph that joins every pair with the probability that makes two neighbours per node in the mean."""
    joined = np.triu(rng.random((d, d)) < 2 / (d - 1), 1)
    return comparators.graph(joined | joined.T)


def learn(truth: graphs.Truth, n: int, repetition: int, names: Sequence[str]) -> list[list[float]]:
    return graphs.distances(METHODS, truth, n, repetition, names)


def recover(
    run: Run, name: str, truths: Sequence[graphs.Truth], sizes: Sequence[int], repetitions: int, limits: graphs.Limits
) -> Iterator[Table]:
    methods = [m for m in graphs.available(METHODS) if limits.get(m) != (0, 0)]
    found = graphs.recover(run, learn, truths, sizes, repetitions, methods, limits)
    yield Table(name, ["data", "rows", *methods], graphs.distance_rows(found, repetitions), ".1f", best=True)
    yield Table(f"{name}-seconds", ["rows", *methods], graphs.seconds_rows(found), ".2g")


def of_schemes(distances: Table) -> Table | None:
    """Return the mean distances of simple and of local permutations over the kinds of data, where both were run."""
    if LOCAL not in distances.columns:
        return None
    rows = []
    for n in dict.fromkeys(row[1] for row in distances.rows):
        there = distances.select(rows=n)
        pairs = [(row["knnMI"]["mean"], row[LOCAL]["mean"]) for row in there if row[LOCAL]]
        if len(pairs) == len(there):
            rows.append([n, *np.mean(pairs, axis=0).tolist()])
    return Table("seven-schemes", ["rows", "simple", "local"], rows, ".2f")


def with_z(make: Callable[[Array, Array, Array], tuple[Array, Array]]) -> Callable[[Rng, int], Triple]:
    """Return a way to draw x and y that are made of z and of noise of their own."""

    def draw(rng: Rng, n: int) -> Triple:
        z, x, y = rng.normal(size=(3, n))
        return (*make(z, x, y), z)

    return draw


def two_causes(rng: Rng, n: int) -> Triple:
    z, w, x, y = rng.normal(size=(4, n))
    return z + w + x, z + w + y, np.column_stack([z, w])


NULLS: dict[str, Callable[[Rng, int], Triple]] = {
    "no z": lambda rng, n: (*rng.normal(size=(2, n)), None),
    "z irrelevant": lambda rng, n: tuple(rng.normal(size=(3, n))),
    "x, y = z + noise": with_z(lambda z, x, y: (z + x, z + y)),
    "x, y = z + noise / 3": with_z(lambda z, x, y: (z + x / 3, z + y / 3)),
    "x = cos 2z + noise / 2, y = z^2 + noise / 2": with_z(lambda z, x, y: (np.cos(2 * z) + x / 2, z**2 + y / 2)),
    "x, y = z1 + z2 + noise": two_causes,
}
DEPENDENCES: dict[str, Callable[[Rng, int], Triple]] = {
    "x = z + noise, y = z + 0.4 x + noise": with_z(lambda z, x, y: (z + x, z + 0.4 * (z + x) + y)),
    "x = z + e, y = z + 0.4 e^2 + noise": with_z(lambda z, x, y: (z + x, z + 0.4 * x**2 + y)),
}
SCHEMES: tuple[SchemeName, ...] = ("simple", "local")


def rejected(name: str, n: int, first: int, tests: int) -> list[int]:
    """Return how many tests rejected under each scheme, on the same data; without z there is only the simple one."""
    counts = [0] * len(SCHEMES)
    for t in range(first, first + tests):
        x, y, z = (NULLS | DEPENDENCES)[name](np.random.default_rng([SEEDS["schemes"], n, t, *name.encode()]), n)
        for s, scheme in enumerate(SCHEMES if z is not None else SCHEMES[:1]):
            found = fn.independence.knn_test(
                x, y, z, k=K, permutations=PERMUTATIONS, scheme=scheme, k_perm=K_PERM, alpha=ALPHA, stop_early=True,
                seed=t,
            )  # fmt: skip
            counts[s] += found.p_value <= ALPHA
    return counts


def rates(run: Run, name: str, kinds: Sequence[str], sizes: Sequence[int], tests: int, at_once: int = 50) -> Table:
    """Draw and test: the shares of tests that rejected."""
    parts = [(first, min(at_once, tests - first)) for first in range(0, tests, at_once)]
    tasks = [(kind, n, *part) for kind in kinds for n in sizes for part in parts]
    made = run.map(rejected, tasks)
    rows = []
    for kind in kinds:
        row: list[object] = [kind]
        for _ in sizes:
            simple, local = np.sum([next(made) for _ in parts], axis=0) / tests
            row += [simple, None if kind == "no z" else local]
        rows.append(row)
    return Table(name, ["data", *(f"{scheme}, {n} rows" for n in sizes for scheme in SCHEMES)], rows, ".3f")


class Proteins(NamedTuple):
    """Logarithms of intensities, and the arcs that biologists agree on."""

    names: list[str]
    rows: Array
    arcs: list[tuple[str, str]]

    def pairs(self, *, moral: bool) -> set[frozenset[str]]:
        """Return the agreed pairs, and those who act on a third one together where the graph is moral."""
        co_parents = [(a, b) for a, child in self.arcs for b, same in self.arcs if same == child and a != b]
        return {frozenset(pair) for pair in [*self.arcs, *(co_parents if moral else [])]}


@cache
def read_proteins(folder: Path) -> Proteins:
    """Read the cells of the first condition."""
    with (folder / "sachs-observational.csv").open() as lines:
        names, *rows = csv.reader(lines)
    with (folder / "sachs-consensus-edges.csv").open() as lines:
        arcs = [(row["from"], row["to"]) for row in csv.DictReader(lines)]
    return Proteins(names, np.log(np.array(rows, dtype=np.float64)), arcs)


def learn_proteins(folder: Path, method: str) -> list[float]:
    """Return the row of a method's graph."""
    held = read_proteins(folder)
    graph, seconds = graphs.learned(METHODS, method, held.rows)
    pairs = {frozenset((held.names[i], held.names[j])) for i, near in enumerate(graph.adjacency) for j in near if i < j}
    skeleton, moral = (held.pairs(moral=moral) for moral in (False, True))
    return [len(pairs), len(pairs & skeleton), len(pairs & moral), len(pairs ^ skeleton), len(pairs ^ moral), seconds]


def proteins(run: Run, folder: Path) -> Table:
    methods = [m for m in graphs.available(METHODS) if m != "KCIT" or run.form != "quick"]
    heads = ["method", "edges", "agreed", "of moral graph", "distance, agreed", "distance, moral graph", "seconds"]
    found = run.map(learn_proteins, [(folder, method) for method in methods])
    return Table("proteins", heads, [[m, *row] for m, row in zip(methods, found, strict=True)], ".2g")


def compute(run: Run) -> Iterator[Table]:
    run.settings.update(alpha=ALPHA, k=K, permutations=PERMUTATIONS, skip_below=SKIP_BELOW, k_perm=K_PERM)
    repetitions = run.repetitions(quick=2, usual=5, full=25)
    fewer = repetitions if run.form == "full" else max(1, repetitions // 2)
    small: graphs.Limits = run.choose(
        {"KCIT": (125, 1), LOCAL: (0, 0)}, {"KCIT": (500, 3), LOCAL: (500, repetitions)}, {}
    )
    limits: graphs.Limits = run.choose(
        {"KCIT": (0, 0), "RCIT": (0, 0)}, {"KCIT": (250, 1), "RCIT": (500, 2)}, {"KCIT": (1_000, 5)}
    )
    limits = {**limits, LOCAL: (0, 0)}
    six = [SevenNodes(linear, noise) for linear in (True, False) for noise in NOISES]
    distances, seconds = recover(run, "seven", six, run.choose(SIZES[:2], SIZES), repetitions, small)
    yield from (distances, seconds)
    three = [SevenNodes(False, noise, copies=3) for noise in NOISES]
    yield from recover(run, "large", three, run.choose(SIZES[:1], SIZES[:3], SIZES), fewer, limits)
    two = [Nonparanormal(10), Nonparanormal(20)]
    yield from recover(run, "nonparanormal", two, run.choose(SIZES[:1], SIZES[:4], SIZES), fewer, limits)
    sizes, tests = run.choose((125,), (125, 500), (125, 500, 1_000)), run.choose(50, 400, 2_000)
    run.settings.update(tests=tests)
    yield rates(run, "independent", list(NULLS), sizes, tests)
    yield rates(run, "dependent", list(DEPENDENCES), sizes, tests)
    by_scheme = of_schemes(distances)
    if by_scheme is not None:
        yield by_scheme
    if run.file("bio", "sachs-observational.csv") and run.data is not None:
        yield proteins(run, run.data / "bio")


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the distances by the number of rows, and the shares of true independences that were rejected."""
    for name in ("seven", "large", "nonparanormal"):
        graphs.draw(path(name), tables[name], [method for method in METHODS if method != LOCAL])
    table, dots = tables["independent"], dict[str, dict[str, Any]]()
    for column in table.columns[1:]:
        scheme, size = column.split(", ")
        at = table.columns.index(column)
        dots.setdefault(size, {})[f"{scheme} permutations"] = {
            row[0]: None if row[at] is None else {"mean": row[at]} for row in table.rows
        }
    figures.dots(path("schemes"), dots, x="share rejected", line=NOMINAL)


if __name__ == "__main__":
    main("knn_mi", compute, draw, seeds=SEEDS, about=__doc__, takes="on two cores hours, --quick minutes")
