"""A linear-Gaussian Bayesian network: each variable is a linear function of its parents, and noise.

Regressions of columns on others, and the precision that they make.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import listed
from fishernet.base.random import Seed, draw_count, generator
from fishernet.graphs import Dag
from fishernet.models.gaussian import Numbers, log_normal
from fishernet.models.gaussian_markov_network import (
    MOST_INFORMATION,
    MOST_SCORES,
    GaussianMarkovNetwork,
    checked_array,
    rows_of,
)

COLLINEAR = 1e-12  # the share of a variance that others may leave unexplained and still be called all of it

Regressors = Sequence[tuple[int, tuple[int, ...]]]  # each variable, and those before it on which it depends


def regression(S: Numbers, child: int, parents: Sequence[int]) -> tuple[Numbers, float]:
    """Return the coefficients of a variable on others, (n_parents,), and the variance that they leave.

    Parameters
    ----------
    S : (d, d) array
        A covariance matrix, or any multiple of one; positive definite on the parents.
    """
    at = list(parents)
    if not at:
        return np.empty(0), float(S[child, child])
    coefficients: Numbers = np.asarray(np.linalg.solve(S[np.ix_(at, at)], S[at, child]))
    return coefficients, float(S[child, child] - S[child, at] @ coefficients)


def chordal_precision(R: Numbers, order: Regressors, names: Sequence[str]) -> Numbers:
    """Return the precision of a chordal graph whose inverse agrees with R on its cliques.

    Each variable is regressed on its earlier neighbors: ``K = sum_v (e_v - b_v)(e_v - b_v)' / rest_v``.

    Parameters
    ----------
    R : (d, d) array
        With ones on its diagonal.
    order : sequence of (variable, earlier neighbors)
        As `fishernet.graphs.undirected.chordal_subgraph` gives it.
    names : sequence of str
        For messages.

    Raises
    ------
    SchemaError
        When R is singular on a clique, naming it.
    """
    K = np.zeros_like(R)
    for variable, earlier in order:
        coefficients, rest = regression(R, variable, earlier)
        if rest < COLLINEAR:
            raise singular_clique([names[v] for v in sorted((variable, *earlier))])
        add_regression(K, variable, earlier, coefficients, rest)
    return K


def add_regression(K: Numbers, variable: int, others: Sequence[int], coefficients: Numbers, variance: float) -> None:
    """Add to a precision the density of a variable given others."""
    at = [variable, *others]
    direction = np.concatenate([[1.0], -coefficients])
    K[np.ix_(at, at)] += np.outer(direction, direction) / variance


def singular_clique(clique: Sequence[str]) -> SchemaError:
    """Return the error that says that a clique's variables are linear combinations of one another."""
    return SchemaError(
        f"the {len(clique)} variables {listed(clique)} are all joined with one another, and their covariance is "
        "singular: there are too few rows for so many, or one is a linear combination of others; take more rows, or "
        "fewer edges among them"
    )


class GaussianBayesianNetwork:
    """A Bayesian network of numbers; immutable.

    Variable i is ``intercept_i + coefficients_i' parents + sd_i e`` with e standard normal and independent of
    everything else. Together they have a multivariate normal distribution.

    Parameters
    ----------
    dag : Dag
        The structure, on d variables.
    intercepts : (d,) array
    coefficients : sequence of d arrays
        Of each variable's parents, in the order of ``dag.parents``; empty without parents.
    sds : (d,) array
        Standard deviations of the noise, positive.

    Raises
    ------
    SchemaError
        When shapes do not fit, a number is not finite, or a standard deviation is not positive.

    See Also
    --------
    fishernet.learn.fit : fits one to columns of numbers.

    Examples
    --------
    >>> import fishernet as fn
    >>> dag = fn.Dag.from_edges(["a", "b"], [("a", "b")])
    >>> net = fn.GaussianBayesianNetwork(dag, [0, 1], [[], [2]], [1, 0.5])
    >>> net
    GaussianBayesianNetwork(2 variables, 1 edge)
    >>> net.mean, net.covariance
    (array([0., 1.]), array([[1.  , 2.  ],
           [2.  , 4.25]]))
    >>> net.log_prob([[1.0, 3.0]]).round(3)
    array([-1.645])
    """

    def __init__(
        self, dag: Dag, intercepts: npt.ArrayLike, coefficients: Iterable[npt.ArrayLike], sds: npt.ArrayLike
    ) -> None:
        if not isinstance(dag, Dag):
            raise SchemaError(f"a Gaussian Bayesian network needs a Dag, not {type(dag).__name__}")
        d = len(dag.names)
        if not d:
            raise SchemaError("a Gaussian Bayesian network needs a variable; the graph has none")
        self._dag = dag
        self._intercepts = checked_array(intercepts, "the intercepts", (d,))
        given = list(coefficients)
        if len(given) != d:
            raise SchemaError(f"{d} variables need {d} arrays of coefficients, got {len(given)}")
        self._coefficients = tuple(
            checked_array(values, f"the coefficients of {name!r}", (len(parents),))
            for name, parents, values in zip(dag.names, dag.parents, given, strict=True)
        )
        self._sds = checked_array(sds, "the standard deviations", (d,))
        if not (self._sds > 0).all():
            v = int(np.argmin(self._sds > 0))
            raise SchemaError(f"the standard deviation of {dag.names[v]!r} must be positive, got {self._sds[v]:.6g}")

    @property
    def dag(self) -> Dag:
        """The structure."""
        return self._dag

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return self._dag.names

    @property
    def intercepts(self) -> Numbers:
        """What each variable is without its parents, (d,)."""
        return self._intercepts

    @property
    def coefficients(self) -> tuple[Numbers, ...]:
        """The coefficients of each variable's parents, in the order of ``dag.parents``."""
        return self._coefficients

    @property
    def sds(self) -> Numbers:
        """The standard deviation of each variable given its parents, (d,)."""
        return self._sds

    @property
    def n_parameters(self) -> int:
        """The number of parameters: two a variable, and the edges."""
        return 2 * len(self.names) + self._dag.n_edges

    @cached_property
    def mean(self) -> Numbers:
        """The mean, (d,)."""
        mean = self._intercepts.copy()
        for v in self._dag.order:
            mean[v] += self._coefficients[v] @ mean[list(self._dag.parents[v])]
        mean.flags.writeable = False
        return mean

    @cached_property
    def covariance(self) -> Numbers:
        """The covariance, (d, d)."""
        d = len(self.names)
        noise = np.zeros((d, d))  # each variable as a combination of all noises
        for v in self._dag.order:
            noise[v] = self._coefficients[v] @ noise[list(self._dag.parents[v])]
            noise[v, v] = self._sds[v]
        covariance: Numbers = noise @ noise.T
        covariance = (covariance + covariance.T) / 2
        covariance.flags.writeable = False
        return covariance

    @cached_property
    def precision(self) -> Numbers:
        """The inverse of the covariance, (d, d); zero between variables that the moral graph does not join."""
        d = len(self.names)
        precision = np.zeros((d, d))
        for v, parents in enumerate(self._dag.parents):
            add_regression(precision, v, parents, self._coefficients[v], self._sds[v] ** 2)
        precision.flags.writeable = False
        return precision

    def to_markov_network(self) -> GaussianMarkovNetwork:
        """Return the same distribution by its mean and precision, which also predicts any variables from others."""
        return GaussianMarkovNetwork(self.names, self.mean, self.precision)

    def rows(self, X: Any, *, complete_for: str = "") -> Numbers:  # noqa: ARG002
        """Return data as rows of the network's variables, (n, d)."""
        return rows_of(X, self.names)

    def log_prob(self, X: Any) -> Numbers:
        """Return the log-density of each row, (n,) float64.

        Parameters
        ----------
        X : (n, d) array or data frame
            The columns of a frame are matched by name.

        Raises
        ------
        SchemaError
            When a column is absent, or a value is not finite.
        """
        rows = rows_of(X, self.names)
        total = np.zeros(len(rows))
        for v, sd in enumerate(self._sds):
            total += log_normal(self._residual(rows, v) / sd, sd)
        return total

    def sample(self, n: int, *, seed: Seed = None) -> Numbers:
        """Draw rows, (n, d) float64.

        Parameters
        ----------
        n : int
        seed : None, int or numpy.random.Generator
        """
        count = draw_count(n)
        rows = generator(seed).standard_normal((count, len(self.names)))
        for v in self._dag.order:
            rows[:, v] *= self._sds[v]
            rows[:, v] += self._intercepts[v] + rows[:, list(self._dag.parents[v])] @ self._coefficients[v]
        return rows

    def fisher_scores(self, X: Any) -> Numbers:
        """Return the derivatives of each log-density in the parameters, (n, n_parameters) float64.

        Parameters
        ----------
        X : (n, d) array or data frame

        Returns
        -------
        (n, n_parameters) float64
            Variable by variable: in its intercept, its coefficients, its standard deviation.

        Raises
        ------
        SchemaError
            As for `log_prob`.
        StateSpaceError
            When they would not fit.
        """
        rows = rows_of(X, self.names)
        cells = len(rows) * self.n_parameters
        if cells > MOST_SCORES:
            raise StateSpaceError("the scores", cells=cells, limit=MOST_SCORES, remedy="take the rows in parts")
        scores = np.empty((len(rows), self.n_parameters))
        first = 0
        for v, parents in enumerate(self._dag.parents):
            rest, sd = self._residual(rows, v), self._sds[v]
            last = first + 1 + len(parents)
            scores[:, first] = rest / sd**2
            scores[:, first + 1 : last] = scores[:, first, None] * rows[:, list(parents)]
            scores[:, last] = ((rest / sd) ** 2 - 1) / sd
            first = last + 1
        return scores

    def fisher_information(self) -> Numbers:
        """Return the expected product of the scores of one row, (n_parameters, n_parameters) float64.

        A block a variable: the mean product of (1, parents) with itself over sd^2, and 2 / sd^2.

        Raises
        ------
        StateSpaceError
            When it would not fit.
        """
        size = self.n_parameters
        if size**2 > MOST_INFORMATION:
            raise StateSpaceError(
                "the Fisher information",
                cells=size**2,
                limit=MOST_INFORMATION,
                remedy='use the metric "practical"',
            )
        information = np.zeros((size, size))
        first = 0
        for parents, sd in zip(self._dag.parents, self._sds, strict=True):
            at, last = list(parents), first + 1 + len(parents)
            inputs = np.concatenate([[1.0], self.mean[at]])
            moments = np.outer(inputs, inputs)
            moments[1:, 1:] += self.covariance[np.ix_(at, at)]
            information[first:last, first:last] = moments / sd**2
            information[last, last] = 2 / sd**2
            first = last + 1
        return information

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GaussianBayesianNetwork):
            return NotImplemented
        mine = (self._intercepts, self._sds, *self._coefficients)
        theirs = (other._intercepts, other._sds, *other._coefficients)
        return self._dag == other._dag and all(map(np.array_equal, mine, theirs))

    def __hash__(self) -> int:
        return hash((self._dag, tuple(self._intercepts.tolist()), tuple(self._sds.tolist())))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self._dag, self._intercepts, self._coefficients, self._sds)

    def __repr__(self) -> str:
        d, m = len(self.names), self._dag.n_edges
        return f"GaussianBayesianNetwork({d} variable{'' if d == 1 else 's'}, {m} edge{'' if m == 1 else 's'})"

    def _residual(self, rows: Numbers, v: int) -> Numbers:
        """Return what the parents leave of a variable, (n,)."""
        parents: Sequence[int] = self._dag.parents[v]
        explained = rows[:, list(parents)] @ self._coefficients[v]
        return np.asarray(rows[:, v] - self._intercepts[v] - explained)
