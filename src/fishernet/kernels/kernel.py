"""What a kernel is, what each answers to those who choose and compare rows by it, and how kernels are combined.

A user's kernel is any callable with `diag`; what else it has (`features`, `row_sums`, `rows`) is used. It becomes one
that answers everything in `adapted`, through which every public function takes its kernel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add, mul
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import a
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
from fishernet.kernels.parts import FeatureParts
from fishernet.kernels.row_sums import FeatureSums, MatrixSums, RowSums
from fishernet.kernels.rows import Rows, plain_rows, rows_of_parts, split_rows

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


class ModelKernel(FeatureKernel, Protocol):
    """A Fisher kernel with the metric "invariant": its features have mean 0 and variance 1 under a model."""

    @property
    def model(self) -> Any:
        """The model: a network, or whatever else has `log_prob` and `fisher_scores`."""
        ...

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables."""
        ...

    @property
    def feature_parts(self) -> FeatureParts | None:
        """Whose each feature is; None where variables are mixed."""
        ...

    @property
    def takes_statistics(self) -> bool:
        """Whether `mean_features` takes a source of statistics as well as rows."""
        ...

    def rows(self, X: Any) -> Rows:
        """Return data as rows of the model."""
        ...

    def smallest_expected(self, n_rows: float) -> float | None:
        """Return the least number of so many rows that the model expects in a cell; None where it has no cells."""
        ...

    def fewest_regressed(self, n_rows: float) -> float:
        """Return how many of so many rows the model expects behind the regression that has fewest, or infinity."""
        ...

    def with_model(self, model: Any) -> ModelKernel:
        """Return the kernel of another model."""
        ...


class BaseKernel:
    """What every kernel answers, as one does that knows its values alone; gives kernels ``+`` and ``*``."""

    gives_features: bool = False
    gives_logs: bool = False
    log: bool = False  # whether calls give logarithms

    @abstractmethod
    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, (n, m) float64."""

    @abstractmethod
    def diag(self, X: Any) -> Matrix:
        """Return the value of each row with itself, (n,) float64."""

    def rows(self, X: Any) -> Rows:
        """Return data as rows that the kernel takes, with a length, and with slices and positions for parts of them."""
        return plain_rows(X)

    def row_sums(self, rows: Rows) -> RowSums:
        """Return what choosing and comparing rows asks of the kernel on these rows, given as `rows` returns them."""
        return MatrixSums(self, rows)

    @property
    def standardized(self) -> ModelKernel | None:
        """The kernel itself where its features have mean 0 and variance 1 under a model, as a score test needs."""
        return None

    def terms(self, X: Any, Y: Any = None) -> Matrix:  # noqa: ARG002
        """Return what each variable of `term_names` adds to the kernel of each pair of rows, (n_variables, n, m)."""
        raise FishernetError(f"{self!r} is not a sum over variables, and has no terms")

    @property
    def term_names(self) -> tuple[str, ...]:
        """The variables over which the kernel is a sum, where it can tell its `terms`."""
        return ()

    @property
    def feature_parts(self) -> FeatureParts | None:
        """Whose each feature is: the variable's, and where it has tables the configuration's; None where they mix."""
        return None

    @property
    def summands(self) -> tuple[BaseKernel, ...]:
        """The kernels that are added in a sum; of others the kernel itself."""
        return (self,)

    def __add__(self, other: Any) -> Sum:
        """Return the sum of two kernels."""
        check_no_logs(self)
        if not is_kernel(other):
            return NotImplemented
        summands = (*self.summands, *adapted(other).summands)
        return FeatureSum(*summands) if all(one.gives_features for one in summands) else Sum(*summands)

    def __mul__(self, other: Any) -> Product | Multiple:
        """Return the product of two kernels, or a non-negative multiple of one."""
        check_no_logs(self)
        if is_kernel(other):
            return Product(self, adapted(other))
        if isinstance(other, bool) or not isinstance(other, int | float | np.integer | np.floating):
            return NotImplemented
        return FeatureMultiple(self, float(other)) if self.gives_features else Multiple(self, float(other))

    __rmul__ = __mul__


def is_kernel(value: Any) -> TypeGuard[Kernel]:
    """Return whether something can be called and has `diag`: whatever else it is, it is taken for a kernel."""
    return callable(value) and hasattr(value, "diag") and not isinstance(value, type)


def adapted(kernel: Any, name: str = "", *, logs: bool = False) -> BaseKernel:
    """Return a kernel that answers everything: the library's own as they are, a user's by what it has.

    `name` is of the function that needs it, for messages. One whose calls give logarithms, which are no kernel to
    calculate with, is refused unless `logs` may be.
    """
    if not is_kernel(kernel):
        given = f"the class {kernel.__name__}" if isinstance(kernel, type) else a(type(kernel).__name__)
        needed = f"{name} needs" if name else "kernel must be"
        raise SchemaError(f"{needed} a kernel, as fn.kernels.FisherKernel(net), not {given}", parameter="kernel")
    found: BaseKernel
    if isinstance(kernel, BaseKernel):
        found = kernel
    else:
        found = UsersFeatures(kernel) if hasattr(kernel, "features") else UsersKernel(kernel)
    if not logs:
        check_no_logs(found)
    return found


def has_features(kernel: Kernel) -> TypeGuard[FeatureKernel]:
    """Return whether a kernel is an inner product of features that it can give."""
    return is_kernel(kernel) and adapted(kernel, logs=True).gives_features


def gives_logs(kernel: BaseKernel) -> TypeGuard[LogKernel]:
    """Return whether a kernel knows the logarithms of its values."""
    return kernel.gives_logs


def check_no_logs(kernel: BaseKernel) -> None:
    """Refuse a kernel whose calls give logarithms: they are no kernel to calculate with."""
    if kernel.log:
        raise FishernetError(f"{kernel!r} gives logarithms, which are no kernel; make it without log=True")


class OfFeatures(BaseKernel):
    """What a kernel with features answers."""

    gives_features = True

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of features."""

    @abstractmethod
    def features(self, X: Any) -> Features:
        """Return the features of each row, (n, dimension)."""

    @abstractmethod
    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,); rows count by their weights."""

    def row_sums(self, rows: Rows) -> RowSums:
        """Return what choosing and comparing rows asks, by sums of features."""
        return FeatureSums(self, rows)


class Combined(BaseKernel):
    """Kernels whose values are combined one by one."""

    def __init__(self, *parts: BaseKernel) -> None:
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
    def summands(self) -> tuple[BaseKernel, ...]:
        """The kernels that are added."""
        return self.parts

    def _of(self, values: Iterator[Matrix]) -> Matrix:
        return reduce(add, values)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


class FeatureSum(OfFeatures, Sum):
    """The sum of kernels with features: their features side by side."""

    parts: tuple[OfFeatures, ...]

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

    def __init__(self, kernel: BaseKernel, factor: float) -> None:
        if not np.isfinite(factor) or factor < 0:
            raise FishernetError(f"a kernel can be multiplied by a finite, non-negative number, not by {factor!r}")
        super().__init__(kernel)
        self.factor = factor

    def _of(self, values: Iterator[Matrix]) -> Matrix:
        return self.factor * next(values)

    def __repr__(self) -> str:
        return f"{self.factor:g} * ({self.parts[0]!r})"


class FeatureMultiple(OfFeatures, Multiple):
    """A kernel with features times a number."""

    parts: tuple[OfFeatures]

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


class FeatureMade(OfFeatures):
    """A kernel that is computed from its features."""

    @property
    def dimension(self) -> int:
        """The number of features."""
        return int(self.features([]).shape[1])

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the kernel of all pairs, (n, m) float64; without Y exactly symmetric."""
        X, Y = self.rows(X), None if Y is None else self.rows(Y)
        check_cells(len(X) * len(X if Y is None else Y), "the kernel matrix")
        return inner(self.features(X), None if Y is None else self.features(Y))

    def diag(self, X: Any) -> Matrix:
        """Return the kernel of each row with itself, (n,) float64."""
        rows = self.rows(X)
        blocks = [squared_lengths(self.features(rows[at])) for at in row_blocks(len(rows), FEATURES_OF)]
        return np.concatenate(blocks) if blocks else squared_lengths(self.features(rows))

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,) float64; the rows of a table count by their weights."""
        rows = self.rows(X)
        shares = shares_of(rows, len(rows))
        blocks = (self.features(rows[at]).T @ shares[at] for at in row_blocks(len(rows), FEATURES_OF))
        return reduce(add, (np.asarray(block).ravel() for block in blocks))


class UsersKernel(BaseKernel):
    """A kernel that a user wrote: a callable with `diag`, and perhaps with `rows` and `row_sums` of its own."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def _own(self, name: str, otherwise: Any) -> Any:
        """Return what the user wrote, or what is known without it."""
        return getattr(self.kernel, name, otherwise)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs."""
        return self.kernel(X) if Y is None else self.kernel(X, Y)

    def diag(self, X: Any) -> Matrix:
        """Return the value of each row with itself."""
        return self.kernel.diag(X)

    def rows(self, X: Any) -> Rows:
        """Return data as rows that the kernel takes."""
        return self._own("rows", super().rows)(X)

    def row_sums(self, rows: Rows) -> RowSums:
        """Return what the kernel answers itself, or what its values or features tell."""
        sums: RowSums = self._own("row_sums", super().row_sums)(rows)
        return sums

    def __repr__(self) -> str:
        return repr(self.kernel)


class UsersFeatures(UsersKernel, FeatureMade):
    """A user's kernel that gives its features."""

    kernel: FeatureKernel

    def features(self, X: Any) -> Features:
        """Return the features of each row."""
        return self.kernel.features(X)

    @property
    def dimension(self) -> int:
        """The number of features."""
        return int(self._own("dimension", None) or super().dimension)

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features."""
        mean: Matrix = self._own("mean_features", super().mean_features)(X)
        return mean


class LogMadeKernel(BaseKernel):
    """A kernel that is computed as logarithms, which calls return where `log` is true.

    Logarithms are no kernel: they cannot be added to or multiplied with others, but `Normalized` takes cosines from
    them either way.
    """

    gives_logs = True

    def __init__(self, *, log: bool) -> None:
        self.log: bool = check.flag(log, "log")

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
