"""A conditional that is a product of factors: what a joint distribution says of one variable, given the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.data import Table, Variable
from fishernet.models.conditionals.conditional import Probabilities, check_cells, conditional_frame

Factor = tuple[tuple[int, ...], Probabilities]  # positions of its axes, the child's among them, and its values


def full_conditionals(variables: Sequence[Variable], factors: Sequence[Factor]) -> list[ProductConditional]:
    """Return the full conditional of every variable of a product of factors; positions are those of the variables."""
    touching: list[list[Factor]] = [[] for _ in variables]
    for axes, values in factors:
        for v in axes:
            touching[v].append((axes, values))
    conditionals = []
    for child, of in enumerate(touching):
        if not of:  # uniform: nothing is said of it
            of.append(((child,), np.ones(variables[child].cardinality)))
        blanket = sorted({v for axes, _ in of for v in axes} - {child})
        conditionals.append(ProductConditional(child, blanket, [variables[v] for v in (*blanket, child)], of))
    return conditionals


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ProductConditional:
    """P(child given its parents), proportional to a product of factors.

    No table over all parents is made unless `probabilities` or `table` is asked for, so that the parents may be a whole
    Markov blanket.

    Parameters
    ----------
    child : int
        Position of the child.
    parents : sequence of int
        Positions of all other variables of the factors, ascending.
    variables : sequence of Variable
        The parents' variables in that order, then the child's.
    factors : sequence of (positions, array)
        Each array has one axis a position, and each has the child among its positions.

    Raises
    ------
    SchemaError
        When a shape does not fit or a value is negative.
    """

    child: int
    parents: tuple[int, ...]
    variables: tuple[Variable, ...]
    factors: tuple[Factor, ...]

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Variable],
        factors: Sequence[tuple[Sequence[int], npt.ArrayLike]],
    ) -> None:
        of = dict(zip((*parents, child), variables, strict=True))
        if not factors:
            raise SchemaError(f"the conditional of {variables[-1].name!r} needs at least one factor")
        checked = []
        for axes, values in factors:
            array = np.array(values, dtype=np.float64, order="C")
            if child not in axes or array.shape != tuple(of[v].cardinality for v in axes):
                raise SchemaError(f"a factor of {variables[-1].name!r} has shape {array.shape} over positions {axes}")
            if not np.isfinite(array).all() or (array < 0).any():
                raise SchemaError(f"a factor of {variables[-1].name!r} is not finite and non-negative")
            array.flags.writeable = False
            checked.append((tuple(axes), array))
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", tuple(parents))
        object.__setattr__(self, "variables", tuple(variables))
        object.__setattr__(self, "factors", tuple(checked))

    def __reduce__(self) -> tuple[object, ...]:
        return ProductConditional, (self.child, self.parents, self.variables, self.factors)

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(variable.cardinality for variable in self.variables)

    @property
    def probabilities(self) -> Probabilities:
        """One row a configuration of the parents, (q, r).

        Raises
        ------
        StateSpaceError
            When there are more than 2**28 cells.
        ZeroProbabilityError
            When a configuration leaves no state.
        """
        check_cells(self.variables, f"the conditional of {self.variables[-1].name!r}")
        positions = (*self.parents, self.child)
        logs = np.zeros(self._shape)
        for axes, values in self.factors:
            order = sorted(axes, key=positions.index)
            shape = [r if v in axes else 1 for v, r in zip(positions, self._shape, strict=True)]
            with np.errstate(divide="ignore"):
                logs += np.log(values).transpose([axes.index(v) for v in order]).reshape(shape)
        rows = logs.reshape(-1, self._shape[-1])
        top = rows.max(axis=1, keepdims=True)
        rows = np.exp(rows - np.where(np.isneginf(top), 0, top))
        sums = rows.sum(axis=1, keepdims=True)
        if not (sums > 0).all():
            raise self._no_state(int(np.argmin(sums)))
        shares: Probabilities = rows / sums
        shares.flags.writeable = False
        return shares

    def log_probabilities(self, table: Table) -> Probabilities:
        """Return the log-probability of every state of the child given the rest of each row, (n_rows, r)."""
        total = np.zeros((table.n_rows, self._shape[-1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            for axes, values in self.factors:
                others = [v for v in axes if v != self.child]
                rows = np.log(values).transpose([*(axes.index(v) for v in others), axes.index(self.child)])
                total += rows[tuple(table.codes[v].astype(np.int64) for v in others)]
            top = total.max(axis=1, keepdims=True)
            none = np.isneginf(top)  # the rest of the row is impossible, so is every state
            total -= np.where(none, 0, top)
            return np.where(none, -np.inf, total - np.log(np.exp(total).sum(axis=1, keepdims=True)))

    def groups(self, table: Table) -> npt.NDArray[np.int64]:
        """Return the configuration of the parents in each row, (n_rows,) int64."""
        check_cells(self.variables, f"the conditional of {self.variables[-1].name!r}")
        codes = tuple(table.codes[p].astype(np.int64) for p in self.parents)
        if not codes:
            return np.zeros(table.n_rows, dtype=np.int64)
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

    def _no_state(self, configuration: int) -> ZeroProbabilityError:
        states = np.unravel_index(configuration, self._shape[:-1]) if self.parents else ()
        where = {v.name: v.states[int(k)] for v, k in zip(self.variables[:-1], states, strict=True)}
        shown = ", ".join(f"{name} = {label!r}" for name, label in where.items())
        return ZeroProbabilityError(
            f"{self.variables[-1].name!r} has no state of positive probability given {shown}",
            variable=self.variables[-1].name,
            configuration=dict(where),
        )

    def __repr__(self) -> str:
        given = ", ".join(variable.name for variable in self.variables[:-1])
        return f"P({self.variables[-1].name}{' | ' if given else ''}{given}), a product of {len(self.factors)} factors"
