"""Bayesian networks: the conditionals' parents make a directed acyclic graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import several
from fishernet.base.random import Seed, draw_count, generator, stream_key
from fishernet.data import Continuous, Table
from fishernet.data.arrays import row_blocks
from fishernet.data.variable import Column
from fishernet.graphs import Dag
from fishernet.graphs.edges import require_kind
from fishernet.infer.completion import chained_terms, incomplete_log_prob
from fishernet.infer.evidence import impossible_row
from fishernet.infer.factors import parent_marginals
from fishernet.infer.hidden_forest import HiddenForest
from fishernet.infer.mixed_answers import mixed_log_prob
from fishernet.infer.normal import completed, gaps_of
from fishernet.infer.parent_moments import ParentMoments, moments_of_parents
from fishernet.infer.prediction import Predicting
from fishernet.models.conditionals.base import Conditional
from fishernet.models.conditionals.conditional_gaussian import ConditionalGaussian
from fishernet.models.conditionals.full_table import FullTable
from fishernet.models.conditionals.linear_gaussian import joint_moments, joint_precision
from fishernet.models.conditionals.product import Factor
from fishernet.models.gaussian_markov_network import GaussianMarkovNetwork, checked_array, marginal_log_prob
from fishernet.models.model import fitted_rows, rows_complete
from fishernet.models.network import Network, conditionals_from_tables

MOST_SCORES = 2**31
SET_SD = 1e-150  # of a number that is set: its square is no 0, and no number is changed by it
LOOKED_UP = 2**16  # rows at once, where conditionals are asked one by one


class BayesianNetwork(Predicting, Network):
    """A Bayesian network; immutable.

    Its variables are categorical, with tables of probabilities, or continuous, with linear-Gaussian conditionals:
    together they then have a multivariate normal distribution. Made by `fishernet.learn.bayesian_network`,
    `fishernet.learn.parameters`, `BayesianNetwork.from_tables`, `BayesianNetwork.from_regressions`,
    `fishernet.read_bif` and `fishernet.load`. Tables and data frames are matched to it by column names and labels;
    arrays hold its variables in its order, as codes or as numbers.

    Parameters
    ----------
    variables : sequence of Variable
        Names are unique.
    conditionals : sequence of Conditional
        One per variable, in the same order; together their parents make no cycle.
    n_rows : int or float, optional
        The number of rows it was fitted on, or the sum of their weights.
    n_complete : int or float, optional
        How many of these know all variables of a family, for the family of which fewest do; all of them without it.

    Raises
    ------
    SchemaError
        When variables and conditionals do not fit.
    CycleError
        When the parents close a cycle.

    Examples
    --------
    >>> import fishernet as fn
    >>> rain = fn.Variable("rain", ["no", "yes"])
    >>> wet = fn.Variable("wet", ["no", "yes"])
    >>> net = fn.BayesianNetwork.from_tables(
    ...     [rain, wet], {"wet": ["rain"]}, {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]}
    ... )
    >>> net
    BayesianNetwork(2 variables, 1 arc, 3 parameters)
    >>> table = fn.Table.from_frame({"wet": ["yes", "no"], "rain": ["yes", "yes"]})
    >>> net.log_prob(table).round(4)
    array([-1.7148, -3.912 ])
    """

    __slots__ = ("_joint", "_product", "dag", "n_complete")

    dag: Dag
    """The graph."""
    n_complete: int | float | None
    """Of the rows that it was fitted on, those that know all variables of a family: of the family that has fewest."""

    def __init__(
        self,
        variables: Sequence[Column],
        conditionals: Sequence[Conditional],
        *,
        n_rows: float | None = None,
        n_complete: float | None = None,
    ) -> None:
        super().__init__(variables, conditionals, n_rows=n_rows)
        self._set(dag=Dag(self.names, [c.parents for c in conditionals]), n_complete=rows_complete(n_rows, n_complete))
        self._joint: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None
        self._product: _core.Factors | None = None

    @classmethod
    def from_tables(
        cls,
        variables: Sequence[Column],
        parents: Mapping[str, Iterable[str]],
        tables: Mapping[str, npt.ArrayLike],
        *,
        tolerance: float = 1e-9,
    ) -> Self:
        """Make a network of its tables.

        Parameters
        ----------
        variables : sequence of Variable
        parents : mapping from name to names
            A variable without parents may be left out.
        tables : mapping from name to array [parent 1, ..., parent m, state]
            The probabilities; every row sums to 1.
        tolerance : float
            How far a row's sum may be from 1; beyond 1e-9 the row is divided by its sum.

        Raises
        ------
        SchemaError
            When names or shapes do not fit, or numbers are no probabilities.
        CycleError
            When the parents close a cycle.
        """
        return cls(
            variables, conditionals_from_tables(variables, parents, tables, tolerance=tolerance, called="parents")
        )

    @classmethod
    def from_regressions(
        cls, dag: Dag, intercepts: npt.ArrayLike, coefficients: Iterable[npt.ArrayLike], sds: npt.ArrayLike
    ) -> Self:
        """Make a network of continuous variables: each is ``intercept + coefficients' parents + sd e``, e normal.

        Parameters
        ----------
        dag : Dag
            On d variables.
        intercepts : (d,) array
        coefficients : sequence of d arrays
            Of each variable's parents, in the order of ``dag.parents``; empty without parents.
        sds : (d,) array
            Standard deviations of the noise, positive.

        Raises
        ------
        SchemaError
            When shapes do not fit, a number is not finite, or a standard deviation is not positive.

        Examples
        --------
        >>> import fishernet as fn
        >>> dag = fn.Dag.from_edges(["a", "b"], [("a", "b")])
        >>> net = fn.BayesianNetwork.from_regressions(dag, [0, 1], [[], [2]], [1, 0.5])
        >>> net.mean, net.covariance
        (array([0., 1.]), array([[1.  , 2.  ],
               [2.  , 4.25]]))
        >>> net.log_prob([[1.0, 3.0]]).round(3)
        array([-1.645])
        """
        require_kind("from_regressions", dag, Dag)
        d = len(dag.names)
        if not d:
            raise SchemaError("a network of regressions needs a variable; the graph has none")
        levels = checked_array(intercepts, "the intercepts", (d,))
        spreads = checked_array(sds, "the standard deviations", (d,))
        slopes = check.items(coefficients, "coefficients", "arrays")
        if len(slopes) != d:
            raise SchemaError(f"{several(d, 'array')} of coefficients are needed, one per variable, got {len(slopes)}")
        variables: list[Any] = [Continuous(name) for name in dag.names]
        conditionals = [
            ConditionalGaussian(v, parents, [variables[p] for p in (*parents, v)], levels[v], slopes[v], spreads[v])
            for v, parents in enumerate(dag.parents)
        ]
        return cls(variables, conditionals)

    likelihood: ClassVar[Literal["exact"]] = "exact"
    """Its likelihood is exact."""

    @property
    def kind(self) -> str:
        """What it is called."""
        kinds = {"numbers": "Gaussian Bayesian network", "mixed": "Bayesian network of labels and numbers"}
        return kinds.get(self.values, "Bayesian network")

    @property
    def graph(self) -> Dag:
        """The graph, as every model has it: `dag`."""
        return self.dag

    @property
    def inference(self) -> Literal["factors", "normal", "mixed"]:
        """How questions are answered: by its factors, as a normal distribution of numbers, or as mixtures of those."""
        if not self._continuous:
            return "factors"
        plain = all(v.is_continuous and v.scale is None and v.resolution is None for v in self.variables)
        return "normal" if plain else "mixed"

    # -------------------------------------------------------------------------------------------- what it computes

    def log_prob(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the log-probability of the observed cells of each row: missing cells are summed (or integrated) out.

        Parameters
        ----------
        table : Table, data frame or (n_rows, n_variables) array

        Returns
        -------
        (n_rows,) float64
            In nats; -inf for a row that is impossible under the model, 0 where every cell is missing. A number adds its
            log-density; one with a resolution u the logarithm of (the probability of the interval of width u around
            it / u).

        Raises
        ------
        SchemaError, UnknownStateError
            When columns or labels do not fit.
        StateSpaceError
            When so many cells of a row are missing that a table would be too large.

        Examples
        --------
        >>> import fishernet as fn
        >>> asia = fn.datasets.load("asia")
        >>> seen = {name: [None, None] for name in asia.names} | {"smoke": ["yes", None]}
        >>> asia.log_prob(seen).round(4)
        array([-0.6931,  0.    ])
        """
        rows = self.rows(table)
        if rows.has_missing:
            return self._incomplete_log_prob(rows)
        native = self._core_form()
        if native is not None:
            return native.look_up(rows.native, self._log_tables, True)
        total = np.zeros(rows.n_rows)
        for at in row_blocks(rows.n_rows, LOOKED_UP):
            block = rows[at]
            for conditional in self.conditionals:
                total[at] += conditional.log_prob(block)
        return total

    def log_prob_terms(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the log-probability of each cell given its parents, (n_rows, n_variables) float64 in nats.

        A low term tells why a row is odd. In a table with missing cells, the term of an observed cell is its
        log-probability given the observed ones before it (parents come before their children), and that of a missing
        cell is 0: the terms of a row always sum to its `log_prob`. Terms after an impossible cell are NaN.
        """
        rows = self.rows(table)
        if not rows.has_missing:
            return self._complete_terms(rows)
        return chained_terms(self.conditionals, self.dag.order, self._incomplete_log_prob, rows)

    def _incomplete_log_prob(self, rows: Table) -> npt.NDArray[np.float64]:
        """Return the log-probability of what each row knows, (n_rows,)."""
        if self.inference == "mixed":
            return mixed_log_prob(self, rows)
        if self.inference == "normal":
            return marginal_log_prob(self.mean, self.covariance, rows.numbers)
        forest = HiddenForest.of(self, rows)
        return incomplete_log_prob(self, rows) if forest is None else forest.log_prob(self)

    def sample(self, n: int, *, seed: Seed = None) -> Table:
        """Draw rows: every variable after its parents.

        Parameters
        ----------
        n : int
            How many rows.
        seed : None, int or numpy.random.Generator

        Returns
        -------
        Table
            n independent rows. Thresholds are held in 32 bits: a probability is off by at most 2**-32, and a state
            is drawn if and only if its probability is positive.
        """
        count = draw_count(n)
        native = self._core_form()
        if native is None:
            return self._draw(count, seed)
        order = np.array(self.dag.order, dtype=np.int32)
        probabilities = [c.probabilities for c in self.conditionals]
        columns = native.sample(probabilities, order, count, stream_key(seed))
        return Table.adopt(self.variables, columns, n_rows=count)

    def _draw(self, n: int, seed: Seed) -> Table:
        """Draw rows by the conditionals' own functions, every variable after its parents."""
        noise = generator(seed).standard_normal((n, len(self.variables)))
        columns = [np.zeros(n, dtype=variable.dtype) for variable in self.variables]
        for v in self.dag.order:
            columns[v] = self.conditionals[v].draw(columns, noise[:, v])
        return Table.adopt(self.variables, columns, n_rows=n)

    def probabilities_given_rest(self, rows: Table, target: int) -> npt.NDArray[np.float64]:
        """Return the probabilities of the states of the variable at a position given all others, (n_rows, r).

        What the complete rows hold in the target's column does not matter.
        """
        values = self.flat.target_values(rows.native, self._log_tables, target)
        top = values.max(axis=1, keepdims=True, initial=-np.inf)
        if np.isneginf(top).any():
            raise impossible_row(int(np.argmax(np.isneginf(top))), self.names[target])
        weights: npt.NDArray[np.float64] = np.exp(values - top)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def intervened(self, values: Mapping[int, Any]) -> BayesianNetwork:
        """Return the network in which the variables at some positions have states, by code, or numbers, and no parents.

        An array has the probabilities of the states, (r,).

        A number that is set still has a standard deviation, too small to change it.
        """
        conditionals: list[Any] = list(self.conditionals)
        for position, value in values.items():
            variable: Any = self.variables[position]
            if variable.is_continuous:
                (on_scale,) = variable.scaled(np.array([value], dtype=np.float64))
                conditionals[position] = ConditionalGaussian(position, (), (variable,), on_scale, [], SET_SD)
                continue
            shares = value if isinstance(value, np.ndarray) else np.eye(variable.cardinality)[int(value)]
            conditionals[position] = FullTable(position, (), (variable,), shares[None])
        return BayesianNetwork(self.variables, conditionals)

    def fisher_scores(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the derivatives of each row's log-probability by the free parameters [1]_.

        Returns
        -------
        (n_rows, n_parameters) float64
            The free parameters are theta_ijk with k below the last state, ordered by variable i, then group j, then
            state k; the last state's probability is what the others leave. Of a continuous variable they are the
            intercept, the coefficients and the standard deviation; a row that lacks numbers has the derivatives of the
            density of what is known, which are the means of those of the completed row (Fisher's identity).

        Raises
        ------
        ZeroProbabilityError
            When a row has a state of probability zero.
        StateSpaceError
            When there would be more than 2**31 numbers.

        References
        ----------
        .. [1] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
           Behaviormetrika 47, 2020, Eq. 8.
        """
        rows = self.rows(table, complete_for=None if self.inference == "normal" else "fisher_scores")
        cells = rows.n_rows * self.n_parameters
        if cells > MOST_SCORES:
            raise StateSpaceError("the scores", cells=cells, limit=MOST_SCORES, remedy="take the rows in parts")
        scores = np.zeros((rows.n_rows, self.n_parameters))
        gaps = [gap for gap in gaps_of(rows.numbers) if len(gap.missing)] if rows.has_missing else []
        if gaps:
            numbers: Any = self
            rows = Table.adopt(rows.variables, list(completed(numbers, rows.numbers)), n_rows=rows.n_rows)
        ends = np.cumsum([0, *(conditional.n_parameters for conditional in self.conditionals)]).tolist()
        for conditional, at in zip(self.conditionals, itertools.starmap(slice, itertools.pairwise(ends)), strict=True):
            conditional.scores(rows, scores[:, at])
        for gap in gaps:
            spread = gap.spread(self.precision)
            regressions: Sequence[Any] = self.conditionals
            scores[gap.rows] += np.concatenate([one.scores_of_spread(spread) for one in regressions])
        return scores

    def fisher_information(self) -> list[npt.NDArray[np.float64]]:
        """Return the Fisher information of one row, which is block-diagonal [1]_.

        Returns
        -------
        list of (groups, r - 1, r - 1) float64
            One array per variable; block j is ``P(group j) (diag(1 / theta_ijk) + 1 / theta_ijr)``. Of a continuous
            variable with m parents that are numbers (configurations, m + 2, m + 2): P(j) times the mean product of
            (1, numbers) with itself in configuration j of the labels, over sd^2, and 2 P(j) / sd^2.

        Raises
        ------
        ZeroProbabilityError
            When a group that occurs has a state of probability zero.
        StateSpaceError
            When the probabilities of a group need tables of more than 2**28 cells. Moments of numbers that depend on
            labels with more than 2**20 joint states are those of drawn rows.

        References
        ----------
        .. [1] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
           Behaviormetrika 47, 2020, Eq. 9.
        """
        return [c.information(of) for c, of in zip(self.conditionals, self._of_parents(), strict=True)]

    def _of_parents(self) -> list[Any]:
        """Return what each conditional's information has to know of its parents."""
        if self.inference == "normal":
            mean, covariance = self._moments()
            parents = [list(c.parents) for c in self.conditionals]
            return [ParentMoments(np.ones(1), mean[at][None], covariance[np.ix_(at, at)][None]) for at in parents]
        if self.inference == "factors":
            pairs = zip(self.conditionals, parent_marginals(self), strict=True)
            return [conditional.sum_by_group(p) for conditional, p in pairs]
        of_labels = iter(self.of_labels()._of_parents())
        return [next(of_labels) if of is None else of for of in moments_of_parents(self)]

    def of_labels(self) -> BayesianNetwork:
        """Return the network of the variables with labels alone: none of them has numbers as parents."""
        return self.part([v for v in range(len(self.variables)) if v not in self._continuous])

    def part(self, kept: Sequence[int]) -> BayesianNetwork:
        """Return the network of the variables at some positions, ascending, none of which has others as parents."""
        place = {v: at for at, v in enumerate(kept)}
        own = [self.conditionals[v] for v in kept]
        conditionals = [c.moved(place[c.child], [place[p] for p in c.parents]) for c in own]
        of = [self.variables[v] for v in kept]
        return BayesianNetwork(of, conditionals, **self._options())

    # ------------------------------------------------------------------------------------- of continuous variables

    @property
    def mean(self) -> npt.NDArray[np.float64]:
        """The mean of continuous variables, (n_variables,); SchemaError where one is categorical."""
        return self._moments()[0]

    @property
    def covariance(self) -> npt.NDArray[np.float64]:
        """The covariance of continuous variables, (n_variables, n_variables); SchemaError where one is categorical."""
        return self._moments()[1]

    @property
    def precision(self) -> npt.NDArray[np.float64]:
        """The inverse of the covariance; zero between variables that the moral graph does not join."""
        return joint_precision(self.conditionals)

    def _options(self) -> dict[str, Any]:
        return fitted_rows(self.n_rows, self.n_complete)

    def to_markov_network(self) -> GaussianMarkovNetwork:
        """Return the distribution of continuous variables by its mean and precision, which also predicts numbers."""
        return GaussianMarkovNetwork(self.names, self.mean, self.precision, **self._options())

    def _moments(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        if self._joint is None:
            self._joint = joint_moments(self.conditionals, self.dag.order)
        return self._joint

    # ---------------------------------------------------------------------------------------------- for the core

    @property
    def factors(self) -> _core.Factors:
        """The conditionals as factors, which inference multiplies; made once."""
        if self._product is None:
            product = _core.Factors(np.array([v.cardinality for v in self.variables], dtype=np.int64))
            for axes, values in self.factor_tables():
                product.add(np.array(axes, dtype=np.int32), values.reshape(-1), True)
            self._product = product
        return self._product

    def factor_tables(self) -> tuple[Factor, ...]:
        """Return the positions of each conditional's parents and child, and its table."""
        return tuple(conditional.factor() for conditional in self.conditionals)

    @property
    def is_normalized(self) -> bool:
        """True: the conditionals' product sums to 1."""
        return True
