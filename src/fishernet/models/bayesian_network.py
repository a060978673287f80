"""A Bayesian network: a directed acyclic graph and one conditional a variable (P1, section 3).

Fisher scores and the Fisher information of a Bayesian network (P1, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.base.names import positions
from fishernet.base.random import Seed, stream_key
from fishernet.data import Table, Variable, as_table
from fishernet.graphs import Dag
from fishernet.models.conditionals.conditional import Conditional, Probabilities, describe_group
from fishernet.models.factors import conditional_factors, parent_marginals, sum_by_group
from fishernet.models.network import Network, conditionals_from_tables, without_target

MOST_SCORES = 2**31


def scores_of_rows(conditionals: Sequence[Conditional], table: Table, n_parameters: int) -> npt.NDArray[np.float64]:
    """Return the scores of every row, (n_rows, n_parameters); see `BayesianNetwork.fisher_scores`."""
    cells = table.n_rows * n_parameters
    if cells > MOST_SCORES:
        raise StateSpaceError("the scores", cells=cells, limit=MOST_SCORES, remedy="take the rows in parts")
    scores = np.zeros((table.n_rows, n_parameters))
    first = 0
    for conditional in conditionals:
        groups, states = conditional.probabilities.shape
        width = groups * (states - 1)
        fill_scores(conditional, table, scores[:, first : first + width].reshape(table.n_rows, groups, states - 1))
        first += width
    return scores


def fill_scores(conditional: Conditional, table: Table, out: npt.NDArray[np.float64]) -> None:
    """Fill the scores of one conditional, (n_rows, groups, r - 1): Eq. 8, which has one or r - 1 entries a row."""
    group = conditional.groups(table)
    state = table.codes[conditional.child].astype(np.int64)
    theta = conditional.probabilities[group, state]
    if (theta == 0).any():
        row = int(np.argmax(theta == 0))
        raise zero_probability(conditional, int(group[row]), int(state[row]), f"row {row} has")
    last = state == conditional.probabilities.shape[1] - 1
    rows = np.arange(table.n_rows)
    out[rows[~last], group[~last], state[~last]] = 1 / theta[~last]
    out[rows[last], group[last]] = -1 / theta[last, None]


def zero_probability(conditional: Conditional, group: int, state: int, who: str) -> ZeroProbabilityError:
    """Return the error for a state of probability zero in a group."""
    child = conditional.variables[-1]
    configuration = describe_group(conditional, group)
    given = ", ".join(f"{name} = {label!r}" for name, label in configuration.items())
    return ZeroProbabilityError(
        f"{who} {child.name} = {child.states[state]!r}{' given ' if given else ''}{given}, which has probability 0; "
        "fit the network with smoothing above 0",
        variable=child.name,
        configuration=configuration,
        state=child.states[state],
        parameter="smoothing",
    )


def information_blocks(
    conditionals: Sequence[Conditional], group_probabilities: Sequence[Probabilities]
) -> list[npt.NDArray[np.float64]]:
    """Return the blocks of the information, one (groups, r - 1, r - 1) array a variable (Eq. 9)."""
    blocks: list[npt.NDArray[np.float64]] = []
    for conditional, p in zip(conditionals, group_probabilities, strict=True):
        theta = conditional.probabilities
        zero: npt.NDArray[Any] = np.argwhere((theta == 0) & (p[:, None] > 0))
        if len(zero):
            raise zero_probability(
                conditional, int(zero[0, 0]), int(zero[0, 1]), "the information divides by the probability of"
            )
        safe = np.where(theta > 0, theta, 1.0)  # of groups that never occur: their blocks are zero anyway
        diagonal = np.eye(theta.shape[1] - 1) / safe[:, :-1, None]
        blocks.append(p[:, None, None] * (diagonal + 1 / safe[:, -1, None, None]))
    return blocks


MOST_ROWS = 2**40


class BayesianNetwork(Network):
    """A Bayesian network over categorical variables; immutable.

    Made by `fishernet.learn.bayesian_network`, `fishernet.learn.fit`, `BayesianNetwork.from_tables`,
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

    __slots__ = ("_dag", "_product")

    def __init__(
        self, variables: Sequence[Variable], conditionals: Sequence[Conditional], *, n_rows: int | None = None
    ) -> None:
        super().__init__(variables, conditionals, n_rows=n_rows)
        self._dag = Dag(self.names, [c.parents for c in conditionals])
        self._product: _core.Factors | None = None

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
        return cls(
            variables, conditionals_from_tables(variables, parents, tables, tolerance=tolerance, called="parents")
        )

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self._dag

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
        rows = as_table(table, self._variables, complete_for="log_prob")
        return self.flat.look_up(rows.native, self._log_tables, True)

    def log_prob_terms(self, table: Table | npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the log-probability of each cell given its parents; a low term tells why a row is odd.

        Returns
        -------
        (n_rows, n_variables) float64
            In nats; the sum over a row is its `log_prob`.
        """
        rows = as_table(table, self._variables, complete_for="log_prob_terms")
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
        return Table.adopt(self._variables, columns, n_rows=int(n))

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
                f"row {row} has probability 0 whatever the state of {target!r}; fit the network with smoothing above 0",
                variable=target,
                configuration={},
                parameter="smoothing",
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
        rows = as_table(table, self._variables, complete_for="fisher_scores")
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
    def factors(self) -> _core.Factors:
        """The conditionals as factors, which inference multiplies; made once."""
        if self._product is None:
            self._product = conditional_factors(self._variables, self._conditionals)
        return self._product
