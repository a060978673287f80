"""Hidden Markov models: expected counts, scores and information, against enumeration and derivatives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import fishernet as fn
from fishernet.base.errors import SchemaError, StateSpaceError
from tests.reference.hidden_markov import (
    KINDS,
    Parts,
    all_strings,
    exact_scores,
    numerical_scores,
    parts,
    possible,
    probability,
    random_parts,
    trajectories,
    two_states,
    with_tiny_numbers,
)


@settings(max_examples=60, deadline=None)
@given(parts(empty=False, most_states=3))
def test_expected_counts_are_averages_over_trajectories(m: Parts) -> None:
    strings = possible(m, all_strings(m.n_symbols, 3))
    counts = m.model().expected_counts(strings)
    for i, string in enumerate(strings):
        emission, transition = np.zeros(m.emission.shape), np.zeros(m.transition.shape)
        initial, final = np.zeros(m.n_states), np.zeros(m.n_states)
        for t in trajectories(m, string, len(string)):
            share = t.weight / probability(m, string)
            for a, symbol in zip(t.states, t.symbols, strict=True):
                assert symbol is not None
                emission[a, symbol] += share
            for a, b in itertools.pairwise(t.states):
                transition[a, b] += share
            if t.states:
                initial[t.states[0]] += share
                final[t.states[-1]] += share
        np.testing.assert_allclose(counts.emission[i], emission, atol=1e-11)
        np.testing.assert_allclose(counts.transition[i], transition, atol=1e-11)
        np.testing.assert_allclose(counts.initial[i], initial, atol=1e-11)
        if counts.final is not None:
            np.testing.assert_allclose(counts.final[i], final, atol=1e-11)


@settings(max_examples=80, deadline=None)
@given(parts())
def test_scores_are_derivatives(m: Parts) -> None:
    """Also at parameters that are 0, where the likelihood goes on as a polynomial."""
    strings = possible(m, all_strings(m.n_symbols, 3))[::3]
    scores = m.model().fisher_scores(strings)
    assert scores.shape == (len(strings), m.model().n_parameters)
    for string, score in zip(strings, scores, strict=True):
        if probability(m, string) > 1e-3:
            np.testing.assert_allclose(score, numerical_scores(m, string), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("final", "empty"), KINDS)
def test_scores_of_tiny_parameters_are_those_of_exact_fractions(final: bool, empty: bool) -> None:
    """Of models with probabilities down to 1e-308, whose scores are up to 1e308 and never NaN."""
    for seed in (0, 1, 92, 189):  # loops without a symbol that hardly ever end are among them
        m = with_tiny_numbers(random_parts(seed, 3, 2, final=final, empty=empty), seed)
        for string in ([0], [1, 1, 1, 1]):
            found = m.model().fisher_scores([string])[0]
            expected, uses = exact_scores(m, string)
            error = np.abs(found - expected)
            assert (error <= 1e-9 * (np.abs(expected) + uses + 1)).all()


@pytest.mark.parametrize(("final", "empty"), KINDS)
def test_both_engines_and_checkpoints_give_the_same(final: bool, empty: bool) -> None:
    """Doubles, numbers without limits, and tables made again from checkpoints."""
    m = random_parts(9, 5, 3, final=final, empty=empty)
    random = np.random.default_rng(3)
    strings = [random.integers(0, 3, n).tolist() for n in (0, 1, 15, 16, 17, 200)]
    hmm = m.model()
    encoded = hmm.alphabet.encode(strings)
    rows, logs = hmm.native.derivatives(encoded.codes, encoded.offsets, 1, True)
    assert hmm.native.dense
    again, _ = hmm.native.derivatives(encoded.codes, encoded.offsets, 1, True, 20)
    np.testing.assert_allclose(again, rows, rtol=1e-12)
    wide = with_an_unused_state(m)
    assert not wide.native.dense
    other, other_logs = wide.native.derivatives(encoded.codes, encoded.offsets, 1, True)
    few, _ = wide.native.derivatives(encoded.codes, encoded.offsets, 1, True, 20)
    np.testing.assert_array_equal(few, other)
    np.testing.assert_allclose(other_logs, logs, rtol=1e-12, atol=1e-12)
    kept = np.concatenate([part.ravel() for part in used_columns(m)])
    np.testing.assert_allclose(other[:, kept], rows, rtol=1e-10)
    totals, _ = hmm.native.derivatives(encoded.codes, encoded.offsets, len(strings), True)
    np.testing.assert_allclose(totals[0], rows.sum(axis=0), rtol=1e-12)


def with_an_unused_state(m: Parts) -> fn.HiddenMarkovModel:
    """The same with one state that is never come to and emits a symbol with a probability that no double can square."""
    n = m.n_states
    transition = np.zeros((n + 1, n + 1))
    transition[:n, :n] = m.transition
    transition[n, n] = 1.0
    emission = np.zeros((n + 1, m.emission.shape[1]))
    emission[:n] = m.emission
    emission[n, :2] = [1.0, 1e-290]
    final = None if m.final is None else np.append(m.final, 0.0)
    return fn.HiddenMarkovModel(np.append(m.initial, 0.0), transition, emission, final=final, empty=m.empty)


def used_columns(m: Parts) -> list[Any]:
    """Where the scores of the first states are among those of one state more."""
    n, columns = m.n_states, m.emission.shape[1]
    first = (n + 1) * columns
    moves = first + np.arange((n + 1) ** 2).reshape(n + 1, n + 1)[:n, :n]
    initial = first + (n + 1) ** 2 + np.arange(n)
    return [np.arange(n * columns), moves, initial, *([] if m.final is None else [initial + n + 1])]


def test_the_information_is_of_a_length_that_can_be_enumerated() -> None:
    with pytest.raises(StateSpaceError, match="length 40"):
        two_states().fisher_information(length=40)
    with pytest.raises(SchemaError, match="length"):
        two_states().fisher_information()
