"""The kernel of independent hidden states against the sum over all hidden strings."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fishernet.base.errors import SchemaError
from fishernet.kernels import HiddenBinomialKernel, HmmKernel, Normalized
from fishernet.models import HiddenMarkovModel
from tests.strings import random_strings, rows

Numbers = npt.NDArray[np.float64]


def tables(rng: np.random.Generator, length: int, own_prior: bool, own_emission: bool) -> tuple[Any, Any]:
    prior = rows(rng, length, 3, 0.2)
    emission = np.stack([rows(rng, 3, 2, 0.2) for _ in range(length)])
    return prior if own_prior else prior[0], emission if own_emission else emission[0]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_equals_the_sum_over_hidden_strings(length: int, own_prior: bool, own_emission: bool, seed: int) -> None:
    prior, emission = tables(np.random.default_rng(seed), length, own_prior, own_emission)
    at_prior = prior if own_prior else [prior] * length
    at_emission = emission if own_emission else [emission] * length
    strings = [list(s) for s in itertools.product(range(2), repeat=length)]
    expected = np.zeros((len(strings), len(strings)))
    for h in itertools.product(range(3), repeat=length):
        weight = np.prod([at_prior[i][a] for i, a in enumerate(h)])
        given_h = np.array([np.prod([at_emission[i][a][s[i]] for i, a in enumerate(h)]) for s in strings])
        expected += weight * np.outer(given_h, given_h)
    k = HiddenBinomialKernel(prior, emission)
    gram = k(strings)
    np.testing.assert_allclose(gram, expected, rtol=1e-12, atol=1e-300)
    assert gram.sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_array_equal(k(strings[:2], strings), gram[:2])


def test_is_the_hmm_kernel_whose_states_do_not_depend_on_the_last() -> None:
    rng = np.random.default_rng(0)
    prior, emission = rows(rng, 1, 3, 0)[0], rows(rng, 3, 4, 0)
    strings = random_strings(0, 5, 4, 10_000, 10_000)
    hmm = HiddenMarkovModel(prior, np.tile(prior, (3, 1)), emission)
    logs = HiddenBinomialKernel(prior, emission, log=True)(strings)
    np.testing.assert_allclose(logs, HmmKernel(hmm, log=True)(strings), rtol=1e-12)
    np.testing.assert_allclose(np.diag(Normalized(HiddenBinomialKernel(prior, emission))(strings)), 1, rtol=1e-9)


def test_lengths_must_fit() -> None:
    shared = HiddenBinomialKernel([1.0], [[0.5, 0.5]], alphabet="ab")
    with pytest.raises(SchemaError, match="string 1 has 2 symbols, others have 1"):
        shared(["a", "ab"])
    own = HiddenBinomialKernel([[1.0]] * 3, [[0.5, 0.5]], alphabet="ab")
    with pytest.raises(SchemaError, match="string 0 has 2 symbols, others have 3"):
        own(["ab"])
    assert own([]).shape == (0, 0)
    assert own([], ["aba"]).shape == (0, 1)
    assert shared(["", ""]).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("prior", "emission", "match"),
    [
        (1.0, [[1.0]], "prior must have shape"),
        ([0.5, 0.4], [[1.0], [1.0]], "prior sums to 0.9"),
        ([0.5, 0.5], [[1.0]], r"emission must have shape \(2, any\)"),
        ([[1.0]] * 2, [[[1.0]]] * 3, "prior is for 2 positions and emission for 3"),
        ([1.0], [[0.5, 0.4]], "row 0 of emission sums to 0.9"),
    ],
)
def test_tables_that_do_not_fit_are_refused(prior: Any, emission: Any, match: str) -> None:
    with pytest.raises(SchemaError, match=match):
        HiddenBinomialKernel(prior, emission)


def test_the_alphabet_must_fit() -> None:
    with pytest.raises(SchemaError, match="the alphabet has 3 symbols, and emission columns for 2"):
        HiddenBinomialKernel([1.0], [[0.5, 0.5]], alphabet="abc")
