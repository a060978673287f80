"""``fishernet compare-graphs``: where two graphs over the same variables differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from fishernet.cli.inputs.models import read_bayesian
from fishernet.cli.terminal.output import (
    Facts,
    aligned,
    as_json_option,
    check_folder,
    output_option,
    write_facts,
    write_lines,
)
from fishernet.cli.terminal.wording import shown
from fishernet.graphs import Dag, hamming, shd

DIFFERENCES = {
    "only_in_a": "only in A",
    "only_in_b": "only in B",
    "turned": "turned in B",
}


@click.command("compare-graphs", short_help="Say where the graphs of two Bayesian networks differ.")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@output_option
@as_json_option
def compare_graphs(a: Path, b: Path, output: Path | None, as_json: bool) -> None:
    """Say where the graphs of the Bayesian networks A and B (.json or .bif) differ; B may be the true one.

    They are over the same variables, by name, in any order. Equivalent graphs stand for the same independences, and
    data cannot tell them apart. The structural Hamming distance (SHD) is that of their classes (CPDAGs): the number of
    pairs of variables that are joined in one only, or not alike; it is 0 when they are equivalent. The Hamming distance
    looks at what is joined, whatever the directions. Then come the arcs themselves: an arc may be turned in B, yet
    free to be in the class of both.

    \b
    Example
      fishernet compare-graphs learned.json true.bif
    """  # noqa: D301
    check_folder(output)
    facts = {"a": str(a), "b": str(b)} | differences(*(read_bayesian(path, "compare-graphs").dag for path in (a, b)))
    if as_json:
        write_facts(facts, output)
    else:
        write_lines(_text(facts), output)


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


def _arc_lines(words: str, arcs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield how many arcs there are, then the arcs."""
    yield words, f"{len(arcs):,}"
    for parent, child in arcs:
        yield "", f"{shown(parent)} -> {shown(child)}"
