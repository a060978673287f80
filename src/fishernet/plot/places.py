"""Where names go beside the nodes of a graph, so that none covers another or a node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from fishernet.plot.shapes import Layout, Points

SIDES = np.array(  # to the right of the node, to the left, above, below, and between
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], dtype=np.float64
)
RINGS = (1.0, 1.8, 2.8)  # how far from the node a name may go
COVERS_NODE, COVERS_NAME, ON_EDGE = 100.0, 60.0, 3.0
LATER_SIDE, FARTHER = 0.2, 8.0
CELL, MOST_CELLS = 0.03, 1500  # inches of a cell of the raster, and cells along a side
SECOND_LOOKS = 4
ROOM = 2.2  # times the area of all names: where to begin
GROWTH, MOST_GROWTHS = 1.15, 24


def with_room_for_names(layout: Layout, radius: float, sizes: Points) -> tuple[Layout, Points]:
    """Return a layout of dots, drawn larger until there is room for names beside them, and the centre of each name."""
    low, high = layout.coordinates.min(axis=0), layout.coordinates.max(axis=0)
    area = float(np.maximum(high - low, sizes.max(axis=0)).prod())
    scale = max(1.0, math.sqrt(ROOM * float(sizes.prod(axis=1).sum()) / area))
    for _ in range(MOST_GROWTHS):
        grown = Layout(layout.coordinates * scale, [route * scale for route in layout.routes])
        centres, clashes = placed_names(grown.coordinates, radius, sizes, grown.routes)
        if not clashes:
            break
        scale *= GROWTH
    return grown, centres


def placed_names(nodes: Points, radius: float, sizes: Points, routes: Sequence[Points]) -> tuple[Points, int]:
    """Return the centre of each node's name, (n, 2), and how many names still cover something that is no edge.

    One after the other, those with least room first, each takes the best of what is left; then those that found no
    good place look again. All that is compared lies in boxes with sides along the axes.
    """
    around = np.concatenate([SIDES[None] * (sizes[:, None] / 2 + ring * radius) for ring in RINGS], axis=1)
    candidates = nodes[:, None] + around
    half = sizes / 2
    fixed, covers = _costs(candidates, half, radius, nodes, routes)
    centres = np.full_like(nodes, np.inf)
    rivals = _rivals(nodes, np.abs(around).max(axis=1) + half)
    clashing = np.zeros(len(nodes), dtype=bool)
    for node in np.argsort(-fixed.min(axis=1), kind="stable").tolist():
        clashing[node] = _place(node, rivals[node], candidates, half, fixed, covers, centres)
    for _ in range(SECOND_LOOKS):
        again = np.flatnonzero(clashing | _overlapping(centres, half))
        if not len(again) or len(again) > 4 + len(nodes) // 10:
            break
        for node in again.tolist():
            clashing[node] = _place(node, rivals[node], candidates, half, fixed, covers, centres)
    return centres, int((clashing | _overlapping(centres, half)).sum())


def _rivals(nodes: Points, reach: Points) -> list[npt.NDArray[np.int64]]:
    """Return, for each node, those whose names may want the same room: none reaches farther than (2,) from its node."""
    near = []
    for at, own in zip(nodes, reach, strict=True):
        close = (np.abs(nodes - at) < own + reach).all(axis=1)
        near.append(np.flatnonzero(close))
    return [found[found != node] for node, found in enumerate(near)]


def _place(
    node: int,
    rivals: npt.NDArray[np.int64],
    candidates: Points,
    half: Points,
    fixed: Points,
    covers: npt.NDArray[np.bool_],
    centres: Points,
) -> bool:
    """Put a name in the best place that is left, and return whether it covers a node or another name there."""
    apart = np.abs(candidates[node][:, None] - centres[rivals])
    names = (apart < half[node] + half[rivals]).all(axis=2).sum(axis=1)
    best = int(np.argmin((fixed[node] + COVERS_NAME * names).round(9)))
    centres[node] = candidates[node, best]
    return bool(names[best] or covers[node, best])


def _overlapping(centres: Points, half: Points) -> npt.NDArray[np.bool_]:
    """Return whether each name covers another."""
    x = np.abs(centres[:, None, 0] - centres[:, 0]) < half[:, None, 0] + half[:, 0]
    x &= np.abs(centres[:, None, 1] - centres[:, 1]) < half[:, None, 1] + half[:, 1]
    np.fill_diagonal(x, False)
    return np.asarray(x.any(axis=1))


def _costs(
    candidates: Points, half: Points, radius: float, nodes: Points, routes: Sequence[Points]
) -> tuple[Points, npt.NDArray[np.bool_]]:
    """Return what each place costs before names are there, (n, places), and whether it covers a node."""
    places = candidates.shape[1]
    order = np.repeat(np.arange(len(RINGS)) * FARTHER, len(SIDES)) + np.tile(np.arange(len(SIDES)), 3) * LATER_SIDE
    low, high = nodes.min(axis=0) - CELL, nodes.max(axis=0) + CELL
    boxes = np.broadcast_to(half[:, None], (len(nodes), places, 2))
    on_nodes = _Raster(nodes, low, high).inside(candidates, boxes + radius * 0.8)
    step = float(half[:, 1].min())
    on_edges = _Raster(_samples(routes, step), low, high).inside(candidates, boxes)
    cost = order + COVERS_NODE * on_nodes + ON_EDGE * np.minimum(on_edges, 4)
    return np.asarray(cost, dtype=np.float64), np.asarray(on_nodes > 0)


class _Raster:
    """Points counted in cells, so that those in a box are the sum of four numbers; a cell that is touched is in."""

    def __init__(self, points: Points, low: Points, high: Points) -> None:
        self._low = low
        self._cell = max(CELL, float((high - low).max()) / MOST_CELLS)
        size = ((high - low) / self._cell).astype(int) + 1
        place = np.clip(((points - low) / self._cell).astype(int), 0, size - 1)
        counts = np.zeros(size, dtype=np.int64)
        np.add.at(counts, (place[:, 0], place[:, 1]), 1)
        self._sums = np.pad(counts.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def inside(self, centres: Points, half: Points) -> npt.NDArray[np.int64]:
        most = np.array(self._sums.shape) - 1
        first = np.clip(np.floor((centres - half - self._low) / self._cell).astype(int), 0, most)
        last = np.clip(np.ceil((centres + half - self._low) / self._cell).astype(int), 0, most)
        (a, b), (c, d) = np.moveaxis(first, -1, 0), np.moveaxis(last, -1, 0)
        found: npt.NDArray[np.int64] = self._sums[c, d] - self._sums[a, d] - self._sums[c, b] + self._sums[a, b]
        return found


def _samples(routes: Sequence[Points], step: float) -> Points:
    """Return points along the edges, at most a step apart, (n, 2)."""
    found = [np.zeros((0, 2))]
    for route in routes:
        for start, stop in pairwise(route):
            n = max(2, int(math.hypot(*(stop - start)) / step) + 1)
            found.append(start + np.linspace(0, 1, n)[:, None] * (stop - start))
    return np.concatenate(found)
