"""Counts with missing cells and fractional weights, against loops over the rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.data import Source
from fishernet.sklearn.columns import KnownRows, filled, whole_weights
from tests.tables import random_table, tables

Weights = npt.NDArray[np.float64]


def summed(table: fn.Table, chosen: tuple[int, ...], weights: Weights) -> Weights:
    """The weight of each cell over the rows that have all of the chosen ones."""
    cells = np.zeros([table.cardinalities[v] for v in chosen])
    for row in range(table.n_rows):
        codes = tuple(int(table.codes[v][row]) for v in chosen)
        if all(code < table.cardinalities[v] for code, v in zip(codes, chosen, strict=True)):
            cells[codes] += weights[row]
    return cells


def weighted(table: fn.Table, weights: Weights) -> tuple[fn.Table, float]:
    counts, unit = whole_weights(weights)
    return fn.Table(table.variables, table.codes, weights=counts, n_rows=table.n_rows), unit


@given(tables(most_variables=4, missing=True, weights=False), st.integers(0, 2**32))
def test_known_rows_are_summed_with_their_weights(table: fn.Table, seed: int) -> None:
    if not table.n_rows:
        return
    weights = np.random.default_rng(seed).exponential(size=table.n_rows)
    source = KnownRows(*weighted(table, weights))
    assert isinstance(source, Source)
    sets = [tuple(range(n)) for n in range(1, len(table.variables) + 1)]
    for chosen, counts in zip(sets, source.statistics(sets), strict=True):
        expected = summed(table, chosen, weights)
        np.testing.assert_allclose(counts.table(), expected, rtol=1e-12, atol=1e-13 * weights.sum())
        assert counts.left_out == 0


def test_a_small_unit_does_not_make_large_tables_dense() -> None:
    table = random_table(0, 50, [20, 20, 20, 20])
    source = KnownRows(*weighted(table, np.full(50, 0.1)))
    assert not source.statistics([(0, 1, 2, 3)])[0].is_dense


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=30).filter(any))
def test_whole_weights_times_their_unit_are_the_weights(numbers: list[float]) -> None:
    weights = np.array(numbers)
    counts, unit = whole_weights(weights)
    np.testing.assert_allclose(counts * unit, weights, rtol=0, atol=2.0**-50 * weights.sum() + 5e-324)
    assert counts.sum() < 2**53


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30).filter(any))
def test_whole_numbers_are_taken_as_they_are(numbers: list[int]) -> None:
    counts, unit = whole_weights(np.array(numbers, dtype=float))
    assert counts.tolist() == numbers
    assert unit == 1.0


@given(st.integers(1, 5), st.integers(1, 10**6), st.integers(0, 2**32))
def test_multiples_of_a_fraction_are_counts(least: int, divisor: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, 50, 20) * least
    numbers[0] = least
    counts, unit = whole_weights(numbers / divisor)
    ratio = counts[0] / least
    np.testing.assert_allclose(counts, numbers * ratio, rtol=1e-12)  # beyond 2^53 / 50 the product itself is rounded
    assert unit * ratio == pytest.approx(1 / divisor, rel=1e-13)


@given(tables(most_variables=4, missing=True))
def test_filling_keeps_what_is_known(table: fn.Table) -> None:
    known = fn.Table.from_codes(np.zeros((table.n_rows, 1), dtype=int), [fn.Variable("class", ["c", "d"])])
    whole = fn.Table([*table.variables, *known.variables], [*table.codes, *known.codes], weights=table.weights)
    if not whole.n_rows or any((c == v.cardinality).all() for c, v in zip(whole.codes, whole.variables, strict=True)):
        return
    done = filled(whole, len(table.variables))
    assert not done.has_missing
    for before, after, variable in zip(whole.codes, done.codes, whole.variables, strict=True):
        there = before < variable.cardinality
        np.testing.assert_array_equal(before[there], after[there])
    assert done == filled(whole, len(table.variables))


def test_cells_are_filled_by_the_shares_in_their_class() -> None:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 40_000)
    x = np.where(rng.random(40_000) < np.array([0.1, 0.7])[classes], 1, 0)
    gone = rng.random(40_000) < 0.5
    variables = [fn.Variable("x", [0, 1]), fn.Variable("class", [0, 1])]
    table = fn.Table.from_codes(np.stack([np.where(gone, 2, x), classes], axis=1), variables)
    found = filled(table, 1).column("x")
    for c, share in enumerate((0.1, 0.7)):
        assert found[gone & (classes == c)].mean() == pytest.approx(share, abs=0.02)  # 0.005 is one standard deviation


def test_missing_cells_do_not_make_useless_arcs_look_good() -> None:
    """Fair and unfair coins, half of the cells missing: scored on what is known alone, arcs would be found."""
    rng = np.random.default_rng(0)
    coins = rng.random((4000, 4)) < [0.5, 0.3, 0.1, 0.5]
    codes = np.where((rng.random((4000, 4)) < 0.5) & [True, True, True, False], 2, coins)
    table = fn.Table.from_codes(codes, [fn.Variable(name, [0, 1]) for name in "abcd"])
    assert fn.learn.dag(filled(table, 3)).edges == ()
    assert fn.learn.dag(KnownRows(table)).edges != ()


def test_a_sum_of_known_rows_is_what_a_network_is_fitted_on() -> None:
    table = random_table(0, 100, [2, 3], missing=0.3)
    dag = fn.Dag.from_edges(["v0", "v1"], [("v0", "v1")])
    net = fn.learn.parameters(dag, KnownRows(table), smoothing=1.0)
    cells = summed(table, (0, 1), np.ones(100)) + 1
    np.testing.assert_allclose(net.conditional("v1").probabilities, cells / cells.sum(axis=1, keepdims=True))
    assert net.n_rows == pytest.approx(100)
