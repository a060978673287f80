"""Families of two tables, by their kinds of columns: those of states are counted, and numbers have regressions.

In networks of labels and numbers no arc leads from a number to a label. In graphs by which a change is told it may.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditionals.configurations import ConfigurationChange
from fishernet.compare.conditionals.families import Effort, Families, Family
from fishernet.compare.conditionals.label_families import LabelFamilies
from fishernet.compare.conditionals.nats import Nats
from fishernet.compare.conditionals.number_change import NumberChange
from fishernet.compare.conditionals.number_families import NumberFamilies
from fishernet.compare.conditionals.state_families import FamilyCounts, StateFamilies
from fishernet.compare.corrections import Outcome
from fishernet.data import Source, State, Table
from fishernet.data.options import AUTO
from fishernet.data.pooling import stacked
from fishernet.data.variable import mixes_numbers

Array = npt.NDArray[np.float64]
Counts = tuple[FamilyCounts, FamilyCounts]


def family_counts(tables: Sequence[Source]) -> list[FamilyCounts]:
    """Return what counts the families of several tables; numbers beside labels are in bins, at points of all."""
    if mixes_numbers(tables[0].variables):
        whole = [cast(Table, table) for table in tables]
        states = stacked(whole).discretize(AUTO).variables
        tables = [table.conform(states) for table in whole]
    return [FamilyCounts(table) for table in tables]


def families_between(tables: tuple[Source, Source], effort: Effort, counts: Counts | None = None) -> Families:
    """Return the families of two tables, of states, of numbers or of both; their counts may be known."""
    numbers = [variable.is_continuous for variable in tables[0].variables]
    if not any(numbers):
        return StateFamilies(tables, effort, counts)
    rows = cast(tuple[Table, Table], tables)
    return NumberFamilies(rows, effort) if all(numbers) else MixedFamilies(rows, effort, counts)


class MixedFamilies(Families):
    """Two tables of labels and numbers."""

    def __init__(self, tables: tuple[Table, Table], effort: Effort, counts: Counts | None = None) -> None:
        super().__init__(len(tables[0].variables), effort)
        before, after = counts or family_counts(tables)
        self._states = StateFamilies((before.source, after.source), effort, (before, after))
        self._numbers = NumberFamilies(tables, effort)
        self._labels = LabelFamilies(tables, effort, (before, after))
        self._is_number = [variable.is_continuous for variable in tables[0].variables]

    def _of(self, family: Family) -> Families:
        """Return who looks at a family."""
        if self._is_number[family[-1]]:
            return self._numbers
        return self._labels if any(self._is_number[v] for v in family) else self._states

    def prepare(self, families: Iterable[Family]) -> None:
        """Count the families of labels, all at once."""
        self._states.prepare([family for family in families if not self._is_number[family[-1]]])

    def p_value_bound(self, family: Family) -> float:
        """Return a p-value without draws; 1 where none is known."""
        return self._of(family).p_value_bound(family)

    def counts(self, family: Family) -> Array | None:
        """Return the counts before and after; None of numbers."""
        return self._of(family).counts(family)

    def marginal_p_value(self, v: int) -> float:
        """Return the p-value of "this column has the same distribution"."""
        return self._of((v,)).marginal_p_value(v)

    def new_labels(self) -> dict[str, dict[State, int]]:
        """Return the labels that only the later table has."""
        found = self._states.new_labels()
        names = [variable.name for variable in self._numbers.variables if not variable.is_continuous]
        return {name: found[name] for name in names if name in found}

    def configurations(self, families: Iterable[Family], smoothing: float) -> tuple[ConfigurationChange, ...]:
        """Return how conditionals of labels changed in each configuration of the parents."""
        own = [family for family in families if not self._is_number[family[-1]]]
        return self._states.configurations(own, smoothing)

    def number_change(self, family: Family) -> NumberChange | None:
        """Return what a changed conditional makes of a number; None of labels."""
        return self._of(family).number_change(family)

    def is_small(self, family: Family) -> bool:
        """Return whether a family can be looked at."""
        return self._of(family).is_small(family)

    def score(self, family: Family) -> float:
        """Return the BIC of a conditional that both tables share."""
        return self._of(family).score(family)

    def score_apart(self, family: Family) -> float:
        """Return the BIC of a conditional for each table."""
        return self._of(family).score_apart(family)

    def _bayes_factor(self, family: Family) -> float:
        return self._of(family)._bayes_factor(family)

    def _tested(self, family: Family, random: np.random.Generator) -> Outcome:
        return self._of(family)._tested(family, random)

    def _estimated(self, family: Family, p_value: float, random: np.random.Generator) -> Nats:
        return self._of(family)._estimated(family, p_value, random)
