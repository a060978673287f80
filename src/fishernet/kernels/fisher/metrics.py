"""The matrix between the scores of two rows in a Fisher kernel, ``K(x, y) = s(x)' M s(y)``.

Each metric is a kernel with features: the scores as they are ("practical"), whitened by those of reference rows
("empirical") or by the Fisher information ("invariant"). `Scores` serves every model that has `fisher_scores`;
`Practical` and `Empirical` are of a Bayesian network's tables, whose invariant metric has a closed form (`invariant`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError
from fishernet.base.names import a, shown
from fishernet.base.random import Seed, generator
from fishernet.data import Source, Table
from fishernet.data.frames.rows import weights_of
from fishernet.kernels.features import NO_WEIGHT, Features, Matrix, check_cells, inner, is_sparse, scaled, sparse
from fishernet.kernels.fisher.family_counts import are_few, family_counts
from fishernet.kernels.fisher.scored_model import ScoredModel
from fishernet.kernels.kernel import FeatureMade, OfFeatures
from fishernet.kernels.parts import FeatureParts, parts_of_regressions
from fishernet.kernels.rows import Rows
from fishernet.models import BayesianNetwork

MOST_INFORMATION = 2**27  # cells of the matrix between the scores, 1 GiB
N_SAMPLES = 10_000
CUTOFF = 1e-10
MIXED = "under the metric 'empirical' the variables are mixed and have no terms of their own"


class Metric(OfFeatures):
    """A Fisher kernel on rows as the model wants them."""

    name: str
    has_terms = False  # whether it is a sum over variables
    takes_statistics = False  # whether it has `mean_of_statistics`

    def mean_of_statistics(self, source: Source) -> Matrix:  # noqa: ARG002
        """Return the mean feature of rows of which a source knows the counts of families."""
        raise SchemaError(f"the metric {self.name!r} needs rows; a network's tables with 'invariant' take statistics")

    def smallest_expected(self, n_rows: float) -> float | None:  # noqa: ARG002
        """Return the least number of so many rows that a network expects in a cell; None where it has no cells."""
        return None

    def fewest_regressed(self, n_rows: float) -> float:
        """Return how many of so many rows are expected behind what numbers or strings teach; infinity without any."""
        return n_rows


@dataclass(frozen=True)
class Asked:
    """What a Fisher kernel is asked for beside its model."""

    metric: str
    reference: Rows | None
    parameters: Sequence[str] | None
    length: int | None
    n_samples: int | None
    cutoff: float | None
    seed: Seed


class Scores(FeatureMade, Metric):
    """The scores of a model, multiplied by a matrix (n_parameters, dimension) that whitens them; None leaves them.

    `widths` are the numbers of features of each conditional, where each has its own.
    """

    def __init__(
        self,
        model: ScoredModel,
        name: str,
        options: dict[str, Sequence[str]],
        whiten: Matrix | None,
        widths: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.has_terms: bool = bool(model.conditionals) and name != "empirical"
        self._model = model
        self._options = options
        self._whiten = whiten
        self._widths = widths

    @property
    def feature_parts(self) -> FeatureParts | None:
        """Whose each feature is, where the information has a block per conditional."""
        return parts_of_regressions(self._model.names, self._widths) if self._widths else None

    @property
    def dimension(self) -> int:
        """The number of features: of parameters, or the rank of the matrix between the scores."""
        return super().dimension if self._whiten is None else int(self._whiten.shape[1])

    def terms(self, X: Any, Y: Any = None) -> Matrix:
        """Return what each variable adds, (n_variables, n, m), where the information has a block per conditional."""
        conditionals = self._model.conditionals
        if not conditionals:
            raise FishernetError(
                f"the Fisher kernel of {a(self._model.kind)} has no terms, one per variable; that of a Bayesian "
                "network, also of numbers, has (fn.learn.bayesian_network)"
            )
        if self.name == "empirical":
            raise FishernetError(MIXED)
        x = self._model.fisher_scores(X, **self._options)
        y = x if Y is None else self._model.fisher_scores(Y, **self._options)
        check_cells(len(conditionals) * len(x) * len(y), "the terms of the kernel matrix")
        found = np.empty((len(conditionals), len(x), len(y)))
        ends = np.cumsum([0, *(conditional.n_parameters for conditional in conditionals)])
        for child, (first, last) in enumerate(pairwise(ends)):
            at = slice(first, last)
            right = y[:, at] if self._whiten is None else y[:, at] @ (self._whiten[at] @ self._whiten[at].T)
            found[child] = x[:, at] @ right.T
        return found

    def features(self, X: Any) -> Features:
        """Return the whitened scores, (n, dimension)."""
        scores = self._model.fisher_scores(X, **self._options)
        if self._whiten is None:
            return scores
        if is_sparse(scores):
            return np.asarray(scores @ self._whiten)
        # row by row the same numbers, whatever the other rows are: K(X, X) and K(X, Y) agree to the last digits
        return np.asarray(scores, dtype=np.float64) @ self._whiten


def score_metric(model: ScoredModel, asked: Asked) -> Scores:
    """Return the metric of a name on the scores of a model."""
    options = {} if asked.parameters is None else {"parameters": asked.parameters}
    least = checked_cutoff(asked.cutoff)
    if asked.metric == "practical":
        return Scores(model, asked.metric, options, None, [c.n_parameters for c in model.conditionals])
    if asked.metric == "empirical":
        moments = second_moments(model.fisher_scores(asked.reference, **options), weights_of(asked.reference))
        return Scores(model, asked.metric, options, whitening(moments, least))
    information = _information(model, asked, options)
    if isinstance(information, np.ndarray):
        return Scores(model, asked.metric, options, whitening(information, least))
    blocks = [_block_diagonal([whitening(block, least) for block in of_variable]) for of_variable in information]
    return Scores(model, asked.metric, options, _block_diagonal(blocks), [block.shape[1] for block in blocks])


def checked_cutoff(cutoff: float | None) -> float:
    """Return the share of the largest eigenvalue up to which others count as 0; `CUTOFF` for None."""
    least = CUTOFF if cutoff is None else float(cutoff)
    if not 0 <= least < 1:
        raise SchemaError(f"the cut-off must be a number from 0 to below 1, got {shown(cutoff)}")
    return least


def second_moments(scores: Features, weights: npt.NDArray[Any] | None = None) -> Matrix:
    """Return the mean product of scores with themselves, by the weights of the rows, (n_parameters, n_parameters)."""
    n, width = scores.shape
    if n == 0:
        raise SchemaError(NO_WEIGHT)
    _check_size(width, "the matrix between the scores", "the metric 'practical', or fewer kinds of parameters")
    if weights is None:
        moments = scores.T @ scores / n
    elif weights.sum() > 0:
        moments = scores.T @ scaled(scores, weights / weights.sum())
    else:
        raise SchemaError(NO_WEIGHT)
    return np.asarray(moments.toarray() if is_sparse(moments) else moments)


def _check_size(width: int, what: str, remedy: str) -> None:
    if width**2 > MOST_INFORMATION:
        raise StateSpaceError(what, cells=width**2, limit=MOST_INFORMATION, remedy=f"use {remedy}")


def check_information_size(width: int) -> None:
    """Raise StateSpaceError before an information matrix is made that would not fit."""
    _check_size(width, "the Fisher information", "the metric 'practical' or 'empirical'")


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


def _information(model: ScoredModel, asked: Asked, options: dict[str, Sequence[str]]) -> Matrix | Sequence[Matrix]:
    """Return the Fisher information: exactly where the model can, otherwise from strings that it draws.

    That of a network is a block per conditional.
    """
    of_length = {} if asked.length is None else {"length": asked.length}
    random = generator(asked.seed)  # a bad seed is refused, whether it is used or not
    try:
        known = model.fisher_information(**of_length, **options)
    except StateSpaceError:
        pass  # too large, or without end: what it draws tells as much as it can
    else:
        if not isinstance(known, list):
            check_information_size(len(known))
            return known
        blocks = [block if block.ndim == 3 else block[None] for block in known]  # a block, or one per group
        check_information_size(sum(block.shape[0] * block.shape[1] for block in blocks))
        return blocks
    n_samples = N_SAMPLES if asked.n_samples is None else asked.n_samples
    return second_moments(model.fisher_scores(model.sample(n_samples, seed=random, **of_length), **options))


def _block_diagonal(blocks: Sequence[Matrix]) -> Matrix:
    """Return matrices one below and beside the other, zeros elsewhere."""
    rows, columns = (np.cumsum([0, *(block.shape[axis] for block in blocks)]) for axis in (0, 1))
    matrix = np.zeros((rows[-1], columns[-1]))
    for block, (top, bottom), (left, right) in zip(blocks, pairwise(rows), pairwise(columns), strict=True):
        matrix[top:bottom, left:right] = block
    return matrix


class Practical(FeatureMade, Metric):
    """No metric: the dot product of a Bayesian network's scores."""

    name = "practical"
    has_terms = True

    def __init__(self, model: BayesianNetwork) -> None:
        self._model = model
        self._ends = np.cumsum([0, *(conditional.n_parameters for conditional in model.conditionals)])

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        return self._model.n_parameters

    @property
    def feature_parts(self) -> FeatureParts:
        """Whose each feature is."""
        return parts_of_regressions(self._model.names, [c.n_parameters for c in self._model.conditionals])

    def terms(self, X: Table, Y: Table | None = None) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        others = X if Y is None else Y
        check_cells((len(self._ends) - 1) * X.n_rows * others.n_rows, "the terms of the kernel matrix")
        x = self.features(X).tocsc()
        y = None if Y is None else self.features(Y).tocsc()
        return np.stack([inner(x[:, a:b], None if y is None else y[:, a:b]) for a, b in pairwise(self._ends)])

    def features(self, X: Table) -> Features:
        """Return the scores (Leppä-aho et al., 2020, Eq. 8), (n, n_parameters)."""
        values, columns = [], []
        for conditional, first in zip(self._model.conditionals, self._ends[:-1], strict=True):
            entries, places = conditional.score_entries(X)
            values.append(entries)
            columns.append(first + places)
        matrix = sparse(values, columns, X.n_rows, self.dimension)
        matrix.eliminate_zeros()
        return matrix

    def mean_features(self, X: Table) -> Matrix:
        """Return the mean score, (n_parameters,), from counts: ``(N_ijk / theta_ijk - N_ijr / theta_ijr) / N``."""
        conditionals, weights = self._model.conditionals, X.weights
        total = float(X.n_rows if weights is None else weights.sum())
        if not total or not are_few(conditionals, X.n_rows):
            return super().mean_features(X)
        counts = family_counts(conditionals, X, range(len(conditionals)))
        thetas = [c.probabilities for c in conditionals]
        if (weights is not None and not weights.all()) or any(
            of[theta == 0].any() for of, theta in zip(counts, thetas, strict=True)
        ):
            return super().mean_features(X)  # names a row that is impossible; one of weight 0 is not counted
        found = []
        for of, theta in zip(counts, thetas, strict=True):
            scores = of * inverse_of(theta)
            found.append(scores[:, :-1] - scores[:, -1:])
        return flat(found) / total


class Empirical(FeatureMade, Metric):
    """A generalized inverse of the second moments of a Bayesian network's scores over reference rows.

    Each parameter is scaled to variance 1, then eigenvalues up to 1e-10 of the largest count as 0.
    """

    name = "empirical"  # variables are mixed: it has no terms, and no parts of features

    def __init__(self, model: BayesianNetwork, reference: Table) -> None:
        self._scores = Practical(model)
        moments = second_moments(self._scores.features(reference), reference.weights)
        self._whiten = whitening(moments, CUTOFF)

    @property
    def dimension(self) -> int:
        """The rank of the second moments."""
        return int(self._whiten.shape[1])

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        return np.asarray((self.features(X) ** 2).sum(axis=1))

    def terms(self, X: Table, Y: Table | None = None) -> Matrix:  # noqa: ARG002
        """Raise: the variables are mixed."""
        raise FishernetError(MIXED)

    def features(self, X: Table) -> Features:
        """Return the whitened scores, (n, dimension)."""
        return np.asarray(self._scores.features(X) @ self._whiten)

    def mean_features(self, X: Table) -> Matrix:
        """Return their mean, (dimension,): one vector is whitened, not every row."""
        return np.asarray(self._scores.mean_features(X) @ self._whiten)


def inverse_of(values: npt.NDArray[np.float64]) -> Matrix:
    """Return 1 / x, 0 where x is 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def flat(tables: Sequence[Matrix]) -> Matrix:
    """Return the entries of tables one after the other."""
    return np.concatenate([np.zeros(0), *(table.ravel() for table in tables)])
