"""Fisher's z test of partial correlation: independence of Gaussian columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import listed, several
from fishernet.data.matching import as_numbers
from fishernet.data.numbers import Columns
from fishernet.independence.contingency import IndependenceTest, TestResult
from fishernet.independence.continuous import STATES, TestWise, read_spaces, require_known_varying, standardized

COLLINEAR = 1e-12  # the share of a column's variance that others may leave unexplained and still be called all of it


def fisher_z_test(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike | None = None) -> TestResult:
    """Test whether x and y are uncorrelated, given z where there is one, by Fisher's z.

    With r the partial correlation and q columns in z, ``sqrt(n - q - 3) |atanh(r)|`` is the absolute value of a
    standard normal variable under independence of Gaussian columns [1]_.

    Parameters
    ----------
    x, y : (n,) arrays of numbers
    z : (n,) or (n, q) array of numbers, optional

    Returns
    -------
    TestResult

    Raises
    ------
    SchemaError
        When a value is NaN or infinite, a column is constant or a linear combination of others, or n is at most q + 3.

    References
    ----------
    .. [1] R. A. Fisher, "The distribution of the partial correlation coefficient", Metron 3, 1924; M. Kalisch and
       P. Buehlmann, JMLR 8, 2007, Eq. 2; J. Leppä-aho, "Methods for Learning Directed and Undirected Graphical
       Models", 2020, section 3.2.4.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> x = np.arange(10.0)
    >>> fn.independence.fisher_z_test(x, x % 3).p_value > 0.1
    True
    """
    names, spaces = read_spaces(x, y, z)
    for name, space in zip("xy", spaces, strict=False):
        if len(space) != 1:
            raise SchemaError(f"{name} must be a single column, got {len(space)}")
    return partial_correlation_test(np.concatenate(spaces), names)


class FisherZ(IndependenceTest):
    """`fisher_z_test` on the columns of a table of numbers: ``test(i, j, given)``.

    Parameters
    ----------
    X : (n_rows, n_columns) array or data frame of numbers
    names : sequence of str, optional
        As for `fishernet.learn.markov_graph`.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> a, b, noise = np.random.default_rng(1).normal(size=(3, 200))
    >>> test = fn.independence.FisherZ({"a": a, "sum": a + b + noise, "b": b})
    >>> bool(test(0, 2, ()).p_value > 0.05), bool(test(0, 2, (1,)).p_value < 0.05)
    (True, True)
    """

    ranks_by_test = False

    def __init__(self, X: Any, *, names: Any = None) -> None:
        data = as_numbers(X, names, purpose="the test 'fisher-z'", remedy=STATES, gaps=True)
        if data.weights is not None:
            raise SchemaError("this test counts every row once; leave the weights out")
        if not data.n_rows:
            raise SchemaError("there are no rows")
        self.names: tuple[str, ...] = data.names
        require_known_varying(data.names, data.numbers)
        self._rows = TestWise(data.numbers)
        self._n_rows = data.n_rows
        self._correlations = correlations(data.numbers) if self._rows.is_complete else None

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> TestResult:
        """Test whether column i is independent of column j given others."""
        chosen = [*given, i, j]
        names = [self.names[c] for c in chosen]
        if self._correlations is not None:
            return _test(self._correlations[np.ix_(chosen, chosen)], self._n_rows, names)
        rows = self._rows.of(chosen)
        if rows is None or rows.shape[1] < len(chosen) + 2:
            return UNKNOWN
        return _test(correlations(rows), rows.shape[1], names)


UNKNOWN = TestResult(0.0, 1.0)  # of a column that does not vary in the rows that know all, or where these are too few


def partial_correlation_test(columns: Columns, names: Sequence[str]) -> TestResult:
    """Test the first two of some (d, n) columns given the others."""
    order = [*range(2, len(columns)), 0, 1]
    return _test(correlations(columns[order]), columns.shape[1], [names[c] for c in order])


def correlations(columns: Columns) -> npt.NDArray[np.float64]:
    """Return the correlation matrix of (d, n) columns, none of them constant."""
    scaled = standardized(columns)
    matrix: npt.NDArray[np.float64] = scaled @ scaled.T / columns.shape[1]
    return matrix


def _test(matrix: npt.NDArray[np.float64], n_rows: int, names: Sequence[str]) -> TestResult:
    """Test the last two columns of a correlation matrix given those before."""
    freedom = n_rows - (len(matrix) - 2) - 3
    if freedom < 1:
        raise SchemaError(
            f"{several(n_rows, 'row is', 'rows are')} too few to test {names[-2]!r} and {names[-1]!r} given "
            f"{several(len(matrix) - 2, 'column')}; at least {len(matrix) + 2} are needed"
        )
    factor = _cholesky(matrix, names)
    covariance, rest = factor[-1, -2], factor[-1, -1]  # of what the given columns leave; the rest is positive
    statistic = math.sqrt(freedom) * math.asinh(abs(covariance) / rest)  # r = c / hypot(c, rest): atanh(r)
    return TestResult(statistic, math.erfc(statistic / math.sqrt(2)))


def _cholesky(matrix: npt.NDArray[np.float64], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the lower factor; SchemaError names a column that is a linear combination of those before it."""
    factor = np.zeros_like(matrix)
    for c in range(len(matrix)):
        for b in range(c):
            factor[c, b] = (matrix[c, b] - factor[c, :b] @ factor[b, :b]) / factor[b, b]
        rest = matrix[c, c] - factor[c, :c] @ factor[c, :c]
        if rest < COLLINEAR:
            raise SchemaError(
                f"the column {names[c]!r} is a linear combination of {listed(names[:c])}; leave one of them out"
            )
        factor[c, c] = math.sqrt(rest)
    return factor
