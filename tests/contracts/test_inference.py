"""The laws of inference: for every question evidence, limits and threads mean the same. A new one joins `ASKED`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError, UnknownStateError, ZeroProbabilityError
from tests.networks import random_network
from tests.reference import inference as reference
from tests.reference.inference import ASKED, Ask, Query, queries

EVERY = pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
LOGS = ["log_evidence", "tree.log_evidence"]
DISTRIBUTIONS = ["marginal", "family_marginals", "tree.marginal", "tree.family_marginals"]
DIVIDE = [name for name in ASKED if name not in LOGS]


def asked(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("ask", [ASKED[name] for name in names], ids=names)


def copies(n: int) -> fn.BayesianNetwork:
    """x0 is fair, and every other variable is its copy."""
    names = [f"x{i}" for i in range(n)]
    tables: dict[str, Any] = {name: [[1, 0], [0, 1]] for name in names} | {"x0": [0.5, 0.5]}
    parents = {name: ["x0"] for name in names[1:]}
    return fn.BayesianNetwork.from_tables([fn.Variable(name, ["no", "yes"]) for name in names], parents, tables)


@given(queries())
def test_answers_are_those_of_the_joint(query: Query) -> None:
    net, tree = query.net, fn.infer.JunctionTree(query.net)
    evidence = query.given, query.likelihood
    joint = reference.marginal(net, query.names, *evidence)
    families, total = reference.family_marginals(net, *evidence), reference.log_evidence(net, *evidence)
    for by in (tree, _Directly(net)):
        found = by.marginal(query.names, **query.evidence)
        assert (found.dtype, found.shape) == (joint.dtype, joint.shape)
        np.testing.assert_allclose(found, joint, rtol=1e-10, atol=1e-300)
        for ours, theirs in zip(by.family_marginals(**query.evidence), families, strict=True):
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-300)
        log = by.log_evidence(query.given, likelihood=query.likelihood)
        assert type(log) is float
        assert log == pytest.approx(total, rel=1e-10, abs=1e-10)


class _Directly:
    """The same questions without a tree."""

    def __init__(self, net: fn.BayesianNetwork) -> None:
        self.marginal = partial(fn.infer.marginal, net)
        self.family_marginals = partial(fn.infer.family_marginals, net)
        self.log_evidence = partial(fn.infer.log_evidence, net)


@asked(LOGS)
def test_impossible_evidence_has_minus_infinity(ask: Ask) -> None:
    assert ask(copies(2), given={"x0": "no", "x1": "yes"}) == -math.inf
    assert ask(copies(2), given={"x0": "no"}, likelihood={"x1": [0, 1]}) == -math.inf


@asked(DIVIDE)
def test_impossible_evidence_is_refused_where_it_would_be_divided_by(ask: Ask) -> None:
    with pytest.raises(ZeroProbabilityError):
        ask(copies(2), given={"x0": "no", "x1": "yes"})
    with pytest.raises(ZeroProbabilityError):
        ask(copies(2), likelihood={"x0": [1, 0], "x1": [0, 1]})
    with pytest.raises(ZeroProbabilityError):
        ask(copies(2), given={"x1": "no"}, likelihood={"x1": [0, 1]})


@asked(DIVIDE)
def test_impossible_evidence_is_refused_whatever_is_asked(ask: Ask) -> None:
    """The contradiction lies in a component that the first variable has nothing to do with."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    net = fn.BayesianNetwork.from_tables([a, b], {}, {"a": [0.5, 0.5], "b": [1, 0]})
    with pytest.raises(ZeroProbabilityError):
        ask(net, given={"b": 1})


@asked(LOGS)
def test_states_are_given_by_label_not_by_code(ask: Ask) -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("x", [2, 0, 1])], {}, {"x": [0.5, 0.3, 0.2]})
    got = [ask(net, given={"x": label}) for label in (2, 0, 1)]
    assert got == pytest.approx([math.log(0.5), math.log(0.3), math.log(0.2)], rel=1e-13)


@asked(DISTRIBUTIONS)
def test_a_number_that_is_a_label_is_not_taken_for_a_code(ask: Ask) -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("x", [2, 0, 1])], {}, {"x": [0.5, 0.3, 0.2]})
    for label, point in ((2, [1, 0, 0]), (0, [0, 1, 0]), (1, [0, 0, 1])):
        np.testing.assert_array_equal(np.squeeze(ask(net, given={"x": label})), point)


@EVERY
def test_no_evidence_may_be_said_in_any_way(ask: Ask) -> None:
    net = random_network(1, [2, 3, 2])
    bare = ask(net)
    ways: list[dict[str, Any]] = [{"given": {}}, {"given": None}, {"likelihood": {}}, {"likelihood": None}]
    for nothing in ways:
        assert_same(ask(net, **nothing), bare)


@EVERY
@pytest.mark.parametrize("option", ["given", "likelihood"])
def test_an_unknown_name_is_named(ask: Ask, option: str) -> None:
    evidence = {option: {"x0": "no", "nobody": "no"} if option == "given" else {"nobody": [1, 1]}}
    with pytest.raises(SchemaError, match="'nobody'"):
        ask(copies(2), **evidence)


@EVERY
@pytest.mark.parametrize("label", ["maybe", 0, None, ""])
def test_an_unknown_label_is_named_with_its_column(ask: Ask, label: Any) -> None:
    with pytest.raises(UnknownStateError, match="'x1'") as refused:
        ask(copies(3), given={"x1": label})
    assert repr(label) in str(refused.value)
    assert (refused.value.variable, refused.value.label) == ("x1", label)


@EVERY
@pytest.mark.parametrize(
    "values",
    [[1.0], [1.0, 1.0, 1.0], [], 1.0, [[1.0, 1.0]], [1.0, -0.5], [1.0, math.nan], [1.0, math.inf], [0.0, 0.0]],
    ids=repr,
)
def test_likelihoods_that_are_none_are_refused(ask: Ask, values: Any) -> None:
    with pytest.raises(SchemaError, match="'x1'"):
        ask(copies(3), likelihood={"x1": values})


@EVERY
def test_what_is_given_is_not_changed(ask: Ask) -> None:
    net = random_network(2, [2, 3])
    evidence: dict[str, Any] = {"given": {"v0": "s1"}, "likelihood": {"v1": np.array([1.0, 2.0, 3.0])}}
    ask(net, **evidence)
    assert evidence["given"] == {"v0": "s1"}
    assert evidence["likelihood"]["v1"].tolist() == [1.0, 2.0, 3.0]


def assert_same(one: Any, other: Any) -> None:
    """The same bits, whatever kind of answer it is."""
    if isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


@EVERY
def test_the_number_of_threads_changes_no_bit(ask: Ask) -> None:
    net = fn.datasets.load("alarm")
    evidence = {"given": {"HRBP": "HIGH", "PRESS": "LOW"}, "likelihood": {"CO": [0.2, 0.5, 1.0]}}
    before = fn.set_threads(1)
    try:
        one = ask(net, **evidence)
        fn.set_threads(3)
        three = ask(net, **evidence)
    finally:
        fn.set_threads(before)
    assert_same(one, three)


# -------------------------------------------------------------------------------------------------------------- limits

Limited = Callable[[fn.BayesianNetwork, Any], Any]
MISSING = [[3, 3, 3]]
LIMITED: dict[str, tuple[Limited, int]] = {
    "marginal": (lambda net, limit: fn.infer.marginal(net, net.names, max_table=limit), 27),
    "family_marginals": (lambda net, limit: fn.infer.family_marginals(net, max_table=limit), 27),
    "most_probable": (lambda net, limit: fn.infer.most_probable(net, max_table=limit), 0),  # by cases then
    "log_evidence": (lambda net, limit: fn.infer.log_evidence(net, likelihood={"c": [1, 2, 3]}, max_table=limit), 0),
    "sample": (lambda net, limit: fn.infer.sample(net, 5, max_table=limit), 27),
    "JunctionTree": (lambda net, limit: fn.infer.JunctionTree(net, max_table=limit), 0),  # the same
    "predict_proba": (lambda net, limit: fn.infer.predict_proba(net, MISSING, "c", max_table=limit), 3),
    "group_probabilities": (lambda net, limit: fn.infer.group_probabilities(net, max_table=limit), 0),  # samples then
}
EVERY_LIMIT = pytest.mark.parametrize(("ask", "cells"), LIMITED.values(), ids=LIMITED)


@pytest.mark.parametrize(("ask", "cells"), [case for case in LIMITED.values() if case[1]])
def test_a_table_beyond_the_limit_is_refused_before_it_is_made(ask: Limited, cells: int) -> None:
    """c has the parents a and b, and b the parent a: all three together have 27 states."""
    variables = [fn.Variable(name, range(3)) for name in "abc"]
    tables: dict[str, Any] = {"a": [0.2, 0.3, 0.5], "b": np.full((3, 3), 1 / 3), "c": np.full((3, 3, 3), 1 / 3)}
    net = fn.BayesianNetwork.from_tables(variables, {"b": ["a"], "c": ["a", "b"]}, tables)
    ask(net, 27)
    with pytest.raises(StateSpaceError) as refused:
        ask(net, cells - 1)
    assert refused.value.cells > refused.value.limit == cells - 1


@EVERY_LIMIT
@pytest.mark.parametrize("limit", [0, -1, 1.5, "8", True, None])
def test_the_limit_is_a_positive_integer(ask: Limited, cells: int, limit: Any) -> None:
    with pytest.raises(FishernetError, match="max_table") as refused:
        ask(random_network(0, [2]), limit)
    assert refused.value.parameter == "max_table"
