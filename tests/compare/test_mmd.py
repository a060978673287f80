"""The distance of two tables under its short name."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import SchemaError
from tests.networks import random_network
from tests.reference.fisher import rows_of, squared_mmd, theorem_1
from tests.tables import random_table


@pytest.mark.parametrize("seed", range(5))
def test_mmd_is_equation_10(seed: int) -> None:
    cardinalities = [2, 3, 2]
    net = random_network(seed, cardinalities, sharp=2.0)
    X, Y = (random_table(10 * seed + i, 20 + i, cardinalities, weighted=bool(i)) for i in range(2))
    expected = squared_mmd(lambda a, b: theorem_1(net, rows_of(a), rows_of(b)).sum(axis=0), X, Y)
    assert fn.compare.mmd(fn.kernels.FisherKernel(net), X, Y) == pytest.approx(expected, rel=1e-10, abs=1e-12)


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


def test_an_empty_table_is_refused() -> None:
    net = random_network(0, [2])
    with pytest.raises(SchemaError):
        fn.compare.mmd(fn.kernels.FisherKernel(net), net.sample(0, seed=0), net.sample(3, seed=0))
