"""A picture: a layout with names, marks and arrow heads, all in inches, and how matplotlib draws it at any size."""

from __future__ import annotations

import importlib.util
import math
from typing import TYPE_CHECKING

import numpy as np

from fishernet.errors import FishernetError
from fishernet.plot.labels import placed_labels
from fishernet.plot.layers import layered_layout
from fishernet.plot.packing import by_component
from fishernet.plot.shapes import Drawable, Layout, Points
from fishernet.plot.stress import stress_layout
from fishernet.plot.ways import cut_short, heads, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

MOST_LABELS = 150  # variables whose names are drawn when nothing is said
LONGEST_LABEL = 32  # characters
MOST_INCHES, LEAST_INCHES = 40.0, 1.0  # of a side of a figure
MARGIN = 0.12
RADIUS = 0.06  # of a node without a box
PADDING = (0.1, 0.07)  # between a name and the sides of its box
POINTS = 72.0  # an inch
INK, EDGE, NODE, BOX = "#222222", "#7F7F7F", "#0072B2", "#E6F0F7"
FONT = "DejaVu Sans"  # comes with matplotlib, so it is the same everywhere


def require_matplotlib() -> None:
    """Raise FishernetError when matplotlib is not there."""
    if importlib.util.find_spec("matplotlib") is None:
        raise FishernetError('drawing needs matplotlib; pip install "fishernet[plot]" installs it')


class Picture:
    """Everything of a drawing but the axes.

    In layers, names stand in boxes, which are the nodes; elsewhere nodes are dots with their names beside them.

    Parameters
    ----------
    shape : Drawable
    labels : bool, optional
        Whether names are drawn; those of up to `MOST_LABELS` nodes when not said.
    font_size : float
        Of the names, in points.
    """

    def __init__(self, shape: Drawable, *, labels: bool | None, font_size: float) -> None:
        if not (math.isfinite(font_size) and font_size > 0):
            raise FishernetError(f"font_size must be a positive number of points, got {font_size!r}")
        named = len(shape.names) <= MOST_LABELS if labels is None else labels
        self._font_size = font_size
        self._texts = [_short(name) for name in shape.names] if named else []
        self._boxed = named and shape.layered
        dots = np.full((len(shape.names), 2), 2 * RADIUS)
        self._names = _text_sizes(self._texts, font_size) if named else np.zeros_like(dots)
        self._nodes = self._names + 2 * np.array(PADDING) if self._boxed else dots
        rooms = np.maximum(self._nodes, self._names)
        layout = by_component(shape, rooms, layered_layout if shape.layered else stress_layout)
        self._layout = self._with_ends(layout, shape)
        self._heads = heads(self._layout.ways, shape.heads)
        self._centres = self._label_centres()
        self._low, self._high = self._limits()

    def _with_ends(self, layout: Layout, shape: Drawable) -> Layout:
        """Return the layout whose links end where the nodes do."""
        if shape.layered:
            half = float(self._nodes[:, 1].max()) / 2
            return Layout(layout.places, [rounded(way, half) for way in layout.ways])
        return Layout(layout.places, [cut_short(way, RADIUS) for way in layout.ways])

    def _label_centres(self) -> Points:
        if not self._texts or self._boxed:
            return self._layout.places
        return placed_labels(self._layout.places, 1.6 * RADIUS, self._names, self._layout.ways)

    def _limits(self) -> tuple[Points, Points]:
        nodes, names = self._nodes / 2, self._names / 2
        ends = [self._layout.places - nodes, self._layout.places + nodes, self._centres - names, self._centres + names]
        everything = np.concatenate([*ends, *self._layout.ways])
        return everything.min(axis=0) - MARGIN, everything.max(axis=0) + MARGIN

    @property
    def inches(self) -> tuple[float, float]:
        """The width and the height of a figure for it."""
        size = self._high - self._low
        scale = min(1.0, MOST_INCHES / float(size.max()))
        width, height = np.maximum(size * scale, LEAST_INCHES).tolist()
        return width, height

    def draw(self, ax: Axes) -> None:
        """Draw it on axes, as large as these are but no larger than it was made."""
        from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection

        scale = self._fitted(ax)
        width = 1.0 * scale
        ax.add_collection(LineCollection(self._layout.ways, colors=EDGE, linewidths=width, zorder=1), autolim=False)
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
                offsets=self._layout.places,
                offset_transform=ax.transData,
                facecolors=NODE,
                edgecolors="white",
                linewidths=width / 2,
                zorder=3,
            )
            ax.add_collection(round_ones, autolim=False)
        self._write(ax, scale)

    def _boxes(self, width: float) -> PolyCollection:
        from matplotlib.collections import PolyCollection

        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / 2
        sides = self._layout.places[:, None] + corners * self._nodes[:, None]
        return PolyCollection(
            list(sides), facecolors=BOX, edgecolors=NODE, linewidths=width, joinstyle="round", zorder=3
        )

    def _write(self, ax: Axes, scale: float) -> None:
        """Write the names, with a white seam where they may lie on edges."""
        from matplotlib.patheffects import withStroke

        seam = [] if self._boxed else [withStroke(linewidth=2.5 * scale, foreground="white")]
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
