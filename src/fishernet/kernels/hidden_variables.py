"""The Fisher kernel where variables are hidden, or cells are missing: the expected kernel of completed rows.

Two rows are completed independently of each other, each by the network's distribution given what is known of it, and
the Fisher kernel of the completed rows is averaged [1]_::

    K(x, y) = sum_{h, h'} P(h | x) P(h' | y) K((x, h), (y, h')) = E[phi | x] . E[phi | y]

The Fisher kernel has features, so no pair of completions is looked at: a row's expected features are those of the
probabilities of its families' states, which one inference a row gives.

References
----------
.. [1] K. Tsuda, T. Kin and K. Asai, "Marginalized kernels for biological sequences", 2002; J. Leppä-aho, T. Silander
   and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces", Behaviormetrika 47, 2020, section 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import check_names, positions
from fishernet.base.random import Seed
from fishernet.base.vocabulary import GroupMethodName
from fishernet.data import Table
from fishernet.infer.completion import expected_indicators, rows_without
from fishernet.kernels.features import Features, Matrix, check_cells, inner
from fishernet.kernels.fisher import FisherKernel
from fishernet.kernels.kernel import FeatureMade
from fishernet.models import BayesianNetwork


class HiddenVariableKernel(FeatureMade):
    """The Fisher kernel of a Bayesian network, averaged over what is not known of each row.

    Parameters
    ----------
    net : BayesianNetwork
        Of categorical variables.
    hidden : iterable of str
        Variables that are not observed: a column of theirs is not looked at, where there is one. Cells of other columns
        may be missing, and without hidden variables it is the Fisher kernel for rows that lack cells.
    group_probabilities, seed
        As for `FisherKernel`.

    Raises
    ------
    SchemaError
        When a name is no variable of the network, or variables are continuous.

    See Also
    --------
    FisherKernel : for rows of which all is known.

    Notes
    -----
    Numbering the hidden states in another way changes nothing. Rows with the same gap and the same states around it
    share one inference.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> k = fn.kernels.HiddenVariableKernel(asia, ["smoke", "either"])
    >>> rows = asia.sample(100, seed=1)
    >>> k(rows).shape
    (100, 100)
    """

    def __init__(
        self,
        net: BayesianNetwork,
        hidden: Iterable[str] = (),
        *,
        group_probabilities: GroupMethodName | Sequence[npt.ArrayLike] = "auto",
        seed: Seed = None,
    ) -> None:
        self._complete = FisherKernel(net, group_probabilities=group_probabilities, seed=seed)
        if not getattr(net, "runs_in_core", False) or not hasattr(net, "intervened"):
            raise SchemaError(f"hidden variables are those of a BayesianNetwork of tables, not of {net!r}")
        names = [hidden] if isinstance(hidden, str) else list(check.items(hidden, "hidden"))
        check_names(names)
        positions(net.names, names)
        self._net, self._hidden = net, tuple(names)
        self._made: Features | None = None
        groups = [conditional.n_groups * conditional.variables[-1].cardinality for conditional in net.conditionals]
        self._ends = np.cumsum([0, *groups])

    @property
    def model(self) -> BayesianNetwork:
        """The network."""
        return self._net

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables."""
        return self._hidden

    @property
    def dimension(self) -> int:
        """The number of features: those of the Fisher kernel of completed rows."""
        return int(self._ends[-1])

    @property
    def has_terms(self) -> bool:
        """True: it is a sum over the variables, the hidden ones among them."""
        return True

    def rows(self, X: Any) -> Table:
        """Return data as a table of the network's variables, in which the hidden ones are missing."""
        return rows_without(X, self._net.variables, self._hidden)

    def features(self, X: Any) -> Features:
        """Return the expected features of each row, (n, dimension) scipy.sparse.csr_array.

        Raises
        ------
        ZeroProbabilityError
            When what is known of a row has probability 0.
        StateSpaceError
            When so much is missing that a table would be too large.
        """
        return (expected_indicators(self._net, self.rows(X)) @ self._transform()).tocsr()

    def terms(self, X: Any, Y: Any = None) -> Matrix:
        """Return what each variable adds to the kernel of each pair of rows, (n_variables, n, m) float64."""
        x = self.features(X).tocsc()
        y = None if Y is None else self.features(Y).tocsc()
        check_cells((len(self._ends) - 1) * x.shape[0] * (x if y is None else y).shape[0], "the terms of the matrix")
        return np.stack([inner(x[:, a:b], None if y is None else y[:, a:b]) for a, b in pairwise(self._ends)])

    def _transform(self) -> Features:
        """Return what makes features of the probabilities of the tables' cells, made once, (cells, dimension)."""
        if self._made is None:
            import scipy.sparse as sp  # slow to import, and needed by few calls

            groups = zip(self._net.conditionals, self._complete.group_probabilities, strict=True)
            self._made = sp.block_diag([_of_conditional(c, p) for c, p in groups], format="csr")
        return self._made

    def __repr__(self) -> str:
        return f"HiddenVariableKernel({self._net!r}, hidden={list(self._hidden)})"


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
    found = conditional.group_map()
    if found is None:
        return of_groups
    cells = (np.asarray(found, dtype=np.int64)[:, None] * r + np.arange(r)).ravel()
    return of_groups[cells]
