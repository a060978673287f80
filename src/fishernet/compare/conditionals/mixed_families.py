"""Families of labels and numbers: those of a label are counted, and a number has regressions in each configuration."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditionals.configurations import ConfigurationChange
from fishernet.compare.conditionals.families import Families, Family
from fishernet.compare.conditionals.nats import Nats
from fishernet.compare.conditionals.number_families import NumberFamilies
from fishernet.compare.conditionals.state_families import StateFamilies
from fishernet.data import State, Table

Array = npt.NDArray[np.float64]


class MixedFamilies(Families):
    """Two tables of labels and numbers."""

    def __init__(self, tables: tuple[Table, Table], draws: int, resamples: int, level: float, seed: int) -> None:
        super().__init__(len(tables[0].variables), draws, resamples, level, seed)
        labels = [v for v, variable in enumerate(tables[0].variables) if not variable.is_continuous]
        self._place = {v: at for at, v in enumerate(labels)}
        names = [tables[0].names[v] for v in labels]
        how = (draws, resamples, level, seed)
        self._labels = StateFamilies((tables[0].select(names), tables[1].select(names)), *how)
        self._numbers = NumberFamilies(tables, *how)

    def _of(self, family: Family) -> tuple[Families, Family]:
        """Return who looks at a family, and what it is there."""
        if family[-1] not in self._place:
            return self._numbers, family
        return self._labels, tuple(self._place[v] for v in family)

    def prepare(self, families: Iterable[Family]) -> None:
        """Count the families of labels, all at once."""
        self._labels.prepare([self._of(family)[1] for family in families if family[-1] in self._place])

    def p_value_bound(self, family: Family) -> float:
        """Return a p-value without draws; 1 where none is known."""
        families, own = self._of(family)
        return families.p_value_bound(own)

    def counts(self, family: Family) -> Array | None:
        """Return the counts before and after; None of numbers."""
        families, own = self._of(family)
        return families.counts(own)

    def marginal_p_value(self, v: int) -> float:
        """Return the p-value of "this column has the same distribution"."""
        families, own = self._of((v,))
        return families.marginal_p_value(own[0])

    def new_labels(self) -> dict[str, dict[State, int]]:
        """Return the labels that only the later table has."""
        return self._labels.new_labels()

    def configurations(self, families: Iterable[Family], smoothing: float) -> tuple[ConfigurationChange, ...]:
        """Return how conditionals of labels changed in each configuration of the parents."""
        own = [self._of(family)[1] for family in families if family[-1] in self._place]
        return self._labels.configurations(own, smoothing)

    def is_small(self, family: Family) -> bool:
        """Return whether a family can be looked at."""
        families, own = self._of(family)
        return families.is_small(own)

    def score(self, family: Family) -> float:
        """Return the BIC of a conditional that both tables share."""
        families, own = self._of(family)
        return families.score(own)

    def score_apart(self, family: Family) -> float:
        """Return the BIC of a conditional for each table."""
        families, own = self._of(family)
        return families.score_apart(own)

    def _bayes_factor(self, family: Family) -> float:
        families, own = self._of(family)
        return families._bayes_factor(own)

    def _tested(self, family: Family, random: np.random.Generator) -> float:
        families, own = self._of(family)
        return families._tested(own, random)

    def _estimated(self, family: Family, p_value: float, random: np.random.Generator) -> Nats:
        families, own = self._of(family)
        return families._estimated(own, p_value, random)
