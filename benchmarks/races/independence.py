"""Races of tests of independence on numbers: the permutation test by nearest neighbours, and graphs learned with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.contenders import OURS
from benchmarks.data import spaced
from benchmarks.races.race import Race, Target
from benchmarks.workers.job import Job, write_numbers
from studies.knn_mi.truths import SevenNodes

PEER = "tigramite"
SEED = 8
N_ROWS, K, PERMUTATIONS = 1_000, 5, 200


def knn_tests(repeats: int, folder: Path) -> list[Race]:
    """Race on rows whose first two columns follow the third, under either scheme of permutation."""
    z, x, y = np.random.default_rng(SEED).normal(size=(3, N_ROWS))
    path = folder / "knn-test.numbers"
    write_numbers(path, np.column_stack([z + x, z + y, z]))
    races = []
    for scheme in ("simple", "local"):
        job = Job(
            "knn_test",
            numbers=str(path),
            n_rows=N_ROWS,
            n_columns=3,
            k=K,
            permutations=PERMUTATIONS,
            scheme=scheme,
            seed=SEED,
            repeats=repeats,
        )
        title = f"{spaced(N_ROWS)} rows, one column given, {PERMUTATIONS} {scheme} permutations"
        targets = (Target(seconds=0.06), Target(ratio=20.0, against=(PEER,)))
        races.append(Race("knn-test", title, job, (OURS, PEER), targets))
    return races


def markov_graphs(repeats: int, folder: Path) -> list[Race]:
    """Learn the networks of the study's seven nodes, under Gaussian noise."""
    races = []
    for linear in (True, False):
        truth = SevenNodes(linear, "Gaussian")
        rows, graph = truth.draw(N_ROWS, np.random.default_rng(SEED))
        path = folder / f"seven-{'linear' if linear else 'curved'}.numbers"
        write_numbers(path, rows)
        job = Job(
            "markov_graph",
            numbers=str(path),
            n_rows=N_ROWS,
            n_columns=7,
            parents=graph.adjacency,
            k=K,
            permutations=PERMUTATIONS,
            seed=SEED,
            repeats=repeats,
        )
        title = f"seven nodes, {truth.name}, {spaced(N_ROWS)} rows"
        races.append(Race("markov-graph", title, job, (OURS,), (Target(seconds=5.0),)))
    return races
