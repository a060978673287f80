"""P1's chi-square heuristic (section 7.1): the criterion, and Algorithm 1 on it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, MissingValueError
from tests.reference.fisher import on_threads, repeated, weights_of
from tests.reference.selecting import algorithm_1, chi_square_to, log_survival, lowest_of_swaps
from tests.tables import random_table


@st.composite
def situations(draw: st.DrawFn) -> tuple[fn.Table, list[int]]:
    """A table of few different rows, with states that never occur, and rows to start from."""
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    seed = draw(st.integers(0, 2**32))
    table = random_table(seed, draw(st.integers(1, 25)), cardinalities)
    if draw(st.booleans()):  # not 0: a state that only rows of weight 0 have is never expected
        weights = np.random.default_rng(seed).integers(1, 4, size=table.n_rows)
        table = fn.Table(table.variables, table.codes, weights=weights)
    size = draw(st.integers(1, min(6, table.n_rows)))
    start = draw(st.lists(st.integers(0, table.n_rows - 1), min_size=size, max_size=size, unique=True))
    return table, start


def rare(states: int, weight: int) -> fn.Table:
    """One variable: ten rows of the last state, and others that count for many."""
    codes = [*range(states - 1), *[states - 1] * 10]
    weights = [weight] * (states - 1) + [1] * 10
    return fn.Table.from_codes(np.array(codes)[:, None], [fn.Variable("a", range(states))], weights=weights)


# ----------------------------------------------------------------------------------------------------- the criterion


@settings(max_examples=100)
@given(situations())
def test_the_criterion_is_its_definition(case: tuple[fn.Table, list[int]]) -> None:
    table, chosen = case
    got = fn.select.chi_square_criterion(table, chosen)
    assert isinstance(got, float)
    assert got == pytest.approx(chi_square_to(table)(chosen), rel=1e-10, abs=1e-12)


def test_the_criterion_is_that_of_scipy() -> None:
    """Independent of ours: scipy's test with the observed states of the whole table."""
    table = random_table(3, 300, [2, 3, 4, 5])
    chosen = np.arange(0, 300, 9)
    expected = 0.0
    for column, r in zip(table.codes, table.cardinalities, strict=True):
        share = np.bincount(column, minlength=r) / 300
        seen = share > 0
        observed = np.bincount(column[chosen], minlength=r)[seen]
        expected -= math.log(scipy.stats.chisquare(observed, len(chosen) * share[seen]).pvalue)
    assert fn.select.chi_square_criterion(table, chosen) == pytest.approx(expected, rel=1e-11)


def test_states_that_are_declared_but_not_observed_do_not_count() -> None:
    """ERRATA P1.11: the degrees of freedom are the states observed in the whole table, less one."""
    codes = np.array([0, 0, 1, 1, 2, 2, 0, 1])[:, None]
    few, many = (fn.Table.from_codes(codes, [fn.Variable("a", range(r))]) for r in (3, 30))
    got = fn.select.chi_square_criterion(many, [0, 1, 2])
    assert got == fn.select.chi_square_criterion(few, [0, 1, 2])
    # O = (2, 1, 0), E = (9/8, 9/8, 3/4): 2 degrees of freedom, log p = -x / 2
    statistic = (7 / 8) ** 2 / (9 / 8) + (1 / 8) ** 2 / (9 / 8) + 3 / 4
    assert got == pytest.approx(statistic / 2, rel=1e-12)


def test_a_column_with_one_state_says_nothing() -> None:
    table = fn.Table.from_codes([[0, 2], [0, 2], [0, 2]], [fn.Variable("a", [0]), fn.Variable("b", range(5))])
    assert fn.select.chi_square_criterion(table, [1]) == 0


def test_the_whole_table_is_what_is_expected() -> None:
    table = random_table(1, 60, [2, 3, 7])
    assert fn.select.chi_square_criterion(table, np.arange(60)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("states", [2, 3, 4, 5, 8, 11])
def test_a_statistic_of_1e5_does_not_underflow(states: int) -> None:
    """Ten rows of a state that is expected a thousandth time: p is below every double."""
    table = rare(states, 10**5 // (states - 1))
    total = sum(weights_of(table))
    statistic = 10 * (total / 10 - 1)
    assert 9e4 < statistic < 1.1e5
    got = fn.select.chi_square_criterion(table, np.arange(states - 1, states + 9))
    assert got == pytest.approx(-log_survival(statistic, states - 1), rel=1e-11)
    if states == 3:
        assert got == pytest.approx(statistic / 2, rel=1e-13)


@pytest.mark.parametrize("dof", range(1, 12))
def test_the_reference_is_scipys_where_that_is_finite(dof: int) -> None:
    for statistic in (0.01, 0.5, dof, 20, 200, 1000):
        expected = scipy.stats.chi2.logsf(statistic, dof)
        assert log_survival(statistic, dof) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=40)
@given(situations())
def test_weights_are_numbers_of_equal_rows(case: tuple[fn.Table, list[int]]) -> None:
    table, chosen = case
    first = np.cumsum([0, *weights_of(table)[:-1]])
    expected = fn.select.chi_square_criterion(repeated(table), first[chosen])
    assert fn.select.chi_square_criterion(table, chosen) == pytest.approx(expected, rel=1e-10, abs=1e-12)


# ----------------------------------------------------------------------------------------------------- the algorithm


@settings(max_examples=120)
@given(situations())
def test_the_rows_are_those_of_algorithm_1(case: tuple[fn.Table, list[int]]) -> None:
    table, start = case
    found = fn.select.greedy_chi_square(table, len(start), start=start)
    expected = algorithm_1(table.n_rows, start, chi_square_to(table))
    assert found.indices.tolist() == expected.indices
    np.testing.assert_allclose(found.trace, expected.trace, rtol=1e-9, atol=1e-12)
    if len(start) < table.n_rows:
        assert found.sweeps == expected.sweeps


@settings(max_examples=60)
@given(situations())
def test_the_trace_falls_to_the_criterion_of_the_rows(case: tuple[fn.Table, list[int]]) -> None:
    table, start = case
    found = fn.select.greedy_chi_square(table, len(start), start=start)
    trace = np.asarray(found.trace)
    assert (np.diff(trace) < 0).all()
    assert found.distance == trace[-1]
    for rows, value in ((start, trace[0]), (found.indices, trace[-1])):
        assert value == pytest.approx(fn.select.chi_square_criterion(table, rows), rel=1e-10, abs=1e-12)
    assert len(set(found.indices.tolist())) == len(start)


@settings(max_examples=40)
@given(situations())
def test_no_single_swap_improves_the_result(case: tuple[fn.Table, list[int]]) -> None:
    table, start = case
    chosen = fn.select.greedy_chi_square(table, len(start), start=start).indices.tolist()
    criterion = chi_square_to(table)
    assert lowest_of_swaps(table.n_rows, chosen, criterion) >= criterion(chosen) * (1 - 1e-9) - 1e-12


def test_large_tables_end_where_no_swap_improves() -> None:
    table = random_table(5, 400, [2, 3, 4, 5])
    found = fn.select.greedy_chi_square(table, 25, n_starts=5, seed=0)
    chosen = found.indices.tolist()
    criterion = fn.select.chi_square_criterion
    for position, row in itertools.product(range(0, 25, 4), range(0, 400, 3)):
        if row not in chosen:
            swapped = [*chosen[:position], row, *chosen[position + 1 :]]
            assert criterion(table, swapped) >= found.distance * (1 - 1e-9) - 1e-12


def test_many_columns_and_many_states() -> None:
    """More different rows than 64 bits could number, and codes of two bytes."""
    table = random_table(2, 18, [300, *[4] * 39])
    table = table[np.array([*range(18), 3, 3, 11, 0])]
    found = fn.select.greedy_chi_square(table, 4, start=[18, 5, 7, 3])
    assert found.indices.tolist() == algorithm_1(22, [18, 5, 7, 3], chi_square_to(table)).indices


def test_the_whole_table_stays_as_it_is() -> None:
    table = random_table(2, 8, [2, 3])
    order = [4, 0, 2, 6, 1, 7, 3, 5]
    found = fn.select.greedy_chi_square(table, 8, start=order)
    assert found.indices.tolist() == order
    assert len(found.trace) == 1
    assert found.sweeps <= 1


def test_many_starts_find_the_best_of_few_subsets() -> None:
    table = random_table(4, 6, [2, 3, 3])
    best = min(chi_square_to(table)(pair) for pair in itertools.combinations(range(6), 2))
    assert fn.select.greedy_chi_square(table, 2, seed=5).trace[0] == pytest.approx(best, rel=1e-10, abs=1e-12)


def test_a_seed_repeats_a_selection_on_any_number_of_threads() -> None:
    table = random_table(4, 500, [2, 3, 4, 5])
    one, two = (on_threads(n, lambda: fn.select.greedy_chi_square(table, 12, n_starts=30, seed=3)) for n in (1, 2))
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.trace, two.trace)
    other = fn.select.greedy_chi_square(table, 12, n_starts=30, seed=4)
    assert not np.array_equal(other.indices, one.indices)
    free = fn.select.greedy_chi_square(table, 12, n_starts=30)
    again = fn.select.greedy_chi_square(table, 12, n_starts=30, seed=free.seed)
    np.testing.assert_array_equal(free.indices, again.indices)


def test_progress_is_told_and_can_end_the_work() -> None:
    table = random_table(4, 200, [2, 3, 4])
    said: list[int] = []
    fn.select.greedy_chi_square(table, 12, n_starts=30, seed=3, progress=lambda what, done, total: said.append(done))
    assert said

    def stop(what: str, done: int, total: int | None) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        fn.select.greedy_chi_square(table, 12, n_starts=30, seed=3, progress=stop)


# ---------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("k", [0, -1, 31, 2.5, "3", None])
def test_a_size_that_is_none_is_refused(k: Any) -> None:
    with pytest.raises(FishernetError):
        fn.select.greedy_chi_square(random_table(0, 30, [2, 3]), k, seed=0)


@pytest.mark.parametrize("start", [[1, 1, 2], [0, 1, 30], [-1, 0, 1], [0, 1], [0, 1, 2, 3], [0.5, 1, 2]])
def test_a_start_that_does_not_fit_is_refused(start: Any) -> None:
    with pytest.raises(FishernetError):
        fn.select.greedy_chi_square(random_table(0, 30, [2, 3]), 3, start=start)


def test_a_number_of_starts_is_positive() -> None:
    with pytest.raises(FishernetError, match="n_starts"):
        fn.select.greedy_chi_square(random_table(0, 30, [2, 3]), 3, n_starts=0)


def test_missing_cells_cannot_be_counted() -> None:
    table = fn.Table.from_codes([[0], [1], [2]], [fn.Variable("a", [0, 1])])
    with pytest.raises(MissingValueError):
        fn.select.greedy_chi_square(table, 2, seed=0)
    with pytest.raises(MissingValueError):
        fn.select.chi_square_criterion(table, [0, 1])
