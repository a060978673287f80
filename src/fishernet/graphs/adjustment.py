"""What must be known to tell a cause's effect from what was only seen: adjustment sets, by reachability over positions.

A set Z is an adjustment set for x and y when ``P(y | do(x)) = sum_z P(y | x, z) P(z)`` in every distribution of the
graph. That is so if and only if Z holds nothing on or below a directed path from x to y, and d-separates x and y in the
graph without the first arcs of these paths [1]_. The minimal ones are the minimal separators of a moral graph, which
are listed one after the other, each from another [2]_, [3]_.

References
----------
.. [1] I. Shpitser, T. VanderWeele and J. Robins, "On the validity of covariate adjustment for estimating causal
   effects", UAI 2010.
.. [2] B. van der Zander, M. Liskiewicz and J. Textor, "Separators and adjustment sets in causal graphs: complete
   criteria and an algorithmic framework", Artificial Intelligence 270, 2019.
.. [3] T. Kloks and D. Kratsch, "Listing all minimal separators of a graph", SIAM Journal on Computing 27, 1998.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fishernet.base.names import Positions
from fishernet.graphs.separation import d_connected, reached

Neighbours = list[set[int]]


def on_causal_paths(parents: Sequence[Positions], children: Sequence[Positions], x: int, y: int) -> set[int]:
    """Return the nodes but x on directed paths from x to y, y among them where there is one."""
    below, above = reached(children, [x]), reached(parents, [y], [x])
    return {v for v in range(len(parents)) if below[v] and above[v] and v != x}


def forbidden_nodes(parents: Sequence[Positions], children: Sequence[Positions], x: int, y: int) -> set[int]:
    """Return what no adjustment set holds: x, y, and what is on a directed path between them or below it."""
    below = reached(children, on_causal_paths(parents, children, x, y))
    return {v for v in range(len(parents)) if below[v]} | {x, y}


def without_causal_arcs(
    parents: Sequence[Positions], children: Sequence[Positions], x: int, y: int
) -> tuple[list[Positions], list[Positions]]:
    """Return parents and children in the graph without the first arcs of the directed paths from x to y."""
    first = on_causal_paths(parents, children, x, y).intersection(children[x])
    above = [tuple(p for p in of if p != x) if v in first else tuple(of) for v, of in enumerate(parents)]
    below = [tuple(c for c in of if c not in first) if v == x else tuple(of) for v, of in enumerate(children)]
    return above, below


def is_adjustment_set(
    parents: Sequence[Positions], children: Sequence[Positions], x: int, y: int, given: Positions
) -> bool:
    """Return whether a set is an adjustment set for x and y."""
    if forbidden_nodes(parents, children, x, y).intersection(given):
        return False
    return not d_connected(*without_causal_arcs(parents, children, x, y), (x,), (y,), given)


def minimal_adjustment_sets(
    parents: Sequence[Positions], children: Sequence[Positions], x: int, y: int, unobserved: Iterable[int]
) -> Iterator[Positions]:
    """Yield each adjustment set without what is not observed, of which no part is one."""
    barred = forbidden_nodes(parents, children, x, y).union(unobserved) - {x, y}
    yield from minimal_separators(without_causal_arcs(parents, children, x, y)[0], x, y, barred)


def minimal_separators(parents: Sequence[Positions], x: int, y: int, barred: set[int]) -> Iterator[Positions]:
    """Yield each set that d-separates x and y, holds no barred node, and of which no part d-separates them.

    They are among the ancestors of x and y, and separate x and y in the moral graph of these. A barred node is no
    separator, so its neighbours are joined in its place.
    """
    joined = _moral(parents, x, y)
    for v in sorted(barred):
        around = joined[v]
        for u in around:
            joined[u] |= around - {u}
            joined[u].discard(v)
        joined[v] = set()
    if y in joined[x]:
        return
    first = _near(joined, _component(joined, y, joined[x] | {x}))
    waiting, seen = [first], {first}
    while waiting:
        separator = waiting.pop(0)
        yield separator
        side = _component(joined, x, set(separator))
        for v in separator:
            grown = side | {v}
            around = set().union(*(joined[u] for u in grown)) - grown
            if y in around or y in grown:
                continue
            other = _near(joined, _component(joined, y, grown | around))
            if other not in seen:
                seen.add(other)
                waiting.append(other)


def _moral(parents: Sequence[Positions], x: int, y: int) -> Neighbours:
    """Return the moral graph of the ancestors of two nodes."""
    kept = reached(parents, [x, y])
    joined: Neighbours = [set() for _ in parents]
    for child, of in enumerate(parents):
        if kept[child]:
            family = (child, *of)
            for v in family:
                joined[v].update(u for u in family if u != v)
    return joined


def _component(joined: Neighbours, start: int, barred: set[int]) -> set[int]:
    """Return what can be reached from a node without entering a barred one."""
    found, stack = {start}, [start]
    while stack:
        fresh = joined[stack.pop()] - found - barred
        found |= fresh
        stack.extend(fresh)
    return found


def _near(joined: Neighbours, component: set[int]) -> Positions:
    """Return the nodes around a component, ascending."""
    return tuple(sorted(set().union(*(joined[v] for v in component)) - component))
