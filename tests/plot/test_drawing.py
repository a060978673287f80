"""What is on the axes: every edge, every head, every name, and nothing on top of anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.plot.picture import CIRCLE, HEAD, RADIUS

Floats = npt.NDArray[np.float64]
NAMES = list("abcdef")
CHORDS = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "e")]


def axes(width: float = 8.0, height: float = 6.0) -> Axes:
    return Figure(figsize=(width, height)).add_axes((0.0, 0.0, 1.0, 1.0))


def outlines(ax: Axes, what: str) -> list[Floats]:
    """Return the corners of each of the edges, heads, circles, nodes or badges."""
    return [
        np.asarray(path.vertices) for found in ax.collections if found.get_gid() == what for path in found.get_paths()
    ]


def names(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_gid() == "name"]


def routes(ax: Axes) -> list[Floats]:
    return outlines(ax, "edges")


def heads(ax: Axes) -> list[Floats]:
    return [corners[:3] for corners in outlines(ax, "heads")]


def dots(ax: Axes) -> dict[str, Floats]:
    """Where the node of each name is."""
    middles = [corners[:-1].mean(axis=0) for corners in outlines(ax, "nodes")]
    return dict(zip(names(ax), middles, strict=True))


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
            assert np.hypot(*(place[name] - end)) == pytest.approx(RADIUS, abs=1e-6)
    assert heads(ax) == []


def test_arcs_of_a_dag_point_down_from_box_to_box() -> None:
    dag = fn.datasets.load("alarm").dag
    ax = fn.plot.graph(dag, ax=axes(20, 20))
    boxes = [corners[:4] for corners in outlines(ax, "nodes")]
    tips = [corners[0] for corners in heads(ax)]
    assert sorted(names(ax)) == sorted(dag.names)
    assert (len(boxes), len(tips), len(routes(ax))) == (37, dag.n_edges, dag.n_edges)
    where = dict(zip(names(ax), boxes, strict=True))
    arcs = [(parent, child) for child, of in enumerate(dag.parents) for parent in of]
    for (parent, child), way, tip in zip(arcs, routes(ax), tips, strict=True):
        above, below = where[dag.names[parent]], where[dag.names[child]]
        assert (np.diff(way[:, 1]) <= 1e-9).all()
        assert way[0] == pytest.approx([above[:, 0].mean(), above[:, 1].min()], abs=1e-6)
        assert tip == pytest.approx([below[:, 0].mean(), below[:, 1].max()], abs=1e-6)
        assert np.hypot(*(way[-1] - tip)) < HEAD[0]  # the line ends inside the head


def test_boxes_hold_their_names_and_do_not_overlap() -> None:
    ax = fn.plot.graph(fn.datasets.load("alarm"), ax=axes(20, 20))
    boxes = [corners[:4] for corners in outlines(ax, "nodes")]
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


def test_arcs_both_ways_are_one_line_with_a_circle_at_both_ends() -> None:
    """Two heads would say that there is a hidden cause."""
    table = fn.datasets.load("asia").sample(2000, seed=1)
    net = fn.learn.dependency_network(table)
    arcs = {(parent, child) for child, inputs in enumerate(net.inputs) for parent in inputs}
    pairs = {frozenset(arc) for arc in arcs}
    mutual = len(arcs) - len(pairs)
    assert mutual > 0
    ax = fn.plot.graph(net, ax=axes())
    assert len(routes(ax)) == len(pairs)
    assert len(heads(ax)) == len(pairs) - mutual
    rounds = outlines(ax, "circles")
    assert len(rounds) == 2 * mutual
    middles = np.array([corners[:-1].mean(axis=0) for corners in rounds])
    nodes = np.array(list(dots(ax).values()))
    nearest = np.sqrt(((middles[:, None] - nodes) ** 2).sum(axis=2)).min(axis=1)
    assert nearest == pytest.approx(np.full(2 * mutual, RADIUS + CIRCLE), abs=1e-6)  # they touch their nodes


def test_a_cpdag_has_heads_where_the_direction_is_known() -> None:
    edges = [("a", "c"), ("b", "c"), ("c", "d"), ("e", "a")]
    cpdag = fn.graphs.cpdag(fn.Dag.from_edges(list("abcde"), edges))
    assert cpdag.undirected
    ax = fn.plot.graph(cpdag, ax=axes())
    assert (len(routes(ax)), len(heads(ax))) == (4, len(cpdag.directed))
    place = dots(ax)
    children = sorted(child for _, child in cpdag.directed)
    below = {
        name: [h for h in heads(ax) if abs(h[0][0] - at[0]) < 1e-6 and 0 < h[0][1] - at[1] < 0.3]
        for name, at in place.items()
    }
    assert sorted(name for name, found in below.items() for _ in found) == children


def test_names_are_left_out_where_they_would_be_too_small_to_read() -> None:
    graph = fn.datasets.load("alarm").dag
    assert len(names(fn.plot.graph(graph, ax=axes(8, 8)))) == 37
    assert len(names(fn.plot.graph(graph, ax=axes(2, 2)))) == 0
    assert len(names(fn.plot.graph(graph, ax=axes(2, 2), labels=True))) == 37
    assert len(names(fn.plot.graph(graph, ax=axes(8, 8), labels=False))) == 0


def test_names_of_hundreds_of_variables_are_drawn_on_a_sheet_of_their_own() -> None:
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    every = [f"variable {i}" for i in range(300)]
    tree = fn.UndirectedGraph.from_edges(every, [(every[(i - 1) // 3], every[i]) for i in range(1, 300)])
    assert len(names(fn.plot.graph(tree))) == 300
    pyplot.close("all")


def test_everything_is_on_the_axes_however_small_they_are() -> None:
    for width, height in ((1.0, 1.0), (3.0, 12.0), (30.0, 2.0)):
        ax = fn.plot.graph(fn.datasets.load("asia"), ax=axes(width, height))
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        everything = np.concatenate([*routes(ax), *outlines(ax, "nodes")])
        assert (everything > [left, low]).all()
        assert (everything < [right, high]).all()
        assert (right - left) / (high - low) == pytest.approx(width / height)  # so that boxes stay boxes


def test_names_with_dollars_and_line_ends_are_plain_text() -> None:
    ax = fn.plot.graph(fn.UndirectedGraph.from_edges(["$x_1$", "a\nb", "w" * 40], []), ax=axes())
    assert [text.get_text() for text in ax.texts] == ["$x_1$", "a\\nb", "w" * 31 + "…"]
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
    with pytest.raises(fn.SchemaError, match="no variables"):
        fn.plot.graph(fn.UndirectedGraph.from_edges([], []), ax=ax)
    with pytest.raises(fn.FishernetError, match="the graph has 2,001 variables"):
        fn.plot.graph(fn.UndirectedGraph.from_edges([f"v{i}" for i in range(2001)], []), ax=ax)
    with pytest.raises(fn.FishernetError, match="font_size"):
        fn.plot.graph(fn.UndirectedGraph.from_edges(["a"], []), ax=ax, font_size=0)
