"""The metrics on scores as they are: what serves any model that has `fisher_scores`."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from fishernet.errors import FishernetError, SchemaError, StateSpaceError
from fishernet.kernels.kernel import Features, Matrix, is_sparse
from fishernet.kernels.metrics.metric import check_cells, inner, weighted_mean
from fishernet.random import Seed, generator

MOST_INFORMATION = 2**27  # cells of the matrix between the scores, 1 GiB
N_SAMPLES = 10_000
CUTOFF = 1e-10


@runtime_checkable
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
        moments = second_moments(model.fisher_scores(reference, **options))
    else:
        moments = _information(model, options, length, N_SAMPLES if n_samples is None else n_samples, seed)
    return Scores(model, metric, options, whitening(moments, least))


def second_moments(scores: Features) -> Matrix:
    """Return the mean product of scores with themselves, (n_parameters, n_parameters).

    Raises
    ------
    SchemaError
        When there is no row.
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
    moments = scores.T @ scores / n
    return np.asarray(moments.toarray() if is_sparse(moments) else moments)


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
            return np.asarray(model.fisher_information(**how, **options))
        except StateSpaceError:
            pass  # too large, or without end: what it draws tells as much as it can
    if not hasattr(model, "sample"):
        raise SchemaError(
            f"the information of a {type(model).__name__} is not known and cannot be simulated; use the metric "
            "'empirical' with reference rows"
        )
    return second_moments(model.fisher_scores(model.sample(n_samples, seed=random, **how), **options))


def _checked_cutoff(cutoff: float) -> float:
    if not 0 <= cutoff < 1:
        raise SchemaError(f"the cut-off must be a number from 0 to below 1, got {cutoff!r}")
    return float(cutoff)
