"""Races on Gaussian columns: FMPL's graphs beside the graphical lasso, and the network of a given graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import fishernet as fn
from benchmarks.contenders import OURS
from benchmarks.data import spaced
from benchmarks.races.race import Race, Target
from benchmarks.workers.job import Job, write_numbers
from studies.fmpl.truths import Copies

PEER = "scikit-learn"
SEED = 9
N_ROWS = 1_000
HELD_AGAINST_PEER = 256

TARGETS = {64: Target(seconds=5e-3), HELD_AGAINST_PEER: Target(ratio=50.0, against=(PEER,)), 1_024: Target(seconds=1.0)}


def graphs(repeats: int, folder: Path) -> list[Race]:
    """Learn the study's networks; the three graphs in one run, one after the other."""
    races = []
    for d, target in TARGETS.items():
        job = drawn("gaussian_graph", d, repeats, folder)
        who = (OURS, PEER) if d == HELD_AGAINST_PEER else (OURS,)
        races.append(Race("gaussian-graph", f"{spaced(d)} columns, {spaced(N_ROWS)} rows", job, who, (target,)))
    return races


def networks(repeats: int, folder: Path) -> list[Race]:
    """Fit the networks of the true graphs."""
    return [
        Race(
            "gaussian-network",
            f"{spaced(d)} columns, {spaced(N_ROWS)} rows",
            drawn("gaussian_network", d, repeats, folder),
            (OURS,),
            (),
        )
        for d in (HELD_AGAINST_PEER, 1_024)
    ]


def drawn(task: str, d: int, repeats: int, folder: Path) -> Job:
    """Return a job on rows of a network of so many columns."""
    rows, graph = Copies(d).draw(N_ROWS, np.random.default_rng(SEED))
    path = folder / f"gaussian-{d}.numbers"
    write_numbers(path, rows)
    return Job(task, numbers=str(path), n_rows=N_ROWS, n_columns=d, parents=adjacency(graph), repeats=repeats)


def adjacency(graph: fn.UndirectedGraph) -> list[list[int]]:
    """Return the neighbours of every column."""
    return [list(others) for others in graph.adjacency]
