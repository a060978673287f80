"""Numbers that are normal in each hidden state, or a mixture of normal distributions there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.fields import Fields
from fishernet.base.names import several, unused_name
from fishernet.data import Continuous, Variable
from fishernet.data.variable import Column
from fishernet.models.conditionals import ConditionalGaussian
from fishernet.models.emissions.base import (
    OWN,
    UNUSED,
    Clusters,
    Emission,
    Limits,
    Offsets,
    Statistic,
    checked_finite,
    column_names,
    columns_last,
    drawn,
    normalized,
    read_names,
    read_numbers,
    summed,
)
from fishernet.models.gaussian import Numbers
from fishernet.models.sequences.alphabet import checked_rows

ROWS = 2**13  # at once, so that they stay in the cache
PRECISION = 1e-12  # of the spread of a column within a state: what is less is taken for a combination of other columns


@dataclass(frozen=True)
class _Block:
    """Columns that are joined by regressions, in q cells (a state, or a component of one): normal in each."""

    columns: slice
    mean: Numbers
    """(q, w)."""
    before: Numbers
    """(q, w, w) the coefficients of the columns before each column."""
    sd: Numbers
    """(q, w) of what is left of each column."""

    @property
    def covariance(self) -> Numbers:
        """(q, w, w)."""
        root = np.linalg.inv(np.eye(self.sd.shape[1]) - self.before) * self.sd[:, None, :]
        return np.asarray(root @ root.transpose(0, 2, 1))

    def logs(self, X: Numbers) -> Numbers:
        """Return the log-densities of rows in each cell, (n, q)."""
        if not np.isnan(X).any():
            return self._complete(X)
        found = np.zeros((len(X), len(self.mean)))
        for present, rows in _patterns(X):
            if present.all():
                found[rows] = self._complete(X[rows])
            elif present.any():
                found[rows] = _marginal(self.mean, self.covariance, present).logs(X[rows][:, present])
        return found

    def _complete(self, X: Numbers) -> Numbers:
        w = X.shape[1]
        found = np.empty((len(X), len(self.mean)))
        to_noise = (np.eye(w) - self.before) / self.sd[:, :, None]
        size = np.log(self.sd).sum(axis=1) + 0.5 * w * np.log(2 * np.pi)
        with np.errstate(over="ignore"):  # so far away that the density is 0
            for first in range(0, len(X), ROWS):
                rows, out = X[first : first + ROWS], found[first : first + ROWS]
                if w == 1:
                    np.subtract(rows, self.mean[:, 0], out=out)
                    out /= self.sd[:, 0]
                    out *= out
                else:
                    for cell, mean in enumerate(self.mean):
                        noise = (rows - mean) @ to_noise[cell].T
                        np.einsum("nw,nw->n", noise, noise, out=out[:, cell])
                out *= -0.5
                out -= size
        return found

    def moments(self, X: Numbers, shares: Numbers, offsets: Offsets) -> Numbers:
        """Return the sums of (1, x)(1, x)' about the means, (n_sequences, q, w + 1, w + 1)."""
        w = X.shape[1]
        found = np.zeros((len(offsets) - 1, len(self.mean), w + 1, w + 1))
        if len(offsets) == 2 and len(X) > ROWS:
            for first in range(0, len(X), ROWS):
                part = X[first : first + ROWS]
                found += self.moments(part, shares[first : first + ROWS], np.array([0, len(part)]))
            return found
        patterns = list(_patterns(X))
        partial = [(present, rows) for present, rows in patterns if present.any() and not present.all()]
        absent = [rows for present, rows in patterns if not present.any()]
        covariance = self.covariance if partial else None
        for cell, mean in enumerate(self.mean):
            share = shares[:, cell]
            z = np.empty((len(X), w + 1))
            z[:, 0], z[:, 1:] = 1.0, X - mean
            if absent:
                share = share.copy()
                for rows in absent:
                    share[rows], z[rows, 1:] = 0.0, 0.0
            for present, rows in partial:
                assert covariance is not None
                lacks, has = 1 + np.flatnonzero(~present), 1 + np.flatnonzero(present)
                of = covariance[cell]
                slopes = np.linalg.solve(of[np.ix_(has - 1, has - 1)], of[np.ix_(has - 1, lacks - 1)])
                z[rows[:, None], lacks] = z[rows[:, None], has] @ slopes
                left = of[np.ix_(lacks - 1, lacks - 1)] - of[np.ix_(lacks - 1, has - 1)] @ slopes
                weight = np.zeros(len(X))
                weight[rows] = share[rows]
                found[:, cell, lacks[:, None], lacks] += summed(weight, offsets)[:, None, None] * left
            found[:, cell] += _products(z, share, offsets)
        return found

    def scores(self, moments: Numbers) -> list[Numbers]:
        """Return the scores of each column: intercept, coefficients and sd of each cell."""
        found = []
        for j in range(self.sd.shape[1]):
            rest = np.zeros((len(self.mean), self.sd.shape[1] + 1))  # what is left of the column, as a sum of (1, x)
            rest[:, 1 : 1 + j], rest[:, 1 + j] = -self.before[:, j, :j], 1.0
            sd = self.sd[:, j]
            with_rest = np.einsum("nqab,qb->nqa", moments, rest)
            parts = [with_rest[:, :, 0] / sd**2]
            parts += [(with_rest[:, :, 1 + i] + self.mean[:, i] * with_rest[:, :, 0]) / sd**2 for i in range(j)]
            parts.append(np.einsum("nqa,qa->nq", with_rest, rest) / sd**3 - moments[:, :, 0, 0] / sd)
            found.append(np.stack(parts, axis=2).reshape(len(moments), len(self.mean) * len(parts)))
        return found

    def maximized(self, moments: Numbers, least: Numbers, fixed: frozenset[str]) -> tuple[Numbers, Numbers, Numbers]:
        """Return the means, the coefficients and the standard deviations that are most probable."""
        used = moments[:, 0, 0] > UNUSED
        n = np.where(used, moments[:, 0, 0], 1.0)
        shift = moments[:, 0, 1:] / n[:, None]
        about = moments[:, 1:, 1:] / n[:, None, None]
        mean, before, sd = self.mean.copy(), self.before.copy(), self.sd.copy()
        if "mean" not in fixed:
            mean[used] += shift[used]
            about = about - shift[:, :, None] * shift[:, None, :]
        if "covariance" not in fixed:
            slopes, variances = _regressions(about, least)
            before[used], sd[used] = slopes[used], np.sqrt(variances[used])
        return mean, before, sd


def _marginal(mean: Numbers, covariance: Numbers, present: npt.NDArray[np.bool_]) -> _Block:
    """Return some of the columns alone."""
    before, sd = of_covariance(covariance[:, present][:, :, present])
    return _Block(slice(None), mean[:, present], before, sd)


def of_covariance(covariance: Numbers) -> tuple[Numbers, Numbers]:
    """Return the coefficients (..., w, w) and the standard deviations (..., w) of each column given those before it."""
    root = np.linalg.cholesky(covariance)
    sd = np.diagonal(root, axis1=-2, axis2=-1).copy()
    before = np.eye(sd.shape[-1]) - sd[..., :, None] * np.linalg.inv(root)
    return np.tril(before, -1), sd


def _regressions(covariance: Numbers, least: Numbers) -> tuple[Numbers, Numbers]:
    """Return the regression of each column on those before it, (q, w, w), and what is left, (q, w), from `least` on."""
    q, w = covariance.shape[:2]
    before, variances = np.zeros((q, w, w)), np.zeros((q, w))
    sizes = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), np.maximum(least, np.finfo(float).tiny)))
    scaled = covariance / sizes[:, :, None] / sizes[:, None, :]
    for j in range(w):
        slopes = np.zeros((q, 0))
        if j:
            inverse = np.linalg.pinv(scaled[:, :j, :j], rcond=PRECISION, hermitian=True)
            slopes = (inverse @ scaled[:, :j, j, None])[:, :, 0]
        rest = np.concatenate([-slopes, np.ones((q, 1))], axis=1)
        left = np.einsum("qa,qab,qb->q", rest, scaled[:, : j + 1, : j + 1], rest) * sizes[:, j] ** 2
        before[:, j, :j] = slopes * sizes[:, j, None] / sizes[:, :j]
        variances[:, j] = np.maximum(left, least[j])
    return before, variances


def _patterns(X: Numbers) -> Iterator[tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]]:
    """Yield which columns are present, and the rows that have these."""
    absent = np.isnan(X)
    if not absent.any():
        yield np.ones(X.shape[1], bool), np.arange(len(X))
        return
    packed = np.packbits(absent, axis=1)
    keys = packed[:, 0] if packed.shape[1] == 1 else packed.view(f"V{packed.shape[1]}")[:, 0]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(group.ravel()))
    for row, rows in zip(first, np.split(order, ends[:-1]), strict=True):
        yield ~absent[row], rows


def _products(z: Numbers, share: Numbers, offsets: Offsets) -> Numbers:
    """Return the weighted sums of z z' of each sequence, (n_sequences, w, w)."""
    weighted = z * share[:, None]
    if len(offsets) == 2:
        return np.asarray((weighted.T @ z)[None])
    found = np.empty((len(offsets) - 1, z.shape[1], z.shape[1]))
    for i in range(z.shape[1]):
        found[:, i, i:] = summed(weighted[:, i, None] * z[:, i:], offsets)
        found[:, i:, i] = found[:, i, i:]
    return found


class GaussianEmission(Emission):
    """Numbers that are normal in each state, or a mixture of normal distributions there; immutable.

    Several columns are a chain of regressions, one conditional-Gaussian conditional each: column j given the state, its
    component and the columns before it has the mean ``intercept + coefficients' columns`` and the standard deviation
    `sd`. Without `coefficients` columns are independent in each state, and `intercept` is the mean.

    Parameters
    ----------
    intercept : (n_states,) or (n_states, d) array
        The mean in each state. Of a mixture (n_states, n_components) or (n_states, n_components, d).
    sd : array, shaped as the intercept
        Standard deviations, positive.
    coefficients : array, shaped as the intercept with one more axis of length d, optional
        ``coefficients[..., j, i]`` is that of column i in the regression of column j; 0 unless i < j.
    weights : (n_states, n_components) array, optional
        P(component | state); without it there are no components.
    names : sequence of str, optional
        Of the columns; "x", or "x1", "x2", ... without it.

    Raises
    ------
    SchemaError
        When shapes do not fit, a number is not finite, an sd is not positive, or weights do not sum to 1.

    Examples
    --------
    >>> import fishernet as fn
    >>> emission = fn.models.GaussianEmission([0.0, 3.0], [1.0, 0.5])
    >>> hmm = fn.NumericHiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], emission)
    >>> hmm.decode([[0.1, -0.7, 2.9, 3.2]])[0]
    array([0, 0, 1, 1], dtype=int32)
    """

    __slots__ = ("coefficients", "intercept", "names", "sd", "weights")

    words: ClassVar[tuple[str, ...]] = ("mean", "covariance", "weights")

    intercept: Numbers
    """(n_states, d), or (n_states, n_components, d) of a mixture."""
    sd: Numbers
    """As the intercept."""
    coefficients: Numbers | None
    """As the intercept with one more axis, (..., d, d); None where columns are independent in each state."""
    weights: Numbers | None
    """(n_states, n_components) P(component | state); None where there are no components."""
    names: tuple[str, ...]
    """Of the columns."""

    def __init__(
        self,
        intercept: npt.ArrayLike,
        sd: npt.ArrayLike,
        *,
        coefficients: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
        names: Iterable[str] | None = None,
    ) -> None:
        parts = None if weights is None else checked_rows(weights, "weights", (None, None))
        level = columns_last(intercept, "intercept", 1 if parts is None else 2)
        spread = columns_last(sd, "sd", 1 if parts is None else 2)
        if spread.shape != level.shape:
            raise SchemaError(f"sd has the shape {spread.shape}, and the intercept {level.shape}")
        if parts is not None and level.shape[:-1] != parts.shape:
            raise SchemaError(f"weights has the shape {parts.shape}, and the means are for {level.shape[:-1]}")
        if not (spread > 0).all():
            raise SchemaError(f"standard deviations must be positive, got {spread.min():.6g}")
        slopes = None if coefficients is None else checked_finite(coefficients, "coefficients")
        if slopes is not None:
            if slopes.shape != (*level.shape, level.shape[-1]):
                raise SchemaError(f"coefficients must have shape {(*level.shape, level.shape[-1])}, got {slopes.shape}")
            if np.triu(slopes).any():
                raise SchemaError(
                    "a column may depend only on those before it: coefficients[..., j, i] is 0 unless i < j"
                )
        self._set(
            intercept=level, sd=spread, coefficients=slopes, weights=parts, names=column_names(names, level.shape[-1])
        )

    @classmethod
    def from_covariance(
        cls,
        mean: npt.ArrayLike,
        covariance: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        names: Iterable[str] | None = None,
    ) -> Self:
        """Return the emission with these means, (n_states, d), and covariances, (n_states, d, d).

        Of a mixture both have an axis for the components after the first. SchemaError when a covariance is not
        symmetric and positive definite.
        """
        centre, of = checked_finite(mean, "mean"), checked_finite(covariance, "covariance")
        if of.shape != (*centre.shape, centre.shape[-1]):
            raise SchemaError(f"covariance must have shape {(*centre.shape, centre.shape[-1])}, got {of.shape}")
        if not np.allclose(of, np.swapaxes(of, -1, -2), rtol=1e-9, atol=0):
            raise SchemaError("a covariance must be symmetric")
        try:
            before, sd = of_covariance(of)
        except np.linalg.LinAlgError:
            raise SchemaError("a covariance must be positive definite") from None
        intercept = centre - (before @ centre[..., None])[..., 0]
        return cls(intercept, sd, coefficients=before, weights=weights, names=names)

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        return tuple(map(Continuous, self.names))

    @property
    def n_states(self) -> int:
        """The number of hidden states."""
        return len(self.intercept)

    @property
    def n_components(self) -> int:
        """The number of components of each state's mixture; 1 without a mixture."""
        return 1 if self.weights is None else self.weights.shape[1]

    @property
    def n_parameters(self) -> int:
        """Intercept, coefficients and sd of each column in each state (and component), and the weights."""
        d, cells = len(self.names), self.n_states * self.n_components
        slopes = 0 if self.coefficients is None else d * (d - 1) // 2
        return cells * (2 * d + slopes) + (0 if self.weights is None else self.weights.size)

    @property
    def mean(self) -> Numbers:
        """The means, (n_states, d), or (n_states, n_components, d)."""
        return np.concatenate([block.mean for block in self._blocks()], axis=1).reshape(self.intercept.shape)

    @property
    def covariance(self) -> Numbers:
        """The covariances, (n_states, d, d), or (n_states, n_components, d, d)."""
        d = len(self.names)
        found = np.zeros((self.n_states * self.n_components, d, d))
        for block in self._blocks():
            found[:, block.columns, block.columns] = block.covariance
        return found.reshape(*self.intercept.shape, d)

    @property
    def probabilities(self) -> tuple[Numbers, ...]:
        """The weights of a mixture."""
        return () if self.weights is None else (self.weights,)

    @property
    def conditionals(self) -> tuple[ConditionalGaussian, ...]:
        """Each column given the state (position 0), of a mixture the component (1), and columns before it."""
        cells = [Variable(unused_name("state", self.names), range(self.n_states))]
        if self.weights is not None:
            cells.append(Variable(unused_name("component", self.names), range(self.n_components)))
        first = len(cells)
        found = []
        for j, variable in enumerate(self.variables):
            joined = j if self.coefficients is not None else 0
            slopes = np.empty((*self.intercept.shape[:-1], 0)) if not joined else self._slopes[..., j, :j]
            parents = [*range(first), *range(first, first + joined)]
            of = [*cells, *self.variables[:joined], variable]
            found.append(ConditionalGaussian(first + j, parents, of, self.intercept[..., j], slopes, self.sd[..., j]))
        return tuple(found)

    @property
    def _slopes(self) -> Numbers:
        d = len(self.names)
        return np.zeros((*self.intercept.shape, d)) if self.coefficients is None else self.coefficients

    def _blocks(self) -> list[_Block]:
        """Return the columns that are joined: all, or each alone."""
        d = len(self.names)
        level, sd = self.intercept.reshape(-1, d), self.sd.reshape(-1, d)
        if self.coefficients is None or d == 1:
            alone = np.zeros((len(level), 1, 1))
            return [_Block(slice(j, j + 1), level[:, j, None], alone, sd[:, j, None]) for j in range(d)]
        before = self._slopes.reshape(-1, d, d)
        mean = np.asarray(np.linalg.solve(np.eye(d) - before, level[:, :, None])[:, :, 0], dtype=np.float64)
        return [_Block(slice(0, d), mean, before, sd)]

    def _logs(self, X: Numbers) -> Numbers:
        """Return the log-density of each row in each state and component, (n, n_states, n_components)."""
        blocks = self._blocks()
        found = blocks[0].logs(X[:, blocks[0].columns])
        for block in blocks[1:]:
            found += block.logs(X[:, block.columns])
        return found.reshape(len(X), self.n_states, self.n_components)

    def log_prob(self, X: Numbers) -> Numbers:
        """Return the log-density of each row in each state, (n, n_states); missing cells are summed out."""
        logs = self._logs(X)
        return logs[:, :, 0] if self.weights is None else self._mixed(logs)

    def _mixed(self, logs: Numbers) -> Numbers:
        assert self.weights is not None
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp.reduce(logs + np.log(self.weights), axis=2))

    def statistic(self, X: Numbers, shares: Numbers, offsets: Offsets) -> Statistic:
        """Return the moments of the columns, and of a mixture the derivatives by the weights."""
        if self.weights is None:
            return self.of_cells(X, shares[:, :, None], offsets)
        logs = self._logs(X)
        whole = self._mixed(logs)[:, :, None]
        with np.errstate(over="ignore"):
            times = np.exp(logs - np.where(np.isneginf(whole), np.inf, whole))
        return self.of_cells(X, shares[:, :, None] * times * self.weights, offsets, shares[:, :, None] * times)

    def started(self, X: Numbers, shares: Numbers, limits: Limits, clusters: Clusters) -> Self:
        """Return the emission of rows that belong to the states so; components are clusters of each state's rows."""
        there = ~np.isnan(X)
        n = np.maximum(there.sum(axis=0), 1)
        mean = np.where(there, X, 0.0).sum(axis=0) / n
        sd = np.sqrt(np.square(np.where(there, X - mean, 0.0)).sum(axis=0) / n)
        level, spread = np.broadcast_to(mean, self.intercept.shape), np.broadcast_to(sd, self.sd.shape)
        slopes = None if self.coefficients is None else np.zeros_like(self.coefficients)
        alike = type(self)(level, spread, coefficients=slopes, weights=self.weights, names=self.names)
        parts = np.ones((len(X), self.n_states, self.n_components))
        if self.weights is not None:
            parts *= (1 - OWN) / self.n_components
            state = shares.argmax(axis=1)
            for a in range(self.n_states):
                own = np.flatnonzero(state == a)
                if len(own):
                    parts[own, a, clusters(X[own], self.n_components)] += OWN
        statistic = alike.of_cells(X, shares[:, :, None] * parts, np.array([0, len(X)]))
        return alike.maximized(statistic, limits)

    def of_cells(self, X: Numbers, shares: Numbers, offsets: Offsets, by_weight: Numbers | None = None) -> Statistic:
        """Return the statistics of rows that belong to states and components, (n, n_states, n_components)."""
        cells = np.ascontiguousarray(shares.reshape(len(X), self.n_states * self.n_components))
        moments = [block.moments(X[:, block.columns], cells, offsets) for block in self._blocks()]
        if self.weights is None:
            return tuple(moments)
        if by_weight is None:
            by_weight = shares / self.weights
        return *moments, summed(by_weight, offsets)

    def scores(self, statistic: Statistic) -> Numbers:
        """Return the scores: column by column intercept, coefficients, sd of each state (and component); weights."""
        found = [part for block, of in zip(self._blocks(), statistic, strict=False) for part in block.scores(of)]
        if self.weights is not None:
            derivatives = statistic[-1]
            used = (derivatives * self.weights).sum(axis=2, keepdims=True)
            found.append((derivatives - used).reshape(len(derivatives), self.weights.size))
        return np.concatenate(found, axis=1)

    def maximized(self, statistic: Statistic, limits: Limits) -> Self:
        """Return the emission that maximizes the expected log-likelihood."""
        blocks = self._blocks()
        parts = [
            block.maximized(moments[0], limits.least[block.columns], limits.fixed)
            for block, moments in zip(blocks, statistic, strict=False)
        ]
        mean, sd = (np.concatenate([part[i] for part in parts], axis=1) for i in (0, 2))
        before, intercept = None, mean
        if self.coefficients is not None:
            before = parts[0][1]
            intercept = mean - (before @ mean[:, :, None])[:, :, 0]
            before = before.reshape(self.coefficients.shape)
        weights = self.weights
        if weights is not None and "weights" not in limits.fixed:
            counts = statistic[-1][0] * weights + np.where(weights > 0, limits.smoothing, 0.0)
            weights = normalized(counts, weights)
        shape = self.intercept.shape
        return type(self)(
            intercept.reshape(shape), sd.reshape(shape), coefficients=before, weights=weights, names=self.names
        )

    def draw(self, states: npt.NDArray[np.int64], random: np.random.Generator) -> Numbers:
        """Draw a row for each state, (n, d)."""
        columns: list[npt.NDArray[Any]] = [states]
        if self.weights is not None:
            columns.append(drawn(self.weights, states, random))
        first = len(columns)
        for conditional in self.conditionals:
            columns.append(conditional.draw(columns, random.standard_normal(len(states))))
        return np.stack(columns[first:], axis=1)

    def to_fields(self) -> dict[str, object]:
        """Return its parameters as what `json` writes."""
        return {
            "names": list(self.names),
            "intercept": self.intercept.tolist(),
            "sd": self.sd.tolist(),
            "coefficients": None if self.coefficients is None else self.coefficients.tolist(),
            "weights": None if self.weights is None else self.weights.tolist(),
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Return the emission of which a file holds these fields."""
        names = read_names(fields)
        intercept, sd = read_numbers(fields, "intercept"), read_numbers(fields, "sd")
        more = {
            name: None if fields.is_null(name) else read_numbers(fields, name) for name in ("coefficients", "weights")
        }
        return cls(intercept, sd, names=names, **more)

    def _parts(self) -> tuple[Any, ...]:
        return self.intercept, self.sd

    def _options(self) -> dict[str, Any]:
        return {"coefficients": self.coefficients, "weights": self.weights, "names": self.names}

    def __repr__(self) -> str:
        mixture = "" if self.weights is None else f", {several(self.n_components, 'component')}"
        size = f"{several(self.n_states, 'state')}, {several(len(self.names), 'column')}"
        return f"GaussianEmission({size}{mixture}{'' if self.coefficients is None else ', joined'})"
