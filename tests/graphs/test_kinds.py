"""A graph of the wrong kind is refused by name."""

from __future__ import annotations

import pytest

from fishernet.errors import SchemaError
from fishernet.graphs.kinds import require_kind


def test_the_right_kinds_pass() -> None:
    require_kind("f", 1, int)
    require_kind("f", "x", int, str)


def test_the_wrong_kind_is_named_with_the_right_ones() -> None:
    with pytest.raises(SchemaError, match=r"^f needs a int or str, not float$"):
        require_kind("f", 1.0, int, str)
    with pytest.raises(SchemaError, match=r"^f needs a int, not NoneType; g makes one$"):
        require_kind("f", None, int, hint="g makes one")
