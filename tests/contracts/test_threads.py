"""Every class of the core may be used by several threads at once: the interpreter's lock is released while it works."""

from __future__ import annotations

import inspect
import itertools
import math
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import fishernet as fn
from fishernet import _core
from tests.tables import random_table

N_THREADS = 6
ROUNDS = 20
NONE = np.zeros(0, dtype=np.int32)


def i32(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def i64(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def at_once(ask: Callable[[], Any]) -> list[Any]:
    """Return what each of some threads gets that begin together."""
    answers: list[Any] = [None] * N_THREADS
    go = threading.Barrier(N_THREADS)

    def work(place: int) -> None:
        go.wait()
        try:
            answers[place] = ask()
        except Exception as error:
            answers[place] = error

    threads = [threading.Thread(target=work, args=(place,)) for place in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


def flat(answer: Any) -> list[bytes]:
    """Return what an answer consists of, to the last bit."""
    if isinstance(answer, (list, tuple)):
        return [part for item in answer for part in flat(item)]
    return [np.asarray(answer).tobytes()]


# ------------------------------------------------------------------------------------------- questions to an object

TABLE = random_table(3, 3000, [2, 3, 4, 2, 3])
STATES = np.array(TABLE.cardinalities, dtype=np.int64)
NET = fn.datasets.load("asia")
SQUARE = np.zeros((5, 5), dtype=bool)
SIZES = STATES.astype(np.float64)
FAMILIES = (i32(0, 1, 2, 3, 4), i64(0, 1, 1, 3, 4, 4), i32(1, 0, 1, 2))
CHAIN = random_table(5, 60, [4, 4]).codes
STRINGS = (np.tile(i32(0, 1, 1, 0), 60), np.arange(0, 241, 24, dtype=np.int64))


def columns() -> Any:
    return _core.Columns(list(TABLE.codes), STATES, TABLE.n_rows)


def factors() -> Any:
    made = _core.Factors(np.array([v.cardinality for v in NET.variables], dtype=np.int64))
    for conditional in NET.conditionals:
        made.add(i32(*conditional.parents, conditional.child), conditional.table().reshape(-1), True)
    return made


def inference() -> Any:
    return _core.Inference(factors(), [0], [], [[v] for v in range(1, 8)], False, 1e9)


def ask_inference(plan: Any) -> Any:
    return plan.run(np.zeros(8, dtype=np.int32), [])


def whole() -> Any:
    return _core.Inference(factors(), [0], [], [], True, 1e9)


def ask_whole(plan: Any) -> Any:
    states = np.zeros(8, dtype=np.int32)
    return plan.maximize(states, []), plan.sample(states, [], 5000, 7)


def rows_plan() -> Any:
    return _core.Inference(factors(), list(range(1, 8)), [], [[0]], False, 1e9)


def family_plan() -> Any:
    return _core.FamilyPlan(factors(), [0], [], "elimination", 1e9)


def conditionals() -> Any:
    made = _core.Conditionals(STATES)
    for child in range(4):
        made.add(child, i32(child + 1), int(STATES[child + 1]))
    return made


def ask_conditionals(made: Any) -> Any:
    values = [np.full((int(STATES[v + 1]), int(STATES[v])), 0.5) for v in range(4)]
    table = TABLE.native
    cells = made.cells(table)
    return made.look_up(table, values, True), made.groups(table, 1), cells.counts(None)


def cells() -> Any:
    return conditionals().cells(TABLE.native)


def ask_cells(made: Any) -> Any:
    values = np.linspace(0.0, 1.0, made.n_cells)
    return made.counts(None), _core.gram(made, made, values, values)[:50]


def sampler() -> Any:
    made = _core.GibbsSampler(i64(2, 2))
    for _ in range(2):
        made.add_table(NONE, np.array([[0.25, 0.75]]))
    return made


def ask_sampler(made: Any) -> Any:
    return made.sample(i32(0, 1), True, np.zeros(0), np.zeros((4, 2), dtype=np.int32), 4000, 10, 1, 5)


def terms() -> Any:
    return _core.SetTerms(columns(), "bdeu", 1.0)


def cell_sums() -> Any:
    return _core.CellSums(STATES, "bdeu", 1.0, TABLE.n_rows)


def ask_cell_sums(made: Any) -> Any:
    offsets, members = i64(0, 2, 3, 6, 8, 9), i32(0, 1, 1, 0, 1, 2, 2, 3, 4)  # the families' sets
    counts = [counts for counts, _, _ in _core.count(columns(), offsets, members, 1000)]
    nowhere = [None] * 5
    of_sets = made.set_terms(offsets, members, counts, nowhere, i64(2, 3))
    return made.family_scores(*FAMILIES, i64(0, 1, 2, 3, 4), counts, nowhere), of_sets


def tree_model() -> Any:
    table = np.array([[[0.9, 0.1], [0.2, 0.8]]])
    return _core.TreeModel(
        i64(0, 2), i32(~0, ~1), i32(0, 0), np.ones((1, 2), np.uint8), np.array([0.5, 0.5]), table, table
    )


def ask_tree_model(made: Any) -> Any:
    codes = np.ascontiguousarray(np.stack(CHAIN, axis=1) % 2, dtype=np.int32)
    return made.log_prob(codes), made.gram(codes, None, 1.0, 0.0, True), made.posteriors(codes)


def string_model() -> Any:
    one = np.ones(1)
    return _core.StringModel(
        emission=np.array([[0.5, 0.3]]), empty=one * 0.2, initial=one, end=one, nothing=1.0,
        group_starts=i64(0, 1), starts=i64(0, 1), from_=i32(0), weights=one,
    )  # fmt: skip


def ask_string_model(made: Any) -> Any:
    codes, offsets = STRINGS
    x = np.repeat(np.arange(10), 10)
    y = np.tile(np.arange(10), 10)
    block = np.ascontiguousarray(codes.reshape(10, -1))
    pairs = made.pairs(x_codes=codes, x_offsets=offsets, y_codes=codes, y_offsets=offsets, x_of=x, y_of=y)
    return pairs, made.equal_lengths(block, block, True), made.diagonal(block)


def hidden_markov() -> Any:
    moves = np.array([[0.9, 0.1], [0.2, 0.8]])
    return _core.HiddenMarkov(np.array([0.5, 0.5]), moves, moves.copy(), None, None, 1.0)


def ask_hidden_markov(made: Any) -> Any:
    return made.log_prob(*STRINGS), made.derivatives(*STRINGS, 3, True), made.posterior(*STRINGS)


def knn() -> Any:
    x = np.random.default_rng(1).normal(size=(3, 1, 200))
    return _core.KnnInformation(x[0], x[1], x[2], 3)


def ask_knn(made: Any) -> Any:
    return made.estimate(np.arange(200, dtype=np.int32)[None])


def cache() -> Any:
    made = _core.FamilyCache()
    made.store(*FAMILIES, np.arange(5.0))
    return made


def ask_cache(made: Any) -> Any:
    made.store(*FAMILIES, np.arange(5.0))
    return made.look_up(*FAMILIES)


class Question(NamedTuple):
    """How an object is made, and what is asked of it."""

    make: Callable[[], Any]
    ask: Callable[[Any], Any]


def mixed_model() -> _core.MixedModel:
    """A label, and a number with a regression in each of its two states."""
    regressions = np.array([[0.0, 1.0], [2.0, 0.5]])  # intercept and standard deviation
    given: list[Any] = [(False, [0], [], np.log([0.3, 0.7])), (True, [0], [], regressions.reshape(-1))]
    return _core.MixedModel(np.array([2, 1]), given)


def ask_mixed_model(made: _core.MixedModel) -> Any:
    cells = np.random.default_rng(1).normal(size=(500, 2))
    return _core.MixedGap(made, [0], [0, 1], []).joint(made, cells, np.arange(500), [0])


def ask_mixed_gap(made: _core.MixedGap) -> Any:
    cells, rows = np.random.default_rng(1).normal(size=(500, 2)), np.arange(500)
    return made.joint(mixed_model(), cells, rows, [0]), made.joint(mixed_model(), cells, rows, [])


def incomplete_rows() -> _core.IncompleteRows:
    """A label with two states and two numbers, each of which lacks some cells."""
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 3, 500).astype(np.uint8), *(rng.random((2, 500)) < 0.1).astype(np.uint8)]
    table = _core.Columns(codes, np.array([2, 1, 1]), 500, None)
    return _core.IncompleteRows(table, i32(-1, 0, 1), rng.normal(size=(2, 500)), None, np.zeros(3))


def ask_incomplete_rows(made: _core.IncompleteRows) -> Any:
    return made.told_by_parents(i32(1, 2), i64(0, 1, 3), i32(0, 0, 1))


def labelled_numbers() -> _core.LabelledNumbers:
    """Two numbers beside the labels of a table."""
    return _core.LabelledNumbers(columns(), i32(3, 4), np.random.default_rng(1).normal(size=(TABLE.n_rows, 2)), None)


def label_moments() -> _core.LabelMoments:
    """Two numbers in two configurations of a label."""
    states, weights = np.array([[0], [1]], np.uint32), np.array([9.0, 9.0])
    return _core.LabelMoments(
        i32(0), i32(3, 4), np.array([2], np.uint32), states, weights, np.ones((2, 2)), np.ones((2, 3))
    )


def ask_label_moments(made: _core.LabelMoments) -> Any:
    return _core.mixed_family_likelihoods([made], i32(0, 0), np.zeros(5), i32(3, 4), i64(0, 1, 1), i32(4))


def moment_store(source: Any = None) -> _core.MomentStore:
    """The moments of the same numbers, which are counted in rows as they are asked for."""
    return _core.MomentStore(STATES, i32(3, 4), float(TABLE.n_rows), source or labelled_numbers())


def mixed_columns() -> _core.MixedColumns:
    """The same numbers beside labels."""
    return _core.MixedColumns(STATES, i32(3, 4), float(TABLE.n_rows), False)


MIXED_FAMILIES = i32(3, 4, 3), i64(0, 2, 4, 6), i32(0, 4, 1, 2, 0, 1)


def mixed_scores(store: Any = None) -> _core.MixedScores:
    return _core.MixedScores(mixed_columns(), store or moment_store(), np.zeros(5), 1.0, 0.0, None)


def ask_mixed_scores(made: _core.MixedScores) -> Any:
    return made.of_numbers(*MIXED_FAMILIES, once=False)


def ask_moment_store(made: _core.MomentStore) -> Any:
    return ask_mixed_scores(mixed_scores(made))


FOREST = np.full(4 + 4 * 2 + 4 * 4, 0.25)  # a root, the first column and another hidden variable


def hidden_forest() -> Any:
    codes = [TABLE.codes[0], *(np.full(TABLE.n_rows, 4, dtype=np.uint8) for _ in range(2))]
    made = _core.Columns(codes, np.array([2, 4, 4], dtype=np.int64), TABLE.n_rows)
    return _core.HiddenForest(made, i32(1, -1, 1), np.array([0, 1, 1], dtype=np.uint8))


QUESTIONS = {
    "LabelMoments": Question(label_moments, ask_label_moments),
    "LabelledNumbers": Question(labelled_numbers, lambda made: ask_moment_store(moment_store(made))),
    "MomentStore": Question(moment_store, ask_moment_store),
    "MixedColumns": Question(mixed_columns, lambda made: made.telling(*MIXED_FAMILIES)),
    "MixedScores": Question(mixed_scores, ask_mixed_scores),
    "IncompleteRows": Question(incomplete_rows, ask_incomplete_rows),
    "MixedModel": Question(mixed_model, ask_mixed_model),
    "MixedGap": Question(lambda: _core.MixedGap(mixed_model(), [0], [0, 1], []), ask_mixed_gap),
    "Columns": Question(columns, lambda made: _core.count(made, i64(0, 2, 4), i32(0, 1, 2, 4), 1000)[0][0]),
    "Factors": Question(factors, lambda made: ask_inference(_core.Inference(made, [0], [], [[1], [2]], False, 1e9))),
    "Inference": Question(inference, ask_inference),
    "Inference, whole": Question(whole, ask_whole),
    "Inference, rows": Question(rows_plan, lambda made: made.run_rows(np.zeros((200, 8), dtype=np.int32))),
    "FamilyPlan": Question(family_plan, lambda made: made.run(np.zeros(8, dtype=np.int32), [])),
    "Conditionals": Question(conditionals, ask_conditionals),
    "Cells": Question(cells, ask_cells),
    "GibbsSampler": Question(sampler, ask_sampler),
    "SetTerms": Question(terms, lambda made: made.family_scores(*FAMILIES)),
    "CellSums": Question(cell_sums, ask_cell_sums),
    "FamilyCache": Question(cache, ask_cache),
    "TreeModel": Question(tree_model, ask_tree_model),
    "StringModel": Question(string_model, ask_string_model),
    "HiddenMarkov": Question(hidden_markov, ask_hidden_markov),
    "KnnInformation": Question(knn, ask_knn),
    "HiddenForest": Question(
        hidden_forest, lambda made: (made.expected(FOREST, None, 0, 3000), made.log_prob(FOREST, 7, 3000))
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_all_threads_get_the_answer(name: str) -> None:
    make, ask = QUESTIONS[name]
    expected = flat(ask(make()))
    for _ in range(ROUNDS):
        made = make()
        for answer in at_once(lambda made=made: ask(made)):  # type: ignore[misc]
            assert flat(answer) == expected


# ----------------------------------------------------------------------------------- objects whose calls change them


def exact_search() -> Any:
    return _core.ExactSearch(columns(), "bdeu", 1.0, 4, SQUARE, SQUARE, SIZES, 2.0**24)


def run_exact(search: Any) -> Any:
    while not search.finished:
        search.advance()
        assert 0 <= search.done <= search.total
    return search.score, search.parents


def fed_sets() -> Any:
    """Sets of parents whose score is a number for each of their members."""
    infinite = np.full(5, np.inf)
    made = _core.ParentSets(2, SQUARE, SQUARE, np.ones(5), 2.0**24, infinite, np.zeros(0), -1.0, 10**6, 0.0)
    while len(made.wanted()[0]):
        children, offsets, parents = made.wanted()
        sums = [float(parents[a:b].sum()) for a, b in itertools.pairwise(offsets)]
        made.tell(np.array(sums) - children, np.zeros(0), np.inf)
    return made


def ask_sets(made: Any) -> Any:
    return [made.sets_of(child) for child in range(5)], made.n_wanted, made.n_parents


def sparse_search() -> Any:
    return _core.SparseSearch(fed_sets(), np.zeros(5, dtype=np.uint64), 1e9)


def run_sparse(search: Any) -> Any:
    while not search.finished:
        search.advance()
        assert search.bytes >= 0
    return search.parents


def layer_walks() -> Any:
    some = np.array([0, 1, 0, 1], np.int32), np.array([0, 0, 0, 1, 2]), np.array([1, 0], np.int32)
    none = np.array([0, 1], np.int32), np.zeros(3, np.int64), np.zeros(0, np.int32)
    made = _core.LayerWalks(2, *some, np.array([0.0, 0.0, 0.5, 0.5]), *none, 1)
    made.advance(20)
    return made


def run_near(search: Any) -> Any:
    while not search.finished:
        search.advance()
        assert search.n_found <= search.n_met
    return search.networks(), search.best, search.least


def swap_search() -> Any:
    made = cells()
    n, ones = TABLE.n_rows, np.ones(made.n_cells)
    return _core.search_distance(made, np.arange(n), made.counts(None), float(n), 10, ones, ones)


def run_swaps(search: Any) -> Any:
    search.set_start(np.arange(10))
    search.visit(0, 10)
    rows = search.rows
    assert len(set(rows.tolist())) == 10
    assert len(search.trace) >= 1
    return 0


def stationary() -> Any:
    theta = np.array([0.9, 0.1, 0.2, 0.8])
    sides = ([i32(1), i32(0)], [i64(2), i64(2)], [theta, theta])
    made = _core.Stationary(i64(2, 2), *sides, np.zeros(0), 4)
    made.begin(np.full(4, 0.25))
    return made


def run_stationary(search: Any) -> Any:
    for _ in range(30):
        search.step()
        search.sweep()
        search.cycle(2)
        assert search.current().shape == (4,)
        assert search.average_over_sweep().shape == (4,)
        search.combine(np.array([1.0]))
    return 0


def searched(search: Any) -> Any:
    """Run a search on the core's own counting, and on a Python function."""
    search.run(_core.SetTerms(columns(), "bdeu", 1.0), lambda n_steps: False)
    search.run(lambda children, offsets, parents: -np.diff(offsets).astype(float), lambda n_steps: False)
    assert len(search.parents) == 5
    assert search.n_steps >= 0
    assert all(len(step) == 4 for step in search.steps)
    return math.isfinite(search.score)


def climb() -> Any:
    return _core.HillClimb([[] for _ in range(5)], 2, SQUARE, SQUARE, SIZES, 2.0**24)


def order_search() -> Any:
    limits: dict[str, Any] = {"restarts": 2, "moves": [2], "steps": [2], "key": 1, "graphs": True}
    limits |= {"pairs_among": 5, "wide": True, "patience": 5, "tenure": 2}
    start: list[list[int]] = [[] for _ in range(5)]
    return _core.OrderSearch(start, 2, SQUARE, SQUARE, SIZES, 2.0**24, **limits)


def completion() -> Any:
    made = factors()
    codes = [np.random.default_rng(v).integers(0, 3, 50).astype(np.uint8) for v in range(8)]
    return _core.Completion(_core.Columns(codes, np.full(8, 2), 50), made, False, -1, 1e9)


def ask_completion(made: Any) -> Any:
    made.complete(100, 1)
    return made.log_prob(), made.expected(None)[0], made.indicators()[2], made.draw(1), made.most_probable()


def conditional_test() -> _core.ConditionalTest:
    return _core.ConditionalTest(np.random.default_rng(1).integers(0, 30, (3, 20, 4)))


def split_counts() -> Any:
    rows = cells()
    made = _core.SplitCounts(rows, 2 * TABLE.n_rows, 1000, 7, 0, 200)
    made.add(rows)
    made.add(rows)
    return made


def ask_split_counts(made: Any) -> Any:
    made.add(conditionals().cells(TABLE[:0].native))  # no more rows, but a turn
    ones = np.ones(cells().n_cells)
    return made.distances(ones / 2, ones, True)


CHANGES = {
    "Completion": Question(completion, ask_completion),
    "ConditionalTest": Question(
        conditional_test, lambda made: (made.p_values(1, 500), made.dispersed_p_values(1, 500), made.deviations(2, 300))
    ),
    "SplitCounts": Question(split_counts, ask_split_counts),
    "ExactSearch": Question(exact_search, run_exact),
    "ParentSets": Question(fed_sets, ask_sets),
    "SparseSearch": Question(sparse_search, run_sparse),
    "LayerWalks": Question(layer_walks, lambda made: (made.advance(0), made.arcs(), made.n_sweeps)),
    "NearBest": Question(lambda: _core.NearBest(fed_sets(), 2.0, 50, False), run_near),
    "SwapSearch": Question(swap_search, run_swaps),
    "Stationary": Question(stationary, run_stationary),
    "HillClimb": Question(climb, searched),
    "OrderSearch": Question(order_search, searched),
}


@pytest.mark.parametrize("name", CHANGES)
def test_calls_that_change_an_object_take_turns(name: str) -> None:
    make, ask = CHANGES[name]
    expected = flat(ask(make()))
    for _ in range(ROUNDS // 4):
        made = make()
        for answer in at_once(lambda made=made: ask(made)):  # type: ignore[misc]
            assert flat(answer) == expected


def test_every_class_is_here() -> None:
    bound = {name for name, value in vars(_core).items() if inspect.isclass(value)}
    assert bound == {name.split(",")[0] for name in (*QUESTIONS, *CHANGES)}


# --------------------------------------------------------------------------------------------------- public objects


def test_a_junction_tree_answers_many_threads() -> None:
    net = fn.datasets.load("alarm")
    names = net.names
    expected = fn.infer.JunctionTree(net).marginal([names[0]])
    for _ in range(50):
        tree = fn.infer.JunctionTree(net)
        for answer in at_once(lambda tree=tree: tree.marginal([names[0]])):  # type: ignore[misc]
            np.testing.assert_array_equal(answer, expected)


def test_evidence_of_one_thread_is_not_that_of_another() -> None:
    tree = fn.infer.JunctionTree(NET)
    state = NET.variables[0].states
    expected = [tree.log_evidence({NET.names[0]: s}) for s in state]

    def ask() -> list[float]:
        return [tree.log_evidence({NET.names[0]: s}) for _ in range(50) for s in state]

    for answer in at_once(ask):
        assert answer == expected * 50


def test_what_is_in_use_cannot_grow() -> None:
    made = factors()
    _core.Inference(made, [], [], [[0]], False, 1e9)
    with pytest.raises(ValueError, match="in use"):
        made.add(i32(0), np.ones(2), False)
    looked_up = conditionals()
    ask_conditionals(looked_up)
    with pytest.raises(ValueError, match="in use"):
        looked_up.add(4, NONE, 1)
