"""Growing decision trees: which configurations of some variables share a row of probabilities.

A leaf is split by the variable (and the sets of its states) that raises the score most (Heckerman et al., 2000). The
score of a tree is the log-likelihood of its leaves less a price for every free parameter, so that every leaf is decided
separately. Where no split raises it, the best one is still tried, and kept if the splits below it make up for it;
otherwise it is pruned. That is done in the core (`search/tree_growth.cpp`).

Where cells are missing, a split is judged on the rows that know its variable: by how much it raises the score of these.
Rows that do not know it are left out below it, so a leaf has the rows that are complete in the child and in all that is
asked on the way there.

The trees of a dependency network may ask any other variable; those of a Bayesian network ask the parents that its graph
gives, and are grown from the counts of the family (`TreeFit`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FishernetError
from fishernet.base.vocabulary import word
from fishernet.data import Statistic, Table, Variable
from fishernet.data.statistics import occurring
from fishernet.models import TreeConditional
from fishernet.models.conditionals.full_table import cell_weights, normalized
from fishernet.models.conditionals.tree import Split
from fishernet.scores import Score

Array = npt.NDArray[np.float64]

SPLITS = ("binary", "multiway")
AT_ONCE = 64  # trees that are grown side by side, before anybody looks at the time


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

    @property
    def n_splits(self) -> int:
        """How many nodes ask something."""
        return sum(1 for _ in _asked(self.tree))


class TreeGrower:
    """Grows the trees of variables on one table, all that are asked for side by side.

    `max_inputs` bounds how many variables a tree asks, and `max_cells` the product of their states and its child's.
    """

    def __init__(
        self,
        table: Table,
        price: float,
        *,
        split_price: float = 0.0,
        splits: str = "binary",
        max_inputs: float | None = None,
        max_cells: float = math.inf,
    ) -> None:
        self._table, self._prices = table, (price, split_price)
        self._is_multiway = word(splits, "splits", SPLITS) == "multiway"
        self._limits = (math.inf if max_inputs is None else float(max_inputs)), max_cells

    def grow(self, children: Sequence[int], may_ask: npt.NDArray[np.bool_] | None = None) -> Iterator[GrownTree]:
        """Yield the trees of some variables; ``may_ask[i]``, (n_variables,), says what the i-th may ask, else all."""
        shape = (len(children), len(self._table.variables))
        asked = np.ones(shape, np.uint8) if may_ask is None else np.ascontiguousarray(may_ask, dtype=np.uint8)
        of, sizes = np.array(children, dtype=np.int32), self._table.cardinalities
        prices, unit = self._prices, self._table.weights_in_units[1]
        for first in range(0, len(of), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            for variables, branches, counts, score in _core.grow_trees(
                self._table.native, unit, of[some], asked[some], *prices, self._is_multiway, *self._limits
            ):
                tree = _tree(iter(variables.tolist()), iter(branches.tolist()), itertools.count(), sizes)
                yield GrownTree(tree, counts, score)


def _tree(
    variables: Iterator[int], branches: Iterator[int], leaves: Iterator[int], sizes: Sequence[int]
) -> Split | int:
    """Return a tree, of which nodes come before those below them, and leaves are numbered as they come."""
    variable = next(variables)
    if variable < 0:
        return next(leaves)
    ways = tuple(itertools.islice(branches, sizes[variable]))
    return Split(variable, ways, tuple(_tree(variables, branches, leaves, sizes) for _ in range(max(ways) + 1)))


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
        (grown,) = TreeGrower(cells, self.price, splits=self.splits).grow([len(family) - 1])
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
