"""How probable networks of labels make new rows: ``python -m studies.densities``.

Twelve binary tables on which tractable models are compared, in the parts in which they are published: every way learns
from the rows for training by itself, with nothing set but a seed, and is judged by the rows for testing. The rows for
validation are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fishernet as fn
from studies.local_structure import BINARY, binary
from studies.study import Run, Seeds, Table, main, mean, timed

TAKES = "--quick 2 s of processor time, usual half an hour of one processor"
SEEDS = Seeds({"fits": 50_2})


def tree(rows: fn.Table) -> Any:
    return fn.learn.parameters(fn.learn.chow_liu(rows), rows)


def network(rows: fn.Table) -> Any:
    return fn.learn.bayesian_network(rows, seed=SEEDS["fits"])


def decision_trees(rows: fn.Table) -> Any:
    return fn.learn.bayesian_network(rows, conditionals="tree", search=fn.learn.TreeSearch())


def clusters(rows: fn.Table) -> Any:
    return fn.learn.clusters(rows, seed=SEEDS["fits"]).model


def hidden_tree(rows: fn.Table) -> Any:
    return fn.learn.hidden_chow_liu(rows, seed=SEEDS["fits"]).model


WAYS: dict[str, Callable[[fn.Table], Any]] = {
    "tree": tree,
    "network": network,
    "decision trees": decision_trees,
    "clusters": clusters,
    "hidden tree": hidden_tree,
}


def measured(way: str, *paths: str) -> tuple[dict[str, Any] | None, float, int]:
    """Return the mean log-probability of new rows, the processor's seconds, and the states of the last variable."""
    if paths:
        training, testing = (binary([Path(path)]) for path in paths)
    else:
        training, testing = fn.datasets.load("nursery").split(0.8, seed=SEEDS["fits"])
    model, spent = timed(WAYS[way], training)
    return mean(model.log_prob(testing)), spent, model.variables[-1].cardinality


def compute(run: Run) -> Iterator[Table]:
    tables: dict[str, list[str]] = {} if run.choose(False, True) else {"nursery": []}
    for name in run.choose((), BINARY):
        paths = [run.file("density", f"{name}.{part}.csv.gz") for part in ("train", "test")]
        there = [str(path) for path in paths if path is not None]
        if len(there) == len(paths):
            tables[name] = there
    tasks = [(way, *paths) for paths in tables.values() for way in WAYS]
    answers = iter(run.map(measured, tasks))
    likelihoods, seconds, states = list[list[Any]](), list[list[Any]](), list[list[Any]]()
    for name in tables:
        found = {way: next(answers) for way in WAYS}
        likelihoods.append([name, *(found[way][0] for way in WAYS)])
        seconds.append([name, *(found[way][1] for way in WAYS)])
        states.append([name, *(found[way][2] for way in ("clusters", "hidden tree"))])
    yield Table("likelihoods", ["table", *WAYS], likelihoods, ".3f")
    yield Table("seconds", ["table", *WAYS], seconds, ".1f")
    yield Table("states", ["table", "clusters", "states of each hidden variable"], states, ",.0f")


if __name__ == "__main__":
    main("densities", compute, seeds=SEEDS, about=__doc__, takes=TAKES)
