"""Tables of codes: every integer type, the borders of the stored types, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from fishernet import SchemaError, Table, Variable


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32", "float64", "bool"])
def test_any_type_of_integers(dtype: str) -> None:
    table = Table.from_codes(np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype))
    assert table.names == ("v0", "v1")
    assert table.variables[0].states == (0, 1)
    assert [column.tolist() for column in table.codes] == [[0, 1, 1], [1, 0, 1]]
    assert {column.dtype for column in table.codes} == {np.dtype(np.uint8)}


def test_one_row_one_state() -> None:
    table = Table.from_codes([[0]])
    assert (table.n_rows, table.cardinalities, table.has_missing) == (1, (1,), False)


@pytest.mark.parametrize(
    ("cardinality", "dtype"), [(255, "uint8"), (256, "uint16"), (65_535, "uint16"), (65_536, "uint32")]
)
def test_the_largest_code_and_the_missing_one_are_held(cardinality: int, dtype: str) -> None:
    codes = np.array([[0], [cardinality - 1], [cardinality]])
    table = Table.from_codes(codes, [Variable("x", range(cardinality))])
    assert table.column("x").dtype == np.dtype(dtype)
    assert table.column("x").tolist() == [0, cardinality - 1, cardinality]
    assert table.missing_counts() == {"x": 1}
    assert Table.from_codes(codes[:2]).cardinalities == (cardinality,)


def test_no_rows_and_no_columns() -> None:
    assert Table.from_codes(np.zeros((0, 1)), [Variable("x", ["a"])]).n_rows == 0
    assert Table.from_codes(np.zeros((3, 0), dtype=int)).n_rows == 3
    with pytest.raises(SchemaError, match="codes without rows need variables"):
        Table.from_codes(np.zeros((0, 2)))


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 1], r"two axes \(rows, variables\), got shape \(2,\)"),
        ([[0], [0, 1]], "rows have different lengths"),
        ([["a"]], "codes must be integers, not <U1; labels go through Table.from_frame"),
        ([[0.5]], "fractions, infinities or NaN"),
        ([[np.nan]], "fractions, infinities or NaN"),
        ([[np.inf]], "fractions, infinities or NaN"),
        ([[1e300]], "fractions, infinities or NaN"),
        ([[0], [-1]], "column 'v0', row 1: the code -1 is not from 0 to 0"),
        ([[10**12]], "column 'v0' holds 1,000,000,000,000"),
        (np.zeros((1, 1), dtype="M8[s]"), "codes must be integers, not datetime64"),
    ],
)
def test_what_is_no_code(codes: npt.ArrayLike, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Table.from_codes(codes)


def test_codes_beyond_the_variables_states() -> None:
    variables = [Variable("x", ["a", "b"]), Variable("y", ["a"])]
    with pytest.raises(SchemaError, match=r"column 'x', row 1: the code 3 is not from 0 to 1 \(2 would mean missing\)"):
        Table.from_codes([[2, 0], [3, 0]], variables)
    with pytest.raises(SchemaError, match="codes have 1 column for 2 variables"):
        Table.from_codes([[0]], variables)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], r"weights have shape \(1,\), expected \(2,\)"),
        ([1, -2], "must not be negative; row 1 has -2"),
        ([1, np.inf], "weights must be finite"),
        (["a", "b"], "weights must be numbers, not text"),
        ([0.5, -0.5], "negative"),
        ([0.5, np.nan], "finite"),
        ([1.5, 2.0**53], r"2\*\*53"),
        ([2**62, 2**62], "sum to"),
        (np.array([2**63, 1], dtype=np.uint64), "sum to"),
    ],
)
def test_what_is_no_weight(weights: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Table.from_codes([[0], [1]], weights=weights)


def test_weights_are_counts() -> None:
    table = Table.from_codes([[0], [1]], weights=[2.0, 0.0])
    assert table.weights is not None
    assert table.weights.dtype == np.int64
    assert table.weights.tolist() == [2, 0]
