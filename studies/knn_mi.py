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
from studies.study import Array, Run, Seeds, Table, main, mean

SEEDS = Seeds({"recovery": 3240, "schemes": 3230})
SIZES = (125, 250, 500, 1_000, 2_000)
TAKES = "an hour and a half of one processor, --quick a minute and a half; without scikit-learn and causal-learn less"
ALPHA, K, PERMUTATIONS, SKIP_BELOW, K_PERM = 0.05, 5, 200, 0.001, 5
NOMINAL = int(ALPHA * (PERMUTATIONS + 1)) / (PERMUTATIONS + 1)
"""The largest p-value of so many permutations that rejects."""

Rng = np.random.Generator
Triple = tuple[Array, Array, Array | None]


def knn_mi(X: Array, seed: int, scheme: str = "simple") -> fn.UndirectedGraph:
    """Learn as the paper does: IAMB, AND, simple permutations, its rule for skipping them."""
    options: dict[str, Any] = {"permutations": PERMUTATIONS, "scheme": scheme, "k_perm": K_PERM}
    return fn.learn.markov_graph(X, test="knn-mi", alpha=ALPHA, k=K, skip_below=SKIP_BELOW, seed=seed, **options)


OURS, LOCAL = "knnMI", "knnMI, local"
SEEDED, PROTEIN_SEEDS = (OURS, LOCAL, "RCIT"), 3
NONE: graphs.Limits = {"KCIT": [], "RCIT": [], LOCAL: []}
QUICK: Mapping[str, graphs.Limits] = {
    "seven": {"KCIT": [(125, 1)], LOCAL: []},
    "large": NONE,
    "nonparanormal": NONE,
}
USUAL: Mapping[str, graphs.Limits] = {
    "seven": {
        OURS: [(500, 25), (1_000, 20), (2_000, 5)],
        "KCIT": [(125, 25), (250, 10)],
        "RCIT": [(500, 25), (1_000, 20), (2_000, 5)],
        LOCAL: [(500, 25)],
    },
    "large": {
        OURS: [(250, 25), (500, 3)],
        "KCIT": [(125, 4)],
        "RCIT": [(250, 2)],
        LOCAL: [],
    },
    "nonparanormal": {
        OURS: [(250, 25), (1_000, 3)],
        "KCIT": [(125, 10)],
        "RCIT": [(125, 10), (250, 5)],
        LOCAL: [],
    },
}
"""On how many data sets the slow methods run, so that all takes an hour and a half of one processor."""
FULL: Mapping[str, graphs.Limits] = {
    "seven": {"KCIT": [(250, 25), (500, 5)], LOCAL: [(1_000, 25)]},
    "large": {"KCIT": [(125, 25), (250, 5)], "RCIT": [(1_000, 10)], LOCAL: []},
    "nonparanormal": {"KCIT": [(125, 25), (250, 10), (500, 3)], LOCAL: []},
}
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


SEVEN = [SevenNodes(linear, noise) for linear in (True, False) for noise in NOISES]
LARGE = [SevenNodes(False, noise, copies=3) for noise in NOISES]
POWERED = [Nonparanormal(10), Nonparanormal(20)]
SEVEN_GROUPS = {
    f"7 nodes, {kind}": [one.name for one in SEVEN if one.linear == (kind == "linear")]
    for kind in ("linear", "non-linear")
}
LARGE_GROUPS = {"21 nodes, non-linear": [one.name for one in LARGE]}
POWERED_GROUPS = {one.name: [one.name] for one in POWERED}


def learn(truth: graphs.Truth, n: int, repetition: int, names: Sequence[str]) -> list[list[float]]:
    return graphs.distances(METHODS, truth, n, repetition, names)


def recover(
    run: Run, truths: Sequence[graphs.Truth], sizes: Sequence[int], repetitions: int, limits: graphs.Limits
) -> graphs.Found:
    methods = [m for m in graphs.available(METHODS) if limits.get(m, True)]
    return graphs.recover(run, learn, truths, sizes, repetitions, methods, limits)


def of_recovery(name: str, found: graphs.Found, repetitions: int, groups: graphs.Groups) -> Iterator[Table]:
    """Yield mean distances, differences to knnMI by data set (also of groups of data), and seconds."""
    methods = list(dict.fromkeys(method for _, _, method in found))
    others = [method for method in methods if method != OURS]
    each: dict[str, Sequence[str]] = {data: [data] for data, _, _ in found}
    yield Table(name, ["data", "rows", *methods], graphs.distance_rows(found, repetitions), ".1f", best=True)
    paired = graphs.paired_rows(found, {**each, **groups}, others, OURS)
    yield Table(f"{name}-paired", ["data", "rows", "sets", *others], paired, "z.1f")
    yield Table(f"{name}-seconds", ["rows", *methods], graphs.seconds_rows(found), ".3f")


def in_all(experiments: Sequence[tuple[graphs.Found, graphs.Groups]]) -> Iterator[Table]:
    """Yield on how many data sets knnMI has fewer wrong edges, and of which kind these are, of the groups of data."""
    methods = list(dict.fromkeys(method for found, _ in experiments for _, _, method in found))
    others = [method for method in methods if method != OURS]
    signs, wrong = list[list[Any]](), list[list[Any]]()
    for found, groups in experiments:
        whole = graphs.with_methods(found, methods)
        signs += graphs.sign_rows(whole, groups, others, OURS)
        wrong += graphs.error_rows(whole, groups, methods)
    yield Table("signs", ["data", "rows", *others], signs)
    yield Table("errors", ["data", "rows", *methods], wrong)


def of_schemes(found: graphs.Found, groups: graphs.Groups) -> Table:
    """Return the mean distances with simple and with local permutations, and the difference by data set."""
    rows = []
    for group, n, names in graphs.places(found, groups):
        if all(found[data, n, LOCAL] for data in names):
            both = [[[d for d, *_ in found[data, n, method]] for data in names] for method in (OURS, LOCAL)]
            pairs = [graphs.differences(found, data, n, LOCAL, OURS) for data in names]
            rows.append([group, n, sum(map(len, pairs)), *(graphs.over_strata(one) for one in (*both, pairs))])
    return Table("seven-schemes", ["data", "rows", "sets", "simple", "local", "local - simple"], rows, "z.2f")


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
    """Return how many tests rejected under each scheme and under both, on the same data; without z one is alone."""
    counts = [0, 0, 0]
    for t in range(first, first + tests):
        x, y, z = (NULLS | DEPENDENCES)[name](np.random.default_rng([SEEDS["schemes"], n, t, *name.encode()]), n)
        simple, local = (
            (scheme == "simple" or z is not None)
            and fn.independence.knn_test(
                x, y, z, k=K, permutations=PERMUTATIONS, scheme=scheme, k_perm=K_PERM, alpha=ALPHA, stop_early=True,
                seed=t,
            ).p_value <= ALPHA
            for scheme in SCHEMES
        )  # fmt: skip
        counts = [counts[0] + simple, counts[1] + local, counts[2] + (simple and local)]
    return counts


def rates(run: Run, name: str, kinds: Sequence[str], tests: Mapping[int, int], at_once: int = 50) -> Table:
    """Draw and test, by size: the shares of tests that rejected, and by how much the first scheme's is larger."""
    parts = {n: [(first, min(at_once, of - first)) for first in range(0, of, at_once)] for n, of in tests.items()}
    made = run.map(rejected, [(kind, n, *part) for kind in kinds for n in tests for part in parts[n]])
    rows = []
    for kind in kinds:
        row: list[object] = [kind]
        for n, of in tests.items():
            simple, local, both = np.sum([next(made) for _ in parts[n]], axis=0).tolist()
            row += [share(simple, 0, of)]
            row += [None, None] if kind == "no z" else [share(local, 0, of), share(simple - both, local - both, of)]
        rows.append(row)
    heads = [f"{what}, {n} rows" for n in tests for what in (*SCHEMES, "simple - local")]
    return Table(name, ["data", *heads], rows, "z.3f")


def share(more: int, less: int, n: int) -> dict[str, float]:
    """Return the mean of so many ones and so many minus ones among n numbers, and its standard error."""
    held = (more - less) / n
    return {"mean": held, "error": float(np.sqrt(((more + less) / n - held**2) / n))}


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


def learn_proteins(folder: Path, method: str, seed: int) -> list[float]:
    """Return the row of a method's graph."""
    held = read_proteins(folder)
    graph, seconds = graphs.learned(METHODS, method, held.rows, seed)
    pairs = {frozenset((held.names[i], held.names[j])) for i, near in enumerate(graph.adjacency) for j in near if i < j}
    skeleton, moral = (held.pairs(moral=moral) for moral in (False, True))
    return [len(pairs), len(pairs & skeleton), len(pairs & moral), len(pairs ^ skeleton), len(pairs ^ moral), seconds]


def proteins(run: Run, folder: Path) -> Table:
    """Learn with several seeds where it depends on them."""
    methods = [m for m in graphs.available(METHODS) if m != "KCIT" or run.form != "quick"]
    heads = ["method", "edges", "agreed", "of moral graph", "distance, agreed", "distance, moral graph", "seconds"]
    seeds = {m: run.choose(1, PROTEIN_SEEDS) if m in SEEDED else 1 for m in methods}
    found = run.map(learn_proteins, [(folder, m, seed) for m in methods for seed in range(seeds[m])])
    rows = []
    for m in methods:
        columns = np.array([next(found) for _ in range(seeds[m])]).T
        rows.append([m, *map(mean, columns)])
    return Table("proteins", heads, rows, ["", *[".1f"] * 5, ".3f"])


def compute(run: Run) -> Iterator[Table]:
    run.settings.update(alpha=ALPHA, k=K, permutations=PERMUTATIONS, skip_below=SKIP_BELOW, k_perm=K_PERM)
    run.settings["BLAS threads"] = None if comparators.missing("threadpoolctl") else 1
    repetitions = run.repetitions(quick=2, usual=25)
    limits = run.choose(QUICK, USUAL, FULL)
    experiments = []
    for name, truths, groups, sizes in (
        ("seven", SEVEN, SEVEN_GROUPS, run.choose(SIZES[:2], SIZES)),
        ("large", LARGE, LARGE_GROUPS, run.choose(SIZES[:1], SIZES[:3], SIZES[:4])),
        ("nonparanormal", POWERED, POWERED_GROUPS, run.choose(SIZES[:1], SIZES[:4])),
    ):
        found = recover(run, truths, sizes, repetitions, limits[name])
        yield from of_recovery(name, found, repetitions, groups)
        experiments.append((found, groups))
    yield from in_all(experiments)
    found, groups = experiments[0]
    if any(method == LOCAL for _, _, method in found):
        yield of_schemes(found, groups)
    tests = run.choose({125: 50}, {125: 400, 500: 400}, {125: 2_000, 500: 2_000})
    run.settings.update(tests=tests)
    yield rates(run, "independent", list(NULLS), tests)
    yield rates(run, "dependent", list(DEPENDENCES), tests)
    if run.file("bio", "sachs-observational.csv") and run.data is not None:
        yield proteins(run, run.data / "bio")


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw distances and their differences by the number of rows, and how often true independences were rejected."""
    shown = [method for method in METHODS if method != LOCAL]
    for name, log in (("seven", "x"), ("large", "xy"), ("nonparanormal", "x")):
        graphs.draw(path(name), tables[name], shown, log=log, apart=0.03, same=name != "nonparanormal")
    draw_differences(tables, path("paired"))
    table, dots = tables["independent"], dict[str, dict[str, Any]]()
    for at, column in enumerate(table.columns):
        scheme, _, size = column.partition(", ")
        if scheme in SCHEMES:
            dots.setdefault(size, {})[f"{scheme} permutations"] = {row[0]: row[at] for row in table.rows}
    figures.dots(path("schemes"), dots, x="share rejected", line=NOMINAL, same=True)


def draw_differences(tables: Mapping[str, Table], path: Path) -> None:
    """Draw by how much the methods have more wrong edges than knnMI, of the groups of data."""
    shown = [method for method in METHODS if method != LOCAL]
    panels = {}
    for name, groups in (("seven", SEVEN_GROUPS), ("large", LARGE_GROUPS), ("nonparanormal", POWERED_GROUPS)):
        for group in groups:
            panels[group] = graphs.lines_of(tables[f"{name}-paired"], group, shown)
    figures.lines(path, panels, x="rows", y="more wrong edges than knnMI", log="x", apart=0.03, level=0.0)


if __name__ == "__main__":
    main("knn_mi", compute, draw, seeds=SEEDS, about=__doc__, takes=TAKES)
