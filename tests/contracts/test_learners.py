"""The laws of learners, whatever they learn: of weights, parts, threads, missing cells, and progress.

A new learner joins by its name in `LEARNERS`, and in `TOLD` when it tells how far it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import MissingValueError, SchemaError
from tests.processes import printed
from tests.sources import halves
from tests.tables import random_table

Learner = Callable[..., Any]


def found_by(search: Any) -> Learner:
    def learn(data: Any, **options: Any) -> Any:
        found = fn.learn.structure(data, search=search, **options)
        return found.dag.edges, [(step.kind, step.parent, step.child) for step in found.steps], found.n_scores

    return learn


def inputs(data: Any, **options: Any) -> Any:
    found = fn.learn.local_structure(data, **options)
    return found.inputs, found.n_candidates, found.n_scores


def fitted(network: Any) -> Any:
    return network.n_rows, [(c.parents, c.probabilities.tolist()) for c in network.conditionals]


def strengths(table: fn.Table, **options: Any) -> Any:
    found = fn.learn.edge_strengths(table, 5, seed=5, **options)
    return found.to_frame().to_pylist(), found.averaged().edges


OF_A_CLASS: dict[str, Learner] = {
    "naive_bayes": lambda data: fn.learn.naive_bayes(data, "v1").edges,
    "tan": lambda data: fn.learn.tan(data, "v1").edges,
    "kdb": lambda data: fn.learn.kdb(data, "v1").edges,
}
OF_COUNTS: dict[str, Learner] = OF_A_CLASS | {
    "chow_liu": lambda data: fn.learn.chow_liu(data).edges,
    "hill-climb": found_by("hill-climb"),
    "tabu": found_by("tabu"),
    "order": found_by("order"),
    "exact": found_by("exact"),
    "local_structure": inputs,
    "local_structure by tabu": partial(inputs, search="tabu", score="aic"),
    "dependency_network": lambda data, **options: fitted(fn.learn.dependency_network(data, **options)),
    "bayesian_network": lambda data, **options: fitted(fn.learn.bayesian_network(data, **options)),
    "bayesian_network of trees": lambda data, **options: fitted(
        fn.learn.bayesian_network(data, conditionals="tree", **options)
    ),
    "bayesian_network of merged rows": lambda data, **options: fitted(
        fn.learn.bayesian_network(data, conditionals="merged", **options)
    ),
    "discrete_markov_graph": lambda data, **options: fn.learn.discrete_markov_graph(data, **options).edges,
}
LEARNERS: dict[str, Learner] = OF_COUNTS | {
    "trees": lambda table, **options: fitted(fn.learn.dependency_network(table, inputs="tree", **options)),
    "edge_strengths": strengths,
}
TOLD: dict[str, Learner] = {name: learn for name, learn in LEARNERS.items() if name not in {*OF_A_CLASS, "chow_liu"}}
NUMBERS = np.random.default_rng(1).normal(size=(60, 4)).cumsum(axis=1)
TOLD["clusters"] = lambda data, **options: fn.learn.clusters(data, most=3, restarts=2, seed=1, **options)
TOLD |= {  # of other data than a table
    "markov_graph": lambda _, **options: fn.learn.markov_graph(NUMBERS, test="fisher-z", **options),
    "gaussian_graph": lambda _, **options: fn.learn.gaussian_graph(NUMBERS, **options),
    "baum_welch": lambda _, **options: fn.learn.baum_welch(["abab", "baba", "ab"], n_states=2, seed=1, **options),
    "hidden_tree": lambda _, **options: fn.learn.hidden_tree([0, 1], ["01", "11"], n_states=2, seed=1, **options),
}
EVERY = pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
EVERY_OF_COUNTS = pytest.mark.parametrize("learn", OF_COUNTS.values(), ids=OF_COUNTS)
EVERY_TOLD = pytest.mark.parametrize("learn", TOLD.values(), ids=TOLD)


@EVERY_OF_COUNTS
def test_weights_are_repeated_rows(learn: Learner) -> None:
    table = random_table(6, 400, [2, 3, 2, 4], weighted=True)
    assert table.weights is not None
    times = table.weights.astype(np.int64)
    assert learn(table) == learn(fn.Table(table.variables, [np.repeat(column, times) for column in table.codes]))


@EVERY_OF_COUNTS
def test_a_source_of_counts_gives_what_its_table_gives(learn: Learner) -> None:
    table = random_table(5, 900, [2, 3, 4, 2, 2, 30])
    assert learn(halves(table)) == learn(table)


def test_results_do_not_depend_on_threads_or_hash_seed() -> None:
    """With rows enough for several parts."""
    script = (
        "from tests.contracts.test_learners import LEARNERS, fn, random_table\n"
        "table = random_table(7, 70_000, [2, 3, 2, 4, 2, 3, 2, 26])\n"
        "print([learn(table) for learn in LEARNERS.values()], fn.learn.structure(table, score='aic').score)\n"
    )
    threads, hashes = ("1", "2", "3"), ("0", "7", "8")
    settings = [{"FISHERNET_THREADS": t, "PYTHONHASHSEED": h} for t, h in zip(threads, hashes, strict=True)]
    assert len(printed(script, *settings)) == 1


@EVERY
def test_missing_cells_of_counts_alone_and_tables_without_columns_are_refused(learn: Learner) -> None:
    incomplete = random_table(0, 100, [2, 2, 2], missing=0.2)
    if learn in OF_COUNTS.values() and learn is not OF_COUNTS["naive_bayes"]:  # which does not look at the rows
        with pytest.raises(MissingValueError, match="missing"):
            learn(halves(incomplete))
    with pytest.raises(SchemaError, match="no columns|no column 'v1'|no rows"):
        learn(fn.Table([], []))


@EVERY_TOLD
def test_progress_is_told_to_the_end(learn: Learner) -> None:
    calls: list[tuple[str, int, int | None]] = []
    learn(random_table(3, 500, [2, 3, 2, 4]), progress=lambda *call: calls.append(call))
    assert calls[-1][1] == calls[-1][2]


@EVERY_TOLD
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_of_progress_reaches_the_caller(learn: Learner, error: type[BaseException]) -> None:
    def stop(*_: object) -> None:
        raise error("enough")

    with pytest.raises(error):
        learn(random_table(3, 500, [2, 3, 2, 4]), progress=stop)
