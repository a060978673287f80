"""A model as a product of factors, the form in which the core multiplies and sums them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fishernet import _core
from fishernet.base.errors import StateSpaceError
from fishernet.data import Variable
from fishernet.models.conditionals.conditional import Conditional, Probabilities

MAX_TABLE = 2**26  # cells: half a gigabyte


def conditional_factors(variables: Sequence[Variable], conditionals: Sequence[Conditional]) -> _core.Factors:
    """Return the conditionals of a Bayesian network as factors, in the order of the variables.

    Raises
    ------
    StateSpaceError
        When a conditional's table would have more than 2**28 cells.
    """
    factors = _core.Factors(np.array([variable.cardinality for variable in variables], dtype=np.int64))
    for conditional in conditionals:
        scope = np.array((*conditional.parents, conditional.child), dtype=np.int32)
        factors.add(scope, conditional.table().reshape(-1), True)
    return factors


def check_held(cells: float, max_table: int, what: str) -> None:
    """Raise StateSpaceError when a plan would hold more cells than allowed; nothing has been allocated yet.

    A plan that was given up tells of the table at which it was.
    """
    if cells > max_table:
        raise StateSpaceError(
            what,
            cells=int(min(cells, 1e300)),
            limit=max_table,
            remedy="raise the limit (8 bytes a cell), give more evidence, or sample",
            parameter="max_table",
        )


def parent_marginals(
    factors: _core.Factors, cardinalities: Sequence[int], *, method: str = "auto", max_table: int = MAX_TABLE
) -> list[Probabilities]:
    """Return P(parents) of every variable, flat, the last parent fastest; by the cheapest exact plan.

    Raises
    ------
    StateSpaceError
        When more than `max_table` cells would be held at once.
    """
    plan = _core.FamilyPlan(factors, [], [], method, max_table)
    check_held(plan.cells_held, max_table, "the tables for the probabilities of the parents")
    return plan.run(np.zeros(len(cardinalities), dtype=np.int32), [])


def sum_by_group(conditional: Conditional, of_parents: Probabilities) -> Probabilities:
    """Return the probability of each group of a conditional, (groups,), from that of the configurations."""
    group_of = conditional.flat()[1]
    if group_of is None:
        return of_parents
    n_groups = conditional.probabilities.shape[0]
    return np.bincount(group_of, weights=of_parents, minlength=n_groups).astype(np.float64)
