"""P2, Algorithm 7, taken literally: every candidate graph is scored from nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Edges = frozenset[tuple[int, int]]
Move = tuple[int, int, int]  # 0 add, 1 remove, 2 reverse; parent; child


def is_acyclic(edges: Edges, n: int) -> bool:
    left = set(range(n))
    while left:
        roots = {v for v in left if not any(b == v and a in left for a, b in edges)}
        if not roots:
            return False
        left -= roots
    return True


def candidates(edges: Edges, n: int) -> Iterator[tuple[Move, Edges]]:
    """All acyclic graphs one move away, in the order in which ties are broken."""
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    for a, b in pairs:
        if (a, b) not in edges and is_acyclic(edges | {(a, b)}, n):
            yield (0, a, b), edges | {(a, b)}
    for a, b in pairs:
        if (a, b) in edges:
            yield (1, a, b), edges - {(a, b)}
    for a, b in pairs:
        if (a, b) in edges and is_acyclic(edges - {(a, b)} | {(b, a)}, n):
            yield (2, a, b), edges - {(a, b)} | {(b, a)}


def climb(
    n: int,
    local: Callable[[int, tuple[int, ...]], float],
    allowed: Callable[[Edges], bool] = lambda _: True,
    start: Edges = frozenset(),
) -> tuple[Edges, list[Move]]:
    """The graph where the climb ends and the moves it made."""

    def total(edges: Edges) -> float:
        return sum(local(v, tuple(a for a in range(n) if (a, v) in edges)) for v in range(n))

    edges = start
    moves: list[Move] = []
    while True:
        here = total(edges)
        tie = max(1e-9, 1e-12 * abs(here))
        found = [(move, graph, total(graph) - here) for move, graph in candidates(edges, n) if allowed(graph)]
        top = max((gain for _, _, gain in found), default=0.0)
        if top <= tie:
            return edges, moves
        move, edges = next((move, graph) for move, graph, gain in found if gain >= top - tie)
        moves.append(move)


def tabu(
    n: int, local: Callable[[int, tuple[int, ...]], float], tenure: int, patience: int
) -> tuple[Edges, list[Move], int]:
    """The best graph, the moves to it, and how many moves were made: the best step, also down, while hope is left."""

    def total(edges: Edges) -> float:
        return sum(local(v, tuple(a for a in range(n) if (a, v) in edges)) for v in range(n))

    def tie(score: float) -> float:
        return max(1e-9, 1e-12 * abs(score))

    edges = best = frozenset[tuple[int, int]]()
    here = top = total(edges)
    moves: list[Move] = []
    made = idle = 0
    while True:
        fresh = [{a, b} for _, a, b in moves[-tenure:]]
        found = [
            (move, graph, score)
            for move, graph in candidates(edges, n)
            if (score := total(graph)) > top + tie(top) or {move[1], move[2]} not in fresh
        ]
        highest = max((score for _, _, score in found), default=-float("inf"))
        if not found or (highest - here <= tie(here) and idle >= patience):
            return best, moves[: made - idle], made
        move, edges, _ = next(each for each in found if each[2] >= highest - tie(here))
        here = total(edges)
        moves.append(move)
        made, idle = made + 1, idle + 1
        if here > top + tie(top):
            best, top, idle = edges, here, 0
