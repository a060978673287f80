"""How far two rows agree beyond chance: the kernel for rows that are alike.

The Fisher kernel compares rows by what they say of a network's parameters, so that one rare cell may decide, and one
cell that differs takes away the agreement of its children. What people call alike is simpler: the cells agree. A column
adds how far that is beyond chance, so that rows agree more in a rare state, and disagreement takes away::

    K(x, y) = mean over the columns v of sum over the states s of (q_v(s | x) - P(s)) (q_v(s | y) - P(s)),
    q_v(s | x) = (1 - p) [x_v = s] + p P(x_v = s | the rest of x)

The P(s) are the states' probabilities in the network. A cell is believed (p = 0), or drawn again given the rest of its
row with a probability p, always where it is missing. Without the P(s) it is a marginalized kernel [1]_, whose hidden
variable is the row as it is read and which counts the columns that agree (overlap). With them its features have mean 0
under the network.

States that have an order, and numbers, agree as far as they lie on the same side of bounds between them. A number's
bounds cut its distribution into parts of equal probability: two numbers are as unlike as their ranks are apart (Gower,
1971, divides by the range instead). Bounds between states count by the probability of the states beside them.

References
----------
.. [1] K. Tsuda, T. Kin and K. Asai, "Marginalized kernels for biological sequences", Bioinformatics 18, 2002;
   S. Boriah, V. Chandola and V. Kumar, "Similarity measures for categorical data", SDM 2008, on overlap;
   J. C. Gower, "A general coefficient of similarity and some of its properties", Biometrics 27, 1971.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from fishernet.base import check
from fishernet.base.errors import StateSpaceError
from fishernet.data import Table
from fishernet.data.variable import Column
from fishernet.infer.completion import rows_without
from fishernet.infer.factors import group_probabilities, inference_of, is_model, model_of
from fishernet.infer.prediction import number_quantiles, predict_proba, shares_up_to
from fishernet.kernels.features import Features, Matrix, check_cells
from fishernet.kernels.kernel import BaseKernel, FeatureMade, adapted
from fishernet.kernels.parts import FeatureParts, parts_of_regressions, terms_by_variable

BOUNDS = 31  # of a number: ranks are told apart by a 32nd of the rows
SHARES = (np.arange(BOUNDS) + 1) / (BOUNDS + 1)
DRAWN, SEED = 2**16, 0  # rows, where marginals are too large
MOST_CELLS = 2**14  # of labels on which a number depends, beyond which its quantiles are those of drawn rows


class AgreementKernel(FeatureMade):
    """How far two rows agree beyond chance, column by column, for rows that may lack cells.

    Its cosine (`Normalized`) is a similarity for neighbours: rows are alike whose cells agree, the more in rare states,
    and where states have an order, or are numbers, the nearer they are.

    Parameters
    ----------
    net : BayesianNetwork or MarkovNetwork
        Of labels, of numbers, or of both.
    redrawn : float
        The probability p, from 0 to 1, with which a cell is drawn again given the other cells of its row, as if it may
        have been read wrongly. A missing cell is always drawn.

    Raises
    ------
    FishernetError
        When `redrawn` is not a number from 0 to 1, or the network is one that has no exact answers, as a dependency
        network.

    See Also
    --------
    FisherKernel : for comparing tables and choosing rows that stand for one.
    Similarity : similarities by the frequencies of single columns.
    fishernet.select.similar : the rows most like a given one.

    Notes
    -----
    The features of a row are the probabilities of each state of each variable as it is read, less those under the
    network; of states in order and of numbers those that it is at most each bound, times the root of twice the bound's
    share. All are divided by the root of the number of columns. A number has 31 bounds. Where marginals are too large
    to compute exactly, or a number depends on labels of more than 16,384 configurations, they are counted in 65,536
    rows that the network draws.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> rows = asia.sample(3, seed=1)
    >>> near = fn.kernels.Normalized(fn.kernels.AgreementKernel(asia))
    >>> near(rows).round(2)
    array([[ 1.  , -0.38,  0.3 ],
           [-0.38,  1.  , -0.32],
           [ 0.3 , -0.32,  1.  ]])
    """

    def __init__(self, net: Any, *, redrawn: float = 0.0) -> None:
        if inference_of(net) not in ("normal", "mixed"):
            model_of(net)  # refuses models that have no exact answers
        self._net = net
        self._redrawn = check.number(redrawn, "redrawn", least=0, most=1)

    @property
    def model(self) -> Any:
        """The network."""
        return self._net

    @property
    def dimension(self) -> int:
        """The number of features."""
        return len(self.feature_parts.variable_of)

    @property
    def feature_parts(self) -> FeatureParts:
        """Whose each feature is."""
        widths = [BOUNDS if one.is_continuous else one.cardinality - _has_bounds(one) for one in self._net.variables]
        return parts_of_regressions(self._net.names, widths)

    @property
    def term_names(self) -> tuple[str, ...]:
        """The variables over which it is a sum."""
        return tuple(self._net.names)

    def rows(self, X: Any) -> Table:
        """Return data as a table of the network's variables; cells may be missing."""
        return rows_without(X, self._net.variables, ())

    def features(self, X: Any) -> Features:
        """Return how far each row's cells, as they are read, are beyond what the network expects, (n, dimension).

        Raises
        ------
        ZeroProbabilityError
            When a row, of which a cell is missing or drawn again, is impossible whatever that cell is.
        StateSpaceError
            When so much is missing that a table would be too large.
        """
        rows = self.rows(X)
        check_cells(len(rows) * self.dimension, "the features of the rows")
        found = np.empty((len(rows), self.dimension))
        for v, owned in enumerate(self._owned):
            variable, p = self._net.variables[v], self._expected[v]
            beyond = self._as_read(rows, v) - p
            if variable.is_continuous:
                beyond *= np.sqrt(2 / BOUNDS)
            elif _has_bounds(variable):
                beside = p[:-1] + p[1:]
                beyond = np.cumsum(beyond, axis=1)[:, :-1] * np.sqrt(2 * beside / beside.sum())
            found[:, owned] = beyond / np.sqrt(len(self._owned))
        return found

    def terms(self, X: Any, Y: Any = None) -> Matrix:
        """Return what each variable adds to the kernel of each pair of rows, (n_variables, n, m) float64."""
        return terms_by_variable(self.features(X), None if Y is None else self.features(Y), self.feature_parts)

    @cached_property
    def _owned(self) -> list[slice]:
        """Which features are each variable's."""
        ends = np.cumsum(np.bincount(self.feature_parts.variable_of, minlength=len(self._net.names)))
        return [slice(int(begin), int(end)) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]

    @cached_property
    def _bounds(self) -> dict[int, Matrix]:
        """The numbers that cut each number's distribution into parts of equal probability, by position."""
        found = {}
        for v, variable in enumerate(self._net.variables):
            if variable.is_continuous:
                try:
                    found[v] = number_quantiles(self._net, variable.name, SHARES.tolist(), MOST_CELLS)
                except StateSpaceError:
                    found[v] = np.quantile(self._drawn.column(variable.name), SHARES)
        return found

    @cached_property
    def _drawn(self) -> Table:
        """Rows in which is counted what is too large to compute."""
        drawn: Table = self._net.sample(DRAWN, seed=SEED)
        return drawn

    @cached_property
    def _expected(self) -> list[Matrix]:
        """The features' means, of each variable, before they are scaled."""
        net = self._net
        if net.likelihood == "exact" and inference_of(net) == "factors":
            groups = group_probabilities(net, method="auto", seed=SEED)
            return [p @ of.probabilities for p, of in zip(groups, net.conditionals, strict=True)]
        found: list[Matrix] = []
        for variable in net.variables:
            if variable.is_continuous:
                found.append(SHARES)
                continue
            try:
                found.append(net.query(variable.name).array)
            except StateSpaceError:
                found.append(np.bincount(self._drawn.column(variable.name), minlength=variable.cardinality) / DRAWN)
        return found

    def _as_read(self, rows: Table, v: int) -> Matrix:
        """Return the probability of each state of a variable in each row, or of a number that of being up to bounds."""
        variable, cells = self._net.variables[v], rows.codes[v]
        if variable.is_continuous:
            bounds = self._bounds[v]
            found = np.asarray((cells[:, None] < bounds) + 0.5 * (cells[:, None] == bounds))
        else:
            found = np.asarray(cells[:, None] == np.arange(variable.cardinality), np.float64)
        believed = np.where(variable.missing(cells), 0.0, 1 - self._redrawn)
        some = np.flatnonzero(believed < 1)
        if len(some):
            given = rows[some]
            again: Matrix
            if variable.is_continuous:
                again = shares_up_to(self._net, given, variable.name, bounds)
            else:
                again = predict_proba(self._net, given, variable.name)
            share = believed[some, None]
            found[some] = share * found[some] + (1 - share) * again
        return found

    def __repr__(self) -> str:
        return f"AgreementKernel({self._net!r}, redrawn={self._redrawn:g})"


def _has_bounds(variable: Column) -> bool:
    """Whether states agree by their order: not where one of them stands for missing cells."""
    return variable.is_ordered and variable.missing_state is None and variable.cardinality > 1


def kernel_of(kernel: Any, name: str) -> BaseKernel:
    """Return the kernel by which rows are alike: one that is given, or that of agreement under a network."""
    return adapted(AgreementKernel(kernel) if is_model(kernel) else kernel, name, logs=True)
