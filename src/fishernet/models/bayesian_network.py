"""A Bayesian network: a directed acyclic graph and one conditional a variable (P1, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import SchemaError, ZeroProbabilityError
from fishernet.graphs import Dag
from fishernet.models.conditional import Conditional, Probabilities
from fishernet.models.describe import describe_network
from fishernet.models.factors import conditional_factors, parent_marginals, sum_by_group
from fishernet.models.fisher import information_blocks, scores_of_rows
from fishernet.models.full_table import FullTable
from fishernet.models.incoming import as_model_table, without_target
from fishernet.random import Seed, stream_key
from fishernet.table import Table, Variable
from fishernet.table.variable import check_names, listed, positions

MOST_ROWS = 2**40


class BayesianNetwork:
    """A Bayesian network over categorical variables; immutable.

    Made by `fishernet.learn.bayesian_network`, `fishernet.learn.parameters`, `BayesianNetwork.from_tables`,
    `fishernet.read_bif` and `fishernet.load`. Tables are matched to it by column names and state labels; integer
    arrays are codes of its variables in its order.

    Parameters
    ----------
    variables : sequence of Variable
        Names are unique.
    conditionals : sequence of Conditional
        One a variable, in the same order; together their parents make no cycle.
    n_rows : int, optional
        The number of rows it was fitted on.

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

    __slots__ = ("__weakref__", "_conditionals", "_dag", "_logs", "_n_rows", "_native", "_product", "_variables")

    def __init__(
        self, variables: Sequence[Variable], conditionals: Sequence[Conditional], *, n_rows: int | None = None
    ) -> None:
        check_names([variable.name for variable in variables])
        if len(conditionals) != len(variables):
            raise SchemaError(f"{len(variables)} variables need as many conditionals, got {len(conditionals)}")
        for position, conditional in enumerate(conditionals):
            wanted = tuple(variables[v] for v in (*conditional.parents, position))
            if conditional.child != position or conditional.variables != wanted:
                raise SchemaError(
                    f"conditional {position} ({conditional!r}) is not one of {variables[position].name!r}"
                )
        if n_rows is not None and (isinstance(n_rows, bool) or not isinstance(n_rows, int | np.integer) or n_rows < 0):
            raise SchemaError(f"n_rows must be a non-negative integer or None, got {n_rows!r}")
        self._variables = tuple(variables)
        self._conditionals = tuple(conditionals)
        self._dag = Dag([variable.name for variable in variables], [c.parents for c in conditionals])
        self._n_rows = None if n_rows is None else int(n_rows)
        self._native: _core.Conditionals | None = None
        self._product: _core.Factors | None = None
        self._logs: list[Probabilities] | None = None

    @classmethod
    def from_tables(
        cls,
        variables: Sequence[Variable],
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
        names = [variable.name for variable in variables]
        where = {name: position for position, name in enumerate(names)}
        of_names: dict[str, tuple[str, ...]] = {}
        for name, of in parents.items():
            if isinstance(of, str):
                raise SchemaError(f"the parents of {name!r} must be a sequence of names, not one str ({of!r})")
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
                    f"the table of {variable.name!r} has shape {table.shape}; its parents and its states need {shape}"
                )
            rows = table.reshape(-1, shape[-1])
            family_variables = [variables[v] for v in (*family, child)]
            conditionals.append(FullTable(child, family, family_variables, rows, tolerance=tolerance))
        return cls(variables, conditionals)

    # ------------------------------------------------------------------------------------------------ what it holds

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the conditionals."""
        return self._variables

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return self._dag.names

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self._dag

    @property
    def conditionals(self) -> tuple[Conditional, ...]:
        """One a variable."""
        return self._conditionals

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: ``groups (r - 1)``, summed over the variables."""
        return sum(c.probabilities.shape[0] * (c.probabilities.shape[1] - 1) for c in self._conditionals)

    @property
    def n_rows(self) -> int | None:
        """The number of rows it was fitted on; None when it was built from tables."""
        return self._n_rows

    def conditional(self, name: str) -> Conditional:
        """Return the conditional of one variable."""
        return self._conditionals[positions(self.names, [name])[0]]

    def __repr__(self) -> str:
        arcs = self._dag.n_edges
        fitted = "" if self._n_rows is None else f", fitted on {self._n_rows:,} rows"
        return (
            f"BayesianNetwork({len(self._variables)} variables, {arcs} arc{'' if arcs == 1 else 's'}, "
            f"{self.n_parameters:,} parameters{fitted})"
        )

    def __str__(self) -> str:
        return describe_network(repr(self), self._variables, self._conditionals)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return (
            (self._variables, self._dag, self._n_rows) == (other._variables, other._dag, other._n_rows)
            and [c.parents for c in self._conditionals] == [c.parents for c in other._conditionals]
            and all(
                np.array_equal(a.probabilities, b.probabilities) and _same_groups(a, b)
                for a, b in zip(self._conditionals, other._conditionals, strict=True)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self._variables, self._conditionals, self._n_rows)

    # -------------------------------------------------------------------------------------------- what it computes

    def log_prob(self, table: Table | npt.ArrayLike) -> npt.NDArray[np.float64]:
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
        rows = as_model_table(table, self._variables, complete_for="log_prob")
        return self.flat.look_up(rows.native, self._log_tables, True)

    def log_prob_terms(self, table: Table | npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the log-probability of each cell given its parents; a low term tells why a row is odd.

        Returns
        -------
        (n_rows, n_variables) float64
            In nats; the sum over a row is its `log_prob`.
        """
        rows = as_model_table(table, self._variables, complete_for="log_prob_terms")
        return self.flat.look_up(rows.native, self._log_tables, False)

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
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 0 <= n <= MOST_ROWS:
            raise SchemaError(f"the number of rows must be an integer from 0 to 2**40, got {n!r}")
        order = np.array(self._dag.order, dtype=np.int32)
        probabilities = [c.probabilities for c in self._conditionals]
        columns = self.flat.sample(probabilities, order, int(n), stream_key(seed))
        return Table(self._variables, columns, n_rows=int(n))

    def predict_proba(self, table: Table | npt.ArrayLike, target: str) -> npt.NDArray[np.float64]:
        """Return the probability of each state of one variable, given all the others.

        Parameters
        ----------
        table : Table or (n_rows, n_variables) array of codes
            All variables but the target must be there; the target's column is not looked at.
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
        MissingValueError
            When another cell is missing.
        """
        position = positions(self.names, [target])[0]
        rows = without_target(table, self._variables, position)
        rows.require_complete("predict_proba")
        values = self.flat.target_values(rows.native, self._log_tables, position)
        top = values.max(axis=1, keepdims=True, initial=-np.inf)
        if np.isneginf(top).any():
            row = int(np.argmax(np.isneginf(top)))
            raise ZeroProbabilityError(
                f"row {row} has probability 0 whatever the state of {target!r}; fit the network with smoothing > 0",
                variable=target,
                configuration={},
            )
        weights: npt.NDArray[np.float64] = np.exp(values - top)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def fisher_scores(self, table: Table | npt.ArrayLike) -> npt.NDArray[np.float64]:
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
        rows = as_model_table(table, self._variables, complete_for="fisher_scores")
        return scores_of_rows(self._conditionals, rows, self.n_parameters)

    def fisher_information(self) -> list[npt.NDArray[np.float64]]:
        """Return the Fisher information of one row, which is block-diagonal (P1, Eq. 9).

        Returns
        -------
        list of (groups, r - 1, r - 1) float64
            One array a variable; block j is ``P(group j) (diag(1 / theta_ijk) + 1 / theta_ijr)``.

        Raises
        ------
        ZeroProbabilityError
            When a group that occurs has a state of probability zero.
        StateSpaceError
            When the probabilities of a group need tables of more than 2**26 cells.
        """
        of_parents = parent_marginals(self.factors, [variable.cardinality for variable in self._variables])
        of_groups = [sum_by_group(c, p) for c, p in zip(self._conditionals, of_parents, strict=True)]
        return information_blocks(self._conditionals, of_groups)

    # ---------------------------------------------------------------------------------------------- for the core

    @property
    def flat(self) -> _core.Conditionals:
        """The conditionals as the core looks them up; made once."""
        if self._native is None:
            native = _core.Conditionals(np.array([v.cardinality for v in self._variables], dtype=np.int64))
            for conditional in self._conditionals:
                parents, groups = conditional.flat()
                native.add(conditional.child, parents, conditional.probabilities.shape[0], groups)
            self._native = native
        return self._native

    @property
    def factors(self) -> _core.Factors:
        """The conditionals as factors, which inference multiplies; made once."""
        if self._product is None:
            self._product = conditional_factors(self._variables, self._conditionals)
        return self._product

    @property
    def _log_tables(self) -> list[Probabilities]:
        if self._logs is None:
            with np.errstate(divide="ignore"):  # log 0 = -inf is what is meant
                self._logs = [np.log(c.probabilities) for c in self._conditionals]
        return self._logs


def _same_groups(a: Conditional, b: Conditional) -> bool:
    first, second = a.flat()[1], b.flat()[1]
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def _rebuilt(
    variables: tuple[Variable, ...], conditionals: tuple[Conditional, ...], n_rows: int | None
) -> BayesianNetwork:
    return BayesianNetwork(variables, conditionals, n_rows=n_rows)
