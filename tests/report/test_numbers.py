"""What the page's JavaScript answers of labels and numbers is what the library answers, to 1e-9."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetWarning
from fishernet.data.encoding.scales import Scale
from fishernet.infer.mixtures import NumberDistribution
from fishernet.reports.network import PageNetwork
from tests.report.node import answers

CLOSE = 1e-9
SCALES = {
    "log": Scale("log", (2.0, 0.5)),
    "power": Scale("power", (0.4, 1.0, 3.0)),
    "log of a power": Scale("power", (0.0, 0.5, 2.0)),
    "arcsinh": Scale("arcsinh", (0.5, 2.0)),
    "quantiles": Scale("quantiles", (-1.0, 0.5, 0.6, 3.0, -2.0, -0.3, 0.4, 2.5)),
}


def normal_table(draws: np.random.Generator, shape: tuple[int, ...], numbers: int) -> dict[str, Any]:
    """A regression for each configuration, of very different spreads."""
    return {
        "intercept": draws.normal(size=shape),
        "coefficients": draws.normal(size=(*shape, numbers)),
        "sd": np.exp(draws.normal(scale=0.7, size=shape)),
    }


def random_network(
    seed: int,
    parents: Mapping[str, list[str]],
    scales: Mapping[str, str] | None = None,
    units: Mapping[str, float] | None = None,
) -> Any:
    """A network of labels a, b, ... with 2, 3, 4, 1 states and numbers x, y, ...; a name's first letter tells which."""
    draws = np.random.default_rng(seed)
    sizes = {name: (2, 3, 4, 1)[at % 4] for at, name in enumerate(name for name in parents if name < "p")}
    of, rounded = scales or {}, units or {}
    variables: dict[str, Any] = {
        name: fn.Variable(name, range(sizes[name]))
        if name in sizes
        else fn.Continuous(name, scale=SCALES[of[name]] if name in of else None, resolution=rounded.get(name))
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
    "rounded": lambda: random_network(
        2, CHAIN, {"x": "log", "z": "arcsinh"}, {"x": 1.0, "y": 0.5, "z": 2.0, "u": 1e-9}
    ),
    "blocks": lambda: random_network(
        3, {"a": [], "x": ["a"], "b": ["a"], "c": ["b"], "y": ["b", "c"], "z": ["c"], "w": ["z"], "d": ["c"], "v": []}
    ),
    "apart": lambda: random_network(4, {"a": [], "b": [], "x": [], "y": ["x"]}),
    "joined below": lambda: random_network(
        5, {"x": [], "y": ["a"], "a": [], "b": [], "z": ["x", "y"], "u": ["b", "z"]}
    ),
    "one number": lambda: random_network(6, {"x": []}),
    "numbers": lambda: random_network(7, {"x": [], "y": ["x"], "z": ["x", "y"], "u": []}),
    "numbers on scales": lambda: random_network(8, {"x": [], "y": ["x"], "z": ["x", "y"]}, {"x": "log", "y": "power"}),
    "quantiles": lambda: random_network(9, CHAIN, {"x": "quantiles", "y": "log", "z": "quantiles"}, {"z": 0.5}),
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
    """The network after an intervention: labels by the library, numbers without parents, which are to be given."""
    labels = {net.names[v]: net.variables[v].states[x] for v, x in done.items() if not net.variables[v].is_continuous}
    conditionals = list((fn.infer.intervene(net, labels) if labels else net).conditionals)
    for v in done:
        if net.variables[v].is_continuous:
            conditionals[v] = type(net.conditionals[v])(v, [], [net.variables[v]], 0.0, [], 1.0)
    return fn.BayesianNetwork(net.variables, conditionals)


def given_of(net: Any, known: Mapping[int, Any]) -> dict[str, Any]:
    return {net.names[v]: x if net.variables[v].is_continuous else net.variables[v].states[x] for v, x in known.items()}


def check(net: Any, known: dict[str, Any], answer: dict[str, Any]) -> None:
    """Labels and numbers have the library's distributions.

    A number that is set is given, without parents, and its density divided out.
    """
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
    labels = {v.name: v.states[s] for v, s in zip(net.variables, answer["states"], strict=True) if s >= 0}
    assert list(labels) == [variable.name for variable in net.variables if not variable.is_continuous]
    check_explanation(asked, given, labels)
    whole = fn.infer.log_evidence(asked, given | labels) - fn.infer.log_evidence(asked, given_of(net, done))
    assert answer["logProbability"] == pytest.approx(whole, rel=CLOSE, abs=CLOSE)


def check_explanation(net: Any, given: Mapping[str, Any], labels: Mapping[str, Any]) -> None:
    """The labels are those of the library's explanation, or as probable: numbers are integrated out."""
    best = fn.infer.most_probable(net, given=dict(given))
    ours, theirs = (fn.infer.log_evidence(net, {**given, **of}) for of in (labels, {n: best[n] for n in labels}))
    assert ours == pytest.approx(theirs, rel=CLOSE, abs=CLOSE)


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


def by_hand(given: Mapping[str, float], *, done: bool) -> tuple[np.ndarray, float, float]:
    """P(a) and the mean and sd of z in a net with a of 3 states, x = m[a] + e, y = x b[a] + e s[a], z = y - 2 x + e.

    All three numbers are combinations of three noises. What is known (x, y or both) is conditioned on by hand, with the
    density of y alone where x is set.
    """
    prior, m, b, s = np.array([0.2, 0.5, 0.3]), [0.0, 1.0, 4.0], [1.0, -2.0, 0.5], [1.0, 2.0, 0.1]
    weights, means, variances = prior.copy(), np.zeros(3), np.zeros(3)
    for a in range(3):
        own = [given["x"], 0.0] if done else [m[a], 1.0]  # of x the mean and the sd
        mean = np.array([own[0], b[a] * own[0], (b[a] - 2) * own[0]])
        noise = np.array([[own[1], 0, 0], [b[a] * own[1], s[a], 0], [(b[a] - 2) * own[1], s[a], 1.0]])
        at = [n for n, name in enumerate("xy") if name in given and not (done and name == "x")]
        W = noise @ noise.T
        off = np.array([given["xy"[n]] for n in at]) - mean[at]
        K = np.linalg.inv(W[np.ix_(at, at)]) if at else np.zeros((0, 0))
        weights[a] *= np.exp(-0.5 * off @ K @ off) * np.sqrt(np.linalg.det(K) if at else 1.0)
        means[a] = mean[2] + W[2, at] @ K @ off
        variances[a] = W[2, 2] - W[2, at] @ K @ W[at, 2]
    weights /= weights.sum()
    centre = float(weights @ means)
    return weights, centre, float(np.sqrt(weights @ (variances + (means - centre) ** 2)))


@pytest.mark.parametrize("given", [{}, {"x": 2.5}, {"y": -1.0}, {"x": 3.0, "y": 1.4}])
@pytest.mark.parametrize("done", [False, True])
def test_seen_and_set_numbers_are_answered_as_by_hand(given: dict[str, float], *, done: bool) -> None:
    a, x, y, z = fn.Variable("a", ["0", "1", "2"]), *map(fn.Continuous, "xyz")
    tables: dict[str, Any] = {
        "a": [0.2, 0.5, 0.3],
        "x": {"intercept": [0.0, 1.0, 4.0], "coefficients": [[], [], []], "sd": [1.0, 1.0, 1.0]},
        "y": {"intercept": [0.0] * 3, "coefficients": [[1.0], [-2.0], [0.5]], "sd": [1.0, 2.0, 0.1]},
        "z": {"intercept": 0.0, "coefficients": [1.0, -2.0], "sd": 1.0},
    }
    net = fn.BayesianNetwork.from_tables([a, x, y, z], {"x": ["a"], "y": ["a", "x"], "z": ["y", "x"]}, tables)
    known = [(net.names.index(name), value) for name, value in given.items()]
    from_outside = done and "x" in given
    case = {"seen": [pair for pair in known if not (from_outside and pair[0] == 1)], "done": []}
    case["done"] = [pair for pair in known if pair not in case["seen"]]
    found = answers(PageNetwork.of(net).fields(), [case])[0]
    weights, mean, sd = by_hand(given, done=from_outside)
    assert found["marginals"][0] == pytest.approx(weights.tolist(), abs=CLOSE)
    assert (found["numbers"][3]["mean"], found["numbers"][3]["sd"]) == pytest.approx((mean, sd), abs=CLOSE)


@pytest.mark.parametrize(
    ("name", "far"), [("chain", 40.0), ("chain", -300.0), ("chain", 1e4), ("scales", 40.0), ("scales", -9.0)]
)
def test_what_lies_far_outside_is_answered_with_finite_numbers(name: str, far: float) -> None:
    """Densities far below the smallest double: logarithms tell the configurations apart."""
    net = NETWORKS[name]()
    asked = [{"seen": [(net.names.index(number), far)], "done": []} for number in "xyzu"]
    for known, answer in zip(asked, answers(PageNetwork.of(net).fields(), asked), strict=True):
        log = fn.infer.log_evidence(net, given_of(net, dict(known["seen"])))
        assert math.isfinite(log)
        assert answer["logEvidence"] == pytest.approx(log, rel=CLOSE)
        if far < 1e3:  # beyond, a logarithm of 1e8 leaves fewer digits to what is between configurations
            check(net, known, answer)


def test_numbers_with_unequal_units_lose_no_digits() -> None:
    """A number in millions beside one in millionths, and a noise that is a millionth of what it is added to."""
    a, x, y = fn.Variable("a", ["0", "1"]), fn.Continuous("x"), fn.Continuous("y")
    tables: dict[str, Any] = {
        "a": [0.5, 0.5],
        "x": {"intercept": [1e6, 1.1e6], "coefficients": [[], []], "sd": [1e5, 1e5]},
        "y": {"intercept": [0.0, 0.0], "coefficients": [[1e-12], [1e-12]], "sd": [1e-13, 2e-13]},
    }
    net = fn.BayesianNetwork.from_tables([a, x, y], {"x": ["a"], "y": ["a", "x"]}, tables)
    asked = [{"seen": [(2, 1.05e-6)], "done": []}, {"seen": [(1, 1.05e6)], "done": []}]
    for known, answer in zip(asked, answers(PageNetwork.of(net).fields(), asked), strict=True):
        check(net, known, answer)


def test_what_is_impossible_among_labels_has_no_numbers() -> None:
    a, b, x = fn.Variable("a", ["0", "1"]), fn.Variable("b", ["0", "1"]), fn.Continuous("x")
    tables: dict[str, Any] = {
        "a": [1.0, 0.0],
        "b": [[0.5, 0.5], [0.5, 0.5]],
        "x": {"intercept": [0.0, 1.0], "coefficients": [[], []], "sd": [1.0, 1.0]},
    }
    net = fn.BayesianNetwork.from_tables([a, b, x], {"b": ["a"], "x": ["b"]}, tables)
    known: list[dict[str, Any]] = [{"seen": [(0, 1), (2, 0.3)], "done": []}, {"seen": [(2, 0.3)], "done": [(0, 1)]}]
    impossible, possible = answers(PageNetwork.of(net).fields(), known)
    assert impossible["logEvidence"] is None
    assert impossible["marginals"] is None
    assert impossible["states"] is None
    assert possible["marginals"][0] == [0, 1]


def test_numbers_that_depend_on_too_many_labels_are_left_out_with_their_names() -> None:
    labels = [fn.Variable(f"a{at}", range(4)) for at in range(11)]
    numbers = [fn.Continuous(f"x{at}") for at in range(11)]
    parents = {f"x{at}": [f"a{at}", *([f"x{at - 1}"] if at else [])] for at in range(11)}
    tables: dict[str, Any] = {label.name: [0.25] * 4 for label in labels}
    tables |= {f"x{at}": normal_table(np.random.default_rng(at), (4,), int(at > 0)) for at in range(11)}
    found = PageNetwork.of(fn.BayesianNetwork.from_tables([*labels, *numbers], parents, tables))
    assert found.inference is None
    assert "'x0'" in found.reason
    assert "4,194,304 configurations" in found.reason


def test_gaussian_markov_networks_have_no_page_of_answers() -> None:
    numbers = fn.BayesianNetwork.from_regressions(fn.Dag(["x", "y"], [(), (0,)]), [0, 0], [[], [0.5]], [1, 1])
    found = PageNetwork.of(numbers.to_markov_network())
    assert found.inference is None
    assert "Gaussian Markov network" in found.reason


def test_columns_that_others_determine_are_left_out_of_all_findings() -> None:
    """The network leaves them out, and so its terms have fewer columns than the table that is reported on."""
    rng = np.random.default_rng(1)
    a, b, c = rng.lognormal(3, 1, (3, 120))
    rows = {"a": a, "product": a * b, "b": b, "c": c + b}
    with pytest.warns(FishernetWarning, match="linear combination"):
        page = fn.report(fn.Table.from_frame(rows))
    assert "odd" not in page.left_out
    assert len(page.model.names) == 3
