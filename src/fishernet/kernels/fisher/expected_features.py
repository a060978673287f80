"""Expected features of rows that lack cells, or whose network has hidden variables.

The Fisher kernel's features of a completed row are a sum over the cells of the conditionals' tables that it falls in,
and so are its scores. So their expectation given what a row knows is a product: the probability of every cell given the
row times the features, or the scores, of each cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fishernet.base import check
from fishernet.base.names import check_names, positions
from fishernet.data import Table
from fishernet.infer.completion import expected_indicators, rows_without
from fishernet.kernels.features import Features, Matrix, is_sparse, weighted_mean
from fishernet.kernels.parts import FeatureParts, parts_of_tables
from fishernet.models import BayesianNetwork


def hidden_names(net: BayesianNetwork, hidden: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of hidden variables; SchemaError for those that the network has not."""
    names = [hidden] if isinstance(hidden, str) else list(check.items(hidden, "hidden"))
    check_names(names)
    positions(net.names, names)
    return tuple(names)


class ExpectedFeatures:
    """E[f | x] under a network of tables, where cells of x are missing and variables may be hidden.

    `of_cells` are the f of each cell of the tables, (cells, dimension).
    """

    def __init__(self, net: BayesianNetwork, hidden: tuple[str, ...], of_cells: Features) -> None:
        self.net: BayesianNetwork = net
        self.hidden: tuple[str, ...] = hidden
        self.of_cells: Features = of_cells

    @property
    def dimension(self) -> int:
        """The number of features."""
        return int(self.of_cells.shape[1])

    @property
    def parts(self) -> FeatureParts:
        """Whose each feature is, where these are the Fisher kernel's."""
        return parts_of_tables(self.net.names, self.net.conditionals)

    def rows(self, X: Any) -> Table:
        """Return data as a table of the network's variables, in which the hidden ones are missing."""
        return rows_without(X, self.net.variables, self.hidden)

    def __call__(self, rows: Table) -> Features:
        """Return the expected features of each row, (n, dimension): sparse where those of the cells are."""
        found = expected_indicators(self.net, rows) @ self.of_cells
        return found.tocsr() if is_sparse(found) else np.asarray(found)

    def mean(self, rows: Table) -> Matrix:
        """Return their mean, (dimension,): that of the cells' probabilities is multiplied, not every row's."""
        return np.asarray(weighted_mean(expected_indicators(self.net, rows), rows) @ self.of_cells)


def kernel_features(net: BayesianNetwork, groups: Sequence[Matrix], children: Iterable[int]) -> Features:
    """Return phi of each cell of some variables' tables, (their cells, their features)."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    none = sp.csr_array((0, 0))  # of networks of numbers alone
    return sp.block_diag([none, *(_of_conditional(net.conditionals[v], groups[v]) for v in children)], format="csr")


def kernel_scores(net: BayesianNetwork) -> Features:
    """Return the derivatives of the logarithm of each cell by theta_jk, k below the last state, (cells, n_parameters).

    1 / theta_jk in the cell itself, -1 / theta_jr in that of the last state (Leppä-aho et al., 2020, Eq. 8).
    """
    import scipy.sparse as sp  # slow to import, and needed by few calls

    blocks = []
    for conditional in net.conditionals:
        theta = conditional.probabilities
        n_groups, r = theta.shape
        inverse = np.divide(1.0, theta, out=np.zeros_like(theta), where=theta > 0)
        free = np.arange(r - 1)
        scores = np.zeros((n_groups, r, r - 1))
        scores[:, free, free] = inverse[:, :-1]
        scores[:, -1, :] = -inverse[:, -1:]
        of_groups = sp.csr_array(sp.block_diag(list(scores), format="csr"))
        blocks.append(_by_configuration(conditional, of_groups))
    return sp.block_diag(blocks, format="csr")


def _of_conditional(conditional: Any, group_probabilities: Matrix) -> Features:
    """Return phi of each cell of a conditional's table, (configurations r, groups r): its own group's, 0 elsewhere."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    theta = conditional.probabilities
    n_groups, r = theta.shape
    with np.errstate(divide="ignore"):
        scale = np.where(
            (theta > 0) & (group_probabilities > 0)[:, None], 1 / (theta * group_probabilities[:, None]), 0.0
        )
    blocks = (np.eye(r) - theta[:, None, :]) * np.sqrt(scale)[:, None, :]  # [group, state that the row has, feature]
    width = n_groups * r
    columns = (np.repeat(np.arange(n_groups) * r, r)[:, None] + np.arange(r)).ravel()
    of_groups = sp.csr_array((blocks.ravel(), columns, np.arange(width + 1) * r), shape=(width, width))
    return _by_configuration(conditional, of_groups)


def _by_configuration(conditional: Any, of_groups: Features) -> Features:
    """Return one row for each state in each configuration, from one for each state in each group."""
    found = conditional.group_map()
    if found is None:
        return of_groups
    r = conditional.variables[-1].cardinality
    cells = (np.asarray(found, dtype=np.int64)[:, None] * r + np.arange(r)).ravel()
    return of_groups[cells]
