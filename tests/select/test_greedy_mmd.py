"""P1's Algorithm 1 on the distance of means, against the algorithm taken literally."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, MissingValueError, SchemaError, ZeroProbabilityError
from tests.networks import random_network
from tests.reference.fisher import Floats, WithoutFeatures, on_threads, repeated, rows_of, theorem_1, weights_of
from tests.reference.selecting import Found, algorithm_1, lowest_of_swaps, mmd_to
from tests.tables import random_table


@st.composite
def situations(draw: st.DrawFn, *, weights: bool = False) -> tuple[fn.BayesianNetwork, fn.Table, list[int]]:
    """A network, a table of few different rows, and rows to start from."""
    cardinalities = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    seed = draw(st.integers(0, 2**32))
    table = random_table(seed, draw(st.integers(1, 25)), cardinalities, weighted=weights)
    assume(sum(weights_of(table)) > 0)
    net = random_network(seed, cardinalities, sharp=2.0)
    if draw(st.booleans()):
        net = fn.learn.bayesian_network(table)
    size = draw(st.integers(1, min(6, table.n_rows)))
    start = draw(st.lists(st.integers(0, table.n_rows - 1), min_size=size, max_size=size, unique=True))
    return net, table, start


def literal(net: fn.BayesianNetwork, table: fn.Table) -> Floats:
    rows = rows_of(table)
    gram: Floats = theorem_1(net, rows, rows).sum(axis=0)
    return gram


def assert_same(found: fn.select.Selection, expected: Found, gram: Floats) -> None:
    """Row for row and step for step; at a distance that is rounding alone, one row is as good as another."""
    noise = 1e-12 * (1 + float(np.diag(gram).max()))
    if expected.trace[-1] <= noise:
        assert found.distance <= noise
        return
    assert found.indices.tolist() == expected.indices
    np.testing.assert_allclose(found.trace, expected.trace, rtol=1e-9, atol=noise)
    if len(expected.indices) < len(gram):
        assert found.sweeps == expected.sweeps


def example(n_rows: int = 40, seed: int = 1) -> tuple[fn.kernels.FisherKernel, fn.Table]:
    net = random_network(4, [2, 3, 4, 2], sharp=2.0)
    return fn.kernels.FisherKernel(net), net.sample(n_rows, seed=seed)


# ----------------------------------------------------------------------------------------------------- the algorithm


@settings(max_examples=120)
@given(situations())
def test_the_rows_are_those_of_algorithm_1(case: tuple[fn.BayesianNetwork, fn.Table, list[int]]) -> None:
    net, table, start = case
    found = fn.select.greedy_mmd(fn.kernels.FisherKernel(net), table, len(start), start=start)
    gram = literal(net, table)
    assert_same(found, algorithm_1(table.n_rows, start, mmd_to(gram)), gram)


@settings(max_examples=60)
@given(situations(weights=True))
def test_the_rows_of_the_whole_table_count_as_often_as_their_weights_say(
    case: tuple[fn.BayesianNetwork, fn.Table, list[int]],
) -> None:
    net, table, start = case
    found = fn.select.greedy_mmd(fn.kernels.FisherKernel(net), table, len(start), start=start)
    gram = literal(net, table)
    assert_same(found, algorithm_1(table.n_rows, start, mmd_to(gram, weights_of(table))), gram)


@settings(max_examples=60)
@given(situations())
def test_a_kernel_without_features_chooses_the_same_rows(
    case: tuple[fn.BayesianNetwork, fn.Table, list[int]],
) -> None:
    net, table, start = case
    fisher = fn.kernels.FisherKernel(net)
    for kernel in (fisher, fn.kernels.Normalized(fisher), fisher + 2.0 * fisher):
        found = fn.select.greedy_mmd(kernel, table, len(start), start=start)
        generic = fn.select.greedy_mmd(WithoutFeatures(kernel), table, len(start), start=start)
        same = Found(found.indices.tolist(), list(found.trace), found.sweeps)
        assert_same(generic, same, kernel(table))


@settings(max_examples=60)
@given(situations(), st.sampled_from(["rbf", "product", "practical"]))
def test_any_kernel_follows_the_algorithm(case: tuple[fn.BayesianNetwork, fn.Table, list[int]], name: str) -> None:
    net, table, start = case
    fisher = fn.kernels.FisherKernel(net)
    kernel: Any = {
        "rbf": fn.kernels.Rbf(fisher, 2.0),
        "product": fn.kernels.Normalized(fisher) * fn.kernels.Normalized(fisher),
        "practical": fn.kernels.Normalized(fn.kernels.FisherKernel(net, metric="practical")),
    }[name]
    found = fn.select.greedy_mmd(kernel, table, len(start), start=start)
    gram = kernel(table)
    assert_same(found, algorithm_1(table.n_rows, start, mmd_to(gram)), gram)


@settings(max_examples=60)
@given(situations())
def test_the_trace_falls_to_the_distance_of_the_rows(case: tuple[fn.BayesianNetwork, fn.Table, list[int]]) -> None:
    net, table, start = case
    kernel = fn.kernels.FisherKernel(net)
    found = fn.select.greedy_mmd(kernel, table, len(start), start=start)
    trace = np.asarray(found.trace)
    assert (np.diff(trace) < 0).all()
    assert found.distance == trace[-1]
    for rows, value in ((start, trace[0]), (found.indices, trace[-1])):
        expected = fn.compare.mmd(kernel, table[np.array(rows)], table)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-11)
    assert len(set(found.indices.tolist())) == len(start)
    assert set(found.indices.tolist()) <= set(range(table.n_rows))


@settings(max_examples=40)
@given(situations())
def test_no_single_swap_improves_the_result(case: tuple[fn.BayesianNetwork, fn.Table, list[int]]) -> None:
    net, table, start = case
    found = fn.select.greedy_mmd(fn.kernels.FisherKernel(net), table, len(start), start=start)
    criterion = mmd_to(literal(net, table))
    chosen = found.indices.tolist()
    assert lowest_of_swaps(table.n_rows, chosen, criterion) >= criterion(chosen) * (1 - 1e-9) - 1e-11


def test_no_single_swap_improves_a_selection_from_a_large_table() -> None:
    kernel, table = example(3000)
    found = fn.select.greedy_mmd(kernel, table, 40, n_starts=20, seed=0)
    features = kernel.features(table).toarray()
    rest = features[found.indices].mean(axis=0) - features.mean(axis=0)
    d = rest @ rest
    assert found.distance == pytest.approx(d, rel=1e-9)
    outside = np.setdiff1d(np.arange(3000), found.indices)
    for row in found.indices:
        means = rest + (features[outside] - features[row]) / 40
        assert (means**2).sum(axis=1).min() >= d * (1 - 1e-9)


def test_an_accepted_row_takes_the_position_of_the_one_it_replaced() -> None:
    """Of three rows one is far off: it alone is replaced, where it stood."""
    net = fn.BayesianNetwork.from_tables([fn.Variable("a", [0, 1, 2])], {}, {"a": [0.45, 0.45, 0.1]})
    table = fn.Table.from_codes([[0], [1], [2], [0], [1], [0], [1], [0]], net.variables)
    found = fn.select.greedy_mmd(fn.kernels.FisherKernel(net), table, 3, start=[4, 2, 0])
    assert found.indices.tolist() == [4, 3, 0]  # rows 3, 5 and 7 are equal: the lowest
    assert (len(found.trace), found.sweeps) == (2, 2)


def test_equal_rows_do_not_replace_one_another() -> None:
    kernel, _ = example()
    table = fn.Table.from_codes([[0, 0, 0, 0]] * 12, kernel.model.variables)
    found = fn.select.greedy_mmd(kernel, table, 4, start=[9, 3, 7, 5])
    assert found.indices.tolist() == [9, 3, 7, 5]
    assert (len(found.trace), found.sweeps) == (1, 1)
    assert found.distance == pytest.approx(0, abs=1e-12)


def test_the_whole_table_stays_as_it_is() -> None:
    kernel, table = example(9)
    order = [4, 0, 8, 2, 6, 1, 7, 3, 5]
    found = fn.select.greedy_mmd(kernel, table, 9, start=order)
    assert found.indices.tolist() == order
    assert len(found.trace) == 1
    assert found.sweeps <= 1
    assert found.distance == pytest.approx(0, abs=1e-11)
    drawn = fn.select.greedy_mmd(kernel, table, 9, seed=0)
    assert sorted(drawn.indices.tolist()) == list(range(9))


def test_a_table_stands_for_its_repeated_rows() -> None:
    """Weights are numbers of equal rows: the same start has the same distance to both."""
    kernel, table = example(20)
    weights = np.random.default_rng(0).integers(1, 5, size=20)
    weighted = fn.Table(table.variables, table.codes, weights=weights)
    first = np.cumsum([0, *weights[:-1]])
    start = np.array([2, 5, 11])
    one = fn.select.greedy_mmd(kernel, weighted, 3, start=start)
    two = fn.select.greedy_mmd(kernel, repeated(weighted), 3, start=first[start])
    assert one.trace[0] == pytest.approx(two.trace[0], rel=1e-12)
    alone = mmd_to(kernel(table), weights.tolist())
    assert one.trace[0] == pytest.approx(alone(start.tolist()), rel=1e-10)


# ------------------------------------------------------------------------------------------------------ where it starts


def test_many_starts_find_the_best_of_few_subsets() -> None:
    """15 pairs and 1000 draws: the best pair is among them, and nothing improves it."""
    kernel, table = example(6, seed=3)
    criterion = mmd_to(kernel(table))
    best = min(criterion(pair) for pair in itertools.combinations(range(6), 2))
    found = fn.select.greedy_mmd(kernel, table, 2, seed=5)
    assert len(found.trace) == 1
    assert found.distance == pytest.approx(best, rel=1e-10)


def test_more_starts_begin_lower() -> None:
    kernel, table = example(200)
    one = [fn.select.greedy_mmd(kernel, table, 5, n_starts=1, seed=s).trace[0] for s in range(20)]
    many = [fn.select.greedy_mmd(kernel, table, 5, n_starts=200, seed=s).trace[0] for s in range(20)]
    assert max(many) < np.median(one)


def test_a_seed_repeats_a_selection() -> None:
    kernel, table = example(200)
    found, again, other = (fn.select.greedy_mmd(kernel, table, 8, n_starts=10, seed=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(found.indices, again.indices)
    np.testing.assert_array_equal(found.trace, again.trace)
    assert other.trace[0] != found.trace[0]


def test_a_generator_moves_on_and_starts_like_its_equal() -> None:
    kernel, table = example(200)
    rng = np.random.default_rng(3)
    one, two = (fn.select.greedy_mmd(kernel, table, 8, n_starts=10, seed=rng) for _ in range(2))
    equal = fn.select.greedy_mmd(kernel, table, 8, n_starts=10, seed=np.random.default_rng(3))
    again = fn.select.greedy_mmd(kernel, table, 8, n_starts=10, seed=two.seed)
    np.testing.assert_array_equal(equal.indices, one.indices)
    np.testing.assert_array_equal(again.indices, two.indices)
    assert one.trace[0] != two.trace[0]


def test_a_selection_without_a_seed_can_be_repeated() -> None:
    kernel, table = example(200)
    found = fn.select.greedy_mmd(kernel, table, 8, n_starts=10)
    again = fn.select.greedy_mmd(kernel, table, 8, n_starts=10, seed=found.seed)
    np.testing.assert_array_equal(found.indices, again.indices)


@pytest.mark.parametrize("wrap", [lambda k: k, WithoutFeatures], ids=["features", "none"])
def test_the_number_of_threads_changes_nothing(wrap: Callable[[Any], Any]) -> None:
    kernel, table = example(1500)
    one, two = (
        on_threads(n, lambda: fn.select.greedy_mmd(wrap(kernel), table, 15, n_starts=50, seed=1)) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.trace, two.trace)


def test_progress_is_told_and_can_end_the_work() -> None:
    kernel, table = example(300)
    said: list[tuple[str, int, int | None]] = []
    found = fn.select.greedy_mmd(
        kernel, table, 20, n_starts=50, seed=1, progress=lambda what, done, total: said.append((what, done, total))
    )
    assert said
    what, done, total = said[-1]
    assert what
    assert done == total
    silent = fn.select.greedy_mmd(kernel, table, 20, n_starts=50, seed=1)
    np.testing.assert_array_equal(found.indices, silent.indices)

    def stop(what: str, done: int, total: int | None) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        fn.select.greedy_mmd(kernel, table, 20, n_starts=50, seed=1, progress=stop)


# ---------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("k", [0, -1, 41, 2.5, "3", None])
def test_a_size_that_is_none_is_refused(k: Any) -> None:
    kernel, table = example(40)
    with pytest.raises(FishernetError):
        fn.select.greedy_mmd(kernel, table, k, seed=0)


@pytest.mark.parametrize("start", [[1, 1, 2], [0, 1, 40], [-1, 0, 1], [0, 1], [0, 1, 2, 3], [0.5, 1, 2], [[0, 1, 2]]])
def test_a_start_that_does_not_fit_is_refused(start: Any) -> None:
    kernel, table = example(40)
    with pytest.raises(FishernetError):
        fn.select.greedy_mmd(kernel, table, 3, start=start)


@pytest.mark.parametrize("n_starts", [0, -5, 1.5])
def test_a_number_of_starts_is_positive(n_starts: Any) -> None:
    kernel, table = example(40)
    with pytest.raises(FishernetError, match="n_starts"):
        fn.select.greedy_mmd(kernel, table, 3, n_starts=n_starts)


def test_tables_that_do_not_fit_are_refused() -> None:
    kernel, table = example(40)
    with pytest.raises(SchemaError, match="'v3'"):
        fn.select.greedy_mmd(kernel, table.select(["v0", "v1", "v2"]), 3, seed=0)
    with pytest.raises(MissingValueError):
        fn.select.greedy_mmd(kernel, fn.Table.from_codes([[0, 0, 0, 0], [2, 0, 0, 0]], table.variables), 1, seed=0)
    a = fn.Variable("a", [0, 1])
    certain = fn.kernels.FisherKernel(fn.BayesianNetwork.from_tables([a], {}, {"a": [1, 0]}))
    with pytest.raises(ZeroProbabilityError):
        fn.select.greedy_mmd(certain, fn.Table.from_codes([[0], [1], [0]], [a]), 1, seed=0)


def test_columns_in_another_order_give_the_same_rows() -> None:
    kernel, table = example(60)
    found = fn.select.greedy_mmd(kernel, table, 5, seed=1)
    turned = fn.select.greedy_mmd(kernel, table.select(["v3", "v1", "v0", "v2"]), 5, seed=1)
    np.testing.assert_array_equal(turned.indices, found.indices)


def test_columns_the_model_lacks_do_not_count() -> None:
    kernel, table = example(60)
    extra = fn.Variable("extra", range(60))
    wide = fn.Table([extra, *table.variables], [np.arange(60, dtype=np.uint8), *table.codes])
    found, plain = (fn.select.greedy_mmd(kernel, t, 5, seed=1) for t in (wide, table))
    np.testing.assert_array_equal(found.indices, plain.indices)
    np.testing.assert_array_equal(found.trace, plain.trace)
    assert found.as_table().variables == wide.variables
    np.testing.assert_array_equal(found.as_table().weights, plain.as_table().weights)


def test_many_columns_and_many_states() -> None:
    """More different rows than 64 bits could number, and codes of two bytes."""
    cardinalities = [300, *[4] * 39]
    table = random_table(2, 18, cardinalities)
    table = table[np.array([*range(18), 3, 3, 11, 0])]
    dag = fn.Dag.from_edges(table.names, [(f"v{i}", f"v{i + 1}") for i in range(1, 39)])
    net = fn.learn.parameters(dag, table)
    kernel = fn.kernels.FisherKernel(net)
    terms = kernel.terms(table)
    gram = terms.sum(axis=0)
    found = fn.select.greedy_mmd(kernel, table, 4, start=[18, 5, 7, 3])
    assert_same(found, algorithm_1(22, [18, 5, 7, 3], mmd_to(gram)), gram)
