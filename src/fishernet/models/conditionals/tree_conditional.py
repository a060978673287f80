"""A decision tree: each leaf is a group of configurations that share a row of probabilities (P2, section 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import SchemaError
from fishernet.base.names import listed
from fishernet.data import Table, Variable
from fishernet.models.conditionals.conditional import (
    Probabilities,
    check_cells,
    checked_probabilities,
    conditional_frame,
)

MOST_MAPPED = 2**24  # configurations of the parents that are enumerated


@dataclass(frozen=True, slots=True)
class Split:
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
        object.__setattr__(self, "branches", tuple(self.branches))
        object.__setattr__(self, "children", tuple(self.children))


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class TreeConditional:
    """P(child given its parents), one row a leaf of a decision tree.

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
        One row a leaf; rows sum to 1.

    Raises
    ------
    SchemaError
        When the tree asks what is no parent, a leaf is not there or comes twice, or the numbers are no probabilities.
    """

    child: int
    parents: tuple[int, ...]
    variables: tuple[Variable, ...]
    tree: Split | int
    probabilities: Probabilities

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Variable],
        tree: Split | int,
        probabilities: npt.ArrayLike,
    ) -> None:
        name = variables[-1].name
        rows = checked_probabilities(probabilities, f"the conditional of {name!r}")
        if rows.shape[1] != variables[-1].cardinality:
            raise SchemaError(
                f"the conditional of {name!r} has {rows.shape[1]} states, not {variables[-1].cardinality}"
            )
        cardinalities = {p: v.cardinality for p, v in zip(parents, variables, strict=False)}
        leaves = sorted(_leaves(tree, cardinalities, name))
        if leaves != list(range(rows.shape[0])):
            raise SchemaError(
                f"the tree of {name!r} has the leaves {listed(leaves)}; each of the {rows.shape[0]} rows needs one"
            )
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", tuple(parents))
        object.__setattr__(self, "variables", tuple(variables))
        object.__setattr__(self, "tree", tree)
        object.__setattr__(self, "probabilities", rows)

    def __reduce__(self) -> tuple[object, ...]:
        return TreeConditional, (self.child, self.parents, self.variables, self.tree, self.probabilities)

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(variable.cardinality for variable in self.variables)

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

    def groups(self, table: Table) -> npt.NDArray[np.int64]:
        """Return the leaf of each row, (n_rows,) int64."""
        if self.parents:
            table.select([v.name for v in self.variables[:-1]]).require_complete("a conditional")
        return self._walk([table.codes[p].astype(np.int64) for p in self.parents], table.n_rows)

    def _walk(self, codes: Sequence[npt.NDArray[np.int64]], n_rows: int) -> npt.NDArray[np.int64]:
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

    def table(self) -> Probabilities:
        """Return the probabilities, one axis a parent and the child's last."""
        check_cells(self.variables, f"the table of {self.variables[-1].name!r}")
        return self.probabilities[self._mapped()].reshape(self._shape)

    def flat(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return the parents, and the map configuration -> leaf.

        Raises
        ------
        StateSpaceError
            When there are more than 2**24 configurations; `nodes` has no such limit.
        """
        return np.array(self.parents, dtype=np.int32), self._mapped().astype(np.int32)

    def _mapped(self) -> npt.NDArray[np.int64]:
        n = check_cells(self.variables[:-1], f"the configurations of {self.variables[-1].name!r}", MOST_MAPPED)
        states = np.unravel_index(np.arange(n), self._shape[:-1]) if self.parents else ()
        return self._walk([np.asarray(s, dtype=np.int64) for s in states], n)

    def to_frame(self) -> pa.Table:
        """Return the table with labels: one row a cell, columns are the parents, the child and its probability."""
        return conditional_frame(self)

    def __repr__(self) -> str:
        given = ", ".join(variable.name for variable in self.variables[:-1])
        leaves = self.probabilities.shape[0]
        return (
            f"P({self.variables[-1].name}{' | ' if given else ''}{given}), {leaves} group{'' if leaves == 1 else 's'}"
        )


def _condition(variable: Variable, states: tuple[int, ...]) -> str:
    labels = [str(variable.states[k]) for k in states]
    return f"{variable.name} = {labels[0]}" if len(labels) == 1 else f"{variable.name} in {{{', '.join(labels)}}}"


def _leaves(node: Split | int, cardinalities: Mapping[int, int], name: str) -> list[int]:
    if isinstance(node, int):
        return [node]
    if cardinalities.get(node.variable) != len(node.branches):
        raise SchemaError(f"the tree of {name!r} asks position {node.variable} for {len(node.branches)} states")
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
