"""How a search for the arcs of a Bayesian network goes about it, on the command line."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from fishernet.errors import FishernetError

GB = 1e9
TUNING = {  # option -> (type, what stands for its value, what it says)
    "candidates": (int, "N", "arcs only to the N variables that depend most."),
    "restarts": (int, "N", "go on from the best graph N times, changed at random."),
    "perturb": (int, "N", "how many random changes a restart makes."),
    "tenure": (int, "N", "tabu; an arc that was changed stays as it is for N steps."),
    "patience": (int, "N", "tabu; end after N steps that better nothing."),
    "max_memory": (float, "GB", "exact; take so many GB at most.  [default: 8.6]"),
}


def tuning_options(begin: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options that tune a search; it gets them as one keyword ``tuning``, a dict.

    Parameters
    ----------
    begin : str
        How the help of each begins: what it is for.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_tuning(*args: Any, **options: Any) -> Any:
            tuning = {name: options.pop(name) for name in TUNING}
            if tuning["max_memory"] is not None:
                tuning["max_memory"] = _bytes(tuning["max_memory"])
            return command(*args, tuning=tuning, **options)

        for name, (kind, metavar, says) in reversed(TUNING.items()):
            option = f"--{name.replace('_', '-')}"
            with_tuning = click.option(option, type=kind, metavar=metavar, help=f"{begin}: {says}")(with_tuning)
        return with_tuning

    return add


def _bytes(size: float) -> float:
    if not size > 0:
        raise FishernetError(f"--max-memory must be a positive number of GB, not {size:g}")
    return size * GB
