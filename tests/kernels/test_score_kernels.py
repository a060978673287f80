"""Fisher kernels of models other than Bayesian networks, and kernels of expected counts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import scipy.sparse
from scipy.linalg import block_diag

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError, ZeroProbabilityError
from fishernet.kernels import CountKernel, FisherKernel, Normalized, Rbf
from fishernet.sklearn import ModelFisherFeatures
from tests.reference.gaussians import random_bayesian_network, random_markov_network
from tests.reference.hidden_markov import random_parts

HMM = fn.HiddenMarkovModel([0.4, 0.6], [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.15, 0.05], [0.3, 0.3, 0.4]], alphabet="abc")
X, Y = ["abca", "bbca", "aabc", "cccc"], ["abcc", "baba"]
ALL = ["".join(s) for s in itertools.product("abc", repeat=4)]


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

    kind = "hidden Markov model in other parameters"
    variables, graph, values, likelihood, inference, conditionals = (), None, "symbols", "exact", "none", ()

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
def test_it_does_not_depend_on_the_parameters(metric: Any, jacobian: npt.NDArray[np.float64]) -> None:
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
    with pytest.raises(SchemaError, match="unknown metric"):
        FisherKernel(HMM, metric="best")  # type: ignore[arg-type]
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
    with pytest.raises(SchemaError, match="parts must be"):
        CountKernel(HMM, parts="emission")
    with pytest.raises(SchemaError, match="no final state"):
        CountKernel(HMM, parts=["final"]).features(X)
    only_a = fn.HiddenMarkovModel([1], [[1]], [[1, 0]], alphabet="ab")
    with pytest.raises(ZeroProbabilityError, match="string 1"):
        FisherKernel(only_a, metric="practical")(["aa", "ab"])


# ------------------------------------------------------------------------------------------------ Gaussian networks

MARKOV, BAYES = random_markov_network(3, 4, 0.5), random_bayesian_network(3, 4, 0.5)
MODELS: list[Any] = [MARKOV, BAYES]
ROWS, OTHERS = np.random.default_rng(0).normal(size=(5, 4)), np.random.default_rng(1).normal(size=(3, 4))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_invariant_kernel_has_the_inverse_information_between_scores(model: Any) -> None:
    information = model.fisher_information()
    between = np.linalg.inv(information if model is MARKOV else block_diag(*(block for [block] in information)))
    expected = model.fisher_scores(ROWS) @ between @ model.fisher_scores(OTHERS).T
    np.testing.assert_allclose(FisherKernel(model)(ROWS, OTHERS), expected, rtol=1e-7, atol=1e-9)


def test_two_ways_to_write_one_distribution_have_one_kernel() -> None:
    """A complete DAG and a complete graph parametrize all normal distributions: the invariant kernel is the same."""
    bayes = random_bayesian_network(7, 4, 1.0)
    expected = FisherKernel(bayes)(ROWS, OTHERS)
    np.testing.assert_allclose(FisherKernel(bayes.to_markov_network())(ROWS, OTHERS), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_frames_are_matched_by_name(model: Any) -> None:
    kernel = FisherKernel(model)
    frame = pd.DataFrame(ROWS, columns=list(model.names))[list(model.names)[::-1]].assign(weights=7.0)
    columns = {name: frame[name].to_numpy() for name in frame}
    for named in (frame, columns):
        np.testing.assert_array_equal(kernel(named), kernel(ROWS))
        np.testing.assert_array_equal(kernel(named, OTHERS), kernel(ROWS, OTHERS))
        np.testing.assert_array_equal(kernel.mean_features(named), kernel.mean_features(ROWS))
    empirical = FisherKernel(model, metric="empirical", reference=frame)
    np.testing.assert_array_equal(empirical(ROWS), FisherKernel(model, metric="empirical", reference=ROWS)(ROWS))


def test_a_kind_of_parameters_alone() -> None:
    kernel = FisherKernel(MARKOV, parameters=["mean"])
    off = ROWS - MARKOV.mean
    np.testing.assert_allclose(kernel(ROWS), off @ MARKOV.precision @ off.T, rtol=1e-9, atol=1e-9)


def test_rows_of_another_width_are_refused() -> None:
    with pytest.raises(fn.SchemaError, match=r"shape \(n, 4\)"):
        FisherKernel(MARKOV)(ROWS[:, :3])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_features_for_scikit_learn(model: Any) -> None:
    features = ModelFisherFeatures(model, metric="invariant").fit_transform(ROWS)
    np.testing.assert_allclose(features @ features.T, FisherKernel(model)(ROWS), rtol=1e-9)
    rows = MARKOV.sample(50, seed=2)
    learned = ModelFisherFeatures(fn.learn.gaussian_network, options={"graph": MARKOV.graph}).fit(rows)
    np.testing.assert_array_equal(learned.transform(ROWS), learned.model_.fisher_scores(ROWS))


@pytest.mark.parametrize("metric", ["invariant", "practical"])
def test_terms_of_regressions_are_blocks_of_the_information(metric: Any) -> None:
    """Each variable's scores under the inverse of its own information; together they are the kernel."""
    net = random_bayesian_network(4, 4)
    X, Y = net.sample(6, seed=1), net.sample(3, seed=2)
    kernel = fn.kernels.FisherKernel(net, metric=metric)
    terms = kernel.terms(X, Y)
    assert terms.shape == (4, 6, 3)
    np.testing.assert_allclose(terms.sum(axis=0), kernel(X, Y), rtol=1e-7, atol=1e-9)
    first = 0
    for conditional, [information], found in zip(net.conditionals, net.fisher_information(), terms, strict=True):
        last = first + conditional.n_parameters
        between = np.linalg.inv(information) if metric == "invariant" else np.eye(last - first)
        x, y = net.fisher_scores(X)[:, first:last], net.fisher_scores(Y)[:, first:last]
        np.testing.assert_allclose(found, x @ between @ y.T, rtol=1e-6, atol=1e-8)
        first = last
    np.testing.assert_allclose(kernel.terms(X), kernel.terms(X, X))


def test_terms_are_refused_where_variables_mix() -> None:
    net = random_bayesian_network(4, 4)
    rows = net.sample(60, seed=1)
    with pytest.raises(fn.FishernetError, match="the variables are mixed"):
        fn.kernels.FisherKernel(net, metric="empirical", reference=rows).terms(rows)
    with pytest.raises(fn.FishernetError, match="no terms, one per variable; that of a Bayesian network"):
        fn.kernels.FisherKernel(net.to_markov_network()).terms(rows)
