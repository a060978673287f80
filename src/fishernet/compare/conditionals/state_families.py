"""Families of columns of states: their counts over the rows that are complete in a family."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import cast

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditionals.configurations import ConfigurationChange, largest_first, of_counts
from fishernet.compare.conditionals.families import Effort, Families, Family, once
from fishernet.compare.conditionals.nats import Nats, changed_nats
from fishernet.compare.conditionals.state_tests import conditional_test, log_evidence
from fishernet.compare.corrections import Outcome
from fishernet.data import Source, State, Statistic, Table
from fishernet.data.variable import Variable
from fishernet.learn.missing.incomplete import AvailableCases

Array = npt.NDArray[np.float64]

MOST_CELLS = 2**16  # of a family that is not in a learned graph
PSEUDO_COUNT = 0.5  # of a state, in the evidence of a change


class FamilyCounts:
    """The counts of one table's families, each counted once, however many other tables it is compared with."""

    def __init__(self, table: Source) -> None:
        self.source = table
        self._cases = AvailableCases(table)
        self._statistics: dict[Family, Statistic] = {}

    def prepare(self, families: Iterable[Family]) -> None:
        """Count families that will be asked for, all at once."""
        sets = sorted({tuple(sorted(family)) for family in families} - self._statistics.keys())
        if sets:
            self._statistics.update(zip(sets, self._cases.statistics(sets), strict=True))

    def of(self, table: Table) -> FamilyCounts:
        """Return the counts of another table in the same states; what is none of them counts as missing."""
        return FamilyCounts(table.conform(self.source.variables, unknown="missing"))

    def cells(self, family: Family) -> Array:
        """Return the counts of a family, (configurations, states)."""
        self.prepare([family])
        return cells(self._statistics[tuple(sorted(family))], family)


class StateFamilies(Families):
    """Two tables of states, or sources of their counts, whose counts may be known from another comparison."""

    def __init__(
        self,
        tables: tuple[Source, Source],
        effort: Effort,
        counts: tuple[FamilyCounts, FamilyCounts] | None = None,
    ) -> None:
        super().__init__(len(tables[0].variables), effort)
        self._tables = tables
        self._cards = [cast(Variable, variable).cardinality for variable in tables[0].variables]
        self._counts = counts or (FamilyCounts(tables[0]), FamilyCounts(tables[1]))

    def prepare(self, families: Iterable[Family]) -> None:
        """Count families that will be asked for, all at once."""
        wanted = list(families)
        for counts in self._counts:
            counts.prepare(wanted)

    def counts(self, family: Family) -> Array:
        """Return the counts before and after, (2, configurations, states)."""
        return np.stack([counts.cells(family) for counts in self._counts])

    def marginal_p_value(self, v: int) -> float:
        """Return the exact p-value of a column alone; 1 where it can tell nothing."""
        p = self.p_value((v,))
        return 1.0 if math.isnan(p) else p

    def new_labels(self) -> dict[str, dict[State, int]]:
        """Return the labels that only the later table has, by column, with their rows; bins of numbers are none."""
        found = {}
        for v, variable in enumerate(self._tables[0].variables):
            if cast(Variable, variable).cuts is not None:
                continue
            before, after = (counts[0] for counts in self.counts((v,)))
            new = {
                cast(Variable, variable).states[k]: round(after[k]) for k in np.flatnonzero((before == 0) & (after > 0))
            }
            found.update({variable.name: new} if new else {})
        return found

    def configurations(self, families: Iterable[Family], smoothing: float) -> tuple[ConfigurationChange, ...]:
        """Return how conditionals changed in each configuration that both tables have, by the smoothed counts."""
        variables = [cast(Variable, variable) for variable in self._tables[0].variables]
        changes = (
            of_counts([variables[v] for v in family], before, after, smoothing)
            for family in families
            for before, after in [self.counts(family)]
        )
        return largest_first(itertools.chain.from_iterable(changes))

    def is_small(self, family: Family) -> bool:
        """Return whether a table of the family's counts is small enough to be tried."""
        return float(np.prod([float(self._cards[v]) for v in family])) <= MOST_CELLS

    @once
    def score(self, family: Family) -> float:
        """Return the BIC of a conditional that both tables share."""
        before, after = self.counts(family)
        return self._bic(before + after, round(sum(source.total for source in self._tables)))

    @once
    def score_apart(self, family: Family) -> float:
        """Return the BIC of a conditional for each table."""
        pairs = zip(self.counts(family), self._tables, strict=True)
        return sum(self._bic(counts, round(source.total)) for counts, source in pairs)

    def _bic(self, counts: Array, n_rows: int) -> float:
        """Return the BIC of counts, as if rows that lack a cell were as those that do not (node-average likelihood)."""
        known = counts.sum()
        parameters = counts.shape[0] * (counts.shape[1] - 1)
        average = (_x_log_x(counts).sum() - _x_log_x(counts.sum(axis=1)).sum()) / max(known, 1)
        return float(average * n_rows - np.log(max(n_rows, 2)) / 2 * parameters)

    def _bayes_factor(self, family: Family) -> float:
        before, after = self.counts(family)
        return _marginal(before) + _marginal(after) - _marginal(before + after)

    def p_value_bound(self, family: Family) -> float:
        """Return the inverse of an exact e-value."""
        before, after = self.counts(family)
        return math.exp(-max(log_evidence(before, after), 0.0))

    def _tested(self, family: Family, random: np.random.Generator) -> Outcome:
        child = cast(Variable, self._tables[0].variables[family[-1]])
        return conditional_test(self.counts(family), random, *self._draws, (False, child.is_ordered))

    def _estimated(self, family: Family, p_value: float, random: np.random.Generator) -> Nats:
        before, after = self.counts(family)
        return changed_nats(before, after, p_value, self._draws_for(p_value), random)


def cells(statistic: Statistic, family: Family) -> Array:
    """Return the counts of a family, (configurations, states): the child is its last member."""
    counts = statistic.table().transpose([statistic.variables.index(v) for v in family])
    return np.asarray(counts, dtype=np.float64).reshape(-1, counts.shape[-1])


def _x_log_x(counts: Array) -> Array:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))


def _marginal(counts: Array) -> float:
    """Return the log marginal likelihood of counts under a Dirichlet distribution in each configuration."""
    from scipy.special import gammaln  # slow to import, and needed by few calls

    rows = counts[counts.sum(axis=1) > 0]
    whole = PSEUDO_COUNT * rows.shape[1]
    by_state = gammaln(rows + PSEUDO_COUNT).sum(axis=1) - rows.shape[1] * gammaln(PSEUDO_COUNT)
    return float((by_state + gammaln(whole) - gammaln(rows.sum(axis=1) + whole)).sum())
