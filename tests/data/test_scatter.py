from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.data import Scatter, as_scatter
from fishernet.data.moments import require_independent, scaled_products


def numbers(n: int, d: int, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) @ random.normal(size=(d, d)) + random.normal(0, 10, size=d)


def test_a_scatter_is_what_its_name_says() -> None:
    X = numbers(50, 4)
    scatter = Scatter.from_data(X)
    assert scatter.n == 50
    np.testing.assert_allclose(scatter.mean, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(scatter.S, 49 * np.cov(X.T), rtol=1e-11)
    np.testing.assert_allclose(scatter.uncentred, X.T @ X, rtol=1e-11)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 99))
def test_scatters_of_parts_add_up(sizes: list[int], seed: int) -> None:
    X = numbers(sum(sizes), 3, seed)
    parts = np.split(X, np.cumsum(sizes)[:-1])
    total = Scatter.from_data(parts[0])
    for part in parts[1:]:
        total += Scatter.from_data(part)
    whole = Scatter.from_data(X)
    assert total.n == whole.n
    np.testing.assert_allclose(total.mean, whole.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total.S, whole.S, rtol=1e-9, atol=1e-9)


def test_it_stays_exact_far_from_zero() -> None:
    X = numbers(200, 2, 1)
    near, far = Scatter.from_data(X), Scatter.from_data(X[:100] + 1e8) + Scatter.from_data(X[100:] + 1e8)
    np.testing.assert_allclose(far.S, near.S, rtol=1e-5)


def test_the_answer_for_a_set_is_its_scatter() -> None:
    frame = pd.DataFrame(numbers(20, 4), columns=list("abcd"))
    scatter = Scatter.from_data(frame)
    (part,) = scatter.statistics([(1, 3)])
    direct = Scatter.from_data(frame, names=["b", "d"])
    assert (part.continuous, part.total) == ((1, 3), direct.n)
    np.testing.assert_allclose(part.scatter, direct.S, rtol=1e-12)
    assert [column.name for column in scatter.variables] == list("abcd")
    with pytest.raises(fn.SchemaError, match="ascending positions"):
        scatter.statistics([(2, 1)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [0.0], [[1.0, 0.0]]), "the mean must be"),
        ((3, [0.0, 0.0], [[1.0, 0.5], [0.4, 1.0]]), "symmetric"),
        ((3, [0.0], [[-1.0]]), "negative"),
        ((3, [np.nan], [[1.0]]), "finite"),
        ((-1, [0.0], [[1.0]]), "n must be a number of at least 0"),
        ((3, [0.0], [[1.0]], ["a", "b"]), "2 names for 1 column"),
    ],
)
def test_what_is_no_scatter(arguments: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        Scatter(*arguments)


def test_scatters_of_other_columns_do_not_add() -> None:
    with pytest.raises(fn.SchemaError, match="other columns"):
        Scatter.from_data(numbers(5, 2)) + Scatter.from_data(numbers(5, 3))
    with pytest.raises(fn.SchemaError, match="names says"):
        as_scatter(Scatter.from_data(numbers(5, 2)), ["a", "b"])


def test_constant_columns_are_named() -> None:
    X = numbers(30, 3)
    X[:, 1] = 0.1 + 0.2  # whose squares do not cancel to the last bit
    with pytest.raises(fn.SchemaError, match="'v1' is constant"):
        scaled_products(Scatter.from_data(X), center=True)
    assert scaled_products(Scatter.from_data(X), center=False).shape == (3, 3)


def test_columns_far_from_zero_are_not_constant() -> None:
    seconds = pd.DataFrame({"time": 1.7e9 + np.arange(60.0), "value": numbers(60, 1)[:, 0]})
    assert scaled_products(Scatter.from_data(seconds), center=True).shape == (2, 2)


def test_collinear_columns_are_named_with_those_that_make_them() -> None:
    X = numbers(40, 6)
    X[:, 4] = 2 * X[:, 1] - X[:, 3] + 5
    scatter = Scatter.from_data(X)
    with pytest.raises(fn.SchemaError, match="'v4' is a linear combination of 'v1', 'v3' "):
        require_independent(scatter.names, scaled_products(scatter, center=True), 39)
