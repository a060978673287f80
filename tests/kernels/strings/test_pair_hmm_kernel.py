"""The pair HMM kernel against sums over trajectories, linear systems and arithmetic without limits."""

from __future__ import annotations

import itertools
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError, UnknownStateError
from fishernet.kernels import HmmKernel, Kernel, Normalized, PairHmmKernel, Rbf
from tests.reference.strings import exact_pair_kernel, pair_kernel, path_sum
from tests.strings import models, random_hmm, random_strings


def log_of(number: Decimal) -> float:
    return float(number.ln()) if number > 0 else -np.inf


def drifting(stop: float = 0.0) -> fn.HiddenMarkovModel:
    """Two states that never meet: over long strings of one symbol the other's share underflows any common scale."""
    keep = (1 - stop) * np.eye(2)
    return fn.HiddenMarkovModel(
        [0.5, 0.5], keep, [[0.6, 0.05, 0.35], [0.05, 0.6, 0.35]], alphabet="ab", empty=True, final=[stop, stop]
    )


@settings(max_examples=30, deadline=None)
@given(models(), st.integers(0, 2**32))
def test_equals_the_linear_system_over_everything_that_can_be(hmm: fn.HiddenMarkovModel, seed: int) -> None:
    strings = [[], *random_strings(seed, 4, len(hmm.alphabet), 4)]
    expected = [[pair_kernel(hmm, s, t) for t in strings] for s in strings]
    np.testing.assert_allclose(PairHmmKernel(hmm)(strings), expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("final", [False, True])
def test_equals_the_sum_over_trajectories(final: bool) -> None:
    hmm = random_hmm(5, 2, 2, final=final, empty=True, stop=0.6)
    strings = [[], [0], [1, 0]]
    value = PairHmmKernel(hmm)(strings)
    for (i, s), (j, t) in itertools.product(enumerate(strings), repeat=2):
        truncated = path_sum(hmm, s, t, 6)
        silent = float(hmm.empty.max()) ** 2 if hmm.empty is not None else 0.0
        # of n > 6 visits at least n - |s| - |t| give nothing; which ones is at most a choice of |s| + |t|
        rest = sum(n ** (len(s) + len(t)) * silent ** (n - len(s) - len(t)) for n in range(7, 200))
        assert truncated <= value[i, j] * (1 + 1e-12)
        assert value[i, j] <= truncated + rest


def test_trajectories_that_end_without_symbols_belong_to_it() -> None:
    """One state that gives "a" or nothing: without a final state, any number of silent visits may follow."""
    hmm = fn.HiddenMarkovModel([1.0], [[1.0]], [[0.5, 0.5]], alphabet="a", empty=True)
    # per visit: both 1/4, one 1/4 each, none 1/4; sums of geometric series, ending included
    assert PairHmmKernel(hmm)([""])[0, 0] == pytest.approx(4 / 3, rel=1e-13)
    assert PairHmmKernel(hmm)(["a"], [""])[0, 0] == pytest.approx((1 / 3) * (4 / 3), rel=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_sums_to_one_over_all_pairs_of_strings(seed: int) -> None:
    """With one symbol there is one string of each length; longer ones than 150 have no probability to speak of."""
    hmm = random_hmm(seed, 3, 1, final=True, empty=True, stop=0.4)
    lengths = [[0] * n for n in range(150)]
    assert PairHmmKernel(hmm)(lengths).sum() == pytest.approx(1, abs=1e-9)


def test_sums_over_symbols_to_the_kernel_of_lengths() -> None:
    hmm = random_hmm(2, 3, 3, final=True, empty=True)
    assert hmm.empty is not None
    assert hmm.final is not None
    one = fn.HiddenMarkovModel(
        hmm.initial, hmm.transition, np.column_stack([hmm.emission.sum(axis=1), hmm.empty]), final=hmm.final, empty=True
    )
    for n, m in itertools.product(range(4), repeat=2):
        x = [list(s) for s in itertools.product(range(3), repeat=n)]
        y = [list(s) for s in itertools.product(range(3), repeat=m)]
        assert PairHmmKernel(hmm)(x, y).sum() == pytest.approx(
            PairHmmKernel(one)([[0] * n], [[0] * m])[0, 0], rel=1e-12
        )


@settings(max_examples=30, deadline=None)
@given(models(empty=False), st.integers(0, 2**32))
def test_without_empty_symbols_it_is_the_hmm_kernel_of_each_length(hmm: fn.HiddenMarkovModel, seed: int) -> None:
    strings = random_strings(seed, 10, len(hmm.alphabet), 3)
    gram = PairHmmKernel(hmm)(strings)
    diagonal = PairHmmKernel(hmm).diag(strings)
    for (i, s), (j, t) in itertools.product(enumerate(strings), repeat=2):
        if len(s) != len(t):
            assert gram[i, j] == 0
        else:
            assert gram[i, j] == pytest.approx(HmmKernel(hmm)([s], [t])[0, 0], rel=1e-12)
            assert i != j or diagonal[i] == gram[i, i]


@pytest.mark.parametrize("lengths", [(10_000, 10_000), (10_000, 3_000), (10_000, 0)])
def test_long_strings_of_one_symbol_agree_with_the_binomial_sum(lengths: tuple[int, int]) -> None:
    """Two states that cannot be told apart, one symbol: the number of visits with both symbols is summed over."""
    n, m = lengths
    hmm = fn.HiddenMarkovModel([0.5, 0.5], [[0.7, 0.3], [0.4, 0.6]], [[0.75, 0.25]] * 2, alphabet="a", empty=True)
    with localcontext() as context:
        context.prec = 60
        symbol, none = Decimal("0.75"), Decimal("0.25")
        step = 1 / (1 - none**2)
        both, one = symbol**2 * step, symbol * none * step
        term = one ** (n + m)  # the visits that give s or t alone are ordered in (n + m over n) ways
        for i in range(1, min(n, m) + 1):
            term = term * (max(n, m) + i) / i
        total = term
        for k in range(min(n, m)):
            ratio = Decimal((n - k) * (m - k)) / ((k + 1) * (n + m - k))
            term = term * ratio * both / one**2
            total += term
        expected = log_of(total * step)
    value = PairHmmKernel(hmm, log=True)(["a" * n], ["a" * m])[0, 0]
    assert value == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_decimals_on_a_long_and_a_short_string(seed: int) -> None:
    hmm = random_hmm(seed, 2, 3, final=True, empty=True, stop=0.01)
    (s,) = random_strings(seed, 1, 3, 4000, 4000)
    (t,) = random_strings(seed + 9, 1, 3, 4, 4)
    with localcontext() as context:
        context.prec = 40
        expected = log_of(exact_pair_kernel(hmm, s, t))
    k = PairHmmKernel(hmm, log=True)
    assert k([s], [t])[0, 0] == pytest.approx(expected, rel=1e-13)
    assert k([t], [s])[0, 0] == k([s], [t])[0, 0]


def test_a_state_that_falls_far_behind_is_not_lost() -> None:
    """After 1 000 a's the second state has a share of 12^-1000; after 1 000 b's both are equal again."""
    s, t = "a" * 1000 + "b" * 1000, "b"
    with localcontext() as context:
        context.prec = 40
        hmm = drifting(0.25)
        codes = [["ab".index(c) for c in string] for string in (s, t)]
        expected = log_of(exact_pair_kernel(hmm, *codes))
    assert PairHmmKernel(hmm, log=True)([s], [t])[0, 0] == pytest.approx(expected, rel=1e-13)


def test_tiny_probabilities_do_not_underflow_in_a_step() -> None:
    hmm = fn.HiddenMarkovModel(
        [1.0, 0.0],
        [[1 - 1e-250, 1e-250], [0.0, 1.0]],
        [[1.0, 1e-200, 0.0], [0.0, 1.0, 1e-200]],
        alphabet="ab",
        empty=True,
    )
    # "ab" twice: first state, then either stay (1e-200 each) or move; three visits with nothing in between are rarer
    move, stay = Decimal("1e-250"), Decimal("1e-400")
    value = PairHmmKernel(hmm, log=True)(["ab"])[0, 0]
    assert value == pytest.approx(log_of(move + stay), rel=1e-13)


def test_cosines_of_long_strings_come_from_logarithms() -> None:
    hmm = random_hmm(1, 3, 4, final=True, empty=True, stop=0.01, alphabet="ACGT")
    rng = np.random.default_rng(0)
    first = "".join(rng.choice(list("ACGT"), 1500))
    strings = [first, first[:700] + "A" + first[700:], "".join(rng.choice(list("ACGT"), 1500)), ""]
    cosine = Normalized(PairHmmKernel(hmm))
    gram = cosine(strings)
    assert PairHmmKernel(hmm)([first])[0, 0] == 0  # underflows
    np.testing.assert_array_equal(cosine.diag(strings), 1.0)
    np.testing.assert_allclose(np.diag(gram), 1.0, rtol=1e-10)
    assert (gram == gram.T).all()
    assert 1 > gram[0, 1] > gram[0, 2] > 0
    np.testing.assert_array_equal(Normalized(PairHmmKernel(hmm, log=True))(strings), gram)


def test_cosines_are_those_of_the_values_where_these_do_not_underflow() -> None:
    hmm = random_hmm(4, 3, 2, empty=True)
    strings = random_strings(0, 8, 2, 5)
    gram = PairHmmKernel(hmm)(strings)
    scale = np.sqrt(np.diag(gram))
    np.testing.assert_allclose(Normalized(PairHmmKernel(hmm))(strings), gram / np.outer(scale, scale), rtol=1e-12)


def test_an_impossible_string_has_the_value_zero() -> None:
    hmm = fn.HiddenMarkovModel([1.0], [[1.0]], [[0.6, 0.0, 0.4]], alphabet="ab", empty=True)
    k = PairHmmKernel(hmm)
    np.testing.assert_array_equal(k(["b", "a"])[0], 0.0)
    assert PairHmmKernel(hmm, log=True)(["b"])[0, 0] == -np.inf
    np.testing.assert_array_equal(Normalized(k)(["b", "a"]), [[0, 0], [0, 1]])
    np.testing.assert_array_equal(Normalized(k).diag(["b", "a"]), [0, 1])


@pytest.mark.parametrize("final", [None, [0.0, 0.0]])
def test_a_silent_loop_without_an_end_is_singular(final: list[float] | None) -> None:
    hmm = fn.HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.0, 1.0]], [[0.7, 0.3], [0.0, 1.0]], empty=True, final=final)
    with pytest.raises(SchemaError, match=r"singular: the spectral radius .* is 1, .* the states 1"):
        PairHmmKernel(hmm)


def test_a_silent_loop_that_cannot_be_reached_does_no_harm() -> None:
    hmm = fn.HiddenMarkovModel([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.0, 1.0]], empty=True)
    assert PairHmmKernel(hmm)([[]])[0, 0] == pytest.approx(4 / 3, rel=1e-13)


def test_close_to_singular_keeps_its_precision() -> None:
    """A state that gives a symbol once in 1e9 visits: 1 / (1 - (1 - x)^2) by subtraction would keep half its digits."""
    x = 1e-9
    hmm = fn.HiddenMarkovModel([1.0], [[1.0]], [[x, 1 - x]], empty=True)
    assert PairHmmKernel(hmm)([[]])[0, 0] == pytest.approx(1 / (x * (2 - x)), rel=1e-12)


def test_unknown_symbols_are_named() -> None:
    k = PairHmmKernel(random_hmm(0, 2, 2, empty=True, alphabet="ab"))
    with pytest.raises(UnknownStateError, match="string 1 has the symbol 'c' at position 2"):
        k(["ab", "abc"])


def test_logarithms_are_no_kernel_to_calculate_with() -> None:
    logs = PairHmmKernel(random_hmm(0, empty=True), log=True)
    plain = PairHmmKernel(random_hmm(0, empty=True))
    assert isinstance(plain, Kernel)
    for make in (lambda: logs + plain, lambda: plain * logs, lambda: 2.0 * logs, lambda: Rbf(logs, 1.0)):
        with pytest.raises(FishernetError, match="gives logarithms"):
            make()
    assert (plain + plain)([[0]])[0, 0] == pytest.approx(2 * plain([[0]])[0, 0], rel=1e-13)
