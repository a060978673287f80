"""Networks and graphs as fields of the model file, and back.

A Bayesian network or a dependency network (which also has "allow_zeros")::

    "n_rows": 1000                      the rows it was fitted on, or null
    "n_complete": 700                   those that know a family, of the family of which fewest do, where these are less
    "variables": [                      one a variable
      {"name": "age", "states": ["young", "old"], "cuts": [40.0]}            "cuts" may be null
    ]
    "conditionals": [                   one a variable, in the same order
      {"kind": "FullTable", "child": "age", "parents": [], "probabilities": [[0.25, 0.75]]}
    ]

Probabilities are rows, one a configuration of the parents, the last parent's state fastest. In a ``"MergedTable"`` they
are one a group, and ``"group_of"`` lists the group of every configuration in that order. In a ``"TreeConditional"``
they are one a leaf of its nodes::

    "nodes": [
      {"variable": "age", "to": [1, 2, 1]}    the node to which each state leads, always a later one
      {"leaf": 0}                             the row of probabilities
    ]

A Markov network has "variables", and factors in their order, whose values run with the last variable's state fastest::

    "potentials": [{"variables": ["a", "b"], "values": [2.0, 1.0, 1.0, 2.0]}]

An undirected graph::

    "names": ["a", "b", "c"],
    "edges": [[0, 1], [1, 2]]                 positions, each edge once, i < j
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fishernet.base.errors import SchemaError
from fishernet.base.fields import Fields, is_unicode, shown
from fishernet.base.names import a, check_names, several
from fishernet.data import Continuous, State, Variable
from fishernet.data.encoding.scales import Scale
from fishernet.data.variable import Column
from fishernet.graphs import UndirectedGraph
from fishernet.models import BayesianNetwork, Conditional, DependencyNetwork, MarkovNetwork
from fishernet.models.conditionals import CONDITIONALS
from fishernet.models.conditionals.product import factor_fields, read_factor
from fishernet.models.model import fitted_rows

OLDER_KINDS = {"LinearGaussian": "ConditionalGaussian"}  # of conditionals in files: what they are called now


def check_storable(variables: Iterable[Column]) -> None:
    """Raise SchemaError when a name or a state cannot be written to a text file and read back.

    Almost everything can. Not: half of a surrogate pair, which is no character, and an integer with more digits than
    Python turns into text (`sys.get_int_max_str_digits`).
    """
    for variable in variables:
        check_names_storable([variable.name])
        for position, state in enumerate(() if variable.is_continuous else variable.states):
            _check_state(variable.name, position, state)


def check_names_storable(names: Iterable[str]) -> None:
    """Raise SchemaError when a name holds half of a surrogate pair."""
    for name in names:
        if not name.isascii() and not is_unicode(name):
            raise SchemaError(f"the name {name!r} holds half of a surrogate pair, which cannot be written")


def _check_state(name: str, position: int, state: State) -> None:
    if isinstance(state, str) and not state.isascii() and not is_unicode(state):
        raise SchemaError(f"variable {name!r}: the state {state!r} holds half of a surrogate pair, which no file can")
    if isinstance(state, int):
        try:
            int.__repr__(state)
        except ValueError as error:
            raise SchemaError(f"variable {name!r}, state {position}: the integer is too long to be written") from error


def read_names(fields: Fields) -> list[str]:
    """Return the field of names."""
    names = fields.items("names")
    for number, name in enumerate(names):
        if not isinstance(name, str):
            raise fields.wrong(f"expected a text, got {shown(name)}", f"names[{number}]")
        if not is_unicode(name):
            raise fields.wrong(f"{name!r} holds half of a surrogate pair", f"names[{number}]")
    return names


def read_edges(fields: Fields, n: int, *entries: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the place of each edge, and the edge: two ascending positions below n, then the entries of these names."""
    wanted = ["position", "position", *entries]
    for number, edge in enumerate(fields.items("edges")):
        place = f"edges[{number}]"
        if not isinstance(edge, list) or len(edge) != len(wanted) or not all(type(v) is int for v in edge[:2]):
            raise fields.wrong(f"expected [{', '.join(wanted)}], got {shown(edge)}", place)
        if not 0 <= edge[0] < edge[1] < n:
            what = f"the positions must be ascending and below {n}, got {edge[0]} and {edge[1]}"
            raise fields.wrong(what, place)
        yield place, edge


def graph_fields(graph: UndirectedGraph) -> dict[str, object]:
    """Return an undirected graph as what `json` writes."""
    check_names_storable(graph.names)
    edges = [[one, other] for one, others in enumerate(graph.adjacency) for other in others if one < other]
    return {"names": list(graph.names), "edges": edges}


def read_graph(fields: Fields) -> UndirectedGraph:
    """Return the undirected graph that the fields describe."""
    names = read_names(fields)
    adjacency: list[list[int]] = [[] for _ in names]
    for _, (one, other) in read_edges(fields, len(names)):
        adjacency[one].append(other)
        adjacency[other].append(one)
    with fields.checking():
        return UndirectedGraph(names, adjacency)


def variable_fields(variable: Column) -> dict[str, object]:
    """Return a variable as what `json` writes."""
    if variable.is_continuous:
        unit = {} if variable.unit is None else {"unit": variable.unit}
        scale = {} if variable.scale is None else {"scale": [variable.scale.kind, *variable.scale.parameters]}
        resolution = {} if variable.resolution is None else {"resolution": variable.resolution}
        return {"name": variable.name, "continuous": True, **unit, **scale, **resolution}
    cuts = None if variable.cuts is None else list(variable.cuts)
    more = {"bounds": variable.bounds, "unit": variable.unit, "hidden": variable.hidden or None}
    found = {"name": variable.name, "states": list(variable.states), "cuts": cuts}
    return found | {word: value for word, value in more.items() if value is not None}


def read_variable(fields: Fields) -> Any:
    """Return the `Variable` or the `Continuous` that the fields describe."""
    name = fields.text("name")
    unit: Any
    if fields.has("continuous") and fields.truth("continuous"):
        unit = fields.text("unit") if fields.has("unit") else None
        scale = _read_scale(fields) if fields.has("scale") else None
        resolution = fields.number("resolution") if fields.has("resolution") else None
        fields.end()
        with fields.checking():
            return Continuous(name, unit, scale, resolution)
    states = fields.items("states")
    cuts = None if fields.is_null("cuts") else fields.items("cuts")
    bounds = fields.items("bounds") if fields.has("bounds") else None
    unit = fields.text("unit") if fields.has("unit") else None
    hidden = fields.has("hidden") and fields.truth("hidden")
    fields.end()
    for position, state in enumerate(states):
        if not isinstance(state, str | int | float) or (isinstance(state, str) and not is_unicode(state)):
            raise fields.wrong(f"{shown(state)} is no state: a text, a number or a truth value", f"states[{position}]")
    if bounds is not None:
        fields.numbers(bounds, "bounds")  # which keep their types
    if cuts is not None:
        cuts = fields.numbers(cuts, "cuts").tolist()
    with fields.checking():
        return Variable(name, states, cuts, bounds, unit, hidden)


def _read_scale(fields: Fields) -> Scale:
    """Return the scale that a column of numbers has: its kind, and then its parameters."""
    kind, *parameters = fields.items("scale") or [None]
    if not isinstance(kind, str):
        raise fields.wrong(f"expected the kind of a scale and its parameters, got {shown(kind)}", "scale")
    with fields.checking():
        return Scale(kind, tuple(fields.numbers(parameters, "scale").tolist()))


def markov_fields(net: MarkovNetwork) -> dict[str, object]:
    """Return a Markov network as what `json` writes."""
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
    positions, by_position = {name: v for v, name in enumerate(names)}, dict(enumerate(variables))
    factors = []
    for item in fields.objects("potentials"):
        axes, values = read_factor(item, positions, by_position)
        with item.checking():  # each on its own, so that the place is known
            MarkovNetwork([variables[v] for v in axes], [([names[v] for v in axes], values)])
        factors.append(([names[v] for v in axes], values))
    return MarkovNetwork(variables, factors)


def network_fields(net: BayesianNetwork) -> dict[str, object]:
    """Return a Bayesian network as what `json` writes."""
    return {**fitted_rows(net.n_rows, net.n_complete), **_parts(net)}


def read_network(fields: Fields) -> BayesianNetwork:
    """Return the Bayesian network that the fields describe."""
    n_rows = read_n_rows(fields)
    n_complete = fields.amount("n_complete") if fields.has("n_complete") else None
    variables, described = _read_parts(fields)
    conditionals = [_read_conditional(item, child, variables) for child, item in enumerate(described)]
    return BayesianNetwork(variables, conditionals, n_rows=n_rows, n_complete=n_complete)


def dependency_fields(net: DependencyNetwork) -> dict[str, object]:
    """Return a dependency network as what `json` writes."""
    return {"n_rows": net.n_rows, "allow_zeros": net.allow_zeros, **_parts(net)}


def read_dependency(fields: Fields) -> DependencyNetwork:
    """Return the dependency network that the fields describe."""
    n_rows, allow_zeros = read_n_rows(fields), fields.truth("allow_zeros")
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


def read_n_rows(fields: Fields) -> int | float | None:
    """Return the rows that a network was fitted on, or None."""
    return None if fields.is_null("n_rows") else fields.amount("n_rows")


def _read_parts(fields: Fields) -> tuple[list[Variable], list[Fields]]:
    """Return the variables, and as many conditionals as they are described."""
    variables = [read_variable(item) for item in fields.objects("variables")]
    described = fields.objects("conditionals")
    if len(described) != len(variables):
        raise fields.wrong(
            f"{several(len(described), 'conditional')} for {several(len(variables), 'variable')}", "conditionals"
        )
    return variables, described


def _conditional_fields(conditional: Conditional) -> dict[str, object]:
    kind = next((name for name, known in CONDITIONALS.items() if type(conditional) is known), None)
    *parents, child = [variable.name for variable in conditional.variables]
    if kind is None:
        raise SchemaError(
            f"the conditional of {child!r} is {a(type(conditional).__name__)}; "
            f"what can be saved: {', '.join(sorted(CONDITIONALS))}"
        )
    return {"kind": kind, "child": child, "parents": parents, **conditional.to_fields()}


def _read_conditional(fields: Fields, child: int, variables: Sequence[Variable]) -> Conditional:
    kind, name = fields.text("kind"), fields.text("child")
    kind = OLDER_KINDS.get(kind, kind)
    if kind not in CONDITIONALS:
        raise fields.wrong(f"unknown kind {kind!r}; known are {', '.join(sorted(CONDITIONALS))}", "kind")
    if name != variables[child].name:
        raise fields.wrong(f"expected {variables[child].name!r}, in the order of the variables; got {name!r}", "child")
    parents = fields.positions("parents", {variable.name: v for v, variable in enumerate(variables)})
    family = [variables[v] for v in (*parents, child)]
    with fields.checking():
        conditional = CONDITIONALS[kind].from_fields(fields, child, parents, family)
    fields.end()
    return conditional
