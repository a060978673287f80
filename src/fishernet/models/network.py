"""What Bayesian and dependency networks have in common: variables, and one conditional each.

A network in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import check_names, listed, positions
from fishernet.data import Table, Variable, as_table
from fishernet.data.variable import code_dtype
from fishernet.models.conditionals.conditional import Conditional, Probabilities
from fishernet.models.conditionals.full_table import FullTable
from fishernet.models.conditionals.product_conditional import ProductConditional
from fishernet.models.conditionals.tree_conditional import TreeConditional

MOST_LINES = 60


def describe_network(title: str, variables: Sequence[Variable], conditionals: Sequence[Conditional]) -> str:
    """Return a title and one line a variable: its name, its number of states, its parents."""
    width = max((len(variable.name) for variable in variables), default=0)
    lines = [title]
    for variable, conditional in list(zip(variables, conditionals, strict=True))[:MOST_LINES]:
        parents = ", ".join(variables[p].name for p in conditional.parents)
        states = f"{variable.cardinality} state" + ("" if variable.cardinality == 1 else "s")
        lines.append(f"  {variable.name:<{width}}  {states:>10}" + (f"  <- {parents}" if parents else ""))
    if len(variables) > MOST_LINES:
        lines.append(f"  ... and {len(variables) - MOST_LINES} more variables")
    return "\n".join(lines)


def without_target(table: Table | npt.ArrayLike, variables: Sequence[Variable], target: int) -> Table:
    """Return data as a table of a model's variables in which the target's column means nothing.

    Other cells may be missing.
    """
    rows = as_table(table, variables, without=(variables[target].name,))
    columns = list(rows.codes)
    columns.insert(target, np.zeros(rows.n_rows, dtype=code_dtype(variables[target].cardinality)))
    return Table.adopt(variables, columns, n_rows=rows.n_rows)


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

    __slots__ = ("__weakref__", "_conditionals", "_logs", "_n_rows", "_names", "_native", "_variables")

    def __init__(
        self, variables: Sequence[Variable], conditionals: Sequence[Conditional], *, n_rows: float | None = None
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
        if n_rows is not None and not _is_amount(n_rows):
            raise SchemaError(f"n_rows must be a non-negative number or None, got {n_rows!r}")
        self._variables = tuple(variables)
        self._conditionals = tuple(conditionals)
        self._n_rows = None if n_rows is None else int(n_rows) if n_rows == int(n_rows) else float(n_rows)
        self._native: _core.Conditionals | None = None
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
    def n_parameters(self) -> int:
        """The number of free parameters: ``groups (r - 1)``, summed over the variables."""
        return sum(_n_groups(c) * (c.variables[-1].cardinality - 1) for c in self._conditionals)

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
        if not isinstance(other, Network) or type(self) is not type(other):
            return NotImplemented
        return (
            (self._variables, self._n_rows) == (other._variables, other._n_rows)
            and [c.parents for c in self._conditionals] == [c.parents for c in other._conditionals]
            and all(_same(a, b) for a, b in zip(self._conditionals, other._conditionals, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self._variables, self._conditionals, self._n_rows)

    @classmethod
    def _rebuild(
        cls, variables: tuple[Variable, ...], conditionals: tuple[Conditional, ...], n_rows: int | None
    ) -> Self:
        return cls(variables, conditionals, n_rows=n_rows)

    # ---------------------------------------------------------------------------------------------- for the core

    @property
    def flat(self) -> _core.Conditionals:
        """The conditionals as the core looks them up; made once."""
        if self._native is None:
            native = _core.Conditionals(np.array([v.cardinality for v in self._variables], dtype=np.int64))
            for conditional in self._conditionals:
                if isinstance(conditional, TreeConditional):
                    parents, n_groups = np.array(conditional.parents, dtype=np.int32), len(conditional.probabilities)
                    native.add_tree(conditional.child, parents, n_groups, *conditional.nodes())
                    continue
                parents, groups = conditional.flat()
                native.add(conditional.child, parents, conditional.probabilities.shape[0], groups)
            self._native = native
        return self._native

    @property
    def _log_tables(self) -> list[Probabilities]:
        if self._logs is None:
            with np.errstate(divide="ignore"):  # log 0 = -inf is what is meant
                self._logs = [np.log(c.probabilities) for c in self._conditionals]
        return self._logs


def conditionals_from_tables(
    variables: Sequence[Variable],
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


def _n_groups(conditional: Conditional) -> int:
    if isinstance(conditional, ProductConditional):  # of which no table is made
        return math.prod(variable.cardinality for variable in conditional.variables[:-1])
    return int(conditional.probabilities.shape[0])


def _same(a: Conditional, b: Conditional) -> bool:
    if isinstance(a, ProductConditional) or isinstance(b, ProductConditional):
        return (
            isinstance(a, ProductConditional)
            and isinstance(b, ProductConditional)
            and [axes for axes, _ in a.factors] == [axes for axes, _ in b.factors]
            and all(np.array_equal(x, y) for (_, x), (_, y) in zip(a.factors, b.factors, strict=True))
        )
    return np.array_equal(a.probabilities, b.probabilities) and _same_groups(a, b)


def _same_groups(a: Conditional, b: Conditional) -> bool:
    if isinstance(a, TreeConditional) and isinstance(b, TreeConditional) and a.tree == b.tree:
        return True
    first, second = a.flat()[1], b.flat()[1]
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def _rebuilt(
    kind: type[Network],
    variables: tuple[Variable, ...],
    conditionals: tuple[Conditional, ...],
    n_rows: int | None,
) -> Network:
    return kind._rebuild(variables, conditionals, n_rows)


def _is_amount(value: object) -> bool:
    """Whether a value is a finite number, 0 or more."""
    return check.is_number(value) and 0 <= value < np.inf  # type: ignore[operator]
