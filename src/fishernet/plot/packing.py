"""Components side by side: in rows, the tallest first, so that the whole is somewhat wider than high."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from fishernet.plot.shapes import Drawable, Layout, Link, Points, components

WIDER = 1.4  # than high
GAP = 0.45  # inches between components


def by_component(drawable: Drawable, rooms: Points, lay_out: Callable[[int, list[Link], Points], Layout]) -> Layout:
    """Lay every component out by itself, and pack them.

    Parameters
    ----------
    drawable : Drawable
    rooms : (n, 2) array
        Width and height of each node with its name.
    lay_out : callable
        ``lay_out(n, links, widths)`` for one component.
    """
    places = np.zeros((len(drawable.names), 2))
    ways: list[Points] = [np.zeros((2, 2))] * len(drawable.links)
    parts, sizes = [], []
    groups = components(len(drawable.names), drawable.links)
    of_group = {node: number for number, members in enumerate(groups) for node in members}
    held: list[list[int]] = [[] for _ in groups]
    for position, (u, _) in enumerate(drawable.links):
        held[of_group[u]].append(position)
    for members, positions in zip(groups, held, strict=True):
        where = {node: place for place, node in enumerate(members)}
        links = [(where[u], where[v]) for u, v in (drawable.links[p] for p in positions)]
        part = lay_out(len(members), links, rooms[members, 0])
        room = rooms[members].max(axis=0) / 2
        low, high = part.box
        parts.append(part.moved(room - low))
        sizes.append(high - low + 2 * room)
    for part, corner, members, positions in zip(parts, _packed(sizes), groups, held, strict=True):
        moved = part.moved(corner)
        places[members] = moved.places
        for position, way in zip(positions, moved.ways, strict=True):
            ways[position] = way
    return Layout(places, ways)


def _packed(sizes: Sequence[Points]) -> list[Points]:
    """Return the lower left corners of boxes put in rows from the top, the tallest first."""
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
