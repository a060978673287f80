"""The parent sets of every variable that have a share of the networks' probability, where there are too many for all.

Sets grow by one parent at a time. One is left out when it is worse than one of its subsets by more than some nats: a
network has that subset in its place, and is so much more probable. Of each size the best sets of a variable grow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError
from fishernet.base.progress import Watch
from fishernet.learn.rules import Rules
from fishernet.learn.search import Scorer, joined_families, score_in_parts
from fishernet.scores import Families

Floats = npt.NDArray[np.float64]
Sets = npt.NDArray[np.uint64]

SLACK = 5.0  # nats: what is left out is 150 times less probable than with its subset
GROWING = (5, 100)  # sets of a size that grow, of a variable, at least and at most
ROWS_OF_SETS = 400_000_000  # rows that are counted for all sets of a size, where that many may grow
LEAST_COUNTED = 1000  # rows; fewer take no less, for what a set takes beside them
MOST_SETS = 1000  # of a variable; the best
ALONE = 2  # sizes of sets: without a parent, and each parent alone
MOST_OTHERS = 63  # that may be parents of a variable: a set is a bit mask


class ParentChoices:
    """The sets of one variable's parents, as they grow; a bit of a set stands for one of `others`."""

    def __init__(self, child: int, rules: Rules, others: Iterable[int], growing: int) -> None:
        self.child = child
        self._growing = growing
        self.others = np.array(sorted(others), dtype=np.int64)
        self._cells = np.log(rules.states[self.others]) - 1e-9
        self._room = math.log(rules.max_cells) - math.log(rules.states[child])
        self._most = rules.max_parents
        self._required = self.mask(np.flatnonzero(rules.required[:, child]).tolist())
        self.sets, self.scores = np.zeros(0, np.uint64), np.zeros(0)
        self.wanted = np.array([self._required], dtype=np.uint64)
        self._least = self._size = int(self._required).bit_count()
        self._before, self._best = self.sets, self.scores  # of one size: the best of each set and its subsets

    @property
    def n_told(self) -> int:
        """Of how many sizes the sets' scores are known."""
        return self._size - self._least

    def mask(self, parents: Iterable[int]) -> int:
        """Return a set as a mask."""
        return sum(1 << int(np.searchsorted(self.others, parent)) for parent in parents)

    def families(self) -> Families:
        """Return what is to be scored next."""
        return _families(self.child, self.others, self.wanted)

    def tell(self, scores: Floats) -> None:
        """Take the scores of what is wanted, and find what to score after them."""
        below = self._best_of_subsets()
        kept = (scores >= below - SLACK) | (self._size == self._least)
        self.sets = np.concatenate([self.sets, self.wanted[kept]])
        self.scores = np.concatenate([self.scores, scores[kept]])
        self._before, self._best = self.wanted, np.maximum(scores, below)
        growing = self.wanted[kept][np.argsort(-scores[kept], kind="stable")[: self._growing]]
        self.wanted = np.zeros(0, np.uint64)
        self._size += 1
        if len(growing) and self._size <= self._most:
            bits = np.uint64(1) << np.arange(len(self.others), dtype=np.uint64)
            pairs = growing[:, None] | bits
            fresh = (growing[:, None] & bits) == 0
            self.wanted = self._within_cells(np.unique(pairs[fresh]))

    def add(self, mask: int, score: float) -> None:
        """Take a set whatever its subsets are."""
        if mask not in self.sets:
            self.sets, self.scores = np.append(self.sets, np.uint64(mask)), np.append(self.scores, score)

    def keep_best(self) -> None:
        """Keep no more than so many sets, the one without free parents among them."""
        order = np.argsort(-self.scores, kind="stable")
        order = order[(np.arange(len(order)) < MOST_SETS) | (order == 0)]
        self.sets, self.scores = self.sets[order], self.scores[order]

    def _best_of_subsets(self) -> Floats:
        """Return the best of all known subsets of each wanted set."""
        below = np.full(len(self.wanted), -np.inf)
        if not len(self._before):
            return below
        free = np.uint64(~self._required & (1 << 64) - 1)
        for bit in range(len(self.others)):
            own = np.uint64(1 << bit)
            has = np.flatnonzero(self.wanted & own & free)
            subsets = self.wanted[has] ^ own
            at = np.minimum(np.searchsorted(self._before, subsets), len(self._before) - 1)
            known = self._before[at] == subsets
            below[has[known]] = np.maximum(below[has[known]], self._best[at[known]])
        return below

    def _within_cells(self, sets: Sets) -> Sets:
        return sets[_bits(sets, len(self.others)) @ self._cells <= self._room]


def find_choices(scorer: Scorer, rules: Rules, price: float, watch: Watch) -> list[ParentChoices]:
    """Return the parent sets of all variables, and their scores less a price for each parent.

    Those of the graph that the rules start from are among them. When the time is over they are those so far;
    FishernetError when these are not even all of one parent.
    """
    others = _others(scorer, rules)
    growing = _growing(scorer, sum(map(len, others)))
    choices = [ParentChoices(child, rules, of, growing) for child, of in enumerate(others)]
    while any(len(of.wanted) for of in choices):
        families = joined_families([of.families() for of in choices])
        scores = score_in_parts(scorer, families, lambda: watch.look(sum(len(of.sets) for of in choices)))
        if scores is None and any(of.n_told < ALONE for of in choices):
            raise FishernetError(
                "max_seconds was over before the parents of every variable were scored; give more",
                parameter="max_seconds",
            )
        if scores is None:
            break
        scores = scores - price * np.diff(families.offsets)
        ends = np.cumsum([len(of.wanted) for of in choices])
        for of, told in zip(choices, np.split(scores, ends[:-1]), strict=True):
            of.tell(told)
    start = Families.from_pairs(enumerate(rules.start.parents))
    for of, score, parents in zip(choices, scorer(start).tolist(), rules.start.parents, strict=True):
        of.keep_best()
        of.add(of.mask(parents), score - price * len(parents))
    return choices


def families_of(choices: Sequence[ParentChoices]) -> tuple[Families, Floats]:
    """Return all sets as families, and their scores."""
    families = joined_families([_families(of.child, of.others, of.sets) for of in choices])
    return families, np.concatenate([of.scores for of in choices])


def _others(scorer: Scorer, rules: Rules) -> list[list[int]]:
    """Return who may be a parent of each variable: the best ones alone, and those in the start."""
    n = len(rules.names)
    others = []
    for child, parents in enumerate(rules.start.parents):
        allowed = np.flatnonzero(~rules.forbidden[:, child] & (np.arange(n) != child))
        if len(allowed) > MOST_OTHERS:
            required = np.flatnonzero(rules.required[:, child]).tolist()
            pairs = [(child, [*required, other]) for other in allowed.tolist() if other not in required]
            best = [pairs[at][1][-1] for at in np.argsort(-scorer(Families.from_pairs(pairs)), kind="stable")]
            allowed = np.array([*parents, *(other for other in best if other not in parents)][:MOST_OTHERS])
        others.append(sorted({*allowed.tolist(), *parents}))
    return others


def _growing(scorer: Scorer, extensions: int) -> int:
    """Return how many sets of a variable grow, where one set of each has so many extensions."""
    counted = any(not variable.is_continuous for variable in scorer.source.variables)
    rows = max(LEAST_COUNTED, scorer.source.total if counted else 0)
    least, most = GROWING
    return round(min(most, max(least, ROWS_OF_SETS / (max(1, extensions) * rows))))


def _bits(sets: Sets, n: int) -> npt.NDArray[np.bool_]:
    """Return whether each of n is in each set, (n_sets, n)."""
    return (sets[:, None] >> np.arange(n, dtype=np.uint64)) & np.uint64(1) > 0


def _families(child: int, others: npt.NDArray[np.int64], sets: Sets) -> Families:
    members = _bits(sets, len(others))
    offsets = np.concatenate([[0], np.cumsum(members.sum(axis=1))])
    parents = others[np.nonzero(members)[1]]
    return Families(np.full(len(sets), child, np.int32), offsets.astype(np.int64), parents.astype(np.int32), once=True)
