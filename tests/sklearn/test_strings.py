"""Transformers of strings: against the kernels by hand, and as scikit-learn clones, pickles and searches them."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fishernet as fn
from fishernet.kernels import FisherKernel, SpectrumKernel
from fishernet.models import Alphabet
from fishernet.sklearn import HmmFisherFeatures, KernelTransformer, MarkovFisherFeatures, ModelFisherFeatures

Array = npt.NDArray[Any]

# Two classes with equal shares of pairs; what follows a pair tells them apart.
ODD = fn.MarkovChain("ab", 2, [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]])
EVEN = fn.MarkovChain("ab", 2, np.full((2, 2, 2), 0.5))
STRINGS = ODD.sample(40, length=40, seed=1) + EVEN.sample(40, length=40, seed=2)
CLASSES = np.repeat([0, 1], 40)


def learned_kernel(strings: list[str]) -> FisherKernel:
    return FisherKernel(fn.learn.markov_chain(strings, order=1), metric="practical")


TRANSFORMERS = [
    KernelTransformer(SpectrumKernel(2)),
    KernelTransformer(learned_kernel, normalize=True),
    ModelFisherFeatures(ODD),
    ModelFisherFeatures(partial(fn.learn.markov_chain, order=1), metric="empirical"),
    ModelFisherFeatures(fn.learn.markov_chain, options={"order": 1}, metric="invariant", length=40),
    MarkovFisherFeatures(2, metric="empirical"),
    MarkovFisherFeatures(1, end=True, alphabet="ab", metric="invariant"),
    HmmFisherFeatures(2, restarts=1, random_state=1),
    HmmFisherFeatures(2, restarts=1, final=True, metric="empirical", random_state=1),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: f"{type(t).__name__}")
def test_a_transformer_clones_pickles_and_does_the_same_again(transformer: Any) -> None:
    fitted = clone(transformer).fit(STRINGS, CLASSES)
    found = fitted.transform(STRINGS[:7])
    assert found.shape == (7, len(fitted.get_feature_names_out()))
    np.testing.assert_allclose(clone(fitted).fit(STRINGS).transform(STRINGS[:7]), found, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(STRINGS[:7]), found)
    np.testing.assert_allclose(
        clone(transformer).fit_transform(STRINGS)[:7], found, rtol=1e-9, atol=1e-9 * abs(found).max()
    )
    assert set(transformer.get_params()) == set(clone(transformer).get_params())


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: f"{type(t).__name__}")
def test_strings_may_come_as_arrays_columns_and_tuples(transformer: Any) -> None:
    found = clone(transformer).fit(STRINGS).transform(STRINGS[:5])
    first: list[Any] = STRINGS[:5]
    objects = np.array(first, dtype=object)
    for given in (np.array(first), objects, tuple(first), pd.Series(first), pl.Series(first), iter(first)):
        np.testing.assert_array_equal(clone(transformer).fit(np.array(STRINGS)).transform(given), found)


def test_gram_matrices_are_those_of_the_kernel() -> None:
    kernel = SpectrumKernel(3)
    transformer = KernelTransformer(kernel).fit(STRINGS[:30])
    np.testing.assert_array_equal(transformer.transform(STRINGS[30:]), kernel(STRINGS[30:], STRINGS[:30]))
    gram = KernelTransformer(learned_kernel).fit_transform(STRINGS[:30])
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_allclose(gram, learned_kernel(STRINGS[:30])(STRINGS[:30]), rtol=1e-12)
    cosines = KernelTransformer(kernel, normalize=True).fit_transform(STRINGS)
    np.testing.assert_allclose(np.diag(cosines), 1, rtol=1e-12)


def test_fisher_features_are_the_scores_of_the_model() -> None:
    chain = fn.learn.markov_chain(STRINGS, order=2, smoothing=0.5)
    by_name = MarkovFisherFeatures(2, smoothing=0.5).fit_transform(STRINGS)
    by_function = ModelFisherFeatures(fn.learn.markov_chain, options={"order": 2, "smoothing": 0.5}).fit_transform(
        STRINGS
    )
    given = ModelFisherFeatures(chain).fit_transform(STRINGS)
    for found in (by_name, by_function, given):
        np.testing.assert_allclose(found, chain.fisher_scores(STRINGS), rtol=1e-12)


def test_empirical_features_are_white_on_the_strings_of_training() -> None:
    found = MarkovFisherFeatures(2, metric="empirical").fit_transform(STRINGS)
    np.testing.assert_allclose(found.T @ found / len(STRINGS), np.eye(found.shape[1]), atol=1e-8)


def test_invariant_features_are_white_under_the_model() -> None:
    transformer = ModelFisherFeatures(ODD, metric="invariant", length=30).fit(STRINGS)
    found = transformer.transform(ODD.sample(20_000, length=30, seed=5))
    assert found.shape[1] == 4  # one free parameter a context
    np.testing.assert_allclose(found.T @ found / 20_000, np.eye(4), atol=0.05)


def test_a_grid_search_finds_the_order_that_tells_the_classes_apart() -> None:
    model = make_pipeline(MarkovFisherFeatures(), StandardScaler(), LogisticRegression())
    search = GridSearchCV(model, {"markovfisherfeatures__order": [0, 1, 2]}, cv=4).fit(STRINGS, CLASSES)
    assert search.best_params_ == {"markovfisherfeatures__order": 2}
    assert search.best_score_ > 0.9


def test_a_grid_search_goes_over_kernels_and_over_options() -> None:
    kernels = [SpectrumKernel(k) for k in (1, 3)]
    model = make_pipeline(KernelTransformer(kernels[0], normalize=True), SVC(kernel="precomputed", C=10))
    search = GridSearchCV(model, {"kerneltransformer__kernel": kernels}, cv=4).fit(STRINGS, CLASSES)
    assert search.best_params_["kerneltransformer__kernel"].k == 3
    features = make_pipeline(ModelFisherFeatures(fn.learn.markov_chain), StandardScaler(), LogisticRegression())
    grid = {"modelfisherfeatures__options": [{"order": 0}, {"order": 2}]}
    assert GridSearchCV(features, grid, cv=4).fit(STRINGS, CLASSES).best_params_ == {
        "modelfisherfeatures__options": {"order": 2}
    }


def test_a_precomputed_kernel_cross_validates() -> None:
    model = make_pipeline(KernelTransformer(learned_kernel, normalize=True), SVC(kernel="precomputed"))
    by_hand = make_pipeline(MarkovFisherFeatures(1), SVC(kernel="linear"))
    assert cross_val_score(model, STRINGS, CLASSES, cv=4).shape == (4,)
    assert cross_val_score(by_hand, STRINGS, CLASSES, cv=4).shape == (4,)


def test_lists_of_symbols_are_strings() -> None:
    strings = [[0, 1, 1], [1, 0], []]
    assert MarkovFisherFeatures(1).fit_transform(strings).shape == (3, 4)
    assert KernelTransformer(SpectrumKernel(1)).fit_transform(strings).tolist() == [[5, 3, 0], [3, 2, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("abab", "not one string"),
        ([], "at least one string"),
        (3, "not an int"),
        ([1.5, 2.0], "string 0 is 1.5"),
        (["ab", None], "string 1 is None"),
        (pd.DataFrame({"s": ["ab"]}), r"write frame\[name\]"),
    ],
)
def test_what_is_no_list_of_strings_is_refused(X: Any, message: str) -> None:
    for transformer in (KernelTransformer(SpectrumKernel(1)), MarkovFisherFeatures(1)):
        with pytest.raises(fn.SchemaError, match=message):
            transformer.fit(X)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(fn.SchemaError, match="not str"):
        KernelTransformer("spectrum").fit(STRINGS)
    with pytest.raises(fn.SchemaError, match="makes one is needed, not int"):
        KernelTransformer(len).fit(STRINGS)
    with pytest.raises(fn.SchemaError, match="unknown metric"):
        MarkovFisherFeatures(1, metric="euclidean").fit(STRINGS)  # type: ignore[arg-type]
    with pytest.raises(fn.FishernetError, match="give length="):
        MarkovFisherFeatures(1, metric="invariant").fit(STRINGS)


def test_symbols_that_training_did_not_have_are_named_or_taken_for_a_known_one() -> None:
    with pytest.raises(fn.UnknownStateError, match=r"string 0 has the symbol 'x' at position 1, .*unknown='any'"):
        MarkovFisherFeatures(1, unknown="error").fit(STRINGS).transform(["ax"])
    taken = MarkovFisherFeatures(1, alphabet=Alphabet("ab", unknown="b")).fit(STRINGS)
    np.testing.assert_array_equal(taken.transform(["ax"]), taken.transform(["ab"]))


ODDS = ["abab", "", "a", "bbxb", "abba", "ab", "yab", "", "baba", "aabb", "bz", "abab"]
TWO = [0, 1] * 6
PIPELINES: dict[str, Any] = {
    "gram": lambda: make_pipeline(KernelTransformer(SpectrumKernel(2), normalize=True), SVC(kernel="precomputed")),
    "learned": lambda: make_pipeline(KernelTransformer(tolerant_kernel), SVC(kernel="precomputed")),
    "markov": lambda: make_pipeline(MarkovFisherFeatures(1), LogisticRegression()),
    "markov with end": lambda: make_pipeline(MarkovFisherFeatures(2, end=True), StandardScaler(), LogisticRegression()),
    "skipping": lambda: make_pipeline(MarkovFisherFeatures(1, unknown="skip"), LogisticRegression()),
    "empirical": lambda: make_pipeline(MarkovFisherFeatures(1, metric="empirical"), SVC()),
    "invariant": lambda: make_pipeline(MarkovFisherFeatures(1, metric="invariant", length=4), SVC()),
    "hmm": lambda: make_pipeline(HmmFisherFeatures(2, restarts=1, random_state=1), SVC()),
    "hmm with end": lambda: make_pipeline(HmmFisherFeatures(2, restarts=1, final=True, random_state=1), SVC()),
    "function": lambda: make_pipeline(ModelFisherFeatures(fn.learn.markov_chain, options={"order": 1}), SVC()),
    "given": lambda: make_pipeline(ModelFisherFeatures(ODD), SVC()),
}


def tolerant_kernel(strings: list[str]) -> FisherKernel:
    return FisherKernel(fn.learn.markov_chain(strings, order=1, unknown="any"), metric="practical")


@pytest.mark.parametrize("name", list(PIPELINES))
@pytest.mark.parametrize("folds", [StratifiedKFold(2), StratifiedKFold(4), LeaveOneOut()], ids=["2", "4", "one"])
def test_cross_validation_ends_in_numbers(name: str, folds: Any) -> None:
    scores = cross_val_score(PIPELINES[name](), ODDS, TWO, cv=folds, error_score="raise")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", list(PIPELINES))
def test_training_on_one_string_of_each_class(name: str) -> None:
    model = PIPELINES[name]().fit(["ab", "ba"], [0, 1])
    assert set(model.predict(ODDS)) <= {0, 1}


def test_features_of_unknown_symbols_are_those_of_the_model() -> None:
    chain = fn.learn.markov_chain(["abab", "aab"], order=1, unknown="any")
    for transformer in (MarkovFisherFeatures(1), ModelFisherFeatures(fn.learn.markov_chain, options={"order": 1})):
        found = transformer.fit(["abab", "aab"]).transform(["axb", "x", ""])
        np.testing.assert_allclose(found, chain.fisher_scores(["axb", "x", ""]), rtol=1e-12)
    skipped = MarkovFisherFeatures(1, unknown="skip").fit(["abab", "aab"]).transform(["axb"])
    np.testing.assert_allclose(skipped, chain.fisher_scores(["ab"]), rtol=1e-12)


def test_a_model_with_a_policy_of_its_own_keeps_it() -> None:
    skipping = ODD.with_unknown("skip")
    found = ModelFisherFeatures(skipping).fit(STRINGS).transform(["axbab"])
    np.testing.assert_array_equal(found, ODD.fisher_scores(["abab"]))
    with pytest.raises(fn.UnknownStateError):
        ModelFisherFeatures(ODD, unknown="error").fit(STRINGS).transform(["axb"])


def test_a_fold_of_empty_strings_is_refused_with_what_to_say() -> None:
    with pytest.raises(fn.SchemaError, match="say alphabet="):
        MarkovFisherFeatures(1).fit(["", ""])
    assert MarkovFisherFeatures(1, alphabet="ab").fit_transform(["", ""]).tolist() == [[0.0] * 4] * 2
