"""Growing decision trees: which configurations of some variables share a row of probabilities.

A leaf is split by the variable (and the sets of its states) that raises the score most (Heckerman et al., 2000). The
score of a tree is the log-likelihood of its leaves less a price for every free parameter, so that every leaf is decided
separately. Where no split raises it, the best one is still tried, and kept if the splits below it make up for it;
otherwise it is pruned.

Where cells are missing, a split is judged on the rows that know its variable: by how much it raises the score of these.
Rows that do not know it are left out below it, so a leaf has the rows that are complete in the child and in all that is
asked on the way there.

The trees of a dependency network may ask any other variable; those of a Bayesian network ask the parents that its graph
gives, and are grown from the counts of the family (`TreeFit`).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError
from fishernet.base.vocabulary import word
from fishernet.data import Statistic, Table, Variable
from fishernet.data.statistics import occurring
from fishernet.learn.search import tie
from fishernet.models import TreeConditional
from fishernet.models.conditionals.full_table import cell_weights, normalized
from fishernet.models.conditionals.tree import Split
from fishernet.scores import Score

Array = npt.NDArray[np.float64]

Rows = npt.NDArray[np.int64]

SPLITS = ("binary", "multiway")
LOOK_AHEAD = 1  # splits in a row that need not raise the score at once


@dataclass(frozen=True, slots=True)
class GrownTree:
    """A tree, or a part of one, with its leaves numbered from 0."""

    tree: Split | int
    """The root."""
    counts: Array
    """(leaves, r) weighted counts of the child's states."""
    score: float
    """In nats: that of its leaves; where rows were left out, that of the root alone, and what the splits gain."""

    @property
    def inputs(self) -> tuple[int, ...]:
        """The positions of the variables that the tree asks, ascending."""
        return tuple(sorted(set(_asked(self.tree))))


class TreeGrower:
    """Grows the tree of one variable after the other on one table; the columns named are never asked."""

    def __init__(
        self,
        table: Table,
        price: float,
        *,
        splits: str = "binary",
        max_inputs: int | None = None,
        unasked: Collection[str] = (),
    ) -> None:
        self._codes = [codes.astype(np.int64) for codes in table.codes]
        self._sizes = table.cardinalities
        self._incomplete = [name in table.missing_counts() for name in table.names] if table.has_missing else None
        self._unasked = [name in unasked for name in table.names]
        self._weights = None if table.weights is None else table.weights.astype(np.float64)
        self._price, self._splits, self._most = price, word(splits, "splits", SPLITS), max_inputs
        self._n_rows = table.n_rows

    def grow(self, child: int) -> GrownTree:
        """Return the tree of one variable."""
        self._child, self._r = child, self._sizes[child]
        return self._grow(self._known(child, np.arange(self._n_rows)), (), LOOK_AHEAD)

    def _grow(self, rows: Rows, asked: tuple[int, ...], patience: int) -> GrownTree:
        leaf = self._counts(self._codes[self._child][rows], self._r, rows)
        alone = GrownTree(0, leaf[None], self._leaf_score(leaf))
        if np.count_nonzero(leaf) < 2:  # nothing is left to tell
            return alone
        best = max(self._candidates(rows, asked, alone.score), key=lambda c: c[0], default=None)
        if best is None:
            return alone
        score, variable, branches = best
        gains = score > alone.score + tie(score)
        if not gains and not patience:
            return alone
        below = LOOK_AHEAD if gains else patience - 1
        now = (*asked, variable)
        known = self._known(variable, rows)
        taken = branches[self._codes[variable][known]]
        parts = [self._grow(known[taken == b], now, below) for b in range(int(branches.max()) + 1)]
        total = sum(part.score for part in parts) + self._left_out(alone.score, rows, known)
        if not total > alone.score + tie(total):
            return alone
        return _joined(variable, branches, parts, total)

    def _candidates(
        self, rows: Rows, asked: tuple[int, ...], alone: float
    ) -> Iterator[tuple[float, int, npt.NDArray[np.int64]]]:
        """Yield the score of every split of a leaf, its variable, and the branch of each state."""
        full = self._most is not None and len(set(asked)) >= self._most
        for variable, size in enumerate(self._sizes):
            if variable == self._child or size < 2 or self._unasked[variable] or (full and variable not in asked):
                continue
            known = self._known(variable, rows)
            states = self._codes[self._child][known]
            joint = self._counts(self._codes[variable][known] * self._r + states, size * self._r, known)
            joint = joint.reshape(size, self._r)
            occurs = joint.sum(axis=1) > 0
            if occurs.sum() < 2:
                continue
            left_out = self._left_out(alone, rows, known)
            for branches in self._divisions(joint, occurs):
                sums = np.zeros((int(branches.max()) + 1, self._r))
                np.add.at(sums, branches, joint)
                yield sum(map(self._leaf_score, sums)) + left_out, variable, branches

    def _known(self, variable: int, rows: Rows) -> Rows:
        """Return the rows, of some, in which a variable is known."""
        if self._incomplete is None or not self._incomplete[variable]:
            return rows
        return rows[self._codes[variable][rows] < self._sizes[variable]]

    def _left_out(self, score: float, rows: Rows, known: Rows) -> float:
        """Return what a leaf of all rows scores less one of those known, so that only gains count."""
        if len(known) == len(rows):
            return 0.0
        return score - self._leaf_score(self._counts(self._codes[self._child][known], self._r, known))

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


def _joined(variable: int, branches: npt.NDArray[np.int64], parts: list[GrownTree], score: float) -> GrownTree:
    """Put subtrees under a split; their leaves are numbered one part after the other."""
    firsts = itertools.accumulate((len(part.counts) for part in parts), initial=0)
    children = tuple(_shifted(part.tree, first) for part, first in zip(parts, firsts, strict=False))
    counts = np.concatenate([part.counts for part in parts])
    return GrownTree(Split(variable, tuple(branches.tolist()), children), counts, score)


def _shifted(tree: Split | int, by: int) -> Split | int:
    if isinstance(tree, int):
        return tree + by
    return Split(tree.variable, tree.branches, tuple(_shifted(child, by) for child in tree.children))


def _asked(tree: Split | int) -> Iterator[int]:
    if not isinstance(tree, int):
        yield tree.variable
        for child in tree.children:
            yield from _asked(child)


def leaf_price(score: Score, total: float) -> float:
    """Return what a free parameter costs; FishernetError for a score that is no penalized likelihood."""
    term = score.core_term(total)
    if term is None or term.measure != "likelihood":
        known = "'mdl' ('bic'), 'aic', 'hqc' or 'loglik'"
        raise FishernetError(f"trees are grown by a penalized likelihood: {known}", parameter="score")
    return term.parameter


@dataclass(frozen=True)
class TreeFit:
    """Grows the trees of a Bayesian network whose graph is given, each from the counts of its family."""

    price: float
    """What a free parameter costs, in nats."""
    splits: str = "binary"
    """How trees divide states: a set of them against the rest ("binary"), or a branch for each ("multiway")."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "splits", word(self.splits, "splits", SPLITS))

    def fit(
        self,
        statistic: Statistic,
        family: Sequence[int],
        variables: Sequence[Variable],
        *,
        smoothing: float | str = 1.0,
        ess: float | None = None,
        positions: Sequence[int] | None = None,
    ) -> TreeConditional:
        """Return the tree of a family, as `FullTable.fit` returns its table; all parents stay parents."""
        by_position = dict(zip(family, variables, strict=True))
        statistic.require_complete(by_position, f"the conditional of {variables[-1].name!r}")
        states, counts = occurring(statistic)
        at = [statistic.variables.index(v) for v in family]
        columns = [states[:, axis].astype(v.dtype) for axis, v in zip(at, variables, strict=True)]
        cells = Table.adopt(variables, columns, weights=counts, n_rows=len(counts))  # a row for each cell that occurs
        grown = TreeGrower(cells, self.price, splits=self.splits).grow(len(family) - 1)
        shares = leaf_shares(grown.tree, [v.cardinality for v in variables])
        rows = normalized(cell_weights(grown.counts, smoothing, ess, shares), variables[-1:])
        *parents, child = family if positions is None else positions
        return TreeConditional(child, parents, variables, placed(grown.tree, parents), rows)


def leaf_shares(tree: Split | int, cardinalities: Sequence[int]) -> Array:
    """Return the share of all configurations that lead to each leaf, (leaves,)."""
    found: dict[int, float] = {}

    def walk(node: Split | int, share: float, allowed: dict[int, frozenset[int]]) -> None:
        if isinstance(node, int):
            found[node] = share
            return
        here = allowed.get(node.variable, frozenset(range(cardinalities[node.variable])))
        for branch, child in enumerate(node.children):
            kept = frozenset(k for k in here if node.branches[k] == branch)
            walk(child, share * len(kept) / max(1, len(here)), {**allowed, node.variable: kept})

    walk(tree, 1.0, {})
    return np.array([found[leaf] for leaf in range(len(found))])


def placed(tree: Split | int, positions: Sequence[int]) -> Split | int:
    """Return a tree that asks the variables at other positions: ``positions[v]`` in place of v."""
    if isinstance(tree, int):
        return tree
    return Split(positions[tree.variable], tree.branches, tuple(placed(child, positions) for child in tree.children))
