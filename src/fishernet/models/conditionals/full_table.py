"""Tables of probabilities: a row for every configuration of the parents, or for every group of configurations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.base.fields import Fields, shown
from fishernet.base.names import several
from fishernet.data import Statistic, Variable
from fishernet.data.arrays import as_integers
from fishernet.data.variable import Column
from fishernet.models.conditionals.base import (
    Grouped,
    Probabilities,
    check_cells,
    read_probabilities,
    shown_states,
)

Cells = npt.NDArray[np.float64]

JEFFREYS = 0.5  # of a row in each cell: intervals of drawn tables then cover rare states, too


class FullTable(Grouped):
    """P(child given its parents), one row per configuration.

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

    __slots__ = ("probabilities",)

    probabilities: Probabilities

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Column],
        probabilities: npt.ArrayLike,
        *,
        tolerance: float = 1e-9,
    ) -> None:
        super().__init__(child, parents, variables, probabilities, tolerance)
        configurations = math.prod([variable.cardinality for variable in self.variables[:-1]])
        if len(self.probabilities) != configurations:
            raise SchemaError(
                f"the conditional of {self.name!r} has {self.probabilities.shape} probabilities, and its parents "
                f"{configurations} configurations; each needs a row"
            )

    @classmethod
    def fit(
        cls,
        statistic: Statistic,
        family: Sequence[int],
        variables: Sequence[Variable],
        *,
        smoothing: float | str = 1.0,
        ess: float | None = None,
        positions: Sequence[int] | None = None,
        random: np.random.Generator | None = None,
    ) -> Self:
        """Fit a table to counts.

        Parameters
        ----------
        statistic : Statistic
            Of the family.
        family : sequence of int
            Positions of the parents and then the child in the source.
        variables : sequence of Variable
            Theirs.
        smoothing, ess
            As for `fishernet.learn.parameters`.
        positions : sequence of int, optional
            The family's positions in the network, where they are others.
        random : numpy.random.Generator, optional
            Draws the table from its posterior distribution under Jeffreys' prior, which has half a row in each cell;
            smoothing and ess are not asked then.

        Raises
        ------
        MissingValueError
            When a row was left out.
        ZeroProbabilityError
            When nothing is added and a configuration of the parents never occurs.
        """
        if statistic.left_out:
            whose = f"the conditional of {variables[-1].name!r}"
            statistic.require_complete(dict(zip(family, variables, strict=True)), whose)
        counts = statistic.counts if statistic.states is None else statistic.table()
        axes = [statistic.variables.index(v) for v in family]
        cells = counts.transpose(axes).reshape(-1, variables[-1].cardinality).astype(np.float64, order="C")
        *parents, child = family if positions is None else positions
        weights = cell_weights(cells, smoothing, ess) if random is None else random.standard_gamma(cells + JEFFREYS)
        table = np.ascontiguousarray(normalized(weights, variables))
        table.flags.writeable = False
        made = cls.__new__(cls)  # what was just made of counts needs no check
        made._set(child=child, parents=tuple(parents), variables=tuple(variables), probabilities=table)
        return made

    def to_fields(self) -> dict[str, object]:
        """Return the rows of probabilities."""
        return {"probabilities": self.probabilities.tolist()}

    @classmethod
    def from_fields(cls, fields: Fields, child: int, parents: Sequence[int], variables: Sequence[Variable]) -> Self:
        """Return the table of which a file holds these fields."""
        return cls(child, parents, variables, read_probabilities(fields, variables[-1].cardinality))

    def _arguments(self) -> tuple[Any, ...]:
        return (self.probabilities,)


class MergedTable(Grouped):
    """P(child given its parents), one row per group of configurations.

    Parameters
    ----------
    child : int
        Position of the child.
    parents : sequence of int
        Positions of the parents, in the order of the axes of `group_of`.
    variables : sequence of Variable
        The parents' variables in that order, then the child's.
    group_of : array of int, one axis per parent
        The group of every configuration.
    probabilities : (groups, r) array
        One row per group; rows sum to 1.

    Raises
    ------
    SchemaError
        When a shape does not fit, a group is never used or the numbers are no probabilities.
    """

    __slots__ = ("group_of", "probabilities")

    probabilities: Probabilities
    group_of: npt.NDArray[np.int32]

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Column],
        group_of: npt.ArrayLike,
        probabilities: npt.ArrayLike,
    ) -> None:
        super().__init__(child, parents, variables, probabilities)
        what, table = f"the conditional of {self.name!r}", self.probabilities
        check_cells(self.variables[:-1], what)
        shape = self._shape[:-1]
        groups = as_integers(group_of, "group_of").astype(np.int32)
        if groups.shape != shape:
            raise SchemaError(f"{what}: group_of has shape {groups.shape}; the parents' states need {shape}")
        if not np.array_equal(np.unique(groups), np.arange(table.shape[0])):
            raise SchemaError(f"{what}: group_of must use each of the groups 0 to {table.shape[0] - 1}, and no other")
        groups.flags.writeable = False
        self._set(group_of=groups)

    def group_map(self) -> npt.NDArray[np.int32]:
        """Return the group of each configuration, the last parent fastest."""
        return self.group_of.ravel()

    def contexts(self, group: int) -> tuple[Mapping[int, tuple[int, ...]], ...]:
        """Return the configurations of the group, a box each."""
        return tuple(
            {parent: (int(state),) for parent, state in zip(self.parents, states, strict=True)}
            for states in np.argwhere(self.group_of == group)
        )

    def to_fields(self) -> dict[str, object]:
        """Return the group of each configuration, and the rows of probabilities."""
        return {"group_of": self.group_map().tolist(), "probabilities": self.probabilities.tolist()}

    @classmethod
    def from_fields(cls, fields: Fields, child: int, parents: Sequence[int], variables: Sequence[Variable]) -> Self:
        """Return the table of which a file holds these fields."""
        probabilities = read_probabilities(fields, variables[-1].cardinality)
        shape = [variable.cardinality for variable in variables[:-1]]
        groups = fields.items("group_of")
        if len(groups) != math.prod(shape):
            what = f"{several(len(groups), 'group')} for {math.prod(shape)} configurations of the parents"
            raise fields.wrong(what, "group_of")
        for configuration, group in enumerate(groups):
            if type(group) is not int or not 0 <= group < len(probabilities):
                what = f"expected a group from 0 to {len(probabilities) - 1}, got {shown(group)}"
                raise fields.wrong(what, f"group_of[{configuration}]")
        return cls(child, parents, variables, np.array(groups, dtype=np.int32).reshape(shape), probabilities)

    def _arguments(self) -> tuple[Any, ...]:
        return self.group_of, self.probabilities

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}; {several(self.n_groups, 'group')})"


def cell_weights(cells: Cells, smoothing: float | str, ess: float | None, shares: Cells | None = None) -> Cells:
    """Return what each cell weighs, (groups, r).

    `shares` are those of all configurations that each group holds: the equivalent sample size is divided so. Without
    them every group is one configuration. A pseudo-count is added to each cell of a group once.
    """
    if ess is not None:
        return cells + (ess / cells.size if shares is None else ess * shares[:, None] / cells.shape[1])
    if smoothing == "zeros":
        return np.where(cells > 0, cells, 1.0)
    if smoothing == "snml":
        with np.errstate(divide="ignore", invalid="ignore"):
            e = np.exp(cells * np.log1p(1 / cells))  # ((n + 1) / n)^n
        return np.where(cells > 0, e, 1.0) * (cells + 1)
    return cells + float(smoothing)


def normalized(weights: Cells, variables: Sequence[Variable]) -> Cells:
    """Return each row divided by its sum; ZeroProbabilityError names the first configuration without any weight."""
    sums = weights.sum(axis=1, keepdims=True)
    empty = np.flatnonzero(sums == 0)
    if len(empty):
        *parents, child = variables
        states = np.unravel_index(empty[0], [v.cardinality for v in parents]) if parents else ()
        configuration: dict[str, object] = {v.name: v.states[int(k)] for v, k in zip(parents, states, strict=True)}
        first = shown_states(configuration)
        where = f"; {len(empty)} configurations of its parents never occur, the first is {first}" if parents else ""
        raise ZeroProbabilityError(
            f"the conditional of {child.name!r} cannot be fitted without smoothing{where}; use smoothing above 0",
            variable=child.name,
            configuration=configuration,
            parameter="smoothing",
        )
    weights /= sums
    return weights
