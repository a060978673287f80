"""Local scores: the score of one family, and the only way to it.

What was scored before is remembered. For a table in memory and a score that the core knows, counting and scoring happen
there in one pass; otherwise the source is asked for statistics, and the score for f and g of them. Where the statistics
are whole counts the core adds up f and g too, and no bit tells the two ways apart. A likelihood of rows whose weights
are not whole is counted in the core as well, in a unit of which all are multiples.

The terms of all sets of variables, for exact search over any source and under any score.

A family's score is ``f(S + child) - g(S, r)``, so a score is known when f and g are known for all sets. Sets are bit
masks: bit v of a mask says whether variable v is in the set.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import warn
from fishernet.data import Source, Statistic
from fishernet.data.source import part_of
from fishernet.data.statistics.counting import flat_sets
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.scores.base import CoreTerm, Families, Score
from fishernet.scores.mixed import MixedTerms, label_below_numbers

MOST_RESOLVED = 1e12  # rows, from which on a double cannot tell scores apart that differ by 0.01 nats
SETS_AT_ONCE = 4096  # how many sets a source is asked for in one call
MOST_COUNTED = 2.0**53  # rows, which a double counts one by one


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
    in_core : (_core.Columns, CoreTerm) or None
        Where the core counts and scores in one pass: the rows, and the score in its words.

    Raises
    ------
    SchemaError
        When the score is for variables of another kind.
    MissingValueError
        When the rows of a table have missing cells.
    """

    def __init__(self, source: Source, score: Score) -> None:
        source = score.source(source)
        self.source: Source = source
        _warn_of_resolution(source, score)
        self.score = score
        self._is_mixed = score.mixes and any(variable.is_continuous for variable in source.variables)
        self._terms = None if self._is_mixed else score.terms(source)
        self.in_core: tuple[_core.Columns, CoreTerm] | None = (
            None if self._is_mixed or self._terms is not None else _in_core(source, score)
        )
        self._route = self._chosen()

    def _chosen(self) -> _Route:
        if self._is_mixed:
            return _LabelsAndNumbers(self.source, self.score)
        if self._terms is not None:
            return _Remembered(self._terms.families)
        if self.in_core is not None:
            return _CountedInCore(*self.in_core)
        in_units = _in_units(self.source, self.score)
        if in_units is not None:
            return _Remembered(in_units)
        return _Remembered(partial(_from_statistics, self.source, self.score, _cell_sums(self.source, self.score)))

    @property
    def n_distinct(self) -> int:
        """The number of distinct families scored so far, and of those scored only once for somebody."""
        return self._route.n_distinct

    @property
    def of_sets(self) -> bool:
        """Whether scores are differences of terms of sets, so that tables of these are all that exact search needs."""
        return not self._is_mixed and (self._terms is None or self._terms.subsets is not None)

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, (n_families,) float64."""
        return self._route(families)

    @property
    def sets(self) -> _core.SetTerms | None:
        """What counts and scores labels in the core."""
        return self._route.sets if self.in_core is not None else None  # type: ignore[return-value]

    def for_core(self) -> _core.SetTerms | _core.MixedScores | Callable[..., npt.NDArray[np.float64]]:
        """Return what a search of the core calls: its own counting, or a function of a list of families' arrays."""
        return self._route.sets or (lambda *flat: self._route(Families(*flat)))


class _Route(Protocol):
    """What scores families, and remembers those that are not asked for once."""

    @property
    def sets(self) -> _core.SetTerms | _core.MixedScores | None:
        """What counts and scores in the core."""
        ...

    @property
    def n_distinct(self) -> int:
        """The number of distinct families scored so far, and of those scored once."""
        ...

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, (n_families,)."""
        ...


class _CountedInCore:
    """Families of a table's rows, which the core counts and scores; it remembers every set that it counted."""

    def __init__(self, columns: _core.Columns, term: CoreTerm) -> None:
        self._new = partial(_core.SetTerms, columns, *term)
        self.sets, self._n_once = self._new(), 0

    @property
    def n_distinct(self) -> int:
        return self._n_once + self.sets.n_families

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        self._n_once += len(families) if families.once else 0
        sets = self._new() if families.once else self.sets
        return sets.family_scores(families.children, families.offsets, families.parents)


class _Remembered:
    """Families that something else scores."""

    sets = None

    def __init__(self, score: Callable[[Families], npt.NDArray[np.float64]]) -> None:
        self._score = score
        self._known, self._n_once = _core.FamilyCache(), 0

    @property
    def n_distinct(self) -> int:
        return self._n_once + len(self._known)

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        if families.once:
            self._n_once += len(families)
            return self._score(families)
        scores, unknown = self._known.look_up(families.children, families.offsets, families.parents)
        if len(unknown):
            new = families.take(unknown)
            scores[unknown] = self._known.store(new.children, new.offsets, new.parents, self._score(new))
        return scores


class _ByMoments:
    """Families of numbers, which the core scores and remembers; moments are counted where some are asked for."""

    def __init__(self, make: Callable[[], _core.MixedScores]) -> None:
        self._make, self._made, self._n_once = make, False, 0

    @cached_property
    def scores(self) -> _core.MixedScores:
        self._made = True
        return self._make()

    @property
    def n_distinct(self) -> int:
        return self._n_once + (self.scores.n_families if self._made else 0)

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        self._n_once += len(families) if families.once else 0
        return self.scores.of_numbers(families.children, families.offsets, families.parents, families.once)


class _LabelsAndNumbers:
    """Families of labels are scored as in a table of labels, those of numbers by their regressions."""

    def __init__(self, source: Source, score: Score) -> None:
        self._names = source.names
        self._is_number = np.array([variable.is_continuous for variable in source.variables])
        self._label_at = (np.cumsum(~self._is_number) - 1).astype(np.int32)
        self._labels = LocalScores(part_of(source, np.flatnonzero(~self._is_number).tolist()), score)
        prices = {"price": score.price_in(source), "arc_price": score.arc_price(source)}
        terms = MixedTerms(source, averaged=score.averages, **prices)
        by_moments = None if terms.by_family else _ByMoments(partial(terms.by_moments, self._labels.sets))
        self._numbers: _Remembered | _ByMoments = by_moments or _Remembered(terms.families)
        is_in_core = self._labels.sets is not None or self._is_number.all()
        self._in_core = by_moments if is_in_core else None

    @property
    def sets(self) -> _core.MixedScores | None:
        return None if self._in_core is None else self._in_core.scores

    @property
    def n_distinct(self) -> int:
        return self._labels.n_distinct + self._numbers.n_distinct

    def __call__(self, families: Families) -> npt.NDArray[np.float64]:
        of_numbers = self._is_number[families.children]
        scores = np.empty(len(families))
        if not of_numbers.all():
            scores[~of_numbers] = self._labels(self._among_labels(families.take(np.flatnonzero(~of_numbers))))
        if of_numbers.any():
            scores[of_numbers] = self._numbers(families.take(np.flatnonzero(of_numbers)))
        return scores

    def _among_labels(self, families: Families) -> Families:
        """Return families of labels by their positions among these."""
        wrong = self._is_number[families.parents]
        if wrong.any():
            f = families.owners[wrong][0]
            names = [self._names[v] for v in families.parents[wrong & (families.owners == f)].tolist()]
            raise label_below_numbers(self._names[families.children[f]], names)
        at = self._label_at
        return Families(at[families.children], families.offsets, at[families.parents], families.once)


def _in_core(source: Source, score: Score) -> tuple[_core.Columns, CoreTerm] | None:
    """Return the rows and the term by which the core scores; None where one of them is not in its reach.

    This is the one place that chooses: a table in memory has rows, any other source statistics.
    """
    term = score.core_term(source.total)
    columns = None if term is None else source.in_core()
    return None if term is None or columns is None else (columns, term)


def _in_units(source: Source, score: Score) -> Callable[[Families], npt.NDArray[np.float64]] | None:
    """Return what scores rows whose weights are not whole; None where the score is not in proportion to them.

    A likelihood is: rows c times as heavy, with parameters c times as dear, have c times the score.
    """
    term = score.core_term(source.total)
    found = source.counted_in_units() if term is not None and term.measure == "likelihood" else None
    if term is None or found is None:
        return None
    columns, unit = found
    counted = _CountedInCore(columns, term._replace(parameter=term.parameter / unit))
    return lambda families: unit * counted(families)


def _warn_of_resolution(source: Source, score: Score) -> None:
    """Warn where rows are so many that rounding decides about arcs.

    No error: probabilities and counts are right, and so is every arc that rows so many speak for clearly.
    """
    n = float(source.total)
    if n > MOST_RESOLVED and score.core_term(n) is not None:
        warn(
            f"the rows' weights sum to {n:.3g}: a score is as large as {n * math.log(n):.1g} nats and rounded to about "
            f"{math.ulp(n * math.log(n)):.1g}, so weak arcs come and go by chance; if the weights are no numbers of "
            "rows, divide them by what makes them so"
        )


def _cell_sums(source: Source, score: Score, *, all_sets: bool = False) -> _core.CellSums | None:
    """Return what adds up the score's terms over whole counts in the core; None where it does not know the score."""
    total = float(source.total)
    term = score.core_term(source.total)
    if term is None or not total.is_integer() or total > MOST_COUNTED:
        return None
    cardinalities = np.array([variable.cardinality for variable in source.variables], dtype=np.int64)
    return _core.CellSums(cardinalities, *term, int(total), all_sets)


def _are_all(statistic: Statistic, total: float) -> bool:
    """Whether a statistic has whole counts of all rows."""
    return statistic.counts.dtype.kind in "iu" and statistic.total == total


def _cells(statistics: Iterable[Statistic]) -> tuple[list[npt.NDArray[np.int64]], list[npt.NDArray[np.uint32] | None]]:
    """Return the counts and states of statistics as the core takes them."""
    counts, states = [], []
    for one in statistics:
        counts.append(np.ascontiguousarray(one.counts, dtype=np.int64).reshape(-1))
        states.append(None if one.states is None else np.ascontiguousarray(one.states, dtype=np.uint32))
    return counts, states


def _from_statistics(
    source: Source, score: Score, sums: _core.CellSums | None, families: Families
) -> npt.NDArray[np.float64]:
    """Return the score of each family as the source says it, or from the statistics that it gives."""
    said = source.family_scores(families, score)
    if said is not None:
        return said
    total = source.total
    scores = np.empty(len(families))
    for begin in range(0, len(families), SETS_AT_ONCE):
        part = families[begin : begin + SETS_AT_ONCE]
        joints = [tuple(sorted((*parents, child))) for child, parents in part]
        distinct = sorted(set(joints))
        place = dict(zip(distinct, range(len(distinct)), strict=True))
        found = source.statistics(distinct)
        for statistic in found:
            statistic.require_complete(source.variables, "a score")
        which = np.array([place[joint] for joint in joints], dtype=np.int64)
        if sums is not None and all(_are_all(statistic, total) for statistic in found):
            flat = (part.children, part.offsets, part.parents)
            scores[begin : begin + len(part)] = sums.family_scores(*flat, which, *_cells(found))
            continue
        for f, ((child, parents), s) in enumerate(zip(part, which.tolist(), strict=True), begin):
            states = source.variables[child].cardinality
            scores[f] = score.joint(found[s]) - score.marginal(found[s].marginal(parents), states)
    return scores


def local_scores(source: Source, families: Families, score: Score) -> npt.NDArray[np.float64]:
    """Return the scores of families under one score, (n_families,) float64; `LocalScores` keeps what it counted."""
    return LocalScores(source, score)(families)


def family_positions(source: Source, dag: Dag | UndirectedGraph) -> Families:
    """Return the families of a graph by the source's positions; variables are matched by name."""
    where = source.places(dag.names)
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
        g of every set, for each number of states that a child may have; or of all of them, where it is the same.
    kind_of_child : (n,) int32
        Which row of the marginals is a variable's.
    prices : (n,) float64
        What a variable pays, beside that, for every configuration of its parents.
    """

    joint: npt.NDArray[np.float64]
    marginals: npt.NDArray[np.float64]
    kind_of_child: npt.NDArray[np.int32]
    prices: npt.NDArray[np.float64]


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
    n, terms = len(source.variables), score.terms(source)
    if terms is not None and terms.subsets is not None:
        joint = terms.subsets(most)
        whole = SubsetTerms(joint, joint[None], np.zeros(n, np.int32), np.zeros(n))
        return whole if after_part(n_sets(n, most)) else None
    known = _SetTerms(source, score)
    sets = _sets(n, most)
    while part := list(itertools.islice(sets, SETS_AT_ONCE)):
        statistics = source.statistics(part)
        for statistic in statistics:
            statistic.require_complete(source.variables, "a score")
        known.add(part, statistics)
        if not after_part(len(part)):
            return None
    return known.terms()


class _SetTerms:
    """The terms of sets, added part after part.

    While counts are whole the core adds up the terms, with the bits that its own walk over the rows of a table gives.
    With the first that are not, the score is asked for these and all that follow.
    """

    def __init__(self, source: Source, score: Score) -> None:
        self._score, self._total = score, source.total
        self._cardinalities = np.array([variable.cardinality for variable in source.variables], dtype=np.int64)
        self._n = n = len(self._cardinalities)
        self._sums = _cell_sums(source, score, all_sets=True)
        self._states, kinds = np.unique(self._cardinalities, return_inverse=True)
        self._kind_of_child = kinds.astype(np.int32)
        self._joint = np.zeros(2**n)
        self._shared = self._sums is not None and not self._sums.knows_child  # g is f
        self._marginals = self._joint[None] if self._shared else np.zeros((len(self._states), 2**n))

    def add(self, sets: list[tuple[int, ...]], statistics: list[Statistic]) -> None:
        """Add the terms of some sets."""
        if self._sums is not None and not all(_are_all(one, self._total) for one in statistics):
            self._leave_core(self._sums)
        masks = [sum(1 << v for v in chosen) for chosen in sets]
        if self._sums is not None:
            children = self._states[:0] if self._shared else self._states
            self._joint[masks], marginals = self._sums.set_terms(*flat_sets(sets), *_cells(statistics), children)
            if not self._shared:
                self._marginals[:, masks] = marginals
            return
        for mask, statistic in zip(masks, statistics, strict=True):
            self._joint[mask] = self._score.joint(statistic)
            for kind, r in enumerate(self._states.tolist()):
                self._marginals[kind, mask] = self._score.marginal(statistic, r)

    def _leave_core(self, sums: _core.CellSums) -> None:
        """Go on with the score's own g, which knows the price."""
        self._sums = None
        if not self._shared:
            return
        self._shared = False
        self._marginals = np.repeat(self._joint[None], len(self._states), axis=0)
        if sums.price:
            cells = np.ones(1)
            for r in self._cardinalities.tolist():
                cells = np.concatenate([cells, r * cells])
            self._marginals += sums.price * (self._states[:, None] - 1.0) * cells

    def terms(self) -> SubsetTerms:
        """Return the terms of all sets added."""
        if not self._shared:
            return SubsetTerms(self._joint, self._marginals, self._kind_of_child, np.zeros(self._n))
        price = 0.0 if self._sums is None else self._sums.price
        prices = np.array([price * (r - 1.0) for r in self._cardinalities.tolist()])
        return SubsetTerms(self._joint, self._marginals, np.zeros(self._n, np.int32), prices)


def n_sets(n: int, most: int) -> int:
    """Return how many sets of up to so many of n variables there are."""
    return sum(math.comb(n, size) for size in range(min(n, most) + 1))


def _sets(n: int, most: int) -> Iterator[tuple[int, ...]]:
    for size in range(min(n, most) + 1):
        yield from itertools.combinations(range(n), size)
