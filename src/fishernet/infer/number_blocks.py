"""Numbers that are not known, in every configuration of the labels on which they depend.

Numbers that share a regression are a block. Given the labels, a block and what is known around it are jointly normal:
each is a sum of independent noises, whose loadings are made triangular (an LQ decomposition), known numbers first. The
triangle gives the density of what is known and, without cancellation, what is left open of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.infer.factors import Array
from fishernet.infer.log_tables import LogTable

LOG_TAU = math.log(2 * math.pi)

Columns = Sequence[npt.NDArray[Any]]


class Regression(Protocol):
    """A number given its parents: a regression in each configuration of their labels."""

    @property
    def child(self) -> int:
        """Its position."""

    @property
    def label_parents(self) -> tuple[int, ...]:
        """Positions of the parents with labels, in the order of the axes."""

    @property
    def number_parents(self) -> tuple[int, ...]:
        """Positions of the parents that are numbers, in the order of the coefficients."""

    @property
    def intercept(self) -> Array:
        """One axis for each parent with labels."""

    @property
    def coefficients(self) -> Array:
        """The same axes and one for the numbers."""

    @property
    def sd(self) -> Array:
        """Shaped as the intercept."""


def picked(values: Array, parents: Sequence[int], hidden: Collection[int], columns: Columns, n_rows: int) -> Array:
    """Return a table's cells at what each row knows: (n_rows or 1, an axis a hidden parent by position, what follows).

    `values` has an axis for each parent, in their order, and perhaps more.
    """
    known = [axis for axis, parent in enumerate(parents) if parent not in hidden]
    free = sorted((axis for axis in range(len(parents)) if axis not in known), key=lambda axis: parents[axis])
    turned = values.transpose(*known, *free, *range(len(parents), values.ndim))
    if not known:
        return turned[None]
    return np.asarray(turned[tuple(columns[parents[axis]][:n_rows] for axis in known)])


@dataclass(frozen=True)
class BlockAnswer:
    """What a block's labels and the known numbers around it say, of every row."""

    density: LogTable
    """The log-density of the known numbers that depend on the block."""
    mean: Array
    """(n_rows, states, ..., h) the mean of the block's numbers given what is known."""
    spread: Array
    """(n_rows or 1, states, ..., h, h) a lower triangle whose product with its transpose is their covariance."""


class NumberBlock:
    """Numbers that are not known and share regressions, and the known ones that depend on them.

    Parameters
    ----------
    regressions : sequence of Regression
        Those of all numbers in it and of all that have some among their parents; parents before their children.
    members : collection of int
        The numbers that are not known.
    hidden : collection of int
        The labels that are not known.
    states : mapping from position to int
        Of labels.
    """

    def __init__(
        self,
        regressions: Sequence[Regression],
        members: Collection[int],
        hidden: Collection[int],
        states: Mapping[int, int],
    ) -> None:
        self.regressions, self.hidden, self.states = regressions, frozenset(hidden), states
        self.members = tuple(r.child for r in regressions if r.child in members)
        self.known = tuple(r.child for r in regressions if r.child not in members)
        self.scope = tuple(sorted({p for r in regressions for p in r.label_parents if p in hidden}))

    def answer(self, columns: Columns, n_rows: int) -> BlockAnswer:
        """Return what is known of the block in rows whose known cells stand in `columns`."""
        mean, loadings = self._moments(columns, n_rows)
        L = np.swapaxes(np.linalg.qr(np.swapaxes(loadings, -1, -2), mode="r"), -1, -2)
        k = len(self.known)
        density = np.zeros((1, *(1,) * len(self.scope)))
        means = mean[..., k:]
        if k:
            seen = np.stack([columns[v][:n_rows].astype(np.float64) for v in self.known], axis=-1)
            off = seen.reshape(n_rows, *(1,) * len(self.scope), k) - mean[..., :k]
            z = np.linalg.solve(L[..., :k, :k], off[..., None])[..., 0]
            log_det = np.log(np.abs(np.diagonal(L, axis1=-2, axis2=-1)[..., :k])).sum(axis=-1)
            density = -0.5 * (z**2).sum(axis=-1) - log_det - 0.5 * k * LOG_TAU
            means = means + (L[..., k:, :k] @ z[..., None])[..., 0]
        shape = tuple(self.states[v] for v in self.scope)
        table = LogTable(self.scope, np.broadcast_to(density, (len(density), *shape)))
        return BlockAnswer(table, np.broadcast_to(means, (n_rows, *shape, means.shape[-1])), L[..., k:, k:])

    def _moments(self, columns: Columns, n_rows: int) -> tuple[Array, Array]:
        """Return the means, (rows, states, ..., d), and the loadings on the noises, (rows, states, ..., d, d).

        Known numbers come first; each is taken for a child alone: where it is a parent, its number is what counts.
        """
        order = [*self.known, *self.members]
        place = {v: at for at, v in enumerate(order)}
        members, d = set(self.members), len(order)
        means: dict[int, Array] = {}
        loads: dict[int, Array] = {}
        for regression in self.regressions:
            level, slopes, sd = self._parts(regression, columns, n_rows)
            load = np.zeros((*sd.shape, d))
            load[..., place[regression.child]] = sd
            for at, parent in enumerate(regression.number_parents):
                slope = slopes[..., at]
                if parent in members:
                    level = level + slope * means[parent]
                    load = load + slope[..., None] * loads[parent]
                else:
                    level = level + slope * columns[parent][:n_rows].reshape(-1, *(1,) * len(self.scope))
            means[regression.child], loads[regression.child] = level, load
        shape = tuple(self.states[v] for v in self.scope)
        rows_of_means, rows_of_loads = (max(len(one) for one in every.values()) for every in (means, loads))
        mean = np.stack([np.broadcast_to(means[v], (rows_of_means, *shape)) for v in order], axis=-1)
        loadings = np.stack([np.broadcast_to(loads[v], (rows_of_loads, *shape, d)) for v in order], axis=-2)
        return mean, loadings

    def _parts(self, regression: Regression, columns: Columns, n_rows: int) -> Iterator[Array]:
        """Yield the intercepts, coefficients and standard deviations over the block's scope."""
        parents = regression.label_parents
        own = [v in parents for v in self.scope]
        for values, last in ((regression.intercept, 0), (regression.coefficients, 1), (regression.sd, 0)):
            found = picked(values, parents, self.hidden, columns, n_rows)
            sizes = iter(found.shape[1:])
            axes = [next(sizes) if held else 1 for held in own]
            yield found.reshape(len(found), *axes, *found.shape[found.ndim - last :])
