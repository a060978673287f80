"""The rows behind an answer, held beside finite differences of fits, and beside fits without rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import (
    FishernetWarning,
    MissingValueError,
    SchemaError,
    UnknownStateError,
    ZeroProbabilityError,
)
from tests.tables import random_table

Fit = Callable[[fn.Table], Any]
Asked = dict[str, Any]


def answer(net: Any, asked: Asked) -> float:
    """Return the answer by the library's other functions."""
    if "log_prob" in asked:
        return float(np.mean(net.log_prob(asked["log_prob"])))
    given = asked.get("given")
    if "query" not in asked:
        return fn.infer.log_evidence(net, given)
    query, state = asked["query"], asked["state"]
    names = [query] if isinstance(query, str) else query
    if isinstance(state, tuple):
        found = net.query(query, given=given)
        return float(np.log(found[state[0]]) - np.log(found[state[1]]))
    states = dict(zip(names, [state] if isinstance(query, str) else state, strict=True))
    return fn.infer.log_evidence(net, {**(given or {}), **states}) - (fn.infer.log_evidence(net, given) if given else 0)


def slope(fit: Fit, table: fn.Table, asked: Asked, row: int, step: float = 1e-3) -> float:
    """Return the change of an answer by the weight of a row, by two fits."""
    weights = np.ones(table.n_rows) if table.weights is None else np.asarray(table.weights, dtype=float)
    sides = []
    for sign in (1, -1):
        moved = weights.copy()
        moved[row] += sign * step
        sides.append(answer(fit(table.reweighted(moved)), asked))
    return (sides[0] - sides[1]) / (2 * step)


DAG = fn.Dag.from_edges(["v0", "v1", "v2", "v3"], [("v0", "v1"), ("v0", "v2"), ("v1", "v3"), ("v2", "v3")])
ASKED: list[Asked] = [
    {"query": "v3", "state": "s0", "given": {"v0": "s1"}},
    {"query": "v0", "state": ("s0", "s1"), "given": {"v3": "s0", "v1": "s1"}},
    {"query": ["v1", "v2"], "state": ["s0", "s1"]},
    {"given": {"v3": "s1", "v2": "s0"}},
]
FITS: dict[str, dict[str, Any]] = {
    "laplace": {},
    "small": {"smoothing": 0.1},
    "snml": {"smoothing": "snml"},
    "zeros": {"smoothing": "zeros"},
    "ess": {"ess": 3.0},
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("fitting", FITS.values(), ids=FITS)
def test_a_row_does_what_a_little_of_its_weight_does(fitting: dict[str, Any], asked: Asked) -> None:
    table = random_table(1, 150, [2, 3, 2, 3], dependence=0.7)
    weights = np.random.default_rng(2).integers(1, 4, table.n_rows)
    for of in (table, table.reweighted(weights)):
        fit: Fit = lambda rows: fn.learn.parameters(DAG, rows, **fitting)  # noqa: E731
        net = fit(of)
        found = fn.explain.rows(net, of, **asked)
        assert found.answer == pytest.approx(answer(net, asked), rel=1e-12)
        for row in (0, 7, 42):
            assert found.values[row] == pytest.approx(slope(fit, of, asked, row), rel=2e-4, abs=1e-9)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    sizes=st.lists(st.integers(1, 4), min_size=4, max_size=4),
    fitting=st.sampled_from(list(FITS.values())[:3]),
)
def test_the_loss_of_rows_responds_as_refits_say(seed: int, sizes: list[int], fitting: dict[str, Any]) -> None:
    table = random_table(seed, 60, sizes, dependence=0.5)
    held_out = random_table(seed + 1, 5, sizes, dependence=0.5)
    asked: Asked = {"log_prob": held_out}
    fit: Fit = lambda rows: fn.learn.parameters(DAG, rows, **fitting)  # noqa: E731
    found = fn.explain.rows(fit(table), table, **asked)
    for row in (0, 31):
        assert found.values[row] == pytest.approx(slope(fit, table, asked, row), rel=1e-4, abs=1e-8)
    rest = [k for k in range(60) if k != 31]
    gone = found.answer - answer(fit(table[rest]), asked)
    assert found.exact(31)[0] == pytest.approx(gone, rel=1e-9, abs=1e-12)
    assert found.removals[31] == pytest.approx(gone, rel=1e-9, abs=1e-12)  # a sum of logarithms: exact
    assert found.without([31]).refitted == pytest.approx(found.answer - gone, rel=1e-9)


def test_rows_that_are_left_out_come_in_the_order_they_were_named_in() -> None:
    table = random_table(1, 40, [2, 3, 2, 2], dependence=0.7)
    found = fn.explain.rows(fn.learn.parameters(DAG, table), table, log_prob=table[:7])
    alone = [found.exact(row)[0] for row in (31, 2, 31, 0)]
    np.testing.assert_array_equal(found.exact([31, 2, 31, 0]), alone)
    assert len({round(value, 12) for value in alone}) > 1


def test_rows_are_left_out_of_the_learning_table_alone() -> None:
    table = random_table(1, 40, [2, 3, 2, 2], dependence=0.7)
    net = fn.learn.parameters(DAG, table)
    found = fn.explain.rows(net, random_table(2, 40, [2, 3, 2, 2]), log_prob=table[:7], n_rows=40)
    asked: list[Callable[[], Any]] = [lambda: found.exact(0), lambda: found.without([0]), found.smallest_set]
    for ask in asked:
        with pytest.raises(SchemaError, match="not learned from this table"):
            ask()
    assert all(np.isnan(group.without) and np.isfinite(group.influence) for group in found.by("v0"))


def test_removals_are_near_exact_ones() -> None:
    """95 % of rows within 5 %, where one row is much of its configuration."""
    table = fn.datasets.load("asia").sample(400, seed=3)
    net = fn.learn.bayesian_network(table)
    found = fn.explain.rows(net, table, query="lung", state="yes", given={"dysp": "yes", "smoke": "yes"})
    exact = found.exact(range(table.n_rows))
    some = np.abs(exact) > 1e-9
    off = np.abs(found.removals[some] / exact[some] - 1)
    assert np.quantile(off, 0.95) < 0.05
    assert np.abs(found.removals[~some]).max(initial=0) < 1e-8


def test_missing_cells_count_by_what_they_leave_open() -> None:
    table = random_table(4, 120, [2, 2, 3, 2], dependence=0.8)
    rng = np.random.default_rng(5)
    columns = []
    for variable, column in zip(table.variables, table.codes, strict=True):
        with_gaps = np.array(column)
        with_gaps[rng.random(len(column)) < 0.2] = variable.cardinality
        columns.append(with_gaps)
    gaps = fn.Table.adopt(table.variables, columns, n_rows=table.n_rows)
    start = fn.learn.parameters(DAG, table)
    fit: Fit = lambda rows: fn.learn.parameters(DAG, rows, start=start, tolerance=0, max_steps=1000)  # noqa: E731
    net = fit(gaps)
    asked: Asked = {"query": "v3", "state": "s0", "given": {"v0": "s1"}}
    found = fn.explain.rows(net, gaps, **asked)
    for row in (0, 3, 11):
        assert found.values[row] == pytest.approx(slope(fit, gaps, asked, row, 0.02), rel=5e-3, abs=1e-6)
    alone = found.exact([3])[0]
    assert found.removals[3] == pytest.approx(alone, rel=0.2)


def numbers_and_labels(n: int, seed: int = 0) -> fn.Table:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    age = rng.normal(45, 12, n)
    height = np.where(sex == "m", 178, 166) + rng.normal(0, 7, n)
    weight = height - 100 + 0.2 * age + rng.normal(0, 8, n)
    sick = np.where(rng.random(n) < np.where(sex == "m", 0.3, 0.6), "y", "n")
    dose = np.where(sick == "y", 5 + 0.1 * weight, 1 + 0.02 * weight) + rng.normal(0, 1, n)
    frame = {"sex": sex, "age": age, "height": height, "weight": weight, "sick": sick, "dose": dose}
    return fn.Table.from_frame({name: column.tolist() for name, column in frame.items()}, bins=None)


ARCS = [
    ("sex", "height"),
    ("height", "weight"),
    ("age", "weight"),
    ("sex", "sick"),
    ("sick", "dose"),
    ("weight", "dose"),
]
MIXED: list[Asked] = [
    {"query": "sick", "state": "y", "given": {"dose": 9.5, "weight": 80.0}},
    {"query": "dose", "state": 9.0, "given": {"height": 180.0, "sick": "y"}},
    {"given": {"dose": 8.0, "sex": "f"}},
]


@pytest.mark.parametrize("asked", MIXED)
def test_numbers_beside_labels(asked: Asked) -> None:
    """Also the rows that the fit adds to each configuration are followed."""
    table = numbers_and_labels(400)
    dag = fn.Dag.from_edges(table.names, ARCS)
    fit: Fit = lambda rows: fn.learn.parameters(dag, rows)  # noqa: E731
    found = fn.explain.rows(fit(table), table, **asked)
    for row in (0, 5, 200):
        assert found.values[row] == pytest.approx(slope(fit, table, asked, row), rel=5e-3, abs=1e-9)
    exact = found.exact(range(40))
    assert np.corrcoef(exact, found.removals[:40])[0, 1] > 0.99


def test_what_is_expected_of_a_number() -> None:
    """Beside the difference of two fits; of a regression alone in closed form."""
    table = numbers_and_labels(300).select(["age", "height", "weight"])
    dag = fn.Dag.from_edges(table.names, [("age", "weight"), ("height", "weight")])
    net = fn.learn.parameters(dag, table)
    found = fn.explain.rows(net, table, query="weight", given={"age": 60.0, "height": 170.0})
    y = np.asarray(table["weight"])
    z = np.column_stack([np.ones(300), table["age"], table["height"]])
    inverse = np.linalg.inv(z.T @ z)
    noise = y - z @ (inverse @ z.T @ y)
    expected = (np.array([1, 60.0, 170.0]) @ inverse @ z.T) * noise
    np.testing.assert_allclose(found.values, expected, rtol=1e-6, atol=1e-12)
    leverage = np.einsum("ni,ij,nj->n", z, inverse, z)
    np.testing.assert_allclose(found.removals, expected / (1 - leverage), rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found.exact(range(5)), (expected / (1 - leverage))[:5], rtol=1e-5)


@pytest.mark.parametrize("kind", ["tree", "merged"])
def test_shared_rows_of_probabilities(kind: Literal["tree", "merged"]) -> None:
    table = fn.datasets.load("nursery").split(0.15, seed=1)[0]
    net = fn.learn.bayesian_network(table, conditionals=kind)
    found = fn.explain.rows(net, table, query="class", state="priority", given={"health": "recommended"})
    np.testing.assert_allclose(found.removals[:20], found.exact(range(20)), rtol=0.02, atol=1e-7)


def test_a_dependency_network_by_its_conditionals() -> None:
    table = fn.datasets.load("nursery").split(0.15, seed=1)[0]
    net = fn.learn.dependency_network(table)
    rest = {name: table[name][3] for name in table.names if name != "class"}
    found = fn.explain.rows(net, table, query="class", given=rest)
    np.testing.assert_allclose(found.removals[:50], found.exact(range(50)), rtol=1e-9, atol=1e-12)
    of_rows = fn.explain.rows(net, table, log_prob=table[:20])
    assert of_rows.answer == pytest.approx(float(np.mean(net.pseudo_log_likelihood(table[:20]))), rel=1e-12)
    np.testing.assert_allclose(of_rows.removals[:20], of_rows.exact(range(20)), rtol=1e-9)
    with pytest.raises(SchemaError, match="depends on"):
        fn.explain.rows(net, table, query="class", given={})


def test_a_dependency_network_of_other_rows() -> None:
    table = fn.datasets.load("nursery").split(0.15, seed=1)[0]
    net = fn.learn.dependency_network(table)
    asked: Asked = {"log_prob": table[:20], "n_rows": table.n_rows}
    near, own = fn.explain.rows(net, table, **asked), fn.explain.rows(net, table, log_prob=table[:20])
    assert np.corrcoef(near.values, own.values)[0, 1] > 0.9
    holes = [np.array(column) for column in table.codes]
    holes[0][0] = table.variables[0].cardinality
    with pytest.raises(MissingValueError):
        fn.explain.rows(net, fn.Table(table.variables, holes), log_prob=table[:20])


@pytest.mark.parametrize("known", [{"dose": [1, 5]}, {"dose": (2, None)}, {"age": (3, None), "dose": [1, 2]}])
def test_what_is_known_may_be_several_states_or_a_range(known: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    dose = rng.choice([1, 2, 5], 200)
    age = rng.uniform(0, 10, 200) + (dose == 5)
    sick = np.where(rng.random(200) < 0.2 + 0.1 * (dose > 1) + 0.03 * age, "yes", "no")
    frame = {"dose": dose.tolist(), "age": age.tolist(), "sick": sick.tolist()}
    table = fn.Table.from_frame(frame, bins={"age": (2.0, 5.0)}, categorical=["dose"])
    dag = fn.Dag.from_edges(["dose", "age", "sick"], [("dose", "age"), ("dose", "sick"), ("age", "sick")])
    net = fn.learn.parameters(dag, table)
    found = fn.explain.rows(net, table, query="sick", state="yes", given=known)
    assert found.answer == pytest.approx(math.log(net.given(known).query("sick")["yes"]), rel=1e-10)
    evidence = fn.explain.rows(net, table, given=known)
    assert evidence.answer == pytest.approx(net.given(known).log_prob(), rel=1e-10)
    for row in (0, 40):
        sides = []
        for sign in (1, -1):
            weights = np.ones(200)
            weights[row] += sign * 1e-3
            moved = fn.learn.parameters(dag, table.reweighted(weights))
            sides.append(math.log(moved.given(known).query("sick")["yes"]))
        assert found.values[row] == pytest.approx((sides[0] - sides[1]) / 2e-3, rel=2e-4, abs=1e-9)


def test_ranges_of_numbers_have_no_rows() -> None:
    table = numbers_and_labels(100)
    net = fn.learn.parameters(fn.Dag.from_edges(table.names, ARCS), table)
    with pytest.raises(SchemaError, match="give one number"):
        fn.explain.rows(net, table, query="sick", given={"age": (40, None)})


def test_the_mutual_information_of_two_variables() -> None:
    table = random_table(8, 200, [2, 3, 2, 2], dependence=0.8)
    net = fn.learn.parameters(DAG, table)
    found = fn.explain.rows(net, table, query=["v1", "v2"], given={"v3": "s1"})
    joint = np.asarray(net.query(["v1", "v2"], given={"v3": "s1"}))
    alone = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    assert found.answer == pytest.approx(float((joint * np.log(joint / alone)).sum()), rel=1e-10)
    np.testing.assert_allclose(found.values[:10], found.exact(range(10)), rtol=0.1, atol=2e-5)


# ------------------------------------------------------------------------------------------------------------ groups


def test_groups_and_sets() -> None:
    table = fn.datasets.load("nursery").split(0.12, seed=1)[0]
    net = fn.learn.bayesian_network(table)
    found = fn.explain.rows(net, table, query="class", state="priority", given={"health": "recommended"})
    groups = found.by("parents")
    assert sum(group.n_rows for group in groups) == table.n_rows
    assert sum(group.influence for group in groups) == pytest.approx(found.values.sum(), abs=1e-9)
    for group in groups:
        rest = np.flatnonzero(table["parents"] != group.label)
        refit = fn.learn.parameters(net.dag, table[rest])
        expected = np.log(refit.query("class", given={"health": "recommended"})["priority"])
        assert group.without == pytest.approx(float(expected), rel=1e-9)
    clinic = ["a"] * 700 + ["b"] * (table.n_rows - 700)
    assert {(group.label, group.n_rows) for group in found.by(clinic)} == {("a", 700), ("b", table.n_rows - 700)}


def test_the_smallest_set_turns_the_answer_and_no_row_of_it_is_spare() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 300)
    y = np.where(rng.random(300) < 0.53, x, 1 - x)
    table = fn.Table.from_frame({"x": x.tolist(), "y": y.tolist()})
    net = fn.learn.parameters(fn.Dag.from_edges(["x", "y"], [("x", "y")]), table)
    state = 1 if net.query("y", given={"x": 1})[1] > 0.5 else 0
    found = fn.explain.rows(net, table, query="y", state=state, given={"x": 1}).smallest_set()
    n = np.array([np.sum((x == 1) & (y == k)) for k in (state, 1 - state)])
    assert found is not None
    assert len(found) == n[0] - n[1]  # removed ones are rows of the state that led, just so many
    assert (x[found.rows] == 1).all()
    assert (y[found.rows] == state).all()
    assert found.without <= 0 < found.answer
    few = fn.explain.rows(net, table, query="y", state=state, given={"x": 1}).smallest_set(most=len(found) - 1)
    assert few is None


# ------------------------------------------------------------------------------------------------------------ borders


def test_a_table_that_it_was_not_learned_from_is_told() -> None:
    rows = fn.datasets.load("asia")
    table, other = rows.sample(1000, seed=1), rows.sample(1000, seed=2)
    net = fn.learn.bayesian_network(table)
    asked: Asked = {"query": "lung", "state": "yes", "given": {"dysp": "yes"}}
    with pytest.warns(FishernetWarning, match="not those of these rows"):
        fn.explain.rows(net, other, **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = fn.explain.rows(net, table[list(reversed(range(1000)))], **asked)  # the order of rows does not matter
        said = fn.explain.rows(net, other, **asked, n_rows=1000)
        own = fn.explain.rows(net, table, **asked)
    np.testing.assert_allclose(back.values[::-1], own.values, rtol=1e-9, atol=1e-15)
    near = fn.explain.rows(net, table, **asked, n_rows=1000)
    assert np.corrcoef(near.values, own.values)[0, 1] > 0.9
    assert said.n_rows == 1000


def test_numbers_of_other_rows_are_told() -> None:
    table, other = (numbers_and_labels(200, seed).select(["age", "height", "weight"]) for seed in (1, 2))
    dag = fn.Dag.from_edges(table.names, [("age", "weight"), ("height", "weight")])
    net = fn.learn.parameters(dag, table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn.explain.rows(net, table, given={"weight": 70.0})
    with pytest.warns(FishernetWarning, match="not those of these rows"):
        fn.explain.rows(net, other, given={"weight": 70.0})


def test_a_row_that_alone_carries_a_state() -> None:
    table = fn.Table.from_frame({"a": ["x", "y", "x", "x"], "b": ["p", "q", "p", "p"]})
    net = fn.learn.parameters(fn.Dag.from_edges(["a", "b"], []), table, smoothing=0)
    found = fn.explain.rows(net, table, query="b", state="q")
    assert found.removals[1] == np.inf
    assert found.values[1] == pytest.approx((1 - 0.25) / 0.25 / 4)


def test_rows_of_weight_zero_have_a_value_and_take_nothing_away() -> None:
    table = random_table(3, 50, [2, 2, 2, 2], dependence=0.5)
    weights = np.ones(50)
    weights[:3] = 0
    of = table.reweighted(weights)
    found = fn.explain.rows(fn.learn.parameters(DAG, of), of, query="v3", state="s0", given={"v0": "s1"})
    np.testing.assert_allclose(found.exact([0, 1]), 0, atol=1e-12)
    assert np.isfinite(found.values).all()
    assert np.abs(found.values[:3]).max() > 0


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({}, SchemaError),
        ({"query": "nobody", "state": "s1"}, SchemaError),
        ({"query": "v0", "state": 99}, UnknownStateError),
        ({"query": "v0", "state": "s0", "given": {"v0": "s1"}}, SchemaError),
        ({"query": ["v0", "v1", "v2"]}, SchemaError),
        ({"query": ["v0", "v1"], "state": ["s0"]}, SchemaError),
        ({"query": "v0", "state": ("s0", "s1", "s0")}, SchemaError),
        ({"log_prob": [[0, 0, 0, 0]], "query": "v0"}, SchemaError),
    ],
)
def test_what_is_no_answer_is_told(asked: Asked, error: type[Exception]) -> None:
    table = random_table(3, 50, [2, 2, 2, 2], dependence=0.5)
    with pytest.raises(error):
        fn.explain.rows(fn.learn.parameters(DAG, table), table, **asked)


def test_what_is_impossible_has_no_rows_behind_it() -> None:
    table = fn.Table.from_frame({"a": ["x", "y"] * 5, "b": ["p", "q"] * 5})
    net = fn.learn.parameters(fn.Dag.from_edges(["a", "b"], [("a", "b")]), table, smoothing=0)
    with pytest.raises(ZeroProbabilityError):
        fn.explain.rows(net, table, query="b", state="q", given={"a": "x"})


def test_a_model_without_conditionals_is_refused() -> None:
    table = numbers_and_labels(100).select(["age", "height"])
    net = fn.learn.gaussian_network(table, fn.UndirectedGraph.from_edges(table.names, [("age", "height")]))
    with pytest.raises(SchemaError, match="takes Bayesian and dependency networks"):
        fn.explain.rows(net, table, given={"age": 40.0})


def test_it_shows_itself() -> None:
    table = fn.datasets.load("asia").sample(200, seed=1)
    found = fn.explain.rows(fn.learn.bayesian_network(table), table, query="lung", state="yes")
    frame = found.to_frame()
    assert frame.column_names[:2] == ["row", "influence"]
    assert frame["influence"].to_pylist() == sorted(found.values, reverse=True)
    assert str(found).count("\n") == 11
    assert "<table>" in found._repr_html_()
    assert repr(found) == f"Influence(log P(lung = yes) = {found.answer:.6g}, of 200 rows)"


def test_what_is_below_an_answer_has_nothing_to_do_with_it() -> None:
    """A number with eight labels below it: their states are neither gone through, nor do they change an influence."""
    random = np.random.default_rng(6)
    n, n_below = 400, 8
    labels = random.choice(["u", "v", "w"], n)
    z = random.normal(size=n)
    x = 0.5 * z + np.where(labels == "u", 2.0, 0.0) + random.normal(size=n)
    below = {
        f"k{i}": np.where(random.random(n) < 0.3, random.choice(list("abcdef"), n), labels) for i in range(n_below)
    }
    table = fn.Table.from_frame({"label": labels, "z": z, "x": x, **below})
    edges = [("label", "x"), ("z", "x")]
    few = fn.learn.parameters(fn.Dag.from_edges(["label", "z", "x"], edges), table.select(["label", "z", "x"]))
    many = fn.learn.parameters(fn.Dag.from_edges(table.names, [*edges, *(("label", name) for name in below)]), table)
    for query, known in (("x", None), ("x", {"label": "v"}), ("label", {"x": 1.0})):
        own, wide = (fn.explain.rows(net, table, query=query, given=known) for net in (few, many))
        assert wide.answer == pytest.approx(own.answer, abs=1e-12)
        np.testing.assert_allclose(wide.values, own.values, rtol=1e-9, atol=1e-12)


def test_the_mean_of_many_normal_components_is_derived_as_refits_say() -> None:
    random = np.random.default_rng(7)
    n = 600
    one, other = random.integers(0, 6, n), random.integers(0, 5, n)
    sd = np.exp(random.normal(size=(6, 5)) / 2)
    x = random.normal(size=(6, 5))[one, other] * 3 + sd[one, other] * random.normal(size=n)
    table = fn.Table.from_frame({"one": one.astype(str), "other": other.astype(str), "x": x})
    dag = fn.Dag.from_edges(["one", "other", "x"], [("one", "x"), ("other", "x"), ("one", "other")])
    found = fn.explain.rows(fn.learn.parameters(dag, table), table, query="x")
    step = 1e-4
    for row in (0, 17, 300):
        ends = [
            float(
                fn.learn.parameters(
                    dag, fn.Table(table.variables, table.codes, weights=1 + sign * step * (np.arange(n) == row))
                )
                .query("x")
                .mean
            )
            for sign in (1, -1)
        ]
        assert found.values[row] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-2, abs=1e-6)


def test_rows_of_which_nothing_is_known_hang_on_no_row() -> None:
    rng = np.random.default_rng(1)
    label = rng.choice(["p", "q"], 60)
    table = fn.Table.from_frame({"a": label, "x": rng.normal(size=60) + 2 * (label == "p")}, continuous=["x"])
    net = fn.learn.bayesian_network(table)
    nothing = fn.Table.from_frame({"a": [None, None], "x": [None, None]}, schema=net.variables)
    assert np.abs(fn.explain.rows(net, table, log_prob=nothing).values).max() == 0
