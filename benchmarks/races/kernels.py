"""Races of what stands on the Fisher kernel: a matrix of it, and the selection of rows."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import OURS
from benchmarks.data import Data, learned_parents, spaced
from benchmarks.races.race import Race, Target, who
from benchmarks.workers.job import Job

LINEAR, HAMMING = "linear kernel", "Hamming"
N_ENTRIES = 200

NO_PEER = "There is no peer: we know of no other library that runs this search."
PUBLISHED = (
    "Published times on letter (P1, 7.1; another machine): greedy MMD 0.7 minutes (k = 200) to 19 minutes "
    "(k = 1000), greedy chi-square 1 to 5 minutes, 1000 random subsets under both criteria 45 to 101 s."
)


def on_learned_network(training: Data) -> dict[str, Any]:
    """Return the fields of a job on a table and the network that is learned from it."""
    return training.fields | {"parents": learned_parents(training)}


def kernel_races(training: Data, repeats: int) -> list[Race]:
    """Race for the matrix of all pairs of rows: ours knows the network, theirs count the cells that are equal."""
    job = Job("gram", repeats=repeats, n_entries=N_ENTRIES, **on_learned_network(training))
    target = Target(ratio=0.5, against=(who("scikit-learn", LINEAR),))
    title = f"{training.title}: {spaced(training.n_rows)} x {spaced(training.n_rows)}"
    forms = {"scikit-learn": (LINEAR, HAMMING)}
    return [Race("kernel", title, job, (OURS, "scikit-learn"), (target,), forms=forms)]


def selection_races(training: Data, repeats: int) -> list[Race]:
    """Time Algorithm 1 of P1 under both criteria, and its random starts alone."""
    fields = on_learned_network(training) | {"repeats": repeats, "seed": 1, "n_starts": 1000}
    races = []
    for k, targets in ((200, ()), (1000, (Target(seconds=1.5),))):
        job = Job("select", k=k, criterion="mmd", **fields)
        races.append(Race("selection", f"greedy MMD, k = {k}", job, (OURS,), targets))
    starts = Job("starts", k=1000, criterion="mmd", **fields)
    races.append(Race("selection", "1000 random starts alone, k = 1000", starts, (OURS,), (Target(seconds=0.15),)))
    for k in (200, 1000):
        job = Job("select", k=k, criterion="chi-square", **fields)
        remarks = (NO_PEER, PUBLISHED) if k == 1000 else ()
        races.append(Race("selection", f"greedy chi-square, k = {k}", job, (OURS,), remarks=remarks))
    return races
