"""The detector of odd rows: scikit-learn's own checks, both measures by hand, holes, unseen labels, what it finds."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import fishernet as fn
from fishernet.kernels import FisherKernel
from fishernet.sklearn import BayesianNetworkOutlierDetector
from tests.sklearn.by_hand import HOLES, RAIN, WHOLE, expected, joint_states, phi, theta
from tests.sklearn.frames import Array, mixed

MEASURES: list[Any] = ["fisher", "log-probability"]


@parametrize_with_checks([BayesianNetworkOutlierDetector(measure=measure) for measure in MEASURES])  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_s_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def by_definition(measure: str, frame: pd.DataFrame) -> Array:
    if measure == "fisher":
        return -expected(frame, lambda state: phi(state) @ phi(state))
    return expected(frame, lambda state: np.log(theta(state)).sum())


# ----------------------------------------------------------------------------------------------------- what scores are


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("frame", [WHOLE, HOLES], ids=["whole", "holes"])
def test_scores_are_means_over_the_completions_of_a_row(measure: Any, frame: pd.DataFrame) -> None:
    detector = BayesianNetworkOutlierDetector(RAIN, measure=measure).fit(WHOLE)
    np.testing.assert_allclose(detector.score_samples(frame), by_definition(measure, frame), rtol=1e-10)
    np.testing.assert_allclose(detector.terms(frame).sum(axis=1), detector.score_samples(frame), rtol=1e-12)


def test_scores_of_complete_rows_are_the_library_s() -> None:
    frame, _ = mixed()
    for measure in MEASURES:
        detector = BayesianNetworkOutlierDetector(measure=measure, bins="auto").fit(frame)
        net = fn.learn.bayesian_network(fn.Table.from_frame(frame, bins="auto"))
        assert detector.network_ == net
        scores = -FisherKernel(net).diag(frame) if measure == "fisher" else net.log_prob(frame)
        terms = (
            net.log_prob_terms(frame) if measure != "fisher" else -np.einsum("vnn->nv", FisherKernel(net).terms(frame))
        )
        np.testing.assert_allclose(detector.score_samples(frame), scores, rtol=1e-10)
        np.testing.assert_allclose(detector.terms(frame), terms, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("hidden", [["rain"], ["grass"], ["rain", "sprinkler"], ["rain", "sprinkler", "grass"]])
def test_rows_with_holes_are_as_usual_on_average(measure: Any, hidden: list[str]) -> None:
    """The mean score of the network's rows is the same whatever is hidden; of "fisher" minus the free parameters."""
    rows = pd.DataFrame(
        [{v.name: v.states[c] for v, c in zip(RAIN.variables, state, strict=True)} for state in joint_states()]
    )[list(WHOLE)]
    weights = np.array([np.prod(theta(state)) for state in joint_states()])
    detector = BayesianNetworkOutlierDetector(RAIN, measure=measure).fit(WHOLE)
    whole = weights @ detector.score_samples(rows)
    holes = rows.astype(object).assign(**dict.fromkeys(hidden))
    assert weights @ detector.score_samples(holes) == pytest.approx(whole, rel=1e-10)
    if measure == "fisher":
        assert whole == pytest.approx(-RAIN.n_parameters)


def test_a_label_never_seen_is_odd_and_a_missing_one_is_not() -> None:
    frame, _ = mixed()
    for measure in MEASURES:
        detector = BayesianNetworkOutlierDetector(measure=measure).fit(frame)
        usual = frame.iloc[[int(detector.score_samples(frame).argmax())]]
        new, gone = usual.assign(town="Paris"), usual.assign(town=None)
        assert detector.predict(usual) == detector.predict(gone) == 1
        assert detector.predict(new) == -1
        place = detector.network_.names.index("town")
        term = -np.log(301) if measure == "log-probability" else -300
        assert detector.terms(new)[0, place] == pytest.approx(term)
        others = [v for v in range(4) if v != place]
        np.testing.assert_array_equal(detector.terms(new)[:, others], detector.terms(gone)[:, others])


def test_impossible_rows_have_no_finite_score() -> None:
    asia = fn.datasets.load("asia")
    frame = asia.sample(500, seed=1).to_pandas()
    odd = frame.head(3).assign(tub="yes", either=["yes", "no", "no"])
    for measure in MEASURES:
        detector = BayesianNetworkOutlierDetector(asia, measure=measure).fit(frame)
        assert np.isneginf(detector.score_samples(odd)).tolist() == [False, True, True]
        assert np.isneginf(detector.decision_function(odd)).tolist() == [False, True, True]
        assert detector.predict(odd).tolist()[1:] == [-1, -1]
    detector = BayesianNetworkOutlierDetector(asia, contamination=0.5).fit(pd.concat([frame.head(2), odd]))
    assert detector.predict(odd).tolist()[1:] == [-1, -1]


# ------------------------------------------------------------------------------------------------------- what it finds


@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_asked_share_of_training_is_odd_but_for_ties(measure: Any, contamination: float) -> None:
    frame, _ = mixed(400)
    detector = BayesianNetworkOutlierDetector(measure=measure, contamination=contamination).fit(frame)
    scores = detector.score_samples(frame)
    odd = detector.predict(frame) == -1
    assert odd.mean() <= contamination <= (scores <= detector.offset_).mean()
    np.testing.assert_array_equal(odd, scores < detector.offset_)
    np.testing.assert_array_equal(detector.fit_predict(frame) == -1, odd)


@pytest.mark.parametrize("measure", MEASURES)
def test_broken_dependences_are_odd_though_each_cell_is_usual(measure: Any) -> None:
    """Four cells of letters are taken from other letters, each by itself: a forest of columns hardly sees it."""
    table = fn.datasets.load("letter")
    assert isinstance(table, fn.Table)
    frame = table.to_pandas().drop(columns="class").astype(int)
    train, test = frame[:4000], frame[4000:6000].reset_index(drop=True)
    rng = np.random.default_rng(0)
    broken = test.to_numpy().copy()
    for row in broken:
        for column in rng.choice(16, 4, replace=False):
            row[column] = test.iat[rng.integers(len(test)), column]
    both = pd.concat([test, pd.DataFrame(broken, columns=test.columns)])
    odd = np.repeat([0, 1], len(test))
    detector = BayesianNetworkOutlierDetector(measure=measure, structure="hill-climb").fit(train)
    forest = make_pipeline(OneHotEncoder(handle_unknown="ignore"), IsolationForest(random_state=0)).fit(train)
    found = roc_auc_score(odd, -detector.score_samples(both))
    assert found > 0.75
    assert found > roc_auc_score(odd, -forest.score_samples(both)) + 0.1


def test_it_can_be_pickled_and_cloned() -> None:
    frame, _ = mixed()
    detector = BayesianNetworkOutlierDetector(bins={"size": 3}).fit(frame)
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(again.decision_function(frame), detector.decision_function(frame))
    assert clone(detector).get_params() == detector.get_params()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"contamination": 0}, "contamination must be a number above 0 and at most 0.5, got 0"),
        ({"contamination": "auto"}, "got 'auto'"),
        ({"contamination": 0.6}, "got 0.6"),
        ({"measure": "distance"}, "unknown measure 'distance'; there are 'fisher', 'log-probability'"),
        ({"structure": "kdb"}, "goes by the classes"),
        ({"network": RAIN}, "there is no column 'rain'"),
    ],
)
def test_bad_options_are_said(options: dict[str, Any], said: str) -> None:
    frame, _ = mixed(30)
    with pytest.raises(ValueError, match=said):
        BayesianNetworkOutlierDetector(**options).fit(frame)
