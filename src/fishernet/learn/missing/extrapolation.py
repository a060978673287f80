"""Where the steps of EM lead to: networks of one graph, extrapolated to one that is nearer to the end [1]_.

Each conditional has coordinates in which it may go anywhere. A table goes by the logarithms of its probabilities, of
which those that are 0 stay so. A regression goes by what it says at the means of the known cells, by its coefficients,
both counted in the columns' spreads, so that no unit tells, and by the logarithm of its standard deviation.

References
----------
.. [1] R. Varadhan and C. Roland, "Simple and globally convergent methods for accelerating the convergence of any EM
   algorithm", Scandinavian Journal of Statistics 35, 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.data import Table
from fishernet.models import BayesianNetwork, ConditionalGaussian, FullTable

Numbers = npt.NDArray[np.float64]

SMALLEST = 1e-200  # what a probability may become: not 0, which would make rows impossible
FARTHEST = 100.0  # what the logarithm of a standard deviation may become, in size


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """Leads three networks that follow one another ahead; of labels alone it needs to know nothing of the columns."""

    mean: Numbers
    """(n_variables,) of the known numbers of each column, on its scale; of labels anything."""
    spread: Numbers
    """(n_variables,) their standard deviations, positive."""

    @classmethod
    def of(cls, rows: Table) -> Self:
        """Return that of the columns of a table, each of which has a known cell."""
        mean, spread = np.zeros(len(rows.variables)), np.ones(len(rows.variables))
        for v, (variable, column) in enumerate(zip(rows.variables, rows.codes, strict=True)):
            if variable.is_continuous:
                known = variable.scaled(column[~variable.missing(column)])
                mean[v], spread[v] = known.mean(), known.std() or 1.0
        return cls(mean, spread)

    def __call__(
        self, first: BayesianNetwork, second: BayesianNetwork, third: BayesianNetwork, most: float
    ) -> BayesianNetwork:
        """Return where the networks lead to, up to so many steps ahead; LinAlgError where that is nowhere."""
        parts = [[self._coordinates(of) for of in net.conditionals] for net in (first, second, third)]
        a, b, c = map(np.concatenate, parts)
        positive = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
        a, b, c = (np.where(positive, of, 0.0) for of in (a, b, c))
        step, bend = b - a, c - 2 * b + a
        length, change = float(np.linalg.norm(step)), float(np.linalg.norm(bend))
        ahead = min(max(1.0, length / change if change > 0 else most), most)
        far = np.where(positive, a + 2 * ahead * step + ahead**2 * bend, -np.inf)
        ends = np.cumsum([len(of) for of in parts[2]])[:-1]
        pairs = zip(third.conditionals, np.split(far, ends), strict=True)
        return BayesianNetwork(third.variables, [self._at(*pair) for pair in pairs], n_rows=third.n_rows)

    def _coordinates(self, of: Any) -> Numbers:
        if not of.variables[-1].is_continuous:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(of.probabilities)).ravel()
        level, slopes, sd = of.by_group()
        parents, size = list(of.number_parents), self.spread[of.child]
        centre = (level + slopes @ self.mean[parents] - self.mean[of.child]) / size
        return np.asarray(np.column_stack([centre, slopes * self.spread[parents] / size, np.log(sd)])).ravel()

    def _at(self, of: Any, values: Numbers) -> Any:
        """Return the conditional of some coordinates."""
        if not of.variables[-1].is_continuous:
            logs = values.reshape(of.probabilities.shape)
            table = np.maximum(np.exp(logs - logs.max(axis=1, keepdims=True)), np.where(logs > -np.inf, SMALLEST, 0.0))
            table /= table.sum(axis=1, keepdims=True)
            return FullTable(of.child, of.parents, of.variables, table, tolerance=1e-6)
        turned, parents, size = values.reshape(of.n_groups, -1), list(of.number_parents), self.spread[of.child]
        if not np.abs(turned[:, -1]).max() < FARTHEST:
            raise np.linalg.LinAlgError
        slopes = turned[:, 1:-1] * size / self.spread[parents]
        level = turned[:, 0] * size + self.mean[of.child] - slopes @ self.mean[parents]
        shape = of.sd.shape
        parts = level.reshape(shape), slopes.reshape(*shape, len(parents)), np.exp(turned[:, -1]).reshape(shape)
        return ConditionalGaussian(of.child, of.parents, of.variables, *parts)
