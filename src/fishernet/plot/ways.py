"""The ways of links: where they end, how they bend, and their arrow heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fishernet.plot.shapes import Points

HEAD = (0.1, 0.035)  # inches: length, and half the width
PIECES = 12  # straight ones that a bend is made of


def cut_short(way: Points, by: float) -> Points:
    """Return a straight way with both ends taken off, as far as there is something between them."""
    span = way[-1] - way[0]
    length = max(float(np.hypot(*span)), 1e-9)
    off = span / length * min(by, 0.4 * length)
    return np.array([way[0] + off, way[-1] - off])


def rounded(way: Points, half: float) -> Points:
    """Return the way of an arc in layers: straight down through the layers that it passes, and bent between them.

    Parameters
    ----------
    way : (m, 2) array
        A corner in each layer.
    half : float
        Half the height of a layer's nodes.
    """
    down = np.array([0.0, half])
    pieces = []
    for start, stop in zip(way[:-1] - down, way[1:] + down, strict=True):
        t = np.linspace(0, 1, PIECES + 1 if len(way) > 2 else 2)[:, None]
        if len(way) > 2:
            across = t**2 * (3 - 2 * t)
            pieces.append(
                np.concatenate([start[0] + across * (stop - start)[0], start[1] + t * (stop - start)[1]], axis=1)
            )
        else:
            pieces.append(start + t * (stop - start))
    return np.concatenate(pieces)


def heads(ways: Sequence[Points], wanted: Sequence[tuple[bool, bool]]) -> Points:
    """Return the corners of the arrow heads, (n, 3, 2), whose tips are at the ends where they are wanted."""
    found = []
    for way, (at_start, at_end) in zip(ways, wanted, strict=True):
        if at_start:
            found.append(_head(way[0], way[1]))
        if at_end:
            found.append(_head(way[-1], way[-2]))
    return np.array(found).reshape(-1, 3, 2)


def _head(tip: Points, before: Points) -> Points:
    along = tip - before
    along = along / max(float(np.hypot(*along)), 1e-9)
    across = np.array([-along[1], along[0]])
    base = tip - HEAD[0] * along
    return np.array([tip, base + HEAD[1] * across, base - HEAD[1] * across])
