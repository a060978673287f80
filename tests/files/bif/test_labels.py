from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet.files.bif_words import (
    QUOTED,
    RESERVED,
    label_lists,
    name_words,
    read_label,
    read_states,
    state_words,
    written_states,
)
from fishernet.files.words import quoted
from tests.files.hostile import states, texts


@given(texts())
def test_a_label_comes_back_from_quotes_without_separators(label: str) -> None:
    written = quoted(label)
    assert read_label(written) == label
    assert written.isascii()
    assert not set(written) & set("\n;={}()|/*'")
    assert re.fullmatch(QUOTED, written)
    assert written.count('"') == 2


@given(st.lists(texts(), max_size=5))
def test_a_list_of_labels_comes_back_in_both_readings(labels: list[str]) -> None:
    written = ", ".join(map(quoted, labels))
    assert label_lists(written) == (labels, labels)


@pytest.mark.parametrize(
    ("label", "word"),
    [
        *((same, same) for same in ("x__375_500_", "TRUE", "-1", "007", "_a", "a-b.c", "e5", "nan")),
        ("<= 48", "le_48"),
        ("> 48", "gt_48"),
        ("<=0.35", "le_0_35"),
        ("(3, 4]", "gt_3_le_4"),
        ("[-1.5,2e-05)", "ge_minus_1_5_lt_2e_05"),
        ("(-inf, 0.5]", "gt_minus_inf_le_0_5"),
        ("1st class", "q1st_class"),
        ("1.5", "q1_5"),
        ("-0.5", "minus_0_5"),
        ("12+", "q12_plus"),
        ("0-3_days", "q0_3_days"),
        ("Asy/Patch", "Asy_Patch"),
        ("18%", "q18_percent"),
        ('say "no"', "say_no"),
        ("naïve, Ünal", "naive_Unal"),
        ("日本", "u65e5_u672c"),
        ("", "q"),
        ("?", "q"),
        ("variable", "q_variable"),
        ("Table", "q_Table"),
    ],
)
def test_words_say_what_labels_say(label: str, word: str) -> None:
    assert state_words([label, "other"]) == [word, "other"]


def test_words_are_told_apart_by_numbers_and_plain_labels_keep_theirs() -> None:
    assert state_words(["a b", "a_b", "a-b", "a,b", "a_b_2", "A_b"]) == ["a_b_3", "a_b", "a-b", "a_b_4", "a_b_2", "A_b"]
    assert name_words(["Age", "age", "AGE", "1"]) == ["Age", "age_2", "AGE_3", "q1"]
    assert state_words([1, "1", True, 1.5]) == ["1", "q1", "True", "q1_5"]
    assert state_words(["never"]) == ["never", "never_2"]


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
def test_every_state_has_its_own_word(labels: list[str | int | float | bool]) -> None:
    words = state_words(labels)
    assert len(set(words)) == len(words) == max(2, len(labels))
    for word in words:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*|-?[0-9]{1,9}", word)
        assert word.lower() not in RESERVED


@given(st.lists(texts(), unique=True))
def test_names_differ_in_more_than_capitals(names: list[str]) -> None:
    words = name_words(names)
    assert len({word.lower() for word in words}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", word) for word in words)


def test_a_thousand_labels_without_letters_take_no_time_to_tell_apart() -> None:
    words = state_words(["?" * n for n in range(1, 3000)])
    assert words[:3] == ["q", "q_2", "q_3"]
    assert words[-1] == "q_2999"


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
