"""Newick files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.files import read_newick, read_newicks
from fishernet.files.newick import NewickReader
from fishernet.models import NamedTree


def read(text: str) -> NamedTree:
    return NewickReader("a.nwk", text).tree()


@pytest.mark.parametrize(
    ("text", "parents", "names", "lengths"),
    [
        ("(a,b);", (-1, 0, 0), ("", "a", "b"), (None, None, None)),
        ("((a:0.1,b:2)c:1e-3,d)r:5;", (-1, 0, 1, 1, 0), ("r", "c", "a", "b", "d"), (5.0, 1e-3, 0.1, 2.0, None)),
        ("((a));", (-1, 0, 1), ("", "", "a"), (None, None, None)),
        ("a;", (-1,), ("a",), (None,)),
        ("('it''s (a):b;',Homo_sapiens);", (-1, 0, 0), ("", "it's (a):b;", "Homo sapiens"), (None,) * 3),
        ("[a [nested] comment](a[&x=1]:[y]1,\n\tb )\r\n;", (-1, 0, 0), ("", "a", "b"), (None, 1.0, None)),
        ("(a,b,c:-1);", (-1, 0, 0, 0), ("", "a", "b", "c"), (None, None, None, -1.0)),
        ("('',b);", (-1, 0, 0), ("", "", "b"), (None, None, None)),
    ],
)
def test_the_format(
    text: str, parents: tuple[int, ...], names: tuple[str, ...], lengths: tuple[float | None, ...]
) -> None:
    assert read(text) == NamedTree(parents, names, lengths)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(a,b)", 1, "column 6: the tree ends with ';', got the end of the file"),
        ("(a,b", 1, "column 5: ',' or '\\)' is needed, got the end of the file"),
        ("(a,\n b c);", 2, "column 4: ',' or '\\)' is needed, got 'c'"),
        ("(a,,b);", 1, "column 4: a leaf has no name"),
        ("();", 1, "column 2: a leaf has no name"),
        ("(a,b));", 1, "column 6: the tree ends with ';', got '\\)'"),
        ("(a:x,b);", 1, "column 4: the length of a branch must be a number, got 'x'"),
        ("(a:,b);", 1, "column 4: the length of a branch must be a number, got ','"),
        ("(a:inf,b);", 1, "must be a number, got 'inf'"),
        ("(a,'b);", 1, "column 4: a quoted name does not end"),
        ("(a,[b);", 1, "column 4: a comment does not end"),
        ("(a,b]);", 1, "column 5: ']' has no place here"),
        ("\n(a,a);", 2, "column 1: two leaves have the name 'a'"),
        ("(a,b);x", 1, "the tree ends with ';'"),
    ],
)
def test_a_syntax_error_says_where(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "a.nwk"
    path.write_text(text)
    with pytest.raises(fn.FileFormatError, match=message) as caught:
        read_newicks(path)
    assert caught.value.line == line


def test_files_compressed_or_not_with_one_tree_or_several(tmp_path: Path) -> None:
    (tmp_path / "one.nwk.gz").write_bytes(gzip.compress(b"(a,(b,c));\n"))
    (tmp_path / "two.nwk").write_text("(a,(b,c));\n((a,b),c);\n")
    (tmp_path / "none.nwk").write_text(" [nothing] \n")
    assert fn.read_newick(tmp_path / "one.nwk.gz").leaves == ("a", "b", "c")
    assert [tree.parents for tree in read_newicks(tmp_path / "two.nwk")] == [(-1, 0, 0, 2, 2), (-1, 0, 1, 1, 0)]
    with pytest.raises(fn.FileFormatError, match="has 2 trees"):
        read_newick(tmp_path / "two.nwk")
    with pytest.raises(fn.FileFormatError, match="the file has no tree"):
        read_newick(tmp_path / "none.nwk")
    with pytest.raises(fn.FileFormatError, match="there is no such file"):
        read_newick(tmp_path / "other.nwk")


def test_depth_and_width_cost_no_recursion() -> None:
    n = 20_000
    tree = read("(" * n + "x" + "".join(f",a{i})" for i in range(n)) + ";")
    assert len(tree.leaves) == n + 1
    assert tree.shape(tree.leaves).n_nodes == n
    assert len(read(f"({','.join(f'a{i}' for i in range(n))});").leaves) == n


def written(tree: NamedTree, node: int = 0) -> str:
    below = [written(tree, c) for c, above in enumerate(tree.parents) if above == node]
    name = "'" + tree.names[node].replace("'", "''") + "'"
    length = tree.lengths[node]
    return (f"({','.join(below)})" if below else "") + name + ("" if length is None else f":{length!r}")


@st.composite
def named_trees(draw: st.DrawFn) -> NamedTree:
    n = draw(st.integers(1, 12))
    parents = [-1]
    path = [0]  # depth first: the next node hangs on one of the path to the last
    for node in range(1, n):
        above = draw(st.integers(0, len(path) - 1))
        parents.append(path[above])
        path = [*path[: above + 1], node]
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
    names = draw(st.lists(text, min_size=n, max_size=n, unique=True))
    numbers = st.none() | st.floats(-1e300, 1e300)
    return NamedTree(tuple(parents), tuple(names), tuple(draw(st.lists(numbers, min_size=n, max_size=n))))


@given(named_trees())
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_read(tree: NamedTree) -> None:
    assert read(written(tree) + ";") == tree


@given(st.text("(),:;'[]ab1 \n", max_size=30))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_tree_or_an_error_of_the_file(text: str) -> None:
    try:
        tree = read(text)
    except fn.FileFormatError:
        return
    assert len(tree.names) == len(tree.parents)


def test_unknown_lengths_are_nan() -> None:
    lengths = read("((a:1,b),c:2):9;").branch_lengths(["c", "b", "a"])
    np.testing.assert_array_equal(lengths, [np.nan, 2, 1, np.nan])
