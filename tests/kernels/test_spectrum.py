"""The p-spectrum kernel: against counting substrings by hand, and with Markov chains of equal probabilities."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.kernels import FeatureKernel, SpectrumKernel

texts = st.lists(st.text("abc", max_size=9), max_size=6)
alphabets = st.sampled_from([None, "abc", "cxba"])


def by_hand(x: str, y: str, k: int) -> int:
    of_x, of_y = (Counter(s[i : i + k] for i in range(len(s) - k + 1)) for s in (x, y))
    return sum(number * of_y[word] for word, number in of_x.items())


@given(texts, texts, st.integers(1, 4), alphabets)
def test_the_kernel_is_the_inner_product_of_counts(X: list[str], Y: list[str], k: int, alphabet: str | None) -> None:
    kernel = SpectrumKernel(k, alphabet)
    np.testing.assert_array_equal(
        kernel(X, Y), np.array([[by_hand(x, y, k) for y in Y] for x in X]).reshape(len(X), len(Y))
    )
    np.testing.assert_array_equal(kernel(X), kernel(X, X))
    np.testing.assert_array_equal(kernel.diag(X), np.diag(kernel(X)))


@given(texts.filter(bool), st.integers(1, 3))
def test_features_are_the_steps_of_a_markov_chain(X: list[str], k: int) -> None:
    chain = fn.MarkovChain("abc", k - 1, np.full((3,) * k, 1 / 3))
    kernel = SpectrumKernel(k, "abc")
    assert isinstance(kernel, FeatureKernel)
    np.testing.assert_array_equal(kernel.features(X).toarray(), chain.counts(X).toarray())


def test_symbols_may_be_anything() -> None:
    strings: list[Any] = [[1, 2, 1, 2], ("x", 1, 2), []]
    assert SpectrumKernel(2)(strings).tolist() == [[5, 2, 0], [2, 2, 0], [0, 0, 0]]


def test_long_substrings_of_proteins_need_no_table() -> None:
    letters = "ACDEFGHIKLMNPQRSTVWY"
    strings = [letters, letters[::-1], letters * 2]
    assert SpectrumKernel(12, letters)(strings).tolist() == [[9, 0, 18], [0, 9, 0], [18, 0, 4 * 9 + 11]]


def test_what_would_not_fit_says_so() -> None:
    kernel = SpectrumKernel(10, "ACDEFGHIKLMNPQRSTVWY")
    assert isinstance(kernel, FeatureKernel)
    with pytest.raises(fn.StateSpaceError, match="call the kernel"):
        kernel.features(["ACD"])
    with pytest.raises(fn.StateSpaceError, match="take shorter ones"):
        SpectrumKernel(70)(["ab"])


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3"])
def test_a_length_that_is_none_is_refused(k: Any) -> None:
    with pytest.raises(fn.FishernetError, match="k must be an integer of at least 1"):
        SpectrumKernel(k)


def test_a_symbol_outside_the_alphabet_is_named() -> None:
    with pytest.raises(fn.UnknownStateError, match="string 1 has the symbol 'x' at position 0"):
        SpectrumKernel(1, "ab")(["ab", "xb"])
