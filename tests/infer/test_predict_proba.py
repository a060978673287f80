"""The probability of each state of one variable, given what a row says about the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import ZeroProbabilityError
from tests.networks import random_network
from tests.reference import inference as reference
from tests.reference.inference import all_kinds

A, B = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
COPY = fn.BayesianNetwork.from_tables([A, B], {"b": ["a"]}, {"a": [0.5, 0.5], "b": [[1, 0], [1, 0]]})  # b is always 0


def possible_rows(net: fn.BayesianNetwork, seed: int, n: int, missing: float) -> npt.NDArray[np.int64]:
    """Rows drawn from the network, in which cells are missing."""
    codes = np.stack([c.astype(np.int64) for c in net.sample(n, seed=seed).codes], axis=1)
    gone = np.random.default_rng(seed).random(codes.shape) < missing
    return np.where(gone, [v.cardinality for v in net.variables], codes)


@given(all_kinds(), st.integers(0, 2**32), st.sampled_from([0.3, 0.8, 1.0]))
def test_missing_cells_are_summed_out(net: fn.BayesianNetwork, seed: int, missing: float) -> None:
    codes = possible_rows(net, seed, 10, missing)
    table = fn.Table.from_codes(codes, net.variables)
    for variable in net.variables:
        got = fn.infer.predict_proba(net, table, variable.name)
        assert got.dtype == np.float64
        assert got.shape == (10, variable.cardinality)
        expected = reference.predict_proba(net, codes, variable.name)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-300)


def test_a_network_too_large_to_enumerate_is_asked_row_by_row() -> None:
    net = random_network(6, [2, 3, 4] * 7)
    codes = possible_rows(net, 0, 30, 0.5)
    got = fn.infer.predict_proba(net, fn.Table.from_codes(codes, net.variables), "v8")
    for row, probabilities in zip(codes, got, strict=True):
        evidence = reference.observed(net, row, "v8")
        np.testing.assert_allclose(probabilities, fn.infer.marginal(net, ["v8"], given=evidence), rtol=1e-10)


def test_labels_read_with_missing_cells_kept() -> None:
    """P(rain | wet) = 0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.1), and 0.2 where nobody looked."""
    rain, wet = fn.Variable("rain", ["no", "yes"]), fn.Variable("wet", ["no", "yes"])
    net = fn.BayesianNetwork.from_tables(
        [rain, wet], {"wet": ["rain"]}, {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]}
    )
    table = fn.Table.from_frame({"wet": ["yes", None, "no"]}, missing="keep")
    got = fn.infer.predict_proba(net, table, "rain")
    np.testing.assert_allclose(got[:, 1], [0.18 / 0.26, 0.2, 0.02 / 0.74], rtol=1e-13)


def test_the_targets_column_is_not_looked_at_and_may_be_absent() -> None:
    net = random_network(1, [2, 3, 4])
    codes = possible_rows(net, 0, 30, 0.3)
    table = fn.Table.from_codes(codes, net.variables)
    expected = fn.infer.predict_proba(net, table, "v1")
    np.testing.assert_array_equal(fn.infer.predict_proba(net, table.select(["v0", "v2"]), "v1"), expected)
    codes[:, 1] = 3  # missing
    np.testing.assert_array_equal(
        fn.infer.predict_proba(net, fn.Table.from_codes(codes, net.variables), "v1"), expected
    )
    strange = fn.Table.from_frame({"v0": ["s0"], "v1": ["no such state"], "v2": ["s1"]})
    assert fn.infer.predict_proba(net, strange, "v1").shape == (1, 3)


# --------------------------------------------------------------------------------------------------------------- rows


def test_no_rows_give_no_rows() -> None:
    net = random_network(2, [3, 2])
    table = fn.Table.from_codes(np.zeros((0, 2), dtype=int), net.variables)
    assert fn.infer.predict_proba(net, table, "v0").shape == (0, 3)


def test_equal_rows_give_equal_bits() -> None:
    net = random_network(5, [2, 3, 2, 3, 2, 3])
    once = possible_rows(net, 1, 60, 0.4)
    times = np.random.default_rng(0).integers(0, 60, size=5000)
    table = fn.Table.from_codes(once[times], net.variables)
    got = fn.infer.predict_proba(net, table, "v3")
    first = {int(row): got[place] for place, row in reversed(list(enumerate(times)))}
    np.testing.assert_array_equal(got, np.array([first[int(row)] for row in times]))


# ------------------------------------------------------------------------------------------------------------- errors


def test_an_impossible_row_is_named() -> None:
    with pytest.raises(ZeroProbabilityError, match="row 1"):
        fn.infer.predict_proba(COPY, fn.Table.from_codes([[2, 0], [2, 1]], [A, B]), "a")
    possible = fn.infer.predict_proba(COPY, fn.Table.from_codes([[2, 0], [2, 2]], [A, B]), "a")
    np.testing.assert_allclose(possible, 0.5, rtol=1e-13)
