"""The moral graph of a DAG."""

from __future__ import annotations

from fishernet.graphs.dag import Dag
from fishernet.graphs.kinds import require_kind
from fishernet.graphs.undirected import UndirectedGraph


def moral(dag: Dag) -> UndirectedGraph:
    """Return the moral graph of a DAG: its skeleton, and an edge between any two parents of a variable [1]_.

    It is the smallest undirected graph whose separations all hold in the DAG, and every variable's neighbors in it
    are its Markov blanket.

    Parameters
    ----------
    dag : Dag

    Raises
    ------
    SchemaError
        When it is no Dag.

    Notes
    -----
    Time O(n + sum of k^2) over the numbers k of parents, up to a logarithm.

    References
    ----------
    .. [1] S. L. Lauritzen and D. J. Spiegelhalter, "Local computations with probabilities on graphical structures and
       their application to expert systems", JRSS B 50, 1988.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.graphs.moral(fn.Dag.from_edges(["a", "b", "c"], [("a", "c"), ("b", "c")])).edges
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    """
    require_kind("moral", dag, Dag)
    adjacency: list[set[int]] = [set() for _ in dag.names]
    for child, parents in enumerate(dag.parents):
        family = {child, *parents}
        for parent in parents:
            adjacency[parent] |= family
        adjacency[child].update(parents)
    return UndirectedGraph(dag.names, [sorted(found - {own}) for own, found in enumerate(adjacency)])
