"""A model that comes back from another program with other signs in its names meets the table it was learned from."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from fishernet import FishernetWarning, SchemaError, Table, UnknownStateError, Variable
from fishernet.data.encoding.alike import places_of, with_cuts
from fishernet.data.matching import as_table
from tests.cli.running import good

NAMES = {"letter": "letter", "x-box": "Box, from left (mm)", "y-box": "y box", "width": "Breite %", "high": "1st high"}


@pytest.fixture(scope="module")
def numbers() -> pd.DataFrame:
    """Letters, of which the numbers get fractions and the names blanks and brackets."""
    frame = fn.datasets.load("letter")[:1000].to_pandas()
    chosen = pd.DataFrame({new: frame[old] for old, new in zip(frame.columns, NAMES.values(), strict=False)})
    for place, name in enumerate(list(NAMES.values())[1:]):
        chosen[name] = chosen[name].astype(float) * [0.5, -1.25, 1.0, 2.75][place] + np.arange(1000) % 7 / 16
    chosen["vowel"] = chosen["letter"].isin(list("AEIOU"))
    chosen["few"] = np.arange(1000) % 3
    chosen["kind"] = np.where(chosen["vowel"], "it's a vowel", "other letter")
    return chosen


@pytest.fixture(scope="module")
def net(numbers: pd.DataFrame) -> fn.BayesianNetwork:
    table = Table.from_frame(numbers, bins=4)
    return fn.learn.parameters(fn.learn.chow_liu(table), table)


def as_words(net: fn.BayesianNetwork, numbers: pd.DataFrame, path: Path) -> fn.BayesianNetwork:
    """What pyAgrum gives back of a network."""
    del numbers
    pyagrum: Any = pytest.importorskip("pyagrum")
    with pytest.warns(FishernetWarning, match="written as words"):
        fn.write_bif(net, path)
    pyagrum.saveBN(pyagrum.loadBN(str(path)), str(path))
    return fn.read_bif(path)


def with_underscores(net: fn.BayesianNetwork, numbers: pd.DataFrame, path: Path) -> fn.BayesianNetwork:
    """What others learn from the same table, with all labels as text without a blank, in the order of their letters."""
    del path
    table = Table.from_frame(numbers, schema=net.variables).to_pandas()
    labels = {re.sub(r"\s", "_", name): table[name].astype(str).str.replace(" ", "_") for name in table.columns}
    states = [sorted(str(state).replace(" ", "_") for state in variable.states) for variable in net.variables]
    variables = [Variable(*pair) for pair in zip(labels, states, strict=True)]
    dag = fn.Dag([variable.name for variable in variables], net.dag.parents)
    return fn.learn.parameters(dag, Table.from_frame(labels, schema=variables))


@pytest.mark.parametrize("sent", [as_words, with_underscores])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, "binned", "stream", "csv"])
def test_a_model_that_comes_back_meets_its_table(
    sent: Callable[..., fn.BayesianNetwork], kind: Any, net: fn.BayesianNetwork, numbers: pd.DataFrame, tmp_path: Path
) -> None:
    back = sent(net, numbers, tmp_path / "back.bif")
    assert back.names != net.names
    data: Any
    if kind == "binned":
        data = Table.from_frame(numbers, schema=net.variables)
    elif kind in ("stream", "csv"):
        numbers.to_csv(tmp_path / "a.csv", index=False)
        read = fn.scan if kind == "stream" else fn.read_table
        with pytest.warns(FishernetWarning, match="'Box, from left") as told:
            data = read(tmp_path / "a.csv", schema=back.variables)
        assert len(told) == 1
    else:
        data = kind(numbers)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        found = back.log_prob(data)
    assert [("says the same" in str(one.message)) for one in notes] == ([] if kind in ("stream", "csv") else [True])
    np.testing.assert_allclose(found, net.log_prob(numbers), rtol=1e-4)


def test_evidence_is_found_by_what_it_says(net: fn.BayesianNetwork, numbers: pd.DataFrame, tmp_path: Path) -> None:
    back = as_words(net, numbers, tmp_path / "back.bif")
    label = net.variables[2].states[0]
    for given in (label, -17, str(label)):
        there = back.query("Box_from_left_mm", given={"y_box": given}).array
        np.testing.assert_allclose(there, net.query(NAMES["x-box"], given={"y box": label}).array, rtol=1e-4)


CELLS: dict[str, list[Any]] = {"a": ["x y", "z", "x y"], "b": [1, 2, 3]}
A, B = Variable("a", ["x_y", "z"]), Variable("b", ["q1", "2", "q3"])


def test_labels_stand_for_the_one_state_that_says_the_same() -> None:
    with pytest.warns(FishernetWarning, match="the label of 'a' 'x y' for 'x_y'; the label of 'b' 1 for 'q1'"):
        table = Table.from_frame(CELLS, schema=[A, B])
    assert [column.tolist() for column in table.codes] == [[0, 1, 0], [0, 1, 2]]
    with pytest.warns(FishernetWarning, match="'x y' for 'x_y'"):
        assert Table.from_frame(CELLS).conform([A, B]) == table


@pytest.mark.parametrize(
    ("cells", "states"),
    [
        (["x y", "x-y"], ["x_y"]),  # two labels for one state
        (["x y", "x_y"], ["x_y"]),  # which is there exactly
        (["x y"], ["x_y", "x-y"]),  # two states for one label
        (["A+"], ["A", "B"]),  # a sign that is not said
        (["1-2"], ["1.2", "0"]),  # different signs between digits
        (["Yes"], ["yes"]),  # capitals are letters
        ([1e-16], ["1e_16", "0"]),  # the sign of the exponent is lost
        (["-"], ["_", "?"]),  # nothing is said
    ],
)
@pytest.mark.parametrize("conforms", [False, True])
def test_labels_stand_for_none_where_that_is_not_certain(cells: list[Any], states: list[str], conforms: bool) -> None:
    schema = [Variable("a", states)]
    with pytest.raises(UnknownStateError, match="column 'a', row [01]: the label"):
        _ = (
            Table.from_frame({"a": cells}).conform(schema)
            if conforms
            else Table.from_frame({"a": cells}, schema=schema)
        )


def test_columns_stand_for_none_where_that_is_not_certain() -> None:
    schema = [Variable("a_b", ["x"])]
    for cells in ({"a b": ["x"], "a-b": ["x"]}, {"A b": ["x"]}, {"a_b_2": ["x"]}):
        for meet in (partial(Table.from_frame, schema=schema), partial(as_table, variables=schema)):
            with pytest.raises(SchemaError, match="'a_b'"):
                meet(cells)
        with pytest.raises(SchemaError, match="say the same" if len(cells) > 1 else "'a_b'"):
            Table.from_frame(cells).conform(schema)
    both = {"a b": ["y"], "a_b": ["x"]}
    assert Table.from_frame(both, schema=schema)["a_b"].tolist() == ["x"]
    assert Table.from_frame(both).conform(schema)["a_b"].tolist() == ["x"]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, Table.from_frame])
def test_a_column_of_a_variable_that_is_left_out_stands_for_no_other(make: Callable[..., Any]) -> None:
    model = [Variable("a b", ["x"]), Variable("a_b", ["x"])]
    with pytest.raises(SchemaError, match="'a_b'"):
        as_table(make({"a b": ["x"]}), model, without=["a b"])


@pytest.mark.parametrize(
    ("states", "cuts"),
    [
        (["le_34", "gt_34_le_50", "gt_50"], (34, 50)),
        (["gt_50", "le_34", "gt_34_le_50", "missing"], (34, 50)),
        (["<=_-3.5", ">_-3.5"], (-3.5,)),
        (["le_minus_3_5", "gt_minus_3_5"], (-3.5,)),
        (["<= 1e-05", "(1e-05, 1]", "> 1"], (1e-5, 1)),
        (["le_1e_05", "gt_1e_05"], None),  # minus or plus?
        (["le_12_345", "gt_12_345"], None),  # thousands?
        (["le_0_125", "gt_0_125"], (0.125,)),
        (["le_12_345", "gt_12_345_le_12_5", "gt_12_5"], (12.345, 12.5)),
        (["le_34", "gt_35"], None),  # where is 34.5?
        (["le_34", "gt_34_le_30", "gt_30"], None),
        (["le_34", "more"], None),
        (["gt_3", "gt_4"], None),
    ],
)
def test_numbers_are_cut_where_the_states_say_for_certain(states: list[str], cuts: tuple[float, ...] | None) -> None:
    variable = Variable("age", states)
    found = with_cuts(variable)
    assert found.cuts == cuts
    if cuts is None:
        with pytest.raises(UnknownStateError):
            Table.from_frame({"age": [1.25, 70.5]}, schema=[variable])
        return
    numbers = np.array([cuts[0] - 1, cuts[0], cuts[-1], cuts[-1] + 0.25, np.nan])
    expected = [found.states[code] for code in np.searchsorted(cuts, numbers[:4])]
    assert [variable.states[code] for code in places_of(found, variable)[:-1]] == list(found.states)
    for conforms in (False, True):
        how: dict[str, Any] = {"continuous": ["age"]} if conforms else {"schema": [variable]}
        with pytest.warns(FishernetWarning, match="as its states say"):
            table = Table.from_frame({"age": numbers}, **how).conform([variable])
        assert table.variables == (variable,)
        assert table["age"].tolist() == [*expected, None]
        assert Table.from_frame({"age": expected}, schema=[variable])["age"].tolist() == expected


def test_parts_are_met_by_what_all_of_them_hold(tmp_path: Path) -> None:
    """Where a later file holds the state itself, a label in an earlier one is not taken for it."""
    schema = [Variable("a", ["x_y", "z"])]
    for i, label in enumerate(("x y", "z")):
        pq.write_table(pa.table({"a": [label, "z"]}), tmp_path / f"{i}.parquet")
    ways: list[dict[str, Any]] = [{}, {"client": map}]
    for how in ways:
        with pytest.warns(FishernetWarning, match="'x y' for 'x_y'"):
            [counts] = fn.scan(tmp_path, schema=schema, **how).statistics([(0,)])
        assert counts.counts.tolist() == [1, 3]
    pq.write_table(pa.table({"a": ["x_y"]}), tmp_path / "2.parquet")
    for how in ways:
        with pytest.raises(UnknownStateError, match="'x y'"):
            fn.scan(tmp_path, schema=schema, **how)


def test_commands_write_the_rows_of_the_table(net: fn.BayesianNetwork, numbers: pd.DataFrame, tmp_path: Path) -> None:
    as_words(net, numbers, tmp_path / "back.bif")
    fn.save(net, tmp_path / "net.json")
    holes = numbers[:40].copy()
    holes.loc[3, "y box"] = np.nan
    holes.to_csv(tmp_path / "a.csv", index=False)
    for words in (["score"], ["predict", "--target", "y_box"], ["impute"]):
        command, *options = words
        back = good(command, tmp_path / "back.bif", tmp_path / "a.csv", *options)
        own = good(command, tmp_path / "net.json", tmp_path / "a.csv", *[one.replace("_", " ") for one in options])
        assert "taken by what it says" in back.err
        assert len(back.cells) == len(own.cells)
        for one, other in zip(back.cells, own.cells, strict=True):
            assert one[: numbers.shape[1]] == other[: numbers.shape[1]] or command != "predict"
        if command == "predict":
            assert re.findall("accuracy [0-9.]+", back.err) == re.findall("accuracy [0-9.]+", own.err) != []
