"""A graph, or that of a model, drawn with matplotlib on axes or in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fishernet.base import check
from fishernet.base.display import draws
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.graphs import Graph
from fishernet.graphs.graph import HasGraph, graph_of
from fishernet.plot.looks import Asked, above, edge_strengths_in, look_of, measured
from fishernet.plot.picture import LEAST_POINTS, Look, Picture, inches_of
from fishernet.plot.shapes import Drawable
from fishernet.plot.style import has_matplotlib, require_matplotlib
from fishernet.plot.tooltips import LOOK, as_svg, check_picture_path, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_NODES = 2000
MOST_LABELS = 500  # variables whose names are looked for room for, unless they are asked for

Given = Graph | HasGraph  # a graph, or a model that has one


def drawable(given: Given) -> Drawable:
    """Return names and links of a graph, or of a model's graph, of 1 to `MOST_NODES` variables."""
    graph = graph_of(given)
    links = graph.links()
    found = Drawable(graph.names, links.pairs, links.heads, layered=links.layered)
    if not found.names:
        raise SchemaError("the graph has no variables to draw")
    if len(found.names) > MOST_NODES:
        raise FishernetError(
            f"the graph has {len(found.names):,} variables, and a drawing shows at most {MOST_NODES:,}; draw a "
            "part of the graph"
        )
    return found


def graph(
    graph: Given,
    *,
    strengths: Asked = None,
    threshold: float | None = None,
    target: str | None = None,
    groups: Mapping[str, object] | None = None,
    ax: Axes | None = None,
    labels: bool | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw a graph, or the graph of a model.

    A graph without cycles stands in layers, every arc pointing down, and so does a class of equivalent graphs, whose
    undirected edges have no head. Any other spreads so that the distance of two variables is near the number of edges
    between them; edges that run both ways in a dependency network have a circle at both ends. Variables without edges
    stand below in a block of their own. Names never cover each other. The same graph is always drawn the same.

    Parameters
    ----------
    graph : Dag, UndirectedGraph, Cpdag or EdgeStrengths; a network; or your own `Graph` or `fishernet.models.Model`
        Of at most 2,000 variables. Of edge strengths the averaged network is drawn.
    strengths : str, EdgeStrengths, mapping or (n_variables, n_variables) array, optional
        How thick edges are. "mutual-information" of the two variables as the model has it, in nats;
        "partial-correlation" of a Gaussian network; the strengths of a bootstrap; or numbers by pairs of names or by
        position. Where some are negative, positive edges are blue and solid, negative ones orange and dashed.
    threshold : float, optional
        Edges with a smaller strength, without its sign, are left out. Of edge strengths by default their own.
    target : str, optional
        A variable that stands out with its Markov blanket; all else is pushed back.
    groups : mapping from name to group, optional
        Colours and marks of the variables, at most 49.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure as large as the graph needs, for `matplotlib.pyplot.show`.
    labels : bool, optional
        Whether the variables' names are drawn; by default where there is room for them in letters that can be read.
        Long ones are cut.
    font_size : float
        Of the names, in points. On axes that are too small for the picture all of it is drawn smaller.

    Returns
    -------
    matplotlib Axes
        Its collections are the edges, arrow heads, circles, nodes and badges of groups, each where there are some,
        which `get_gid` names; its texts are the names, with the id "name", and those of the legend.

    Raises
    ------
    FishernetError
        When matplotlib is missing, there are too many variables, or a threshold without strengths.
    SchemaError
        When it is not a graph, a name is not in the graph, or the model cannot compute these strengths.

    See Also
    --------
    fishernet.plot.write_graph : straight to a file.
    fishernet.plot.difference : what two graphs have in common.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> axes = fn.plot.graph(asia, ax=Figure().add_subplot())
    >>> sorted(text.get_text() for text in axes.texts)
    ['asia', 'bronc', 'dysp', 'either', 'lung', 'smoke', 'tub', 'xray']
    >>> axes = fn.plot.graph(asia, strengths="mutual-information", target="lung", ax=Figure().add_subplot())
    >>> [text.get_text() for text in axes.texts if text.get_gid() == "legend"]
    ['mutual information 0.000405 nats', '0.251 nats', 'lung', 'its Markov blanket (3)']
    """
    require_matplotlib()
    shape, look = _shown(graph, strengths, threshold, target, groups)
    return place(shape, look, ax=ax, labels=labels, font_size=font_size)


def _shown(
    graph: Given,
    strengths: Asked = None,
    threshold: float | None = None,
    target: str | None = None,
    groups: Mapping[str, object] | None = None,
) -> tuple[Drawable, Look]:
    """Return what is drawn of a graph, and how."""
    own = edge_strengths_in(graph)
    shape = drawable(graph if own is None or threshold is None else own.averaged(threshold))
    found = measured(strengths if own is None or strengths is not None else own, graph, shape)
    if strengths is not None or own is None:
        shape = above(shape, found, threshold)
    return shape, look_of(shape, found, target, groups)


def place(shape: Drawable, look: Look, *, ax: Axes | None, labels: bool | None, font_size: float) -> Axes:
    """Draw a picture of a graph on axes, with names where these can be read."""
    picture = _picture(shape, look, labels, font_size, None if ax is None else inches_of(ax))
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=picture.inches).add_axes((0.0, 0.0, 1.0, 1.0))
    picture.draw(ax)
    return ax


def _picture(shape: Drawable, look: Look, labels: bool | None, font_size: float, room: Any) -> Picture:
    """Return a picture for a room, or for a sheet of its own; without names where they would be too small to read."""
    few = len(shape.names) <= MOST_LABELS if labels is None else check.flag(labels, "labels")
    picture = Picture(shape, named=few, font_size=font_size, look=look)
    width, height = picture.inches if room is None else room.tolist()
    too_small = picture.font_size * picture.scale_in(width, height) < min(LEAST_POINTS, picture.font_size)
    if labels is None and few and too_small:
        picture = Picture(shape, named=False, font_size=font_size, look=look)
    return picture


def write_graph(
    graph: Given,
    path: str | os.PathLike[str],
    *,
    strengths: Asked = None,
    threshold: float | None = None,
    target: str | None = None,
    groups: Mapping[str, object] | None = None,
    labels: bool | None = None,
    font_size: float = 9.0,
) -> None:
    """Draw a graph, or the graph of a model, to a file.

    The same graph gives the same bytes with the same matplotlib. In SVG, whole names and strengths appear where one
    points.

    Parameters
    ----------
    graph, strengths, threshold, target, groups, labels, font_size
        As for `fishernet.plot.graph`.
    path : path
        Ends in ``.png``, ``.svg`` or ``.pdf``. The file is written beside and renamed.

    Raises
    ------
    FileFormatError
        When the ending is another one, or the file cannot be written.
    FishernetError
        When matplotlib is missing, or there are too many variables.
    SchemaError
        When it is not a graph, or a model without one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fishernet as fn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "asia.svg")
    ...     fn.plot.write_graph(fn.datasets.load("asia"), path)
    ...     path.stat().st_size > 0
    True
    """
    check_picture_path(path)
    shape, look = _shown(graph, strengths, threshold, target, groups)
    with _drawn(shape, look, labels, font_size) as figure:
        save(figure, Path(path))


@contextmanager
def _drawn(
    shape: Drawable, look: Look, labels: bool | None, font_size: float, *, seams: bool = True, fonts: str = "path"
) -> Iterator[Figure]:
    """Yield a figure as large as the drawing, to be saved within the look that it was drawn in."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**LOOK, "svg.fonttype": fonts}):
        picture = _picture(shape, look, labels, font_size, None)
        figure = Figure(figsize=picture.inches)
        picture.draw(figure.add_axes((0.0, 0.0, 1.0, 1.0)), seams=seams)
        yield figure


@draws
def svg(graph: Given) -> str | None:
    """Return the drawing of a graph as an SVG element, which a notebook shows; None where matplotlib is missing.

    Names are text, not the outlines of their letters, which keeps it small.
    """
    if not has_matplotlib():
        return None
    shape, look = _shown(graph)
    with _drawn(shape, look, None, 9.0, seams=False, fonts="none") as figure:
        text = as_svg(figure)
    return text[text.index("<svg") :]  # what stands before it has no place inside HTML
