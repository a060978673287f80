"""The methods that are compared, each from rows to an undirected graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import fishernet as fn
from studies.comparators import (
    glasso,
    graphical_lasso,
    lasso_neighbourhoods,
    neighbourhoods,
    partial_correlations,
    space,
)
from studies.fmpl.truths import Array


@dataclass(frozen=True)
class Method:
    """A way to a graph."""

    learn: Callable[[Array], fn.UndirectedGraph]
    missing: Callable[[], str] = lambda: ""
    """Returns what is not installed, or nothing."""


METHODS = {
    "AND": Method(lambda X: fn.learn.gaussian_graph(X, rule="and")),
    "OR": Method(lambda X: fn.learn.gaussian_graph(X, rule="or")),
    "HC": Method(lambda X: fn.learn.gaussian_graph(X, rule="hc")),
    "glasso": Method(graphical_lasso, glasso.missing),
    "NBS": Method(lasso_neighbourhoods, neighbourhoods.missing),
    "SPACE": Method(space, partial_correlations.missing),
    "AND, no prior": Method(lambda X: fn.learn.gaussian_graph(X, rule="and", prior=False)),
    "OR, no prior": Method(lambda X: fn.learn.gaussian_graph(X, rule="or", prior=False)),
    "HC, no prior": Method(lambda X: fn.learn.gaussian_graph(X, rule="hc", prior=False)),
}
OURS = ("AND", "OR", "HC")
OTHERS = ("glasso", "NBS", "SPACE")
WITHOUT = tuple(f"{rule}, no prior" for rule in OURS)


def learned(method: str, X: Array) -> fn.UndirectedGraph:
    """Return a method's graph; that blankets want rows is what the study shows, and not for the report to warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return METHODS[method].learn(X)


def missing() -> dict[str, str]:
    """Return what the methods that cannot run here lack."""
    return {name: lacks for name, method in METHODS.items() if (lacks := method.missing())}
