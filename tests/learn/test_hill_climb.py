"""Hill climbing against Algorithm 7 of Takabatake and Akaho (2021) taken literally, and its constraints."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import CycleError, FishernetError
from fishernet.learn import Step
from tests.interrupts import interrupt_once_begun, time_over_after
from tests.learn.scoring import local_score
from tests.reference.climbing import Edges, climb
from tests.reference.scoring import family_score
from tests.tables import random_table, tables

KINDS = ("add", "remove", "reverse")

hill_climb = functools.partial(fn.learn.structure, search="hill-climb")


def edges_of(dag: fn.Dag) -> Edges:
    return frozenset((p, child) for child, parents in enumerate(dag.parents) for p in parents)


def moves_of(steps: tuple[Step, ...]) -> list[tuple[int, int, int]]:
    return [(KINDS.index(s.kind), int(s.parent[1:]), int(s.child[1:])) for s in steps]


@settings(max_examples=60)
@given(tables(most_variables=5, most_rows=200), st.sampled_from(["bic", "aic", "loglik"]))
def test_the_climb_is_algorithm_7(table: fn.Table, name: Any) -> None:
    found = hill_climb(table, score=name)
    edges, moves = climb(len(table.variables), local_score(table, name))
    assert moves_of(found.steps) == moves
    assert edges_of(found.dag) == edges
    expected = sum(family_score(table, v, parents, name) for v, parents in enumerate(found.dag.parents))
    assert found.score == pytest.approx(expected, rel=1e-12, abs=1e-10)
    assert found.score == pytest.approx(fn.score(found.dag, table, name), rel=1e-13, abs=1e-10)
    assert found.finished


@pytest.mark.parametrize("seed", range(12))
def test_longer_climbs_with_reversals(seed: int) -> None:
    table = random_table(seed, 400, [2, 3, 2, 4, 2, 3], dependence=0.5)
    start = fn.Dag.from_edges(table.names, [("v0", "v1"), ("v5", "v1"), ("v1", "v2"), ("v4", "v2"), ("v3", "v0")])
    found = hill_climb(table, score="aic", start=start)
    edges, moves = climb(6, local_score(table, "aic"), start=edges_of(start))
    assert moves_of(found.steps) == moves
    assert edges_of(found.dag) == edges


def test_all_three_kinds_of_moves_occur() -> None:
    kinds = set()
    for seed in range(12):
        table = random_table(seed, 400, [2, 3, 2, 4, 2, 3], dependence=0.5)
        start = fn.Dag.from_edges(table.names, [("v0", "v1"), ("v5", "v1"), ("v1", "v2"), ("v4", "v2"), ("v3", "v0")])
        kinds |= {step.kind for step in hill_climb(table, score="aic", start=start).steps}
    assert kinds == set(KINDS)


@pytest.mark.parametrize("seed", range(8))
def test_constraints_are_the_literal_climb_over_allowed_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(seed, 300, [2, 3, 2, 3, 2])
    names = table.names
    pairs = [(a, b) for a in range(5) for b in range(5) if a != b]
    forbidden = {pairs[i] for i in rng.permutation(20)[:6]}
    required = {next((a, b) for a, b in pairs if a < b and (a, b) not in forbidden)}
    most = 2

    def allowed(graph: Edges) -> bool:
        counts = [sum(b == v for _, b in graph) for v in range(5)]
        return not graph & forbidden and required <= graph and max(counts) <= most

    found = hill_climb(
        table,
        score="aic",
        max_parents=most,
        forbidden=[(names[a], names[b]) for a, b in sorted(forbidden)],
        required=[(names[a], names[b]) for a, b in sorted(required)],
    )
    edges, moves = climb(5, local_score(table, "aic"), allowed, frozenset(required))
    assert moves_of(found.steps) == moves
    assert edges_of(found.dag) == edges


def test_copies_of_a_column_are_chained() -> None:
    """Seven equal columns: every arc gains the same, so ties alone decide, and they go to the first."""
    codes = np.random.default_rng(0).integers(0, 2, 200)
    table = fn.Table.from_codes(np.stack([codes] * 7, axis=1))
    assert set(fn.learn.dag(table).edges) == {("v0", f"v{i}") for i in range(1, 7)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"required": [("v0", "v1")], "forbidden": [("v0", "v1")]}, "'v0' -> 'v1' is both required and forbidden"),
        ({"required": [("v1", "v0")], "tiers": [["v0"], ["v1"]]}, "'v1' -> 'v0' is both required and forbidden"),
        ({"required": [("v0", "v0")]}, "to itself"),
        ({"required": ["v0"]}, "parent and child"),
        ({"required": [("v0", "w")]}, "no variable 'w'"),
        ({"tiers": [["v0"], ["v0"]]}, "more than once"),
        ({"max_parents": -1}, "non-negative"),
        ({"max_parents": 0, "required": [("v0", "v1")]}, "more than max_parents allows \\(0\\)"),
        ({"score": "bicc"}, "unknown score"),
        ({"search": "climb"}, "unknown search 'climb'; there are 'order'"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"seed": -3}, "seed"),
        ({"start": fn.Dag.from_edges(["v0", "v1"], [])}, "start lacks the variable 'v2'"),
        ({"start": fn.Dag.from_edges(["v0", "v1", "v2"], [("v0", "v1")]), "forbidden": [("v0", "v1")]}, "in the start"),
    ],
)
def test_bad_rules_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FishernetError, match=message):
        fn.learn.dag(random_table(0, 20, [2, 2, 2]), **options)


def test_required_arcs_that_close_a_cycle() -> None:
    with pytest.raises(CycleError):
        fn.learn.dag(random_table(0, 20, [2, 2, 2]), required=[("v0", "v1"), ("v1", "v2"), ("v2", "v0")])


def test_a_score_does_not_depend_on_the_order_of_columns_or_states() -> None:
    table = fn.datasets.load("asia").sample(5000, seed=3)
    found = hill_climb(table)
    turned = table.select(table.names[::-1]).conform([fn.Variable(v.name, v.states[::-1]) for v in table.variables])
    assert fn.score(found.dag, turned) == fn.score(found.dag, table)


def test_the_frame_has_a_row_a_step() -> None:
    table = random_table(3, 500, [2, 3, 2, 4])
    found = hill_climb(table)
    frame = found.to_frame()
    assert frame.num_rows == len(found.steps)
    assert frame.column_names == ["kind", "parent", "child", "gain"]


# ------------------------------------------------------------------------------------------- stopping and progress


def test_a_time_limit_gives_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    table = fn.datasets.load("alarm").sample(2_000_000, seed=1)
    full = hill_climb(table)
    short = hill_climb(table, max_seconds=1e6, progress=time_over_after(3, monkeypatch))
    assert not short.finished
    assert 3 < len(short.steps) < len(full.steps)
    assert short.steps == full.steps[: len(short.steps)]


def test_control_c_ends_a_climb_with_its_best() -> None:
    table = fn.datasets.load("alarm").sample(3_000_000, seed=1)
    before = fn.set_threads(1)
    try:
        with pytest.raises(KeyboardInterrupt) as stopped, interrupt_once_begun() as progress:
            hill_climb(table, progress=progress)
    finally:
        fn.set_threads(before)
    assert isinstance(stopped.value.best, fn.Dag)  # type: ignore[attr-defined]
    assert fn.score(fn.learn.dag(table[:1000]), table[:1000]) < 0  # the library is as good as before
