"""The metrics of a Fisher kernel that are not the model's own: the plain product of scores, and scores of data."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, MissingValueError, SchemaError, ZeroProbabilityError
from fishernet.kernels.fisher.invariant import Invariant
from tests.networks import networks, random_network
from tests.reference.fisher import Floats, all_rows, assert_close, possible_rows, scale


def empirical(net: fn.BayesianNetwork, reference: fn.Table, X: Any, Y: Any) -> Floats:
    """s(x)^T A^+ s(y), A the average of s s^T over the reference, a row at a time."""
    weights = np.ones(reference.n_rows) if reference.weights is None else reference.weights
    A = np.zeros((net.n_parameters, net.n_parameters))
    for row, weight in enumerate(weights):
        (s,) = net.fisher_scores(reference[[row]])
        A += weight * np.outer(s, s)
    inverse = np.linalg.pinv(A / weights.sum(), rcond=1e-10, hermitian=True)
    gram: Floats = net.fisher_scores(X) @ inverse @ net.fisher_scores(Y).T
    return gram


def quarters() -> fn.BayesianNetwork:
    """All probabilities are multiples of 1/4, so 64 rows can follow the distribution exactly."""
    a, b, c = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1, 2]), fn.Variable("c", [0, 1])
    tables: dict[str, Any] = {
        "a": [0.25, 0.75],
        "b": [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]],
        "c": [[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]],
    }
    return fn.BayesianNetwork.from_tables([a, b, c], {"b": ["a"], "c": ["b"]}, tables)


def whole_distribution(net: fn.BayesianNetwork) -> fn.Table:
    """Every row of `quarters`, as often as its probability says."""
    rows = all_rows(net)
    times = 64 * np.exp(net.log_prob(rows))
    np.testing.assert_allclose(times, times.round(), rtol=1e-12)
    return fn.Table.from_codes(rows, net.variables, weights=times.round().astype(int))


# -------------------------------------------------------------------------------------------------------- practical


@settings(max_examples=50)
@given(networks(most_variables=4))
def test_practical_is_the_product_of_the_scores(net: fn.BayesianNetwork) -> None:
    rows = possible_rows(net, 30)
    kernel = fn.kernels.FisherKernel(net, metric="practical")
    scores = net.fisher_scores(rows)
    gram = scores @ scores.T
    size = scale(gram, gram) + 1e-9
    assert_close(kernel(rows, rows[:4]), gram[:, :4], size[:, :4])
    assert_close(kernel(rows), gram, size)
    assert_close(kernel.diag(rows), np.diag(gram), np.diag(size))


def test_practical_by_hand() -> None:
    """Lemma 1's scores: 1 / theta_k at k, and -1 / theta_r everywhere for the last state."""
    net = fn.BayesianNetwork.from_tables([fn.Variable("a", [0, 1, 2])], {}, {"a": [0.5, 0.25, 0.25]})
    kernel = fn.kernels.FisherKernel(net, metric="practical")
    np.testing.assert_allclose(kernel([[0], [1], [2]]), [[4, 0, -8], [0, 16, -16], [-8, -16, 32]], rtol=1e-13)


def test_practical_terms_are_the_products_of_one_variables_scores() -> None:
    net = random_network(3, [2, 3, 4])
    rows = all_rows(net)
    scores = net.fisher_scores(rows)
    widths = [c.probabilities.shape[0] * (c.probabilities.shape[1] - 1) for c in net.conditionals]
    parts = np.split(scores, np.cumsum(widths)[:-1], axis=1)
    terms = fn.kernels.FisherKernel(net, metric="practical").terms(rows)
    np.testing.assert_allclose(terms, [part @ part.T for part in parts], rtol=1e-12)


# -------------------------------------------------------------------------------------------------------- empirical


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_empirical_is_whitened_by_the_scores_of_the_reference(seed: int, cardinalities: list[int]) -> None:
    net = random_network(seed, cardinalities, sharp=2.0)
    reference = net.sample(200, seed=seed)
    rows = reference[:25]
    kernel = fn.kernels.FisherKernel(net, metric="empirical", reference=reference)
    gram = empirical(net, reference, rows, rows)
    size = scale(gram, gram) + 1e-6
    assert_close(kernel(rows, rows[:4]), gram[:, :4], size[:, :4], rtol=1e-7)
    assert_close(kernel(rows), gram, size, rtol=1e-7)
    assert_close(kernel.diag(rows), np.diag(gram), np.diag(size), rtol=1e-7)


def test_empirical_of_the_whole_distribution_is_invariant() -> None:
    """The average of s s^T under the model is the information, so both kernels are one."""
    net = quarters()
    kernel = fn.kernels.FisherKernel(net, metric="empirical", reference=whole_distribution(net))
    rows = all_rows(net)
    gram = fn.kernels.FisherKernel(net)(rows)
    assert_close(kernel(rows), gram, scale(gram, gram), rtol=1e-10)


@pytest.mark.parametrize("rare", [[1, 10**7 - 1], [10**7 - 1, 1], [6 * 10**6 - 1, 4 * 10**6, 1]])
def test_a_rare_state_does_not_hide_the_other_variables(rare: list[int]) -> None:
    """Weights that follow the distribution exactly give the invariant kernel, however rare a state."""
    a, b = fn.Variable("a", list(range(len(rare)))), fn.Variable("b", [0, 1, 2])
    ways = [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]][: len(rare)]
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, {"a": [n / 10**7 for n in rare], "b": ways})
    rows = all_rows(net)
    weights = np.array([4 * rare[i] * ways[i][j] for i, j in rows]).astype(int)
    reference = fn.Table.from_codes(rows, net.variables, weights=weights)
    gram = fn.kernels.FisherKernel(net)(rows)
    found = fn.kernels.FisherKernel(net, metric="empirical", reference=reference)(rows)
    assert_close(found, gram, scale(gram, gram), rtol=1e-6)


@pytest.mark.parametrize("n_rows", [1, 3, 8, 200])
def test_empirical_squares_average_to_the_rank(n_rows: int) -> None:
    """The mean of K(x, x) over the reference is tr(A^+ A), also where there are fewer rows than parameters."""
    net = quarters()
    reference = net.sample(n_rows, seed=n_rows)
    kernel = fn.kernels.FisherKernel(net, metric="empirical", reference=reference)
    rank = np.linalg.matrix_rank(net.fisher_scores(reference), tol=1e-9)
    assert kernel.diag(reference).mean() == pytest.approx(rank, rel=1e-9)


def test_empirical_has_no_terms() -> None:
    """A full matrix between the scores mixes the variables."""
    net = quarters()
    kernel = fn.kernels.FisherKernel(net, metric="empirical", reference=net.sample(50, seed=0))
    with pytest.raises(FishernetError, match="variables"):
        kernel.terms([[0, 0, 0]])


def test_the_weights_of_the_reference_count() -> None:
    net = quarters()
    rows = net.sample(60, seed=1)
    weights = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = fn.Table(rows.variables, rows.codes, weights=weights)
    repeated = rows[np.repeat(np.arange(60), weights)]
    one, two = (fn.kernels.FisherKernel(net, metric="empirical", reference=r) for r in (weighted, repeated))
    everywhere = all_rows(net)
    gram = two(everywhere)
    assert_close(one(everywhere), gram, scale(gram, gram), rtol=1e-9)
    unweighted = fn.kernels.FisherKernel(net, metric="empirical", reference=rows)(everywhere)
    assert not np.allclose(unweighted, gram, rtol=1e-3)


# ---------------------------------------------------------------------------------------------------------- common


def test_the_three_metrics_differ() -> None:
    net = quarters()
    rows = all_rows(net)
    grams = [
        fn.kernels.FisherKernel(net)(rows),
        fn.kernels.FisherKernel(net, metric="practical")(rows),
        fn.kernels.FisherKernel(net, metric="empirical", reference=net.sample(50, seed=0))(rows),
    ]
    for one, two in itertools.combinations(grams, 2):
        assert np.abs(one - two).max() > 0.1


@pytest.mark.parametrize("metric", ["practical", "empirical"])
def test_a_row_of_probability_zero_is_refused(metric: Any) -> None:
    a = fn.Variable("a", ["x", "y", "z"])
    net = fn.BayesianNetwork.from_tables([a], {}, {"a": [0.5, 0, 0.5]})
    reference = net.sample(20, seed=0) if metric == "empirical" else None
    kernel = fn.kernels.FisherKernel(net, metric=metric, reference=reference)
    assert np.isfinite(kernel([[0], [2]])).all()
    with pytest.raises(ZeroProbabilityError) as refused:
        kernel([[0], [1]])
    assert (refused.value.variable, refused.value.state) == ("a", "y")


def test_what_does_not_fit_is_refused() -> None:
    net = quarters()
    with pytest.raises(FishernetError, match="invariant"):
        fn.kernels.FisherKernel(net, metric="euclidean")  # type: ignore[arg-type]
    with pytest.raises(FishernetError, match="reference"):
        fn.kernels.FisherKernel(net, metric="empirical")
    with pytest.raises(FishernetError, match="reference"):
        fn.kernels.FisherKernel(net, reference=net.sample(5, seed=0))
    with pytest.raises(SchemaError, match="'c'"):
        reference = net.sample(10, seed=0).select(["a", "b"])
        fn.kernels.FisherKernel(net, metric="empirical", reference=reference)
    with pytest.raises(MissingValueError):
        missing = fn.Table.from_codes([[2, 0, 0]], net.variables)
        fn.kernels.FisherKernel(net, metric="empirical", reference=missing)
    with pytest.raises(SchemaError):
        fn.kernels.FisherKernel(net, metric="empirical", reference=net.sample(0, seed=0))
    some = net.sample(4, seed=0)
    with pytest.raises(SchemaError, match="positive weight"):
        weightless = fn.Table(some.variables, some.codes, weights=[0] * 4)
        fn.kernels.FisherKernel(net, metric="empirical", reference=weightless)


def test_what_falls_in_cells_is_counted_row_by_row() -> None:
    net = random_network(4, [3, 2, 4, 2])
    table = net.sample(30, seed=3)
    factors = np.random.default_rng(1).normal(size=30)
    rule = Invariant(net, fn.kernels.FisherKernel(net).group_probabilities)
    expected = []
    for conditional in net.conditionals:
        cells = np.zeros(conditional.probabilities.shape)
        for group, state, factor in zip(
            conditional.groups(table), table.codes[conditional.child], factors, strict=True
        ):
            cells[group, state] += factor
        expected.append(cells.ravel())
    sums = rule.weighed(table, factors)
    np.testing.assert_allclose(sums, np.concatenate(expected), atol=1e-12)
    gram = fn.kernels.FisherKernel(net)(table)
    np.testing.assert_allclose(rule.along(table, sums), gram @ factors, atol=1e-9)
    assert rule.squared_length(sums) == pytest.approx(factors @ gram @ factors, rel=1e-9)
