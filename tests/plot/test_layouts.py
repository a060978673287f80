"""Where nodes stand."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fishernet.plot.layout import ROW, STEP, by_component, layered_layout, stress_layout
from fishernet.plot.shapes import Drawable, Link, Points, components


def links_of(graph: nx.Graph) -> list[Link]:
    return sorted((min(u, v), max(u, v)) for u, v in graph.edges)


def distances(coordinates: Points) -> Points:
    apart: Points = np.sqrt(((coordinates[:, None] - coordinates[None]) ** 2).sum(axis=2))
    return apart


def drawn_distances(n: int, links: list[Link]) -> Points:
    return distances(stress_layout(n, links, np.full(n, 0.1)).coordinates / STEP)


def test_a_path_is_drawn_as_a_straight_line_at_the_right_distances() -> None:
    """Its lengths are distances in a plane, so the stress is 0."""
    drawn = drawn_distances(9, [(v, v + 1) for v in range(8)])
    assert drawn == pytest.approx(np.abs(np.subtract.outer(np.arange(9), np.arange(9))), abs=0.02)


def test_the_stress_is_that_of_networkx_or_less() -> None:
    """Kamada and Kawai's layout has the same aim."""
    for seed in range(4):
        graph = nx.connected_watts_strogatz_graph(24, 4, 0.2, seed=seed)
        lengths = np.array(nx.floyd_warshall_numpy(graph, nodelist=range(24)))
        weights = 1 / np.where(lengths > 0, lengths, np.inf) ** 2
        other = nx.kamada_kawai_layout(graph, scale=1)
        theirs = np.array([other[v] for v in range(24)])
        apart = distances(theirs)
        scale = (weights * apart * lengths).sum() / (weights * apart**2).sum()  # the one that is best for theirs
        stress = (weights * (drawn_distances(24, links_of(graph)) - lengths) ** 2).sum()
        assert stress <= 1.1 * (weights * (scale * apart - lengths) ** 2).sum()


@pytest.mark.parametrize("graph", [nx.star_graph(12), nx.complete_graph(9), nx.grid_2d_graph(4, 4), nx.cycle_graph(20)])
def test_nodes_are_never_on_top_of_each_other(graph: nx.Graph) -> None:
    graph = nx.convert_node_labels_to_integers(graph)
    drawn = drawn_distances(len(graph), links_of(graph))
    assert drawn[~np.eye(len(graph), dtype=bool)].min() > 0.2


@st.composite
def connected_dags(draw: st.DrawFn) -> tuple[int, list[Link]]:
    n = draw(st.integers(1, 12))
    links = {(draw(st.integers(0, v - 1)), v) for v in range(1, n)}
    links |= {(u, v) for u, v in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))) if u < v}
    order = draw(st.permutations(range(n)))
    return n, sorted((order[u], order[v]) for u, v in links)


@given(connected_dags(), st.data())
@settings(max_examples=60, deadline=None)
def test_arcs_run_down_and_nodes_of_a_layer_stand_apart(dag: tuple[int, list[Link]], data: st.DataObject) -> None:
    n, links = dag
    widths = np.array(data.draw(st.lists(st.floats(0.1, 3.0), min_size=n, max_size=n)))
    layout = layered_layout(n, links, widths)
    levels = (-layout.coordinates[:, 1] / ROW).round().astype(int)
    assert layout.coordinates[:, 1] == pytest.approx(-ROW * levels, abs=1e-5)
    for (u, v), way in zip(links, layout.routes, strict=True):
        assert levels[u] < levels[v]
        assert way[0] == pytest.approx(layout.coordinates[u])
        assert way[-1] == pytest.approx(layout.coordinates[v])
        assert len(way) == levels[v] - levels[u] + 1  # a corner in each layer
    for u in range(n):
        for v in range(u):
            if levels[u] == levels[v]:
                apart = abs(layout.coordinates[u, 0] - layout.coordinates[v, 0])
                assert apart >= (widths[u] + widths[v]) / 2 - 1e-5


def test_a_tree_is_drawn_without_crossings() -> None:
    tree = nx.balanced_tree(3, 3, create_using=nx.DiGraph)
    layout = layered_layout(len(tree), sorted(tree.edges), np.full(len(tree), 0.3))
    links = sorted(tree.edges)
    for i, (a, b) in enumerate(links):
        for c, d in links[:i]:
            if a != c and layout.coordinates[a, 1] == layout.coordinates[c, 1]:
                upper = layout.coordinates[a, 0] - layout.coordinates[c, 0]
                assert upper * (layout.coordinates[b, 0] - layout.coordinates[d, 0]) > 0


@given(st.integers(1, 15), st.data())
@settings(max_examples=40, deadline=None)
def test_components_do_not_overlap(n: int, data: st.DataObject) -> None:
    ends = st.integers(0, n - 1)
    links = sorted({(u, v) for u, v in data.draw(st.lists(st.tuples(ends, ends), max_size=n)) if u < v})
    shape = Drawable(tuple(map(str, range(n))), links, [(False, False)] * len(links), layered=False)
    layout = by_component(shape, np.full((n, 2), 0.3), stress_layout)
    groups = components(n, links)
    graph = nx.Graph(links)
    graph.add_nodes_from(range(n))
    assert sorted(map(set, groups), key=min) == sorted(nx.connected_components(graph), key=min)
    boxes = [(layout.coordinates[g].min(axis=0), layout.coordinates[g].max(axis=0)) for g in groups]
    for i, (low, high) in enumerate(boxes):
        for lower, upper in boxes[:i]:
            assert ((low > upper + 0.3) | (high < lower - 0.3)).any()
    for (u, v), way in zip(links, layout.routes, strict=True):
        assert way[[0, -1]] == pytest.approx(layout.coordinates[[u, v]])
