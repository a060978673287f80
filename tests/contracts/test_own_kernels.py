"""Kernels of a user's own: whatever chooses and compares rows takes them, and finds what it finds by their matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fishernet as fn

Floats = npt.NDArray[np.float64]
ROWS = np.random.default_rng(1).normal(size=(60, 3)).round(2)
PLACES: Any = np.arange(60)
OTHERS = np.random.default_rng(2).normal(0.5, size=(50, 3)).round(2)


class Plain:
    """A callable with `diag`: ``(1 + x . y)^2``."""

    def __call__(self, X: Floats, Y: Floats | None = None) -> Floats:
        return np.asarray((1 + X @ (X if Y is None else Y).T) ** 2)

    def diag(self, X: Floats) -> Floats:
        return np.asarray((1 + (X**2).sum(axis=1)) ** 2)


class WithFeatures(Plain):
    """The same with its features: 1, sqrt(2) x_i, and x_i x_j."""

    def features(self, X: Floats) -> Floats:
        squares = np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)
        return np.hstack([np.ones((len(X), 1)), np.sqrt(2) * X, squares])


class WithRowSums(Plain):
    """The same with sums of rows of its own: those of its features, and it counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def row_sums(self, rows: Floats) -> fn.kernels.RowSums:
        self.asked += 1
        return fn.kernels.FeatureSums(OfFeatures(), rows)


class OfFeatures(WithFeatures):
    """What the library's way by features wants to know beside them."""

    feature_parts = None

    def mean_features(self, X: Floats) -> Floats:
        return np.asarray(self.features(X).mean(axis=0))


OWN: dict[str, Callable[[], Any]] = {"features": WithFeatures, "row sums": WithRowSums}

USES: dict[str, Callable[[Any, Floats, Floats], Any]] = {
    "mmd_critic": lambda k, X, _: fn.select.mmd_critic(k, X, 6).indices,
    "protodash": lambda k, X, _: fn.select.protodash(k, X, 6).indices,
    "greedy_mmd": lambda k, X, _: fn.select.greedy_mmd(k, X, 6, n_starts=20, seed=1).indices,
    "kernel_thinning": lambda k, X, _: fn.select.kernel_thinning(k, X, 6, seed=1).indices,
    "compress": lambda k, X, _: fn.select.kernel_thinning(k, X, 4, method="compress", oversampling=0, seed=1).indices,
    "criticisms": lambda k, X, _: fn.select.criticisms(k, X, [0, 1], 3).indices,
    "distance_by_k": lambda k, X, _: fn.select.distance_by_k(k, X, [2, 5], n_random=5, seed=1).distance,
    "similar": lambda k, X, _: fn.select.similar(k, X, 3, n=4).indices,
    "nearest": lambda k, X, _: fn.select.nearest(k, X, n=2).cosines,
    "stands_for": lambda k, X, _: fn.select.mmd_critic(k, X, 4).stands_for(),
    "mmd": lambda k, X, Y: fn.compare.mmd(k, X, Y),
    "set_kernel": lambda k, X, Y: fn.kernels.set_kernel(k, X, Y),
    "permutations": lambda k, X, Y: fn.compare.two_sample_test(X, Y, k, permutations=49, seed=1).null,
    "chi-square": lambda k, X, Y: fn.compare.two_sample_test(X, Y, k, method="chi-square", seed=1).p_value,
    "blocks": lambda k, X, Y: fn.compare.two_sample_test(X, Y, k, method="block", seed=1).p_value,
    "gram_matrix": lambda k, X, _: fn.kernels.gram_matrix(k, X),
    "cosine": lambda k, X, _: fn.kernels.Normalized(k)(X),
    "in a sum": lambda k, X, _: (fn.kernels.GaussianKernel(1.0) + k)(X),
    "in a product": lambda k, X, _: (fn.kernels.GaussianKernel(1.0) * k).diag(X),
    "radial": lambda k, X, _: fn.kernels.Rbf(k, 3.0)(X),
}


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("use", USES)
def test_what_is_found_by_features_and_by_own_sums_is_what_the_matrix_tells(use: str, own: str) -> None:
    if use == "compress" and own == "row sums":
        pytest.skip("rows alone are asked of the kernel's own sums, whose distance is measured")
    found, expected = (USES[use](kernel, ROWS, OTHERS) for kernel in (OWN[own](), Plain()))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_own_sums_of_rows_are_asked_for() -> None:
    kernel = WithRowSums()
    fn.select.mmd_critic(kernel, ROWS, 3)
    fn.compare.mmd(kernel, ROWS, OTHERS)
    assert kernel.asked == 3


def test_features_let_rows_be_chosen_in_parts() -> None:
    found = fn.select.mmd_critic(WithFeatures(), ROWS, 5, parts=3)
    assert found.distance == pytest.approx(fn.compare.mmd(Plain(), ROWS[found.indices], ROWS), rel=1e-8)
    with pytest.raises(fn.FishernetError, match="kernels with features"):
        fn.select.mmd_critic(Plain(), ROWS, 5, parts=3)


@pytest.mark.parametrize("use", [use for use in USES if use not in ("mmd", "set_kernel", "permutations", "blocks")])
def test_a_given_matrix_tells_what_its_kernel_tells(use: str) -> None:
    if use in ("in a sum", "in a product", "chi-square"):
        pytest.skip("positions are no rows of numbers")
    expected = USES[use](Plain(), ROWS, OTHERS)
    found = USES[use](fn.kernels.Precomputed(Plain()(ROWS)), PLACES, PLACES)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


class PlainGaussian:
    """``exp(-|x - y|^2 / 8)``, pair by pair."""

    def __call__(self, X: Floats, Y: Floats | None = None) -> Floats:
        return np.asarray(np.exp(-((X[:, None] - (X if Y is None else Y)) ** 2).sum(axis=2) / 8))

    def diag(self, X: Floats) -> Floats:
        return np.ones(len(X))


@pytest.mark.parametrize("use", USES)
def test_the_gaussian_kernel_of_numbers_is_what_its_formula_is(use: str) -> None:
    found, expected = (USES[use](kernel, ROWS, OTHERS) for kernel in (fn.kernels.GaussianKernel(2.0), PlainGaussian()))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_the_mean_of_a_gaussian_kernel_goes_over_all_tiles() -> None:
    rows = np.random.default_rng(3).normal(size=(1300, 2))
    sums = fn.kernels.GaussianKernel(2.0).row_sums(rows)
    np.testing.assert_allclose(sums.mean, PlainGaussian()(rows).mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fn.kernels.Precomputed(np.ones((2, 3))), r"must be \(n, n\)"),
        (lambda: fn.kernels.Precomputed(np.ones((2, 2)) + 1j), "not of complex"),
        (lambda: fn.kernels.Precomputed(np.eye(2)).diag([2]), "position 2 is not in the matrix, which has 2 rows"),
        (lambda: fn.kernels.Precomputed(np.eye(2))([0.5]), "takes positions in its matrix"),
        (lambda: fn.kernels.GaussianKernel(0.0), "bandwidth must be"),
        (lambda: fn.kernels.GaussianKernel(1.0)({"a": ["x", "y"]}), "'a' has labels"),
        (lambda: fn.kernels.GaussianKernel(1.0)(np.ones((2, 2)), np.ones((2, 3))), "2 columns and 3"),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(fn.FishernetError, match=words):
        call()
