"""Predictions: without the target's column, with gaps, and in the kind of frame that asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.models import ConditionalGaussian
from tests.reference.gaussians import bayesian_networks, markov_networks, random_bayesian_network

ASIA = fn.datasets.load("asia")
ROWS = ASIA.sample(12, seed=3)
OTHERS = [name for name in ASIA.names if name != "lung"]
LABELS = {name: ROWS[name].tolist() for name in OTHERS}
INDEX = pd.Index([f"p{i}" for i in range(12)], name="patient")


def with_gaps() -> dict[str, list[Any]]:
    return {
        name: [None if (row + v) % 5 == 0 else x for row, x in enumerate(LABELS[name])] for v, name in enumerate(LABELS)
    }


def expected(columns: dict[str, list[Any]]) -> Any:
    """Row by row, by a query."""
    known = [{n: x[row] for n, x in columns.items() if x[row] is not None} for row in range(12)]
    return np.array([ASIA.query("lung", given=said).array for said in known])


KINDS = {
    "mapping": lambda columns: columns,
    "Table": lambda columns: fn.Table.from_frame(columns, schema=[v for v in ASIA.variables if v.name != "lung"]),
    "pandas": lambda columns: pd.DataFrame(columns, index=INDEX)[OTHERS[::-1]],
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [LABELS, with_gaps()], ids=["complete", "gaps"])
def test_the_target_may_lack_and_gaps_are_summed_out_in_every_kind_of_data(kind: str, columns: Any) -> None:
    data, truth = KINDS[kind](columns), expected(columns)
    for found in (ASIA.predict_proba(data, "lung"), fn.infer.predict_proba(ASIA, data, "lung")):
        np.testing.assert_allclose(np.asarray(found if kind != "pyarrow" else found.to_pandas()), truth, rtol=1e-10)
    states = ASIA.variables[ASIA.names.index("lung")].states
    labels = [states[code] for code in truth.argmax(axis=1)]
    predicted = ASIA.predict(data, "lung")
    assert (predicted.to_list() if kind == "polars" else predicted.tolist()) == labels


def test_pandas_is_answered_with_its_index() -> None:
    frame = KINDS["pandas"](LABELS)
    found = ASIA.predict(frame, "lung")
    assert isinstance(found, pd.Series)
    assert (found.name, found.index.equals(INDEX)) == ("lung", True)
    table = ASIA.predict_proba(frame, "lung")
    assert isinstance(table, pd.DataFrame)
    assert (table.columns.tolist(), table.index.equals(INDEX)) == (["yes", "no"], True)
    assert frame.join(table).shape == (12, 9)


def test_polars_and_pyarrow_are_answered_in_kind() -> None:
    found, table = (ASIA.predict(pl.DataFrame(LABELS), "lung"), ASIA.predict_proba(pl.DataFrame(LABELS), "lung"))
    assert isinstance(found, pl.Series)
    assert isinstance(table, pl.DataFrame)
    assert (found.name, table.columns) == ("lung", ["yes", "no"])
    for frame in (pa.table(LABELS), pa.table(LABELS).to_batches()[0]):
        assert isinstance(ASIA.predict(frame, "lung"), pa.Array)
        assert ASIA.predict_proba(frame, "lung").column_names == ["yes", "no"]


@pytest.mark.parametrize("data", [LABELS, KINDS["Table"](LABELS), ROWS, np.stack(ROWS.codes, axis=1)])
def test_all_else_is_answered_with_arrays(data: Any) -> None:
    assert type(ASIA.predict(data, "lung")) is type(ASIA.predict_proba(data, "lung")) is np.ndarray


def test_labels_keep_their_types() -> None:
    x = fn.Variable("x", [1, "1", True + 1, 2.5])
    net = fn.BayesianNetwork.from_tables([x, fn.Variable("y", ["a"])], {}, {"x": [0.1, 0.2, 0.3, 0.4], "y": [1.0]})
    frame = pd.DataFrame({"y": ["a"]})
    assert net.predict(frame, "x").tolist() == [2.5]
    assert net.predict_proba(frame, "x").columns.tolist() == [1, "1", 2, 2.5]
    assert net.predict_proba(pl.from_pandas(frame), "x").columns == ["1", "1_", "2", "2.5"]
    whole = fn.BayesianNetwork.from_tables(
        [fn.Variable("x", [10, 20]), fn.Variable("y", ["a"])], {}, {"x": [0.25, 0.75], "y": [1.0]}
    )
    assert whole.predict(frame, "x").dtype == np.int64
    assert whole.predict(pl.from_pandas(frame), "x").to_list() == [20]


def test_unknown_labels_are_refused_or_summed_out() -> None:
    strange = {**LABELS, "xray": ["?!"] * 12}
    with pytest.raises(fn.UnknownStateError, match="'xray', row 0: the label '\\?!'"):
        ASIA.predict(strange, "lung")
    unknown = {**LABELS, "xray": [None] * 12}
    found = ASIA.predict_proba(strange, "lung", unknown="missing")
    np.testing.assert_array_equal(found, ASIA.predict_proba(unknown, "lung"))


# ---------------------------------------------------------------------------------------------------------- of numbers


SEVERAL = st.one_of(markov_networks, bayesian_networks).filter(lambda net: len(net.names) > 1)


@given(SEVERAL, st.integers(0, 2**32))
def test_gaps_in_numbers_are_integrated_out(net: Any, seed: int) -> None:
    """Row by row, by a query."""
    random = np.random.default_rng(seed)
    d = len(net.names)
    scale = np.sqrt(np.diagonal(np.linalg.inv(net.precision)))
    X = net.mean + scale * random.normal(size=(6, d))
    X[random.random(X.shape) < 0.4] = np.nan
    target = net.names[int(random.integers(d))]
    frame = pd.DataFrame(X, columns=list(net.names)).drop(columns=target)
    found = net.predict(frame, target)
    assert isinstance(found, pd.Series)
    known = [{n: x for n, x in row.items() if n in net.names and x == x} for row in frame.to_dict("records")]
    wanted = [net.query(target, given=said).mean[0] for said in known]
    at = net.names.index(target)
    np.testing.assert_allclose(
        (found - net.mean[at]) / scale[at], (np.array(wanted) - net.mean[at]) / scale[at], atol=1e-7
    )
    if hasattr(net, "dag"):
        np.testing.assert_array_equal(net.predict(X, target), found)
        np.testing.assert_array_equal(net.predict({n: X[:, v] for v, n in enumerate(net.names)}, target), found)


def test_numbers_are_answered_in_kind() -> None:
    net = random_bayesian_network(2, 3)
    frame = pd.DataFrame({name: [1.0, 2.0] for name in net.names[:2]}, index=["r", "s"])
    array = net.predict(frame.to_dict("list"), "x2")
    assert type(array) is np.ndarray
    series = net.predict(frame, "x2")
    assert (series.name, series.index.tolist(), series.tolist()) == ("x2", ["r", "s"], array.tolist())
    assert net.predict(pl.from_pandas(frame), "x2").to_list() == array.tolist()
    assert net.predict(pa.Table.from_pandas(frame), "x2").to_pylist() == array.tolist()
    markov = net.to_markov_network()
    both = markov.predict(frame[["x0"]], ["x2", "x1"], given=["x0"])
    assert (both.columns.tolist(), both.index.tolist()) == (["x2", "x1"], ["r", "s"])
    assert markov.predict(frame, "x2").name == "x2"
    np.testing.assert_allclose(markov.predict(frame, "x2"), array)
    assert markov.predict(frame.to_numpy(), "x2").shape == (2, 1)


def test_infinite_numbers_are_refused() -> None:
    net = random_bayesian_network(2, 3)
    with pytest.raises(fn.SchemaError, match="'x1', row 1: inf cannot be used"):
        net.predict({"x0": [np.nan, 1.0], "x1": [np.nan, np.inf]}, "x2")


def test_dates_are_predicted_as_dates_and_given_as_such() -> None:
    day, y = fn.Continuous("day", "days"), fn.Continuous("y")
    conditionals = [
        ConditionalGaussian(0, [], [day], 18714.0, [], 2.0),
        ConditionalGaussian(1, [0], [day, y], 0.0, [1.0], 1.0),
    ]
    net = fn.BayesianNetwork([day, y], conditionals)
    moved = np.datetime64("2021-03-28") + 4  # of five days further on, four fifths are the day's
    assert net.predict(pd.DataFrame({"y": [18714.0, 18719.0]}), "day").tolist() == [
        pd.Timestamp("2021-03-28"),
        pd.Timestamp(moved),
    ]
    assert net.query("y", given={"day": "2021-03-28"}).mean.tolist() == [18714.0]
