"""Whole counts give the same bits wherever they are counted: a source of statistics alone is as good as its table."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.progress import Watch
from fishernet.data import Source
from fishernet.learn.exact import TableRun
from fishernet.learn.missing.incomplete import AvailableCases
from fishernet.learn.rules import Rules
from fishernet.scores import Bic, Families, LocalScores, local_scores, named_score
from fishernet.scores.local import n_sets, subset_terms
from tests.reference.scoring import OTHERS, PENALIZED
from tests.sources import Blocks
from tests.tables import random_table

NAMES = [*PENALIZED, *OTHERS]


def in_parts(table: fn.Table, n_parts: int, seed: int = 0) -> Blocks:
    """Return the source of stretches of a table's rows, some of which may be empty."""
    cuts = sorted(np.random.default_rng(seed).integers(0, table.n_rows + 1, n_parts - 1).tolist())
    return Blocks(*[table[a:b] for a, b in itertools.pairwise([0, *cuts, table.n_rows])])


def all_families(n: int, most_parents: int) -> Families:
    return Families.from_pairs(
        (child, parents)
        for child in range(n)
        for size in range(min(n - 1, most_parents) + 1)
        for parents in itertools.combinations([v for v in range(n) if v != child], size)
    )


def weighing(table: fn.Table, factor: int) -> fn.Table:
    """Return a table whose rows weigh so many times as much."""
    assert table.weights is not None
    return fn.Table(table.variables, table.codes, weights=table.weights * factor, n_rows=table.n_rows)


@st.composite
def many_kinds(draw: st.DrawFn, *, most_variables: int = 5, most_states: int = 40) -> fn.Table:
    """Tables of columns narrow and wide, with more cells than 8 a row or fewer, weights none, small or large."""
    states = st.sampled_from([r for r in (1, 2, 2, 3, 4, 5, 33, 40) if r <= most_states])
    cardinalities = draw(st.lists(states, min_size=1, max_size=most_variables))
    weight = draw(st.sampled_from([0, 1, 50, 10**6]))
    table = random_table(draw(st.integers(0, 2**32)), draw(st.integers(0, 150)), cardinalities, weighted=weight > 0)
    return table if table.weights is None else weighing(table, weight)


@given(many_kinds(), st.sampled_from(NAMES), st.sampled_from([1, 2, 7]))
def test_families_have_the_bits_of_the_table(table: fn.Table, name: str, n_parts: int) -> None:
    families, score = all_families(len(table.variables), 3), named_score(name)
    expected = local_scores(table, families, score)
    assert local_scores(in_parts(table, n_parts), families, score).tolist() == expected.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_counts_that_the_core_holds_no_table_of(name: str) -> None:
    """100,000 rows of one cell, and sets of more than 2 ** 53 cells, whose order must not tell."""
    large = weighing(random_table(3, 40, [1, 2, 3], weighted=True), 12_345)
    wide = random_table(1, 60, [38, 37, 33, 39, 36, 40, 35, 33, 37, 2, 3])
    one = Families.from_pairs([(9, range(9)), (0, [*range(1, 9), 10]), (4, [*range(4), *range(5, 11)]), (10, range(9))])
    for table, families in ((large, all_families(3, 2)), (wide, one)):
        score = named_score(name)
        expected = local_scores(table, families, score).tolist()
        assert local_scores(in_parts(table, 2), families, score).tolist() == expected
        alone = [float(local_scores(table, families[f : f + 1], score)[0]) for f in range(len(families))]
        assert alone == expected


@settings(max_examples=25)
@given(many_kinds(most_states=5), st.sampled_from(NAMES), st.sampled_from([1, 2, 7]))
def test_every_search_finds_the_same_graph_with_the_same_score(table: fn.Table, name: Any, n_parts: int) -> None:
    remote = in_parts(table, n_parts)
    for search in ("hill-climb", "tabu", "order", "exact"):
        options: dict[str, Any] = {"search": search, "score": name}
        if search == "order":
            options.update(seed=1, restarts=2)
        near, far = fn.learn.structure(table, **options), fn.learn.structure(remote, **options)
        assert far.dag == near.dag
        assert far.score == near.score
        assert far.steps == near.steps


def best_of_tables(source: Source, name: str) -> float:
    """Return the score of the best network as the exact search's own tables have it."""
    states = [variable.cardinality for variable in source.variables]
    rules = Rules.of([variable.name for variable in source.variables], states=states)
    search = TableRun(LocalScores(source, named_score(name)), rules, Watch())._search()
    assert search is not None
    while not search.finished:
        search.advance()
    return search.score


@settings(max_examples=40)
@given(many_kinds(), st.sampled_from(NAMES), st.sampled_from([1, 2, 7]))
def test_terms_of_all_sets_have_the_bits_of_the_core(table: fn.Table, name: str, n_parts: int) -> None:
    assert best_of_tables(in_parts(table, n_parts), name) == best_of_tables(table, name)


@pytest.mark.parametrize("name", NAMES)
def test_sets_that_lack_rows_are_scored_by_what_they_have(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Available cases: whole counts, but not of all rows, and so not for the core; alone or among others."""
    monkeypatch.setattr("fishernet.scores.local.SETS_AT_ONCE", 3)
    whole = random_table(8, 300, [3, 2, 4])
    codes = np.stack(whole.codes, axis=1)
    codes[::7, 2] = 4  # the last variable is missing now and then
    holes = fn.Table.from_codes(codes, whole.variables)
    cases, score, families = AvailableCases(holes), named_score(name), all_families(3, 2)
    complete = holes[np.asarray(codes[:, 2] != 4)]
    expected = [
        local_scores(complete if 2 in (child, *parents) else whole, Families.from_pairs([(child, parents)]), score)[0]
        for child, parents in families
    ]
    np.testing.assert_allclose(local_scores(cases, families, score), expected, rtol=1e-12)

    terms = subset_terms(cases, score, most=3, after_part=lambda n: n <= n_sets(3, 3))
    assert terms is not None
    assert terms.marginals.shape == (3, 8)  # the children's own g, which knows the price
    for child, parents in families:
        joint, marginal = cases.statistics([tuple(sorted((*parents, child))), parents])
        expected_one = score.joint(joint) - score.marginal(marginal, whole.variables[child].cardinality)
        mask = sum(1 << p for p in parents)
        found = terms.joint[mask | 1 << child] - terms.marginals[terms.kind_of_child[child], mask]
        assert terms.prices[child] == 0
        assert found == pytest.approx(expected_one, rel=1e-12)


def test_one_walk_asks_for_every_set_once() -> None:
    remote = in_parts(random_table(2, 90, [2, 3, 4, 2]), 2)
    asked: list[int] = []

    def after_part(n: int) -> bool:
        asked.append(n)
        return True

    assert subset_terms(remote, Bic(), most=3, after_part=after_part) is not None
    assert sum(asked) == n_sets(4, 3) == 15
    assert subset_terms(remote, Bic(), most=3, after_part=lambda n: n < 0) is None
