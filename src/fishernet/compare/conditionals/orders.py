"""Graphs by which a change between two tables can be told: those in which few conditionals changed.

Data leave the direction of some arcs open, and where a change is seen depends on them: if ``x -> y`` is drawn the other
way round, a change of ``x`` alone becomes one of both conditionals. Changes of mechanisms are sparse (Perry, von
Kuegelgen and Schoelkopf, 2022), so a graph counts the more, the fewer conditionals changed in it: by the evidence of
both tables where each conditional may have changed with a probability of `families.PRIOR`, and by a tenth of the
graph's BIC.

Other orders are found from the best graph by turning single arcs. Both ends take the parents of both, so that the graph
can say all that it said before, and then lose those that BIC does not want for the tables, each by itself.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence

from fishernet.base.names import Positions
from fishernet.compare.conditionals.families import Families, Family

Parents = tuple[Positions, ...]

OF_BIC = 0.1  # the part of a graph's own score in its weight
WITHIN = math.log(20)  # a graph with less than a twentieth of the largest weight counts for nothing
MAY_HAVE_CHANGED = 0.2  # corrected p-values up to which a variable's arcs are turned


def graphs_of_sparse_change(
    families: Families, best: Parents, most: int, level: float
) -> tuple[tuple[Parents, float], ...]:
    """Return up to `most` graphs that are looked at, with weights that add up to 1, the largest first."""
    found: dict[Parents, float] = {}
    waiting = [(-_weight(families, best), best)]
    seen = {best}
    while waiting and len(found) < most:
        lost, graph = heapq.heappop(waiting)
        if found and -lost < max(found.values()) - WITHIN:
            break
        found[graph] = -lost
        for other in _turned(families, graph, level):
            if other not in seen:
                seen.add(other)
                heapq.heappush(waiting, (-_weight(families, other), other))
    largest = max(found.values())
    weights = {graph: math.exp(w - largest) for graph, w in found.items() if w >= largest - WITHIN}
    total = sum(weights.values())
    return tuple((graph, weight / total) for graph, weight in sorted(weights.items(), key=lambda item: -item[1]))


def families_of(graph: Parents) -> list[Family]:
    """Return each variable's parents with itself as the last."""
    return [(*parents, v) for v, parents in enumerate(graph)]


def _weight(families: Families, graph: Parents) -> float:
    of = families_of(graph)
    families.prepare(of)
    return math.fsum(families.evidence(family) + OF_BIC * families.score(family) for family in of)


def _turned(families: Families, graph: Parents, level: float) -> Iterator[Parents]:
    """Yield graphs with one arc turned, at variables that may have changed."""
    of = families_of(graph)
    corrected = families.corrected(of)
    within = max(MAY_HAVE_CHANGED, level)
    moved = {v for v, family in enumerate(of) if corrected[v] <= within or families.evidence(family) > 0}
    for y, parents in enumerate(graph):
        for x in parents:
            if {x, y} & moved:
                yield from _reversed(families, graph, x, y)


def _reversed(families: Families, graph: Parents, x: int, y: int) -> Iterator[Parents]:
    """Yield graphs with ``y -> x`` for ``x -> y``; none where x reaches y another way, or a family is too large.

    In the first x keeps its parents; in the second it loses those that it does not need beside y.
    """
    of_x, of_y = set(graph[x]), set(graph[y]) - {x}
    without = [tuple(sorted(of_y)) if v == y else parents for v, parents in enumerate(graph)]
    wide_x, wide_y = of_x | of_y | {y}, of_x | of_y
    if _reaches(without, x, y) or not families.is_small((*wide_x, x)):
        return
    families.prepare(_with_each_left_out(wide_x, x) + _with_each_left_out(wide_y, y))
    new = list(graph)
    new[y] = _pruned(families, y, wide_y, wide_y)
    for loose in (wide_x - of_x - {y}, wide_x - {y}):
        new[x] = _pruned(families, x, wide_x, loose)
        yield tuple(new)


def _with_each_left_out(parents: set[int], child: int) -> list[Family]:
    return [(*sorted(parents - left_out), child) for left_out in (set[int](), *({p} for p in sorted(parents)))]


def _pruned(families: Families, child: int, parents: set[int], loose: set[int]) -> Positions:
    """Return the parents without those loose ones that BIC does not want, the least wanted first."""
    left, loose = set(parents), set(loose)
    while loose:
        own = families.score_apart((*sorted(left), child))
        gain, worst = max((families.score_apart((*sorted(left - {p}), child)) - own, p) for p in sorted(loose))
        if gain <= 0:
            break
        left.discard(worst)
        loose.discard(worst)
    return tuple(sorted(left))


def _reaches(graph: Sequence[Positions], x: int, y: int) -> bool:
    """Return whether there is a directed path from x to y."""
    seen, waiting = {y}, [y]
    while waiting:
        for parent in graph[waiting.pop()]:
            if parent == x:
                return True
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return False
