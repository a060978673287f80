"""The kernel and the distance of whole tables (P1, section 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import MissingValueError, SchemaError
from tests.networks import random_network
from tests.reference.fisher import (
    WithoutFeatures,
    family_counts,
    on_threads,
    repeated,
    row_groups,
    rows_of,
    set_kernel,
    set_kernel_of_counts,
    squared_mmd,
    theorem_1,
    weights_of,
)
from tests.tables import random_table


@st.composite
def situations(draw: st.DrawFn) -> tuple[fn.BayesianNetwork, fn.Table, fn.Table]:
    """A positive network and two tables of its variables, weighted or not."""
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    net = random_network(draw(st.integers(0, 2**32)), cardinalities, sharp=2.0)
    tables = [
        random_table(draw(st.integers(0, 2**32)), draw(st.integers(1, 12)), cardinalities, weighted=draw(st.booleans()))
        for _ in range(2)
    ]
    assume(all(sum(weights_of(t)) > 0 for t in tables))
    return net, tables[0], tables[1]


def literal(net: fn.BayesianNetwork) -> Any:
    return lambda X, Y: theorem_1(net, rows_of(X), rows_of(Y)).sum(axis=0)


def size_of(net: fn.BayesianNetwork, *tables: fn.Table) -> float:
    """The largest K(x, x), which rounding is measured by."""
    return 1 + max(float(fn.kernels.FisherKernel(net).diag(t).max()) for t in tables)


# ------------------------------------------------------------------------------------------------------- definitions


@settings(max_examples=60)
@given(situations())
def test_means_of_pairs_formulas_of_counts_and_equal_rows_agree(
    case: tuple[fn.BayesianNetwork, fn.Table, fn.Table],
) -> None:
    """The set kernel is the mean over all pairs, and a formula of counts; the squared distance is Eq. 10."""
    net, X, Y = case
    kernel = fn.kernels.FisherKernel(net)
    near: Any = {"rel": 1e-9, "abs": 1e-12 * size_of(net, X, Y)}
    similarity, distance = fn.kernels.set_kernel(kernel, X, Y), fn.compare.mmd(kernel, X, Y)
    assert (type(similarity), type(distance)) == (float, float)
    assert similarity == pytest.approx(set_kernel(literal(net), X, Y), **near)
    assert similarity == pytest.approx(set_kernel_of_counts(net, X, Y), **near)
    assert distance == pytest.approx(squared_mmd(literal(net), X, Y), **near)
    assert distance >= 0
    plain = WithoutFeatures(kernel)
    assert fn.kernels.set_kernel(plain, X, Y) == pytest.approx(similarity, **near)
    assert fn.compare.mmd(plain, X, Y) == pytest.approx(distance, **near)
    radial = fn.kernels.Rbf(kernel, 2.0)
    for function in (fn.kernels.set_kernel, fn.compare.mmd):  # a weight is a number of equal rows
        for k in (kernel, radial):
            assert function(k, X, Y) == pytest.approx(function(k, repeated(X), repeated(Y)), **near)


# -------------------------------------------------------------------------------------------------------------- facts


def test_the_univariate_set_kernel() -> None:
    """P1, 6.1: sum_k N_k M_k / (N M theta_k) - 1."""
    a = fn.Variable("a", ["x", "y", "z"])
    net = fn.BayesianNetwork.from_tables([a], {}, {"a": [0.5, 0.25, 0.25]})
    X, Y = [[0], [0], [1], [2]], [[0], [1]]
    expected = (2 / 4) * (1 / 2) / 0.5 + (1 / 4) * (1 / 2) / 0.25 - 1
    assert fn.kernels.set_kernel(fn.kernels.FisherKernel(net), X, Y) == pytest.approx(expected, abs=1e-13)


def test_tables_with_equal_family_counts_are_at_distance_zero_though_they_differ() -> None:
    """In a chain a -> b -> c the model sees pairs only: who is with whom across b is nothing to it."""
    variables = [fn.Variable(name, [0, 1]) for name in "abc"]
    tables: dict[str, Any] = {"a": [0.3, 0.7], "b": [[0.6, 0.4], [0.2, 0.8]], "c": [[0.9, 0.1], [0.5, 0.5]]}
    net = fn.BayesianNetwork.from_tables(variables, {"b": ["a"], "c": ["b"]}, tables)
    X = fn.Table.from_codes([[0, 0, 0], [1, 0, 1], [0, 1, 1]], variables)
    Y = fn.Table.from_codes([[0, 0, 1], [1, 0, 0], [0, 1, 1]], variables)
    assert sorted(rows_of(X).tolist()) != sorted(rows_of(Y).tolist())
    assert all(family_counts(c, X) == family_counts(c, Y) for c in net.conditionals)
    kernel = fn.kernels.FisherKernel(net)
    assert fn.compare.mmd(kernel, X, Y) == pytest.approx(0, abs=1e-13)
    assert fn.compare.mmd(WithoutFeatures(kernel), X, Y) == pytest.approx(0, abs=1e-12)
    other = fn.BayesianNetwork.from_tables(
        variables, {"b": ["a"], "c": ["a"]}, {"a": [0.3, 0.7], "b": [[0.6, 0.4], [0.2, 0.8]], "c": [[0.9, 0.1]] * 2}
    )
    assert fn.compare.mmd(fn.kernels.FisherKernel(other), X, Y) > 0.1  # here a and c are a family


@pytest.mark.parametrize("seed", range(3))
def test_a_table_is_at_distance_zero_from_itself(seed: int) -> None:
    net = random_network(seed, [2, 3, 4])
    table = net.sample(500, seed=seed)
    kernel = fn.kernels.FisherKernel(net)
    order = np.random.default_rng(seed).permutation(500)
    assert fn.compare.mmd(kernel, table, table) == pytest.approx(0, abs=1e-12)
    assert fn.compare.mmd(kernel, table, table[order]) == pytest.approx(0, abs=1e-12)
    assert fn.compare.mmd(WithoutFeatures(kernel), table, table) == pytest.approx(0, abs=1e-10)


def test_two_tables_of_one_row_are_at_the_distance_of_the_rows() -> None:
    net = random_network(2, [2, 3, 4])
    kernel = fn.kernels.FisherKernel(net)
    X, Y = net.sample(1, seed=1), net.sample(1, seed=2)
    assert rows_of(X).tolist() != rows_of(Y).tolist()
    expected = kernel.diag(X)[0] + kernel.diag(Y)[0] - 2 * kernel(X, Y)[0, 0]
    assert fn.compare.mmd(kernel, X, Y) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_network_of_maximum_likelihood_puts_the_mean_at_zero(seed: int) -> None:
    """The scores of the data a model was fitted to sum to 0."""
    table = random_table(seed, 400, [2, 3, 2, 3], weighted=True)
    dag = fn.Dag.from_edges(table.names, [("v0", "v1"), ("v1", "v2"), ("v1", "v3")])
    net = fn.learn.parameters(dag, table, smoothing=0)
    used = table[np.array(weights_of(table)) > 0]
    kernel = fn.kernels.FisherKernel(net)
    size = np.abs(kernel.features(used).data).max()
    np.testing.assert_allclose(kernel.mean_features(used), 0, atol=1e-13 * size)
    assert fn.kernels.set_kernel(kernel, used, used) == pytest.approx(0, abs=1e-12 * size)


def test_large_tables_are_averaged_in_any_number_of_threads() -> None:
    """More rows than any block, against the counts of the families; and the same bits on one thread as on two."""
    net = random_network(5, [3, 4, 2, 5])
    X, Y = net.sample(9000, seed=1), net.sample(5000, seed=2)
    kernel = fn.kernels.FisherKernel(net)
    size = size_of(net, X, Y)
    got = fn.kernels.set_kernel(kernel, X, Y)
    assert got == pytest.approx(set_kernel_of_counts(net, X, Y), rel=1e-9, abs=1e-13 * size)
    one, two = (on_threads(n, lambda: fn.compare.mmd(kernel, X, Y)) for n in (1, 2))
    assert one == two
    plain = WithoutFeatures(kernel)
    one, two = (on_threads(n, lambda: fn.compare.mmd(plain, X[:900], Y[:1300])) for n in (1, 2))
    assert one == two
    assert one == pytest.approx(fn.compare.mmd(kernel, X[:900], Y[:1300]), abs=1e-12 * size)


def test_groups_that_are_empty_in_one_table_add_nothing() -> None:
    """ERRATA P1.1: an empty x_ij contributes 0."""
    net = random_network(1, [2, 3], sharp=2.0)
    child = next(c for c in net.conditionals if c.parents)
    rows = np.array([[a, b] for a in range(2) for b in range(3)])
    groups = np.array(row_groups(child, rows))
    X, Y = (fn.Table.from_codes(rows[groups == g], net.variables) for g in (0, 1))
    terms = fn.kernels.FisherKernel(net).terms(X, Y)
    np.testing.assert_array_equal(terms[child.child], 0)
    expected = terms[1 - child.child].mean()
    assert fn.kernels.set_kernel(fn.kernels.FisherKernel(net), X, Y) == pytest.approx(expected, rel=1e-12)


def test_tables_from_one_source_come_nearer_than_tables_from_two() -> None:
    """The distance of two samples of the model falls like 1 / n; to another distribution it does not."""
    net, other = random_network(1, [2, 3, 4]), random_network(2, [2, 3, 4])
    kernel = fn.kernels.FisherKernel(net)
    same = [fn.compare.mmd(kernel, net.sample(n, seed=1), net.sample(n, seed=2)) for n in (100, 10_000)]
    apart = fn.compare.mmd(kernel, net.sample(10_000, seed=1), other.sample(10_000, seed=2))
    # E = n_parameters (1/n + 1/n) for two samples of the model
    assert same[1] < 3 * net.n_parameters * 2 / 10_000
    assert same[1] < same[0] < apart


def test_the_expectation_of_the_distance_of_two_samples() -> None:
    """E phi = 0 and E |phi|^2 = n_parameters, so E d(X, Y) = n_parameters (1/n + 1/m)."""
    net = random_network(3, [2, 3], sharp=5.0)
    kernel = fn.kernels.FisherKernel(net)
    expected = net.n_parameters * (1 / 40 + 1 / 60)
    distances = np.array(
        [fn.compare.mmd(kernel, net.sample(40, seed=2 * i), net.sample(60, seed=2 * i + 1)) for i in range(400)]
    )
    assert abs(distances.mean() - expected) < 5 * distances.std() / np.sqrt(400)


# ---------------------------------------------------------------------------------------------------------- refusals


def test_an_empty_table_has_no_mean() -> None:
    net = random_network(0, [2, 3])
    some = net.sample(5, seed=0)
    weightless = fn.Table(some.variables, some.codes, weights=[0] * 5)
    fisher = fn.kernels.FisherKernel(net)
    for kernel in (fisher, WithoutFeatures(fisher), fn.kernels.Rbf(fisher, 1.0)):
        for function in (fn.kernels.set_kernel, fn.compare.mmd):
            for empty in (some[:0], weightless):
                for pair in ((empty, some), (some, empty)):
                    with pytest.raises(SchemaError):
                        function(kernel, *pair)


def test_tables_that_do_not_fit_are_refused() -> None:
    net = random_network(0, [2, 3])
    kernel, some = fn.kernels.FisherKernel(net), net.sample(5, seed=0)
    with pytest.raises(SchemaError, match="'v1'"):
        fn.kernels.set_kernel(kernel, some, some.select(["v0"]))
    with pytest.raises(MissingValueError):
        fn.compare.mmd(kernel, some, fn.Table.from_codes([[2, 0]], net.variables))
