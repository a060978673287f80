"""What the page's JavaScript answers is what the library answers, to 1e-12."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.reports.network import PageNetwork
from tests.report.node import answers

CLOSE = 1e-12


def zeros() -> fn.BayesianNetwork:
    """A network in which much is impossible, and some is as good as: one path has probability 1e-600."""
    a, b, c, d = (fn.Variable(name, ["0", "1", "2"]) for name in "abcd")
    step = [[1.0, 0.0, 0.0], [0.0, 1.0 - 1e-300, 1e-300], [0.5, 0.5, 0.0]]
    tables: dict[str, Any] = {"a": [0.5, 0.5, 0.0], "b": step, "c": step, "d": [0.25, 0.75, 0.0]}
    return fn.BayesianNetwork.from_tables([a, b, c, d], {"b": ["a"], "c": ["b"]}, tables)


def random_network(n: int, n_parents: int, seed: int) -> fn.BayesianNetwork:
    """A network of variables with 1 to 4 states and sparse, uneven tables."""
    draws = np.random.default_rng(seed)
    variables = [fn.Variable(f"v{i}", range(int(draws.integers(1, 5)))) for i in range(n)]
    parents, tables = {}, {}
    for i, variable in enumerate(variables):
        of = sorted(draws.choice(i, size=min(i, int(draws.integers(0, n_parents + 1))), replace=False).tolist())
        parents[variable.name] = [f"v{p}" for p in of]
        shape = [variables[p].cardinality for p in of]
        tables[variable.name] = draws.dirichlet(np.full(variable.cardinality, 0.3), size=shape).reshape(*shape, -1)
    return fn.BayesianNetwork.from_tables(variables, parents, tables, tolerance=1e-6)


def markov() -> fn.MarkovNetwork:
    variables = [fn.Variable(name, range(3)) for name in "wxyz"]
    draws = np.random.default_rng(3)
    scopes = [("w", "x"), ("y", "x"), ("y", "w"), ("z",)]
    return fn.MarkovNetwork(variables, [(names, draws.gamma(0.5, 40, [3] * len(names))) for names in scopes])


NETWORKS: dict[str, Callable[[], Any]] = {
    "asia": lambda: fn.datasets.load("asia"),
    "alarm": lambda: fn.datasets.load("alarm"),
    "one variable": lambda: fn.BayesianNetwork.from_tables(
        [fn.Variable("x", ["a", "b", "c"])], {}, {"x": [0.2, 0.3, 0.5]}
    ),
    "one state": lambda: fn.BayesianNetwork.from_tables([fn.Variable("x", ["a"])], {}, {"x": [1.0]}),
    "apart": lambda: random_network(8, 0, seed=1),
    "zeros": zeros,
    "random": lambda: random_network(14, 3, seed=2),
    "wider": lambda: random_network(20, 4, seed=5),
    "potentials": markov,
    "learned": lambda: fn.learn.bayesian_network(fn.datasets.load("nursery")),
}


def cases(net: Any, n: int, seed: int) -> list[dict[str, Any]]:
    """Return what may be known: nothing, then states of random rows, so that most of it is possible; or any states."""
    draws = np.random.default_rng(seed)
    rows = np.stack([np.asarray(column, dtype=np.int64) for column in net.sample(n, seed=seed).codes], axis=1)
    found: list[dict[str, Any]] = [{"seen": [], "done": []}]
    for number, row in enumerate(rows):
        if number % 3 == 2:
            row = np.array([draws.integers(variable.cardinality) for variable in net.variables])
        chosen = draws.permutation(len(row))[: draws.integers(1, max(2, min(6, len(row))))]
        known = [(int(v), int(row[v])) for v in chosen]
        split = 0 if not hasattr(net, "intervened") else int(draws.integers(0, len(known) + 1))
        found.append({"seen": known[split:], "done": known[:split]})
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_marginals_evidence_and_explanations_are_those_of_the_library(name: str) -> None:
    net = NETWORKS[name]()
    asked = cases(net, 30, seed=7)
    found = answers(PageNetwork.of(net).fields(), asked)
    possible = 0
    for known, answer in zip(asked, found, strict=True):
        given, done = ({net.names[v]: net.variables[v].states[s] for v, s in known[how]} for how in ("seen", "done"))
        asked_of = fn.infer.intervene(net, done) if done else net
        log_evidence = fn.infer.log_evidence(asked_of, given)
        if math.isinf(log_evidence):
            assert answer["logEvidence"] is None
            assert answer["marginals"] is None
            assert answer["states"] is None
            continue
        possible += 1
        assert answer["logEvidence"] == pytest.approx(log_evidence, rel=CLOSE, abs=CLOSE)
        for variable, marginal in zip(net.variables, answer["marginals"], strict=True):
            expected = fn.infer.marginal(asked_of, [variable.name], given=given)
            np.testing.assert_allclose(marginal, expected, rtol=0, atol=CLOSE)
        check_explanation(asked_of, given, answer)
    assert possible >= len(asked) // 3


def check_explanation(net: Any, given: dict[str, Any], answer: dict[str, Any]) -> None:
    """The page's explanation agrees with what is known, and is as probable as the library's."""
    best = fn.infer.most_probable(net, given=given)
    explained = {v.name: v.states[state] for v, state in zip(net.variables, answer["states"], strict=True)}
    assert all(explained[name] == state for name, state in given.items())
    own, its = (fn.infer.log_evidence(net, states) for states in (explained, best))
    assert own == pytest.approx(its, rel=1e-10, abs=1e-10)
    assert answer["logProbability"] == pytest.approx(its, rel=CLOSE, abs=CLOSE)


def test_what_is_nearly_impossible_is_no_less_exact() -> None:
    """a = 1 and c = 2 needs b = 1 and a step of 1e-300, or b = 2 and one that is impossible; a = 1 is half of all."""
    found = answers(PageNetwork.of(zeros()).fields(), [{"seen": [(0, 1), (2, 2)], "done": []}])[0]
    assert found["logEvidence"] == pytest.approx(math.log(0.5) + math.log(1e-300), rel=1e-14)
    assert found["marginals"][1] == pytest.approx([0, 1, 0], abs=1e-15)


def test_products_below_the_smallest_double_are_told_apart() -> None:
    """Two hundred signs of a cause, each 1e-3 or 2e-3 probable: the odds are 2^200, the probability below 1e-320."""
    cause, *signs = [fn.Variable(f"v{i}", ["no", "yes"]) for i in range(201)]
    rows = [[1 - 1e-3, 1e-3], [1 - 2e-3, 2e-3]]
    tables: dict[str, Any] = {cause.name: [1 - 2.0**-199, 2.0**-199]} | {sign.name: rows for sign in signs}
    net = fn.BayesianNetwork.from_tables([cause, *signs], {sign.name: [cause.name] for sign in signs}, tables)
    found = answers(PageNetwork.of(net).fields(), [{"seen": [(v, 1) for v in range(1, 201)], "done": []}])[0]
    prior = math.log1p(-(2.0**-199))
    assert found["marginals"][0] == pytest.approx([1 / 3, 2 / 3], rel=1e-11)
    assert found["logEvidence"] == pytest.approx(200 * math.log(1e-3) + prior + math.log(3), rel=1e-13)


def test_what_is_set_and_seen_otherwise_is_impossible() -> None:
    asia = PageNetwork.of(fn.datasets.load("asia")).fields()
    found = answers(asia, [{"seen": [(2, 0)], "done": [(2, 1)]}, {"seen": [(2, 1)], "done": [(2, 1)]}])
    assert found[0]["logEvidence"] is None
    assert found[1]["logEvidence"] == pytest.approx(0, abs=1e-15)
