"""Graphs over named variables: directed acyclic ones, their equivalence classes, undirected ones and directed ones.

`Dag` is the structure of a Bayesian network, `Cpdag` stands for all DAGs of an equivalence class, `UndirectedGraph` is
the structure of a Markov network, and `DirectedGraph`, which may have cycles, that of a dependency network. All are
immutable and hold names and positions only, never data. A variable is named by its name; *position* means its place in
``graph.names``. Lists are in the order of the variables, so no result depends on hashing.

`Graph` is what pictures, files and reports ask of a graph: names and `Links`. `cpdag` (the class of a DAG), `moral`
(its moral graph), `is_chordal`, `shd` and `hamming` (distances of two graphs) and `to_networkx` work on graphs.
"""

from fishernet.graphs.completed import Cpdag, cpdag
from fishernet.graphs.conversion import moral, to_networkx
from fishernet.graphs.dag import Dag
from fishernet.graphs.directed import DirectedGraph
from fishernet.graphs.distance import hamming, shd
from fishernet.graphs.graph import Graph, Links
from fishernet.graphs.undirected import UndirectedGraph, is_chordal

__all__ = [
    "Cpdag",
    "Dag",
    "DirectedGraph",
    "Graph",
    "Links",
    "UndirectedGraph",
    "cpdag",
    "hamming",
    "is_chordal",
    "moral",
    "shd",
    "to_networkx",
]


def __dir__() -> list[str]:
    return __all__
