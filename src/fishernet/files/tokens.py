"""Files of words, quoted text, numbers and brackets, word by word: Hugin's and Microsoft's networks."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from fishernet.base import check
from fishernet.base.errors import FileFormatError
from fishernet.base.io import read_text
from fishernet.files.bif_words import QUOTED

Location = str | os.PathLike[str]

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_WORDS = rf"(?P<quoted>{QUOTED})|(?P<word>[^\W\d][\w.-]*)|(?P<number>{NUMBER})|(?P<sign>[(){{}}\[\]=;|,:])"
_NOTED = r"{} (?P<noted>fishernet_\w+ = [^\n]*)"


class Token(NamedTuple):
    """A word of a file."""

    kind: str
    """"quoted", "word", "number", "sign", "noted" (what we say in a comment), or "end"."""
    text: str
    at: int


def file_text(path: Location, encoding: str | None = None) -> str:
    """Return the text of a file in UTF-8, or in what was said; FileFormatError says how to say it."""
    name = "utf-8-sig" if encoding is None else check.encoding(encoding)
    try:
        return read_text(path, encoding=lambda _: name)
    except FileFormatError as error:
        if not isinstance(error.__cause__, UnicodeDecodeError):
            raise
        what = f"the file is not text in {encoding or 'UTF-8'}; say its encoding, as 'latin-1' or 'gbk'"
        raise FileFormatError(path, what, line=error.line, parameter="encoding") from None


class Tokens:
    """The words of a file, of which one after the other is taken.

    Parameters
    ----------
    path : path
    text : str
    comment : str
        A pattern for comments.
    mark : str
        What begins a comment of a line, in which we say what the format cannot hold.
    """

    def __init__(self, path: Location, text: str, comment: str, mark: str) -> None:
        self._path, self._text, self._at = path, text, 0
        self._pattern = re.compile(rf"\s*+(?:{_NOTED.format(re.escape(mark))}|(?P<comment>{comment})|{_WORDS})")
        self.next: Token = self._found()

    def _found(self) -> Token:
        while True:
            match = self._pattern.match(self._text, self._at)
            if match is None:
                rest = self._text[self._at :].strip()
                if rest:
                    at = self._text.index(rest[0], self._at)
                    raise self.wrong(f"{rest[:40].splitlines()[0]!r} cannot be read", at)
                return Token("end", "the end of the file", len(self._text))
            self._at = match.end()
            kind = match.lastgroup or ""
            if kind != "comment":
                return Token(kind, match[kind], match.start(kind))

    def take(self) -> Token:
        """Return the next word, and go on."""
        token, self.next = self.next, self._found()
        return token

    def take_noted(self, into: dict[str, str]) -> bool:
        """Take what we noted in a comment, if that is next."""
        if self.next.kind != "noted":
            return False
        name, _, value = self.take().text.partition(" = ")
        into[name] = value.strip()
        return True

    def expect(self, text: str, where: str) -> Token:
        """Take a sign or word; FileFormatError for any other."""
        token = self.take()
        if token.text != text:
            raise self.wrong(f"{where}: expected {text!r}, got {token.text[:40]!r}", token.at)
        return token

    def until(self, end: str, where: str, kinds: str = "quoted word number") -> list[Token]:
        """Take words of some kinds up to a sign, which is taken, too; commas are passed over."""
        found: list[Token] = []
        while self.next.text != end:
            token = self.take()
            if token.text == ",":
                continue
            if token.kind not in kinds.split():
                raise self.wrong(f"{where}: expected {end!r}, got {token.text[:40]!r}", token.at)
            found.append(token)
        self.take()
        return found

    def skip_value(self, where: str) -> list[Token]:
        """Take everything up to a semicolon outside of brackets, which is taken, too."""
        found: list[Token] = []
        depth = 0
        while depth or self.next.text != ";":
            token = self.take()
            if token.kind == "end":
                raise self.wrong(f"{where}: the file ends inside of it", token.at)
            depth += token.text in ("(", "{", "[")
            depth -= token.text in (")", "}", "]")
            found.append(token)
        self.take()
        return found

    def line(self, at: int) -> int:
        """Return the line of a place, from 1 on."""
        return self._text.count("\n", 0, at) + 1

    def wrong(self, what: str, at: int) -> FileFormatError:
        """Return the error that says what is wrong at a place."""
        return FileFormatError(self._path, what, line=self.line(at))


def unquoted(token: Token) -> str:
    """Return the text in quotes, in which a backslash means the sign after it; words and numbers as they are."""
    return re.sub(r"\\(.)", r"\1", token.text[1:-1]) if token.kind == "quoted" else token.text
