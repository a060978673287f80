"""The rows most like a given one, and which variables make them so."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, MissingValueError, SchemaError, ZeroProbabilityError
from tests.networks import networks, random_network
from tests.reference.fisher import Floats, possible_rows, rows_of, theorem_1
from tests.tables import random_table

NET = random_network(4, [2, 3, 4, 2], sharp=2.0)
TABLE = NET.sample(80, seed=1)
TIE = 1e-12


def shares(net: fn.BayesianNetwork, table: fn.Table, row: int) -> Floats:
    """K_i(x, y) / sqrt(K(x, x) K(y, y)) for every y, from Theorem 1 as printed, (n_rows, n_variables)."""
    rows = rows_of(table)
    own = np.array([theorem_1(net, y[None], y[None]).sum() for y in rows])
    terms = theorem_1(net, rows[[row]], rows)[:, 0, :].T
    length = np.sqrt(own[row] * own)[:, None]
    return np.asarray(np.divide(terms, length, out=np.zeros_like(terms), where=length > 0))


def in_order(cosines: Floats) -> list[int]:
    """Descending; ties, which rounding may split, to the lowest row."""
    left = list(range(len(cosines)))
    found = []
    while left:
        top = max(cosines[row] for row in left)
        found.append(next(row for row in left if cosines[row] >= top - TIE))
        left.remove(found[-1])
    return found


# -------------------------------------------------------------------------------------------------------- definition


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 3), min_size=1, max_size=4), st.data())
def test_the_rows_come_by_their_cosine(seed: int, cardinalities: list[int], data: st.DataObject) -> None:
    net = random_network(seed, cardinalities, sharp=2.0)
    table = random_table(seed, data.draw(st.integers(1, 25)), cardinalities)
    row = data.draw(st.integers(0, table.n_rows - 1))
    n = data.draw(st.integers(1, table.n_rows))
    found = fn.select.similar(fn.kernels.FisherKernel(net), table, row, n=n)
    expected = shares(net, table, row)
    cosines = expected.sum(axis=1)
    assert found.indices.tolist() == in_order(cosines)[:n]
    np.testing.assert_allclose(found.cosines, cosines[found.indices], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.by_variable, expected[found.indices], rtol=1e-10, atol=1e-12)


# -------------------------------------------------------------------------------------------------------------- facts


@settings(max_examples=60)
@given(networks(most_variables=4), st.data())
def test_no_row_is_more_like_a_row_than_itself(net: fn.BayesianNetwork, data: st.DataObject) -> None:
    rows = possible_rows(net, 30)
    table = fn.Table.from_codes(rows, net.variables)
    row = data.draw(st.integers(0, len(rows) - 1))
    found = fn.select.similar(fn.kernels.FisherKernel(net), table, row, n=1)
    if fn.kernels.FisherKernel(net).diag(table)[row] > 1e-9:
        assert found.cosines[0] == pytest.approx(1, abs=TIE)
        assert found.indices[0] == row
    else:
        assert abs(found.cosines[0]) <= 1 + TIE  # a row without length is like nothing


@settings(max_examples=60)
@given(networks(most_variables=4), st.sampled_from(["invariant", "practical"]))
def test_no_term_of_two_rows_exceeds_that_of_a_row_with_itself(net: fn.BayesianNetwork, metric: Any) -> None:
    """In Theorem 1 K_i(x, y) is 0, -1 / P(j) or K_i(x, x): K(x, y) <= K(x, x), which is why a row leads its list."""
    rows = possible_rows(net, 20)
    terms = fn.kernels.FisherKernel(net, metric=metric).terms(rows)
    own = np.diagonal(terms, axis1=1, axis2=2)
    assert (terms <= own[:, :, None] + 1e-12 * (1 + np.abs(terms).max())).all()


def test_a_rare_row_does_not_come_first_for_its_length() -> None:
    """Of x = (1, 1, 0), K puts (1, 0, 0) with its rare b above (1, 1, 1); the angle does not."""
    variables = [fn.Variable(name, [0, 1]) for name in "abc"]
    net = fn.BayesianNetwork.from_tables(variables, {}, {"a": [0.8, 0.2], "b": [0.1, 0.9], "c": [0.5, 0.5]})
    table = fn.Table.from_codes([[1, 1, 0], [1, 0, 0], [1, 1, 1]], variables)
    kernel = fn.kernels.FisherKernel(net)
    np.testing.assert_allclose(kernel(table)[0], [4 + 1 / 9 + 1, 4 - 1 + 1, 4 + 1 / 9 - 1], rtol=1e-13)
    found = fn.select.similar(kernel, table, 0, n=3)
    assert found.indices.tolist() == [0, 2, 1]
    own = 4 + 1 / 9 + 1  # of rows 0 and 2
    np.testing.assert_allclose(found.cosines, [1, (own - 2) / own, 4 / np.sqrt(own * 14)], rtol=1e-13)


def test_a_row_may_come_from_elsewhere() -> None:
    kernel = fn.kernels.FisherKernel(NET)
    inside = fn.select.similar(kernel, TABLE, 12, n=10)
    outside = fn.select.similar(kernel, TABLE, TABLE[[12]], n=10)
    np.testing.assert_array_equal(outside.indices, inside.indices)
    np.testing.assert_array_equal(outside.cosines, inside.cosines)
    np.testing.assert_array_equal(outside.by_variable, inside.by_variable)
    turned = TABLE[[12]].select(["v3", "v0", "v2", "v1"])
    np.testing.assert_array_equal(fn.select.similar(kernel, TABLE, turned, n=10).indices, inside.indices)


def test_a_rows_share_tells_which_variable_differs() -> None:
    """x and y differ in b only: its share is -1 / P(a), of all others it is what x has with itself."""
    a, b, c = (fn.Variable(name, [0, 1]) for name in "abc")
    tables: dict[str, Any] = {"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.2, 0.8]], "c": [0.1, 0.9]}
    net = fn.BayesianNetwork.from_tables([a, b, c], {"b": ["a"]}, tables)
    table = fn.Table.from_codes([[0, 0, 0], [0, 1, 0]], [a, b, c])
    found = fn.select.similar(fn.kernels.FisherKernel(net), table, 0, n=2)
    own = 3 + 4 + 9  # both rows: (1 - 1/4) / (1/4), 4 (1/2) / (1/2), 0.9 / 0.1
    np.testing.assert_allclose(
        found.by_variable, [[3 / own, 4 / own, 9 / own], [3 / own, -4 / own, 9 / own]], rtol=1e-13
    )


def test_a_row_without_length_is_like_nothing() -> None:
    one = fn.Variable("one", ["only"])
    net = fn.BayesianNetwork.from_tables([one], {}, {"one": [1.0]})
    table = fn.Table.from_codes([[0], [0], [0]], [one])
    found = fn.select.similar(fn.kernels.FisherKernel(net), table, 1, n=3)
    assert found.indices.tolist() == [0, 1, 2]
    assert found.cosines.tolist() == [0, 0, 0]
    assert found.by_variable.tolist() == [[0], [0], [0]]


# ------------------------------------------------------------------------------------------------ results, refusals


def test_the_result_is_frozen_and_has_a_frame() -> None:
    found = fn.select.similar(fn.kernels.FisherKernel(NET), TABLE, 0, n=6)
    assert isinstance(found, fn.select.Similar)
    assert len(fn.select.similar(fn.kernels.FisherKernel(NET), TABLE, -1).indices) == 10
    assert sorted(fn.select.similar(fn.kernels.FisherKernel(NET), TABLE[:4], 0).indices.tolist()) == [0, 1, 2, 3]
    assert found.indices.dtype == np.int64
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.cosines = found.cosines  # type: ignore[misc]
    frame = found.to_frame()
    assert frame["row"].to_pylist() == found.indices.tolist()
    assert frame["cosine"].to_pylist() == found.cosines.tolist()
    assert frame.column_names[2:] == list(NET.names)


@pytest.mark.parametrize("n", [0, -1, 2.5, "3"])
def test_a_number_of_rows_that_is_none_is_refused(n: Any) -> None:
    with pytest.raises(FishernetError):
        fn.select.similar(fn.kernels.FisherKernel(NET), TABLE, 0, n=n)


@pytest.mark.parametrize("row", [80, 1.5, "a"])
def test_a_row_that_is_none_is_refused(row: Any) -> None:
    with pytest.raises((FishernetError, IndexError)):
        fn.select.similar(fn.kernels.FisherKernel(NET), TABLE, row)


def test_tables_that_do_not_fit_are_refused() -> None:
    kernel = fn.kernels.FisherKernel(NET)
    for rows in (TABLE[:2], TABLE[:0]):
        with pytest.raises(FishernetError, match="one row"):
            fn.select.similar(kernel, TABLE, rows)
    for other in (None, TABLE, fn.kernels.FisherKernel):
        with pytest.raises(SchemaError, match="similar needs a kernel"):
            fn.select.similar(other, TABLE, 0)  # type: ignore[arg-type]
    with pytest.raises(FishernetError, match="row must be a position"):
        fn.select.similar(kernel, TABLE, 0.5)
    with pytest.raises(SchemaError, match="'v3'"):
        fn.select.similar(kernel, TABLE.select(["v0", "v1", "v2"]), 0)
    with pytest.raises(SchemaError, match="'v3'"):
        fn.select.similar(kernel, TABLE, TABLE[[0]].select(["v0", "v1", "v2"]))
    missing = fn.Table.from_codes([[2, 0, 0, 0]], NET.variables)
    with pytest.raises(MissingValueError):
        fn.select.similar(kernel, TABLE, missing)
    a = fn.Variable("a", [0, 1])
    certain = fn.kernels.FisherKernel(fn.BayesianNetwork.from_tables([a], {}, {"a": [1, 0]}))
    with pytest.raises(ZeroProbabilityError):
        fn.select.similar(certain, fn.Table.from_codes([[0], [0]], [a]), fn.Table.from_codes([[1]], [a]))


def test_any_kernel_gives_cosines_but_no_share_of_the_variables() -> None:
    kernel = fn.kernels.FisherKernel(NET)
    for other in (fn.kernels.FisherKernel(NET, metric="empirical", reference=TABLE), fn.kernels.Rbf(kernel, 1.0)):
        found = fn.select.similar(other, TABLE, 3, n=80)
        matrix = other(TABLE)
        cosines = matrix[3] / np.sqrt(matrix[3, 3] * np.diag(matrix))
        assert found.indices.tolist() == in_order(cosines)
        np.testing.assert_allclose(found.cosines, cosines[found.indices], atol=1e-9)
        assert (found.names, found.by_variable.shape) == ((), (80, 0))


def test_strings_are_like_strings() -> None:
    strings = ["abab", "bbbb", "abba", "aaab", "abab"]
    found = fn.select.similar(fn.kernels.SpectrumKernel(2), strings, "abab", n=3)
    # counts of (aa, ab, ba, bb): abab (0, 2, 1, 0), abba (0, 1, 1, 1), aaab (2, 1, 0, 0), bbbb (0, 0, 0, 3)
    assert found.rows == ["abab", "abab", "abba"]
    np.testing.assert_allclose(found.cosines, [1, 1, 3 / np.sqrt(15)])
    assert found.to_frame()["item"].to_pylist() == found.rows
    assert fn.select.similar(fn.kernels.SpectrumKernel(2), strings, 4).indices.tolist() == [0, 4, 2, 3, 1]
    with pytest.raises(SchemaError, match="frame"):
        _ = found.table


def test_an_impossible_row_is_named_by_its_place_in_the_whole_table() -> None:
    asia = fn.datasets.load("asia")
    rows = asia.sample(5000, seed=1)
    codes = np.stack(rows.codes, axis=1)
    either, tub, lung = (asia.names.index(name) for name in ("either", "tub", "lung"))
    codes[4500, [either, tub, lung]] = 0, 1, 1  # "yes", the "or" of two that are "no"
    with pytest.raises(fn.ZeroProbabilityError, match=r"row 4500\b"):
        fn.select.similar(fn.kernels.FisherKernel(asia), fn.Table.from_codes(codes, asia.variables), 0)
