"""What a selection holds, and the table it makes."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError
from tests.networks import random_network
from tests.reference.fisher import Floats, WithoutFeatures, rows_of, theorem_1, weights_of
from tests.tables import random_table

CARDINALITIES = [2, 3, 2]


def nearest_weights(distances: Floats, weights: list[int]) -> list[int]:
    """The weight of the rows nearest to each chosen one, (chosen, rows) distances; ties to the first chosen."""
    found = [0] * len(distances)
    rounding = 1e-9 * (1 + np.abs(distances).max())
    for row, weight in enumerate(weights):
        column = distances[:, row]
        found[int(np.argmax(column <= column.min() + rounding))] += weight
    return found


def by_kernel(net: fn.BayesianNetwork, table: fn.Table, chosen: list[int]) -> list[int]:
    rows = rows_of(table)
    gram = theorem_1(net, rows, rows).sum(axis=0)
    squares = np.diag(gram)
    distances = np.array([[squares[c] + squares[r] - 2 * gram[c, r] for r in range(len(rows))] for c in chosen])
    return nearest_weights(distances, weights_of(table))


def by_cells(table: fn.Table, chosen: list[int]) -> list[int]:
    rows = rows_of(table)
    different = np.array([[float((rows[c] != rows[r]).sum()) for r in range(len(rows))] for c in chosen])
    return nearest_weights(different, weights_of(table))


def selections(table: fn.Table, net: fn.BayesianNetwork) -> dict[str, Any]:
    kernel = fn.kernels.FisherKernel(net)
    return {
        "mmd": fn.select.greedy_mmd(kernel, table, 5, n_starts=5, seed=1),
        "mmd without features": fn.select.greedy_mmd(WithoutFeatures(kernel), table, 5, n_starts=5, seed=1),
        "chi-square": fn.select.greedy_chi_square(table, 5, n_starts=5, seed=1),
        "random": fn.select.random_subset(table, 5, seed=1),
    }


KINDS = ["mmd", "mmd without features", "chi-square", "random"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_table_and_the_frame_have_the_chosen_rows_and_the_weight_of_all(kind: str, weighted: bool) -> None:
    table = random_table(3, 40, CARDINALITIES, weighted=weighted)
    found = selections(table, fn.learn.bayesian_network(table))[kind]
    assert (found.indices.dtype, found.indices.shape) == (np.int64, (5,))
    assert (type(found.distance), type(found.sweeps)) == (float, int)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.distance = 0.0
    small, frame = found.as_table(), found.to_frame()
    assert small.variables == table.variables
    np.testing.assert_array_equal(rows_of(small), rows_of(table)[found.indices])
    assert small.weights.sum() == sum(weights_of(table))
    assert frame["row"].to_pylist() == found.indices.tolist()
    for variable, column in zip(table.variables, table.codes, strict=True):
        labels = [variable.states[code] for code in column[found.indices]]
        assert frame[variable.name].to_pylist() == labels


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.booleans(), st.lists(st.integers(0, 19), min_size=1, max_size=6, unique=True))
def test_rows_are_counted_where_the_kernel_finds_them_nearest(seed: int, weighted: bool, start: list[int]) -> None:
    table = random_table(seed, 20, CARDINALITIES, weighted=weighted)
    if not sum(weights_of(table)):
        return
    net = random_network(seed, CARDINALITIES, sharp=2.0)
    kernel = fn.kernels.FisherKernel(net)
    for k in (kernel, WithoutFeatures(kernel)):
        found = fn.select.greedy_mmd(k, table, len(start), start=start)
        weights = found.as_table().weights
        assert weights is not None
        assert weights.tolist() == by_kernel(net, table, found.indices.tolist())


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.booleans(), st.integers(1, 8))
def test_without_a_kernel_rows_are_counted_where_most_cells_are_equal(seed: int, weighted: bool, k: int) -> None:
    table = random_table(seed, 20, [2, 3, 2, 4])
    if weighted:
        weights = np.random.default_rng(seed).integers(1, 5, size=20)
        table = fn.Table(table.variables, table.codes, weights=weights)
    for found in (fn.select.random_subset(table, k, seed=seed), fn.select.greedy_chi_square(table, k, seed=seed)):
        small = found.as_table().weights
        assert small is not None
        assert small.tolist() == by_cells(table, found.indices.tolist())


def test_equal_chosen_rows_share_nothing_the_first_has_it_all() -> None:
    """Ties go to the earliest position."""
    table = fn.Table.from_codes([[0], [1], [0], [0], [1]], [fn.Variable("a", [0, 1])])
    net = fn.BayesianNetwork.from_tables(table.variables, {}, {"a": [0.5, 0.5]})
    every = fn.select.greedy_mmd(fn.kernels.FisherKernel(net), table, 5, start=[2, 4, 0, 1, 3])
    weights = every.as_table().weights
    assert weights is not None
    assert weights.tolist() == [3, 2, 0, 0, 0]


@pytest.mark.parametrize("theta", [0.3, 0.1, 0.45, 0.7])
def test_rows_at_equal_distances_of_other_roundings_go_to_the_first(theta: float) -> None:
    """(0, 0, 0) differs from each chosen row in one of three variables that are distributed alike."""
    variables = [fn.Variable(name, [0, 1]) for name in "abc"]
    net = fn.BayesianNetwork.from_tables(variables, {}, {name: [theta, 1 - theta] for name in "abc"})
    kernel = fn.kernels.FisherKernel(net)
    ones = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    for order in itertools.permutations(range(3)):
        table = fn.Table.from_codes([*(ones[i] for i in order), *[[0, 0, 0]] * 7], variables)
        for k in (kernel, WithoutFeatures(kernel)):
            # the search would choose other rows; the table of these is asked for
            found = dataclasses.replace(fn.select.greedy_mmd(k, table, 3, start=[0, 1, 2]), indices=np.arange(3))
            weights = found.as_table().weights
            assert weights is not None
            assert weights.tolist() == [8, 1, 1]


def test_a_chosen_row_stands_for_itself() -> None:
    """With every row chosen and no two equal, each has its own weight."""
    rows = np.array([[a, b] for a in range(2) for b in range(3)])
    variables = [fn.Variable("v0", ["s0", "s1"]), fn.Variable("v1", ["s0", "s1", "s2"])]
    table = fn.Table.from_codes(rows, variables, weights=[5, 1, 4, 2, 3, 6])
    kernel = fn.kernels.FisherKernel(random_network(2, [2, 3], sharp=2.0))
    found = fn.select.greedy_mmd(kernel, table, 6, start=[3, 1, 5, 0, 2, 4])
    weights = found.as_table().weights
    assert weights is not None
    assert weights.tolist() == [2, 1, 6, 5, 4, 3]


# --------------------------------------------------------------------------------------------------- rows at random

TABLE = random_table(1, 50, [2, 3, 4])


@given(st.integers(1, 50), st.integers(0, 2**32))
def test_the_rows_are_different_rows_of_the_table(k: int, seed: int) -> None:
    found = fn.select.random_subset(TABLE, k, seed=seed)
    assert found.sweeps == 0
    assert len(np.unique(found.indices)) == k
    assert 0 <= found.indices.min() <= found.indices.max() < 50


def test_every_row_and_every_pair_is_as_likely() -> None:
    """6000 draws of 3 among 8 rows: a row is in 3/8 of them, a pair in 3/28."""
    table = random_table(1, 8, [2, 3])
    together = np.zeros((8, 8))
    first = np.zeros(8)
    for seed in range(6000):
        rows = fn.select.random_subset(table, 3, seed=seed).indices
        together[np.ix_(rows, rows)] += 1
        first[rows[0]] += 1
    for share, p in ((np.diag(together), 3 / 8), (together[np.triu_indices(8, 1)], 3 / 28)):
        z = (share - 6000 * p) / np.sqrt(6000 * p * (1 - p))
        assert np.abs(z).max() < 5


def test_a_seed_repeats_a_selection() -> None:
    one, two, other = (fn.select.random_subset(TABLE, 10, seed=s).indices for s in (7, 7, 8))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    free = fn.select.random_subset(TABLE, 10)
    np.testing.assert_array_equal(fn.select.random_subset(TABLE, 10, seed=free.seed).indices, free.indices)
    rng = np.random.default_rng(7)
    first, second = (fn.select.random_subset(TABLE, 10, seed=rng).indices for _ in range(2))
    equal = fn.select.random_subset(TABLE, 10, seed=np.random.default_rng(7)).indices
    np.testing.assert_array_equal(equal, first)
    assert not np.array_equal(second, first)


@pytest.mark.parametrize("k", [0, -1, 51, 2.5, "3", None])
def test_a_size_that_is_none_is_refused(k: Any) -> None:
    with pytest.raises(FishernetError):
        fn.select.random_subset(TABLE, k, seed=0)


def test_a_table_of_chosen_rows_weighs_what_the_whole_one_does() -> None:
    net = random_network(3, [3, 2, 4, 2])
    table = net.sample(60, seed=1)
    kernel = fn.kernels.FisherKernel(net)
    own = fn.select.protodash(kernel, table, 6)
    assert own.weights is not None
    np.testing.assert_allclose(np.asarray(own.as_table().weights), own.weights * 60 / own.weights.sum())
    np.testing.assert_allclose(np.asarray(own.as_table(weights="equal").weights), 60 / len(own.indices))
    np.testing.assert_array_equal(own.as_table(weights="nearest").weights, own.stands_for())
    plain = fn.select.mmd_critic(kernel, table, 6)
    np.testing.assert_array_equal(plain.as_table().weights, plain.stands_for())
    np.testing.assert_allclose(np.asarray(plain.as_table(weights="equal").weights), 10)
    with pytest.raises(fn.SchemaError, match="no weights of its own"):
        plain.as_table(weights="own")
    with pytest.raises(fn.SchemaError, match="weights"):
        plain.as_table(weights="some")  # type: ignore[arg-type]
