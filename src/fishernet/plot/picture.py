"""A picture of a graph: a layout with names, marks and arrow heads, all in inches, and how matplotlib draws it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fishernet.plot.layout import GAP, WIDER, layered_layout, packed, stress_layout
from fishernet.plot.places import with_room_for_names
from fishernet.plot.shapes import Component, Drawable, Layout, Points, in_components
from fishernet.plot.style import Theme, ink_on, letters, theme_of
from fishernet.plot.texts import POINTS, family_of, labels, text_sizes
from fishernet.plot.tooltips import entitle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEAD = (0.1, 0.035)  # inches: length, and half the width, of a line of one point
CIRCLE = 0.035  # inches: radius of the circle at an end of an edge without a direction of its own
PIECES = 12  # straight ones that a bend is made of
MOST_INCHES, LEAST_INCHES = 40.0, 1.0  # of a side of a figure
MOST_SEAMS = 300  # names; more take too long
LEAST_POINTS = 4.5  # of names: smaller ones are left out
LEGEND_POINTS, LEGEND_GROWTHS = 6.0, 4  # of a legend, at least, as far as there is room for it
SWATCH = 0.45  # inches of a mark in the legend, with the room beside it
MARGIN = 0.12
RADIUS = 0.06  # of a node without a box
PADDING = (0.1, 0.07)  # between a name and the sides of its box
BADGE = 0.05  # radius of the mark of a group on a box
THIN, THICK = 0.5, 4.5  # points of the weakest and of the strongest edge
DASHED = (3.2, 1.6)  # of a line's width
APART = "without edges"

EDGES: dict[str, tuple[str, Any]] = {  # the colour of a theme and the dashes of each kind
    "plain": ("line", None),
    "pale": ("faint", None),
    "positive": ("more", None),
    "negative": ("less", DASHED),
    "both": ("line", None),
    "first": ("less", DASHED),
    "second": ("more", None),
    "other": ("third", (6.0, 1.4, 1.2, 1.4)),
}


@dataclass(frozen=True)
class Look:
    """What a graph shows beside names and edges; by position of its links and nodes. Empty: nothing."""

    strengths: Sequence[float] = ()
    """From 0 to 1: widths of the edges."""
    kinds: Sequence[str] = ()
    """Of edges: the keys of `EDGES`."""
    groups: Sequence[int] = ()
    """Of nodes, by colour and mark; -1: none."""
    pale: Sequence[bool] = ()
    """Nodes that are pushed back."""
    target: int = -1
    """The node that it is about."""
    link_titles: Sequence[str] = ()
    node_titles: Sequence[str] = ()
    legend: Sequence[tuple[str, Any, str]] = ()
    """What stands below: ("edge", kind, text), ("width", strength, text) or ("node", group, text)."""


def trimmed(route: Points, start: float, stop: float) -> Points:
    """Return a route with so many inches taken off its ends, as far as there are 10 % left."""
    lengths = np.hypot(*np.diff(route, axis=0).T)
    whole = float(lengths.sum())
    shrink = min(1.0, 0.9 * whole / max(start + stop, 1e-9))
    first, last = start * shrink, whole - stop * shrink
    at = np.concatenate([[0.0], lengths.cumsum()])
    kept = route[(at > first + 1e-9) & (at < last - 1e-9)]
    ends = [[np.interp(place, at, route[:, axis]) for axis in (0, 1)] for place in (first, last)]
    return np.concatenate([[ends[0]], kept, [ends[1]]])


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


def heads(routes: Sequence[Points], wanted: Sequence[tuple[bool, bool]], sizes: Sequence[float]) -> Points:
    """Return the corners of the arrow heads, (n, 3, 2), whose tips are at the ends where they are wanted."""
    found = []
    for route, (at_start, at_end), size in zip(routes, wanted, sizes, strict=True):
        if at_start:
            found.append(_head(route[0], route[1], size))
        if at_end:
            found.append(_head(route[-1], route[-2], size))
    return np.array(found).reshape(-1, 3, 2)


def _head(tip: Points, before: Points, size: float) -> Points:
    along = tip - before
    along = along / max(float(np.hypot(*along)), 1e-9)
    across = np.array([-along[1], along[0]])
    base = tip - size * HEAD[0] * along
    return np.array([tip, base + size * HEAD[1] * across, base - size * HEAD[1] * across])


class Picture:
    """Everything of a drawing but the axes.

    In layers, names stand in boxes, which are the nodes; elsewhere nodes are dots with their names beside them. Nodes
    without edges stand in a block of their own, below. Names never cover each other: a drawing grows until they fit.
    """

    def __init__(self, shape: Drawable, *, named: bool, font_size: float, look: Look | None = None) -> None:
        self._shape, self._look = shape, Look() if look is None else look
        self.font_size: float = letters(font_size)
        self._texts = labels(shape.names) if named else []
        self._boxed = shape.layered and bool(self._texts)
        n = len(shape.names)
        self._names = text_sizes(self._texts, font_size) if self._texts else np.zeros((n, 2))
        self._nodes = self._names + 2 * np.array(PADDING) if self._boxed else np.full((n, 2), 2 * RADIUS)
        self._centres = np.zeros((n, 2))
        layout = self._arranged()
        self._layout = Layout(layout.coordinates, self._ending_at_nodes(layout))
        if not self._texts or self._boxed:
            self._centres = layout.coordinates
        self._widths = self._line_widths()
        self._put_legend(1.0)

    # -------------------------------------------------------------------------------------------------- arrangement

    def _arranged(self) -> Layout:
        """Lay every component out, pack those with edges, and put the others below."""
        shape = self._shape
        coordinates, routes = np.zeros((len(shape.names), 2)), [np.zeros((2, 2))] * len(shape.links)
        found = in_components(shape)
        joined = [one for one in found if one.links]
        alone = sorted(one.members[0] for one in found if not one.links)
        parts = [self._part(one) for one in joined]
        sizes = [high - low for *_, low, high in parts]
        for part, corner, one in zip(parts, packed(sizes), joined, strict=True):
            layout, centres, low, _ = part
            moved = layout.moved(corner - low)
            coordinates[one.members], self._centres[one.members] = moved.coordinates, centres + corner - low
            for position, route in zip(one.positions, moved.routes, strict=True):
                routes[position] = route
        self._apart_at: Points | None = None
        if alone:
            self._put_below(alone, [node for one in joined for node in one.members], coordinates)
        return Layout(coordinates, routes)

    def _part(self, component: Component) -> tuple[Layout, Points, Points, Points]:
        """Return the layout of a component, the centres of its names, and the corners of all of it."""
        members = component.members
        lay_out = layered_layout if self._shape.layered else stress_layout
        layout = lay_out(len(members), component.links, self._nodes[members, 0])
        centres = layout.coordinates
        if self._texts and not self._boxed:
            layout, centres = with_room_for_names(layout, 1.6 * RADIUS, self._names[members])
        low, high = _corners(
            (layout.coordinates, self._nodes[members] / 2), (centres, self._names[members] / 2), routes=layout.routes
        )
        return layout, centres, low, high

    def _put_below(self, alone: list[int], before: list[int], coordinates: Points) -> None:
        """Put nodes without edges in columns below the others, each name to the right of its dot or in its box."""
        if before:
            low, high = _corners(
                (coordinates[before], self._nodes[before] / 2), (self._centres[before], self._names[before] / 2)
            )
        else:
            low, high = np.zeros(2), np.zeros(2)
        beside = 0.0 if self._boxed else float(self._names[alone, 0].max()) + 0.6 * RADIUS
        cell = self._nodes[alone].max(axis=0) + np.array([beside + 0.15, 0.0])
        cell[1] = max(cell[1], float(self._names[alone, 1].max())) + 0.08
        room = max(float(high[0] - low[0]), math.sqrt(WIDER * len(alone) * float(cell.prod())))
        columns = max(1, min(len(alone), int(room / cell[0] + 0.5)))
        top = float(low[1]) - (GAP if before else 0.0)
        for place, node in enumerate(alone):
            row, column = divmod(place, columns)
            coordinates[node] = low[0] + column * cell[0] + self._nodes[node, 0] / 2, top - (row + 0.5) * cell[1]
        across = self._nodes[alone, 0] / 2 + 0.6 * RADIUS + self._names[alone, 0] / 2
        self._centres[alone] = coordinates[alone] + np.stack([across, 0 * across], axis=1)
        self._apart_at = np.array([low[0], top + 0.1]) if before else None

    def _ending_at_nodes(self, layout: Layout) -> list[Points]:
        if self._shape.layered:
            half = float(self._nodes[:, 1].max()) / 2
            return [bent(route, half) for route in layout.routes]
        return [cut_short(route, RADIUS) for route in layout.routes]

    def _line_widths(self) -> list[float]:
        strengths = self._look.strengths
        if not len(strengths):
            return [1.0] * len(self._shape.links)
        return [THIN + (THICK - THIN) * float(strength) for strength in strengths]

    def _limits(self) -> tuple[Points, Points]:
        boxes = ((self._layout.coordinates, self._nodes / 2), (self._centres, self._names / 2))
        low, high = _corners(*boxes, routes=self._layout.routes)
        if self._apart_at is not None:
            size = text_sizes([APART], 0.85 * self.font_size)[0]
            high = np.maximum(high, self._apart_at + size)
        return low - MARGIN, high + MARGIN

    def _put_legend(self, larger: float) -> None:
        """Put what stands below, in letters so much larger than names, and widen the limits to hold it."""
        self._low, self._high = self._limits()
        self._legend: list[tuple[str, Any, str, float, float]] = []
        self._larger, entries = larger, self._look.legend
        if not entries:
            return
        texts = labels([text for *_, text in entries], 48)
        sizes = text_sizes(texts, larger * self.font_size)
        swatch, line = larger * SWATCH, 1.5 * larger * self.font_size / POINTS
        room = max(float(self._high[0] - self._low[0]) - 2 * MARGIN, float(sizes[:, 0].max()) + swatch, 3.0)
        x, y = 0.0, float(self._low[1]) - line / 2
        for (sort, what, _), text, (width, _) in zip(entries, texts, sizes.tolist(), strict=True):
            if x and x + swatch + width > room:
                x, y = 0.0, y - line
            self._legend.append((sort, what, text, float(self._low[0]) + MARGIN + x, y))
            x += swatch + width + 0.25 * larger
        self._low = np.array([self._low[0], y - line / 2 - MARGIN / 2])
        self._high = np.array([max(self._high[0], self._low[0] + room + 2 * MARGIN), self._high[1]])

    # ------------------------------------------------------------------------------------------------------ drawing

    @property
    def inches(self) -> tuple[float, float]:
        """The width and the height of a figure for it."""
        size = self._high - self._low
        scale = min(1.0, MOST_INCHES / float(size.max()))
        width, height = np.maximum(size * scale, LEAST_INCHES).tolist()
        return width, height

    def scale_in(self, width: float, height: float) -> float:
        """Return how much smaller than it was made it is in a room of so many inches; at most 1.

        Names do not grow with the axes, so a small graph keeps its size, in their middle.
        """
        return float(min(1.0, (np.array([width, height]) / (self._high - self._low)).min()))

    def draw(self, ax: Axes, *, seams: bool = True) -> None:
        """Draw it on axes, as large as these are but no larger than it was made; names on edges with a seam."""
        look, scale = theme_of(ax), self._fitted(ax)
        self._draw_edges(ax, look, scale)
        fills = self._draw_nodes(ax, look, scale)
        self._write(ax, look, scale, fills, seams=seams and not self._boxed)
        self._write_legend(ax, look, scale)

    def _draw_edges(self, ax: Axes, look: Theme, scale: float) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        routes, ends = self._layout.routes, self._shape.heads
        if not routes:
            return
        kinds = self._look.kinds or ["plain"] * len(routes)
        colours = [getattr(look, EDGES[kind][0]) for kind in kinds]
        dashes: list[Any] = [EDGES[kind][1] for kind in kinds]
        sizes = [0.75 + 0.25 * width for width in self._widths]
        mutual = [start and stop for start, stop in ends]
        arrows = [(start and not both, stop and not both) for (start, stop), both in zip(ends, mutual, strict=True)]
        drawn = []
        for route, (start, stop), size, both in zip(routes, arrows, sizes, mutual, strict=True):
            off = 2 * CIRCLE if both else 0.0
            drawn.append(trimmed(route, off + 0.8 * start * size * HEAD[0], off + 0.8 * stop * size * HEAD[0]))
        lines = LineCollection(
            drawn,
            colors=colours,
            linewidths=[width * scale for width in self._widths],
            linestyles=["-" if dash is None else (0, dash) for dash in dashes],
            capstyle="butt",
            zorder=1,
            gid="edges",
        )
        entitle(lines, self._look.link_titles or self._shape.titles)
        ax.add_collection(lines, autolim=False)
        tips = heads(routes, arrows, sizes)
        if len(tips):
            inks = [ink for ink, wanted in zip(colours, arrows, strict=True) for _ in range(sum(wanted))]
            ax.add_collection(PolyCollection(list(tips), facecolors=inks, zorder=2, gid="heads"), autolim=False)
        self._draw_circles(
            ax, look, scale, [route for route, both in zip(routes, mutual, strict=True) if both], colours
        )

    def _draw_circles(self, ax: Axes, look: Theme, scale: float, routes: list[Points], colours: list[str]) -> None:
        """Draw an open circle at both ends of edges that run both ways: neither end is a cause more than the other."""
        from matplotlib.collections import PolyCollection

        if not routes:
            return
        mutual = [ink for ink, (start, stop) in zip(colours, self._shape.heads, strict=True) if start and stop]
        ends = [trimmed(route, CIRCLE, CIRCLE)[[0, -1]] for route in routes]
        rounds = [_polygon(end, CIRCLE, 24) for pair in ends for end in pair]
        ax.add_collection(
            PolyCollection(
                rounds,
                facecolors=look.background,
                edgecolors=[ink for ink in mutual for _ in range(2)],
                linewidths=scale,
                zorder=2.5,
                gid="circles",
            ),
            autolim=False,
        )

    def _draw_nodes(self, ax: Axes, look: Theme, scale: float) -> list[str]:
        """Draw boxes or dots, and return what each is filled with."""
        from matplotlib.collections import PolyCollection

        n = len(self._shape.names)
        groups = self._look.groups or [-1] * n
        pale = self._look.pale or [False] * n
        grouped = any(group >= 0 for group in groups)
        usual = look.box if self._boxed else look.background if grouped else look.series[0]
        fills = [look.background if dim else group_fill(look, g, usual) for g, dim in zip(groups, pale, strict=True)]
        edges = [look.line if dim else look.series[0] if self._boxed else look.background for dim in pale]
        if grouped:
            edges = [look.line if dim else look.ink for dim in pale]
        widths = [scale if self._boxed or dim or grouped else scale / 2 for dim in pale]
        if self._look.target >= 0:
            fills[self._look.target], edges[self._look.target] = look.more, look.ink
            widths[self._look.target] = 2 * scale
        shapes = PolyCollection(
            self._outlines(groups),
            facecolors=fills,
            edgecolors=edges,
            linewidths=widths,
            joinstyle="round",
            zorder=3,
            gid="nodes",
        )
        entitle(shapes, self._look.node_titles or list(self._shape.names))
        ax.add_collection(shapes, autolim=False)
        if self._boxed and self._look.groups:
            self._draw_badges(ax, look, scale, groups)
        return fills

    def _outlines(self, groups: Sequence[int]) -> list[Points]:
        places = self._layout.coordinates
        if not self._boxed:
            return [group_mark(place, RADIUS, g) for place, g in zip(places, groups, strict=True)]
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / 2
        return list(places[:, None] + corners * self._nodes[:, None])

    def _draw_badges(self, ax: Axes, look: Theme, scale: float, groups: Sequence[int]) -> None:
        """Put the mark of its group on the left side of each box, to be told apart in grey."""
        from matplotlib.collections import PolyCollection

        left = self._layout.coordinates - self._nodes * np.array([0.5, 0.0])
        held = [(place, g) for place, g in zip(left, groups, strict=True) if g >= 0]
        marks = PolyCollection(
            [group_mark(place, BADGE, g) for place, g in held],
            facecolors=[group_fill(look, g, look.box) for _, g in held],
            edgecolors=look.ink,
            linewidths=0.8 * scale,
            zorder=3.5,
            gid="badges",
        )
        ax.add_collection(marks, autolim=False)

    def _write(self, ax: Axes, look: Theme, scale: float, fills: Sequence[str], *, seams: bool) -> None:
        """Write the names."""
        from matplotlib.patheffects import withStroke

        few = seams and len(self._texts) <= MOST_SEAMS
        seam = [withStroke(linewidth=2.5 * scale, foreground=look.background)] if few else []
        titles = self._look.node_titles or self._shape.names
        pale = self._look.pale or [False] * len(fills)
        for place, text in enumerate(self._texts):
            colour = ink_on(fills[place]) if self._boxed and not pale[place] else look.ink
            colour = look.muted if pale[place] else look.ink if fills[place] == look.box else colour
            written = self._say(ax, text, self._centres[place], scale, colour, ha="center", va="center_baseline")
            written.set_path_effects(seam)
            written.set_gid("name")
            entitle(written, [titles[place]])
        if self._apart_at is not None and self._texts:
            self._say(ax, APART, self._apart_at, 0.85 * scale, look.muted, ha="left", va="center").set_gid("caption")

    def _say(self, ax: Axes, text: str, at: Points, scale: float, colour: str, **how: Any) -> Any:
        families = family_of(text)
        size = self.font_size * scale
        written = ax.text(
            float(at[0]), float(at[1]), text, color=colour, fontsize=size, fontfamily=families, parse_math=False, **how
        )
        written.set_zorder(4)
        return written

    def _write_legend(self, ax: Axes, look: Theme, scale: float) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        larger = self._larger
        for sort, what, text, x, y in self._legend:
            if sort == "node":
                fill = look.more if what == "target" else group_fill(look, what, look.box)
                place = np.array([x + 0.4 * SWATCH * larger, y])
                shape = group_mark(place, 1.2 * RADIUS * larger, 0 if what == "target" else what)
                mark: Any = PolyCollection([shape], facecolors=fill, edgecolors=look.ink, linewidths=0.8 * scale)
            else:
                kind, width = ("plain", THIN + (THICK - THIN) * what) if sort == "width" else (what, 2.0)
                colour, dash = EDGES[kind]
                how: Any = {"linestyles": "-" if dash is None else (0, dash), "linewidths": width * scale}
                line = np.array([(x, y), (x + 0.8 * SWATCH * larger, y)])
                mark = LineCollection([line], colors=getattr(look, colour), **how)
            mark.set_gid("legend")
            ax.add_collection(mark, autolim=False)
            at = np.array([x + SWATCH * larger, y])
            self._say(ax, text, at, larger * scale, look.ink, ha="left", va="center_baseline").set_gid("legend")

    def _fitted(self, ax: Axes) -> float:
        """Set the limits of the axes, and return the inches on them for each inch here."""
        room = inches_of(ax)
        self._make_legend_readable(room)
        scale = self.scale_in(*room.tolist())
        middle, half = (self._low + self._high) / 2, room / scale / 2
        ax.set_axis_off()
        ax.set_aspect("equal")
        ax.set_xlim(*(middle[0] + np.array([-1, 1]) * half[0]))
        ax.set_ylim(*(middle[1] + np.array([-1, 1]) * half[1]))
        return scale

    def _make_legend_readable(self, room: Points) -> None:
        """Make the legend larger, to half of the height, where it is drawn so small that it could not be read."""
        least, whole = min(LEGEND_POINTS, self.font_size), self._limits()
        self._put_legend(1.0)
        for _ in range(LEGEND_GROWTHS):  # what is larger makes the rest smaller
            before = self._larger
            points = before * self.font_size * self.scale_in(*room.tolist())
            if not self._legend or points >= 0.99 * least:
                break
            self._put_legend(before * least / points)
            if whole[0][1] - self._low[1] > (whole[1] - whole[0])[1]:
                self._put_legend(before)
                break


def inches_of(ax: Axes) -> Points:
    """Return the width and the height of axes, (2,)."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return np.array(figure.get_size_inches()) * ax.get_position().size


def group_fill(look: Theme, group: int, usual: str) -> str:
    """Return what the nodes of a group are filled with."""
    return usual if group < 0 else look.fills[group % len(look.fills)]


def group_mark(place: Points, radius: float, group: int) -> Points:
    """Return the outline of a node of a group; groups of one colour differ in it, and those of different ones too."""
    sides, turn, wide = MARKS[(group + group // len(MARKS)) % len(MARKS)] if group > 0 else MARKS[0]
    return _polygon(place, radius * wide, sides, turn)


MARKS = (
    (32, 0.0, 1.0),
    (3, 0.25, 1.35),
    (4, 0.125, 1.25),
    (4, 0.0, 1.25),
    (3, 0.75, 1.35),
    (5, 0.25, 1.2),
    (6, 0.0, 1.15),
)
"""Corners, turn and size: circle, triangle, square, diamond, triangle on its tip, pentagon, hexagon."""


def _polygon(place: Points, radius: float, sides: int, turn: float = 0.0) -> Points:
    angles = 2 * np.pi * (np.arange(sides) / sides + turn)
    return place + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _corners(*boxes: tuple[Points, Points], routes: Sequence[Points] = ()) -> tuple[Points, Points]:
    """Return the lower left and the upper right corner of boxes, by centres and halves, and of routes."""
    ends = [centre + side * half for centre, half in boxes for side in (-1, 1)]
    everything = np.concatenate([*ends, *routes])
    return everything.min(axis=0), everything.max(axis=0)
