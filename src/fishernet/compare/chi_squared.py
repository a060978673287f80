"""Squared lengths of mean features beside chi-squared distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.compare.corrections import benjamini_hochberg, holm
from fishernet.kernels.kernel import ModelKernel
from fishernet.kernels.parts import FeatureParts

Array = npt.NDArray[np.float64]
PValues = tuple[Array, Array, Array]  # of each alone, for any false one, for the share of false ones

LEAST_EXPECTED = 5.0  # rows of a cell, for a chi-squared distribution to be near


def satterthwaite(statistic: float, covariance_trace: float, squared_trace: float) -> float:
    """Return P(sum of lambda_i chi2_1 >= statistic) by a scaled chi-squared with its mean and variance.

    The traces are the sums of lambda and of lambda^2.
    """
    from scipy.special import gammaincc  # slow to import, and needed by few calls

    if covariance_trace <= 0 or squared_trace <= 0:
        return 1.0
    scale = squared_trace / covariance_trace
    degrees = covariance_trace**2 / squared_trace
    return float(gammaincc(degrees / 2, statistic / scale / 2))


def degrees_of_freedom(kernel: ModelKernel) -> npt.NDArray[np.int64]:
    """Return the degrees of freedom of each configuration, or of each variable, or of all."""
    return np.array([kernel.dimension]) if kernel.feature_parts is None else kernel.feature_parts.degrees_of_freedom


@dataclass(frozen=True, eq=False)
class SquaredMean:
    """The squared length of a mean feature, and what variables and configurations add to it."""

    total: float
    by_variable: Array
    by_group: Array

    @classmethod
    def of(cls, mean: Array, factor: float, parts: FeatureParts | None) -> SquaredMean:
        """Return the squared length of a mean feature, times a factor."""
        squares: Array = factor * np.asarray(mean, dtype=np.float64) ** 2
        nothing: Array = np.empty(0)
        if parts is None:
            return cls(float(squares.sum()), nothing, nothing)
        by_variable = _summed(parts.variable_of, squares, len(parts.names))
        if parts.group_of is None:
            return cls(float(squares.sum()), by_variable, nothing)
        by_group = _summed(parts.group_of, squares, len(parts.variable_of_group))
        return cls(float(squares.sum()), by_variable, by_group)


def _summed(of: npt.NDArray[np.int64], values: Array, n: int) -> Array:
    return np.bincount(of, weights=values, minlength=n).astype(np.float64)


def chi_squared_p_values(
    observed: SquaredMean, free: npt.NDArray[np.int64], parts: FeatureParts | None
) -> tuple[float, PValues, PValues | None]:
    """Return p-values of all, of variables and of configurations by chi-squared distributions."""
    total = _tail(np.array([observed.total]), np.array([free.sum()]))
    of_variables, of_groups = free, None
    if len(observed.by_group) and parts is not None:
        of_variables = np.bincount(parts.variable_of_group, weights=free, minlength=len(parts.names)).astype(np.int64)
        of_groups = _corrected(_tail(observed.by_group, free))
    by_variable = _tail(observed.by_variable, of_variables[: len(observed.by_variable)])
    return float(total[0]), _corrected(by_variable), of_groups


def _tail(statistics: Array, degrees: npt.NDArray[np.int64]) -> Array:
    from scipy.special import gammaincc  # slow to import, and needed by few calls

    found = np.ones(len(statistics))
    tested = degrees > 0
    found[tested] = gammaincc(degrees[tested] / 2, statistics[tested] / 2)
    return found


def _corrected(alone: Array) -> PValues:
    return alone, holm(alone), benjamini_hochberg(alone)
