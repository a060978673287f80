"""No order depends on how Python hashes strings."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
from fishernet.base.errors import CycleError
from fishernet.graphs import Dag, UndirectedGraph, cpdag, moral, shd, to_networkx

names = [f"v{i}" for i in range(40)]
edges = {(names[i], names[j]) for i in range(40) for j in range(i + 1, 40) if (i * j + i + j) % 11 == 0}
dag = Dag.from_edges(names, edges)
graph = UndirectedGraph.from_edges(names, edges)
completed = cpdag(dag)
print(dag.edges, dag.parents, dag.children, dag.order, dag.ancestors(set(names[30:])), dag.markov_blanket("v9"))
print(graph.edges, graph.adjacency, graph.components(), graph.neighbors("v5"), moral(dag).edges)
print(completed.directed, completed.undirected, completed.extension().edges, list(completed.marks.items()))
print(list(to_networkx(completed).edges), shd(dag, completed))
try:
    Dag.from_edges(names, edges | {(b, a) for a, b in edges if a > "v2"})
except CycleError as error:
    print(error)
"""


def output(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_every_hash_seed_gives_the_same_orders() -> None:
    first = output("0")
    assert "the edges close a cycle" in first
    assert {output(seed) for seed in ("1", "2", "3")} == {first}
