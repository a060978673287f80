"""Whether a number, or a label, depends on numbers in the same way in two tables, whatever changed upstream.

A number that is independent of the table given its parents is so given the propensity, the probability of the later
table given the parents (Rosenbaum and Rubin, 1983). So rows change places within strata of a fitted propensity. What
still varies within a stratum is taken out by regression: the number is replaced by normal scores of what is left of it
after a regression on the parents, in both tables together. Three things are looked at: their sum, that of their
products with the parents, and that of their squares, in the later table. Of labels the shares are looked at that such
a regression leaves of each, and their products with the parents.

Whether two columns are independent given parents among which are numbers (`Given`) is asked of what such a
regression on the parents leaves of both: the products of the two have the mean 0 if it leaves nothing of the parents in
one of them (Shah and Peters, 2020), however the spread of either varies with the parents.

Few rows are permuted. Where no permutation reaches what is observed, the chi-squared distribution says how much less
likely it is than one in so many: a p-value that is corrected for many variables can only so be small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditionals.logistic import log_shares

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

MOST_TOLD = 10_000_000  # numbers of labels' products with parents that are looked at
MOST_STRATA, FEWEST_ROWS = 20, 5  # of the smaller table in a stratum
MOST_SLOPES = 300  # of a logistic regression
MOST_FITTED = 1_000_000  # rows times slopes of one: half a second
UNLIKELY = 0.1  # p-values above which nothing is fitted more closely
PERMUTED = 2000  # rows up to which they are permuted; of more, the statistic is chi-squared
CELLS_AT_ONCE = 2**20  # of labels that are drawn
MOST_PRODUCTS = 60  # of two parents: of more, only the squares are taken
LEAST_TOLD = 1e-11  # of a variance, by the largest
ROUNDED = float(np.finfo(float).eps)  # the same where rounding alone makes a variance
LEAST_LEFT = 1e-7  # of the spread of a column
MOST_SHARED = 1 - 1e-12  # of a variance, by a linear combination
FEWEST_LEFT = 4  # rows of a table beyond what the regression takes


def regression_p_value(before: Array, after: Array, random: np.random.Generator, draws: int) -> float:
    """Return the p-value of "this regression did not change"; NaN where the tables can tell nothing.

    Parameters
    ----------
    before, after : (n, 1 + n_parents)
        The parents, and the number as the last column.
    random : numpy.random.Generator
    draws : int
        How many permutations to draw, where rows are permuted.
    """
    given = _Parents(before[:, :-1], after[:, :-1])
    values = _standardized(np.concatenate([before[:, -1:], after[:, -1:]]))
    if not given.tells or not values.shape[1]:
        return math.nan
    score = _normal_scores(given.unexplained(values)[:, 0])[:, None]
    return given.p_value([score, score * given.parents, score**2 - 1], random, draws)


def label_p_value(before: Array, after: Array, codes: Codes, random: np.random.Generator, draws: int) -> float:
    """Return the p-value of "the probabilities of these labels given numbers did not change"; NaN as above.

    Parameters
    ----------
    before, after : (n, n_parents)
        The parents.
    codes : (n_before + n_after,)
        The labels of both.
    random, draws : as for `regression_p_value`
    """
    given = _Parents(before, after)
    labels = _told(codes)
    if not given.tells or not labels.shape[1]:
        return math.nan
    left = given.unexplained(labels)
    by_parent = [left * parent[:, None] for parent in given.parents.T]
    return given.p_value([left, *(by_parent if left.size * len(by_parent) <= MOST_TOLD else [])], random, draws)


class Given:
    """Rows whose parents are given, of which it is asked whether a child is independent of other columns.

    Parameters
    ----------
    parents : (n, n_parents)
    child : (n,)
        Numbers, or the codes of labels.
    """

    def __init__(self, parents: Array, child: Array | Codes) -> None:
        self._parents = parents
        self._design = _design(_standardized(parents)) if len(parents) else np.empty((0, 1))
        self._basis = _basis(self._design)
        self._free = len(parents) - self._basis.shape[1]
        self._child = _Left(child, self._design, self._basis)
        self._fewer: dict[int, tuple[Codes, Given]] = {}  # rows drawn at random, by how many

    def dependence(self, values: Array | Codes) -> tuple[float, float]:
        """Return the nats and the p-value of "the child is independent of it"; 0 and NaN where the rows tell nothing.

        A line may leave something of the parents in a label, and so accuse it. Then its probabilities are fitted by a
        logistic regression, too, whose form that of a label above normal numbers has; the larger p-value counts. Of
        very many rows, for so many slopes, that is one of some rows, drawn at random.

        Parameters
        ----------
        values : (n,)
            Numbers, or the codes of labels.
        """
        if self._free < FEWEST_LEFT:
            return 0.0, math.nan
        pair = self._child, _Left(values, self._design, self._basis)
        left = [column.by_line for column in pair]
        p_value = self._of_both(pair, left)
        slopes = self._design.shape[1] * sum(n_told(column.values) for column in pair if column.is_labels)
        if p_value <= UNLIKELY and 0 < slopes <= MOST_SLOPES:
            p_value = max(p_value, self._more_closely(pair, MOST_FITTED // slopes))
        return _shared(left, self._free), p_value

    def _more_closely(self, pair: tuple[_Left, _Left], most: int) -> float:
        """Return the p-value of the same where labels have logistic regressions, of so many rows at most."""
        n = len(self._parents)
        if n > most:
            if most not in self._fewer:
                some = np.random.default_rng(0).choice(n, most, replace=False)
                self._fewer[most] = some, Given(self._parents[some], self._child.values[some])
            some, fewer = self._fewer[most]
            return fewer.dependence(pair[1].values[some])[1]
        return self._of_both(pair, [column.more_closely for column in pair])

    def _of_both(self, pair: tuple[_Left, _Left], left: Sequence[Array]) -> float:
        """Return the p-value of what is left of two columns; numbers are looked at by their squares, too."""
        p_values = [_of_products(left[0], left[1], self._free)]
        for column, beside in zip(pair, left[::-1], strict=True):
            if not column.is_labels:
                p_values.append(_of_products(column.of_squares, beside, self._free))
        told = [p for p in p_values if not math.isnan(p)]
        return min(1.0, len(told) * min(told)) if told else math.nan


class _Left:
    """What regressions on a design leave of a column: of a number, or of each label but the first, (n, told)."""

    def __init__(self, values: Array | Codes, design: Array, basis: Array) -> None:
        self.values, self.is_labels = values, _are_labels(values)
        self._design, self._basis = design, basis

    @cached_property
    def by_line(self) -> Array:
        return _left_by(self._basis, _standardized(_told(self.values)))

    @cached_property
    def of_squares(self) -> Array:
        return _left_by(self._basis, self.by_line**2)

    @cached_property
    def more_closely(self) -> Array:
        if not self.is_labels:
            return self.by_line
        labels, own = np.unique(self.values, return_inverse=True)
        return _told(self.values) - np.exp(log_shares(self._design, own, len(labels)))[:, 1:]


def n_told(values: Array | Codes) -> int:
    """Return how many columns tell of a number, or of labels, in a regression."""
    return max(len(np.unique(values)) - 1, 0) if _are_labels(values) else 1


def _are_labels(values: Array | Codes) -> bool:
    return values.dtype.kind == "i"


def _told(values: Array | Codes) -> Array:
    """Return a number, or a column of 0 and 1 for each label but the first, (n, told)."""
    return np.asarray(values[:, None] == np.unique(values)[1:] if _are_labels(values) else values[:, None], dtype=float)


def _basis(design: Array) -> Array:
    """Return orthogonal columns of length 1 that tell as much, (n, rank)."""
    return np.asarray(design @ _units(design.T @ design, LEAST_TOLD))


def _units(covariance: Array, least: float) -> Array:
    """Return the directions that vary, each in units of its spread, (width, rank).

    Those count whose variance is more than a share of the largest.
    """
    sizes, turned = np.linalg.eigh(covariance)
    told = sizes > least * sizes.max(initial=0.0)
    return np.asarray(turned[:, told] / np.sqrt(sizes[told]))


def _left_by(basis: Array, values: Array) -> Array:
    """Return what a regression leaves of values of spread 1 or so; 0 where that is what rounding leaves."""
    left = values - basis @ (basis.T @ values)
    left -= basis @ (basis.T @ left)
    return np.asarray(np.where(left.std(axis=0) > LEAST_LEFT, left, 0.0))


def _of_products(one: Array, other: Array, free: int) -> float:
    """Return the p-value of "the products of columns have the mean 0", of so many free rows (Hotelling, 1931)."""
    from scipy.special import fdtrc  # slow to import, and needed by few calls

    products = (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
    mean = products.mean(axis=0)
    off = products - mean
    units = _units(off.T @ off / len(one), ROUNDED * off.shape[1])
    degrees = units.shape[1]
    if degrees == 0 or free < degrees + FEWEST_LEFT:
        return math.nan
    length = free * float(((mean @ units) ** 2).sum())
    ratio = length * (free - degrees) / (degrees * (free - 1))
    return float(fdtrc(degrees, free - degrees, ratio))


def _shared(left: Sequence[Array], free: int) -> float:
    """Return the mutual information of two sets of columns, if they are normal, less what chance adds; at least 0."""
    bases = [np.linalg.svd(columns, full_matrices=False) for columns in left]
    one, other = (basis[:, sizes > LEAST_LEFT * math.sqrt(len(basis))] for basis, sizes, _ in bases)
    correlations = np.linalg.svd(one.T @ other, compute_uv=False)
    nats = -0.5 * np.log1p(-np.minimum(correlations**2, MOST_SHARED)).sum()
    return float(max(0.0, nats - one.shape[1] * other.shape[1] / (2 * free)))


class _Parents:
    """The parents of both tables, and the strata of rows that are alike by them."""

    def __init__(self, before: Array, after: Array) -> None:
        self.later = np.repeat([0.0, 1.0], [len(before), len(after)])
        self.parents = _standardized(np.concatenate([before, after]))
        self._design = _design(self.parents)
        self._basis = _basis(self._design)
        n, width = self._design.shape
        self.tells = min(len(before), len(after)) > 0 and n >= width + 2 * FEWEST_LEFT

    def unexplained(self, values: Array) -> Array:
        """Return what a regression of both tables on the parents, their squares and products leaves of values."""
        return _left_by(self._basis, values)

    def p_value(self, told: Sequence[Array], random: np.random.Generator, draws: int) -> float:
        """Return the p-value of the sums of columns in the later table, given its rows in each stratum."""
        n, width = self.parents.shape
        strata = _strata(_propensity(self._design, self.later), self.later) if width else np.zeros(n, dtype=np.int64)
        return _Strata(strata, self.later, np.concatenate(told, axis=1)).p_value(random, draws)


class _Strata:
    """Rows sorted by strata, whose labels of the tables change places within them."""

    def __init__(self, strata: npt.NDArray[np.int64], later: Array, told: Array) -> None:
        order = np.argsort(strata, kind="stable")
        self._later = later[order]
        sizes = np.bincount(strata)
        ends = np.cumsum(sizes).tolist()
        self._slices = [slice(*ends_of) for ends_of in pairwise([0, *ends])]
        self._n_later = np.bincount(strata, later).astype(np.int64)
        share = self._n_later / np.maximum(sizes, 1)
        mean = np.stack([np.bincount(strata, column) for column in told.T], axis=1) / np.maximum(sizes, 1)[:, None]
        centred = (told - mean[strata])[order]
        spread = share * (1 - share) * sizes / np.maximum(sizes - 1, 1)
        covariance = (centred * spread[strata[order]][:, None]).T @ centred
        self._sums = centred @ _units(covariance, ROUNDED * len(covariance))
        self._degrees = self._sums.shape[1]

    def p_value(self, random: np.random.Generator, draws: int) -> float:
        if self._degrees == 0:
            return math.nan
        from scipy.special import gammaincc  # slow to import, and needed by few calls

        observed = float(self._statistic(self._later))
        chi_squared = float(gammaincc(self._degrees / 2, observed / 2))
        if len(self._later) > PERMUTED:
            return chi_squared
        at_once = max(1, CELLS_AT_ONCE // len(self._later))
        parts = [min(at_once, draws - start) for start in range(0, draws, at_once)]
        found = [self._statistic(self._permuted(random, part)) >= observed * (1 - 1e-9) for part in parts]
        reached = int(sum(map(np.count_nonzero, found)))
        p = (1 + reached) / (1 + draws)
        return p if reached else min(p, chi_squared)

    def _permuted(self, random: np.random.Generator, draws: int) -> Array:
        """Return labels that change places within strata, (draws, n): the later table has those of the least keys."""
        keys = random.random((draws, len(self._later)))
        later = np.zeros(keys.shape)
        for rows, k in zip(self._slices, self._n_later.tolist(), strict=True):
            of = keys[:, rows]
            later[:, rows] = of < np.partition(of, k, axis=1)[:, k : k + 1] if k < of.shape[1] else 1.0
        return later

    def _statistic(self, later: Array) -> Array:
        return np.asarray(((later @ self._sums) ** 2).sum(axis=-1))


def _standardized(columns: Array) -> Array:
    """Return the columns that vary, with mean 0 and spread 1."""
    if not len(columns):
        return columns[:, :0]
    spread = columns.std(axis=0)
    varying = columns[:, spread > 0]
    return np.asarray((varying - varying.mean(axis=0)) / spread[spread > 0])


def _design(parents: Array) -> Array:
    """Return the parents, their squares and, while these are few, their products, with a constant.

    The square of a column with two values says nothing more.
    """
    n = parents.shape[1]
    far = n if n * (n + 1) // 2 <= MOST_PRODUCTS else 1
    has_two = [len(np.unique(column)) == 2 for column in parents.T]
    pairs = [(i, j) for i in range(n) for j in range(i, min(n, i + far)) if i < j or not has_two[i]]
    products = [parents[:, i] * parents[:, j] for i, j in pairs]
    return np.column_stack([np.ones(len(parents)), parents, *products])


def _propensity(design: Array, later: Array) -> Array:
    """Return the probabilities of the later table by a logistic regression."""
    return np.asarray(np.exp(log_shares(design, later.astype(np.int64), 2)[:, 1]))


def _strata(propensity: Array, later: Array) -> npt.NDArray[np.int64]:
    """Return the strata of rows: quantiles of the smaller table's propensities, so that each has rows of it."""
    smaller = propensity[later == (later.mean() < 0.5)]
    n = int(np.clip(len(smaller) // FEWEST_ROWS, 1, MOST_STRATA))
    return np.searchsorted(np.quantile(smaller, np.arange(1, n) / n), propensity).astype(np.int64)


def _normal_scores(values: Array) -> Array:
    from scipy.special import ndtri  # slow to import, and needed by few calls
    from scipy.stats import rankdata

    return np.asarray(ndtri((rankdata(np.round(values, 12)) - 0.5) / len(values)))
