"""How data meet a model: columns by name and labels by value, a bare array by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fishernet as fn
from fishernet import Continuous, FishernetWarning, MissingValueError, SchemaError, Table, UnknownStateError, Variable
from fishernet.data.matching import as_numbers, as_rows, as_table
from tests.data.hostile import labels

MODEL = (Variable("a", [1, 0]), Variable("b", ["no", "yes"]), Continuous("x"))
CELLS: dict[str, list[Any]] = {"x": [0.5, 1.0, 7.0], "more": ["?", "!", "?"], "b": ["yes", "no", "no"], "a": [0, 1, 1]}


class OnlyArrow:
    """What has nothing but Arrow's interface for streams."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


MAKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "Table": Table.from_frame,
    "mapping": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "stream": OnlyArrow,
}


@pytest.fixture(params=sorted(MAKERS))
def make(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    return MAKERS[request.param]


def test_columns_are_found_by_name_and_labels_by_value(make: Callable[[dict[str, Any]], Any]) -> None:
    table = as_table(make(CELLS), MODEL)
    assert table.variables == MODEL
    assert labels(table) == {name: CELLS[name] for name in ("a", "b", "x")}
    assert table.column("a").tolist() == [1, 0, 0]


def test_what_lacks_or_is_unknown_is_said(make: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(SchemaError, match="'a'"):
        as_table(make({"b": ["no"], "x": [0.5]}), MODEL)
    with pytest.raises(
        UnknownStateError, match="column 'b', row 1: the label 'maybe' is not among the states 'no', 'yes'"
    ):
        as_table(make({**CELLS, "b": ["no", "maybe", "no"]}), MODEL)
    with pytest.raises(UnknownStateError, match="column 'x', row 0: numbers are needed, and the label 'tall' is none"):
        as_table(make({**CELLS, "x": ["tall", "1", "2"]}), MODEL)
    found = as_table(make({**CELLS, "b": ["no", "maybe", "no"]}), MODEL, unknown="missing")
    assert labels(found)["b"] == ["no", None, "no"]


def test_some_variables_may_not_be_needed(make: Callable[[dict[str, Any]], Any]) -> None:
    cells = {name: CELLS[name] for name in ("x", "a")}
    assert labels(as_table(make(cells), MODEL, without=["b"])) == {"a": [0, 1, 1], "x": [0.5, 1, 7]}


def test_missing_cells_stay_unless_rows_must_be_complete(make: Callable[[dict[str, Any]], Any]) -> None:
    gappy = {**CELLS, "x": [0.5, None, 7.0]}
    assert as_table(make(gappy), MODEL).missing_counts() == {"x": 1}
    with pytest.raises(MissingValueError, match=r"it needs a table without missing cells; missing in 'x' \(1\)"):
        as_table(make(gappy), MODEL, complete_for="it")


def test_arrays_are_read_by_position() -> None:
    codes = as_table(np.array([[0, 1], [1, 0]]), MODEL[:2])
    assert labels(codes) == {"a": [1, 0], "b": ["yes", "no"]}
    assert labels(as_table([[0, 1, 2.5]], MODEL)) == {"a": [1], "b": ["yes"], "x": [2.5]}
    assert labels(as_table(np.array([[0, 9, 2.5]]), MODEL, without=["b"])) == {"a": [1], "x": [2.5]}
    assert labels(as_table(np.array([[0, 9]]), MODEL[:2], without=["b"])) == {"a": [1]}
    with pytest.raises(SchemaError, match=r"must have shape \(n, 3\) here, got \(2, 2\)"):
        as_table(np.zeros((2, 2)), MODEL)
    with pytest.raises(SchemaError, match="codes of 'a' must be integers"):
        as_table(np.array([[0.5, 0, 1]]), MODEL)


# ------------------------------------------------------------------------------------------------------- in models


NET = fn.learn.parameters(
    fn.Dag.from_edges(["a", "b"], [("a", "b")]),
    Table.from_frame({"a": [1, 2, 2, 1, 2], "b": ["x", "y", "y", "x", "x"]}),
)


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["mapping", "pandas", "polars", "arrow"]
)
def test_a_frame_of_whole_numbers_holds_labels_not_codes(make: Any) -> None:
    """Its columns stand in another order than the model's, and 1 is the first state, not the second."""
    swapped = fn.learn.parameters(fn.Dag.from_edges(["a", "b"], []), Table.from_frame({"a": [1, 2, 2], "b": [0, 1, 0]}))
    frame = make({"b": [1, 0], "a": [1, 2]})
    table = Table.from_frame({"a": [1, 2], "b": [1, 0]})
    np.testing.assert_array_equal(swapped.log_prob(frame), swapped.log_prob(table))
    kernel = fn.kernels.FisherKernel(swapped)
    np.testing.assert_array_equal(kernel(frame), kernel(table))
    with pytest.raises(UnknownStateError, match="column 'a', row 0: the label 0 is not among the states 1, 2"):
        swapped.log_prob(make({"a": [0], "b": [1]}))


def test_every_use_of_a_network_takes_frames() -> None:
    frame = pd.DataFrame({"other": [0, 0], "b": ["y", "x"], "a": [2, 1]})
    table = Table.from_frame(frame).conform(NET.variables)
    for use in (
        NET.log_prob,
        NET.log_prob_terms,
        NET.fisher_scores,
        lambda data: NET.predict_proba(data, "b"),
        fn.kernels.FisherKernel(NET),
    ):
        np.testing.assert_array_equal(use(frame), use(table))
    np.testing.assert_array_equal(NET.predict_proba(frame[["a"]], "b"), NET.predict_proba(table, "b"))


def test_a_frame_of_numbers_meets_a_gaussian_model_by_name(make: Callable[[dict[str, Any]], Any]) -> None:
    net = fn.GaussianMarkovNetwork(["p", "q"], [0, 5], [[2, -1], [-1, 2]])
    data = make({"q": [1, 2, 3], "none": ["a", "b", "c"], "p": [0.5, 1.5, 2.5]})
    rows = np.array([[0.5, 1], [1.5, 2], [2.5, 3]])
    np.testing.assert_allclose(net.log_prob(data), net.log_prob(rows), rtol=1e-14)
    np.testing.assert_array_equal(as_rows(data, ["q", "p"], "it"), rows[:, ::-1])
    kernel = fn.kernels.FisherKernel(net)
    np.testing.assert_allclose(kernel(data), kernel(rows), rtol=1e-12)


# ----------------------------------------------------------------------------------------------------- of learners


def test_numbers_of_every_kind_of_data(make: Callable[[dict[str, Any]], Any]) -> None:
    columns = {"a": [1.5, 2.0, 4.0], "b": [3.5, 1.0, 2.0]}
    table = as_numbers(make(columns), purpose="it")
    assert table.variables == (Continuous("a"), Continuous("b"))
    np.testing.assert_array_equal(table.numbers, list(columns.values()))
    assert as_numbers(make(columns), ["b"], purpose="it").numbers.tolist() == [[3.5, 1, 2]]


def test_any_numbers_of_a_frame_are_numbers_and_a_table_says_what_it_holds() -> None:
    whole = {"a": [1, 2, 2], "b": pd.array([1, 3, 3], dtype="Int64")}
    assert as_numbers(whole, purpose="it").numbers.tolist() == [[1, 2, 2], [1, 3, 3]]
    with pytest.raises(SchemaError, match=r"it is for continuous columns, and 'a', 'b' are categorical.*as continuous"):
        as_numbers(Table.from_frame(whole), purpose="it")


def test_arrays_get_names() -> None:
    array = np.array([[1, 2], [3, 4], [5, 6]])
    assert as_numbers(array, purpose="it").names == ("v0", "v1")
    assert as_numbers(array, ["x", "y"], purpose="it").numbers.tolist() == [[1, 3, 5], [2, 4, 6]]
    array[:] = 0
    rows = as_rows(array, ["x", "y"], "it")
    assert not np.shares_memory(rows, array)


@pytest.mark.parametrize(
    ("X", "names", "message"),
    [
        (np.array([[1.0, np.inf]]), None, "'v1', row 0: inf"),
        (np.array([[1.0, 1e200]]), None, r"'v1', row 0: 1e\+200 cannot be used"),
        (
            np.array([[1.0, np.nan]]),
            None,
            r"without missing cells; missing in 'v1' \(1\); pass missing='drop' to leave",
        ),
        (np.array([[1.0, 2.0]]), ["a"], "1 name for 2 columns"),
        (np.array([[1.0, 2.0]]), ["a", "a"], "'a'"),
        (np.array([[1.0, 2.0]]), "ab", "not a str"),
        (np.arange(3.0), None, "two axes"),
        ({"a": [1.0], "b": ["x"]}, None, "'b' is not of numbers"),
        ({"a": [1.0], "b": ["1"]}, None, "'b' is not of numbers"),
        (pd.DataFrame({"a": ["x"]}), None, "'a' is not of numbers"),
        (pd.DataFrame({"a": pd.Categorical([1])}), None, "'a' is not of numbers"),
        (pd.DataFrame([[1.0, 2.0]]), None, "not int"),
        (pl.DataFrame({"a": [1.0, None]}), None, r"missing in 'a' \(1\)"),
        ({"a": [True, False]}, None, "'a' is not of numbers"),
        ({"a": [1.0, 2.0]}, ["a", "c"], "lacks the column 'c'"),
        ({"a": [1.0, 2.0], "b": [1.0]}, None, "column 'b' has 1 row"),
        ({}, None, "no columns"),
        (fn.Table.from_codes([[0], [1]]), None, "'v0' is categorical"),
    ],
)
def test_what_is_no_table_of_numbers(X: Any, names: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        as_numbers(X, names, purpose="it")


def test_learners_of_numbers_take_tables() -> None:
    noise = np.random.default_rng(2).normal(size=(300, 3))
    X = noise.cumsum(axis=1)
    table = Table.from_frame(dict(zip("abc", X.T, strict=True)))
    for learn in (fn.learn.gaussian_graph, lambda data, **o: fn.learn.markov_graph(data, test="fisher-z", **o)):
        assert learn(table).edges == learn(X, names=list("abc")).edges == (("a", "b"), ("b", "c"))
    graph = fn.learn.gaussian_graph(table)
    fitted = [
        fn.learn.gaussian_network(data, graph).precision for data in (table, X, pd.DataFrame(X, columns=list("abc")))
    ]
    np.testing.assert_array_equal(fitted[0], fitted[1])
    np.testing.assert_array_equal(fitted[0], fitted[2])
    assert fn.scores.fmpl(table, 1, [0]) == fn.scores.fmpl(X, 1, [0])
    net = fn.learn.bayesian_network(table, score="fractional")
    assert net == fn.learn.bayesian_network(dict(zip("abc", X.T, strict=True)), score="fractional")
    assert fn.score(net.dag, table, "fractional") == fn.score(net.dag, table.to_frame(), "fractional")


def test_weights_of_a_table_of_numbers_count_rows() -> None:
    x, y = np.random.default_rng(3).normal(size=(2, 20))
    weights = np.arange(20)
    table = Table([Continuous("x"), Continuous("y")], [x, y], weights=weights)
    repeated = np.repeat(np.stack([x, y], axis=1), weights, axis=0)
    ours, theirs = fn.data.Scatter.from_data(table), fn.data.Scatter.from_data(repeated)
    assert ours.n == 190
    np.testing.assert_allclose(ours.S, theirs.S, rtol=1e-12)
    with pytest.raises(SchemaError, match="leave the weights out"):
        fn.independence.KnnTest(table)


def test_learners_of_states_take_frames_and_cut_numbers() -> None:
    frame = pd.DataFrame({"a": [0, 1, 1, 0] * 9, "b": ["x", "y", "y", "x"] * 9})
    assert fn.learn.bayesian_network(frame) == fn.learn.bayesian_network(Table.from_frame(frame))
    mixed = frame.assign(c=np.linspace(0, 1, 36))
    with pytest.warns(FishernetWarning, match="numbers are cut into bins: 'c' .2."):
        found = fn.learn.dependency_network(mixed)
    assert found == fn.learn.dependency_network(Table.from_frame(mixed).discretize("auto"))
