"""Labels judged by networks of all other rows: beside fits without each row, and labels that were exchanged."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import SchemaError
from tests.tables import random_table


@pytest.mark.parametrize("smoothing", [1.0, 0.2, "snml"])
def test_each_row_is_judged_by_a_fit_without_it(smoothing: float | str) -> None:
    table = random_table(6, 60, [2, 3, 3, 2], dependence=0.7)
    arcs = [("v0", "v1"), ("v1", "v2"), ("v0", "v2"), ("v1", "v3")]
    dag = fn.Dag.from_edges(["v0", "v1", "v2", "v3"], arcs)
    net = fn.learn.parameters(dag, table, smoothing=smoothing)
    found = fn.explain.mislabelled(table, "v1", net=net)
    code = table.column("v1").astype(int)
    for row in range(0, 60, 9):
        rest = fn.learn.parameters(dag, table[[k for k in range(60) if k != row]], smoothing=smoothing)
        expected = rest.predict_proba(table[[row]], "v1")[0]
        np.testing.assert_allclose(found.probabilities[row], expected, rtol=1e-9)
        own = np.log(net.predict_proba(table[[row]], "v1")[0][code[row]]) - np.log(expected[code[row]])
        assert found.self_influence[row] == pytest.approx(own, rel=1e-7, abs=1e-12)


def test_exchanged_labels_come_first() -> None:
    table = fn.datasets.load("nursery").split(0.2, seed=1)[0]
    rng = np.random.default_rng(0)
    at = table.names.index("class")
    wrong = rng.choice(table.n_rows, 50, replace=False)
    columns = [np.array(column) for column in table.codes]
    r = table.variables[at].cardinality
    columns[at][wrong] = (columns[at][wrong] + rng.integers(1, r, 50)) % r
    spoiled = fn.Table(table.variables, columns)
    found = fn.explain.mislabelled(spoiled, "class")
    assert len(set(found.order[:50].tolist()) & set(wrong.tolist())) >= 42
    right = table["class"][wrong]
    assert np.mean(found.suggested[wrong] == right) > 0.8
    assert str(found).splitlines()[1].split() == ["row", "class", "probability", "rather"]
    assert found.to_frame().column_names[:3] == ["row", "probability", "suggested"]


def test_rows_without_a_label_are_judged_last() -> None:
    table = random_table(6, 80, [2, 3, 2], dependence=0.7)
    columns = [np.array(column) for column in table.codes]
    columns[1][:5] = 3
    found = fn.explain.mislabelled(fn.Table(table.variables, columns), "v1")
    assert set(found.order[-5:].tolist()) == set(range(5))
    assert np.isnan(found.own[:5]).all()
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)


def test_what_cannot_judge_labels_is_told() -> None:
    table = random_table(6, 80, [2, 3, 2], dependence=0.7)
    with pytest.raises(SchemaError, match="nobody"):
        fn.explain.mislabelled(table, "nobody")
    with pytest.raises(SchemaError, match="Bayesian network of labels"):
        fn.explain.mislabelled(table, "v1", net=fn.learn.dependency_network(table))


def test_missing_cells_are_states_or_summed_out() -> None:
    table = random_table(6, 300, [2, 3, 2], dependence=0.7)
    columns = [np.array(column) for column in table.codes]
    columns[0][::7] = 2
    lacking = fn.Table(table.variables, columns)
    found = fn.explain.mislabelled(lacking, "v1")
    states = [c if v else np.where(c == 2, 2, c) for v, c in enumerate(columns)]
    marked = fn.Table([fn.Variable("v0", [*table.variables[0].states, "no"]), *table.variables[1:]], states)
    np.testing.assert_allclose(found.probabilities, fn.explain.mislabelled(marked, "v1").probabilities)
    net = fn.learn.parameters(fn.Dag.from_edges(table.names, [("v1", "v0"), ("v1", "v2")]), lacking)
    judged = fn.explain.mislabelled(lacking, "v1", net=net)
    assert np.isnan(judged.self_influence[::7]).all()
    assert np.isfinite(judged.self_influence[1::7]).all()
    rest = net.predict_proba(lacking.select(["v0", "v2"])[::7], "v1")
    np.testing.assert_allclose(judged.probabilities[::7], rest, rtol=1e-9)


def test_a_row_that_is_impossible_whatever_its_label_is_named() -> None:
    table = fn.Table.from_frame({"a": ["x", "y"] * 4, "b": ["p", "q"] * 4})
    sure = fn.BayesianNetwork.from_tables(table.variables, {"a": ["b"]}, {"b": [0.5, 0.5], "a": [[1, 0], [1, 0]]})
    with pytest.warns(fn.FishernetWarning), pytest.raises(fn.ZeroProbabilityError, match="row 1"):
        fn.explain.mislabelled(table, "b", net=sure)
