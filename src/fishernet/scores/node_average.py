"""The node-average likelihood: structures from rows with missing cells, without inference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.data import Statistic, Table
from fishernet.data.matching import as_data
from fishernet.data.variable import require_categorical
from fishernet.scores.base import Families, Score

ALPHA = 0.4  # the penalty of missing cells falls as N to the power of -ALPHA: more slowly than the root of N rises


@dataclass(frozen=True)
class NodeAverage(Score):
    """The penalized node-average likelihood [1]_, of rows that lack cells.

    A family is scored on the n rows that are complete in it: N times the mean log-likelihood of the child there, less
    the same of the child without its parents (which is no matter of the graph, but of which rows they are), less the
    price of its parameters,

        ``N / n sum_jk n_jk log(n n_jk / (n_j n_k)) - price q (r - 1)``.

    The scores of two graphs come from different rows and differ by chance, by the root of N. So BIC's price would keep
    arcs that mean nothing however many rows there are: ``price = log(N) / 2 + m N^0.6 / 2``, with m the share of cells
    that are missing. On complete data this is BIC, up to a constant.

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

    def joint(self, statistic: Statistic) -> float:  # noqa: ARG002
        """Raise: a family is scored as a whole, by `terms`."""
        raise _no_terms_of_sets()

    def marginal(self, statistic: Statistic, states: int) -> float:  # noqa: ARG002
        """Raise, as `joint` does."""
        raise _no_terms_of_sets()

    def source(self, data: Any) -> Table:
        """Return the rows, which may lack cells."""
        table = as_data(data, "the node-average likelihood")
        require_categorical(table.variables, "the node-average likelihood")
        return table

    def terms(self, source: Any) -> NodeAverageTerms:
        """Return what scores families of a table's rows."""
        return NodeAverageTerms(source, self.caution)


class NodeAverageTerms:
    """The scores of families of one table, in the core."""

    def __init__(self, table: Table, caution: float = 1.0) -> None:
        self._table = table
        cells = max(1, table.n_rows * len(table.variables))
        missing = sum(table.missing_counts().values()) / cells
        self.price = price(float(table.total), caution * missing)

    def families(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, (n_families,)."""
        flat = (families.children, families.offsets, families.parents)
        unit = self._table.weights_in_units[1]
        return _core.node_average_scores(self._table.native, float(self._table.total), self.price, unit, *flat)

    def subsets(self, most: int) -> npt.NDArray[np.float64]:
        """Raise: sets have no terms."""
        raise SchemaError(
            f"exact search over sets of up to {most} variables needs scores that are differences of terms of sets; "
            "with missing cells it takes missing='em'",
            parameter="search",
        )


def price(total: float, missing: float) -> float:
    """Return what a free parameter costs, in nats, where a share of the cells is missing."""
    if total <= 1:
        return 0.0
    return float((math.log(total) + missing * total ** (1 - ALPHA)) / 2)


def _no_terms_of_sets() -> SchemaError:
    return SchemaError("the node-average likelihood is no difference of terms of sets; a Table is needed for it")
