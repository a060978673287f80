"""How near what is said of edges comes to the truth: tables drawn from a hundred known graphs.

    python -m benchmarks.edges --data ../shared/data            # some half an hour on one core
    python -m benchmarks.edges --data ../shared/data alarm      # of some networks
    python -m benchmarks.edges --data ../shared/data --write    # makes EDGES.md

Of each table: the Brier score of all its pairs of variables, summed (the squared distance from 1 of what is said of a
pair that the graph joins, and from 0 of any other), of `edge_probabilities` and of `edge_strengths` by 100 bootstrap
samples with BIC, its default, and with BDeu; and the times. Where tables are small, also the largest distance of
`edge_probabilities` from the sum over all graphs. Graphs are networks of the literature, random networks of labels, and
random ones of numbers (linear, two edges a variable).
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.report import machine
from fishernet.learn import EdgeStrengths, edge_probabilities, edge_strengths

NETWORKS = (
    *("cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance", "water", "mildew", "alarm"),
    *("barley", "hailfinder", "hepar2", "win95pts"),
)
ROWS = (100, 500, 2000, 10_000)
RANDOM = 32
OF_NUMBERS = 12
SAMPLES = 100
SMALL = 6  # variables, of which all graphs are added up
LEAST_SUM = 1e-6  # beside everyone's best parents: below, differences of sums are rounding
BINS = (0.0, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)
HEAD = (
    "| table | rows x columns | edges | probabilities | s | bootstrap, BIC | s | with BDeu | s | from all graphs |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
)


@dataclass(frozen=True)
class Case:
    """A table and the graph it was drawn from."""

    name: str
    table: fn.Table
    graph: fn.Dag

    def truth(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which pairs are joined, in the order of the pairs."""
        joined = {frozenset(edge) for edge in self.graph.edges}
        return np.array([frozenset(pair) in joined for pair in itertools.combinations(self.table.names, 2)])


def random_labels(seed: int) -> tuple[str, fn.BayesianNetwork, int]:
    """Return a random network of 6 to 20 variables of 2 to 4 states, and how many rows to draw."""
    rng = np.random.default_rng([1, seed])
    n = int(rng.integers(6, 21))
    variables = [fn.Variable(f"v{v}", range(int(rng.integers(2, 5)))) for v in range(n)]
    parents = [sorted(rng.choice(v, min(v, int(rng.integers(0, 4))), replace=False).tolist()) for v in range(n)]
    conditionals = []
    for v, of in enumerate(parents):
        q = math.prod(variables[p].cardinality for p in of)
        tables = rng.dirichlet(np.full(variables[v].cardinality, 0.5), size=q)
        family = [*(variables[p] for p in of), variables[v]]
        conditionals.append(fn.models.FullTable(v, tuple(of), family, tables))
    return f"random {seed}", fn.BayesianNetwork(variables, conditionals), int(rng.choice([50, 200, 1000, 5000]))


def numbers(seed: int) -> Case:
    """Return numbers that are linear in their parents."""
    rng = np.random.default_rng([2, seed])
    n, rows = int(rng.choice([10, 20, 40])), int(rng.choice([50, 200, 1000]))
    columns, parents = np.zeros((rows, n)), []
    for v in range(n):
        parents.append([u for u in range(v) if rng.random() < 4 / (n - 1)])
        by = rng.uniform(0.2, 1.5, len(parents[v])) * rng.choice([-1, 1], len(parents[v]))
        column = rng.normal(size=rows) + columns[:, parents[v]] @ by
        columns[:, v] = column / column.std()
    names = [f"v{v}" for v in range(n)]
    return Case(
        f"numbers {seed}", fn.Table.from_frame(dict(zip(names, columns.T, strict=True))), fn.Dag(names, parents)
    )


def cases(data: Path, names: list[str]) -> Iterator[Case]:
    """Yield the tables."""
    for name in NETWORKS:
        if not names or name in names:
            network = fn.load(data / f"networks/{name}.bif.gz")
            yield from (Case(name, network.sample(n, seed=n), network.dag) for n in ROWS)
    for seed in range(RANDOM if not names or "random" in names else 0):
        name, network, n = random_labels(seed)
        yield Case(name, network.sample(n, seed=seed), network.dag)
    yield from map(numbers, range(OF_NUMBERS if not names or "numbers" in names else 0))


def said(found: EdgeStrengths, case: Case) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return what is said of the table's pairs; columns that were left out have no edges."""
    at = {name: place for place, name in enumerate(found.names)}
    pairs = itertools.combinations(case.table.names, 2)
    return np.array([found.strength[at[a], at[b]] if a in at and b in at else 0.0 for a, b in pairs])


def by_all_graphs(table: fn.Table) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Return the probability of each pair's edge by sums over all graphs with BDeu; None where rounding spoils them."""
    n = len(table.names)
    every = [(v, s) for v in range(n) for k in range(n) for s in itertools.combinations(_without(n, v), k)]
    scores = fn.scores.LocalScores(table, fn.scores.named_score("bdeu:4"))(fn.scores.Families.from_pairs(every))
    constant = [variable.cardinality == 1 for variable in table.variables]
    weights = np.zeros((n, 1 << n))
    top = [scores[[at for at, (child, _) in enumerate(every) if child == v]].max() for v in range(n)]
    for (v, s), score in zip(every, scores.tolist(), strict=True):
        if not s or not (constant[v] or any(constant[p] for p in s)):
            weights[v, sum(1 << p for p in s)] = math.exp(score - top[v]) / max(1, n - 2) ** len(s)
    total = _sum_of_graphs(weights)
    if not total > LEAST_SUM:
        return None
    arcs = np.zeros((n, n))
    for p, v in itertools.permutations(range(n), 2):
        with_arc = weights.copy()
        with_arc[v, [mask for mask in range(1 << n) if not mask >> p & 1]] = 0
        arcs[p, v] = _sum_of_graphs(with_arc) / total
    return np.array([arcs[a, b] + arcs[b, a] for a, b in itertools.combinations(range(n), 2)])


def _without(n: int, v: int) -> list[int]:
    return [u for u in range(n) if u != v]


def _sum_of_graphs(weights: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return the sum over all graphs of products of weights, by which variables have no child (Tian and He 2009)."""
    n = len(weights)
    below = weights.copy()
    for bit in range(n):
        has = [mask for mask in range(1 << n) if mask >> bit & 1]
        below[:, has] += below[:, [mask ^ 1 << bit for mask in has]]
    sums = [1.0]
    for all_of in range(1, 1 << n):
        total, sinks = 0.0, all_of
        while sinks:
            members = [v for v in range(n) if sinks >> v & 1]
            sign = 1 if len(members) % 2 else -1
            total += sign * sums[all_of ^ sinks] * math.prod(below[v, all_of ^ sinks] for v in members)
            sinks = (sinks - 1) & all_of
        sums.append(total)
    return sums[-1]


class Ledger:
    """What was said of all pairs, and how often it was so."""

    def __init__(self) -> None:
        self.said: list[list[float]] = [[], [], []]
        self.true: list[bool] = []
        self.n = 0

    def measure(self, case: Case) -> str:
        """Return the line of a table."""
        truth = case.truth()
        of_labels = not any(variable.is_continuous for variable in case.table.variables)
        found = [edge_probabilities(case.table, seed=1), edge_strengths(case.table, SAMPLES, seed=1)]
        found.append(edge_strengths(case.table, SAMPLES, score="bdeu", seed=1) if of_labels else found[1])
        cells = []
        for place, of in enumerate(found):
            told = said(of, case)
            self.said[place].extend(told.tolist())
            same = place == 2 and not of_labels
            cells.append(" | " if same else f"{((told - truth) ** 2).sum():.2f} | {of.seconds:.1f}")
        self.true.extend(truth.tolist())
        self.n += 1
        far = ""
        every = by_all_graphs(case.table) if of_labels and len(case.table.names) <= SMALL else None
        if every is not None:
            far = f"{np.abs(said(found[0], case) - every).max():.3f}"
        size = f"{len(case.table):,} x {len(case.table.names)}"
        return f"| {case.name} | {size} | {truth.sum()} | {' | '.join(cells)} | {far} |"

    def summary(self) -> list[str]:
        """Return the sums, and how often edges are there of which so much is said."""
        true = np.array(self.true, dtype=float)
        every = [np.array(of) for of in self.said]
        sums = " | ".join(f"{((of - true) ** 2).sum():.1f}" for of in every)
        lines = [f"All {self.n} tables, {len(true):,} pairs.", ""]
        lines += ["| | probabilities | bootstrap, BIC | bootstrap, BDeu |", "| --- | ---: | ---: | ---: |"]
        lines += [f"| Brier score | {sums} |"]
        for least, most in itertools.pairwise(BINS):
            cells = []
            for of in every:
                part = (of >= least) & ((of < most) | (most == BINS[-1]))
                cells.append(f"{of[part].mean():.3f}: {true[part].mean():.3f} of {part.sum():,}" if part.any() else "")
            lines.append(f"| {least:g} to {most:g} | {' | '.join(cells)} |")
        return lines


def main() -> None:
    """Measure and print or write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edges")
    parser.add_argument("--data", type=Path, required=True, help="the folder with networks/")
    parser.add_argument("--write", action="store_true", help="write benchmarks/EDGES.md")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    ledger, lines = Ledger(), list(HEAD)
    print(*HEAD, sep="\n", flush=True)
    for case in cases(given.data, given.names):
        lines.append(ledger.measure(case))
        print(lines[-1], flush=True)
    summary = ledger.summary()
    print("", *summary, sep="\n")
    if given.write:
        on = machine()
        head = [
            "# What is said of edges",
            "",
            "Made by `python -m benchmarks.edges`, which says of what. Of all pairs: the Brier score and,",
            "by how much was said, the mean of it: how often there is an edge, of how many pairs.",
            f"{time.strftime('%Y-%m-%d')}, {on['processor']}, {on['system']}, fishernet {fn.__version__}.",
            "",
        ]
        text = "\n".join([*head, *summary, "", *lines, ""])
        Path(__file__).with_name("EDGES.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
