"""How far apart two graphs over the same variables are: in how many pairs of variables they differ."""

from __future__ import annotations

from typing import Any

from fishernet.graphs.cpdag import Cpdag
from fishernet.graphs.dag import Dag
from fishernet.graphs.edges import arrangement, graph_itself, require_kind
from fishernet.graphs.equivalence import relabelled
from fishernet.graphs.undirected import UndirectedGraph


def shd(a: Dag | Cpdag | Any, b: Dag | Cpdag | Any) -> int:
    """Return the structural Hamming distance of the CPDAGs of two DAGs, or of two Bayesian networks [1]_.

    It is the number of pairs of variables that are joined in one CPDAG and not in the other, or joined in both but
    not alike (one undirected and the other directed, or directed against each other); each pair counts once. It is 0
    if and only if the DAGs are equivalent.

    Parameters
    ----------
    a, b : Dag, Cpdag or BayesianNetwork
        Over the same variables, in any order. A Dag stands for its CPDAG, a network for its Dag.

    Raises
    ------
    SchemaError
        When the variables differ, or one is another kind of graph.

    Notes
    -----
    Time O(n log n + n k + m log m) for n variables, m edges and up to k parents a variable.

    References
    ----------
    .. [1] I. Tsamardinos, L. E. Brown and C. F. Aliferis, "The max-min hill-climbing Bayesian network structure
       learning algorithm", Machine Learning 65, 2006, Algorithm 4.

    Examples
    --------
    >>> import fishernet as fn
    >>> chain = fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
    >>> fn.shd(chain, fn.Dag.from_edges(["a", "b", "c"], [("c", "b"), ("b", "a")]))
    0
    >>> fn.shd(chain, fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("c", "b")]))
    2
    """
    a, b = graph_itself(a), graph_itself(b)
    for graph in (a, b):
        require_kind("shd", graph, Dag, Cpdag, hint="hamming compares undirected graphs")
    mine = a.marks
    theirs = relabelled(b.marks, arrangement({name: i for i, name in enumerate(a.names)}, b.names))
    return sum(mine.get(pair) != theirs.get(pair) for pair in mine.keys() | theirs.keys())


def hamming(a: UndirectedGraph | Any, b: UndirectedGraph | Any) -> int:
    """Return the Hamming distance of two undirected graphs, or Markov networks: edges to add plus edges to delete.

    Parameters
    ----------
    a, b : UndirectedGraph, MarkovNetwork or GaussianMarkovNetwork
        Over the same variables, in any order.

    Raises
    ------
    SchemaError
        When the variables differ, or one is another kind of graph.

    Notes
    -----
    Time O(n + m) for n variables and m edges.

    Examples
    --------
    >>> import fishernet as fn
    >>> a = fn.UndirectedGraph.from_edges(["x", "y", "z"], [("x", "y")])
    >>> fn.hamming(a, fn.UndirectedGraph.from_edges(["z", "y", "x"], [("z", "y")]))
    2
    """
    a, b = graph_itself(a), graph_itself(b)
    for graph in (a, b):
        require_kind("hamming", graph, UndirectedGraph, hint="shd compares directed graphs")
    place = arrangement({name: i for i, name in enumerate(a.names)}, b.names)
    mine = {(one, other) for one, others in enumerate(a.adjacency) for other in others}
    theirs = {(place[one], place[other]) for one, others in enumerate(b.adjacency) for other in others}
    return len(mine ^ theirs) // 2
