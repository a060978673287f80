"""A fixed tree, given as nested lists, in flat arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import several, shown
from fishernet.base.value import Value

Nested = Any  # a list of nested lists and of integers


@dataclass(frozen=True, eq=False)
class TreeShape(Value):
    """The inner nodes of a tree, depth first, each with its children in order; node 0 is the root."""

    first: npt.NDArray[np.int64]
    """(n_nodes + 1,) the children of node v are ``child[first[v]:first[v + 1]]``; a position there is a *branch*."""
    child: npt.NDArray[np.int32]
    """(n_branches,) an inner node, always a later one; or ``~leaf``."""

    def _parts(self) -> tuple[Any, ...]:
        return self.first, self.child

    @property
    def n_nodes(self) -> int:
        """The number of inner nodes."""
        return len(self.first) - 1

    @property
    def n_branches(self) -> int:
        """The number of branches: one to each leaf, and one to each inner node but the root."""
        return len(self.child)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self.n_branches - self.n_nodes + 1

    @property
    def n_children(self) -> npt.NDArray[np.int64]:
        """(n_nodes,) the number of children of each inner node."""
        return np.diff(self.first)

    @property
    def positions(self) -> npt.NDArray[np.int32]:
        """(n_branches,) the position of each child among the children of its node."""
        starts = np.repeat(self.first[:-1], self.n_children)
        return (np.arange(self.n_branches) - starts).astype(np.int32)

    def children(self, node: int) -> Iterator[tuple[int, int]]:
        """Yield the branches of a node, and the child of each."""
        for branch in range(int(self.first[node]), int(self.first[node + 1])):
            yield branch, int(self.child[branch])

    def nested(self) -> list[Nested]:
        """Return the tree as nested lists."""
        lists: list[list[Nested]] = [[] for _ in range(self.n_nodes)]
        for node, below in enumerate(lists):
            below.extend(lists[child] if child >= 0 else ~child for _, child in self.children(node))
        return lists[0]

    @classmethod
    def of(cls, tree: Nested | TreeShape) -> TreeShape:
        """Return the shape of nested lists, or the shape itself."""
        return tree if isinstance(tree, TreeShape) else cls.from_nested(tree)

    @classmethod
    def from_nested(cls, tree: Nested) -> TreeShape:
        """Read nested lists; an integer is a leaf, and says at which position of a string its symbol stands.

        SchemaError when that is no tree, or its leaves are not the positions 0, 1, ... each once.
        """
        if not _is_node(tree):
            raise SchemaError(f"a tree is a list of its children, such as [[0, 1], 2]; got {shown(tree)}")
        lists = _depth_first(tree)
        number = {id(below): node for node, below in enumerate(lists)}
        first = np.concatenate([[0], np.cumsum([len(below) for below in lists])]).astype(np.int64)
        child = [number[id(item)] if _is_node(item) else ~_leaf(item) for below in lists for item in below]
        shape = cls(first, np.array(child, dtype=np.int32))
        _check_leaves([~item for item in child if item < 0])
        return shape

    @classmethod
    def from_children(cls, children: Sequence[Sequence[int]]) -> TreeShape:
        """Read the children of every node, depth first; a leaf is written as ``~leaf``."""
        below = [int(item) for items in children for item in items if item >= 0]
        earlier = any(0 <= item <= node for node, items in enumerate(children) for item in items)
        if not children or earlier or sorted(below) != list(range(1, len(children))):
            raise SchemaError("each node but the first must be the child of one node that comes before it")
        lists: list[list[Nested]] = [[] for _ in children]
        for node, items in enumerate(children):
            lists[node].extend(lists[item] if item >= 0 else ~item for item in items)
        return cls.from_nested(lists[0])


def _is_node(item: object) -> bool:
    return isinstance(item, list | tuple)


def _depth_first(tree: Sequence[Nested]) -> list[Sequence[Nested]]:
    """Return all lists of a tree, each before those inside it; without recursion, so that depth costs nothing."""
    found: list[Sequence[Nested]] = []
    seen: set[int] = set()
    open_lists: list[Sequence[Nested]] = [tree]
    while open_lists:
        below = open_lists.pop()
        if not below:
            raise SchemaError("the tree has an inner node without children (an empty list); a leaf is an integer")
        if id(below) in seen:
            raise SchemaError(f"the tree has the same list in two places: {_shown(below)}")
        seen.add(id(below))
        found.append(below)
        open_lists.extend(item for item in reversed(below) if _is_node(item))
    return found


def _shown(below: Sequence[Nested]) -> str:
    return "[" + ", ".join("..." if _is_node(item) else repr(item) for item in below[:5]) + "]"


def _leaf(item: object) -> int:
    try:
        if isinstance(item, bool):
            raise TypeError
        leaf = operator.index(item)  # type: ignore[arg-type]
    except TypeError:
        raise SchemaError(f"a tree consists of lists and of positions in the string, not of {item!r}") from None
    if not 0 <= leaf < 2**31 - 1:
        raise SchemaError(f"the leaf {leaf} is no position in a string")
    return leaf


def _check_leaves(leaves: list[int]) -> None:
    count = np.bincount(leaves, minlength=0) if max(leaves) <= 2 * len(leaves) else np.zeros(0, np.int64)
    if len(count) == 0:
        raise SchemaError(
            f"the leaf {max(leaves)} is too far off: the tree has {several(len(leaves), 'leaf', 'leaves')}, from 0 on"
        )
    if (count > 1).any():
        raise SchemaError(f"the leaf {int(np.argmax(count > 1))} is in the tree twice")
    if (count == 0).any():
        missing = int(np.argmax(count == 0))
        raise SchemaError(f"the leaf {missing} is missing: a tree with the leaf {max(leaves)} has all before it, too")
