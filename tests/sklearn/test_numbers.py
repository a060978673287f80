"""Estimators on frames of labels and numbers that stay numbers, with cells missing or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student_t
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import fishernet as fn
from fishernet.kernels import FisherKernel
from fishernet.sklearn import (
    BayesianNetworkClassifier,
    BayesianNetworkDensity,
    BayesianNetworkDriftDetector,
    BayesianNetworkOutlierDetector,
    BayesianNetworkRegressor,
    FisherFeatures,
)

KINDS = [
    BayesianNetworkRegressor(),
    BayesianNetworkDensity(),
    BayesianNetworkClassifier("naive-bayes", bins=None),
    FisherFeatures(),
    BayesianNetworkOutlierDetector(measure="log-probability"),
    BayesianNetworkDriftDetector(permutations=99),
]


@parametrize_with_checks(KINDS)  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_s_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def plant(n: int, seed: int, rise: float = 0.0) -> pd.DataFrame:
    """Return a label, a skewed number, one that leans on both, and one that leans on two numbers."""
    rng = np.random.default_rng(seed)
    shift = rng.choice(["day", "late", "night"], n)
    load = rng.gamma(2, size=n) * np.where(shift == "day", 3, 1)
    heat = 2 * load + rng.normal(size=n) * (1 + (shift == "late")) + rise
    hum = load - heat + rng.normal(size=n)
    return pd.DataFrame({"shift": shift, "load": load, "heat": heat, "hum": hum})


PLANT = plant(600, 1)


def with_holes(frame: pd.DataFrame, seed: int, share: float = 0.15) -> pd.DataFrame:
    gone = np.random.default_rng(seed).random(frame.shape) < share
    return frame.astype({"shift": object}).mask(gone)


# -------------------------------------------------------------------------------------------------------- features


def test_features_are_those_of_the_fisher_kernel() -> None:
    features = FisherFeatures().fit(PLANT)
    found = features.transform(PLANT[:50])
    np.testing.assert_allclose((found @ found.T).toarray(), FisherKernel(features.network_)(PLANT[:50]), atol=1e-8)
    assert features.transform(with_holes(PLANT, 2)).shape == (600, features.kernel_.dimension)


def test_features_of_numbers_have_names() -> None:
    arcs = [("shift", "load"), ("shift", "heat"), ("load", "heat"), ("load", "hum"), ("heat", "hum")]
    dag = fn.Dag.from_edges(PLANT.columns, arcs)
    net = fn.learn.parameters(dag, PLANT)
    features = FisherFeatures(net).set_output(transform="pandas").fit(PLANT)
    names = features.get_feature_names_out().tolist()
    assert names[:3] == ["shift: day", "shift: late", "shift: night"]
    assert names[3:5] == ["load | shift=day: level", "load | shift=day: spread"]
    assert names[9:12] == ["heat | shift=day: level", "heat | shift=day: slope of load", "heat | shift=day: spread"]
    assert names[-4:] == ["hum: level", "hum: slope 1", "hum: slope 2", "hum: spread"]
    assert features.transform(PLANT[:3]).columns.tolist() == names
    array = FisherFeatures().fit(PLANT[["load", "heat"]].to_numpy())
    assert array.get_feature_names_out(["l", "h"]).tolist()[-2:] == ["h: slope of l", "h: spread"]


def test_structures_of_states_cut_numbers_where_nothing_is_said_of_them() -> None:
    features = FisherFeatures(structure="kdb").fit(PLANT.drop(columns="shift"), PLANT["shift"])
    assert [variable.cardinality for variable in features.network_.variables] == [5, 5, 5]


# ------------------------------------------------------------------------------------------------------------- odd rows


def test_terms_of_complete_rows_are_those_of_the_definition() -> None:
    by_kernel = BayesianNetworkOutlierDetector().fit(PLANT)
    kernel = FisherKernel(by_kernel.network_)
    np.testing.assert_allclose(by_kernel.terms(PLANT[:40]).sum(axis=1), -kernel.diag(PLANT[:40]), rtol=1e-9)
    of_each = -kernel.terms(PLANT[:40])[:, range(40), range(40)].T
    np.testing.assert_allclose(by_kernel.terms(PLANT[:40]), of_each, rtol=1e-8, atol=1e-10)
    by_log = BayesianNetworkOutlierDetector(measure="log-probability").fit(PLANT)
    rows = fn.Table.from_frame(PLANT, schema=by_log.network_.variables)
    slopes = sum(v.log_slope(column) for v, column in zip(rows.variables, rows.codes, strict=True))
    np.testing.assert_allclose(by_log.terms(PLANT).sum(axis=1) + slopes, by_log.network_.log_prob(rows), rtol=1e-6)


@pytest.mark.parametrize("measure", ["fisher", "log-probability"])
@pytest.mark.parametrize("lacking", [["heat"], ["shift", "heat"], ["load", "hum"], ["shift", "load", "heat", "hum"]])
def test_terms_of_rows_with_holes_are_means_over_what_they_may_hold(measure: Any, lacking: list[str]) -> None:
    detector = BayesianNetworkOutlierDetector(measure=measure).fit(PLANT)
    row = PLANT[3:4].astype({"shift": object})
    given = {name: row[name].iloc[0] for name in row if name not in lacking}
    drawn = fn.infer.sample(detector.network_, 100_000, given=given, seed=1).to_pandas()
    of_draws = detector.terms(drawn)
    found = detector.terms(row.mask(row.columns.isin(lacking)[None]))[0]
    error = of_draws.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(found - of_draws.mean(axis=0)) <= 5 * error + 1e-9).all()


def test_rows_that_break_a_dependence_between_numbers_are_odd() -> None:
    odd = PLANT.assign(heat=PLANT["heat"].to_numpy()[::-1])
    for measure in ("fisher", "log-probability"):
        detector = BayesianNetworkOutlierDetector(measure=measure).fit(plant(600, 2))
        assert (detector.predict(PLANT) > 0).mean() > 0.9
        assert (detector.predict(odd) < 0).mean() > 0.6
        assert detector.decision_function(with_holes(PLANT, 5)).shape == (600,)


# --------------------------------------------------------------------------------------------- a number, and a density


def test_a_number_is_predicted_as_by_the_network_with_cells_missing_or_not() -> None:
    X, y = PLANT.drop(columns="heat"), PLANT["heat"]
    model = BayesianNetworkRegressor().fit(X, y)
    assert model.target_name_ == "heat"
    assert model.score(X, y) > 0.9
    holes = with_holes(X, 3, 0.3)[:12].reset_index(drop=True)
    holes.loc[0, "shift"] = "weekend"
    means, ends = model.predict(holes), model.predict_interval(holes, level=0.8)
    for row in range(12):
        known = {name: cell for name, cell in holes.loc[row].items() if cell == cell and cell not in (None, "weekend")}
        answer = model.network_.query("heat", given=known)
        assert means[row] == pytest.approx(answer.mean, rel=1e-9)
        low, high = answer.interval(0.8)
        assert ends[row, 0] < low < high < ends[row, 1]  # of known parameters
        np.testing.assert_allclose(ends[row], (low, high), atol=0.03 * (high - low))


def test_intervals_hold_what_they_say() -> None:
    model = BayesianNetworkRegressor().fit(plant(3000, 4).drop(columns="heat"), plant(3000, 4)["heat"])
    new = plant(4000, 5)
    low, high = model.predict_interval(new.drop(columns="heat"), level=0.9).T
    assert ((low <= new["heat"]) & (new["heat"] <= high)).mean() == pytest.approx(0.9, abs=0.02)


def test_intervals_of_few_rows_are_those_of_a_regression() -> None:
    """As wide as the textbook's at a row whose distance from the mean is the average one."""
    rng, n = np.random.default_rng(8), 12
    x = rng.normal(size=n)
    y = 2 * x + rng.normal(size=n)
    model = BayesianNetworkRegressor().fit(x[:, None], y)
    slope, intercept = np.polyfit(x, y, 1)
    sd = np.sqrt(np.sum((y - intercept - slope * x) ** 2) / (n - 2))
    half = student_t.ppf(0.975, n - 2) * sd * np.sqrt(1 + 2 / n)
    low, high = model.predict_interval(x[:, None]).T
    np.testing.assert_allclose(high - low, 2 * half, rtol=1e-6)
    np.testing.assert_allclose((high + low) / 2, intercept + slope * x, rtol=1e-6)


def test_arrays_of_numbers_are_predicted_too() -> None:
    X, y = PLANT[["load", "hum"]].to_numpy(), PLANT["heat"].to_numpy()
    model = BayesianNetworkRegressor().fit(X, y)
    ends = model.predict_interval(X)
    assert model.target_name_ == "target"
    assert ((ends[:, 0] < y) & (y < ends[:, 1])).mean() > 0.9
    with pytest.raises(fn.FishernetError, match="two that differ"):
        clone(model).fit(X, np.ones(600))


def test_densities_are_log_probabilities_and_labels_of_training_are_all_there_are() -> None:
    density = BayesianNetworkDensity().fit(PLANT)
    np.testing.assert_array_equal(density.score_samples(PLANT), density.network_.log_prob(PLANT))
    assert density.score(PLANT) == pytest.approx(density.score_samples(PLANT).mean())
    new = PLANT[:2].astype({"shift": object}).assign(shift=["weekend", None])
    first, second = density.score_samples(new)
    lacking = density.network_.log_prob(new.assign(shift=[None, None]))
    assert first == pytest.approx(lacking[0] - np.log(601))
    assert second == pytest.approx(lacking[1])
    assert density.sample(5, seed=1).n_rows == 5
    given = BayesianNetworkDensity(density.network_).fit(PLANT[:9])
    np.testing.assert_array_equal(given.score_samples(PLANT), density.score_samples(PLANT))


# --------------------------------------------------------------------------------------------------- classes and drift


def test_naive_bayes_of_numbers_is_that_of_normal_distributions() -> None:
    rng = np.random.default_rng(7)
    y = rng.integers(3, size=500)
    X = rng.normal(size=(500, 3)) + y[:, None] * [1, 0.5, 0]
    found = BayesianNetworkClassifier("naive-bayes", bins=None, smoothing=0).fit(X, y)
    expected = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    holes = X.copy()
    holes[:, 2] = np.nan
    without = GaussianNB(var_smoothing=0).fit(X[:, :2], y)
    np.testing.assert_allclose(found.predict_proba(holes), without.predict_proba(X[:, :2]), atol=1e-6)


def test_classes_are_learned_from_numbers_with_holes() -> None:
    X = with_holes(plant(800, 8), 9).drop(columns="shift")
    model = BayesianNetworkClassifier("order", bins=None).fit(X, plant(800, 8)["shift"])
    assert model.score(PLANT.drop(columns="shift"), PLANT["shift"]) > 0.5


def test_drift_of_numbers_is_seen_as_numbers() -> None:
    detector = BayesianNetworkDriftDetector(random_state=1).fit(PLANT)
    assert detector.detect(plant(300, 11)).p_value > 0.01
    assert "heat" in detector.detect(plant(300, 11, rise=0.7)).changed()
    assert detector.witness(PLANT[:5]).shape == (5,)


@pytest.mark.parametrize("heap", ["zeros", "humps"])
def test_the_number_that_is_predicted_is_never_cut(heap: str) -> None:
    """As a feature such a column would be; the features are taken together with the number."""
    rng = np.random.default_rng(12)
    X = plant(500, 12).drop(columns="hum")
    y = np.where(rng.random(500) < 0.4, 0.0, 50.0) if heap == "humps" else np.zeros(500)
    y = y + np.where(rng.random(500) < 0.3, 0.0, 3 * X["load"] + rng.normal(size=500))
    model = BayesianNetworkRegressor().fit(X, y)
    assert model.network_.variables[-1].is_continuous
    assert model.predict(X).dtype == np.float64
    assert model.predict_interval(X).shape == (500, 2)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("kind", ["zeros", "humps", "one", "other", "whole numbers"])
def test_any_number_is_predicted_from_numbers_or_labels(kind: str, labels: bool) -> None:
    rng = np.random.default_rng(0)
    a, b, g = rng.normal(size=300), rng.normal(size=300), rng.choice(["p", "q"], 300)
    y = {
        "zeros": np.where(rng.random(300) < 0.4, 0.0, np.exp(a)),
        "humps": np.where(rng.random(300) < 0.5, a, 20 + b),
        "one": 2 * a + 1,
        "other": a + b,
        "whole numbers": rng.poisson(1, 300).astype(float),
    }[kind]
    X = pd.DataFrame({"a": a, "b": b, **({"g": g} if labels else {})})
    model = BayesianNetworkRegressor().fit(X, pd.Series(y, name="a"))
    low, high = model.predict_interval(X).T
    assert ((low <= y) & (y <= high)).mean() > 0.9
    predicted = model.predict(X)
    assert np.isfinite(predicted).all()
    if kind in ("one", "other"):
        np.testing.assert_allclose(predicted, y, atol=1e-3)


@pytest.mark.filterwarnings("ignore:the column 'a' is left out")
def test_columns_of_which_no_cell_is_known_are_left_out() -> None:
    X = pd.DataFrame({"a": pd.Series([None] * 30, dtype=object), "b": ["k"] * 30})
    y = np.arange(30.0)
    np.testing.assert_allclose(BayesianNetworkRegressor().fit(X, y).predict(X), 14.5)
    X = X.assign(c=pd.Series([None, "u", "v"] * 10, dtype=object))
    assert BayesianNetworkClassifier().fit(X, y > 9).predict(X).tolist() == [True] * 30
