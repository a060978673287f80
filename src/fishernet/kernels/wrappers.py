"""Kernels made of another kernel: cosines, and radial basis functions of its distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from fishernet.base import check
from fishernet.kernels.features import Features, Matrix, scaled, weighted_mean
from fishernet.kernels.kernel import BaseKernel, Kernel, LogMadeKernel, OfFeatures, adapted
from fishernet.kernels.rows import Rows


class OfKernel(BaseKernel):
    """A kernel made of another, whose rows it takes."""

    kernel: BaseKernel

    def rows(self, X: Any) -> Rows:
        """Return data as rows that the other kernel takes."""
        return self.kernel.rows(X)

    def _pair(self, X: Any, Y: Any) -> tuple[Rows, Rows | None]:
        return self.rows(X), None if Y is None else self.rows(Y)


class Normalized(OfKernel):
    """The cosine of the angle between features: ``k(x, y) / sqrt(k(x, x) k(y, y))``.

    A row with ``k(x, x) = 0`` has no direction; its value with every row is 0.

    Parameters
    ----------
    kernel : Kernel
        Where it has features, so has the cosine. Where it knows the logarithms of its values, the cosine is made from
        these, and does not mind values that underflow.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> cosine = fn.kernels.Normalized(fn.kernels.FisherKernel(asia))
    >>> cosine.diag(asia.sample(3, seed=1)).round(12)
    array([1., 1., 1.])
    """

    def __new__(cls, kernel: Kernel) -> Normalized:
        """Make the kind with features, or from logarithms, where the kernel has them."""
        if cls is not Normalized:
            return super().__new__(cls)
        known = adapted(kernel, logs=True)
        if known.gives_logs:
            return super().__new__(NormalizedLogs)
        return super().__new__(NormalizedFeatures if known.gives_features else cls)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel: BaseKernel = adapted(kernel, logs=True)

    def __getnewargs__(self) -> tuple[Kernel]:
        return (self.kernel,)  # pickled cosines are made the same way

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the cosines of all pairs, (n, m) float64."""
        X, Y = self._pair(X, Y)
        of_x = _one_over_length(self.kernel.diag(X))
        of_y = of_x if Y is None else _one_over_length(self.kernel.diag(Y))
        cosines: Matrix = self.kernel(X, Y) * (of_x[:, None] * of_y)  # the same product both ways: symmetric
        return cosines

    def diag(self, X: Any) -> Matrix:
        """Return 1 for each row that has a direction, else 0, (n,) float64."""
        return np.where(self.kernel.diag(X) > 0, 1.0, 0.0)

    def __repr__(self) -> str:
        return f"Normalized({self.kernel!r})"


class NormalizedFeatures(OfFeatures, Normalized):
    """The cosine of a kernel with features: features of length 1."""

    kernel: OfFeatures

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.kernel.dimension

    def features(self, X: Any) -> Features:
        """Return the features, each row of length 1, (n, dimension)."""
        rows = self.rows(X)
        return scaled(self.kernel.features(rows), _one_over_length(self.kernel.diag(rows)))

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,)."""
        rows = self.rows(X)
        return weighted_mean(self.features(rows), rows)


class NormalizedLogs(Normalized):
    """The cosine of a kernel that knows its logarithms: ``exp(log k(x, y) - (log k(x, x) + log k(y, y)) / 2)``."""

    kernel: LogMadeKernel

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the cosines of all pairs, (n, m) float64."""
        X, Y = self._pair(X, Y)
        of_x = self.kernel.log_diag(X)
        of_y = of_x if Y is None else self.kernel.log_diag(Y)
        lengths = (of_x[:, None] + of_y) / 2
        some = lengths > -np.inf
        cosines: Matrix = np.exp(np.where(some, self.kernel.log_matrix(X, Y), -np.inf) - np.where(some, lengths, 0.0))
        return cosines

    def diag(self, X: Any) -> Matrix:
        """Return 1 for each row that has a direction, else 0, (n,) float64."""
        return np.where(self.kernel.log_diag(X) > -np.inf, 1.0, 0.0)


class Rbf(OfKernel):
    """The radial basis function of a kernel's distance: ``exp(-d(x, y)^2 / (2 bandwidth^2))``.

    ``d(x, y)^2 = k(x, x) + k(y, y) - 2 k(x, y)``.

    Parameters
    ----------
    kernel : Kernel
    bandwidth : float
        Positive, in the units of the distance.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> k = fn.kernels.Rbf(fn.kernels.FisherKernel(asia), bandwidth=5.0)
    >>> k.diag(asia.sample(2, seed=1))
    array([1., 1.])
    """

    def __init__(self, kernel: Kernel, bandwidth: float) -> None:
        bandwidth = check.number(bandwidth, "bandwidth", above=0)
        self.kernel: BaseKernel = adapted(kernel)
        self.bandwidth: float = float(bandwidth)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, (n, m) float64."""
        X, Y = self._pair(X, Y)
        of_x = self.kernel.diag(X)
        of_y = of_x if Y is None else self.kernel.diag(Y)
        squared = np.maximum(of_x[:, None] + of_y - 2 * self.kernel(X, Y), 0)
        if Y is None:
            np.fill_diagonal(squared, 0)  # what is left there is rounding
        return np.asarray(np.exp(-squared / (2 * self.bandwidth**2)))

    def diag(self, X: Any) -> Matrix:
        """Return 1 for each row, (n,) float64."""
        return np.ones(len(self.kernel.diag(X)))

    def __repr__(self) -> str:
        return f"Rbf({self.kernel!r}, bandwidth={self.bandwidth:g})"


def _one_over_length(squares: Matrix) -> Matrix:
    lengths = np.sqrt(np.maximum(squares, 0))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
