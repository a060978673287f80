"""What a kernel is, and how kernels are added and multiplied."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError

Matrix = npt.NDArray[np.float64]
Features = Any  # scipy.sparse.csr_array where most entries are 0, else a float64 array


@runtime_checkable
class Kernel(Protocol):
    """A symmetric, positive semidefinite function of two rows."""

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, (n, m) float64; without Y it is X, and the matrix is exactly symmetric."""
        ...

    def diag(self, X: Any) -> Matrix:
        """Return the value of each row with itself, (n,) float64."""
        ...


@runtime_checkable
class FeatureKernel(Kernel, Protocol):
    """A kernel that is an inner product of features."""

    @property
    def dimension(self) -> int:
        """The number of features."""
        ...

    def features(self, X: Any) -> Features:
        """Return F with ``k(X, Y) == F(X) @ F(Y).T``, (n, dimension)."""
        ...

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,); rows count by their weights."""
        ...


@runtime_checkable
class LogKernel(Kernel, Protocol):
    """A kernel that knows the logarithms of its values, which may be far beyond the range of doubles."""

    log: bool  # whether calls give the logarithms

    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""
        ...

    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each row with itself, (n,) float64."""
        ...


def has_features(kernel: Kernel) -> TypeGuard[FeatureKernel]:
    """Return whether a kernel is an inner product of features that it can give."""
    return isinstance(kernel, FeatureKernel)


class Algebra:
    """Gives kernels ``+`` and ``*``."""

    def __add__(self, other: Any) -> Sum:
        """Return the sum of two kernels."""
        if not _is_kernel(self) or not _is_kernel(other):
            return NotImplemented
        parts = (*_parts_of(self), *_parts_of(other))
        return FeatureSum(parts) if all(has_features(part) for part in parts) else Sum(parts)

    def __mul__(self, other: Any) -> Product | Multiple:
        """Return the product of two kernels, or a non-negative multiple of one."""
        if not _is_kernel(self):
            return NotImplemented
        if _is_kernel(other):
            return Product(self, other)
        if isinstance(other, bool) or not isinstance(other, int | float | np.integer | np.floating):
            return NotImplemented
        return FeatureMultiple(self, float(other)) if has_features(self) else Multiple(self, float(other))

    __rmul__ = __mul__


def _is_kernel(value: Any) -> TypeGuard[Kernel]:
    if isinstance(value, LogKernel):
        check_no_logs(value)
    return isinstance(value, Kernel)


def check_no_logs(kernel: Kernel) -> None:
    """Refuse a kernel whose calls give logarithms: they are no kernel to calculate with."""
    if isinstance(kernel, LogKernel) and kernel.log:
        raise FishernetError(f"{kernel!r} gives logarithms, which are no kernel; make it without log=True")


def _parts_of(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.parts if isinstance(kernel, Sum) else (kernel,)


class Sum(Algebra):
    """The sum of kernels."""

    def __init__(self, parts: tuple[Kernel, ...]) -> None:
        self.parts = parts

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, (n, m) float64."""
        total: Matrix = sum((part(X, Y) for part in self.parts[1:]), start=self.parts[0](X, Y))
        return total

    def diag(self, X: Any) -> Matrix:
        """Return the value of each row with itself, (n,) float64."""
        total: Matrix = sum((part.diag(X) for part in self.parts[1:]), start=self.parts[0].diag(X))
        return total

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


class FeatureSum(Sum):
    """The sum of kernels with features: their features side by side."""

    parts: tuple[FeatureKernel, ...]

    @property
    def dimension(self) -> int:
        """The number of features."""
        return sum(part.dimension for part in self.parts)

    def features(self, X: Any) -> Features:
        """Return the features of the parts side by side, (n, dimension)."""
        return side_by_side([part.features(X) for part in self.parts])

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,)."""
        means: Matrix = np.concatenate([part.mean_features(X) for part in self.parts])
        return means


class Product(Algebra):
    """The product of two kernels."""

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first, self.second = first, second

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, (n, m) float64."""
        return self.first(X, Y) * self.second(X, Y)

    def diag(self, X: Any) -> Matrix:
        """Return the value of each row with itself, (n,) float64."""
        return self.first.diag(X) * self.second.diag(X)

    def __repr__(self) -> str:
        return f"({self.first!r}) * ({self.second!r})"


class Multiple(Algebra):
    """A kernel times a number."""

    def __init__(self, kernel: Kernel, factor: float) -> None:
        if not np.isfinite(factor) or factor < 0:
            raise FishernetError(f"a kernel can be multiplied by a finite, non-negative number, not by {factor!r}")
        self.kernel, self.factor = kernel, float(factor)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, (n, m) float64."""
        return self.factor * self.kernel(X, Y)

    def diag(self, X: Any) -> Matrix:
        """Return the value of each row with itself, (n,) float64."""
        return self.factor * self.kernel.diag(X)

    def __repr__(self) -> str:
        return f"{self.factor:g} * ({self.kernel!r})"


class FeatureMultiple(Multiple):
    """A kernel with features times a number."""

    kernel: FeatureKernel

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.kernel.dimension

    def features(self, X: Any) -> Features:
        """Return the features, (n, dimension)."""
        return self.kernel.features(X) * np.sqrt(self.factor)

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,)."""
        mean: Matrix = self.kernel.mean_features(X) * np.sqrt(self.factor)
        return mean


def side_by_side(blocks: list[Features]) -> Features:
    """Return matrices side by side: sparse where one of them is."""
    if not any(is_sparse(block) for block in blocks):
        return np.hstack(blocks)
    import scipy.sparse as sp  # slow to import, and needed by few calls

    return sp.hstack([block if is_sparse(block) else sp.csr_array(block) for block in blocks], format="csr")


def is_sparse(matrix: Any) -> bool:
    """Return whether features are a scipy.sparse array."""
    return hasattr(matrix, "tocsr")
