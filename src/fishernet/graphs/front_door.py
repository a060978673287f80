"""Effects where a common cause is not observed: through what lies between, and by what acts on the cause alone.

*Front-door sets* [1]_: Z is between x and y when every directed path from x to y meets it, nothing unblocked leads back
from x to Z, and x blocks what leads back from Z to y. Then ``P(y | do(x)) = sum_z P(z | x) sum_x' P(y | x', z) P(x')``,
whatever common causes x and y have. A set of candidates shrinks until each of it may be in such a set; if what is left
is not one, none is [2]_.

*Instruments* [3]_: z acts on x given W, and on y through x alone: it is d-separated from y given W in the graph without
the arcs out of x. In a linear model the effect of x on y is ``cov(z, y | W) / cov(z, x | W)``.

References
----------
.. [1] J. Pearl, *Causality*, 2nd edition, Cambridge University Press 2009, section 3.3.2.
.. [2] H. Jeong, J. Tian and E. Bareinboim, "Finding and listing front-door adjustment sets", NeurIPS 2022.
.. [3] C. Brito and J. Pearl, "Generalized instrumental variables", UAI 2002.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice

from fishernet.base.names import Positions
from fishernet.graphs.adjustment import minimal_separators
from fishernet.graphs.separation import d_connected, reached

MOST_TRIED = 10_000  # sets, a second or two

Arcs = tuple[Sequence[Positions], Sequence[Positions]]
"""The parents of each node, and its children."""


def front_door_sets(arcs: Arcs, x: int, y: int, unobserved: Iterable[int]) -> Iterator[Positions]:
    """Yield each front-door set without what is not observed, of which no part is one, small ones first.

    Of many variables between, the smallest sets are tried, and one is yielded where there is any: of a set that was
    not tried nothing can be left out by itself.
    """
    barred = {x, y, *unobserved}
    between = [v for v in range(len(arcs[0])) if v not in barred and not _led_back(arcs, (x,), (v,), ())]
    while back := [v for v in between if _led_back(arcs, between, (y,), (x,), start=(v,))]:
        between = [v for v in between if v not in back]
    if not _is_met(arcs, x, y, between):
        return
    found: list[set[int]] = []
    subsets = (chosen for size in range(len(between) + 1) for chosen in combinations(between, size))
    for chosen in islice(subsets, MOST_TRIED):
        if not any(one.issubset(chosen) for one in found) and is_front_door_set(arcs, x, y, chosen):
            found.append(set(chosen))
            yield chosen
            if not chosen:
                return
    if not found:
        left = tuple(between)
        for v in between:
            less = tuple(u for u in left if u != v)
            left = less if is_front_door_set(arcs, x, y, less) else left
        yield left


def is_front_door_set(arcs: Arcs, x: int, y: int, between: Positions) -> bool:
    """Return whether a set is a front-door set for x and y."""
    if {x, y}.intersection(between) or not _is_met(arcs, x, y, between):
        return False
    return not _led_back(arcs, (x,), between, ()) and not _led_back(arcs, between, (y,), (x,))


def instruments(arcs: Arcs, x: int, y: int, unobserved: Iterable[int]) -> Iterator[tuple[int, Positions]]:
    """Yield each instrument for x and y, with a set given which it is one, of which no part separates it from y."""
    parents, children = arcs
    after = {v for v, found in enumerate(reached(children, [x])) if found}
    barred = after.union(unobserved)
    parents_without, _ = _without_arcs_from(arcs, (x,))
    for z in range(len(parents)):
        if z not in barred and z != y:
            sets = minimal_separators(parents_without, z, y, barred - {y})
            given = next((of for of in sets if d_connected(parents, children, (z,), (x,), of)), None)
            if given is not None:
                yield z, given


def _is_met(arcs: Arcs, x: int, y: int, nodes: Collection[int]) -> bool:
    """Return whether every directed path from x to y meets one of some nodes."""
    return not reached(arcs[1], [x], nodes)[y]


def _led_back(
    arcs: Arcs, nodes: Sequence[int], others: Sequence[int], given: Sequence[int], start: Sequence[int] | None = None
) -> bool:
    """Return whether nodes and others are connected given some by paths that begin with an arc into the nodes.

    With a start it is asked of this part of the nodes.
    """
    start = nodes if start is None else start
    return d_connected(*_without_arcs_from(arcs, nodes), tuple(start), tuple(others), tuple(given))


def _without_arcs_from(arcs: Arcs, nodes: Collection[int]) -> tuple[list[Positions], list[Positions]]:
    """Return parents and children in the graph without the arcs out of some nodes."""
    parents, children = arcs
    above = [tuple(p for p in of if p not in nodes) for of in parents]
    return above, [() if v in nodes else tuple(of) for v, of in enumerate(children)]
