"""A network in words."""

from __future__ import annotations

from collections.abc import Sequence

from fishernet.models.conditionals.conditional import Conditional
from fishernet.table import Variable

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
