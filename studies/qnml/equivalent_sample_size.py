"""What BDeu's one setting does to the network it chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import fishernet as fn
from studies.qnml.criteria import learn

ROWS, SEED = 1_000, 4232
FULL = tuple(float(f"{10 ** (k / 4):.3g}") for k in range(-12, 17))
"""From 1/1000 to 10,000, four a decade."""
QUICK = FULL[::4]


@dataclass(frozen=True)
class Chosen:
    """The best network by one score."""

    ess: float | None
    """None for a score that has no such setting."""
    score: float
    arcs: int
    parameters: int
    shd: int
    """To the network that the rows were drawn from."""


def chosen(rows: fn.Table, truth: fn.BayesianNetwork, criterion: str, *, ess: float | None = None) -> Chosen:
    """Learn by one score and look at the network; the equivalent sample size is BDeu's."""
    options = {} if ess is None else {"ess": ess}
    dag = learn(rows, criterion, **options)
    size = fn.learn.parameters(dag, rows).n_parameters
    value = fn.score(dag, rows, criterion.lower(), **options)
    return Chosen(ess, value, dag.n_edges, size, fn.shd(dag, truth.dag))


def by_ess(truth: fn.BayesianNetwork, sizes: Sequence[float], n_rows: int = ROWS) -> list[Chosen]:
    """Learn from the same rows at every equivalent sample size."""
    rows = truth.sample(n_rows, seed=SEED)
    return [chosen(rows, truth, "BDeu", ess=ess) for ess in sizes]
