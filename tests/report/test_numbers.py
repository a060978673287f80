"""What the page's JavaScript answers of labels and numbers is what the library answers, to 1e-9."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.data.encoding.scales import Scale
from fishernet.infer.mixtures import NumberDistribution
from fishernet.report.network import PageNetwork
from tests.report.node import answers

CLOSE = 1e-9
SCALES = {
    "log": Scale("log", (2.0, 0.5)),
    "power": Scale("power", (0.4, 1.0, 3.0)),
    "log of a power": Scale("power", (0.0, 0.5, 2.0)),
    "arcsinh": Scale("arcsinh", (0.5, 2.0)),
}


def normal_table(draws: np.random.Generator, shape: tuple[int, ...], numbers: int) -> dict[str, Any]:
    """A regression for each configuration, of very different spreads."""
    return {
        "intercept": draws.normal(size=shape),
        "coefficients": draws.normal(size=(*shape, numbers)),
        "sd": np.exp(draws.normal(scale=0.7, size=shape)),
    }


def random_network(seed: int, parents: Mapping[str, list[str]], scales: Mapping[str, str] | None = None) -> Any:
    """A network of labels a, b, ... with 2, 3, 4, 1 states and numbers x, y, ...; a name's first letter tells which."""
    draws = np.random.default_rng(seed)
    sizes = {name: (2, 3, 4, 1)[at % 4] for at, name in enumerate(name for name in parents if name < "p")}
    of = scales or {}
    variables: dict[str, Any] = {
        name: fn.Variable(name, range(sizes[name]))
        if name in sizes
        else fn.Continuous(name, scale=SCALES[of[name]] if name in of else None)
        for name in parents
    }
    tables: dict[str, Any] = {}
    for name, those in parents.items():
        shape = tuple(sizes[parent] for parent in those if parent in sizes)
        if name in sizes:
            tables[name] = draws.dirichlet(np.full(sizes[name], 0.7), size=shape)
        else:
            tables[name] = normal_table(draws, shape, len(those) - len(shape))
    return fn.BayesianNetwork.from_tables(list(variables.values()), parents, tables, tolerance=1e-6)


CHAIN = {"a": [], "b": ["a"], "c": ["a", "b"], "x": [], "y": ["b", "x"], "z": ["y", "c", "x"], "u": ["a"]}
NETWORKS: dict[str, Callable[[], Any]] = {
    "chain": lambda: random_network(1, CHAIN),
    "scales": lambda: random_network(2, CHAIN, {"x": "log", "y": "power", "z": "arcsinh", "u": "log of a power"}),
    "blocks": lambda: random_network(
        3, {"a": [], "x": ["a"], "b": ["a"], "c": ["b"], "y": ["b", "c"], "z": ["c"], "w": ["z"], "d": ["c"], "v": []}
    ),
    "apart": lambda: random_network(4, {"a": [], "b": [], "x": [], "y": ["x"]}),
    "joined below": lambda: random_network(5, {"x": [], "y": ["a"], "a": [], "b": [], "z": ["x", "y"], "u": ["b", "z"]}),
    "one number": lambda: random_network(6, {"x": []}),
    "numbers": lambda: random_network(7, {"x": [], "y": ["x"], "z": ["x", "y"], "u": []}),
    "numbers on scales": lambda: random_network(8, {"x": [], "y": ["x"], "z": ["x", "y"]}, {"x": "log", "y": "power"}),
}


def cases(net: Any, n: int, seed: int, most_done: int = 2) -> list[dict[str, Any]]:
    """Return what may be known: nothing, then cells of random rows, seen or set."""
    draws = np.random.default_rng(seed)
    columns = net.sample(n, seed=seed).codes
    found: list[dict[str, Any]] = [{"seen": [], "done": []}]
    for row in range(n):
        chosen = draws.permutation(len(columns))[: draws.integers(1, len(columns) + 1)].tolist()
        known = [(v, columns[v][row].item()) for v in chosen]
        split = int(draws.integers(0, min(most_done, len(known)) + 1))
        found.append({"seen": known[split:], "done": known[:split]})
    return found


def set_from_outside(net: Any, done: Mapping[int, Any]) -> Any:
    """The network after an intervention: labels by the library, numbers without parents and hardly spread."""
    labels = {net.names[v]: net.variables[v].states[x] for v, x in done.items() if not net.variables[v].is_continuous}
    conditionals = list((fn.infer.intervene(net, labels) if labels else net).conditionals)
    for v in done:
        if net.variables[v].is_continuous:
            conditionals[v] = type(net.conditionals[v])(v, [], [net.variables[v]], 0.0, [], 1.0)
    return fn.BayesianNetwork(net.variables, conditionals)


def given_of(net: Any, known: Mapping[int, Any]) -> dict[str, Any]:
    return {net.names[v]: x if net.variables[v].is_continuous else net.variables[v].states[x] for v, x in known.items()}


def check(net: Any, known: dict[str, Any], answer: dict[str, Any]) -> None:
    """Labels and numbers have the library's distributions. A number that is set is given, and its density divided out."""
    seen, done = dict(known["seen"]), dict(known["done"])
    asked = set_from_outside(net, done)
    given = given_of(net, seen | done)
    log = fn.infer.log_evidence(asked, given) - fn.infer.log_evidence(asked, given_of(net, done))
    assert answer["logEvidence"] == pytest.approx(log, rel=CLOSE, abs=CLOSE)
    for v, variable in enumerate(net.variables):
        if not variable.is_continuous:
            expected = fn.infer.marginal(asked, [variable.name], given=given)
            np.testing.assert_allclose(answer["marginals"][v], expected, rtol=0, atol=CLOSE)
        elif v in seen or v in done:
            assert answer["numbers"][v] is None
        else:
            check_number(mixture_of(asked, variable.name, given), answer["numbers"][v])
    assert [state < 0 for state in answer["states"]] == [variable.is_continuous for variable in net.variables]


def mixture_of(net: Any, name: str, given: Mapping[str, Any]) -> Any:
    """The library's distribution of a number; of a Gaussian network its normal one, as a mixture of one."""
    found = net.query(name, given=given)
    if net.inference == "mixed":
        return found
    one = np.array([1.0]), found.mean, np.sqrt(np.diagonal(found.covariance))
    return NumberDistribution(found.variables[0], *one)


def check_number(expected: Any, said: Mapping[str, Any]) -> None:
    low, high = expected.interval(0.9)
    whole = {"mean": expected.mean, "sd": expected.sd, "median": expected.median, "low": low, "high": high}
    for name, value in whole.items():
        assert said[name] == pytest.approx(value, rel=CLOSE, abs=CLOSE), name
    for x, density in said["densities"]:
        assert density == pytest.approx(expected.density(x), rel=CLOSE)


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_and_labels_are_answered_as_by_the_library(name: str) -> None:
    net = NETWORKS[name]()
    asked = cases(net, 25, seed=11)
    for known, answer in zip(asked, answers(PageNetwork.of(net).fields(), asked), strict=True):
        check(net, known, answer)
