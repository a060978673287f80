from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import fishernet as fn
from tests.tables import random_table

TESTS = [(fn.independence.GSquared, "log-likelihood"), (fn.independence.ChiSquared, "pearson")]


def by_definition(codes: np.ndarray[Any, Any], i: int, j: int, given: tuple[int, ...], kind: str) -> tuple[float, int]:
    """Add up scipy's tests of every configuration, without empty rows and columns."""
    statistic, degrees = 0.0, 0
    for configuration in np.unique(codes[:, list(given)], axis=0):
        part = codes[(codes[:, list(given)] == configuration).all(axis=1)]
        table = np.zeros((codes[:, i].max() + 1, codes[:, j].max() + 1))
        np.add.at(table, (part[:, i], part[:, j]), 1)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        if min(table.shape) > 1:
            found = stats.chi2_contingency(table, correction=False, lambda_=kind)
            statistic, degrees = statistic + found.statistic, degrees + found.dof
    return statistic, degrees


@pytest.mark.parametrize(("kind", "name"), TESTS, ids=["g-squared", "chi-squared"])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), q=st.integers(0, 3), n=st.integers(1, 60))
def test_it_is_the_sum_over_configurations(kind: Any, name: str, seed: int, q: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size=(n, 2 + q))
    codes[:, 1] = np.where(rng.random(n) < 0.4, codes[:, 0], codes[:, 1])
    statistic, degrees = by_definition(codes, 0, 1, tuple(range(2, 2 + q)), name)
    found = kind(fn.Table.from_codes(codes))(0, 1, tuple(range(2, 2 + q)))
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-9)
    assert found.degrees_of_freedom == degrees
    expected = stats.chi2.sf(statistic, degrees) if degrees else 1.0
    assert found.p_value == pytest.approx(expected, rel=1e-7, abs=1e-300)


@pytest.mark.parametrize(("kind", "name"), TESTS, ids=["g-squared", "chi-squared"])
def test_positions_in_any_order(kind: Any, name: str) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, size=(200, 4))
    test = kind(fn.Table.from_codes(codes))
    statistic, degrees = by_definition(codes, 3, 1, (0, 2), name)
    assert test(3, 1, (0, 2)).statistic == pytest.approx(statistic, rel=1e-9)
    assert test(1, 3, (0, 2)).degrees_of_freedom == degrees


@pytest.mark.parametrize(("kind", "name"), TESTS, ids=["g-squared", "chi-squared"])
def test_weights_are_repeated_rows(kind: Any, name: str) -> None:
    rng = np.random.default_rng(2)
    codes, weights = rng.integers(0, 2, size=(30, 3)), rng.integers(0, 9, size=30)
    weighted = kind(fn.Table.from_codes(codes, weights=weights))(0, 1, (2,))
    repeated = kind(fn.Table.from_codes(np.repeat(codes, weights, axis=0)))(0, 1, (2,))
    assert weighted.statistic == pytest.approx(repeated.statistic, rel=1e-12)
    assert weighted.degrees_of_freedom == repeated.degrees_of_freedom


def test_p_values_are_uniform_under_the_null() -> None:
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(500):
        z = rng.integers(0, 2, size=1000)
        x, y = (rng.random((2, 1000)) < 0.3 + 0.4 * z).astype(int)
        p_values.append(fn.independence.GSquared(fn.Table.from_codes(np.column_stack([x, y, z])))(0, 1, (2,)).p_value)
    assert stats.kstest(p_values, "uniform").pvalue > 0.01


def test_association_orders_where_p_values_underflow() -> None:
    x = np.arange(40000) % 4
    y, z = np.where(x < 3, x, 0), np.where(x < 2, x, 0)
    test = fn.independence.GSquared(fn.Table.from_codes(np.column_stack([x, y, z])))
    assert test(0, 1, ()).p_value == test(0, 2, ()).p_value == 0
    assert test.association(0, 1, ()) > test.association(0, 2, ())


def test_a_test_uses_the_rows_that_are_complete_in_its_variables() -> None:
    table = random_table(3, 200, [2, 3, 2], missing=0.2)
    known = table.select(table.names[:2]).drop_missing()
    found, expected = fn.independence.GSquared(table)(0, 1, ()), fn.independence.GSquared(known)(0, 1, ())
    assert found == expected


def test_thousands_of_configurations_need_no_table_of_all() -> None:
    codes = np.random.default_rng(4).integers(0, 10, size=(500, 20))
    found = fn.independence.GSquared(fn.Table.from_codes(codes))(0, 1, tuple(range(2, 20)))
    assert (found.degrees_of_freedom, found.p_value) == (0, 1.0)
