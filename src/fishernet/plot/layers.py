"""Layout in layers, for graphs without cycles: every arc points down.

The steps are those of Sugiyama, Tagawa and Toda (IEEE Transactions on Systems, Man and Cybernetics 11, 1981): layers
by the longest way from a root, a bend where an arc passes a layer, orders within the layers by barycentres with few
crossings, then places as near to the neighbours' as the order and the names allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fishernet.plot.shapes import Layout, Link, Points

ROW = 0.85  # inches between layers
BEND = 0.25  # inches that an arc takes where it passes a layer
BESIDE = 0.15  # inches between neighbours in a layer
SWEEPS = 24


def layered_layout(n: int, links: Sequence[Link], widths: Points) -> Layout:
    """Lay out a connected graph without cycles whose links run from parent to child.

    Parameters
    ----------
    n : int
    links : sequence of (int, int)
    widths : (n,) array
        Of the nodes with their names.
    """
    level = _levels(n, links)
    spots, chains = _with_bends(level, links)
    near = _Neighbours(spots, [pair for chain in chains for pair in pairwise(chain)])
    rows = _ordered([[s for s, at in enumerate(spots) if at == row] for row in range(max(spots) + 1)], near)
    room = np.concatenate([np.maximum(widths, BEND), np.full(len(spots) - n, BEND)]) + BESIDE
    x = _placed(rows, near, room)
    places = np.stack([x, -ROW * np.array(spots)], axis=1).round(6)
    return Layout(places[:n], [places[chain] for chain in chains])


class _Neighbours:
    """The spots joined with each spot in the layer above, and in the layer below."""

    def __init__(self, spots: Sequence[int], pairs: Sequence[Link]) -> None:
        self.above: list[list[int]] = [[] for _ in spots]
        self.below: list[list[int]] = [[] for _ in spots]
        for upper, lower in pairs:
            self.below[upper].append(lower)
            self.above[lower].append(upper)


def _levels(n: int, links: Sequence[Link]) -> list[int]:
    """Return the layer of each node from 0: below its parents, and roots close to their first child."""
    children: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for parent, child in links:
        children[parent].append(child)
        waiting[child] += 1
    ready = [v for v in range(n) if not waiting[v]]
    roots, level = set(ready), [0] * n
    for v in ready:  # grows while it is read
        for child in children[v]:
            level[child] = max(level[child], level[v] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    for root in roots:
        if children[root]:
            level[root] = min(level[child] for child in children[root]) - 1
    return level


def _with_bends(level: Sequence[int], links: Sequence[Link]) -> tuple[list[int], list[list[int]]]:
    """Return the layer of every spot (nodes, then bends), and the spots of each link from its parent to its child."""
    spots, chains = list(level), []
    for parent, child in links:
        bends = range(len(spots), len(spots) + level[child] - level[parent] - 1)
        spots.extend(range(level[parent] + 1, level[child]))
        chains.append([parent, *bends, child])
    return spots, chains


def _ordered(rows: list[list[int]], near: _Neighbours) -> list[list[int]]:
    """Return the layers in an order with few crossings: the best of some sweeps down and up."""
    best, fewest = rows, _crossings(rows, near)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        rows = _swept(rows, near.above if down else near.below, down=down)
        crossings = _crossings(rows, near)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _swept(rows: list[list[int]], towards: list[list[int]], *, down: bool) -> list[list[int]]:
    """Sort every layer by the mean position of its spots' neighbours in the layer that comes before it."""
    order = range(len(rows)) if down else range(len(rows) - 1, -1, -1)
    place: dict[int, float] = {}
    sorted_rows = [list(row) for row in rows]
    for at in order:
        wanted = {s: _mean([place[o] for o in towards[s]], float(i)) for i, s in enumerate(sorted_rows[at])}
        sorted_rows[at].sort(key=wanted.__getitem__)
        place.update((s, float(i)) for i, s in enumerate(sorted_rows[at]))
    return sorted_rows


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(rows: list[list[int]], near: _Neighbours) -> int:
    """Count the pairs of links between two layers that cross."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {s: i for i, s in enumerate(lower)}
        ends = np.array([place[o] for s in upper for o in sorted(near.below[s], key=place.__getitem__)])
        starts = np.array([i for i, s in enumerate(upper) for _ in near.below[s]])
        if len(ends):
            total += int(((starts[:, None] < starts) & (ends[:, None] > ends)).sum())
    return total


def _placed(rows: list[list[int]], near: _Neighbours, room: Points) -> Points:
    """Return the abscissa of every spot: near the mean of its neighbours', in order and with room between."""
    x = np.zeros(len(room))
    offsets = []
    for row in rows:
        halves = room[row] / 2
        offset = np.concatenate([[0.0], np.cumsum(halves[:-1] + halves[1:])])
        offsets.append(offset)
        x[row] = offset - offset[-1] / 2
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        towards = near.above if down else near.below
        for at in range(len(rows)) if down else range(len(rows) - 1, -1, -1):
            row = rows[at]
            wanted = np.array([_mean([float(x[o]) for o in towards[s]], float(x[s])) for s in row])
            x[row] = _ascending(wanted - offsets[at]) + offsets[at]
    return x


def _ascending(values: Points) -> Points:
    """Return the closest numbers, by squares, that do not descend: neighbours that would are pooled."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, size = value, 1
        while pools and pools[-1][0] > mean:
            other, more = pools.pop()
            mean, size = (mean * size + other * more) / (size + more), size + more
        pools.append((mean, size))
    means, sizes = zip(*pools, strict=True)
    return np.repeat(np.array(means), sizes)
