"""The laws of every kernel, and what the wrappers make of the kernels inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError
from tests.networks import random_network
from tests.reference.fisher import AnyKernel, Floats, WithoutFeatures, assert_close, merged_network, scale

NET = random_network(4, [2, 3, 4, 2])
TABLE = NET.sample(60, seed=1)


class EqualCells:
    """A kernel of our own: the number of cells in which two rows are equal."""

    def __call__(self, X: fn.Table, Y: fn.Table | None = None) -> Floats:
        other = X if Y is None else Y
        pairs = zip(X.codes, other.codes, strict=True)
        return np.asarray(np.sum([a[:, None] == b for a, b in pairs], axis=0), dtype=np.float64)

    def diag(self, X: fn.Table) -> Floats:
        return np.full(X.n_rows, float(len(X.variables)))


class Product:
    """The product of two codes: a row of zeros has K(x, x) = 0."""

    def __call__(self, X: fn.Table, Y: fn.Table | None = None) -> Floats:
        first, second = (np.stack(t.codes, axis=1).astype(float) for t in (X, X if Y is None else Y))
        gram: Floats = first @ second.T
        return gram

    def diag(self, X: fn.Table) -> Floats:
        return np.diag(self(X)).copy()


def kernels() -> dict[str, Any]:
    """Made when a test asks, so that a package without kernels fails test by test."""
    fisher: Any = fn.kernels.FisherKernel(NET)
    practical: Any = fn.kernels.FisherKernel(NET, metric="practical")
    with_features = {
        "fisher": fisher,
        "practical": practical,
        "empirical": fn.kernels.FisherKernel(NET, metric="empirical", reference=TABLE),
        "normalized": fn.kernels.Normalized(fisher),
        "sum": fisher + practical,
        "scaled": 2.5 * fisher,
        "nothing": 0.0 * fisher,
        "nested": fn.kernels.Normalized(fisher + 0.5 * practical) + 3.0 * practical,
    }
    plain = WithoutFeatures(fisher)
    doubled: Any = 2.0 * fn.kernels.Normalized(fisher * fisher)
    without = {
        "rbf": fn.kernels.Rbf(fisher, 3.0),
        "product": fisher * practical,
        "deep": doubled + fn.kernels.Rbf(practical, 10.0),
        "normalized, no features": fn.kernels.Normalized(plain),
        "rbf of our own": fn.kernels.Rbf(EqualCells(), 1.0),
        "normalized of our own": fn.kernels.Normalized(EqualCells()) * fisher,
    }
    return {**with_features, **without}


WITH_FEATURES = ["fisher", "practical", "empirical", "normalized", "sum", "scaled", "nothing", "nested"]
EVERY = [*WITH_FEATURES, "rbf", "product", "deep", "normalized, no features", "rbf of our own", "normalized of our own"]


def dense(features: Any) -> Floats:
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)


# ----------------------------------------------------------------------------------------------------- laws of all


@pytest.mark.parametrize("name", EVERY)
def test_matrices_are_positive_semidefinite(name: str) -> None:
    gram = kernels()[name](TABLE)
    values = np.linalg.eigvalsh(gram)
    assert values.min() >= -1e-10 * max(values.max(), 1e-300)


@pytest.mark.parametrize("name", EVERY)
def test_matrices_are_exactly_symmetric(name: str) -> None:
    gram = kernels()[name](TABLE)
    assert gram.dtype == np.float64
    np.testing.assert_array_equal(gram, gram.T)


@pytest.mark.parametrize("name", EVERY)
def test_the_diagonal_is_the_diagonal(name: str) -> None:
    kernel = kernels()[name]
    np.testing.assert_allclose(kernel.diag(TABLE), np.diag(kernel(TABLE)), rtol=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_two_tables_give_a_part_of_the_matrix_of_both(name: str) -> None:
    kernel = kernels()[name]
    gram = kernel(TABLE)
    assert_close(kernel(TABLE[:50], TABLE[45:]), gram[:50, 45:], scale(gram[:50, :50], gram[45:, 45:]))


@pytest.mark.parametrize("name", WITH_FEATURES)
def test_features_give_the_kernel(name: str) -> None:
    kernel = kernels()[name]
    gram = kernel(TABLE, TABLE[:20])
    first, second = dense(kernel.features(TABLE)), dense(kernel.features(TABLE[:20]))
    assert first.shape == (60, kernel.dimension)
    size = np.sqrt(np.outer(kernel.diag(TABLE), kernel.diag(TABLE[:20])))
    assert_close(first @ second.T, gram, size, rtol=1e-11)


@pytest.mark.parametrize("name", WITH_FEATURES)
def test_mean_features_are_the_weighted_mean_of_the_features(name: str) -> None:
    kernel = kernels()[name]
    weights = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = fn.Table(TABLE.variables, TABLE.codes, weights=weights)
    features = dense(kernel.features(TABLE))
    for table, share in ((TABLE, np.full(60, 1 / 60)), (weighted, weights / weights.sum())):
        mean = kernel.mean_features(table)
        assert mean.shape == (kernel.dimension,)
        np.testing.assert_allclose(mean, share @ features, rtol=1e-10, atol=1e-12 * (1 + np.abs(features).max()))


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


def test_a_kernel_of_our_own_is_taken() -> None:
    kernel: AnyKernel = EqualCells()
    expected = EqualCells()(TABLE) / len(TABLE.variables)
    np.testing.assert_allclose(fn.kernels.Normalized(kernel)(TABLE), expected, rtol=1e-13)


# ---------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("bandwidth", [0, -1.0, np.inf, np.nan])
def test_a_bandwidth_is_a_positive_number(bandwidth: float) -> None:
    with pytest.raises(FishernetError, match="bandwidth"):
        fn.kernels.Rbf(fn.kernels.FisherKernel(NET), bandwidth)


@pytest.mark.parametrize("factor", [-1.0, -1e-300])
def test_a_negative_multiple_is_no_kernel(factor: float) -> None:
    with pytest.raises(FishernetError):
        factor * fn.kernels.FisherKernel(NET)


def test_the_matrices_are_the_callers() -> None:
    """Writing into a result does not change the next one."""
    for name in EVERY:
        kernel = kernels()[name]
        first: npt.NDArray[np.float64] = kernel(TABLE)
        kept = first.copy()
        first[:] = 7
        np.testing.assert_array_equal(kernel(TABLE), kept)
