"""The text of an Interchange Format file: comments taken out, and divided in blocks and statements.

::

    file       network, then variable and probability blocks in any order
    block      keyword, head, "{", statements, "}"
    statement  anything up to ";" (quotes and the braces of a list of states hold together)

The format allows arbitrary text between blocks; here it must stand in comments, so that a damaged block is not taken
for such text. A property ends at the first ``;`` even when its quotes do not close.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fishernet.errors import FileFormatError
from fishernet.files.bif.labels import QUOTED
from fishernet.files.reading import read_text

_COMMENT = re.compile(rf"({QUOTED})|(?<!:)//[^\n]*|/\*[\s\S]*?\*/")  # http:// begins no comment
_BLANK = re.compile(r"\s*+")
_HEAD = re.compile(rf'(network|variable|probability)(?=[\s("{{])((?:[^"{{}};]|{QUOTED})*+)\{{')
_STATEMENT = re.compile(rf'((?:[^"{{}};]++|{QUOTED}|\{{(?:[^"{{}};]|{QUOTED})*+\}})*+);')
_PROPERTY = re.compile(r"(property\b[^;]*+);")


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a file without its comments; lines are where they were."""

    path: object
    text: str

    def wrong(self, what: str, at: int) -> FileFormatError:
        """Return the error that says what is wrong at a position of the text."""
        return FileFormatError(self.path, what, line=self.text.count("\n", 0, at) + 1)

    def shown(self, at: int) -> str:
        """Return the beginning of what stands at a position, for a message."""
        line = self.text[at : at + 41].split("\n", 1)[0]
        return repr(line if len(line) <= 40 else f"{line[:40]}...")


class Statement(NamedTuple):
    """What stands before a semicolon."""

    text: str
    at: int


class Block(NamedTuple):
    """One block of the file."""

    kind: str
    head: str
    at: int
    statements: list[Statement]


def source_of(path: str | os.PathLike[str]) -> Source:
    """Return the text of a file without its comments."""
    text = read_text(path)
    if "//" in text or "/*" in text:
        text = _COMMENT.sub(_blanked, text)
    return Source(path, text)


def blocks(source: Source) -> Iterator[Block]:
    """Yield the blocks of a file, in order.

    Raises
    ------
    FileFormatError
        Where the text does not follow the grammar.
    """
    at = _skip(source, 0)
    while at < len(source.text):
        match = _HEAD.match(source.text, at)
        if match is None:
            raise source.wrong(_no_block(source, at), at)
        statements, end = _statements(source, match.end(), f"{match[1]}{match[2].rstrip()}")
        yield Block(match[1], match[2].strip(), at, statements)
        at = _skip(source, end)


def _statements(source: Source, at: int, block: str) -> tuple[list[Statement], int]:
    """Return the statements of a block and where it ends."""
    statements = []
    text = source.text
    at = _skip(source, at)
    while not text.startswith("}", at):
        match = _STATEMENT.match(text, at) or _PROPERTY.match(text, at)
        if match is None:
            raise source.wrong(_no_statement(source, at, block), at)
        statements.append(Statement(match[1].rstrip(), at))
        at = _skip(source, match.end())
    return statements, at + 1


def _skip(source: Source, at: int) -> int:
    match = _BLANK.match(source.text, at)
    return match.end() if match else at


def _no_block(source: Source, at: int) -> str:
    if source.text.startswith("{", at):
        return "this is no BIF file; fishernet.load reads the library's own files"
    if source.text.startswith("<", at):
        return "this is no BIF file; XMLBIF is not read"
    if source.text.startswith(("network", "variable", "probability"), at) and "{" not in source.text[at:]:
        return f"the file ends inside of {source.shown(at)}"
    return f"expected a network, variable or probability block, got {source.shown(at)}; other text must be a comment"


def _no_statement(source: Source, at: int, block: str) -> str:
    rest = source.text[at:]
    if ";" not in rest or "}" not in rest:
        return f"the file ends inside of the block {block!r}"
    return f"in the block {block!r}: {source.shown(at)} cannot be read; a statement ends with ';', a block with '}}'"


def _blanked(match: re.Match[str]) -> str:
    return match[1] or " " + "\n" * match[0].count("\n")
