"""What `fishernet query` answers by sampling, for a model whose probabilities have no closed form."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fishernet.cli.inputs.models import wrong_kind
from fishernet.cli.inputs.states import States
from fishernet.errors import FishernetWarning
from fishernet.infer import Estimate, estimate
from fishernet.models import DependencyNetwork
from fishernet.table.variable import positions

SEED = 0  # equal commands give equal numbers


def refuse_exact(path: Path, asked: Mapping[str, object]) -> None:
    """Raise FishernetError when what is asked for, by option, cannot be sampled."""
    for option, value in asked.items():
        if value:
            raise wrong_kind(
                path,
                "a dependency network",
                f"{option} needs a Bayesian network; for rows given what is known there is fishernet sample --given",
            )


def sampled_answers(net: DependencyNetwork, names: Sequence[str], given: States, *, joint: bool) -> dict[str, Any]:
    """Return the joint table of some names, or the probabilities of each one's states, with Monte Carlo errors."""
    of = {name: net.variables[v] for name, v in zip(names, positions(net.names, names), strict=True)}
    found = _estimates(net, [tuple(names)] if joint else [(name,) for name in names], given)
    numbers = [
        {"probabilities": one.probabilities.tolist(), "standard_errors": one.standard_errors.tolist()} for one in found
    ]
    facts = {"rows": found[0].n_rows if found else 0, "seed": SEED}
    if joint:
        states = [variable.states for variable in of.values()]
        return facts | {"joint": {"names": names, "states": states, **numbers[0]}}
    marginals = {name: {"states": of[name].states, **own} for name, own in zip(names, numbers, strict=True)}
    return facts | {"marginals": marginals}


def _estimates(net: DependencyNetwork, asked: Sequence[tuple[str, ...]], given: States) -> list[Estimate]:
    """Return an estimate of each joint table, all of the same rows; what the library warns of is said once."""
    found = [estimate(net, names, given=given, seed=SEED) for names in asked[:1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)
        return found + [estimate(net, names, given=given, seed=SEED) for names in asked[1:]]
