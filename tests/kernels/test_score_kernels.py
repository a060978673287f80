"""Fisher kernels of models other than Bayesian networks, and kernels of expected counts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError, ZeroProbabilityError
from fishernet.kernels import CountKernel, FeatureKernel, FisherKernel, Kernel, Normalized, Rbf
from tests.reference.hidden_markov import random_parts

HMM = fn.HiddenMarkovModel([0.4, 0.6], [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.15, 0.05], [0.3, 0.3, 0.4]], alphabet="abc")
X, Y = ["abca", "bbca", "aabc", "cccc"], ["abcc", "baba"]
ALL = ["".join(s) for s in itertools.product("abc", repeat=4)]


def test_it_is_a_kernel_with_features() -> None:
    for kernel in (FisherKernel(HMM, metric="practical"), FisherKernel(HMM, length=4), CountKernel(HMM)):
        assert isinstance(kernel, Kernel)
        assert isinstance(kernel, FeatureKernel)
        features = kernel.features(X)
        assert features.shape == (4, kernel.dimension)
        gram = kernel(X)
        np.testing.assert_array_equal(gram, gram.T)
        np.testing.assert_allclose(gram, features @ features.T, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(kernel(X, Y), features @ kernel.features(Y).T, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(kernel.diag(X), np.diag(gram), rtol=1e-12)
        np.testing.assert_allclose(kernel.mean_features(X), features.mean(axis=0), rtol=1e-12, atol=1e-13)
        assert np.linalg.eigvalsh(gram).min() > -1e-10 * gram.max()


def test_the_practical_kernel_is_the_product_of_the_scores() -> None:
    scores = HMM.fisher_scores(X)
    np.testing.assert_allclose(FisherKernel(HMM, metric="practical")(X), scores @ scores.T, rtol=1e-12)
    some = FisherKernel(HMM, metric="practical", parameters=["emission"])
    np.testing.assert_allclose(some(X), scores[:, :6] @ scores[:, :6].T, rtol=1e-12)
    assert some.dimension == 6


def test_the_invariant_kernel_is_the_product_in_the_pseudo_inverse_of_the_information() -> None:
    scores, p = HMM.fisher_scores(ALL), np.exp(HMM.log_prob(ALL))
    information = (scores * p[:, None]).T @ scores
    expected = HMM.fisher_scores(X) @ np.linalg.pinv(information, rcond=1e-10) @ HMM.fisher_scores(Y).T
    kernel = FisherKernel(HMM, length=4)
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-8, atol=1e-9)
    assert p @ kernel.diag(ALL) == pytest.approx(kernel.dimension)  # E s' I^+ s is the rank
    assert kernel.dimension == 4 + 2 + 1  # free parameters


def test_the_empirical_kernel_whitens_the_scores_of_the_reference() -> None:
    kernel = FisherKernel(HMM, metric="empirical", reference=ALL)
    features = kernel.features(ALL)
    np.testing.assert_allclose(features.T @ features / len(ALL), np.eye(kernel.dimension), atol=1e-9)
    scores = HMM.fisher_scores(ALL)
    inverse = np.linalg.pinv(scores.T @ scores / len(ALL), rcond=1e-10)
    np.testing.assert_allclose(kernel(X), HMM.fisher_scores(X) @ inverse @ HMM.fisher_scores(X).T, rtol=1e-8, atol=1e-9)


@dataclass(frozen=True)
class Transformed:
    """A model in other parameters: its scores are multiplied by the derivatives of the old by the new ones."""

    model: Any
    jacobian: npt.NDArray[np.float64]

    def log_prob(self, data: Any) -> Any:
        return self.model.log_prob(data)

    def fisher_scores(self, data: Any) -> Any:
        return self.model.fisher_scores(data) @ self.jacobian

    def sample(self, n: int, *, length: int, seed: Any) -> Any:
        return self.model.sample(n, length=length, seed=seed)

    def fisher_information(self, *, length: int) -> Any:
        return self.jacobian.T @ self.model.fisher_information(length=length) @ self.jacobian


def free_parameters() -> npt.NDArray[np.float64]:
    """The derivatives by the first numbers of each row, the last being 1 less their sum."""
    widths = [3, 3, 2, 2, 2]
    blocks = [np.vstack([np.eye(width - 1), -np.ones(width - 1)]) for width in widths]
    return np.asarray(scipy.sparse.block_diag(blocks).toarray())


def scaled() -> npt.NDArray[np.float64]:
    random = np.random.default_rng(5)
    mixed: npt.NDArray[np.float64] = random.normal(size=(12, 12)) * 10.0 ** random.integers(-3, 4, 12)
    return mixed


@pytest.mark.parametrize("jacobian", [free_parameters(), scaled()], ids=["free parameters", "mixed and scaled"])
@pytest.mark.parametrize("metric", ["invariant", "empirical"])
def test_it_does_not_depend_on_the_parameters(metric: str, jacobian: npt.NDArray[np.float64]) -> None:
    options: dict[str, Any] = {"length": 4} if metric == "invariant" else {"reference": ALL}
    expected = FisherKernel(HMM, metric=metric, **options)(X)
    other = FisherKernel(Transformed(HMM, jacobian), metric=metric, **options)(X)
    np.testing.assert_allclose(other, expected, rtol=1e-7, atol=1e-7)


def test_simulation_comes_close_to_the_exact_information() -> None:
    final = random_parts(4, 2, 2, final=True).model()
    kernel = FisherKernel(final, n_samples=40_000, seed=1)
    drawn = final.sample(20_000, seed=2)
    assert kernel.diag(drawn).mean() == pytest.approx(kernel.dimension, rel=0.05)
    again = FisherKernel(final, n_samples=40_000, seed=1)
    np.testing.assert_array_equal(kernel(drawn[:5]), again(drawn[:5]))


def test_a_model_too_large_to_enumerate_is_simulated() -> None:
    kernel = FisherKernel(HMM, length=30, n_samples=5_000, seed=1)
    drawn = HMM.sample(2_000, length=30, seed=2)
    assert kernel.diag(drawn).mean() == pytest.approx(kernel.dimension, rel=0.1)


@pytest.mark.parametrize("options", [{}, {"length": -1}, {"length": 4, "parameters": ["nothing"]}])
def test_what_is_wrong_is_not_simulated_away(options: dict[str, Any]) -> None:
    with pytest.raises(fn.SchemaError):
        FisherKernel(HMM, **options)


def test_wrappers_take_lists_of_strings() -> None:
    kernel = FisherKernel(HMM, metric="practical", parameters=["emission"])
    np.testing.assert_allclose(Normalized(kernel).diag(X), 1.0)
    np.testing.assert_allclose(np.diag(Normalized(kernel)(X)), 1.0)
    np.testing.assert_allclose(np.diag(Rbf(kernel, 3.0)(X)), 1.0)
    both = kernel + 0.5 * CountKernel(HMM)
    np.testing.assert_allclose(both(X, Y), kernel(X, Y) + 0.5 * CountKernel(HMM)(X, Y))
    np.testing.assert_allclose((kernel * kernel)(X), kernel(X) ** 2)
    assert fn.kernels.set_kernel(kernel, X, Y) == pytest.approx(kernel(X, Y).mean())
    assert fn.kernels.set_kernel(Rbf(kernel, 3.0), X, Y) == pytest.approx(Rbf(kernel, 3.0)(X, Y).mean())
    assert fn.compare.mmd(kernel, X, X) == 0


def test_count_features_are_the_expected_counts() -> None:
    counts = HMM.expected_counts(X)
    kernel = CountKernel(HMM, parts=["initial", "emission"])
    np.testing.assert_array_equal(kernel.features(X), np.hstack([counts.emission.reshape(4, -1), counts.initial]))
    np.testing.assert_allclose(CountKernel(HMM, parts=["emission"]).features(X).sum(axis=1), [4, 4, 4, 4])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SchemaError, match="needs a model with a likelihood"):
        FisherKernel(object())
    with pytest.raises(SchemaError, match="unknown metric"):
        FisherKernel(HMM, metric="best")
    with pytest.raises(SchemaError, match="give length"):
        FisherKernel(HMM)
    with pytest.raises(SchemaError, match="needs reference rows"):
        FisherKernel(HMM, metric="empirical")
    with pytest.raises(SchemaError, match="group probabilities"):
        FisherKernel(HMM, metric="practical", group_probabilities="sampling")
    with pytest.raises(SchemaError, match="takes no length"):
        FisherKernel(fn.datasets.load("asia"), length=3)
    with pytest.raises(SchemaError, match="cut-off"):
        FisherKernel(HMM, length=2, cutoff=2.0)
    with pytest.raises(FishernetError, match="no terms"):
        FisherKernel(HMM, metric="practical").terms(X)
    with pytest.raises(SchemaError, match="a list of strings"):
        FisherKernel(HMM, metric="practical")("abc")
    with pytest.raises(SchemaError, match="no expected_counts"):
        CountKernel(fn.datasets.load("asia"))
    with pytest.raises(SchemaError, match="parts must be some of"):
        CountKernel(HMM, parts="emission")
    with pytest.raises(SchemaError, match="no final state"):
        CountKernel(HMM, parts=["final"]).features(X)
    only_a = fn.HiddenMarkovModel([1], [[1]], [[1, 0]], alphabet="ab")
    with pytest.raises(ZeroProbabilityError, match="string 1"):
        FisherKernel(only_a, metric="practical")(["aa", "ab"])
