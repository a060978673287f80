"""Exact search against all DAGs, against the literal algorithm, and against every other search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, StateSpaceError
from fishernet.data import Source
from fishernet.learn.exact import TableRun, bytes_needed
from fishernet.scores import SCORES, LocalScores, named_score
from tests.interrupts import interrupt_once_begun
from tests.learn.scoring import by_library, local_score
from tests.processes import printed
from tests.reference.exact import Masks, all_dags, best_by_subsets, best_of_all
from tests.sources import Blocks
from tests.tables import random_table, tables

EVERY = pytest.mark.parametrize("name", sorted(SCORES))
NAMED = {"mdl": "bic"}  # by its other name


def exact(table: fn.Table | Source, name: str, **options: object) -> fn.learn.SearchResult:
    return fn.learn.structure(table, score=name, search="exact", **options)  # type: ignore[arg-type]


def same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-11, abs_tol=1e-8)


# -------------------------------------------------------------------------------------------------------- all graphs


def test_there_are_as_many_dags_as_robinson_counted() -> None:
    assert [len(all_dags(n)) for n in (1, 2, 3, 4, 5)] == [1, 3, 25, 543, 29281]


@EVERY
@pytest.mark.parametrize("seed", range(3))
def test_best_of_543_dags_by_definition(name: Any, seed: int) -> None:
    table = random_table(seed, 120, [2, 3, 2, 4], weighted=seed == 2)
    found = exact(table, name)
    assert same(found.score, best_of_all(4, local_score(table, NAMED.get(name, name))))
    assert found.score == fn.score(found.dag, table, name)


@EVERY
def test_best_of_29281_dags_by_definition(name: str) -> None:
    table = random_table(5, 250, [2, 3, 2, 2, 3])
    assert same(exact(table, name).score, best_of_all(5, local_score(table, NAMED.get(name, name))))


@settings(max_examples=120)
@given(tables(most_variables=5, most_rows=200), st.sampled_from(sorted(SCORES)))
def test_best_of_all_dags(table: fn.Table, name: str) -> None:
    found = exact(table, name)
    assert same(found.score, best_of_all(len(table.variables), by_library(table, name)))
    assert found.finished
    assert found.steps == ()
    constant = sum(variable.cardinality == 1 for variable in table.variables)  # which have no arcs
    n = len(table.variables) - constant
    assert found.n_scores == n * 2 ** max(n - 1, 0) + constant


@pytest.mark.parametrize("name", ["bic", "bdeu", "fnml", "qnml", "k2"])
def test_it_is_the_literal_algorithm(name: str) -> None:
    table = random_table(3, 400, [3, 2, 2, 4, 2, 3, 2, 2], dependence=0.5)
    assert same(exact(table, name).score, best_by_subsets(8, by_library(table, name)))


@pytest.mark.parametrize("seed", range(10))
def test_rules_leave_the_best_of_the_allowed_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(seed, 300, [2, 3, 2, 3, 2])
    pairs = [(a, b) for a in range(5) for b in range(5) if a != b]
    forbidden = {pairs[i] for i in rng.permutation(20)[:6]}
    required = {next((a, b) for a, b in pairs if a < b and (a, b) not in forbidden)}
    most = int(rng.integers(1, 4))

    def allowed(dags: Masks) -> npt.NDArray[np.bool_]:
        sizes = np.array([mask.bit_count() for mask in range(32)])[dags]
        keep: npt.NDArray[np.bool_] = sizes.max(axis=1) <= most
        for a, b in forbidden:
            keep &= dags[:, b] >> a & 1 == 0
        for a, b in required:
            keep &= dags[:, b] >> a & 1 == 1
        return keep

    rules = {
        "max_parents": most,
        "forbidden": [(f"v{a}", f"v{b}") for a, b in sorted(forbidden)],
        "required": [(f"v{a}", f"v{b}") for a, b in sorted(required)],
    }
    for name in ("aic", "fnml"):
        found = exact(table, name, **rules)
        assert same(found.score, best_of_all(5, by_library(table, name), allowed))
        assert {(int(a[1:]), int(b[1:])) for a, b in found.dag.edges} >= required


# --------------------------------------------------------------------------------------------------- odd and large


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["bic", "bdeu", "fnml", "qnml"])
def test_no_climb_is_better(name: Any, seed: int) -> None:
    table = random_table(seed, 300 * (seed + 1), [2, 3, 2, 4, 2, 3, 2, 2, 3, 2, 2, 3, 2], dependence=0.5)
    best = exact(table, name).score
    for start in (None, fn.learn.dag(table, score="aic")):
        assert fn.learn.structure(table, score=name, start=start).score <= best + 1e-7


def test_columns_with_many_states_one_state_and_large_weights() -> None:
    rng = np.random.default_rng(1)
    states = [300, 1, 40, 2, 270]
    codes = rng.integers(0, states, size=(900, 5))
    codes[:, 4] = codes[:, 0] % 270
    variables = [fn.Variable(f"v{i}", range(r)) for i, r in enumerate(states)]
    for weights in (None, rng.integers(0, 3, 900), rng.integers(0, 2**30, 900)):
        table = fn.Table.from_codes(codes, variables, weights=weights)
        names = ("aic", "bdeu", "fnml", "qnml", "k2") if weights is None or weights.max() < 5 else ("aic", "bdeu", "k2")
        for name in names:  # the regret of a billion draws from 300 states takes its time
            found = exact(table, name)
            expected = best_of_all(5, by_library(table, name))
            assert math.isclose(found.score, expected, rel_tol=1e-11, abs_tol=1e-8)


def test_no_rows_one_row_and_one_column() -> None:
    for name in SCORES:
        assert exact(random_table(0, 0, [2, 3, 2]), name).dag.edges == ()
        assert exact(random_table(0, 40, [3]), name).dag.edges == ()
        exact(random_table(0, 1, [2, 3, 2]), name)


def test_the_score_of_asia_is_that_of_its_equivalence_class() -> None:
    network = fn.datasets.load("asia")
    found = exact(network.sample(200_000, seed=2), "bdeu")
    assert fn.shd(found.dag, network.dag) <= 2  # asia -> tub is weak


@EVERY
def test_any_source_and_any_score(name: str) -> None:
    table = random_table(4, 200, [2, 3, 2, 3, 4])
    for rules in ({}, {"max_parents": 1, "forbidden": [("v0", "v1")]}):
        near = exact(table, name, **rules)
        far = exact(Blocks(table), name, **rules)
        assert same(near.score, far.score)
        assert near.dag == far.dag


# ------------------------------------------------------------------------------------------------------------- ties


def test_copies_of_a_column_hang_on_the_first() -> None:
    codes = np.random.default_rng(0).integers(0, 2, 200)
    table = fn.Table.from_codes(np.stack([codes] * 7, axis=1))
    for name in ("bic", "loglik", "qnml"):
        assert set(exact(table, name).dag.edges) == {("v0", f"v{i}") for i in range(1, 7)}


def test_parents_that_add_nothing_are_left_out() -> None:
    assert exact(fn.Table.from_codes(np.zeros((50, 6), dtype=int)), "loglik").dag.edges == ()


def test_the_answer_does_not_depend_on_threads_or_hash_seed() -> None:
    script = (
        "import fishernet as fn\n"
        "t = fn.datasets.load('alarm').sample(3000, seed=5)\n"
        "t = t.select(t.names[:16])\n"
        "for s in ('bic', 'fnml', 'bdeu'):\n"
        "    found = fn.learn.structure(t, score=s, search='exact')\n"
        "    print(found.dag, found.score, found.n_scores)\n"
    )
    settings = {"PYTHONHASHSEED": "7"}, {"FISHERNET_THREADS": "1"}, {"FISHERNET_THREADS": "3"}
    assert len(printed(script, *settings)) == 1


# ------------------------------------------------------------------------------------------- limits, stopping, progress


def wide(n: int, n_rows: int = 50) -> fn.Table:
    return random_table(0, n_rows, [2] * n)


@pytest.mark.parametrize("n", [64, 300])
def test_too_many_variables_are_refused_before_anything_is_taken(n: int) -> None:
    with pytest.raises(StateSpaceError, match=r"over \d+ variables.*max_memory allows 8.59 GB") as refused:
        exact(wide(n), "bic")
    assert refused.value.limit == 2**30
    assert refused.value.cells > refused.value.limit


def test_too_many_parent_sets_are_refused_before_any_is_scored() -> None:
    with pytest.raises(StateSpaceError, match="parent sets of an exact search over 37.*fewer parents") as refused:
        exact(wide(37), "bdeu")
    assert refused.value.cells == 37 * 2**36
    assert exact(wide(30), "bdeu", max_parents=2).finished


def test_a_limit_of_ones_own() -> None:
    table = wide(10)
    need = bytes_needed(LocalScores(table, named_score("k2")))
    assert exact(table, "k2", max_memory=need).n_scores == 5120
    with pytest.raises(StateSpaceError, match="parent sets of an exact search over 10 variables"):
        exact(table, "k2", max_memory=need - 1)
    with pytest.raises(StateSpaceError, match="parent sets of an exact search over 10 variables"):
        exact(table, "aic", max_memory=2000)
    with pytest.raises(FishernetError, match="max_memory must be a positive number"):
        exact(table, "bic", max_memory=0)


def test_progress_tells_the_share_of_the_work() -> None:
    calls: list[tuple[str, int, int | None]] = []
    exact(random_table(0, 2000, [3] * 15), "fnml", progress=lambda *call: calls.append(call))
    assert {what for what, _, _ in calls} == {"exact search"}
    assert calls[-1][1] == calls[-1][2]
    done = [done for _, done, _ in calls]
    assert done == sorted(done)
    assert len({total for _, _, total in calls}) == 1


def test_without_time_the_best_of_the_other_searches_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of these variables a climb finds a worse graph than a tabu search does."""
    network = fn.datasets.load("alarm")
    table = network.sample(2000, seed=1).select(network.dag.names[-20:])
    others = {search: fn.learn.structure(table, search=search).score for search in ("hill-climb", "tabu", "order")}
    assert others["hill-climb"] < others["tabu"] - 1
    monkeypatch.setattr(TableRun, "parents", lambda self: None)  # the time is over
    short = exact(table, "bic", max_seconds=3600)
    assert not short.finished
    assert short.score == pytest.approx(max(others.values()))
    assert short.score == pytest.approx(fn.score(short.dag, table))


def test_control_c_says_how_far_it_was() -> None:
    table = random_table(2, 10_000, [4] * 20)
    with (
        pytest.raises(KeyboardInterrupt, match=r"\d+% of the exact search was done") as stopped,
        interrupt_once_begun() as progress,
    ):
        exact(table, "fnml", progress=progress)
    assert isinstance(stopped.value.best, fn.Dag)  # type: ignore[attr-defined]
    assert exact(table[:100].select(table.names[:5]), "bic").finished  # the library is as good as before


def test_the_usual_search_proves_its_graph_where_that_is_cheap() -> None:
    table = fn.datasets.load("asia").sample(300, seed=1)
    found = fn.learn.structure(table)
    assert found.gap == 0
    assert found.proof == "proven best"
    assert found.score == pytest.approx(fn.learn.structure(table, search="exact").score, abs=1e-6)
    assert fn.learn.structure(table, restarts=0).bound is None  # an option of the search asks for the search alone
    assert fn.learn.structure(table, candidates=2).bound is None


def test_what_the_usual_search_misses_is_found_where_that_is_cheap() -> None:
    """Columns that are functions of several others are parents that help only together."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (400, 4))
    columns = [*bits.T, bits.sum(axis=1) % 2, (bits[:, 0] ^ bits[:, 1] ^ bits[:, 2]), bits @ [1, 2, 4, 0]]
    table = fn.Table.from_frame(
        {f"v{v}": column for v, column in enumerate(columns)}, categorical=[f"v{v}" for v in range(7)]
    )
    found = fn.learn.structure(table, score="bic")
    best = fn.learn.structure(table, score="bic", search="exact")
    assert found.score == pytest.approx(best.score, abs=1e-6)
    start = fn.score(fn.Dag(table.names, [()] * 7), table, "bic")
    assert found.score == pytest.approx(start + sum(step.gain for step in found.steps), abs=1e-6)


def test_many_columns_are_proven_where_few_sets_of_parents_may_be_best() -> None:
    """Twenty-three columns have more subsets than tables are filled of; what is found is what the sparse way finds."""
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2, (80, 21))
    bits[:, 1:11] = np.where(rng.random((80, 10)) < 0.1, bits[:, 1:11], bits[:, :10])  # a chain, and columns alone
    columns = [*bits.T, bits[:, 12] ^ bits[:, 14] ^ bits[:, 16], bits[:, 13]]  # parents that help only together
    table = fn.Table.from_frame(
        {f"v{v}": column for v, column in enumerate(columns)}, categorical=[f"v{v}" for v in range(23)]
    )
    found = fn.learn.structure(table, score="bic")
    best = fn.learn.structure(table, score="bic", search="exact", max_memory=2.0**26)
    assert best.gap == found.gap == 0
    assert found.score == pytest.approx(best.score, abs=1e-6)
    assert fn.learn.structure(table, score="bdeu").bound is None  # whose sets nothing bounds


def test_a_proof_that_takes_long_is_left() -> None:
    table = fn.datasets.load("alarm").sample(5000, seed=1)
    assert fn.learn.structure(table, score="bic").bound is None


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_sets_of_parents_that_were_looked_at_make_graphs_better_without_a_proof(score: Any) -> None:
    """Each of six columns is the exclusive or of three others, of which any two say nothing of it."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2, (150, 24))
    bits[:, 12:18] = bits[:, :6] ^ bits[:, 3:9] ^ bits[:, 6:12]
    table = fn.Table.from_codes(bits)
    found = fn.learn.structure(table, score=score)
    truth = fn.Dag(table.names, [[v - 12, v - 9, v - 6] if 12 <= v < 18 else [] for v in range(24)])
    assert found.bound is None
    assert found.score > fn.score(truth, table, score) - 1e-6
    assert found.score == pytest.approx(fn.score(found.dag, table, score), abs=1e-6)
    assert found.score > fn.learn.structure(table, score=score, search=fn.learn.Order()).score + 100
