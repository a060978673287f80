"""Tables, decision trees and merged rows on the same graphs: ``python -m studies.local_structure``.

Each graph is learned for full tables, by a score that leads to few parents (BIC) and by one that leads to many (AIC, at
most eight). On both, full tables, trees grown by BIC and rows merged by BIC are fitted with pseudo-count 1 and
measured on rows that took no part: each of five folds is predicted from the other four.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import fishernet as fn
from studies.study import Run, Seeds, Table, main, mean

MODELS: dict[str, dict[str, Any]] = {
    "table": {},
    "tree": {"conditionals": "tree"},
    "merged": {"conditionals": "merged"},
}
SHARING = ("tree", "merged")
GRAPHS: dict[Literal["bic", "aic"], dict[str, Any]] = {"bic": {}, "aic": {"max_parents": 8}}
TAKES = "--quick 2 s of processor time, usual two minutes of one processor"
MOST_SECONDS = 60  # of a search
BINARY = (
    "nltcs", "msnbc", "plants", "baudio", "jester", "bnetflix", "dna", "kosarek", "msweb", "pumsb_star", "cwebkb", "bbc"
)  # fmt: skip
SEEDS = Seeds({"folds": 49_8})
FOLDS = 5
UNLIKELY, FEW = 0.02, 10  # a cell that merged rows give less than this; a configuration with at most so many rows
MANY = 120  # columns beyond which every variable has but so many candidates as parents
CANDIDATES = 20


def shipped(name: Literal["letter", "nursery"]) -> fn.Table:
    """Return a table that comes with the library."""
    bins: dict[str, Any] = {"bins": 4, "binning": "equal-width"} if name == "letter" else {}
    table: fn.Table = fn.datasets.load(name, **bins)
    return table


def binary(paths: Sequence[Path]) -> fn.Table:
    """Return the rows of files of zeros and ones without names."""
    codes = np.concatenate([np.loadtxt(path, delimiter=",", dtype=np.int64, ndmin=2) for path in paths])
    return fn.Table.from_codes(codes, [fn.Variable(f"v{v}", [0, 1]) for v in range(codes.shape[1])])


def in_folds(table: fn.Table) -> Iterator[tuple[fn.Table, fn.Table]]:
    """Yield the rows to learn from, and those held out, of each fold."""
    order = np.random.default_rng(SEEDS["folds"]).permutation(table.n_rows)
    for k in range(FOLDS):
        yield table[np.delete(order, np.s_[k::FOLDS])], table[order[k::FOLDS]]


def measured(training: fn.Table, held_out: fn.Table, score: Literal["bic", "aic"]) -> dict[str, float]:
    """Return the size of a graph, and of each model on it parameters, seconds, and the mean log-probability of a row.

    Beside them: what merged rows lose to full tables (nats a row), and what of it they lose in cells that they give
    less than `UNLIKELY`, and in those of them whose configuration has at most `FEW` rows of training.
    """
    candidates = {"candidates": CANDIDATES} if len(training.names) > MANY else {}
    options = {**GRAPHS[score], **candidates}
    dag = fn.learn.structure(training, score=score, search="tabu", max_seconds=MOST_SECONDS, **options).dag
    found: dict[str, float] = {"arcs": dag.n_edges, "most parents": max(map(len, dag.parents))}
    terms = {}
    for model, how in MODELS.items():
        began = time.perf_counter()
        net = fn.learn.parameters(dag, training, **how)
        found[f"seconds, {model}"] = time.perf_counter() - began
        terms[model] = net.log_prob_terms(held_out)
        found[f"parameters, {model}"] = net.n_parameters
        found[f"log-likelihood, {model}"] = float(terms[model].sum(axis=1).mean())
    lost = terms["table"] - terms["merged"]
    unlikely = terms["merged"] < np.log(UNLIKELY)
    few = np.column_stack([_rows_of_training(dag, v, training, held_out) <= FEW for v in range(len(dag.names))])
    found["unlikely"] = float(np.where(unlikely, lost, 0).sum(axis=1).mean())
    found["unlikely, few rows"] = float(np.where(unlikely & few, lost, 0).sum(axis=1).mean())
    return found


def _rows_of_training(dag: fn.Dag, v: int, training: fn.Table, held_out: fn.Table) -> npt.NDArray[np.int64]:
    """Return how many rows of training have the configuration of v's parents that each row held out has."""
    parents = dag.parents[v]
    shape = tuple(training.variables[p].cardinality for p in parents)
    codes = [np.ravel_multi_index([rows.codes[p] for p in parents], shape) if parents else np.zeros(rows.n_rows, int)
             for rows in (training, held_out)]  # fmt: skip
    return np.bincount(codes[0], minlength=int(np.prod(shape)))[codes[1]]


def compute(run: Run) -> Iterator[Table]:
    run.settings.update(most_seconds=MOST_SECONDS, candidates=CANDIDATES, folds=FOLDS)
    tables: list[tuple[str, Callable[[], fn.Table]]] = [
        (name, partial(shipped, name)) for name in ("nursery", "letter")
    ]
    for name in run.choose((), BINARY):
        paths = [run.file("density", f"{name}.{part}.csv.gz") for part in ("train", "valid", "test")]
        there = [path for path in paths if path is not None]
        if len(there) == len(paths):
            tables.append((name, partial(binary, there)))
    folds = run.choose(2, FOLDS)
    rows, unlikely = list[list[Any]](), list[list[Any]]()
    for name, read in tables:
        pairs = list(itertools.islice(in_folds(read()), folds))
        for score in list(GRAPHS)[: run.choose(1, 2)]:
            of = [measured(*pair, score) for pair in pairs]
            by = {key: np.array([one[key] for one in of]) for key in of[0]}
            full = by["log-likelihood, table"]
            rows.append([
                name, score, len(pairs[0][0]) + len(pairs[0][1]), *(by[key].mean() for key in ("arcs", "most parents")),
                by["parameters, table"].mean(), mean(full),
                *(cell for model in SHARING for cell in (
                    by[f"parameters, {model}"].mean(), mean(by[f"log-likelihood, {model}"] - full))),
                *(by[f"seconds, {model}"].mean() for model in SHARING),
            ])  # fmt: skip
            lost = full - by["log-likelihood, merged"]
            unlikely.append([name, score, *map(mean, (lost, by["unlikely"], by["unlikely, few rows"]))])
    columns = ["table", "graph", "rows", "arcs", "most parents", "parameters, table", "log-likelihood, table"]
    columns += [f"{what}, {model}" for model in SHARING for what in ("parameters", "more")]
    formats = [",.0f"] * 6 + [".3f", ",.0f", "+.3f", ",.0f", "+.3f", ".3f", ".3f"]
    formats[3] = ",.1f"
    yield Table("likelihoods", [*columns, *(f"seconds, {model}" for model in SHARING)], rows, formats)
    heads = ["table", "graph", "merged rows lose", f"in cells below {UNLIKELY}", f"and at most {FEW} rows"]
    yield Table("unlikely", heads, unlikely, ".3f")


if __name__ == "__main__":
    main("local_structure", compute, seeds=SEEDS, about=__doc__, takes=TAKES)
