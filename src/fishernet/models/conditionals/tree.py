"""A decision tree: each leaf is a group of configurations that share a row of probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.display import Brief
from fishernet.base.errors import SchemaError
from fishernet.base.fields import Fields, shown
from fishernet.base.names import listed, several
from fishernet.data import Variable
from fishernet.data.variable import Column
from fishernet.models.conditionals.base import (
    CoreForm,
    Grouped,
    Probabilities,
    check_cells,
    read_probabilities,
)

MOST_MAPPED = 2**24  # configurations of the parents that are enumerated


@dataclass(frozen=True, slots=True, repr=False)
class Split(Brief):
    """An inner node of a tree: a variable, and where each of its states leads.

    Attributes
    ----------
    variable : int
        Position of the parent that is asked.
    branches : tuple of int
        For each state the number of a branch, from 0 on.
    children : tuple of Split or int
        Of each branch, the next split, or the number of a leaf.
    """

    variable: int
    branches: tuple[int, ...]
    children: tuple[Split | int, ...]

    def __post_init__(self) -> None:
        check.integer(self.variable, "variable", least=0)
        branches = check.items(self.branches, "branches", "positions")
        for branch in branches:
            check.integer(branch, "each of branches", least=0)
        object.__setattr__(self, "branches", branches)
        object.__setattr__(self, "children", check.items(self.children, "children", "splits and leaves"))


class TreeConditional(Grouped):
    """P(child given its parents), one row per leaf of a decision tree.

    Parameters
    ----------
    child : int
        Position of the child.
    parents : sequence of int
        Positions of the variables that the tree asks.
    variables : sequence of Variable
        The parents' variables in that order, then the child's.
    tree : Split or int
        The root; ``0`` is a tree of one leaf.
    probabilities : (leaves, r) array
        One row per leaf; rows sum to 1.

    Raises
    ------
    SchemaError
        When the tree asks what is no parent, a leaf is not there or comes twice, or the numbers are no probabilities.
    """

    __slots__ = ("probabilities", "tree")

    tree: Split | int
    probabilities: Probabilities

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Column],
        tree: Split | int,
        probabilities: npt.ArrayLike,
    ) -> None:
        super().__init__(child, parents, variables, probabilities)
        name, rows = self.name, self.probabilities
        cardinalities = {p: v.cardinality for p, v in zip(self.parents, self.variables, strict=False)}
        leaves = sorted(_leaves(tree, cardinalities, name))
        if leaves != list(range(rows.shape[0])):
            raise SchemaError(
                f"the tree of {name!r} has the leaves {listed(leaves)}; each of the {rows.shape[0]} rows needs one"
            )
        self._set(tree=tree)

    def nodes(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return what the core walks: each node's variable (-1: a leaf), its group or first branch; the branches."""
        variable: list[int] = []
        first: list[int] = []
        following: list[int] = []
        open_: list[tuple[Split | int, list[int]]] = [(self.tree, [])]
        while open_:
            node, entries = open_.pop(0)
            for entry in entries:  # the branches that lead here
                following[entry] = len(variable)
            if isinstance(node, int):
                variable.append(-1)
                first.append(node)
                continue
            variable.append(node.variable)
            first.append(len(following))
            start = len(following)
            following += [-1] * len(node.branches)
            for branch, below in enumerate(node.children):
                open_.append((below, [start + k for k, b in enumerate(node.branches) if b == branch]))
        return np.array(variable, np.int32), np.array(first, np.int32), np.array(following, np.int32)

    def _groups_of(self, codes: Sequence[npt.NDArray[np.int64]], n_rows: int) -> npt.NDArray[np.int64]:
        variable, first, following = self.nodes()
        place = {p: i for i, p in enumerate(self.parents)}
        node = np.zeros(n_rows, dtype=np.int64)
        for i in np.flatnonzero(variable >= 0):  # a node comes after the one that leads to it
            here = np.flatnonzero(node == i)
            node[here] = following[first[i] + codes[place[int(variable[i])]][here]]
        return first[node].astype(np.int64)

    def contexts(self, group: int) -> tuple[Mapping[int, tuple[int, ...]], ...]:
        """Return the one box {parent: states} of the configurations that lead to a leaf."""
        box: dict[int, tuple[int, ...]] = {}
        found = _path(self.tree, group, box)
        assert found is not None  # every group has a leaf
        return (found,)

    def rules(self) -> list[str]:
        """Return a line for each leaf: the conditions that lead to it, and the child's probabilities."""
        of = dict(zip(self.parents, self.variables, strict=False))
        lines = []
        for group, row in enumerate(self.probabilities):
            conditions = [_condition(of[p], states) for p, states in self.contexts(group)[0].items()]
            shares = ", ".join(f"{state}: {p:.3g}" for state, p in zip(self.variables[-1].states, row, strict=True))
            lines.append(f"{' and '.join(conditions) or 'always'}  ->  {self.variables[-1].name}  {shares}")
        return lines

    def group_map(self) -> npt.NDArray[np.int64]:
        """Return the leaf of each configuration, of at most 2**24; `nodes` has no such limit."""
        n = check_cells(self.variables[:-1], f"the configurations of {self.name!r}", MOST_MAPPED)
        states = np.unravel_index(np.arange(n), self._shape[:-1]) if self.parents else ()
        return self._groups_of([np.asarray(s, dtype=np.int64) for s in states], n)

    def core_form(self) -> CoreForm:
        """Return the nodes, which the core walks."""
        return CoreForm(np.array(self.parents, dtype=np.int32), self.n_groups, nodes=self.nodes())

    def to_fields(self) -> dict[str, object]:
        """Return the nodes of the tree, the root first, and the rows of probabilities."""
        of = dict(zip(self.parents, self.variables, strict=False))
        variable, first, branches = (array.tolist() for array in self.nodes())
        nodes = [
            {"leaf": at} if asked < 0 else {"variable": of[asked].name, "to": branches[at : at + of[asked].cardinality]}
            for asked, at in zip(variable, first, strict=True)
        ]
        return {"nodes": nodes, "probabilities": self.probabilities.tolist()}

    @classmethod
    def from_fields(cls, fields: Fields, child: int, parents: Sequence[int], variables: Sequence[Variable]) -> Self:
        """Return the conditional of which a file holds these fields."""
        of = {variable.name: (p, variable) for p, variable in zip(parents, variables, strict=False)}
        tree = read_tree(fields, of)
        return cls(child, parents, variables, tree, read_probabilities(fields, variables[-1].cardinality))

    def _arguments(self) -> tuple[Any, ...]:
        return self.tree, self.probabilities

    def __repr__(self) -> str:
        return f"{super().__repr__()}, {several(self.n_groups, 'group')}"


def _condition(variable: Variable, states: tuple[int, ...]) -> str:
    labels = [str(variable.states[k]) for k in states]
    return f"{variable.name} = {labels[0]}" if len(labels) == 1 else f"{variable.name} in {{{', '.join(labels)}}}"


def _leaves(node: Split | int, cardinalities: Mapping[int, int], name: str) -> list[int]:
    if isinstance(node, int):
        return [node]
    if cardinalities.get(node.variable) != len(node.branches):
        raise SchemaError(
            f"the tree of {name!r} asks position {node.variable} for {several(len(node.branches), 'state')}"
        )
    if sorted(set(node.branches)) != list(range(len(node.children))):
        raise SchemaError(f"a split of the tree of {name!r} leads to branches {node.branches}, of {len(node.children)}")
    return [leaf for child in node.children for leaf in _leaves(child, cardinalities, name)]


def _path(node: Split | int, group: int, box: Mapping[int, tuple[int, ...]]) -> Mapping[int, tuple[int, ...]] | None:
    """Return the states that lead from a node to a leaf, within those allowed so far; None: it is not below."""
    if isinstance(node, int):
        return box if node == group else None
    for branch, below in enumerate(node.children):
        states = tuple(k for k, b in enumerate(node.branches) if b == branch)
        if node.variable in box:
            states = tuple(k for k in states if k in box[node.variable])
        found = _path(below, group, {**box, node.variable: states})
        if found is not None:
            return found
    return None


def read_tree(fields: Fields, of: Mapping[str, tuple[int, Variable]]) -> Split | int:
    """Return the tree that a conditional's fields describe; `of` has each parent's position and variable by name."""
    nodes = fields.objects("nodes")
    if not nodes:
        raise fields.wrong("a tree needs a node", "nodes")
    read: dict[int, Split | int] = {}
    for number in range(len(nodes) - 1, -1, -1):  # what a node leads to comes after it
        node = nodes[number]
        if node.has("leaf"):
            read[number] = node.whole("leaf")
        else:
            name = node.text("variable")
            if name not in of:
                raise node.wrong(f"{name!r} is no parent", "variable")
            position, variable = of[name]
            to = node.items("to")
            if len(to) != variable.cardinality:
                raise node.wrong(
                    f"{several(len(to), 'node')} for the {several(variable.cardinality, 'state')} of {name!r}", "to"
                )
            for state, below in enumerate(to):
                if type(below) is not int or not number < below < len(nodes) or below not in read:
                    raise node.wrong(
                        f"expected a node from {number + 1} to {len(nodes) - 1} that nothing else leads to, "
                        f"got {shown(below)}",
                        f"to[{state}]",
                    )
            below = sorted(set(to))
            read[number] = Split(position, tuple(below.index(n) for n in to), tuple(read.pop(n) for n in below))
        node.end()
    if len(read) > 1:
        raise fields.wrong(f"nothing leads to node {max(read)}", "nodes")
    return read[0]
