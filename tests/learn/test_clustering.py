"""Clusters by a hidden class: classes found again, scores and posteriors by hand, and what marks a cluster."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.learn.clustering import _renumbered
from tests.networks import random_network, with_holes

Array = npt.NDArray[np.float64]
SHARES = [0.5, 0.3, 0.2]
YES = [[0.9, 0.1, 0.9, 0.1, 0.9, 0.1], [0.1, 0.1, 0.1, 0.9, 0.9, 0.9], [0.1, 0.9, 0.9, 0.9, 0.1, 0.1]]


def three_classes(n: int, *, missing: float = 0.0, linked: bool = False) -> tuple[fn.Table, npt.NDArray[np.int64]]:
    """Six answers that a class of three explains, and the class that the truth deems likeliest.

    If linked, q5 repeats q4 in every class.
    """
    variables = [fn.Variable(f"q{i}", ["no", "yes"]) for i in range(6)] + [fn.Variable("class", range(3))]
    parents = {f"q{i}": ["class"] for i in range(6)}
    tables: dict[str, Any] = {f"q{i}": [[1 - yes[i], yes[i]] for yes in YES] for i in range(6)} | {"class": SHARES}
    if linked:
        parents["q5"] = ["class", "q4"]
        tables["q5"] = [[[0.95, 0.05], [0.05, 0.95]]] * 3
    net = fn.BayesianNetwork.from_tables(variables, parents, tables)
    table = with_holes(net, n, 3, missing)
    seen = table.select([f"q{i}" for i in range(6)])
    return seen, np.asarray(net.predict(seen, "class"))


def posterior(found: fn.learn.Clusters, table: fn.Table) -> tuple[Array, float]:
    """The posterior of the cluster of each row of a mixture without arcs among columns, and the log-likelihood."""
    conditionals = {c.name: c.table() for c in found.model.conditionals}
    joint = np.tile(conditionals[found.name], (table.n_rows, 1))
    for variable, column in zip(table.variables, table.codes, strict=True):
        of = conditionals[variable.name]  # (n_clusters, r)
        known = column < variable.cardinality
        joint[known] *= of[:, column[known]].T
    w = np.ones(table.n_rows) if table.weights is None else table.weights
    return joint / joint.sum(axis=1, keepdims=True), float(w @ np.log(joint.sum(axis=1)))


# ------------------------------------------------------------------------------------------------ what is recovered


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_three_classes_are_found_again_and_are_three_by_bic(missing: float) -> None:
    table, truth = three_classes(6000, missing=missing)
    found = fn.learn.clusters(table, restarts=5, seed=1)
    assert found.n_clusters == 3
    assert list(found.scores) == [1, 2, 3, 4]
    assert found.scores[3] == max(found.scores.values())
    np.testing.assert_allclose(found.shares, SHARES, atol=0.04)
    for i in range(6):
        yes = found.model.conditional(f"q{i}").table()[:, 1]
        np.testing.assert_allclose(yes, [of[i] for of in YES], atol=0.06)
    assert (found.labels == truth).mean() > 0.98


def test_a_tree_takes_what_depends_within_the_clusters() -> None:
    """q5 repeats q4 in every class: without a tree that takes a further cluster or more."""
    table, _ = three_classes(6000, linked=True)
    tree = fn.learn.clusters(table, structure="tree", restarts=5, seed=1)
    assert tree.n_clusters == 3
    arcs = {frozenset(arc) for arc in tree.model.edges if tree.name not in arc}
    assert len(arcs) == 5
    assert frozenset({"q4", "q5"}) in arcs
    plain = fn.learn.clusters(table, restarts=5, seed=1)
    assert plain.n_clusters > 3
    assert tree.scores[3] > max(plain.scores.values())


def test_one_cluster_with_a_tree_is_that_of_chow_and_liu() -> None:
    table = random_network(4, [2, 3, 2, 2, 3]).sample(2000, seed=1)
    found = fn.learn.clusters(table, 1, structure="tree", smoothing=0)
    arcs = {frozenset(arc) for arc in found.model.edges if found.name not in arc}
    wanted = fn.learn.chow_liu(table)
    assert arcs == {frozenset(arc) for arc in wanted.edges}
    assert found.log_likelihood == pytest.approx(fn.score(wanted, table, "loglik"), rel=1e-9)


# ------------------------------------------------------------------------------------------------- numbers by hand


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.3]), st.integers(1, 4), st.booleans())
def test_posteriors_shares_and_bic_are_those_of_the_tables(seed: int, missing: float, k: int, weighted: bool) -> None:
    net = random_network(seed, [2, 3, 4])
    table = with_holes(net, 40, seed, missing)
    if weighted:
        weights = np.random.default_rng(seed).random(40) + 0.1
        table = fn.Table(table.variables, table.codes, weights=weights)
    found = fn.learn.clusters(table, k, restarts=2, seed=seed)
    wanted, log_likelihood = posterior(found, table)
    np.testing.assert_allclose(found.probabilities, wanted, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.shares, np.average(wanted, axis=0, weights=table.weights), rtol=1e-8)
    assert (np.diff(found.shares) <= 1e-8).all()
    parameters = (k - 1) + k * (1 + 2 + 3)
    assert found.log_likelihood == pytest.approx(log_likelihood, rel=1e-9)
    assert found.scores == {k: pytest.approx(log_likelihood - math.log(table.total) / 2 * parameters, rel=1e-9)}


def test_equal_rows_are_one_cluster_and_weights_are_rows() -> None:
    same = fn.Table.from_frame({"a": ["x"] * 20, "b": [1] * 20})
    assert fn.learn.clusters(same, seed=1).n_clusters == 1
    two = fn.learn.clusters(same, 2, seed=1)
    assert two.shares.sum() == pytest.approx(1)
    table, _ = three_classes(300)
    times = np.random.default_rng(0).integers(0, 4, 300)
    weighted = fn.Table(table.variables, table.codes, weights=times)
    repeated = fn.Table(table.variables, [np.repeat(column, times) for column in table.codes])
    by_weight, by_rows = (fn.learn.clusters(of, seed=2, tolerance=1e-11, max_steps=5000) for of in (weighted, repeated))
    assert by_weight.n_clusters == by_rows.n_clusters
    np.testing.assert_allclose(by_weight.shares, by_rows.shares, rtol=1e-4)
    np.testing.assert_allclose([*by_weight.scores.values()], [*by_rows.scores.values()], rtol=1e-6)


def test_numbers_do_not_depend_on_the_names_of_hidden_states() -> None:
    table, _ = three_classes(500)
    found = fn.learn.clusters(table, 3, seed=1)
    cluster = found.model.conditional(found.name)
    turned = [2, 0, 1]
    tables = {c.name: c.table()[turned] for c in found.model.conditionals if c.name != found.name}
    tables[found.name] = cluster.table()[turned]
    parents = {name: [found.name] for name in table.names}
    mixed = fn.BayesianNetwork.from_tables(found.model.variables, parents, tables)
    again = _renumbered(mixed, found.shares[turned])
    for one, other in zip(again.conditionals, found.model.conditionals, strict=True):
        np.testing.assert_array_equal(one.table(), other.table())


def test_the_same_seed_finds_the_same_clusters_with_the_number_given_or_not() -> None:
    table, _ = three_classes(800, missing=0.1)
    chosen = fn.learn.clusters(table, seed=7, restarts=3)
    given_number = fn.learn.clusters(table, chosen.n_clusters, seed=7, restarts=3)
    np.testing.assert_array_equal(chosen.probabilities, given_number.probabilities)
    assert chosen.seed == 7
    assert chosen.scores[chosen.n_clusters] == given_number.scores[chosen.n_clusters]


# --------------------------------------------------------------------------------------------------- what marks them


@pytest.mark.parametrize("structure", ["naive-bayes", "tree"])
def test_markers_are_states_that_are_likelier_than_elsewhere(structure: Any) -> None:
    """Against sums over the joint distribution of all variables, by the definitions."""
    table = random_network(3, [2, 3, 2]).sample(400, seed=1)
    found = fn.learn.clusters(table, 3, structure=structure, seed=1, restarts=2)
    joint = fn.infer.marginal(found.model, [*table.names, found.name])
    marks = found.markers().to_pylist()
    wanted = []
    for v, variable in enumerate(table.variables):
        pair = joint.sum(axis=tuple(axis for axis in range(3) if axis != v))  # (r, n_clusters)
        for c in range(3):
            for s, state in enumerate(variable.states):
                inside = pair[s, c] / pair[:, c].sum()
                outside = (pair[s].sum() - pair[s, c]) / (1 - pair[:, c].sum())
                if inside > outside:
                    told = pair[s, c] * math.log(inside / pair[s].sum())
                    wanted.append((c, variable.name, str(state), inside, outside, math.log(inside / outside), told))
    assert [mark["cluster"] for mark in marks] == sorted(mark["cluster"] for mark in marks)
    for c in range(3):
        told = [mark["information"] for mark in marks if mark["cluster"] == c]
        assert (np.diff(told) <= 1e-11).all()
    found_marks = sorted(tuple(mark.values()) for mark in marks)
    assert [mark[:3] for mark in found_marks] == [mark[:3] for mark in sorted(wanted)]
    np.testing.assert_allclose([m[3:] for m in found_marks], [m[3:] for m in sorted(wanted)], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("structure", ["naive-bayes", "tree"])
def test_a_profile_is_the_conditional_of_a_column_given_the_cluster(structure: Any) -> None:
    table = random_network(3, [2, 3, 2]).sample(400, seed=1)
    found = fn.learn.clusters(table, 3, structure=structure, seed=1, restarts=2)
    for name in table.names:
        for number in range(3):
            wanted = fn.infer.marginal(found.model, [name], given={found.name: number})
            np.testing.assert_allclose(found.profile(name)[number], wanted, rtol=1e-9)
    with pytest.raises(SchemaError, match="no column 'cluster'"):
        found.profile("cluster")


def test_the_first_markers_tell_the_classes_apart() -> None:
    table, _ = three_classes(4000)
    marks = fn.learn.clusters(table, 3, seed=1).markers(2).to_pylist()
    assert [mark["cluster"] for mark in marks] == [0, 0, 1, 1, 2, 2]
    assert {(mark["variable"], mark["state"]) for mark in marks[:2]} == {("q0", "yes"), ("q3", "no")}
    assert {(mark["variable"], mark["state"]) for mark in marks[2:4]} == {("q5", "yes"), ("q2", "no")}
    assert {(mark["variable"], mark["state"]) for mark in marks[4:]} == {("q1", "yes"), ("q4", "no")}


def test_new_rows_are_assigned_in_the_kind_of_frame_that_asks() -> None:
    table, _ = three_classes(1000)
    found = fn.learn.clusters(table, 3, seed=1)
    np.testing.assert_allclose(found.predict_proba(table), found.probabilities, rtol=1e-12)
    np.testing.assert_array_equal(found.predict(table), found.labels)
    frame = table.to_pandas()[:5]
    assert found.predict(frame).tolist() == found.labels[:5].tolist()
    few = {f"q{i}": [None] for i in range(6)}
    np.testing.assert_allclose(
        np.array(found.predict_proba(fn.Table.from_frame(few, schema=table.variables)))[0],
        found.model.conditional(found.name).probabilities[0],
    )


# -------------------------------------------------------------------------------------------------------- odd input


def test_odd_tables_have_clusters_too() -> None:
    one_column = fn.Table.from_frame({"a": ["x", "y", "y", "z"] * 10})
    assert fn.learn.clusters(one_column, seed=1).n_clusters == 1  # a column alone is independent already
    assert fn.learn.clusters(one_column, structure="tree", seed=1).n_clusters == 1
    one_row = fn.learn.clusters(fn.Table.from_frame({"a": ["x"], "b": [2]}), seed=1)
    assert (one_row.n_clusters, one_row.labels.tolist(), one_row.markers().num_rows) == (1, [0], 0)
    taken = fn.learn.clusters({"cluster": ["x", "y"] * 10, "cluster_": ["x", "y"] * 10}, seed=1)
    assert taken.name == "cluster__"
    assert taken.n_clusters == 2
    holes = fn.learn.clusters({"a": ["x", None, "y", None] * 5, "b": ["u", None, "v", "u"] * 5}, 2, seed=1)
    np.testing.assert_allclose(holes.probabilities[1], holes.model.conditional("cluster").probabilities[0], rtol=1e-9)


def test_the_frame_has_a_row_a_row() -> None:
    table, _ = three_classes(50)
    found = fn.learn.clusters(table, 2, seed=1)
    frame = found.to_frame()
    assert frame["cluster"].to_pylist() == found.labels.tolist()
    assert frame["probability"].to_pylist() == found.probabilities.max(axis=1).tolist()
    with pytest.raises(ValueError, match="read-only"):
        found.probabilities[0] = 0


NEVER = fn.Table([fn.Variable("a", ["x"])], [np.array([1, 1], dtype=np.uint8)])
TWO = {"a": ["x", "y"], "b": ["u", "v"]}


@pytest.mark.parametrize(
    ("data", "asked", "error", "match"),
    [
        (fn.Table([], []), {}, SchemaError, "columns"),
        (fn.Table.from_frame(TWO)[[]], {}, SchemaError, "needs rows"),
        (fn.Table.from_frame(TWO | {"w": [0, 0]}, weights="w"), {}, SchemaError, "needs rows"),
        (
            fn.Table([fn.Variable("a", ["x"])], [np.array([1, 1], dtype=np.uint8)]),
            {},
            SchemaError,
            "'a' is without any",
        ),
        (TWO, {"n_clusters": 3}, FishernetError, "n_clusters must be an integer from 1 to 2"),
        (TWO, {"n_clusters": 0}, FishernetError, "n_clusters"),
        (TWO, {"most": 0}, FishernetError, "most"),
        (TWO, {"restarts": 0}, FishernetError, "restarts"),
        (TWO, {"smoothing": -1}, FishernetError, "smoothing"),
        (TWO, {"max_steps": 0}, FishernetError, "max_steps"),
        (TWO, {"tolerance": float("nan")}, FishernetError, "tolerance"),
        (TWO, {"structure": "forest"}, FishernetError, "unknown structure 'forest'"),
        (TWO, {"seed": -1}, FishernetError, "seed"),
        (["x"], {}, SchemaError, "needs a Table or a data frame"),
    ],
)
def test_bad_input_is_refused(data: Any, asked: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        fn.learn.clusters(data, **asked)
