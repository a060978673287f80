"""The drift detector: its tests are those of `two_sample_test`, its scores the witness of the distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import fishernet as fn
from fishernet.sklearn import BayesianNetworkDriftDetector

ASIA = fn.datasets.load("asia")
BEFORE = ASIA.sample(800, seed=1)
CHANGED = fn.infer.intervene(ASIA, {"bronc": "no"}).sample(500, seed=2)


@parametrize_with_checks([BayesianNetworkDriftDetector(permutations=19)])  # type: ignore[untyped-decorator]
def test_it_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_finds_what_changed_and_nothing_else() -> None:
    given = BayesianNetworkDriftDetector(ASIA, random_state=1).fit(BEFORE.to_pandas())
    found = given.detect(CHANGED.to_pandas())
    wanted = fn.compare.two_sample_test(BEFORE, CHANGED, fn.kernels.FisherKernel(ASIA), seed=1)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert found.p_value == wanted.p_value
    assert found.changed() == ("bronc",)
    learned = clone(given).set_params(network=None).fit(BEFORE.to_pandas())
    assert learned.detect(CHANGED.to_pandas()).p_value == 0.001
    assert learned.detect(ASIA.sample(500, seed=5).to_pandas()).p_value > 0.05


def test_scores_are_the_witness_of_the_distance() -> None:
    detector = BayesianNetworkDriftDetector(ASIA).fit(BEFORE.to_pandas())
    scores = detector.witness(CHANGED.to_pandas())
    k = fn.kernels.FisherKernel(ASIA)
    np.testing.assert_allclose(scores, k(CHANGED, BEFORE).mean(axis=1) - k(CHANGED).mean(axis=1), atol=1e-9)
    mean = k(BEFORE, BEFORE).mean(axis=1) - k(BEFORE, CHANGED).mean(axis=1)
    assert mean.mean() - scores.mean() == pytest.approx(fn.compare.mmd(k, BEFORE, CHANGED), rel=1e-6)


def test_holes_text_and_new_labels() -> None:
    frame = BEFORE.to_pandas().astype(object)
    frame.loc[::7, "smoke"] = None
    detector = BayesianNetworkDriftDetector(random_state=1, permutations=99).fit(frame)
    batch = CHANGED.to_pandas().astype(object)
    batch.loc[0, "smoke"] = "now and then"
    with pytest.warns(fn.FishernetWarning, match=r"one state '\(not seen before\)' in the test: 'smoke' \(1\)"):
        assert detector.detect(batch).p_value <= 0.01
    assert np.isfinite(detector.witness(batch)).all()


@pytest.mark.parametrize("given", [False, True])
def test_a_new_label_is_drift(given: bool) -> None:
    """One row in twenty of a batch has a label that training does not know."""
    detector = BayesianNetworkDriftDetector(ASIA if given else None, random_state=1, permutations=199)
    detector.fit(BEFORE.to_pandas().astype(object))
    seen = 0
    for seed in range(10):
        batch = ASIA.sample(500, seed=100 + seed).to_pandas().astype(object)
        batch.loc[::20, "xray"] = "unclear"
        with pytest.warns(fn.FishernetWarning, match=r"'xray' \(25\)"):
            found = detector.detect(batch)
        seen += found.p_value <= 0.05 and "xray" in found.changed()
    assert seen == 10


def test_other_shares_of_missing_cells_alone_are_no_drift() -> None:
    """Cells that are missing completely at random, ten times as many as in training, say nothing of the values."""
    random = np.random.default_rng(1)
    alarms = 0
    for seed in range(20):
        detector = BayesianNetworkDriftDetector(ASIA, random_state=1, permutations=99)
        detector.fit(ASIA.sample(200, seed=seed).to_pandas())
        batch = ASIA.sample(600, seed=100 + seed).to_pandas()
        alarms += detector.detect(batch.mask(random.random(batch.shape) < 0.5)).p_value <= 0.05
    assert alarms <= 5
