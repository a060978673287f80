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
.. [2] A. D. R. McQuarrie, "A small-sample correction for the Schwarz SIC model selection criterion", Statistics and
   Probability Letters 44, 1999.
.. [3] K. P. Burnham and D. R. Anderson, "Model Selection and Multimodel Inference", 2nd edition, 2002, of the same
   correction of Akaike's criterion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.base.names import listed
from fishernet.data import Continuous, Source, Statistic, Table
from fishernet.scores.base import Families
from fishernet.scores.label_moments import kinds_of, moment_store, moments_of
from fishernet.scores.node_average import told_as_by_all

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]
_Pair = tuple[int, tuple[int, ...]]  # a child and its parents

ALONE = 2  # parameters of a number without parents


class MixedTerms:
    """Scores families of the numbers of a source.

    Parameters
    ----------
    source : Source
    price : float
        What a parameter costs, in nats.
    arc_price : float
        What each parent of a number costs beside its parameters, under a prior on graphs. With one, the k parameters of
        a regression on numbers also count as ``k n / (n - k - 1)`` of n rows if these are fewer than 40 k [2]_ [3]_:
        else few rows buy regressions without an error.
    averaged : bool
        Whether a likelihood of rows that are complete in a family is taken for as many as there are rows at all, where
        cells are missing.
    """

    def __init__(self, source: Source, price: float, *, averaged: bool, arc_price: float = 0.0) -> None:
        self._source, self._price, self._averaged, self._arc_price = source, price, averaged, arc_price
        cardinalities, numbers = kinds_of(source)
        self._columns = _core.MixedColumns(cardinalities, numbers, float(source.total), arc_price > 0)
        self._numbers: list[int] = numbers.tolist()
        self.by_family: bool = source.has_missing or source.by_set
        self._singles: dict[int, Statistic] = {}
        self._floors = np.zeros(len(source.variables))

    def families(self, families: Families) -> Floats:
        """Return the scores of families of numbers, each on its own complete rows, (n_families,)."""
        flat = families.children, families.offsets, families.parents
        offsets, parents, n_parameters = self._columns.telling(*flat)
        likelihoods = self._available(Families(families.children, offsets, parents), n_parameters)
        paid = self._price * n_parameters + self._arc_price * np.diff(families.offsets)
        return np.asarray(likelihoods - paid)

    def by_moments(self, labels: _core.SetTerms | None) -> _core.MixedScores:
        """Return what scores families by the moments of all rows, those of labels by the terms of these."""
        store, means = moment_store(self._source)
        floors = np.zeros(len(means))
        for v, variable in zip(self._numbers, self._of(self._numbers), strict=True):
            floors[v] = variable.least_variance(float(means[v]))
        return _core.MixedScores(self._columns, store, floors, self._price, self._arc_price, labels)

    def _of(self, numbers: Sequence[int]) -> list[Continuous]:
        return [cast(Continuous, self._source.variables[v]) for v in numbers]

    def _floors_of(self, numbers: Iterable[int]) -> Floats:
        """Return the least variances of numbers, (n_variables,); those of numbers that nobody asked for yet are 0."""
        new = [v for v in dict.fromkeys(numbers) if v not in self._singles]
        for v, one in zip(new, self._source.statistics([(v,) for v in new]) if new else (), strict=True):
            self._singles[v] = one
            self._floors[v] = self._of([v])[0].least_variance(float(one.mean[0]) if one.total else 0.0)
        return self._floors

    @cached_property
    def _alone(self) -> Floats:
        """The likelihood of each number without parents, on the rows that know it, (n_variables,)."""
        alone = np.zeros(len(self._source.variables))
        self._floors_of(self._numbers)
        for v, one in self._singles.items():
            if one.total:
                family = Families.from_pairs([(v, ())])
                known = float(self._of_moments([moments_of(one)], np.zeros(1), family)[0])
                alone[v] = known * (float(self._source.total) / float(one.total) if self._averaged else 1.0)
        return alone

    def _available(self, families: Families, n_parameters: Floats) -> Floats:
        """Return the same of rows that lack cells: what parents tell on the complete ones, and the child alone."""
        alone = self._alone[families.children]
        if self._source.rows is None:
            gains, known = self._of_statistics(list(families))
        else:
            gains, known = self._incomplete.told_by_parents(families.children, families.offsets, families.parents)
        if not self._averaged:
            return np.asarray(np.where(known > 0, gains, 0.0) + alone)
        total, of_arcs = float(self._source.total), self._arc_price * np.diff(families.offsets)
        told = told_as_by_all(gains, known, total, self._price, n_parameters - ALONE, of_arcs)
        return np.asarray(told + alone)

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
        return _core.IncompleteRows(rows.native, places, values, weights, self._floors_of(self._numbers))

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
        family = Families.from_pairs([(child, [p for p in parents if self._source.variables[p].is_continuous])])
        return float(self._of_moments([moments_of(statistic)], np.zeros(1), family)[0])

    def _of_moments(self, moments: Sequence[_core.LabelMoments], of_family: Numbers, families: Families) -> Floats:
        """Return the likelihoods of families by moments; no variance is below that of rounding."""
        flat = families.children, families.offsets, families.parents
        floors = self._floors_of(families.children.tolist())
        return _core.mixed_family_likelihoods(moments, of_family.astype(np.int32), floors, *flat)


def label_below_numbers(child: str, numbers: Sequence[str]) -> SchemaError:
    """Return the error for a variable with labels that should have numbers among its parents."""
    return SchemaError(
        f"{child!r} has labels, and the number {listed(numbers)} cannot be its parent: in a network of labels and "
        "numbers arcs run from labels to numbers; turn the arc round, or cut the number into bins"
    )
