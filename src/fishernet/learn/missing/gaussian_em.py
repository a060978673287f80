"""Gaussian networks from rows in which numbers are missing, by expectation and maximization.

The joint distribution is normal, with mean m and covariance C. What a row lacks (h) given what is known of it (k) has
the mean ``m_h + C_hk C_kk^-1 (x_k - m_k)`` and the covariance ``C_hh - C_hk C_kk^-1 C_kh`` [1]_. So the E step fills
rows with these means and adds the covariances to their scatter; the M step is the ordinary fit to that. Rows that lack
the same numbers share one factorization.

References
----------
.. [1] R. J. A. Little and D. B. Rubin, "Statistical Analysis with Missing Data", 2nd edition, 2002, section 11.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import are
from fishernet.base.progress import Watch
from fishernet.data import Scatter, Table
from fishernet.data.matching import is_frame, is_table
from fishernet.infer.normal import Gap, gaps_of
from fishernet.learn.em import Effort, EmResult, fit
from fishernet.learn.missing.extrapolation import Extrapolation

LEAST_SHRUNK = 1e-6  # so that a column that is a sum of others can be factored
FEWEST = 3  # rows that learners of graphs take
Numbers = npt.NDArray[np.float64]


class Normal(Protocol):
    """A model of jointly normal variables."""

    @property
    def mean(self) -> Numbers:
        """(d,)."""

    @property
    def covariance(self) -> Numbers:
        """(d, d)."""


Model = TypeVar("Model", bound=Normal)


def gaussian_em(
    rows: Table,
    refit: Callable[[Scatter], Model],
    effort: Effort,
    watch: Watch | None = None,
    *,
    regressions: bool = False,
) -> EmResult[Model]:
    """Fit a model of jointly normal variables to rows that lack numbers.

    `refit` fits one to a scatter, with its variables in the order of the rows' columns. The start takes all columns for
    independent, with the means and variances of their known cells. A network of `regressions` is extrapolated.
    """
    steps = GaussianSteps.of(rows, refit)
    known = steps.of_known_cells()
    start = refit(known)
    leap: Any = Extrapolation(known.mean, np.sqrt(np.diagonal(known.S) / known.n)) if regressions else None
    return fit("a network", steps, effort, start=start, drawn=lambda _: start, seed=None, leap=leap, watch=watch)


@dataclass(frozen=True)
class GaussianSteps(Generic[Model]):
    """The two steps for numbers; the counts of the E step are a scatter."""

    names: tuple[str, ...]
    columns: Numbers
    """(d, n)."""
    weights: Numbers
    """(n,)."""
    gaps: tuple[Gap, ...]
    refit: Callable[[Scatter], Model]
    size: int
    """Known cells."""

    @classmethod
    def of(cls, rows: Table, refit: Callable[[Scatter], Model]) -> GaussianSteps[Model]:
        """Return the steps for the rows of a table of numbers, on their scales."""
        columns = np.array([v.scaled(c) for v, c in zip(rows.variables, rows.codes, strict=True)])
        weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights.astype(np.float64)
        absent = np.isnan(columns)
        if empty := [name for name, of in zip(rows.names, absent, strict=True) if of[weights > 0].all()]:
            raise SchemaError(f"{are(empty, 'column')} without any known cell; leave out what tells nothing (exclude=)")
        return cls(rows.names, columns, weights, tuple(gaps_of(columns)), refit, int((~absent).sum()))

    def of_known_cells(self) -> Scatter:
        """Return a scatter with the means and variances of the known cells of each column, and no covariances."""
        known = ~np.isnan(self.columns) * self.weights
        filled = np.nan_to_num(self.columns)
        mean = (filled * known).sum(axis=1) / known.sum(axis=1)
        variance = ((filled - mean[:, None]) ** 2 * known).sum(axis=1) / known.sum(axis=1)
        total = self.weights.sum()
        return Scatter(float(total), mean, np.diag(variance * total), self.names)

    def rows_of_two(self) -> float:
        """Return how many rows know two columns, on average, by their weights; `FEWEST` at least, if there are so many.

        That is not what the rows tell of the columns in all, which is more, but what they tell of a pair.
        """
        known = np.asarray(~np.isnan(self.columns), dtype=np.float64)
        together = (known * self.weights) @ known.T
        pairs = together[np.triu_indices_from(together, 1)] if len(known) > 1 else together.ravel()
        return float(max(pairs.mean(), min(FEWEST, self.weights.sum())))

    def expected(self, model: Model) -> tuple[float, Scatter]:
        """Return the log-likelihood of what is known, and the expected scatter of all rows."""
        mean, covariance = np.asarray(model.mean), np.asarray(model.covariance)
        filled, spread, log_prob = self.columns.copy(), np.zeros_like(covariance), 0.0
        for gap in self.gaps:
            k, h = gap.known, gap.missing
            weights = self.weights[gap.rows]
            off = self.columns[np.ix_(k, gap.rows)] - mean[k, None]
            sd = np.sqrt(np.diagonal(covariance)[k])
            factor = np.linalg.cholesky(covariance[np.ix_(k, k)] / sd[:, None] / sd)
            z = np.linalg.solve(factor, off / sd[:, None])
            log_det = float(np.log(np.diagonal(factor)).sum() + np.log(sd).sum())
            constant = log_det + 0.5 * len(k) * math.log(2 * math.pi)
            log_prob -= float(weights @ (0.5 * (z**2).sum(axis=0) + constant))
            pull = np.linalg.solve(factor, covariance[np.ix_(k, h)] / sd[:, None])
            filled[np.ix_(h, gap.rows)] = mean[h, None] + pull.T @ z
            spread[np.ix_(h, h)] += weights.sum() * (covariance[np.ix_(h, h)] - pull.T @ pull)
        return log_prob, self._scatter(filled, spread)

    def _scatter(self, filled: Numbers, spread: Numbers) -> Scatter:
        """Return the scatter of rows without holes and what the holes add to it."""
        counting = self.weights > 0
        weights, rows = self.weights[counting], filled[:, counting]
        total = weights.sum()
        mean = rows @ weights / total
        off = rows - mean[:, None]
        products = (off * weights) @ off.T + spread
        return Scatter(float(total), mean, (products + products.T) / 2, self.names)

    def maximized(self, model: Model, counts: Scatter) -> Model:  # noqa: ARG002
        """Return the model fitted to the expected scatter."""
        return self.refit(counts)

    def log_prior(self, model: Model) -> float:  # noqa: ARG002
        """Return 0: there is no prior."""
        return 0.0


@dataclass(frozen=True)
class _AnyNormal:
    """A normal distribution of any covariance."""

    mean: Numbers
    covariance: Numbers


def _any_normal(scatter: Scatter) -> _AnyNormal:
    """Return the normal distribution of a scatter; correlations shrink where columns are many for the rows."""
    covariance = scatter.S / scatter.n
    spread = np.diagonal(covariance)
    spread = np.where(spread > 0, spread, 1.0)
    share = max(LEAST_SHRUNK, len(spread) / (len(spread) + scatter.n))
    return _AnyNormal(scatter.mean, (1 - share) * covariance + share * np.diag(spread))


def expected_numbers(data: Any) -> Any:
    """Return the expected scatter of a table of numbers some of which are missing; other data as they are.

    It is that of as many rows as know two columns, on average: what is expected of a cell follows from the others, and
    tells nothing. By all rows, columns that know little of one another would be joined by arcs that mean nothing.
    """
    if isinstance(data, np.ndarray) or not (is_table(data) or is_frame(data)):
        return data
    rows = data if is_table(data) else Table.from_frame(data)
    if not rows.has_missing or not rows.variables or not all(v.is_continuous for v in rows.variables):
        return rows
    found = gaussian_em(rows, _any_normal, Effort(restarts=1, max_steps=100, tolerance=1e-6))
    steps = GaussianSteps.of(rows, _any_normal)
    scatter, n = steps.expected(found.model)[1], steps.rows_of_two()
    return Scatter(n, scatter.mean, scatter.S * (n / scatter.n), scatter.names)
