"""The matrix between the scores of two rows in a Fisher kernel, ``K(x, y) = s(x)' M s(y)``.

Each metric is a kernel with features: the scores as they are ("practical"), whitened by those of reference rows
("empirical") or by the Fisher information ("invariant"). `Scores` serves every model that has `fisher_scores`; the
others are of a Bayesian network, whose invariant metric has a closed form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.base.names import a, positions, shown
from fishernet.base.random import Seed, generator
from fishernet.data import Source, Table
from fishernet.data.arrays import row_blocks
from fishernet.kernels.family_counts import are_few, family_counts
from fishernet.kernels.features import NO_WEIGHT, Features, Matrix, check_cells, inner, is_sparse, scaled, sparse
from fishernet.kernels.kernel import Algebra, FeatureKernel, FeatureMade
from fishernet.kernels.parts import FeatureParts, parts_of_regressions, parts_of_tables
from fishernet.models import BayesianNetwork
from fishernet.models.conditionals.base import shown_states

MOST_INFORMATION = 2**27  # cells of the matrix between the scores, 1 GiB
N_SAMPLES = 10_000
CUTOFF = 1e-10
LOOKED_UP = 2**16  # rows at once, of which a number a variable is held
CELLS_OF = 2**18  # rows at once, whose cells under many splits are counted
MOST_COUNTS = 2**26  # in cells under splits at once; for more splits rows are gone through again
LEAST_BLOCKS = 4  # of splits that are looked at together: so many at once, whatever the number of cells
MIXED = "under the metric 'empirical' the variables are mixed and have no terms of their own"


class Metric(FeatureKernel, Protocol):
    """A Fisher kernel on rows as the model wants them."""

    name: str
    has_terms: bool  # whether it is a sum over variables

    @property
    def feature_parts(self) -> FeatureParts | None:
        """Whose each feature is; None where variables are mixed."""
        ...

    def terms(self, X: Any, Y: Any = None) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        ...


class Scores(FeatureMade):
    """The scores of a model, multiplied by a matrix (n_parameters, dimension) that whitens them; None leaves them.

    `widths` are the numbers of features of each conditional, where each has its own.
    """

    def __init__(
        self, model: Any, name: str, options: dict[str, Any], whiten: Matrix | None, widths: Sequence[int] = ()
    ) -> None:
        self.name = name
        self.has_terms = hasattr(model, "conditionals") and name != "empirical"
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
        conditionals = getattr(self._model, "conditionals", None)
        if conditionals is None:
            raise FishernetError(
                f"the Fisher kernel of {a(type(self._model).__name__)} has no terms, one per variable; that of a "
                "Bayesian network, also of numbers, has (fn.learn.bayesian_network)"
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


def score_metric(
    model: Any,
    metric: str,
    *,
    reference: Any = None,
    parameters: Any = None,
    length: Any = None,
    n_samples: int | None = None,
    cutoff: float | None = None,
    seed: Seed = None,
) -> Scores:
    """Return the metric of a name on the scores of a model that has `log_prob` and `fisher_scores`."""
    options = {} if parameters is None else {"parameters": parameters}
    least = checked_cutoff(cutoff)
    if metric == "practical":
        widths = [conditional.n_parameters for conditional in getattr(model, "conditionals", ())]
        return Scores(model, metric, options, None, widths)
    if metric == "empirical":
        if reference is None:
            raise SchemaError("the metric 'empirical' needs reference rows")
        moments = second_moments(model.fisher_scores(reference, **options), getattr(reference, "weights", None))
        return Scores(model, metric, options, whitening(moments, least))
    information = _information(model, options, length, N_SAMPLES if n_samples is None else n_samples, seed)
    if isinstance(information, np.ndarray):
        return Scores(model, metric, options, whitening(information, least))
    blocks = [whitening(block, least) for block in information]
    return Scores(model, metric, options, _block_diagonal(blocks), [block.shape[1] for block in blocks])


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


def _information(
    model: Any, options: dict[str, Any], length: Any, n_samples: int, seed: Seed
) -> Matrix | Sequence[Matrix]:
    """Return the Fisher information: exactly where the model can, otherwise from strings that it draws.

    That of a network is a block per conditional.
    """
    how = {} if length is None else {"length": length}
    random = generator(seed)  # a bad seed is refused, whether it is used or not
    if hasattr(model, "fisher_information"):
        try:
            found: Matrix | Sequence[Matrix] = model.fisher_information(**how, **options)
        except StateSpaceError:
            pass  # too large, or without end: what it draws tells as much as it can
        else:
            check_information_size(sum(map(len, found)) if isinstance(found, list) else len(found))
            return found
    if not hasattr(model, "sample"):
        raise SchemaError(
            f"the information of {a(type(model).__name__)} is not known and cannot be simulated; use the metric "
            "'empirical' with reference rows"
        )
    return second_moments(model.fisher_scores(model.sample(n_samples, seed=random, **how), **options))


def _block_diagonal(blocks: Sequence[Matrix]) -> Matrix:
    """Return matrices one below and beside the other, zeros elsewhere."""
    rows, columns = (np.cumsum([0, *(block.shape[axis] for block in blocks)]) for axis in (0, 1))
    matrix = np.zeros((rows[-1], columns[-1]))
    for block, (top, bottom), (left, right) in zip(blocks, pairwise(rows), pairwise(columns), strict=True):
        matrix[top:bottom, left:right] = block
    return matrix


class Practical(FeatureMade):
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
            scores = of * _inverse(theta)
            found.append(scores[:, :-1] - scores[:, -1:])
        return _flat(found) / total


class Empirical(FeatureMade):
    """A generalized inverse of the second moments of a Bayesian network's scores over reference rows.

    Each parameter is scaled to variance 1, then eigenvalues up to 1e-10 of the largest count as 0.
    """

    name = "empirical"
    has_terms = False
    feature_parts = None  # variables are mixed

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


class Invariant(Algebra):
    """The inverse of a Bayesian network's Fisher information (Leppä-aho et al., 2020, Theorem 1), by look-ups.

    `inverse_theta` and `inverse_group` hold 1 / theta (0 where theta is 0) and 1 / P(group) of every cell, variable by
    variable, (dimension,).
    """

    name = "invariant"
    has_terms = True

    def __init__(self, model: BayesianNetwork, groups: Sequence[Matrix]) -> None:
        self._model = model
        self._theta = [c.probabilities for c in model.conditionals]
        ends = np.cumsum([0, *(theta.size for theta in self._theta)]).tolist()
        self._slices = [slice(first, last) for first, last in pairwise(ends)]
        theta = _flat(self._theta)
        self._states = states = np.repeat([t.shape[1] for t in self._theta], [t.shape[0] for t in self._theta])
        self._groups = np.cumsum(states) - states  # where each begins
        self.inverse_theta = _inverse(theta)
        self.inverse_group = np.repeat(_inverse(_flat(groups)), states)
        self._same, self._other = (1 - theta) * self.inverse_theta * self.inverse_group, -self.inverse_group
        self._same_parts = self._parts(self._same)
        impossible = (theta == 0) | (self.inverse_group == 0)
        self._impossible = self._parts(impossible.astype(np.float64)) if impossible.any() else None

    @property
    def dimension(self) -> int:
        """The number of features."""
        return len(self.inverse_theta)

    @property
    def feature_parts(self) -> FeatureParts:
        """Whose each feature is."""
        return parts_of_tables(self._model.names, self._model.conditionals)

    def split_distances(
        self, tables: Sequence[Table], *, key: int, n_splits: int, by_group: bool
    ) -> tuple[Matrix, Matrix]:
        """Return |mean feature of a part - mean feature of the rest|^2 for random splits of the rows of two tables.

        Parts have as many rows as the first table; split 0 takes just these. (n_splits, n_variables), and of every
        configuration (n_splits, groups), or without columns.
        """
        theta, weights = _flat(self._theta), self.inverse_theta * self.inverse_group
        sizes = [table.n_rows for table in tables]
        at_once = max(MOST_COUNTS // (_core.SPLIT_LANES * self.dimension), LEAST_BLOCKS) * _core.SPLIT_LANES
        found = []
        for first in range(0, n_splits, at_once):
            counts: _core.SplitCounts | None = None
            for cells in self._cells_of_blocks(tables):
                if counts is None:
                    count = min(at_once, n_splits - first)
                    counts = _core.SplitCounts(cells, sum(sizes), sizes[0], key, first, count)
                counts.add(cells)
            assert counts is not None
            found.append(counts.distances(theta, weights, by_group))
        by_variable, by_groups = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return by_variable, by_groups

    def _cells_of_blocks(self, tables: Sequence[Table]) -> Iterator[_core.Cells]:
        """Yield where rows fall, of one table after the other, so many at a time."""
        for table in tables:
            for at in row_blocks(table.n_rows, CELLS_OF):
                yield self.cells(table if table.n_rows <= CELLS_OF else table[at], at.start)

    def halved(
        self, X: Table, order: npt.NDArray[np.int64], *, rounds: int, delta: float, key: int
    ) -> npt.NDArray[np.int64]:
        """Return rows in an order in which parts of n / 2^rounds have mean features near each other."""
        return _core.halved(self.cells(X), self.inverse_theta, self.inverse_group, order, rounds, delta, key)

    def _parts(self, cells: Matrix) -> list[Matrix]:
        """Return one number a cell as one (groups, states) array a variable."""
        return [cells[part].reshape(theta.shape) for part, theta in zip(self._slices, self._theta, strict=True)]

    def cells(self, X: Table, first_row: int = 0) -> _core.Cells:
        """Return where each row falls in the conditionals; ZeroProbabilityError for one of probability zero."""
        self._require_possible(X, first_row)
        return self._model.flat.cells(X.native)

    def __call__(self, X: Table, Y: Table | None = None) -> Matrix:
        """Return the kernel of all pairs, (n, m)."""
        check_cells(X.n_rows * (X if Y is None else Y).n_rows, "the kernel matrix")
        x = self.cells(X)
        return _core.gram(x, x if Y is None else self.cells(Y), self._other, self._same)

    def terms(self, X: Table, Y: Table | None = None) -> Matrix:
        """Return what each variable adds, (n_variables, n, m)."""
        check_cells(len(self._theta) * X.n_rows * (X if Y is None else Y).n_rows, "the terms of the kernel matrix")
        x = self.cells(X)
        return _core.gram_terms(x, x if Y is None else self.cells(Y), self._other, self._same)

    def diag(self, X: Table) -> Matrix:
        """Return the kernel of each row with itself, (n,)."""
        self._require_possible(X)
        return self._model.flat.look_up(X.native, self._same_parts, True)

    def features(self, X: Table) -> Features:
        """Return phi_ijk of each row, (n, dimension); a state of probability 0 that the row does not have gives 0."""
        self._require_possible(X)
        values, columns = [], []
        first = 0
        rows = np.arange(X.n_rows)
        inverses = zip(self._parts(self.inverse_theta), self._parts(self.inverse_group), strict=True)
        for conditional, theta, (by_theta, by_group) in zip(
            self._model.conditionals, self._theta, inverses, strict=True
        ):
            group = conditional.groups(X)
            state = X.codes[conditional.child].astype(np.int64)
            entries = -np.sqrt(theta * by_group)[group]
            entries[rows, state] += np.sqrt(by_theta * by_group)[group, state]
            values.append(entries)
            columns.append(first + group[:, None] * theta.shape[1] + np.arange(theta.shape[1]))
            first += theta.size
        return sparse(values, columns, X.n_rows, self.dimension)

    def mean_features(self, X: Table) -> Matrix:
        """Return the mean of phi_ijk, from counts: ``(N_ijk - N_ij theta_ijk) / (N sqrt(P(j) theta_ijk))``."""
        counts, total = self.counts(X)
        return self._mean(self._parts(counts), total)

    def counts(self, X: Table) -> tuple[Matrix, float]:
        """Return the weight of the rows in each cell, (dimension,), and of all rows."""
        total = float(X.n_rows if X.weights is None else X.weights.sum())
        if are_few(self._model.conditionals, X.n_rows):
            counts = _flat(family_counts(self._model.conditionals, X, range(len(self._theta))))
            if self._impossible_among(counts).any() or (X.weights is not None and not X.weights.all()):
                self._require_possible(X)  # names the row; one of weight 0 is not counted
            return counts, total
        weights, unit = X.weights_in_units
        counts = np.zeros(self.dimension)
        for at in row_blocks(X.n_rows):
            counts += self.cells(X[at], at.start).counts(None if weights is None else weights[at])
        return counts * unit, total

    def _impossible_among(self, counts: Matrix) -> npt.NDArray[np.bool_]:
        """Return in which cells rows are that have probability 0, (dimension,)."""
        return np.asarray((counts > 0) & ((self.inverse_theta == 0) | (self.inverse_group == 0)))

    def cell_weights(self, X: Table) -> Matrix:
        """Return the share of a table's weight that falls in each cell, (dimension,)."""
        counts, total = self.counts(X)
        return np.asarray(counts / total)

    def mean_length(self, weights: Matrix) -> float:
        """Return the mean kernel of a row with itself, from the shares of the rows in each cell."""
        return float(weights @ self._same)

    def most_length(self, weights: Matrix) -> float:
        """Return what no row's kernel with itself is above, from the shares of the rows in each cell."""
        return sum(float(self._same[at][weights[at] > 0].max(initial=0.0)) for at in self._slices)

    def weighed(self, X: Table, factors: Matrix) -> Matrix:
        """Return the sum of factors of the rows in each cell, (dimension,)."""
        return self._model.flat.cells(X.native).sums(np.ascontiguousarray(factors, dtype=np.float64))

    def along(self, X: Table, weights: Matrix) -> Matrix:
        """Return the kernel of each row with a combination of rows, (n,): of these only what falls in each cell counts.

        A row in state k and group j adds ``(w_jk / theta_jk - sum_k w_jk) / P(j)``. That no row is impossible is
        not looked at.
        """
        return self._model.flat.look_up(X.native, self._parts(self._toward(weights)), True)

    def squared_length(self, weights: Matrix) -> float:
        """Return the kernel of a combination of rows with itself, from what falls in each cell."""
        return float(weights @ self._toward(weights))

    def _toward(self, weights: Matrix) -> Matrix:
        """Return the kernel of one row in each cell with a combination of rows, (dimension,)."""
        of_groups = np.repeat(np.add.reduceat(weights, self._groups), self._states)
        return np.asarray((weights * self.inverse_theta - of_groups) * self.inverse_group)

    def mean_of_statistics(self, source: Source) -> Matrix:
        """Return the mean feature of rows of which a source knows the counts of families; columns go by name."""
        where = positions([variable.name for variable in source.variables], self._model.names, "column")
        for v, variable in zip(where, self._model.variables, strict=True):
            if source.variables[v] != variable:
                raise SchemaError(f"{variable.name!r} has other states in the source than in the network")
        counts = family_counts(self._model.conditionals, source, where)
        impossible = self._impossible_among(_flat(counts))
        if impossible.any():
            v = int(np.searchsorted([part.stop for part in self._slices], int(np.argmax(impossible)), side="right"))
            name = self._model.names[v]
            raise ZeroProbabilityError(
                f"there are rows with a state of {name!r} that has probability 0 under the network; fit it with "
                "smoothing above 0",
                variable=name,
                configuration={},
                parameter="smoothing",
            )
        return self._mean(counts, float(source.total))

    def _mean(self, counts: Sequence[Matrix], total: float) -> Matrix:
        """Return the mean feature of rows that weigh so much, from the counts of their cells."""
        if not total > 0:
            raise SchemaError(NO_WEIGHT)
        means = []
        for of_cells, theta in zip(counts, self._theta, strict=True):
            share = of_cells / total
            means.append(share - share.sum(axis=1, keepdims=True) * theta)
        return _flat(means) * np.sqrt(self.inverse_theta * self.inverse_group)

    def _require_possible(self, X: Table, first_row: int = 0) -> None:
        """Raise ZeroProbabilityError where a row is impossible; `first_row` is where the rows begin, for messages."""
        if self._impossible is None:
            return
        for at in row_blocks(X.n_rows, LOOKED_UP):
            hits = self._model.flat.look_up(X[at].native, self._impossible, False)
            if hits.any():
                row, position = map(int, np.argwhere(hits > 0)[0])
                raise self._why_impossible(X, at.start + row, position, first_row)

    def _why_impossible(self, X: Table, row: int, position: int, first_row: int) -> ZeroProbabilityError:
        conditional = self._model.conditionals[position]
        group = int(conditional.groups(X[row : row + 1])[0])
        state = int(X.codes[position][row])
        row += first_row
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
