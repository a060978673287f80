"""How far apart two graphs over the same variables are: in how many pairs of variables they differ."""

from __future__ import annotations

from collections.abc import Mapping

from fishernet.base.errors import SchemaError
from fishernet.base.names import a as with_article
from fishernet.graphs.completed import Cpdag
from fishernet.graphs.dag import Dag
from fishernet.graphs.edges import arrangement
from fishernet.graphs.equivalence import relabelled
from fishernet.graphs.graph import Graph, HasGraph, graph_of


def shd(a: Graph | HasGraph, b: Graph | HasGraph) -> int:
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
    first, second = graph_of(a, "a"), graph_of(b, "b")
    mine, theirs = (_class_marks(graph) for graph in (first, second))
    theirs = relabelled(theirs, arrangement({name: i for i, name in enumerate(first.names)}, second.names))
    return sum(mine.get(pair) != theirs.get(pair) for pair in mine.keys() | theirs.keys())


def _class_marks(graph: Graph) -> Mapping[tuple[int, int], int]:
    """Return the edges of a DAG's class, or of a CPDAG, by position."""
    names, links = graph.names, graph.links()
    if not (links.directed and links.layered):
        found = with_article(type(graph).__name__)
        raise SchemaError(f"shd needs a Dag or Cpdag (directed, without cycles), not {found}; see hamming")
    if not links.lines:
        parents: list[list[int]] = [[] for _ in names]
        for tail, head in links.arcs:
            parents[head].append(tail)
        return Dag(names, parents).marks
    arcs, lines = ([(names[u], names[v]) for u, v in pairs] for pairs in (links.arcs, links.lines))
    return Cpdag(names, arcs, lines).marks


def hamming(a: Graph | HasGraph, b: Graph | HasGraph) -> int:
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
    first, second = graph_of(a, "a"), graph_of(b, "b")
    mine, theirs = first.links(), second.links()
    for graph, links in ((first, mine), (second, theirs)):
        if links.directed:
            found = with_article(type(graph).__name__)
            raise SchemaError(f"hamming needs an undirected graph, not {found}; see shd")
    place = arrangement({name: i for i, name in enumerate(first.names)}, second.names)
    pairs = {frozenset(pair) for pair in mine.pairs}
    return len(pairs ^ {frozenset((place[u], place[v])) for u, v in theirs.pairs})
