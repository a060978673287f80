"""Baum-Welch: the likelihood climbs, and what is found is where no step leads further."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError, UnknownStateError, ZeroProbabilityError
from tests.reference.hidden_markov import random_parts

STRINGS = ["abab", "ababab", "baba", "aabb", "abba", "ba", "bbab"]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5]))
def test_the_objective_never_falls(seed: int, final: bool, empty: bool, zeros: bool, smoothing: float) -> None:
    start = random_parts(seed, 3, 2, final=final, empty=empty, zeros=zeros).model()
    strings = [list(s) for s in ([0, 1, 0, 1], [1, 1, 0], [0], [0, 0, 1, 1, 1, 0], [])]
    strings = [s for s, log in zip(strings, start.log_prob(strings), strict=True) if log > -np.inf]
    if not strings:
        return
    found = fn.learn.baum_welch(strings, start=start, smoothing=smoothing, max_steps=12, tolerance=0)
    trace = np.array(found.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1]) - 1e-9).all()
    assert found.log_likelihood == pytest.approx(found.model.log_prob(strings).sum(), rel=1e-12)
    if smoothing == 0:
        assert found.log_likelihood == found.objective
    np.testing.assert_array_equal(found.model.transition[start.transition == 0], 0)
    assert (found.model.final is None) == (start.final is None)


def test_one_step_divides_expected_counts_by_their_sums() -> None:
    start = random_parts(7, 3, 2).model()
    strings = [[0, 1, 0, 1, 1], [1, 1, 0], [0, 0, 1]]
    counts = start.expected_counts(strings)
    found = fn.learn.hidden_markov_model(strings, start=start, smoothing=0.25, max_steps=1)
    for name in ("emission", "transition"):
        weights = getattr(counts, name).sum(axis=0) + 0.25
        np.testing.assert_allclose(getattr(found, name), weights / weights.sum(axis=1, keepdims=True), rtol=1e-12)
    weights = counts.initial.sum(axis=0) + 0.25
    np.testing.assert_allclose(found.initial, weights / weights.sum(), rtol=1e-12)


def test_at_the_end_the_scores_of_the_strings_sum_to_zero() -> None:
    found = fn.learn.baum_welch(STRINGS, n_states=2, smoothing=0, tolerance=0, max_steps=3000, restarts=1, seed=3)
    scores = found.model.fisher_scores(STRINGS).sum(axis=0)
    parameters = np.concatenate(
        [v.ravel() for v in (found.model.emission, found.model.transition, found.model.initial)]
    )
    np.testing.assert_allclose(scores[parameters > 1e-3], 0, atol=1e-3)


def test_one_state_is_the_shares_of_the_symbols() -> None:
    hmm = fn.learn.hidden_markov_model(["aab", "b", "ab"], n_states=1, smoothing=0, final=True, seed=1)
    np.testing.assert_allclose(hmm.emission, [[0.5, 0.5]], rtol=1e-12)
    assert hmm.final is not None
    np.testing.assert_allclose(hmm.final, [3 / 6], rtol=1e-12)


def test_empty_strings_are_the_probability_of_stopping_at_once() -> None:
    hmm = fn.learn.hidden_markov_model(["", "ab", "a", ""], n_states=2, final=True, restarts=1, seed=1)
    assert hmm.stop_at_once == pytest.approx(2 / (4 + 2 * 0.01))
    without = fn.learn.hidden_markov_model(["ab", "a"], n_states=2, final=True, restarts=1, seed=1)
    assert without.stop_at_once == pytest.approx(0, abs=1e-12)


def test_a_known_model_is_found_again() -> None:
    truth = fn.HiddenMarkovModel([0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], [[0.9, 0.1], [0.2, 0.8]], alphabet="ab")
    hmm = fn.learn.hidden_markov_model(truth.sample(200, length=100, seed=1), n_states=2, seed=1)
    order = np.argsort(-hmm.emission[:, 0])
    np.testing.assert_allclose(hmm.emission[order], truth.emission, atol=0.03)
    np.testing.assert_allclose(hmm.transition[np.ix_(order, order)], truth.transition, atol=0.03)


def test_the_best_restart_is_kept_and_the_seed_repeats_it() -> None:
    found = fn.learn.baum_welch(STRINGS, n_states=3, restarts=4, max_steps=30, seed=5)
    assert len(found.restarts) == 4
    assert found.objective == max(found.restarts)
    assert fn.learn.baum_welch(STRINGS, n_states=3, restarts=4, max_steps=30, seed=5).model == found.model
    assert found.seed == 5
    assert found.to_frame().num_rows == len(found.trace)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "n_states must be an integer from 1 to 16,384"),
        ({"n_states": 0}, "n_states must be an integer from 1 to 16,384"),
        ({"n_states": 2, "restarts": 0}, "restarts"),
        ({"n_states": 2, "smoothing": -1}, "smoothing"),
        ({"n_states": 2, "max_steps": 0}, "max_steps"),
        ({"n_states": 2, "tolerance": float("nan")}, "tolerance"),
        (
            {"n_states": 2, "start": fn.HiddenMarkovModel([1], [[1]], [[0.5, 0.5]], alphabet="ab")},
            "n_states is that of",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        fn.learn.hidden_markov_model(STRINGS, **options)


def test_strings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SchemaError, match="there is none"):
        fn.learn.hidden_markov_model([], n_states=2, alphabet="ab")
    with pytest.raises(UnknownStateError):
        fn.learn.hidden_markov_model(["abc"], n_states=2, alphabet="ab")
    with pytest.raises(SchemaError, match="a list of strings"):
        fn.learn.hidden_markov_model("abab", n_states=2)
    only_a = fn.HiddenMarkovModel([1], [[1]], [[1, 0]], alphabet="ab")
    with pytest.raises(ZeroProbabilityError, match="string 1"):
        fn.learn.hidden_markov_model(["a", "ab"], start=only_a)
