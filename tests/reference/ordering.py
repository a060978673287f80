"""Search over orders taken literally: every graph of an order is made from nothing; and the best of all graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations

Local = Callable[[int, tuple[int, ...]], float]
Parents = tuple[int, ...]


def tie(score: float) -> float:
    return max(1e-9, 1e-12 * abs(score))


def grow_shrink(
    child: int, before: Sequence[int], local: Local, required: frozenset[int] = frozenset(), most: int = 99
) -> Parents:
    """Andrews et al. 2023: add the best predecessor while that helps, then take the worst parent out."""
    parents = tuple(sorted(required))
    while len(parents) < most:
        here = local(child, parents)
        gains = {v: local(child, tuple(sorted((*parents, v)))) for v in sorted(before) if v not in parents}
        top = max(gains.values(), default=here)
        if top <= here + tie(here):
            break
        parents = tuple(sorted((*parents, next(v for v, s in gains.items() if s >= top - tie(here)))))
    while True:
        here = local(child, parents)
        left = {v: local(child, tuple(u for u in parents if u != v)) for v in parents if v not in required}
        top = max(left.values(), default=here)
        if top <= here + tie(here):
            return parents
        out = next(v for v, s in left.items() if s >= top - tie(here))
        parents = tuple(u for u in parents if u != out)


def graph_of(order: Sequence[int], local: Local, most: int = 99) -> dict[int, Parents]:
    return {v: grow_shrink(v, order[:i], local, most=most) for i, v in enumerate(order)}


def best_order_score_search(n: int, local: Local, most: int = 99) -> tuple[dict[int, Parents], list[tuple[int, int]]]:
    """The graph of the last order, and the moves: a variable, and whom it was put after (-1: nobody)."""

    def total(order: Sequence[int]) -> float:
        return sum(local(v, parents) for v, parents in graph_of(order, local, most).items())

    order = list(range(n))
    moves = []
    idle = 0
    while idle < n:
        for v in tuple(order):
            if idle == n:
                break
            here = total(order)
            others = [u for u in order if u != v]
            best, chosen = here + tie(here), None
            for place in range(n):
                moved = [*others[:place], v, *others[place:]]
                score = total(moved)
                if score > best + (tie(here) if chosen else 0):
                    best, chosen = score, moved
            idle += 1
            if chosen:
                idle = 0
                order = chosen
                at = order.index(v)
                moves.append((v, order[at - 1] if at else -1))
    return graph_of(order, local, most), moves


def best_score(n: int, local: Local) -> float:
    """The highest score of all graphs: the last variable of some order takes its best parents among the others."""

    @cache
    def best_parents(child: int, among: frozenset[int]) -> float:
        return max(
            local(child, chosen) for size in range(len(among) + 1) for chosen in combinations(sorted(among), size)
        )

    @cache
    def best(members: frozenset[int]) -> float:
        return max((best(members - {v}) + best_parents(v, members - {v}) for v in members), default=0.0)

    return best(frozenset(range(n)))
