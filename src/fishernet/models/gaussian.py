"""Normal distributions and their mixtures (Shawe-Taylor and Cristianini, 2004, examples 12.30 and 12.31)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import shown
from fishernet.base.random import Seed, draw_count, generator
from fishernet.models.model import WithoutVariables
from fishernet.models.sequences.alphabet import checked_rows

Numbers = npt.NDArray[np.float64]


def checked_data(x: npt.ArrayLike) -> Numbers:
    """Return observations, (n,) float64, all finite."""
    try:
        values = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"the observations must be an array of numbers: {error}") from None
    if values.ndim != 1:
        raise SchemaError(f"the observations must be a one-dimensional array, got shape {values.shape}")
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise SchemaError(f"observation {place} is {values[place]}; observations must be finite")
    return values


def checked_number(value: float, what: str, *, positive: bool = False) -> float:
    """Return a finite number, positive where it must be."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SchemaError(f"{what} must be a number, got {shown(value)}") from None
    if not np.isfinite(number) or (positive and number <= 0):
        raise SchemaError(f"{what} must be a finite{', positive' if positive else ''} number, got {shown(value)}")
    return number


def log_normal(distance: Numbers, sd: float | Numbers) -> Numbers:
    """Return the log-density of a normal distribution at a distance from its mean, in units of sd."""
    with np.errstate(over="ignore"):  # so far away that the density is 0
        return np.asarray(-0.5 * distance**2 - np.log(sd) - 0.5 * np.log(2 * np.pi))


class Gaussian(WithoutVariables):
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

    __slots__ = ("mean", "sd")

    kind: ClassVar[str] = "normal distribution"
    """What it is called."""
    values: ClassVar[Literal["numbers"]] = "numbers"
    """Its data are numbers."""

    mean: float
    """The mean."""
    sd: float
    """The standard deviation."""

    n_parameters = 2

    def __init__(self, mean: float, sd: float) -> None:
        spread = checked_number(sd, "the standard deviation", positive=True)
        self._set(mean=checked_number(mean, "the mean"), sd=spread)

    def log_prob(self, x: npt.ArrayLike) -> Numbers:
        """Return the log-density of each of (n,) numbers, (n,) float64."""
        return log_normal((checked_data(x) - self.mean) / self.sd, self.sd)

    def fisher_scores(self, x: npt.ArrayLike) -> Numbers:
        """Return the derivatives of each log-density in mean and sd, (n, 2) float64."""
        z = (checked_data(x) - self.mean) / self.sd
        return np.column_stack([z, z**2 - 1]) / self.sd

    def fisher_information(self) -> Numbers:
        """Return the expected product of the scores of one observation, (2, 2) float64."""
        return np.diag([1.0, 2.0]) / self.sd**2

    def sample(self, n: int, *, seed: Seed = None) -> Numbers:
        """Draw numbers, (n,) float64."""
        return generator(seed).normal(self.mean, self.sd, draw_count(n))

    def _parts(self) -> tuple[Any, ...]:
        return self.mean, self.sd

    def __repr__(self) -> str:
        return f"Gaussian({self.mean!r}, {self.sd!r})"


REACH, STEP = 12.0, 0.01  # of the integration around each mean, in standard deviations


class GaussianMixture(WithoutVariables):
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

    __slots__ = ("means", "sd", "weights")

    kind: ClassVar[str] = "mixture of normal distributions"
    """What it is called."""
    values: ClassVar[Literal["numbers"]] = "numbers"
    """Its data are numbers."""

    weights: Numbers
    """(n_components,) P(component)."""
    means: Numbers
    """(n_components,) the means."""
    sd: float
    """The standard deviation of every component."""

    def __init__(self, weights: npt.ArrayLike, means: npt.ArrayLike, sd: float) -> None:
        shares, centres = checked_rows(weights, "weights", (None,)), checked_data(means).copy()
        centres.flags.writeable = False
        if centres.shape != shares.shape:
            raise SchemaError(f"{len(centres)} means for {len(shares)} weights")
        self._set(weights=shares, means=centres, sd=checked_number(sd, "the standard deviation", positive=True))

    @property
    def n_parameters(self) -> int:
        """The number of scores: one per mean."""
        return len(self.means)

    def log_prob(self, x: npt.ArrayLike) -> Numbers:
        """Return the log-density of each of (n,) numbers, (n,) float64."""
        return np.asarray(np.logaddexp.reduce(self._joint(checked_data(x)), axis=1))

    def posterior(self, x: npt.ArrayLike) -> Numbers:
        """Return P(component | x) of each of (n,) numbers, (n, n_components) float64."""
        joint = self._joint(checked_data(x))
        return np.asarray(np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)))

    def fisher_scores(self, x: npt.ArrayLike) -> Numbers:
        """Return the derivatives of each log-density in the means, (n, n_components) float64."""
        values = checked_data(x)
        return self.posterior(values) * (values[:, None] - self.means) / self.sd**2

    def fisher_information(self) -> Numbers:
        """Return the expected product of the scores of one observation, (n_components, n_components) float64.

        Integrated around every mean by the trapezoidal rule, which is exact to rounding here: the integrand is analytic
        and falls like a normal density.
        """
        offsets = np.arange(-REACH, REACH + STEP / 2, STEP) * self.sd
        density = np.exp(log_normal(offsets / self.sd, self.sd)) * STEP * self.sd
        information = np.zeros((self.n_parameters, self.n_parameters))
        for weight, mean in zip(self.weights, self.means, strict=True):
            scores = self.fisher_scores(mean + offsets)
            information += weight * (scores.T * density) @ scores
        return (information + information.T) / 2

    def sample(self, n: int, *, seed: Seed = None) -> Numbers:
        """Draw numbers, (n,) float64."""
        random, count = generator(seed), draw_count(n)
        component = random.choice(len(self.weights), count, p=self.weights / self.weights.sum())
        return random.normal(self.means[component], self.sd)

    def _parts(self) -> tuple[Any, ...]:
        return self.weights, self.means, self.sd

    def __repr__(self) -> str:
        return f"GaussianMixture({self.weights.tolist()}, {self.means.tolist()}, {self.sd!r})"

    def _joint(self, values: Numbers) -> Numbers:
        """Return the log of each component's weight times its density, (n, n_components)."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights)
        return logs + log_normal((values[:, None] - self.means) / self.sd, self.sd)
