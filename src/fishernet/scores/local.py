"""Local scores: the score of one family, and the only way to it.

What was scored before is remembered. For a table and a built-in score, counting and scoring happen in the core in one
pass; any other source or score goes by the protocol: the source is asked for counts, the score for f and g.

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
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FishernetError, FishernetWarning, MissingValueError
from fishernet.base.names import positions
from fishernet.data import Counts, CountSource, Scatter, Table, TableCounts, as_scatter, as_source
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.scores.gaussian import Fractional, FractionalTerms
from fishernet.scores.score import BuiltIn, Families, Score

Numbers = Any  # an array or a data frame of numbers, or a Scatter

MOST_REPEATED = 8  # times as many rows as there are: so much faster are they counted without weights
MOST_CELLS = 2**28
MOST_RESOLVED = 1e12  # rows, from which on a double cannot tell scores apart that differ by 0.01 nats
SETS_AT_ONCE = 4096  # how many sets a source is asked for in one call


class LocalScores:
    """Scores families of one source under one score, each of them once.

    Parameters
    ----------
    source : CountSource
    score : Score

    Attributes
    ----------
    source, score
        As given.
    """

    def __init__(self, source: CountSource, score: Score) -> None:
        _check_kinds(source, score)
        _warn_of_resolution(source, score)
        self.source = source
        self.score = score
        self._known = _core.FamilyCache()
        self._n_once = 0
        self._rows = _rows_for_the_core(source, score)
        self._terms = self._new_terms()
        self._gaussian = _gaussian_terms(source, score)

    @property
    def n_distinct(self) -> int:
        """The number of distinct families scored so far, and of those scored only once for somebody."""
        return self._n_once + (len(self._known) if self._terms is None else self._terms.n_families)

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, (n_families,) float64.

        Raises
        ------
        MissingValueError
            When rows have missing cells in a family.
        """
        if families.once:
            return self._score_once(families)
        flat = (families.children, families.offsets, families.parents)
        if self._terms is not None:  # remembers every set that it counted
            return self._terms.family_scores(*flat)
        unknown = self._known.missing(*flat)
        if len(unknown):
            new = families.take(unknown)
            self._known.store(*flat, unknown, self._score_new(new))
        return self._known.scores(*flat)

    def for_core(self) -> _core.SetTerms | Callable[..., npt.NDArray[np.float64]]:
        """Return what a search of the core calls: its own counting, or a function of a list of families' arrays."""
        return (lambda *flat: self(Families(*flat))) if self._terms is None else self._terms

    def _score_once(self, families: Families) -> npt.NDArray[np.float64]:
        """Score families without a trace of them in memory."""
        self._n_once += len(families)
        terms = self._new_terms()
        if terms is not None:
            return terms.family_scores(families.children, families.offsets, families.parents)
        return self._score_new(families)

    def _new_terms(self) -> _core.SetTerms | None:
        """Return what counts and scores in the core, and knows no set yet; None where it cannot."""
        if self._rows is None or not isinstance(self.score, BuiltIn):
            return None
        return _core.SetTerms(self._rows.native, *self.score.rule(self.source.n_rows))

    def _score_new(self, families: Families) -> npt.NDArray[np.float64]:
        if self._gaussian is not None:
            return self._gaussian.families(families)
        return np.fromiter(scores_by_protocol(self.source, families, self.score), np.float64, len(families))


def _rows_for_the_core(source: CountSource, score: Score) -> Table | None:
    """Return the rows that the core counts and scores in one pass: those of a table, for a built-in score."""
    if not isinstance(source, TableCounts) or not isinstance(score, BuiltIn):
        return None
    source.table.require_complete("a score")
    return None if source.table.has_fractions else _unweighted(source.table)


def _unweighted(table: Table) -> Table:
    """Return the same rows each as often as its weight says, where that is no longer than the core gains by it.

    Rows that count once are counted many at a time.
    """
    if table.weights is None:
        return table
    n_rows = int(table.total)
    if n_rows > MOST_REPEATED * table.n_rows or n_rows * len(table.variables) > MOST_CELLS:
        return table
    rows = np.repeat(np.arange(table.n_rows), table.weights.astype(np.int64))
    return Table.adopt(table.variables, [codes[rows] for codes in table.codes], n_rows=n_rows)


def _gaussian_terms(source: CountSource, score: Score) -> FractionalTerms | None:
    """Return what scores in the core, for numbers and a built-in score."""
    if not isinstance(source, Scatter) or not isinstance(score, Fractional):
        return None
    return FractionalTerms(source, center=score.center)


def _warn_of_resolution(source: CountSource, score: Score) -> None:
    """Warn where rows are so many that rounding decides about arcs.

    No error: probabilities and counts are right, and so is every arc that rows so many speak for clearly.
    """
    n = float(source.n_rows)
    if isinstance(score, BuiltIn) and n > MOST_RESOLVED:
        warnings.warn(
            f"the rows' weights sum to {n:.3g}: a score is as large as {n * math.log(n):.1g} nats and rounded to about "
            f"{math.ulp(n * math.log(n)):.1g}, so weak arcs come and go by chance; if the weights are no numbers of "
            "rows, divide them by what makes them so",
            FishernetWarning,
            stacklevel=4,
        )


def _check_kinds(source: CountSource, score: Score) -> None:
    """Raise FishernetError when a score of states meets numbers, or a score of numbers meets states."""
    if isinstance(source, Scatter) and isinstance(score, BuiltIn):
        raise FishernetError("columns of numbers take score='fractional'; other scores are for a Table of states")
    if isinstance(score, Fractional) and not isinstance(source, Scatter):
        raise FishernetError("the score 'fractional' is for columns of numbers; for a Table of states take another")


def source_for(data: Table | CountSource | Numbers, score: Score) -> CountSource:
    """Return what a score sees of some data: a source of counts, or the scatter of columns of numbers.

    Raises
    ------
    SchemaError
        When they are neither.
    FishernetError
        When the score is for other data.
    """
    if isinstance(score, Fractional) and isinstance(data, Table):
        data.require_continuous("the score 'fractional'")
    is_numbers = isinstance(score, Fractional) and (isinstance(data, Table) or not isinstance(data, CountSource))
    # a scatter is asked like a source, and answers with scatters in place of counts, which its scores understand
    source = cast(CountSource, as_scatter(data)) if is_numbers else as_source(data)
    _check_kinds(source, score)
    return source


def scores_by_protocol(source: CountSource, families: Families, score: Score) -> Iterator[float]:
    """Yield the score of each family from the counts that the source gives."""
    listed = list(families)
    for begin in range(0, len(listed), SETS_AT_ONCE):
        part = listed[begin : begin + SETS_AT_ONCE]
        joints = [tuple(sorted((*parents, child))) for child, parents in part]
        distinct = sorted(set(joints))
        counts = dict(zip(distinct, source.counts(distinct), strict=True))
        for (child, parents), joint in zip(part, joints, strict=True):
            require_all_rows(source, counts[joint])
            states = source.variables[child].cardinality
            yield score.joint(counts[joint]) - score.marginal(counts[joint].marginal(parents), states)


def require_all_rows(source: CountSource, counts: Counts) -> None:
    """Raise MissingValueError when rows were left out of the counts."""
    if counts.left_out:
        names = [source.variables[v].name for v in counts.variables]
        raise MissingValueError(
            f"a score needs complete rows; {counts.left_out} rows have a missing cell among {names}; "
            "read the table with missing 'drop' or 'state'",
            counts={},
            parameter="missing",
        )


def local_scores(source: CountSource, families: Families, score: Score) -> npt.NDArray[np.float64]:
    """Return the scores of families under one score, (n_families,) float64; `LocalScores` keeps what it counted."""
    return LocalScores(source, score)(families)


def family_positions(source: CountSource, dag: Dag | UndirectedGraph) -> Families:
    """Return the families of a graph by the source's positions; variables are matched by name."""
    where = positions([variable.name for variable in source.variables], dag.names, "column")
    families = dag.parents if isinstance(dag, Dag) else dag.adjacency
    return Families.from_pairs((where[i], [where[p] for p in parents]) for i, parents in enumerate(families))


def total_score(data: Table | CountSource | Numbers, dag: Dag | UndirectedGraph, score: Score) -> float:
    """Return the sum of the local scores of a graph's families."""
    source = source_for(data, score)
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


def subset_terms(
    source: CountSource, score: Score, *, most: int, after_part: Callable[[int], bool]
) -> SubsetTerms | None:
    """Return the terms of all sets of up to `most` variables; None when `after_part` said so.

    Parameters
    ----------
    source : CountSource
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
    if isinstance(source, Scatter) and isinstance(score, Fractional):
        return _scatter_terms(source, score, most, after_part)
    cardinalities = [variable.cardinality for variable in source.variables]
    states, kind_of_child = np.unique(cardinalities, return_inverse=True)
    n = len(cardinalities)
    joint = np.zeros(2**n)
    marginals = np.zeros((len(states), 2**n))
    sets = _sets(n, most)
    while part := list(itertools.islice(sets, SETS_AT_ONCE)):
        for chosen, counts in zip(part, source.counts(part), strict=True):
            require_all_rows(source, counts)
            mask = sum(1 << v for v in chosen)
            joint[mask] = score.joint(counts)
            for kind, r in enumerate(states.tolist()):
                marginals[kind, mask] = score.marginal(counts, r)
        if not after_part(len(part)):
            return None
    return SubsetTerms(joint, marginals, kind_of_child.astype(np.int32))


def _scatter_terms(
    source: Scatter, score: Fractional, most: int, after_part: Callable[[int], bool]
) -> SubsetTerms | None:
    d = len(source.names)
    joint = FractionalTerms(source, center=score.center).subsets(most)
    return SubsetTerms(joint, joint[None], np.zeros(d, np.int32)) if after_part(n_sets(d, most)) else None


def n_sets(n: int, most: int) -> int:
    """Return how many sets of up to so many of n variables there are."""
    return sum(math.comb(n, size) for size in range(min(n, most) + 1))


def _sets(n: int, most: int) -> Iterator[tuple[int, ...]]:
    for size in range(min(n, most) + 1):
        yield from itertools.combinations(range(n), size)
