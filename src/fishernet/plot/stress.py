"""Layout by stress: nodes stand as far apart as the shortest way between them is long.

The sum over pairs of ``(distance drawn - length of the way)^2 / (length of the way)^2`` is brought down by majorization
[1]_ from the places that classical scaling gives, so that the same graph is always drawn alike.

References
----------
.. [1] E. R. Gansner, Y. Koren and S. North, "Graph drawing by stress majorization", Graph Drawing 2004.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fishernet.plot.shapes import Layout, Link, Points

STEP = 0.8  # inches that an edge is long
MOST_STEPS, LEAST_STEPS = 300, 40
WORK = 10**8  # pairs looked at in all steps, beyond the least; some seconds
SMALLEST_GAIN = 1e-5  # of a step, relative
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def stress_layout(n: int, links: Sequence[Link], widths: Points) -> Layout:
    """Lay out a connected graph.

    Parameters
    ----------
    n : int
    links : sequence of (int, int)
    widths : (n,) array
        Of the nodes with their names; where names are long, edges are too.
    """
    if n == 1:
        return Layout(np.zeros((1, 2)), [])
    lengths = _shortest_ways(n, links)
    places = _turned(_majorized(lengths, _scaled_start(lengths)))
    step = max(STEP, 0.75 * float(np.median(widths)))
    return Layout.straight((places * step).round(6), links)


def _shortest_ways(n: int, links: Sequence[Link]) -> Points:
    """Return the numbers of edges between every two nodes, (n, n)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    u, v = np.array(links).T
    lengths: Points = shortest_path(
        coo_array((np.ones(len(u)), (u, v)), (n, n)).tocsr(), directed=False, unweighted=True
    )
    return lengths


def _scaled_start(lengths: Points) -> Points:
    """Return the plane of classical scaling, (n, 2), with a small spiral that parts nodes in one place."""
    n = len(lengths)
    squares = lengths**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(centred)
    chosen = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    signs = np.sign(chosen[np.abs(chosen).argmax(axis=0), [0, 1]])  # an eigenvector's is arbitrary
    turns = np.arange(n) * GOLDEN_ANGLE
    spiral = np.sqrt(np.arange(n) / n)[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    placed: Points = chosen * np.where(signs == 0, 1.0, signs) + 0.1 * spiral
    return placed


def _majorized(lengths: Points, places: Points) -> Points:
    """Return the places of smallest stress near a start, (n, 2), in steps of an edge's length."""
    n = len(lengths)
    weights = 1 / np.where(lengths > 0, lengths, np.inf) ** 2
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / n) - 1 / n
    before = math.inf
    for _ in range(max(LEAST_STEPS, min(MOST_STEPS, WORK // n**2))):
        apart = _distances(places)
        stress = float((weights * (apart - lengths) ** 2).sum())
        if stress >= before * (1 - SMALLEST_GAIN):
            break
        before = stress
        pull = -weights * lengths / np.maximum(apart, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        places = inverse @ (pull @ places)
    return places


def _distances(places: Points) -> Points:
    x, y = places.T
    apart: Points = np.hypot(x[:, None] - x, y[:, None] - y)
    return apart


def _turned(places: Points) -> Points:
    """Return the places turned so that they spread most from left to right."""
    centred = places - places.mean(axis=0)
    (a, b), (_, c) = centred.T @ centred
    angle = 0.5 * math.atan2(2 * b, a - c)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    turned: Points = centred @ turn
    return turned
