"""A conditional that is a product of factors: what a joint distribution says of one variable, given the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.base.fields import Fields
from fishernet.base.names import several
from fishernet.data import Table, Variable
from fishernet.data.variable import Column
from fishernet.models.conditionals.base import (
    CoreForm,
    Grouped,
    Probabilities,
    check_cells,
    shown_states,
)

MOST_TABULATED = 2**14  # cells of a product of factors whose table is made for sampling

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


class ProductConditional(Grouped):
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
        Each array has one axis per position, and each has the child among its positions.

    Raises
    ------
    SchemaError
        When a shape does not fit or a value is negative.
    """

    __slots__ = ("factors",)

    factors: tuple[Factor, ...]

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Column],
        factors: Sequence[tuple[Sequence[int], npt.ArrayLike]],
    ) -> None:
        super().__init__(child, parents, variables)
        of = dict(zip((*self.parents, self.child), self.variables, strict=True))
        factors = check.items(factors, "factors", "pairs (positions, array)")
        if not factors:
            raise SchemaError(f"the conditional of {self.name!r} needs at least one factor")
        checked = []
        for factor in factors:
            pair = check.items(factor, "each of factors", "two things: positions and an array")
            if len(pair) != 2:
                raise SchemaError(f"each of factors must be a pair (positions, array), not {len(pair)} things")
            axes = check.items(pair[0], "axes", "positions")
            for axis in axes:
                check.integer(axis, "each of axes", least=0)
            array = check.numbers(pair[1], "values")
            if self.child not in axes or array.shape != tuple(of[v].cardinality for v in axes if v in of):
                raise SchemaError(f"a factor of {self.name!r} has shape {array.shape} over positions {axes}")
            if not np.isfinite(array).all() or (array < 0).any():
                raise SchemaError(f"a factor of {self.name!r} is not finite and non-negative")
            array.flags.writeable = False
            checked.append((axes, array))
        self._set(factors=tuple(checked))

    @property
    def probabilities(self) -> Probabilities:
        """One row per configuration of the parents, (q, r); each must leave a state."""
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

    @property
    def n_groups(self) -> int:
        """The number of configurations of the parents; no table of them is made."""
        return math.prod(self._shape[:-1])

    def with_probabilities(self, probabilities: npt.NDArray[np.float64]) -> Self:
        """Return other probabilities, (configurations, states), as one factor over all."""
        factor = ((*self.parents, self.child), np.reshape(probabilities, self._shape))
        return type(self)(self.child, self.parents, self.variables, [factor])

    def log_prob(self, table: Table) -> npt.NDArray[np.float64]:
        """Return the log-probability of the child in each row given its parents, (n_rows,)."""
        states = table.codes[self.child].astype(np.int64)
        return self.log_probabilities(table)[np.arange(table.n_rows), states]

    def core_form(self) -> CoreForm | None:
        """Return that of its table where that is small; None: no table is made, Python multiplies the factors."""
        return None if self._tabulated() is None else CoreForm(np.array(self.parents, dtype=np.int32), self.n_groups)

    def add_to_sampler(self, sampler: _core.GibbsSampler) -> None:
        """Add its table where that is small, which is faster, and the factors otherwise."""
        tabulated = self._tabulated()
        if tabulated is not None:
            sampler.add_table(np.array(self.parents, dtype=np.int32), tabulated, None)
            return
        scopes = [np.array(axes, dtype=np.int32) for axes, _ in self.factors]
        sampler.add_product(scopes, [_scaled(values).reshape(-1) for _, values in self.factors])

    def refuse_zeros(self, remedy: str) -> None:
        """Raise ZeroProbabilityError when a factor has a zero."""
        if any((values == 0).any() for _, values in self.factors):
            raise ZeroProbabilityError(
                f"a factor of {self.name!r} has a zero; {remedy}", variable=self.name, configuration={}
            )

    def to_fields(self) -> dict[str, object]:
        """Return the factors."""
        names = {v: variable.name for v, variable in zip((*self.parents, self.child), self.variables, strict=True)}
        return {"factors": [factor_fields([names[v] for v in axes], values) for axes, values in self.factors]}

    @classmethod
    def from_fields(cls, fields: Fields, child: int, parents: Sequence[int], variables: Sequence[Variable]) -> Self:
        """Return the product of which a file holds these fields."""
        of = dict(zip((*parents, child), variables, strict=True))
        positions = {variable.name: v for v, variable in of.items()}
        factors = []
        for item in fields.objects("factors"):
            axes, values = read_factor(item, positions, of)
            if child not in axes:
                raise item.wrong(f"the factor is not over the child {variables[-1].name!r}", "variables")
            if not np.isfinite(values).all() or (values < 0).any():
                raise item.wrong("a value is negative or not finite", "values")
            factors.append((axes, values))
        if not factors:
            raise fields.wrong("there are no factors", "factors")
        return cls(child, parents, variables, factors)

    def _arguments(self) -> tuple[Any, ...]:
        return (self.factors,)

    def _tabulated(self) -> Probabilities | None:
        """Return the table where it is small and every configuration leaves a state."""
        if math.prod(self._shape) > MOST_TABULATED:
            return None
        try:
            return self.probabilities
        except ZeroProbabilityError:  # of a configuration that cannot occur: the product says what to do
            return None

    def _no_state(self, configuration: int) -> ZeroProbabilityError:
        states = np.unravel_index(configuration, self._shape[:-1]) if self.parents else ()
        where = {v.name: v.states[int(k)] for v, k in zip(self.variables[:-1], states, strict=True)}
        return ZeroProbabilityError(
            f"{self.variables[-1].name!r} has no state of positive probability given {shown_states(where)}",
            variable=self.variables[-1].name,
            configuration=dict(where),
        )

    def __repr__(self) -> str:
        return f"{super().__repr__()}, a product of {several(len(self.factors), 'factor')}"


def _scaled(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Bring the largest number to between 1/2 and 1 by a power of two: only ratios matter, products stay in range."""
    return np.asarray(np.ldexp(values, -np.frexp(values.max(initial=0.0))[1]))


def factor_fields(names: Sequence[str], values: Probabilities) -> dict[str, object]:
    """Return a factor as what `json` writes."""
    return {"variables": list(names), "values": values.ravel().tolist()}


def read_factor(
    fields: Fields, positions: Mapping[str, int], variables: Mapping[int, Variable]
) -> tuple[tuple[int, ...], Probabilities]:
    """Return the factor that the fields describe: the positions of its axes, and its values.

    `positions` and `variables` are those that it may be over.
    """
    axes = fields.positions("variables", positions)
    shape = [variables[v].cardinality for v in axes]
    values = fields.items("values")
    if len(values) != math.prod(shape):
        raise fields.wrong(f"{len(values)} values for {math.prod(shape)} configurations of the variables", "values")
    array = fields.numbers(values, "values").reshape(shape)
    fields.end()
    return tuple(axes), array
