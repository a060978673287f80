"""What a test of independence is and answers, and those on tables of counts: G-squared and chi-squared.

For every configuration of the given variables there is a table of i against j; the statistics of these tables are
added. The degrees of freedom are adjusted to what occurs: a table adds ``(a - 1) (b - 1)``, with a and b the numbers
of its rows and columns that are not empty, and nothing where there is only one of either.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import listed, shown
from fishernet.data import Source, Statistic, Table, categorical_source
from fishernet.data.arrays import as_integers
from fishernet.data.matching import as_numbers, is_frame
from fishernet.data.options import Bins
from fishernet.data.source import is_source
from fishernet.data.statistics import occurring


@dataclass(frozen=True, slots=True, repr=False)
class TestResult(Framed):
    """The answer of a test of independence.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.independence.TestResult(statistic=0.3, p_value=0.01)
    TestResult(statistic=0.3, p_value=0.01)
    """

    statistic: float
    """How far the data are from independence, by the test's own measure; larger is farther."""
    p_value: float
    """The probability, under independence, of a statistic at least as large."""

    __test__: ClassVar[bool] = False  # no test of pytest's

    @property
    def skipped(self) -> bool:
        """Whether permutations were skipped because a simpler test answered."""
        return False

    def to_frame(self) -> pa.Table:
        """Return the fields as a pyarrow Table of one row."""
        return pa.table({name: [value] for name, value in asdict(self).items()})


@dataclass(frozen=True, slots=True, repr=False)
class PermutationResult(TestResult):
    """The answer of a permutation test."""

    permutations: int
    """How many permuted statistics there were: T of p = (1 + K) / (1 + T)."""
    exceeding: int
    """How many of them were at least as large as the observed one: K."""
    skipped: bool = False
    """Whether there were none because a simpler test answered; the p-value is that test's."""
    stopped_early: bool = False
    """Whether there were fewer than asked for, because the decision was certain."""
    seed: int | None = None
    """The seed that gives the same permutations again; None where they were given."""


@dataclass(frozen=True, slots=True, repr=False)
class ContingencyResult(TestResult):
    """The answer of a test on a table of counts."""

    degrees_of_freedom: int
    """Of the chi-square distribution that the statistic has under independence."""


class IndependenceTest(Protocol):
    """A test whether variable i is independent of variable j given others; all are positions.

    A class that names it as its base has ``__call__``, and changes the other members where they do not hold.
    """

    ranks_by_test: ClassVar[bool] = True
    """Whether candidates are compared by the statistic of the test itself; False where `association` is cheaper."""

    def __call__(self, i: int, j: int, given: tuple[int, ...], /) -> TestResult:
        """Return the statistic and the p-value; `given` is ascending and without i and j."""
        ...

    def association(self, i: int, j: int, given: tuple[int, ...], /) -> float:
        """Return how strongly the two depend on each other, larger is stronger, to compare candidates."""
        return self(i, j, given).statistic

    def bounds(self, i: int, j: int, sets: Sequence[tuple[int, ...]], /) -> npt.NDArray[np.float64] | None:  # noqa: ARG002
        """Return what the p-values given each of several sets are at most, where that is cheaper; None: it is not."""
        return None

    @property
    def permutations(self) -> int:
        """The number of permutations of one test."""
        return 0


@dataclass(frozen=True)
class FunctionTest(IndependenceTest):
    """A plain function as a test: it returns any object with a ``statistic`` and a ``p_value``."""

    function: Callable[..., Any]

    def __call__(self, i: int, j: int, given: tuple[int, ...], /) -> TestResult:
        """Return what the function finds."""
        answer = self.function(i, j, given)
        try:
            return TestResult(answer.statistic, answer.p_value)
        except AttributeError:
            wrong = f"a test must return a statistic and a p_value, such as a TestResult; got {shown(answer)}"
            raise FishernetError(wrong, parameter="test") from None


Numbers = npt.NDArray[np.float64]
MOST_DEGREES = 2.0**53  # a chi-square distribution with more is none

CUT = "say bins=4 here; the tests 'fisher-z' and 'knn-mi' take numbers as they are"


def counted(data: Any, names: Iterable[str] | None, bins: Bins | None, purpose: str) -> Source:
    """Return data as a source of counts: what to cut of them is cut; whatever then is no state is refused by name."""
    chosen = None if names is None else list(check.items(names, "names"))
    if not is_source(data):
        if not is_frame(data):
            return _array(data, chosen, bins, purpose)
        made = Table.from_frame(data, columns=chosen, bins=bins)  # the frame may say more of its columns than a table
        return categorical_source(
            made if chosen is None else made.select(chosen), purpose=purpose, remedy=CUT, every=True
        )
    table: Table | None = data.rows
    if chosen is not None:
        if table is None:
            raise SchemaError("names= chooses columns of a table, not of a source of statistics", parameter="names")
        table = table.select(chosen)
    if bins is not None:
        if table is None:
            raise SchemaError("bins= needs the rows; discretize the data before", parameter="bins")
        table = table.discretize(bins)
    return categorical_source(data if table is None else table, purpose=purpose, remedy=CUT, every=True)


def _array(data: Any, names: list[str] | None, bins: Bins | None, purpose: str) -> Source:
    """Return an array as a source: whole numbers are codes; where they are to be cut, numbers as in a frame."""
    array = np.asarray(data)
    if array.ndim != 2:
        raise SchemaError(f"{purpose} takes a Table, a data frame or an array of two axes, got {type(data).__name__}")
    labels = [f"v{c}" for c in range(array.shape[1])] if names is None else names
    if len(labels) != array.shape[1]:
        raise SchemaError(f"names {listed(labels)} are not as many as the columns, {array.shape[1]}")
    if bins is not None:
        return categorical_source(
            as_numbers(array, labels, purpose=purpose).discretize(bins), purpose=purpose, remedy=CUT, every=True
        )
    if array.dtype.kind == "f":
        broken = [name for name, column in zip(labels, array.T, strict=True) if (column != np.rint(column)).any()]
        if broken:
            raise SchemaError(
                f"{purpose} takes an array for codes of states, and {listed(broken)} hold other numbers: {CUT}",
                parameter="bins",
            )
    table = Table.from_codes(as_integers(array, "codes"))
    variables = [replace(variable, name=name) for variable, name in zip(table.variables, labels, strict=True)]
    return Table.adopt(variables, table.codes, n_rows=table.n_rows)


class ContingencyTest(IndependenceTest):
    """A test on counts: ``test(i, j, given)``."""

    called: ClassVar[str]
    ranks_by_test = False

    def __init__(self, data: Any, *, names: Iterable[str] | None = None, bins: Bins | None = None) -> None:
        self._source = counted(data, names, bins, f"the test {self.called!r}")
        self.names: tuple[str, ...] = tuple(variable.name for variable in self._source.variables)

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> ContingencyResult:
        """Test whether variable i is independent of variable j given others."""
        statistic, degrees, log_p = self._answer(i, j, given)
        return ContingencyResult(statistic, math.exp(log_p), degrees)

    def association(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return minus the logarithm of the p-value, for statistics of other degrees of freedom do not compare."""
        return -self._answer(i, j, given)[2]

    def _answer(self, i: int, j: int, given: tuple[int, ...]) -> tuple[float, int, float]:
        [counts] = self._source.statistics([tuple(sorted((i, j, *given)))])
        n, expected, degrees = cells_of(counts, i, j)
        if not degrees:
            return 0.0, 0, 0.0
        statistic = max(0.0, self._statistic(n, expected))
        log_p = _core.log_chi_square_tails(np.array([statistic]), np.array([degrees], dtype=np.int64))
        return statistic, degrees, float(log_p[0])

    @abstractmethod
    def _statistic(self, n: Numbers, expected: Numbers) -> float:
        """Return the statistic of the (cells,) counts that occur, and what independence expects."""


class GSquared(ContingencyTest):
    """The likelihood-ratio test: ``G2 = 2 sum n log(n / expected)``, which is 2 n times the mutual information.

    Parameters
    ----------
    data : Table, data frame, Source, or array of codes
        Of states; a test uses the rows in which its variables are known.
    names : sequence of str, optional
        Of the columns of an array; of others, those that are taken.
    bins : int or mapping, optional
        How columns of numbers are cut into states, as for `Table.discretize`; without it they are refused.

    Raises
    ------
    SchemaError
        When columns are continuous, naming them.
    MissingValueError
        When a test meets a missing cell.

    Notes
    -----
    The degrees of freedom are adjusted: configurations that do not occur, and empty rows and columns of the others, add
    none (R. E. Neapolitan, "Learning Bayesian Networks", 2004, 10.3.1; P. Spirtes, C. Glymour and R. Scheines,
    "Causation, Prediction, and Search", 2000, 5.5).

    The p-value is that of the distribution which many rows in each configuration lead to. Of independent columns a test
    at 5 % rejects 5 % with 50 rows and two states, but 9 % with 50 rows of four states given four configurations, and
    17 % with 100 rows of three states given nine; with 500 rows of five states, some of them rare, it rejects 2 %
    (``python -m studies.intervals``). `fishernet.compare.falsify` draws, and holds its level with few rows, too.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_codes([[0, 0]] * 5 + [[0, 1]] * 5 + [[1, 0]] * 5 + [[1, 1]] * 5)
    >>> fn.independence.GSquared(table)(0, 1, ())
    ContingencyResult(statistic=0.0, p_value=1.0, degrees_of_freedom=1)
    """

    called = "g-squared"

    def bounds(self, i: int, j: int, sets: Sequence[tuple[int, ...]], /) -> npt.NDArray[np.float64] | None:
        """Return the p-values for all degrees of freedom, at least the adjusted ones, by two likelihoods each.

        None where the core does not count the rows.
        """
        if self._likelihoods is None:
            return None
        families = [tuple(sorted(of)) for given in sets for of in (given, (*given, i))]
        offsets = np.cumsum([0, *map(len, families)], dtype=np.int64)
        parents = np.array([v for of in families for v in of], dtype=np.int32)
        found = self._likelihoods.family_scores(np.full(len(families), j, dtype=np.int32), offsets, parents)
        statistics = np.maximum(2 * (found[1::2] - found[::2]), 0.0)
        states = [variable.cardinality for variable in self._source.variables]
        degrees = [(states[i] - 1) * (states[j] - 1) * math.prod([states[v] for v in given]) for given in sets]
        limited = np.maximum(np.array(degrees, dtype=np.float64), 1.0).clip(max=MOST_DEGREES).astype(np.int64)
        return np.exp(_core.log_chi_square_tails(statistics, limited))

    @cached_property
    def _likelihoods(self) -> _core.SetTerms | None:
        if self._source.has_missing or (columns := self._source.in_core()) is None:
            return None
        return _core.SetTerms(columns, "likelihood", 0.0)

    def _statistic(self, n: Numbers, expected: Numbers) -> float:
        return float(2 * np.sum(n * np.log(n / expected)))


class ChiSquared(ContingencyTest):
    """Pearson's test: ``X2 = sum (n - expected)^2 / expected``, over the cells of rows and columns that are not empty.

    Parameters
    ----------
    data : Table, data frame, Source, or array of codes
        Of states; a test uses the rows in which its variables are known.
    names : sequence of str, optional
        Of the columns of an array; of others, those that are taken.
    bins : int or mapping, optional
        How columns of numbers are cut into states, as for `Table.discretize`; without it they are refused.

    Raises
    ------
    SchemaError
        When columns are continuous, naming them.
    MissingValueError
        When a test meets a missing cell.

    Notes
    -----
    The degrees of freedom are adjusted as for `GSquared`. In the same cases it rejects 4, 8, 8 and 11 % of independent
    columns at 5 %: it holds its level better with few rows of common states, and worse with rare ones.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_codes([[0, 0]] * 8 + [[0, 1]] * 2 + [[1, 0]] * 2 + [[1, 1]] * 8)
    >>> round(fn.independence.ChiSquared(table)(0, 1, ()).statistic, 3)
    7.2
    """

    called = "chi-squared"

    def _statistic(self, n: Numbers, expected: Numbers) -> float:
        # sum (n - e)^2 / e = sum n^2 / e - N, for the expected numbers of all cells, empty ones too, sum to N
        return float(np.sum((n - expected) * (n / expected)))


def cells_of(counts: Statistic, i: int, j: int) -> tuple[Numbers, Numbers, int]:
    """Return the cells that occur in the tables of i against j, one table per configuration of the other variables.

    They are (cells,) counts and what independence expects, row times column over the table's total; then the degrees of
    freedom.
    """
    if counts.states is None and counts.counts.size:
        return _of_all_cells(counts, i, j)
    states, values = occurring(counts)
    n = values.astype(np.float64)
    at = [counts.variables.index(i), counts.variables.index(j)]
    others = np.delete(states, at, axis=1)
    table = _numbered(others)
    row = _numbered(np.column_stack([table, states[:, at[0]]]))
    column = _numbered(np.column_stack([table, states[:, at[1]]]))
    totals = np.bincount(table, n)
    expected = np.bincount(row, n)[row] * (np.bincount(column, n)[column] / totals[table])
    # the table of each row and of each column, for how many of them a table has
    rows_of, columns_of = (np.bincount(table[np.unique(part, return_index=True)[1]]) for part in (row, column))
    return n, expected, int(((rows_of - 1) * (columns_of - 1)).sum())


def _of_all_cells(counts: Statistic, i: int, j: int) -> tuple[Numbers, Numbers, int]:
    """Return the same where all cells are held."""
    ends = [counts.variables.index(v) for v in (i, j)]
    others = [axis for axis in range(counts.counts.ndim) if axis not in ends]
    table = counts.counts.transpose(*others, *ends).astype(np.float64)
    table = table.reshape(-1, *table.shape[-2:])
    of_i, of_j = table.sum(axis=2), table.sum(axis=1)
    total = of_i.sum(axis=1)
    degrees = int((((of_i > 0).sum(axis=1) - 1).clip(0) * ((of_j > 0).sum(axis=1) - 1).clip(0)).sum())
    group, row, column = np.nonzero(table)
    expected = of_i[group, row] * of_j[group, column] / total[group]
    return table[group, row, column], expected, degrees


def _numbered(rows: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.int64]:
    """Return a number for every row, equal for equal rows, from 0 on."""
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64)
    numbers: npt.NDArray[np.int64] = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return numbers
