"""Graphs for decision trees: which variables the trees of all variables ask.

A graph that was learned for full tables has few parents, as every configuration of them costs parameters of its own; a
tree can ask many. So each variable's tree may ask all that come before it, in an order in which parents come first
[1]_. An order of the graph of tables is a good one. Then variables are put behind all others, where what they gain is
more than what the trees that asked them lose; and the trees' own graph is put in other orders, where a tree that is
better takes the place of the one before.

Of many variables one seems to tell something by chance. So a split costs, beside the parameters that it adds, the
logarithm of the number of variables that could be asked [2]_. It is paid to choose the parents, not by the trees that
are fitted to the graph afterwards (`learn.parameters`).

References
----------
.. [1] D. M. Chickering, D. Heckerman and C. Meek, "A Bayesian approach to learning Bayesian networks with local
   structure", UAI 1997.
.. [2] N. Friedman and M. Goldszmidt, "Learning Bayesian networks with local structure", 1998.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.progress import Interrupted, Watch
from fishernet.base.vocabulary import word
from fishernet.data import Table
from fishernet.graphs import Dag
from fishernet.learn.hill_climb import Tabu
from fishernet.learn.rules import Rules
from fishernet.learn.search import Scorer, Search, SearchResult, tie
from fishernet.learn.shared_rows.trees import SPLITS, GrownTree, TreeGrower, leaf_price

SHARE = 0.3  # of the time goes to the graph of tables at most


@dataclass(frozen=True)
class TreeSearch(Search):
    """A search for the parents of decision trees.

    The rows must be there, of labels alone, complete, and the score a penalized likelihood. The result's score is that
    of the trees: their log-likelihood less the price of their parameters.

    Examples
    --------
    >>> import fishernet as fn
    >>> letter = fn.datasets.load("letter", bins=4)[:2000]
    >>> net = fn.learn.bayesian_network(letter, conditionals="tree", search=fn.learn.TreeSearch())
    >>> net.dag.n_edges > fn.learn.dag(letter, search="tabu").n_edges
    True
    """

    restarts: int = 0
    """How often all trees are grown again, in another order of the graph that they have."""
    max_cells: float = 2.0**16
    """At most so many cells a tree: the product of the states of all that it asks and of its child, so that kernels and
    tests that go through them are quick; default 2**16."""
    splits: str = "binary"
    """How trees divide states: a set of them against the rest ("binary"), or a branch for each ("multiway")."""
    seed: int = 0

    def __post_init__(self) -> None:
        check.integer(self.restarts, "restarts", least=0)
        check.number(self.max_cells, "max_cells", least=1)
        word(self.splits, "splits", SPLITS)

    def seeded(self, seed: int) -> TreeSearch:
        """Return the same search with another seed."""
        return replace(self, seed=seed)

    def run(self, scorer: Scorer, rules: Rules, watch: Watch) -> SearchResult:
        """Find the graph of the trees."""
        table, left = _rows_of(scorer), watch.seconds_left
        price = leaf_price(scorer.score, scorer.source.total)
        first = Tabu().run(scorer, rules, watch if left is None else Watch(max_seconds=SHARE * left))
        growing, limits = watch.about("growing trees"), replace(rules, max_cells=min(rules.max_cells, self.max_cells))
        run = _Run(table, price, self.splits, limits, first.dag, growing)
        random = np.random.default_rng(self.seed)
        try:
            finished = run.grow_all() and run.put_last(random)
            for _ in range(self.restarts):
                run.order = _random_order(run.parents, random)
                finished = finished and run.grow_all() and run.put_last(random)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted when {run.n_grown:,} trees had grown", best=run.dag) from None
        growing.finish(run.n_grown)
        return SearchResult(run.dag, run.score, (), run.n_grown, finished and first.finished, watch.seconds, self.seed)


class _Run:
    """The trees of all variables, and an order in which each asks those before it alone."""

    def __init__(self, table: Table, price: float, splits: str, rules: Rules, dag: Dag, watch: Watch) -> None:
        n = len(table.variables)
        self._rules, self._watch = rules, watch
        self._split_price = math.log(max(n - 1, 1))
        # required arcs are there, whether a tree asks for them or not
        beside = int(rules.required.sum(axis=0).max(initial=0))
        cells = rules.max_cells / np.where(rules.required, rules.states[:, None], 1).prod(axis=0).max(initial=1)
        limits = {"max_inputs": max(rules.max_parents - beside, 0), "max_cells": max(cells, 1.0)}
        self._grower = TreeGrower(table, price, split_price=self._split_price, splits=splits, **limits)
        self.order, self.n_grown = list(dag.order), 0
        self.parents: list[tuple[int, ...]] = list(dag.parents)
        self._trees: list[GrownTree | None] = [None] * n
        self._last: list[GrownTree] = []  # of each variable that may ask all others

    @property
    def dag(self) -> Dag:
        """The graph of the trees."""
        return Dag(self._rules.names, self.parents)

    @property
    def score(self) -> float:
        """What the trees score, without what their choice costs; NaN where some were not grown."""
        if None in self._trees:
            return math.nan
        return sum(tree.score + tree.n_splits * self._split_price for tree in self._trees if tree is not None)

    def grow_all(self) -> bool:
        """Grow each tree on those before it in the order, and take it where it is better; False when time is over."""
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        grown = self._grown(range(len(self.order)), place[None, :] < place[:, None])
        for child, tree in enumerate(grown):
            known = self._trees[child]
            if known is None or tree.score > known.score:
                self._take(child, tree)
        return len(grown) == len(self.order)

    def put_last(self, random: np.random.Generator) -> bool:
        """Put variables behind all others, so that they ask these and are asked by none, where that is better."""
        n = len(self.order)
        if not self._last:
            self._last = self._grown(range(n), ~np.eye(n, dtype=bool))
        if len(self._last) < n:
            return False
        gains = np.array([last.score - self._score_of(v) for v, last in enumerate(self._last)])
        for v in sorted(random.permutation(n).tolist(), key=lambda v: -gains[v]):
            children = [child for child, of in enumerate(self.parents) if v in of]
            gain = self._last[v].score - self._score_of(v)
            if not gain > tie(self._last[v].score) or self._rules.required[v].any():
                continue
            place = np.empty(n, dtype=np.int64)
            place[self.order] = np.arange(n)
            may_ask = place[None, :] < place[children, None]
            may_ask[:, v] = False
            without = self._grown(children, may_ask)
            if len(without) < len(children):
                return False
            gain += sum(tree.score - self._score_of(child) for child, tree in zip(children, without, strict=True))
            if gain > tie(self._last[v].score):
                for child, tree in zip([v, *children], [self._last[v], *without], strict=True):
                    self._take(child, tree)
                self.order = [*(u for u in self.order if u != v), v]
        return True

    def _score_of(self, v: int) -> float:
        tree = self._trees[v]
        return -math.inf if tree is None else tree.score

    def _take(self, child: int, tree: GrownTree) -> None:
        required = np.flatnonzero(self._rules.required[:, child]).tolist()
        self._trees[child], self.parents[child] = tree, tuple(sorted({*tree.inputs, *required}))

    def _grown(self, children: Sequence[int], may_ask: npt.NDArray[np.bool_]) -> list[GrownTree]:
        """Return trees of variables that may ask some others, as far as the rules allow; fewer when time is over."""
        found = []
        for tree in self._grower.grow(children, may_ask & ~self._rules.forbidden.T[list(children)]):
            found.append(tree)
            self.n_grown += 1
            if self._watch.look(self.n_grown):
                break
        return found


def _are_labels(rows: Table) -> bool:
    """Return whether trees can be grown on rows: complete ones of labels."""
    return not rows.has_missing and not any(variable.is_continuous for variable in rows.variables)


def _rows_of(scorer: Scorer) -> Table:
    rows = scorer.source.rows
    if rows is None or not _are_labels(rows):
        raise FishernetError("trees are grown on complete rows of labels; take another search", parameter="search")
    return rows


def _random_order(parents: Sequence[Sequence[int]], random: np.random.Generator) -> list[int]:
    """Return an order of a graph in which parents come first, each drawn among those that are next."""
    waiting = [len(of) for of in parents]
    children: list[list[int]] = [[] for _ in parents]
    for child, of in enumerate(parents):
        for parent in of:
            children[parent].append(child)
    free, found = [v for v, n in enumerate(waiting) if n == 0], []
    while free:
        v = free.pop(int(random.integers(len(free))))
        found.append(v)
        for child in children[v]:
            waiting[child] -= 1
            if waiting[child] == 0:
                free.append(child)
    return found
