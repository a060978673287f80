"""A graph of the wrong kind is refused by name; each shows its size and its first edges."""

from __future__ import annotations

import pytest

from fishernet.base.errors import SchemaError
from fishernet.graphs.edges import require_kind, summary


def test_the_right_kinds_pass() -> None:
    require_kind("f", 1, int)
    require_kind("f", "x", int, str)


def test_the_wrong_kind_is_named_with_the_right_ones() -> None:
    with pytest.raises(SchemaError, match=r"^f needs a int or str, not float$"):
        require_kind("f", 1.0, int, str)
    with pytest.raises(SchemaError, match=r"^f needs a int, not NoneType; g makes one$"):
        require_kind("f", None, int, hint="g makes one")


def test_edges_are_drawn_with_their_arrows() -> None:
    assert (
        summary("G", 3, ("->", [("a", "b")]), ("-", [("b", "c")])) == "G(3 variables, 2 edges: 'a' -> 'b', 'b' - 'c')"
    )


def test_one_and_none() -> None:
    assert summary("G", 1, ("-", [])) == "G(1 variable, 0 edges)"
    assert summary("G", 2, ("-", [("a", "b")])) == "G(2 variables, 1 edge: 'a' - 'b')"


def test_many_edges_are_cut() -> None:
    text = summary("G", 2000, ("->", [(f"v{i}", f"v{i + 1}") for i in range(1999)]))
    assert text.startswith("G(2,000 variables, 1,999 edges: 'v0' -> 'v1', ")
    assert text.endswith("'v5' -> 'v6', ...)")


def test_hostile_names_stay_on_one_line() -> None:
    assert summary("G", 2, ("-", [("a\nb", "it's")])) == "G(2 variables, 1 edge: 'a\\nb' - \"it's\")"
