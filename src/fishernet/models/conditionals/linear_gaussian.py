"""Networks of numbers alone: the joint normal distribution that linear regressions make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fishernet.models.conditionals.base import Conditional
from fishernet.models.gaussian import Numbers

COLLINEAR = 1e-12  # the share of a variance that others may leave unexplained and still be called all of it


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
