"""The conditional of a child given its parents: the protocol on which every model stands.

A conditional maps each configuration of the parents to a *group* and each group to a row of probabilities. In a full
table the group is the configuration itself; a merged table or a tree shares rows. `contexts` says which configurations
a group holds, as disjoint boxes, so that P(group) is a sum of marginals and nobody enumerates configurations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.data import Table, Variable

MOST_CELLS = 2**28
ROUNDING = 1e-9  # how far a row of probabilities may be from 1

Probabilities = npt.NDArray[np.float64]


@runtime_checkable
class Conditional(Protocol):
    """P(child given its parents).

    Attributes
    ----------
    child : int
        Position of the child.
    parents : tuple of int
        Positions of the parents, in the order of the axes.
    variables : tuple of Variable
        The parents' variables, then the child's.
    probabilities : (groups, states) float64, read-only
        Each row sums to 1.
    """

    @property
    def child(self) -> int:
        """Position of the child."""
        ...

    @property
    def parents(self) -> tuple[int, ...]:
        """Positions of the parents."""
        ...

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The parents' variables, then the child's."""
        ...

    @property
    def probabilities(self) -> Probabilities:
        """One row a group."""
        ...

    def groups(self, table: Table) -> npt.NDArray[np.int64]:
        """Return the group of each row of a table that has the model's variables, (n_rows,) int64."""
        ...

    def contexts(self, group: int) -> tuple[Mapping[int, tuple[int, ...]], ...]:
        """Return disjoint boxes {parent: states} whose union is the group; a parent not named has any state."""
        ...

    def table(self) -> Probabilities:
        """Return the probabilities with one axis a parent and the child's last.

        Raises
        ------
        StateSpaceError
            When they have more than 2**28 cells.
        """
        ...

    def to_frame(self) -> pa.Table:
        """Return the probabilities with labels, one row a cell, as a pyarrow Table."""
        ...

    def flat(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32] | None]:
        """Return what the core runs: the parents, and the map configuration -> group or None."""
        ...


def checked_probabilities(values: npt.ArrayLike, what: str, *, tolerance: float = ROUNDING) -> Probabilities:
    """Return probabilities as a read-only (groups, states) array whose rows sum to 1.

    Parameters
    ----------
    values : (groups, states) array
    what : str
        Whose they are, for messages.
    tolerance : float
        How far a row's sum may be from 1; rows beyond 1e-9 are divided by their sum.

    Raises
    ------
    SchemaError
        When one is not finite or negative, or a row does not sum to 1.
    """
    table = np.array(values, dtype=np.float64, order="C")
    if table.ndim != 2 or table.shape[1] == 0:
        raise SchemaError(f"{what}: probabilities must be (groups, states), got shape {table.shape}")
    if not np.isfinite(table).all():
        raise SchemaError(f"{what}: a probability is not a finite number ({_first(table, ~np.isfinite(table))})")
    if (table < 0).any():
        raise SchemaError(f"{what}: a probability is negative ({_first(table, table < 0)})")
    with np.errstate(over="ignore"):  # a sum beyond all numbers is not 1 either
        sums = table.sum(axis=1)
    off = np.abs(sums - 1)
    if (off > tolerance).any():
        row = int(np.argmax(off))
        raise SchemaError(f"{what}: row {row} sums to {sums[row]:.12g}, not to 1")
    rounded = off > ROUNDING
    table[rounded] /= sums[rounded, None]
    table.flags.writeable = False
    return table


def _first(table: Probabilities, wrong: npt.NDArray[np.bool_]) -> str:
    row, state = np.argwhere(wrong)[0]
    return f"{table[row, state]} in row {row}, state {state}"


def check_cells(variables: Sequence[Variable], what: str, limit: int = MOST_CELLS) -> int:
    """Return the number of cells of a table over variables.

    Raises
    ------
    StateSpaceError
        When there are more than the limit.
    """
    cells = math.prod(variable.cardinality for variable in variables)
    if cells > limit:
        raise StateSpaceError(what, cells=cells, limit=limit, remedy="give the variable fewer parents or merge states")
    return cells


def describe_group(conditional: Conditional, group: int) -> dict[str, Any]:
    """Return the states of the parents in the first configuration of a group, by name."""
    box = conditional.contexts(group)[0]
    variables = dict(zip(conditional.parents, conditional.variables, strict=False))
    return {variables[p].name: variables[p].states[box[p][0]] for p in conditional.parents if p in box}


def conditional_frame(conditional: Conditional) -> pa.Table:
    """Return a conditional with labels: one row a cell, columns are the parents, the child and its probability."""
    values = conditional.table()
    columns: dict[str, Any] = {}
    for axis, variable in enumerate(conditional.variables):
        shape = [1] * values.ndim
        shape[axis] = variable.cardinality
        codes = np.broadcast_to(np.arange(variable.cardinality).reshape(shape), values.shape).ravel()
        columns[variable.name] = pa.array([variable.states[code] for code in codes])
    name = "probability"
    while name in columns:
        name += "_"
    columns[name] = pa.array(values.ravel())
    return pa.table(columns)
