"""What exact search says of the best graph of all before it knows it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet import _core
from fishernet.base.progress import Watch
from fishernet.learn.exact_sparse import ParentSetSearch, bound_by_fit
from fishernet.learn.rules import Rules
from fishernet.scores import SCORES, LocalScores, named_score
from tests.interrupts import time_over_after
from tests.tables import random_table, tables


@settings(max_examples=60)
@given(tables(most_variables=6, most_rows=120), st.sampled_from(sorted(SCORES)))
def test_the_bound_of_the_fit_is_above_every_graph(table: fn.Table, name: str) -> None:
    bound = bound_by_fit(LocalScores(table, named_score(name)))
    best = fn.learn.structure(table, score=name, search="exact")  # type: ignore[arg-type]
    assert bound is None or bound >= best.score - 1e-7
    assert (best.gap, best.proof) == (0.0, "proven best")


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_falls_to_the_optimum(seed: int) -> None:
    """Wherever the shortest-path search is stopped it is above what the tables of all subsets find."""
    table = random_table(seed, 150, [2, 3, 2, 2, 3, 2, 2, 2, 3, 2, 2, 2, 2, 2], dependence=0.6)
    best = fn.learn.structure(table, score="aic", search="exact").score
    scores, rules = LocalScores(table, named_score("aic")), Rules.of(table.names, states=table.cardinalities)
    finding = ParentSetSearch(scores, rules, 1e9)
    assert finding.run(Watch())
    assert finding.sets is not None
    search = _core.SparseSearch(finding.sets, np.zeros(len(table.names), dtype=np.uint64), 1e9)
    bounds = [search.bound]
    while not search.finished:
        search.advance()
        bounds.append(search.bound)
    assert all(bound >= best - 1e-7 for bound in bounds)
    assert all(later <= bound + 1e-7 for bound, later in itertools.pairwise(bounds))
    assert bounds[-1] == pytest.approx(best, rel=1e-10)


@pytest.mark.parametrize("name", ["bic", "aic", "bdeu", "qnml"])
@pytest.mark.parametrize("seed", range(3))
def test_no_graph_is_above_the_bound_of_sets_that_were_not_all_looked_at(name: str, seed: int) -> None:
    """Wherever the search for sets of parents ends: with the empty sets alone, in the middle of a level, at the end."""
    table = random_table(seed, 150, [2, 3, 2, 2, 3, 2, 4, 2, 3], dependence=0.6)
    best = fn.learn.structure(table, score=name, search="exact").score  # type: ignore[arg-type]
    scores, rules = LocalScores(table, named_score(name)), Rules.of(table.names, states=table.cardinalities)
    for most in (1, 10, 30, 100, 300, 10_000):
        finding = ParentSetSearch(scores, rules, 1e9, most=most)
        assert finding.run(Watch()) == (most == 10_000)
        assert finding.sets is not None
        assert finding.sets.bound >= best - 1e-7


def test_sets_of_parents_grow_no_longer_than_there_is_time() -> None:
    """One of 63 variables may have parents: half a million sets of four grow from those of three."""
    n = 63
    forbidden = np.ones((n, n), dtype=bool)
    forbidden[1:, 0] = False
    for seconds in (np.inf, 0.0):
        states, unknown = np.ones(n), np.full(n, np.inf)
        sets = _core.ParentSets(
            4, forbidden, np.zeros((n, n), bool), states, 9.0, unknown, np.zeros(0), -1.0, 10**7, 0.0
        )
        while sets.n_parents < 3:
            assert sets.tell(np.zeros(len(sets.wanted()[0])), np.zeros(0), np.inf)
        assert sets.tell(np.zeros(len(sets.wanted()[0])), np.zeros(0), seconds) == (seconds > 0)
        assert sets.bound == np.inf  # nothing is known of the score


def test_a_search_that_was_stopped_says_how_far_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    table = fn.datasets.load("alarm").sample(5000, seed=1)
    progress = time_over_after(0, monkeypatch)
    found = fn.learn.structure(table, search="exact", max_seconds=1e6, progress=progress)
    assert found.bound is not None
    assert found.gap is not None
    assert found.bound >= found.score
    assert found.gap == found.bound - found.score > 0
    assert f"within {found.gap:,.2f} nats of the best" in repr(found)


def test_other_searches_know_of_no_bound() -> None:
    found = fn.learn.structure(fn.datasets.load("asia").sample(200, seed=1), search="tabu")
    assert (found.bound, found.gap, found.proof) == (None, None, "")
    assert not math.isnan(found.score)
