"""What a kernel is, and how kernels are added and multiplied.

What a metric of a Fisher kernel offers, and what several of them need.

Kernels that are made as logarithms.

Kernels made of other kernels: cosines and radial basis functions.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError
from fishernet.data import Table

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
        parts = (*_parts_of(self), *_parts_of(other))
        return FeatureSum(parts) if all(has_features(part) for part in parts) else Sum(parts)

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
    return callable(value) and hasattr(value, "diag")


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


def _parts_of(kernel: Kernel) -> tuple[Kernel, ...]:
    parts: tuple[Kernel, ...] = getattr(kernel, "summands", (kernel,))
    return parts


class Sum(Algebra):
    """The sum of kernels."""

    def __init__(self, parts: tuple[Kernel, ...]) -> None:
        self.parts = parts

    @property
    def summands(self) -> tuple[Kernel, ...]:
        """The kernels that are added."""
        return self.parts

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


MOST_CELLS = 2**31  # of a matrix, 16 GiB


class Metric(Protocol):
    """A Fisher kernel on tables of the network's variables."""

    name: str

    @property
    def dimension(self) -> int:
        """The number of features."""
        ...

    def gram(self, X: Table, Y: Table) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        ...

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        ...

    def terms(self, X: Table, Y: Table) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        ...

    def features(self, X: Table) -> Features:
        """Return the features, (n, dimension)."""
        ...

    def mean_features(self, X: Table) -> Matrix:
        """Return their mean, (dimension,)."""
        ...


def weighted_mean(features: Features, X: Any) -> Matrix:
    """Return the mean of rows of features, by the weights of a table.

    Raises
    ------
    SchemaError
        When there is no row of positive weight.
    """
    weights = getattr(X, "weights", None)
    n_rows = features.shape[0]
    shares = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if not shares.sum() > 0:
        raise SchemaError("a mean needs a row of positive weight; the table has none")
    return np.asarray(features.T @ (shares / shares.sum())).ravel()


def total_weight(X: Table) -> float:
    """Return the sum of a table's weights, which is positive.

    Raises
    ------
    SchemaError
        When it is not.
    """
    total = float(X.n_rows if X.weights is None else X.weights.sum())
    if not total > 0:
        raise SchemaError("a mean needs a row of positive weight; the table has none")
    return total


def inner(x: Features, y: Features | None) -> Matrix:
    """Return the inner products of rows, exactly symmetric for one matrix."""
    product = x @ (x if y is None else y).T
    dense: Matrix = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
    return (dense + dense.T) / 2 if y is None else dense


def sparse(values: list[Matrix], columns: list[npt.NDArray[np.int64]], n_rows: int, dimension: int) -> Features:
    """Return a sparse matrix of blocks of the same columns a row, (n_rows, width) each, side by side."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    width = sum(block.shape[1] for block in values)
    data = np.concatenate(values, axis=1).ravel()
    indices = np.concatenate(columns, axis=1).ravel()
    return sp.csr_array((data, indices, np.arange(n_rows + 1) * width), shape=(n_rows, dimension))


def check_cells(cells: int, what: str) -> None:
    """Raise StateSpaceError before a matrix is made that would not fit."""
    if cells > MOST_CELLS:
        raise StateSpaceError(what, cells=cells, limit=MOST_CELLS, remedy="take the rows in parts, or use features")


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


class Normalized(Algebra):
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
        if gives_logs(kernel):
            return super().__new__(NormalizedLogs)
        return super().__new__(NormalizedFeatures if has_features(kernel) else cls)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = _checked_kernel(kernel)

    def __getnewargs__(self) -> tuple[Kernel]:
        return (self.kernel,)  # pickled cosines are made the same way

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the cosines of all pairs, (n, m) float64."""
        of_x = _one_over_length(self.kernel.diag(X))
        of_y = of_x if Y is None else _one_over_length(self.kernel.diag(Y))
        cosines: Matrix = self.kernel(X, Y) * (of_x[:, None] * of_y)  # the same product both ways: symmetric
        return cosines

    def diag(self, X: Any) -> Matrix:
        """Return 1 for each row that has a direction, else 0, (n,) float64."""
        return np.where(self.kernel.diag(X) > 0, 1.0, 0.0)

    def __repr__(self) -> str:
        return f"Normalized({self.kernel!r})"


class NormalizedFeatures(Normalized):
    """The cosine of a kernel with features: features of length 1."""

    kernel: FeatureKernel

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.kernel.dimension

    def features(self, X: Any) -> Features:
        """Return the features, each row of length 1, (n, dimension)."""
        features = self.kernel.features(X)
        scales = _one_over_length(self.kernel.diag(X))[:, None]
        return features.multiply(scales).tocsr() if is_sparse(features) else features * scales

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,)."""
        return weighted_mean(self.features(X), X)


class NormalizedLogs(Normalized):
    """The cosine of a kernel that knows its logarithms: ``exp(log k(x, y) - (log k(x, x) + log k(y, y)) / 2)``."""

    kernel: LogKernel

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the cosines of all pairs, (n, m) float64."""
        of_x = self.kernel.log_diag(X)
        of_y = of_x if Y is None else self.kernel.log_diag(Y)
        lengths = (of_x[:, None] + of_y) / 2
        some = lengths > -np.inf
        cosines: Matrix = np.exp(np.where(some, self.kernel.log_matrix(X, Y), -np.inf) - np.where(some, lengths, 0.0))
        return cosines

    def diag(self, X: Any) -> Matrix:
        """Return 1 for each row that has a direction, else 0, (n,) float64."""
        return np.where(self.kernel.log_diag(X) > -np.inf, 1.0, 0.0)


class Rbf(Algebra):
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
        if not np.isfinite(bandwidth) or bandwidth <= 0:
            raise FishernetError(f"the bandwidth must be finite and positive, got {bandwidth!r}")
        self.kernel = _checked_kernel(kernel)
        check_no_logs(self.kernel)
        self.bandwidth = float(bandwidth)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, (n, m) float64."""
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


def _checked_kernel(kernel: Any) -> Any:
    if not is_kernel(kernel):
        raise SchemaError(f"a kernel is needed, not {type(kernel).__name__}")
    return kernel


def _one_over_length(squares: Matrix) -> Matrix:
    lengths = np.sqrt(np.maximum(squares, 0))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
