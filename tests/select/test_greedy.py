"""Greedy choice of rows against Algorithm 1 taken literally, under kernels and under the chi-square criterion."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, MissingValueError, SchemaError, ZeroProbabilityError
from tests.networks import random_network
from tests.reference.fisher import WithoutFeatures, on_threads, repeated, rows_of, theorem_1, weights_of
from tests.reference.selecting import (
    Criterion,
    algorithm_1,
    chi_square_to,
    log_survival,
    lowest_of_swaps,
    mmd_to,
)
from tests.tables import random_table

NET = random_network(4, [2, 3, 4, 2], sharp=2.0)
KERNEL = fn.kernels.FisherKernel(NET)


class Case(NamedTuple):
    """A search, and its criterion computed from nothing."""

    search: Callable[..., fn.select.Selection]
    table: fn.Table
    criterion: Criterion
    noise: float
    """At a distance that is rounding alone, one row is as good as another; 0 where no distance is."""


def by_kernel(kernel: Any, table: fn.Table, gram: Any = None) -> Case:
    gram = kernel(table) if gram is None else gram
    weights = None if table.weights is None else weights_of(table)
    noise = 1e-12 * (1 + float(np.diag(gram).max()))
    return Case(partial(fn.select.greedy_mmd, kernel, table), table, mmd_to(gram, weights), noise)


def by_chi_square(table: fn.Table) -> Case:
    return Case(partial(fn.select.greedy_chi_square, table), table, chi_square_to(table), 0.0)


def literal(net: fn.BayesianNetwork, table: fn.Table) -> Any:
    rows = rows_of(table)
    return theorem_1(net, rows, rows).sum(axis=0)


KERNELS: dict[str, Callable[[fn.BayesianNetwork], Any]] = {
    "Fisher": fn.kernels.FisherKernel,
    "without features": lambda net: WithoutFeatures(fn.kernels.FisherKernel(net)),
    "sum": lambda net: fn.kernels.FisherKernel(net) + 2.0 * fn.kernels.FisherKernel(net),
    "radial": lambda net: fn.kernels.Rbf(fn.kernels.FisherKernel(net), 2.0),
    "cosine": lambda net: fn.kernels.Normalized(fn.kernels.FisherKernel(net)),
    "practical": lambda net: fn.kernels.Normalized(fn.kernels.FisherKernel(net, metric="practical")),
}


@st.composite
def situations(draw: st.DrawFn) -> tuple[Case, list[int]]:
    """A criterion on a table of few different rows, some with states that never occur, and rows to start from."""
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    seed = draw(st.integers(0, 2**32))
    table = random_table(seed, draw(st.integers(1, 25)), cardinalities)
    name = draw(st.sampled_from(["chi-square", *KERNELS]))
    if draw(st.booleans()):  # under chi-square not 0: a state that only rows of weight 0 have is never expected
        weights = np.random.default_rng(seed).integers(name == "chi-square", 4, size=table.n_rows)
        table = fn.Table(table.variables, table.codes, weights=weights)
        assume(weights.sum() > 0)
    size = draw(st.integers(1, min(6, table.n_rows)))
    start = draw(st.lists(st.integers(0, table.n_rows - 1), min_size=size, max_size=size, unique=True))
    if name == "chi-square":
        return by_chi_square(table), start
    net = fn.learn.bayesian_network(table) if draw(st.booleans()) else random_network(seed, cardinalities, sharp=2.0)
    gram = literal(net, table) if name in ("Fisher", "without features") else None
    return by_kernel(KERNELS[name](net), table, gram), start


def assert_follows_algorithm_1(case: Case, start: list[int]) -> None:
    """Row for row and step for step."""
    found = case.search(len(start), start=start)
    expected = algorithm_1(case.table.n_rows, start, case.criterion)
    if case.noise > 0 and expected.trace[-1] <= case.noise:
        assert found.distance <= case.noise
        return
    assert found.indices.tolist() == expected.indices
    np.testing.assert_allclose(found.trace, expected.trace, rtol=1e-9, atol=max(case.noise, 1e-12))
    if len(start) < case.table.n_rows:
        assert found.sweeps == expected.sweeps


# ----------------------------------------------------------------------------------------------------- the algorithm


@settings(max_examples=300)
@given(situations())
def test_the_rows_are_those_of_algorithm_1(situation: tuple[Case, list[int]]) -> None:
    assert_follows_algorithm_1(*situation)


@settings(max_examples=100)
@given(situations())
def test_the_trace_falls_to_the_criterion_and_no_swap_lowers_it(situation: tuple[Case, list[int]]) -> None:
    case, start = situation
    found = case.search(len(start), start=start)
    chosen, trace = found.indices.tolist(), np.asarray(found.trace)
    rounding = max(case.noise, 1e-11)
    assert (np.diff(trace) < 0).all()
    assert found.distance == trace[-1]
    assert trace[0] == pytest.approx(case.criterion(start), rel=1e-9, abs=rounding)
    assert trace[-1] == pytest.approx(case.criterion(chosen), rel=1e-9, abs=rounding)
    assert len(set(chosen)) == len(start)
    lowest = lowest_of_swaps(case.table.n_rows, chosen, case.criterion)
    assert lowest >= case.criterion(chosen) * (1 - 1e-9) - rounding


def test_no_single_swap_improves_a_selection_from_a_large_table() -> None:
    table = NET.sample(3000, seed=1)
    found = fn.select.greedy_mmd(KERNEL, table, 40, n_starts=20, seed=0)
    features = KERNEL.features(table).toarray()
    rest = features[found.indices].mean(axis=0) - features.mean(axis=0)
    assert found.distance == pytest.approx(rest @ rest, rel=1e-9)
    outside = np.setdiff1d(np.arange(3000), found.indices)
    for row in found.indices:
        means = rest + (features[outside] - features[row]) / 40
        assert (means**2).sum(axis=1).min() >= rest @ rest * (1 - 1e-9)
    table = random_table(5, 400, [2, 3, 4, 5])
    found = fn.select.greedy_chi_square(table, 25, n_starts=5, seed=0)
    chosen = found.indices.tolist()
    for position, row in itertools.product(range(0, 25, 4), set(range(0, 400, 3)) - set(chosen)):
        swapped = [*chosen[:position], row, *chosen[position + 1 :]]
        assert fn.select.chi_square_criterion(table, swapped) >= found.distance * (1 - 1e-9) - 1e-12


def test_an_accepted_row_takes_the_position_of_the_one_it_replaced() -> None:
    """Of three rows one is far off: it alone is replaced, where it stood."""
    net = fn.BayesianNetwork.from_tables([fn.Variable("a", [0, 1, 2])], {}, {"a": [0.45, 0.45, 0.1]})
    table = fn.Table.from_codes([[0], [1], [2], [0], [1], [0], [1], [0]], net.variables)
    found = fn.select.greedy_mmd(fn.kernels.FisherKernel(net), table, 3, start=[4, 2, 0])
    assert found.indices.tolist() == [4, 3, 0]  # rows 3, 5 and 7 are equal: the lowest
    assert (len(found.trace), found.sweeps) == (2, 2)


def test_equal_rows_do_not_replace_one_another() -> None:
    table = fn.Table.from_codes([[0, 0, 0, 0]] * 12, NET.variables)
    found = fn.select.greedy_mmd(KERNEL, table, 4, start=[9, 3, 7, 5])
    assert found.indices.tolist() == [9, 3, 7, 5]
    assert (len(found.trace), found.sweeps) == (1, 1)
    assert found.distance == pytest.approx(0, abs=1e-12)


def test_many_columns_and_many_states() -> None:
    """More different rows than 64 bits could number, and codes of two bytes."""
    table = random_table(2, 18, [300, *[4] * 39])
    table = table[np.array([*range(18), 3, 3, 11, 0])]
    dag = fn.Dag.from_edges(table.names, [(f"v{i}", f"v{i + 1}") for i in range(1, 39)])
    kernel = fn.kernels.FisherKernel(fn.learn.parameters(dag, table))
    for case in (by_chi_square(table), by_kernel(kernel, table, kernel.terms(table).sum(axis=0))):
        assert_follows_algorithm_1(case, [18, 5, 7, 3])


def test_a_table_stands_for_its_repeated_rows() -> None:
    """Weights are numbers of equal rows: the same start has the same distance to both."""
    table = NET.sample(20, seed=1)
    weights = np.random.default_rng(0).integers(1, 5, size=20)
    weighted = fn.Table(table.variables, table.codes, weights=weights)
    first, start = np.cumsum([0, *weights[:-1]]), np.array([2, 5, 11])
    one = fn.select.greedy_mmd(KERNEL, weighted, 3, start=start)
    two = fn.select.greedy_mmd(KERNEL, repeated(weighted), 3, start=first[start])
    assert one.trace[0] == pytest.approx(two.trace[0], rel=1e-12)
    expected = fn.select.chi_square_criterion(repeated(weighted), first[start])
    assert fn.select.chi_square_criterion(weighted, start) == pytest.approx(expected, rel=1e-10, abs=1e-12)


# ------------------------------------------------------------------------------------------ starts, threads, progress

TABLE = NET.sample(200, seed=1)
BOTH = pytest.mark.parametrize("name", ["mmd", "without features", "chi-square"])


def search(name: str, table: fn.Table = TABLE) -> Callable[..., fn.select.Selection]:
    if name == "chi-square":
        return partial(fn.select.greedy_chi_square, table)
    return partial(fn.select.greedy_mmd, KERNEL if name == "mmd" else WithoutFeatures(KERNEL), table)


@BOTH
def test_the_whole_table_stays_as_it_is(name: str) -> None:
    choose, order = search(name, TABLE[:9]), [4, 0, 8, 2, 6, 1, 7, 3, 5]
    found = choose(9, start=order)
    assert found.indices.tolist() == order
    assert (len(found.trace), found.sweeps) == (1, 0)
    assert found.distance == pytest.approx(0, abs=1e-11)
    assert sorted(choose(9, seed=0).indices.tolist()) == list(range(9))


@BOTH
def test_many_starts_find_the_best_of_few_subsets(name: str) -> None:
    """15 pairs and 1000 draws: the best pair is among them, and nothing improves it."""
    table = NET.sample(6, seed=3)
    case = by_chi_square(table) if name == "chi-square" else by_kernel(KERNEL, table)
    best = min(case.criterion(pair) for pair in itertools.combinations(range(6), 2))
    found = search(name, table)(2, seed=5)
    assert len(found.trace) == 1
    assert found.distance == pytest.approx(best, rel=1e-10, abs=1e-12)


def test_more_starts_begin_lower() -> None:
    one = [search("mmd")(5, n_starts=1, seed=s).trace[0] for s in range(20)]
    many = [search("mmd")(5, n_starts=200, seed=s).trace[0] for s in range(20)]
    assert max(many) < np.median(one)


@BOTH
def test_a_seed_repeats_a_selection(name: str) -> None:
    choose = partial(search(name), 8, n_starts=10)
    found, again, other = (choose(seed=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(found.indices, again.indices)
    np.testing.assert_array_equal(found.trace, again.trace)
    assert other.trace[0] != found.trace[0]
    random = np.random.default_rng(3)
    first, second, free = choose(seed=random), choose(seed=random), choose()
    assert first.trace[0] != second.trace[0]
    np.testing.assert_array_equal(choose(seed=np.random.default_rng(3)).indices, first.indices)
    for one in (second, free):
        np.testing.assert_array_equal(choose(seed=one.seed).indices, one.indices)


@BOTH
def test_the_number_of_threads_changes_nothing(name: str) -> None:
    choose = search(name, NET.sample(1500, seed=1))
    one, two = (on_threads(n, lambda: choose(15, n_starts=50, seed=1)) for n in (1, 2))
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.trace, two.trace)


@BOTH
def test_progress_is_told_and_can_end_the_work(name: str) -> None:
    choose = partial(search(name), 20, n_starts=50, seed=1)
    said: list[tuple[str, int, int | None]] = []
    found = choose(progress=lambda *call: said.append(call))
    what, done, total = said[-1]
    assert what
    assert done == total
    np.testing.assert_array_equal(found.indices, choose().indices)

    def stop(what: str, done: int, total: int | None) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        choose(progress=stop)


# ------------------------------------------------------------------------------------------------ data meets a kernel


def test_columns_in_another_order_and_columns_the_model_lacks_do_not_count() -> None:
    table = TABLE[:60]
    extra = fn.Variable("extra", range(60))
    wide = fn.Table([extra, *table.variables], [np.arange(60, dtype=np.uint8), *table.codes])
    plain = fn.select.greedy_mmd(KERNEL, table, 5, seed=1)
    for other in (wide, table.select(["v3", "v1", "v0", "v2"])):
        found = fn.select.greedy_mmd(KERNEL, other, 5, seed=1)
        np.testing.assert_array_equal(found.indices, plain.indices)
        np.testing.assert_array_equal(found.trace, plain.trace)
        assert found.as_table().variables == other.variables
        np.testing.assert_array_equal(found.as_table().weights, plain.as_table().weights)


@BOTH
@pytest.mark.parametrize("k", [0, -1, 41, 2.5, "3", None])
def test_a_size_that_is_none_is_refused(name: str, k: Any) -> None:
    with pytest.raises(FishernetError):
        search(name, TABLE[:40])(k, seed=0)


@BOTH
@pytest.mark.parametrize("start", [[1, 1, 2], [0, 1, 40], [-1, 0, 1], [0, 1], [0, 1, 2, 3], [0.5, 1, 2], [[0, 1, 2]]])
def test_a_start_that_does_not_fit_is_refused(name: str, start: Any) -> None:
    with pytest.raises(FishernetError):
        search(name, TABLE[:40])(3, start=start)


@BOTH
@pytest.mark.parametrize("n_starts", [0, -5, 1.5])
def test_a_number_of_starts_is_positive(name: str, n_starts: Any) -> None:
    with pytest.raises(FishernetError, match="n_starts"):
        search(name)(3, n_starts=n_starts)


@BOTH
def test_tables_that_do_not_fit_are_refused(name: str) -> None:
    missing = fn.Table.from_codes([[0, 0, 0, 0], [2, 0, 0, 0]], NET.variables)
    if name != "chi-square":  # which takes missing for a state
        with pytest.raises(MissingValueError):
            search(name, missing)(1, seed=0)
    weightless = fn.Table(TABLE.variables, TABLE.codes, weights=np.zeros(200, dtype=np.int64))
    with pytest.raises(SchemaError, match="weight"):
        search(name, weightless)(3)
    if name == "chi-square":
        return
    with pytest.raises(SchemaError, match="'v3'"):
        search(name, TABLE.select(["v0", "v1", "v2"]))(3, seed=0)
    a = fn.Variable("a", [0, 1])
    certain = fn.kernels.FisherKernel(fn.BayesianNetwork.from_tables([a], {}, {"a": [1, 0]}))
    with pytest.raises(ZeroProbabilityError):
        fn.select.greedy_mmd(certain, fn.Table.from_codes([[0], [1], [0]], [a]), 1, seed=0)


# -------------------------------------------------------------------------------------------- the chi-square criterion


@settings(max_examples=100)
@given(situations())
def test_the_criterion_is_its_definition(situation: tuple[Case, list[int]]) -> None:
    case, chosen = situation
    assume(0 not in weights_of(case.table))
    got = fn.select.chi_square_criterion(case.table, chosen)
    assert isinstance(got, float)
    assert got == pytest.approx(chi_square_to(case.table)(chosen), rel=1e-10, abs=1e-12)


def test_holes_are_chosen_as_if_they_were_states() -> None:
    """So the rows chosen lack cells as often as the table, and are those of the table read with missing "state"."""
    states = [2, 3, 2, 256]
    table = random_table(3, 300, states, missing=0.2)
    one_more = [fn.Variable(f"v{i}", range(r + 1)) for i, r in enumerate(states)]
    filled = fn.Table(one_more, [c.astype(v.dtype) for v, c in zip(one_more, table.codes, strict=True)])
    found, wanted = (fn.select.greedy_chi_square(of, 20, n_starts=5, seed=1) for of in (table, filled))
    np.testing.assert_array_equal(found.indices, wanted.indices)
    assert found.distance == wanted.distance
    assert found.distance == pytest.approx(fn.select.chi_square_criterion(table, found.indices), rel=1e-9)
    for column, r in zip(table.codes[:3], states, strict=False):
        assert (column[found.indices] == r).mean() == pytest.approx((column == r).mean(), abs=0.06)
    assert found.as_table().weights is not None


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_criterion_is_that_of_scipy(missing: float) -> None:
    """Independent of ours: scipy's test with the observed states of the whole table; a missing cell has one more."""
    table = random_table(3, 300, [2, 3, 4, 5], missing=missing)
    chosen = np.arange(0, 300, 9)
    expected = 0.0
    for column, r in zip(table.codes, table.cardinalities, strict=True):
        share = np.bincount(column, minlength=r + 1) / 300
        seen = share > 0
        observed = np.bincount(column[chosen], minlength=r + 1)[seen]
        expected -= math.log(scipy.stats.chisquare(observed, len(chosen) * share[seen]).pvalue)
    assert fn.select.chi_square_criterion(table, chosen) == pytest.approx(expected, rel=1e-11)


def test_states_that_are_declared_but_not_observed_do_not_count() -> None:
    """The degrees of freedom are the states observed in the whole table, less one."""
    codes = np.array([0, 0, 1, 1, 2, 2, 0, 1])[:, None]
    few, many = (fn.Table.from_codes(codes, [fn.Variable("a", range(r))]) for r in (3, 30))
    got = fn.select.chi_square_criterion(many, [0, 1, 2])
    assert got == fn.select.chi_square_criterion(few, [0, 1, 2])
    # O = (2, 1, 0), E = (9/8, 9/8, 3/4): 2 degrees of freedom, log p = -x / 2
    statistic = (7 / 8) ** 2 / (9 / 8) + (1 / 8) ** 2 / (9 / 8) + 3 / 4
    assert got == pytest.approx(statistic / 2, rel=1e-12)


def test_a_column_with_one_state_and_the_whole_table_say_nothing() -> None:
    table = fn.Table.from_codes([[0, 2], [0, 2], [0, 2]], [fn.Variable("a", [0]), fn.Variable("b", range(5))])
    assert fn.select.chi_square_criterion(table, [1]) == 0
    assert fn.select.chi_square_criterion(TABLE, np.arange(200)) == pytest.approx(0, abs=1e-12)
    with pytest.raises(FishernetError, match="at least one"):
        fn.select.chi_square_criterion(TABLE, np.zeros(0, int))


@pytest.mark.parametrize("states", [2, 3, 4, 5, 8, 11])
def test_a_statistic_of_1e5_does_not_underflow(states: int) -> None:
    """Ten rows of a state that is expected a thousandth time, the others count for many: p is below every double."""
    codes, weight = [*range(states - 1), *[states - 1] * 10], 10**5 // (states - 1)
    weights = [weight] * (states - 1) + [1] * 10
    table = fn.Table.from_codes(np.array(codes)[:, None], [fn.Variable("a", range(states))], weights=weights)
    statistic = 10 * (sum(weights) / 10 - 1)
    assert 9e4 < statistic < 1.1e5
    got = fn.select.chi_square_criterion(table, np.arange(states - 1, states + 9))
    assert got == pytest.approx(-log_survival(statistic, states - 1), rel=1e-11)
    if states == 3:
        assert got == pytest.approx(statistic / 2, rel=1e-13)


@pytest.mark.parametrize("dof", range(1, 12))
def test_the_reference_is_scipys_where_that_is_finite(dof: int) -> None:
    for statistic in (0.01, 0.5, dof, 20, 200, 1000):
        assert log_survival(statistic, dof) == pytest.approx(scipy.stats.chi2.logsf(statistic, dof), rel=1e-12)


def test_more_columns_than_a_number_can_count_rows_of() -> None:
    """Rows of 1,100 columns have more possible configurations than there are doubles; nothing overflows on the way."""
    codes = np.random.default_rng(1).integers(0, 2, (3, 1100), dtype=np.uint8)[[0, 1, 0, 2, 1]]
    table = fn.Table([fn.Variable(f"v{i}", [0, 1]) for i in range(1100)], list(codes.T))
    net = fn.learn.parameters(fn.Dag.from_edges(table.names, []), table)
    chosen = fn.select.greedy_mmd(fn.kernels.FisherKernel(net), table, 3)
    assert len({codes[row].tobytes() for row in chosen.indices.tolist()}) == 3
