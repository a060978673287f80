"""Scores of families from their definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from fishernet import Table


def log_likelihood(table: Table, child: int, parents: Sequence[int]) -> float:
    """sum_jk N_jk log (N_jk / N_j)."""
    joint: Counter[tuple[int, ...]] = Counter()
    parent: Counter[tuple[int, ...]] = Counter()
    for row in range(table.n_rows):
        weight = 1 if table.weights is None else int(table.weights[row])
        j = tuple(int(table.codes[p][row]) for p in parents)
        joint[(*j, int(table.codes[child][row]))] += weight
        parent[j] += weight
    return math.fsum(n * math.log(n / parent[cell[:-1]]) for cell, n in joint.items() if n)


def n_parameters(table: Table, child: int, parents: Sequence[int]) -> int:
    """(r - 1) times the product of the parents' cardinalities."""
    return (table.cardinalities[child] - 1) * math.prod(table.cardinalities[p] for p in parents)


def total_weight(table: Table) -> int:
    return table.n_rows if table.weights is None else int(table.weights.sum())


def family_score(table: Table, child: int, parents: Sequence[int], name: str) -> float:
    """A family's score by name."""
    fit = log_likelihood(table, child, parents)
    price = {"loglik": 0.0, "aic": 1.0, "bic": 0.5 * math.log(max(1, total_weight(table)))}[name]
    return fit - price * n_parameters(table, child, parents)
