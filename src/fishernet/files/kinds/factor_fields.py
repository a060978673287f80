"""A factor as fields of the model file, and back: ``{"variables": ["a", "b"], "values": [2.0, 1.0, 1.0, 2.0]}``.

The values are one a configuration of the variables, the last one's state fastest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fishernet.files.fields import Fields, shown
from fishernet.models.conditionals.conditional import Probabilities
from fishernet.table import Variable
from fishernet.table.variable import listed


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
