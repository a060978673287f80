"""Names of choices and options: spelled as people spell them, and answered where they come from elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import fishernet as fn
from fishernet.base import vocabulary
from fishernet.base.vocabulary import ELSEWHERE, OPTIONS, SHORT, spelled, word
from fishernet.independence.nearest_neighbours import SCHEMES
from fishernet.infer.factors import METHODS
from fishernet.infer.pseudo_gibbs import SCANS
from fishernet.kernels.fisher.kernel import METRICS
from fishernet.learn.blankets import CONTINUOUS, DISCRETE, RULES
from fishernet.learn.blankets import SEARCHES as BLANKET_SEARCHES
from fishernet.learn.fitting import KINDS as CONDITIONALS
from fishernet.learn.local_learning import SEARCHES as INPUT_SEARCHES
from fishernet.learn.missing.ways import MISSING
from fishernet.learn.pseudo_likelihood import RULES as CLIMBING_RULES
from fishernet.learn.structures import SEARCHES
from fishernet.models.wishart import METHODS as G_WISHART_METHODS
from fishernet.scores import CONTINUOUS_SCORES, SCORES
from fishernet.sklearn import (
    BayesianNetworkClassifier,
    BayesianNetworkOutlierDetector,
    FisherFeatures,
    ModelFisherFeatures,
)
from fishernet.sklearn.classifier import FILL, STRUCTURES
from fishernet.sklearn.outliers import MEASURES

ASIA = fn.datasets.load("asia")
TABLE = ASIA.sample(300, seed=1)
NUMBERS = np.random.default_rng(1).normal(size=(100, 3)).cumsum(axis=1)
KNOWN = {
    "score": {*SCORES, *CONTINUOUS_SCORES},
    "search": {*SEARCHES},
    "test": {*CONTINUOUS, *DISCRETE},
    "structure": {"naive-bayes", "tan", "kdb", *SEARCHES},
}


@pytest.mark.parametrize(
    "name", [*SCORES, *SEARCHES, *INPUT_SEARCHES, *BLANKET_SEARCHES, *CONTINUOUS, *SCHEMES, *SCANS]
)
def test_names_are_found_however_they_are_spelled(name: str) -> None:
    for typed in (name, name.upper(), name.title(), name.replace("-", "_"), f" {name} "):
        assert word(typed, "name", [name, "another"]) == name


@pytest.mark.parametrize(
    ("typed", "here"),
    [
        (lambda: fn.score(ASIA.dag, TABLE, "BIC"), lambda: fn.score(ASIA.dag, TABLE, "bic")),  # type: ignore[arg-type]
        (lambda: fn.score(ASIA.dag, TABLE, "BDeu:10"), lambda: fn.score(ASIA.dag, TABLE, "bdeu", ess=10)),  # type: ignore[arg-type]
        (lambda: fn.learn.dag(TABLE, search="Hill_Climb"), lambda: fn.learn.dag(TABLE, search="hill-climb")),  # type: ignore[arg-type]
        (
            lambda: fn.learn.markov_graph(NUMBERS, test="Fisher_Z", rule="OR", search="Inter_IAMB"),  # type: ignore[arg-type]
            lambda: fn.learn.markov_graph(NUMBERS, test="fisher-z", rule="or", search="inter-iamb"),
        ),
        (lambda: fn.learn.gaussian_graph(NUMBERS, rule="AND"), lambda: fn.learn.gaussian_graph(NUMBERS, rule="and")),  # type: ignore[arg-type]
        (
            lambda: fn.kernels.FisherKernel(ASIA, metric="Practical").metric,  # type: ignore[arg-type]
            lambda: fn.kernels.FisherKernel(ASIA, metric="practical").metric,
        ),
        (
            lambda: fn.learn.local_structure(TABLE, search="TABU").inputs,  # type: ignore[arg-type]
            lambda: fn.learn.local_structure(TABLE, search="tabu").inputs,
        ),
    ],
)
def test_capitals_and_underscores_change_nothing(typed: Callable[[], Any], here: Callable[[], Any]) -> None:
    assert typed() == here()


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_names_of_others_are_none_of_ours_and_answered_with_some_of_ours(kind: str) -> None:
    for name, answer in ELSEWHERE[kind].items():
        assert spelled(name) == name
        assert name not in KNOWN[kind]
        quoted = set(answer.split("'")[1::2])
        assert quoted <= set().union(*KNOWN.values(), BLANKET_SEARCHES), (name, answer)
    assert set(SHORT.values()) <= KNOWN["structure"]


@pytest.mark.parametrize("name", ["bge", "BIC-G", "bic_g", "bds", "bde", "ebic"])
def test_scores_of_others_are_answered(name: Any) -> None:
    with pytest.raises(
        fn.FishernetError, match=f"unknown score {name!r}; there are .*; .*'(fractional|bdeu|bic)'"
    ) as told:
        fn.score(ASIA.dag, TABLE, name)
    assert told.value.parameter == "score"


@pytest.mark.parametrize("name", ["pc", "GES", "mmhc", "k2", "hc", "HillClimbSearch", "chow-liu"])
def test_searches_of_others_are_answered(name: Any) -> None:
    with pytest.raises(
        fn.FishernetError, match=f"unknown search {name!r}; .*; .*('order'|'hill-climb'|fn.learn)"
    ) as told:
        fn.learn.structure(TABLE, search=name)
    assert told.value.parameter == "search"


def test_a_slip_is_answered_with_what_was_meant() -> None:
    with pytest.raises(fn.FishernetError, match="did you mean 'bic'"):
        fn.score(ASIA.dag, TABLE, "bik")  # type: ignore[arg-type]
    with pytest.raises(fn.FishernetError, match="did you mean 'fisher-z'"):
        fn.learn.markov_graph(NUMBERS, test="fisher-s")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "answer"), OPTIONS.items())
def test_options_of_others_are_named_and_answered(name: str, answer: str) -> None:
    given: dict[str, Any] = {name: 2}
    with pytest.raises(fn.FishernetError, match=f"takes the option '{name}'") as told:
        fn.learn.structure(TABLE, **given)
    assert told.value.parameter == name
    assert str(told.value).endswith(answer)


def test_an_option_that_nobody_takes_is_named_and_not_the_others() -> None:
    with pytest.raises(
        fn.FishernetError, match="score 'bdeu' takes the option 'es'; the score 'bdeu' takes 'ess'; did you mean ess"
    ):
        fn.score(ASIA.dag, TABLE, "bdeu", es=3)  # type: ignore[call-arg]
    with pytest.raises(fn.FishernetError, match="nor the test 'knn-mi' takes the option 'nn'; .*'permutations'"):
        fn.learn.markov_graph(NUMBERS, nn=3, permutations=20)  # type: ignore[call-arg]


def test_a_name_that_is_no_str_is_refused() -> None:
    for wrong in (3, None, ["bic"], b"bic"):
        with pytest.raises(fn.FishernetError, match="search"):
            fn.learn.local_structure(TABLE, search=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("literal", "known"),
    [
        (vocabulary.ScoreName, [*SCORES, *CONTINUOUS_SCORES]),
        (vocabulary.SearchName, SEARCHES),
        (vocabulary.InputSearchName, INPUT_SEARCHES),
        (vocabulary.BlanketSearchName, BLANKET_SEARCHES),
        (vocabulary.TestName, [*CONTINUOUS, *DISCRETE]),
        (vocabulary.MetricName, METRICS),
        (vocabulary.Rule, RULES),
        (vocabulary.ClimbingRule, CLIMBING_RULES),
        (vocabulary.ScanName, SCANS),
        (vocabulary.SchemeName, SCHEMES),
        (vocabulary.ConditionalsName, CONDITIONALS),
        (vocabulary.GroupMethodName, METHODS),
        (vocabulary.GWishartMethodName, G_WISHART_METHODS),
        (vocabulary.BinningName, ["quantile", "equal-width"]),
        (vocabulary.MeasureName, MEASURES),
        (vocabulary.ClassifierName, ["nb", *STRUCTURES, *SEARCHES]),
        (vocabulary.IncompleteName, MISSING),
        (vocabulary.TrainingName, [FILL, *MISSING]),
    ],
)
def test_editors_complete_just_the_names_that_there_are(literal: Any, known: Any) -> None:
    assert set(get_args(literal)) == set(known)


def test_parameters_of_frames_networks_and_estimators_are_typed() -> None:
    """Whatever takes one of these words says so to an editor."""
    functions: list[tuple[Any, dict[str, Any]]] = [
        (fn.read_table, {"binning": "BinningName", "missing": "MissingName", "unknown": "UnknownName"}),
        (fn.Table.from_frame, {"binning": "BinningName", "missing": "MissingName", "unknown": "UnknownName"}),
        (fn.DependencyNetwork.sample, {"scan": "ScanName"}),
        (fn.infer.stationary, {"scan": "ScanName"}),
        (fn.infer.estimate, {"scan": "ScanName"}),
        (fn.infer.group_probabilities, {"method": "GroupMethodName"}),
        (BayesianNetworkClassifier.__init__, {"structure": "ClassifierName", "binning": "BinningName"}),
        (BayesianNetworkClassifier.__init__, {"missing": "TrainingName"}),
        (ModelFisherFeatures.__init__, {"metric": "MetricName"}),
        (FisherFeatures.__init__, {"structure": "ClassifierName", "binning": "BinningName"}),
        (BayesianNetworkOutlierDetector.__init__, {"structure": "SearchName", "measure": "MeasureName"}),
    ]
    for function, words in functions:
        for parameter, name in words.items():
            annotation = inspect.signature(function).parameters[parameter].annotation
            assert annotation == name, (function, parameter)


def test_words_about_reading_are_spelled_as_one_likes() -> None:
    frame = {"x": [0.5, 1.5, 2.5, None]}
    found = fn.Table.from_frame(frame, bins=2, binning="Equal_Width", missing="DROP")  # type: ignore[arg-type]
    assert found == fn.Table.from_frame(frame, bins=2, binning="equal-width", missing="drop")


def test_a_checker_catches_a_slip() -> None:
    hints = get_type_hints(fn.learn.structure)
    assert vocabulary.ScoreName in get_args(hints["score"])
    assert vocabulary.SearchName in get_args(hints["search"])
    assert str not in get_args(hints["score"]) + get_args(hints["search"])
