"""``fishernet compare-graphs``: where two graphs over the same variables differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fishernet.base.errors import SchemaError
from fishernet.cli.models import read_graph, wrong_kind
from fishernet.cli.terminal import FILE, Answer, Facts, Line, aligned, answering, edge_lines
from fishernet.graphs import Graph, hamming, shd


@click.command("compare-graphs", short_help="Say where two graphs differ.")
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@answering()
def compare_graphs(a: Path, b: Path) -> Answer:
    """Say where the graphs of A and B (.json, .bif, .xdsl, .net, ...) differ; B may be the true one.

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
    one, other = _graph(a), _graph(b)
    if one.links().directed != other.links().directed:
        directed, undirected = (a, b) if one.links().directed else (b, a)
        raise SchemaError(
            f"{directed} has arcs and {undirected} has edges without a direction; compare two graphs of one kind"
        )
    found = differences(one, other)
    return Answer({"a": str(a), "b": str(b), **found}, _text(found))


def _graph(path: Path) -> Graph:
    """Read a graph, or that of a model."""
    needed = "compare-graphs needs a Bayesian network or an undirected graph"
    graph, model = read_graph(path, needed)
    if model is not None and graph.links().directed and not graph.links().layered:
        raise wrong_kind(path, model, needed)
    return graph


def differences(a: Graph, b: Graph) -> dict[str, Any]:
    """Return where two graphs of one kind differ; edges are pairs of names, arcs (parent, child), in their order."""
    directed = a.links().directed
    first, second = (
        [(graph.names[u], graph.names[v]) for u, v in (graph.links().arcs if directed else graph.links().lines)]
        for graph in (a, b)
    )
    mine, theirs = ({frozenset(edge) for edge in edges} for edges in (first, second))
    facts: dict[str, Any] = {"hamming": len(mine ^ theirs)}
    if directed:
        distance = shd(a, b)
        turned = [arc for arc in first if arc[::-1] in set(second)]
        facts = {"shd": distance, **facts, "equivalent": distance == 0, "turned": turned}
    else:
        facts["hamming"] = hamming(a, b)
    kind = "arcs" if directed else "edges"
    only_in_a = [edge for edge in first if frozenset(edge) not in theirs]
    return {
        **facts,
        "variables": len(a.names),
        f"{kind}_in_a": len(first),
        f"{kind}_in_b": len(second),
        f"{kind}_in_both": len(first) - len(only_in_a) - len(facts.get("turned", ())),
        "only_in_a": only_in_a,
        "only_in_b": [edge for edge in second if frozenset(edge) not in mine],
    }


def _text(found: Facts) -> list[str]:
    kind, sign = ("arcs", "->") if "shd" in found else ("edges", "-")
    counts = [
        f"{found[f'{kind}_in_{where}']:,} in {word}" for where, word in (("a", "A"), ("b", "B"), ("both", "both"))
    ]
    lines = [("variables", f"{found['variables']:,}"), (kind, ", ".join(counts))]
    if "shd" in found:
        lines += [("equivalent", "yes" if found["equivalent"] else "no"), ("SHD of the classes", f"{found['shd']:,}")]
    lines.append(("Hamming distance", f"{found['hamming']:,}"))
    details: list[Line] = []
    for fact, words in (("only_in_a", "only in A"), ("only_in_b", "only in B"), ("turned", "turned in B")):
        if fact in found:
            details += edge_lines(words, sign, found[fact])
    return aligned([*details, *lines])
