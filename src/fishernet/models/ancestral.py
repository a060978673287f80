"""P(parents of a variable) by elimination in the ancestral graph.

The joint of some variables depends on their ancestors alone. Their conditionals are multiplied, and every variable
that is not asked for is summed out, the cheapest first. Exact; what would need too large a table is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fishernet.errors import StateSpaceError
from fishernet.graphs import Dag
from fishernet.models.conditional import Conditional, Probabilities
from fishernet.table import Variable

MOST_CELLS = 2**26

Factor = tuple[tuple[int, ...], Probabilities]  # positions of its axes, and the numbers


def group_probabilities(
    variables: Sequence[Variable], dag: Dag, conditionals: Sequence[Conditional], child: int
) -> Probabilities:
    """Return the probability of each group of one conditional, (groups,).

    Raises
    ------
    StateSpaceError
        When a table of more than 2**26 cells would be needed.
    """
    conditional = conditionals[child]
    joint = marginal(variables, dag, conditionals, conditional.parents)
    if conditional.flat()[1] is None:
        return joint.ravel()
    groups = range(conditional.probabilities.shape[0])
    return np.array([sum(_box_sum(joint, conditional.parents, box) for box in conditional.contexts(g)) for g in groups])


def _box_sum(joint: Probabilities, parents: tuple[int, ...], box: Mapping[int, tuple[int, ...]]) -> float:
    index = [box.get(parent, tuple(range(joint.shape[axis]))) for axis, parent in enumerate(parents)]
    return float(joint[np.ix_(*index)].sum())


def marginal(
    variables: Sequence[Variable], dag: Dag, conditionals: Sequence[Conditional], wanted: Sequence[int]
) -> Probabilities:
    """Return the joint probabilities of some variables, one axis each in the order given."""
    cardinalities = [variable.cardinality for variable in variables]
    factors: list[Factor] = [
        ((*conditionals[v].parents, v), conditionals[v].table()) for v in _with_ancestors(dag, wanted)
    ]
    hidden = sorted({v for axes, _ in factors for v in axes} - set(wanted))
    while hidden:
        cheapest = min(hidden, key=lambda v: (_cells(factors, v, cardinalities), v))
        hidden.remove(cheapest)
        near = [factor for factor in factors if cheapest in factor[0]]
        rest = [factor for factor in factors if cheapest not in factor[0]]
        scope = tuple(sorted({v for axes, _ in near for v in axes} - {cheapest}))
        factors = [*rest, (scope, _product(near, scope, cardinalities))]
    return _product(factors, tuple(wanted), cardinalities)


def _with_ancestors(dag: Dag, wanted: Sequence[int]) -> list[int]:
    found: set[int] = set()
    open_ = list(wanted)
    while open_:
        v = open_.pop()
        if v not in found:
            found.add(v)
            open_.extend(dag.parents[v])
    return sorted(found)


def _cells(factors: Sequence[Factor], v: int, cardinalities: Sequence[int]) -> int:
    scope = {u for axes, _ in factors if v in axes for u in axes}
    return math.prod(cardinalities[u] for u in sorted(scope))


def _product(factors: Sequence[Factor], scope: tuple[int, ...], cardinalities: Sequence[int]) -> Probabilities:
    """Multiply factors and sum over everything outside the scope."""
    every = sorted({v for axes, _ in factors for v in axes} | set(scope))
    cells = math.prod(cardinalities[v] for v in every)
    if cells > MOST_CELLS:
        raise StateSpaceError(
            f"a table over {len(every)} variables", cells=cells, limit=MOST_CELLS, remedy="give variables fewer parents"
        )
    total = np.ones([cardinalities[v] for v in every])
    for axes, values in factors:
        shape = [cardinalities[v] if v in axes else 1 for v in every]
        total *= values.transpose(np.argsort(axes)).reshape(shape)
    kept = [v for v in every if v in scope]
    others = tuple(axis for axis, v in enumerate(every) if v not in scope)
    summed: Probabilities = total.sum(axis=others)
    return summed.transpose([kept.index(v) for v in scope])
