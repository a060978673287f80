"""A multivariate normal distribution with the zeros of a graph in its precision (Leppä-aho, 2020, section 3.1).

The free entries of a precision matrix with a zero pattern are its diagonal, then its edges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.display import DrawnModel
from fishernet.base.errors import MissingValueError, SchemaError, StateSpaceError
from fishernet.base.names import Pair, listed, numbered, positions, several, shown
from fishernet.base.random import Seed, draw_count, generator
from fishernet.base.value import Value
from fishernet.data import Continuous, Table
from fishernet.data.frames.answering import columns_in_kind, in_kind, library_of
from fishernet.data.frames.rows import held
from fishernet.data.matching import as_rows, as_table
from fishernet.graphs import UndirectedGraph
from fishernet.infer.conditioned import Queried
from fishernet.infer.normal import completed, covariance_given, gaps_of
from fishernet.infer.prediction import conditional_means, numbers_with_gaps
from fishernet.models.conditionals.base import Conditional
from fishernet.models.gaussian import Numbers
from fishernet.models.model import fitted_rows, rows_complete, rows_fitted_to

DENSE = 16  # with an edge among so many pairs, products of whole matrices are faster


@dataclass(frozen=True, eq=False)
class Entries:
    """The places of the free entries: ``(i, i)`` for every variable, then ``(i, j)``, i < j, for every edge."""

    size: int
    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]

    @classmethod
    def of_adjacency(cls, adjacency: Sequence[Sequence[int]]) -> Self:
        """Return the entries of a graph, edges in the order of `UndirectedGraph.edges`."""
        pairs = [(i, j) for i, others in enumerate(adjacency) for j in others if i < j]
        rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return cls(len(adjacency), rows, columns)

    def __len__(self) -> int:
        return self.size + len(self.rows)

    def taken(self, matrix: Numbers) -> Numbers:
        """Return the entries of a symmetric matrix, (n_entries,)."""
        return np.concatenate([np.diagonal(matrix), matrix[self.rows, self.columns]])

    def filled(self, values: Numbers) -> Numbers:
        """Return the symmetric matrix with these entries and zeros elsewhere, (size, size)."""
        matrix = np.zeros((self.size, self.size))
        np.fill_diagonal(matrix, values[: self.size])
        matrix[self.rows, self.columns] = values[self.size :]
        matrix[self.columns, self.rows] = values[self.size :]
        return matrix

    def inner(self, x: Numbers, y: Numbers) -> float:
        """Return the sum of products of all entries of two symmetric matrices; each edge has two."""
        return float(x @ y + x[self.size :] @ y[self.size :])

    def information(self, W: Numbers) -> Numbers:
        """Return the information of the entries at a covariance W: ``1/2 tr(W E_a W E_b)``, (n_entries, n_entries)."""
        diagonal = np.arange(self.size)
        i, j = np.concatenate([diagonal, self.rows]), np.concatenate([diagonal, self.columns])
        weight = np.where(i == j, 0.5, 1.0)
        crossed = W[np.ix_(i, i)] * W[np.ix_(j, j)] + W[np.ix_(i, j)] * W[np.ix_(j, i)]
        return np.asarray(weight[:, None] * weight * crossed)


class Curvature:
    """``D -> W D W`` on the entries alone: the second derivative of ``-log det`` at the inverse of W, (size, size)."""

    def __init__(self, entries: Entries, W: Numbers) -> None:
        self._entries = entries
        self._W = W
        self._dense = DENSE * len(entries.rows) > entries.size**2
        self._right = W[:, [] if self._dense else entries.columns]

    @property
    def diagonal(self) -> Numbers:
        """What each entry does to itself: W_ii^2, and W_ii W_jj + W_ij^2; (n_entries,)."""
        own = np.diagonal(self._W)
        edges = self._entries
        return np.concatenate([own**2, own[edges.rows] * own[edges.columns] + self._W[edges.rows, edges.columns] ** 2])

    def __call__(self, direction: Numbers) -> Numbers:
        """Return the entries of W D W, D being given by its entries."""
        if self._dense:
            return self._entries.taken(self._W @ self._entries.filled(direction) @ self._W)
        left = self._sparse(direction) @ self._W
        own = np.einsum("ki,ki->i", self._W, left)
        return np.concatenate([own, np.einsum("km,km->m", left[:, self._entries.rows], self._right)])

    def _sparse(self, values: Numbers) -> Any:
        import scipy.sparse as sp  # slow to import, and needed by few calls

        n, edges = self._entries.size, self._entries
        at = np.arange(n)
        where = np.concatenate([at, edges.rows, edges.columns]), np.concatenate([at, edges.columns, edges.rows])
        return sp.csr_array((np.concatenate([values, values[n:]]), where), shape=(n, n))


def checked_array(values: npt.ArrayLike, what: str, shape: tuple[int, ...]) -> Numbers:
    """Return finite numbers of a shape, read-only; `what` they are is for messages."""
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise SchemaError(f"{what} must be an array of numbers: {error}") from None
    if array.shape != shape:
        raise SchemaError(f"{what} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise SchemaError(f"{what} must be finite, got {array[place]} at {place}")
    array.flags.writeable = False
    return array


KINDS = ("mean", "precision")  # of parameters
MOST_SCORES = 2**31
MOST_INFORMATION = 2**27
ROUNDING = 1e-9  # by which a precision may differ from its transpose, relative to the diagonal


class GaussianMarkovNetwork(Queried, DrawnModel, Value):
    """A multivariate normal distribution over named variables; immutable.

    Two variables are independent given all others exactly where the precision, the inverse of the covariance, has a
    zero: the others are the edges of `graph`.

    Parameters
    ----------
    names : sequence of str
        The d variables, each once.
    mean : (d,) array
    precision : (d, d) array
        Symmetric and positive definite.
    n_rows : int or float, optional
        The rows that it was fitted to, which tests ask for; None where it is known.
    n_complete : int or float, optional
        How many of these know both variables of an edge, for the edge of which fewest do; all of them without it.

    Raises
    ------
    SchemaError
        When shapes do not fit, a number is not finite, or the precision is not symmetric or not positive definite.

    See Also
    --------
    fishernet.learn.gaussian_network : fits one to data.
    fishernet.models.g_wishart : draws precisions.

    Examples
    --------
    >>> import fishernet as fn
    >>> net = fn.GaussianMarkovNetwork(["a", "b", "c"], [0, 0, 1], [[2, -1, 0], [-1, 2, 1], [0, 1, 2]])
    >>> net
    GaussianMarkovNetwork(3 variables, 2 edges)
    >>> net.graph.edges
    (('a', 'b'), ('b', 'c'))
    >>> net.log_prob([[0.0, 0.0, 1.0]]).round(3)
    array([-2.064])
    >>> net.predict({"a": [2.0], "c": [1.0]}, ["b"])
    array([[1.]])
    """

    names: tuple[str, ...]
    """The variables' names."""
    mean: Numbers
    """The mean, (d,)."""
    precision: Numbers
    """The inverse of the covariance, (d, d)."""
    n_rows: int | float | None
    """The rows that it was fitted to, or the sum of their weights."""
    n_complete: int | float | None
    """Of these, the rows that know both variables of an edge: of the edge of which fewest do."""

    def __init__(
        self,
        names: Iterable[str],
        mean: npt.ArrayLike,
        precision: npt.ArrayLike,
        *,
        n_rows: float | None = None,
        n_complete: float | None = None,
    ) -> None:
        self._where = numbered(names)
        d = len(self._where)
        if not d:
            raise SchemaError("a Gaussian Markov network needs a variable; there are no names")
        self._set(names=tuple(self._where), mean=checked_array(mean, "the mean", (d,)))
        given = checked_array(precision, "the precision", (d, d))
        _check_symmetry(given, self.names)
        K: Numbers = np.where(given == given.T, given, given / 2 + given.T / 2) + 0.0  # no -0.0
        K.flags.writeable = False
        self._set(precision=K, n_rows=rows_fitted_to(n_rows), n_complete=rows_complete(n_rows, n_complete))
        self._factor  # noqa: B018 - there is one only if it is positive definite

    @cached_property
    def variables(self) -> tuple[Continuous, ...]:
        """The variables, all of them numbers."""
        return tuple(Continuous(name) for name in self.names)

    @cached_property
    def covariance(self) -> Numbers:
        """The covariance, (d, d)."""
        half = np.linalg.inv(self._factor)
        covariance: Numbers = half.T @ half
        covariance = (covariance + covariance.T) / 2
        covariance.flags.writeable = False
        return covariance

    @cached_property
    def graph(self) -> UndirectedGraph:
        """The graph that joins variables with a precision between them that is not 0."""
        linked = self.precision != 0
        np.fill_diagonal(linked, False)
        return UndirectedGraph(self.names, [np.flatnonzero(row).tolist() for row in linked])

    @cached_property
    def partial_correlations(self) -> Numbers:
        """The correlation of each two variables given all others, (d, d); ones on the diagonal."""
        scales = 1 / np.sqrt(np.diagonal(self.precision))
        correlations: Numbers = -self.precision * np.outer(scales, scales) + 0.0
        np.fill_diagonal(correlations, 1.0)
        correlations.flags.writeable = False
        return correlations

    is_continuous = True
    """Whether its variables are numbers."""
    kind: ClassVar[str] = "Gaussian Markov network"
    """What it is called."""
    values: ClassVar[Literal["numbers"]] = "numbers"
    """The cells of its tables hold numbers."""
    likelihood: ClassVar[Literal["exact"]] = "exact"
    """Its likelihood is exact."""
    inference: ClassVar[Literal["normal"]] = "normal"
    """Questions are answered as by a normal distribution."""
    conditionals: ClassVar[tuple[Conditional, ...]] = ()
    """None: it is made of a mean and a precision."""

    @property
    def n_parameters(self) -> int:
        """The number of scores: the means, the diagonal of the precision, and its edges."""
        return len(self.names) + len(self._entries)

    def rows(self, X: Any, *, complete_for: str) -> Table:
        """Return data as a table of the network's variables; `complete_for` says what needs complete rows."""
        return as_table(X, [Continuous(name) for name in self.names], complete_for=complete_for)

    def log_prob(self, X: Any) -> Numbers:
        """Return the log-density of the observed numbers of each row, (n,) float64: missing ones are integrated out.

        Parameters
        ----------
        X : (n, d) array or data frame
            The columns of a frame are matched by name. NaN is missing.

        Raises
        ------
        SchemaError
            When a column is absent, or a value is infinite.
        """
        rows = self._with_gaps(X)
        if np.isnan(rows).any():
            return marginal_log_prob(self.mean, self.covariance, np.ascontiguousarray(rows.T))
        z = (rows - self.mean) @ self._factor
        log_det = float(np.log(np.diagonal(self._factor)).sum())
        return np.asarray(log_det - 0.5 * len(self.names) * math.log(2 * math.pi) - 0.5 * (z**2).sum(axis=1))

    def sample(self, n: int, *, seed: Seed = None) -> Numbers:
        """Draw rows, (n, d) float64."""
        count = draw_count(n)
        z = generator(seed).standard_normal((count, len(self.names)))
        drawn: Numbers = self.mean + np.linalg.solve(self._factor.T, z.T).T
        return drawn

    def predict(self, X: Any, names: str | Iterable[str], *, given: Iterable[str] | None = None) -> Any:
        """Return the conditional mean of some variables given others; missing numbers are integrated out.

        Parameters
        ----------
        X : array or data frame
            What is known: an array has the columns of `given`, in its order, or one column for each of the d variables,
            of which those of `given` are looked at; a frame has (at least) the columns of `given`, found by name.
        names : str or sequence of str
            The variables to predict; the columns of the result.
        given : sequence of str, optional
            The variables that are known; by default all that are not predicted, in the order of the model.

        Returns
        -------
        (n, n_predicted) float64, or a frame of the kind that was given
            A pandas, polars or pyarrow frame is answered with such a frame, one column per name; asked for one name,
            not for a sequence, with a column.

        Raises
        ------
        SchemaError
            When a name is unknown, predicted and given, or no variable is given; or as for `log_prob`.

        See Also
        --------
        predict_each : each variable from all others.
        conditional_covariance : how far predictions are off.

        Examples
        --------
        >>> import fishernet as fn
        >>> net = fn.GaussianMarkovNetwork(["a", "b", "c"], [0, 0, 0], [[2, -1, 0], [-1, 2, -1], [0, -1, 2]])
        >>> net.predict([[1.0, 2.0]], "b")  # a and c
        array([[1.5]])
        >>> net.predict({"a": [3.0]}, ["c", "b"], given=["a"])
        array([[1., 2.]])
        """
        wanted, known, _ = self._split(names, given)
        rows = numbers_with_gaps(X, self.variables, [self.names[v] for v in known])
        found = conditional_means(self, rows, known, wanted)
        if isinstance(names, str) and library_of(X) is not None:
            return in_kind(X, self.variables[wanted[0]], found[:, 0])
        return columns_in_kind(X, [self.names[v] for v in wanted], found)

    def to_markov_network(self) -> Self:
        """Return the network itself, as a Bayesian network of numbers returns its like."""
        return self

    def predict_each(self, X: Any) -> Numbers:
        """Return the conditional mean of each variable given all others of its row, (n, d) float64."""
        rows = as_rows(X, self.names, "a Gaussian network")
        found: Numbers = rows - (rows - self.mean) @ self.precision / np.diagonal(self.precision)
        return found

    def conditional_covariance(self, names: str | Iterable[str], *, given: Iterable[str] | None = None) -> Numbers:
        """Return the covariance of some variables given others, (n_names, n_names); it is that of every row.

        The arguments are those of `predict`.
        """
        wanted, _, hidden = self._split(names, given)
        at = [hidden.index(v) for v in wanted]
        return covariance_given(self.precision, hidden)[np.ix_(at, at)]

    def fisher_scores(self, X: Any, *, parameters: Sequence[str] | None = None) -> Numbers:
        """Return the derivatives of each log-density in the parameters, (n, n_parameters) float64.

        Parameters
        ----------
        X : (n, d) array or data frame
        parameters : sequence of {"mean", "precision"}, optional
            Which; both by default.

        Returns
        -------
        (n, n_parameters) float64
            In this order: the d means; the d diagonal entries of the precision; its edges, in the order of
            ``graph.edges``, each as one parameter that stands in both places. Of a row that lacks numbers, of the
            density of what is known.

        Raises
        ------
        SchemaError
            As for `log_prob`.
        StateSpaceError
            When they would not fit.
        """
        kinds = _checked_kinds(parameters)
        columns = np.ascontiguousarray(self._with_gaps(X).T)
        off = completed(self, columns).T - self.mean
        d, edges = len(self.names), self._entries
        cells = len(off) * self.n_parameters
        if cells > MOST_SCORES:
            raise StateSpaceError("the scores", cells=cells, limit=MOST_SCORES, remedy="take the rows in parts")
        parts = []
        if "mean" in kinds:
            parts.append(off @ self.precision)
        if "precision" in kinds:
            free = edges.taken(self.covariance)
            second = np.concatenate([off**2, off[:, edges.rows] * off[:, edges.columns]], axis=1)
            for gap in gaps_of(columns):
                second[gap.rows] += edges.taken(gap.spread(self.precision)) if len(gap.missing) else 0.0
            parts.append(np.where(np.arange(len(free)) < d, 0.5, 1.0) * (free - second))
        return np.concatenate(parts, axis=1)

    def fisher_information(self, *, parameters: Sequence[str] | None = None) -> Numbers:
        """Return the expected product of the scores of one row, (n_parameters, n_parameters) float64.

        The precision itself for the means; ``1/2 tr(W E_a W E_b)`` for the entries of the precision, with W the
        covariance and E_a the derivative in entry a; 0 between means and entries. The parameters are chosen as for
        `fisher_scores`.
        """
        kinds = _checked_kinds(parameters)
        d = len(self.names) if "mean" in kinds else 0
        size = d + (len(self._entries) if "precision" in kinds else 0)
        if size**2 > MOST_INFORMATION:
            raise StateSpaceError(
                "the Fisher information",
                cells=size**2,
                limit=MOST_INFORMATION,
                remedy='use the metric "practical", or the parameters "mean" alone',
            )
        information = np.zeros((size, size))
        if d:
            information[:d, :d] = self.precision
        if size > d:
            information[d:, d:] = self._entries.information(self.covariance)
        return information

    @property
    def edges(self) -> tuple[Pair, ...]:
        """The edges of its graph as pairs of names."""
        return self.graph.edges

    def _parts(self) -> tuple[Any, ...]:
        return self.names, self.mean, self.precision

    def _options(self) -> dict[str, Any]:
        return fitted_rows(self.n_rows, self.n_complete)

    def __repr__(self) -> str:
        size = f"{several(len(self.names), 'variable')}, {several(self.graph.n_edges, 'edge')}"
        return f"GaussianMarkovNetwork({size})"

    def _with_gaps(self, X: Any) -> Numbers:
        """Return rows of the network's variables, (n, d), where NaN is missing."""
        data = held(X)
        try:
            return as_rows(data, self.names, "a Gaussian network")
        except MissingValueError:
            return numbers_with_gaps(data, self.variables, self.names)

    @cached_property
    def _entries(self) -> Entries:
        return Entries.of_adjacency(self.graph.adjacency)

    @cached_property
    def _factor(self) -> Numbers:
        """The lower factor of the precision."""
        scales = np.sqrt(np.diagonal(self.precision))
        try:
            factor = np.linalg.cholesky(self.precision / scales[:, None] / scales)
        except np.linalg.LinAlgError:
            raise SchemaError(
                "the precision must be positive definite; the smallest eigenvalue of its correlations is "
                f"{np.linalg.eigvalsh(self.precision / scales[:, None] / scales)[0]:.3g}"
            ) from None
        return np.asarray(factor * scales[:, None])

    def _split(self, names: str | Iterable[str], given: Iterable[str] | None) -> tuple[list[int], list[int], list[int]]:
        """Return the positions of what is predicted, what is given, and what is not given."""
        wanted = list(positions(self._where, names))
        asked = set(wanted)
        if not wanted or len(asked) < len(wanted):
            raise SchemaError(f"the names to predict must be some variables, each once; got {shown(names)}")
        if given is None:
            known = [v for v in range(len(self.names)) if v not in asked]
        else:
            known = list(positions(self._where, given))
        both = [self.names[v] for v in known if v in asked]
        if both or len(set(known)) < len(known):
            raise SchemaError(
                f"given variables must be others than those predicted, each once; see {listed(both or known)}"
            )
        if not known:
            raise SchemaError("predict needs at least one given variable; without any, see `mean` and `covariance`")
        return wanted, known, sorted(set(range(len(self.names))) - set(known))


def _check_symmetry(K: Numbers, names: Sequence[str]) -> None:
    """Raise SchemaError when a matrix has no positive diagonal, or is not symmetric."""
    own = np.diagonal(K)
    if not (own > 0).all():
        v = int(np.argmin(own > 0))
        raise SchemaError(f"the precision of {names[v]!r} must be positive, got {own[v]:.6g}")
    sizes = np.sqrt(own)
    bad = np.argwhere(np.abs(K - K.T) > ROUNDING * sizes[:, None] * sizes)
    if len(bad):
        i, j = bad[0]
        raise SchemaError(
            f"the precision must be symmetric; between {names[i]!r} and {names[j]!r} it has {K[i, j]:.6g} and "
            f"{K[j, i]:.6g}"
        )


def _checked_kinds(parameters: Sequence[str] | None) -> tuple[str, ...]:
    """Return kinds of parameters."""
    kinds = (
        KINDS
        if parameters is None
        else (parameters,)
        if isinstance(parameters, str)
        else check.items(parameters, "parameters")
    )
    if not kinds or not all(isinstance(kind, str) and kind in KINDS for kind in kinds):
        raise SchemaError(f"parameters must be among {listed(KINDS)}, got {listed(kinds) if kinds else 'none'}")
    return kinds


def marginal_log_prob(mean: Numbers, covariance: Numbers, columns: Numbers) -> Numbers:
    """Return the log-density of what is known of each row of normal variables, (n,).

    `columns` is (d, n), NaN where a number is missing. Rows with the same missing numbers are computed together.
    """
    log_prob = np.zeros(columns.shape[1])
    for gap in gaps_of(columns):
        known, rows = gap.known, gap.rows
        factor = np.linalg.cholesky(covariance[np.ix_(known, known)])
        off = columns[np.ix_(known, rows)] - mean[known, None]
        z = np.linalg.solve(factor, off) if len(known) else off
        log_det = float(np.log(np.diagonal(factor)).sum())
        log_prob[rows] = -log_det - 0.5 * len(known) * math.log(2 * math.pi) - 0.5 * (z**2).sum(axis=0)
    return log_prob
