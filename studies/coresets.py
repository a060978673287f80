"""Few weighted rows in place of a table: ``python -m studies.coresets``.

A network is learned from a part of a table. Some of its rows are chosen in many ways, the parameters of the same graph
are fitted to these rows alone, and the log-likelihood of other rows tells what that lost. Then the graph is learned
anew from the chosen rows, too. The rivals are those that are used for choosing rows: at random, by strata of the class,
the rows nearest to the centres of k-means, medoids (FasterPAM of Schubert and Rousseeuw, 2021, where the package
kmedoids is there), facility location (Lin and Bilmes, 2011, by apricot where it is there), herding of one-hot codes,
and the other ways of this library.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

import fishernet as fn
from studies import figures
from studies.study import Array, Run, Seeds, Table, main, mean
from studies.subsets import FILES, read_table, weighted
from studies.summarize import SOURCES, Source

Weights = npt.NDArray[np.float64]
Chosen = tuple[npt.NDArray[np.int64], Weights | None]
"""Positions of rows, and their weights; None: all alike."""

SEEDS = Seeds({"parts": 490, "choices": 491})
TAKES = "in processor time --quick 10 s, usual 11 minutes"
SIZES, MAIN = (25, 100, 200, 800), 200
MOST = 4_000  # rows that are learned from, and that are held out
DRAWS = 10  # choices at random, of which the mean is told
TIED = 5e-4  # nats per row
PATIENT = 200  # rows that protodash is asked for at most
SHIPPED = "nursery"
EXTRAS = {"medoids": "kmedoids", "facility location": "apricot"}
WAYS = (
    "random", "strata", "k-means", "medoids", "facility location", "one-hot MMD", "chi-square", "MMD", "protodash",
    "coreset",
)  # fmt: skip
TABLES = SOURCES | {name: Source(file) for name, file in FILES.items()}


def one_hot(table: fn.Table) -> Array:
    """Return a column per state, (n_rows, states)."""
    return np.hstack([np.eye(v.cardinality)[codes] for v, codes in zip(table.variables, table.codes, strict=True)])


def by_strata(table: fn.Table, k: int, rng: np.random.Generator) -> Chosen:
    """Return rows drawn within each class, as many as its share says; weights add up to the class."""
    classes = table.column("class" if "class" in table.names else table.names[-1])
    sizes = np.bincount(classes)
    share = np.floor(np.cumsum(sizes) * k / len(table) + rng.random()).astype(int)
    chosen, weights = [], []
    for c, count in enumerate(np.diff([0, *share])):
        own = np.flatnonzero(classes == c)
        taken = rng.choice(own, min(int(count), len(own)), replace=False)
        chosen.append(taken)
        weights.append(np.full(len(taken), len(own) / max(len(taken), 1)))
    return np.concatenate(chosen), np.concatenate(weights)


def shared_out(distances: Array, chosen: npt.NDArray[np.int64]) -> Chosen:
    """Return rows with as many as each is the nearest to, from distances (n_rows, k)."""
    return chosen, np.bincount(distances.argmin(axis=1), minlength=len(chosen)).astype(np.float64)


def by_means(table: fn.Table, k: int, rng: np.random.Generator) -> Chosen:
    """Return the rows nearest to the centres of k-means, which count as many as their clusters hold."""
    codes = one_hot(table)
    fitted = KMeans(k, n_init=1, random_state=int(rng.integers(2**31))).fit(codes)
    distances = fitted.transform(codes)
    nearest = distances.argmin(axis=0)
    sizes = np.bincount(fitted.labels_, minlength=k)
    rows, which = np.unique(nearest, return_inverse=True)
    return rows.astype(np.int64), np.asarray(np.bincount(which, weights=sizes), np.float64)


def unlike(table: fn.Table) -> Array:
    """Return in how many columns rows differ, (n_rows, n_rows)."""
    codes = one_hot(table).astype(np.float32)
    return np.asarray(len(table.names) - codes @ codes.T)


def by_medoids(table: fn.Table, k: int, rng: np.random.Generator) -> Chosen:
    import kmedoids  # type: ignore[import-not-found]

    distances = unlike(table)
    found = kmedoids.fasterpam(distances, k, random_state=int(rng.integers(2**31)))
    chosen = np.asarray(found.medoids, np.int64)
    return shared_out(distances[:, chosen], chosen)


def by_location(table: fn.Table, k: int, rng: np.random.Generator) -> Chosen:
    from apricot import FacilityLocationSelection  # type: ignore[import-not-found]

    distances = unlike(table)
    found = FacilityLocationSelection(k, metric="precomputed", random_state=int(rng.integers(2**31)))
    chosen = np.asarray(found.fit(np.asarray(distances.max() - distances, np.float64)).ranking, np.int64)
    return shared_out(distances[:, chosen], chosen)


def choosers(
    kernel: fn.kernels.FisherKernel, table: fn.Table, k: int, rng: np.random.Generator
) -> dict[str, Callable[[], Chosen]]:
    """Return what chooses about k rows in each way that can be had."""

    def own(selection: fn.select.Selection, scale: float = 1.0) -> Chosen:
        return selection.indices, None if selection.weights is None else np.asarray(selection.weights) * scale

    overlap = fn.kernels.Similarity(table, "overlap")
    ways: dict[str, Callable[[], Chosen]] = {
        "strata": lambda: by_strata(table, k, rng),
        "k-means": lambda: by_means(table, k, rng),
        "medoids": lambda: by_medoids(table, k, rng),
        "facility location": lambda: by_location(table, k, rng),
        "one-hot MMD": lambda: own(fn.select.greedy_mmd(overlap, table, k, seed=rng)),
        "chi-square": lambda: own(fn.select.greedy_chi_square(table, k, seed=rng)),
        "MMD": lambda: own(fn.select.greedy_mmd(kernel, table, k, seed=rng)),
        "coreset": lambda: own(fn.select.coreset(kernel, table, k)),
    }
    if k <= PATIENT:
        ways["protodash"] = lambda: own(fn.select.protodash(kernel, table, k), len(table))
    return {way: make for way, make in ways.items() if way not in EXTRAS or importlib.util.find_spec(EXTRAS[way])}


def parted(table: fn.Table, part: int, most: int) -> tuple[fn.Table, fn.Table]:
    """Return at most so many rows to learn from, and to hold out, drawn at random."""
    order = np.random.default_rng([SEEDS["parts"], part]).permutation(table.n_rows)
    cut = min(most, table.n_rows // 2)
    return table[order[:cut]], table[order[cut : cut + most]]


def copies(table: fn.Table, chosen: Chosen) -> fn.Table:
    """Return the rows with weights that add up to the table's number of rows."""
    rows, weights = chosen
    weights = np.ones(len(rows)) if weights is None else weights
    held = np.flatnonzero(weights > 0)
    return weighted(table[rows[held]], weights[held] * (len(table) / weights.sum()))


def as_survey(rows: fn.Table) -> fn.Table:
    """Return rows whose weights add up to the number of plain rows that would be as sure (Kish, 1965)."""
    weights = np.asarray(rows.weights, np.float64)
    return weighted(rows, weights * (weights.sum() / (weights**2).sum()))


def one_part(name: str, path: Path | None, part: int, most: int, sizes: Sequence[int]) -> dict[str, Any]:
    """Return what each way loses on one part of a table, beyond all its rows, by k."""
    source = TABLES[name]
    train, test = parted(read_table(name, path, source.numbers, source.without), part, most)
    net = fn.learn.bayesian_network(train)
    kernel = fn.kernels.FisherKernel(net)

    def loss(rows: fn.Table) -> float:
        return -float(fn.learn.parameters(net.dag, rows).log_prob(test).mean())

    def loss_anew(rows: fn.Table) -> float:
        return -float(fn.learn.bayesian_network(rows).log_prob(test).mean())

    found: dict[str, Any] = {"rows": len(train), "columns": len(train.names), "arcs": net.dag.n_edges, "k": {}}
    found["all rows"] = loss(train)
    for k in (k for k in sizes if k <= len(train) // 2):
        rng = np.random.default_rng([SEEDS["choices"], part, k])
        drawn = [rng.choice(len(train), k, replace=False) for _ in range(DRAWS)]
        alike = float(np.mean([loss(copies(train, (rows, None))) for rows in drawn]))
        plain = float(np.mean([loss(train[rows]) for rows in drawn]))
        at: dict[str, Any] = {"loss": {"random": min(alike, plain)}, "anew": {}, "seconds": {}}
        for way, choose in choosers(kernel, train, k, rng).items():
            began = time.process_time()
            chosen = choose()
            at["seconds"][way] = time.process_time() - began
            at["loss"][way] = loss(copies(train, chosen))
            if k == MAIN and way == "coreset":
                unweighted, drawn_rows = train[chosen[0]], train[drawn[0]]
                sorts = (copies(train, chosen), as_survey(copies(train, chosen)), unweighted, drawn_rows)
                at["anew"] = {way: loss_anew(rows) for way, rows in zip(ANEW, sorts, strict=True)}
        found["k"][str(k)] = at
    return found


def compute(run: Run) -> Iterator[Table]:
    parts = run.repetitions(quick=1, usual=2)
    most, sizes = run.choose(1_000, MOST), run.choose((MAIN,), SIZES)
    files = {name: run.file("uci", source.file) for name, source in TABLES.items()}
    there: dict[str, Path | None] = {name: path for name, path in files.items() if path is not None}
    there = run.choose({SHIPPED: there.get(SHIPPED)}, there or {SHIPPED: None})
    tasks = [(name, path, part, most, sizes) for name, path in there.items() for part in range(parts)]
    made = iter(run.map(one_part, tasks))
    found = {name: [next(made) for _ in range(parts)] for name in there}
    ways = [
        way for way in WAYS if any(way in one["k"][k]["loss"] for of in found.values() for one in of for k in one["k"])
    ]
    rows, anew = [], []
    for name, of in found.items():
        for k in of[0]["k"]:
            lost = {
                way: np.array([one["k"][k]["loss"].get(way, np.nan) - one["all rows"] for one in of]) for way in ways
            }
            about = [name, int(k), of[0]["rows"], of[0]["columns"], mean([one["all rows"] for one in of])["mean"]]  # type: ignore[index]
            rows.append([*about, *(mean(lost[way]) for way in ways)])
            if of[0]["k"][k]["anew"]:
                again = [[one["k"][k]["anew"][way] - one["all rows"] for one in of] for way in ANEW]
                anew.append([name, int(k), *map(mean, again)])
    losses = Table("losses", ["table", "k", "rows", "columns", "all rows", *ways], rows, "z.3f", best=True, only=[MAIN])
    yield losses
    yield Table("anew", ["table", "k", *ANEW], anew, "z.3f", best=True)
    yield Table(
        "counts", ["k", "tables", "least of all", "a tenth of random or less", "half or less"], counts(losses, ways)
    )
    yield Table("shares", ["way", *(f"k = {k}" for k in SIZES)], shares(losses, ways), ".2f")
    seconds = []
    for way in ways[1:]:
        spent = [
            [one["k"][k]["seconds"].get(way) for of in found.values() for one in of if k in one["k"]]
            for k in map(str, SIZES)
        ]
        seconds.append([way, *(mean([s for s in some if s is not None]) for some in spent)])
    yield Table("seconds", ["way", *(f"k = {k}" for k in SIZES)], seconds, ".2f")


ANEW = ("coreset", "coreset, Kish's number", "coreset, plain", "random")


def counts(losses: Table, ways: Sequence[str]) -> list[list[Any]]:
    """Return for each k on how many tables the coreset loses least, and how much less than rows at random."""
    found = []
    for k in SIZES:
        rows = [{way: row[way]["mean"] for way in ways if row[way]} for row in losses.select(k=k)]
        if rows:
            least = sum(row["coreset"] < min(row.values()) + TIED for row in rows)
            shares = [row["coreset"] / row["random"] for row in rows]
            found.append([k, len(rows), least, sum(s <= 0.1 for s in shares), sum(s <= 0.5 for s in shares)])
    return found


def shares(losses: Table, ways: Sequence[str]) -> list[list[Any]]:
    """Return for each way and k what it loses of what rows at random lose: the mean over tables, and its error."""
    found = []
    for way in ways[1:]:
        had = ([row for row in losses.select(k=k) if row[way]] for k in SIZES)
        found.append([way, *(mean([row[way]["mean"] / row["random"]["mean"] for row in rows]) for rows in had)])
    return found


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw what coresets lose by what rows at random lose, a point per table and k."""
    x, y = "lost by rows at random, nats per row", "lost by the coreset"
    with figures.panels_of(path("losses"), [""], x=x, y=y, log="x") as (axes,):
        for place, k in enumerate(SIZES):
            rows = tables["losses"].select(k=k)
            lost = [[max(row[way]["mean"], 1e-4) for row in rows] for way in ("random", "coreset")]
            axes.plot(*lost, linestyle="none", marker="os^v"[place], color=figures.COLOURS[place], label=f"k = {k}")
        axes.set_yscale("log")
        axes.plot([1e-2, 10], [1e-2, 10], color="black", linewidth=0.8, linestyle="--")


if __name__ == "__main__":
    main("coresets", compute, draw, seeds=SEEDS, about=__doc__, takes=TAKES)
