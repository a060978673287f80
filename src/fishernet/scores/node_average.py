"""The node-average likelihood: structures from rows with missing cells, without inference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.data import Source, Statistic, as_source
from fishernet.data.statistics.statistic import occurring
from fishernet.scores.base import Families, Score, cell_counts, prior_price

ALPHA = 0.4  # the penalty of missing cells falls as N to the power of -ALPHA: more slowly than the root of N rises


@dataclass(frozen=True)
class NodeAverage(Score):
    """The penalized node-average likelihood [1]_, of rows that lack cells.

    A family is scored on the n rows that are complete in it: N times the mean log-likelihood of the child there, less
    the same of the child without its parents (which is no matter of the graph, but of which rows they are), less the
    price of its parameters,

        ``N / n sum_jk n_jk log(n n_jk / (n_j n_k)) - price q (r - 1)``,

    and N times the mean log-likelihood of the child alone, on the rows that know it, which is the same for all graphs.

    The scores of two graphs come from different rows and differ by chance, by the root of N. So BIC's price would keep
    arcs that mean nothing however many rows there are: ``price = log(N) / 2 + m N^0.6 / 2``, with m the share of cells
    that are missing. On complete data this is BIC. What n rows show by chance counts N / n times, and so does BIC's
    price at least: what parents cost, ``price (q - 1) (r - 1)``, has ``max(price, N / n log(N) / 2)`` for its price.
    Otherwise independent columns, each of which lacks most of its cells, are all joined by arcs.

    Parameters
    ----------
    caution : float
        What m is multiplied by. With less than 1 the graph has arcs that mean nothing, and lacks fewer that mean much:
        right where another search, on statistics of all rows, goes on from it.

    References
    ----------
    .. [1] N. Balov, "Consistent model selection of discrete Bayesian networks from incomplete data", 2013; T. Bodewes
       and M. Scutari, "Learning Bayesian networks from incomplete data with the node-average likelihood", 2021.
    """

    caution: float = 1.0
    prior: bool = False
    """Whether an arc to a number costs what it does under BIC with a prior."""
    mixes: ClassVar[bool] = True
    averages: ClassVar[bool] = True

    def joint(self, statistic: Statistic) -> float:  # noqa: ARG002
        """Raise: a family is scored as a whole, by `terms`."""
        raise _no_terms_of_sets()

    def marginal(self, statistic: Statistic, states: int) -> float:  # noqa: ARG002
        """Raise, as `joint` does."""
        raise _no_terms_of_sets()

    def source(self, data: Any) -> Source:
        """Return the rows or statistics, where cells may be missing."""
        return as_source(data)

    def price_in(self, source: Source) -> float:
        """Return what a parameter costs, in nats."""
        return price_of(source, self.caution)

    def arc_price(self, source: Source) -> float:
        """Return what an arc to a number costs, in nats."""
        return prior_price(len(source.variables)) if self.prior else 0.0

    def terms(self, source: Any) -> NodeAverageTerms:
        """Return what scores families of a source."""
        return NodeAverageTerms(source, self.caution)


class NodeAverageTerms:
    """The scores of families of one source; of rows they are computed in the core."""

    subsets: ClassVar[None] = None

    def __init__(self, source: Source, caution: float = 1.0) -> None:
        self._source = source
        alone = source.statistics([(v,) for v in range(len(source.variables))])
        self._alone = np.array([_mean_log_likelihood(one) * float(source.total) for one in alone])
        self.price, self._least = price_of(source, caution), price(float(source.total), 0.0)

    def families(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, (n_families,)."""
        scores: npt.NDArray[np.float64] = self._of_parents(families) + self._alone[families.children]
        return scores

    def _of_parents(self, families: Families) -> npt.NDArray[np.float64]:
        """Return what parents tell, less their price."""
        rows = self._source.rows
        if rows is None:
            sets = [tuple(sorted((child, *parents))) for child, parents in families]
            found = self._source.statistics(sets)
            return np.array([self._of(one, child) for one, (child, _) in zip(found, families, strict=True)])
        flat = (families.children, families.offsets, families.parents)
        return _core.node_average_scores(
            rows.native, float(rows.total), self.price, self._least, rows.weights_in_units[1], *flat
        )

    def _of(self, statistic: Statistic, child: int) -> float:
        """Return the same of a family of which only counts are known."""
        states, counts = occurring(statistic)
        at = statistic.variables.index(child)
        sizes = [self._source.variables[v].cardinality for v in statistic.variables]
        free = math.prod(sizes) // sizes[at] * (sizes[at] - 1)
        n = float(counts.sum())
        if n == 0:
            return -self.price * free
        of_state = np.bincount(states[:, at], counts, sizes[at])[states[:, at]]
        _, group = np.unique(np.delete(states, at, axis=1), axis=0, return_inverse=True)
        of_group = np.bincount(group.ravel(), counts)[group.ravel()]
        gain = float(counts @ np.log(n * counts / (of_group * of_state)))
        times = float(self._source.total) / n
        dearer = max(0.0, self._least * times - self.price)
        return times * gain - self.price * free - dearer * (free - sizes[at] + 1)


def _mean_log_likelihood(statistic: Statistic) -> float:
    """Return what a row says of a variable alone, on the average of those that know it."""
    counts = cell_counts(statistic)
    n = float(counts.sum())
    return float(counts @ np.log(counts / n)) / n if n else 0.0


def price_of(source: Source, caution: float) -> float:
    """Return what a free parameter costs, in nats, in rows of a source."""
    total, n_variables = float(source.total), len(source.variables)
    missing = sum(float(one.left_out) for one in source.statistics([(v,) for v in range(n_variables)]))
    return price(total, caution * missing / max(1.0, total * n_variables))


def price(total: float, missing: float) -> float:
    """Return what a free parameter costs, in nats, where a share of the cells is missing."""
    if total <= 1:
        return 0.0
    return float((math.log(total) + missing * total ** (1 - ALPHA)) / 2)


def _no_terms_of_sets() -> SchemaError:
    return SchemaError("the node-average likelihood is no difference of terms of sets; a Table is needed for it")
