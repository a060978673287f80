"""The parameters of a given graph with pseudo-count one, and the log-probability of every row; all agree with ours.

bnlearn knows no pseudo-count a cell, so it is compared with ours at the same equivalent sample size. pyAgrum and
pgmpy have no call for the log-likelihood of a table, so theirs is a loop over rows.
"""

from __future__ import annotations

from typing import Any

import fishernet as fn
from benchmarks.calls import Call, Data
from benchmarks.race import Race, Told, agrees, below, calls_of, same
from benchmarks.sources import fitted, graph_of, letter_half, table_of, with_graph

TITLE = "Parameters and log-probabilities"
PEERS = ("pyAgrum", "pgmpy", "bnlearn")
ESS = 10.0


def data() -> Data:
    return with_graph(letter_half(), ess=ESS)


def tables(net: fn.BayesianNetwork, _: Data) -> list[Any]:
    return [conditional.table() for conditional in net.conditionals]


def ours(told: Told) -> fn.BayesianNetwork:
    """Return our network, with the prior that the contender used."""
    prior: dict[str, Any] = {"ess": ESS} if told.label == "bnlearn" else {"smoothing": 1.0}
    return fn.learn.parameters(graph_of(told.data), table_of(told.data), **prior)


FIT = Call(
    lambda data: (graph_of(data), fn.Table.from_codes(data.rows)),
    lambda handed: fn.learn.parameters(*handed, smoothing=1.0),
    tables,
)
LOG_PROB = Call(lambda data: (fitted(data), fn.Table.from_codes(data.rows)), lambda of: of[0].log_prob(of[1]))
ARE_TABLES = agrees(lambda told: tables(ours(told), told.data))
ARE_LOG_PROBS = agrees(lambda told: ours(told).log_prob(table_of(told.data))[: len(told.answer)])  # pgmpy tells a few

RACES = (
    Race(data, FIT, ARE_TABLES, same("fit", *PEERS), [below(1e-3)], title="fit"),
    Race(data, LOG_PROB, ARE_LOG_PROBS, same("log_prob", *PEERS), [below(1e-3)], title="log-probability of every row"),
)
CALLS = calls_of(RACES)
