"""Names never cover each other, nodes or the border, as they are rendered."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.plot.drawing import drawable
from fishernet.plot.looks import look_of
from fishernet.plot.picture import Look, Picture
from fishernet.plot.texts import labels, text_sizes

Floats = npt.NDArray[np.float64]
DOTS = 200
PIXELS = 1.0  # by which letters may be rounded


def on_its_own_sheet(graph: Any, look: Look | None = None, **options: Any) -> Axes:
    shape = drawable(graph)
    picture = Picture(shape, named=True, font_size=9.0, look=look, **options)
    ax = Figure(figsize=picture.inches, dpi=DOTS).add_axes((0.0, 0.0, 1.0, 1.0))
    picture.draw(ax)
    return ax


def extents(ax: Axes) -> Floats:
    """Lower left and upper right corner of every text, in pixels, (n, 2, 2)."""
    figure: Any = ax.get_figure(root=True)
    canvas: Any = FigureCanvasAgg(figure)
    return np.array([text.get_window_extent(canvas.get_renderer()).get_points() for text in ax.texts])


def check(ax: Axes) -> None:
    low, high = extents(ax).transpose(1, 0, 2)
    common = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    both = common.min(axis=2) >= PIXELS
    np.fill_diagonal(both, False)
    assert not both.any(), [
        (ax.texts[a].get_text(), ax.texts[b].get_text()) for a, b in zip(*np.nonzero(both), strict=True)
    ]
    figure = ax.get_figure(root=True)
    assert figure is not None
    assert (low >= -PIXELS).all()
    assert (high <= np.array(figure.get_size_inches()) * DOTS + PIXELS).all()
    (nodes,) = [found for found in ax.collections if found.get_gid() == "nodes"]
    boxed = len(np.asarray(nodes.get_paths()[0].vertices)) == 5
    if not boxed:
        middles = ax.transData.transform([np.asarray(path.vertices)[:-1].mean(axis=0) for path in nodes.get_paths()])
        inside = (low[:, None] < middles) & (middles < high[:, None])
        assert not inside.all(axis=2).any()


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=40)


@st.composite
def graphs(draw: st.DrawFn) -> fn.UndirectedGraph | fn.Dag:
    n = draw(st.integers(1, 60))
    share = draw(st.sampled_from([0.3, 1.0, 2.0, 5.0]))
    if draw(st.booleans()):
        names = draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))
    else:
        names = [f"a variable with number {i}" for i in range(n)]
    seed = draw(st.integers(0, 10**6))
    edges = [(names[min(e)], names[max(e)]) for e in nx.gnm_random_graph(n, int(share * n), seed=seed).edges]
    kind = fn.Dag if draw(st.booleans()) else fn.UndirectedGraph
    return kind.from_edges(names, edges)


@pytest.mark.parametrize("text", ["HRBP", "x_y", "(a|b)", "\u00c5gj", "\u00d9\\U00012544", "0\\x1f\u00cb"])
def test_texts_fit_into_the_room_that_is_kept_for_them(text: str) -> None:
    ax = Figure(dpi=DOTS).add_axes((0.0, 0.0, 1.0, 1.0))
    ax.text(0.5, 0.5, text, fontsize=9)
    ((low, high),) = extents(ax)
    assert (high - low <= text_sizes([text], 9.0)[0] * DOTS + PIXELS).all()


@given(graphs())
@settings(max_examples=25, deadline=None)
def test_names_never_cover_each_other(graph: fn.UndirectedGraph | fn.Dag) -> None:
    check(on_its_own_sheet(graph))


def test_names_of_a_dense_graph_fit_a_page() -> None:
    names = [f"variable {i}" for i in range(30)]
    edges = [(names[min(e)], names[max(e)]) for e in nx.gnm_random_graph(30, 154, seed=1).edges]
    for graph in (fn.UndirectedGraph.from_edges(names, edges), fn.Dag.from_edges(names, edges)):
        ax = on_its_own_sheet(graph)
        check(ax)
        figure = ax.get_figure(root=True)
        assert figure is not None
        assert max(figure.get_size_inches()) < 16
        assert min(text.get_fontsize() for text in ax.texts) == 9.0


@pytest.mark.parametrize("share", [0.6, 1.3, 3.0])
def test_names_of_200_variables(share: float) -> None:
    names = [f"measurement {i}" for i in range(200)]
    edges = [(names[min(e)], names[max(e)]) for e in nx.gnm_random_graph(200, int(share * 200), seed=2).edges]
    check(on_its_own_sheet(fn.UndirectedGraph.from_edges(names, edges)))
    check(on_its_own_sheet(fn.Dag.from_edges(names, edges)))


def test_names_of_alarm_with_everything_that_is_shown() -> None:
    net = fn.datasets.load("alarm")
    groups = {name: name[0] for name in net.dag.names}
    for graph in (net, net.dag.skeleton(), fn.graphs.cpdag(net.dag)):
        shape = drawable(graph)
        for target in (None, "CATECHOL"):
            check(on_its_own_sheet(graph, look_of(shape, None, target, groups)))


def test_nodes_without_edges_stand_below_all_others() -> None:
    names = [f"v{i}" for i in range(40)]
    graph = fn.UndirectedGraph.from_edges(names, [("v3", "v7"), ("v7", "v30"), ("v12", "v13")])
    ax = on_its_own_sheet(graph)
    place = {text.get_text(): text.get_position() for text in ax.texts if text.get_gid() == "name"}
    joined = {"v3", "v7", "v30", "v12", "v13"}
    (caption,) = [text for text in ax.texts if text.get_gid() == "caption"]
    assert min(place[name][1] for name in joined) > caption.get_position()[1]
    alone = [place[name] for name in names if name not in joined]
    assert caption.get_position()[1] > max(y for _, y in alone)
    assert alone == sorted(alone, key=lambda at: (-round(at[1], 6), at[0]))  # in the order of the variables


def test_long_names_are_cut_so_that_they_differ() -> None:
    begin, end = "p" * 300, "s" * 300
    short = labels([f"{begin}1", f"{begin}2", "x", f"{begin}1{end}", f"{begin}2{end}"])
    assert len(set(short)) == 5
    assert max(map(len, short)) <= 32
    assert labels(["a" * 33, "b"]) == ["a" * 31 + "…", "b"]


def test_titles_axes_and_legends_are_in_a_font_that_has_the_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a font of many scripts is installed; here another one stands in for it."""
    own, greek = ("DejaVu Sans", frozenset(range(32, 256))), set("ηλικίαάνδρας")
    monkeypatch.setattr("fishernet.plot.texts.fonts", lambda: (own, ("DejaVu Serif", frozenset(map(ord, greek)))))
    net = fn.learn.bayesian_network({"ηλικία": ["άνδρας", "b"] * 20, "x": ["c", "d"] * 20})
    kernel, table = fn.kernels.FisherKernel(net), net.sample(30, seed=1)
    rows = fn.plot.row_map(kernel, table, colour="ηλικία", ax=Figure().add_subplot())
    bars = fn.plot.marginals(net, given={"ηλικία": "άνδρας"}, ax=Figure().add_subplot())
    legend: Any = rows.get_legend()
    texts = [legend.get_title(), *legend.get_texts(), bars.xaxis.label, *bars.get_yticklabels(), *bars.texts]
    odd = [text for text in texts if set(text.get_text()) & greek]
    assert len(odd) >= 4
    assert all("DejaVu Serif" in text.get_fontfamily() for text in odd)


def test_letters_that_no_font_has_are_numbers_and_nothing_warns(recwarn: pytest.WarningsRecorder) -> None:
    names = ["<b>&amp;</b>", "\u202eabc", "𒀀", "naïve ß", "$\\frac{1}{2}$", "a" * 300, "\x00", " "]
    ax = on_its_own_sheet(fn.UndirectedGraph.from_edges(names, [(names[0], names[2])]))
    check(ax)
    shown = [text.get_text() for text in ax.texts if text.get_gid() == "name"]
    assert shown[0] == "<b>&amp;</b>"
    assert shown[3:5] == ["naïve ß", "$\\frac{1}{2}$"]
    assert len(set(shown)) == len(names)
    figure: Any = ax.get_figure(root=True)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    assert not [warning for warning in recwarn if "Glyph" in str(warning.message)]
