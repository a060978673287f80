"""What is on the axes: every edge, every head, every name, and nothing on top of anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.plot.picture import HEAD, RADIUS

Floats = npt.NDArray[np.float64]
NAMES = list("abcdef")
CHORDS = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "e")]


def axes(width: float = 8.0, height: float = 6.0) -> Axes:
    return Figure(figsize=(width, height)).add_axes((0.0, 0.0, 1.0, 1.0))


def collections(ax: Axes, kind: type) -> list[Any]:
    return [found for found in ax.collections if isinstance(found, kind)]


def routes(ax: Axes) -> list[Floats]:
    (lines,) = collections(ax, LineCollection)
    return [np.asarray(way) for way in lines.get_segments()]


def heads(ax: Axes) -> list[Floats]:
    return [path.vertices[:3] for found in collections(ax, PolyCollection) for path in found.get_paths()]


def dots(ax: Axes) -> dict[str, Floats]:
    """Where the node of each name is; only for drawings whose names are known to be in the order of the nodes."""
    (found,) = collections(ax, EllipseCollection)
    return dict(zip([text.get_text() for text in ax.texts], np.asarray(found.get_offsets()), strict=True))


def text_extents(ax: Axes) -> list[Floats]:
    """Lower left and upper right corner of each name, in pixels."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    renderer: Any = FigureCanvasAgg(figure)
    return [np.asarray(text.get_window_extent(renderer.get_renderer()).get_points()) for text in ax.texts]


def test_every_name_and_every_edge_of_an_undirected_graph_is_drawn() -> None:
    graph = fn.UndirectedGraph.from_edges(NAMES, CHORDS)
    ax = fn.plot.graph(graph, ax=axes())
    place = dots(ax)
    assert list(place) == NAMES
    assert len(routes(ax)) == graph.n_edges
    for (a, b), way in zip(graph.edges, routes(ax), strict=True):
        for name, end in ((a, way[0]), (b, way[-1])):
            assert np.hypot(*(place[name] - end)) == pytest.approx(RADIUS, abs=1e-9)
    assert heads(ax) == []


def test_arcs_of_a_dag_point_down_from_box_to_box() -> None:
    dag = fn.datasets.load("alarm").dag
    ax = fn.plot.graph(dag, ax=axes(20, 20))
    heads_and_boxes = collections(ax, PolyCollection)
    boxes = [path.vertices[:4] for path in heads_and_boxes[1].get_paths()]
    tips = [path.vertices[0] for path in heads_and_boxes[0].get_paths()]
    assert sorted(text.get_text() for text in ax.texts) == sorted(dag.names)
    assert (len(boxes), len(tips), len(routes(ax))) == (37, dag.n_edges, dag.n_edges)
    where = {text.get_text(): box for text, box in zip(ax.texts, boxes, strict=True)}
    arcs = [(parent, child) for child, of in enumerate(dag.parents) for parent in of]
    for (parent, child), way, tip in zip(arcs, routes(ax), tips, strict=True):
        above, below = where[dag.names[parent]], where[dag.names[child]]
        assert (np.diff(way[:, 1]) <= 1e-9).all()
        assert way[0] == pytest.approx([above[:, 0].mean(), above[:, 1].min()], abs=1e-6)
        assert tip == pytest.approx([below[:, 0].mean(), below[:, 1].max()], abs=1e-6)


def test_boxes_hold_their_names_and_do_not_overlap() -> None:
    ax = fn.plot.graph(fn.datasets.load("alarm"), ax=axes(20, 20))
    boxes = [path.vertices[:4] for path in collections(ax, PolyCollection)[1].get_paths()]
    extents = [ax.transData.inverted().transform(extent) for extent in text_extents(ax)]
    low, high = (np.array([getattr(box, side)(axis=0) for box in boxes]) for side in ("min", "max"))
    for extent, lower, upper in zip(extents, low, high, strict=True):
        assert (extent[0] > lower - 0.01).all()
        assert (extent[1] < upper + 0.01).all()
    apart = (low[:, None] > high[None]) | (high[:, None] < low[None])
    assert (apart.any(axis=2) | np.eye(len(boxes), dtype=bool)).all()


def test_names_beside_dots_cover_neither_dots_nor_each_other() -> None:
    graph = fn.datasets.load("alarm").dag.skeleton()
    ax = fn.plot.graph(graph, ax=axes(20, 14))
    low, high = np.array(text_extents(ax)).transpose(1, 0, 2)
    points = ax.transData.transform(np.array(list(dots(ax).values())))
    inside = (low[:, None] < points) & (points < high[:, None])
    assert not inside.all(axis=2).any()
    common = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    assert (common.min(axis=2)[~np.eye(len(low), dtype=bool)] < 1).all()  # pixels


def test_arcs_both_ways_are_one_line_with_two_heads() -> None:
    table = fn.datasets.load("asia").sample(2000, seed=1)
    net = fn.learn.dependency_network(table)
    arcs = {(parent, child) for child, inputs in enumerate(net.inputs) for parent in inputs}
    pairs = {frozenset(arc) for arc in arcs}
    assert len(pairs) < len(arcs)
    ax = fn.plot.graph(net, ax=axes())
    assert len(routes(ax)) == len(pairs)
    assert len(heads(ax)) == len(arcs)


def test_a_cpdag_has_heads_where_the_direction_is_known() -> None:
    cpdag = fn.graphs.cpdag(fn.Dag.from_edges(list("abcd"), [("a", "c"), ("b", "c"), ("c", "d")]))
    ax = fn.plot.graph(cpdag, ax=axes())
    assert (len(routes(ax)), len(heads(ax))) == (3, len(cpdag.directed))
    place = dots(ax)
    for (_, child), head in zip(cpdag.directed, heads(ax), strict=True):
        assert np.hypot(*(head[0] - place[child])) == pytest.approx(RADIUS, abs=1e-9)
        assert np.hypot(*(head[1:].mean(axis=0) - head[0])) == pytest.approx(HEAD[0], abs=1e-9)


def test_no_names_of_many_variables_unless_asked_for() -> None:
    names = [f"v{i}" for i in range(151)]
    graph = fn.UndirectedGraph.from_edges(names, [])
    assert len(fn.plot.graph(graph, ax=axes()).texts) == 0
    assert len(fn.plot.graph(graph, ax=axes(), labels=True).texts) == 151
    few = fn.UndirectedGraph.from_edges(names[:150], [])
    assert len(fn.plot.graph(few, ax=axes()).texts) == 150
    assert len(fn.plot.graph(few, ax=axes(), labels=False).texts) == 0


def test_everything_is_on_the_axes_however_small_they_are() -> None:
    for width, height in ((1.0, 1.0), (3.0, 12.0), (30.0, 2.0)):
        ax = fn.plot.graph(fn.datasets.load("asia"), ax=axes(width, height))
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        everything = np.concatenate([*routes(ax), *[path.vertices for path in ax.collections[2].get_paths()]])
        assert (everything > [left, low]).all()
        assert (everything < [right, high]).all()
        assert (right - left) / (high - low) == pytest.approx(width / height)  # so that boxes stay boxes


def test_names_with_dollars_and_line_ends_are_plain_text() -> None:
    ax = fn.plot.graph(fn.UndirectedGraph.from_edges(["$x_1$", "a\nb", "w" * 40], []), ax=axes())
    assert [text.get_text() for text in ax.texts] == ["$x_1$", "'a\\nb'", "w" * 31 + "…"]
    assert not any(text.get_parse_math() for text in ax.texts)


def test_without_axes_the_figure_fits_the_graph() -> None:
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    small = fn.plot.graph(fn.UndirectedGraph.from_edges(["a"], []))
    large = fn.plot.graph(fn.datasets.load("alarm"))
    sizes = [np.prod(ax.get_figure(root=True).get_size_inches()) for ax in (small, large)]  # type: ignore[union-attr]
    pyplot.close("all")
    assert sizes[0] < 2 < sizes[1]


def test_what_cannot_be_drawn_is_refused() -> None:
    ax = axes()
    with pytest.raises(fn.SchemaError, match="a Table has no graph to draw"):
        fn.plot.graph(fn.datasets.load("nursery"), ax=ax)  # type: ignore[arg-type]
    with pytest.raises(fn.SchemaError, match="no variables"):
        fn.plot.graph(fn.UndirectedGraph.from_edges([], []), ax=ax)
    with pytest.raises(fn.FishernetError, match="2,001 variables cannot be read"):
        fn.plot.graph(fn.UndirectedGraph.from_edges([f"v{i}" for i in range(2001)], []), ax=ax)
    with pytest.raises(fn.FishernetError, match="font_size"):
        fn.plot.graph(fn.UndirectedGraph.from_edges(["a"], []), ax=ax, font_size=0)
