"""The classifier: scikit-learn's own checks, predictions by hand, missing cells, unseen labels, weights."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fishernet as fn
from fishernet.sklearn import BayesianNetworkClassifier
from tests.sklearn.frames import STRUCTURES, Array, mixed

NAMES: list[Any] = [*STRUCTURES]
CHECKED = [*(BayesianNetworkClassifier(name) for name in NAMES), BayesianNetworkClassifier(missing="em")]


@parametrize_with_checks(CHECKED)  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_s_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def as_table(frame: pd.DataFrame, y: Array, bins: int = 5) -> fn.Table:
    return fn.Table.from_frame(frame.assign(**{"class": y}), bins=bins)


# --------------------------------------------------------------------------------------------- what is predicted


def naive_bayes_by_hand(X: Array, y: Array, rows: Array) -> Array:
    """P(c) prod P(x_i | c), every count one more than it is, over the labels seen in training."""
    classes = sorted(set(y.tolist()))
    found = np.empty((len(rows), len(classes)))
    for row, cells in enumerate(rows):
        for place, c in enumerate(classes):
            own = X[y == c]
            product = (len(own) + 1) / (len(y) + len(classes))
            for column, label in enumerate(cells):
                states = set(X[:, column].tolist())
                if label in states:
                    product *= ((own[:, column] == label).sum() + 1) / (len(own) + len(states))
            found[row, place] = product
    return np.asarray(found / found.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("kind", [int, str, object])
def test_naive_bayes_is_the_product_of_smoothed_shares(kind: type) -> None:
    rng = np.random.default_rng(1)
    X: Array = rng.integers(0, 4, (80, 3)).astype(kind)
    y = rng.integers(0, 3, 80)
    rows: Array = rng.integers(0, 4, (20, 3)).astype(kind)
    found = BayesianNetworkClassifier("nb").fit(X, y).predict_proba(rows)
    np.testing.assert_allclose(found, naive_bayes_by_hand(X, y, rows), rtol=1e-12)


def test_a_label_never_seen_is_summed_out() -> None:
    """Summed out under naive Bayes a feature says nothing: its factor is left out of the product."""
    rng = np.random.default_rng(1)
    X, y = rng.choice(["u", "v", "w"], (80, 3)), rng.integers(0, 3, 80)
    rows = np.array([["u", "new", "w"], ["new", "new", "v"], ["new", "new", "new"]])
    found = BayesianNetworkClassifier("nb").fit(X, y).predict_proba(rows)
    np.testing.assert_allclose(found, naive_bayes_by_hand(X, y, rows), rtol=1e-12)


@pytest.mark.parametrize("name", ["nursery", "letter"])
def test_naive_bayes_is_scikit_learn_s_but_for_the_class_prior(name: str) -> None:
    """CategoricalNB leaves the shares of the classes as they are; all else is the same."""
    table = fn.datasets.load(name)
    assert isinstance(table, fn.Table)
    codes = np.stack([c.astype(int) for c in table.select([v for v in table.names if v != "class"]).codes], axis=1)
    y = table.column("class").astype(int)
    ours = BayesianNetworkClassifier("nb", bins=None).fit(codes, y)
    theirs = CategoricalNB(alpha=1.0).fit(codes, y)
    smoothed = np.bincount(y) + 1
    theirs.class_log_prior_ = np.log(smoothed / smoothed.sum())
    np.testing.assert_allclose(ours.predict_proba(codes), theirs.predict_proba(codes), rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(ours.predict(codes), theirs.predict(codes))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_probabilities_are_those_of_the_library(structure: str) -> None:
    frame, y = mixed()
    table = as_table(frame, y)
    dag = {
        "nb": lambda: fn.learn.naive_bayes(table, "class"),
        "tan": lambda: fn.learn.tan(table, "class"),
        "kdb": lambda: fn.learn.kdb(table, "class", 2),
        "hill-climb": lambda: fn.learn.dag(table, score="aic"),
        "exact": lambda: fn.learn.dag(table, score="aic", search="exact"),
    }[structure]()
    net = fn.learn.parameters(dag, table, smoothing=0.5)
    model = BayesianNetworkClassifier(structure, k=2, structure_score="aic", smoothing=0.5).fit(frame, y)  # type: ignore[arg-type]
    assert model.dag_ == dag
    assert model.network_ == net
    np.testing.assert_array_equal(model.predict_proba(frame), net.predict_proba(table, "class"))
    assert model.classes_.tolist() == ["bad", "good", "so-so"]
    np.testing.assert_array_equal(model.predict(frame), model.classes_[model.predict_proba(frame).argmax(axis=1)])


def test_more_dependences_predict_letters_better() -> None:
    """As Friedman et al. (1997) found: on letter TAN errs less than naive Bayes does."""
    table = fn.datasets.load("letter")
    codes = np.stack([c.astype(int) for c in table.codes[:-1]], axis=1)
    y = table.column(table.names[-1])
    train, bins = np.arange(len(y)) % 2 == 0, {f"x{i}": 5 for i in range(16)}
    scores = [
        BayesianNetworkClassifier(structure, bins=bins).fit(codes[train], y[train]).score(codes[~train], y[~train])
        for structure in ("nb", "tan", "kdb")
    ]
    assert 0.6 < scores[0] < scores[1] < scores[2]


# ------------------------------------------------------------------------------------- missing cells, unseen labels


@pytest.mark.parametrize("structure", STRUCTURES)
def test_missing_and_unseen_cells_are_summed_out(structure: str) -> None:
    """P(c | x) is the sum over the unknown cell of P(c, cell | x): here by asking for each of its states."""
    frame, y = mixed()
    model = BayesianNetworkClassifier(structure).fit(frame, y)  # type: ignore[arg-type]
    rows = frame.head(30)
    town = model.network_.variables[0]
    joint = np.zeros((30, 3))
    for label in town.states:
        whole = [
            fn.Table.from_frame(rows.assign(town=label, **{"class": c}), schema=model.network_.variables)
            for c in model.classes_
        ]
        joint += np.exp(np.stack([model.network_.log_prob(table) for table in whole], axis=1))
    expected = joint / joint.sum(axis=1, keepdims=True)
    for unknown in (None, "Paris"):
        found = model.predict_proba(rows.assign(town=unknown))
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_nothing_known_gives_the_share_of_the_classes() -> None:
    X, y = [["a", "b"], ["a", "c"], ["d", "c"], ["d", "b"]], [0, 1, 1, 1]
    for structure in ("nb", "tan", "kdb"):
        found = BayesianNetworkClassifier(structure, smoothing=1.0).fit(X, y).predict_proba([["new", "new"]])
        np.testing.assert_allclose(found, [[2 / 6, 4 / 6]], rtol=1e-12)


def test_nan_is_a_missing_number() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] > 0
    model = BayesianNetworkClassifier("nb").fit(X, y)
    gone = X.copy()
    gone[:, 1] = np.nan
    one = BayesianNetworkClassifier("nb").fit(X[:, :1], y)
    np.testing.assert_allclose(model.predict_proba(gone), one.predict_proba(X[:, :1]), rtol=1e-10)


def test_training_cells_that_are_missing_leave_the_others() -> None:
    """Under naive Bayes a feature's shares are those among the rows that have it."""
    frame, y = mixed()
    gone = np.random.default_rng(3).random(len(y)) < 0.4
    model = BayesianNetworkClassifier("nb").fit(frame.assign(town=frame["town"].where(~gone)), y)
    known = BayesianNetworkClassifier("nb").fit(frame[~gone], y[~gone]).network_
    full = BayesianNetworkClassifier("nb").fit(frame, y).network_
    np.testing.assert_allclose(
        model.network_.conditional("town").probabilities, known.conditional("town").probabilities
    )
    for name in ("size", "open", "grade", "class"):
        np.testing.assert_allclose(model.network_.conditional(name).probabilities, full.conditional(name).probabilities)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_row_may_lack_a_cell(structure: str) -> None:
    frame, y = mixed(600)
    whole = BayesianNetworkClassifier(structure).fit(frame, y)  # type: ignore[arg-type]
    holes = frame.astype(object)
    for row in range(len(y)):
        holes.iloc[row, row % 4] = None
    model = BayesianNetworkClassifier(structure).fit(holes, y)  # type: ignore[arg-type]
    test_frame, truth = mixed(400, seed=9)
    assert model.score(test_frame, truth) > whole.score(test_frame, truth) - 0.1


# --------------------------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_weight_of_n_is_n_rows_and_of_zero_is_none(structure: str) -> None:
    frame, y = mixed()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    frame.loc[weights == 0, "town"] = "nowhere else"
    model = BayesianNetworkClassifier(structure).fit(frame, y, sample_weight=weights)  # type: ignore[arg-type]
    repeated = BayesianNetworkClassifier(structure).fit(frame.loc[frame.index.repeat(weights)], np.repeat(y, weights))  # type: ignore[arg-type]
    assert model.network_ == repeated.network_


@pytest.mark.parametrize("structure", STRUCTURES)
def test_fractions_weigh_as_their_multiples_do(structure: str) -> None:
    """With weights and pseudo-counts a third of what they were, every probability stays."""
    frame, y = mixed()
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    whole = BayesianNetworkClassifier(structure, smoothing=3.0, structure_score="loglik")  # type: ignore[arg-type]
    third = clone(whole).set_params(smoothing=1.0)
    expected = whole.fit(frame, y, sample_weight=weights)
    found = third.fit(frame, y, sample_weight=weights / 3)
    assert found.dag_ == expected.dag_
    np.testing.assert_allclose(found.predict_proba(frame), expected.predict_proba(frame), rtol=1e-9)


def test_bad_weights_are_refused() -> None:
    frame, y = mixed(20)
    for weights, message in (
        (np.zeros(20), "zero"),
        (np.full(20, -1.0), "[Nn]egative"),
        (np.full(20, np.nan), "NaN"),
        (np.ones(19), "19"),
    ):
        with pytest.raises(ValueError, match=message):
            BayesianNetworkClassifier().fit(frame, y, sample_weight=weights)
    with pytest.raises(ValueError, match="one class only, 'bad'"):
        BayesianNetworkClassifier().fit(frame, y, sample_weight=(y == "bad").astype(float))


# ------------------------------------------------------------------------------------------ in scikit-learn's hands


def test_structures_can_be_searched_over() -> None:
    frame, y = mixed()
    search = GridSearchCV(BayesianNetworkClassifier(), {"structure": STRUCTURES, "smoothing": [0.5, 1.0]}, cv=3)
    search.fit(frame, y)
    assert search.best_score_ > 0.5
    assert len(search.cv_results_["params"]) == 2 * len(STRUCTURES)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_cross_validation_of_frames(scoring: str, make: Callable[[pd.DataFrame], Any]) -> None:
    frame, y = mixed()
    scores = cross_val_score(BayesianNetworkClassifier("nb"), make(frame), y, cv=4, scoring=scoring)
    assert np.isfinite(scores).all()


def test_it_stands_in_pipelines_and_ensembles() -> None:
    frame, y = mixed()
    chosen = make_column_transformer(("passthrough", ["town", "size"]))
    assert make_pipeline(chosen, BayesianNetworkClassifier("nb")).fit(frame, y).score(frame, y) > 0.6
    numbers = frame[["size"]].to_numpy()
    bag = BaggingClassifier(BayesianNetworkClassifier("nb"), n_estimators=3, random_state=0).fit(numbers, y)
    assert bag.score(numbers, y) > 0.5


@pytest.mark.parametrize("structure", STRUCTURES)
def test_it_can_be_pickled_and_cloned(structure: str) -> None:
    frame, y = mixed()
    model = BayesianNetworkClassifier(structure, bins={"size": 3}).fit(frame, y)  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(model))
    assert again.network_ == model.network_
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert clone(model).get_params() == model.get_params()


def test_exact_search_with_weights_that_are_not_whole_and_missing_cells() -> None:
    frame, y = mixed()
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.5, 1.5)
    thrice = BayesianNetworkClassifier("exact").fit(frame, y, sample_weight=3.0 * np.ones(len(y)))
    assert thrice.dag_ == BayesianNetworkClassifier("exact").fit(pd.concat([frame] * 3), np.tile(y, 3)).dag_
    frame.loc[::7, "town"] = None
    model = BayesianNetworkClassifier("exact").fit(frame, y, sample_weight=weights)
    assert np.isfinite(model.predict_proba(frame)).all()


def test_any_search_by_its_name() -> None:
    frame, y = mixed(50)
    for search in ("hill-climb", "tabu", "order", "exact"):
        model = BayesianNetworkClassifier(search, structure_score="aic").fit(frame, y)
        assert model.dag_ == fn.learn.dag(as_table(frame, y), search=search, score="aic")
    with pytest.raises(fn.FishernetError, match="unknown structure 'best'; there are .*'exact'"):
        BayesianNetworkClassifier("best").fit(frame, y)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------- missing cells, learned from


def with_holes(missing: float) -> tuple[pd.DataFrame, Array, pd.DataFrame]:
    """Features of nursery with holes, their classes, and rows without."""
    train, test = fn.datasets.load("nursery").split(0.1, seed=1)
    frame = train.to_pandas()
    y = np.array(frame.pop("class"))
    gone = np.random.default_rng(1).random(frame.shape) < missing
    return frame.mask(gone), y, test.to_pandas().drop(columns="class")


@pytest.mark.parametrize("missing", ["em", "node-average"])
@pytest.mark.parametrize("structure", ["tan", "kdb", "hill-climb"])
def test_missing_cells_are_learned_from_as_the_library_does(structure: Any, missing: Any) -> None:
    X, y, test = with_holes(0.2)
    model = BayesianNetworkClassifier(structure, missing=missing).fit(X, y)
    table = fn.Table.from_frame(X.assign(**{"class": y}))
    if structure == "hill-climb":
        dag = fn.learn.dag(table, search="hill-climb", missing=missing)
    else:
        dag = getattr(fn.learn, structure)(table, "class", missing=missing)
    assert sorted(model.dag_.edges) == sorted(dag.edges)
    wanted = fn.learn.parameters(dag, table).predict_proba(
        fn.Table.from_frame(test, schema=table.variables[:-1]), "class"
    )
    np.testing.assert_allclose(model.predict_proba(test), wanted, rtol=1e-4, atol=1e-6)


def test_em_takes_weights_as_rows_and_fractions_of_them() -> None:
    X, y, test = with_holes(0.2)
    X, y = X[:300], y[:300]
    times = np.random.default_rng(2).integers(1, 4, 300)
    repeated = BayesianNetworkClassifier(missing="em").fit(X.loc[X.index.repeat(times)], np.repeat(y, times))
    weighted = BayesianNetworkClassifier(missing="em").fit(X, y, sample_weight=times)
    np.testing.assert_allclose(weighted.predict_proba(test), repeated.predict_proba(test), rtol=1e-4, atol=1e-6)
    thirds = BayesianNetworkClassifier(missing="em", smoothing=1 / 3).fit(X, y, sample_weight=times / 3)
    assert thirds.dag_ == weighted.dag_
    np.testing.assert_allclose(
        thirds.predict_proba(test), weighted.predict_proba(test), rtol=0.02, atol=0.005
    )  # it ends where steps gain little per row


def test_complete_rows_need_no_way_and_words_are_checked() -> None:
    X, y, test = with_holes(0.0)
    spelled: list[Any] = ["fill", "EM", "node_average"]
    models = [BayesianNetworkClassifier(missing=way).fit(X, y) for way in spelled]
    for model in models[1:]:
        np.testing.assert_array_equal(model.predict_proba(test), models[0].predict_proba(test))
    with pytest.raises(ValueError, match="unknown missing 'mean'; there are 'fill', 'em', 'node-average'"):
        BayesianNetworkClassifier(missing="mean").fit(X, y)  # type: ignore[arg-type]
    holes, y, _ = with_holes(0.2)
    with pytest.raises(ValueError, match="'snml' is for complete counts"):
        BayesianNetworkClassifier(missing="em", smoothing="snml").fit(holes, y)
