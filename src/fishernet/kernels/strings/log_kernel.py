"""Kernels that are made as logarithms."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from fishernet.kernels.kernel import Algebra, Matrix


class LogMadeKernel(Algebra):
    """A kernel that knows the logarithms of its values.

    Parameters
    ----------
    log : bool
        Whether calls return log k instead of k. Logarithms are no kernel: they cannot be added to or multiplied with
        others, but `Normalized` takes cosines from them either way.
    """

    def __init__(self, *, log: bool) -> None:
        self.log = bool(log)

    @abstractmethod
    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""

    @abstractmethod
    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each string with itself, (n,) float64."""

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, or their logarithms, (n, m) float64; without Y exactly symmetric."""
        return self._given(self.log_matrix(X, Y))

    def diag(self, X: Any) -> Matrix:
        """Return the value of each string with itself, or its logarithm, (n,) float64."""
        return self._given(self.log_diag(X))

    def _given(self, logs: Matrix) -> Matrix:
        return logs if self.log else np.exp(logs)
