"""The HMM kernel on strings of one length against sums over hidden paths and decimals."""

from __future__ import annotations

import itertools
from decimal import localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError
from fishernet.kernels import HmmKernel, Normalized, PairHmmKernel
from tests.reference.strings import exact_hmm_kernel, path_sum
from tests.strings import models, random_hmm, random_strings


@settings(max_examples=40, deadline=None)
@given(models(empty=False), st.integers(0, 4), st.integers(0, 2**32))
def test_equals_the_sum_over_hidden_paths(hmm: fn.HiddenMarkovModel, length: int, seed: int) -> None:
    x = random_strings(seed, 3, len(hmm.alphabet), length, length)
    y = random_strings(seed + 1, 2, len(hmm.alphabet), length, length)
    expected = [[path_sum(hmm, s, t, length, length) for t in y] for s in x]
    np.testing.assert_allclose(HmmKernel(hmm)(x, y), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("final", [False, True])
def test_sums_over_all_pairs_of_strings_to_the_probability_of_the_length(final: bool) -> None:
    hmm = random_hmm(3, 3, 2, final=final)
    strings = [list(s) for s in itertools.product(range(2), repeat=5)]
    weights = hmm.initial @ np.linalg.matrix_power(hmm.transition, 4)
    expected = 1.0 if hmm.final is None else weights @ hmm.final
    assert HmmKernel(hmm)(strings).sum() == pytest.approx(expected, rel=1e-12)


def test_more_strings_than_a_block_are_all_there() -> None:
    hmm = random_hmm(0, 3, 4)
    strings = random_strings(0, 150, 4, 7, 7)
    k = HmmKernel(hmm)
    gram = k(strings)
    for i, j in [(0, 0), (3, 149), (149, 3), (70, 64), (64, 63), (20, 127)]:
        assert gram[i, j] == pytest.approx(k([strings[i]], [strings[j]])[0, 0], rel=1e-13)


def test_agrees_with_decimals_on_strings_of_10_000_symbols() -> None:
    hmm = random_hmm(7, 3, 4)
    s, t = random_strings(1, 2, 4, 10_000, 10_000)
    with localcontext() as context:
        context.prec = 40
        expected = float(exact_hmm_kernel(hmm, s, t).ln())
    assert HmmKernel(hmm, log=True)([s], [t])[0, 0] == pytest.approx(expected, rel=1e-13)
    assert HmmKernel(hmm)([s], [t])[0, 0] == 0  # far below the range of doubles


def test_a_state_that_falls_far_behind_is_not_lost() -> None:
    hmm = fn.HiddenMarkovModel([0.3, 0.7], np.eye(2), [[0.9, 0.1], [0.1, 0.9]])
    s, t = [0] * 5000 + [1] * 5000, [0] * 4999 + [1] * 5001
    with localcontext() as context:
        context.prec = 40
        expected = float(exact_hmm_kernel(hmm, s, t).ln())
    k = HmmKernel(hmm, log=True)
    assert k([s], [t])[0, 0] == pytest.approx(expected, rel=1e-13)
    assert k.diag([s])[0] == k([s])[0, 0]


def test_cosines_of_long_strings_are_finite() -> None:
    hmm = random_hmm(2, 4, 4)
    strings = random_strings(2, 3, 4, 3000, 3000)
    gram = Normalized(HmmKernel(hmm))(strings)
    np.testing.assert_allclose(np.diag(gram), 1, rtol=1e-9)
    assert (gram >= 0).all()
    assert (gram <= 1 + 1e-9).all()


def test_an_impossible_string_has_the_value_zero() -> None:
    hmm = fn.HiddenMarkovModel([1.0], [[1.0]], [[1.0, 0.0]], alphabet="ab")
    np.testing.assert_array_equal(HmmKernel(hmm)(["aa", "ab"]), [[1, 0], [0, 0]])
    assert HmmKernel(hmm, log=True)(["ab"])[0, 0] == -np.inf


def test_strings_of_different_lengths_are_refused() -> None:
    k = HmmKernel(random_hmm(0, 2, 2, alphabet="ab"))
    with pytest.raises(SchemaError, match="string 1 has 3 symbols, others have 2; PairHmmKernel"):
        k(["ab", "aba"])
    with pytest.raises(SchemaError, match="string 0 has 1 symbol, others have 2"):
        k(["ab"], ["a"])


def test_a_model_with_empty_emissions_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"use PairHmmKernel"):
        HmmKernel(random_hmm(0, empty=True))


def test_empty_strings_and_no_strings() -> None:
    assert HmmKernel(random_hmm(0))([[], []]).tolist() == [[1, 1], [1, 1]]
    hmm = random_hmm(0, final=True)
    assert HmmKernel(hmm)([[]])[0, 0] == pytest.approx(hmm.stop_at_once, rel=1e-13)
    assert HmmKernel(hmm)([]).shape == (0, 0)
    assert HmmKernel(hmm)([[0, 1]], []).shape == (1, 0)
    assert HmmKernel(hmm)([], [[0, 1]]).shape == (0, 1)
    assert HmmKernel(hmm).diag([]).shape == (0,)


def test_states_whose_moves_are_alike_are_as_good_as_others() -> None:
    """Rows that are equal are summed before they move; the kernel of a model split in copies is the same."""
    hmm = random_hmm(1, 2, 3, empty=True, final=True)
    assert hmm.empty is not None
    assert hmm.final is not None
    twice = np.repeat([0, 1], 2)
    split = fn.HiddenMarkovModel(
        hmm.initial[twice] / 2,
        hmm.transition[np.ix_(twice, twice)] / 2,
        np.column_stack([hmm.emission, hmm.empty])[twice],
        final=hmm.final[twice],
        empty=True,
    )
    strings = random_strings(0, 6, 3, 6)
    np.testing.assert_allclose(PairHmmKernel(split)(strings), PairHmmKernel(hmm)(strings), rtol=1e-12)
