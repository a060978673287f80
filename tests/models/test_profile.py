"""Profile hidden Markov models: their structure, their shares by hand, the paths that rows take."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.models import Alignment, profile_hmm
from fishernet.models.sequences.alphabet import Alphabet


@st.composite
def alignments(draw: st.DrawFn) -> list[str]:
    width = draw(st.integers(1, 6))
    rows = draw(st.lists(st.text("ACG-.", min_size=width, max_size=width), min_size=1, max_size=5))
    return [*rows, "".join(draw(st.lists(st.sampled_from("ACG"), min_size=width, max_size=width)))]


def path_of(row: str, matches: list[bool]) -> list[str]:
    """The states of a row by name, from start to end."""
    path, k = ["start"], 0
    for symbol, match in zip(row, matches, strict=True):
        if match:
            path.append(f"{'D' if symbol in '-.' else 'M'}{k}")
            k += 1
        elif symbol not in "-.":
            path.append(f"I{k}")
    return [*path, "end"]


def state_names(n: int) -> list[str]:
    return [*(f"M{k}" for k in range(n)), *(f"I{k}" for k in range(n + 1)), *(f"D{k}" for k in range(n))]


def as_frame(hmm: fn.HiddenMarkovModel, n: int) -> dict[tuple[str, str], float]:
    """The probability of every move, by the names of the states."""
    assert hmm.final is not None
    names = state_names(n)
    moves = {("start", a): float(p) for a, p in zip(names, hmm.initial, strict=True)}
    moves |= {(b, a): float(hmm.transition[i, j]) for i, b in enumerate(names) for j, a in enumerate(names)}
    return moves | {(b, "end"): float(p) for b, p in zip(names, hmm.final, strict=True)}


def matches_of(rows: list[str], threshold: float) -> list[bool]:
    return [sum(c not in "-." for c in column) >= threshold * len(rows) for column in zip(*rows, strict=True)]


@given(alignments(), st.sampled_from([0.3, 0.5, 1.0]), st.floats(0.1, 2))
@settings(max_examples=50)
def test_moves_are_smoothed_shares_of_the_rows_paths(rows: list[str], threshold: float, more: float) -> None:
    matches = matches_of(rows, threshold)
    if not any(matches):
        with pytest.raises(fn.SchemaError, match="lower match_threshold"):
            profile_hmm(rows, alphabet="ACG", match_threshold=threshold)
        return
    n = sum(matches)
    moves = as_frame(profile_hmm(rows, alphabet="ACG", match_threshold=threshold, transition_smoothing=more), n)
    counts = Counter(pair for row in rows for pair in pairwise(path_of(row, matches)))
    for k in range(n + 1):
        targets = [f"I{k}", *([f"M{k}", f"D{k}"] if k < n else ["end"])]
        for source in [f"M{k - 1}", f"D{k - 1}", f"I{k}"] if k else ["start", "I0"]:
            weights = np.array([counts[source, target] + more for target in targets])
            found = [moves[source, target] for target in targets]
            np.testing.assert_allclose(found, weights / weights.sum(), rtol=1e-12)
            assert abs(sum(p for (b, _), p in moves.items() if b == source) - 1) < 1e-12  # and nowhere else


@given(alignments(), st.floats(0.1, 2))
@settings(max_examples=50)
def test_emissions_are_smoothed_shares_of_what_the_states_hold(rows: list[str], more: float) -> None:
    matches = matches_of(rows, 0.3)
    if not any(matches):
        return
    n = sum(matches)
    hmm = profile_hmm(rows, alphabet="ACG", match_threshold=0.3, smoothing=more, background=[0.5, 0.3, 0.2])
    held = {name: Counter[str]() for name in state_names(n)}
    for row in rows:
        states = [state for state in path_of(row, matches)[1:-1] if state[0] != "D"]
        for state, symbol in zip(states, row.replace("-", "").replace(".", ""), strict=True):
            held[state][symbol] += 1
    assert hmm.empty is not None
    for place, (name, counts) in enumerate(held.items()):
        if name[0] == "D":
            assert hmm.empty[place] == 1
            continue
        weights = np.array([counts[c] for c in "ACG"]) + 3 * more * np.array([0.5, 0.3, 0.2])
        np.testing.assert_allclose(hmm.emission[place], weights / weights.sum(), rtol=1e-12)


@given(alignments())
@settings(max_examples=30)
def test_a_row_is_at_least_as_probable_as_its_own_path(rows: list[str]) -> None:
    matches = matches_of(rows, 0.3)
    if not any(matches):
        return
    hmm = profile_hmm(rows, alphabet="ACG", match_threshold=0.3)
    n = sum(matches)
    moves, names = as_frame(hmm, n), state_names(n)
    for row, found in zip(rows, hmm.log_prob(Alignment(rows, rows).strings), strict=True):
        path = path_of(row, matches)
        emitting = [names.index(state) for state in path[1:-1] if state[0] != "D"]
        symbols = ["ACG".index(c) for c in row if c not in "-."]
        alone = sum(math.log(moves[pair]) for pair in pairwise(path)) + np.log(hmm.emission[emitting, symbols]).sum()
        assert alone - 1e-9 <= found <= 1e-9


def test_a_small_profile_is_a_distribution_over_strings() -> None:
    hmm = profile_hmm(["AC", "A-", "CC"] * 5, alphabet="AC", transition_smoothing=0.01)
    strings = ["".join(s) for length in range(9) for s in product("AC", repeat=length)]
    assert 0.9999 < np.exp(hmm.log_prob(strings)).sum() <= 1 + 1e-12


def test_weights_count_rows_several_times() -> None:
    twice = profile_hmm(["AC", "A-", "A-", "GC"], alphabet="ACG", match_threshold=0.4)
    weighted = profile_hmm(["AC", "A-", "GC"], alphabet="ACG", match_threshold=0.4, weights=[1, 2, 1])
    for name in ("initial", "transition", "final"):
        np.testing.assert_allclose(getattr(twice, name), getattr(weighted, name), rtol=1e-12)
    uniform = np.full(3, 1 / 3)
    twice = profile_hmm(["AC", "AC", "GC"], alphabet="ACG", background=uniform)
    weighted = profile_hmm(["AC", "GC"], alphabet="ACG", background=uniform, weights=[2, 1])
    np.testing.assert_allclose(twice.emission, weighted.emission, rtol=1e-12)


def test_match_columns_may_be_marked() -> None:
    alignment = Alignment(["a", "b"], ["AC.G", "A-TG"], {"RF": "x.xx"})
    assert profile_hmm(alignment, alphabet="ACGT", match_threshold=None).n_states == 10
    assert profile_hmm(alignment, alphabet="ACGT", match_threshold=1.0).n_states == 7


def test_without_smoothing_impossible_stays_impossible() -> None:
    hmm = profile_hmm(["AC", "AC"], alphabet="ACG", smoothing=0, transition_smoothing=0)
    np.testing.assert_allclose(hmm.log_prob(["AC", "AG", "A"]), [0, -np.inf, -np.inf], atol=1e-12)


def test_a_family_scores_higher_than_shuffled_sequences() -> None:
    rng = np.random.default_rng(1)
    family = "MKVLAAGIVGLLLAQPAFA"
    rows = ["".join(c if rng.random() < 0.7 else "ACDEFGHIKLMNPQRSTVWY"[rng.integers(20)] for c in family)]
    rows += ["".join(c if rng.random() < 0.7 else rows[0][i] for i, c in enumerate(family)) for _ in range(9)]
    hmm = profile_hmm(rows)
    shuffled = ["".join(rng.permutation(list(family))) for _ in range(10)]
    assert hmm.log_prob([family])[0] > hmm.log_prob(shuffled).max()
    assert np.isfinite(hmm.fisher_scores([family])).all()


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        (["AC", "A"], {}, fn.SchemaError, "has 1 column"),
        ("AC", {}, fn.SchemaError, "not one row"),
        ([], {}, fn.SchemaError, "needs a row"),
        (["--"], {}, fn.SchemaError, "lower match_threshold"),
        ([""], {}, fn.SchemaError, "lower match_threshold"),
        (["AO"], {}, fn.UnknownStateError, "'O' at position 1"),
        (["AC"], {"match_threshold": None}, fn.SchemaError, "RF"),
        (["AC"], {"match_threshold": 0}, fn.FishernetError, "above 0"),
        (["AC"], {"smoothing": -1}, fn.FishernetError, "smoothing"),
        (["AC"], {"transition_smoothing": np.nan}, fn.FishernetError, "transition_smoothing"),
        (["AC"], {"weights": [0]}, fn.SchemaError, "positive weight"),
        (["AC"], {"weights": [1, 1]}, fn.SchemaError, "weights must have shape"),
        (["AC"], {"background": [0.5, 0.5]}, fn.SchemaError, "background must have shape"),
    ],
)
def test_wrong_input_is_refused(rows: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        profile_hmm(rows, **options)


def test_unknown_letters_may_be_taken_for_a_known_one() -> None:
    alphabet = Alphabet("ACX", unknown="X")
    assert profile_hmm(["ABZ"], alphabet=alphabet).emission[1].argmax() == 2
