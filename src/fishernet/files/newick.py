"""Reading trees in the Newick format.

A tree is ``(man:0.1,mouse:0.1)mammals:0.2;``: children in parentheses, then the node's name, then after a colon the
length of the branch above it; lengths and inner names may be missing. A name in quotes may hold anything, a quote in it
is written twice; outside quotes an underscore stands for a space. What is in brackets is a comment.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.io import read_text
from fishernet.models import NamedTree

TOKEN = re.compile(r"\s+|(?P<mark>[(),:;])|'(?P<quoted>(?:[^']|'')*)'|(?P<plain>[^\s()\[\]':;,]+)")


class Token(NamedTuple):
    """A mark, or a word."""

    kind: str  # one of "(),:;", "quoted", "plain" or "end"
    text: str
    at: int


def read_newick(path: str | os.PathLike[str]) -> NamedTree:
    """Read a tree from a Newick file.

    Parameters
    ----------
    path : path
        Compressed (gzip) or not, in UTF-8.

    Returns
    -------
    NamedTree

    Raises
    ------
    FileFormatError
        When there is no such file, it is no tree (the message names line and column), two leaves have one name or a
        leaf has none, or it has several trees, which `read_newicks` reads.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.nwk").write_text("((man:0.1,mouse:0.1):0.2,yeast:0.9);")
    ...     tree = fn.read_newick(Path(folder, "a.nwk"))
    >>> tree.leaves, tree.lengths
    (('man', 'mouse', 'yeast'), (None, 0.2, 0.1, 0.1, 0.9))
    """
    trees = read_newicks(path)
    if len(trees) > 1:
        raise FileFormatError(path, f"the file has {len(trees)} trees; fishernet.files.read_newicks reads all of them")
    return trees[0]


def read_newicks(path: str | os.PathLike[str]) -> list[NamedTree]:
    """Read all trees of a Newick file, such as the topologies of a sum.

    Raises
    ------
    FileFormatError
        As `read_newick`; also when there is no tree.
    """
    reader = NewickReader(path, read_text(path))
    trees = []
    while reader.next.kind != "end":
        trees.append(reader.tree())
    if not trees:
        raise FileFormatError(path, "the file has no tree")
    return trees


class NewickReader:
    """Reads trees from a text, one after the other; without recursion, so that any depth can be read."""

    def __init__(self, path: object, text: str) -> None:
        self._path, self._text = path, text
        self._tokens = self._scan()
        self.next: Token = next(self._tokens)

    def tree(self) -> NamedTree:
        """Return the next tree."""
        began = self.next.at
        self._parents, self._names, self._lengths = [-1], [""], list[float | None]([None])
        self._open: list[int] = []
        node: int | None = 0
        while node is not None:
            if self.next.kind == "(":
                self._take()
                self._open.append(node)
                node = self._add(node)
            else:
                self._describe(node, leaf=True)
                node = self._close()
        self._expect(";", "the tree ends with ';'")
        try:
            return NamedTree(tuple(self._parents), tuple(self._names), tuple(self._lengths))
        except SchemaError as error:
            self._wrong(str(error), began)

    def _close(self) -> int | None:
        """Go on after a leaf: to the next child of an open node, out of those that end; None at the tree's end."""
        while self._open:
            if self.next.kind == ",":
                self._take()
                return self._add(self._open[-1])
            self._expect(")", "',' or ')' is needed")
            self._describe(self._open.pop(), leaf=False)
        return None

    def _add(self, above: int) -> int:
        self._parents.append(above)
        self._names.append("")
        self._lengths.append(None)
        return len(self._parents) - 1

    def _describe(self, node: int, *, leaf: bool) -> None:
        """Take name and length."""
        if self.next.kind in ("quoted", "plain"):
            token = self._take()
            name = token.text.replace("''", "'") if token.kind == "quoted" else token.text.replace("_", " ")
            self._names[node] = name
        elif leaf:
            self._wrong("a leaf has no name", self.next.at)
        if self.next.kind == ":":
            self._take()
            self._lengths[node] = self._number()

    def _number(self) -> float:
        token = self.next
        try:
            length = float(token.text) if token.kind == "plain" else math.nan
        except ValueError:
            length = math.nan
        if not math.isfinite(length):
            self._wrong(f"the length of a branch must be a number, got {_shown(token)}", token.at)
        self._take()
        return length

    def _expect(self, kind: str, what: str) -> None:
        if self.next.kind != kind:
            self._wrong(f"{what}, got {_shown(self.next)}", self.next.at)
        self._take()

    def _take(self) -> Token:
        token = self.next
        self.next = next(self._tokens)
        return token

    def _scan(self) -> Iterator[Token]:
        at = 0
        while at < len(self._text):
            if self._text[at] == "[":
                at = self._end_of_comment(at)
                continue
            found = TOKEN.match(self._text, at)
            if found is None:
                what = (
                    "a quoted name does not end" if self._text[at] == "'" else f"{self._text[at]!r} has no place here"
                )
                self._wrong(what, at)
            kind = found.lastgroup
            if kind is not None:
                yield Token(found[kind] if kind == "mark" else kind, found[kind], at)
            at = found.end()
        while True:
            yield Token("end", "", at)

    def _end_of_comment(self, at: int) -> int:
        depth = 0
        for found in re.compile(r"[\[\]]").finditer(self._text, at):
            depth += 1 if found[0] == "[" else -1
            if depth == 0:
                return found.end()
        return self._wrong("a comment does not end: ']' is missing", at)

    def _wrong(self, what: str, at: int) -> NoReturn:
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        raise FileFormatError(self._path, f"column {column}: {what}", line=line)


def _shown(token: Token) -> str:
    return "the end of the file" if token.kind == "end" else repr(token.text)
