"""A mixture of normal distributions of one width (P3, example 12.31)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.models.continuous.checks import Numbers, checked_data, checked_number, log_normal
from fishernet.models.sequences.checks import checked_rows
from fishernet.random import Seed, checked_count, generator

REACH, STEP = 12.0, 0.01  # of the integration around each mean, in standard deviations


class GaussianMixture:
    """A mixture of normal distributions that share one standard deviation; immutable.

    The scores in the means are ``r_k(x) (x - mean_k) / sd^2``, with r_k(x) the posterior probability of component k.
    The book prints them without r_k, as if both components had made x.

    Parameters
    ----------
    weights : (n_components,) array
        Not negative; they sum to 1.
    means : (n_components,) array
    sd : float
        Standard deviation of all components, positive.

    Raises
    ------
    SchemaError
        When shapes do not fit, a number is not finite, or weights do not sum to 1.

    Examples
    --------
    >>> import fishernet as fn
    >>> mixture = fn.GaussianMixture([0.5, 0.5], [-1, 1], 1)
    >>> mixture.posterior([0.0])
    array([[0.5, 0.5]])
    >>> mixture.fisher_scores([0.0])
    array([[ 0.5, -0.5]])
    """

    __slots__ = ("__weakref__", "_means", "_sd", "_weights")

    def __init__(self, weights: npt.ArrayLike, means: npt.ArrayLike, sd: float) -> None:
        self._weights = checked_rows(weights, "weights", (None,))
        self._means = checked_data(means).copy()
        self._means.flags.writeable = False
        if self._means.shape != self._weights.shape:
            raise SchemaError(f"{len(self._means)} means for {len(self._weights)} weights")
        self._sd = checked_number(sd, "the standard deviation", positive=True)

    @property
    def weights(self) -> Numbers:
        """(n_components,) P(component)."""
        return self._weights

    @property
    def means(self) -> Numbers:
        """(n_components,) the means."""
        return self._means

    @property
    def sd(self) -> float:
        """The standard deviation of every component."""
        return self._sd

    @property
    def n_parameters(self) -> int:
        """The number of scores: one a mean."""
        return len(self._means)

    def log_prob(self, x: npt.ArrayLike) -> Numbers:
        """Return the log-density of each of (n,) numbers, (n,) float64.

        Raises
        ------
        SchemaError
            When one is not a finite number.
        """
        return np.asarray(np.logaddexp.reduce(self._joint(checked_data(x)), axis=1))

    def posterior(self, x: npt.ArrayLike) -> Numbers:
        """Return P(component | x) of each of (n,) numbers, (n, n_components) float64."""
        joint = self._joint(checked_data(x))
        return np.asarray(np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)))

    def fisher_scores(self, x: npt.ArrayLike) -> Numbers:
        """Return the derivatives of each log-density in the means, (n, n_components) float64.

        Raises
        ------
        SchemaError
            When one of the (n,) numbers is not finite.
        """
        values = checked_data(x)
        return self.posterior(values) * (values[:, None] - self._means) / self._sd**2

    def fisher_information(self) -> Numbers:
        """Return the expected product of the scores of one observation, (n_components, n_components) float64.

        Integrated around every mean by the trapezoidal rule, which is exact to rounding here: the integrand is analytic
        and falls like a normal density.
        """
        offsets = np.arange(-REACH, REACH + STEP / 2, STEP) * self._sd
        density = np.exp(log_normal(offsets / self._sd, self._sd)) * STEP * self._sd
        information = np.zeros((self.n_parameters, self.n_parameters))
        for weight, mean in zip(self._weights, self._means, strict=True):
            scores = self.fisher_scores(mean + offsets)
            information += weight * (scores.T * density) @ scores
        return (information + information.T) / 2

    def sample(self, n: int, *, seed: Seed = None) -> Numbers:
        """Draw numbers, (n,) float64."""
        random, count = generator(seed), checked_count(n, "the number of draws", 0)
        component = random.choice(len(self._weights), count, p=self._weights / self._weights.sum())
        return random.normal(self._means[component], self._sd)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GaussianMixture):
            return NotImplemented
        mine, theirs = (self._weights, self._means), (other._weights, other._means)
        return self._sd == other._sd and all(map(np.array_equal, mine, theirs))

    def __hash__(self) -> int:
        return hash((self._weights.tobytes(), self._means.tobytes(), self._sd))

    def __reduce__(self) -> tuple[Any, ...]:
        return GaussianMixture, (self._weights, self._means, self._sd)

    def __repr__(self) -> str:
        return f"GaussianMixture({self._weights.tolist()}, {self._means.tolist()}, {self._sd!r})"

    def _joint(self, values: Numbers) -> Numbers:
        """Return the log of each component's weight times its density, (n, n_components)."""
        with np.errstate(divide="ignore"):
            logs = np.log(self._weights)
        return logs + log_normal((values[:, None] - self._means) / self._sd, self._sd)
