"""Markov chains learned by counts: against counting by hand, and what cannot be learned."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.models.sequences.alphabet import Alphabet

texts = st.lists(st.text("abc", max_size=10), min_size=1, max_size=6)


def counted(strings: list[str], order: int, end: bool) -> Counter[tuple[str, str]]:
    steps: Counter[tuple[str, str]] = Counter()
    for string in strings:
        symbols = [*string, "end"] if end else [*string]
        steps.update((string[j - order : j], symbols[j]) for j in range(order, len(symbols)))
    return steps


@given(texts, st.integers(0, 3), st.booleans(), st.floats(0.1, 3))
def test_a_probability_is_the_smoothed_share_of_steps(strings: list[str], order: int, end: bool, more: float) -> None:
    chain = fn.learn.markov_chain(strings, order=order, alphabet="abc", smoothing=more, end=end)
    steps = counted(strings, order, end)
    following = [*"abc", "end"] if end else [*"abc"]
    starts = Counter(string[:order] for string in strings if len(string) >= order)
    for codes in product(range(3), repeat=order):
        context = "".join("abc"[code] for code in codes)
        weights = np.array([steps[context, symbol] + more for symbol in following])
        np.testing.assert_allclose(chain.transition[codes], weights / weights.sum(), rtol=1e-12)
        share = (starts[context] + more) / (sum(starts.values()) + more * 3**order)
        np.testing.assert_allclose(chain.start[codes], share, rtol=1e-12)


@given(texts, st.integers(0, 2), st.integers(0, 2**32))
def test_plain_shares_have_the_highest_likelihood(strings: list[str], order: int, seed: int) -> None:
    smooth = fn.learn.markov_chain(strings, order=order, alphabet="abc", smoothing=1e-9)
    best = smooth.log_prob(strings).sum()
    other = np.random.default_rng(seed).dirichlet(np.ones(3), 3**order).reshape((3,) * (order + 1))
    assert fn.MarkovChain("abc", order, other).log_prob(strings).sum() <= best + 1e-6


def test_the_alphabet_is_what_occurs() -> None:
    assert fn.learn.markov_chain(["cab", "b"], order=1).alphabet.symbols == ("a", "b", "c")
    assert fn.learn.markov_chain([[3, 1], (2,)], order=0).alphabet.symbols == (1, 2, 3)
    assert fn.learn.markov_chain([["b", 1, "a"]], order=0).alphabet.symbols == ("b", 1, "a")
    arrays: list[Any] = [np.array([1, 0])]
    assert fn.learn.markov_chain(arrays, order=0).alphabet.symbols == (0, 1)
    assert fn.learn.markov_chain((s for s in ["ba"]), order=0).alphabet.symbols == ("a", "b")


def test_a_chain_is_recovered_from_its_draws() -> None:
    true = fn.MarkovChain("ab", 1, [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]], end=True, start=[0.2, 0.8])
    learned = fn.learn.markov_chain(true.sample(20_000, seed=4), order=1, end=True)
    np.testing.assert_allclose(learned.transition, true.transition, atol=0.01)
    np.testing.assert_allclose(learned.start, true.start, atol=0.01)


def test_without_smoothing_a_context_must_occur() -> None:
    with pytest.raises(fn.ZeroProbabilityError, match="1 contexts never occur before a symbol, the first is 'b'"):
        fn.learn.markov_chain(["aab"], order=1, smoothing=0)
    chain = fn.learn.markov_chain(["aabb"], order=1, smoothing=0)
    assert chain.transition.tolist() == [[0.5, 0.5], [0, 1]]


@pytest.mark.parametrize(
    ("sequences", "options", "error", "message"),
    [
        ("abab", {}, fn.SchemaError, "not one string"),
        ([], {}, fn.SchemaError, "say alphabet="),
        (["", ""], {}, fn.SchemaError, "say alphabet="),
        ([3], {}, fn.SchemaError, "string 0 is no sequence"),
        (["ab"], {"alphabet": "a"}, fn.UnknownStateError, "string 0 has the symbol 'b' at position 1"),
        (["ab"], {"smoothing": -1}, fn.FishernetError, "smoothing"),
        (["ab"], {"smoothing": "snml"}, fn.FishernetError, "smoothing"),
        (["ab"], {"smoothing": float("nan")}, fn.FishernetError, "smoothing"),
        (["ab"], {"order": 1.5}, fn.SchemaError, "order"),
        (["ab"], {"order": 40}, fn.StateSpaceError, "lower order"),
    ],
)
def test_wrong_input_is_refused(sequences: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fn.learn.markov_chain(sequences, **{"order": 1, **options})


def test_unknown_symbols_may_be_taken_for_a_known_one() -> None:
    chain = fn.learn.markov_chain(["aNb"], order=0, alphabet=Alphabet("abX", unknown="X"), smoothing=0)
    np.testing.assert_allclose(chain.transition, 1 / 3)


FRAME = {"x": ["a", "b"]}


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, fn.Table.from_frame])
def test_frames_are_no_strings(kind: Any) -> None:
    """A frame goes through its columns' names, which are nobody's symbols."""
    with pytest.raises(fn.SchemaError, match=r"not a frame; write frame\[name\]"):
        fn.learn.markov_chain(kind(FRAME), order=1)
    for of in (lambda some: fn.learn.markov_chain(some, order=1), fn.kernels.SpectrumKernel(1)):
        with pytest.raises(fn.SchemaError, match="string 0 is no sequence of symbols"):
            of([kind(FRAME)])


def test_columns_are_strings_and_lists_of_them() -> None:
    chain = fn.learn.markov_chain(["ab", "ba", "aab"], order=1)
    for some in (pd.Series(["ab", "ba", "aab"]), pa.array(["ab", "ba", "aab"]), np.array(["ab", "ba", "aab"])):
        assert fn.learn.markov_chain(some, order=1) == chain
    assert fn.learn.markov_chain([pd.Series(["a", "b"]), pd.Series(["b", "a"]), list("aab")], order=1) == chain


def test_many_numbers_are_warned_of() -> None:
    some = np.random.default_rng(0).normal(size=(5, 20))
    with pytest.warns(fn.FishernetWarning, match="100 different numbers are taken for symbols"):
        fn.learn.markov_chain(some, order=1)
    fn.learn.markov_chain(some, order=1, alphabet=sorted(set(some.ravel().tolist())))
