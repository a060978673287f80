from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet import SchemaError, Variable
from fishernet.base.fields import is_unicode
from fishernet.files.networks import check_storable


@given(st.text())
def test_text_is_what_utf8_can_write(label: str) -> None:
    assert is_unicode(label) == (not any("\ud800" <= character <= "\udfff" for character in label))


def test_storable_labels_pass() -> None:
    check_storable([Variable("", ["", "\0", "\U0001f600", -(10**4000), 1.5, True])])


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        (Variable("a\ud800", ["x"]), r"the name 'a\\ud800' holds half of a surrogate pair"),
        (Variable("a", ["x", "\udc00"]), r"variable 'a': the state '\\udc00' holds half of a surrogate pair"),
        (Variable("a", [0, 10**5000]), r"variable 'a', state 1: the integer is too long to be written"),
    ],
)
def test_what_no_file_can_hold(variable: Variable, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        check_storable([Variable("ok", ["x"]), variable])
