"""The Fisher kernel of a Bayesian network: every route of P1 leads to the same number."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import (
    FishernetError,
    MissingValueError,
    SchemaError,
    UnknownStateError,
    ZeroProbabilityError,
)
from tests.networks import networks, random_network
from tests.reference.fisher import (
    all_rows,
    assert_close,
    covered_arcs,
    definition_1,
    group_probabilities,
    joint,
    merged_network,
    network_with_a_covered_arc,
    possible_rows,
    row_groups,
    scale,
    theorem_1,
    turned,
)

A, B = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["u", "v", "w"])


# ------------------------------------------------------------------------------------------------------- the routes


@settings(max_examples=60)
@given(networks(most_variables=4))
def test_terms_their_sum_and_the_features_are_theorem_1(net: fn.BayesianNetwork) -> None:
    rows = possible_rows(net, 16)
    expected = theorem_1(net, rows, rows)
    gram, size = expected.sum(axis=0), np.abs(expected).sum(axis=0) + 1
    kernel = fn.kernels.FisherKernel(net)
    assert_close(kernel.terms(rows), expected, size)
    assert_close(kernel.terms(rows, rows[:7]), expected[:, :, :7], size[:, :7])
    assert_close(kernel(rows, rows[3:]), gram[:, 3:], size[:, 3:])
    assert_close(kernel(rows), gram, size)
    assert_close(kernel.diag(rows), np.diag(gram), np.diag(size))
    features = kernel.features(rows)
    assert (features.format, features.dtype, features.shape) == ("csr", np.float64, (len(rows), kernel.dimension))
    assert_close((features @ features.T).toarray(), gram, scale(gram, gram) + 1, rtol=1e-11)


@settings(max_examples=60)
@given(networks(most_variables=4, positive=True))
def test_the_kernel_is_the_product_of_scores_in_the_inverse_information(net: fn.BayesianNetwork) -> None:
    rows = possible_rows(net, 40)
    gram = definition_1(net, rows, rows)
    assert_close(fn.kernels.FisherKernel(net)(rows, rows[:5]), gram[:, :5], scale(gram, gram[:5, :5]) + 1, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_configurations_that_share_a_row_of_probabilities_are_one_configuration(seed: int) -> None:
    net = merged_network(seed)
    rows = all_rows(net)
    kernel = fn.kernels.FisherKernel(net)
    terms = theorem_1(net, rows, rows)
    assert_close(kernel.terms(rows), terms, np.abs(terms).max())
    assert_close(kernel(rows), definition_1(net, rows, rows), np.abs(terms).max(), rtol=1e-10)
    product = (kernel.features(rows) @ kernel.features(rows).T).toarray()
    assert_close(product, kernel(rows), np.abs(terms).max())


@settings(max_examples=60)
@given(networks(most_variables=4))
def test_features_have_mean_zero_and_their_squares_count_the_free_parameters(net: fn.BayesianNetwork) -> None:
    """E phi = 0 and E K(x, x) = tr(I^-1 I): a group that occurs has as many as states that occur in it, less one."""
    p = joint(net)
    rows, p = all_rows(net)[p > 0], p[p > 0]
    kernel = fn.kernels.FisherKernel(net)
    np.testing.assert_allclose(kernel.features(rows).T @ p, 0, atol=1e-10)
    free = sum(
        int((c.probabilities[group] > 0).sum()) - 1
        for c, probabilities in zip(net.conditionals, group_probabilities(net), strict=True)
        for group in np.flatnonzero(probabilities > 0)
    )
    assert p @ kernel.diag(rows) == pytest.approx(free, rel=1e-9, abs=1e-9)
    if len(rows) == len(all_rows(net)):
        assert free == net.n_parameters


# ---------------------------------------------------------------------------------------------------- worked examples


def test_lemma_1() -> None:
    """One variable: (1 - theta) / theta with itself, -1 with anything else."""
    net = fn.BayesianNetwork.from_tables([B], {}, {"b": [0.5, 0.125, 0.375]})
    expected = np.array([[1, -1, -1], [-1, 7, -1], [-1, -1, 5 / 3]])
    np.testing.assert_allclose(fn.kernels.FisherKernel(net)([[0], [1], [2]]), expected, rtol=1e-13)


@pytest.mark.parametrize(("arc", "expected"), [(False, 27 / 14), (True, 18 / 7)])
def test_example_5_1_structures_that_are_not_equivalent_give_other_kernels(arc: bool, expected: float) -> None:
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    of_b = [[0.4, 0.6], [0.4, 0.6]] if arc else [0.4, 0.6]
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"] if arc else []}, {"a": [0.7, 0.3], "b": of_b})
    assert fn.kernels.FisherKernel(net)([[0, 0]]) == pytest.approx(expected, rel=1e-13)


# ------------------------------------------------------------------------------- equivalent structures (Theorem 4)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 3), min_size=2, max_size=5), st.integers(0, 9))
def test_theorem_4_equivalent_structures_with_mapped_parameters_give_the_same_kernel(
    seed: int, cardinalities: list[int], pick: int
) -> None:
    net = other = network_with_a_covered_arc(seed, cardinalities)
    for turn in range(3):
        arcs = covered_arcs(other)
        other = turned(other, *arcs[(pick + turn) % len(arcs)])
    assert net.dag.is_equivalent(other.dag)
    np.testing.assert_allclose(joint(other), joint(net), rtol=1e-12)
    rows = possible_rows(net, 40)
    first, second = fn.kernels.FisherKernel(net)(rows), fn.kernels.FisherKernel(other)(rows)
    assert_close(second, first, scale(first, first) + 1, rtol=1e-10)


# --------------------------------------------------------------------------------------------- extremes and zeros


def test_a_variable_with_one_state_adds_nothing() -> None:
    one = fn.Variable("one", ["only"])
    net = fn.BayesianNetwork.from_tables([one, A], {"a": ["one"]}, {"one": [1.0], "a": [[0.25, 0.75]]})
    expected = np.array([[3, -1], [-1, 1 / 3]])
    np.testing.assert_allclose(fn.kernels.FisherKernel(net)([[0, 0], [0, 1]]), expected, rtol=1e-13)
    alone = fn.BayesianNetwork.from_tables([one], {}, {"one": [1.0]})
    assert fn.kernels.FisherKernel(alone)([[0], [0]]).tolist() == [[0, 0], [0, 0]]


def test_probabilities_of_1e_9_lose_no_digits() -> None:
    """A rare state under a rare parent: K of 1e18, against Theorem 1 in fractions."""
    rare = 2.0**-30  # what it leaves to 1 is exact
    tables: dict[str, Any] = {"a": [1 - rare, rare], "b": [[0.5, 0.25, 0.25], [rare, 0.5, 0.5 - rare]]}
    net = fn.BayesianNetwork.from_tables([A, B], {"b": ["a"]}, tables)
    rows = all_rows(net)
    of_a = [Fraction(p) for p in tables["a"]]
    of_b = [[Fraction(p) for p in row] for row in tables["b"]]

    points = [(int(a), int(b)) for a, b in rows]

    def exact(x: tuple[int, int], y: tuple[int, int]) -> tuple[Fraction, Fraction]:
        of_first = ((x[0] == y[0]) / of_a[x[0]]) - 1
        return of_first, (x[0] == y[0]) * ((x[1] == y[1]) / of_b[x[0]][x[1]] - 1) / of_a[x[0]]

    terms = np.array([[[float(exact(x, y)[i]) for y in points] for x in points] for i in range(2)])
    gram = np.array([[float(sum(exact(x, y))) for y in points] for x in points])
    kernel = fn.kernels.FisherKernel(net)
    assert gram.max() > 9e17
    np.testing.assert_allclose(kernel.terms(rows), terms, rtol=1e-12)
    assert_close(kernel(rows), gram, np.abs(terms).sum(axis=0))
    np.testing.assert_allclose(kernel.diag(rows), np.diag(gram), rtol=1e-12)
    product = (kernel.features(rows) @ kernel.features(rows).T).toarray()
    assert_close(product, gram, scale(gram, gram) + 1)


def zero_in_b() -> fn.BayesianNetwork:
    tables: dict[str, Any] = {"a": [0.5, 0.5], "b": [[0.5, 0, 0.5], [0.25, 0.25, 0.5]]}
    return fn.BayesianNetwork.from_tables([A, B], {"b": ["a"]}, tables)


def test_a_state_of_probability_zero_does_not_disturb_rows_that_lack_it() -> None:
    net = zero_in_b()
    rows = possible_rows(net)
    kernel = fn.kernels.FisherKernel(net)
    assert np.isfinite(kernel.features(rows).data).all()
    np.testing.assert_allclose(kernel(rows), theorem_1(net, rows, rows).sum(axis=0), rtol=1e-13)


@pytest.mark.parametrize(
    "call",
    [
        lambda k, rows: k(rows),
        lambda k, rows: k([[0, 0]], rows),
        lambda k, rows: k.diag(rows),
        lambda k, rows: k.features(rows),
        lambda k, rows: k.terms(rows),
        lambda k, rows: k.mean_features(rows),
    ],
)
def test_a_row_that_has_a_state_of_probability_zero_is_refused(call: Callable[[Any, Any], object]) -> None:
    with pytest.raises(ZeroProbabilityError) as refused:
        call(fn.kernels.FisherKernel(zero_in_b()), [[0, 0], [0, 1], [1, 1]])
    assert (refused.value.variable, refused.value.configuration, refused.value.state) == ("b", {"a": "x"}, "v")


def test_a_row_that_has_a_configuration_of_probability_zero_is_refused() -> None:
    positive = fn.BayesianNetwork.from_tables([A, B], {"b": ["a"]}, {"a": [0.5, 0.5], "b": [[0.5, 0.2, 0.3]] * 2})
    with pytest.raises(ZeroProbabilityError) as refused:
        fn.kernels.FisherKernel(positive, group_probabilities=[[1.0], [1.0, 0.0]])([[0, 0], [1, 0]])
    assert (refused.value.variable, refused.value.configuration, refused.value.state) == ("b", {"a": "y"}, None)
    impossible = fn.BayesianNetwork.from_tables([A, B], {"b": ["a"]}, {"a": [1, 0], "b": [[0.5, 0.2, 0.3]] * 2})
    assert np.isfinite(fn.kernels.FisherKernel(impossible)([[0, 0], [0, 1]])).all()
    with pytest.raises(ZeroProbabilityError):
        fn.kernels.FisherKernel(impossible)([[0, 0], [1, 0]])


# -------------------------------------------------------------------------------------- probabilities of the groups


@pytest.mark.parametrize("method", ["auto", "tree", "elimination"])
def test_every_exact_method_gives_the_same_kernel(method: str) -> None:
    net = random_network(4, [2, 3, 4, 2, 3])
    rows = possible_rows(net, 60)
    given_list = fn.kernels.FisherKernel(net, group_probabilities=group_probabilities(net))
    expected = given_list(rows)
    got = fn.kernels.FisherKernel(net, group_probabilities=method)(rows)
    assert_close(got, expected, scale(expected, expected))


def test_given_probabilities_are_used_as_they_are() -> None:
    net = random_network(4, [2, 3, 4])
    rows = all_rows(net)
    uniform = [np.full(len(p), 1 / len(p)) for p in group_probabilities(net)]
    terms = fn.kernels.FisherKernel(net, group_probabilities=uniform).terms(rows)
    for i, c in enumerate(net.conditionals):
        groups = np.array(row_groups(c, rows))
        other = (groups[:, None] == groups) & (rows[:, i, None] != rows[:, i])
        assert other.any()
        np.testing.assert_allclose(terms[i][other], -len(c.probabilities), rtol=1e-13)


def test_sampled_probabilities_are_near_and_repeat_with_the_seed() -> None:
    net = fn.BayesianNetwork.from_tables(
        [A, B], {"b": ["a"]}, {"a": [0.4, 0.6], "b": [[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]]}
    )
    rows = all_rows(net)
    sampled = fn.kernels.FisherKernel(net, group_probabilities="sample", seed=1)
    np.testing.assert_allclose(sampled.terms(rows), fn.kernels.FisherKernel(net).terms(rows), rtol=0.02)
    again = fn.kernels.FisherKernel(net, group_probabilities="sample", seed=1)
    np.testing.assert_array_equal(sampled(rows), again(rows))
    other = fn.kernels.FisherKernel(net, group_probabilities="sample", seed=2)
    assert not np.array_equal(sampled(rows), other(rows))


@pytest.mark.parametrize(
    "wrong",
    ["no such method", [[1.0]], [[1.0], [1.0]], [[1.0], [0.5, -0.5]], [[1.0], [0.5, np.nan]], [[1.0], [[0.5, 0.5]]]],
)
def test_probabilities_that_do_not_fit_are_refused(wrong: Any) -> None:
    with pytest.raises(FishernetError):
        fn.kernels.FisherKernel(zero_in_b(), group_probabilities=wrong)


# ------------------------------------------------------------------------------------------------------- data meets it


def test_columns_and_states_in_other_orders_give_the_same_numbers() -> None:
    net = random_network(3, [2, 3, 4])
    kernel, table = fn.kernels.FisherKernel(net), net.sample(50, seed=0)
    other = table.select(["v2", "v0", "v1"])
    other = other.conform([fn.Variable(v.name, v.states[::-1]) for v in other.variables])
    np.testing.assert_array_equal(kernel(other), kernel(table))
    np.testing.assert_array_equal(kernel(np.stack(table.codes, axis=1)), kernel(table))
    assert kernel.model is net


def test_what_does_not_fit_is_named() -> None:
    kernel = fn.kernels.FisherKernel(random_network(3, [2, 3]))
    with pytest.raises(SchemaError, match="lacks the column 'v1'"):
        kernel(fn.Table.from_frame({"v0": ["s0"]}))
    with pytest.raises(UnknownStateError, match="column 'v1', row 1: the label 'x'"):
        kernel(fn.Table.from_frame({"v0": ["s0", "s1"], "v1": ["s2", "x"]}))
    with pytest.raises(MissingValueError, match=r"missing in 'v0' \(1\)"):
        kernel([[2, 0]])
    with pytest.raises(SchemaError, match="row 0: the code 9"):
        kernel([[0, 0]], [[0, 9]])


# --------------------------------------------------------------------------------------------------- large and exact


def test_large_tables_equal_the_feature_product() -> None:
    net = random_network(5, [3, 4, 2, 5, 3, 300])
    X, Y = net.sample(1100, seed=1), net.sample(700, seed=2)
    kernel = fn.kernels.FisherKernel(net)
    first, second = kernel.features(X), kernel.features(Y)
    size = np.sqrt(np.outer(kernel.diag(X), kernel.diag(Y)))
    gram = kernel(X, Y)
    assert_close(gram, (first @ second.T).toarray(), size, rtol=1e-11)
    for rows, columns in itertools.product([slice(0, 3), slice(1090, None)], [slice(0, 2), slice(695, None)]):
        np.testing.assert_allclose(gram[rows, columns], kernel(X[rows], Y[columns]), rtol=1e-12)


def test_a_network_without_variables_is_refused() -> None:
    with pytest.raises(fn.SchemaError, match="variables"):
        fn.kernels.FisherKernel(fn.BayesianNetwork([], []))


def test_a_dependency_network_has_no_fisher_kernel_and_is_told_why() -> None:
    dn = fn.DependencyNetwork.from_joint(fn.datasets.load("asia"), allow_zeros=True)
    with pytest.raises(fn.SchemaError, match="needs a likelihood in closed form"):
        fn.kernels.FisherKernel(dn)
