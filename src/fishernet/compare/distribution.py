"""Distributions as the divergences see them: the states that occur, and how probable each is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError, StateSpaceError
from fishernet.models import BayesianNetwork, DependencyNetwork
from fishernet.table import Table, Variable
from fishernet.table.variable import listed

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

MOST_CELLS = 2**26


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution by the states to which it gives a positive probability."""

    shape: tuple[int, ...]
    """The number of states of each variable."""
    codes: Codes
    """(n_states, n_variables) the states that occur, each once."""
    probabilities: Array
    """(n_states,) positive, summing to 1."""

    @classmethod
    def of(cls, p: Any, variables: Sequence[Variable] | None = None) -> Distribution:
        """Take an array with one axis a variable, the rows of a table, or a Bayesian network.

        Parameters
        ----------
        p : array, Table or BayesianNetwork
        variables : sequence of Variable, optional
            Tables and networks are brought into this order, with these states; an array has it already.

        Raises
        ------
        SchemaError
            When it is none of these, no distribution, or over other variables.
        StateSpaceError
            When the joint distribution of a model would have more than 2**26 cells.
        """
        if isinstance(p, Table):
            return cls._of_table(p if variables is None else p.conform(variables))
        if isinstance(p, BayesianNetwork):
            return cls._of_array(joint_array(p) if variables is None else _rearranged(p, variables))
        if isinstance(p, DependencyNetwork):
            raise SchemaError(
                "a dependency network has no joint distribution in closed form; pass fn.infer.stationary(dn)"
            )
        return cls._of_array(checked_array(p))

    @classmethod
    def _of_array(cls, p: Array) -> Distribution:
        where = np.nonzero(p)
        codes = np.stack(where, axis=1) if p.ndim else np.zeros((1, 0))
        return cls(p.shape, codes.astype(np.int64), p[where] if p.ndim else np.ones(1))

    @classmethod
    def _of_table(cls, table: Table) -> Distribution:
        table.require_complete("a divergence")
        codes = np.stack([column.astype(np.int64) for column in table.codes], axis=1)
        weights = np.ones(table.n_rows) if table.weights is None else table.weights.astype(np.float64)
        occurs = weights > 0
        if not occurs.any():
            raise SchemaError("the table has no row of positive weight, so it is no distribution")
        kind, first = numbered(codes[occurs], table.cardinalities)
        sums = np.bincount(kind, weights=weights[occurs])
        return cls(table.cardinalities, codes[occurs][first], sums / sums.sum())

    def table(self, variables: Any) -> Table:
        """Return the states that occur as a table of a model's variables."""
        if self.shape != tuple(variable.cardinality for variable in variables):
            raise SchemaError(
                f"the distribution is over {self.shape} states, the model over "
                f"{tuple(variable.cardinality for variable in variables)}"
            )
        return Table.from_codes(self.codes, variables)

    def log_conditional(self, variable: int) -> Array:
        """Return log p(x_i | x_-i) at each state that occurs, (n_states,)."""
        rest = np.delete(self.codes, variable, axis=1)
        kind, _ = numbered(rest, [r for v, r in enumerate(self.shape) if v != variable])
        return np.log(self.probabilities) - np.log(np.bincount(kind, weights=self.probabilities))[kind]


def common_variables(p: Any, q: Any) -> Sequence[Variable] | None:
    """Return the variables to whose order two distributions are brought: the second's, or else the first's."""
    for one in (q, p):
        if isinstance(one, Table | BayesianNetwork | DependencyNetwork):
            return one.variables
    return None


def _rearranged(model: BayesianNetwork, variables: Sequence[Variable]) -> Array:
    """Return a model's joint probabilities with its axes and states in another order."""
    names = [variable.name for variable in variables]
    if sorted(names) != sorted(model.names):
        raise SchemaError(f"the distributions are over {listed(model.names)} and over {listed(names)}")
    joint = joint_array(model).transpose([model.names.index(name) for name in names])
    for axis, variable in enumerate(variables):
        own = model.variables[model.names.index(variable.name)]
        codes = [own.code(state) for state in variable.states]
        if own.cardinality != variable.cardinality or None in codes:
            raise SchemaError(f"the distributions give {variable.name!r} different states")
        joint = joint.take([code for code in codes if code is not None], axis=axis)
    return joint


def checked_array(p: Any) -> Array:
    """Return an array of probabilities.

    Raises
    ------
    SchemaError
        When it is none, or does not sum to 1 within 1e-9.
    """
    try:
        array = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError(
            f"a distribution is an array with one axis a variable, a Table or a BayesianNetwork, not {type(p).__name__}"
        ) from None
    if not np.isfinite(array).all() or (array < 0).any() or abs(array.sum() - 1) > 1e-9:
        raise SchemaError(f"an array of probabilities must be non-negative and sum to 1; its sum is {array.sum():.12g}")
    return array


def joint_array(model: BayesianNetwork) -> Array:
    """Return the joint probabilities of all states of a model, one axis a variable.

    Raises
    ------
    StateSpaceError
        When there are more than 2**26.
    """
    shape = tuple(variable.cardinality for variable in model.variables)
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        raise StateSpaceError(
            "the joint distribution", cells=cells, limit=MOST_CELLS, remedy="compare on a table of samples"
        )
    joint = np.ones(shape)
    for conditional in model.conditionals:
        axes = (*conditional.parents, conditional.child)
        order = sorted(axes)
        sizes = [r if v in axes else 1 for v, r in enumerate(shape)]
        joint *= conditional.table().transpose([axes.index(v) for v in order]).reshape(sizes)
    return joint


def numbered(codes: Codes, cardinalities: Any) -> tuple[Codes, Codes]:
    """Return a number for each row, equal rows having equal ones, and the first row of each number."""
    keys = np.zeros(len(codes), dtype=np.int64)
    room = 1.0
    for column, r in zip(codes.T, cardinalities, strict=True):
        if room * r >= 2**62:  # before the keys overflow, they are replaced by their ranks
            keys = np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)
            room = float(len(codes))
        keys = keys * r + column
        room *= r
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    return kind.ravel().astype(np.int64), first.astype(np.int64)
