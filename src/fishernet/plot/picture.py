"""A picture: a layout with names, marks and arrow heads, all in inches, and how matplotlib draws it at any size."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.plot.layout import by_component, layered_layout, stress_layout
from fishernet.plot.shapes import Drawable, Layout, Points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection


SIDES = np.array(  # to the right of the node, to the left, above, below, and between
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], dtype=np.float64
)
RINGS = (1.0, 1.8, 2.8)  # how far from the node a name may go
COVERS_NODE, COVERS_NAME, ON_EDGE = 100.0, 60.0, 3.0
LATER_SIDE, FARTHER = 0.2, 8.0


def placed_labels(coordinates: Points, radius: float, sizes: Points, routes: Sequence[Points]) -> Points:
    """Return the centre of each node's name, (n, 2), where it covers neither nodes nor other names, and few edges.

    One after the other, each takes the best of what is left; all that is compared lies in boxes with sides along the
    axes, an edge in the boxes of its pieces.
    """
    samples = _samples(routes, float(sizes[:, 1].min()) / 2 if len(sizes) else 1.0)
    centres = np.zeros_like(coordinates)
    for node, (place, size) in enumerate(zip(coordinates, sizes, strict=True)):
        candidates = np.concatenate([place + SIDES * (size / 2 + ring * radius) for ring in RINGS])
        half = size / 2
        cost = np.repeat(np.arange(len(RINGS)) * FARTHER, len(SIDES)) + np.tile(np.arange(len(SIDES)), 3) * LATER_SIDE
        cost += COVERS_NODE * _covered(candidates, half + radius * 0.8, np.delete(coordinates, node, axis=0))
        cost += COVERS_NAME * _covered(candidates, half + sizes[:node] / 2, centres[:node])
        cost += ON_EDGE * np.minimum(_covered(candidates, half, samples), 4)
        centres[node] = candidates[int(np.argmin(cost.round(9)))]
    return centres


def _covered(candidates: Points, half: Points, others: Points) -> Points:
    """Return how many points lie within half a box of each candidate, (n_candidates,)."""
    if not len(others):
        return np.zeros(len(candidates))
    apart = np.abs(candidates[:, None] - others[None])
    counted: Points = (apart < half).all(axis=2).sum(axis=1).astype(np.float64)
    return counted


def _samples(routes: Sequence[Points], step: float) -> Points:
    """Return points along the edges, at most a step apart, (n, 2)."""
    found = [np.zeros((0, 2))]
    for route in routes:
        for start, stop in pairwise(route):
            n = max(2, int(np.hypot(*(stop - start)) / step) + 1)
            found.append(start + np.linspace(0, 1, n)[:, None] * (stop - start))
    return np.concatenate(found)


HEAD = (0.1, 0.035)  # inches: length, and half the width
PIECES = 12  # straight ones that a bend is made of


def cut_short(route: Points, by: float) -> Points:
    """Return a straight route with both ends taken off, as far as there is something between them."""
    span = route[-1] - route[0]
    length = max(float(np.hypot(*span)), 1e-9)
    off = span / length * min(by, 0.4 * length)
    return np.array([route[0] + off, route[-1] - off])


def bent(route: Points, half: float) -> Points:
    """Return the route of an arc with a corner in each layer: straight down through these, and bent between them."""
    down = np.array([0.0, half])
    pieces = []
    for start, stop in zip(route[:-1] - down, route[1:] + down, strict=True):
        t = np.linspace(0, 1, PIECES + 1 if len(route) > 2 else 2)
        pieces.append(start + np.stack([t**2 * (3 - 2 * t), t], axis=1) * (stop - start))
    return np.concatenate(pieces)


def heads(routes: Sequence[Points], wanted: Sequence[tuple[bool, bool]]) -> Points:
    """Return the corners of the arrow heads, (n, 3, 2), whose tips are at the ends where they are wanted."""
    found = []
    for route, (at_start, at_end) in zip(routes, wanted, strict=True):
        if at_start:
            found.append(_head(route[0], route[1]))
        if at_end:
            found.append(_head(route[-1], route[-2]))
    return np.array(found).reshape(-1, 3, 2)


def _head(tip: Points, before: Points) -> Points:
    along = tip - before
    along = along / max(float(np.hypot(*along)), 1e-9)
    across = np.array([-along[1], along[0]])
    base = tip - HEAD[0] * along
    return np.array([tip, base + HEAD[1] * across, base - HEAD[1] * across])


MOST_LABELS = 150  # variables whose names are drawn by default
LONGEST_LABEL = 32  # characters
MOST_INCHES, LEAST_INCHES = 40.0, 1.0  # of a side of a figure
MARGIN = 0.12
RADIUS = 0.06  # of a node without a box
PADDING = (0.1, 0.07)  # between a name and the sides of its box
POINTS = 72.0  # an inch
INK, EDGE, NODE, BOX = "#222222", "#7F7F7F", "#0072B2", "#E6F0F7"
FONT = "DejaVu Sans"  # comes with matplotlib, so it is the same everywhere


def has_matplotlib() -> bool:
    """Whether matplotlib can be imported."""
    return importlib.util.find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Raise FishernetError when matplotlib is not there."""
    if not has_matplotlib():
        raise FishernetError('drawing needs matplotlib; pip install "fishernet[plot]" installs it')


class Picture:
    """Everything of a drawing but the axes.

    In layers, names stand in boxes, which are the nodes; elsewhere nodes are dots with their names beside them.
    """

    def __init__(self, shape: Drawable, *, labels: bool | None, font_size: float) -> None:
        check.number(font_size, "font_size", above=0)
        named = len(shape.names) <= MOST_LABELS if labels is None else check.flag(labels, "labels")
        self._font_size = font_size
        self._texts = [_short(name) for name in shape.names] if named else []
        self._boxed = named and shape.layered
        dots = np.full((len(shape.names), 2), 2 * RADIUS)
        self._names = _text_sizes(self._texts, font_size) if named else np.zeros_like(dots)
        self._nodes = self._names + 2 * np.array(PADDING) if self._boxed else dots
        extents = np.maximum(self._nodes, self._names)
        layout = by_component(shape, extents, layered_layout if shape.layered else stress_layout)
        self._layout = self._with_ends(layout, shape)
        self._heads = heads(self._layout.routes, shape.heads)
        self._centres = self._label_centres()
        self._low, self._high = self._limits()

    def _with_ends(self, layout: Layout, shape: Drawable) -> Layout:
        """Return the layout whose links end where the nodes do."""
        if shape.layered:
            half = float(self._nodes[:, 1].max()) / 2
            return Layout(layout.coordinates, [bent(route, half) for route in layout.routes])
        return Layout(layout.coordinates, [cut_short(route, RADIUS) for route in layout.routes])

    def _label_centres(self) -> Points:
        if not self._texts or self._boxed:
            return self._layout.coordinates
        return placed_labels(self._layout.coordinates, 1.6 * RADIUS, self._names, self._layout.routes)

    def _limits(self) -> tuple[Points, Points]:
        boxes = ((self._layout.coordinates, self._nodes / 2), (self._centres, self._names / 2))
        ends = [centre + side * half for centre, half in boxes for side in (-1, 1)]
        everything = np.concatenate([*ends, *self._layout.routes])
        return everything.min(axis=0) - MARGIN, everything.max(axis=0) + MARGIN

    @property
    def inches(self) -> tuple[float, float]:
        """The width and the height of a figure for it."""
        size = self._high - self._low
        scale = min(1.0, MOST_INCHES / float(size.max()))
        width, height = np.maximum(size * scale, LEAST_INCHES).tolist()
        return width, height

    def draw(self, ax: Axes, *, seams: bool = True) -> None:
        """Draw it on axes, as large as these are but no larger than it was made; names on edges with a white seam."""
        from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection

        scale = self._fitted(ax)
        width = 1.0 * scale
        ax.add_collection(LineCollection(self._layout.routes, colors=EDGE, linewidths=width, zorder=1), autolim=False)
        if len(self._heads):
            heads = PolyCollection(list(self._heads), facecolors=EDGE, edgecolors=EDGE, linewidths=width / 2, zorder=2)
            ax.add_collection(heads, autolim=False)
        if self._boxed:
            ax.add_collection(self._boxes(width), autolim=False)
        else:
            round_ones = EllipseCollection(
                self._nodes[:, 0],
                self._nodes[:, 1],
                np.zeros(len(self._nodes)),
                units="xy",
                offsets=self._layout.coordinates,
                offset_transform=ax.transData,
                facecolors=NODE,
                edgecolors="white",
                linewidths=width / 2,
                zorder=3,
            )
            ax.add_collection(round_ones, autolim=False)
        self._write(ax, scale, seams and not self._boxed)

    def _boxes(self, width: float) -> PolyCollection:
        from matplotlib.collections import PolyCollection

        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / 2
        sides = self._layout.coordinates[:, None] + corners * self._nodes[:, None]
        return PolyCollection(
            list(sides), facecolors=BOX, edgecolors=NODE, linewidths=width, joinstyle="round", zorder=3
        )

    def _write(self, ax: Axes, scale: float, seams: bool) -> None:
        """Write the names."""
        from matplotlib.patheffects import withStroke

        seam = [withStroke(linewidth=2.5 * scale, foreground="white")] if seams else []
        for text, (x, y) in zip(self._texts, self._centres.tolist(), strict=False):
            ax.text(
                x,
                y,
                text,
                ha="center",
                va="center_baseline",
                color=INK,
                fontsize=self._font_size * scale,
                fontfamily=FONT,
                parse_math=False,
                path_effects=seam,
                zorder=4,
            )

    def _fitted(self, ax: Axes) -> float:
        """Set the limits of the axes, and return the inches on them for each inch here.

        It is at most 1: names do not grow with the axes, so a small graph keeps its size, in their middle.
        """
        check.made(ax, "ax", "axes of matplotlib", "get_figure", "get_position")
        figure = ax.get_figure(root=True)
        assert figure is not None
        room = np.array(figure.get_size_inches()) * ax.get_position().size
        scale = float(min(1.0, (room / (self._high - self._low)).min()))
        middle, half = (self._low + self._high) / 2, room / scale / 2
        ax.set_axis_off()
        ax.set_aspect("equal")
        ax.set_xlim(*(middle[0] + np.array([-1, 1]) * half[0]))
        ax.set_ylim(*(middle[1] + np.array([-1, 1]) * half[1]))
        return scale


def _short(name: str) -> str:
    plain = name if name.isprintable() and name.strip() else repr(name)
    return plain if len(plain) <= LONGEST_LABEL else f"{plain[: LONGEST_LABEL - 1]}…"


def _text_sizes(texts: list[str], font_size: float) -> Points:
    """Return the width and the height of each text, (n, 2); the height is that of a line."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=FONT, size=font_size)
    widths = [text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] for text in texts]
    return np.array([(width, 1.1 * font_size) for width in widths]) / POINTS
