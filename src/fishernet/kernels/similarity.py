"""Similarities of categorical rows that go by single columns, or by pairs of them: what other kernels compare with.

Each compares two rows column by column and adds up. N rows are counted, of which f(x) have the state x in a column, so
that p(x) = f(x) / N; d is the number of columns, r that of a column's states. In the notation of Boriah, Chandola and
Kumar (2008), Table 2, a column adds 1/d times

==========  =================================  ===============================================
measure     where both rows have x             where they have x and y
==========  =================================  ===============================================
overlap     1                                  0
eskin       1                                  r^2 / (r^2 + 2)
iof         1                                  1 / (1 + log f(x) log f(y))
of          1                                  1 / (1 + log(N / f(x)) log(N / f(y)))
goodall1    1 - sum of p2(q), p(q) <= p(x)     0
goodall2    1 - sum of p2(q), p(q) >= p(x)     0
goodall3    1 - p2(x)                          0
goodall4    p2(x)                              0
==========  =================================  ===============================================

with ``p2(x) = f(x) (f(x) - 1) / (N (N - 1))``. Lin's measure divides ``sum of 2 log p(x)`` where rows agree and
``2 log(p(x) + p(y))`` where they do not by the sum of all ``log p`` of both rows. ConDist (Ring et al., 2015) calls two
states alike that go with the same states of the columns that theirs depends on.

Lin's measure is positive semidefinite, though it does not look so. Let A and B be the events that a column has x and
that it has y: the column adds ``-2 log P(A or B)``, and as ``P(A or B) = 1 - P(neither)``, a power series of the kernel
P(neither) with positive coefficients. The divisor is Cauchy's kernel 1 / (a + b).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.vocabulary import SimilarityName, UnknownName, word
from fishernet.data import Table, Variable, as_table
from fishernet.data.matching import as_data
from fishernet.data.variable import require_categorical
from fishernet.kernels.features import NO_WEIGHT, Features, Matrix, check_cells, sparse, weighted_mean
from fishernet.kernels.kernel import BaseKernel, OfFeatures

BLOCK = 1024  # rows of a tile of the matrix
WIDE = 256  # states from which looking pairs up is faster than a product with indicators
MOST_PAIRS = 2**27  # of states, over all columns: 1 GiB
LEAST_CORRELATION = 0.05  # of a column that ConDist takes into another's context
MOST_IMPACT = 8 / 27  # of c (1 - c / 2)^2, at c = 2/3

Codes = npt.NDArray[np.unsignedinteger[Any]]


class Counts(NamedTuple):
    """How often the states of a column occur, by weights; one that does not counts as if one more row had it."""

    of_states: Matrix

    @property
    def total(self) -> float:
        """N of the formulas."""
        return float(self.of_states.sum())

    @property
    def pairs(self) -> Matrix:
        """The probability that two rows, drawn without putting back, both have the state: p2, (r,)."""
        n = self.total
        both = self.of_states * np.maximum(self.of_states - 1, 0)
        return both / (n * (n - 1)) if n > 1 else np.zeros_like(both)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What each pair of states adds."""

    tables: tuple[Matrix, ...]
    """(r, r) for each column, symmetric."""
    information: tuple[Matrix, ...] | None = None
    """(r,) for each column: their sums over the columns of both rows divide the kernel."""


def _agreeing(values: Matrix, otherwise: float = 0.0) -> Matrix:
    """Return what states add that agree, and one number where they do not."""
    table = np.full((len(values), len(values)), otherwise)
    np.fill_diagonal(table, values)
    return table


def _overlap(counts: Counts) -> Matrix:
    return np.eye(len(counts.of_states))


def _eskin(counts: Counts) -> Matrix:
    squared = len(counts.of_states) ** 2
    return _agreeing(np.ones(len(counts.of_states)), squared / (squared + 2))


def _inverse_occurrence(counts: Counts) -> Matrix:
    return _mismatches(np.log(np.maximum(counts.of_states, 1.0)))


def _occurrence(counts: Counts) -> Matrix:
    return _mismatches(np.log(counts.total / counts.of_states))


def _mismatches(logs: Matrix) -> Matrix:
    table: Matrix = 1 / (1 + np.outer(logs, logs))
    np.fill_diagonal(table, 1.0)
    return table


def _goodall1(counts: Counts) -> Matrix:
    no_more = counts.of_states <= counts.of_states[:, None]
    return _agreeing(1 - no_more @ counts.pairs)


def _goodall2(counts: Counts) -> Matrix:
    no_less = counts.of_states >= counts.of_states[:, None]
    return _agreeing(1 - no_less @ counts.pairs)


def _goodall3(counts: Counts) -> Matrix:
    return _agreeing(1 - counts.pairs)


def _goodall4(counts: Counts) -> Matrix:
    return _agreeing(counts.pairs)


def _mean_of(column: Callable[[Counts], Matrix]) -> Callable[[Table, Sequence[Counts]], Comparison]:
    """Return a measure that is the mean over the columns."""

    def compare(table: Table, counts: Sequence[Counts]) -> Comparison:  # noqa: ARG001
        return Comparison(tuple(column(of) / len(counts) for of in counts))

    return compare


def _lin(table: Table, counts: Sequence[Counts]) -> Comparison:  # noqa: ARG001
    tables, information = [], []
    for of in counts:
        p = of.of_states / of.total
        either = p[:, None] + p
        np.fill_diagonal(either, p)
        tables.append(-2 * np.log(np.minimum(either, 1.0)))
        information.append(-np.log(p))
    return Comparison(tuple(tables), tuple(information))


def _condist(table: Table, counts: Sequence[Counts]) -> Comparison:
    """Return 1 - distance of each column, by the columns' weights."""
    d = len(counts)
    found, weights = [], []
    for child in range(d):
        distances = np.zeros((len(counts[child].of_states),) * 2)
        total_impact = 0.0
        for other in range(d):
            joint = _joint(table, child, other)
            correlation = 1.0 if other == child else _correlation(joint)
            if correlation < LEAST_CORRELATION:
                continue
            impact = correlation * (1 - correlation / 2) ** 2
            total_impact += impact
            given = np.eye(len(joint)) if other == child else _conditional(joint)
            distances += impact * _euclidean(given)
        most = distances.max(initial=0.0)
        found.append(1 - distances / most if most > 0 else np.ones_like(distances))
        weights.append(1 + total_impact / (d * MOST_IMPACT))
    shares = np.array(weights) / sum(weights)
    return Comparison(tuple(share * of for share, of in zip(shares, found, strict=True)))


def _joint(table: Table, first: int, second: int) -> Matrix:
    """Return the counts of two columns in the rows that have both, (r1, r2) float64."""
    r1, r2 = (table.variables[k].cardinality for k in (first, second))
    a, b = (table.codes[k].astype(np.int64) for k in (first, second))
    cells = np.bincount(a * (r2 + 1) + b, weights=table.weights, minlength=(r1 + 1) * (r2 + 1))
    return cells.astype(np.float64).reshape(r1 + 1, r2 + 1)[:r1, :r2]


def _entropy(counts: Matrix) -> float:
    total = counts.sum()
    p = counts[counts > 0] / total if total > 0 else np.ones(1)
    return float(-(p * np.log(p)).sum())


def _correlation(joint: Matrix) -> float:
    """Return what share of the first column's entropy the second takes away."""
    of_first = _entropy(joint.sum(axis=1))
    gained = of_first + _entropy(joint.sum(axis=0)) - _entropy(joint)
    return min(max(gained / of_first, 0.0), 1.0) if of_first > 0 else 0.0


def _conditional(joint: Matrix) -> Matrix:
    """Return P(second | first); of a first state that does not occur the second's marginal."""
    rows = joint.sum(axis=1, keepdims=True)
    total = max(joint.sum(), np.finfo(float).tiny)
    return np.where(rows > 0, joint / np.where(rows > 0, rows, 1.0), joint.sum(axis=0) / total)


def _euclidean(points: Matrix) -> Matrix:
    """Return the distances of all pairs, by their differences: those of near points keep their digits."""
    return np.stack([np.sqrt(((points - point) ** 2).sum(axis=1)) for point in points])


class Measure(NamedTuple):
    """How rows are compared, and what kind of kernel that makes."""

    compare: Callable[[Table, Sequence[Counts]], Comparison]
    is_semidefinite: bool
    has_features: bool


MEASURES: dict[SimilarityName, Measure] = {
    "overlap": Measure(_mean_of(_overlap), True, True),
    "eskin": Measure(_mean_of(_eskin), True, True),
    "of": Measure(_mean_of(_occurrence), False, False),
    "iof": Measure(_mean_of(_inverse_occurrence), False, False),
    "goodall1": Measure(_mean_of(_goodall1), True, True),
    "goodall2": Measure(_mean_of(_goodall2), True, True),
    "goodall3": Measure(_mean_of(_goodall3), True, True),
    "goodall4": Measure(_mean_of(_goodall4), True, True),
    "lin": Measure(_lin, True, False),
    "condist": Measure(_condist, False, False),
}


class Similarity(BaseKernel):
    """A similarity of categorical rows by frequencies of states, or of pairs of them [1]_, [2]_.

    These are what one compares a `FisherKernel` with: all but "condist" look at each column alone, and "condist" at
    pairs of columns.

    Parameters
    ----------
    table : Table or data frame
        The rows whose frequencies the measure goes by; they count by their weights. Columns of numbers must be cut into
        bins.
    measure : {"overlap", "eskin", "of", "iof", "goodall1", "goodall2", "goodall3", "goodall4", "lin", "condist"}
        The formulas are in the description of this module (``help(fn.kernels.similarity)``).
    unknown : {"error", "missing"}
        What becomes of a label, in calls, that the table's variables do not have.

    Raises
    ------
    SchemaError
        When there is no such measure, a column holds numbers, or the table has no column or no row of positive weight.
    StateSpaceError
        When the columns' pairs of states would not fit.
    UnknownStateError
        In calls, when a row has a label that the table's variables do not have, unless `unknown` is "missing".

    Notes
    -----
    "overlap", "eskin", the four of Goodall and "lin" are positive semidefinite; all of them but "lin" have features,
    one per state and for "eskin" one per column, so that `fishernet.compare.mmd` and `fishernet.select` take time
    linear in the rows. "of", "iof" and "condist" are not, and squared distances of sets by them may be negative.
    ``Rbf`` of "condist" is, on rows without missing cells: its distance is a sum of distances between points.

    A missing cell has nothing in common with any cell, itself included: its column adds 0, and to Lin's divisor too.
    Frequencies are those among the cells that are there. To take missing cells for alike, read the table with
    ``missing="state"``. A state that does not occur counts as if one more row had it. Where Lin's measure is 0 / 0, as
    between rows all of whose columns are constant, it is 0.

    In "condist" a column is in another's context where it takes away at least a twentieth of that one's entropy, which
    is this library's choice; the kernel is 1 minus the distance over the sum of the columns' weights. The idea is that
    of [2]_; numbers may differ from those of its authors' program.

    References
    ----------
    .. [1] S. Boriah, V. Chandola and V. Kumar, "Similarity measures for categorical data: a comparative evaluation",
       SDM 2008, Table 2.
    .. [2] M. Ring, F. Otto, M. Becker, T. Niebler, D. Landes and A. Hotho, "ConDist: a context-driven categorical
       distance measure", ECML PKDD 2015.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_frame({"fur": ["yes", "yes", "no", "no"], "legs": ["4", "4", "2", "6"]})
    >>> fn.kernels.Similarity(table, "overlap")(table[:3])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    >>> fn.kernels.Similarity(table, "lin")(table[1:]).round(3)
    array([[1.   , 0.166, 0.166],
           [0.166, 1.   , 0.667],
           [0.166, 0.667, 1.   ]])
    """

    def __new__(
        cls,
        table: Any,  # noqa: ARG004
        measure: SimilarityName,
        *,
        unknown: UnknownName = "error",  # noqa: ARG004
    ) -> Similarity:
        """Make the kind with features where the measure has them."""
        name = word(measure, "measure", MEASURES, error=SchemaError)
        return super().__new__(SimilarityFeatures if cls is Similarity and MEASURES[name].has_features else cls)

    def __init__(self, table: Any, measure: SimilarityName, *, unknown: UnknownName = "error") -> None:
        self.measure: SimilarityName = word(measure, "measure", MEASURES, error=SchemaError)
        self.unknown: UnknownName = word(unknown, "unknown", ("error", "missing"), error=SchemaError)
        data = as_data(table, "a similarity")
        self.variables: tuple[Variable, ...] = require_categorical(data.variables, "a similarity")
        if not self.variables:
            raise SchemaError("a similarity needs a table with columns; this one has none", parameter="table")
        if not data.total > 0:
            raise SchemaError(NO_WEIGHT.replace("a mean", "a similarity"), parameter="table")
        pairs = sum(variable.cardinality**2 for variable in self.variables)
        if pairs > MOST_PAIRS:
            remedy = "leave columns out whose states are nearly all different"
            raise StateSpaceError("the pairs of states", cells=pairs, limit=MOST_PAIRS, remedy=remedy)
        counts = [_counts(data, k) for k in range(len(self.variables))]
        found = MEASURES[self.measure].compare(data, counts)
        self._tables = [np.pad(table, (0, 1)) for table in found.tables]  # a missing cell adds 0
        self._information = None if found.information is None else [np.pad(of, (0, 1)) for of in found.information]
        self._wide = [k for k, variable in enumerate(self.variables) if variable.cardinality > WIDE]
        self._narrow = [k for k, variable in enumerate(self.variables) if variable.cardinality <= WIDE]

    def __getnewargs__(self) -> tuple[None, SimilarityName]:
        return None, self.measure

    @property
    def is_semidefinite(self) -> bool:
        """Whether the matrix of any rows is positive semidefinite, by the measure."""
        return MEASURES[self.measure].is_semidefinite

    def rows(self, X: Any) -> Table:
        """Return data as a table of the variables; an array holds codes."""
        return as_table(X, self.variables, unknown=self.unknown)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the similarities of all pairs of rows, (n, m) float64; without Y exactly symmetric."""
        x = self.rows(X)
        y = x if Y is None else self.rows(Y)
        check_cells(len(x) * len(y), "the kernel matrix")
        matrix = np.empty((len(x), len(y)))
        for down in _blocks(len(x)):
            part = x[down]
            left = self._left(part)
            for across in _blocks(len(y)):
                if Y is None and across.start < down.start:
                    continue
                tile = self._tile(left, part, y[across])
                if Y is None:
                    tile = (tile + tile.T) / 2 if across == down else tile
                    matrix[across, down] = tile.T
                matrix[down, across] = tile
        return matrix

    def diag(self, X: Any) -> Matrix:
        """Return the similarity of each row with itself, (n,) float64."""
        x = self.rows(X)
        sums = np.zeros(len(x))
        for table, codes in zip(self._tables, x.codes, strict=True):
            sums += np.diagonal(table)[codes]
        return sums if self._information is None else _ratio(sums, 2 * self._information_of(x))

    def _left(self, x: Table) -> Matrix:
        """Return what each state of each narrow column would add to each row, (n, states)."""
        none = np.empty((len(x), 0))
        return np.concatenate([none, *(self._tables[k][x.codes[k], :-1] for k in self._narrow)], axis=1)

    def _tile(self, left: Matrix, x: Table, y: Table) -> Matrix:
        indicators = [np.eye(len(self._tables[k]))[:-1, y.codes[k]] for k in self._narrow]
        tile: Matrix = left @ np.concatenate([np.empty((0, len(y))), *indicators])
        for k in self._wide:
            tile += self._tables[k][x.codes[k][:, None], y.codes[k]]
        if self._information is None:
            return tile
        return _ratio(tile, self._information_of(x)[:, None] + self._information_of(y))

    def _information_of(self, x: Table) -> Matrix:
        sums = np.zeros(len(x))
        for of, codes in zip(self._information or (), x.codes, strict=True):
            sums += of[codes]
        return sums

    def __repr__(self) -> str:
        return f"Similarity({self.measure!r}, {len(self.variables)} columns)"


class SimilarityFeatures(OfFeatures, Similarity):
    """A similarity that adds one number where states differ: features are states, and that a cell is there."""

    @property
    def dimension(self) -> int:
        """The number of features."""
        return int(self._ends()[-1])

    def features(self, X: Any) -> Features:
        """Return the features, (n, dimension) scipy.sparse.csr_array.

        They are ordered by column: one per state and, with "eskin", one for a cell that is not missing.
        """
        x = self.rows(X)
        values, columns = [], []
        for table, base, codes, first in zip(self._tables, self._bases(), x.codes, self._ends(), strict=False):
            r = len(table) - 1
            there = codes < r
            at_state = np.sqrt(np.maximum(np.diagonal(table) - base, 0.0))
            values.append(np.where(there, at_state[codes], 0.0)[:, None])
            columns.append(first + np.minimum(codes, r - 1).astype(np.int64)[:, None])
            if base > 0:
                values.append(np.where(there, np.sqrt(base), 0.0)[:, None])
                columns.append(np.full((len(x), 1), first + r))
        matrix = sparse(values, columns, len(x), self.dimension)
        matrix.eliminate_zeros()
        return matrix

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' features, (dimension,) float64; the rows of a table count by their weights."""
        x = self.rows(X)
        return weighted_mean(self.features(x), x)

    def _bases(self) -> list[float]:
        """Return what each column adds where states differ."""
        return [float(table[0, 1]) if len(table) > 2 else 0.0 for table in self._tables]

    def _ends(self) -> npt.NDArray[np.int64]:
        widths = [len(table) - 1 + (base > 0) for table, base in zip(self._tables, self._bases(), strict=True)]
        return np.concatenate([[0], np.cumsum(widths)])


def _counts(table: Table, k: int) -> Counts:
    r = table.variables[k].cardinality
    found = np.bincount(table.codes[k], weights=table.weights, minlength=r + 1)[:r].astype(np.float64)
    occurring = found[found > 0]
    once = min(1.0, occurring.min()) if len(occurring) else 1.0  # rows may weigh less than 1
    return Counts(np.where(found > 0, found, once))


def _ratio(above: Matrix, below: Matrix) -> Matrix:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(first, min(n, first + BLOCK)) for first in range(0, n, BLOCK))
