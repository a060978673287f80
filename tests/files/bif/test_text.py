from __future__ import annotations

from pathlib import Path

import pytest

from fishernet import FileFormatError
from fishernet.files.bif_reader import Block, Source, Statement, blocks, source_of


def divided(text: str) -> list[tuple[str, str, list[str]]]:
    found = blocks(Source("net.bif", text))
    return [(block.kind, block.head, [statement.text for statement in block.statements]) for block in found]


def test_a_file_is_divided_in_blocks_and_statements() -> None:
    text = "network unknown{}\nvariable a b { type discrete [ 1 ] { x };\n property p = 1; }\nprobability(a){table 1;}"
    assert divided(text) == [
        ("network", "unknown", []),
        ("variable", "a b", ["type discrete [ 1 ] { x }", "property p = 1"]),
        ("probability", "(a)", ["table 1"]),
    ]
    assert next(blocks(Source("net.bif", "network {\n a;\n}"))) == Block("network", "", 0, [Statement("a", 11)])


def test_quotes_hold_everything_together() -> None:
    text = r'variable "a{;}" { type discrete [ 2 ] { "x;}", "\"y" }; }'
    assert divided(text) == [("variable", '"a{;}"', [r'type discrete [ 2 ] { "x;}", "\"y" }'])]


def test_a_property_ends_at_the_semicolon_even_in_an_open_quote() -> None:
    assert divided('network x { property size = 5" pipe;\n property b = {; }') == [
        ("network", "x", ['property size = 5" pipe', "property b = {"])
    ]


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("a // b\nc", "a  \nc"),
        ("a /* b\n\n*/c", "a  \n\nc"),
        ('"// no" // "yes"', '"// no"  '),
        ('"/* no */"', '"/* no */"'),
        ("http://x", "http://x"),
        ("/* a // b */ c", "  c"),
        ("// /* a\nb */", " \nb */"),
        ('// 5" pipe\n"a"', ' \n"a"'),
        ("5/6", "5/6"),
    ],
)
def test_comments_are_taken_out_and_lines_stay(tmp_path: Path, text: str, without: str) -> None:
    (tmp_path / "a").write_text(text)
    source = source_of(tmp_path / "a")
    assert source.text == without
    assert source.text.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("network a {}\nhello\n", 2, "expected a network, variable or probability block, got 'hello'; .* a comment"),
        ("network a {}\nvariable", 2, "the file ends inside of 'variable'"),
        ("network a {}\nvariables a {}", 2, "expected a network"),
        ("network a {}\nvariable b {\n", 3, "the file ends inside of the block 'variable b'"),
        ("network a {}\nvariable b {\n type x\n}", 3, "the file ends inside of the block"),
        ("network a {}\nvariable b {\n type x }\nvariable c { t; }", 3, "in the block 'variable b': 'type x }' cannot"),
        ('network a {}\nvariable "b {\n type x; }', 2, "got 'variable \"b {'"),
        ("network a {}\n}", 2, "got '}'"),
        ("/* open\nnetwork a {}", 1, "expected a network"),
        ('{"format": "fishernet"}', 1, "this is no BIF file; fishernet.load reads"),
        ('<?xml version="1.0"?>', 1, "this is no BIF file; XMLBIF ends in .xmlbif or .xml"),
        (f"network a {{}} {'x' * 100}", 1, r"got 'x{40}\.\.\.'"),
    ],
)
def test_what_breaks_the_grammar(text: str, line: int, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        divided(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "piece", ["network", "variable ", '"', '"\\', "{", "{{", "/", "a{b;", "property", "//", '"a"', "(", "a,"]
)
def test_long_nonsense_is_refused_soon(piece: str) -> None:
    with pytest.raises(FileFormatError):
        divided("variable x {" + piece * 20_000)
