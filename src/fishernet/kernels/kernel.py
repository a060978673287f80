"""What a kernel is, and how kernels are added and multiplied."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add, mul
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.data.arrays import row_blocks
from fishernet.kernels.features import (
    Features,
    Matrix,
    check_cells,
    inner,
    shares_of,
    side_by_side,
    squared_lengths,
)
from fishernet.kernels.rows import Rows, rows_of, rows_of_parts, split_rows

FEATURES_OF = 2**14  # rows at once, where only sums of features are wanted


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
    return hasattr(kernel, "mean_features")


def gives_logs(kernel: Kernel) -> TypeGuard[LogKernel]:
    """Return whether a kernel knows the logarithms of its values."""
    return hasattr(kernel, "log_matrix")


class Algebra:
    """Gives kernels ``+`` and ``*``."""

    def __add__(self, other: Any) -> Sum:
        """Return the sum of two kernels."""
        if not _is_operand(self) or not _is_operand(other):
            return NotImplemented
        parts: tuple[Kernel, ...] = (*getattr(self, "summands", (self,)), *getattr(other, "summands", (other,)))
        return FeatureSum(*parts) if all(has_features(part) for part in parts) else Sum(*parts)

    def __mul__(self, other: Any) -> Product | Multiple:
        """Return the product of two kernels, or a non-negative multiple of one."""
        if not _is_operand(self):
            return NotImplemented
        if _is_operand(other):
            return Product(self, other)
        if isinstance(other, bool) or not isinstance(other, int | float | np.integer | np.floating):
            return NotImplemented
        return FeatureMultiple(self, float(other)) if has_features(self) else Multiple(self, float(other))

    __rmul__ = __mul__


def is_kernel(value: Any) -> TypeGuard[Kernel]:
    """Return whether something is a kernel."""
    return callable(value) and hasattr(value, "diag") and not isinstance(value, type)


def _is_operand(value: Any) -> TypeGuard[Kernel]:
    """Return whether something is a kernel to calculate with; one whose calls give logarithms is refused."""
    if not is_kernel(value):
        return False
    check_no_logs(value)
    return True


def check_no_logs(kernel: Kernel) -> None:
    """Refuse a kernel whose calls give logarithms: they are no kernel to calculate with."""
    if gives_logs(kernel) and kernel.log:
        raise FishernetError(f"{kernel!r} gives logarithms, which are no kernel; make it without log=True")


class Combined(Algebra):
    """Kernels whose values are combined one by one."""

    def __init__(self, *parts: Kernel) -> None:
        self.parts = parts

    @abstractmethod
    def _of(self, values: Iterator[Matrix]) -> Matrix:
        """Return what the values of the parts make."""

    def rows(self, X: Any) -> Rows:
        """Return data as rows that every part takes."""
        return rows_of_parts(self.parts, X)

    def _split(self, X: Any) -> Sequence[Rows]:
        """Return the rows of each part."""
        return split_rows(self.rows(X), len(self.parts))

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, (n, m) float64."""
        of_x = self._split(X)
        of_y = [None] * len(self.parts) if Y is None else self._split(Y)
        return self._of(part(x, y) for part, x, y in zip(self.parts, of_x, of_y, strict=True))

    def diag(self, X: Any) -> Matrix:
        """Return the value of each row with itself, (n,) float64."""
        return self._of(part.diag(x) for part, x in zip(self.parts, self._split(X), strict=True))


class Sum(Combined):
    """The sum of kernels."""

    @property
    def summands(self) -> tuple[Kernel, ...]:
        """The kernels that are added."""
        return self.parts

    def _of(self, values: Iterator[Matrix]) -> Matrix:
        return reduce(add, values)

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
        return side_by_side([part.features(x) for part, x in zip(self.parts, self._split(X), strict=True)])

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,)."""
        parts = zip(self.parts, self._split(X), strict=True)
        means: Matrix = np.concatenate([part.mean_features(x) for part, x in parts])
        return means


class Product(Combined):
    """The product of two kernels."""

    def _of(self, values: Iterator[Matrix]) -> Matrix:
        return reduce(mul, values)

    def __repr__(self) -> str:
        return " * ".join(f"({part!r})" for part in self.parts)


class Multiple(Combined):
    """A kernel times a number."""

    def __init__(self, kernel: Kernel, factor: float) -> None:
        if not np.isfinite(factor) or factor < 0:
            raise FishernetError(f"a kernel can be multiplied by a finite, non-negative number, not by {factor!r}")
        super().__init__(kernel)
        self.factor = factor

    def _of(self, values: Iterator[Matrix]) -> Matrix:
        return self.factor * next(values)

    def __repr__(self) -> str:
        return f"{self.factor:g} * ({self.parts[0]!r})"


class FeatureMultiple(Multiple):
    """A kernel with features times a number."""

    parts: tuple[FeatureKernel]

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.parts[0].dimension

    def features(self, X: Any) -> Features:
        """Return the features, (n, dimension)."""
        return self.parts[0].features(*self._split(X)) * np.sqrt(self.factor)

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,)."""
        mean: Matrix = self.parts[0].mean_features(*self._split(X)) * np.sqrt(self.factor)
        return mean


class FeatureMade(Algebra):
    """A kernel that is computed from its features."""

    @abstractmethod
    def features(self, X: Any) -> Features:
        """Return the features of each row, (n, dimension)."""

    @property
    def dimension(self) -> int:
        """The number of features."""
        return int(self.features([]).shape[1])

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the kernel of all pairs, (n, m) float64; without Y exactly symmetric."""
        X, Y = rows_of(self, X), None if Y is None else rows_of(self, Y)
        check_cells(len(X) * len(X if Y is None else Y), "the kernel matrix")
        return inner(self.features(X), None if Y is None else self.features(Y))

    def diag(self, X: Any) -> Matrix:
        """Return the kernel of each row with itself, (n,) float64."""
        rows = rows_of(self, X)
        blocks = [squared_lengths(self.features(rows[at])) for at in row_blocks(len(rows), FEATURES_OF)]
        return np.concatenate(blocks) if blocks else squared_lengths(self.features(rows))

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,) float64; the rows of a table count by their weights."""
        rows = rows_of(self, X)
        shares = shares_of(rows, len(rows))
        blocks = (self.features(rows[at]).T @ shares[at] for at in row_blocks(len(rows), FEATURES_OF))
        return reduce(add, (np.asarray(block).ravel() for block in blocks))


class LogMadeKernel(Algebra):
    """A kernel that is computed as logarithms, which calls return where `log` is true.

    Logarithms are no kernel: they cannot be added to or multiplied with others, but `Normalized` takes cosines from
    them either way.
    """

    def __init__(self, *, log: bool) -> None:
        self.log = check.flag(log, "log")

    @abstractmethod
    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""

    @abstractmethod
    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each string with itself, (n,) float64."""

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, or their logarithms, (n, m) float64; without Y exactly symmetric."""
        logs = self.log_matrix(X, Y)
        return logs if self.log else np.exp(logs)

    def diag(self, X: Any) -> Matrix:
        """Return the value of each string with itself, or its logarithm, (n,) float64."""
        logs = self.log_diag(X)
        return logs if self.log else np.exp(logs)


def log_mixture(weights: Iterable[float], logs: Iterable[Matrix]) -> Matrix:
    """Return the logarithm of the weighted sum of arrays that are given as logarithms."""
    terms = [np.log(weight) + log for weight, log in zip(weights, logs, strict=True) if weight > 0]
    return reduce(np.logaddexp, terms)
