from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.files.bif_words import (
    QUOTED,
    is_plain,
    label_lists,
    read_label,
    read_states,
    state_labels,
    written_label,
    written_states,
)
from tests.files.hostile import states, texts


@given(texts())
def test_a_label_comes_back_from_one_line_without_bare_separators(label: str) -> None:
    written = written_label(label)
    assert read_label(written) == label
    assert "\n" not in written
    assert written == label or re.fullmatch(QUOTED, written)


@given(st.lists(texts(), max_size=5))
def test_a_list_of_labels_comes_back_in_both_readings(labels: list[str]) -> None:
    written = ", ".join(map(written_label, labels))
    assert label_lists(written) == (labels, labels)


@pytest.mark.parametrize(
    "label", ["12+", "0-3_days", "<7.5", ">=7.5", "Asy/Patch", "x__375_500_", "TRUE", "-1", "1e-05"]
)
def test_labels_of_known_networks_stay_plain(label: str) -> None:
    assert is_plain(label)
    assert written_label(label) == label


@pytest.mark.parametrize("label", ["", "a b", "é", "a,b", '"', "a//b", "(1", "x;", "a|b", "x\n"])
def test_other_labels_do_not(label: str) -> None:
    assert not is_plain(label)


@pytest.mark.parametrize(
    ("text", "by_commas", "by_words"),
    [
        ("yes, no", ["yes", "no"], ["yes", "no"]),
        (" yes no ", ["yes no"], ["yes", "no"]),
        ("very high, low", ["very high", "low"], ["very", "high", "low"]),
        ('"a, b" c', ["a, b", "c"], ["a, b", "c"]),
        ('"a""b"', ["a", "b"], ["a", "b"]),
        ("\n a ,\n b\n", ["a", "b"], ["a", "b"]),
        ("", [], []),
    ],
)
def test_lists_have_two_readings(text: str, by_commas: list[str], by_words: list[str]) -> None:
    assert label_lists(text) == (by_commas, by_words)


@pytest.mark.parametrize("token", [r'"\x41"', r'"\ud800"', r'"\u12"'])
def test_wrong_escapes_are_errors(token: str) -> None:
    with pytest.raises(ValueError, match=r"escape|surrogate"):
        read_label(token)


@given(states())
def test_states_come_back_with_their_types(labels: list[str | int | float | bool]) -> None:
    back = read_states(written_states(labels))
    assert [(type(state), repr(state)) for state in back] == [(type(state), repr(state)) for state in labels]


@given(states())
def test_every_state_has_its_own_word_and_texts_keep_theirs(labels: list[str | int | float | bool]) -> None:
    words = state_labels(labels)
    assert len(set(words)) == len(labels)
    for word, state in zip(words, labels, strict=True):
        assert word == state if isinstance(state, str) else word.rstrip("_") == str(state)


@pytest.mark.parametrize(
    "text",
    [
        "int",
        "int 1.5",
        "int x",
        "bool true",
        "float 1_0",
        "str a",
        'str "a',
        "int 1 int 2",
        "text 1",
        "int \u0661",
        "1",
        ", int 1",
    ],
)
def test_wrong_states_are_errors(text: str) -> None:
    with pytest.raises(ValueError):
        read_states(text)
