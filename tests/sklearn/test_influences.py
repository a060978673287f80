"""What each row of training does for the classes of all: as fits with the row counted a little more say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn

pytest.importorskip("sklearn")
from fishernet.sklearn import BayesianNetworkClassifier


def mean_log_prob(model: BayesianNetworkClassifier, X: Any, y: Any) -> float:
    probabilities = model.predict_proba(X)
    at = np.searchsorted(model.classes_, y)
    return float(np.log(probabilities[np.arange(len(y)), at]).mean())


def table(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rows = fn.datasets.load("asia").sample(n, seed=seed).to_pandas()
    return rows.drop(columns="bronc"), rows["bronc"].to_numpy()


@pytest.mark.parametrize("structure", ["naive-bayes", "tan"])
def test_influences_are_derivatives_of_fits(structure: Any) -> None:
    X, y = table(150, 1)
    model = BayesianNetworkClassifier(structure, influences=True).fit(X, y)
    assert model.influences_.shape == (150,)
    start = mean_log_prob(model, X, y)
    order = np.argsort(model.influences_)
    for row in (0, int(order[0]), int(order[-1])):
        weights = np.full(150, 1_000)
        weights[row] += 1  # a thousandth of a row, as smoothing counts a thousand times as much
        more = BayesianNetworkClassifier(structure, smoothing=1_000.0).fit(X, y, sample_weight=weights)
        assert more.dag_ == model.dag_
        change = (mean_log_prob(more, X, y) - start) * 1_000
        assert change == pytest.approx(model.influences_[row], rel=2e-3, abs=1e-9)


def test_exchanged_labels_are_among_the_lowest() -> None:
    X, y = table(400, 2)
    rng = np.random.default_rng(1)
    wrong = rng.choice(400, 20, replace=False)
    y = y.copy()
    y[wrong] = np.where(y[wrong] == "yes", "no", "yes")
    model = BayesianNetworkClassifier("tan", influences=True).fit(X, y)
    lowest = np.argsort(model.influences_)[:60]
    assert np.isin(wrong, lowest).mean() > 0.4  # 60 of 400 at random would hold 0.15 of them


def test_weights_numbers_and_missing_cells() -> None:
    X, y = table(200, 3)
    weights = np.ones(200)
    weights[:20] = 0
    found = BayesianNetworkClassifier("naive-bayes", influences=True).fit(X, y, sample_weight=weights).influences_
    alone = BayesianNetworkClassifier("naive-bayes", influences=True).fit(X[20:], y[20:]).influences_
    np.testing.assert_allclose(found[20:], alone, rtol=1e-12)
    assert not found[:20].any()
    numbers = X.assign(size=np.random.default_rng(1).normal(size=200) + (y == "yes"))
    kept = BayesianNetworkClassifier("naive-bayes", bins=None, influences=True).fit(numbers, y)
    assert np.isfinite(kept.influences_).all()
    holes = X.mask(np.random.default_rng(2).random(X.shape) < 0.1)
    lacking = BayesianNetworkClassifier("naive-bayes", missing="em", influences=True).fit(holes, y)
    assert np.isfinite(lacking.influences_).all()


def test_without_being_asked_there_are_none() -> None:
    X, y = table(50, 1)
    assert not hasattr(BayesianNetworkClassifier().fit(X, y), "influences_")
