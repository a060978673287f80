"""Local scores: the score of one family, and the only way to it.

What was scored before is remembered. For a table in memory and a score that the core knows, counting and scoring happen
there in one pass; otherwise the source is asked for statistics, and the score for f and g of them.

The terms of all sets of variables, for exact search over any source and under any score.

A family's score is ``f(S + child) - g(S, r)``, so a score is known when f and g are known for all sets. Sets are bit
masks: bit v of a mask says whether variable v is in the set.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FishernetWarning
from fishernet.base.names import positions
from fishernet.data import Source
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.scores.score import Families, Rule, Score

MOST_RESOLVED = 1e12  # rows, from which on a double cannot tell scores apart that differ by 0.01 nats
SETS_AT_ONCE = 4096  # how many sets a source is asked for in one call


class LocalScores:
    """Scores families of one source under one score, each of them once.

    Parameters
    ----------
    source : Source
    score : Score

    Attributes
    ----------
    source, score
        As given.
    in_core : (_core.Columns, Rule) or None
        Where the core counts and scores in one pass: the rows, and the score in its words.

    Raises
    ------
    SchemaError
        When the score is for variables of another kind.
    MissingValueError
        When the rows of a table have missing cells.
    """

    def __init__(self, source: Source, score: Score) -> None:
        self.source = source = score.source(source)
        _warn_of_resolution(source, score)
        self.score = score
        self.in_core = _in_core(source, score)
        self._known = _core.FamilyCache()
        self._n_once = 0
        self._sets = self._new_sets()
        self._terms = score.terms(source)

    @property
    def n_distinct(self) -> int:
        """The number of distinct families scored so far, and of those scored only once for somebody."""
        return self._n_once + (len(self._known) if self._sets is None else self._sets.n_families)

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, (n_families,) float64."""
        if families.once:
            return self._score_once(families)
        flat = (families.children, families.offsets, families.parents)
        if self._sets is not None:  # remembers every set that it counted
            return self._sets.family_scores(*flat)
        unknown = self._known.missing(*flat)
        if len(unknown):
            new = families.take(unknown)
            self._known.store(*flat, unknown, self._score_new(new))
        return self._known.scores(*flat)

    def for_core(self) -> _core.SetTerms | Callable[..., npt.NDArray[np.float64]]:
        """Return what a search of the core calls: its own counting, or a function of a list of families' arrays."""
        return (lambda *flat: self(Families(*flat))) if self._sets is None else self._sets

    def _score_once(self, families: Families) -> npt.NDArray[np.float64]:
        """Score families without a trace of them in memory."""
        self._n_once += len(families)
        sets = self._new_sets()
        if sets is not None:
            return sets.family_scores(families.children, families.offsets, families.parents)
        return self._score_new(families)

    def _new_sets(self) -> _core.SetTerms | None:
        """Return what counts and scores in the core, and knows no set yet; None where it cannot."""
        return None if self.in_core is None else _core.SetTerms(self.in_core[0], *self.in_core[1])

    def _score_new(self, families: Families) -> npt.NDArray[np.float64]:
        if self._terms is not None:
            return self._terms.families(families)
        found = self.source.family_scores(families, self.score)
        return _by_statistics(self.source, families, self.score) if found is None else found


def _in_core(source: Source, score: Score) -> tuple[_core.Columns, Rule] | None:
    """Return the rows and the rule by which the core scores; None where one of them is not in its reach.

    This is the one place that chooses: a table in memory has rows, any other source statistics.
    """
    rule, rows = score.rule(source.total), getattr(source, "in_core", None)
    columns = None if rule is None or rows is None else rows()
    return None if rule is None or columns is None else (columns, rule)


def _warn_of_resolution(source: Source, score: Score) -> None:
    """Warn where rows are so many that rounding decides about arcs.

    No error: probabilities and counts are right, and so is every arc that rows so many speak for clearly.
    """
    n = float(source.total)
    if n > MOST_RESOLVED and score.rule(n) is not None:
        warnings.warn(
            f"the rows' weights sum to {n:.3g}: a score is as large as {n * math.log(n):.1g} nats and rounded to about "
            f"{math.ulp(n * math.log(n)):.1g}, so weak arcs come and go by chance; if the weights are no numbers of "
            "rows, divide them by what makes them so",
            FishernetWarning,
            stacklevel=4,
        )


def _by_statistics(source: Source, families: Families, score: Score) -> npt.NDArray[np.float64]:
    """Return the score of each family from the statistics that the source gives."""
    listed = list(families)
    scores = []
    for begin in range(0, len(listed), SETS_AT_ONCE):
        part = listed[begin : begin + SETS_AT_ONCE]
        joints = [tuple(sorted((*parents, child))) for child, parents in part]
        distinct = sorted(set(joints))
        found = dict(zip(distinct, source.statistics(distinct), strict=True))
        for (child, parents), joint in zip(part, joints, strict=True):
            found[joint].require_complete(source.variables, "a score")
            states = source.variables[child].cardinality
            scores.append(score.joint(found[joint]) - score.marginal(found[joint].marginal(parents), states))
    return np.array(scores, dtype=np.float64)


def local_scores(source: Source, families: Families, score: Score) -> npt.NDArray[np.float64]:
    """Return the scores of families under one score, (n_families,) float64; `LocalScores` keeps what it counted."""
    return LocalScores(source, score)(families)


def family_positions(source: Source, dag: Dag | UndirectedGraph) -> Families:
    """Return the families of a graph by the source's positions; variables are matched by name."""
    check.made(dag, "dag", "a Dag", "names", "families")
    where = positions([variable.name for variable in source.variables], dag.names, "column")
    return Families.from_pairs((where[i], [where[p] for p in others]) for i, others in enumerate(dag.families))


def total_score(data: Any, dag: Dag | UndirectedGraph, score: Score) -> float:
    """Return the sum of the local scores of a graph's families."""
    source = score.source(data)
    return float(local_scores(source, family_positions(source, dag), score).sum())


@dataclass(frozen=True)
class SubsetTerms:
    """f and g of the sets of up to so many variables.

    Attributes
    ----------
    joint : (2 ** n,) float64
        f of every set; 0 where a set is too large.
    marginals : (n_kinds, 2 ** n) float64
        g of every set, for each number of states that a child may have.
    kind_of_child : (n,) int32
        Which row of the marginals is a variable's.
    """

    joint: npt.NDArray[np.float64]
    marginals: npt.NDArray[np.float64]
    kind_of_child: npt.NDArray[np.int32]


def subset_terms(source: Source, score: Score, *, most: int, after_part: Callable[[int], bool]) -> SubsetTerms | None:
    """Return the terms of all sets of up to `most` variables; None when `after_part` said so.

    Parameters
    ----------
    source : Source
    score : Score
    most : int
        The size of the largest set.
    after_part : callable
        Called after each request to the source with the number of sets it was asked for; False ends the work.

    Raises
    ------
    MissingValueError
        When rows have missing cells.
    """
    terms = score.terms(source)
    if terms is not None:
        n, joint = len(source.variables), terms.subsets(most)
        whole = SubsetTerms(joint, joint[None], np.zeros(n, np.int32))
        return whole if after_part(n_sets(n, most)) else None
    cardinalities = [variable.cardinality for variable in source.variables]
    states, kind_of_child = np.unique(cardinalities, return_inverse=True)
    n = len(cardinalities)
    joint = np.zeros(2**n)
    marginals = np.zeros((len(states), 2**n))
    sets = _sets(n, most)
    while part := list(itertools.islice(sets, SETS_AT_ONCE)):
        for chosen, statistic in zip(part, source.statistics(part), strict=True):
            statistic.require_complete(source.variables, "a score")
            mask = sum(1 << v for v in chosen)
            joint[mask] = score.joint(statistic)
            for kind, r in enumerate(states.tolist()):
                marginals[kind, mask] = score.marginal(statistic, r)
        if not after_part(len(part)):
            return None
    return SubsetTerms(joint, marginals, kind_of_child.astype(np.int32))


def n_sets(n: int, most: int) -> int:
    """Return how many sets of up to so many of n variables there are."""
    return sum(math.comb(n, size) for size in range(min(n, most) + 1))


def _sets(n: int, most: int) -> Iterator[tuple[int, ...]]:
    for size in range(min(n, most) + 1):
        yield from itertools.combinations(range(n), size)
