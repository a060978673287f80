"""Conditional-Gaussian conditionals: numbers with a regression in every configuration of their parents' labels."""

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
from fishernet.base.names import listed
from fishernet.data import Column, Statistic, Table, Variable
from fishernet.infer.parent_moments import ParentMoments
from fishernet.models.conditionals.base import Conditional, check_cells
from fishernet.models.conditionals.regressions import Moments, fitted_regressions
from fishernet.models.gaussian import Numbers, log_normal
from fishernet.models.gaussian_markov_network import checked_array

SHRUNK_ROWS = 0.3  # of all rows together, that are added to each configuration (`fitted_regressions`)


class ConditionalGaussian(Conditional):
    """The density of a number given its parents: ``intercept + coefficients' numbers + sd e`` [1]_.

    The noise e is standard normal and independent of everything else. Where some parents have labels there is an
    intercept, a coefficient for every parent that is a number, and a standard deviation for each of the q
    configurations of the labels. A number that has a scale is meant on it.

    Parameters
    ----------
    child : int
        Position of the child.
    parents : sequence of int
        Positions of the parents; l have labels, and m are numbers.
    variables : sequence of Variable and Continuous
        The parents' variables in that order, then the child's, which is Continuous.
    intercept : array, one axis for each parent with labels; a number where there is none
        What the child is expected to be where all numbers are 0.
    coefficients : array, the same axes and one for the m numbers
    sd : array, shaped as the intercept
        The standard deviation of the noise, positive.

    Raises
    ------
    SchemaError
        When the child has labels, a shape does not fit, a number is not finite, or a standard deviation is not
        positive.

    References
    ----------
    .. [1] S. L. Lauritzen, "Propagation of probabilities, means, and variances in mixed graphical association models",
       Journal of the American Statistical Association 87, 1992.

    Examples
    --------
    >>> import fishernet as fn
    >>> sex, age, height = fn.Variable("sex", ["f", "m"]), fn.Continuous("age"), fn.Continuous("height")
    >>> net = fn.BayesianNetwork.from_tables(
    ...     [sex, age, height],
    ...     {"height": ["sex", "age"]},
    ...     {
    ...         "sex": [0.5, 0.5],
    ...         "age": {"intercept": 40, "coefficients": [], "sd": 10},
    ...         "height": {"intercept": [170, 182], "coefficients": [[-0.1], [-0.1]], "sd": [6, 7]},
    ...     },
    ... )
    >>> net.query("height", given={"sex": "m", "age": 20}).mean
    180.0
    """

    __slots__ = ("coefficients", "intercept", "sd")

    intercept: Numbers
    coefficients: Numbers
    sd: Numbers

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Any],
        intercept: npt.ArrayLike,
        coefficients: npt.ArrayLike,
        sd: npt.ArrayLike,
    ) -> None:
        super().__init__(child, parents, variables)
        name = self.name
        if not self.variables[-1].is_continuous:
            raise SchemaError(f"the regression of {name!r} needs a continuous variable; {name!r} has states")
        check_cells(self.variables[:-1], f"the regressions of {name!r}")
        labels = tuple(variable.cardinality for variable in self.labels)
        slopes = checked_array(coefficients, f"the coefficients of {name!r}", (*labels, len(self.number_parents)))
        level = checked_array(intercept, f"the intercept of {name!r}", labels)
        spread = checked_array(sd, f"the standard deviation of {name!r}", labels)
        if not (spread > 0).all():
            raise SchemaError(f"the standard deviation of {name!r} must be positive, got {spread.min():.6g}")
        self._set(intercept=level, coefficients=slopes, sd=spread)

    @classmethod
    def fit(
        cls,
        statistic: Statistic,
        family: Sequence[int],
        variables: Sequence[Column],
        *,
        smoothing: float | str = 1.0,
        ess: float | None = None,
        positions: Sequence[int] | None = None,
        random: np.random.Generator | None = None,
    ) -> Self:
        """Fit a regression in each configuration, drawn a little towards that of all rows (`fitted_regressions`).

        Without labels among the parents that is maximum likelihood.

        Parameters
        ----------
        statistic : Statistic
            Of the family; its columns of numbers vary.
        family : sequence of int
            Positions of the parents and then the child in the source.
        variables : sequence of Variable and Continuous
            Theirs.
        smoothing : float
            How many times 0.3 rows, spread as all rows together, are added to each configuration; other ways of
            smoothing counts are as 1 here.
        ess : float, optional
            The rows that are added to all configurations together, in place of it.
        positions : sequence of int, optional
            The family's positions in the network, where they are others.
        random : numpy.random.Generator, optional
            Draws the regressions from their posterior distribution, in place of the fitted ones.

        Raises
        ------
        MissingValueError
            When a row was left out.
        SchemaError
            When the parents are collinear, or the child is a linear combination of them, as it is with too few rows.
        """
        labels = [v for v, variable in zip(family[:-1], variables[:-1], strict=True) if not variable.is_continuous]
        numbers = [v for v, variable in zip(family, variables, strict=True) if variable.is_continuous]
        shape = tuple(variable.cardinality for variable in variables[:-1] if not variable.is_continuous)
        whose = f"the regression of {variables[-1].name!r}"
        check_cells(variables[:-1], whose)
        statistic.require_complete(dict(zip(family, variables, strict=True)), whose)
        moments = Moments.of(statistic, labels, numbers)
        added = SHRUNK_ROWS * (1.0 if isinstance(smoothing, str) else smoothing)
        if ess is not None:
            added = ess / math.prod(shape)
        of_numbers = [variable for variable in variables if variable.is_continuous]
        intercepts, slopes, sds = fitted_regressions(moments, of_numbers, added, random)
        *parents, child = family if positions is None else positions
        m = len(numbers) - 1
        return cls(child, parents, variables, intercepts.reshape(shape), slopes.reshape(*shape, m), sds.reshape(shape))

    # ---------------------------------------------------------------------------------------------------- its parents

    @property
    def labels(self) -> tuple[Variable, ...]:
        """The variables of the parents that have labels, in their order."""
        return tuple(variable for variable in self.variables[:-1] if not variable.is_continuous)

    @property
    def label_parents(self) -> tuple[int, ...]:
        """Their positions."""
        return tuple(self._places(numbers=False))

    @property
    def number_parents(self) -> tuple[int, ...]:
        """The positions of the parents that are numbers, in their order."""
        return tuple(self._places(numbers=True))

    def _places(self, *, numbers: bool) -> list[int]:
        pairs = zip(self.parents, self.variables[:-1], strict=True)
        return [position for position, variable in pairs if variable.is_continuous == numbers]

    @property
    def n_groups(self) -> int:
        """The number of configurations of the parents' labels; 1 where none has labels."""
        return int(self.sd.size)

    def groups(self, table: Table) -> npt.NDArray[np.int64]:
        """Return the configuration of the labels in each row, the last parent fastest, (n_rows,) int64."""
        if self.label_parents:
            table.select([variable.name for variable in self.labels]).require_complete("a conditional")
        return self._groups_of(table.codes, table.n_rows)

    def _groups_of(self, columns: Sequence[npt.NDArray[Any]], n_rows: int) -> npt.NDArray[np.int64]:
        at = np.zeros(n_rows, dtype=np.int64)
        for parent, variable in zip(self.label_parents, self.labels, strict=True):
            at = at * variable.cardinality + columns[parent]
        return at

    def describe_group(self, group: int) -> dict[str, Any]:
        """Return the labels of a configuration, by name."""
        states = np.unravel_index(group, self.sd.shape) if self.labels else ()
        return {variable.name: variable.states[int(k)] for variable, k in zip(self.labels, states, strict=True)}

    def inputs(self, columns: Sequence[npt.NDArray[Any]]) -> list[Numbers]:
        """Return the columns of the parents that are numbers, on their scales, (n_rows,) each."""
        pairs = zip(self.parents, self.variables[:-1], strict=True)
        return [variable.scaled(columns[parent]) for parent, variable in pairs if variable.is_continuous]

    def by_group(self) -> tuple[Numbers, Numbers, Numbers]:
        """Return the intercepts (q,), the coefficients (q, m) and the standard deviations (q,)."""
        m = self.coefficients.shape[-1]
        return self.intercept.reshape(-1), self.coefficients.reshape(self.sd.size, m), self.sd.reshape(-1)

    # ------------------------------------------------------------------------------------------------ what it computes

    @property
    def n_parameters(self) -> int:
        """The intercept, the coefficients and the standard deviation of every configuration."""
        return self.n_groups * self._width

    @property
    def _width(self) -> int:
        return 2 + int(self.coefficients.shape[-1])

    def log_prob(self, table: Table) -> Numbers:
        """Return the log-density of the child in each row given its parents, (n_rows,).

        Of a child that was rounded it is the logarithm of the mass of the interval of its resolution, per unit.
        """
        child, column = self.variables[-1], table.codes[self.child]
        if child.resolution is None:
            return self.log_density(table)
        at = self.groups(table)
        sd = self.sd.reshape(-1)[at]
        middles, widths = child.rounded_from(column)
        found = _core.log_normal_mass((middles - self._expected(table.codes, at)) / sd, widths / sd)
        return np.asarray(found + child.log_unit(column))

    def log_density(self, table: Table) -> Numbers:
        """Return the log-density of the child in each row given its parents, (n_rows,), as if nothing was rounded."""
        at, e = self.noise(table)
        slope = self.variables[-1].log_slope(table.codes[self.child])
        return np.asarray(log_normal(e, self.sd.reshape(-1)[at]) + slope)

    def noise(self, table: Table) -> tuple[npt.NDArray[np.int64], Numbers]:
        """Return the configuration of each row, and its noise e: what the parents leave of the child, over sd."""
        at = self.groups(table)
        return at, self.noise_in(table, at)

    def noise_in(self, table: Table, at: npt.NDArray[np.int64]) -> Numbers:
        """Return the noise of each row if it had a configuration, whatever its labels are, (n_rows,)."""
        return self._residual(table, at) / self.sd.reshape(-1)[at]

    def draw(self, columns: Sequence[npt.NDArray[Any]], noise: npt.NDArray[np.float64]) -> Numbers:
        """Return the child's numbers: what is expected of them, and `sd` times the noise."""
        at = self._groups_of(columns, len(noise))
        return np.asarray(self.variables[-1].unscaled(self.sd.reshape(-1)[at] * noise + self._expected(columns, at)))

    def scores(self, table: Table, out: npt.NDArray[np.float64] | None = None) -> Numbers:
        """Return the derivatives of `log_prob` by the intercept, the coefficients and the sd of each configuration."""
        scores = np.zeros((table.n_rows, self.n_parameters)) if out is None else out
        entries, columns = self.score_entries(table)
        if self.n_groups == 1:
            scores[:] = entries
        else:
            scores[np.arange(table.n_rows)[:, None], columns] = entries
        return scores

    def score_entries(self, table: Table) -> tuple[Numbers, npt.NDArray[np.int64]]:
        """Return the scores of each row in its own configuration, and their columns, both (n_rows, m + 2)."""
        at, e = self.noise(table)
        sd = self.sd.reshape(-1)[at]
        entries = np.empty((table.n_rows, self._width))
        entries[:, 0] = e / sd
        for place, z in enumerate(self.inputs(table.codes), 1):
            entries[:, place] = entries[:, 0] * z
        entries[:, -1] = (e**2 - 1) / sd
        return entries, at[:, None] * self._width + np.arange(self._width)

    def scores_of_spread(self, covariance: Numbers, group: int = 0) -> Numbers:
        """Return what the mean scores of uncertain rows have beyond the scores of their mean, (m + 2,).

        `covariance` is that of all variables in such a row, (d, d), in a configuration.
        """
        family = [*self.number_parents, self.child]
        of, sd = covariance[np.ix_(family, family)], self.sd.reshape(-1)[group]
        rest = np.array([*-self.by_group()[1][group], 1.0])  # the residual as a sum of the family
        return np.array([0.0, *(rest @ of)[:-1] / sd**2, rest @ of @ rest / sd**3])

    def information(self, of_parents: ParentMoments) -> Numbers:
        """Return ``P(j) E[z z' | j] / sd^2`` with z = (1, numbers), and ``2 P(j) / sd^2``, (q, m + 2, m + 2)."""
        mean, m = of_parents.mean, self._width - 2
        shares = (of_parents.probabilities / self.sd.reshape(-1) ** 2)[:, None]
        inputs = np.concatenate([np.ones((self.n_groups, 1)), mean], axis=1)
        moments = inputs[:, :, None] * inputs[:, None, :]
        moments[:, 1:, 1:] += of_parents.covariance
        information = np.zeros((self.n_groups, m + 2, m + 2))
        information[:, :-1, :-1] = shares[:, :, None] * moments
        information[:, -1, -1] = 2 * shares[:, 0]
        return information

    def unsmoothed(self, rows: Numbers, smoothing: float) -> Self:
        """Return it with residual variances over degrees of freedom: what k parameters took of few rows is given back.

        Of n rows and those that were added, what is left of the child is ``(n - k + added) / (n + added)`` of its
        variance on average; n rows take no more than n.
        """
        added = SHRUNK_ROWS * smoothing
        left = np.maximum(rows - (self._width - 1), 0.0) + added
        grown = np.divide(rows + added, left, out=np.ones_like(left), where=left > 0)
        return type(self)(
            self.child,
            self.parents,
            self.variables,
            self.intercept,
            self.coefficients,
            self.sd * np.sqrt(grown).reshape(self.sd.shape),
        )

    def factor(self) -> NoReturn:
        """Raise: a density is no table of states."""
        raise SchemaError(
            f"{self.name!r} is continuous, and exact inference over states needs tables; net.query, net.predict and "
            "infer.most_probable have answers with numbers"
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
        """Return the intercept, the coefficients and the standard deviation, of which labels change nothing."""
        if self.labels:
            raise SchemaError(
                f"{self.name!r} has another regression for each state of {listed([v.name for v in self.labels])}; "
                "means, covariances and precisions are those of networks whose variables are all continuous"
            )
        return float(self.intercept), self.coefficients, float(self.sd)

    # ------------------------------------------------------------------------------------------------ tables and files

    def to_frame(self) -> pa.Table:
        """Return the intercept, the coefficient of every number and the standard deviation of each configuration.

        One row each: the parents' labels, ``term`` and ``value``.
        """
        numbers = (variable.name for variable in self.variables[:-1] if variable.is_continuous)
        terms = ["(intercept)", *numbers, "(sd)"]
        level, slopes, sd = self.by_group()
        values = np.concatenate([level[:, None], slopes, sd[:, None]], axis=1)
        found: dict[str, Any] = {}
        states = np.unravel_index(np.arange(self.n_groups), self.sd.shape) if self.labels else ()
        for variable, codes in zip(self.labels, states, strict=True):
            found[variable.name] = [variable.states[k] for k in np.repeat(codes, len(terms)).tolist()]
        return pa.table(found | {"term": terms * self.n_groups, "value": values.reshape(-1)})

    def to_fields(self) -> dict[str, object]:
        """Return intercept, coefficients and standard deviation: numbers, or lists by configuration of the labels."""
        parts = {"intercept": self.intercept, "coefficients": self.coefficients, "sd": self.sd}
        return {name: part.reshape(-1).tolist() if part.ndim else float(part) for name, part in parts.items()}

    @classmethod
    def from_fields(cls, fields: Fields, child: int, parents: Sequence[int], variables: Sequence[Any]) -> Self:
        """Return the regression of which a file holds these fields."""
        shape = tuple(variable.cardinality for variable in variables[:-1] if not variable.is_continuous)
        m = len(variables) - 1 - len(shape)

        def array(name: str, of: tuple[int, ...]) -> Any:
            if not of:
                return fields.number(name)
            found = fields.numbers(fields.items(name), name)
            if len(found) != math.prod(of):
                raise fields.wrong(f"{len(found)} numbers, and {math.prod(of)} are needed", name)
            return np.reshape(found, of)

        return cls(
            child, parents, variables, array("intercept", shape), array("coefficients", (*shape, m)), array("sd", shape)
        )

    def _arguments(self) -> tuple[Any, ...]:
        return self.intercept, self.coefficients, self.sd

    def _expected(self, columns: Sequence[npt.NDArray[Any]], at: npt.NDArray[np.int64]) -> Numbers:
        """Return what is expected of the child given its parents, (n_rows,)."""
        level, slopes, _ = self.by_group()
        found = level[at]
        for place, z in enumerate(self.inputs(columns)):
            found += slopes[at, place] * z
        return found

    def _residual(self, table: Table, at: npt.NDArray[np.int64]) -> Numbers:
        """Return what the parents leave of the child, (n_rows,)."""
        return np.asarray(self.variables[-1].scaled(table.codes[self.child]) - self._expected(table.codes, at))
