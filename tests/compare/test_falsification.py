"""What a graph does not say: independences that do not hold are found, others are not, and bad input is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency

import fishernet as fn
from fishernet.base.errors import SchemaError
from fishernet.compare.conditionals.state_tests import bound_without_draws
from tests.networks import with_holes

ASIA = fn.datasets.load("asia")
ROWS = ASIA.sample(1000, seed=1)
falsify = fn.compare.falsify


def without(*arcs: tuple[str, str]) -> fn.Dag:
    return fn.Dag.from_edges(ASIA.names, [arc for arc in ASIA.dag.edges if arc not in arcs])


def test_each_pair_that_is_not_joined_is_tested_once_given_the_parents_of_the_second() -> None:
    found = falsify(ASIA, ROWS)
    pairs = {frozenset((one.first, one.second)) for one in found.independences}
    joined = {frozenset(arc) for arc in ASIA.dag.edges}
    assert len(found.independences) == len(pairs) == 8 * 7 // 2 - len(joined)
    assert not pairs & joined
    for one in found.independences:
        assert one.given == tuple(sorted(ASIA.parents(one.second)))
        assert one.second not in ASIA.dag.ancestors(one.first)
    assert found.untested == ()


def test_the_bound_without_draws_is_a_p_value() -> None:
    """Over all orders of seven rows' groups, one over the bound is at most 1 in the mean (Markov's inequality)."""
    states, configurations = np.array([0, 0, 1, 1, 2, 0, 1]), np.array([0, 0, 0, 0, 1, 1, 1])
    found = []
    for groups in set(itertools.permutations([0, 0, 0, 1, 1, 2, 2])):
        counts = np.zeros((3, 2, 3))
        np.add.at(counts, (np.array(groups), configurations, states), 1)
        found.append(bound_without_draws(counts))
    assert min(found) < 1
    for level in np.unique(found)[:-1]:
        assert np.mean(np.array(found) <= level) <= level
    assert bound_without_draws(np.eye(3)[:, None] * 200) < 1e-60


def test_what_is_certain_without_draws_is_as_certain_with_them() -> None:
    found = falsify(without(("either", "xray")), ASIA.sample(20_000, seed=2))
    pair = next(one for one in found.independences if {one.first, one.second} == {"either", "xray"})
    assert pair.p_value < 1e-9
    assert {pair.first, pair.second} == {found.pairs()[0].first, found.pairs()[0].second}


def test_an_arc_that_is_missing_is_found() -> None:
    found = falsify(without(("bronc", "dysp")), ROWS)
    assert [{one.first, one.second} for one in found.pairs()][:1] == [{"bronc", "dysp"}]
    assert found.pairs()[0].p_corrected <= 0.05
    assert "bronc" in repr(found)
    assert found.to_frame().column_names == ["first", "second", "nats", "p_value", "p_corrected", "given"]


def test_the_true_graph_is_seldom_accused() -> None:
    accused = sum(bool(falsify(ASIA, ASIA.sample(300, seed=s), permutations=99).pairs()) for s in range(60))
    assert accused <= binom.ppf(0.9999, 60, 0.05)


def rated(seed: int, correlation: float, words: str = "") -> fn.Table:
    """Return 200 rows of two ratings from 0 to 8, or of words that stand for them, in an order that says nothing."""
    random = np.random.default_rng(seed)
    both = random.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], 200)
    ratings = (2 * both + 4).round().clip(0, 8).astype(int).T
    return fn.Table.from_frame(
        {name: np.array(list(words))[x] if words else x for name, x in zip("ab", ratings, strict=True)}
    )


def found_among_ratings(correlation: float, words: str = "") -> int:
    tables = [rated(seed, correlation, words) for seed in range(60)]
    return sum(bool(falsify(fn.Dag.from_edges(["a", "b"], []), table, permutations=99).pairs()) for table in tables)


def test_a_weak_trend_of_ordered_states_is_found_and_none_is_where_there_is_none() -> None:
    """A correlation of 0.25 of 200 rows is found in 94 % of tables by the correlation, in few by all cells alike."""
    assert found_among_ratings(0.25) >= binom.ppf(0.0001, 60, 0.8)
    assert found_among_ratings(0.25, "hcaxbqtfz") <= binom.ppf(0.9999, 60, 0.4)
    assert found_among_ratings(0) <= binom.ppf(0.9999, 60, 0.05)


def test_nats_are_the_mutual_information_less_what_chance_adds() -> None:
    rows = fn.Table.from_frame({"a": ["x", "y"] * 50, "b": ["u"] * 30 + ["v", "u"] * 35})
    (one,) = falsify(fn.Dag.from_edges(["a", "b"], []), rows).independences
    a, b = rows.codes
    table = np.array([[np.sum((a == i) & (b == j)) for j in range(2)] for i in range(2)])
    g = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert one.nats == pytest.approx(max(g / 2 - 0.5, 0) / 100)


def test_missing_cells_and_numbers_are_taken() -> None:
    found = falsify(without(("bronc", "dysp")), with_holes(ASIA, 1000, 3, 0.2))
    assert {found.pairs()[0].first, found.pairs()[0].second} == {"bronc", "dysp"}
    random = np.random.default_rng(1)
    x = random.normal(size=500)
    numbers = {"x": x, "y": x + random.normal(size=500), "z": random.normal(size=500)}
    pairs = falsify(fn.Dag.from_edges(["x", "y", "z"], []), numbers).pairs()
    assert {pairs[0].first, pairs[0].second} == {"x", "y"}


def test_the_answer_is_the_same_for_every_order_of_columns() -> None:
    found = falsify(without(("either", "xray")), ROWS)
    assert falsify(without(("either", "xray")), ROWS.select(ROWS.names[::-1])).independences == found.independences


def test_few_rows_tell_nothing() -> None:
    for rows in (ROWS[:1], ROWS[:0]):
        found = falsify(ASIA, rows)
        assert found.pairs() == ()
        assert all(np.isnan(one.p_value) for one in found.independences)


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "a column": (ASIA, ROWS.select(["asia", "tub"]), "the table lacks 'smoke', 'lung', 'bronc'"),
    "no direction": (fn.UndirectedGraph.from_edges(ASIA.names, []), ROWS, "graph must be a BayesianNetwork or a Dag"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused(name: str) -> None:
    graph, table, message = REFUSED[name]
    with pytest.raises(SchemaError, match=message):
        falsify(graph, table)


# -------------------------------------------------------------------------------------------- given numbers


def numbers_and_a_label(n: int, seed: int) -> dict[str, Any]:
    """Return a label above a number z, and x and y below z, whose spread it changes: given z they are independent."""
    random = np.random.default_rng(seed)
    label = random.integers(0, 3, n)
    z = np.array([-1.0, 0.0, 1.5])[label] + random.normal(size=n)
    x, y = (z + np.exp(0.3 * z) * random.normal(size=n) for _ in range(2))
    return {"label": np.array(["a", "b", "c"])[label], "x": x, "y": y, "z": z}


BELOW_Z = fn.Dag.from_edges(["label", "x", "y", "z"], [("label", "z"), ("z", "x"), ("z", "y")])


@pytest.mark.parametrize("n", [30, 300, 3000])
def test_children_of_a_number_are_not_accused(n: int) -> None:
    """In bins of z, x and y would still vary together: they were accused in most tables of so many rows."""
    accused = sum(bool(falsify(BELOW_Z, numbers_and_a_label(n, seed)).pairs()) for seed in range(60))
    assert accused <= binom.ppf(0.9999, 60, 0.05)


@pytest.mark.parametrize("what", ["line", "square", "spread", "label"])
def test_what_depends_beside_a_number_is_found(what: str) -> None:
    found = 0
    for seed in range(20):
        rows = numbers_and_a_label(1000, seed)
        rest = rows["y"] - rows["z"]
        noise = (rows["x"] - rows["z"]) / np.exp(0.3 * rows["z"])
        rows["y"] = {
            "line": rows["y"] + 0.5 * noise,
            "square": rows["y"] + 0.4 * noise**2,
            "spread": rows["z"] + rest * np.exp(0.4 * noise),
            "label": rows["y"] + 0.8 * (rows["label"] == "b"),
        }[what]
        pairs = [{one.first, one.second} for one in falsify(BELOW_Z, rows).pairs()]
        found += {"label" if what == "label" else "x", "y"} in pairs
    assert found >= 18


def test_nats_given_a_number_are_those_of_a_partial_correlation() -> None:
    random = np.random.default_rng(4)
    n = 20_000
    z = random.normal(size=n)
    x = z + random.normal(size=n)
    y = z + 0.5 * (x - z) + random.normal(size=n)
    graph = fn.Dag.from_edges(["x", "y", "z"], [("z", "x"), ("z", "y")])
    (one,) = falsify(graph, {"x": x, "y": y, "z": z}).independences
    correlation = 0.5 / np.sqrt(1.25)
    assert one.nats == pytest.approx(-0.5 * np.log1p(-(correlation**2)), rel=0.05)


AWKWARD: dict[str, Any] = {
    "a copy": lambda rows: {"x": 3 * rows["z"] + 1e9},
    "a constant": lambda rows: {"x": np.ones(len(rows["z"]))},
    "no complete row": lambda rows: {
        "x": np.where(np.arange(len(rows["x"])) % 2, np.nan, rows["x"]),
        "y": np.where(np.arange(len(rows["y"])) % 2, rows["y"], np.nan),
    },
    "many labels": lambda rows: {"label": np.array([f"{i % 40:02}" for i in range(len(rows["label"]))])},
}


@pytest.mark.parametrize("what", AWKWARD)
def test_awkward_columns_given_a_number_accuse_nobody(what: str) -> None:
    rows = numbers_and_a_label(2000, 1)
    assert falsify(BELOW_Z, rows | AWKWARD[what](rows)).pairs() == ()


@pytest.mark.parametrize("n", [0, 1, 4])
def test_few_rows_given_a_number_tell_nothing(n: int) -> None:
    assert falsify(BELOW_Z, fn.Table.from_frame(numbers_and_a_label(100, 1))[:n]).pairs() == ()


def many_labels(seed: int, strength: float) -> dict[str, Any]:
    """Return forty thousand rows of a number, one below it, and twenty labels that tell of it less exactly."""
    random = np.random.default_rng(seed)
    z = random.normal(size=40_000)
    label = np.clip(np.round(4 * (z + random.normal(size=len(z)))) + 10, 0, 19).astype(int)
    x = z + random.normal(size=len(z)) + strength * (label % 2)
    return {"label": np.array([f"{k:02}" for k in label]), "x": x, "z": z}


def test_many_labels_of_many_rows_are_fitted_on_some_of_these() -> None:
    graph = fn.Dag.from_edges(["label", "x", "z"], [("label", "z"), ("z", "x")])
    accused = sum(bool(falsify(graph, many_labels(seed, 0.0)).pairs()) for seed in range(10))
    assert accused <= 3
    assert all(falsify(graph, many_labels(seed, 0.5)).pairs() for seed in range(3))


def test_whole_weights_are_repeated_rows_given_numbers_too() -> None:
    random = np.random.default_rng(4)
    times = random.integers(1, 4, 200)
    a, noise = random.normal(size=(2, 200))
    frame = {"a": a, "b": a + noise, "label": np.where(noise > 0.5, "u", "v"), "c": random.normal(size=200)}
    dag = fn.Dag.from_edges(list(frame), [("a", "b"), ("a", "c"), ("b", "c")])
    repeated = {name: np.repeat(column, times) for name, column in frame.items()}
    weighted = fn.Table.from_frame({**frame, "n": times}, weights="n", weight_kind="counts")
    one, other = (fn.compare.falsify(dag, rows, seed=1).to_frame() for rows in (weighted, repeated))
    assert one.select(["first", "second"]) == other.select(["first", "second"])
    for column in ("nats", "p_value"):
        assert one[column].to_pylist() == pytest.approx(other[column].to_pylist(), rel=1e-9)


def test_weights_of_billions_are_not_made_into_rows() -> None:
    random = np.random.default_rng(5)
    a, b, c = random.normal(size=(3, 300))
    rows = fn.Table.from_frame({"a": a, "b": a + b, "c": c, "n": [10**10] * 300}, weights="n", weight_kind="counts")
    dag = fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("a", "c")])
    assert len(fn.compare.falsify(dag, rows, seed=1).independences) == 1
