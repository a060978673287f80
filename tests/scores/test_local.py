"""Local scores: both routes against the definition, and what makes ties exact."""

from __future__ import annotations

import itertools
import random
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet import _core
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.scores import Bic, Families, LocalScores, Score, local_scores, named_score
from tests.processes import printed
from tests.reference.scoring import OTHERS, PENALIZED, family_score
from tests.sources import Blocks
from tests.tables import random_table, tables

NAMES = [*PENALIZED, *OTHERS]


def all_families(n: int, most_parents: int = 4) -> list[tuple[int, tuple[int, ...]]]:
    return [
        (child, parents)
        for child in range(n)
        for size in range(min(n - 1, most_parents) + 1)
        for parents in itertools.combinations([v for v in range(n) if v != child], size)
    ]


def assert_routes_agree(table: fn.Table, families: Families, score: Score) -> None:
    """In the core, and by statistics of the source's."""
    by_core, by_protocol = (local_scores(source, families, score) for source in (table, Blocks(table)))
    np.testing.assert_allclose(by_core, by_protocol, rtol=1e-12, atol=1e-8)


@given(tables(), st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_both_routes_equal_the_definition(table: fn.Table, name: str, order: random.Random) -> None:
    pairs = all_families(len(table.variables))
    order.shuffle(pairs)
    families = Families.from_pairs(pairs)
    by_core = local_scores(table, families, named_score(name))
    by_protocol = local_scores(Blocks(table), families, named_score(name))
    expected = [family_score(table, child, parents, name) for child, parents in pairs]
    np.testing.assert_allclose(by_core, expected, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(by_protocol, expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("name", ["bic", "bdeu", "fnml"])
@pytest.mark.parametrize("n_rows", [1, 2, 63, 64, 65, 511, 512, 513, 8192, 8193, 57344, 57345, 70_001])
def test_borders_of_blocks_and_chunks(n_rows: int, name: str) -> None:
    table = random_table(n_rows, n_rows, [2, 3, 4, 2, 26, 1])
    families = Families.from_pairs(all_families(6, 3))
    assert_routes_agree(table, families, named_score(name))


@pytest.mark.parametrize("n_rows", [500, 60_000])
def test_more_lanes_than_a_few_groups(n_rows: int) -> None:
    table = random_table(n_rows, n_rows, [30, 2, 32, 31, 5, 29, 3, 30, 20])
    families = Families.from_pairs([pair for pair in all_families(9, 2) if pair[0] in (0, 1, 4, 8)])
    assert_routes_agree(table, families, Bic())


@pytest.mark.parametrize("name", NAMES)
def test_wide_columns_and_very_large_families(name: str) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, [300, 40, 33, 32, 90, 7], size=(3000, 6))
    table = fn.Table.from_codes(codes, [fn.Variable(f"v{i}", range(r)) for i, r in enumerate([300, 40, 33, 32, 90, 7])])
    families = Families.from_pairs(all_families(6, 5))
    assert_routes_agree(table, families, named_score(name))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_of_two_columns_that_are_more_than_a_table_holds(name: str, weighted: bool) -> None:
    """1,500 times 1,200 states, of which 60 rows have few; and rows that are more than the states."""
    rng = np.random.default_rng(4)
    variables = [fn.Variable(f"v{i}", range(r)) for i, r in enumerate([1500, 1200, 40, 3])]
    for n_rows in (1, 60, 6000):
        codes = np.column_stack([rng.integers(0, min(v.cardinality, 30), n_rows) for v in variables])
        table = fn.Table.from_codes(codes, variables)
        if weighted:
            table = fn.Table(variables, table.codes, weights=rng.integers(0, 4, n_rows))
        assert_routes_agree(table, Families.from_pairs(all_families(4, 3)), named_score(name))


@given(tables(), st.sampled_from(NAMES))
def test_how_a_set_was_counted_leaves_no_trace(table: fn.Table, name: str) -> None:
    """One family at a time, all at once, backwards, on reordered rows: the same bits."""
    pairs = all_families(len(table.variables))
    score = named_score(name)
    together = local_scores(table, Families.from_pairs(pairs), score)
    alone = [local_scores(table, Families.from_pairs([pair]), score)[0] for pair in pairs]
    backwards = local_scores(table, Families.from_pairs(pairs[::-1]), score)[::-1]
    turned = local_scores(table[::-1], Families.from_pairs(pairs), score)
    assert together.tolist() == alone == backwards.tolist() == turned.tolist()


@given(tables(), st.sampled_from([("bdeu", "ess"), ("bdq", "alpha")]), st.floats(1e-9, 1e6))
def test_priors_weak_and_strong(table: fn.Table, named: tuple[str, str], strength: float) -> None:
    name, option = named
    own: dict[str, Any] = {option: strength}
    pairs = all_families(len(table.variables), 2)
    found = local_scores(table, Families.from_pairs(pairs), named_score(name, **own))
    expected = [family_score(table, child, parents, name, **own) for child, parents in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_more_configurations_than_a_double_counts(name: str) -> None:
    """Of a set with 2^1199 cells every score but the penalized ones has a value, in both routes the same."""
    rows = np.random.default_rng(3).integers(0, 2, size=(40, 1200))
    table = fn.Table.from_codes(rows, [fn.Variable(f"v{i}", (0, 1)) for i in range(1200)])
    families = Families.from_pairs([(0, range(1, 1200)), (1, (0,))])
    by_core = local_scores(table, families, named_score(name))
    by_protocol = local_scores(Blocks(table), families, named_score(name))
    np.testing.assert_allclose(by_core, by_protocol, rtol=1e-10)
    assert np.isfinite(by_core[0]) == (name in ("loglik", *OTHERS))


def test_each_family_is_scored_once() -> None:
    remote = Blocks(random_table(0, 50, [2, 3, 2]))
    scores = LocalScores(remote, Bic())
    families = Families.from_pairs([(0, (1,)), (1, (0, 2)), (0, (1,))])
    first = scores(families)
    assert scores.n_distinct == 2
    assert remote.asked == 1
    assert scores(families).tolist() == first.tolist()
    assert remote.asked == 1


def test_a_family_that_is_asked_for_twice_at_once_has_one_score() -> None:
    cache = _core.FamilyCache()
    flat = np.array([0, 0], np.int32), np.array([0, 1, 2]), np.array([1, 1], np.int32)
    assert cache.look_up(*flat)[1].tolist() == [0, 1]
    assert cache.store(*flat, np.array([1.0, 1.0 + 1e-15])).tolist() == [1.0, 1.0]
    scores, unknown = cache.look_up(*flat)
    assert scores.tolist() == [1.0, 1.0]
    assert len(unknown) == 0


def test_bic_is_mdl_turned_over() -> None:
    """Takabatake and Akaho (2021), Eq. 21 to 23: cost = sum_i H(X_i | Y_i) + k_i log N / (2 N)."""
    table = fn.Table.from_codes([[0, 0], [0, 1], [1, 1], [1, 1]])
    dag = fn.Dag.from_edges(["v0", "v1"], [("v0", "v1")])
    cost = np.log(2) + 0.5 * np.log(2) + (1 + 2) / 8 * np.log(4)
    assert -fn.score(dag, table, "mdl") / 4 == pytest.approx(cost, rel=1e-13)


def test_scores_match_variables_by_name() -> None:
    table = random_table(0, 100, [2, 3, 4])
    turned = table.select(["v2", "v0", "v1"])
    dag = fn.Dag.from_edges(["v0", "v1", "v2"], [("v0", "v2"), ("v1", "v2")])
    assert fn.score(dag, table) == fn.score(dag, turned)
    assert fn.local_score(turned, "v2", ["v1", "v0"]) == fn.local_score(table, "v2", ["v0", "v1"])


def test_bad_names_and_options() -> None:
    table = random_table(0, 10, [2, 3])
    with pytest.raises(FishernetError, match=r"unknown score 'bik'; there are 'loglik'"):
        fn.local_score(table, "v0", [], "bik")  # type: ignore[arg-type]
    with pytest.raises(FishernetError, match="neither this function nor the"):
        fn.local_score(table, "v0", [], "bic", ess=1.0)
    with pytest.raises(SchemaError, match="'v0' appears more than once"):
        fn.local_score(table, "v0", ["v0"])
    with pytest.raises(SchemaError, match="no column 'w'"):
        fn.local_score(table, "v0", ["w"])


@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_every_instruction_set_gives_the_same_bits(isa: str) -> None:
    script = (
        "from tests.scores.test_local import *\n"
        "t = random_table(5, 70_001, [2, 3, 26, 4, 2, 5, 40])\n"
        "print(local_scores(t, Families.from_pairs(all_families(7, 3)), Bic()).tolist())\n"
    )
    assert len(printed(script, {}, {"FISHERNET_ISA": isa})) == 1


def test_rows_that_count_several_times_are_as_so_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, and whether they are counted one by one or by their weights."""
    random = np.random.default_rng(3)
    codes = random.integers(0, 3, size=(200, 4))
    weights = random.integers(0, 6, size=200)
    weighted = fn.Table.from_codes(codes, weights=weights)
    variables = weighted.variables
    written_out = fn.Table.from_codes(np.repeat(codes, weights, axis=0), variables)
    families = Families.from_pairs([(0, []), (1, [0, 2]), (3, [0, 1, 2])])
    for name in ("bic", "fnml", "bdeu"):
        expected = local_scores(written_out, families, named_score(name))
        for most in (8, 0):
            monkeypatch.setattr("fishernet.data.statistics.counting.MOST_REPEATED", most)
            found = local_scores(weighted, families, named_score(name))
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("score", ["bic", "bdeu", "fnml"])
def test_more_rows_than_a_score_can_resolve_are_told(score: Any) -> None:
    """An ulp of N log N at 8e14 is 4 nats; at 1e9 nothing is to be said."""
    table = fn.Table.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], weights=[2 * 10**14] * 4)
    with pytest.warns(fn.errors.FishernetWarning, match=r"weights sum to 8e\+14.*rounded to about 4"):
        fn.score(fn.Dag.from_edges(["v0", "v1"], []), table, score)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = fn.Table.from_codes([[0, 0], [1, 1]], weights=[5 * 10**8] * 2)
        fn.score(fn.Dag.from_edges(["v0", "v1"], []), few, score)


@pytest.mark.parametrize("labels", [0, 3])
def test_searches_are_answered_as_everybody_is(labels: int) -> None:
    """What a search of the core calls for numbers beside labels, and for numbers alone."""
    rng = np.random.default_rng(3)
    frame: dict[str, Any] = {f"x{i}": rng.normal(size=200) * 10.0**i + 5 for i in range(3)}
    frame |= {f"g{i}": rng.choice(list("abcd")[: i + 2], 200) for i in range(labels)}
    table = fn.Table.from_frame(frame)
    pairs = [
        (child, parents)
        for child, parents in all_families(3 + labels)
        if child < 3 or all(parent > 2 for parent in parents)
    ]
    families = Families.from_pairs(pairs)
    for score in (Bic(), named_score("loglik")):
        asked: Any = LocalScores(table, score).for_core()
        found = asked.family_scores(families.children, families.offsets, families.parents)
        np.testing.assert_array_equal(found, local_scores(table, families, score))
        by_statistics = local_scores(Blocks(table), families, score)
        np.testing.assert_allclose(found, by_statistics, rtol=1e-10, atol=1e-8)
