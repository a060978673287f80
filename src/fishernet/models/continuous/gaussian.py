"""A normal distribution (P3, example 12.30)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.models.continuous.checks import Numbers, checked_data, checked_number, log_normal
from fishernet.random import Seed, checked_count, generator


class Gaussian:
    """A normal distribution; immutable.

    Its scores are ``((x - mean) / sd^2, (x - mean)^2 / sd^3 - 1 / sd)`` and its information is
    ``diag(1 / sd^2, 2 / sd^2)``. The book prints those of a function that does not integrate to 1.

    Parameters
    ----------
    mean : float
    sd : float
        Standard deviation, positive.

    Raises
    ------
    SchemaError
        When one is not finite, or sd is not positive.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.Gaussian(0, 1).fisher_scores([-1.0, 2.0])
    array([[-1., 0.],
           [ 2., 3.]])
    """

    __slots__ = ("__weakref__", "_mean", "_sd")

    n_parameters = 2

    def __init__(self, mean: float, sd: float) -> None:
        self._mean = checked_number(mean, "the mean")
        self._sd = checked_number(sd, "the standard deviation", positive=True)

    @property
    def mean(self) -> float:
        """The mean."""
        return self._mean

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return self._sd

    def log_prob(self, x: npt.ArrayLike) -> Numbers:
        """Return the log-density of each of (n,) numbers, (n,) float64.

        Raises
        ------
        SchemaError
            When one is not a finite number.
        """
        return log_normal((checked_data(x) - self._mean) / self._sd, self._sd)

    def fisher_scores(self, x: npt.ArrayLike) -> Numbers:
        """Return the derivatives of each log-density in mean and sd, (n, 2) float64.

        Raises
        ------
        SchemaError
            When one of the (n,) numbers is not finite.
        """
        z = (checked_data(x) - self._mean) / self._sd
        return np.column_stack([z, z**2 - 1]) / self._sd

    def fisher_information(self) -> Numbers:
        """Return the expected product of the scores of one observation, (2, 2) float64."""
        return np.diag([1.0, 2.0]) / self._sd**2

    def sample(self, n: int, *, seed: Seed = None) -> Numbers:
        """Draw numbers, (n,) float64."""
        return generator(seed).normal(self._mean, self._sd, checked_count(n, "the number of draws", 0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gaussian):
            return NotImplemented
        return (self._mean, self._sd) == (other._mean, other._sd)

    def __hash__(self) -> int:
        return hash((self._mean, self._sd))

    def __repr__(self) -> str:
        return f"Gaussian({self._mean!r}, {self._sd!r})"
