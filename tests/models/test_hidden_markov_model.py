"""Hidden Markov models: every number is a sum over trajectories."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError, ZeroProbabilityError
from tests.reference.hidden_markov import (
    Parts,
    all_strings,
    log_probability,
    parts,
    possible,
    probability,
    random_parts,
    trajectories,
    two_states,
)

# ------------------------------------------------------------------------------------------------- log-probabilities


@settings(max_examples=60, deadline=None)
@given(parts(empty=False, most_states=3))
def test_log_prob_is_the_sum_over_trajectories(m: Parts) -> None:
    strings = all_strings(m.n_symbols, 3)
    expected = [sum(t.weight for t in trajectories(m, string, 3)) for string in strings]
    np.testing.assert_allclose(np.exp(m.model().log_prob(strings)), expected, rtol=1e-11)


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_with_empties_it_is_the_limit_of_sums_over_longer_trajectories(final: bool, seed: int) -> None:
    m = random_parts(seed, 2, 2, final=final, empty=True)
    m = Parts(m.initial, m.transition, m.emission * [1, 1, 0.005], m.final, True, m.at_once).normalized()
    for string in all_strings(2, 2):
        sums = np.cumsum(
            [sum(t.weight for t in trajectories(m, string, k) if len(t.states) == k) for k in range(len(string) + 5)]
        )
        assert np.exp(m.model().log_prob([string])[0]) == pytest.approx(sums[-1], rel=1e-5)
        assert np.exp(m.model().log_prob([string])[0]) >= sums[-1] * (1 - 1e-12)


@settings(max_examples=100, deadline=None)
@given(parts())
def test_log_prob_is_that_of_a_matrix_inverse(m: Parts) -> None:
    strings = all_strings(m.n_symbols, 3)
    expected = [probability(m, string) for string in strings]
    np.testing.assert_allclose(np.exp(m.model().log_prob(strings)), expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("n_states", [1, 3, 8, 11, 17, 40])
def test_strings_of_ten_thousand_symbols_lose_nothing(n_states: int, final: bool) -> None:
    m = random_parts(n_states, n_states, 5, final=final)
    length = 10_000 if n_states < 10 else 2_000
    string = np.random.default_rng(1).integers(0, 5, length).tolist()
    expected = log_probability(m, string)
    assert m.model().log_prob([string])[0] == pytest.approx(float(expected), rel=1e-13)


def two_worlds(length: int) -> tuple[Parts, list[int]]:
    """A model whose first state explains the first half far better, but cannot have made the second."""
    emission = np.array([[0.98, 0.02 - 1e-9, 1e-9], [0.02, 0.01, 0.97]])
    m = Parts(np.array([0.5, 0.5]), np.eye(2), emission, None, False, 0.0)
    return m, [0] * length + [2] * length


def test_a_state_that_seemed_impossible_may_turn_out_to_be_the_one() -> None:
    m, string = two_worlds(3000)
    with np.errstate(divide="ignore"):
        expected = log_probability(m, string)
    assert m.model().log_prob([string])[0] == pytest.approx(float(expected), rel=1e-13)
    shares = m.model().posterior([string])[0]
    np.testing.assert_allclose(shares, np.tile([0.0, 1.0], (6000, 1)), atol=1e-12)
    scores = m.model().fisher_scores([string], parameters=["emission"])[0]
    np.testing.assert_allclose(scores[3:6], [3000 / 0.02 - 6000, -6000, 3000 / 0.97 - 6000], rtol=1e-10)
    moves = m.model().fisher_scores([string], parameters=["transition"])[0]
    assert moves[1] == np.inf  # a way from the first to the second would be worth e^11000
    np.testing.assert_allclose(moves[[0, 2, 3]], [0, -5999, 0], rtol=1e-10, atol=1e-8)


def test_tiny_probabilities_do_not_vanish() -> None:
    tiny = 1e-300
    m = Parts(np.array([1 - tiny, tiny]), np.eye(2), np.array([[1, 0], [0, 1.0]]), None, False, 0.0)
    assert m.model().log_prob([[1] * 5])[0] == pytest.approx(np.log(tiny))
    m = Parts(np.array([1.0, 0]), np.array([[1, tiny], [0, 1]]), np.array([[1, 0], [tiny, 1.0]]), None, False, 0.0)
    assert m.model().log_prob([[0, 1, 0, 0]])[0] == pytest.approx(3 * np.log(tiny))


def left_to_right(n: int, *, empty: bool) -> Parts:
    """A model of many states and few transitions; with empties every other state has no symbol."""
    transition = np.zeros((n, n))
    for a in range(n):
        for to, weight in ((a, 0.3), (a + 1, 0.5), (a + 2, 0.2)):
            transition[a, min(to, n - 1)] += weight
    if empty:
        transition[np.arange(n), np.arange(n)] *= np.arange(n) % 2 == 0
        transition /= transition.sum(axis=1, keepdims=True).clip(1e-300)
    emission = np.random.default_rng(0).dirichlet(np.ones(3), n)
    if empty:
        silent = (np.arange(n) % 2).astype(float)
        emission = np.column_stack([emission * (1 - silent)[:, None], silent])
    final = np.full(n, 0.01)
    final[-1] = 1.0
    transition *= (1 - final)[:, None]
    first = np.zeros(n)
    first[0] = 1.0
    return Parts(first, transition, emission, final, empty, 0.0)


@pytest.mark.parametrize("empty", [False, True])
def test_many_states_with_few_transitions(empty: bool) -> None:
    m = left_to_right(300, empty=empty)
    assert not m.model().native.dense
    small = left_to_right(9, empty=empty)
    for parts_, length in ((m, 20), (small, 6)):
        string = np.random.default_rng(2).integers(0, 3, length).tolist()
        assert parts_.model().log_prob([string])[0] == pytest.approx(np.log(probability(parts_, string)), rel=1e-11)


# ------------------------------------------------------------------------------------------ posteriors and decoding


@settings(max_examples=60, deadline=None)
@given(parts())
def test_posteriors_are_shares_of_the_trajectories(m: Parts) -> None:
    strings = possible(m, all_strings(m.n_symbols, 2))
    silent = m.emission[:, -1] if m.empty else np.zeros(m.n_states)
    closure = np.linalg.inv(np.eye(m.n_states) - silent[:, None] * m.transition)
    model = m.model()
    found, logs = model.posterior(strings, return_log_prob=True)
    np.testing.assert_array_equal(logs, model.log_prob(strings))
    for string, shares in zip(strings, found, strict=True):
        assert shares.shape == (len(string), m.n_states)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-11)
        for place, state in itertools.product(range(len(string)), range(m.n_states)):
            assert shares[place, state] == pytest.approx(through(m, closure, string, place, state), rel=1e-9, abs=1e-13)


def through(m: Parts, closure: Any, string: list[int], place: int, state: int) -> float:
    """P(symbol `place` is of `state` | string): all other states are forbidden there."""
    silent = m.emission[:, -1] if m.empty else np.zeros(m.n_states)
    stop = np.ones(m.n_states) if m.final is None else m.final
    entered = m.initial @ closure
    visited = entered * silent
    for i, symbol in enumerate(string):
        spoken = entered * m.emission[:, symbol]
        if i == place:
            spoken = spoken * (np.arange(m.n_states) == state)
        entered = spoken @ m.transition @ closure
        visited = spoken + entered * silent
    return float(visited @ stop) / probability(m, string)


@settings(max_examples=60, deadline=None)
@given(parts(most_states=3))
def test_viterbi_finds_a_best_trajectory(m: Parts) -> None:
    strings = [string for string in all_strings(m.n_symbols, 2) if string]
    for string in strings:
        found: dict[tuple[int, ...], float] = {}
        for t in trajectories(m, string, 5):
            spoken = tuple(a for a, symbol in zip(t.states, t.symbols, strict=True) if symbol is not None)
            found[spoken] = max(found.get(spoken, 0.0), t.weight)
        best = max(found.values())
        if best == 0:
            if probability(m, string) == 0:
                with pytest.raises(ZeroProbabilityError):
                    m.model().decode([string])
            continue
        states = tuple(m.model().decode([string])[0].tolist())
        assert found[states] == pytest.approx(best, rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([2, 8, 9, 20]))
def test_viterbi_of_long_strings_is_the_dynamic_program(seed: int, n_states: int) -> None:
    m = random_parts(seed, n_states, 4)
    string = np.random.default_rng(seed).integers(0, 4, 60)
    scores = np.log(m.initial) + np.log(m.emission[:, string[0]])
    back = []
    for symbol in string[1:]:
        steps = scores[:, None] + np.log(m.transition)
        back.append(steps.argmax(axis=0))
        scores = steps.max(axis=0) + np.log(m.emission[:, symbol])
    states = [int(scores.argmax())]
    for pointers in reversed(back):
        states.append(int(pointers[states[-1]]))
    assert m.model().decode([string.tolist()])[0].tolist() == states[::-1]


def test_posterior_decoding_takes_the_likeliest_state_of_each_symbol() -> None:
    shares = two_states().posterior(["abba", ""])
    decoded = two_states().decode(["abba", ""], method="posterior")
    assert [states.tolist() for states in decoded] == [share.argmax(axis=1).tolist() for share in shares]


# -------------------------------------------------------------------------------------------------------- samples


def test_samples_may_have_lengths_of_their_own() -> None:
    assert list(map(len, two_states().sample(3, length=[0, 4, 2], seed=1))) == [0, 4, 2]


def test_samples_of_what_never_stops_are_refused() -> None:
    stuck = fn.HiddenMarkovModel([0.5, 0.5], [[0.5, 0.0], [0.0, 1.0]], [[1.0], [1.0]], final=[0.5, 0.0])
    with pytest.raises(SchemaError, match="state 1 never stops"):
        stuck.sample(1)
    with pytest.raises(SchemaError, match="give length"):
        two_states().sample(1)
    with pytest.raises(SchemaError, match="draws the lengths itself"):
        random_parts(1, 2, 2, final=True).model().sample(1, length=3)


# ---------------------------------------------------------------------------------------------------- bad input


def test_an_impossible_string_has_probability_zero_and_no_scores() -> None:
    hmm = fn.HiddenMarkovModel([1, 0], [[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], alphabet="ab")
    assert hmm.log_prob(["abb", "aa"]).tolist() == [0.0, -np.inf]
    for method in (hmm.fisher_scores, hmm.posterior, hmm.decode, hmm.expected_counts):
        with pytest.raises(ZeroProbabilityError, match="string 1 has probability 0"):
            method(["abb", "aa"])


def test_a_loop_without_symbols_and_without_an_end_is_singular() -> None:
    loop = fn.HiddenMarkovModel([1, 0], [[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5], [0.0, 1.0]], empty=True)
    with pytest.raises(SchemaError, match=r"state 1 .* singular"):
        loop.log_prob([[0]])
    never_met = fn.HiddenMarkovModel([1, 0], [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.0, 1.0]], empty=True)
    assert never_met.log_prob([[]])[0] == pytest.approx(np.log(1 + 0.5 / (1 - 0.5)))


def test_the_empty_string_is_a_string() -> None:
    assert two_states().log_prob([""])[0] == 0
    assert two_states().fisher_scores([""]).tolist() == [[0.0] * 10]
    stopping = fn.HiddenMarkovModel([0.75], [[0.5]], [[1.0]], final=[0.5])
    assert np.exp(stopping.log_prob([[], [0]])) == pytest.approx([0.25, 0.375])


def test_unknown_options_are_refused() -> None:
    with pytest.raises(SchemaError, match="unknown method"):
        two_states().decode(["ab"], method="best")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="parameters must be some of"):
        two_states().fisher_scores(["ab"], parameters=["final"])


# ------------------------------------------------------------------------------------------------------ its identity


class Fitted:
    startprob_ = np.array([0.5, 0.5])
    transmat_ = np.array([[0.9, 0.1 + 1e-7], [0.2, 0.8]])
    emissionprob_ = np.array([[0.8, 0.2], [0.3, 0.7]])


def test_a_model_of_hmmlearn_is_taken_over() -> None:
    hmm = fn.HiddenMarkovModel.from_hmmlearn(Fitted(), alphabet="ab")
    np.testing.assert_allclose(hmm.transition, two_states().transition, atol=1e-7)
    assert hmm.alphabet.symbols == ("a", "b")
    with pytest.raises(SchemaError, match="has no startprob_"):
        fn.HiddenMarkovModel.from_hmmlearn(object())
