"""Where the nodes of a graph stand: in layers or by stress, and components side by side.

In layers, for graphs without cycles, every arc points down. The steps are those of Sugiyama, Tagawa and Toda (IEEE
Transactions on Systems, Man and Cybernetics 11, 1981): layers by the longest path from a root, a bend where an arc
passes a layer, orders within the layers by barycentres with few crossings, then coordinates as close to the neighbours'
as the order and the names allow.

By stress, nodes stand as far apart as the shortest path between them is long: the sum over pairs of
``(distance drawn - length of the path)^2 / (length of the path)^2`` is brought down by majorization [1]_ from the
coordinates that classical scaling gives, so that the same graph is always drawn alike. Steps are relaxed [2]_.

References
----------
.. [1] E. R. Gansner, Y. Koren and S. North, "Graph drawing by stress majorization", Graph Drawing 2004.
.. [2] J. de Leeuw and W. J. Heiser, "Multidimensional scaling with restrictions on the configuration", Multivariate
   Analysis V, 1980.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from fishernet.plot.shapes import Drawable, Layout, Link, Points, in_components

ROW = 0.85  # inches between layers
BEND, NARROW = 0.25, 0.07  # inches that an arc takes where it passes a layer, and that it takes at least
BESIDE = 0.15  # inches between neighbours in a layer
SHEET = 9.0  # inches: up to here a layer may be widened by arcs that pass it
SWEEPS = 24


def layered_layout(n: int, links: Sequence[Link], widths: Points) -> Layout:
    """Lay out a connected graph without cycles whose links run from parent to child; (n,) widths with the names."""
    level = _levels(n, links)
    vertices, chains = _with_dummy_vertices(level, links)
    neighbours = _Neighbours(vertices, [pair for chain in chains for pair in pairwise(chain)])
    rows = _ordered([[s for s, at in enumerate(vertices) if at == row] for row in range(max(vertices) + 1)], neighbours)
    boxes = np.maximum(widths, BEND) + BESIDE
    room = np.concatenate([boxes, np.full(len(vertices) - n, _room_to_pass(rows, boxes))])
    x = _abscissas(rows, neighbours, room)
    coordinates = np.stack([x, -ROW * np.array(vertices)], axis=1).round(6)
    return Layout(coordinates[:n], [coordinates[chain] for chain in chains])


def _room_to_pass(rows: Sequence[Sequence[int]], boxes: Points) -> float:
    """Return the room of an arc that passes a layer: less where so many pass one that the sheet would grow wide."""
    own = [float(boxes[[s for s in row if s < len(boxes)]].sum()) for row in rows]
    sheet = max(SHEET, *own)
    passing = [(width, sum(s >= len(boxes) for s in row)) for width, row in zip(own, rows, strict=True)]
    return max(NARROW, min([BEND + BESIDE, *((sheet - width) / arcs for width, arcs in passing if arcs)]))


class _Neighbours:
    """The vertices joined with each vertex in the layer above, and in the layer below."""

    def __init__(self, vertices: Sequence[int], pairs: Sequence[Link]) -> None:
        self.above: list[list[int]] = [[] for _ in vertices]
        self.below: list[list[int]] = [[] for _ in vertices]
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


def _with_dummy_vertices(level: Sequence[int], links: Sequence[Link]) -> tuple[list[int], list[list[int]]]:
    """Return the layer of every vertex (nodes, then dummies where links pass a layer), and those of each link."""
    vertices, chains = list(level), []
    for parent, child in links:
        bends = range(len(vertices), len(vertices) + level[child] - level[parent] - 1)
        vertices.extend(range(level[parent] + 1, level[child]))
        chains.append([parent, *bends, child])
    return vertices, chains


def _ordered(rows: list[list[int]], neighbours: _Neighbours) -> list[list[int]]:
    """Return the layers in an order with few crossings: the best of some sweeps down and up."""
    best, fewest = rows, _crossings(rows, neighbours)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        rows = _swept(rows, neighbours.above if down else neighbours.below, down=down)
        crossings = _crossings(rows, neighbours)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _swept(rows: list[list[int]], towards: list[list[int]], *, down: bool) -> list[list[int]]:
    """Sort every layer by the mean position of its vertices' neighbours in the layer that comes before it."""
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


def _crossings(rows: list[list[int]], neighbours: _Neighbours) -> int:
    """Count the pairs of links between two layers that cross."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {s: i for i, s in enumerate(lower)}
        ends = np.array([place[o] for s in upper for o in sorted(neighbours.below[s], key=place.__getitem__)])
        starts = np.array([i for i, s in enumerate(upper) for _ in neighbours.below[s]])
        if len(ends):
            total += int(((starts[:, None] < starts) & (ends[:, None] > ends)).sum())
    return total


def _abscissas(rows: list[list[int]], neighbours: _Neighbours, room: Points) -> Points:
    """Return the abscissa of every vertex: close to the mean of its neighbours', in order and with room between."""
    x = np.zeros(len(room))
    offsets = []
    for row in rows:
        halves = room[row] / 2
        offset = np.concatenate([[0.0], np.cumsum(halves[:-1] + halves[1:])])
        offsets.append(offset)
        x[row] = offset - offset[-1] / 2
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        towards = neighbours.above if down else neighbours.below
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


WIDER = 1.4  # than high
GAP = 0.45  # inches between components


def by_component(drawable: Drawable, extents: Points, lay_out: Callable[[int, list[Link], Points], Layout]) -> Layout:
    """Lay every component out with ``lay_out(n, links, widths)``, and pack them; (n, 2) extents with the names."""
    coordinates = np.zeros((len(drawable.names), 2))
    routes: list[Points] = [np.zeros((2, 2))] * len(drawable.links)
    parts, sizes = [], []
    found = in_components(drawable)
    for one in found:
        part = lay_out(len(one.members), one.links, extents[one.members, 0])
        room = extents[one.members].max(axis=0) / 2
        low, high = part.box
        parts.append(part.moved(room - low))
        sizes.append(high - low + 2 * room)
    for part, corner, one in zip(parts, packed(sizes), found, strict=True):
        moved = part.moved(corner)
        coordinates[one.members] = moved.coordinates
        for position, route in zip(one.positions, moved.routes, strict=True):
            routes[position] = route
    return Layout(coordinates, routes)


def packed(sizes: Sequence[Points]) -> list[Points]:
    """Return the lower left corners of boxes put in rows from the top, the tallest first."""
    if not sizes:
        return []
    order = sorted(range(len(sizes)), key=lambda i: (-round(float(sizes[i][1]), 6), -float(sizes[i][0]), i))
    area = sum(float((size + GAP).prod()) for size in sizes)
    widest = max(float(size[0]) for size in sizes)
    limit = max(widest, math.sqrt(WIDER * area))
    corners: list[Points] = [np.zeros(2)] * len(sizes)
    x = top = tallest = 0.0
    for i in order:
        width, height = sizes[i].tolist()
        if x > 0 and x + width > limit + 1e-9:
            x, top, tallest = 0.0, top - tallest - GAP, 0.0
        corners[i] = np.array([x, top - height])
        x, tallest = x + width + GAP, max(tallest, height)
    return corners


STEP = 0.8  # inches that an edge is long
APART = 0.2  # inches between nodes, at least
MOST_STEPS, LEAST_STEPS = 300, 30
WORK = 8 * 10**7  # pairs looked at in all steps, beyond the least; about a second
FEW = 150  # nodes: from here on single precision, and fewer steps, whose difference nobody sees
SMALLEST_GAIN = {True: (1e-5, 1e-12), False: (1e-4, 1e-7)}  # of few nodes, and of more: of the stress, of a point's
FARTHER = 1.75  # with 2, what overshoots would overshoot for ever
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def stress_layout(n: int, links: Sequence[Link], widths: Points) -> Layout:
    """Lay out a connected graph; where (n,) widths of the nodes with their names are large, edges are long."""
    if n == 1:
        return Layout(np.zeros((1, 2)), [])
    lengths = _graph_distances(n, links)
    coordinates = _rotated(_stress_majorization(lengths, _classical_scaling(lengths)))
    step = max(STEP, 0.75 * float(np.median(widths)))
    return Layout.straight(_parted(coordinates * step).round(6), links)


def _graph_distances(n: int, links: Sequence[Link]) -> Points:
    """Return the numbers of edges between every two nodes, (n, n)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    u, v = np.array(links, dtype=np.int32).T  # older versions of scipy walk through no other type
    lengths: Points = shortest_path(
        coo_array((np.ones(len(u)), (u, v)), (n, n)).tocsr(), directed=False, unweighted=True
    )
    return lengths


def _classical_scaling(lengths: Points) -> Points:
    """Return the plane of classical scaling, (n, 2), with a small spiral that parts nodes in one place."""
    from scipy.linalg import eigh

    n = len(lengths)
    squares = lengths**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    values, vectors = eigh(centred, subset_by_index=[n - 2, n - 1])
    chosen = vectors * np.sqrt(np.maximum(values, 0))
    signs = np.sign(chosen[np.abs(chosen).argmax(axis=0), [0, 1]])  # an eigenvector's is arbitrary
    turns = np.arange(n) * GOLDEN_ANGLE
    spiral = np.sqrt(np.arange(n) / n)[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    placed: Points = chosen * np.where(signs == 0, 1.0, signs) + 0.1 * spiral
    return placed


def _stress_majorization(lengths: Points, coordinates: Points) -> Points:
    """Return the coordinates of smallest stress close to a start, (n, 2), in steps of an edge's length.

    A step goes farther than the minimum of the majorizing function [2]_, which nearly halves their number, and is
    brought to the scale of least stress; where the stress rises all the same, what is too far is taken back. All pairs
    are kept in two arrays, which are written over.
    """
    n = len(lengths)
    weights = 1 / np.where(lengths > 0, lengths, np.inf) ** 2
    inverse = _inverse(np.diag(weights.sum(axis=1)) - weights + 1 / n) - 1 / n
    (small, smallest), kind = SMALLEST_GAIN[n <= FEW], np.dtype(np.float64 if n <= FEW else np.float32)
    weights, pull, inverse = (array.astype(kind) for array in (weights, weights * lengths, inverse))
    whole, apart = float(np.vdot(pull, lengths)), np.empty_like(weights)
    x, nearer, least, far = coordinates.astype(kind), coordinates.astype(kind), math.inf, True
    for _ in range(max(LEAST_STEPS, min(MOST_STEPS, WORK // n**2))):
        scale, gained = _scale_and_gain(x, weights, pull, apart)
        stress = whole - gained
        if stress >= least * (1 - small) - smallest * whole:
            if not far:
                break
            x, far = nearer, False
            continue
        least, far = stress, True
        x *= scale  # in place, which keeps the precision
        np.divide(pull, apart, out=apart)  # of the coordinates before they were scaled
        nearer = inverse @ ((apart.sum(axis=1)[:, None] * x - apart @ x) / scale)
        best, x = x, x + FARTHER * (nearer - x)
    found: Points = best.astype(np.float64)
    return found


def _inverse(matrix: Points) -> Points:
    """Return the inverse of a positive definite matrix."""
    from scipy.linalg import cho_factor, cho_solve

    found: Points = cho_solve(cho_factor(matrix, overwrite_a=True), np.eye(len(matrix)), overwrite_b=True)
    return found


def _scale_and_gain(x: Points, weights: Points, pull: Points, out: Points) -> tuple[float, float]:
    """Return the scale of least stress, and how much less than that of a point it is; leave distances in `out`."""
    squares = (x * x).sum(axis=1)
    np.matmul(-2 * x, x.T, out=out)
    out += squares
    out += squares[:, None]
    np.maximum(out, CLOSEST, out=out)
    spread = float(np.vdot(weights, out))
    np.sqrt(out, out=out)
    agreement = float(np.vdot(pull, out))
    return agreement / spread, agreement**2 / spread


CLOSEST = 1e-6  # the square of a distance that divides


def _parted(coordinates: Points, least: float = APART) -> Points:
    """Return coordinates in inches, moved where two nodes would be nearer than can be told apart."""
    from scipy.spatial import cKDTree

    moved = coordinates.copy()
    for _ in range(40):
        pairs = cKDTree(moved).query_pairs(least * (1 - 1e-3), output_type="ndarray")
        if not len(pairs):
            break
        u, v = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T
        gap = moved[v] - moved[u]
        length = np.hypot(gap[:, 0], gap[:, 1])
        turns = u * GOLDEN_ANGLE  # where two are in one place
        aside = np.stack([np.cos(turns), np.sin(turns)], axis=1)
        along = np.where(length[:, None] > 1e-9, gap / np.maximum(length, 1e-9)[:, None], aside)
        push = along * ((1.05 * least - length) / 2)[:, None]
        np.add.at(moved, u, -push)
        np.add.at(moved, v, push)
    return moved


def _rotated(coordinates: Points) -> Points:
    """Return the coordinates turned so that they spread most from left to right."""
    centred = coordinates - coordinates.mean(axis=0)
    (a, b), (_, c) = centred.T @ centred
    angle = 0.5 * math.atan2(2 * b, a - c)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    turned: Points = centred @ turn
    return turned
