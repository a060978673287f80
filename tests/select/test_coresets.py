"""Few weighted rows that stand for a table: their distance, their weights, and what learning from them loses."""

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.kernels import FisherKernel
from fishernet.select import coreset, protodash, random_subset


def asia_rows(n: int, seed: int = 1) -> tuple[fn.BayesianNetwork, fn.Table]:
    net = fn.datasets.load("asia")
    return net, net.sample(n, seed=seed)


def squared_distance(kernel: Any, table: Any, found: fn.select.Selection) -> float:
    """Return the squared distance of the weighted mean to the table's, by the whole kernel matrix."""
    matrix = kernel(table)
    weights = np.ones(len(matrix)) if getattr(table, "weights", None) is None else np.array(table.weights, dtype=float)
    assert found.weights is not None
    difference = -weights / weights.sum()
    difference[found.indices] += found.weights / found.weights.sum()
    return float(difference @ matrix @ difference)


@pytest.mark.parametrize("k", [1, 2, 7, 25])
def test_weights_are_whole_and_add_up_and_the_distance_is_theirs(k: int) -> None:
    net, table = asia_rows(300)
    kernel = FisherKernel(net)
    found = coreset(kernel, table, k)
    assert found.weights is not None
    assert len(set(found.indices.tolist())) == len(found.indices) <= k
    assert (found.weights >= 1).all()
    assert found.weights.sum() == 300
    assert (found.weights % 1 == 0).all()
    assert found.distance == pytest.approx(squared_distance(kernel, table, found), rel=1e-6, abs=1e-9)
    assert found.as_table().total == 300


@pytest.mark.parametrize("seed", range(3))
def test_it_is_not_farther_than_rows_that_are_added_one_by_one(seed: int) -> None:
    net, table = asia_rows(5000, seed)
    kernel = FisherKernel(net)
    for k in (3, 8, 15):
        assert coreset(kernel, table, k).distance <= 1.02 * protodash(kernel, table, k).distance + 1e-4


def test_rows_enough_give_the_table_s_own_mean() -> None:
    """A point of a convex hull in d dimensions is a mean of d + 1 points (Carathéodory, 1911)."""
    net, table = asia_rows(4000)
    kernel = FisherKernel(net)
    n_parameters = sum(conditional.n_parameters for conditional in net.conditionals)
    found = coreset(kernel, table, n_parameters + 1)
    assert found.distance < 1e-3
    fractional = fn.Table.adopt(table.variables, table.codes, weights=np.full(4000, 0.5))
    exact = coreset(kernel, fractional, n_parameters + 1)
    assert exact.distance < 1e-6
    assert exact.weights is not None
    assert exact.weights.sum() == pytest.approx(2000)


def test_learning_from_it_loses_far_less_than_from_rows_at_random() -> None:
    net, table = asia_rows(5000)
    whole = fn.learn.parameters(net.dag, table)
    new = net.sample(20_000, seed=9)

    def loss(rows: fn.Table) -> float:
        return float((whole.log_prob(new) - fn.learn.parameters(net.dag, rows).log_prob(new)).mean())

    chosen = loss(coreset(FisherKernel(whole), table, 40).as_table())
    at_random = [loss(random_subset(table, 40, seed=seed).as_table(weights="equal")) for seed in range(10)]
    assert chosen < 0.2 * np.mean(at_random)


def test_weights_of_the_table_count() -> None:
    net, table = asia_rows(400)
    counts = np.random.default_rng(0).integers(0, 5, 400)
    weighted = fn.Table.adopt(table.variables, table.codes, weights=counts)
    kernel = FisherKernel(net)
    found = coreset(kernel, weighted, 12)
    assert found.weights is not None
    assert found.weights.sum() == counts.sum()
    assert found.distance == pytest.approx(squared_distance(kernel, weighted, found), rel=1e-6, abs=1e-9)


def test_near_enough_is_enough() -> None:
    net, table = asia_rows(2000)
    kernel = FisherKernel(net)
    few, many = (coreset(kernel, table, tolerance=tolerance) for tolerance in (0.1, 0.01))
    assert len(few.indices) < len(many.indices) < 60


def test_numbers_strings_and_copies_can_be_chosen_from() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    frame = {"a": rng.integers(0, 2, 300), "x": x, "y": x + rng.normal(size=300)}
    table = fn.Table.from_frame(frame, categorical=["a"])
    found = coreset(FisherKernel(fn.learn.bayesian_network(table)), table, 9)
    assert found.weights is not None
    assert found.weights.sum() == 300
    one = fn.Table.from_codes(np.zeros((20, 2), dtype=int), [fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])])
    only = coreset(FisherKernel(fn.learn.bayesian_network(one)), one, 3)
    assert only.weights is not None
    assert only.weights.sum() == 20
    hmm = fn.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.2, 0.8]], alphabet="ab")
    strings = ["".join(rng.choice(["a", "b"], 8)) for _ in range(30)]
    assert len(coreset(fn.kernels.HmmKernel(hmm), strings, 4).indices) <= 4


def test_rows_are_chosen_in_parts() -> None:
    net, table = asia_rows(3000)
    kernel = FisherKernel(net)
    in_parts, whole = coreset(kernel, table, 15, parts=3), coreset(kernel, table, 15)
    assert in_parts.weights is not None
    assert in_parts.weights.sum() == 3000
    assert in_parts.distance < 3 * whole.distance + 1e-3


def test_what_does_not_fit_is_refused() -> None:
    net, table = asia_rows(10)
    with pytest.raises(fn.FishernetError) as too_many:
        coreset(FisherKernel(net), table, 11)
    assert too_many.value.parameter == "k"
    with pytest.raises(fn.FishernetError):
        coreset(FisherKernel(net), table)
