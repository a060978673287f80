"""Families of numbers: linear regressions over the rows that are complete in a family."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditionals.configurations import ConfigurationChange
from fishernet.compare.conditionals.families import Effort, Families, Family, once
from fishernet.compare.conditionals.nats import TAIL, UNKNOWN, Nats
from fishernet.compare.conditionals.number_change import NumberChange, spread_of
from fishernet.compare.conditionals.number_tests import regression_p_value
from fishernet.compare.corrections import Outcome
from fishernet.data import Column, Continuous, State, Table

Array = npt.NDArray[np.float64]
Moments = tuple[Array, Array]  # the mean and the covariance

BLOCKS, ROWS_OF_BLOCK = 1000, 4  # of rows that share a weight, and how many in each at least; a spread is 2 % off by it
DRAWS_AT_ONCE = 64  # of weights
MOST_COLUMNS = 40  # of a regression, with a column for each configuration of labels
MOST_ROWS = 200_000  # of a table, that are looked at: of more, as many drawn at random
PSEUDO_ROWS = 1.0  # that a column of labels has in which its slope is 0: two rows of a label give it no steep line
LEAST_LEFT = 1e-12  # the share of a variance that a regression leaves, at least
LEAST_SPREAD = 1e-12  # of a column, by its mean: one of less is constant


class NumberFamilies(Families):
    """Two tables, of whose numbers it is asked; their parents may have labels."""

    def __init__(self, tables: tuple[Table, Table], effort: Effort) -> None:
        super().__init__(len(tables[0].variables), effort)
        self._tables = tuple(some_rows(table) for table in tables)
        self._n_rows = [table.n_rows for table in tables]

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        return self._tables[0].variables

    def counts(self, family: Family) -> None:  # noqa: ARG002
        """Return nothing: numbers are not counted."""
        return

    def marginal_p_value(self, v: int) -> float:
        """Return the p-value of Kolmogorov and Smirnov's test of a column alone; 1 where it can tell nothing."""
        before, after = (rows[:, 0] for rows in self.rows((v,)))
        if min(len(before), len(after)) == 0:
            return 1.0
        from scipy.stats import ks_2samp  # slow to import, and needed by few calls

        return float(ks_2samp(before, after).pvalue)

    def new_labels(self) -> dict[str, dict[State, int]]:
        """Return nothing: numbers are no labels."""
        return {}

    def configurations(self, families: Iterable[Family], smoothing: float) -> tuple[ConfigurationChange, ...]:  # noqa: ARG002
        """Return nothing: the parents of numbers have no configurations."""
        return ()

    def number_change(self, family: Family) -> NumberChange | None:
        """Return what a changed conditional makes of a number; None where a table has no complete row."""
        before, after = self.rows(family)
        if min(len(before), len(after)) == 0:
            return None
        level, slopes, _ = _regression(_moments(before))
        expected, was = (level + rows[:, :-1] @ slopes for rows in (after, before))
        later = self._tables[1]
        complete = ~np.isnan(_columns(later, family)).any(axis=1)
        labels = [(later.variables[p], later.codes[p][complete]) for p in family[:-1]]
        of_labels = [(label, codes) for label, codes in labels if not label.is_continuous]
        return spread_of(self.variables[family[-1]], expected, before[:, -1] - was, after[:, -1], of_labels)

    def is_small(self, family: Family) -> bool:  # noqa: ARG002
        """Return True: a regression has few parameters."""
        return True

    def rows(self, family: Family) -> tuple[Array, Array]:
        """Return the rows that are complete in a family, before and after: the parents' columns, and the child."""
        columns = [_columns(table, family) for table in self._tables]
        before, after = (rows[~np.isnan(rows).any(axis=1)] for rows in columns)
        return before, after

    @once
    def score(self, family: Family) -> float:
        """Return the BIC of a regression that both tables share."""
        return _bic(np.concatenate(self.rows(family)), sum(self._n_rows))

    @once
    def score_apart(self, family: Family) -> float:
        """Return the BIC of a regression for each table."""
        return sum(_bic(rows, n) for rows, n in zip(self.rows(family), self._n_rows, strict=True))

    def _bayes_factor(self, family: Family) -> float:
        before, after = self.rows(family)
        if min(len(before), len(after)) <= _varying(before, after):
            return 0.0
        both = np.concatenate([before, after])
        return _bic(before, len(before)) + _bic(after, len(after)) - _bic(both, len(both))

    def _tested(self, family: Family, random: np.random.Generator) -> Outcome:
        return Outcome(regression_p_value(*self.rows(family), random, self._draws[0]))

    def _estimated(self, family: Family, p_value: float, random: np.random.Generator) -> Nats:
        """Return the nats of regressions fitted to reweighted rows.

        Rows are given random weights, flat on the simplex (Rubin's Bayesian bootstrap, 1981), and not drawn again: few
        rows drawn again may all be the same row, to which no regression can be fitted. The divergence of fitted
        regressions is too large by what chance adds, and resampling adds it once more; so resamples are moved to have
        the estimate less what chance adds as their mean, and cut at 0.
        """
        before, after = self.rows(family)
        width = _varying(before, after)
        if min(len(before), len(after)) <= width:
            return UNKNOWN
        by_chance = (width + 1) / 2 * (1 / len(before) + 1 / len(after))
        child = cast(Continuous, self.variables[family[-1]])
        rounded = child.least_variance(float(before[:, -1].mean()))
        rare = [_ridge(rows[:, :-1]) for rows in (before, after)]
        estimate = _nats(_moments(before), _moments(after), rare, rounded) - by_chance
        draws = _reweighted(before, after, random, self._draws_for(p_value))
        drawn = np.concatenate([[_nats(*moments, rare, rounded) for moments in some] for some in draws])
        low, high = np.quantile(drawn - drawn.mean() + estimate, [TAIL, 1 - TAIL]).clip(0.0)
        return Nats(max(estimate, 0.0), float(low) if p_value <= 2 * TAIL else 0.0, float(high), by_chance, 1.0)


def _reweighted(
    before: Array, after: Array, random: np.random.Generator, draws: int
) -> Iterator[Iterable[tuple[Moments, Moments]]]:
    """Yield the moments of two tables under random weights of their rows, some draws at a time."""
    one, other = (_Reweighted(rows, random) for rows in (before, after))
    for begin in range(0, draws, DRAWS_AT_ONCE):
        n_draws = min(DRAWS_AT_ONCE, draws - begin)
        weights = random.standard_exponential((n_draws, one.n_weights + other.n_weights))
        yield zip(one.moments(weights[:, : one.n_weights]), other.moments(weights[:, one.n_weights :]), strict=True)


class _Reweighted:
    """Rows with random weights; many rows share weights in blocks, put together at random and added up once."""

    def __init__(self, rows: Array, random: np.random.Generator) -> None:
        self._mean = rows.mean(axis=0)
        together = np.column_stack([np.ones(len(rows)), rows - self._mean])
        if len(rows) > ROWS_OF_BLOCK * BLOCKS:
            sums = np.stack([of.T @ of for of in np.array_split(random.permutation(together), BLOCKS)])
        else:
            sums = together[:, :, None] * together[:, None, :]
        self.n_weights, self._shape = len(sums), sums.shape[1:]
        self._sums = sums.reshape(self.n_weights, -1)

    def moments(self, weights: Array) -> Iterator[Moments]:
        """Yield the moments under some weights, (n_draws, n_weights)."""
        for sums in (weights @ self._sums).reshape(-1, *self._shape):
            apart = sums[0, 1:] / sums[0, 0]
            yield self._mean + apart, sums[1:, 1:] / sums[0, 0] - np.outer(apart, apart)


def some_rows(table: Table, most: int = MOST_ROWS) -> Table:
    """Return a table, or where it has very many rows some of them."""
    if table.n_rows <= most:
        return table
    return table[np.sort(np.random.default_rng(0).choice(table.n_rows, most, replace=False, shuffle=False))]


def _columns(table: Table, family: Family) -> Array:
    """Return the columns of a family's regression, the child as the last, (n_rows, columns); NaN in missing cells."""
    *parents, child = family
    return np.column_stack([parent_columns(table, parents), table.variables[child].scaled(table.codes[child])])


def parent_columns(table: Table, parents: Sequence[int]) -> Array:
    """Return the columns by which a regression knows the parents, (n_rows, columns); NaN where one is missing.

    Numbers are on their scales. Labels are columns of 0 and 1, one for each configuration but the first, and their
    products with the numbers, while these are few: otherwise one for each state.
    """
    numbers = [table.variables[v].scaled(table.codes[v]) for v in parents if table.variables[v].is_continuous]
    labels = [(v, table.variables[v]) for v in parents if not table.variables[v].is_continuous]
    if not labels:
        return np.stack(numbers, axis=1) if numbers else np.empty((table.n_rows, 0))
    missing = np.logical_or.reduce([variable.missing(table.codes[v]) for v, variable in labels])
    sizes = [variable.cardinality for _, variable in labels]
    codes = [np.where(missing, 0, table.codes[v]).astype(np.int64) for v, _ in labels]
    if math.prod(sizes) * (len(numbers) + 1) <= MOST_COLUMNS:
        marks = _marks(np.ravel_multi_index(codes, sizes), math.prod(sizes))
        told = [marks, *(marks * z[:, None] for z in numbers)]
    else:
        told = [_marks(of, size) for of, size in zip(codes, sizes, strict=True)]
    columns = np.column_stack([*told, *numbers])
    columns[missing] = np.nan
    return columns


def _marks(codes: npt.NDArray[np.int64], n: int) -> Array:
    """Return a column of 0 and 1 for each of n codes but the first, (n_rows, n - 1)."""
    return np.asarray(codes[:, None] == np.arange(1, n), dtype=np.float64)


def _varying(before: Array, after: Array) -> int:
    """Return how many columns of a regression vary, the child among them; those of labels that do not occur do not."""
    rows = np.concatenate([before, after])
    return int(np.count_nonzero((rows != rows[:1]).any(axis=0)))


def _ridge(parents: Array) -> Array:
    """Return what `PSEUDO_ROWS` add to the variance of each column, of which it is a multiple; 0 of plain numbers."""
    return np.asarray(PSEUDO_ROWS * (1 / np.maximum(1, np.count_nonzero(parents, axis=0)) - 1 / len(parents)))


def _moments(rows: Array) -> Moments:
    mean = rows.mean(axis=0)
    off = rows - mean
    return mean, off.T @ off / len(rows)


def _bic(rows: Array, n_rows: int) -> float:
    """Return the BIC of a regression of the last column, as if rows that lack a cell were as those that do not."""
    if len(rows) == 0:
        return 0.0
    _, _, rest = _regression(_moments(rows))
    parameters: int = rows.shape[1] + 1
    return -n_rows / 2 * (math.log(2 * math.pi * rest) + 1) - math.log(max(n_rows, 2)) / 2 * parameters


def _regression(moments: Moments, ridge: Array | float = 0.0) -> tuple[float, Array, float]:
    """Return the constant, the slopes and the variance that is left of a regression of the last column.

    A `ridge` is added to the variances of the others, of which each is a multiple.
    """
    mean, covariance = moments
    sizes = np.sqrt(np.diagonal(covariance))
    varies = sizes > LEAST_SPREAD * np.abs(mean) + np.finfo(float).tiny  # the others are what rounding leaves
    sizes = np.where(varies, sizes, 1.0)
    correlations = np.where(varies[:, None] & varies, covariance / sizes[:, None] / sizes, 0.0)
    of_others, with_last = correlations[:-1, :-1], correlations[:-1, -1]
    slopes = np.linalg.lstsq(of_others + np.diag(ridge * np.ones(len(of_others))), with_last)[0]
    rest = max(1.0 - float(slopes @ (2 * with_last - of_others @ slopes)), LEAST_LEFT) * covariance[-1, -1]
    slopes = slopes * sizes[-1] / sizes[:-1]
    return float(mean[-1] - slopes @ mean[:-1]), slopes, max(float(rest), np.finfo(float).tiny)


def _nats(before: Moments, after: Moments, ridges: Sequence[Array], rounded: float) -> float:
    """Return the divergence of two regressions of the last column on the others, whose moments are those after.

    What a regression leaves is at least what rounding does.
    """
    pairs = zip((before, after), ridges, strict=True)
    (level, slopes, left), (level_after, slopes_after, left_after) = (_regression(*pair) for pair in pairs)
    rest, rest_after = max(left, rounded), max(left_after, rounded)
    mean, covariance = after[0][:-1], after[1][:-1, :-1]
    turned = slopes_after - slopes
    apart = (level_after - level + turned @ mean) ** 2 + turned @ covariance @ turned
    return float(0.5 * (math.log(rest / rest_after) + (rest_after + apart) / rest - 1))
