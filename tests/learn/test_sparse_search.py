"""Exact search with few parent sets: against the tables, and the sets against looking at all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import StateSpaceError
from fishernet.base.progress import Watch
from fishernet.learn import exact_sparse
from fishernet.learn.exact_sparse import ParentSetSearch, SparseRun
from fishernet.learn.rules import Rules
from fishernet.scores import SCORES, LocalScores, named_score
from tests.interrupts import interrupt_once_begun, time_over_after
from tests.learn.scoring import by_library
from tests.reference.exact import useful_parent_sets
from tests.tables import random_table, tables

NAMES = sorted(SCORES)
PLENTY = 1e9


def rules_of(table: fn.Table, **given: Any) -> Rules:
    return Rules.of(table.names, states=table.cardinalities, **given)


def sparse(table: fn.Table, name: str, rules: Rules | None = None, memory: float = PLENTY) -> fn.Dag:
    rules = rules_of(table) if rules is None else rules
    scores = LocalScores(table, named_score(name))
    parents = SparseRun(scores, rules, Watch(), start=rules.start, max_memory=memory).parents()
    assert parents is not None
    return fn.Dag(table.names, parents)


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-11, abs_tol=1e-7)


# ------------------------------------------------------------------------------------------------------- parent sets


def found_sets(finding: ParentSetSearch) -> Any:
    """Return what a finished search found."""
    assert finding.sets is not None
    return finding.sets


@settings(max_examples=60)
@given(tables(most_variables=6, most_rows=150), st.sampled_from(NAMES))
def test_no_useful_set_is_ruled_out(table: fn.Table, name: str) -> None:
    finding = ParentSetSearch(LocalScores(table, named_score(name)), rules_of(table), PLENTY)
    assert finding.run(Watch())
    for child in range(len(table.variables)):
        masks, scores = found_sets(finding).sets_of(child)
        expected = useful_parent_sets(len(table.variables), child, by_library(table, name))
        found = dict(zip(masks.tolist(), scores.tolist(), strict=True))
        assert set(expected) <= set(found)  # sets that are better by next to nothing may come or not
        assert all(close(found[mask], score) for mask, score in expected.items())
        assert scores.tolist() == sorted(scores.tolist(), reverse=True)


@pytest.mark.parametrize("name", ["bic", "aic", "hqc", "fnml", "qnml"])
def test_most_sets_are_ruled_out(name: str) -> None:
    table = random_table(1, 300, [2, 3, 2, 4, 3, 2, 2, 3, 2, 3], dependence=0.5)
    finding = ParentSetSearch(LocalScores(table, named_score(name)), rules_of(table), PLENTY)
    finding.run(Watch())
    assert found_sets(finding).n_wanted < 10 * 2**9 * {"aic": 0.8, "fnml": 0.98, "qnml": 0.98}.get(name, 0.5)
    for child in range(10):
        masks, _ = found_sets(finding).sets_of(child)
        assert set(useful_parent_sets(10, child, by_library(table, name))) <= set(masks.tolist())


@pytest.mark.parametrize("seed", range(4))
def test_sets_keep_the_rules(seed: int) -> None:
    table = random_table(seed, 300, [2, 3, 2, 3, 2, 3])
    rules = rules_of(table, max_parents=3, required=[("v1", "v4")], forbidden=[("v0", "v4"), ("v5", "v2")])
    finding = ParentSetSearch(LocalScores(table, named_score("aic")), rules, PLENTY)
    finding.run(Watch())
    for child in range(6):
        forbidden = sum(1 << v for v in range(6) if rules.forbidden[v, child])
        required = sum(1 << v for v in range(6) if rules.required[v, child])

        def allowed(mask: int, forbidden: int = forbidden, required: int = required) -> bool:
            return not mask & forbidden and mask & required == required and mask.bit_count() <= 3

        masks, _ = found_sets(finding).sets_of(child)
        assert all(allowed(mask) for mask in masks.tolist())
        assert set(useful_parent_sets(6, child, by_library(table, "aic"), allowed)) <= set(masks.tolist())


# ------------------------------------------------------------------------------------------------------- the search


@settings(max_examples=60)
@given(tables(most_variables=5, most_rows=150), st.sampled_from(NAMES))
def test_it_finds_what_the_tables_find(table: fn.Table, name: Any) -> None:
    best = fn.learn.structure(table, score=name, search="exact").score
    assert close(fn.score(sparse(table, name), table, name), best)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["bic", "aic", "bdeu", "fnml", "qnml"])
def test_it_finds_what_the_tables_find_among_twelve(name: Any, seed: int) -> None:
    table = random_table(seed, 150 * 2**seed, [2, 3, 2, 4, 2, 3, 2, 2, 3, 2, 2, 3], dependence=0.5)
    best = fn.learn.structure(table, score=name, search="exact").score
    assert close(fn.score(sparse(table, name), table, name), best)


@pytest.mark.parametrize("seed", range(8))
def test_with_rules(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(seed, 300, [2, 3, 2, 3, 2, 3, 2, 2])
    pairs = [(a, b) for a in table.names for b in table.names if a != b]
    forbidden = [pairs[i] for i in rng.permutation(56)[:20]]
    required = [next(pair for pair in pairs if pair[0] < pair[1] and pair not in forbidden)]
    rules = {"max_parents": int(rng.integers(1, 4)), "required": required, "forbidden": forbidden}
    found = fn.learn.structure(table, score="aic", search="exact", **rules)  # type: ignore[arg-type]
    dag = sparse(table, "aic", rules_of(table, **rules))
    assert close(fn.score(dag, table, "aic"), found.score)
    assert set(required) <= set(dag.edges)
    assert not set(forbidden) & set(dag.edges)
    assert max(map(len, dag.parents)) <= rules["max_parents"]  # type: ignore[operator]


def test_a_good_start_that_is_best_already_is_kept() -> None:
    table = random_table(2, 500, [2, 3, 2, 4, 2, 3])
    best = fn.learn.structure(table, search="exact")
    again = sparse(table, "bic", rules_of(table, start=best.dag))
    assert close(fn.score(again, table), best.score)


def test_all_of_alarm() -> None:
    """37 variables: no table would hold them."""
    table = fn.datasets.load("alarm").sample(1000, seed=1)
    found = fn.learn.structure(table, search="exact", max_parents=3)
    climb = fn.learn.structure(table, search="hill-climb", max_parents=3)
    assert found.finished
    assert found.score > climb.score + 100
    assert found.score == fn.score(found.dag, table)
    truth = fn.datasets.load("alarm").dag
    assert fn.score(fn.Dag(table.names, truth.parents), table) <= found.score + 1e-7 or max(map(len, truth.parents)) > 3


def test_copies_of_a_column_hang_on_the_first() -> None:
    codes = np.random.default_rng(0).integers(0, 2, 200)
    table = fn.Table.from_codes(np.stack([codes] * 7, axis=1))
    dag = sparse(table, "bic")
    assert close(fn.score(dag, table), fn.learn.structure(table, search="exact").score)
    assert dag.n_edges == 6


# ------------------------------------------------------------------------------------------------- limits and stopping


def test_too_many_reached_sets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_sparse, "BYTES_PER_SET", 0.01)
    table = fn.datasets.load("alarm").sample(1000, seed=1)
    rules = rules_of(table, max_parents=2)
    with pytest.raises(StateSpaceError, match="sets of variables that an exact search over 37 variables") as refused:
        sparse(table, "aic", rules, memory=10_000)
    assert refused.value.cells >= refused.value.limit > 0


def test_the_time_may_be_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before all of its sets of parents are looked at."""
    table = fn.datasets.load("alarm").sample(5000, seed=1)
    progress = time_over_after(0, monkeypatch)
    assert not fn.learn.structure(table, search="exact", max_seconds=1e6, progress=progress).finished


def test_control_c_says_how_far_it_was() -> None:
    table = fn.datasets.load("alarm").sample(5000, seed=1)
    with (
        pytest.raises(KeyboardInterrupt, match=r"looked at [\d,]+ sets of up to \d parents") as stopped,
        interrupt_once_begun() as progress,
    ):
        fn.learn.structure(table, search="exact", progress=progress)
    assert isinstance(stopped.value.best, fn.Dag)  # type: ignore[attr-defined]
