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

A factor as fields of the model file, and back: ``{"variables": ["a", "b"], "values": [2.0, 1.0, 1.0, 2.0]}``.

The values are one a configuration of the variables, the last one's state fastest.

An undirected graph as fields of the model file, and back.

::

    "names": ["a", "b", "c"],
    "edges": [[0, 1], [1, 2]]                positions, each edge once, i < j

A variable as fields of the model file, and back: ``{"name": "age", "states": ["young", "old"], "cuts": [40.0]}``.

A Markov network as fields of the model file, and back.

::

    "variables": [ ... ]                as in `network_fields`
    "potentials": [                     the factors, in their order (`factor_fields`)
      {"variables": ["a", "b"], "values": [2.0, 1.0, 1.0, 2.0]}
    ]

A decision tree as fields of the model file, and back.

::

    "nodes": [
      {"variable": "age", "to": [1, 2, 1]}    the node to which each state leads, always a later one
      {"leaf": 0}                             the row of probabilities
    ]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fishernet.base.errors import SchemaError
from fishernet.base.names import check_names, listed
from fishernet.data import Variable
from fishernet.files.fields import Fields, check_storable, is_text, shown
from fishernet.graphs import UndirectedGraph
from fishernet.models import (
    BayesianNetwork,
    Conditional,
    DependencyNetwork,
    FullTable,
    MarkovNetwork,
    MergedTable,
    ProductConditional,
    Split,
    TreeConditional,
)
from fishernet.models.conditionals.conditional import Probabilities


def factor_fields(names: Sequence[str], values: Probabilities) -> dict[str, object]:
    """Return a factor as what `json` writes."""
    return {"variables": list(names), "values": values.ravel().tolist()}


def read_factor(
    fields: Fields, positions: Mapping[str, int], variables: Mapping[int, Variable]
) -> tuple[tuple[int, ...], Probabilities]:
    """Return the factor that the fields describe: the positions of its axes, and its values.

    Parameters
    ----------
    fields : Fields
    positions : mapping from name to position
        Of the variables that it may be over.
    variables : mapping from position to Variable
        The same variables.
    """
    axes = positions_of(fields, "variables", positions)
    shape = [variables[v].cardinality for v in axes]
    values = fields.items("values")
    if len(values) != math.prod(shape):
        raise fields.wrong(f"{len(values)} values for {math.prod(shape)} configurations of the variables", "values")
    array = fields.numbers(values, "values").reshape(shape)
    fields.end()
    return tuple(axes), array


def positions_of(fields: Fields, name: str, positions: Mapping[str, int]) -> list[int]:
    """Return the positions of the variables that a field lists by name, each once."""
    found: list[int] = []
    for i, variable in enumerate(fields.items(name)):
        if not isinstance(variable, str) or variable not in positions:
            raise fields.wrong(f"{shown(variable)} is no variable; there are {listed(positions)}", f"{name}[{i}]")
        if positions[variable] in found:
            raise fields.wrong(f"{variable!r} appears more than once", f"{name}[{i}]")
        found.append(positions[variable])
    return found


def graph_fields(graph: UndirectedGraph) -> dict[str, object]:
    """Return an undirected graph as what `json` writes.

    Raises
    ------
    SchemaError
        When a name cannot be stored.
    """
    for name in graph.names:
        if not is_text(name):
            raise SchemaError(f"the name {name!r} holds half of a surrogate pair, which cannot be written")
    edges = [[one, other] for one, others in enumerate(graph.adjacency) for other in others if one < other]
    return {"names": list(graph.names), "edges": edges}


def read_graph(fields: Fields) -> UndirectedGraph:
    """Return the undirected graph that the fields describe."""
    names = fields.items("names")
    for number, name in enumerate(names):
        if not isinstance(name, str) or not is_text(name):
            raise fields.wrong(f"expected a text, got {shown(name)}", f"names[{number}]")
    adjacency: list[list[int]] = [[] for _ in names]
    for number, edge in enumerate(fields.items("edges")):
        if not isinstance(edge, list) or len(edge) != 2 or not all(type(v) is int for v in edge):
            raise fields.wrong(f"expected [position, position], got {shown(edge)}", f"edges[{number}]")
        one, other = edge
        if not 0 <= one < other < len(names):
            what = f"the positions must be ascending and below {len(names)}, got {one} and {other}"
            raise fields.wrong(what, f"edges[{number}]")
        adjacency[one].append(other)
        adjacency[other].append(one)
    with fields.checking():
        return UndirectedGraph(names, adjacency)


def variable_fields(variable: Variable) -> dict[str, object]:
    """Return a variable as what `json` writes."""
    cuts = None if variable.cuts is None else list(variable.cuts)
    return {"name": variable.name, "states": list(variable.states), "cuts": cuts}


def read_variable(fields: Fields) -> Variable:
    """Return the variable that the fields describe."""
    name, states = fields.text("name"), fields.items("states")
    cuts = None if fields.is_null("cuts") else fields.items("cuts")
    fields.end()
    for position, state in enumerate(states):
        if not isinstance(state, str | int | float) or (isinstance(state, str) and not is_text(state)):
            raise fields.wrong(f"{shown(state)} is no state: a text, a number or a truth value", f"states[{position}]")
    if cuts is not None:
        cuts = fields.numbers(cuts, "cuts").tolist()
    with fields.checking():
        return Variable(name, states, cuts)


def markov_fields(net: MarkovNetwork) -> dict[str, object]:
    """Return a Markov network as what `json` writes.

    Raises
    ------
    SchemaError
        When a label cannot be stored.
    """
    check_storable(net.variables)
    return {
        "variables": [variable_fields(variable) for variable in net.variables],
        "potentials": [factor_fields(names, values) for names, values in net.potentials],
    }


def read_markov(fields: Fields) -> MarkovNetwork:
    """Return the Markov network that the fields describe."""
    variables = [read_variable(item) for item in fields.objects("variables")]
    names = [variable.name for variable in variables]
    with fields.checking():
        check_names(names)
    positions = {name: v for v, name in enumerate(names)}
    factors = []
    for item in fields.objects("potentials"):
        axes, values = read_factor(item, positions, dict(enumerate(variables)))
        with item.checking():  # each by itself, so that the place is known
            MarkovNetwork(variables, [([names[v] for v in axes], values)])
        factors.append(([names[v] for v in axes], values))
    return MarkovNetwork(variables, factors)


def tree_fields(conditional: TreeConditional) -> list[dict[str, object]]:
    """Return the nodes of a tree as what `json` writes, the root first."""
    names = {p: variable.name for p, variable in zip(conditional.parents, conditional.variables, strict=False)}
    sizes = {p: variable.cardinality for p, variable in zip(conditional.parents, conditional.variables, strict=False)}
    variable, first, branches = (array.tolist() for array in conditional.nodes())
    return [
        {"leaf": at} if asked < 0 else {"variable": names[asked], "to": branches[at : at + sizes[asked]]}
        for asked, at in zip(variable, first, strict=True)
    ]


def read_tree(fields: Fields, of: Mapping[str, tuple[int, Variable]]) -> Split | int:
    """Return the tree that the nodes describe.

    Parameters
    ----------
    fields : Fields
        Of the conditional.
    of : mapping
        For each parent's name its position and variable.
    """
    nodes = fields.objects("nodes")
    if not nodes:
        raise fields.wrong("a tree needs a node", "nodes")
    read: dict[int, Split | int] = {}
    for number in range(len(nodes) - 1, -1, -1):  # what a node leads to comes after it
        node = nodes[number]
        if node.has("leaf"):
            read[number] = node.whole("leaf")
        else:
            name = node.text("variable")
            if name not in of:
                raise node.wrong(f"{name!r} is no parent", "variable")
            position, variable = of[name]
            to = node.items("to")
            if len(to) != variable.cardinality:
                raise node.wrong(f"{len(to)} nodes for the {variable.cardinality} states of {name!r}", "to")
            for state, below in enumerate(to):
                if type(below) is not int or not number < below < len(nodes) or below not in read:
                    raise node.wrong(
                        f"expected a node from {number + 1} to {len(nodes) - 1} that nothing else leads to, "
                        f"got {shown(below)}",
                        f"to[{state}]",
                    )
            below = sorted(set(to))
            read[number] = Split(position, tuple(below.index(n) for n in to), tuple(read.pop(n) for n in below))
        node.end()
    if len(read) > 1:
        raise fields.wrong(f"nothing leads to node {max(read)}", "nodes")
    return read[0]


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


def _read_n_rows(fields: Fields) -> int | float | None:
    return None if fields.is_null("n_rows") else fields.amount("n_rows")


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
