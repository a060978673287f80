"""Markov equivalence: which edges of a DAG its class leaves free.

Two DAGs have the same d-separations if and only if they have the same skeleton and the same v-structures [1]_. An edge
is *compelled* when all DAGs of the class point it the same way, and *reversible* otherwise; so two DAGs are equivalent
if and only if they have the same skeleton and the same compelled edges.

Chickering's procedures Order-Edges and Label-Edges [2]_ take the edges child by child in topological order and, within
a child y, from the parent x that comes last. The rules for this one edge x -> y settle all edges into y that they have
not compelled one by one, so every child is visited once:

1. some w -> x is compelled and w is no parent of y: all edges into y are compelled;
2. otherwise each such w -> y is compelled, and the rest of the edges into y are compelled when some parent of y other
   than x is no parent of x, and reversible when there is none.

References
----------
.. [1] T. Verma and J. Pearl, "Equivalence and synthesis of causal models", UAI 1990.
.. [2] D. M. Chickering, "A transformational characterization of equivalent Bayesian network structures", UAI 1995.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fishernet.base.names import Positions

UNDIRECTED = -1

Marks = dict[tuple[int, int], int]
"""Each edge's two positions, the lower first, and what it points at: a position, or UNDIRECTED where it is free."""


def compelled_parents(parents: Sequence[Positions], order: Positions) -> list[frozenset[int]]:
    """Return for each variable the parents whose edge into it is compelled.

    Time O(n + m + sum of the numbers of parents of each variable's last parent), at most O(n k + m) with up to k
    parents a variable.
    """
    rank = {variable: place for place, variable in enumerate(order)}
    sets = [frozenset(found) for found in parents]
    compelled: list[frozenset[int]] = [frozenset()] * len(parents)
    for y in order:
        if not sets[y]:
            continue
        x = max(parents[y], key=rank.__getitem__)
        collides = any(z != x and z not in sets[x] for z in parents[y])
        compelled[y] = sets[y] if collides or not compelled[x] <= sets[y] else compelled[x]
    return compelled


def class_marks(parents: Sequence[Positions], order: Positions) -> Marks:
    """Return the edges of the CPDAG of a DAG; equal for two DAGs if and only if they are equivalent."""
    compelled = compelled_parents(parents, order)
    return {
        (min(parent, child), max(parent, child)): child if parent in compelled[child] else UNDIRECTED
        for child, found in enumerate(parents)
        for parent in found
    }


def relabelled(marks: Mapping[tuple[int, int], int], place: Positions) -> Marks:
    """Return the same edges with variable i at position ``place[i]``."""
    return {
        (min(place[a], place[b]), max(place[a], place[b])): head if head == UNDIRECTED else place[head]
        for (a, b), head in marks.items()
    }
