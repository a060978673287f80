"""Every public function takes its arguments in one order, by the same names: the table in CONTRIBUTING.md.

The exceptions are short, each with its reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fishernet as fn

PACKAGES = [
    fn,
    fn.compare,
    fn.data,
    fn.datasets,
    fn.graphs,
    fn.independence,
    fn.infer,
    fn.kernels,
    fn.learn,
    fn.models,
    fn.plot,
    fn.scores,
    fn.select,
]
# of positional arguments these come first, and then the data
OBJECTS = {"model", "net", "dn", "network", "hmm", "dag", "graph", "kernel"}
DATA = {"table", "data", "X", "Y", "before", "after", "rows", "sequences", "strings", "source"}
DATA_FIRST = {
    "fishernet.learn.fit": 'the design fixes fit(table, model="bn"): the model is a word',
    "fishernet.report": "the design fixes report(table, model=None): the model is optional",
    "fishernet.learn.gaussian_network": "the design fixes gaussian_network(X, graph)",
    "fishernet.compare.two_sample_test": "the design fixes two_sample_test(X, Y, kernel=None): the kernel is optional",
    "fishernet.compare.explain_change": "the design fixes explain_change(before, after, net=None): likewise",
}
BY_KEYWORD = {"seed", "progress", "search", "missing", "smoothing", "ess", "tolerance", "checkpoint", "max_seconds"}
LOOKS = {"ax", "labels", "font_size", "colour"}  # of a picture: after everything else
# one word for one thing
WORDS = {
    "k": {"n_components", "n_representatives"},
    "seed": {"random_state", "rng"},
    "progress": {"callback", "verbose"},
    "tolerance": {"tol", "eps"},
    "max_steps": {"max_iter", "n_iter"},
    "max_seconds": {"timeout", "time_limit"},
    "permutations": {"n_permutations"},
    "net": {"bn", "bayes_net"},
    "smoothing": {"pseudocount", "pseudo_count"},
}
REFUSED = {word: right for right, words in WORDS.items() for word in words}


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Name and object of every public function."""
    seen = set()
    for package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isfunction(value) and id(value) not in seen:
                seen.add(id(value))
                yield f"{package.__name__}.{name}", value


FUNCTIONS = dict(functions())
BY_NAME = pytest.mark.parametrize("name", FUNCTIONS)


def parameters(name: str) -> list[inspect.Parameter]:
    return list(inspect.signature(FUNCTIONS[name]).parameters.values())


def positional(name: str) -> list[str]:
    return [one.name for one in parameters(name) if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]


@BY_NAME
def test_a_model_graph_or_kernel_comes_before_the_data(name: str) -> None:
    if name in DATA_FIRST:
        return
    ranks = [0 if one in OBJECTS else 1 for one in positional(name) if one in OBJECTS | DATA]
    assert ranks == sorted(ranks)


@BY_NAME
def test_options_are_given_by_name(name: str) -> None:
    assert not BY_KEYWORD & set(positional(name))
    assert sum(one.default is not one.empty for one in parameters(name) if one.name in positional(name)) <= 1


@BY_NAME
def test_seed_and_progress_come_last_in_this_order(name: str) -> None:
    keywords = [one.name for one in parameters(name) if one.kind == one.KEYWORD_ONLY and one.name not in LOOKS]
    last = [word for word in ("seed", "progress") if word in keywords]
    assert keywords[len(keywords) - len(last) :] == last


@BY_NAME
def test_one_thing_has_one_name(name: str) -> None:
    wrong = {one.name: REFUSED[one.name] for one in parameters(name) if one.name in REFUSED}
    assert not wrong, f"{name}: say {wrong}"


def test_an_exception_is_one() -> None:
    """The list may only shrink: a call that keeps the rule leaves it."""
    assert DATA_FIRST.keys() <= FUNCTIONS.keys()
    for name in DATA_FIRST:
        ranks = [0 if one in OBJECTS else 1 for one in positional(name) if one in OBJECTS | DATA]
        assert ranks != sorted(ranks)
