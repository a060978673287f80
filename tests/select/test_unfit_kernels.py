"""What the selections under a kernel say of input that is no kernel, or from which there is little to choose."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError
from fishernet.kernels import row_sums
from fishernet.kernels.kernel import FeatureMade
from tests.matrices import Precomputed
from tests.networks import random_network

Floats = np.ndarray[Any, np.dtype[np.float64]]
N = 12
NET = random_network(3, [3, 2, 4, 2])
FISHER = fn.kernels.FisherKernel(NET)
TABLE = NET.sample(N, seed=1)

METHODS: dict[str, Callable[[Any, Any, int], Any]] = {
    "mmd_critic": fn.select.mmd_critic,
    "protodash": fn.select.protodash,
    "free weights": lambda kernel, rows, k: fn.select.protodash(kernel, rows, k, sum_to_one=False),
    "kernel_thinning": lambda kernel, rows, k: fn.select.kernel_thinning(kernel, rows, k, seed=1),
    "greedy_mmd": lambda kernel, rows, k: fn.select.greedy_mmd(kernel, rows, k, n_starts=5, seed=1),
    "criticisms": lambda kernel, rows, k: fn.select.criticisms(kernel, rows, [0], k),
    "distance_by_k": lambda kernel, rows, k: fn.select.distance_by_k(kernel, rows, [k], n_random=3, seed=1),
}
ALL = pytest.mark.parametrize("name", METHODS)


def semidefinite(n: int = N) -> Floats:
    features = np.random.default_rng(8).normal(size=(n, 4))
    return np.asarray(features @ features.T)


def with_cell(row: int, column: int, value: float) -> Floats:
    matrix = semidefinite()
    matrix[row, column] = matrix[column, row] = value
    return matrix


NOT_FINITE = {
    "NaN between two rows": with_cell(3, 5, np.nan),
    "NaN of a row with itself": with_cell(3, 3, np.nan),
    "infinity between two rows": with_cell(3, 5, np.inf),
    "infinity of a row with itself": with_cell(3, 3, np.inf),
}


@ALL
@pytest.mark.parametrize("problem", NOT_FINITE)
def test_a_matrix_with_nan_or_infinity_is_refused_by_its_row(name: str, problem: str) -> None:
    with pytest.raises(SchemaError, match=r"kernel of row 3 .* not finite") as caught:
        METHODS[name](Precomputed(NOT_FINITE[problem]), np.arange(N), 4)
    assert caught.value.parameter == "kernel"


class Broken(FeatureMade):
    """A kernel of positions, one of which has no feature."""

    def features(self, X: Any) -> Any:
        return np.where(np.asarray(X)[:, None] == 7, np.nan, 1.0)


@ALL
def test_features_with_nan_are_refused_by_their_row(name: str) -> None:
    with pytest.raises(SchemaError, match=r"kernel of row 7 .* not finite"):
        METHODS[name](Broken(), np.arange(N), 4)


def random_square(seed: int, n: int = N) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, n))


@ALL
def test_a_matrix_that_is_not_symmetric_is_refused(name: str) -> None:
    with pytest.raises(SchemaError, match="the kernel is not symmetric: of rows"):
        METHODS[name](Precomputed(random_square(1)), np.arange(N), 4)


@pytest.mark.parametrize("seed", range(8))
def test_exchanges_end_where_nobody_saw_that_the_matrix_is_not_symmetric(seed: int) -> None:
    with mock.patch.object(row_sums, "PROBED", 1), warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)
        try:
            found = fn.select.greedy_mmd(Precomputed(random_square(seed)), np.arange(N), 4, n_starts=5, seed=1)
        except SchemaError as error:
            assert "not symmetric" in str(error)  # noqa: PT017
        else:
            assert len(set(found.indices.tolist())) == 4


@ALL
@pytest.mark.parametrize(
    ("matrix", "words"),
    [(semidefinite() + 1j, "not of complex"), (np.full((N, N), "a", dtype=object), "must be an array of numbers")],
)
def test_what_is_no_number_is_refused(name: str, matrix: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        METHODS[name](Precomputed(matrix), np.arange(N), 4)


@ALL
def test_a_diagonal_of_the_wrong_length_is_refused(name: str) -> None:
    kernel = Precomputed(semidefinite())
    kernel.diag = lambda X: np.ones(3)  # type: ignore[method-assign]
    with pytest.raises(SchemaError, match=r"a number for each of 12 rows, got an array of shape \(3,\)"):
        METHODS[name](kernel, np.arange(N), 4)


def indefinite(n: int) -> Floats:
    matrix = random_square(38, n)
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(matrix)


INDEFINITE = {
    "random": indefinite(N),
    "the mean is below 0": np.eye(N) - 0.2,
    "many rows": indefinite(300),
    "many rows, and the mean is below 0": np.eye(300) - 0.01,
    "one row of many is below 0": np.diag(np.where(np.arange(300) == 100, -1.0, 1.0)),
}


@ALL
@pytest.mark.parametrize("problem", INDEFINITE)
def test_a_matrix_that_is_not_positive_semidefinite_is_told(name: str, problem: str) -> None:
    matrix = INDEFINITE[problem]
    assert np.linalg.eigvalsh(matrix)[0] < -0.5
    if name == "free weights" and "the mean" in problem:
        with pytest.raises(SchemaError, match="not positive semidefinite: no row can be weighed"):
            METHODS[name](Precomputed(matrix), np.arange(len(matrix)), 4)
        return
    with pytest.warns(FishernetWarning, match="not positive semidefinite") as caught:
        METHODS[name](Precomputed(matrix), np.arange(len(matrix)), 4)
    assert len(caught) == 1


def test_weights_have_no_best_values_where_a_row_is_longer_than_its_kernel_says() -> None:
    matrix = indefinite(5)
    with pytest.warns(FishernetWarning, match=r"rows? passed over, with which the weights have no best values"):
        fn.select.protodash(Precomputed(matrix), np.arange(5), 5, sum_to_one=False)
    with pytest.raises(SchemaError, match="not positive semidefinite: no row can be weighed"):
        fn.select.protodash(Precomputed(semidefinite() - 30 * np.eye(N)), np.arange(N), 4)


@given(
    n=st.integers(1, 90), rank=st.integers(0, 4), single=st.booleans(), scale=st.sampled_from([1e-6, 1.0, 1e6]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
@settings(deadline=None, max_examples=30)
def test_of_semidefinite_matrices_nothing_is_said(n: int, rank: int, single: bool, scale: float, seed: int) -> None:
    features = scale * np.random.default_rng(seed).normal(size=(n, rank))
    features = features.astype(np.float32) if single else features
    kernel, k = Precomputed(features @ features.T), min(n, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("mmd_critic", "kernel_thinning", "greedy_mmd", "distance_by_k"):
            METHODS[name](kernel, np.arange(n), k)
        if not single:  # of which combinations of rows are only known to seven digits
            fn.select.protodash(kernel, np.arange(n), k)


def test_a_kernel_that_is_0_has_one_prototype() -> None:
    kernel, rows = Precomputed(np.zeros((5, 5))), np.arange(5)
    found = fn.select.protodash(kernel, rows, 3)
    assert (found.indices.tolist(), found.distance) == ([0], 0.0)
    assert found.weights is not None
    assert found.weights.tolist() == [1.0]
    assert fn.select.distance_by_k(kernel, rows, [2], method="protodash", seed=1).distance.tolist() == [0.0]
    with pytest.raises(FishernetError, match="no row with a weight above 0 is nearer"):
        fn.select.protodash(kernel, rows, 3, sum_to_one=False)


@ALL
def test_numbers_that_no_table_has(name: str) -> None:
    most = N - 1 if name == "criticisms" else N
    for k in (0, -1, most + 1):
        with pytest.raises(FishernetError, match=rf"must be an integer from 1 to {most} .*, got {k}$"):
            METHODS[name](FISHER, TABLE, k)
    with pytest.raises(FishernetError, match="needs a row to choose from, and there is none"):
        METHODS[name](FISHER, TABLE[:0], 1)


@ALL
def test_weights_that_add_up_to_0(name: str) -> None:
    none = fn.Table(TABLE.variables, TABLE.codes, weights=np.zeros(N))
    for kernel in (FISHER, fn.kernels.Rbf(FISHER, 1.0)):
        with pytest.raises(SchemaError, match="all rows have weight 0, so there is nothing to stand for"):
            METHODS[name](kernel, none, 2)


KERNELS = pytest.mark.parametrize("kernel", [FISHER, fn.kernels.Rbf(FISHER, 1.0)], ids=["cells", "rows"])


@ALL
@KERNELS
def test_one_row(name: str, kernel: fn.kernels.Kernel) -> None:
    if name == "criticisms":
        with pytest.raises(FishernetError, match="every row is a prototype"):
            METHODS[name](kernel, TABLE[:1], 1)
        return
    found = METHODS[name](kernel, TABLE[:1], 1)
    assert np.all(found.distance == 0)
    if isinstance(found, fn.select.Selection):
        assert found.indices.tolist() == [0]


@ALL
@KERNELS
def test_equal_rows(name: str, kernel: fn.kernels.Kernel) -> None:
    found = METHODS[name](kernel, TABLE[np.zeros(N, dtype=int)], N - 1)
    if isinstance(found, fn.select.DistanceByK):
        assert found.distance.tolist() == [0.0]
        return
    rows = found.indices.tolist()
    assert len(set(rows)) == len(rows) == (1 if name in ("protodash", "free weights") else N - 1)
    if name != "criticisms":
        assert found.distance == pytest.approx(0.0, abs=1e-12)


def test_no_row_is_left_to_criticize() -> None:
    with pytest.raises(FishernetError, match="every row is a prototype, so there is none to criticize them"):
        fn.select.criticisms(FISHER, TABLE, np.arange(N), 1)


# ------------------------------------------------------------------------------------------------------- arguments

NOT_COUNTS = (0, -1, N + 1, 2.5, 2.0, "3", True, float("nan"), [3])


@ALL
@pytest.mark.parametrize("k", NOT_COUNTS, ids=repr)
def test_a_number_of_rows_that_is_none_or_too_many(name: str, k: Any) -> None:
    with pytest.raises(FishernetError, match=r"(k|ks|m) must be an integer from 1 to 1[12] \(the rows .*\), got"):
        METHODS[name](FISHER, TABLE, k)


IN_PARTS: dict[str, Callable[[Any, int], Any]] = {
    "mmd_critic": lambda k, parts: fn.select.mmd_critic(FISHER, TABLE, k, parts=parts),
    "protodash": lambda k, parts: fn.select.protodash(FISHER, TABLE, k, parts=parts),
    "kernel_thinning": lambda k, parts: fn.select.kernel_thinning(FISHER, TABLE, k, parts=parts),
    "greedy_mmd": lambda k, parts: fn.select.greedy_mmd(FISHER, TABLE, k, parts=parts),
    "greedy_chi_square": lambda k, parts: fn.select.greedy_chi_square(TABLE, k, parts=parts),
    "criticisms": lambda k, parts: fn.select.criticisms(FISHER, TABLE, [0], k, parts=parts),
}


@pytest.mark.parametrize("name", IN_PARTS)
@pytest.mark.parametrize("parts", [0, -1, 5, 2.0, "2", True], ids=repr)
def test_parts_that_are_none_or_have_fewer_rows_than_are_chosen(name: str, parts: Any) -> None:
    with pytest.raises(FishernetError, match="parts must be an integer from 1 to 4 .with k rows or more in each., got"):
        IN_PARTS[name](3, parts)


def test_there_is_nothing_to_choose_from() -> None:
    with pytest.raises(FishernetError, match="greedy_chi_square needs a row to choose from, and there is none"):
        fn.select.greedy_chi_square(TABLE[:0], 1)
    with pytest.raises(FishernetError, match="random_subset needs a row to choose from, and there is none"):
        fn.select.random_subset(TABLE[:0], 1)


@ALL
@pytest.mark.parametrize("data", [None, "rows.csv", 3, 2.5], ids=repr)
def test_what_is_no_table_is_named(name: str, data: Any) -> None:
    with pytest.raises(SchemaError, match=f"needed, not {type(data).__name__}; fn.read_table reads a file"):
        METHODS[name](FISHER, data, 1)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(N - 1), "weights have shape"),
        (np.full(N, -1), "row 0 has -1"),
        (np.full(N, np.nan), "NaN"),
        (["heavy"] * N, "weights must be numbers, not text"),
        (np.full(N, 1e308), "2\\*\\*53"),
    ],
)
def test_weights_that_are_none_of_a_table(weights: Any, words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SchemaError, match=words):
            fn.Table(TABLE.variables, TABLE.codes, weights=weights)
