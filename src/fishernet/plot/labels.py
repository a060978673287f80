"""Where names stand: beside their nodes, where they cover neither nodes nor each other, and few edges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fishernet.plot.shapes import Points

SIDES = np.array(  # to the right of the node, to the left, above, below, and between
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], dtype=np.float64
)
RINGS = (1.0, 1.8, 2.8)  # how far from the node a name may go
COVERS_NODE, COVERS_NAME, ON_EDGE = 100.0, 60.0, 3.0
LATER_SIDE, FARTHER = 0.2, 8.0


def placed_labels(places: Points, radius: float, sizes: Points, ways: Sequence[Points]) -> Points:
    """Return the centre of each node's name, (n, 2).

    Parameters
    ----------
    places : (n, 2) array
        Of the nodes.
    radius : float
        Of a node with some room around it.
    sizes : (n, 2) array
        Width and height of each name.
    ways : sequence of (m, 2) arrays
        The corners of the edges.

    Notes
    -----
    One after the other, each takes the best of what is left; all that is compared lies in boxes with sides along the
    axes, an edge in the boxes of its pieces.
    """
    samples = _samples(ways, float(sizes[:, 1].min()) / 2 if len(sizes) else 1.0)
    centres = np.zeros_like(places)
    for node, (place, size) in enumerate(zip(places, sizes, strict=True)):
        tries = np.concatenate([place + SIDES * (size / 2 + ring * radius) for ring in RINGS])
        half = size / 2
        cost = np.repeat(np.arange(len(RINGS)) * FARTHER, len(SIDES)) + np.tile(np.arange(len(SIDES)), 3) * LATER_SIDE
        cost += COVERS_NODE * _covered(tries, half + radius * 0.8, np.delete(places, node, axis=0))
        cost += COVERS_NAME * _covered(tries, half + sizes[:node] / 2, centres[:node])
        cost += ON_EDGE * np.minimum(_covered(tries, half, samples), 4)
        centres[node] = tries[int(np.argmin(cost.round(9)))]
    return centres


def _covered(tries: Points, half: Points, others: Points) -> Points:
    """Return how many points lie within half a box of each try, (n_tries,)."""
    if not len(others):
        return np.zeros(len(tries))
    apart = np.abs(tries[:, None] - others[None])
    counted: Points = (apart < half).all(axis=2).sum(axis=1).astype(np.float64)
    return counted


def _samples(ways: Sequence[Points], step: float) -> Points:
    """Return points along the edges, at most a step apart, (n, 2)."""
    found = [np.zeros((0, 2))]
    for way in ways:
        for start, stop in pairwise(way):
            n = max(2, int(np.hypot(*(stop - start)) / step) + 1)
            found.append(start + np.linspace(0, 1, n)[:, None] * (stop - start))
    return np.concatenate(found)
