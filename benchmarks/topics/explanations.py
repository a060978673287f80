"""Which rows are behind answers: how much each row of a table has to do with a hundred answers of its network.

There is no peer. An answer is checked by leaving rows out: the parameters are fitted again without each of them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Call, Data
from benchmarks.race import Race, Told, Verdict, below, calls_of
from benchmarks.sources import alarm_rows, data_of, fitted, with_graph

TITLE = "The rows behind answers"
ANSWERS = 100
CHECKED = 20  # rows that are left out
Handed = tuple[fn.BayesianNetwork, fn.Table, list[dict[str, Any]]]


def alarms(n_rows: int) -> Data:
    """Return rows of alarm with a graph that is learned from them."""
    data = with_graph(data_of("alarm", alarm_rows()[:n_rows]))
    return dataclasses.replace(data, title=f"{data.title}, {ANSWERS} answers")


def hand(data: Data) -> Handed:
    """Return the network, the rows, and questions for the state of every variable given two others of a row."""
    net = fitted(data)
    table = fn.Table.from_codes(data.rows, net.variables)
    asked = []
    for place in range(ANSWERS):
        name, *known = (net.names[(place + step) % len(net.names)] for step in (0, 5, 11))
        row = 7 * place
        given = {other: table[other][row] for other in known}
        asked.append({"query": name, "state": table[name][row], "given": given})
    return net, table, asked


def explained(handed: Handed) -> list[fn.explain.Influence]:
    net, table, asked = handed
    return [fn.explain.rows(net, table, **ask) for ask in asked]


def told(found: list[fn.explain.Influence], _: Data) -> list[Any]:
    first = found[0]
    return [first.values[:CHECKED], first.removals[:CHECKED], first.exact(range(CHECKED)), len(found)]


def is_right(said: Told) -> Verdict:
    """Hold what rows take with them to fits without them."""
    values, removals, exact, n = said.answer
    scale = float(np.abs(exact).max()) or 1.0
    off = float(np.abs(np.subtract(removals, exact)).max()) / scale
    first = float(np.abs(np.subtract(values, exact)).max()) / scale
    return (
        off < 1e-3 and first < 0.05 and n == ANSWERS,
        f"off by {off:.0e} from fits without a row, {first:.0e} to first order",
    )


RACES = (
    Race(
        lambda: alarms(10_000),
        Call(hand, explained, told),
        is_right,
        {},
        [below(0.2)],
        title="influence of every row",
    ),
)
CALLS = calls_of(RACES)
