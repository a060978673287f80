"""A ready model of phylogenetic profiles: a gene is born and lost along a tree (P3, examples 12.16 and 12.20)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from fishernet.errors import FishernetError, SchemaError
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.sequences.checks import Numbers
from fishernet.models.trees.hidden_tree import HiddenTree
from fishernet.models.trees.named_tree import NamedTree


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
        tree that are no column are left out, and where a node has one child left, its branches are joined.
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
    if columns is None:
        columns = tree.leaves
    elif set(columns) < set(tree.leaves):
        tree = tree.restricted(columns)
    shape = tree.shape(columns)
    _check_rates(birth, death, by_length)
    if present is None:
        if birth + death == 0:
            raise FishernetError("with neither birth nor death, say how probable the gene is in the ancestor: present")
        present = birth / (birth + death)
    if not 0 <= present <= 1:
        raise FishernetError(f"present must be a probability, got {present!r}")
    start = [1 - present, present]
    if not by_length:
        move = [[1 - birth, birth], [death, 1 - death]]
        return HiddenTree(shape, start, move, move, alphabet=alphabet, missing=missing)
    moves = _moves(tree.branch_lengths(columns), birth, death)
    tables = np.arange(shape.n_branches)
    return HiddenTree(shape, start, moves, moves, alphabet=alphabet, missing=missing, branch_tables=tables)


def _check_rates(birth: float, death: float, by_length: bool) -> None:
    most = np.inf if by_length else 1.0
    for name, value in (("birth", birth), ("death", death)):
        if not (np.isfinite(value) and 0 <= value <= most):
            kind = "a rate, finite and from 0 on" if by_length else "a probability"
            raise FishernetError(f"{name} must be {kind}, got {value!r}")


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
