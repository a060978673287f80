"""What a drawing of a graph shows beside names and edges."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.plot.picture import THICK, THIN
from fishernet.plot.style import LIGHT

ASIA = fn.datasets.load("asia")
ALARM = fn.datasets.load("alarm")


def drawn(graph: Any, **options: Any) -> Axes:
    return fn.plot.graph(graph, ax=Figure(figsize=(14, 14)).add_axes((0, 0, 1, 1)), **options)


def part(ax: Axes, what: str) -> Any:
    (found,) = [one for one in ax.collections if one.get_gid() == what]
    return found


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_gid() == "legend"]


def mutual_information(net: fn.BayesianNetwork, a: str, b: str) -> float:
    joint = fn.infer.marginal(net, [a, b])
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())


def test_widths_are_mutual_informations() -> None:
    ax = drawn(ASIA, strengths="mutual-information")
    values = np.array([mutual_information(ASIA, *edge) for edge in ASIA.dag.edges])
    expected = THIN + (THICK - THIN) * values / values.max()
    assert part(ax, "edges").get_linewidths() == pytest.approx(expected, rel=1e-6)


def test_partial_correlations_have_signs_and_a_threshold() -> None:
    precision = np.array([[2.0, -1.0, 0.3], [-1.0, 2.0, 0.5], [0.3, 0.5, 2.0]])
    net = fn.GaussianMarkovNetwork(["a", "b", "c"], [0, 0, 0], precision)
    ax = drawn(net, strengths="partial-correlation")
    assert [to_hex(c).upper() for c in part(ax, "edges").get_colors()] == [LIGHT.more, LIGHT.less, LIGHT.less]
    widths = THIN + (THICK - THIN) * np.array([0.5, 0.15, 0.25])
    assert part(ax, "edges").get_linewidths() == pytest.approx(widths)
    assert legend(ax)[-2:] == ["positive", "negative"]
    dashes = [dash for _, dash in part(ax, "edges").get_linestyles()]
    assert dashes[0] is None
    assert None not in dashes[1:]  # told apart in grey
    ax = drawn(net, strengths="partial-correlation", threshold=0.2)
    assert len(part(ax, "edges").get_paths()) == 2


def test_strengths_of_a_bootstrap() -> None:
    found = fn.learn.edge_strengths(ASIA.sample(500, seed=1), 8, seed=1)
    ax = drawn(found)
    dag = found.averaged()
    where = {name: place for place, name in enumerate(found.names)}
    values = np.array([found.strength[where[a], where[b]] for a, b in dag.edges])
    assert part(ax, "edges").get_linewidths() == pytest.approx(THIN + (THICK - THIN) * values)
    few = drawn(found, threshold=1.0)
    assert len(part(few, "edges").get_paths()) == found.averaged(1.0).n_edges
    ax = drawn(dag, strengths=found)
    assert part(ax, "edges").get_linewidths() == pytest.approx(THIN + (THICK - THIN) * values)


def test_strengths_by_pairs_of_names_and_by_position() -> None:
    graph = fn.UndirectedGraph.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
    by_name = drawn(graph, strengths={("b", "a"): 2.0, ("b", "c"): -1.0})
    array = np.array([[0, 2, 0], [2, 0, -1], [0, -1, 0]])
    by_place = drawn(graph, strengths=array)
    for ax in (by_name, by_place):
        assert part(ax, "edges").get_linewidths() == pytest.approx([THICK, THIN + (THICK - THIN) / 2])


@pytest.mark.parametrize("target", ["CATECHOL", "HR", "HYPOVOLEMIA"])
def test_the_markov_blanket_stands_out(target: str) -> None:
    blanket = {target, *ALARM.dag.markov_blanket(target)}
    for graph in (ALARM, fn.graphs.cpdag(ALARM.dag)):
        ax = drawn(graph, target=target)
        fills = [to_hex(c).upper() for c in part(ax, "nodes").get_facecolors()]
        plain = {name for name, fill in zip(ALARM.dag.names, fills, strict=True) if fill == LIGHT.background}
        assert plain == set(ALARM.dag.names) - blanket
        assert fills[ALARM.dag.names.index(target)] == LIGHT.more
    dark = {
        edge
        for edge, c in zip(ALARM.dag.edges, part(drawn(ALARM, target=target), "edges").get_colors(), strict=True)
        if to_hex(c).upper() == LIGHT.line
    }
    children = {b for a, b in ALARM.dag.edges if a == target}
    assert dark == {(a, b) for a, b in ALARM.dag.edges if target in (a, b) or b in children}


def test_the_blanket_in_an_undirected_graph_and_in_a_dependency_network() -> None:
    moral = fn.graphs.moral(ASIA.dag)
    fills = [to_hex(c).upper() for c in part(drawn(moral, target="dysp", labels=False), "nodes").get_facecolors()]
    plain = {name for name, fill in zip(moral.names, fills, strict=True) if fill == LIGHT.background}
    assert plain == set(moral.names) - {"dysp", *moral.neighbors("dysp")}
    net = fn.learn.dependency_network(ASIA.sample(2000, seed=1))
    fills = [to_hex(c).upper() for c in part(drawn(net, target="bronc"), "nodes").get_facecolors()]
    inputs = {net.names[i] for i in net.inputs[net.names.index("bronc")]}
    plain = {name for name, fill in zip(net.names, fills, strict=True) if fill == LIGHT.background}
    assert plain == set(net.names) - {"bronc"} - inputs


def test_groups_have_colours_and_marks() -> None:
    groups = {"asia": "habit", "smoke": "habit", "lung": "disease", "tub": "disease", "bronc": "disease"}
    for graph, what in ((ASIA.dag, "badges"), (ASIA.dag.skeleton(), "nodes")):
        ax = drawn(graph, groups=groups)
        assert legend(ax) == ["habit (2)", "disease (3)"]
        nodes = part(ax, "nodes")
        fills = dict(zip(ASIA.dag.names, [to_hex(c) for c in nodes.get_facecolors()], strict=True))
        assert len({fills[name] for name in groups}) == 2
        assert fills["xray"] not in {fills[name] for name in groups}
        assert fills["lung"] == fills["tub"] != fills["smoke"] == fills["asia"]
        corners = {len(path.vertices) for path in part(ax, what).get_paths()}
        assert len(corners) == 2  # a circle and a triangle


def test_a_legend_can_be_read_on_small_axes() -> None:
    groups = {name: name[0] for name in ALARM.dag.names}
    every: tuple[dict[str, Any], ...] = ({"groups": groups}, {"strengths": "mutual-information", "target": "HR"})
    for options in every:
        figure = Figure(figsize=(4, 3))
        ax = fn.plot.graph(ALARM, ax=figure.add_axes((0, 0, 1, 1)), **options)
        texts = [text for text in ax.texts if text.get_gid() == "legend"]
        assert min(float(text.get_fontsize()) for text in texts) >= 5.9
        renderer: Any = FigureCanvasAgg(figure)
        boxes = np.array([text.get_window_extent(renderer.get_renderer()).get_points() for text in texts])
        assert boxes.min() >= 0
        assert (boxes.max(axis=(0, 1)) <= np.array([4, 3]) * figure.dpi).all()
        nodes = np.concatenate([path.vertices for path in part(ax, "nodes").get_paths()])
        assert boxes[:, 1, 1].max() < ax.transData.transform(nodes)[:, 1].min()  # below all nodes


def test_the_difference_of_two_graphs() -> None:
    names = list("abcde")
    first = fn.Dag.from_edges(names, [("a", "b"), ("b", "c"), ("c", "d")])
    second = fn.Dag.from_edges(names[::-1], [("a", "b"), ("c", "b"), ("d", "e")])
    ax = fn.plot.difference(first, second, names=("old", "new"), ax=Figure(figsize=(6, 6)).add_axes((0, 0, 1, 1)))
    assert legend(ax) == ["in both (1)", "only in old (1)", "only in new (1)", "another direction in new (1)"]
    assert len(part(ax, "edges").get_paths()) == 4
    same = fn.plot.difference(first, first, ax=Figure(figsize=(6, 6)).add_axes((0, 0, 1, 1)))
    assert legend(same) == ["in both (3)"]
    cyclic = fn.Dag.from_edges(names, [("c", "a"), ("a", "d")])
    ax = fn.plot.difference(first, cyclic, ax=Figure(figsize=(6, 6)).add_axes((0, 0, 1, 1)))
    assert len(part(ax, "edges").get_paths()) == 5
    with pytest.raises(fn.SchemaError, match="same variables; in one only: 'e'"):
        fn.plot.difference(first, fn.Dag.from_edges(names[:4], []))
    with pytest.raises(fn.SchemaError, match="names must be two"):
        fn.plot.difference(first, first, names=("a", "b", "c"))  # type: ignore[arg-type]


def test_svg_says_what_one_points_at(tmp_path: Path) -> None:
    names = ["<b>bold</b>", "R&D", 'say "x"', "a" * 300]
    graph = fn.Dag.from_edges(names, [(names[0], names[1]), (names[2], names[1])])
    path = tmp_path / "graph.svg"
    fn.plot.write_graph(graph, path, strengths={(names[0], names[1]): 0.25, (names[1], names[2]): -1.0})
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    titles = [found.text for found in root.iter("{http://www.w3.org/2000/svg}title")]
    for name in names:
        assert titles.count(name) == 2  # its node and its text
    assert "<b>bold</b> → R&D: strength 0.25" in titles
    assert 'say "x" → R&D: strength -1' in titles


def test_svg_in_notebooks_has_titles_too() -> None:
    text = ASIA.dag._repr_svg_()
    assert text is not None
    assert len(re.findall("<title>", text)) == 2 * 8 + ASIA.dag.n_edges


def test_what_is_refused() -> None:
    for options, match in (
        ({"strengths": "strong"}, "unknown strengths 'strong'"),
        ({"strengths": "partial-correlation"}, "need a Gaussian network"),
        ({"strengths": np.ones((2, 2))}, r"shape \(8, 8\)"),
        ({"strengths": {"asia": 1.0}}, "pairs of names"),
        ({"strengths": {("asia", "nobody"): 1.0}}, "no variable 'nobody'"),
        ({"strengths": {("asia", "tub"): np.nan}}, "must be a number"),
        ({"threshold": 0.5}, "give strengths= as well"),
        ({"strengths": "mutual-information", "threshold": -1}, "threshold must be"),
        ({"target": "nobody"}, "no variable 'nobody'"),
        ({"groups": {"nobody": 1}}, "no variable 'nobody'"),
    ):
        with pytest.raises(fn.FishernetError, match=match):
            drawn(ASIA, **options)
    with pytest.raises(fn.SchemaError, match="needs a Bayesian or a Markov network"):
        drawn(ASIA.dag, strengths="mutual-information")
    with pytest.raises(fn.SchemaError, match="need a Gaussian network"):
        drawn(ASIA.dag, strengths="partial-correlation")
    many = {name: name for name in ALARM.dag.names}
    assert len(legend(drawn(ALARM, groups=many))) == 37
    names = [f"v{i}" for i in range(50)]
    with pytest.raises(fn.FishernetError, match="at most 49 groups"):
        drawn(fn.UndirectedGraph.from_edges(names, []), groups=dict(zip(names, names, strict=True)))


def test_a_network_of_one_variable() -> None:
    ax = drawn(fn.Dag.from_edges(["a"], []), target="a", groups={"a": 1})
    assert legend(ax) == ["1 (1)", "a"]
