"""Tabu search against itself taken literally; restarts of the climb."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.progress import Watch
from fishernet.learn.hill_climb import Tabu
from fishernet.learn.rules import Rules
from fishernet.scores import LocalScores, named_score
from tests.learn.scoring import local_score
from tests.reference.climbing import tabu
from tests.tables import random_table, tables

KINDS = ("add", "remove", "reverse")


def compare(table: fn.Table, score: str, tenure: int, patience: int) -> None:
    scorer, rules = LocalScores(table, named_score(score)), Rules.of(table.names)
    done: list[int] = []
    watch = Watch(lambda what, steps, total: done.append(steps))
    found = Tabu(tenure=tenure, patience=patience).run(scorer, rules, watch)
    edges, moves, made = tabu(len(table.variables), local_score(table, score), tenure, patience)
    assert [(KINDS.index(s.kind), int(s.parent[1:]), int(s.child[1:])) for s in found.steps] == moves
    assert {(p, child) for child, parents in enumerate(found.dag.parents) for p in parents} == edges
    assert done[-1] == made


@settings(max_examples=40)
@given(
    tables(most_variables=4, most_rows=200),
    st.sampled_from(["bic", "aic"]),
    st.integers(1, 6),
    st.integers(1, 12),
)
def test_it_is_tabu_search(table: fn.Table, score: str, tenure: int, patience: int) -> None:
    compare(table, score, tenure, patience)


@pytest.mark.parametrize("seed", range(8))
def test_longer_searches(seed: int) -> None:
    compare(random_table(seed, 200, [2, 3, 2, 4, 2], dependence=0.5), "aic", 4, 20)


def test_it_leaves_local_optima() -> None:
    better = 0
    for seed in range(20):
        table = random_table(seed, 300, [2, 3, 2, 2, 3, 2, 4], dependence=0.4)
        climb, found = (
            fn.learn.structure(table, score="aic", search="hill-climb"),
            fn.learn.structure(table, score="aic", search="tabu"),
        )
        assert found.score >= climb.score - 1e-9
        better += found.score > climb.score + 1e-6
    assert better >= 5


@pytest.mark.parametrize("search", ["hill-climb", "tabu"])
def test_restarts_keep_the_best_and_the_way_there(search: Any) -> None:
    table = fn.datasets.load("alarm").sample(500, seed=2)
    scores = [fn.learn.structure(table, search=search, restarts=r, seed=7).score for r in (0, 3, 12)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


def test_seeds_make_other_restarts() -> None:
    table = fn.datasets.load("alarm").sample(500, seed=2)
    assert (
        len({fn.learn.structure(table, search="hill-climb", restarts=3, seed=seed).n_scores for seed in range(4)}) > 1
    )
