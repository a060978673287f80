from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.cli.terminal import aligned, check_folder, number, write_facts, write_lines

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(facts=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES))
def test_facts_come_back(tmp_path_factory: pytest.TempPathFactory, facts: dict[str, object]) -> None:
    path = tmp_path_factory.mktemp("facts") / "facts.json"
    write_facts(facts, path)
    assert json.loads(path.read_text(encoding="utf-8")) == facts


def test_what_json_has_no_word_for_is_null(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_facts({"a": -math.inf, "b": [math.nan, {"c": (math.inf, 1.5)}]})
    assert json.loads(capfdbinary.readouterr().out) == {"a": None, "b": [None, {"c": [None, 1.5]}]}


def test_stdout_is_utf8_and_what_is_no_character_becomes_an_escape(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_facts({"path": "bad\udcff", "é": "\U0001f600"})
    assert json.loads(capfdbinary.readouterr().out) == {"path": "bad\udcff", "é": "\U0001f600"}


def test_a_file_that_fails_half_way_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old", encoding="utf-8")

    def lines() -> object:
        yield "one"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines(lines(), path)  # type: ignore[arg-type]
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_columns_stand_under_each_other() -> None:
    assert aligned([("a", "b"), ("long", "x y"), ("", "c")]) == ["a     b", "long  x y", "      c"]
    assert aligned([("a", "1"), ("long", "100")], right=True) == ["a       1", "long  100"]
    assert aligned([]) == []


def test_numbers() -> None:
    assert number(-1234.56789) == "-1,234.5679"
    assert number(-math.inf) == "-inf"
    assert number(math.nan) == "-"


def test_a_file_that_could_not_be_written_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_folder(None)
    check_folder(tmp_path / "x")
    with pytest.raises(fn.FileFormatError, match="there is no directory"):
        check_folder(tmp_path / "nowhere" / "x")
    with pytest.raises(fn.FileFormatError, match="it is a directory"):
        check_folder(tmp_path)
    monkeypatch.setattr("os.access", lambda *_: False)  # root, who may run the tests, may write anywhere
    with pytest.raises(fn.FileFormatError, match="its directory does not allow it"):
        check_folder(tmp_path / "x")
