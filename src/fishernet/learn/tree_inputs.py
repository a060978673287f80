"""Growing the decision trees of a dependency network (P2, section 6; Heckerman et al. 2000).

A leaf is split by the variable (and the sets of its states) that raises the score most. The score of a tree is the
log-likelihood of its leaves less a price for every free parameter, so that every leaf is decided by itself. Where no
split raises it, the best one is tried all the same and kept if splits below it make up for it; otherwise it is pruned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError
from fishernet.models.conditionals.tree_conditional import Split
from fishernet.table import Table

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

SPLITS = ("binary", "multiway")
LOOK_AHEAD = 1  # splits in a row that need not raise the score at once


@dataclass(frozen=True, slots=True)
class GrownTree:
    """A tree with the counts of its leaves."""

    tree: Split | int
    """The root."""
    counts: Array
    """(leaves, r) weighted counts of the child's states."""
    score: float
    """In nats."""
    n_candidates: int
    """How many splits were looked at."""

    @property
    def inputs(self) -> tuple[int, ...]:
        """The positions of the variables that the tree asks, ascending."""
        return tuple(sorted(set(_asked(self.tree))))


@dataclass(slots=True)
class _Part:
    """A subtree: its root with leaves numbered from 0, their counts and its score."""

    tree: Split | int
    counts: list[Array]
    score: float


class TreeGrower:
    """Grows the tree of one variable after the other on one table.

    Parameters
    ----------
    table : Table
        Without missing cells.
    price : float
        Of a free parameter, in nats.
    splits : {"binary", "multiway"}
        "binary": a set of states against the rest. "multiway": every state a branch of its own.
    max_inputs : int, optional
        At most this many variables a tree.
    """

    def __init__(self, table: Table, price: float, *, splits: str = "binary", max_inputs: int | None = None) -> None:
        if splits not in SPLITS:
            raise FishernetError(f"unknown splits {splits!r}; there are {', '.join(map(repr, SPLITS))}")
        self._codes = [codes.astype(np.int64) for codes in table.codes]
        self._sizes = table.cardinalities
        self._weights = None if table.weights is None else table.weights.astype(np.float64)
        self._price, self._splits, self._most = price, splits, max_inputs
        self._n_rows = table.n_rows

    def grow(self, child: int) -> GrownTree:
        """Return the tree of one variable."""
        self._child, self._r = child, self._sizes[child]
        self._n_candidates = 0
        part = self._grow(np.arange(self._n_rows), (), LOOK_AHEAD)
        return GrownTree(part.tree, np.array(part.counts), part.score, self._n_candidates)

    def _grow(self, rows: Rows, asked: tuple[int, ...], patience: int) -> _Part:
        leaf = self._counts(self._codes[self._child][rows], self._r, rows)
        alone = _Part(0, [leaf], self._leaf_score(leaf))
        if np.count_nonzero(leaf) < 2:  # nothing is left to tell
            return alone
        best = max(self._candidates(rows, asked), key=lambda c: c[0], default=None)
        if best is None:
            return alone
        score, variable, branches = best
        gains = score > alone.score + _tie(score)
        if not gains and not patience:
            return alone
        below = LOOK_AHEAD if gains else patience - 1
        now = (*asked, variable)
        taken = branches[self._codes[variable][rows]]
        parts = [self._grow(rows[taken == b], now, below) for b in range(int(branches.max()) + 1)]
        total = sum(part.score for part in parts)
        if not total > alone.score + _tie(total):
            return alone
        return _joined(variable, branches, parts, total)

    def _candidates(self, rows: Rows, asked: tuple[int, ...]) -> Iterator[tuple[float, int, npt.NDArray[np.int64]]]:
        """Yield the score of every split of a leaf, its variable, and the branch of each state."""
        full = self._most is not None and len(set(asked)) >= self._most
        states = self._codes[self._child][rows]
        for variable, size in enumerate(self._sizes):
            if variable == self._child or size < 2 or (full and variable not in asked):
                continue
            joint = self._counts(self._codes[variable][rows] * self._r + states, size * self._r, rows)
            joint = joint.reshape(size, self._r)
            occurs = joint.sum(axis=1) > 0
            if occurs.sum() < 2:
                continue
            for branches in self._divisions(joint, occurs):
                self._n_candidates += 1
                sums = np.zeros((int(branches.max()) + 1, self._r))
                np.add.at(sums, branches, joint)
                yield sum(map(self._leaf_score, sums)), variable, branches

    def _divisions(self, joint: Array, occurs: npt.NDArray[np.bool_]) -> Iterator[npt.NDArray[np.int64]]:
        """Yield, for each division of a variable's states, the branch of each state."""
        if self._splits == "multiway":
            yield np.arange(len(joint))
            return
        seen = np.flatnonzero(occurs)
        sets = {frozenset([int(k)]) for k in seen}
        shares = joint[seen] / joint[seen].sum(axis=1, keepdims=True)
        order = seen[np.argsort(shares[:, int(joint.sum(axis=0).argmax())], kind="stable")]
        sets |= {frozenset(map(int, order[:cut])) for cut in range(1, len(order))}
        for chosen in sorted(sets, key=lambda s: (len(s), sorted(s))):
            branches = np.ones(len(joint), dtype=np.int64)
            branches[sorted(chosen)] = 0
            yield branches

    def _counts(self, values: Rows, n: int, rows: Rows) -> Array:
        weights = None if self._weights is None else self._weights[rows]
        return np.bincount(values, weights=weights, minlength=n).astype(np.float64)

    def _leaf_score(self, counts: Array) -> float:
        """Return the log-likelihood of a leaf less the price of its free parameters."""
        positive = counts[counts > 0]
        likelihood = float(positive @ np.log(positive / positive.sum())) if len(positive) else 0.0
        return likelihood - self._price * (self._r - 1)


def _joined(variable: int, branches: npt.NDArray[np.int64], parts: list[_Part], score: float) -> _Part:
    """Put subtrees under a split; their leaves are numbered one part after the other."""
    counts: list[Array] = []
    children: list[Split | int] = []
    for part in parts:
        children.append(_shifted(part.tree, len(counts)))
        counts += part.counts
    return _Part(Split(variable, tuple(branches.tolist()), tuple(children)), counts, score)


def _shifted(tree: Split | int, by: int) -> Split | int:
    if isinstance(tree, int):
        return tree + by
    return Split(tree.variable, tree.branches, tuple(_shifted(child, by) for child in tree.children))


def _asked(tree: Split | int) -> Iterator[int]:
    if not isinstance(tree, int):
        yield tree.variable
        for child in tree.children:
            yield from _asked(child)


def _tie(score: float) -> float:
    return max(1e-9, 1e-12 * abs(score))
