"""Families of a label below numbers: a logistic regression, or the numbers in bins where that is likelier."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditionals.families import Effort, Family, once
from fishernet.compare.conditionals.logistic import log_shares
from fishernet.compare.conditionals.number_families import parent_columns, some_rows
from fishernet.compare.conditionals.number_tests import label_p_value
from fishernet.compare.conditionals.state_families import FamilyCounts, StateFamilies
from fishernet.compare.corrections import Outcome
from fishernet.data import Table

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Rows = tuple[Array, Codes]  # the parents, and the child

MOST_SLOPES = 60  # of a regression
MOST_FITTED = 20_000  # rows of a regression: of more, as many are taken


class LabelFamilies(StateFamilies):
    """Two tables, of whose labels it is asked, with parents among which are numbers; `counts` have these in bins."""

    def __init__(self, tables: tuple[Table, Table], effort: Effort, counts: tuple[FamilyCounts, FamilyCounts]) -> None:
        super().__init__((counts[0].source, counts[1].source), effort, counts)
        self._rows = tuple(some_rows(table) for table in tables)

    def rows(self, family: Family) -> tuple[Rows, Rows]:
        """Return the rows that are complete in a family, before and after."""
        before, after = (_complete(table, family) for table in self._rows)
        return before, after

    @once
    def score(self, family: Family) -> float:
        """Return the BIC of a conditional that both tables share."""
        return max(StateFamilies.score(self, family), self._regression(family, apart=False))

    @once
    def score_apart(self, family: Family) -> float:
        """Return the BIC of a conditional for each table."""
        return max(StateFamilies.score_apart(self, family), self._regression(family, apart=True))

    def p_value_bound(self, family: Family) -> float:  # noqa: ARG002
        """Return 1: none is known without draws."""
        return 1.0

    def _regression(self, family: Family, *, apart: bool) -> float:
        """Return the BIC of a logistic regression of both tables together, or of one for each."""
        pairs, n_rows = self.rows(family), [round(source.total) for source in self._tables]
        if apart:
            return sum(_bic(*of, self._cards[family[-1]], n) for of, n in zip(pairs, n_rows, strict=True))
        (x, codes), (y, others) = pairs
        whole = np.concatenate([x, y]), np.concatenate([codes, others])
        return _bic(*whole, self._cards[family[-1]], sum(n_rows))

    def _bayes_factor(self, family: Family) -> float:
        by_lines, in_bins = self._regression(family, apart=False), StateFamilies.score(self, family)
        if by_lines < in_bins:
            return super()._bayes_factor(family)
        return self._regression(family, apart=True) - by_lines

    def _tested(self, family: Family, random: np.random.Generator) -> Outcome:
        (before, codes), (after, others) = self.rows(family)
        return Outcome(label_p_value(before, after, np.concatenate([codes, others]), random, self._draws[0]))


def _complete(table: Table, family: Family) -> Rows:
    """Return the parents' columns and the child's codes in the rows that are complete in a family."""
    *parents, child = family
    columns, codes = parent_columns(table, parents), table.codes[child]
    known = ~(np.isnan(columns).any(axis=1) | table.variables[child].missing(codes))
    return columns[known], codes[known].astype(np.int64)


def _bic(parents: Array, codes: Codes, n_states: int, n_rows: int) -> float:
    """Return the BIC of a logistic regression, as if rows that lack a cell were as those that do not."""
    if len(codes) == 0:
        return 0.0
    if (parents.shape[1] + 1) * (n_states - 1) > MOST_SLOPES:
        return -math.inf
    some = slice(None, None, math.ceil(len(codes) / MOST_FITTED))
    spread = parents[some].std(axis=0)
    columns = (parents[some] - parents[some].mean(axis=0)) / np.where(spread > 0, spread, 1)
    states, own = np.unique(codes[some], return_inverse=True)
    shares = log_shares(np.column_stack([np.ones(len(columns)), columns]), own, len(states))
    average = shares[np.arange(len(own)), own].mean()
    n_parameters = (parents.shape[1] + 1) * (n_states - 1)
    return float(average * n_rows - math.log(max(n_rows, 2)) / 2 * n_parameters)
