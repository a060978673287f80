"""The scatter of columns of numbers: what a learner of Gaussian models knows of the data.

For numbers it takes the place of the counts: the scatter of a set of columns is a part of that of all columns, and the
scatters of two parts of the data add up to that of the whole.

Sums of products scaled to 1 on the diagonal: correlations, when they are centred.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import are, check_names, listed, several
from fishernet.data.matching import as_numbers
from fishernet.data.source import Source, is_statistics
from fishernet.data.statistics import Statistic
from fishernet.data.statistics.counting import check_sets
from fishernet.data.variable import Continuous, require_continuous

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Scatter(Source):
    """The number of rows, the mean and the centred sums of products of columns of numbers; immutable.

    It is a source: all that a learner of Gaussian models asks of data, in d (d + 1) numbers.

    Parameters
    ----------
    n : int
        Rows.
    mean : (d,) array
        Of each column.
    S : (d, d) array
        ``(X - mean)' (X - mean)``.
    names : sequence of str, optional
        Of the columns; v0, v1, ... without it.

    Raises
    ------
    SchemaError
        When the shapes do not fit, a number is not finite, or S is not symmetric or has a negative diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0], [6.0, 2.0]])
    >>> parts = fn.data.Scatter.from_data(X[:1]) + fn.data.Scatter.from_data(X[1:])
    >>> parts.n, parts.mean, parts.S
    (4, array([3., 2.]), array([[20.,  6.],
           [ 6.,  6.]]))
    """

    n: int
    """Rows."""
    mean: Floats
    """The mean of each column, (d,)."""
    S: Floats
    """The centred sums of products, (d, d)."""
    _names: tuple[str, ...]  # the `variables` are made when they are asked for

    def __init__(self, n: int, mean: npt.ArrayLike, S: npt.ArrayLike, names: Iterable[str] | None = None) -> None:
        centre, products = check.numbers(mean, "mean"), check.numbers(S, "S")
        d = len(centre) if centre.ndim == 1 else -1
        if products.shape != (d, d):
            raise SchemaError(f"the mean must be (d,) and S (d, d), got {centre.shape} and {products.shape}")
        labels = tuple(f"v{c}" for c in range(d)) if names is None else check.items(names, "names")
        check_names(labels)
        if len(labels) != d:
            raise SchemaError(f"{several(len(labels), 'name')} for {several(d, 'column')}")
        check.integer(n, "n", least=0, error=SchemaError)
        if not (np.isfinite(centre).all() and np.isfinite(products).all()):
            raise SchemaError("the mean and S must be finite")
        sizes = np.sqrt(np.abs(np.diag(products)))
        if (np.diag(products) < 0).any() or (np.abs(products - products.T) > 1e-9 * np.outer(sizes, sizes)).any():
            raise SchemaError("S must be symmetric, without negative numbers on its diagonal")
        self._set(int(n), centre, products, labels)

    def _set(self, n: int, mean: Floats, S: Floats, names: tuple[str, ...]) -> None:
        mean.setflags(write=False)
        S.setflags(write=False)
        for field, value in (("n", n), ("mean", mean), ("S", S), ("_names", names)):
            object.__setattr__(self, field, value)

    @classmethod
    def from_data(cls, X: Any, names: Iterable[str] | None = None) -> Self:
        """Return the scatter of a table, an array or a frame of numbers.

        Parameters
        ----------
        X : (n, d) array, Table of continuous columns, data frame, or mapping from names to columns
        names : sequence of str, optional
            Of the columns of an array; of a frame, those that are taken, in this order.

        Raises
        ------
        SchemaError
            When a column is not of finite numbers (its name and the row are said), or names do not fit.
        MissingValueError
            When cells are missing.
        """
        return cls.of(as_numbers(X, names, purpose="a Gaussian model"))

    @classmethod
    def of(cls, source: Source, columns: Sequence[int] | None = None, *, purpose: str = "a Gaussian model") -> Self:
        """Return the scatter of a source's columns (of some, by their positions), continuous and without a hole."""
        at = range(len(source.variables)) if columns is None else _checked_positions(columns, len(source.variables))
        variables = [source.variables[c] for c in at]
        require_continuous(variables, purpose)
        [statistic] = source.statistics([tuple(sorted(at))])
        statistic.require_complete(source.variables, purpose)
        if statistic.total != int(statistic.total):
            raise SchemaError(f"{purpose} takes whole weights; round them, or leave them out")
        made = cls.__new__(cls)
        mean, S = statistic.mean, statistic.scatter
        if list(at) != sorted(at):
            order = np.argsort(np.argsort(at))
            mean, S = mean[order], S[np.ix_(order, order)]
        made._set(int(statistic.total), mean, S, tuple(variable.name for variable in variables))
        return made

    @cached_property
    def variables(self) -> tuple[Continuous, ...]:
        """The columns."""
        return tuple(Continuous(name) for name in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self._names

    @property
    def total(self) -> int:
        """The number of rows, as learners ask for it."""
        return self.n

    @property
    def uncentred(self) -> Floats:
        """The sums of products of the columns as they are, ``X' X``, (d, d)."""
        return self.S + self.n * np.outer(self.mean, self.mean)

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of sets of columns by ascending positions, in that order."""
        check_sets(sets, len(self.names))
        every = tuple(range(len(self.names)))
        whole = Statistic.adopt((), (), np.array(self.n), None, 0, every, self.mean, self.S)
        return [whole.marginal(chosen) for chosen in sets]

    def marginal(self, chosen: Sequence[int]) -> Scatter:
        """Return the scatter of some of the columns, by their positions."""
        at = _checked_positions(chosen, len(self.names))
        part = object.__new__(Scatter)
        part._set(self.n, self.mean[at], self.S[np.ix_(at, at)], tuple(self.names[c] for c in at))
        return part

    def __add__(self, other: Scatter) -> Scatter:
        if self.names != other.names:
            raise SchemaError(f"scatters of other columns do not add: {self.names} and {other.names}")
        n = self.n + other.n
        if n == 0:
            return self
        apart = other.mean - self.mean
        total = object.__new__(Scatter)
        mean = self.mean + other.n / n * apart
        between = self.n * (other.n / n) * np.outer(apart, apart)
        total._set(n, mean, self.S + other.S + between, self.names)
        return total

    def __repr__(self) -> str:
        return f"Scatter({several(self.n, 'row')}, {several(len(self.names), 'column')})"


def as_scatter(X: Any, names: Iterable[str] | None = None, *, purpose: str = "a Gaussian model") -> Scatter:
    """Return the scatter of data of numbers, or of a source of continuous columns; `purpose` begins the messages."""
    if not is_statistics(X):
        return Scatter.of(as_numbers(X, names, purpose=purpose), purpose=purpose)
    scatter = Scatter.of(X, purpose=purpose)
    chosen = scatter.names if names is None else check.items(names, "names")
    if chosen != scatter.names:
        raise SchemaError(f"the data have the columns {listed(scatter.names)}, and names says {listed(chosen)}")
    return scatter


def _checked_positions(columns: Sequence[int], n: int) -> list[int]:
    """Return positions among n columns."""
    return [check.integer(c, "each column", least=0, most=n - 1) for c in check.items(columns, "columns", "positions")]


NO_REST = 1e-10  # a column of which others leave no more than this unexplained is made of them; as in the core
ROUNDING = 1e-14  # of a constant column's mean, what is left of it when the mean is taken off


def products(scatter: Scatter, *, center: bool) -> Floats:
    """Return the sums of products, (d, d): centred, or of the columns as they are."""
    return scatter.S if center else scatter.uncentred


def scaled_products(scatter: Scatter, *, center: bool) -> Floats:
    """Return the sums of products scaled to 1 on the diagonal, (d, d)."""
    require_varying(scatter, center=center)
    sums = products(scatter, center=center)
    scales = 1 / np.sqrt(np.diag(sums))
    scaled = np.clip(sums * scales[:, None] * scales, -1.0, 1.0)
    np.fill_diagonal(scaled, 1.0)
    return np.ascontiguousarray(scaled)


def require_varying(scatter: Scatter, *, center: bool = True) -> None:
    """Raise SchemaError, naming them, when columns are constant (or, as they are, 0)."""
    check.flag(center, "center")
    least = scatter.n * (ROUNDING * scatter.mean) ** 2 if center else 0.0
    still = np.diag(products(scatter, center=center)) <= least
    constant = [name for name, flag in zip(scatter.names, still, strict=True) if flag]
    if constant:
        raise SchemaError(f"{are(constant, 'column')} {'constant' if center else '0'}; leave out what does not vary")


def rank(n_rows: float, *, center: bool) -> int:
    """Return the rank of the products of so many rows, were there columns enough."""
    return max(0, int(n_rows) - check.flag(center, "center"))


def require_independent(names: tuple[str, ...], scaled: Floats, most: int) -> None:
    """Raise SchemaError, naming the columns, when one of up to `most` columns is made of the others."""
    d = len(names)
    if d > most:
        return  # dependent anyhow; a search sees which sets it meets
    try:
        roots = np.diag(np.linalg.cholesky(scaled))
    except np.linalg.LinAlgError:
        roots = np.zeros(d)
    if roots.min(initial=1.0) ** 2 > NO_REST:
        return
    refuse_collinear(names, scaled, _first_dependent(scaled))


def _first_dependent(scaled: Floats) -> list[int]:
    """Return the first columns of which the last is made of the others: by bisection over how many."""
    low, high = 1, len(scaled)
    while low < high:
        middle = (low + high) // 2
        if _is_independent(scaled[:middle, :middle]):
            low = middle + 1
        else:
            high = middle
    return list(range(low))


def _is_independent(scaled: Floats) -> bool:
    try:
        return bool((np.diag(np.linalg.cholesky(scaled)) ** 2 > NO_REST).all())
    except np.linalg.LinAlgError:
        return False


def refuse_collinear(names: tuple[str, ...], scaled: Floats, columns: npt.ArrayLike) -> NoReturn:
    """Raise SchemaError: the last of some columns is made of the others, of which those that count are named."""
    *others, last = np.asarray(columns).tolist()
    weights, *_ = np.linalg.lstsq(scaled[np.ix_(others, others)], scaled[others, last], rcond=1e-9)
    taken = [names[v] for v, weight in zip(others, weights.tolist(), strict=True) if abs(weight) > 1e-4]
    raise SchemaError(
        f"the column {names[last]!r} is a linear combination of {listed(taken or [names[v] for v in others])} "
        "(collinear to ten digits); leave one of them out"
    )
