"""The laws of a table: immutable, cut into rows and columns, and looked up in other variables."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet import Continuous, MissingValueError, SchemaError, Table, UnknownStateError, Variable
from tests.data.hostile import exact, hostile_tables, labels
from tests.tables import random_table, tables


def make(**columns: list[Any]) -> Table:
    return Table.from_frame(columns)


# ------------------------------------------------------------------------------------------------- immutability


def test_nothing_can_be_written_to() -> None:
    table = Table.from_codes([[0, 1], [1, 0]], weights=[1, 2])
    arrays = [*table.codes, table.column("v0"), table.weights]
    for array in arrays:
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        table.n_rows = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        table.anything = 3  # type: ignore[attr-defined]


def test_parts_and_what_was_read_are_read_only_too() -> None:
    table = random_table(1, 10, [2, 3], weighted=True)
    for part in (
        table[2:4],
        table[[1, 2]],
        table.select(["v1"]),
        make(a=["x", "y"]),
        pickle.loads(pickle.dumps(table)),
    ):
        assert not any(column.flags.writeable for column in part.codes)
        assert part.weights is None or not part.weights.flags.writeable


def test_a_table_is_not_hashable_and_can_be_referred_to_weakly() -> None:
    table = make(a=["x"])
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)
    reference = weakref.ref(table)
    del table
    gc.collect()
    assert reference() is None


# ------------------------------------------------------------------------------------------------- construction


def test_columns_must_fit_their_variables() -> None:
    variable = Variable("x", ["a", "b"])
    column = np.array([0, 1], dtype=np.uint8)
    assert Table([variable], [column]).n_rows == 2
    with pytest.raises(SchemaError, match="1 variable and 2 columns"):
        Table([variable], [column, column])
    with pytest.raises(SchemaError, match="column 'x' has type uint16, expected uint8"):
        Table([variable], [column.astype(np.uint16)])
    with pytest.raises(SchemaError, match=r"column 'y' has shape \(1,\), expected \(2,\)"):
        Table([variable, Variable("y", ["a"])], [column, column[:1]])
    with pytest.raises(SchemaError, match="the name 'x' appears more than once"):
        Table([variable, variable], [column, column])


def test_codes_beyond_the_states_are_refused() -> None:
    variable = Variable("x", ["a", "b"])
    with pytest.raises(SchemaError, match="column 'x', row 1: the code 3 is not from 0 to 1"):
        Table([variable], [np.array([0, 3], dtype=np.uint8)])


def test_a_table_keeps_copies_of_a_callers_columns() -> None:
    codes, numbers, weights = np.array([0, 1], dtype=np.uint8), np.array([0.5, 1.5]), np.array([1, 2])
    table = Table([Variable("x", ["a", "b"]), Continuous("z")], [codes, numbers], weights=weights)
    for array in (codes, numbers, weights):
        array[:] = 0
    assert [column.tolist() for column in table.codes] == [[0, 1], [0.5, 1.5]]
    assert table.total == 3


def test_parts_of_a_table_are_no_copies() -> None:
    table = make(x=["a", "b", "a"], y=["c", "c", "d"])
    for part in (table[1:], table.select(["x"]), table.conform(table.variables[:1])):
        assert np.shares_memory(part.column("x"), table.column("x"))


def test_missing_cells_are_counted() -> None:
    table = Table.from_codes([[0, 2], [2, 2], [1, 0]], [Variable("x", ["a", "b"]), Variable("y", ["a", "b"])])
    assert table.has_missing
    assert table.missing_counts() == {"x": 1, "y": 2}
    with pytest.raises(
        MissingValueError, match=r"counting needs a table without missing cells; missing in 'x' \(1\), 'y' \(2\)"
    ) as e:
        table.require_complete("counting")
    assert e.value.counts == {"x": 1, "y": 2}
    table[2:].require_complete("counting")


# ------------------------------------------------------------------------------------------------------- parts


@given(tables(missing=True), st.data())
def test_rows_are_numpys(table: Table, data: st.DataObject) -> None:
    n = table.n_rows
    rows: Any = data.draw(
        st.one_of(
            st.slices(n),
            st.lists(st.integers(-n, n - 1), max_size=8) if n else st.just([]),
            st.lists(st.booleans(), min_size=n, max_size=n).map(lambda mask: np.array(mask, dtype=bool)),
        )
    )
    part = table[rows]
    index = np.array(rows, dtype=int) if isinstance(rows, list) else rows
    assert part.variables == table.variables
    for found, column in zip(part.codes, table.codes, strict=True):
        assert found.tolist() == column[index].tolist()
    assert (part.weights is None) == (table.weights is None)
    if table.weights is not None and part.weights is not None:
        assert part.weights.tolist() == table.weights[index].tolist()


def test_one_row_is_a_table() -> None:
    table = make(a=["x", "y", "z"])
    for row in (1, -2, np.int64(1)):
        assert labels(table[row]) == {"a": ["y"]}
    assert labels(table[-1]) == {"a": ["z"]}


@pytest.mark.parametrize("rows", [3, -4, [0, 3], [-4]])
def test_rows_outside_the_table(rows: Any) -> None:
    with pytest.raises(IndexError, match=r"row (3|-4) of a table of 3 rows"):
        make(a=["x", "y", "z"])[rows]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([True, False], "a mask of 2 rows does not fit a table of 3 rows"),
        (True, "rows must be"),
        ([0.0], "rows must be"),
        ([[0]], "rows must be"),
        (None, "rows must be"),
    ],
)
def test_what_is_no_row(rows: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make(a=["x", "y", "z"])[rows]


def test_rows_of_a_table_without_columns() -> None:
    table = Table.from_codes(np.zeros((4, 0), dtype=int))
    assert (table[1:].n_rows, table[[0, 0, 1]].n_rows, table[np.array([True, False, True, False])].n_rows) == (3, 3, 2)


def test_select_takes_columns_in_the_order_named_without_a_copy() -> None:
    table = make(a=["x", "y"], b=[1, 2], c=[True, False])
    part = table.select(["c", "a"])
    assert part.names == ("c", "a")
    assert np.shares_memory(part.column("a"), table.column("a"))
    assert table.select([]).n_rows == 2
    with pytest.raises(SchemaError, match="no column 'd'; there are 'a', 'b', 'c'"):
        table.select(["d"])
    with pytest.raises(SchemaError, match="the name 'a' appears more than once"):
        table.select(["a", "a"])


@given(st.integers(0, 30), st.floats(0, 1), st.integers(0, 2**32))
def test_split_partitions_the_rows(n_rows: int, fraction: float, seed: int) -> None:
    variables = [Variable("row", range(31))]
    table = Table.from_codes(np.arange(n_rows).reshape(-1, 1), variables, weights=np.arange(n_rows))
    first, second = table.split(fraction, seed)
    rows = [part.column("row").tolist() for part in (first, second)]
    assert sorted(rows[0] + rows[1]) == list(range(n_rows))
    assert all(part == sorted(part) for part in rows)
    assert abs(len(rows[0]) - fraction * n_rows) <= 0.5
    assert first.weights is not None
    assert first.weights.tolist() == rows[0]
    again = table.split(fraction, np.random.default_rng(seed))
    assert again[0] == first


def test_split_is_random_and_leaves_the_global_state_alone() -> None:
    table = random_table(0, 200, [2])
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    parts = [table.split(0.5, seed)[0].codes[0].tolist() for seed in range(3)]
    assert parts[0] != parts[1] != parts[2]
    assert np.array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
def test_a_fraction_is_from_0_to_1(fraction: float) -> None:
    with pytest.raises(SchemaError, match="fraction must be a number from 0 to 1"):
        make(a=["x"]).split(fraction)


# ----------------------------------------------------------------------------------------------------- conform


@given(hostile_tables(), st.data())
def test_conforming_keeps_every_label(table: Table, data: st.DataObject) -> None:
    wanted = [
        Variable(v.name, data.draw(st.permutations(v.states))) for v in data.draw(st.permutations(table.variables))
    ]
    found = table.conform(wanted)
    assert found.variables == tuple(wanted)
    assert labels(found) == {name: labels(table)[name] for name in found.names}
    assert exact(found.conform(table.variables)) == exact(table)
    assert found.weights is table.weights or np.array_equal(found.weights, table.weights)  # type: ignore[arg-type]


def test_conforming_is_free_when_nothing_changes_and_ignores_other_columns() -> None:
    table = make(a=["x", "y"], b=[1, 2])
    assert table.conform(table.variables) is table
    assert table.conform(table.variables[1:]).names == ("b",)
    assert np.shares_memory(table.conform(table.variables[1:]).codes[0], table.codes[1])


def test_conforming_fails_clearly() -> None:
    table = make(a=["x", "y"])
    with pytest.raises(SchemaError, match="the table lacks the column 'b'; it has 'a'"):
        table.conform([Variable("b", ["x"])])
    with pytest.raises(UnknownStateError, match="column 'a', row 1: the label 'y' is not among the states 'x'"):
        table.conform([Variable("a", ["x"])])


def test_a_label_is_never_taken_for_a_code() -> None:
    """pgmpy issue 1877: states that are themselves numbers were taken for positions."""
    model = Variable("a", [1, 2, 3])
    with pytest.raises(UnknownStateError, match="the label 0 is not among the states 1, 2, 3"):
        make(a=[1, 0]).conform([model])
    assert make(a=[3, 1]).conform([model]).codes[0].tolist() == [2, 0]


# ---------------------------------------------------------------------------------------------------- equality


def test_equality() -> None:
    table = Table.from_codes([[0], [1]], weights=[1, 2])
    assert table == Table.from_codes([[0], [1]], weights=[1, 2])
    assert table != Table.from_codes([[0], [1]], weights=[1, 3])
    assert table != Table.from_codes([[0], [1]])
    assert table != Table.from_codes([[1], [1]], weights=[1, 2])
    assert table != Table.from_codes([[0], [1]], [Variable("v0", ["a", "b"])], weights=[1, 2])
    assert table != table[:1]
    assert table != "table"


def test_it_says_what_it_is() -> None:
    assert repr(random_table(0, 1234, [2, 2], weighted=True)) == "Table(1,234 rows, 2 variables, weighted)"
    assert len(random_table(0, 12, [2])) == 12


@pytest.mark.parametrize("weights", [[1, 2], [0.5, 1.5]])
def test_weights_cannot_be_made_writeable(weights: list[float]) -> None:
    table = Table.from_codes([[0], [1]], weights=np.array(weights))
    assert table.weights is not None
    held = np.asarray(table.weights)
    with pytest.raises(ValueError, match="WRITEABLE"):
        held.setflags(write=True)
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 9
    assert held.tolist() == weights
