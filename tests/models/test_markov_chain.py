"""Markov chains: products over strings, the spectrum, and what is refused. Laws of all models are in contracts."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.models.sequences.alphabet import Alphabet

Array = npt.NDArray[np.float64]
Codes = tuple[int, ...]


@st.composite
def chains(draw: st.DrawFn, *, end: bool | None = None, zeros: bool = True) -> fn.MarkovChain:
    n_symbols, order = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    ends = draw(st.booleans()) if end is None else end
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (n_symbols,) * order + (n_symbols + ends,)
    weights = rng.random(shape) + 0.05
    if zeros and draw(st.booleans()):
        weights *= rng.random(shape) < 0.7
        weights[..., -1] += 0.1  # the end, where there is one, stays possible
    start = rng.random(shape[:-1])
    transition = weights / weights.sum(axis=-1, keepdims=True)
    return fn.MarkovChain(range(n_symbols), order, transition, end=ends, start=start / start.sum())


def probability(chain: fn.MarkovChain, string: Codes) -> float:
    """The product over the string, symbol by symbol, given its first ones."""
    k = chain.order
    steps = [*string, len(chain.alphabet)] if chain.end else list(string)
    return math.prod(float(chain.transition[tuple(steps[j - k : j + 1])]) for j in range(k, len(steps)))


def all_strings(chain: fn.MarkovChain, length: int) -> list[Codes]:
    return list(product(range(len(chain.alphabet)), repeat=length))


@given(chains(), st.integers(0, 5))
def test_log_prob_is_the_sum_over_the_string(chain: fn.MarkovChain, length: int) -> None:
    strings = all_strings(chain, length)
    np.testing.assert_allclose(
        np.exp(chain.log_prob(strings)), [probability(chain, s) for s in strings], rtol=1e-12, atol=0
    )


def test_strings_shorter_than_the_order_are_given() -> None:
    without = fn.MarkovChain("ab", 2, np.full((2, 2, 2), 0.5))
    assert without.log_prob(["", "a", "ab"]).tolist() == [0, 0, 0]
    assert not without.fisher_scores(["", "a", "ab"]).any()
    ending = fn.MarkovChain("ab", 2, np.full((2, 2, 3), [0.25, 0.25, 0.5]), end=True)
    np.testing.assert_allclose(ending.log_prob(["", "a", "ab"]), [0, 0, math.log(0.5)])


def test_the_information_does_not_see_contexts_that_are_never_reached() -> None:
    chain = fn.MarkovChain("ab", 1, [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0]], end=True, start=[1, 0])
    # the steps N from 'a' are geometric: E[N] = 2, E[N^2] = 6, and 'b' after 'a' has the score -N
    np.testing.assert_allclose(np.diag(chain.fisher_information()), [2 * (2 - 1), 6, 2 * (2 - 1), 0, 0, 0])


@given(st.integers(1, 4), st.integers(0, 3), st.lists(st.text("abcd", max_size=12), min_size=1, max_size=4))
def test_equal_probabilities_give_the_spectrum_less_its_mean(m: int, order: int, strings: list[str]) -> None:
    """Scores are |alphabet| times the (k+1)-spectrum, less how often the context is followed by a symbol."""
    letters = "abcd"[:m]
    strings = [s.translate(str.maketrans("abcd", (letters * 4)[:4])) for s in strings]
    words = ["".join(word) for word in product(letters, repeat=order + 1)]
    found = np.array(
        [[sum(s.startswith(word, i) for i in range(len(s))) for word in words] for s in strings], dtype=float
    )
    followed = found.reshape(len(strings), -1, m).sum(axis=2).repeat(m, axis=1)
    chain = fn.MarkovChain(letters, order, np.full((m,) * (order + 1), 1 / m))
    np.testing.assert_allclose(chain.fisher_scores(strings), m * found - followed, atol=1e-12)
    np.testing.assert_array_equal(chain.counts(strings).toarray(), found)


def test_long_strings_lose_no_precision() -> None:
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(4), 16).reshape(4, 4, 4)
    codes = rng.integers(0, 4, 100_000)
    logs = np.log(rows[codes[:-2], codes[1:-1], codes[2:]])
    chain = fn.MarkovChain(range(4), 2, rows)
    np.testing.assert_allclose(chain.log_prob([codes.tolist()])[0], math.fsum(logs), rtol=1e-12)


# ------------------------------------------------------------------------------------------------------------ draws


def test_draws_may_have_lengths_of_their_own() -> None:
    chain = fn.MarkovChain([10, "x"], 0, [0.5, 0.5])
    assert [len(s) for s in chain.sample(3, length=[0, 1, 7], seed=5)] == [0, 1, 7]
    assert set(chain.sample(1, length=50, seed=1)[0]) == {10, "x"}


# -------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("ab", 1, [[0.5, 0.4], [0.5, 0.5]]), {}, "row 0 of transition sums to 0.9"),
        (("ab", 1, [0.5, 0.5]), {}, r"transition must have shape \(2, 2\), got \(2,\)"),
        (("ab", 1, [[0.5, 0.5], [0.5, 0.5]]), {"end": True}, r"shape \(2, 3\)"),
        (("ab", -1, [0.5, 0.5]), {}, "integer of at least 0, got -1"),
        (("ab", 1.0, [0.5, 0.5]), {}, "integer of at least 0, got 1.0"),
        (("ab", 1, [[np.nan, 0.5], [0.5, 0.5]]), {}, "nan"),
        (("ab", 1, [[0.5, 0.5], [0.5, 0.5]]), {"start": [0.5, 0.4]}, "start sums to 0.9"),
        (("ab", 1, [[0.5, 0.5], [0.5, 0.5]]), {"start": [[0.5, 0.5]]}, r"start must have shape \(2,\)"),
        (("aa", 0, [0.5, 0.5]), {}, "twice"),
    ],
)
def test_wrong_tables_are_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        fn.MarkovChain(*arguments, **options)


def test_a_table_that_would_not_fit_says_how_large_it_would_be() -> None:
    with pytest.raises(fn.StateSpaceError, match="order 12 over 20 symbols") as caught:
        fn.MarkovChain(range(20), 12, [])
    assert caught.value.cells == 20**13


def test_the_first_impossible_step_is_named() -> None:
    chain = fn.MarkovChain("ab", 1, [[1.0, 0.0], [0.5, 0.5]])
    with pytest.raises(fn.ZeroProbabilityError, match=r"string 1 has 'b' after \['a'\]"):
        chain.fisher_scores(["aa", "aab"])


def test_unknown_symbols_may_be_taken_for_a_known_one() -> None:
    taken = fn.MarkovChain(Alphabet("ab", unknown="b"), 0, [0.75, 0.25])
    np.testing.assert_allclose(taken.log_prob(["x"]), np.log(0.25))


@pytest.mark.parametrize(
    ("chain", "length", "message"),
    [
        (fn.MarkovChain("ab", 1, [[0.5, 0.5]] * 2), None, "give length="),
        (fn.MarkovChain("ab", 1, [[0.5, 0.3, 0.2]] * 2, end=True), 4, "takes no length="),
        (fn.MarkovChain("ab", 1, [[0.5, 0.3, 0.2], [0.0, 1.0, 0.0]], end=True), None, "context number 1 .* never end"),
    ],
)
def test_lengths_that_do_not_fit_the_chain_are_refused(chain: fn.MarkovChain, length: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        chain.sample(1, length=length)
    with pytest.raises(fn.FishernetError, match=message):
        chain.fisher_information(length=length)


def test_drawn_strings_cannot_be_shorter_than_their_context() -> None:
    with pytest.raises(fn.FishernetError, match="context of 2 symbols; got length 1"):
        fn.MarkovChain("ab", 2, np.full((2, 2, 2), 0.5)).sample(2, length=[1, 3])
