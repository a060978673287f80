"""A tree with names and branch lengths, as Newick files describe them, and a ready model on one: phylogenetic profiles.

A gene is born and lost along the tree (Shawe-Taylor and Cristianini, 2004, examples 12.16 and 12.20).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.display import Brief
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import doubled, listed, require_str, shown
from fishernet.models.sequences.alphabet import Alphabet, Numbers
from fishernet.models.trees.hidden_tree import HiddenTree
from fishernet.models.trees.shape import TreeShape


@dataclass(frozen=True, repr=False)
class NamedTree(Brief):
    """A rooted tree: its nodes depth first, the children of a node in their order; node 0 is the root.

    Attributes
    ----------
    parents : tuple of int
        The node above each node, which comes before it; -1 for the root.
    names : tuple of str
        Of each node; "" where it has none.
    lengths : tuple of float or None
        Of the branch above each node; None where it is not known.

    Examples
    --------
    >>> from fishernet.models import NamedTree
    >>> tree = NamedTree((-1, 0, 1, 1, 0), ("", "", "man", "mouse", "yeast"), (None, 0.2, 0.1, 0.1, 0.9))
    >>> tree.leaves
    ('man', 'mouse', 'yeast')
    >>> tree.shape(["yeast", "man", "mouse"]).nested()
    [[1, 2], 0]
    """

    parents: tuple[int, ...]
    names: tuple[str, ...]
    lengths: tuple[float | None, ...]

    def __post_init__(self) -> None:
        """Check that it is a tree whose leaves can be told apart."""
        for field in ("parents", "names", "lengths"):
            object.__setattr__(self, field, check.items(getattr(self, field), field, "one thing per node"))
        for above in self.parents:
            check.integer(above, "each of parents", least=-1)
        if not self.parents or len(self.names) != len(self.parents) or len(self.lengths) != len(self.parents):
            raise SchemaError("a tree needs nodes, and a parent, a name and a length for each")
        if self.parents[0] != -1 or any(not 0 <= above < node for node, above in enumerate(self.parents) if node):
            raise SchemaError("the node above each node must come before it, and the root (-1) is the first")
        leaves = self.leaves
        if len(set(leaves)) < len(leaves):
            raise SchemaError(f"two leaves have the name {doubled(leaves)!r}")

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of the leaves, in their order."""
        inner = set(self.parents)
        return tuple(name for node, name in enumerate(self.names) if node not in inner)

    def shape(self, columns: Sequence[str]) -> TreeShape:
        """Return the tree over the columns of a table, or the positions of strings, for `HiddenTree`.

        Parameters
        ----------
        columns : sequence of str
            The names of the leaves, in the order of the strings' symbols.

        Raises
        ------
        SchemaError
            When a leaf is no column or a column no leaf, or the tree is a single node.
        """
        return self._ordered(columns)[0]

    def branch_lengths(self, columns: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the lengths of the branches in the order of `shape`, (n_branches,); NaN where one is not known."""
        return self._ordered(columns)[1]

    def restricted(self, names: Iterable[str]) -> NamedTree:
        """Return the tree over some of the leaves.

        An inner node that keeps one child only is left out, and the lengths of the branches are added; but for the
        root, which stays.
        """
        given = check.items(names, "names")
        require_str(given)
        wanted = list(dict.fromkeys(given))
        unknown = set(wanted) - set(self.leaves)
        if unknown or not wanted:
            raise SchemaError(f"no leaves of the tree: {listed(sorted(unknown))}" if unknown else "no leaves are left")
        inner = set(self.parents)
        kept = [node not in inner and name in set(wanted) for node, name in enumerate(self.names)]
        n_kept = [0] * len(kept)
        for node in range(len(kept) - 1, 0, -1):
            kept[node] = kept[node] or n_kept[node] > 0
            n_kept[self.parents[node]] += kept[node]
        return self._without([node == 0 or (kept[node] and n_kept[node] != 1) for node in range(len(kept))])

    def _without(self, stays: list[bool]) -> NamedTree:
        """Leave nodes out: what is below one hangs on the node above it, at the sum of the lengths."""
        number: list[int] = []
        above_of: list[int] = []
        lengths: list[float | None] = []
        found: list[tuple[int, str, float | None]] = []
        for node, length in enumerate(self.lengths):
            parent = self.parents[node]
            through = parent > 0 and not stays[parent]
            above = above_of[parent] if through else (number[parent] if parent >= 0 else -1)
            total = length if not through else _sum(lengths[parent], length)
            above_of.append(above)
            lengths.append(total)
            number.append(len(found))
            if stays[node]:
                found.append((above, self.names[node], total))
        parents, names, branch_lengths = zip(*found, strict=True)
        return NamedTree(parents, names, branch_lengths)

    def _ordered(self, columns: Sequence[str]) -> tuple[TreeShape, npt.NDArray[np.float64]]:
        columns = check.items(columns, "columns")
        require_str(columns)
        at = {name: position for position, name in enumerate(columns)}
        leaves = set(self.leaves)
        if len(at) < len(columns):
            raise SchemaError("two columns have the same name")
        if leaves - set(at):
            raise SchemaError(f"the tree's {listed(sorted(leaves - set(at)))} is no column; use restricted(columns)")
        if set(at) - leaves:
            raise SchemaError(f"the column {listed(sorted(set(at) - leaves))} is no leaf of the tree")
        if len(self.parents) == 1:
            raise SchemaError("the tree is a single node; it needs a branch")
        below: list[list[int]] = [[] for _ in self.parents]
        for node, above in enumerate(self.parents[1:], start=1):
            below[above].append(node)
        inner = [node for node in range(len(below)) if below[node]]
        number = {node: k for k, node in enumerate(inner)}
        children = [[number[c] if below[c] else ~at[self.names[c]] for c in below[node]] for node in inner]
        lengths = [self.lengths[c] for node in inner for c in below[node]]
        known = np.array([np.nan if length is None else length for length in lengths])
        return TreeShape.from_children(children), known


def _sum(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


def birth_death_tree(
    tree: NamedTree,
    columns: Sequence[str] | None = None,
    *,
    birth: float = 0.1,
    death: float = 0.1,
    present: float | None = None,
    by_length: bool = False,
    alphabet: Iterable[Hashable] | Alphabet = (0, 1),
    missing: Hashable | None = None,
) -> HiddenTree:
    """Return the two-state model of phylogenetic profiles on a tree.

    A profile says of each species whether a gene is there (1) or not (0). The ancestor at the root has it with the
    probability `present` (tau of example 12.16); on each branch a missing gene is born with probability `birth` (delta
    = P(1 | 0)) and a present one is lost with probability `death` (epsilon = P(0 | 1)).

    Parameters
    ----------
    tree : NamedTree
        As `fishernet.read_newick` reads it.
    columns : sequence of str, optional
        The species in the order of the profiles' symbols; the order of the tree's leaves when omitted. Leaves of the
        tree that are no column are left out, and where a node has one child left, its branches are joined: they move
        by all their steps, or over the sum of their lengths, so a species left out is one not known.
    birth, death : float
        Probabilities for each branch; with `by_length` rates per unit of length.
    present : float, optional
        P(the ancestor has the gene); when omitted birth / (birth + death), which the process leaves as it is.
    by_length : bool
        Whether a branch of length t moves by ``exp(t Q)``, Q the matrix of the rates; all lengths must be known.
    alphabet : iterable of two symbols
        Absent and present.
    missing : symbol, optional
        Stands for what is not known.

    Returns
    -------
    HiddenTree

    Raises
    ------
    SchemaError
        When a column is no leaf, or a length is missing or negative.
    FishernetError
        When a probability or a rate is out of range.

    Examples
    --------
    >>> import fishernet as fn
    >>> from fishernet.models import NamedTree, birth_death_tree
    >>> species = NamedTree((-1, 0, 1, 1, 0), ("", "", "man", "mouse", "yeast"), (None, 0.2, 0.1, 0.1, 0.9))
    >>> model = birth_death_tree(species, ["yeast", "man", "mouse"], birth=0.1, death=0.3)
    >>> fn.kernels.HiddenTreeKernel(model)([[0, 1, 1], [1, 0, 0]]).round(4)
    array([[0.0184, 0.0025],
           [0.0025, 0.0292]])
    """
    _check_rates(birth, death, by_length)
    if columns is not None:
        columns = check.items(columns, "columns")
        require_str(columns)
    check.flag(by_length, "by_length")
    if not by_length:  # a length is then a number of steps, and joined branches are several
        tree = replace(tree, lengths=(None, *[1.0] * (len(tree.parents) - 1)))
    if columns is None:
        columns = tree.leaves
    elif set(columns) < set(tree.leaves):
        tree = tree.restricted(columns)
    shape = tree.shape(columns)
    if present is None:
        if birth + death == 0:
            raise FishernetError("with neither birth nor death, say how probable the gene is in the ancestor: present")
        present = birth / (birth + death)
    present = check.number(present, "present", least=0, most=1)
    start = [1 - present, present]
    lengths = tree.branch_lengths(columns)
    moves = _moves(lengths, birth, death) if by_length else _powers(lengths, birth, death)
    if (moves == moves[0]).all():
        return HiddenTree(shape, start, moves[0], moves[0], alphabet=alphabet, missing=missing)
    tables = np.arange(shape.n_branches)
    return HiddenTree(shape, start, moves, moves, alphabet=alphabet, missing=missing, branch_tables=tables)


def _check_rates(birth: float, death: float, by_length: bool) -> None:
    most = np.inf if by_length else 1.0
    for name, value in (("birth", birth), ("death", death)):
        if not (check.is_number(value) and 0 <= value <= most and value < np.inf):
            kind = "a rate, finite and from 0 on" if by_length else "a probability"
            raise FishernetError(f"{name} must be {kind}, got {shown(value)}")


def _powers(steps: Numbers, birth: float, death: float) -> Numbers:
    """Return what so many steps do, (n, 2, 2)."""
    step = np.array([[1 - birth, birth], [death, 1 - death]])
    return np.array([np.linalg.matrix_power(step, int(n)) for n in steps])


def _moves(lengths: Numbers, birth: float, death: float) -> Numbers:
    """Return exp(t Q) for every length, (n, 2, 2)."""
    if np.isnan(lengths).any():
        raise SchemaError("a branch of the tree has no length; use by_length=False")
    if (lengths < 0).any():
        raise SchemaError(f"a branch of the tree has the negative length {lengths.min()}")
    rate = birth + death
    share = birth / rate if rate > 0 else 0.5
    moved = -np.expm1(-rate * lengths)
    up, down = share * moved, (1 - share) * moved
    return np.stack([np.stack([1 - up, up], -1), np.stack([down, 1 - down], -1)], axis=-2)
