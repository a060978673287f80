"""Scores of tables that have numbers beside labels, or numbers alone.

A number has a regression on the numbers among its parents in every configuration of their labels: its score is the
largest likelihood of these regressions, less the price of ``m + 2`` parameters for each of the q configurations (m
numbers, an intercept and a standard deviation) [1]_. A configuration with fewer rows than that, or whose own rows leave
no variance, has the regression of all rows, so that the score is finite; so has every one where configurations are more
than half of the rows, of which labels tell nothing. A variable with labels has parents with labels alone, and the score
that it has in a table of labels.

All families whose parents have the same labels are scored from the same moments: those of all numbers in each
configuration. Where cells are missing, each family is scored on the rows that are complete in it.

References
----------
.. [1] S. G. Bottcher, "Learning Bayesian networks with mixed variables", AISTATS 2001; B. Andrews, J. Ramsey and G. F.
   Cooper, "Scoring Bayesian networks of mixed variables", International Journal of Data Science and Analytics 6, 2018.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.base.names import listed
from fishernet.data import Continuous, Source, Statistic, Table
from fishernet.scores.base import Families
from fishernet.scores.label_moments import LabelMoments, moments_of
from fishernet.scores.node_average import told_as_by_all

Floats = npt.NDArray[np.float64]
OfLabels = Callable[[Families], Floats]
_Pair = tuple[int, tuple[int, ...]]  # a child and its parents

ALONE = 2  # parameters of a number without parents
MOST_OF_SET = 2**26  # numbers in the moments of one set of labels


class MixedTerms:
    """Scores families of a source with columns of numbers.

    Parameters
    ----------
    source : Source
    price : float
        What a parameter costs, in nats.
    of_labels : callable
        Scores families of the columns with labels alone, by their positions among these.
    arc_price : float
        What each parent of a number costs beside its parameters.
    averaged : bool
        Whether a likelihood of rows that are complete in a family is taken for as many as there are rows at all, where
        cells are missing.
    """

    subsets: ClassVar[None] = None

    def __init__(
        self, source: Source, price: float, of_labels: OfLabels, *, averaged: bool, arc_price: float = 0.0
    ) -> None:
        self._source, self._price, self._of_labels, self._averaged = source, price, of_labels, averaged
        self._arc_price = arc_price
        self._numbers = [v for v, variable in enumerate(source.variables) if variable.is_continuous]
        labels = [v for v, variable in enumerate(source.variables) if not variable.is_continuous]
        self._cardinalities = [float(variable.cardinality) for variable in source.variables]
        self._label_at = {v: at for at, v in enumerate(labels)}
        self._by_family = source.has_missing or source.by_set
        self._moments = LabelMoments(source)
        self._alone: dict[int, float] = {}
        self._floors = np.zeros(len(source.variables))  # of numbers that were looked at alone: their least variance

    def families(self, families: Families) -> Floats:
        """Return the scores of families, (n_families,)."""
        pairs = list(families)
        of_labels = [f for f, (child, _) in enumerate(pairs) if child in self._label_at]
        scores = np.empty(len(pairs))
        if of_labels:
            scores[of_labels] = self._of_labels(Families.from_pairs(self._among_labels(*pairs[f]) for f in of_labels))
        of_numbers = [f for f, (child, _) in enumerate(pairs) if child not in self._label_at]
        if of_numbers:
            likelihoods = self._available if self._by_family else self._shared
            scores[of_numbers] = likelihoods([pairs[f] for f in of_numbers])
            paid = [
                self._price * self._parameters(pairs[f][1]) + self._arc_price * len(pairs[f][1]) for f in of_numbers
            ]
            scores[of_numbers] -= paid
        return scores

    def _among_labels(self, child: int, parents: Sequence[int]) -> tuple[int, list[int]]:
        numbers = [p for p in parents if p not in self._label_at]
        if numbers:
            raise label_below_numbers(self._source.names[child], [self._source.names[v] for v in numbers])
        return self._label_at[child], [self._label_at[p] for p in parents]

    def _of(self, numbers: Sequence[int]) -> list[Continuous]:
        return [cast(Continuous, self._source.variables[v]) for v in numbers]

    def _parameters(self, parents: Sequence[int]) -> float:
        configurations = math.prod([self._cardinalities[p] for p in parents])
        return configurations * (2 + sum([p not in self._label_at for p in parents]))

    def _shared(self, pairs: Sequence[_Pair]) -> list[float]:
        """Return the likelihoods of families of complete rows."""
        by_labels: dict[tuple[int, ...], list[int]] = {}
        for f, (_, parents) in enumerate(pairs):
            labels = tuple(p for p in self._telling(parents) if p in self._label_at)
            by_labels.setdefault(labels, []).append(f)
        asked = {
            labels: tuple(sorted({v for f in which for v in self._numbers_in(pairs[f])}))
            for labels, which in by_labels.items()
        }
        found = np.empty(len(pairs))
        for several in self._moments.of(asked):
            which = [(m, f) for m, moments in enumerate(several) for f in by_labels[moments.labels]]
            found[[f for _, f in which]] = self._likelihoods(
                several, [m for m, _ in which], [pairs[f] for _, f in which]
            )
        return found.tolist()

    def _numbers_in(self, family: _Pair) -> Iterator[int]:
        child, parents = family
        return (v for v in (child, *parents) if v not in self._label_at)

    def _telling(self, parents: tuple[int, ...]) -> tuple[int, ...]:
        """Return parents, without the labels where these have more configurations than rows tell of or memory holds."""
        labels = [p for p in parents if p in self._label_at]
        cells, size = self._moments.configurations(labels), self._moments.size_of(labels)
        if not labels or (2 * cells <= self._source.total and size <= MOST_OF_SET):
            return parents
        return tuple(p for p in parents if p not in self._label_at)

    def _available(self, pairs: Sequence[_Pair]) -> Floats:
        """Return the same of rows that lack cells: what parents tell on the complete ones, and the child alone."""
        asked, alone = pairs, np.array([self._alone_of(child) for child, _ in pairs])
        pairs = [(child, self._telling(parents)) for child, parents in pairs]
        gains, known = self._of_rows(pairs) if self._source.rows is not None else self._of_statistics(pairs)
        if not self._averaged:
            return np.asarray(np.where(known > 0, gains, 0.0) + alone)
        of_parents = np.array([self._parameters(parents) - ALONE for _, parents in asked])
        return np.asarray(told_as_by_all(gains, known, float(self._source.total), self._price, of_parents) + alone)

    def _of_rows(self, pairs: Sequence[_Pair]) -> tuple[Floats, Floats]:
        """Return what parents tell of each number, and the weight of the rows that are complete in the family."""
        families = Families.from_pairs(pairs)
        return self._incomplete.told_by_parents(families.children, families.offsets, families.parents)

    @cached_property
    def _incomplete(self) -> _core.IncompleteRows:
        """The rows as the core takes them."""
        rows = cast(Table, self._source.rows)
        values = np.empty((len(self._numbers), rows.n_rows))
        for at, v in enumerate(self._numbers):
            values[at] = self._of([v])[0].scaled(rows.codes[v])
        places = np.full(len(rows.variables), -1, dtype=np.int32)
        places[self._numbers] = np.arange(len(self._numbers))
        weights = None if rows.weights is None else rows.weights.astype(np.float64)
        for v in self._numbers:
            self._alone_of(v)
        return _core.IncompleteRows(rows.native, places, values, weights, self._floors)

    def _of_statistics(self, pairs: Sequence[_Pair]) -> tuple[Floats, Floats]:
        """Return the same of a source that knows statistics alone."""
        statistics = self._source.statistics([tuple(sorted((*parents, child))) for child, parents in pairs])
        found = [self.told(*pair, one) for pair, one in zip(pairs, statistics, strict=True)]
        return np.array(found), np.array([float(one.total) for one in statistics])

    def told(self, child: int, parents: tuple[int, ...], statistic: Statistic, beyond: tuple[int, ...] = ()) -> float:
        """Return what parents tell of a number on the rows of a statistic of them, beyond what some of them tell."""
        if parents == beyond or not statistic.total:
            return 0.0
        few = statistic.marginal(sorted((child, *beyond)))
        return self._likelihood(child, parents, statistic) - self._likelihood(child, beyond, few)

    def _likelihood(self, child: int, parents: tuple[int, ...], statistic: Statistic) -> float:
        return float(self._likelihoods([moments_of(statistic)], [0], [(child, parents)])[0])

    def _likelihoods(
        self, moments: Sequence[_core.LabelMoments], of_family: Sequence[int], pairs: Sequence[_Pair]
    ) -> Floats:
        """Return the likelihoods of families by moments; no variance is below that of rounding."""
        families = Families.from_pairs(
            (child, [p for p in parents if p not in self._label_at]) for child, parents in pairs
        )
        for child in set(families.children.tolist()):
            self._alone_of(child)
        return self._of_moments(moments, of_family, families)

    def _of_moments(
        self, moments: Sequence[_core.LabelMoments], of_family: Sequence[int], families: Families
    ) -> Floats:
        flat = families.children, families.offsets, families.parents
        places = np.array(of_family, dtype=np.int32)
        return _core.mixed_family_likelihoods(moments, places, self._floors, *flat)

    def _alone_of(self, child: int) -> float:
        """Return the likelihood of a number without parents, on the rows that know it."""
        if child not in self._alone:
            [statistic] = self._source.statistics([(child,)])
            total = float(statistic.total)
            mean = float(statistic.mean[0]) if total else 0.0
            self._floors[child] = self._of([child])[0].least_variance(mean)
            of_known = 0.0
            if total:
                one = Families.from_pairs([(child, ())])
                of_known = float(self._of_moments([moments_of(statistic)], [0], one)[0])
            self._alone[child] = of_known * (float(self._source.total) / total if self._averaged and total else 1.0)
        return self._alone[child]


def label_below_numbers(child: str, numbers: Sequence[str]) -> SchemaError:
    """Return the error for a variable with labels that should have numbers among its parents."""
    return SchemaError(
        f"{child!r} has labels, and the number {listed(numbers)} cannot be its parent: in a network of labels and "
        "numbers arcs run from labels to numbers; turn the arc round, or cut the number into bins"
    )
