from __future__ import annotations

import numpy as np
import pytest

from studies.averages import counts, means, standard_errors

nan = np.nan
VALUES = np.array([[1.0, 3.0, 8.0], [2.0, nan, nan], [nan, nan, nan]])


def test_averages_are_over_what_is_there() -> None:
    assert counts(VALUES, 1).tolist() == [3, 1, 0]
    np.testing.assert_array_equal(means(VALUES, 1), [4, 2, nan])
    error = np.std([1, 3, 8], ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(standard_errors(VALUES, 1), [error, nan, nan])


def test_any_axis() -> None:
    cube = np.random.default_rng(1).normal(size=(2, 5, 3))
    np.testing.assert_allclose(means(cube, 1), cube.mean(axis=1))
    expected = cube.std(axis=1, ddof=1) / np.sqrt(5)
    assert standard_errors(cube, 1) == pytest.approx(expected)
