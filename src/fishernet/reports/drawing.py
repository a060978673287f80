"""A graph as an SVG element of a page: boxes with names, which scripts and readers of screens can find."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np

from fishernet.plot.drawing import drawable
from fishernet.plot.layout import by_component, layered_layout, stress_layout
from fishernet.plot.shapes import Layout, Link, Points

INCH = 84.0  # pixels for an inch of the layout
HEIGHT = 38.0  # pixels of a box
LETTER = 7.9  # pixels of a letter on average; capitals and wide ones take more
LONGEST = 18  # letters of a name in a box
PADDING = 20.0
HEAD = 7.0  # pixels of an arrow head
SPREADS = (1.0, 1.4, 2.0, 2.8, 4.0)  # of a layout by stress
MOST_DRAWN = 1200


def is_drawn(n: int) -> bool:
    """Whether a graph of so many variables is drawn."""
    return 0 < n <= MOST_DRAWN


def svg(graph: Any, names: Sequence[str], strengths: Mapping[tuple[int, int], float]) -> tuple[str, float]:
    """Return the drawing of a graph with these labels, and the least width in pixels at which it can be read.

    An edge is as strong as its strength, from 0 to 1, in `strengths` by pair of positions (one, other).
    """
    found = drawable(graph)
    texts = [_short(name) for name in names]
    widths = np.array([max(HEIGHT, _width(text) + PADDING) for text in texts])
    extents = np.stack([widths / INCH, np.full(len(widths), HEIGHT / INCH)], axis=1)
    layout = by_component(found, extents, layered_layout if found.layered else partial(_spread, extents))
    low, high = layout.box
    places = layout.coordinates * [INCH, -INCH]
    corner = np.array([low[0], -high[1]]) * INCH - [widths.max() / 2 + 4, HEIGHT / 2 + 4]
    size = (high - low) * INCH + [widths.max() + 8, HEIGHT + 8]
    parts = [
        f'<svg id="drawing" viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" role="group" '
        f'aria-label="The graph: {len(names)} variables, {len(found.links)} edges. Arrow keys move between variables.">'
    ]
    places = places - corner
    for position, ((u, v), heads) in enumerate(zip(found.links, found.heads, strict=True)):
        route = _past_boxes(layout.routes[position] * [INCH, -INCH] - corner)
        route = _clipped(route, _half(widths, u), _half(widths, v), heads)
        strength = strengths.get((u, v), strengths.get((v, u), 1.0))
        parts.append(_edge(u, v, route, heads, strength))
    for v, ((x, y), width) in enumerate(zip(places.tolist(), widths.tolist(), strict=True)):
        parts.append(_node(v, names[v], texts[v], x, y, width))
    parts.append("</svg>")
    return "".join(parts), float(size[0])


def _spread(extents: Points, n: int, links: Sequence[Link], widths: Points) -> Layout:
    """Lay a component out by stress, as far apart as boxes of these extents need that none covers another."""
    layout = stress_layout(n, links, widths)
    for factor in SPREADS:
        wide = layout.coordinates * factor
        if not _covering(wide, extents):
            break
    return Layout(wide, [route * factor for route in layout.routes])


def _covering(places: Points, extents: Points) -> bool:
    """Whether boxes of one size, the largest, cover one another."""
    apart = np.abs(places[:, None] - places) < extents.max(axis=0)
    return bool(apart.all(axis=2).sum() > len(places))


def _half(widths: Points, v: int) -> Points:
    return np.array([widths[v] / 2, HEIGHT / 2])


def _past_boxes(route: Points) -> Points:
    """Return a route that passes a layer straight down where it bends, beside the boxes there."""
    step = np.array([0.0, HEIGHT / 2 + 3])
    bends = [bend + side for bend in route[1:-1] for side in (-step, step)]
    return np.array([route[0], *bends, route[-1]])


def _clipped(route: Points, first: Points, last: Points, heads: tuple[bool, bool]) -> Points:
    """Return a route that ends at the boxes of its nodes, and leaves room for arrow heads."""
    inside = route.copy()
    inside[0] += _to_border(route[1] - route[0], first, HEAD if heads[0] else 0.0)
    inside[-1] += _to_border(route[-2] - route[-1], last, HEAD if heads[1] else 0.0)
    return inside


def _to_border(towards: Points, half: Points, more: float) -> Points:
    length = float(np.hypot(*towards))
    if length < 1e-9:
        return np.zeros(2)
    share = float((half / np.maximum(np.abs(towards), 1e-9)).min())
    moved: Points = towards * min(share + more / length, 0.9)
    return moved


def _edge(u: int, v: int, route: Points, heads: tuple[bool, bool], strength: float) -> str:
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in route.tolist())
    tips = [_tip(route[1], route[0])] if heads[0] else []
    tips += [_tip(route[-2], route[-1])] if heads[1] else []
    weight = f"{0.8 + 1.4 * strength:.2f}"
    shade = f"{0.25 + 0.75 * strength:.2f}"
    return (
        f'<g class="edge" data-from="{u}" data-to="{v}" opacity="{shade}"><path d="{path}" stroke-width="{weight}"/>'
        f"{''.join(tips)}</g>"
    )


def _tip(before: Points, end: Points) -> str:
    """Return an arrow head whose point is a head's length beyond the end of the line."""
    x, y = end - before
    angle = math.atan2(y, x)
    point = end + HEAD * np.array([math.cos(angle), math.sin(angle)])
    corners = [point, *(end + 3.2 * np.array([math.cos(angle + s), math.sin(angle + s)]) for s in (1.571, -1.571))]
    return f'<path class="tip" d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in corners)}Z"/>'


def _node(v: int, name: str, text: str, x: float, y: float, width: float) -> str:
    left, top = x - width / 2, y - HEIGHT / 2
    return (
        f'<g class="node" data-v="{v}" transform="translate({left:.1f} {top:.1f})"><title>{escape(name)}</title>'
        f'<rect class="box" width="{width:.1f}" height="{HEIGHT:.0f}" rx="7"/>'
        f'<text x="{width / 2:.1f}" y="19">{escape(text)}</text>'
        f'<g class="bar" transform="translate(9 27)" data-width="{width - 18:.1f}"></g></g>'
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _width(text: str) -> float:
    return LETTER * sum(map(_letters, text))


def _letters(letter: str) -> float:
    """Return how wide a letter is, in letters."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.9
    return 1.25 if letter.isupper() else 1.0
