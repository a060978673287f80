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
from fishernet.scores.base import Families, Score, cell_counts, not_constant, prior_price

Floats = npt.NDArray[np.float64]

ALPHA = 0.4  # the penalty of missing cells falls as N to the power of -ALPHA: more slowly than the root of N rises
# BIC's prices that a search from which another goes on spares at most. Where columns lack 40 % of their cells, 36 % of
# the rows know a pair, and by the full price dependences are lost for good; where they lack 60 % and more, nearly the
# full price keeps arcs out that are there by chance.
SPARED = 2.5


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
    price at least: what parents cost, ``price (q - 1) (r - 1)``, has ``max(price, N / n log(N) / 2)`` for its price,
    and the price of an arc to a number counts N / n times as well.
    Otherwise independent columns, each of which lacks most of its cells, are all joined by arcs.

    Parameters
    ----------
    caution : float
        What m is multiplied by, and N / n - 1 in BIC's price, which counts N / n - 2.5 times at least. With less than 1
        the graph has arcs that mean nothing, and lacks fewer that mean much: right where another search, on statistics
        of all rows, goes on from it, and confirms what it finds there.

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
        return prior_price(source.variables) if self.prior else 0.0

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
        self.price: float = price_of(source, caution)
        self._caution = caution
        self._states = np.array([float(variable.cardinality) for variable in source.variables])

    def families(self, families: Families) -> Floats:
        """Return the scores of families, (n_families,)."""
        scores: Floats = self._of_parents(families) + self._alone[families.children]
        return scores

    def _of_parents(self, families: Families) -> Floats:
        """Return what parents tell, less the price of the families' parameters."""
        rows = self._source.rows
        if rows is None:
            sets = [tuple(sorted((child, *parents))) for child, parents in families]
            pairs = zip(self._source.statistics(sets), families.children.tolist(), strict=True)
            gains, known = np.array([_told_by_parents(*pair) for pair in pairs]).reshape(-1, 2).T
        else:
            flat = (families.children, families.offsets, families.parents)
            gains, known = _core.told_by_parents(rows.native, rows.weights_in_units[1], *flat)
        free, configurations = self._states[families.children] - 1, families.configurations(self._states)
        total, of_parents = float(self._source.total), (configurations - 1) * free
        told = told_as_by_all(gains, known, total, self.price, of_parents, caution=self._caution)
        return np.asarray(told - self.price * configurations * free)


def told_as_by_all(
    gains: Floats,
    known: Floats,
    total: float,
    price: float,
    of_parents: Floats,
    of_arcs: Floats | float = 0.0,
    *,
    caution: float = 1.0,
) -> Floats:
    """Return what parents would tell if all rows knew the families, less what few rows tell by chance.

    Families have gains of log-likelihood, the weight of the rows that are complete in them, which are `known`,
    parameters of their parents, and what a prior on graphs asks for their arcs, each (n_families,). Where no row knows
    a family it gains nothing.
    """
    times = total / np.where(known > 0, known, total)
    charged = np.maximum(1 + caution * (times - 1), times - SPARED)
    dearer = np.maximum(0.0, charged * price_of_rows(total, 0.0) - price)
    found: Floats = np.where(known > 0, gains * times, 0.0) - dearer * of_parents - (times - 1) * of_arcs
    return found


def _told_by_parents(statistic: Statistic, child: int) -> tuple[float, float]:
    """Return the same as `_core.told_by_parents` of a family of which only counts are known."""
    states, counts = occurring(statistic)
    n = float(counts.sum())
    if n == 0:
        return 0.0, 0.0
    at = statistic.variables.index(child)
    of_state = np.bincount(states[:, at], counts)[states[:, at]]
    _, group = np.unique(np.delete(states, at, axis=1), axis=0, return_inverse=True)
    of_group = np.bincount(group.ravel(), counts)[group.ravel()]
    return float(counts @ np.log(n * counts / (of_group * of_state))), n


def _mean_log_likelihood(statistic: Statistic) -> float:
    """Return what a row says of a variable alone, on the average of those that know it."""
    counts = cell_counts(statistic)
    n = float(counts.sum())
    return float(counts @ np.log(counts / n)) / n if n else 0.0


def price_of(source: Source, caution: float) -> float:
    """Return what a free parameter costs, in nats, in rows of a source."""
    total, columns = float(source.total), not_constant(source.variables)
    missing = sum(float(one.left_out) for one in source.statistics([(v,) for v in columns]))
    return price_of_rows(total, caution * missing / max(1.0, total * len(columns)))


def price_of_rows(total: float, missing: float) -> float:
    """Return what a free parameter costs, in nats, where a share of the cells is missing."""
    if total <= 1:
        return 0.0
    return float((math.log(total) + missing * total ** (1 - ALPHA)) / 2)


def _no_terms_of_sets() -> SchemaError:
    return SchemaError("the node-average likelihood is no difference of terms of sets; a Table is needed for it")
