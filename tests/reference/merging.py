"""Merging rows of tables from definitions: scores of partitions, all partitions, the literal greedy search."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from tests.reference.scoring import PENALIZED, log_dirichlet, naive_regret

Groups = list[list[int]]  # the configurations of each group


def partition_score(rows: Sequence[Sequence[int]], groups: Groups, name: str, ess: float = 1.0) -> float:
    """The score of a child whose q configurations (a row of counts each) are in groups."""
    q, r, n = len(rows), len(rows[0]), sum(map(sum, rows))
    pooled = [[sum(rows[j][k] for j in group) for k in range(r)] for group in groups]
    likelihood = math.fsum(c * math.log(c / sum(row)) for row in pooled for c in row if c)
    if name in PENALIZED:
        return likelihood - PENALIZED[name](n) * len(groups) * (r - 1)
    if name == "fnml":
        return likelihood - math.fsum(naive_regret(sum(row), r) for row in pooled)
    if name == "qnml":
        return likelihood - naive_regret(n, len(groups) * r) + naive_regret(n, len(groups))
    if name == "k2":
        return math.fsum(log_dirichlet(row, [1.0] * r) for row in pooled)
    if name == "bdeu":
        return math.fsum(
            log_dirichlet(row, [ess * len(group) / (q * r)] * r) for row, group in zip(pooled, groups, strict=True)
        )
    assert name == "bdq"
    cells, sums = [c for row in pooled for c in row], [sum(row) for row in pooled]
    return log_dirichlet(cells, [1.0] * len(cells)) - log_dirichlet(sums, [1.0] * len(sums))


def partitions(items: Sequence[int]) -> Iterator[Groups]:
    """Every partition."""
    if not items:
        yield []
        return
    first, *rest = items
    for groups in partitions(rest):
        yield [[first], *groups]
        for at in range(len(groups)):
            yield [*groups[:at], [first, *groups[at]], *groups[at + 1 :]]


def merged_greedily(rows: Sequence[Sequence[int]], groups: Groups, name: str) -> Groups:
    """The pair whose merging raises the score most, the first of equal ones, until none does."""
    groups = [sorted(group) for group in groups]
    while True:
        here = partition_score(rows, groups, name)
        best, gain = None, 1e-9
        for a, b in itertools.combinations(range(len(groups)), 2):
            merged = [*groups[:a], sorted(groups[a] + groups[b]), *groups[a + 1 : b], *groups[b + 1 :]]
            raised = partition_score(rows, merged, name) - here
            if raised > gain + (0 if best is None else 1e-9):
                best, gain = merged, raised
        if best is None:
            return groups
        groups = best
