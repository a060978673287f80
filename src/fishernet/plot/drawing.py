"""A graph, or that of a model, drawn with matplotlib on axes or in a file."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fishernet.base import check
from fishernet.base.display import draws
from fishernet.base.errors import FileFormatError, FishernetError, SchemaError
from fishernet.base.io import replacing
from fishernet.base.names import a
from fishernet.graphs import Cpdag, Dag, UndirectedGraph
from fishernet.models import BayesianNetwork, DependencyNetwork, GaussianMarkovNetwork, MarkovNetwork
from fishernet.plot.picture import Picture, has_matplotlib, require_matplotlib
from fishernet.plot.shapes import Drawable, Link

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_NODES = 2000

Graph = Dag | UndirectedGraph | Cpdag | BayesianNetwork | DependencyNetwork | GaussianMarkovNetwork | MarkovNetwork


def drawable(graph: object) -> Drawable:
    """Return names and links of a graph, or of a model's graph, of 1 to `MOST_NODES` variables."""
    found = _drawable(graph)
    if not found.names:
        raise SchemaError("the graph has no variables, so there is nothing to draw")
    if len(found.names) > MOST_NODES:
        raise FishernetError(
            f"a drawing of {len(found.names):,} variables cannot be read; at most {MOST_NODES:,} are drawn, so draw a "
            "part of the graph"
        )
    return found


def _drawable(graph: Any) -> Drawable:
    graph = getattr(graph, "dag", getattr(graph, "graph", graph))  # a model's
    if hasattr(graph, "undirected"):
        return _partly_directed(graph)
    if hasattr(graph, "skeleton"):
        return _of_arcs(graph.names, _arcs(graph.parents), layered=True)
    if hasattr(graph, "adjacency"):
        links = [(u, v) for u, others in enumerate(graph.adjacency) for v in others if u < v]
        return Drawable(graph.names, links, [(False, False)] * len(links), layered=False)
    if hasattr(graph, "conditionals"):
        return _of_arcs(graph.names, _arcs(conditional.parents for conditional in graph.conditionals))
    raise SchemaError(
        f"{a(type(graph).__name__)} has no graph to draw; take a Dag, a Cpdag, an UndirectedGraph, or a network with "
        "one"
    )


def _partly_directed(graph: Cpdag) -> Drawable:
    where = {name: position for position, name in enumerate(graph.names)}
    directed = [(where[a], where[b]) for a, b in graph.directed]
    undirected = [(where[a], where[b]) for a, b in graph.undirected]
    heads = [(False, True)] * len(directed) + [(False, False)] * len(undirected)
    return Drawable(graph.names, [*directed, *undirected], heads, layered=False)


def _arcs(parents: Iterable[Iterable[int]]) -> list[Link]:
    return [(parent, child) for child, of in enumerate(parents) for parent in sorted(of)]


def _of_arcs(names: tuple[str, ...], arcs: list[Link], *, layered: bool = False) -> Drawable:
    """Return arcs as links; two that run both ways between the same nodes are one link with two heads."""
    known = set(arcs)
    links = [(u, v) for u, v in arcs if u < v or (v, u) not in known]
    return Drawable(names, links, [((v, u) in known, True) for u, v in links], layered=layered)


def graph(graph: Graph, *, ax: Axes | None = None, labels: bool | None = None, font_size: float = 9.0) -> Axes:
    """Draw a graph, or the graph of a model.

    A graph without cycles stands in layers, every arc pointing down; any other spreads so that the distance of two
    variables is near the number of edges between them. The same graph is always drawn the same.

    Parameters
    ----------
    graph : Dag, UndirectedGraph or Cpdag; or a Bayesian or dependency network, or one of Gaussian variables
        Of at most 2,000 variables.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure as large as the graph needs, for `matplotlib.pyplot.show`.
    labels : bool, optional
        Whether the variables' names are drawn; default: those of up to 150 variables. Long ones are cut.
    font_size : float
        Of the names, in points.

    Returns
    -------
    matplotlib Axes
        Its collections are the edges, the arrow heads where there are some, and the nodes; its texts are the names.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or there are too many variables.
    SchemaError
        When there is no graph to draw.

    See Also
    --------
    fishernet.plot.write_graph : straight to a file.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> axes = fn.plot.graph(fn.datasets.load("asia"), ax=Figure().add_subplot())
    >>> sorted(text.get_text() for text in axes.texts)
    ['asia', 'bronc', 'dysp', 'either', 'lung', 'smoke', 'tub', 'xray']
    """
    require_matplotlib()
    picture = Picture(drawable(graph), labels=labels, font_size=font_size)
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=picture.inches).add_axes((0.0, 0.0, 1.0, 1.0))
    picture.draw(ax)
    return ax


FORMATS: dict[str, dict[str, Any]] = {  # what would differ from run to run is left out
    ".png": {"metadata": {"Software": None}},
    ".svg": {"metadata": {"Date": None, "Creator": None}},
    ".pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
DOTS = 150  # an inch of a .png
LOOK: Any = {"svg.hashsalt": "fishernet", "pdf.fonttype": 42}


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise early when a drawing could not be written to a path.

    Raises
    ------
    FileFormatError
        When the ending is none of .png, .svg and .pdf.
    FishernetError
        When matplotlib is missing.
    """
    if check.path(path).suffix.lower() not in FORMATS:
        raise FileFormatError(path, f"a drawing is written to a file ending in {', '.join(FORMATS)}")
    require_matplotlib()


def write_graph(
    graph: Graph, path: str | os.PathLike[str], *, labels: bool | None = None, font_size: float = 9.0
) -> None:
    """Draw a graph, or the graph of a model, to a file.

    The same graph gives the same bytes with the same matplotlib.

    Parameters
    ----------
    graph, labels, font_size
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
        When there is no graph to draw.

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
    check_output(path)
    suffix = Path(path).suffix.lower()
    with drawn(graph, labels, font_size) as figure, replacing(Path(path)) as file:
        figure.savefig(file, format=suffix[1:], dpi=DOTS, **FORMATS[suffix])


@contextmanager
def drawn(
    graph: Graph, labels: bool | None = None, font_size: float = 9.0, *, seams: bool = True, fonts: str = "path"
) -> Iterator[Figure]:
    """Yield a figure as large as the drawing, to be saved within the look that it was drawn in."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**LOOK, "svg.fonttype": fonts}):
        picture = Picture(drawable(graph), labels=labels, font_size=font_size)
        figure = Figure(figsize=picture.inches)
        picture.draw(figure.add_axes((0.0, 0.0, 1.0, 1.0)), seams=seams)
        yield figure


@draws
def svg(graph: Graph) -> str | None:
    """Return the drawing of a graph as an SVG element, which a notebook shows; None where matplotlib is missing.

    Names are text, not the outlines of their letters, which keeps it small.
    """
    if not has_matplotlib():
        return None
    file = io.StringIO()
    with drawn(graph, seams=False, fonts="none") as figure:
        figure.savefig(file, format="svg", **FORMATS[".svg"])
    text = file.getvalue()
    return text[text.index("<svg") :]  # what stands before it has no place inside HTML
