"""The Fisher kernel of networks of labels and numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag

import fishernet as fn
from tests.reference.mixed import Joint, random_network

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_has_the_inverse_information_between_scores(seed: int) -> None:
    net = random_network(seed)
    X, Y = net.sample(7, seed=1), net.sample(5, seed=2)
    between = block_diag(*(np.linalg.inv(block) for of in net.fisher_information() for block in of if len(block)))
    expected = net.fisher_scores(X) @ between @ net.fisher_scores(Y).T
    kernel = fn.kernels.FisherKernel(net)
    scale = np.sqrt(np.outer(kernel.diag(X), kernel.diag(Y)))
    np.testing.assert_allclose(kernel(X, Y) / scale, expected / scale, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_information_is_the_expected_product_of_scores(seed: int) -> None:
    """By simulation: each parameter in units of its own spread."""
    net = random_network(seed, labels=2, numbers=2)
    scores = net.fisher_scores(net.sample(60_000, seed=seed))
    information = block_diag(*(block for of in net.fisher_information() for block in of))
    size = np.sqrt(np.diag(information))
    apart = (scores.T @ scores / len(scores) - information) / size[:, None] / size
    spread = np.sqrt((scores**2).T @ scores**2 / len(scores)) / size[:, None] / size  # of a product of two scores
    assert (np.abs(apart) < 6 * spread / np.sqrt(len(scores)) + 1e-9).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_features_terms_and_means_agree_with_the_matrix(seed: int) -> None:
    net = random_network(seed)
    kernel, X, Y = fn.kernels.FisherKernel(net), net.sample(8, seed=3), net.sample(6, seed=4)
    K = kernel(X, Y)
    size = np.abs(K).max()
    phi, psi = kernel.features(X), kernel.features(Y)
    np.testing.assert_allclose((phi @ psi.T).toarray(), K, atol=1e-9 * size)
    np.testing.assert_allclose(kernel.terms(X, Y).sum(axis=0), K, atol=1e-9 * size)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-9)
    many = net.sample(600, seed=6)
    whole = kernel(many)
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_allclose(whole[500:, :9], kernel(many[500:], many[:9]), atol=1e-9 * np.abs(whole).max())
    np.testing.assert_allclose(kernel.mean_features(X), np.asarray(phi.mean(axis=0)).ravel(), atol=1e-9 * size)
    parts: Any = kernel.feature_parts
    assert len(parts.variable_of) == kernel.dimension == phi.shape[1]
    assert parts.degrees_of_freedom.sum() == net.n_parameters


def test_under_the_model_the_mean_feature_is_nothing_and_the_length_the_number_of_parameters() -> None:
    net = random_network(2, labels=2, numbers=3)
    kernel, rows = fn.kernels.FisherKernel(net), net.sample(50_000, seed=5)
    assert kernel.mean_features(rows) @ kernel.mean_features(rows) < 3 * net.n_parameters / 50_000
    assert kernel.diag(rows).mean() == pytest.approx(net.n_parameters, rel=0.1)


def test_it_does_not_depend_on_units() -> None:
    rng = np.random.default_rng(1)
    label, x = rng.integers(0, 2, 300), rng.normal(size=300)
    y = x * (1 + label) + rng.normal(size=300)
    found = []
    for unit, shift in ((1.0, 0.0), (1e-6, 3.0), (1e6, -1e7)):
        table = fn.Table.from_frame({"l": np.array(["a", "b"])[label], "x": unit * x + shift, "y": y})
        net = fn.learn.parameters(fn.Dag.from_edges(table.names, [("l", "y"), ("x", "y")]), table)
        found.append(fn.kernels.FisherKernel(net)(table[:20]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-6, atol=1e-6)


def test_tables_are_compared_by_it_and_rows_chosen() -> None:
    rng = np.random.default_rng(3)

    def rows(n: int, slope: float) -> fn.Table:
        label, x = rng.integers(0, 2, n), rng.normal(size=n)
        return fn.Table.from_frame(
            {"l": np.array(["a", "b"])[label], "x": x, "y": slope * x + label + rng.normal(size=n)}
        )

    first, same, changed = rows(800, 1.0), rows(800, 1.0), rows(800, 0.2)
    kernel = fn.kernels.FisherKernel(fn.learn.bayesian_network(first))
    assert fn.compare.mmd(kernel, first, same) < fn.compare.mmd(kernel, first, changed)
    assert fn.compare.two_sample_test(first, changed, kernel, seed=1).p_value < 0.01
    assert fn.select.greedy_mmd(kernel, first, 20).rows.n_rows == 20


NODES = np.array([-np.sqrt(3), 0, np.sqrt(3)])  # of Gauss and Hermite: exact up to the fifth degree
NODE_WEIGHTS = np.array([1, 4, 1]) / 6


def completed_features(net: fn.BayesianNetwork, row: fn.Table) -> np.ndarray:
    """Return the mean of the features of a row's completions, by all labels and by quadrature over its numbers."""
    known = {v: float(of[0]) for v, of in enumerate(row.codes) if not net.variables[v].missing(of)[0]}
    joint, kernel = Joint(net), fn.kernels.FisherKernel(net)
    logs, means, covariances = joint.given(known)
    shares = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    rest = [v for v in joint.numbers if v not in known]
    total = np.zeros(kernel.dimension)
    for states, share, mean, covariance in zip(joint.states, shares, means, covariances, strict=True):
        if share == 0:
            continue
        root = np.linalg.cholesky(covariance) if rest else np.zeros((0, 0))
        for at in itertools.product(range(3), repeat=len(rest)):
            filled = known | dict(zip(joint.labels, states, strict=True))
            filled |= dict(zip(rest, mean + root @ NODES[list(at)], strict=True))
            columns = [np.array([filled[v]]).astype(row.codes[v].dtype) for v in range(len(row.codes))]
            whole = fn.Table(net.variables, columns)
            total += share * NODE_WEIGHTS[list(at)].prod() * kernel.features(whole).toarray()[0]
    return total


def with_gaps(rows: fn.Table, share: float, seed: int) -> fn.Table:
    gone = np.random.default_rng(seed).random((len(rows.variables), rows.n_rows)) < share
    pairs = zip(rows.variables, rows.codes, gone, strict=True)
    return fn.Table(rows.variables, [np.where(of, v.missing_column(rows.n_rows), column) for v, column, of in pairs])


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_lack_cells_have_the_mean_features_of_their_completions(seed: int) -> None:
    net = random_network(seed)
    rows = with_gaps(net.sample(5, seed=seed), [0.3, 0.7, 1][seed % 3], seed)
    expected = np.array([completed_features(net, rows[[r]]) for r in range(rows.n_rows)])
    kernel = fn.kernels.HiddenVariableKernel(net)
    size = np.abs(expected).max() + 1
    np.testing.assert_allclose(kernel.features(rows).toarray(), expected, atol=1e-8 * size)
    np.testing.assert_allclose(kernel.mean_features(rows), expected.mean(axis=0), atol=1e-8 * size)
    np.testing.assert_allclose(kernel(rows), expected @ expected.T, atol=1e-7 * size**2)
    np.testing.assert_allclose(kernel.terms(rows).sum(axis=0), kernel(rows), atol=1e-9 * size**2)


def test_complete_rows_have_the_features_of_the_fisher_kernel() -> None:
    net = random_network(3, labels=4, numbers=5)
    rows = net.sample(300, seed=1)
    found = fn.kernels.HiddenVariableKernel(net).features(rows)
    np.testing.assert_allclose(found.toarray(), fn.kernels.FisherKernel(net).features(rows).toarray(), atol=1e-9)


def test_a_hidden_number_is_not_looked_at() -> None:
    net = random_network(5)
    rows, number = net.sample(20, seed=1), next(v.name for v in net.variables if v.is_continuous)
    kernel = fn.kernels.HiddenVariableKernel(net, [number])
    others = rows.select([name for name in rows.names if name != number])
    np.testing.assert_array_equal(kernel(rows), kernel(others.to_frame()))


def test_where_nothing_is_known_all_features_are_nothing() -> None:
    net = random_network(8)
    rows = with_gaps(net.sample(4, seed=1), 1, 0)
    np.testing.assert_allclose(fn.kernels.HiddenVariableKernel(net).features(rows).toarray(), 0, atol=1e-9)


def wide_network(sure: float) -> fn.BayesianNetwork:
    """Return three labels of 30 states and a number below them: 27,000 configurations."""
    names = [str(state) for state in range(30)]
    labels = [fn.Variable(name, names) for name in "abc"]
    rng = np.random.default_rng(1)
    tables = []
    for v in range(3):
        shares = np.full(30, (1 - sure) / 29)
        shares[rng.integers(30)] = sure
        tables.append(fn.models.FullTable(v, (), [labels[v]], [shares]))
    number, shape = fn.Continuous("x"), (30, 30, 30)
    below = fn.models.ConditionalGaussian(
        3, (0, 1, 2), [*labels, number], rng.normal(size=shape), np.zeros((*shape, 0)), rng.uniform(0.5, 2, shape)
    )
    return fn.BayesianNetwork([*labels, number], [*tables, below])


def test_rows_that_lack_more_than_memory_holds_are_drawn() -> None:
    net = wide_network(1 - 1e-9)
    whole = net.sample(40, seed=1)
    labels = [variable.missing_column(40) for variable in whole.variables[:3]]
    lacking = fn.Table(whole.variables, [*labels, whole.codes[3]])
    kernel = fn.kernels.HiddenVariableKernel(net)
    # what is lacking is as good as sure, so that it makes no difference
    np.testing.assert_allclose(kernel(lacking[:5], whole[:5]), kernel(whole[:5], whole[:5]), rtol=1e-6)
    several = fn.kernels.HiddenVariableKernel(wide_network(0.5))
    every = several(lacking, lacking)
    assert np.linalg.eigvalsh(every).min() > -1e-9 * np.linalg.eigvalsh(every).max()
    for row in (0, 17):  # the same draws for every row, whoever it is with
        np.testing.assert_allclose(several(lacking[row : row + 1], lacking), every[row : row + 1], rtol=1e-9)


def test_rows_whose_labels_no_table_holds_have_a_kernel() -> None:
    rng = np.random.default_rng(3)
    n, states = 6, range(30)
    labels = [fn.Variable(f"a{v}", states) for v in range(n)]
    numbers = [fn.Continuous(f"x{v}") for v in range(n)]
    variables: list[Any] = [*labels, *numbers]
    conditionals: list[Any] = [fn.models.FullTable(v, (), [labels[v]], [rng.dirichlet(np.ones(30))]) for v in range(n)]
    for v in range(n):  # each leans on its label and on the number before, so that the last knows of all labels
        parents = (v, n + v - 1) if v else (v,)
        slopes = np.full((30, len(parents) - 1), 0.5)
        family = [*(variables[p] for p in parents), numbers[v]]
        conditionals.append(
            fn.models.ConditionalGaussian(n + v, parents, family, rng.normal(size=30), slopes, np.ones(30))
        )
    net = fn.BayesianNetwork(variables, conditionals)
    whole = net.sample(20, seed=1)
    gone = [variable.missing_column(20) for variable in variables[:-1]]
    rows = fn.Table(variables, [*gone, whole.codes[-1]])
    kernel = fn.kernels.HiddenVariableKernel(net)
    every = kernel(rows)
    assert np.isfinite(every).all()
    assert np.linalg.eigvalsh(every).min() > -1e-9 * np.linalg.eigvalsh(every).max()
    np.testing.assert_allclose(kernel(rows[3:4], rows), every[3:4], rtol=1e-9)


def test_rows_whose_labels_are_known_in_pairs_have_a_kernel() -> None:
    """Ten labels below the pairs of five that are missing: no table is large but that over all five."""
    rng = np.random.default_rng(4)
    above = [fn.Variable(f"a{v}", range(30)) for v in range(5)]
    pairs = list(itertools.combinations(range(5), 2))
    below = [fn.Variable(f"b{i}", range(2)) for i in range(len(pairs))]
    variables: list[Any] = [*above, *below, fn.Continuous("x")]
    conditionals: list[Any] = [fn.models.FullTable(v, (), [above[v]], [rng.dirichlet(np.ones(30))]) for v in range(5)]
    for i, (a, b) in enumerate(pairs):
        shares = rng.dirichlet(np.ones(2), size=900)
        conditionals.append(fn.models.FullTable(5 + i, (a, b), [above[a], above[b], below[i]], shares))
    one = fn.models.ConditionalGaussian(15, (5,), [below[0], variables[-1]], [0.0, 1.0], np.zeros((2, 0)), [1.0, 1.0])
    net = fn.BayesianNetwork(variables, [*conditionals, one])
    whole = net.sample(30, seed=1)
    rows = fn.Table(variables, [*(v.missing_column(30) for v in above), *whole.codes[5:]])
    kernel = fn.kernels.HiddenVariableKernel(net)
    every = kernel(rows)
    assert np.linalg.eigvalsh(every).min() > -1e-9 * np.linalg.eigvalsh(every).max()
    np.testing.assert_allclose(kernel(rows[3:4], rows), every[3:4], rtol=1e-9)


def test_draws_count_by_what_is_known_below() -> None:
    rng = np.random.default_rng(2)
    states = [fn.Variable(name, range(60)) for name in "ab"]
    tables = [fn.models.FullTable(v, (), [states[v]], [np.full(60, 1 / 60)]) for v in range(2)]
    means = np.where(np.arange(60) < 30, -4.0, 4.0)[:, None] + np.zeros((60, 60))
    below = fn.models.ConditionalGaussian(
        2, (0, 1), [*states, fn.Continuous("x")], means, np.zeros((60, 60, 0)), np.ones((60, 60))
    )
    numbers = [fn.Continuous(f"y{i}") for i in range(2)]
    others = [
        fn.models.ConditionalGaussian(
            3 + i, (0, 1), [*states, numbers[i]], np.zeros((60, 60)), np.zeros((60, 60, 0)), np.ones((60, 60))
        )
        for i in range(2)
    ]
    net = fn.BayesianNetwork([*states, fn.Continuous("x"), *numbers], [*tables, below, *others])
    low, high = np.full(4, -4.0), np.full(4, 4.0)
    gone = [state.missing_column(8) for state in states]
    rows = fn.Table(net.variables, [*gone, np.concatenate([low, high]), *rng.normal(size=(2, 8))])
    of_a = fn.kernels.HiddenVariableKernel(net).terms(rows)[0]
    np.testing.assert_allclose(of_a[:4, 4:], -1, atol=1e-6)  # two labels that are sure to differ
    assert of_a[:4, :4].min() > -0.9
