"""Hidden trees in the model file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import fishernet as fn
from fishernet.files.sequence_models import hidden_tree_fields
from fishernet.models.sequences.alphabet import Alphabet
from tests.reference.trees import Case, cases

# A file of version 1, kept as it was: every later version must read it.
VERSION_1 = """{
"format": "fishernet",
"version": 1,
"kind": "HiddenTree",
"nodes": [[4, 2], [1, 0]],
"alphabet": [{"symbols": ["A", 1, 2.5], "unknown": 0}],
"missing": "?",
"arity": [2, 1],
"branch_tables": null,
"root": [0.25, 0.75],
"transition": [[0.9, 0.1], [0.5, 0.5]],
"emission": [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]
}
"""
MOVE = [[0.7, 0.3], [0.1, 0.9]]


def exact(tree: fn.HiddenTree) -> tuple[Any, ...]:
    return (
        tree.shape.nested(),
        tree.alphabet,
        [type(symbol) for symbol in tree.alphabet.symbols],
        tree.missing,
        None if tree.arity is None else tree.arity.tolist(),
        tree.branch_tables.tolist(),
        *((part.shape, part.tobytes()) for part in (tree.root, tree.transition, tree.emission)),
    )


def back(tree: fn.HiddenTree) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        fn.save(tree, Path(folder, "a.json.gz"))
        return fn.load(Path(folder, "a.json.gz"))


@given(cases())
@settings(max_examples=30, deadline=None)
def test_a_tree_comes_back_to_the_last_bit(case: Case) -> None:
    tree = case.model(missing="?")
    assert exact(back(tree)) == exact(tree)


def test_tables_of_branches_and_alphabets_come_back() -> None:
    tables = np.array([MOVE, [[0.5, 0.5], [0.25, 0.75]]])
    symbols = Alphabet([True, "né"], unknown="né")
    tree = fn.HiddenTree([[0, 1], 2], [0.4, 0.6], tables, MOVE, alphabet=symbols, branch_tables=[1, 0, 1, 0])
    assert exact(back(tree)) == exact(tree)


def test_depth_is_no_matter() -> None:
    nested: list[Any] = [4999]
    for leaf in range(4998, -1, -1):
        nested = [leaf, nested]
    tree = fn.HiddenTree(nested, [0.4, 0.6], MOVE, MOVE)
    assert back(tree).shape.child.tolist() == tree.shape.child.tolist()


def test_files_of_version_1_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(VERSION_1)
    tree = fn.load(tmp_path / "a.json")
    assert tree.shape.nested() == [[1, 0], 2]
    assert tree.alphabet == Alphabet(["A", 1, 2.5], unknown="A")
    assert (tree.missing, tree.arity.tolist(), tree.root.tolist()) == ("?", [2, 1], [0.25, 0.75])
    assert tree.emission.tolist() == [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"nodes": []}, "each node but the first must be the child of one node"),
        ({"nodes": [[4, 2], [1, 4]]}, "each node but the first must be the child of one"),
        ({"nodes": [[4, 2], [1, 1]]}, "the leaf 1 is in the tree twice"),
        ({"nodes": [[4, 2], "x"]}, r"nodes\[1\]: expected integers from 0, got 'x'"),
        ({"nodes": [[4, 2], [1, -1]]}, r"nodes\[1\]: expected integers from 0, got -1"),
        ({"nodes": [[0, 2], []]}, "the tree has an inner node without children"),
        ({"alphabet": [{"symbols": ["A", None, 2.5], "unknown": 0}]}, r"symbols\[1\]: null is no symbol"),
        ({"alphabet": [{"symbols": ["A", "A", 2.5], "unknown": 0}]}, "the symbol 'A' is in the alphabet twice"),
        ({"alphabet": [{"symbols": ["A", 1, 2.5], "unknown": 3}]}, "expected a position from 0 to 2"),
        ({"alphabet": []}, "expected one alphabet, got 0"),
        ({"missing": "A"}, "it is in the alphabet"),
        ({"missing": [1]}, r"is no symbol: a text, a number or a truth value"),
        ({"arity": [5, 5]}, "no labelling of the tree's nodes has the arities"),
        ({"arity": [2, 1.0]}, "arity: expected integers from 0, got 1.0"),
        ({"branch_tables": [0, 0, 0, 0]}, "branch_tables needs transition or emission"),
        ({"root": [0.5, 0.6]}, "root sums to 1.1"),
        ({"root": [0.5, True]}, "root: expected numbers, got True"),
        ({"transition": [[0.9, 0.1], [0.5]]}, "transition: the lists inside differ in length"),
        ({"transition": [[0.9, 0.1], 0.5]}, "transition: the lists inside differ in length"),
        ({"emission": []}, "emission must have shape"),
        ({"comment": 1}, "there is the unknown field 'comment'"),
    ],
)
def test_a_wrong_field_is_an_error_of_the_file(tmp_path: Path, edit: dict[str, Any], message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**json.loads(VERSION_1), **edit}))
    with pytest.raises(fn.FileFormatError, match=message):
        fn.load(path)


@pytest.mark.parametrize("symbol", ["\ud83d", (1, 2), float("inf")])
def test_a_symbol_that_no_file_can_hold_is_refused(symbol: Any) -> None:
    tree = fn.HiddenTree([0], [0.4, 0.6], MOVE, MOVE, alphabet=["a", symbol])
    with pytest.raises(fn.SchemaError, match="cannot be stored"):
        hidden_tree_fields(tree)


@pytest.mark.parametrize("depth", [4, 65, 200])
def test_lists_that_are_nested_too_deep(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "deep.json"
    path.write_text(VERSION_1.replace("[0.25, 0.75]", "[" * depth + "0.5" + "]" * depth), encoding="utf-8")
    with pytest.raises(fn.FileFormatError, match="root: lists are nested more than 3 deep"):
        fn.load(path)
