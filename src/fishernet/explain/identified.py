"""How the effect of a cause is told from a table that lacks variables of the graph: what is fitted, and what is asked.

Where an adjustment set is observed, a network of it, the cause and what it acts on is enough: ``P(y | do(x))`` is the
mean of ``P(y | x, z)`` over z. Where only what lies between is (`Dag.front_door_sets`), the cause that acts through it
and the cause that went with it in the table are two variables: ``P(y | do(x)) = sum_z P(z | x) sum_x' P(x') P(y | x',
z)`` is the answer of a network in which x acts on z alone, and a copy of x on y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fishernet.base.errors import SchemaError
from fishernet.base.names import listed
from fishernet.data.variable import Column
from fishernet.graphs import Dag
from fishernet.models import BayesianNetwork

MOST_SETS = 100  # among which the smallest is taken


@dataclass(frozen=True)
class Identified:
    """What is fitted to a table for the effect of one variable on another."""

    dag: Dag
    x: str
    y: str
    adjusted: tuple[str, ...] | None
    """A smallest adjustment set that is observed."""
    through: tuple[str, ...] | None = None
    """What lies between, where it is needed."""

    @classmethod
    def of(cls, dag: Dag, x: str, y: str, variables: Sequence[Column]) -> Identified:
        """Return how the effect is told of a table of these columns; SchemaError where it cannot be."""
        kinds = {variable.name: variable.is_continuous for variable in variables}
        hidden = [name for name in dag.names if name not in kinds]
        sets = dag.adjustment_sets(x, y, unobserved=hidden, most=MOST_SETS)
        adjusted = min(sets, key=len, default=None)
        if not hidden:
            return cls(dag, x, y, adjusted)
        if adjusted is not None:
            return cls(_all_joined(adjusted, (), x, y, kinds), x, y, adjusted)
        between = dag.front_door_sets(x, y, unobserved=hidden, most=1)
        if not between:
            raise SchemaError(
                f"the effect of {x!r} on {y!r} cannot be told: the table lacks {listed(hidden)}, and has neither what "
                f"must be adjusted for nor what lies between; add a column, or see dag.instruments({x!r}, {y!r})",
                parameter="graph",
            )
        return cls(_all_joined(between[0], (x,), x, y, kinds), x, y, None, between[0])

    def asked(self, net: BayesianNetwork) -> BayesianNetwork:
        """Return the network whose answers about y, with x set, are those of the graph's."""
        if self.through is None:
            return net
        x, y, new = net.names.index(self.x), net.names.index(self.y), len(net.names)
        copy = replace(net.variables[x], name=max(net.names, key=len) + "'")  # a name of no column
        variables = [*net.variables, copy]
        conditionals: list[Any] = [*net.conditionals, net.conditionals[x].moved(new, (), [copy])]
        parents = [new if p == x else p for p in conditionals[y].parents]
        conditionals[y] = conditionals[y].moved(y, parents, [variables[v] for v in (*parents, y)])
        return BayesianNetwork(variables, conditionals)


def _all_joined(others: Sequence[str], above: tuple[str, ...], x: str, y: str, kinds: dict[str, bool]) -> Dag:
    """Return the graph of a cause, others that depend on one another and on `above`, and what all of them act on."""
    names = sorted(others, key=lambda name: kinds[name])  # labels do not depend on numbers
    edges = [(one, name) for k, name in enumerate(names) for one in (*above, *names[:k])]
    return Dag.from_edges([x, *names, y], [*edges, *((name, y) for name in (x, *names))])
