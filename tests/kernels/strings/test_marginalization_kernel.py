"""The marginalization kernel against its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError
from fishernet.kernels import MarginalizationKernel, Normalized
from tests.strings import rows


class Known:
    """A distribution over 0, 1, ..., times a number so small that only logarithms hold it."""

    def __init__(self, probabilities: npt.ArrayLike, shift: float = 0.0) -> None:
        with np.errstate(divide="ignore"):
            self.log = np.log(np.asarray(probabilities, np.float64)) + shift

    def log_prob(self, items: Any) -> Any:
        return self.log[np.asarray(items, np.intp)]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32))
def test_is_the_sum_over_models(n_models: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    given_m = rows(rng, n_models, 6, 0.3)
    prior = rows(rng, 1, n_models, 0.3)[0]
    k = MarginalizationKernel([Known(p) for p in given_m], prior)
    gram = k(np.arange(6))
    np.testing.assert_allclose(gram, (given_m.T * prior) @ given_m, rtol=1e-12, atol=1e-300)
    assert gram.sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_array_equal(k([1, 2], np.arange(6)), gram[1:3])


def test_items_of_different_models_keep_their_scale() -> None:
    """Each item is likely under another model: no scale of one's own would do for the pair."""
    models = [Known([0.5, 0.5], -2000.0), Known([1.0, 0.0], 0.0), Known([0.0, 1.0], 0.0)]
    k = MarginalizationKernel(models, [0.5, 0.25, 0.25], log=True)
    assert k([0], [1])[0, 0] == pytest.approx(np.log(0.5 * 0.25) - 4000, rel=1e-13)
    assert k([0])[0, 0] == pytest.approx(np.log(0.25), rel=1e-13)


def test_cosines_do_not_underflow() -> None:
    models = [Known([0.5, 0.3, 0.2], -2000.0), Known([0.2, 0.2, 0.6], -2000.0)]
    plain = [Known([0.5, 0.3, 0.2]), Known([0.2, 0.2, 0.6])]
    cosines = Normalized(MarginalizationKernel(models, [0.5, 0.5]))([0, 1, 2])
    gram = MarginalizationKernel(plain, [0.5, 0.5])([0, 1, 2])
    scale = np.sqrt(np.diag(gram))
    np.testing.assert_allclose(cosines, gram / np.outer(scale, scale), rtol=1e-11)


def test_works_on_tables_with_networks() -> None:
    asia = fn.datasets.load("asia")
    table = asia.sample(5, seed=1)
    k = MarginalizationKernel([asia], [1.0])
    np.testing.assert_allclose(k(table), np.exp(np.add.outer(asia.log_prob(table), asia.log_prob(table))), rtol=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SchemaError, match="needs models"):
        MarginalizationKernel([], [])
    with pytest.raises(SchemaError, match="model 1, a str, has no log_prob"):
        MarginalizationKernel([Known([1.0]), "no model"], [0.5, 0.5])  # type: ignore[list-item]
    with pytest.raises(SchemaError, match=r"prior must have shape \(1\)"):
        MarginalizationKernel([Known([1.0])], [0.5, 0.5])

    class Whole:
        def log_prob(self, items: Any) -> float:
            return 0.0

    with pytest.raises(SchemaError, match="one number an item"):
        MarginalizationKernel([Whole()], [1.0])([0, 1])
