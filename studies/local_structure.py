"""Tables, decision trees and merged rows on the same graphs: ``python -m studies.local_structure``.

Each graph is learned for full tables, by a score that leads to few parents (BIC) and by one that leads to many (AIC, at
most eight). On both, full tables, trees grown by BIC and rows merged by BIC are fitted with pseudo-count 1 and
measured on rows that took no part.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

import fishernet as fn
from studies.study import Run, Table, main

MODELS: dict[str, dict[str, Any]] = {
    "table": {},
    "tree": {"conditionals": "tree"},
    "merged": {"conditionals": "merged"},
}
GRAPHS: dict[Literal["bic", "aic"], dict[str, Any]] = {"bic": {}, "aic": {"max_parents": 8}}
TAKES = "--quick 2 s of processor time, usual 43 s on two cores"
MOST_SECONDS = 60  # of a search
BINARY = (
    "nltcs", "msnbc", "plants", "baudio", "jester", "bnetflix", "dna", "kosarek", "msweb", "pumsb_star", "cwebkb", "bbc"
)  # fmt: skip
MANY = 120  # columns beyond which every variable has but so many candidates as parents
CANDIDATES = 20


def shipped(name: Literal["letter", "nursery"]) -> tuple[fn.Table, fn.Table]:
    """Return rows to learn from and rows held out."""
    bins: dict[str, Any] = {"bins": 4, "binning": "equal-width"} if name == "letter" else {}
    return fn.datasets.load(name, **bins).split(0.8, seed=0)


def binary(path: Path) -> fn.Table:
    """Return a file of zeros and ones without names."""
    codes = np.loadtxt(path, delimiter=",", dtype=np.int64, ndmin=2)
    return fn.Table.from_codes(codes, [fn.Variable(f"v{v}", [0, 1]) for v in range(codes.shape[1])])


def measured(training: fn.Table, held_out: fn.Table, score: Literal["bic", "aic"]) -> list[Any]:
    """Return arcs and the most parents of a graph, parameters and log-likelihood of each model, and seconds of two."""
    candidates = {"candidates": CANDIDATES} if len(training.names) > MANY else {}
    options = {**GRAPHS[score], **candidates}
    dag = fn.learn.structure(training, score=score, search="tabu", max_seconds=MOST_SECONDS, **options).dag
    cells: list[Any] = [dag.n_edges, max(map(len, dag.parents))]
    seconds = []
    for how in MODELS.values():
        began = time.perf_counter()
        net = fn.learn.parameters(dag, training, **how)
        seconds.append(time.perf_counter() - began)
        cells += [net.n_parameters, float(net.log_prob(held_out).mean())]
    return [*cells, *seconds[1:]]


def compute(run: Run) -> Iterator[Table]:
    run.settings.update(most_seconds=MOST_SECONDS, candidates=CANDIDATES)
    tables: list[tuple[str, fn.Table, fn.Table]] = [("nursery", *shipped("nursery")), ("letter", *shipped("letter"))]
    for name in run.choose((), BINARY):
        found = [run.file("density", f"{name}.{part}.csv.gz") for part in ("train", "test")]
        if all(found):
            training, held_out = (binary(path) for path in found if path is not None)
            tables.append((name, training, held_out))
    rows = [
        [name, score, *measured(training, held_out, score)]
        for name, training, held_out in tables
        for score in list(GRAPHS)[: run.choose(1, 2)]
    ]
    columns = ["table", "graph", "arcs", "most parents"]
    columns += [f"{what}, {model}" for model in MODELS for what in ("parameters", "log-likelihood")]
    yield Table("likelihoods", [*columns, "seconds, tree", "seconds, merged"], rows, ".3f")


if __name__ == "__main__":
    main("local_structure", compute, seeds={"rows held out": 0}, about=__doc__, takes=TAKES)
