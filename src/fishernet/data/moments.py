"""The scatter of columns of numbers: what a learner of Gaussian models knows of the data.

For numbers it takes the place of the counts: the scatter of a set of columns is a part of that of all columns, and the
scatters of two parts of the data add up to that of the whole.

Sums of products scaled to 1 on the diagonal: correlations, when they are centred.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError, warn
from fishernet.base.names import are, check_names, listed, several
from fishernet.data.matching import as_numbers
from fishernet.data.source import Source, is_statistics
from fishernet.data.statistics import Statistic
from fishernet.data.statistics.counting import check_sets
from fishernet.data.table import Table
from fishernet.data.variable import Column, Continuous, require_continuous

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Scatter(Source):
    """The number of rows, the mean and the centred sums of products of columns of numbers; immutable.

    It is a source: all that a learner of Gaussian models asks of data, in d (d + 1) numbers.

    Parameters
    ----------
    n : float
        Rows, or the sum of their weights.
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

    n: float
    """Rows, or the sum of their weights."""
    mean: Floats
    """The mean of each column, (d,)."""
    S: Floats
    """The centred sums of products, (d, d)."""
    _names: tuple[str, ...]  # the `variables` are made when they are asked for

    def __init__(self, n: float, mean: npt.ArrayLike, S: npt.ArrayLike, names: Iterable[str] | None = None) -> None:
        centre, products = check.numbers(mean, "mean"), check.numbers(S, "S")
        d = len(centre) if centre.ndim == 1 else -1
        if products.shape != (d, d):
            raise SchemaError(f"the mean must be (d,) and S (d, d), got {centre.shape} and {products.shape}")
        labels = tuple(f"v{c}" for c in range(d)) if names is None else check.items(names, "names")
        check_names(labels)
        if len(labels) != d:
            raise SchemaError(f"{several(len(labels), 'name')} for {several(d, 'column')}")
        check.number(n, "n", least=0, error=SchemaError)
        if not (np.isfinite(centre).all() and np.isfinite(products).all()):
            raise SchemaError("the mean and S must be finite")
        sizes = np.sqrt(np.abs(np.diag(products)))
        if (np.diag(products) < 0).any() or (np.abs(products - products.T) > 1e-9 * np.outer(sizes, sizes)).any():
            raise SchemaError("S must be symmetric, without negative numbers on its diagonal")
        self._set(n, centre, products, labels)

    def _set(self, n: float, mean: Floats, S: Floats, names: tuple[str, ...]) -> None:
        mean.setflags(write=False)
        S.setflags(write=False)
        rows = int(n) if n == int(n) else float(n)
        for field, value in (("n", rows), ("mean", mean), ("S", S), ("_names", names)):
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
        made = cls.__new__(cls)
        mean, S = statistic.mean, statistic.scatter
        if list(at) != sorted(at):
            order = np.argsort(np.argsort(at))
            mean, S = mean[order], S[np.ix_(order, order)]
        made._set(statistic.total, mean, S, tuple(variable.name for variable in variables))
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
    def total(self) -> float:
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
HARDLY_ANY = 1e-9  # likewise, where such columns are left out: what is left differs from one set of rows to another
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
    still = np.diag(products(scatter, center=center)) <= _of_rounding(scatter, center=center)
    constant = [name for name, flag in zip(scatter.names, still, strict=True) if flag]
    if constant:
        raise SchemaError(f"{are(constant, 'column')} {'constant' if center else '0'}; leave out what does not vary")


def _of_rounding(scatter: Scatter, *, center: bool) -> Floats:
    """Return the sums of squares that rounding leaves of constant columns, (d,)."""
    return scatter.n * (ROUNDING * scatter.mean) ** 2 * center


def rank(n_rows: float, *, center: bool) -> int:
    """Return the rank of the products of so many rows, were there columns enough."""
    return max(0, int(n_rows) - check.flag(center, "center"))


def require_independent(names: tuple[str, ...], scaled: Floats, most: int) -> None:
    """Raise SchemaError, naming the columns, when one of up to `most` columns is made of the others."""
    if len(names) > most or _is_independent(scaled, NO_REST):
        return  # of more columns some are made of others anyhow; a search sees which sets it meets
    refuse_collinear(names, scaled, range(_determined(scaled, most, NO_REST)[0] + 1))


def _is_independent(scaled: Floats, least: float) -> bool:
    try:
        return bool((np.diag(np.linalg.cholesky(scaled)) ** 2 > least).all())
    except np.linalg.LinAlgError:
        return False


def _determined(scaled: Floats, most: int, least: float) -> list[int]:
    """Return the columns of which those before them that stay leave no more than the least unexplained.

    Any column is a combination of `most` others, the rank of the products: beyond it only what equals another counts.
    """
    d = len(scaled)
    factor, rest, kept = np.zeros((min(most, d), d)), np.ones(d), 0  # a Cholesky factor's columns, as rows
    found = []
    for v in range(d):
        if kept == most:
            others = [u for u in range(v) if u not in found]
            if (1 - scaled[v, others] ** 2 <= least).any():
                found.append(v)
        elif rest[v] <= least:
            found.append(v)
        else:
            factor[kept] = (scaled[v] - factor[:kept, v] @ factor[:kept]) / np.sqrt(rest[v])
            rest -= factor[kept] ** 2
            kept += 1
    return found


def refuse_collinear(names: tuple[str, ...], scaled: Floats, columns: Iterable[int]) -> NoReturn:
    """Raise SchemaError: the last of some columns is made of the others, of which those that count are named."""
    *others, last = map(int, columns)
    of = [names[v] for v in _parts(scaled, others, last)]
    raise SchemaError(f"{_combination(names[last], of, NO_REST)}; leave one of them out")


def _parts(scaled: Floats, others: list[int], last: int) -> list[int]:
    """Return those of some columns that count in the combination of them that another is."""
    equal = [v for v in others if 1 - scaled[v, last] ** 2 <= NO_REST]
    if equal:
        return equal[:1]
    weights, *_ = np.linalg.lstsq(scaled[np.ix_(others, others)], scaled[others, last], rcond=1e-9)
    return [v for v, weight in zip(others, weights.tolist(), strict=True) if abs(weight) > 1e-4] or others


def _combination(name: str, of: Iterable[str], rest: float) -> str:
    return f"the column {name!r} is a linear combination of {listed(of)} (collinear to {-math.log10(rest):.0f} digits)"


def without_determined(
    source: Source, keep: Iterable[str] = (), *, center: bool = True, variables: Sequence[Column] | None = None
) -> Source:
    """Return a source of numbers without the columns that are linear combinations of others, with a warning.

    Those go that others before them determine. The columns to keep count as the first, and never go: where one of them
    is a combination of other such columns, the learner refuses it. Columns that are not all numbers stay as they are.
    `variables` say which numbers are on scales; without them the source's do.
    """
    keep = set(keep)
    if not source.variables or not all(variable.is_continuous for variable in source.variables):
        return source
    found = _of_known_cells(source.rows, keep) if source.has_missing and source.rows is not None else None
    if found is None:
        found = determined(Scatter.of(source), keep, center=center)
    found = {name: of for name, of in found.items() if name not in keep}
    if not found:
        return source
    scaled = {v.name for v in variables or source.variables if v.is_continuous and v.scale is not None}
    warn("; ".join(_left_out(name, found, keep, scaled) for name in found))
    rest = [name for name in source.names if name not in found]
    if source.rows is not None:
        return source.rows.leave_out({name: f"a linear combination of {listed(of)}" for name, of in found.items()})
    return Scatter.of(source, [source.names.index(name) for name in rest])


def determined(scatter: Scatter, first: Container[str] = (), *, center: bool = True) -> dict[str, list[str]]:
    """Return the columns that are linear combinations of those before them, and of which; some count as the first."""
    varying = np.flatnonzero(np.diag(products(scatter, center=center)) > _of_rounding(scatter, center=center))
    order = sorted(varying.tolist(), key=lambda v: scatter.names[v] not in first)
    scatter = scatter.marginal(order)
    scaled, most = scaled_products(scatter, center=center), rank(scatter.n, center=center)
    if most < 2 or (len(order) <= most and _is_independent(scaled, HARDLY_ANY)):
        return {}  # in two rows all columns are the same
    found = _determined(scaled, most, HARDLY_ANY)
    parts = {v: _parts(scaled, [u for u in range(v) if u not in found], v) for v in found}
    return {scatter.names[v]: [scatter.names[u] for u in of] for v, of in parts.items()}


def _of_known_cells(rows: Table, first: Container[str]) -> dict[str, list[str]]:
    """Return what is determined in all rows that know it and what it is made of.

    It is looked for among the columns that know all rows that one of them does, and among all in the complete rows.
    """
    known = ~np.isnan(rows.numbers)
    patterns = {of.tobytes(): of for of in [*known, known.all(axis=0)]}
    found: dict[str, list[str]] = {}
    for pattern in sorted(patterns.values(), key=np.count_nonzero, reverse=True):
        have = (known | ~pattern).all(axis=1)
        names = [name for name, has in zip(rows.names, have, strict=True) if has and name not in found]
        if not pattern.any():
            continue
        for name, of in determined(Scatter.of(rows[pattern].select(names)), first).items():
            every = Scatter.of(rows.select([*of, name]).drop_missing())
            if name in determined(every, of):
                found[name] = of
    return found


def _left_out(name: str, found: Mapping[str, list[str]], keep: Container[str], scaled: Set[str]) -> str:
    """Return that a column is left out, and what else could be, so that it stays."""
    shared = {part for other, of in found.items() if other != name for part in of}
    free = [] if shared & {*found[name]} else [part for part in found[name] if part not in keep]
    instead = f"; leave out {free[0]!r} instead to keep it" if free else ""
    on_scales = ", on the scales that they are taken on," if scaled & {name, *found[name]} else ""
    return f"{_combination(name, found[name], HARDLY_ANY)}{on_scales} and is left out{instead}"
