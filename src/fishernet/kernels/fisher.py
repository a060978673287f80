"""The Fisher kernel of a model (P3, definition 12.27), and of a Bayesian network in closed form (P1, Theorem 1).

The kernel of two rows is the inner product of their scores under the inverse of the Fisher information,
``K(x, y) = s(x)' I^-1 s(y)``. A hidden Markov model, a Markov chain or a Gaussian gives its scores, and the matrix
between them is made here (`metrics.scores`). For a Bayesian network it is a sum over the variables: variable i adds
nothing where the parents' configurations differ, and ``([x_i = y_i] / theta_ijk - 1) / P(j)`` where both are j. It is
the inner product of the features::

    phi_ijk(x) = [parents of i in x are j] ([x_i = k] - theta_ijk) / sqrt(P(j) theta_ijk)

(a group of configurations in place of j where a conditional merges some). The mean feature under the network is 0, and
the expected ``K(x, x)`` is the number of free parameters. It does not depend on which of several equivalent graphs
carries the distribution (P1, Theorem 4).

That kernel sees a table through the counts of its families alone: two tables with equal counts of every variable with
its parents are at distance 0, however different their rows.

Marginalised count features: what a model is expected to have done for a string (P3, remark 12.23).

The practical metric: the scores as they are.

The metrics on scores as they are: what serves any model that has `fisher_scores`.

The empirical metric: scores whitened by those of reference rows.

The invariant metric: the inverse of the Fisher information.

What stands between two rows' scores in a Fisher kernel.

Three metrics, one file each for Bayesian networks, and one file for all other models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.base.random import Seed, generator
from fishernet.data import Table
from fishernet.infer import group_probabilities as infer_group_probabilities
from fishernet.kernels.kernel import (
    Algebra,
    Features,
    Matrix,
    Metric,
    check_cells,
    inner,
    is_sparse,
    sparse,
    total_weight,
    weighted_mean,
)
from fishernet.models import BayesianNetwork
from fishernet.models.conditionals.base import shown_states

PARTS = ("emission", "transition", "initial", "final")


class CountKernel(Algebra):
    """The inner product of expected counts: how often the hidden trajectories of a string use each parameter.

    Parameters
    ----------
    model : HiddenMarkovModel
        Or any model with `expected_counts`.
    parts : sequence of str
        Which counts: some of "emission", "transition", "initial" and "final".

    Notes
    -----
    A marginalised kernel: the counts of pairs of symbol and hidden state, or of pairs of states, summed over the hidden
    states by their posterior probability. Counts grow with the strings; `Normalized` makes them comparable.

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.HiddenMarkovModel([1, 0], [[0.5, 0.5], [0, 1]], [[1, 0], [0.5, 0.5]], alphabet="ab")
    >>> k = fn.kernels.CountKernel(hmm, parts=["emission"])
    >>> k.features(["ab", "aab"])
    array([[1. , 0. , 0. , 1. ],
           [1.5, 0. , 0.5, 1. ]])
    """

    def __init__(self, model: Any, *, parts: Any = ("emission", "transition")) -> None:
        if not hasattr(model, "expected_counts"):
            raise SchemaError(
                f"counts need a model with hidden states; a {type(model).__name__} has no expected_counts"
            )
        if isinstance(parts, str) or not parts or not set(parts) <= set(PARTS):
            raise SchemaError(f"parts must be some of {', '.join(map(repr, PARTS))}, in a list; got {parts!r}")
        self._model = model
        self._parts = tuple(part for part in PARTS if part in parts)

    @property
    def model(self) -> Any:
        """The model."""
        return self._model

    @property
    def dimension(self) -> int:
        """The number of counts."""
        return int(self.features([]).shape[1])

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the kernel of all pairs of strings, (n, m) float64."""
        check_cells(len(X) * len(X if Y is None else Y), "the kernel matrix")
        return inner(self.features(X), None if Y is None else self.features(Y))

    def diag(self, X: Any) -> Matrix:
        """Return the kernel of each string with itself, (n,) float64."""
        features = self.features(X)
        return np.asarray(np.einsum("ij,ij->i", features, features))

    def features(self, X: Any) -> Features:
        """Return the expected counts of each string, (n, dimension) float64.

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.
        """
        counts = self._model.expected_counts(X)
        tables = [getattr(counts, part) for part in self._parts]
        if any(table is None for table in tables):
            raise SchemaError("the model has no final state, and so no counts of it")
        return np.concatenate([table.reshape(len(table), int(np.prod(table.shape[1:]))) for table in tables], axis=1)

    def mean_features(self, X: Any) -> Matrix:
        """Return their mean, (dimension,)."""
        return weighted_mean(self.features(X), X)

    def __repr__(self) -> str:
        return f"CountKernel({self._model!r}, parts={list(self._parts)!r})"


class Practical:
    """No metric: the dot product of the scores."""

    name = "practical"

    def __init__(self, model: BayesianNetwork) -> None:
        self._model = model
        self._widths = [conditional.n_parameters for conditional in model.conditionals]

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        return self._model.n_parameters

    def gram(self, X: Table, Y: Table) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(X.n_rows * Y.n_rows, "the kernel matrix")
        return inner(self.features(X), None if Y is X else self.features(Y))

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        return np.asarray(self.features(X).power(2).sum(axis=1)).ravel()

    def terms(self, X: Table, Y: Table) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        check_cells(len(self._widths) * X.n_rows * Y.n_rows, "the terms of the kernel matrix")
        x = self.features(X).tocsc()
        y = x if Y is X else self.features(Y).tocsc()
        ends = np.cumsum([0, *self._widths])
        return np.stack([inner(x[:, a:b], None if Y is X else y[:, a:b]) for a, b in pairwise(ends)])

    def features(self, X: Table) -> Features:
        """Return the scores (P1, Eq. 8), (n, n_parameters)."""
        values, columns = [], []
        first = 0
        for conditional, width in zip(self._model.conditionals, self._widths, strict=True):
            entries, places = conditional.score_entries(X)
            values.append(entries)
            columns.append(first + places)
            first += width
        matrix = sparse(values, columns, X.n_rows, self.dimension)
        matrix.eliminate_zeros()
        return matrix

    def mean_features(self, X: Table) -> Matrix:
        """Return the mean score, (n_parameters,)."""
        return weighted_mean(self.features(X), X)


MOST_INFORMATION = 2**27  # cells of the matrix between the scores, 1 GiB
N_SAMPLES = 10_000
CUTOFF = 1e-10


class ScoredModel(Protocol):
    """A model of rows, strings or numbers with a likelihood and its derivatives."""

    def log_prob(self, data: Any) -> Matrix:
        """Return the log-probability (or density) of each row, (n,)."""
        ...

    def fisher_scores(self, data: Any) -> Features:
        """Return its derivatives by the parameters, (n, n_parameters)."""
        ...


class Scores:
    """The scores of a model, multiplied by a matrix that whitens them; None leaves them as they are.

    Parameters
    ----------
    model : ScoredModel
    name : str
        Of the metric.
    options : dict
        Further arguments of `fisher_scores`.
    whiten : (n_parameters, dimension) array, optional
    """

    def __init__(self, model: ScoredModel, name: str, options: dict[str, Any], whiten: Matrix | None) -> None:
        self.name = name
        self._model = model
        self._options = options
        self._whiten = whiten

    @property
    def dimension(self) -> int:
        """The number of features: of parameters, or the rank of the matrix between the scores."""
        if self._whiten is not None:
            return int(self._whiten.shape[1])
        return int(self.features([]).shape[1])

    def gram(self, X: Any, Y: Any) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(len(X) * len(Y), "the kernel matrix")
        return inner(self.features(X), None if Y is X else self.features(Y))

    def diag(self, X: Any) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        features = self.features(X)
        squares = features.power(2).sum(axis=1) if is_sparse(features) else np.einsum("ij,ij->i", features, features)
        return np.asarray(squares).ravel()

    def terms(self, X: Any, Y: Any) -> Matrix:  # noqa: ARG002
        """Raise: only a Bayesian network's kernel is a sum over variables."""
        raise FishernetError(f"the Fisher kernel of a {type(self._model).__name__} has no terms, one a variable")

    def features(self, X: Any) -> Features:
        """Return the whitened scores, (n, dimension)."""
        scores = self._model.fisher_scores(X, **self._options)
        if self._whiten is None:
            return scores
        if is_sparse(scores):
            return np.asarray(scores @ self._whiten)
        # row by row the same numbers, whatever the other rows are: K(X, X) and K(X, Y) agree to the last digits
        return np.asarray(scores, dtype=np.float64) @ self._whiten

    def mean_features(self, X: Any) -> Matrix:
        """Return their mean, (dimension,)."""
        return weighted_mean(self.features(X), X)


def score_metric(
    model: ScoredModel,
    metric: str,
    *,
    reference: Any = None,
    parameters: Any = None,
    length: Any = None,
    n_samples: int | None = None,
    cutoff: float | None = None,
    seed: Seed = None,
) -> Scores:
    """Return the metric of a name on a model's scores.

    Raises
    ------
    SchemaError
        When an option does not fit the metric.
    """
    options = {} if parameters is None else {"parameters": parameters}
    least = CUTOFF if cutoff is None else _checked_cutoff(cutoff)
    if metric == "practical":
        return Scores(model, metric, options, None)
    if metric == "empirical":
        if reference is None:
            raise SchemaError("the metric 'empirical' needs reference rows")
        moments = second_moments(model.fisher_scores(reference, **options), getattr(reference, "weights", None))
    else:
        moments = _information(model, options, length, N_SAMPLES if n_samples is None else n_samples, seed)
    return Scores(model, metric, options, whitening(moments, least))


def second_moments(scores: Features, weights: npt.NDArray[Any] | None = None) -> Matrix:
    """Return the mean product of scores with themselves, (n_parameters, n_parameters).

    Parameters
    ----------
    scores : (n, n_parameters) array or sparse array
    weights : (n,) array, optional
        Of the rows; 1 each without it.

    Raises
    ------
    SchemaError
        When there is no row, or none of positive weight.
    StateSpaceError
        When the matrix would not fit.
    """
    n, width = scores.shape
    if n == 0:
        raise SchemaError("second moments need a row of scores; there is none")
    if width**2 > MOST_INFORMATION:
        raise StateSpaceError(
            "the matrix between the scores",
            cells=width**2,
            limit=MOST_INFORMATION,
            remedy="use the metric 'practical', or fewer kinds of parameters (`parameters`)",
        )
    moments = scores.T @ scores / n if weights is None else scores.T @ _weighted(scores, weights)
    return np.asarray(moments.toarray() if is_sparse(moments) else moments)


def _weighted(scores: Features, weights: npt.NDArray[Any]) -> Features:
    """Return each row of scores times its share of the weight."""
    total = weights.sum()
    if not total > 0:
        raise SchemaError("second moments need a row of positive weight; there is none")
    shares = (weights / total)[:, None]
    return scores.multiply(shares).tocsr() if is_sparse(scores) else scores * shares


def whitening(moments: Matrix, cutoff: float) -> Matrix:
    """Return W with ``W W'`` a generalized inverse of a positive semidefinite matrix, (n, rank).

    Every parameter is first scaled to variance 1, so that parameters near 0, whose scores are large, do not hide the
    others; then eigenvalues up to `cutoff` times the largest count as 0. On vectors in the range of the matrix, where
    scores lie, any generalized inverse gives the same products as the pseudo-inverse.
    """
    sizes = np.sqrt(np.diag(moments))
    scales = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    eigenvalues, vectors = np.linalg.eigh(moments * scales[:, None] * scales)
    kept = eigenvalues > cutoff * eigenvalues.max(initial=0.0)
    whiten: Matrix = scales[:, None] * vectors[:, kept] / np.sqrt(eigenvalues[kept])
    return whiten


def _information(model: Any, options: dict[str, Any], length: Any, n_samples: int, seed: Seed) -> Matrix:
    """Return the Fisher information: exactly where the model can, otherwise from strings that it draws."""
    how = {} if length is None else {"length": length}
    random = generator(seed)  # a bad seed is refused, whether it is used or not
    if hasattr(model, "fisher_information"):
        try:
            return _whole(model.fisher_information(**how, **options))
        except StateSpaceError:
            pass  # too large, or without end: what it draws tells as much as it can
    if not hasattr(model, "sample"):
        raise SchemaError(
            f"the information of a {type(model).__name__} is not known and cannot be simulated; use the metric "
            "'empirical' with reference rows"
        )
    return second_moments(model.fisher_scores(model.sample(n_samples, seed=random, **how), **options))


def _whole(information: Any) -> Matrix:
    """Return the information as one matrix; a network gives a block a variable."""
    if isinstance(information, np.ndarray):
        return information
    size = sum(len(block) for block in information)
    if size**2 > MOST_INFORMATION:
        raise StateSpaceError("the Fisher information", cells=size**2, limit=MOST_INFORMATION, remedy="")
    matrix, first = np.zeros((size, size)), 0
    for block in information:
        last = first + len(block)
        matrix[first:last, first:last] = block
        first = last
    return matrix


def _checked_cutoff(cutoff: float) -> float:
    if not 0 <= cutoff < 1:
        raise SchemaError(f"the cut-off must be a number from 0 to below 1, got {cutoff!r}")
    return float(cutoff)


class Empirical:
    """A generalized inverse of the scores' second moments over reference rows, found as for every model.

    Each parameter is scaled to variance 1, then eigenvalues up to 1e-10 of the largest count as 0.
    """

    name = "empirical"

    def __init__(self, model: BayesianNetwork, reference: Table) -> None:
        self._scores = Practical(model)
        moments = second_moments(self._scores.features(reference), reference.weights)
        self._whiten = whitening(moments, CUTOFF)

    @property
    def dimension(self) -> int:
        """The rank of the second moments."""
        return int(self._whiten.shape[1])

    def gram(self, X: Table, Y: Table) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(X.n_rows * Y.n_rows, "the kernel matrix")
        return inner(self.features(X), None if Y is X else self.features(Y))

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        return np.asarray((self.features(X) ** 2).sum(axis=1))

    def terms(self, X: Table, Y: Table) -> Matrix:  # noqa: ARG002
        """Raise: the variables are mixed."""
        raise FishernetError("under the metric 'empirical' the variables are mixed and have no terms of their own")

    def features(self, X: Table) -> Features:
        """Return the whitened scores, (n, dimension)."""
        return np.asarray(self._scores.features(X) @ self._whiten)

    def mean_features(self, X: Table) -> Matrix:
        """Return their mean, (dimension,)."""
        return np.asarray(self._scores.mean_features(X) @ self._whiten)


class Invariant:
    """The inverse of the Fisher information: Theorem 1, by look-ups."""

    name = "invariant"

    def __init__(self, model: BayesianNetwork, groups: Sequence[Matrix]) -> None:
        self._model = model
        self._theta = [c.probabilities for c in model.conditionals]
        theta = _flat(self._theta)
        states = np.repeat([t.shape[1] for t in self._theta], [t.shape[0] for t in self._theta])
        by_theta = self._by_theta = _inverse(theta)
        by_group = self._by_group = np.repeat(_inverse(_flat(groups)), states)
        self._same, self._other = (1 - theta) * by_theta * by_group, -by_group
        self._inverse_theta, self._inverse_group = self._parts(by_theta), self._parts(by_group)
        impossible = (theta == 0) | (by_group == 0)
        self._impossible = self._parts(impossible.astype(np.float64)) if impossible.any() else None

    def _parts(self, cells: Matrix) -> list[Matrix]:
        """Return one number a cell as one (groups, states) array a variable."""
        parts, first = [], 0
        for theta in self._theta:
            parts.append(cells[first : first + theta.size].reshape(theta.shape))
            first += theta.size
        return parts

    @property
    def dimension(self) -> int:
        """The number of features."""
        return len(self._by_theta)

    @property
    def inverse_theta(self) -> Matrix:
        """1 / theta of every cell, 0 where theta is 0; variable by variable, (dimension,)."""
        return self._by_theta

    @property
    def inverse_group(self) -> Matrix:
        """1 / P(group) of every cell, (dimension,)."""
        return self._by_group

    def cells(self, X: Table) -> _core.Cells:
        """Return where each row falls in the conditionals.

        Raises
        ------
        ZeroProbabilityError
            When a row has a state or a configuration of probability zero.
        """
        self._require_possible(X)
        return self._model.flat.cells(X.native)

    def gram(self, X: Table, Y: Table) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(X.n_rows * Y.n_rows, "the kernel matrix")
        x = self.cells(X)
        return _core.gram(x, x if Y is X else self.cells(Y), self._other, self._same)

    def terms(self, X: Table, Y: Table) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        check_cells(len(self._theta) * X.n_rows * Y.n_rows, "the terms of the kernel matrix")
        x = self.cells(X)
        return _core.gram_terms(x, x if Y is X else self.cells(Y), self._other, self._same)

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        self._require_possible(X)
        return self._model.flat.look_up(X.native, self._parts(self._same), True)

    def features(self, X: Table) -> Features:
        """Return phi_ijk of each row, (n, dimension); a state of probability 0 that the row does not have gives 0."""
        self._require_possible(X)
        values, columns = [], []
        first = 0
        for conditional, theta, by_theta, by_group in zip(
            self._model.conditionals, self._theta, self._inverse_theta, self._inverse_group, strict=True
        ):
            group = conditional.groups(X)
            state = X.codes[conditional.child].astype(np.int64)
            entries = -np.sqrt(theta * by_group)[group]
            entries[np.arange(X.n_rows), state] += np.sqrt(by_theta * by_group)[group, state]
            values.append(entries)
            columns.append(first + group[:, None] * theta.shape[1] + np.arange(theta.shape[1]))
            first += theta.size
        return sparse(values, columns, X.n_rows, self.dimension)

    def mean_features(self, X: Table) -> Matrix:
        """Return the mean of phi_ijk, from counts: ``(N_ijk - N_ij theta_ijk) / (N sqrt(P(j) theta_ijk))``."""
        weights, unit = X.weights_in_units
        counts = self.cells(X).counts(weights) * unit
        total = total_weight(X)
        means = []
        first = 0
        for theta, by_theta, by_group in zip(self._theta, self._inverse_theta, self._inverse_group, strict=True):
            of_cells = counts[first : first + theta.size].reshape(theta.shape) / total
            excess = of_cells - of_cells.sum(axis=1, keepdims=True) * theta
            means.append((excess * np.sqrt(by_theta * by_group)).ravel())
            first += theta.size
        return np.concatenate(means)

    def _require_possible(self, X: Table) -> None:
        if self._impossible is None:
            return
        hits = self._model.flat.look_up(X.native, self._impossible, False)
        if hits.any():
            row, position = map(int, np.argwhere(hits > 0)[0])
            raise self._why_impossible(X, row, position)

    def _why_impossible(self, X: Table, row: int, position: int) -> ZeroProbabilityError:
        conditional = self._model.conditionals[position]
        group = int(conditional.groups(X[row : row + 1])[0])
        state = int(X.codes[position][row])
        if self._theta[position][group, state] == 0:
            return conditional.zero_probability(group, state, f"row {row} has")
        configuration, name = conditional.describe_group(group), self._model.names[position]
        return ZeroProbabilityError(
            f"row {row} has {shown_states(configuration)}, a configuration of the parents of {name!r} that has "
            "probability 0; fit the network with smoothing above 0",
            variable=name,
            configuration=configuration,
            parameter="smoothing",
        )


def _inverse(values: npt.NDArray[np.float64]) -> Matrix:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _flat(tables: Sequence[Matrix]) -> Matrix:
    return np.concatenate([table.ravel() for table in tables])


Groups = Callable[[], Sequence[Matrix]]  # the probabilities of the groups, found when they are needed

__all__ = [
    "METRICS",
    "Empirical",
    "Invariant",
    "Metric",
    "Practical",
    "ScoredModel",
    "Scores",
    "score_metric",
    "weighted_mean",
]


def _empirical(model: BayesianNetwork, _groups: Groups, reference: Table | None) -> Metric:
    if reference is None:
        raise SchemaError("the metric 'empirical' needs reference rows")
    return Empirical(model, reference)


METRICS: dict[str, Callable[[BayesianNetwork, Groups, Table | None], Metric]] = {
    "invariant": lambda model, groups, _reference: Invariant(model, groups()),
    "practical": lambda model, _groups, _reference: Practical(model),
    "empirical": _empirical,
}


Rows = Any  # a Table or an array of codes for a Bayesian network, otherwise what the model's log_prob takes


class FisherKernel(Algebra):
    """The Fisher kernel of a model with a likelihood and its derivatives.

    Parameters
    ----------
    model : BayesianNetwork, HiddenMarkovModel, MarkovChain, Gaussian, ...
        Any model with `log_prob` and `fisher_scores`. The kernel takes what these take: tables, lists of strings, or
        arrays and frames of numbers.
    metric : {"invariant", "practical", "empirical"}
        The matrix between the scores: the inverse of the model's Fisher information [1]_, none (the dot product), or
        the pseudo-inverse of the scores' second moments over `reference`. The information is exact for a Bayesian
        network [2]_ and where the model has `fisher_information`; otherwise it is the mean over strings that the model
        draws.
    reference : Table, or what the model takes, optional
        The rows for "empirical".
    group_probabilities : str or list of arrays
        For a Bayesian network: the probabilities of the groups of the parents' configurations, one array a variable;
        or how `fishernet.infer.group_probabilities` shall find them.
    seed : None, int or numpy.random.Generator
        Where something is sampled.
    parameters : sequence of str, optional
        For a model whose `fisher_scores` takes some kinds of parameters alone, such as ``["emission"]``.
    length : int, optional
        For "invariant", where the model does not say how long strings are: those that it is to represent.
    n_samples : int, optional
        How many are drawn where the information is simulated; 10 000 without it.
    cutoff : float, optional
        Parameters of rows that are normalized are redundant, and the matrix singular: eigenvalues up to `cutoff` times
        the largest count as 0, after every parameter was scaled to variance 1; 1e-10 without it. Not for a Bayesian
        network, whose parameters are free.

    Raises
    ------
    SchemaError
        When the model has no scores, or an option does not fit.

    References
    ----------
    .. [1] P3, definition 12.27 (ERRATA 14 and 18).
    .. [2] P1, Definition 1 and Theorem 1.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> k = fn.kernels.FisherKernel(asia)
    >>> rows = asia.sample(1000, seed=1)
    >>> k(rows[:3]).shape
    (3, 3)
    >>> phi = k.features(rows[:3])
    >>> bool(abs(phi @ phi.T - k(rows[:3])).max() < 1e-9)
    True
    """

    def __init__(
        self,
        model: Any,
        *,
        metric: str = "invariant",
        reference: Rows | None = None,
        group_probabilities: str | Sequence[npt.ArrayLike] = "auto",
        seed: Seed = None,
        parameters: Sequence[str] | None = None,
        length: Any = None,
        n_samples: int | None = None,
        cutoff: float | None = None,
    ) -> None:
        _check_model(model)
        if metric not in METRICS:
            raise SchemaError(f"unknown metric {metric!r}; known are {', '.join(map(repr, METRICS))}")
        if reference is not None and metric != "empirical":
            raise SchemaError(f"reference rows are for the metric 'empirical'; {metric!r} takes none")
        self._model = model
        self._groups: tuple[Matrix, ...] | None = None
        self._method, self._seed = "auto", seed
        options = {"parameters": parameters, "length": length, "n_samples": n_samples, "cutoff": cutoff}
        self._of_groups = getattr(model, "runs_in_core", False)  # a network of tables: Theorem 1's closed form
        if not self._of_groups:
            if not isinstance(group_probabilities, str) or group_probabilities != "auto":
                raise SchemaError(f"group probabilities are a Bayesian network's; a {type(model).__name__} has none")
            rows = None if reference is None else self._rows(reference)
            self._metric: Metric = score_metric(model, metric, reference=rows, seed=seed, **options)
            return
        given = [name for name, value in options.items() if value is not None]
        if given:
            raise SchemaError(f"the Fisher kernel of a Bayesian network takes no {given[0]}")
        if isinstance(group_probabilities, str):
            self._method = group_probabilities
        else:
            self._groups = tuple(_checked_probabilities(model, group_probabilities))
        table = None if reference is None else self._rows(reference)
        self._metric = METRICS[metric](model, lambda: self.group_probabilities, table)

    @property
    def model(self) -> Any:
        """The model."""
        return self._model

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self._metric.name

    @property
    def rule(self) -> Metric:
        """What computes the kernel; for a Bayesian network, on tables of its variables."""
        return self._metric

    @property
    def group_probabilities(self) -> tuple[Matrix, ...]:
        """P(group of the parents' configurations), one (groups,) array a variable; found when first needed."""
        if not self._of_groups:
            raise SchemaError(f"group probabilities are a Bayesian network's; a {type(self._model).__name__} has none")
        if self._groups is None:
            self._groups = tuple(infer_group_probabilities(self._model, method=self._method, seed=self._seed))
        return self._groups

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self._metric.dimension

    def __call__(self, X: Rows, Y: Rows | None = None) -> Matrix:
        """Return the kernel of all pairs of rows.

        Parameters
        ----------
        X : Table of n rows, or (n, n_variables) array of codes; or n strings, or what else the model takes
        Y : the same of m rows, optional
            Without it, Y is X.

        Returns
        -------
        (n, m) float64

        Raises
        ------
        SchemaError, UnknownStateError, MissingValueError
            When a table or a string does not fit the model.
        ZeroProbabilityError
            When a row has a state or a configuration of probability zero, or a string is impossible.
        """
        first = self._rows(X)
        return self._metric.gram(first, first if Y is None else self._rows(Y))

    def diag(self, X: Rows) -> Matrix:
        """Return the kernel of each row with itself, (n,) float64: large for rows that are rare in some way."""
        return self._metric.diag(self._rows(X))

    def terms(self, X: Rows, Y: Rows | None = None) -> Matrix:
        """Return what each variable adds to the kernel of each pair of rows, (n_variables, n, m) float64.

        Raises
        ------
        FishernetError
            Under the metric "empirical", which mixes the variables; and of models that have none.
        """
        first = self._rows(X)
        return self._metric.terms(first, first if Y is None else self._rows(Y))

    def features(self, X: Rows) -> Features:
        """Return the features of each row.

        Returns
        -------
        (n, dimension) scipy.sparse.csr_array
            ``k(X, Y) == F(X) @ F(Y).T``. Ordered by variable, group and state. Under the metric "empirical", and of
            other models than Bayesian networks, a dense array.
        """
        return self._metric.features(self._rows(X))

    def mean_features(self, X: Rows) -> Matrix:
        """Return the mean of the rows' features, (dimension,) float64, from counts; rows count by their weights.

        Raises
        ------
        SchemaError
            When there is no row of positive weight.
        """
        return self._metric.mean_features(self._rows(X))

    def __repr__(self) -> str:
        return f"FisherKernel({self._model!r}, metric={self._metric.name!r})"

    def _rows(self, X: Rows) -> Any:
        if hasattr(self._model, "rows"):
            return self._model.rows(X, complete_for="a Fisher kernel")
        return X if hasattr(X, "__len__") else list(X)


def _check_model(model: Any) -> None:
    if hasattr(model, "pseudo_log_likelihood"):
        raise SchemaError(
            "a Fisher kernel of a dependency network is not defined: its distribution is where sampling ends, and "
            "has no likelihood in closed form to take scores of; learn a BayesianNetwork"
        )
    if not (hasattr(model, "log_prob") and hasattr(model, "fisher_scores")):
        raise SchemaError(
            f"a Fisher kernel needs a model with a likelihood and scores (log_prob, fisher_scores), such as a "
            f"BayesianNetwork or a HiddenMarkovModel; got {type(model).__name__}"
        )
    if not getattr(model, "names", True):
        raise SchemaError("a Fisher kernel needs a network with variables; this one has none")


def _checked_probabilities(model: BayesianNetwork, given: Any) -> list[Matrix]:
    arrays = [np.array(values, dtype=np.float64) for values in given]
    if len(arrays) != len(model.variables):
        raise SchemaError(f"{len(model.variables)} arrays of group probabilities are needed, got {len(arrays)}")
    for variable, conditional, values in zip(model.variables, model.conditionals, arrays, strict=True):
        n_groups = conditional.probabilities.shape[0]
        if values.shape != (n_groups,):
            raise SchemaError(f"the group probabilities of {variable.name!r} must be ({n_groups},), got {values.shape}")
        if not np.isfinite(values).all() or (values < 0).any():
            raise SchemaError(f"the group probabilities of {variable.name!r} must be finite and not negative")
    return arrays
