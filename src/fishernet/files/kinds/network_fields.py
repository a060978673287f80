"""A Bayesian network or a dependency network as fields of the model file, and back.

::

    "n_rows": 1000                      the rows it was fitted on, or null
    "variables": [                      one a variable
      {"name": "age", "states": ["young", "old"], "cuts": [40.0]}            "cuts" may be null
    ]
    "conditionals": [                   one a variable, in the same order
      {"kind": "FullTable", "child": "age", "parents": [], "probabilities": [[0.25, 0.75]]}
    ]

Probabilities are rows, one a configuration of the parents, the last parent's state fastest. In a ``"MergedTable"`` they
are one a group, and ``"group_of"`` lists the group of every configuration in that order. In a ``"TreeConditional"``
they are one a leaf of its ``"nodes"`` (`tree_fields`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fishernet.errors import SchemaError
from fishernet.files.fields import Fields, shown
from fishernet.files.kinds.factor_fields import factor_fields, positions_of, read_factor
from fishernet.files.kinds.tree_fields import read_tree, tree_fields
from fishernet.files.kinds.variable_fields import read_variable, variable_fields
from fishernet.files.labels import check_storable
from fishernet.models import (
    BayesianNetwork,
    Conditional,
    DependencyNetwork,
    FullTable,
    MergedTable,
    ProductConditional,
    TreeConditional,
)
from fishernet.models.conditionals.conditional import Probabilities
from fishernet.table import Variable

MOST = 1.0 + 1e-9  # what a probability may be, with rounding


def network_fields(net: BayesianNetwork) -> dict[str, object]:
    """Return a Bayesian network as what `json` writes.

    Raises
    ------
    SchemaError
        When a label, the number of rows or a conditional cannot be stored.
    """
    return {"n_rows": net.n_rows, **_parts(net)}


def read_network(fields: Fields) -> BayesianNetwork:
    """Return the Bayesian network that the fields describe."""
    n_rows = _read_n_rows(fields)
    variables, described = _read_parts(fields)
    conditionals = [_read_conditional(item, child, variables) for child, item in enumerate(described)]
    return BayesianNetwork(variables, conditionals, n_rows=n_rows)


def dependency_fields(net: DependencyNetwork) -> dict[str, object]:
    """Return a dependency network as what `json` writes.

    Raises
    ------
    SchemaError
        When a label, the number of rows or a conditional cannot be stored.
    """
    return {"n_rows": net.n_rows, "allow_zeros": net.allow_zeros, **_parts(net)}


def read_dependency(fields: Fields) -> DependencyNetwork:
    """Return the dependency network that the fields describe."""
    n_rows, allow_zeros = _read_n_rows(fields), fields.truth("allow_zeros")
    variables, described = _read_parts(fields)
    conditionals = []
    for child, item in enumerate(described):
        conditional = _read_conditional(item, child, variables)
        if child in conditional.parents:  # a Bayesian network says of itself that this is a cycle
            raise item.wrong(f"{variables[child].name!r} is among its own inputs", "parents")
        conditionals.append(conditional)
    return DependencyNetwork(variables, conditionals, n_rows=n_rows, allow_zeros=allow_zeros)


def _parts(net: BayesianNetwork | DependencyNetwork) -> dict[str, object]:
    check_storable(net.variables)
    return {
        "variables": [variable_fields(variable) for variable in net.variables],
        "conditionals": [_conditional_fields(conditional) for conditional in net.conditionals],
    }


def _read_n_rows(fields: Fields) -> int | None:
    return None if fields.is_null("n_rows") else fields.whole("n_rows")


def _read_parts(fields: Fields) -> tuple[list[Variable], list[Fields]]:
    """Return the variables, and as many conditionals as they are described."""
    variables = [read_variable(item) for item in fields.objects("variables")]
    described = fields.objects("conditionals")
    if len(described) != len(variables):
        raise fields.wrong(f"{len(described)} conditionals for {len(variables)} variables", "conditionals")
    return variables, described


def _conditional_fields(conditional: Conditional) -> dict[str, object]:
    kind = next((name for name, known in CONDITIONALS.items() if type(conditional) is known.conditional), None)
    *parents, child = [variable.name for variable in conditional.variables]
    if kind is None:
        raise SchemaError(
            f"the conditional of {child!r} is a {type(conditional).__name__}; "
            f"what can be saved: {', '.join(sorted(CONDITIONALS))}"
        )
    return {"kind": kind, "child": child, "parents": parents, **CONDITIONALS[kind].write(conditional)}


def _read_conditional(fields: Fields, child: int, variables: Sequence[Variable]) -> Conditional:
    kind, name = fields.text("kind"), fields.text("child")
    if kind not in CONDITIONALS:
        raise fields.wrong(f"unknown kind {kind!r}; known are {', '.join(sorted(CONDITIONALS))}", "kind")
    if name != variables[child].name:
        raise fields.wrong(f"expected {variables[child].name!r}, in the order of the variables; got {name!r}", "child")
    parents = positions_of(fields, "parents", {variable.name: v for v, variable in enumerate(variables)})
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


def _write_product(conditional: ProductConditional) -> dict[str, object]:
    positions = (*conditional.parents, conditional.child)
    names = {v: variable.name for v, variable in zip(positions, conditional.variables, strict=True)}
    return {"factors": [factor_fields([names[v] for v in axes], values) for axes, values in conditional.factors]}


def _read_product(fields: Fields, child: int, parents: Sequence[int], family: Sequence[Variable]) -> ProductConditional:
    positions = dict(zip((variable.name for variable in family), (*parents, child), strict=True))
    of = dict(zip((*parents, child), family, strict=True))
    factors = []
    for item in fields.objects("factors"):
        axes, values = read_factor(item, positions, of)
        if child not in axes:
            raise item.wrong(f"the factor is not over the child {family[-1].name!r}", "variables")
        if not np.isfinite(values).all() or (values < 0).any():
            raise item.wrong("a value is negative or not finite", "values")
        factors.append((axes, values))
    if not factors:
        raise fields.wrong("there are no factors", "factors")
    return ProductConditional(child, parents, family, factors)


def _write_tree(conditional: TreeConditional) -> dict[str, object]:
    return {"nodes": tree_fields(conditional), "probabilities": conditional.probabilities.tolist()}


def _read_tree(fields: Fields, child: int, parents: Sequence[int], family: Sequence[Variable]) -> TreeConditional:
    of = {variable.name: (p, variable) for p, variable in zip(parents, family, strict=False)}
    return TreeConditional(
        child, parents, family, read_tree(fields, of), _probabilities(fields, family[-1].cardinality)
    )


def _probabilities(fields: Fields, states: int) -> Probabilities:
    """Return the rows of probabilities, (groups, states); whether they are probabilities is not looked at."""
    rows = fields.items("probabilities")
    for group, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != states:
            place = f"probabilities[{group}]"
            raise fields.wrong(f"expected a list of {states} probabilities, got {shown(row)}", place)
    flat = fields.numbers([number for row in rows for number in row], "probabilities")
    array = flat.reshape(len(rows), states)
    if not ((array >= 0) & (array <= MOST)).all():  # also finds NaN
        group, state = np.argwhere(~((array >= 0) & (array <= MOST)))[0]
        raise fields.wrong(f"{array[group, state]} is no probability", f"probabilities[{group}][{state}]")
    return array


class ConditionalKind(NamedTuple):
    """How one kind of conditional is stored."""

    conditional: type
    write: Callable[[Any], dict[str, object]]
    read: Callable[[Fields, int, Sequence[int], Sequence[Variable]], Conditional]


CONDITIONALS = {
    "FullTable": ConditionalKind(FullTable, _write_full, _read_full),
    "MergedTable": ConditionalKind(MergedTable, _write_merged, _read_merged),
    "ProductConditional": ConditionalKind(ProductConditional, _write_product, _read_product),
    "TreeConditional": ConditionalKind(TreeConditional, _write_tree, _read_tree),
}
