"""A network's parameters, fitted to other rows: graph and groups stay."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import MissingValueError
from fishernet.learn.fitting import refitted
from tests.kernels.test_parts import MERGED
from tests.networks import random_network, with_holes

MIXED = random_network(5, [3, 2, 4, 1, 3])


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_full_tables_are_those_of_a_fit(smoothing: float, weighted: bool) -> None:
    rows = MIXED.sample(200, seed=1)
    weights = np.random.default_rng(2).integers(0, 8, size=200) / 4 if weighted else None
    table = fn.Table(rows.variables, rows.codes, weights=weights)
    found = refitted(MIXED, table, smoothing=smoothing)
    expected = fn.learn.parameters(MIXED.dag, table, smoothing=smoothing)
    for one, other in zip(found.conditionals, expected.conditionals, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-12)
    assert found.dag == MIXED.dag
    assert found.n_rows == expected.n_rows == table.total


def test_rows_that_share_probabilities_share_counts() -> None:
    table = MERGED.sample(300, seed=1)
    found = refitted(MERGED, table, smoothing=0.5)
    merged = found.conditionals[2]
    of_group = merged.groups(table)
    for group in range(3):
        counts = np.bincount(table.codes[2][of_group == group], minlength=2) + 0.5
        np.testing.assert_allclose(merged.probabilities[group], counts / counts.sum(), rtol=1e-12)
    assert type(merged) is type(MERGED.conditionals[2])
    np.testing.assert_array_equal(merged.groups(table), MERGED.conditionals[2].groups(table))


def test_a_group_without_a_row_is_uniform_where_nothing_is_added() -> None:
    found = refitted(MIXED, MIXED.sample(1, seed=1), smoothing=0.0)
    for conditional in found.conditionals:
        rows = np.asarray(conditional.probabilities)
        assert np.isin(np.round(rows, 12), [0.0, 1.0, round(1 / rows.shape[1], 12)]).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1)


def test_columns_in_another_order_and_regressions() -> None:
    rows = MIXED.sample(100, seed=1)
    turned = refitted(MIXED, rows.select(MIXED.names[::-1]))
    assert turned.names == MIXED.names
    for one, other in zip(turned.conditionals, refitted(MIXED, rows).conditionals, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
    gaussian = fn.learn.bayesian_network(np.random.default_rng(1).normal(size=(50, 3)).cumsum(axis=1))
    rows = gaussian.sample(80, seed=2)
    found, expected = refitted(gaussian, rows), fn.learn.parameters(gaussian.dag, rows)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12)


def test_rows_with_holes_are_refused() -> None:
    with pytest.raises(MissingValueError, match="a fit needs a table without missing cells"):
        refitted(MIXED, with_holes(MIXED, 50, 1, 0.3))
