"""The laws of kernels, and every kernel with a small example that they hold for."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

import fishernet as fn
from fishernet.kernels import (
    AgreementKernel,
    CountKernel,
    FeatureKernel,
    FisherKernel,
    GaussianKernel,
    HiddenBinomialKernel,
    HiddenTreeKernel,
    HiddenVariableKernel,
    HmmKernel,
    Kernel,
    MarginalizationKernel,
    Normalized,
    PairHmmKernel,
    Precomputed,
    PrunedTreeKernel,
    Rbf,
    Similarity,
    SpectrumKernel,
    has_features,
)
from fishernet.kernels.fisher.kernel import METRICS
from fishernet.kernels.similarity import MEASURES
from tests.networks import random_network
from tests.reference.fisher import Floats, WithoutFeatures, assert_close, merged_network, on_threads
from tests.reference.gaussians import random_bayesian_network, random_markov_network
from tests.strings import random_hmm, random_strings


class EqualCells:
    """A kernel of our own: the number of cells in which two rows are equal."""

    def __call__(self, X: fn.Table, Y: fn.Table | None = None) -> Floats:
        pairs = zip(X.codes, (X if Y is None else Y).codes, strict=True)
        return np.asarray(np.sum([a[:, None] == b for a, b in pairs], axis=0), dtype=np.float64)

    def diag(self, X: fn.Table) -> Floats:
        return np.full(X.n_rows, float(len(X.variables)))


# ------------------------------------------------------------------------------- every kernel, and what it is called on

NET = random_network(4, [2, 3, 4, 2])
MERGED = merged_network(1)
ASIA = fn.datasets.load("asia")
GROWN = fn.learn.parameters(ASIA.dag, ASIA.sample(5000, seed=1), conditionals="tree")
CERTAIN = fn.BayesianNetwork.from_tables([fn.Variable("a", [0, 1])], {}, {"a": [1, 0]})
TABLE = NET.sample(60, seed=1)
CODES = np.stack(TABLE.codes, axis=1)
NUMBERS = np.random.default_rng(0).normal(size=(30, 4))
MOVE = [[0.7, 0.3], [0.1, 0.9]]
EQUAL = [*random_strings(0, 11, 2, 5, 5), [0, 1, 1, 0, 1]] * 2  # strings of one length, each twice
UNEQUAL: list[Any] = [[], *random_strings(1, 14, 2, 8)]
PROTEINS = ["ACDA", "", "AACD", "DDCA", "A"]

HMM, SILENT = random_hmm(1, 3, 2, final=True), random_hmm(2, 3, 2, final=True, empty=True)
LOOSE = random_hmm(3, 2, 2, zeros=0.4)
CHAIN = fn.MarkovChain(range(2), 1, MOVE)
TREES = [
    fn.HiddenTree(tree, [0.4, 0.6], MOVE, MOVE, alphabet=range(2)) for tree in ([[0, 1], [2, 3, 4]], [[0, 1, 2], 3, 4])
]
MARKOV, REGRESSIONS = random_markov_network(3, 4, 0.5), random_bayesian_network(3, 4, 0.5)

INCOMPLETE = fn.Table(
    TABLE.variables,
    [
        np.where(np.arange(TABLE.n_rows) % 7 == i, v.cardinality, c)
        for i, (v, c) in enumerate(zip(TABLE.variables, TABLE.codes, strict=True))
    ],
)
FISHER, PRACTICAL = FisherKernel(NET), FisherKernel(NET, metric="practical")
EMPIRICAL = FisherKernel(NET, metric="empirical", reference=TABLE)


class Case(NamedTuple):
    """A kernel, and rows that it is called on."""

    kernel: Any
    rows: Any


CASES: dict[str, Case] = {
    "agreement": Case(AgreementKernel(NET, redrawn=0.5), TABLE),
    "agreement, missing cells": Case(AgreementKernel(NET, redrawn=0.2), INCOMPLETE),
    "agreement, nothing drawn": Case(AgreementKernel(NET), TABLE),
    "agreement of decision trees": Case(AgreementKernel(GROWN, redrawn=0.1), GROWN.sample(40, seed=1)),
    "agreement of numbers": Case(AgreementKernel(REGRESSIONS, redrawn=0.3), NUMBERS),
    "Fisher": Case(FISHER, TABLE),
    "Fisher, practical": Case(PRACTICAL, TABLE),
    "Fisher, empirical": Case(EMPIRICAL, TABLE),
    "Fisher on codes": Case(FISHER, CODES),
    "Fisher of merged tables": Case(FisherKernel(MERGED), MERGED.sample(40, seed=1)),
    "Fisher of decision trees": Case(FisherKernel(GROWN), GROWN.sample(40, seed=1)),
    "Fisher of decision trees, missing cells": Case(HiddenVariableKernel(GROWN, ["xray"]), GROWN.sample(20, seed=1)),
    "Fisher, hidden variables": Case(HiddenVariableKernel(NET, [NET.names[1]]), TABLE),
    "Fisher, of the observed": Case(FisherKernel(NET, hidden=[NET.names[1]]), INCOMPLETE),
    "Fisher, of the observed, empirical": Case(
        FisherKernel(NET, metric="empirical", reference=INCOMPLETE, hidden=()), INCOMPLETE
    ),
    "Fisher, missing cells": Case(HiddenVariableKernel(NET), INCOMPLETE),
    "Fisher, numbers": Case(FisherKernel(MARKOV), NUMBERS),
    "Fisher, numbers, practical": Case(FisherKernel(MARKOV, metric="practical", parameters=["mean"]), NUMBERS),
    "Fisher, numbers, empirical": Case(
        FisherKernel(REGRESSIONS, metric="empirical", reference=REGRESSIONS.sample(100, seed=1)), NUMBERS
    ),
    "Fisher, regressions": Case(FisherKernel(REGRESSIONS), NUMBERS),
    "Fisher, normal": Case(FisherKernel(fn.Gaussian(0.5, 2.0)), NUMBERS[:, 0].copy()),
    "Fisher, hidden Markov": Case(FisherKernel(HMM, seed=3), UNEQUAL),
    "Fisher, hidden Markov, practical": Case(FisherKernel(HMM, metric="practical"), UNEQUAL),
    "Fisher, hidden Markov, empirical": Case(FisherKernel(HMM, metric="empirical", reference=EQUAL), UNEQUAL),
    "Fisher, Markov chain": Case(FisherKernel(CHAIN, length=5), EQUAL),
    "Fisher, hidden tree": Case(FisherKernel(TREES[0], metric="practical"), EQUAL),
    "counts": Case(CountKernel(HMM), UNEQUAL),
    "counts of some": Case(CountKernel(HMM, parts=["final", "initial"]), EQUAL),
    "spectrum": Case(SpectrumKernel(2), UNEQUAL),
    "spectrum of an alphabet": Case(SpectrumKernel(2, range(2)), UNEQUAL),
    "spectrum of texts": Case(SpectrumKernel(1, "ACD"), PROTEINS),
    "hidden Markov": Case(HmmKernel(HMM), EQUAL),
    "pair hidden Markov": Case(PairHmmKernel(SILENT), UNEQUAL),
    "pair hidden Markov, no empty symbol": Case(PairHmmKernel(HMM), UNEQUAL),
    "pair hidden Markov, zeros": Case(PairHmmKernel(LOOSE), UNEQUAL),
    "hidden tree": Case(HiddenTreeKernel(TREES[0]), EQUAL),
    "hidden trees": Case(HiddenTreeKernel(TREES, [0.2, 0.8]), EQUAL),
    "pruned tree": Case(PrunedTreeKernel(TREES[0]), EQUAL),
    "pruned trees": Case(PrunedTreeKernel(TREES, keep=0.4), EQUAL),
    "hidden binomial": Case(HiddenBinomialKernel([0.5, 0.5], MOVE, alphabet=range(2)), EQUAL),
    "hidden binomial by position": Case(HiddenBinomialKernel([[0.5, 0.5]] * 5, MOVE, alphabet=range(2)), EQUAL),
    "marginalization": Case(MarginalizationKernel([HMM, CHAIN], [0.3, 0.7]), EQUAL),
    "marginalization of tables": Case(MarginalizationKernel([NET, random_network(5, [2, 3, 4, 2])], [0.5, 0.5]), TABLE),
    **{f"similarity, {name}": Case(Similarity(TABLE[:40], name), TABLE) for name in MEASURES},
    **{f"similarity, {name}, missing cells": Case(Similarity(INCOMPLETE, name), INCOMPLETE) for name in MEASURES},
    "radial of a similarity": Case(Rbf(Similarity(TABLE, "condist"), 0.5), TABLE),
    "cosine of a similarity": Case(Normalized(Similarity(TABLE, "goodall3")), TABLE),
    "cosine": Case(Normalized(FISHER), TABLE),
    "cosine, dense": Case(Normalized(EMPIRICAL), TABLE),
    "cosine without features": Case(Normalized(WithoutFeatures(FISHER)), TABLE),
    "cosine of nothing": Case(Normalized(FisherKernel(CERTAIN)), np.zeros((3, 1), int)),
    "cosine from logarithms": Case(Normalized(PairHmmKernel(SILENT, log=True)), UNEQUAL),
    "cosine of trees": Case(Normalized(HiddenTreeKernel(TREES)), EQUAL),
    "cosine of spectra": Case(Normalized(SpectrumKernel(2, range(2))), UNEQUAL),
    "radial": Case(Rbf(FISHER, 3.0), TABLE),
    "Gaussian": Case(GaussianKernel(1.5), NUMBERS),
    "Gaussian of a table": Case(GaussianKernel(1.5), fn.Table.from_frame(dict(zip("abcd", NUMBERS.T, strict=True)))),
    "given matrix": Case(Precomputed(NUMBERS @ NUMBERS.T), np.arange(30)[::-1].copy()),
    "radial of our own": Case(Rbf(EqualCells(), 1.0), TABLE),
    "radial of strings": Case(Rbf(SpectrumKernel(2), 2.0), UNEQUAL),
    "sum": Case(FISHER + PRACTICAL, TABLE),
    "sum, sparse and dense": Case(FISHER + EMPIRICAL + PRACTICAL, TABLE),
    "sum of strings": Case(SpectrumKernel(1) + SpectrumKernel(2, range(2)), UNEQUAL),
    "multiple": Case(2.5 * FISHER, TABLE),
    "multiple without features": Case(2.0 * (FISHER * FISHER), TABLE),
    "nothing": Case(0.0 * FISHER, TABLE),
    "product": Case(FISHER * PRACTICAL, TABLE),
    "nested": Case(Normalized(FISHER + 0.5 * PRACTICAL) + 3.0 * PRACTICAL, TABLE),
    "nested without features": Case(2.0 * Normalized(FISHER * FISHER) + Rbf(PRACTICAL, 10.0), TABLE),
    "product with our own": Case(Normalized(EqualCells()) * FISHER, TABLE),
}
EVERY = pytest.mark.parametrize("name", list(CASES))
WITH_FEATURES = pytest.mark.parametrize("name", [name for name, case in CASES.items() if has_features(case.kernel)])


def test_every_kernel_is_here() -> None:
    classes = {value for value in vars(fn.kernels).values() if isinstance(value, type) and hasattr(value, "diag")}
    protocols = {cls for cls in classes if getattr(cls, "_is_protocol", False)}
    here = {cls for case in CASES.values() for cls in type(case.kernel).__mro__}
    assert classes - protocols <= here
    assert set(METRICS) == {c.kernel.metric for c in CASES.values() if hasattr(c.kernel, "metric")}


def pick(rows: Any, order: Any) -> Any:
    """Some rows, by position."""
    return [rows[i] for i in order] if isinstance(rows, list) else rows[np.asarray(order, dtype=int)]


def dense(features: Any) -> Floats:
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)


def sizes(kernel: Any, X: Any, Y: Any) -> Floats:
    """What rounding is measured by: the lengths of the features, and of those that a sum is made of."""
    total: Floats = np.sqrt(np.outer(kernel.diag(X), kernel.diag(Y)))
    return total + 1e-300


def everything(kernel: Any, X: Any) -> list[Floats]:
    """All that a kernel gives."""
    found = [kernel(X), kernel(X, X[:3]), kernel.diag(X)]
    if has_features(kernel):
        found += [dense(kernel.features(X)), kernel.mean_features(X)]
    return found


# ------------------------------------------------------------------------------------------------------- the laws


@EVERY
def test_a_matrix_is_exactly_symmetric_and_positive_semidefinite(name: str) -> None:
    kernel, X = CASES[name]
    assert isinstance(kernel, Kernel)
    assert any(part in repr(kernel) for part in ("Kernel(", "Similarity(", "object at"))  # it says what it is made of
    gram = kernel(X)
    assert gram.dtype == np.float64
    assert gram.shape == (len(X), len(X))
    np.testing.assert_array_equal(gram, gram.T)
    if not getattr(kernel, "is_semidefinite", True):
        return  # it says so; tests/kernels/test_similarity.py has rows that show it
    values = np.linalg.eigvalsh(gram)
    assert values.min() >= -1e-10 * max(values.max(), 1e-300)


@EVERY
def test_the_diagonal_is_the_diagonal(name: str) -> None:
    kernel, X = CASES[name]
    diagonal = kernel.diag(X)
    assert (diagonal.dtype, diagonal.shape) == (np.float64, (len(X),))
    np.testing.assert_allclose(diagonal, np.diag(kernel(X)), rtol=1e-10)


@EVERY
def test_two_parts_give_a_part_of_the_matrix_and_its_transpose(name: str) -> None:
    kernel, X = CASES[name]
    last, first = X[len(X) // 3 :], X[: len(X) // 2]
    size = sizes(kernel, first, last)
    assert_close(kernel(first, last), kernel(X)[: len(first), len(X) - len(last) :], size, rtol=1e-10)
    assert_close(kernel(last, first), kernel(first, last).T, size.T, rtol=1e-10)


@EVERY
def test_rows_in_another_order_give_the_matrix_in_another_order(name: str) -> None:
    kernel, X = CASES[name]
    order = np.random.default_rng(0).permutation(len(X))
    gram = kernel(X)[np.ix_(order, order)]
    assert_close(kernel(pick(X, order)), gram, sizes(kernel, pick(X, order), pick(X, order)), rtol=1e-10)


@EVERY
def test_no_rows_give_empty_matrices(name: str) -> None:
    kernel, X = CASES[name]
    none = X[:0]
    assert kernel(none).shape == (0, 0)
    assert kernel(none, X).shape == (0, len(X))
    assert kernel(X, none).shape == (len(X), 0)
    assert kernel.diag(none).shape == (0,)
    if has_features(kernel):
        assert kernel.features(none).shape == (0, kernel.dimension)
        with pytest.raises(fn.SchemaError, match="positive weight"):
            kernel.mean_features(none)


@EVERY
def test_the_number_of_threads_changes_no_bit(name: str) -> None:
    kernel, X = CASES[name]
    many = pick(X, np.arange(200 if isinstance(X, list) else 1100) % len(X))  # more than a block of rows
    one, three = (on_threads(n, lambda: everything(kernel, many)) for n in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


@EVERY
def test_rows_stay_as_they_are_and_results_are_the_callers(name: str) -> None:
    kernel, X = CASES[name]
    kept = copy.deepcopy(X)
    before = everything(kernel, X)
    for array, again in zip(copy.deepcopy(before), everything(kernel, X), strict=True):
        np.testing.assert_array_equal(array, again)
        again[...] = 7
    for array, again in zip(before, everything(kernel, kept), strict=True):
        np.testing.assert_array_equal(array, again)
    assert np.array_equal(X, kept) if isinstance(X, np.ndarray) else kept == X


@EVERY
def test_a_pickle_gives_the_same_bits(name: str) -> None:
    kernel, X = CASES[name]
    again = pickle.loads(pickle.dumps(kernel))
    assert type(again) is type(kernel)
    for a, b in zip(everything(again, X), everything(kernel, X), strict=True):
        np.testing.assert_array_equal(a, b)


@WITH_FEATURES
def test_features_give_the_kernel(name: str) -> None:
    kernel, X = CASES[name]
    assert isinstance(kernel, FeatureKernel)
    features = dense(kernel.features(X))
    assert features.shape == (len(X), kernel.dimension)
    assert_close(features @ features[:9].T, kernel(X, X[:9]), sizes(kernel, X, X[:9]), rtol=1e-10)


@WITH_FEATURES
def test_mean_features_are_the_mean_and_sums_of_parts_add(name: str) -> None:
    kernel, X = CASES[name]
    features = dense(kernel.features(X))
    rounding = 1e-12 * (1 + np.abs(features).max())
    mean = kernel.mean_features(X)
    np.testing.assert_allclose(mean, features.mean(axis=0), rtol=1e-9, atol=rounding)
    half = len(X) // 2
    sums = sum(len(part) * kernel.mean_features(part) for part in (X[:half], X[half:]))
    np.testing.assert_allclose(sums, len(X) * mean, rtol=1e-9, atol=len(X) * rounding)


@WITH_FEATURES
def test_rows_of_a_table_count_by_their_weights_in_a_mean_and_nowhere_else(name: str) -> None:
    kernel, X = CASES[name]
    if not isinstance(X, fn.Table):
        return
    weights = np.random.default_rng(1).integers(0, 4, size=len(X))
    weighted = fn.Table(X.variables, X.codes, weights=weights)
    features = dense(kernel.features(X))
    np.testing.assert_array_equal(dense(kernel.features(weighted)), features)
    np.testing.assert_array_equal(kernel(weighted), kernel(X))
    expected = weights @ features / weights.sum()
    rounding = 1e-12 * (1 + np.abs(features).max())
    np.testing.assert_allclose(kernel.mean_features(weighted), expected, rtol=1e-9, atol=rounding)
