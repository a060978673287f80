"""Topological order, and the cycle that forbids one."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from fishernet.errors import CycleError
from fishernet.graphs.names import Positions


def topological_order(names: Sequence[str], parents: Sequence[Positions], children: Sequence[Positions]) -> Positions:
    """Return the positions with every parent before its children; ties go to the lowest position.

    Time O(n log n + m) for n variables and m edges.

    Raises
    ------
    CycleError
        When the edges close a cycle, naming one.
    """
    waiting = [len(found) for found in parents]
    ready = [variable for variable, number in enumerate(waiting) if number == 0]  # ascending, hence a heap
    order = []
    while ready:
        variable = heapq.heappop(ready)
        order.append(variable)
        for child in children[variable]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, child)
    if len(order) < len(parents):
        raise CycleError([names[variable] for variable in _cycle(parents, waiting)])
    return tuple(order)


def _cycle(parents: Sequence[Positions], waiting: Sequence[int]) -> list[int]:
    """Return a cycle among the variables that still wait, along the edges, the first repeated at the end.

    Each of them waits for a parent that waits too, so going backwards must come round.
    """
    path: list[int] = []
    seen: dict[int, int] = {}
    variable = next(v for v, number in enumerate(waiting) if number)
    while variable not in seen:
        seen[variable] = len(path)
        path.append(variable)
        variable = next(parent for parent in parents[variable] if waiting[parent])
    cycle = path[seen[variable] :][::-1]
    start = cycle.index(min(cycle))
    return [*cycle[start:], *cycle[: start + 1]]
