"""What the wrappers make of the kernels inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError
from tests.networks import random_network
from tests.reference.fisher import Floats, assert_close, merged_network, scale

NET = random_network(4, [2, 3, 4, 2])
TABLE = NET.sample(60, seed=1)


class Product:
    """The product of two codes: a row of zeros has K(x, x) = 0."""

    def __call__(self, X: fn.Table, Y: fn.Table | None = None) -> Floats:
        first, second = (np.stack(t.codes, axis=1).astype(float) for t in (X, X if Y is None else Y))
        gram: Floats = first @ second.T
        return gram

    def diag(self, X: fn.Table) -> Floats:
        return np.diag(self(X)).copy()


def dense(features: Any) -> Floats:
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)


# --------------------------------------------------------------------------------------------------------- formulas


def test_normalized_is_the_cosine() -> None:
    kernel = fn.kernels.FisherKernel(NET)
    gram = kernel(TABLE)
    got = fn.kernels.Normalized(kernel)(TABLE)
    np.testing.assert_allclose(got, gram / scale(gram, gram), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(np.diag(got), 1, rtol=1e-13)


def test_a_row_without_length_has_cosine_zero() -> None:
    variables = [fn.Variable("a", range(3)), fn.Variable("b", range(3))]
    table = fn.Table.from_codes([[0, 0], [1, 0], [1, 1], [0, 2]], variables)
    root = np.sqrt(0.5)
    expected = [[0, 0, 0, 0], [0, 1, root, 0], [0, root, 1, root], [0, 0, root, 1]]
    cosine = fn.kernels.Normalized(Product())
    np.testing.assert_allclose(cosine(table), expected, rtol=1e-13)
    np.testing.assert_allclose(cosine.diag(table), [0, 1, 1, 1], rtol=1e-13)


def test_features_of_a_row_without_length_are_zero() -> None:
    """A network that knows the row for sure: every K_i(x, x) is (1 - 1) / 1."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    tables: dict[str, Any] = {"a": [1, 0], "b": [[0, 1], [0.5, 0.5]]}
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, tables)
    cosine: Any = fn.kernels.Normalized(fn.kernels.FisherKernel(net))
    assert cosine([[0, 1]]).tolist() == [[0]]
    assert dense(cosine.features([[0, 1]])).tolist() == [[0] * cosine.dimension]


@pytest.mark.parametrize("bandwidth", [0.5, 3.0, 100.0])
def test_rbf_is_the_exponential_of_the_squared_distance(bandwidth: float) -> None:
    kernel = fn.kernels.FisherKernel(NET)
    gram = kernel(TABLE)
    d2 = np.add.outer(np.diag(gram), np.diag(gram)) - 2 * gram
    expected = np.exp(-d2 / (2 * bandwidth**2))
    got = fn.kernels.Rbf(kernel, bandwidth)(TABLE)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(fn.kernels.Rbf(kernel, bandwidth).diag(TABLE), 1)
    assert (got <= 1).all()


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.floats(0, 1e6))
def test_sums_products_and_scalings_are_those_of_the_matrices(seed: int, factor: float) -> None:
    net = random_network(seed, [2, 3, 2], sharp=2.0)
    table = net.sample(12, seed=seed)
    one, two = fn.kernels.FisherKernel(net), fn.kernels.FisherKernel(net, metric="practical")
    first, second = one(table), two(table)
    size = scale(first, first) + scale(second, second)
    assert_close((one + two)(table), first + second, size)
    assert_close((one * two)(table), first * second, scale(first, first) * scale(second, second))
    assert_close((factor * one)(table), factor * first, factor * scale(first, first))


def test_kernels_of_different_networks_add() -> None:
    """Two models of the same columns: features stand side by side."""
    other = merged_network(1)
    one: Any = fn.kernels.FisherKernel(random_network(5, [2, 3, 4]))
    two = fn.kernels.FisherKernel(other)
    table = other.sample(30, seed=2)
    both = one + two
    assert both.dimension == one.dimension + two.dimension
    np.testing.assert_allclose(both(table), one(table) + two(table), rtol=1e-12)


# ---------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("bandwidth", [0, -1.0, np.inf, np.nan])
def test_a_bandwidth_is_a_positive_number(bandwidth: float) -> None:
    with pytest.raises(FishernetError, match="bandwidth"):
        fn.kernels.Rbf(fn.kernels.FisherKernel(NET), bandwidth)


@pytest.mark.parametrize("factor", [-1.0, -1e-300])
def test_a_negative_multiple_is_no_kernel(factor: float) -> None:
    with pytest.raises(FishernetError):
        factor * fn.kernels.FisherKernel(NET)


def test_what_is_no_kernel_is_not_calculated_with() -> None:
    kernel: Any = fn.kernels.FisherKernel(NET)
    for other in (3, "a", np.eye(2)):
        with pytest.raises(TypeError):
            kernel + other
    for other in (True, "a"):
        with pytest.raises(TypeError):
            kernel * other
    text: Any = "no kernel"
    with pytest.raises(fn.SchemaError, match="kernel must be a kernel, .* not a str"):
        fn.kernels.Normalized(text)
    with pytest.raises(fn.SchemaError, match="kernel must be a kernel, .* not a str"):
        fn.kernels.Rbf(text, 1.0)
    logs = fn.kernels.HmmKernel(fn.HiddenMarkovModel([1], [[1]], [[0.5, 0.5]], alphabet="ab"), log=True)
    with pytest.raises(FishernetError, match="gives logarithms"):
        kernel + logs


@pytest.mark.parametrize(("offset", "spread", "bandwidth"), [(0, 1, 1), (1e6, 1, 1), (1.7e9, 1e6, 4)])
def test_a_gaussian_kernel_does_not_depend_on_where_zero_is(offset: float, spread: float, bandwidth: float) -> None:
    random = np.random.default_rng(1)
    x = offset + np.round(spread * random.normal(size=(100, 2)), 3)
    y = x + bandwidth * random.normal(size=x.shape)
    differences = x[:, None] - y[None]
    expected = np.exp(-(differences**2).sum(axis=2) / (2 * bandwidth**2))
    assert np.abs(fn.kernels.GaussianKernel(bandwidth)(x, y) - expected).max() < 1e-7
