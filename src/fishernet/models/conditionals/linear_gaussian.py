"""Linear-Gaussian conditionals: a variable is a linear function of its parents, and normal noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.base.fields import Fields
from fishernet.base.names import listed, several
from fishernet.data import Column, Statistic, Table
from fishernet.models.conditionals.base import Conditional
from fishernet.models.gaussian import Numbers, log_normal
from fishernet.models.gaussian_markov_network import checked_array

COLLINEAR = 1e-12  # the share of a variance that others may leave unexplained and still be called all of it


class LinearGaussian(Conditional):
    """The density of a child given its parents, all of them continuous: ``intercept + coefficients' parents + sd e``.

    The noise e is standard normal and independent of everything else.

    Parameters
    ----------
    child : int
        Position of the child.
    parents : sequence of int
        Positions of the parents.
    variables : sequence of Continuous
        The parents' variables in that order, then the child's.
    intercept : float
        What the child is expected to be where all parents are 0.
    coefficients : (n_parents,) array
    sd : float
        The standard deviation of the noise, positive.

    Raises
    ------
    SchemaError
        When a variable is not continuous, a shape does not fit, a number is not finite, or the standard deviation is
        not positive.
    """

    __slots__ = ("coefficients", "intercept", "sd")

    intercept: float
    coefficients: Numbers
    sd: float

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Any],
        intercept: float,
        coefficients: npt.ArrayLike,
        sd: float,
    ) -> None:
        super().__init__(child, parents, variables)
        name = self.name
        states = [variable.name for variable in self.variables if not variable.is_continuous]
        if states:
            raise SchemaError(f"the regression of {name!r} needs continuous variables; {listed(states)} has states")
        slopes = checked_array(coefficients, f"the coefficients of {name!r}", (len(self.parents),))
        level = float(checked_array(intercept, f"the intercept of {name!r}", ()))
        spread = float(checked_array(sd, f"the standard deviation of {name!r}", ()))
        if not spread > 0:
            raise SchemaError(f"the standard deviation of {name!r} must be positive, got {spread:.6g}")
        self._set(intercept=level, coefficients=slopes, sd=spread)

    @classmethod
    def fit(
        cls,
        statistic: Statistic,
        family: Sequence[int],
        variables: Sequence[Column],
        *,
        positions: Sequence[int] | None = None,
    ) -> Self:
        """Fit a regression by maximum likelihood.

        Parameters
        ----------
        statistic : Statistic
            Of the family; its columns vary.
        family : sequence of int
            Positions of the parents and then the child in the source.
        variables : sequence of Continuous
            Theirs.
        positions : sequence of int, optional
            The family's positions in the network, where they are others.

        Raises
        ------
        SchemaError
            When the parents are collinear, or the child is a linear combination of them, as it is with too few rows.
        """
        names = [variable.name for variable in variables]
        n = int(statistic.total)
        at = [statistic.continuous.index(v) for v in family]
        sizes = np.sqrt(np.diagonal(statistic.scatter)[at])
        R = statistic.scatter[np.ix_(at, at)] / sizes[:, None] / sizes
        _require_freedom(R, names, n)
        last = len(at) - 1
        slopes, rest = regression(R, last, range(last))
        slopes = slopes * sizes[last] / sizes[:last]
        mean = statistic.mean[at]
        *parents, child = family if positions is None else positions
        intercept = float(mean[last] - slopes @ mean[:last])
        sd = float(sizes[last] * math.sqrt(rest / n))
        return cls(child, parents, variables, intercept, slopes, sd)

    @property
    def n_parameters(self) -> int:
        """The intercept, the coefficients and the standard deviation."""
        return 2 + len(self.parents)

    def log_prob(self, table: Table) -> Numbers:
        """Return the log-density of the child in each row given its parents, (n_rows,)."""
        return log_normal(self._residual(table) / self.sd, self.sd)

    def draw(self, columns: Sequence[npt.NDArray[Any]], noise: npt.NDArray[np.float64]) -> Numbers:
        """Return the child's numbers: what is expected of them, and `sd` times the noise."""
        return self.sd * noise + (self.intercept + self._inputs(columns, len(noise)) @ self.coefficients)

    def scores(self, table: Table, out: npt.NDArray[np.float64] | None = None) -> Numbers:
        """Return the derivatives of `log_prob` by the intercept, the coefficients and the standard deviation."""
        scores = np.empty((table.n_rows, self.n_parameters)) if out is None else out
        rest = self._residual(table)
        scores[:, 0] = rest / self.sd**2
        scores[:, 1:-1] = scores[:, 0, None] * self._inputs(table.codes, table.n_rows)
        scores[:, -1] = ((rest / self.sd) ** 2 - 1) / self.sd
        return scores

    def scores_of_spread(self, covariance: Numbers) -> Numbers:
        """Return what the mean scores of uncertain rows have beyond the scores of their mean, (n_parameters,).

        `covariance` is that of all variables in such a row, (d, d).
        """
        family = [*self.parents, self.child]
        of = covariance[np.ix_(family, family)]
        rest = np.array([*-self.coefficients, 1.0])  # the residual as a sum of the family
        return np.array([0.0, *(rest @ of)[:-1] / self.sd**2, rest @ of @ rest / self.sd**3])

    def information(self, of_parents: tuple[Numbers, Numbers]) -> Numbers:
        """Return the mean product of (1, parents) with itself over sd^2, and 2 / sd^2, (n_parameters, n_parameters).

        `of_parents` is the mean (m,) and the covariance (m, m) of the parents.
        """
        mean, covariance = of_parents
        inputs = np.concatenate([[1.0], mean])
        moments = np.outer(inputs, inputs)
        moments[1:, 1:] += covariance
        information = np.zeros((self.n_parameters, self.n_parameters))
        information[:-1, :-1] = moments / self.sd**2
        information[-1, -1] = 2 / self.sd**2
        return information

    def factor(self) -> NoReturn:
        """Raise: a density is no table of states."""
        raise SchemaError(
            f"{self.name!r} is continuous, and exact inference over states needs tables; to_markov_network() has "
            "means, covariances and predictions of numbers"
        )

    def core_form(self) -> None:
        """Return None: Python computes with numbers."""
        return

    def add_to_sampler(self, sampler: _core.GibbsSampler) -> None:  # noqa: ARG002
        """Raise: numbers are not drawn by tables."""
        raise SchemaError(f"pseudo-Gibbs sampling is for variables with states; {self.name!r} is continuous")

    def refuse_zeros(self, remedy: str) -> None:
        """Raise nothing: a normal density is positive everywhere."""

    def as_regression(self) -> tuple[float, Numbers, float]:
        """Return the intercept, the coefficients and the standard deviation."""
        return self.intercept, self.coefficients, self.sd

    def to_frame(self) -> pa.Table:
        """Return the intercept, the coefficient of every parent and the standard deviation, one row each."""
        terms = ["(intercept)", *(variable.name for variable in self.variables[:-1]), "(sd)"]
        return pa.table({"term": terms, "value": [self.intercept, *self.coefficients.tolist(), self.sd]})

    def to_fields(self) -> dict[str, object]:
        """Return intercept, coefficients and standard deviation."""
        return {"intercept": self.intercept, "coefficients": self.coefficients.tolist(), "sd": self.sd}

    @classmethod
    def from_fields(cls, fields: Fields, child: int, parents: Sequence[int], variables: Sequence[Any]) -> Self:
        """Return the regression of which a file holds these fields."""
        intercept = fields.number("intercept")
        slopes = fields.numbers(fields.items("coefficients"), "coefficients")
        return cls(child, parents, variables, intercept, slopes, fields.number("sd"))

    def _arguments(self) -> tuple[Any, ...]:
        return self.intercept, self.coefficients, self.sd

    def _inputs(self, columns: Sequence[npt.NDArray[Any]], n_rows: int) -> Numbers:
        """Return the parents' columns, (n_rows, n_parents)."""
        found: Numbers = np.empty((n_rows, len(self.parents)))
        for place, parent in enumerate(self.parents):
            found[:, place] = columns[parent]
        return found

    def _residual(self, table: Table) -> Numbers:
        """Return what the parents leave of the child, (n_rows,)."""
        return np.asarray(
            table.codes[self.child] - self.intercept - self._inputs(table.codes, table.n_rows) @ self.coefficients
        )


def joint_moments(regressions: Sequence[Conditional], order: Sequence[int]) -> tuple[Numbers, Numbers]:
    """Return the mean (d,) and the covariance (d, d) of variables with linear-Gaussian conditionals.

    `order` has the positions, parents before children. SchemaError when a conditional is not linear-Gaussian.
    """
    d = len(regressions)
    mean = np.zeros(d)
    noise = np.zeros((d, d))  # each variable as a combination of all noises
    for v in order:
        intercept, coefficients, sd = regressions[v].as_regression()
        parents = list(regressions[v].parents)
        mean[v] = intercept
        mean[v] += coefficients @ mean[parents]
        noise[v] = coefficients @ noise[parents]
        noise[v, v] = sd
    covariance: Numbers = noise @ noise.T
    covariance = (covariance + covariance.T) / 2
    mean.flags.writeable = covariance.flags.writeable = False
    return mean, covariance


def joint_precision(regressions: Sequence[Conditional]) -> Numbers:
    """Return the inverse of the covariance, (d, d); zero between variables that the moral graph does not join."""
    precision = np.zeros((len(regressions), len(regressions)))
    for v, conditional in enumerate(regressions):
        _, coefficients, sd = conditional.as_regression()
        add_regression(precision, v, conditional.parents, coefficients, sd**2)
    precision.flags.writeable = False
    return precision


def regression(S: Numbers, child: int, parents: Sequence[int]) -> tuple[Numbers, float]:
    """Return the coefficients of a variable on others, (n_parents,), and the variance that they leave.

    S is a covariance matrix (d, d), or any multiple of one, that is positive definite on the parents.
    """
    at = list(parents)
    if not at:
        return np.empty(0), float(S[child, child])
    coefficients: Numbers = np.asarray(np.linalg.solve(S[np.ix_(at, at)], S[at, child]))
    return coefficients, float(S[child, child] - S[child, at] @ coefficients)


def add_regression(K: Numbers, variable: int, others: Sequence[int], coefficients: Numbers, variance: float) -> None:
    """Add to a precision the density of a variable given others."""
    at = [variable, *others]
    direction = np.concatenate([[1.0], -coefficients])
    K[np.ix_(at, at)] += np.outer(direction, direction) / variance


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
