"""A full conditional probability table: one row of probabilities for every configuration of the parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.errors import SchemaError
from fishernet.models.conditionals.conditional import (
    Probabilities,
    check_cells,
    checked_probabilities,
    conditional_frame,
)
from fishernet.table import Table, Variable


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
