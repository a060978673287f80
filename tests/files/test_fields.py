from __future__ import annotations

from collections.abc import Callable

import pytest

from fishernet import CycleError, FileFormatError
from fishernet.base.fields import Fields

VALUES = {"text": "a", "number": 3, "list": [1, "b"], "objects": [{"x": 1}, {}], "nothing": None, "half": "\ud800"}


@pytest.fixture
def fields() -> Fields:
    return Fields("model.json", "model", VALUES)


def test_each_field_is_taken_once(fields: Fields) -> None:
    assert fields.text("text") == "a"
    assert fields.whole("number") == 3
    assert fields.items("list") == [1, "b"]
    first, second = fields.objects("objects")
    assert first.whole("x") == 1
    second.end()
    assert fields.is_null("nothing")
    assert not fields.is_null("half")
    fields.take("half")
    fields.end()
    with pytest.raises(FileFormatError, match="the field 'text' is missing"):
        fields.text("text")


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda f: f.text("number"), r"model\.json: model\.number: expected a text, got 3"),
        (lambda f: f.text("half"), r"model\.half: '\\ud800' holds half of a surrogate pair"),
        (lambda f: f.whole("text"), r"model\.text: expected an integer from 0, got 'a'"),
        (lambda f: f.items("objects") and f.items("number"), r"model\.number: expected a list, got 3"),
        (lambda f: f.objects("list"), r"model\.list\[0\]: expected an object with fields, got 1"),
        (lambda f: f.items("nothing"), r"model\.nothing: expected a list, got null"),
        (lambda f: f.end(), r"model: there is the unknown field 'text', 'number'"),
        (lambda f: f.text("absent"), r"model: the field 'absent' is missing"),
    ],
)
def test_messages_say_file_place_and_what(fields: Fields, take: Callable[[Fields], object], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        take(fields)


@pytest.mark.parametrize("value", [-1, True, 1.0, "1", None])
def test_a_whole_number_is_nothing_else(value: object) -> None:
    with pytest.raises(FileFormatError, match="expected an integer from 0"):
        Fields("f", "", {"n": value}).whole("n")


def test_checking_adds_the_place_and_keeps_the_cause(fields: Fields) -> None:
    with (
        pytest.raises(FileFormatError, match=r"model\.json: model: the edges close a cycle: a -> a") as caught,
        fields.checking(),
    ):
        raise CycleError(["a", "a"])
    assert isinstance(caught.value.__cause__, CycleError)
    with pytest.raises(FileFormatError, match=r"^x: y$"), fields.checking():
        raise FileFormatError("x", "y")


def test_long_values_are_shortened() -> None:
    with pytest.raises(FileFormatError, match=r"got 'a{39}\.\.\.$"):
        Fields("f", "", {"n": "a" * 1000}).whole("n")
