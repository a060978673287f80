from __future__ import annotations

from pathlib import Path

import pytest

import fishernet as fn
from fishernet.cli.options import arcs, read_tiers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ("a", "b")),
        ("a, b", ("a", "b")),
        ('"a,b",c', ("a,b", "c")),
        ('"say ""a""",é;', ('say "a"', "é;")),
    ],
)
def test_an_arc_is_two_names(text: str, names: tuple[str, str]) -> None:
    assert arcs([text], "--require") == [names]


@pytest.mark.parametrize("text", ["a", "", "a,b,c", '"a,b"'])
def test_anything_else_is_no_arc(text: str) -> None:
    with pytest.raises(fn.FishernetError, match="--forbid takes an arc as PARENT,CHILD"):
        arcs([text], "--forbid")


def test_an_open_quote_is_refused() -> None:
    with pytest.raises(fn.FishernetError, match="cannot be told apart"):
        arcs(['"a,b'], "--forbid")


def test_tiers_on_the_command_line() -> None:
    assert read_tiers("a,b;c;d, e") == [["a", "b"], ["c"], ["d", "e"]]
    assert read_tiers('"a,b";c;') == [["a,b"], ["c"]]


def test_tiers_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tiers.txt"
    path.write_text('\ufeffa,b\n\n"c;,",d\r\ne\n', encoding="utf-8")
    assert read_tiers(str(path)) == [["a", "b"], ["c;,", "d"], ["e"]]


def test_neither_a_file_nor_tiers() -> None:
    with pytest.raises(fn.FishernetError, match=r"'nope\.txt' is neither"):
        read_tiers("nope.txt")


def test_a_broken_line_of_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tiers.txt"
    path.write_text('a,b\n"c\n', encoding="utf-8")
    with pytest.raises(fn.FileFormatError, match=r"tiers\.txt, line 2"):
        read_tiers(str(path))
