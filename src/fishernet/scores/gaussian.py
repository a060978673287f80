"""The fractional marginal likelihood of Gaussian families: of directed graphs, and of Markov blankets.

A family's score is the logarithm of a factor of the score of Leppä-aho et al. (2017) (Leppä-aho, 2020, Eq. 3.6), which
is ``f(S + child) - f(S)`` for::

    f(A) = sum_{p < q} [log Gamma((n + p) / 2) - log Gamma((p + 1) / 2)]
           - (n - 1) q / 2 log(pi) - q^2 / 2 log(n) - (n - 1) / 2 log |S_A|

and a set A of q columns. So that of directed graphs is a sum over sets, as every score here is, and equal for
equivalent graphs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import shown
from fishernet.data import Scatter, Source, Statistic, as_scatter
from fishernet.data.moments import Floats, rank, refuse_collinear, require_independent, scaled_products
from fishernet.scores.base import Families, Score, prior_price


@dataclass(frozen=True)
class Fractional(Score):
    """The fractional marginal likelihood of columns of numbers (Leppä-aho, 2020, Eq. 3.3)."""

    center: bool = True
    """Whether the columns' means are taken off. Either way n is the number of rows."""
    prior: bool = False
    """Whether each arc pays 1.5 times the logarithm of the number of columns, as in the extended BIC (Foygel and Drton,
    2010, with gamma 0.75): a prior on graphs, without which noise gets arcs where columns are not far fewer than rows.
    Learners set it."""

    def joint(self, statistic: Statistic) -> float:
        """Return f of the scatter of a set of columns, whatever the prior on graphs."""
        d = len(statistic.continuous)
        names = [f"at position {v}" for v in statistic.continuous]
        scatter = Scatter(statistic.total, statistic.mean, statistic.scatter, names)
        check_size(d, scatter, center=self.center)
        scaled = scaled_products(scatter, center=self.center)
        require_independent(scatter.names, scaled, d)
        log_determinant = float(np.linalg.slogdet(scaled)[1]) + float(log_squares(scatter, center=self.center).sum())
        return float(set_sizes(scatter.n, d)[d]) - weight(scatter.n) * log_determinant

    def marginal(self, statistic: Statistic, states: int) -> float:  # noqa: ARG002
        """Return f of the scatter of the parents."""
        return self.joint(statistic)

    takes_numbers: ClassVar[bool] = True
    """Whether it is for columns of numbers."""

    def source(self, data: Any) -> Source:
        """Return the scatter of data of numbers."""
        return as_scatter(data, purpose="the score 'fractional'")

    def terms(self, source: Source) -> FractionalTerms:
        """Return what scores all families of a scatter."""
        scatter = as_scatter(source)
        price = prior_price(scatter.variables) if self.prior else 0.0
        return FractionalTerms(scatter, center=self.center, price=price)

    def most_parents(self, source: Source) -> int | None:
        """Return how many parents a column may have for the family's scatter to have full rank."""
        return max(0, rank(source.total, center=self.center) - 1)


class FractionalTerms:
    """The fractional scores of families of one scatter, in the core; each parent pays the price."""

    def __init__(self, scatter: Scatter, *, center: bool, price: float = 0.0) -> None:
        self._price = price
        self.names: tuple[str, ...] = scatter.names
        self.scaled: Floats = scaled_products(scatter, center=center)
        self.most: int = rank(scatter.n, center=center)
        require_independent(self.names, self.scaled, self.most)
        self._weight = weight(scatter.n)
        self._sizes = set_sizes(scatter.n, min(self.most, len(self.names)))
        self._log_squares = log_squares(scatter, center=center)

    def families(self, families: Families) -> Floats:
        """Return the scores of families of no more columns than the rows allow, (n_families,)."""
        flat = (families.children, families.offsets, families.parents)
        scores, collinear = _core.gaussian_family_scores(self.scaled, self._sizes, self._weight, *flat)
        if len(collinear):
            refuse_collinear(self.names, self.scaled, collinear)
        scores = scores - self._weight * self._log_squares[families.children]
        return scores - self._price * np.diff(families.offsets) if self._price else scores

    def subsets(self, most: int) -> Floats:
        """Return f of all sets of up to `most` columns, by bit masks, (2 ** d,); those of larger sets mean nothing."""
        sizes = self._sizes[: most + 1]
        scores, collinear = _core.gaussian_subset_scores(self.scaled, sizes, self._weight)
        if len(collinear):
            refuse_collinear(self.names, self.scaled, collinear)
        members = np.zeros(len(scores))
        for v, log_square in enumerate(self._log_squares.tolist()):  # of the sets that hold v
            scores.reshape(-1, 2, 2**v)[:, 1] -= self._weight * log_square
            members.reshape(-1, 2, 2**v)[:, 1] += 1
        if self._price:
            scores -= self._price * members * (members - 1) / 2  # with a child, one pair more for each parent
        return scores


def weight(n: float) -> float:
    """Return what a determinant's logarithm counts for: half of n - 1."""
    return 0.5 * (n - 1)


def blanket_sizes(n: float, most: int) -> Floats:
    """Return what a factor of the score says of a blanket's size alone, in logarithms, for 0 to `most` members."""
    always = -weight(n) * math.log(math.pi)
    return np.array(
        [
            always + math.lgamma((n + p) / 2) - math.lgamma((p + 1) / 2) - (2 * p + 1) / 2 * math.log(n)
            for p in range(most + 1)
        ]
    )


def set_sizes(n: float, most: int) -> Floats:
    """Return what f says of a set's size alone, for sets of 0 to `most` columns."""
    return np.array(list(itertools.accumulate(blanket_sizes(n, most - 1).tolist() if most else [], initial=0.0)))


def log_squares(scatter: Scatter, *, center: bool) -> Floats:
    """Return the logarithms of the columns' sums of squares, (d,)."""
    squares: Floats = np.log(np.diag(scatter.S if center else scatter.uncentred))
    return squares


def check_size(n_columns: int, scatter: Scatter, *, center: bool) -> None:
    """Raise SchemaError when the scatter of so many columns cannot have full rank."""
    if n_columns > rank(scatter.n, center=center):
        need = n_columns + center
        raise SchemaError(f"{n_columns} columns, a child and the others, need at least {need} rows, got {scatter.n}")


def fmpl(X: Any, child: int, blanket: Iterable[int], *, center: bool = True) -> float:
    """Return the fractional marginal pseudo-likelihood [1]_ of a column given its Markov blanket, in nats.

    Parameters
    ----------
    X : (n, d) array, data frame or Scatter
        Columns of numbers.
    child : int
        The column's position.
    blanket : iterable of int
        Positions of the others, in any order.
    center : bool
        Whether the columns' means are taken off; the paper's data have mean 0.

    Raises
    ------
    SchemaError
        When a value is not finite, a position is out of range or doubled, there are fewer rows than the blanket needs,
        or a column is constant or made of the others.

    References
    ----------
    .. [1] J. Leppä-aho, J. Pensar, T. Roos and J. Corander, "Learning Gaussian graphical models with fractional
       marginal pseudo-likelihood", International Journal of Approximate Reasoning 83, 2017; J. Leppä-aho, "Methods for
       Learning Directed and Undirected Graphical Models", 2020, Eq. 3.6.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> X = np.random.default_rng(1).normal(size=(100, 3))
    >>> X[:, 1] += X[:, 0]
    >>> fn.scores.fmpl(X, 1, [0]) > fn.scores.fmpl(X, 1, []) > fn.scores.fmpl(X, 1, [2])
    True
    """
    scatter = as_scatter(X)
    d = len(scatter.names)
    columns = [child, *check.items(blanket, "blanket", "positions")]
    for position in columns:
        if isinstance(position, bool) or not isinstance(position, int | np.integer) or not 0 <= position < d:
            raise SchemaError(f"a column is a position from 0 to {d - 1}, got {shown(position)}")
    if len(set(columns)) < len(columns):
        raise SchemaError(f"the child {child} and its blanket {columns[1:]} must be distinct")
    part = scatter.marginal(sorted(columns))
    check_size(len(columns), part, center=center)
    terms = FractionalTerms(part, center=center)
    where = {column: place for place, column in enumerate(sorted(columns))}
    family = Families.from_pairs([(where[child], [where[v] for v in columns[1:]])])
    return float(terms.families(family)[0])
