"""A Bayesian network as fields of the model file, and back.

::

    "n_rows": 1000                      the rows it was fitted on, or null
    "variables": [                      one a variable
      {"name": "age", "states": ["young", "old"], "cuts": [40.0]}            "cuts" may be null
    ]
    "conditionals": [                   one a variable, in the same order
      {"kind": "FullTable", "child": "age", "parents": [], "probabilities": [[0.25, 0.75]]}
    ]

Probabilities are rows, one a configuration of the parents, the last parent's state fastest. In a ``"MergedTable"`` they
are one a group, and ``"group_of"`` lists the group of every configuration in that order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fishernet.errors import SchemaError
from fishernet.files.fields import Fields, shown
from fishernet.files.labels import check_storable, is_text
from fishernet.models import BayesianNetwork, Conditional, FullTable, MergedTable
from fishernet.models.conditionals.conditional import Probabilities
from fishernet.table import Variable
from fishernet.table.variable import listed

MOST = 1.0 + 1e-9  # what a probability may be, with rounding


def network_fields(net: BayesianNetwork) -> dict[str, object]:
    """Return a Bayesian network as what `json` writes.

    Raises
    ------
    SchemaError
        When a label, the number of rows or a conditional cannot be stored.
    """
    check_storable(net.variables)
    return {
        "n_rows": net.n_rows,
        "variables": [_variable_fields(variable) for variable in net.variables],
        "conditionals": [_conditional_fields(conditional) for conditional in net.conditionals],
    }


def read_network(fields: Fields) -> BayesianNetwork:
    """Return the Bayesian network that the fields describe."""
    n_rows = None if fields.is_null("n_rows") else fields.whole("n_rows")
    variables = [_read_variable(item) for item in fields.objects("variables")]
    described = fields.objects("conditionals")
    if len(described) != len(variables):
        raise fields.wrong(f"{len(described)} conditionals for {len(variables)} variables", "conditionals")
    positions = {variable.name: position for position, variable in enumerate(variables)}
    conditionals = [_read_conditional(item, child, variables, positions) for child, item in enumerate(described)]
    return BayesianNetwork(variables, conditionals, n_rows=n_rows)


def _variable_fields(variable: Variable) -> dict[str, object]:
    cuts = None if variable.cuts is None else list(variable.cuts)
    return {"name": variable.name, "states": list(variable.states), "cuts": cuts}


def _read_variable(fields: Fields) -> Variable:
    name, states = fields.text("name"), fields.items("states")
    cuts = None if fields.is_null("cuts") else fields.items("cuts")
    fields.end()
    for position, state in enumerate(states):
        if not isinstance(state, str | int | float) or (isinstance(state, str) and not is_text(state)):
            raise fields.wrong(f"{shown(state)} is no state: a text, a number or a truth value", f"states[{position}]")
    if cuts is not None:
        cuts = _numbers(fields, cuts, "cuts").tolist()
    with fields.checking():
        return Variable(name, states, cuts)


def _conditional_fields(conditional: Conditional) -> dict[str, object]:
    kind = next((name for name, known in CONDITIONALS.items() if type(conditional) is known.conditional), None)
    *parents, child = [variable.name for variable in conditional.variables]
    if kind is None:
        raise SchemaError(
            f"the conditional of {child!r} is a {type(conditional).__name__}; "
            f"what can be saved: {', '.join(sorted(CONDITIONALS))}"
        )
    return {"kind": kind, "child": child, "parents": parents, **CONDITIONALS[kind].write(conditional)}


def _read_conditional(
    fields: Fields, child: int, variables: Sequence[Variable], positions: Mapping[str, int]
) -> Conditional:
    kind, name = fields.text("kind"), fields.text("child")
    if kind not in CONDITIONALS:
        raise fields.wrong(f"unknown kind {kind!r}; known are {', '.join(sorted(CONDITIONALS))}", "kind")
    if name != variables[child].name:
        raise fields.wrong(f"expected {variables[child].name!r}, in the order of the variables; got {name!r}", "child")
    parents = []
    for i, parent in enumerate(fields.items("parents")):
        if not isinstance(parent, str) or parent not in positions:
            raise fields.wrong(f"{shown(parent)} is no variable; there are {listed(positions)}", f"parents[{i}]")
        parents.append(positions[parent])
    with fields.checking():
        conditional = CONDITIONALS[kind].read(fields, child, parents, [variables[v] for v in (*parents, child)])
    fields.end()
    return conditional


def _write_full(conditional: FullTable) -> dict[str, object]:
    return {"probabilities": conditional.probabilities.tolist()}


def _read_full(fields: Fields, child: int, parents: Sequence[int], family: Sequence[Variable]) -> FullTable:
    return FullTable(child, parents, family, _probabilities(fields, family[-1].cardinality))


def _write_merged(conditional: MergedTable) -> dict[str, object]:
    groups = conditional.group_of.ravel().tolist()
    return {"group_of": groups, "probabilities": conditional.probabilities.tolist()}


def _read_merged(fields: Fields, child: int, parents: Sequence[int], family: Sequence[Variable]) -> MergedTable:
    probabilities = _probabilities(fields, family[-1].cardinality)
    shape = [variable.cardinality for variable in family[:-1]]
    groups = fields.items("group_of")
    if len(groups) != math.prod(shape):
        raise fields.wrong(f"{len(groups)} groups for {math.prod(shape)} configurations of the parents", "group_of")
    for configuration, group in enumerate(groups):
        if type(group) is not int or not 0 <= group < len(probabilities):
            raise fields.wrong(
                f"expected a group from 0 to {len(probabilities) - 1}, got {shown(group)}", f"group_of[{configuration}]"
            )
    return MergedTable(child, parents, family, np.array(groups, dtype=np.int32).reshape(shape), probabilities)


def _probabilities(fields: Fields, states: int) -> Probabilities:
    """Return the rows of probabilities, (groups, states); whether they are probabilities is not looked at."""
    rows = fields.items("probabilities")
    for group, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != states:
            place = f"probabilities[{group}]"
            raise fields.wrong(f"expected a list of {states} probabilities, got {shown(row)}", place)
    flat = _numbers(fields, [number for row in rows for number in row], "probabilities")
    array = flat.reshape(len(rows), states)
    if not ((array >= 0) & (array <= MOST)).all():  # also finds NaN
        group, state = np.argwhere(~((array >= 0) & (array <= MOST)))[0]
        raise fields.wrong(f"{array[group, state]} is no probability", f"probabilities[{group}][{state}]")
    return array


def _numbers(fields: Fields, values: list[Any], name: str) -> Probabilities:
    if not set(map(type, values)) <= {int, float}:
        wrong = next(value for value in values if type(value) not in (int, float))
        raise fields.wrong(f"expected numbers, got {shown(wrong)}", name)
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError as error:
        raise fields.wrong("a number is too large", name) from error


class ConditionalKind(NamedTuple):
    """How one kind of conditional is stored."""

    conditional: type
    write: Callable[[Any], dict[str, object]]
    read: Callable[[Fields, int, Sequence[int], Sequence[Variable]], Conditional]


CONDITIONALS = {
    "FullTable": ConditionalKind(FullTable, _write_full, _read_full),
    "MergedTable": ConditionalKind(MergedTable, _write_merged, _read_merged),
}
