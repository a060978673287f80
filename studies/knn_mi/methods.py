"""The methods that are compared, each from rows and a seed to an undirected graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import fishernet as fn
from studies.comparators import Kcit, Rcit, glasso, graphical_lasso, kernel_tests, lasso_neighbourhoods, nonparanormal
from studies.knn_mi.truths import Array

ALPHA = 0.05
K, PERMUTATIONS, SKIP_BELOW = 5, 200, 0.001
LOCAL = "knnMI, local"


@dataclass(frozen=True)
class Method:
    """A way to a graph."""

    learn: Callable[[Array, int], fn.UndirectedGraph]
    missing: Callable[[], str] = lambda: ""
    """Returns what is not installed, or nothing."""


def knn_mi(X: Array, seed: int, scheme: str = "simple") -> fn.UndirectedGraph:
    """Learn as P4 does: IAMB, AND, simple permutations, its rule for skipping them."""
    return fn.learn.markov_graph(
        X,
        test="knn-mi",
        alpha=ALPHA,
        k=K,
        permutations=PERMUTATIONS,
        scheme=scheme,
        skip_below=SKIP_BELOW,
        seed=seed,
    )


METHODS = {
    "knnMI": Method(knn_mi),
    "fisherZ": Method(lambda X, _: fn.learn.markov_graph(X, test="fisher-z", alpha=ALPHA)),
    "KCIT": Method(lambda X, _: fn.learn.markov_graph(X, test=Kcit(X), alpha=ALPHA), kernel_tests.missing),
    "RCIT": Method(lambda X, seed: fn.learn.markov_graph(X, test=Rcit(X, seed), alpha=ALPHA), kernel_tests.missing),
    "NPN_glasso": Method(lambda X, _: graphical_lasso(nonparanormal(X)), glasso.missing),
    "NPN_mb": Method(lambda X, _: lasso_neighbourhoods(nonparanormal(X)), glasso.missing),
    LOCAL: Method(lambda X, seed: knn_mi(X, seed, "local")),
}


def learned(method: str, X: Array, seed: int) -> fn.UndirectedGraph:
    """Return a method's graph; warnings (of ties in data, of numbers in others' libraries) are not for the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return METHODS[method].learn(X, seed)


def missing() -> dict[str, str]:
    """Return what the methods that cannot run here lack."""
    return {name: lacks for name, method in METHODS.items() if (lacks := method.missing())}
