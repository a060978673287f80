"""Columns of numbers beside those of states."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet import Continuous, MissingValueError, SchemaError, Table, UnknownStateError, Variable, _core
from fishernet.data.statistics.counting import flat_sets
from fishernet.data.variable import require_categorical, require_continuous
from tests.data.hostile import exact, hostile_tables, labels

NAN = float("nan")


def mixed(weights: Any = None) -> Table:
    variables: list[Any] = [Continuous("x"), Variable("a", ["no", "yes"]), Continuous("y")]
    columns = [np.array([0.5, NAN, 2.5, 3.0]), np.array([0, 1, 2, 1], dtype=np.uint8), np.array([1.0, 2, 3, NAN])]
    return Table(variables, columns, weights=weights)


def test_a_continuous_variable_is_its_name() -> None:
    x = Continuous("x")
    assert x == Continuous("x") != Continuous("y")
    assert len({x, Continuous("x")}) == 1
    assert (x.cardinality, x.is_continuous, Variable("x", [1]).is_continuous) == (1, True, False)
    with pytest.raises(AttributeError):
        x.name = "y"  # type: ignore[misc]
    with pytest.raises(SchemaError, match="a variable's name must be a str, not int"):
        Continuous(3)  # type: ignore[arg-type]


def test_what_a_table_holds() -> None:
    table = mixed(weights=[1, 2, 3, 4])
    assert table.names == ("x", "a", "y")
    assert (table.shape, table.n_rows, table.total, table.cardinalities) == ((4, 3), 4, 10, (1, 2, 1))
    assert [column.dtype for column in table.codes] == [np.float64, np.uint8, np.float64]
    assert table.missing_counts() == {"x": 1, "a": 1, "y": 1}
    assert labels(table) == {"x": [0.5, None, 2.5, 3], "a": ["no", "yes", None, "yes"], "y": [1, 2, 3, None]}
    assert not any(column.flags.writeable for column in table.codes)
    assert table.drop_missing().shape == (1, 3)
    assert labels(table.head(1)) == {"x": [0.5], "a": ["no"], "y": [1]}
    assert str(table).splitlines()[:3] == ["Table(4 rows, 3 variables, weighted)", "  x     a    y", "0.5    no  1.0"]


def test_the_numbers_are_one_array_kept_once() -> None:
    table = mixed()
    numbers = table.numbers
    np.testing.assert_array_equal(numbers, [[0.5, NAN, 2.5, 3], [1, 2, 3, NAN]])
    assert numbers.flags.c_contiguous
    assert not numbers.flags.writeable
    assert np.shares_memory(table.numbers, numbers)
    assert np.shares_memory(table.column("y"), numbers)
    assert table.select(["y"]).numbers.shape == (1, 4)
    assert table.select(["y", "x"]).numbers[0].tolist()[:3] == [1, 2, 3]
    assert table.select(["a"]).numbers.shape == (0, 4)
    assert table == mixed()


def test_counts_leave_out_rows_in_which_a_number_is_missing() -> None:
    offsets, members = flat_sets([(0,), (1,), (0, 1), (0, 1, 2), ()])
    answers = _core.count(mixed(weights=[1, 2, 3, 4]).native, offsets, members, 100)
    assert [(values.tolist(), left_out) for values, _, left_out in answers] == [
        ([8], 2),
        ([1, 6], 3),
        ([1, 4], 5),
        ([1, 0], 9),
        ([10], 0),
    ]


@given(hostile_tables(numbers=True), st.data())
def test_parts_and_copies(table: Table, data: st.DataObject) -> None:
    assert exact(pickle.loads(pickle.dumps(table))) == exact(table)
    rows = data.draw(st.lists(st.integers(0, max(0, table.n_rows - 1)), max_size=5)) if table.n_rows else []
    assert labels(table[rows]) == {name: [column[row] for row in rows] for name, column in labels(table).items()}
    assert table[rows] == table[rows]
    assert exact(Table.from_frame(table.to_frame())) == exact(table)
    kept = [row for row in range(table.n_rows) if None not in [column[row] for column in labels(table).values()]]
    assert exact(table.drop_missing()) == exact(table[kept])


def test_numbers_that_differ_make_tables_that_differ() -> None:
    assert mixed() == mixed()
    assert mixed() != mixed()[::-1]
    assert Table([Continuous("x")], [np.array([1.0, NAN])]) != Table([Continuous("x")], [np.array([1.0, 2.0])])


def test_columns_of_numbers_are_float64() -> None:
    with pytest.raises(SchemaError, match="column 'x' has type int64, expected float64"):
        Table([Continuous("x")], [np.array([1, 2])])
    with pytest.raises(SchemaError, match="'x' hold numbers, which have no codes"):
        Table.from_codes([[0]], [Continuous("x")])


# ------------------------------------------------------------------------------------------------------ conform


def test_numbers_become_what_a_model_has() -> None:
    table = Table([Continuous("x")], [np.array([1.0, NAN, 2.0, 3.0])])
    binned = Variable("x", ["low", "high"], [1.5])
    assert labels(table.conform([binned])) == {"x": ["low", None, "high", "high"]}
    assert labels(table.conform([Variable("x", [3, 2, 1])])) == {"x": [1, None, 2, 3]}
    with pytest.raises(UnknownStateError, match=r"column 'x', row 3: the label 3.0 is not among the states 1, 2"):
        table.conform([Variable("x", [1, 2])])
    assert labels(table.conform([Variable("x", [1, 2])], unknown="missing")) == {"x": [1, None, 2, None]}


def test_states_that_are_numbers_become_these() -> None:
    table = Table.from_frame({"x": [1, 3, None], "t": ["1", "b", "b"]})
    assert labels(table.conform([Continuous("x")])) == {"x": [1.0, 3.0, None]}
    with pytest.raises(UnknownStateError, match="column 't', row 1: numbers are needed, and the label 'b' is none"):
        table.conform([Continuous("t")])
    cut = table.discretize({"x": 1})
    with pytest.raises(UnknownStateError, match="numbers are needed, and the label 'any' is none"):
        cut.conform([Continuous("x")])
    assert labels(cut.conform([Continuous("x")], unknown="missing")) == {"x": [None] * 3}


def test_labels_that_a_model_lacks_may_be_missing() -> None:
    table = Table.from_frame({"a": ["x", "y", None]})
    assert labels(table.conform([Variable("a", ["y", "z"])], unknown="missing")) == {"a": [None, "y", None]}


# --------------------------------------------------------------------------------------------------- discretize


@given(
    st.lists(st.floats(-9, 9) | st.none(), min_size=1), st.integers(1, 5), st.sampled_from(["quantile", "equal-width"])
)
def test_cutting_a_table_is_cutting_what_it_was_read_from(cells: list[Any], bins: int, binning: str) -> None:
    if not any(cell is not None for cell in cells):
        return
    frame = {"x": cells, "t": ["a"] * len(cells)}
    table = Table.from_frame(frame, continuous=["x"])
    cut = Table.from_frame(frame, bins={"x": bins}, binning=binning)  # type: ignore[arg-type]
    assert exact(table.discretize(bins, binning=binning)) == exact(cut)  # type: ignore[arg-type]


def test_cutting_some_columns() -> None:
    table = Table.from_frame(
        {"x": [0.1, 0.2, 0.3, 0.4], "k": [1, 2, 3, 4], "t": list("abab"), "y": [0.5, 1.5, 2.5, 3.5]},
        categorical=["k"],
    )
    assert table.discretize(2).cardinalities == (2, 4, 2, 2)
    assert table.discretize({"x": [0.15, 0.35]}).cardinalities == (3, 4, 2, 1)
    assert table.discretize({"k": 2, None: 3}).cardinalities == (3, 2, 2, 3)
    assert table.discretize({"x": 9}).variables[0] == Variable("x", [0.1, 0.2, 0.3, 0.4])
    with pytest.raises(SchemaError, match="column 't', row 0: bins are cut from numbers, and 'a' is none"):
        table.discretize({"t": 2})
    with pytest.raises(SchemaError, match="there is no column 'z', as bins asks"):
        table.discretize({"z": 2})


def test_weights_count_where_numbers_are_cut() -> None:
    table = Table([Continuous("x")], [np.array([1.0, 2.0, 3.0])], weights=[1, 1, 8])
    assert table.discretize(2).variables[0] == Variable("x", ["<= 2", "> 2"], [2.0])


# -------------------------------------------------------------------------------------------------- requirements


def test_what_is_needed_is_said() -> None:
    table = mixed()
    with pytest.raises(
        SchemaError, match="chow_liu is for categorical columns, and 'x', 'y' are continuous: cut them into bins"
    ):
        require_categorical(table.variables, "chow_liu")
    with pytest.raises(
        SchemaError, match="'x' is continuous: cut it into bins to get states, or fn.learn.gaussian_graph takes it"
    ):
        require_categorical(table.select(["x", "a"]).variables, "chow_liu", "fn.learn.gaussian_graph takes it")
    with pytest.raises(
        SchemaError, match=r"FMPL is for continuous columns, and 'a' is categorical: .*read numbers as continuous"
    ):
        require_continuous(table.variables, "FMPL")
    assert require_categorical(table.select(["a"]).variables, "it") == table.select(["a"]).variables
    require_continuous([Continuous("x")], "it")
    with pytest.raises(MissingValueError, match=r"it needs a table without missing cells; missing in 'x' \(1\)"):
        table.select(["x"]).require_complete("it")


# -------------------------------------------------------------------------------------------------------- frames


def test_a_frames_numbers_are_copied() -> None:
    values = np.array([0.5, 1.5, 2.5])
    frame = pd.DataFrame({"x": values})
    table = Table.from_frame(frame)
    frame.loc[0, "x"] = values[0] = 9.0
    assert table.column("x").tolist() == [0.5, 1.5, 2.5]


def test_through_pandas_a_table_stays_the_same() -> None:
    table = mixed()
    again = Table.from_frame(table.to_frame().to_pandas(), continuous=["y"])
    assert again == table


@pytest.mark.filterwarnings("error")
def test_infinite_numbers_are_described() -> None:
    for far in ([np.inf, -np.inf], [np.inf], [1e308, -1e308]):
        table = Table.from_frame({"x": [1.0, 2.5, 4.0, np.nan, *far], "y": np.arange(4 + len(far)) / 3})
        x, y = table.describe().columns
        assert (x.holds, x.missing) == (f"{min(1.0, *far):.6g} to {max(4.0, *far):.6g}", 1)
        assert x.kind == y.kind == "continuous"
        assert (x.typical == "no finite mean") == bool(np.isinf(far).any())
