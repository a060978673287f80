"""Regressions from the moments of numbers in each configuration of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import are, listed, several
from fishernet.data import Continuous, Statistic
from fishernet.models.conditionals.linear_gaussian import COLLINEAR, regression
from fishernet.models.gaussian import Numbers

RIDGE = 1e-9  # of a parent's variance, where parents may tell the same
LEAST_FREE = 3.0  # degrees of freedom of a variance that is drawn: of fewer, drawn variances have no mean


@dataclass(frozen=True)
class Moments:
    """The rows of a family in each of q configurations: their number, and the moments of its d numbers."""

    n: Numbers
    """(q,) the weight of the rows."""
    mean: Numbers
    """(q, d)."""
    scatter: Numbers
    """(q, d, d) centred sums of products."""

    @classmethod
    def of(cls, statistic: Statistic, labels: Sequence[int], numbers: Sequence[int]) -> Moments:
        """Return the moments of a statistic, its labels (the last fastest) and its numbers in the orders given."""
        whole = statistic.held(statistic.counts.size if statistic.is_dense else 2**62)
        axes = [whole.variables.index(v) for v in labels]
        at = [whole.continuous.index(v) for v in numbers]
        q, d, k = whole.counts.size, len(at), len(axes)
        scatter = whole.scatter[..., at, :][..., at].transpose(*axes, k, k + 1)
        return cls(
            whole.counts.transpose(axes).reshape(q).astype(np.float64),
            whole.mean[..., at].transpose(*axes, k).reshape(q, d),
            scatter.reshape(q, d, d),
        )

    def pooled(self) -> Moments:
        """Return the moments of all rows, as one configuration."""
        n = self.n.sum()
        if not n:
            return Moments(np.array([n]), np.zeros((1, self.mean.shape[1])), self.scatter.sum(axis=0)[None])
        mean = self.n @ self.mean / n
        apart = self.mean - mean
        within = self.scatter.sum(axis=0)
        return Moments(np.array([n]), mean[None], (within + (self.n * apart.T) @ apart)[None])


def fitted_regressions(
    moments: Moments, variables: Sequence[Continuous], added: float, random: np.random.Generator | None = None
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the regression of the last number on the others in each configuration.

    To each configuration so many rows are `added` that are spread as all rows together: a normal-inverse-Wishart prior
    around the regression of all rows, so that few rows still give a variance, and no row the regression of all. A
    configuration whose own rows leave no variance, where nothing is added, has the regression of all rows.

    Parameters
    ----------
    moments : Moments
        The child's number is the last.
    variables : sequence of Continuous
        The numbers. No variance is below what the rounding of the child leaves.
    added : float
        In rows, at least 0.
    random : numpy.random.Generator, optional
        Draws regressions from their posterior distribution, in place of the fitted ones.

    Returns
    -------
    intercepts : (q,)
    coefficients : (q, m)
    sds : (q,)

    Raises
    ------
    SchemaError
        When in all rows the parents are collinear, or the child is a linear combination of them, and the child has no
        resolution: with one, that is what it leaves, and parents that tell the same share what they tell.
    """
    names = [variable.name for variable in variables]
    every = moments if len(moments.n) == 1 else moments.pooled()
    n, mean, scatter = float(every.n[0]), every.mean[0], every.scatter[0]
    if n < 2:
        raise SchemaError(f"variances need two rows at least; there {'is' if n == 1 else 'are'} {n:g}")
    sizes = np.sqrt(np.diagonal(scatter) / n)
    still = [name for name, size in zip(names, sizes.tolist(), strict=True) if not size > 0]
    if still:
        raise SchemaError(f"{are(still, 'column')} constant; leave out what does not vary")
    R = scatter / n / sizes[:, None] / sizes
    floor = variables[-1].least_variance(float(mean[-1]))
    if not floor:
        _require_freedom(R, names, int(n))
    q, m = len(moments.n), len(names) - 1
    if floor and n < 2 * (m + 2):  # next to as few rows as parameters tell of the child alone
        found = _Regressions(np.tile(mean, (q, 1)), np.zeros((q, m)), np.full(q, sizes[-1] ** 2), np.full(q, n))
        return found.in_units(floor, random)
    slopes, rest = _solved(R[None], sizes, 0.0 if _have_freedom(R[None, :-1, :-1])[0] else RIDGE)
    if q == 1:
        return _Regressions(every.mean, slopes, rest, every.n, R[None], sizes).in_units(floor, random)
    weights = moments.n + added
    total = np.where(weights > 0, weights, 1.0)[:, None]
    apart = moments.mean - mean
    between = (moments.n * added / total[:, 0])[:, None, None] * apart[:, :, None] * apart[:, None, :]
    own = (moments.scatter + between + added / n * scatter) / total[:, :, None] / sizes[:, None] / sizes
    free = _have_freedom(own[:, :-1, :-1] if floor else own)
    centres = np.where(free[:, None], mean + moments.n[:, None] / total * apart, mean)
    slopes, rest = np.repeat(slopes, len(own), axis=0), np.repeat(rest, len(own))
    if free.any():
        slopes[free], rest[free] = _solved(own[free], sizes)
    return _Regressions(centres, slopes, rest, total[:, 0], own, sizes).in_units(floor, random)


@dataclass(frozen=True)
class _Regressions:
    """Regressions through some means, and what is left to doubt of them."""

    centres: Numbers
    """(q, d)."""
    slopes: Numbers
    """(q, m)."""
    rest: Numbers
    """(q,) the variances that they leave."""
    n: Numbers
    """(q,) of how many rows."""
    scaled: Numbers | None = None
    """(q, d, d) the covariances, in units of `sizes`; None where the slopes are 0 without a doubt."""
    sizes: Numbers | None = None

    def in_units(self, floor: float, random: np.random.Generator | None) -> tuple[Numbers, Numbers, Numbers]:
        """Return the intercepts, coefficients and standard deviations, or a draw of them."""
        found = self if random is None else self._drawn(random)
        levels = found.centres[:, -1] - (found.slopes * found.centres[:, :-1]).sum(axis=1)
        return levels, found.slopes, np.sqrt(np.maximum(found.rest, floor))

    def _drawn(self, random: np.random.Generator) -> _Regressions:
        """Return a draw from the posterior distribution: scaled inverse chi-squared, and normal given that."""
        q, m = self.slopes.shape
        rest = self.rest * self.n / random.chisquare(np.maximum(self.n - m - 1, LEAST_FREE))
        doubt = np.sqrt(rest / self.n)
        centres, slopes = self.centres.copy(), self.slopes.copy()
        centres[:, -1] += doubt * random.standard_normal(q)
        turned = random.standard_normal((q, m, 1))
        if self.scaled is not None and self.sizes is not None and m:
            of_parents = self.scaled[:, :m, :m]
            free = _have_freedom(of_parents)
            roots = np.linalg.cholesky(of_parents[free])
            turned = np.linalg.solve(roots.transpose(0, 2, 1), turned[free])[:, :, 0]
            slopes[free] += turned * doubt[free, None] / self.sizes[:m]
        return _Regressions(centres, slopes, rest, self.n)


def _solved(scaled: Numbers, sizes: Numbers, ridge: float = 0.0) -> tuple[Numbers, Numbers]:
    """Return the coefficients (q, m) and the residual variances (q,) of covariances (q, d, d) in units of `sizes`."""
    m = len(sizes) - 1
    of_parents, with_child = scaled[:, :m, :m] + ridge * np.eye(m), scaled[:, :m, m]
    slopes = np.linalg.solve(of_parents, with_child[:, :, None])[:, :, 0] if m else np.empty((len(scaled), 0))
    rest = scaled[:, m, m] - (slopes * with_child).sum(axis=1)
    return slopes * sizes[m] / sizes[:m], rest * sizes[m] ** 2


def _have_freedom(scaled: Numbers) -> npt.NDArray[np.bool_]:
    """Return in which covariances, in units of the spread of all rows, no number is a combination of others."""
    free = np.ones(len(scaled), dtype=bool)
    rest = np.array(scaled)
    for k in range(scaled.shape[1]):  # Cholesky's pivots, of all at once
        pivot = rest[:, k, k]
        free &= pivot > COLLINEAR
        column = rest[:, k:, k] / np.sqrt(np.where(free, pivot, 1.0))[:, None]
        rest[:, k:, k:] -= column[:, :, None] * column[:, None, :]
    return free


def _require_freedom(R: Numbers, names: Sequence[str], n: int) -> None:
    """Raise SchemaError when one of the parents, or the child, is a linear combination of those before it."""
    for k, name in enumerate(names):
        _, rest = regression(R, k, range(k))
        if rest >= COLLINEAR:
            continue
        before = names[:k]
        if k < len(names) - 1:
            raise SchemaError(
                f"the parents of {names[-1]!r} are collinear in {several(n, 'row')}: {name!r} is a linear "
                f"combination of {listed(before)}; leave one of them out, or take more rows"
            )
        raise SchemaError(
            f"the standard deviation of {name!r} would be 0: in {several(n, 'row')} it is a linear combination of its "
            f"parents, {listed(before)}; leave one of them out, or take more rows"
        )
