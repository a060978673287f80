"""Imports inside the package point down the list of layers, are absolute, and never stand inside a function."""

from __future__ import annotations

import ast
import functools
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fishernet

SOURCE = Path(fishernet.__file__).parent
LAYERS = [
    {"base", "_core"},
    {"data", "graphs"},
    {"scores", "infer", "independence"},
    {"models"},
    {"learn"},
    {"kernels"},
    {"select", "compare", "explain"},
    {"files"},
    {"datasets"},
    {"sklearn", "plot"},
    {"reports"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# of the lowest layer: threads and random may use errors and the core
FLOOR = LAYERS[0]


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py").removesuffix(".pyi")


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"line {node.lineno}: a relative import"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name


def own_parts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and part of every import of the package's own."""
    for line, name in imported(tree_of(path)):
        first, *rest = name.split(".")
        if first == "fishernet":
            assert rest, f"{path}:{line}: import fishernet inside the package"
            assert rest[0] in LEVEL, f"{path}:{line}: {rest[0]} is in no layer"
            yield line, rest[0]


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        list(own_parts(path))
        return
    assert part in LEVEL, f"{path}: {part} is in no layer"
    for line, other in own_parts(path):
        allowed = other == part or LEVEL[other] < LEVEL[part] or {part, other} <= FLOOR
        assert allowed, f"{path}:{line}: {part} may not import {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_of_our_own_is_imported_inside_a_function(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for line, name in imported(node):
                assert not name.startswith("fishernet"), f"{path}:{line}: {name} inside {node.name}"


def module_of(path: Path) -> str:
    """Dotted name of a file of the package."""
    parts = ("fishernet", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_modules_make_no_circle() -> None:
    """Imports for type checkers alone are counted as well."""
    modules = {module_of(path): path for path in FILES}
    needs = {}
    for module, path in modules.items():
        names = {name for _, name in imported(tree_of(path))}
        found = {name if name in modules else name.rpartition(".")[0] for name in names}
        needs[module] = found & modules.keys() - {"fishernet"}
    graphlib.TopologicalSorter(needs).prepare()  # raises CycleError, which names the circle


def test_the_core_is_imported_by_few() -> None:
    """The core belongs to the module that owns a concept; everybody else calls that."""
    owners = {part_of(path) for path in FILES for _, part in own_parts(path) if part == "_core"}
    assert owners <= {
        "base",
        "data",
        "scores",
        "models",
        "infer",
        "independence",
        "learn",
        "kernels",
        "select",
        "compare",
    }


@functools.cache
def trees() -> dict[str, ast.Module]:
    """What each file of the package says, by its path inside the package."""
    return {path.relative_to(SOURCE).as_posix(): tree_of(path) for path in FILES}


# Everywhere else an object is asked what it can do, never of which of our classes it is.
BORDERS = {
    (
        "data/matching.py",
        "Table",
    ): "a table is taken as it is; everything else a caller may pass is read column by column",
    ("graphs/graph.py", "Graph"): "a caller may pass a graph, or a model that has one",
    ("infer/factors.py", "Asked"): "a caller may pass a model, or data",
    ("plot/looks.py", "EdgeStrengths"): "strengths are given as a bootstrap's result, an array, by pairs or by a word",
    ("data/blocks/passes.py", "Columns"): "a part is columns that are read already, or a frame",
    ("data/source.py", "Source"): "a source is taken as it is; a data frame becomes a table",
    ("data/table.py", "Table"): "what is equal to a table is a table",
    ("kernels/kernel.py", "BaseKernel"): "a kernel is one of the library's, or a user's, which is adapted",
    ("kernels/rows.py", "PartRows"): "rows are one table or array, or those of each part of a sum of kernels",
    ("select/prototypes.py", "Selection"): "prototypes are given as a selection, or as positions",
    ("cli/terminal.py", "FishernetWarning"): "a warning is the library's, or another library's",
    ("models/sequences/alphabet.py", "Alphabet"): "an alphabet is given as one, or as its symbols",
    ("models/sequences/profile.py", "Alignment"): "rows are given as an alignment, or as strings",
    ("models/trees/shape.py", "TreeShape"): "a tree is given as a shape, or as a named tree",
    ("scores/named.py", "Score"): "a score is given as one, or by its name",
}


def test_classes_of_our_own_are_asked_for_at_few_borders() -> None:
    """A border is where a caller may pass one thing or another; at most fifteen of them."""
    own = {node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found = set()
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
                named = {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node.args[1])}
                found |= {(path, name) for name in named & own}
    assert found == BORDERS.keys()
    assert len(found) <= 15


# -- of what kind something is, asked by attributes ------------------------------------------------------------


def attributes_of(tree: ast.AST) -> Iterator[str]:
    """Names that classes of a file give their objects: methods, properties, fields, and what is set on self."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    yield part.name
                elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    yield part.target.id
                elif isinstance(part, ast.Assign):
                    yield from (name.id for name in part.targets if isinstance(name, ast.Name))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr


def questions(tree: ast.AST, ours: set[str]) -> Iterator[str]:
    """Attributes of ours after whose presence a file asks.

    Such questions are ``hasattr(x, "name")``, ``getattr(x, "name", default)`` and ``"name" in dir(x)``. A name is ours
    if any class of the package has it, and it is not a special name of Python such as ``__len__``. A name that is
    computed would hide the question, and is told as "*".
    """
    for node in ast.walk(tree):
        name: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asks = {"hasattr": 2, "getattr": 3}.get(node.func.id) == len(node.args)
            name = node.args[1] if asks else None
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            looked_through = node.comparators[0]
            if isinstance(looked_through, ast.Call) and getattr(looked_through.func, "id", "") in ("dir", "vars"):
                name = node.left
        if isinstance(name, ast.Constant):
            if name.value in ours and not str(name.value).startswith("__"):
                yield str(name.value)
        elif name is not None:
            yield "*"


# Somebody else's objects, whose attributes bear a name that a class of ours has as well.
OF_OTHERS = {
    ("data/arrow.py", "columns"): "of a data frame",
    ("data/formats/text_file.py", "start"): "of Python's UnicodeError",
    ("data/matching.py", "*"): "marks of data frames, from a list",
    ("data/matching.py", "dtype"): "of arrays",
    ("data/matching.py", "kind"): "of NumPy's types",
    ("data/blocks/dask.py", "columns"): "of a data frame",
    ("data/blocks/dask.py", "kind"): "of NumPy's types",
    ("data/blocks/workers.py", "*"): "of Dask's tasks",
    ("data/blocks/workers.py", "scheduler"): "of Dask's client",
    ("data/streams/batches.py", "*"): "of relations of DuckDB and readers of Arrow",
    ("data/streams/batches.py", "columns"): "of a data frame",
    ("data/streams/batches.py", "files"): "of Arrow's datasets",
    ("graphs/edges.py", "edges"): "of networkx's graphs",
    ("graphs/edges.py", "nodes"): "of networkx's graphs",
    ("models/sequences/hidden_markov_model.py", "*"): "of hmmlearn's models",
    ("plot/tooltips.py", "*"): "of matplotlib's artists",
    ("sklearn/columns.py", "name"): "of a pandas Series",
    ("sklearn/networks.py", "dtype"): "of arrays",
    ("sklearn/strings.py", "random_state"): "scikit-learn's parameter, which only some estimators have",
}

# Where a caller may pass an object of a class of their own, or one thing or another. The list may only shrink.
QUESTIONS = {
    ("compare/goodness_of_fit.py", "n_complete"): "a user's model may know how many rows it was fitted to",
    ("data/blocks/workers.py", "parameter"): "an error that came from a worker is ours, or anybody's",
    ("kernels/kernel.py", "*"): "a user's kernel may have more than a call and `diag`: asked once, when it is adapted",
    ("kernels/kernel.py", "diag"): "an operand of + and * is a kernel, or anything",
    ("kernels/kernel.py", "features"): "a user's kernel may have features: asked once, when it is adapted",
    ("kernels/sequences/counts.py", "expected_counts"): "a model that lacks expected counts is refused",
    ("kernels/sequences/marginalization.py", "log_prob"): "a model that lacks a likelihood is refused",
    ("plot/chosen_rows.py", "indices"): "rows are given as a selection, or as positions",
    ("sklearn/strings.py", "fisher_scores"): "a caller gives a model, or a function that learns one",
    ("sklearn/strings.py", "unknown"): "a caller gives an alphabet, or the name of one",
    ("sklearn/strings.py", "with_unknown"): "models of strings with or without an alphabet",
}


def test_few_ask_after_attributes_of_our_own() -> None:
    ours = {name for tree in trees().values() for name in attributes_of(tree)}
    found = {(path, name) for path, tree in trees().items() for name in questions(tree, ours)}
    assert found == OF_OTHERS.keys() | QUESTIONS.keys()
    assert len(QUESTIONS) <= 12


def test_no_class_of_our_own_is_looked_up_by_type() -> None:
    """Neither as a key, ``KINDS[type(x)]``, nor by name, ``type(x) is Ours``."""
    own = {node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found = set()
    for path, tree in trees().items():
        for node in ast.walk(tree):
            inside: list[ast.expr] = []
            if isinstance(node, ast.Subscript):
                inside = [node.slice]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                inside = node.args[:1]
            elif isinstance(node, ast.Compare) and own & {getattr(side, "id", "") for side in node.comparators}:
                inside = [node.left]
            if any(isinstance(part, ast.Call) and getattr(part.func, "id", "") == "type" for part in inside):
                found.add(path)
    assert not found


# Of a Python on Windows: what it has not, and then a stream, whose store is the part that would need it most.
ELSEWHERE = """
import os, signal, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for module, names in (
    (os, "fork geteuid getuid killpg mkfifo pread register_at_fork sched_getaffinity sysconf O_NOFOLLOW"),
    (signal, "SIGALRM SIGHUP SIGKILL SIGPIPE"),
):
    for name in names.split():
        vars(module).pop(name, None)
import fishernet as fn
import fishernet.cli
table = fn.datasets.load("asia").sample(50, seed=1)
assert fn.scan(table.to_frame()) == table
"""


def test_nothing_is_needed_that_only_posix_has() -> None:
    subprocess.run([sys.executable, "-c", ELSEWHERE], check=True)
