"""Graphs that the data hardly tell from the best one: its equivalence class, and those of nearly equal score."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator

from fishernet.base.names import Positions
from fishernet.data import Source
from fishernet.graphs import Dag
from fishernet.scores.base import Families, Score
from fishernet.scores.local import LocalScores

WITHIN = math.log(20)  # nats: a graph that is 20 times less probable counts little

Parents = tuple[Positions, ...]
Change = tuple[tuple[int, Positions], ...]  # the new parents of one or two variables


def near_graphs(source: Source, best: Dag, score: Score, most: int) -> tuple[tuple[Dag, float], ...]:
    """Return up to `most` graphs within `WITHIN` nats of the best one, with weights in proportion to exp(score).

    They are found from the best one by changes of one arc, the graphs of highest score first; ties go by their arcs.
    `best` is on the source's variables in their order.
    """
    scorer = LocalScores(source, score)
    found: dict[Parents, float] = {}
    waiting: list[tuple[float, Parents]] = [(0.0, tuple(tuple(sorted(p)) for p in best.parents))]
    seen = {waiting[0][1]}
    while waiting and len(found) < most:
        loss, parents = heapq.heappop(waiting)
        if not found or _is_acyclic(parents):
            found[parents] = loss
            changes = list(_changes(parents, every=len(found) == 1))
            for change, gain in zip(changes, _gains(scorer, parents, changes), strict=True):
                other = _changed(parents, change)
                if loss - gain <= WITHIN and other not in seen:
                    seen.add(other)
                    heapq.heappush(waiting, (max(loss - gain, 0.0) if abs(loss - gain) < 1e-9 else loss - gain, other))
    least = min(found.values())
    weights = {parents: math.exp(least - loss) for parents, loss in found.items()}
    total = sum(weights.values())
    heaviest = sorted(
        weights.items(), key=lambda found: -found[1]
    )  # the best one was first, unless it was not the best
    return tuple((Dag(best.names, parents), weight / total) for parents, weight in heaviest)


def _changes(parents: Parents, *, every: bool) -> Iterator[Change]:
    """Yield reversals and deletions of arcs, and additions where all shall be seen."""
    for child, of in enumerate(parents):
        for parent in of:
            left = tuple(p for p in of if p != parent)
            yield ((child, left), (parent, tuple(sorted((*parents[parent], child)))))
            yield ((child, left),)
    if not every:
        return
    for child, of in enumerate(parents):
        for parent in range(len(parents)):
            if parent != child and parent not in of and child not in parents[parent]:
                yield ((child, tuple(sorted((*of, parent)))),)


def _gains(scorer: LocalScores, parents: Parents, changes: list[Change]) -> list[float]:
    """Return how much each change adds to the score."""
    own = scorer(Families.from_pairs((child, list(of)) for child, of in enumerate(parents)))
    flat = [family for change in changes for family in change]
    new = iter(scorer(Families.from_pairs((child, list(of)) for child, of in flat)).tolist()) if flat else iter(())
    return [sum(next(new) - float(own[child]) for child, _ in change) for change in changes]


def _changed(parents: Parents, change: Change) -> Parents:
    found = list(parents)
    for child, of in change:
        found[child] = of
    return tuple(found)


def _is_acyclic(parents: Parents) -> bool:
    """Return whether sources can be taken away one after the other until none is left."""
    left = {child: set(of) for child, of in enumerate(parents)}
    while left:
        free = [child for child, of in left.items() if not of]
        if not free:
            return False
        for child in free:
            del left[child]
        for of in left.values():
            of.difference_update(free)
    return True
