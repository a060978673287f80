"""Graphs over named variables: directed acyclic ones, their equivalence classes, and undirected ones.

`Dag` is the structure of a Bayesian network, `Cpdag` stands for all the DAGs that say the same, `UndirectedGraph` is
the structure of a Markov network. All three are immutable and hold names and positions only, never data. A variable is
named by its name; *position* means its place in ``graph.names``. Whatever is listed comes in the order of the
variables, so no result depends on hashing.

What one graph tells of another: `cpdag` (the class of a DAG), `moral` (its undirected shadow), `is_chordal`, `shd` and
`hamming` (how far apart two graphs are), `to_networkx`.
"""

from fishernet.graphs.conversion import moral, to_networkx
from fishernet.graphs.cpdag import Cpdag, cpdag
from fishernet.graphs.dag import Dag
from fishernet.graphs.distance import hamming, shd
from fishernet.graphs.undirected import UndirectedGraph, is_chordal

__all__ = ["Cpdag", "Dag", "UndirectedGraph", "cpdag", "hamming", "is_chordal", "moral", "shd", "to_networkx"]


def __dir__() -> list[str]:
    return __all__
