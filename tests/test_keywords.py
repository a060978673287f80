"""What a function hands on is listed by name and type, as the function that it is handed to has it.

So editors offer it, and a misspelled option is an error for type checkers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

import fishernet as fn
from fishernet.infer.queries import marginal
from fishernet.learn.learners import LEARNERS
from fishernet.scores import CONTINUOUS_SCORES, SCORES

Function = Callable[..., Any]

HYPERPARAMETERS = {
    name: kind
    for score in (SCORES | CONTINUOUS_SCORES).values()
    for name, kind in get_type_hints(score.__init__).items()
}
del HYPERPARAMETERS["return"]
OF_STRUCTURE = [
    fn.learn.dag,
    fn.learn.bayesian_network,
    fn.learn.cross_validate,
    fn.learn.edge_strengths,
    fn.learn.edges_by_chance,
]
OF_SCORES = [
    fn.score,
    fn.local_score,
    fn.explain.arc,
    fn.scores.named_score,
    fn.learn.structure,
    fn.learn.best_graphs,
    fn.learn.edge_probabilities,
    fn.learn.local_structure,
    fn.learn.dependency_network,
    fn.learn.merge_rows,
]


def named(function: Function) -> dict[str, Any]:
    """Types of the parameters that a function has by name."""
    hints = get_type_hints(function)
    every = inspect.signature(function).parameters.values()
    return {one.name: hints[one.name] for one in every if one.kind is one.KEYWORD_ONLY}


def own(function: Function) -> set[str]:
    """Names of the parameters that a function has itself."""
    return {one.name for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD}


def handed_on(function: Function) -> dict[str, Any]:
    """Types of what a function hands on."""
    (rest,) = [one for one in inspect.signature(function).parameters.values() if one.kind is one.VAR_KEYWORD]
    (keywords,) = get_args(get_type_hints(function, localns={"Axes": Any})[rest.name])  # matplotlib's, not imported
    return get_type_hints(keywords)


@pytest.mark.parametrize(
    ("function", "taken"),
    [
        *((function, named(fn.learn.structure) | HYPERPARAMETERS) for function in OF_STRUCTURE),
        *((function, HYPERPARAMETERS) for function in OF_SCORES),
        (fn.learn.hidden_markov_model, named(fn.learn.baum_welch)),
        (fn.learn.hidden_tree, named(fn.learn.hidden_tree_fit)),
        (fn.BayesianNetwork.query, named(fn.infer.estimate)),
        (fn.infer.query, named(fn.infer.estimate)),
        (marginal, named(fn.infer.estimate)),
        (fn.plot.marginals, named(marginal) | named(fn.infer.estimate)),
    ],
    ids=lambda one: one.__qualname__ if callable(one) else "",
)
def test_what_is_handed_on_is_what_the_other_function_takes(function: Function, taken: dict[str, Any]) -> None:
    assert handed_on(function) == {name: kind for name, kind in taken.items() if name not in own(function)}


def test_parameters_hand_on_what_incomplete_rows_and_shared_rows_need() -> None:
    taken = named(fn.learn.em_fit).keys() | HYPERPARAMETERS.keys() | {"score", "splits"}
    assert handed_on(fn.learn.parameters).keys() == taken - own(fn.learn.parameters)


def test_blankets_hand_on_what_their_tests_take() -> None:
    taken = named(fn.independence.knn_test).keys() | {"bins"}
    for function in (fn.learn.markov_graph, fn.learn.markov_blankets):
        assert handed_on(function).keys() == taken - own(function)


def test_fit_hands_on_what_some_kind_takes() -> None:
    takes = frozenset().union(*(kind.takes for kind in LEARNERS.values()))
    assert handed_on(fn.learn.fit).keys() == takes - own(fn.learn.fit)
