"""Setting variables from outside, as an experiment does."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fishernet.errors import SchemaError
from fishernet.infer.findings import Findings, network_of
from fishernet.models import BayesianNetwork
from fishernet.models.conditionals.conditional import Conditional
from fishernet.models.conditionals.full_table import FullTable
from fishernet.table.variable import State


def intervene(net: BayesianNetwork, states: Mapping[str, State]) -> BayesianNetwork:
    """Return the network in which some variables are set from outside (Pearl's do).

    They lose their parents and have their states with probability 1; all other conditionals stay. What is learned
    from the new network is what an experiment would show if the arcs are causes.

    Parameters
    ----------
    net : BayesianNetwork
    states : mapping from name to state

    Raises
    ------
    SchemaError, UnknownStateError
        When a name or a state is not the network's.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> seen = fn.infer.marginal(asia, ["smoke"], given={"bronc": "yes"})
    >>> done = fn.infer.marginal(fn.infer.intervene(asia, {"bronc": "yes"}), ["smoke"])
    >>> seen.round(2), done.round(2)
    (array([0.67, 0.33]), array([0.5, 0.5]))
    """
    net = network_of(net)
    if states is None:
        raise SchemaError("intervene needs a mapping from names to states")
    findings = Findings.of(net.variables, states, None)
    conditionals: list[Conditional] = list(net.conditionals)
    for position in findings.observed:
        variable = net.variables[position]
        certain = np.zeros((1, variable.cardinality))
        certain[0, findings.states[position]] = 1
        conditionals[position] = FullTable(position, (), (variable,), certain)
    return BayesianNetwork(net.variables, conditionals)
