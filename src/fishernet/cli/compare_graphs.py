"""``fishernet compare-graphs``: where two graphs over the same variables differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from fishernet.base.errors import SchemaError
from fishernet.cli.models import called, graph_of, is_directed, read_model, wrong_kind
from fishernet.cli.output import Facts, aligned, as_json_option, check_folder, output_option, write_facts, write_lines
from fishernet.cli.terminal import shown
from fishernet.graphs import Dag, UndirectedGraph, hamming, shd

DIFFERENCES = {
    "only_in_a": "only in A",
    "only_in_b": "only in B",
    "turned": "turned in B",
}


@click.command("compare-graphs", short_help="Say where two graphs differ.")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@output_option
@as_json_option
def compare_graphs(a: Path, b: Path, output: Path | None, as_json: bool) -> None:
    """Say where the graphs of A and B (.json or .bif) differ; B may be the true one.

    Both are Bayesian networks, or both undirected graphs or Gaussian Markov networks, over the same variables, by name,
    in any order.

    Equivalent directed graphs stand for the same independences, and data cannot tell them apart. The structural Hamming
    distance (SHD) is that of their classes (CPDAGs): the number of pairs of variables that are joined in one only, or
    not alike; it is 0 when they are equivalent. The Hamming distance looks at what is joined, whatever the directions.
    Then come the arcs themselves: an arc may be turned in B, yet free to be in the class of both.

    Of undirected graphs it is the Hamming distance, and the edges that are in one only.

    \b
    Example
      fishernet compare-graphs learned.json true.bif
    """  # noqa: D301
    check_folder(output)
    one, other = _graph(a), _graph(b)
    facts: dict[str, Any] = {"a": str(a), "b": str(b)}
    if is_directed(one) and is_directed(other):
        facts |= differences(one, other)
        lines = _text(facts)
    elif not is_directed(one) and not is_directed(other):
        facts |= undirected_differences(one, other)
        lines = _undirected_text(facts)
    else:
        directed, undirected = (a, b) if is_directed(one) else (b, a)
        raise SchemaError(
            f"{directed} has arcs and {undirected} has edges without a direction; compare two graphs of one kind"
        )
    if as_json:
        write_facts(facts, output)
    else:
        write_lines(lines, output)


def _graph(path: Path) -> Any:
    """Read a graph, or that of a model."""
    model = read_model(path)
    graph = graph_of(model)
    if graph is None:
        raise wrong_kind(path, called(model), "compare-graphs needs a Bayesian network or an undirected graph")
    return graph


def differences(a: Dag, b: Dag) -> dict[str, Any]:
    """Return where two graphs differ; arcs are pairs of names (parent, child), in the order of their graph."""
    mine, theirs = set(a.edges), set(b.edges)
    return {
        "shd": shd(a, b),
        "hamming": hamming(a.skeleton(), b.skeleton()),
        "equivalent": a.is_equivalent(b),
        "variables": len(a.names),
        "arcs_in_a": a.n_edges,
        "arcs_in_b": b.n_edges,
        "arcs_in_both": len(mine & theirs),
        "only_in_a": [arc for arc in a.edges if not {arc, arc[::-1]} & theirs],
        "only_in_b": [arc for arc in b.edges if not {arc, arc[::-1]} & mine],
        "turned": [arc for arc in a.edges if arc[::-1] in theirs],
    }


def undirected_differences(a: UndirectedGraph, b: UndirectedGraph) -> dict[str, Any]:
    """Return where two undirected graphs differ; edges are pairs of names, in the order of their graph."""
    distance = hamming(a, b)
    mine, theirs = ({frozenset(edge) for edge in graph.edges} for graph in (a, b))
    return {
        "hamming": distance,
        "variables": len(a.names),
        "edges_in_a": a.n_edges,
        "edges_in_b": b.n_edges,
        "edges_in_both": len(mine & theirs),
        "only_in_a": [edge for edge in a.edges if frozenset(edge) not in theirs],
        "only_in_b": [edge for edge in b.edges if frozenset(edge) not in mine],
    }


def _undirected_text(facts: Facts) -> Iterator[str]:
    yield from aligned(
        [
            ("variables", f"{facts['variables']:,}"),
            (
                "edges",
                f"{facts['edges_in_a']:,} in A, {facts['edges_in_b']:,} in B, {facts['edges_in_both']:,} in both",
            ),
            ("Hamming distance", f"{facts['hamming']:,}"),
            *_arc_lines("only in A", facts["only_in_a"], "-"),
            *_arc_lines("only in B", facts["only_in_b"], "-"),
        ]
    )


def _text(facts: Facts) -> Iterator[str]:
    yield from aligned(
        [
            ("variables", f"{facts['variables']:,}"),
            ("arcs", f"{facts['arcs_in_a']:,} in A, {facts['arcs_in_b']:,} in B, {facts['arcs_in_both']:,} in both"),
            ("equivalent", "yes" if facts["equivalent"] else "no"),
            ("SHD of the classes", f"{facts['shd']:,}"),
            ("Hamming distance", f"{facts['hamming']:,}"),
            *(line for name, words in DIFFERENCES.items() for line in _arc_lines(words, facts[name])),
        ]
    )


def _arc_lines(words: str, arcs: list[tuple[str, str]], arrow: str = "->") -> Iterator[tuple[str, str]]:
    """Yield how many arcs there are, then the arcs."""
    yield words, f"{len(arcs):,}"
    for parent, child in arcs:
        yield "", f"{shown(parent)} {arrow} {shown(child)}"
