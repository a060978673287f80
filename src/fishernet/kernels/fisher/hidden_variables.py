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

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt

from fishernet.base.random import Seed
from fishernet.base.vocabulary import GroupMethodName
from fishernet.data import Table
from fishernet.data.variable import hidden_among
from fishernet.kernels.features import Features, Matrix
from fishernet.kernels.fisher.expected_features import ExpectedFeatures, hidden_names, kernel_features
from fishernet.kernels.fisher.expected_mixed import ExpectedMixedFeatures
from fishernet.kernels.fisher.kernel import FisherKernel
from fishernet.kernels.kernel import FeatureMade, ModelKernel
from fishernet.kernels.parts import FeatureParts, terms_by_variable
from fishernet.models import BayesianNetwork


def row_kernel(model: Any, *tables: Table, seed: Seed = None) -> FisherKernel | HiddenVariableKernel:
    """Return the Fisher kernel of a network for rows; where these lack cells, averaged over what they may be.

    Of numbers the Fisher kernel does that itself: its scores are those of what is known of a row.
    """
    if model.inference == "normal" or not any(table.has_missing for table in tables):
        return FisherKernel(model, seed=seed)
    return HiddenVariableKernel(model, seed=seed)


class HiddenVariableKernel(FeatureMade):
    """The Fisher kernel of a Bayesian network, averaged over what is not known of each row.

    Parameters
    ----------
    net : BayesianNetwork
        Of labels, of numbers, or of both.
    hidden : iterable of str
        Variables that are not observed: a column of theirs is not looked at, where there is one; by default those that
        the network knows to be hidden (`Variable.hidden`). Cells of other columns may be missing, and without hidden
        variables it is the Fisher kernel for rows that lack cells.
    group_probabilities, seed
        As for `FisherKernel`.

    Raises
    ------
    SchemaError
        When a name is no variable of the network.

    See Also
    --------
    FisherKernel : for rows of which all is known; with ``hidden``, the Fisher kernel of the likelihood of what is
        observed, where this one is that of all variables, averaged.

    Notes
    -----
    Of labels beside numbers, a row that lacks so much that its expectation has more than 16,384 numbers, or a table
    over its missing labels 2**20 cells, has a weighted mean over 32 draws in its place, by the same random numbers for
    every row.

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
        names = hidden_names(net, hidden) or hidden_among(net.variables)
        if (
            net.inference in ("normal", "mixed")
            and isinstance(group_probabilities, str)
            and group_probabilities == "auto"
        ):
            self._expected: ExpectedFeatures = ExpectedMixedFeatures(net, names)
            return
        groups = FisherKernel(net, group_probabilities=group_probabilities, seed=seed).group_probabilities
        self._expected = ExpectedFeatures(net, names, kernel_features(net, groups, range(len(net.names))))

    @property
    def model(self) -> BayesianNetwork:
        """The network."""
        return self._expected.net

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables."""
        return self._expected.hidden

    @property
    def dimension(self) -> int:
        """The number of features: those of the Fisher kernel of completed rows."""
        return self._expected.dimension

    @property
    def feature_parts(self) -> FeatureParts:
        """Whose each feature is: the variable's and the configuration's."""
        return self._expected.parts

    @property
    def term_names(self) -> tuple[str, ...]:
        """The variables over which it is a sum, the hidden ones among them."""
        return self.model.names

    @property
    def standardized(self) -> ModelKernel:
        """The kernel itself: its features have mean 0 under the network, and variance 1 where no cell is missing."""
        return self

    takes_statistics = False

    def smallest_expected(self, n_rows: float) -> None:
        """Return None: expected counts of cells are not told."""

    def fewest_regressed(self, n_rows: float) -> float:  # noqa: ARG002
        """Return infinity: expected rows are not told."""
        return math.inf

    def with_model(self, model: BayesianNetwork) -> HiddenVariableKernel:
        """Return the kernel of another network with the same hidden variables."""
        return HiddenVariableKernel(model, self.hidden, seed=0)

    def rows(self, X: Any) -> Table:
        """Return data as a table of the network's variables, in which the hidden ones are missing."""
        return self._expected.rows(X)

    def features(self, X: Any) -> Features:
        """Return the expected features of each row, (n, dimension) scipy.sparse.csr_array.

        Raises
        ------
        ZeroProbabilityError
            When what is known of a row has probability 0.
        StateSpaceError
            When so much is missing that a table would be too large.
        """
        return self._expected(self.rows(X))

    def mean_features(self, X: Any) -> Matrix:
        """Return the mean of the rows' expected features, (dimension,) float64; rows count by their weights."""
        return self._expected.mean(self.rows(X))

    def terms(self, X: Any, Y: Any = None) -> Matrix:
        """Return what each variable adds to the kernel of each pair of rows, (n_variables, n, m) float64."""
        y = None if Y is None else self.features(Y)
        return terms_by_variable(self.features(X), y, self.feature_parts)

    def __repr__(self) -> str:
        return f"HiddenVariableKernel({self.model!r}, hidden={list(self.hidden)})"
