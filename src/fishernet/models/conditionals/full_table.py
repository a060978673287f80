"""A full conditional probability table: one row of probabilities for every configuration of the parents.

A conditional in which configurations of the parents share rows of probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import SchemaError
from fishernet.data import Table, Variable
from fishernet.models.conditionals.conditional import (
    Probabilities,
    check_cells,
    checked_probabilities,
    conditional_frame,
)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class FullTable:
    """P(child given its parents), one row a configuration.

    Parameters
    ----------
    child : int
        Position of the child.
    parents : sequence of int
        Positions of the parents; the last one's state changes fastest along the rows.
    variables : sequence of Variable
        The parents' variables in that order, then the child's.
    probabilities : (q, r) array
        q configurations of the parents, r states of the child; rows sum to 1.
    tolerance : float
        How far a row's sum may be from 1; beyond 1e-9 it is divided by its sum.

    Raises
    ------
    SchemaError
        When the shape does not fit or the numbers are no probabilities.
    StateSpaceError
        When there are more than 2**28 cells.
    """

    child: int
    parents: tuple[int, ...]
    variables: tuple[Variable, ...]
    probabilities: Probabilities

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Variable],
        probabilities: npt.ArrayLike,
        *,
        tolerance: float = 1e-9,
    ) -> None:
        name = variables[-1].name
        states = variables[-1].cardinality
        configurations = check_cells(variables, f"the conditional of {name!r}") // states
        table = checked_probabilities(probabilities, f"the conditional of {name!r}", tolerance=tolerance)
        if table.shape != (configurations, states):
            raise SchemaError(
                f"the conditional of {name!r} has {table.shape} probabilities; {configurations} configurations of its "
                f"parents and {states} states need ({configurations}, {states})"
            )
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", tuple(parents))
        object.__setattr__(self, "variables", tuple(variables))
        object.__setattr__(self, "probabilities", table)

    def __reduce__(self) -> tuple[object, ...]:
        return FullTable, (self.child, self.parents, self.variables, self.probabilities)

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(variable.cardinality for variable in self.variables)

    def groups(self, table: Table) -> npt.NDArray[np.int64]:
        """Return the configuration of the parents in each row, (n_rows,) int64."""
        codes = tuple(table.codes[p].astype(np.int64) for p in self.parents)
        if not codes:
            return np.zeros(table.n_rows, dtype=np.int64)
        table.select([variable.name for variable in self.variables[:-1]]).require_complete("a conditional")
        return np.ravel_multi_index(codes, self._shape[:-1]).astype(np.int64)

    def contexts(self, group: int) -> tuple[Mapping[int, tuple[int, ...]], ...]:
        """Return the one configuration that the group is."""
        if not self.parents:
            return ({},)
        states = np.unravel_index(group, self._shape[:-1])
        return ({parent: (int(state),) for parent, state in zip(self.parents, states, strict=True)},)

    def table(self) -> Probabilities:
        """Return the probabilities, one axis a parent and the child's last."""
        return self.probabilities.reshape(self._shape)

    def flat(self) -> tuple[npt.NDArray[np.int32], None]:
        """Return the parents; groups are configurations, so there is no map."""
        return np.array(self.parents, dtype=np.int32), None

    def to_frame(self) -> pa.Table:
        """Return the table with labels: one row a cell, columns are the parents, the child and its probability."""
        return conditional_frame(self)

    def __repr__(self) -> str:
        given = ", ".join(variable.name for variable in self.variables[:-1])
        return f"P({self.variables[-1].name}{' | ' if given else ''}{given})"


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class MergedTable:
    """P(child given its parents), one row a group of configurations.

    Parameters
    ----------
    child : int
        Position of the child.
    parents : sequence of int
        Positions of the parents, in the order of the axes of `group_of`.
    variables : sequence of Variable
        The parents' variables in that order, then the child's.
    group_of : array of int, one axis a parent
        The group of every configuration.
    probabilities : (groups, r) array
        One row a group; rows sum to 1.

    Raises
    ------
    SchemaError
        When a shape does not fit, a group is never used or the numbers are no probabilities.
    """

    child: int
    parents: tuple[int, ...]
    variables: tuple[Variable, ...]
    probabilities: Probabilities
    group_of: npt.NDArray[np.int32]

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Variable],
        group_of: npt.ArrayLike,
        probabilities: npt.ArrayLike,
    ) -> None:
        what = f"the conditional of {variables[-1].name!r}"
        check_cells(variables[:-1], what)
        shape = tuple(variable.cardinality for variable in variables[:-1])
        groups = np.array(group_of, dtype=np.int32)
        table = checked_probabilities(probabilities, what)
        if groups.shape != shape:
            raise SchemaError(f"{what}: group_of has shape {groups.shape}; the parents' states need {shape}")
        if table.shape[1] != variables[-1].cardinality:
            raise SchemaError(f"{what}: {table.shape[1]} columns for {variables[-1].cardinality} states")
        if not np.array_equal(np.unique(groups), np.arange(table.shape[0])):
            raise SchemaError(f"{what}: group_of must use each of the groups 0 to {table.shape[0] - 1}, and no other")
        groups.flags.writeable = False
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", tuple(parents))
        object.__setattr__(self, "variables", tuple(variables))
        object.__setattr__(self, "group_of", groups)
        object.__setattr__(self, "probabilities", table)

    def __reduce__(self) -> tuple[object, ...]:
        return MergedTable, (self.child, self.parents, self.variables, self.group_of, self.probabilities)

    def groups(self, table: Table) -> npt.NDArray[np.int64]:
        """Return the group of each row, (n_rows,) int64."""
        if not self.parents:
            return np.zeros(table.n_rows, dtype=np.int64)
        table.select([variable.name for variable in self.variables[:-1]]).require_complete("a conditional")
        return self.group_of[tuple(table.codes[p] for p in self.parents)].astype(np.int64)

    def contexts(self, group: int) -> tuple[Mapping[int, tuple[int, ...]], ...]:
        """Return the configurations of the group, a box each."""
        return tuple(
            {parent: (int(state),) for parent, state in zip(self.parents, states, strict=True)}
            for states in np.argwhere(self.group_of == group)
        )

    def table(self) -> Probabilities:
        """Return the probabilities, one axis a parent and the child's last."""
        check_cells(self.variables, f"the conditional of {self.variables[-1].name!r}")
        return self.probabilities[self.group_of]

    def flat(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return the parents and the map configuration -> group, the last parent fastest."""
        return np.array(self.parents, dtype=np.int32), self.group_of.ravel()

    def to_frame(self) -> pa.Table:
        """Return all cells with labels: columns are the parents, the child and its probability."""
        return conditional_frame(self)

    def __repr__(self) -> str:
        given = ", ".join(variable.name for variable in self.variables[:-1])
        return f"P({self.variables[-1].name}{' | ' if given else ''}{given}; {len(self.probabilities)} groups)"
