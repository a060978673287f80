"""A Markov network as fields of the model file, and back.

::

    "variables": [ ... ]                as in `network_fields`
    "potentials": [                     the factors, in their order (`factor_fields`)
      {"variables": ["a", "b"], "values": [2.0, 1.0, 1.0, 2.0]}
    ]
"""

from __future__ import annotations

from fishernet.files.fields import Fields
from fishernet.files.kinds.factor_fields import factor_fields, read_factor
from fishernet.files.kinds.variable_fields import read_variable, variable_fields
from fishernet.files.labels import check_storable
from fishernet.models import MarkovNetwork
from fishernet.table.variable import check_names


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
