"""Networks: a conditional for every variable; in a Bayesian network their parents make a directed acyclic graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.base.names import check_names, listed, positions
from fishernet.base.random import Seed, draw_count, generator, stream_key
from fishernet.data import Continuous, Table, Variable, as_table
from fishernet.data.numbers import require_finite
from fishernet.data.variable import Column
from fishernet.graphs import Dag
from fishernet.graphs.edges import require_kind
from fishernet.infer.factors import parent_marginals
from fishernet.infer.queries import predict_proba
from fishernet.models.conditionals.base import Conditional, Probabilities
from fishernet.models.conditionals.full_table import FullTable
from fishernet.models.conditionals.linear_gaussian import LinearGaussian, joint_moments, joint_precision
from fishernet.models.conditionals.product import Factor
from fishernet.models.gaussian_markov_network import GaussianMarkovNetwork, checked_array

MOST_SCORES = 2**31
MOST_LINES = 60  # of a network in words


def describe_network(title: str, variables: Sequence[Variable], conditionals: Sequence[Conditional]) -> str:
    """Return a title and one line a variable: its name, its number of states, its parents."""
    width = max((len(variable.name) for variable in variables), default=0)
    lines = [title]
    for variable, conditional in list(zip(variables, conditionals, strict=True))[:MOST_LINES]:
        parents = ", ".join(variables[p].name for p in conditional.parents)
        states = (
            "number" if variable.is_continuous else f"{variable.cardinality} state{'s'[: variable.cardinality - 1]}"
        )
        lines.append(f"  {variable.name:<{width}}  {states:>10}" + (f"  <- {parents}" if parents else ""))
    if len(variables) > MOST_LINES:
        lines.append(f"  ... and {len(variables) - MOST_LINES} more variables")
    return "\n".join(lines)


class Network:
    """Variables and their conditionals; immutable. The graph is what a kind of network makes of them.

    Parameters
    ----------
    variables : sequence of Variable
        Names are unique.
    conditionals : sequence of Conditional
        One a variable, in the same order.
    n_rows : int or float, optional
        The number of rows it was fitted on, or the sum of their weights.

    Raises
    ------
    SchemaError
        When variables and conditionals do not fit.
    """

    __slots__ = (
        "__weakref__",
        "_conditionals",
        "_continuous",
        "_in_python",
        "_logs",
        "_n_rows",
        "_names",
        "_native",
        "_variables",
    )

    def __init__(
        self, variables: Sequence[Column], conditionals: Sequence[Conditional], *, n_rows: float | None = None
    ) -> None:
        self._names = tuple(variable.name for variable in variables)
        check_names(self._names)
        if len(conditionals) != len(variables):
            raise SchemaError(f"{len(variables)} variables need as many conditionals, got {len(conditionals)}")
        for position, conditional in enumerate(conditionals):
            if position in conditional.parents or len(set(conditional.parents)) < len(conditional.parents):
                raise SchemaError(f"{variables[position].name!r} is a parent of its own, or has a parent twice")
            wanted = tuple(variables[v] for v in (*conditional.parents, position))
            if conditional.child != position or conditional.variables != wanted:
                raise SchemaError(
                    f"conditional {position} ({conditional!r}) is not one of {variables[position].name!r}"
                )
        rows = None if n_rows is None else check.number(n_rows, "n_rows", least=0)
        self._variables: tuple[Any, ...] = tuple(variables)
        self._conditionals = tuple(conditionals)
        self._n_rows = int(rows) if rows is not None and rows.is_integer() else rows
        self._continuous = tuple(v for v, variable in enumerate(variables) if variable.is_continuous)
        self._native: _core.Conditionals | None = None
        self._in_python = False
        self._logs: list[Probabilities] | None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the conditionals."""
        return self._variables

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return self._names

    @property
    def conditionals(self) -> tuple[Conditional, ...]:
        """One a variable."""
        return self._conditionals

    @property
    def is_continuous(self) -> bool:
        """Whether its variables are numbers, all of them."""
        return bool(self._variables) and len(self._continuous) == len(self._variables)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters of all conditionals: ``groups (r - 1)`` of one of states."""
        return sum(conditional.n_parameters for conditional in self._conditionals)

    @property
    def n_rows(self) -> int | float | None:
        """The number of rows it was fitted on, the sum of their weights; None when it was built from tables."""
        return self._n_rows

    def conditional(self, name: str) -> Conditional:
        """Return the conditional of one variable."""
        return self._conditionals[positions(self.names, [name])[0]]

    def __repr__(self) -> str:
        arcs = sum(len(conditional.parents) for conditional in self._conditionals)
        fitted = "" if self._n_rows is None else f", fitted on {self._n_rows:,} rows"
        return (
            f"{type(self).__name__}({len(self._variables)} variables, {arcs} arc{'' if arcs == 1 else 's'}, "
            f"{self.n_parameters:,} parameters{fitted})"
        )

    def __str__(self) -> str:
        return describe_network(repr(self), self._variables, self._conditionals)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._parts() == other._parts())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), *self._parts())

    def _parts(self) -> tuple[Any, ...]:
        """Return what it is made of: variables, conditionals, and the constructor's keywords."""
        return self._variables, self._conditionals, {"n_rows": self._n_rows}

    # -------------------------------------------------------------------------------------------- what it computes

    def rows(self, data: Any, *, complete_for: str) -> Table:
        """Return data as a table of the network's variables; `complete_for` says what needs complete rows."""
        if isinstance(data, Table) and data.variables == self._variables:  # as most often: nothing is looked up
            data.require_complete(complete_for)
            table = data
        else:
            table = as_table(data, self._variables, complete_for=complete_for)
        for position in self._continuous:
            require_finite(self._names[position], table.codes[position])
        return table

    def log_prob_terms(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the log-probability of each cell given its parents; a low term tells why a row is odd.

        Returns
        -------
        (n_rows, n_variables) float64
            In nats.
        """
        rows = self.rows(table, complete_for="log_prob_terms")
        native = self._core_form()
        if native is not None:
            return native.look_up(rows.native, self._log_tables, False)
        terms = np.empty((rows.n_rows, len(self._variables)))
        for position, conditional in enumerate(self._conditionals):
            terms[:, position] = conditional.log_prob(rows)
        return terms

    # ---------------------------------------------------------------------------------------------- for the core

    @property
    def scopes(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each conditional's parents, and of its child."""
        return tuple((*conditional.parents, conditional.child) for conditional in self._conditionals)

    @property
    def runs_in_core(self) -> bool:
        """Whether the core has a form of every conditional; otherwise they are asked one by one."""
        return self._core_form() is not None

    @property
    def flat(self) -> _core.Conditionals:
        """The conditionals as the core looks them up; made once.

        Raises
        ------
        SchemaError
            When the core has no form of one, naming it.
        """
        native = self._core_form()
        if native is None:
            lacking = next(c for c in self._conditionals if c.core_form() is None)
            raise SchemaError(f"{lacking!r} is no table of states; this needs tables for all variables")
        return native

    def _core_form(self) -> _core.Conditionals | None:
        if self._native is None and not self._in_python:
            native = _core.Conditionals(np.array([v.cardinality for v in self._variables], dtype=np.int64))
            for conditional in self._conditionals:
                form = conditional.core_form()
                if form is None:
                    self._in_python = True
                    return None
                form.add_to(native, conditional.child)
            self._native = native
        return self._native

    @property
    def _log_tables(self) -> list[Probabilities]:
        if self._logs is None:
            with np.errstate(divide="ignore"):  # log 0 = -inf is what is meant
                self._logs = [np.log(c.probabilities) for c in self._conditionals]
        return self._logs


def conditionals_from_tables(
    variables: Sequence[Column],
    parents: Mapping[str, Iterable[str]],
    tables: Mapping[str, npt.ArrayLike],
    *,
    tolerance: float,
    called: str,
) -> list[FullTable]:
    """Return one full table a variable.

    Parameters
    ----------
    variables : sequence of Variable
    parents : mapping from name to names
        A variable without parents may be left out.
    tables : mapping from name to array [parent 1, ..., parent m, state]
    tolerance : float
        How far a row's sum may be from 1; beyond 1e-9 the row is divided by its sum.
    called : str
        What this kind of network calls the parents, for messages.

    Raises
    ------
    SchemaError
        When names or shapes do not fit, or numbers are no probabilities.
    """
    names = [variable.name for variable in variables]
    where = {name: position for position, name in enumerate(names)}
    of_names: dict[str, tuple[str, ...]] = {}
    for name, of in parents.items():
        if isinstance(of, str):
            raise SchemaError(f"the {called} of {name!r} must be a sequence of names, not one str ({of!r})")
        of_names[name] = tuple(of)
    positions(names, [*of_names, *tables, *(parent for of in of_names.values() for parent in of)])
    lacking = [name for name in names if name not in tables]
    if lacking:
        raise SchemaError(f"no table for {listed(lacking)}")
    conditionals = []
    for child, variable in enumerate(variables):
        family = tuple(where[name] for name in of_names.get(variable.name, ()))
        check_names([names[p] for p in (*family, child)])
        shape = tuple(variables[v].cardinality for v in (*family, child))
        table = np.asarray(tables[variable.name], dtype=np.float64)
        if table.shape != shape:
            raise SchemaError(
                f"the table of {variable.name!r} has shape {table.shape}; its {called} and its states need {shape}"
            )
        rows = table.reshape(-1, shape[-1])
        conditionals.append(
            FullTable(child, family, [variables[v] for v in (*family, child)], rows, tolerance=tolerance)
        )
    return conditionals


def _rebuilt(
    kind: type[Network], variables: Sequence[Column], conditionals: Sequence[Conditional], options: dict[str, Any]
) -> Network:
    return kind(variables, conditionals, **options)


class BayesianNetwork(Network):
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
        One a variable, in the same order; together their parents make no cycle.
    n_rows : int or float, optional
        The number of rows it was fitted on, or the sum of their weights.

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

    __slots__ = ("_dag", "_joint", "_product")

    def __init__(
        self, variables: Sequence[Column], conditionals: Sequence[Conditional], *, n_rows: float | None = None
    ) -> None:
        super().__init__(variables, conditionals, n_rows=n_rows)
        self._dag = Dag(self.names, [c.parents for c in conditionals])
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
        slopes = list(coefficients)
        if len(slopes) != d:
            raise SchemaError(f"{d} variables need {d} arrays of coefficients, got {len(slopes)}")
        variables: list[Any] = [Continuous(name) for name in dag.names]
        conditionals = [
            LinearGaussian(v, parents, [variables[p] for p in (*parents, v)], levels[v], slopes[v], spreads[v])
            for v, parents in enumerate(dag.parents)
        ]
        return cls(variables, conditionals)

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self._dag

    # -------------------------------------------------------------------------------------------- what it computes

    def log_prob(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the log-probability of each row.

        Parameters
        ----------
        table : Table or (n_rows, n_variables) array of codes

        Returns
        -------
        (n_rows,) float64
            In nats; -inf where the model deems a row impossible.

        Raises
        ------
        SchemaError, UnknownStateError
            When columns or labels do not fit.
        MissingValueError
            When a cell is missing.
        """
        rows = self.rows(table, complete_for="log_prob")
        native = self._core_form()
        if native is not None:
            return native.look_up(rows.native, self._log_tables, True)
        total = np.zeros(rows.n_rows)
        for conditional in self._conditionals:
            total += conditional.log_prob(rows)
        return total

    def sample(self, n: int, *, seed: Seed = None) -> Table:
        """Draw rows: every variable after its parents (P2, Algorithm 8).

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
        order = np.array(self._dag.order, dtype=np.int32)
        probabilities = [c.probabilities for c in self._conditionals]
        columns = native.sample(probabilities, order, count, stream_key(seed))
        return Table.adopt(self._variables, columns, n_rows=count)

    def _draw(self, n: int, seed: Seed) -> Table:
        """Draw rows by the conditionals' own functions, every variable after its parents."""
        noise = generator(seed).standard_normal((n, len(self._variables)))
        columns = [np.zeros(n, dtype=variable.dtype) for variable in self._variables]
        for v in self._dag.order:
            columns[v] = self._conditionals[v].draw(columns, noise[:, v])
        return Table.adopt(self._variables, columns, n_rows=n)

    def predict_proba(self, table: Any, target: str) -> npt.NDArray[np.float64]:
        """Return the probability of each state of one variable, given the other cells of each row.

        Parameters
        ----------
        table : Table or (n_rows, n_variables) array of codes
            All variables but the target must be there; the target's column is not looked at. Missing cells are summed
            out exactly.
        target : str
            The variable to predict.

        Returns
        -------
        (n_rows, r) float64
            Rows sum to 1.

        Raises
        ------
        ZeroProbabilityError
            When a row is impossible whatever the target's state.
        StateSpaceError
            When so much is missing that a table would be too large.
        """
        return predict_proba(self, table, target)

    def predict(self, table: Any, target: str) -> npt.NDArray[Any]:
        """Return the most probable state of one variable given the other cells of each row, or its conditional mean.

        Parameters
        ----------
        table : Table, data frame or array
            As for `predict_proba`; all other variables must be known where the target is continuous.
        target : str
            The variable to predict.

        Returns
        -------
        (n_rows,) array
            Labels; among equally probable ones the first. Numbers of a continuous variable.
        """
        variable = self._variables[positions(self._names, [target])[0]]
        if variable.is_continuous:
            return self.to_markov_network().predict(table, target)[:, 0]
        return np.asarray(variable.labels(self.predict_proba(table, target).argmax(axis=1)))

    def probabilities_given_rest(self, rows: Table, target: int) -> npt.NDArray[np.float64]:
        """Return the probabilities of the states of the variable at a position given all others, (n_rows, r).

        Parameters
        ----------
        rows : Table
            Of the network's variables, complete; what is in the target's column does not matter.
        target : int
        """
        values = self.flat.target_values(rows.native, self._log_tables, target)
        top = values.max(axis=1, keepdims=True, initial=-np.inf)
        if np.isneginf(top).any():
            row = int(np.argmax(np.isneginf(top)))
            name = self._names[target]
            raise ZeroProbabilityError(
                f"row {row} has probability 0 whatever the state of {name!r}; fit the network with smoothing above 0",
                variable=name,
                configuration={},
                parameter="smoothing",
            )
        weights: npt.NDArray[np.float64] = np.exp(values - top)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def intervened(self, codes: Mapping[int, int]) -> BayesianNetwork:
        """Return the network in which the variables at some positions have states, by code, and no parents."""
        conditionals = list(self._conditionals)
        for position, code in codes.items():
            variable = self._variables[position]
            certain = np.zeros((1, variable.cardinality))
            certain[0, code] = 1
            conditionals[position] = FullTable(position, (), (variable,), certain)
        return BayesianNetwork(self._variables, conditionals)

    def fisher_scores(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the derivatives of each row's log-probability by the free parameters (P1, Eq. 8).

        Returns
        -------
        (n_rows, n_parameters) float64
            The free parameters are theta_ijk with k below the last state, ordered by variable i, then group j, then
            state k; the last state's probability is what the others leave.

        Raises
        ------
        ZeroProbabilityError
            When a row has a state of probability zero.
        StateSpaceError
            When there would be more than 2**31 numbers.
        """
        rows = self.rows(table, complete_for="fisher_scores")
        cells = rows.n_rows * self.n_parameters
        if cells > MOST_SCORES:
            raise StateSpaceError("the scores", cells=cells, limit=MOST_SCORES, remedy="take the rows in parts")
        scores = np.zeros((rows.n_rows, self.n_parameters))
        first = 0
        for conditional in self._conditionals:
            last = first + conditional.n_parameters
            conditional.scores(rows, scores[:, first:last])
            first = last
        return scores

    def fisher_information(self) -> list[npt.NDArray[np.float64]]:
        """Return the Fisher information of one row, which is block-diagonal (P1, Eq. 9).

        Returns
        -------
        list of (groups, r - 1, r - 1) float64
            One array per variable; block j is ``P(group j) (diag(1 / theta_ijk) + 1 / theta_ijr)``. Of a continuous
            variable with m parents (m + 2, m + 2): the mean product of (1, parents) with itself over sd^2, and
            2 / sd^2.

        Raises
        ------
        ZeroProbabilityError
            When a group that occurs has a state of probability zero.
        StateSpaceError
            When the probabilities of a group need tables of more than 2**26 cells.
        """
        if self._continuous:
            mean, covariance = self._moments()
            parents = [list(c.parents) for c in self._conditionals]
            of_parents: list[Any] = [(mean[at], covariance[np.ix_(at, at)]) for at in parents]
        else:
            pairs = zip(self._conditionals, parent_marginals(self), strict=True)
            of_parents = [conditional.sum_by_group(p) for conditional, p in pairs]
        return [c.information(of) for c, of in zip(self._conditionals, of_parents, strict=True)]

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
        return joint_precision(self._conditionals)

    def to_markov_network(self) -> GaussianMarkovNetwork:
        """Return the distribution of continuous variables by its mean and precision, which also predicts numbers.

        Raises
        ------
        SchemaError
            When a variable is categorical.
        """
        return GaussianMarkovNetwork(self._names, self.mean, self.precision)

    def _moments(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        if self._joint is None:
            self._joint = joint_moments(self._conditionals, self._dag.order)
        return self._joint

    # ---------------------------------------------------------------------------------------------- for the core

    @property
    def factors(self) -> _core.Factors:
        """The conditionals as factors, which inference multiplies; made once."""
        if self._product is None:
            product = _core.Factors(np.array([v.cardinality for v in self._variables], dtype=np.int64))
            for axes, values in self.factor_tables():
                product.add(np.array(axes, dtype=np.int32), values.reshape(-1), True)
            self._product = product
        return self._product

    def factor_tables(self) -> tuple[Factor, ...]:
        """Return the positions of each conditional's parents and child, and its table."""
        return tuple(conditional.factor() for conditional in self._conditionals)

    @property
    def is_normalized(self) -> bool:
        """True: the conditionals' product sums to 1."""
        return True
