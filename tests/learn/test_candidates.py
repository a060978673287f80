"""Searching among the most dependent pairs only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.learn import hill_climb
from fishernet.learn.hill_climb import strongest
from tests.learn.scoring import local_score
from tests.tables import random_table


@given(st.integers(1, 7), st.integers(1, 8), st.integers(0, 10_000))
def test_the_strongest_of_a_row_are_the_first_of_the_highest(n: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gains = rng.integers(-3, 4, size=(n, n)).astype(float)
    gains[rng.random((n, n)) < 0.3] = -np.inf
    for row, chosen in zip(gains.tolist(), strongest(gains, most), strict=True):
        ranked = sorted((-gain, place) for place, gain in enumerate(row) if gain > -np.inf)
        assert np.flatnonzero(chosen).tolist() == sorted(place for _, place in ranked[:most])


def kept_pairs(table: fn.Table, most: int) -> set[tuple[str, str]]:
    """The pairs by definition: each variable's highest gains of an arc, both ways."""
    local, names = local_score(table), table.names
    pairs = set()
    for v in range(len(names)):
        others = [u for u in range(len(names)) if u != v]
        gains = {u: local(max(u, v), (min(u, v),)) - local(max(u, v), ()) for u in others}
        for u in sorted(others, key=lambda u: -gains[u])[:most]:
            pairs |= {(names[v], names[u]), (names[u], names[v])}
    return pairs


@pytest.mark.parametrize("search", ["hill-climb", "order"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_it_is_the_search_with_all_other_arcs_forbidden(search: Any, most: int) -> None:
    table = random_table(most, 400, [2, 3, 2, 4, 2, 3, 2], dependence=0.5)
    kept = kept_pairs(table, most)
    forbidden = [(a, b) for a in table.names for b in table.names if a != b and (a, b) not in kept]
    found = fn.learn.structure(table, search=search, candidates=most)
    assert set(found.dag.edges) <= kept
    expected = fn.learn.structure(table, search=search, forbidden=forbidden)
    assert (found.dag, found.score, found.steps) == (expected.dag, expected.score, expected.steps)


def test_with_enough_candidates_nothing_is_forbidden() -> None:
    table = random_table(3, 400, [2, 3, 2, 4, 2], dependence=0.5)
    free = fn.learn.structure(table)
    for most in (4, 5, 100):
        assert fn.learn.structure(table, candidates=most).steps == free.steps


def test_required_arcs_and_the_start_are_candidates() -> None:
    rng = np.random.default_rng(1)
    copied = rng.integers(0, 2, 300)
    table = fn.Table.from_codes(np.stack([copied, copied, *rng.integers(0, 2, (2, 300))], axis=1))
    assert fn.learn.dag(table, candidates=1, required=[("v3", "v0")]).edges == (("v3", "v0"), ("v0", "v1"))
    start = fn.Dag.from_edges(table.names, [("v2", "v0")])
    found = fn.learn.structure(table, candidates=1, start=start)
    assert found.dag.edges == (("v0", "v1"),)
    assert "remove" in [step.kind for step in found.steps]


def test_forbidden_pairs_take_nobodys_place() -> None:
    rng = np.random.default_rng(1)
    v0 = rng.integers(0, 2, 500)
    noisy = np.where(rng.random(500) < 0.2, 1 - v0, v0)
    table = fn.Table.from_codes(np.stack([v0, v0, noisy], axis=1))
    apart = [("v0", "v1"), ("v1", "v0"), ("v1", "v2"), ("v2", "v1")]
    assert fn.learn.dag(table, candidates=1, forbidden=apart).edges == (("v0", "v2"),)


def test_many_variables_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(2, 100, [2] * 30, dependence=0.8)
    whole = fn.learn.structure(table, candidates=3)
    monkeypatch.setattr(hill_climb, "PAIRS_AT_ONCE", 40)
    assert fn.learn.structure(table, candidates=3).steps == whole.steps


def test_candidates_of_labels_and_numbers_are_scored_by_the_arc_that_may_be() -> None:
    """No arc runs from a number to labels, in whichever order the columns come."""
    rng = np.random.default_rng(3)
    size = rng.integers(3, size=400)
    frame = {
        "x": size + rng.normal(0, 0.3, 400),
        "size": size.astype(str),
        "y": rng.normal(size=400),
        "z": list("ab" * 200),
    }
    for names in (list(frame), list(frame)[::-1]):
        found = fn.learn.dag({name: frame[name] for name in names}, candidates=1, search="hill-climb")
        assert found.edges == (("size", "x"),)


def test_a_column_of_one_label_beside_numbers_is_nobodys_candidate() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=60)
    frame = {"x": x, "same": ["a"] * 60, "y": x + rng.normal(size=60), "same too": ["b"] * 60}
    assert set(fn.learn.structure(frame, candidates=1).dag.edges) in ({("x", "y")}, {("y", "x")})
    assert fn.learn.structure({"x": x, "same": ["a"] * 60}, candidates=1).dag.n_edges == 0


def test_very_many_columns_of_labels_and_numbers_have_candidates_by_default() -> None:
    rng = np.random.default_rng(4)
    frame = {f"x{v}": rng.normal(size=40) if v % 2 else rng.choice(["a", "b"], 40) for v in range(402)}
    found, asked = (fn.learn.structure(frame, search="hill-climb", candidates=most) for most in (None, 20))
    assert (found.dag, found.n_scores) == (asked.dag, asked.n_scores)
    assert found.n_scores < fn.learn.structure(frame, search="hill-climb", candidates=401).n_scores
