from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fishernet import FileFormatError, SchemaError
from fishernet.base.fields import Fields
from fishernet.files import load, save
from fishernet.files.model_file import KINDS, Kind


def stored(folder: Path, text: str) -> Path:
    path = folder / "model.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: .*the file is empty"),
        ("[]", "expected an object with fields, got a list of 0"),
        ("3", "expected an object with fields, got 3"),
        ("{}", 'it lacks "format"'),
        ("network unknown {\n}\n", "line 1: .*it looks like a BIF file, .* which fishernet.read_bif reads"),
        ('{"a": 1,\n"b": }', r"line 2: Expecting value \(column 6\); the file is damaged, ends early"),
        ('{"a": 1, "a": 2}', "this is no model file: the field 'a' appears twice"),
        ('{"a": NaN}', "NaN is no number of JSON"),
        ('{"a": -Infinity}', "-Infinity is no number of JSON"),
        ("[" * 100_000, "this is no model file"),
        ('{"a": ' + "9" * 5000 + "}", "this is no model file"),
    ],
)
def test_what_is_no_model_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        load(stored(tmp_path, text))


class Bell:
    """A model that nobody can save."""


@pytest.mark.parametrize("model", [Bell(), None])
def test_what_cannot_be_saved(tmp_path: Path, model: object) -> None:
    message = f"a {type(model).__name__} cannot be saved; what can be saved: BayesianNetwork"
    with pytest.raises(SchemaError, match=message):
        save(model, tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def gaussian_kind(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Another kind of model: one entry of the registry."""
    described: dict[str, Any] = {"mean": [0.5] * 1000, "sd": 2}

    def read(fields: Fields) -> tuple[list[Any], int]:
        return fields.items("mean"), fields.whole("sd")

    monkeypatch.setitem(KINDS, "Bell", Kind(Bell, lambda model: described, read))
    return described


def test_another_kind_is_one_entry(tmp_path: Path, gaussian_kind: dict[str, Any]) -> None:
    save(Bell(), tmp_path / "a.json")
    assert load(tmp_path / "a.json") == (gaussian_kind["mean"], 2)
    assert "Bell" in KINDS
    with pytest.raises(SchemaError, match=f"what can be saved: {', '.join(sorted(KINDS))}"):
        save(3, tmp_path / "a.json")


@pytest.mark.parametrize("broken", [object(), float("nan")])
def test_a_writer_that_fails_half_way_leaves_the_old_file(
    tmp_path: Path, gaussian_kind: dict[str, Any], broken: object
) -> None:
    path = stored(tmp_path, "old")
    gaussian_kind["sd"] = broken
    with pytest.raises((TypeError, ValueError)):
        save(Bell(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
