"""The laws of searches over structures: whatever finds a graph keeps the rules and tells the truth about it."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.progress import Watch
from fishernet.data import Statistic
from fishernet.learn import Rules, Scorer, Search, SearchResult, Step
from fishernet.learn.structures import SEARCHES
from fishernet.scores import Families
from tests.learn.scoring import local_score
from tests.reference.ordering import best_score
from tests.sources import Blocks
from tests.tables import random_table, tables


@dataclass(frozen=True)
class Additions(Search):
    """A search of one's own: arcs in the order of the variables, each that raises the score."""

    def run(self, scorer: Scorer, rules: Rules, watch: Watch) -> SearchResult:
        n = len(rules.names)
        parents = [list(of) for of in rules.start.parents]
        if watch.look(0):
            return SearchResult(rules.start, math.nan, (), 0, False, watch.seconds)
        alone = scorer(Families.from_pairs(enumerate(parents)))
        steps: list[Step] = []
        for child, parent in ((c, p) for c in range(n) for p in range(n) if p != c and p not in parents[c]):
            more = sorted([*parents[child], parent])
            if rules.forbidden[parent, child] or len(more) > rules.max_parents or watch.look(len(steps)):
                continue
            if np.prod(rules.states[[child, *more]]) > rules.max_cells or child in ancestors(parents, parent):
                continue
            gain = scorer(Families.from_pairs([(child, more)]))[0] - alone[child]
            if gain > 1e-6:
                parents[child], alone[child] = more, alone[child] + gain
                steps.append(Step("add", rules.names[parent], rules.names[child], gain))
        dag = fn.Dag(rules.names, [tuple(of) for of in parents])
        watch.finish(len(steps))
        return SearchResult(dag, float(alone.sum()), tuple(steps), scorer.n_distinct, True, watch.seconds)


def ancestors(parents: list[list[int]], variable: int) -> set[int]:
    found, left = set(), [variable]
    while left:
        for parent in parents[left.pop()]:
            if parent not in found:
                found.add(parent)
                left.append(parent)
    return found


CASES: dict[str, dict[str, Any]] = {
    "hill-climb": {"search": "hill-climb"},
    "an object": {"search": fn.learn.Tabu(tenure=2, patience=7, restarts=1)},
    "of one's own": {"search": Additions()},
    "hill-climb with restarts": {"search": "hill-climb", "restarts": 4, "perturb": 3},
    "tabu": {"search": "tabu"},
    "tabu with restarts": {"search": "tabu", "restarts": 3, "tenure": 2, "patience": 5},
    "order": {"search": "order"},
    "order without restarts": {"search": "order", "restarts": 0},
    "order alone": {"search": fn.learn.Order(graphs=False, restarts=3)},
    "order, single parents": {"search": fn.learn.Order(together=False, restarts=3)},
    "candidates": {"search": "order", "candidates": 2},
    "exact": {"search": "exact"},
}
WITHOUT_STEPS = {"exact"}
EVERY = pytest.mark.parametrize("options", CASES.values(), ids=CASES)
FAST = pytest.mark.parametrize(  # on tables with many variables
    "options",
    [options for name, options in CASES.items() if name != "exact"],
    ids=[name for name in CASES if name != "exact"],
)
RESTARTED = pytest.mark.parametrize(
    "search",
    [
        fn.learn.HillClimb(restarts=1, perturb=4),
        fn.learn.Tabu(patience=20),
        fn.learn.Order(),
        fn.learn.Order(perturb=2),
        fn.learn.Order(graphs=False),
        fn.learn.Order(candidates=4),
    ],
    ids=repr,
)


class Impatient(Blocks):
    """A source that is interrupted after some calls."""

    def __init__(self, tables: Sequence[fn.Table], calls: int) -> None:
        super().__init__(*tables)
        self._left = calls

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return super().statistics(sets)


def gains_from(start: fn.Dag, table: fn.Table, found: fn.learn.SearchResult, score: Any) -> float:
    return fn.score(start, table, score) + math.fsum(step.gain for step in found.steps)


@EVERY
@settings(max_examples=15)
@given(table=tables(most_variables=4, most_rows=100), score=st.sampled_from(["bic", "aic", "loglik"]))
def test_no_graph_beats_the_best_one(options: dict[str, Any], table: fn.Table, score: Any) -> None:
    found = fn.learn.structure(table, score=score, **options)
    assert found.finished
    assert found.score <= best_score(len(table.variables), local_score(table, score)) + 1e-9
    assert found.score == pytest.approx(fn.score(found.dag, table, score), rel=1e-12, abs=1e-9)
    empty = fn.Dag.from_edges(table.names, [])
    if options["search"] in WITHOUT_STEPS:
        return
    assert gains_from(empty, table, found, score) == pytest.approx(found.score, rel=1e-12, abs=1e-9)


@EVERY
@pytest.mark.parametrize("seed", range(6))
def test_rules_are_kept(options: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(seed, 300, [2, 3, 2, 3, 2, 2])
    names = table.names
    pairs = [(a, b) for a in names for b in names if a != b]
    forbidden = {pairs[i] for i in rng.permutation(len(pairs))[:8]}
    required = [(a, b) for a, b in pairs if a > b and (a, b) not in forbidden][:2]
    tiers = [["v5"], ["v3", "v0"]]
    against = {("v3", "v5"), ("v0", "v5")}
    start = fn.Dag.from_edges(names, [pair for pair in [("v1", "v2"), ("v4", "v1")] if pair not in forbidden])
    found = fn.learn.structure(
        table,
        score="loglik",
        required=required,
        forbidden=sorted(forbidden),
        tiers=tiers,
        max_parents=3,
        start=start,
        **options,
    )
    assert set(required) <= set(found.dag.edges)
    assert not set(found.dag.edges) & (forbidden | against)
    assert max(len(parents) for parents in found.dag.parents) <= 3
    begun = fn.Dag.from_edges(names, sorted({*required, *start.edges}))
    assert found.score >= fn.score(begun, table, "loglik")
    if options["search"] not in WITHOUT_STEPS:
        assert gains_from(begun, table, found, "loglik") == pytest.approx(found.score, rel=1e-12)


@EVERY
@pytest.mark.parametrize("max_cells", [4, 12, 40, 10_000])
def test_no_family_has_more_cells_than_may_be(options: dict[str, Any], max_cells: int) -> None:
    """Pairs of variables have 4 to 16 cells."""
    table = random_table(4, 300, [2, 3, 2, 4, 3, 4, 2])
    found = fn.learn.structure(table, score="loglik", max_cells=max_cells, **options)
    largest = [math.prod(table.cardinalities[v] for v in (child, *of)) for child, of in enumerate(found.dag.parents)]
    assert max(largest) <= max_cells
    assert (found.dag.edges != ()) == (max_cells >= 4)
    assert found.score == pytest.approx(fn.score(found.dag, table, "loglik"), rel=1e-12)


@EVERY
def test_limits_on_cells_are_reached_like_forbidden_families(options: dict[str, Any]) -> None:
    """Where pairs are all that fits, the limit is one on parents."""
    table = random_table(4, 300, [3] * 6)
    by_cells = fn.learn.structure(table, score="aic", max_cells=9, **options)
    by_parents = fn.learn.structure(table, score="aic", max_parents=1, **options)
    assert by_cells.dag == by_parents.dag
    assert by_cells.n_scores == by_parents.n_scores


@EVERY
def test_a_required_family_with_too_many_cells_is_named(options: dict[str, Any]) -> None:
    table = random_table(4, 30, [2, 3, 2, 4])
    required = [("v1", "v0"), ("v3", "v0")]
    with pytest.raises(
        SchemaError, match="family of 'v0' with the parents 'v1', 'v3' has 24 cells, more than max_cells = 23"
    ):
        fn.learn.structure(table, required=required, max_cells=23, **options)
    assert set(required) <= set(fn.learn.structure(table, required=required, max_cells=24, **options).dag.edges)


@RESTARTED
@pytest.mark.parametrize("seed", range(3))
def test_more_restarts_never_give_less(search: Any, seed: int) -> None:
    """The first restarts are the same, however many there are."""
    table = fn.datasets.load("alarm").sample(120, seed=seed).select(fn.datasets.load("alarm").dag.names[:14])
    found = [fn.learn.structure(table, search=replace(search, restarts=r, seed=seed)) for r in (1, 2, 3, 5, 8, 13, 40)]
    scores = [result.score for result in found]
    assert scores == sorted(scores)
    for shorter, longer in itertools.pairwise(found):
        if math.isclose(shorter.score, longer.score, rel_tol=1e-12):
            assert shorter.dag == longer.dag


@EVERY
def test_no_time_gives_the_start(options: dict[str, Any]) -> None:
    table = random_table(3, 500, [2, 3, 2, 4])
    start = fn.Dag.from_edges(table.names, [("v3", "v0")])
    found = fn.learn.structure(table, start=start, max_seconds=0, **options)
    assert not found.finished
    assert found.dag == start
    assert math.isnan(found.score)
    assert found.steps == ()


@FAST
def test_an_interrupted_search_has_its_best(options: dict[str, Any]) -> None:
    """However far it came, the best graph is one that keeps the rules."""
    table = fn.datasets.load("alarm").sample(300, seed=1)
    for calls in (1, 5, 20):
        with pytest.raises(KeyboardInterrupt) as stopped:
            fn.learn.structure(Impatient([table], calls), required=[("PAP", "HR")], **options)
        assert ("PAP", "HR") in stopped.value.best.edges  # type: ignore[attr-defined]


@pytest.mark.parametrize("search", ["hill-climb", "tabu", "order"])
@pytest.mark.parametrize("cardinalities", [[2], [2, 3, 2, 2]])
def test_restarts_without_end_can_be_stopped(search: Any, cardinalities: list[int]) -> None:
    table = random_table(3, 500, cardinalities)
    found = fn.learn.structure(table, search=search, restarts=10**12, max_seconds=0.2)
    assert not found.finished or len(cardinalities) == 1  # one variable has one graph
    assert found.score == pytest.approx(fn.score(found.dag, table))


@EVERY
def test_it_needs_counts_alone(options: dict[str, Any]) -> None:
    table = random_table(5, 600, [2, 3, 4, 2, 6])
    parts = Blocks(table[:200], table[200:])
    found, expected = fn.learn.structure(parts, **options), fn.learn.structure(table, **options)
    assert found.dag == expected.dag
    assert found.n_scores == expected.n_scores
    assert found.score == pytest.approx(expected.score, rel=1e-12)


@EVERY
def test_odd_tables(options: dict[str, Any]) -> None:
    assert fn.learn.dag(random_table(0, 30, [3]), **options).edges == ()
    assert fn.learn.dag(random_table(0, 30, [2, 2])[:0], **options).edges == ()
    constant = fn.Table.from_codes(np.zeros((50, 4), dtype=int))
    assert fn.learn.dag(constant, score="loglik", **options).edges == ()
    assert fn.learn.dag(random_table(1, 500, [2, 3, 2]), max_parents=0, **options).edges == ()


def test_every_search_is_tested() -> None:
    assert {options["search"] for options in CASES.values()} >= set(SEARCHES)


def test_the_default_is_the_search_over_orders() -> None:
    table = random_table(5, 300, [2, 3, 2, 4])
    default, named = fn.learn.structure(table), fn.learn.structure(table, search="order")
    assert default.steps == named.steps
    assert fn.learn.dag(table) == fn.learn.bayesian_network(table).dag == named.dag


def test_an_object_is_the_search_of_its_name() -> None:
    table = fn.datasets.load("alarm").sample(300, seed=1)
    named = fn.learn.structure(table, search="tabu", tenure=4, restarts=3, seed=5)
    made = fn.learn.structure(table, search=fn.learn.Tabu(tenure=4, restarts=3, seed=5))
    again = fn.learn.structure(table, search=fn.learn.Tabu(tenure=4, restarts=3), seed=5)
    assert named.steps == made.steps == again.steps
    assert named.seed == made.seed == again.seed == 5


def test_rules_can_be_given_as_an_object() -> None:
    table = random_table(5, 300, [2, 3, 2, 4])
    given: Any = {"required": [("v1", "v2")], "tiers": [["v3"], ["v0"]], "max_parents": 2}
    rules = fn.learn.Rules.of(table.names, states=table.cardinalities, **given)
    assert fn.learn.dag(table, rules=rules) == fn.learn.dag(table, **given)
    with pytest.raises(SchemaError, match="the rules are for the variables"):
        fn.learn.dag(table.select(["v0", "v1"]), rules=rules)


@FAST
def test_an_exception_of_progress_reaches_the_caller(options: dict[str, Any]) -> None:
    def stop(what: str, done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fn.learn.structure(random_table(3, 500, [2, 3, 2, 4]), progress=stop, **options)


def test_results_do_not_depend_on_threads_or_hash_seed() -> None:
    script = (
        "import fishernet as fn\n"
        "t = fn.datasets.load('alarm').sample(60_000, seed=5)\n"
        "for options in ({'search': 'tabu', 'restarts': 2}, {'search': 'order', 'restarts': 3}, {'candidates': 4}):\n"
        "    found = fn.learn.structure(t, **options)\n"
        "    print(found.steps, found.score, found.n_scores, found.dag.edges)\n"
    )
    answers = set()
    for extra in ({"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "7", "FISHERNET_THREADS": "1"}):
        run = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, **extra}, check=True, capture_output=True, text=True
        )
        answers.add(run.stdout)
    assert len(answers) == 1


def test_a_seed_repeats_and_a_generator_moves_on() -> None:
    table = fn.datasets.load("alarm").sample(300, seed=1)
    first = fn.learn.structure(table, search="tabu", restarts=5)
    assert first.seed == 0
    assert first.steps == fn.learn.structure(table, search="tabu", restarts=5, seed=0).steps
    random = np.random.default_rng(3)
    one, two = (fn.learn.structure(table, search="tabu", restarts=5, seed=random) for _ in range(2))
    assert one.seed != two.seed
    assert fn.learn.structure(table, search="tabu", restarts=5, seed=one.seed).steps == one.steps


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restarts": -1}, "restarts must be an integer of at least 0, got -1"),
        ({"restarts": 1.5}, "restarts must be an integer"),
        ({"restarts": 1, "perturb": 0}, "perturb must be an integer of at least 1, got 0"),
        ({"search": "hill-climb", "perturb": 3}, "there are none; say restarts as well"),
        ({"search": "tabu", "tenure": 0}, "tenure must be"),
        ({"search": "tabu", "patience": True}, "patience must be"),
        ({"candidates": 0}, "candidates must be an integer of at least 1, got 0"),
        ({"tenure": 3}, "search 'order' takes no tenure; searches that do: 'tabu'"),
        ({"search": "order", "patience": 3}, "search 'order' takes no patience"),
        ({"search": "boss"}, "unknown search 'boss'; there are 'order', 'tabu', 'hill-climb', 'exact'"),
        ({"max_cells": 0}, "max_cells must be a positive number or None, got 0"),
        ({"search": fn.learn.Tabu(), "tenure": 3}, "'tenure' are for searches by name"),
        ({"search": "exact", "max_memory": -1}, "max_memory must be a positive number"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FishernetError, match=message):
        fn.learn.dag(random_table(0, 20, [2, 2, 2]), **options)
