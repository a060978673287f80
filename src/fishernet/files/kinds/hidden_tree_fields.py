"""A hidden tree model as fields of the model file, and back.

::

    "nodes": [[4, 5], [0], [1, 2]]     the children of each inner node, depth first: below the number of leaves a leaf,
                                       from there on the inner nodes; here 3 leaves, so that 3 is the root
    "alphabet": [{"symbols": ["A", "C"], "unknown": null}]
    "missing": "?"                     what stands for a missing symbol, or null
    "arity": [1, 2]                    the number of children in each state, or null
    "branch_tables": [0, 1, 0]         the table of each branch, or null where all share one
    "root": [0.5, 0.5]
    "transition": [[0.9, 0.1], [0.1, 0.9]]       with one more level of lists where there are several tables
    "emission": [[0.9, 0.1], [0.1, 0.9]]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.files.fields import Fields, shown
from fishernet.files.kinds.alphabet_fields import alphabet_fields, read_alphabet, storable
from fishernet.models import HiddenTree
from fishernet.models.trees.shape import TreeShape


def hidden_tree_fields(tree: HiddenTree) -> dict[str, object]:
    """Return a hidden tree model as what `json` writes.

    Raises
    ------
    SchemaError
        When a symbol cannot be stored.
    """
    if tree.missing is not None and not storable(tree.missing):
        raise SchemaError(f"the symbol {tree.missing!r} cannot be stored: it is no text, finite number or truth value")
    shape = tree.shape
    several = tree.transition.ndim == 3 or tree.emission.ndim == 3
    nodes = [[~c if c < 0 else shape.n_leaves + c for _, c in shape.children(v)] for v in range(shape.n_nodes)]
    return {
        "nodes": nodes,
        "alphabet": alphabet_fields(tree.alphabet),
        "missing": tree.missing,
        "arity": None if tree.arity is None else tree.arity.tolist(),
        "branch_tables": tree.branch_tables.tolist() if several else None,
        "root": tree.root.tolist(),
        "transition": tree.transition.tolist(),
        "emission": tree.emission.tolist(),
    }


def read_hidden_tree(fields: Fields) -> HiddenTree:
    """Return the hidden tree model that the fields describe."""
    shape = _read_shape(fields)
    alphabet = read_alphabet(fields)
    missing: Any = None if fields.is_null("missing") else fields.take("missing")
    if missing is not None and not storable(missing):
        raise fields.wrong(f"{shown(missing)} is no symbol: a text, a number or a truth value", "missing")
    arity = None if fields.is_null("arity") else _whole_numbers(fields, fields.items("arity"), "arity")
    tables = None
    if not fields.is_null("branch_tables"):
        tables = _whole_numbers(fields, fields.items("branch_tables"), "branch_tables")
    root, transition, emission = (_array(fields, name) for name in ("root", "transition", "emission"))
    return HiddenTree(
        shape,
        root,
        transition,
        emission,
        arity=arity,
        alphabet=alphabet,
        missing=missing,
        branch_tables=tables,
    )


def _read_shape(fields: Fields) -> TreeShape:
    nodes = fields.items("nodes")
    rows = [
        _whole_numbers(fields, row if isinstance(row, list) else [row], f"nodes[{v}]") for v, row in enumerate(nodes)
    ]
    n_leaves = sum(map(len, rows)) - (len(rows) - 1)
    return TreeShape.from_children([[c - n_leaves if c >= n_leaves else ~c for c in row] for row in rows])


def _whole_numbers(fields: Fields, values: list[Any], name: str) -> list[int]:
    for value in values:
        if type(value) is not int or not 0 <= value < 2**31:
            raise fields.wrong(f"expected integers from 0, got {shown(value)}", name)
    return values


def _array(fields: Fields, name: str) -> npt.NDArray[np.float64]:
    """Return a field of nested lists as an array."""
    values: list[Any] = fields.items(name)
    shape = [len(values)]
    while values and isinstance(values[0], list):
        size = len(values[0])
        if any(not isinstance(row, list) or len(row) != size for row in values):
            raise fields.wrong("the lists inside differ in length", name)
        shape.append(size)
        values = [item for row in values for item in row]
    return fields.numbers(values, name).reshape(shape)
