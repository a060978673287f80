"""Fisher features of tables: scikit-learn's own checks, features by definition, names, holes, arrays, refusals."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, KernelPCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MaxAbsScaler, Normalizer, OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import fishernet as fn
from fishernet.kernels import FisherKernel, HiddenVariableKernel, Normalized
from fishernet.sklearn import FisherFeatures
from tests.reference.fisher import merged_network
from tests.sklearn.by_hand import HOLES, NAMES, RAIN, WHOLE, expected, phi
from tests.sklearn.frames import mixed

KINDS = [
    FisherFeatures(),
    FisherFeatures(sparse_output=False, structure="hill-climb", structure_score="aic"),
    FisherFeatures(structure="kdb"),
    FisherFeatures(structure="tan"),
]


@parametrize_with_checks(KINDS)  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_s_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def with_holes(n: int = 300, seed: int = 0) -> pd.DataFrame:
    frame = mixed(n, seed)[0].astype({"size": float, "town": object})
    gone = np.random.default_rng(seed + 1).random((n, 2)) < 0.2
    return frame.assign(town=frame["town"].where(~gone[:, 0], None), size=frame["size"].where(~gone[:, 1]))


# ------------------------------------------------------------------------------------------------- what features are


def test_features_are_those_of_the_definition() -> None:
    found = FisherFeatures(RAIN).fit(WHOLE).transform(WHOLE)
    np.testing.assert_allclose(found.toarray(), expected(WHOLE, phi), rtol=1e-10, atol=1e-12)


def test_features_of_rows_with_holes_are_expected_ones() -> None:
    found = FisherFeatures(RAIN, sparse_output=False).fit(WHOLE).transform(HOLES)
    np.testing.assert_allclose(found, expected(HOLES, phi), rtol=1e-10, atol=1e-12)


def test_of_a_row_of_which_nothing_is_known_all_features_are_0() -> None:
    nothing = pd.DataFrame({name: [None] for name in WHOLE}, dtype=object)
    np.testing.assert_allclose(FisherFeatures(RAIN).fit(WHOLE).transform(nothing).toarray(), 0, atol=1e-12)


@pytest.mark.parametrize("search", ["order", "tabu", "hill-climb", "exact"])
def test_learned_features_are_the_library_s(search: Any) -> None:
    frame, _ = mixed()
    table = fn.Table.from_frame(frame, bins=4)
    net = fn.learn.bayesian_network(table, score="aic", search=search, smoothing=0.5, max_parents=2)
    model = FisherFeatures(
        structure=search, structure_score="aic", smoothing=0.5, bins=4, options={"max_parents": 2}
    ).fit(frame)
    assert model.network_ == net
    kernel, found = FisherKernel(net), model.transform(frame)
    assert isinstance(found, sp.csr_array)
    np.testing.assert_allclose(found.toarray(), kernel.features(table).toarray(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose((found @ found.T).toarray(), kernel(table), rtol=1e-9, atol=1e-9)


def test_holes_in_training_are_learned_from_as_by_the_library() -> None:
    frame = with_holes()
    table = fn.Table.from_frame(frame, bins=5)
    model = FisherFeatures(bins=5).fit(frame)
    assert model.network_ == fn.learn.bayesian_network(table)
    reference = HiddenVariableKernel(model.network_).features(table)
    np.testing.assert_allclose(model.transform(frame).toarray(), reference.toarray(), rtol=1e-12)


def test_a_label_never_seen_is_as_a_missing_one() -> None:
    frame, _ = mixed()
    model = FisherFeatures().fit(frame)
    new, gone = frame.head(5).assign(town="Paris"), frame.head(5).assign(town=None)
    np.testing.assert_array_equal(model.transform(new).toarray(), model.transform(gone).toarray())


@pytest.mark.parametrize(("structure", "learn"), [("kdb", fn.learn.kdb), ("tan", fn.learn.tan)])
def test_a_structure_by_classes_keeps_the_arcs_between_features(structure: Any, learn: Any) -> None:
    frame, y = mixed()
    whole = fn.Table.from_frame(frame.assign(**{"class": y}), bins=5)
    dag = learn(whole, "class", 2) if structure == "kdb" else learn(whole, "class")
    kept = [edge for edge in dag.edges if "class" not in edge]
    assert kept
    features = whole.select(list(frame))
    net = fn.learn.parameters(fn.Dag.from_edges(features.names, kept), features)
    assert FisherFeatures(structure=structure).fit(frame, y).network_ == net
    assert FisherFeatures(structure="nb").fit(frame, y).network_.edges == ()


def test_what_matters_together_is_seen_by_a_linear_model() -> None:
    """The parity of two coins is in no column by itself."""
    coins = np.random.default_rng(0).integers(0, 2, (400, 4))
    y = coins[:, 0] ^ coins[:, 2]
    plain = make_pipeline(OneHotEncoder(), LinearSVC())
    seeing = make_pipeline(FisherFeatures(structure="kdb"), LinearSVC())
    assert cross_val_score(plain, coins, y, cv=4).mean() < 0.7
    assert cross_val_score(seeing, coins, y, cv=4).mean() == 1


# ------------------------------------------------------------------------------------------------------------- names


def test_names_say_variable_configuration_and_state() -> None:
    assert FisherFeatures(RAIN).fit(WHOLE).get_feature_names_out().tolist() == NAMES


def test_names_of_merged_configurations_differ() -> None:
    net = merged_network(1)
    names = FisherFeatures(net).fit(net.sample(5, seed=1).to_pandas()).get_feature_names_out()
    assert len(set(names)) == len(names) == FisherKernel(net).dimension
    assert any("/" in name or "more)" in name for name in names)


def test_states_that_look_alike_are_quoted() -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("v", [1, "1"])], {}, {"v": [0.5, 0.5]})
    assert FisherFeatures(net).fit(np.array([[0]])).get_feature_names_out().tolist() == [
        "v: 1",
        "v: '1'",
    ]


def test_columns_of_an_array_may_be_named() -> None:
    model = FisherFeatures(structure="naive-bayes").fit([[0, "a"], [1, "b"], [1, "a"]], [0, 1, 1])
    assert model.get_feature_names_out().tolist() == ["x0: 0", "x0: 1", "x1: a", "x1: b"]
    assert model.get_feature_names_out(["n", "s"]).tolist() == ["n: 0", "n: 1", "s: a", "s: b"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("sparse", [False, True])
def test_frames_come_out_where_they_are_asked_for(kind: str, sparse: bool) -> None:
    model = FisherFeatures(RAIN, sparse_output=sparse).set_output(transform=kind).fit(WHOLE)
    found = model.transform(WHOLE.set_index(np.array([7, 5, 3, 1])))
    assert list(found.columns) == NAMES
    np.testing.assert_allclose(found.to_numpy(), expected(WHOLE, phi), rtol=1e-10, atol=1e-12)
    if kind == "pandas":
        assert found.index.tolist() == [7, 5, 3, 1]


# ------------------------------------------------------------------------------------------------- frames and arrays


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas, lambda f: f[["sprinkler", "rain", "grass"]]])
def test_frames_of_all_kinds_and_orders(make: Callable[[pd.DataFrame], Any]) -> None:
    frame = make(WHOLE.assign(row=range(4)) if make is pl.from_pandas else WHOLE)  # others are ignored
    found = FisherFeatures(RAIN).fit(frame).transform(frame)
    np.testing.assert_allclose(found.toarray(), expected(WHOLE, phi), rtol=1e-10, atol=1e-12)


def test_arrays_have_the_columns_of_the_network() -> None:
    """Whole numbers are codes, all else are labels."""
    labels = WHOLE[list(RAIN.names)].to_numpy(dtype=object)
    codes = np.array([[0, 0, 0], [1, 1, 2], [1, 0, 1], [0, 1, 0]])
    for rows in (labels, codes):
        found = FisherFeatures(RAIN).fit(rows).transform(rows)
        np.testing.assert_allclose(found.toarray(), expected(WHOLE, phi), rtol=1e-10, atol=1e-12)


def test_indices_are_small_enough_for_liblinear() -> None:
    found = FisherFeatures(RAIN).fit(WHOLE).transform(WHOLE)
    assert found.indices.dtype == found.indptr.dtype == np.int32


@pytest.mark.parametrize("bins", [3, {"size": [0.0, 2.0]}])
def test_numbers_are_cut_as_in_training(bins: Any) -> None:
    frame, _ = mixed()
    model = FisherFeatures(bins=bins).fit(frame)
    table = fn.Table.from_frame(frame, bins=bins)
    assert model.network_.variables == table.variables
    far = frame.head(2).assign(size=[-1e9, 1e9])
    ends = frame.head(2).assign(size=[frame["size"].min(), frame["size"].max()])
    np.testing.assert_array_equal(model.transform(far).toarray(), model.transform(ends).toarray())


# --------------------------------------------------------------------------------------------- in scikit-learn's hands


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("structure", ["order", "kdb"])
def test_cross_validation_of_frames_with_text_and_holes(structure: Any, make: Callable[[pd.DataFrame], Any]) -> None:
    frame, (_, y) = with_holes(), mixed()
    model = make_pipeline(FisherFeatures(structure=structure), MaxAbsScaler(), LogisticRegression())
    scores = cross_val_score(model, make(frame), y, cv=3, error_score="raise")
    assert scores.mean() > 0.6


def test_a_label_of_a_test_fold_alone_ends_no_cross_validation() -> None:
    frame, y = mixed(60)
    frame["town"] = frame["town"].astype(object)
    frame.loc[7, "town"] = "Paris"
    assert np.isfinite(cross_val_score(make_pipeline(FisherFeatures(), LogisticRegression()), frame, y, cv=4)).all()


def test_grid_searches_unions_and_column_transformers() -> None:
    frame, y = mixed(150)
    model = make_pipeline(FisherFeatures(), LogisticRegression())
    grid = {"fisherfeatures__structure": ["hill-climb", "kdb"], "fisherfeatures__smoothing": [0.5, 1.0]}
    assert np.isfinite(GridSearchCV(model, grid, cv=2).fit(frame, y).cv_results_["mean_test_score"]).all()
    union = make_union(FisherFeatures(), FisherFeatures(structure="kdb")).fit(frame, y)
    assert union.transform(frame).shape[1] == len(union.get_feature_names_out())
    chosen = make_column_transformer((FisherFeatures(), ["town", "grade"]), ("passthrough", ["size"]))
    assert chosen.fit(frame).get_feature_names_out()[-1] == "passthrough__size"
    first = make_column_transformer(("passthrough", ["town", "size"]))
    assert make_pipeline(first, FisherFeatures(), LogisticRegression()).fit(frame, y).score(frame, y) > 0.5


def test_a_linear_method_of_features_is_a_kernel_method() -> None:
    frame, _ = mixed(80)
    model = FisherFeatures().fit(frame)
    gram = Normalized(FisherKernel(model.network_))(frame)
    by_gram = KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit_transform(gram)
    by_features = make_pipeline(model, Normalizer(), PCA(3, svd_solver="arpack")).fit_transform(frame)
    np.testing.assert_allclose(abs(by_gram), abs(by_features), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("structure", ["order", "kdb"])
def test_it_can_be_pickled_and_cloned(structure: Any) -> None:
    frame, y = mixed()
    model = FisherFeatures(structure=structure, bins={"size": 3}).fit(frame, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.network_ == model.network_
    np.testing.assert_array_equal(again.transform(frame).toarray(), model.transform(frame).toarray())
    assert clone(model).get_params() == model.get_params()
    assert clone(FisherFeatures(RAIN)).get_params()["network"] == RAIN


# --------------------------------------------------------------------------------------------------------- bad input

FRAME, Y = mixed(40)


@pytest.mark.parametrize(
    ("options", "X", "y", "said"),
    [
        ({"structure": "best"}, FRAME, None, "unknown structure 'best'; there are 'order'"),
        ({"structure": "kdb"}, FRAME, None, "requires y .* 'kdb' goes by the classes"),
        ({"structure": "kdb"}, FRAME, np.zeros(40, dtype=int), "one class only, 0"),
        ({"structure": "tan"}, FRAME, Y[:39], "inconsistent numbers of samples"),
        ({"structure": "kdb", "options": {"max_parents": 1}}, FRAME, Y, "options are for searches .* 'kdb' takes none"),
        ({"options": {"most_parents": 1}}, FRAME, None, "most_parents"),
        ({"structure_score": "bge"}, FRAME, None, "unknown score 'bge'"),
        ({"network": RAIN}, FRAME, None, "no column|columns"),
        ({"network": RAIN}, WHOLE.assign(rain=["wet", "dry", "wet", "wet"]), None, "'rain' is a state .* 'wet'"),
        ({"network": RAIN}, np.zeros((3, 2), dtype=int), None, "an array has the network's columns, .* has 2"),
        ({"network": fn.DependencyNetwork.from_joint(RAIN)}, WHOLE, None, "must be a BayesianNetwork, not a depend"),
    ],
)
def test_bad_input_is_said(options: dict[str, Any], X: Any, y: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FisherFeatures(**options).fit(X, y)
