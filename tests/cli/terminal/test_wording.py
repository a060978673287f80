from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.cli.terminal import on_one_line, option_words, shown

A, B = fn.Variable("a", ["x"]), fn.Variable("b", ["x", "y"])


def refusals(folder: Path) -> list[str]:
    """Return the library's real messages that speak of keywords."""
    messages = []

    def refused(text: str, **options: object) -> None:
        path = folder / "t.csv"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(fn.FishernetError) as caught:
            fn.read_table(path, **options).require_categorical("a search")  # type: ignore[arg-type]
        messages.append(str(caught.value))

    refused("a,b\nx,\nx,y\n", missing="error")
    refused("a,b\nx,\nx,y\n", schema=[A, fn.Variable("b", ["y"])], missing="state")
    refused("a,b\nz,y\n", schema=[A, B])
    refused("a\n" + "".join(f"{i}\n" for i in range(300)))
    refused("a\nx\n", schema=[A, B])
    refused("a\nx\n", weights="w")
    refused("a\nx\n", bins={"w": 3})
    refused("a,b\nx,\nx,\n")
    refused("a\n")
    refused("a\nx\n", binning="nope")
    refused("a\n1\nx\n", bins={"a": 2})
    table = fn.Table.from_codes([[0, 0], [0, 1]], [A, B])
    for options in ({"smoothing": -1}, {"ess": -1}, {"max_parents": -1}, {"max_seconds": -1}, {"seed": -1}):
        with pytest.raises(fn.FishernetError) as caught:
            fn.learn.bayesian_network(table, **options)
        messages.append(str(caught.value))
    never = fn.Table.from_codes([[0, 0]], [B, fn.Variable("c", ["x", "y"])])
    with pytest.raises(fn.ZeroProbabilityError) as caught:
        fn.learn.parameters(fn.Dag.from_edges(["b", "c"], [("b", "c")]), never, smoothing=0)
    messages.append(str(caught.value))
    return messages


def test_no_message_speaks_of_python_keywords(tmp_path: Path) -> None:
    python = re.compile(r'[a-z]=["\d{]|max_|\bschema\b|na_values|\bas (weights|bins) asks|\b(pass bins|smoothing >)')
    messages = refusals(tmp_path)
    assert sum(python.search(message) is not None for message in messages) > 8  # the list above is worth its name
    for message in messages:
        assert python.search(option_words(message)) is None, option_words(message)


def test_other_messages_stay_as_they_are() -> None:
    text = "column 'a', row 3: the label 'x=y' is not among the states 'max_parents', 'b'"
    assert option_words(text) == text


@given(text=st.text())
def test_one_line_is_one_line(text: str) -> None:
    line = on_one_line(text)
    assert line.isprintable() or not line
    assert len(line.splitlines()) <= 1


def test_plain_text_stays() -> None:
    assert on_one_line("Größe 'x' \U0001f600") == "Größe 'x' \U0001f600"
    assert on_one_line("a\nb\x1b[31m") == "a\\nb\\x1b[31m"


def test_labels_are_shown_as_they_are_or_in_quotes() -> None:
    assert [shown(label) for label in ("a b", 1, 2.5, True, "é")] == ["a b", "1", "2.5", "True", "é"]
    assert [shown(label) for label in ("", " a", "a\n", "\x1b")] == ["''", "' a'", "'a\\n'", "'\\x1b'"]
