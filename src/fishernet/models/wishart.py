"""Draws from the G-Wishart distribution of precisions with the zeros of a graph.

Connected parts are independent. On a chordal part the inverse of the precision is hyper inverse Wishart [1]_: along a
perfect order, the regressions of the variables on their earlier neighbors are independent, the variances inverse gamma
and the coefficients normal. On other parts a Gibbs sampler [2]_ draws the precision's block of one clique after the
other, given the rest.

A direct sampler for all graphs has been proposed [3]_: complete the inverse of a draw from the Wishart distribution on
the pattern. The cliques' blocks of the inverse then have the right distributions, but not together: without edges, for
one, it would make variances that depend on one another, where by the density they are independent. It does not satisfy
the identities that integration by parts gives, on chordal graphs neither (see
``tests/models/continuous/test_g_wishart.py``). It is here to repeat what was computed with it.

References
----------
.. [1] A. P. Dawid and S. L. Lauritzen, "Hyper Markov laws in the statistical analysis of decomposable graphical
   models", Annals of Statistics 21, 1993.
.. [2] C. Asci and M. Piccioni, "Functionally compatible local characteristics for the local specification of priors in
   graphical models", Scandinavian Journal of Statistics 34, 2007 (Bayesian iterative proportional scaling).
.. [3] A. Lenkoski, "A direct sampler for G-Wishart variates", Stat 2, 2013.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.random import Seed, draw_count, generator
from fishernet.base.vocabulary import GWishartMethodName, word
from fishernet.graphs import UndirectedGraph
from fishernet.graphs.edges import require_kind
from fishernet.models.conditionals.linear_gaussian import regression
from fishernet.models.gaussian import Numbers, checked_number
from fishernet.models.gaussian_markov_network import checked_array
from fishernet.models.zero_pattern import Part, cliques, completed_precision, parts

METHODS = ("auto", "direct")
MOST_CELLS = 2**31


def g_wishart(
    graph: UndirectedGraph,
    *,
    df: float = 3.0,
    scale: npt.ArrayLike | None = None,
    n: int = 1,
    method: GWishartMethodName = "auto",
    sweeps: int = 50,
    seed: Seed = None,
) -> Numbers:
    """Draw precisions from the G-Wishart distribution.

    Its density is proportional to ``|K|^((df - 2) / 2) exp(-tr(K scale) / 2)`` on the positive definite matrices K with
    zeros where the graph has no edge. For a complete graph it is the Wishart distribution with ``df + d - 1`` degrees
    of freedom and scale matrix ``scale^-1``. For df > 2, the inverse of K has the mean ``scale / (df - 2)`` on the
    diagonal and the edges.

    Parameters
    ----------
    graph : UndirectedGraph
        On d variables.
    df : float
        Positive.
    scale : (d, d) array, optional
        Symmetric and positive definite, in the order of ``graph.names``. Default: the identity.
    n : int
        How many.
    method : {"auto", "direct"}
        "auto": exact where the connected parts are chordal; on others each of the n draws ends a Gibbs chain of its
        own, which starts from a draw on a chordal subgraph. "direct": complete the inverse of a Wishart draw of all
        variables, which is another distribution, but often used for it (see
        `fishernet.models.g_wishart`).
    sweeps : int
        Of the Gibbs sampler through the cliques, where "auto" needs it.
    seed : None, int or numpy.random.Generator

    Returns
    -------
    (n, d, d) float64
        Exactly symmetric, with exact zeros.

    Raises
    ------
    SchemaError
        When df is not positive, or scale is not symmetric and positive definite.
    StateSpaceError
        When they would not fit.

    Examples
    --------
    >>> import fishernet as fn
    >>> chain = fn.UndirectedGraph.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
    >>> K = fn.models.g_wishart(chain, df=4, n=1000, seed=1)
    >>> K.shape, bool((K[:, 0, 2] == 0).all())
    ((1000, 3, 3), True)
    """
    require_kind("g_wishart", graph, UndirectedGraph, hint="dag.skeleton() and moral(dag) make one of a Dag")
    method = word(method, "method", METHODS)
    freedom, d = checked_number(df, "df", positive=True), len(graph.names)
    count, rounds = draw_count(n), draw_count(sweeps, "sweeps")
    if count * d**2 > MOST_CELLS:
        raise StateSpaceError("the draws", cells=count * d**2, limit=MOST_CELLS, remedy="draw fewer at a time")
    D = np.eye(d) if scale is None else _checked_scale(scale, d)
    random = generator(seed)
    if method == "direct":
        return _completed(count, graph, freedom, D, random)
    draws = np.zeros((count, d, d))
    for part in parts(graph):
        at = np.ix_(range(count), part.positions, part.positions)
        own = D[np.ix_(part.positions, part.positions)]
        if part.is_chordal:
            draws[at] = _chordal(count, part, freedom, own, random)
        else:
            draws[at] = _gibbs(_chordal(count, part, freedom, own, random), part, freedom, own, rounds, random)
    return draws


def _chordal(count: int, part: Part, df: float, D: Numbers, random: np.random.Generator) -> Numbers:
    """Return draws on the chordal subgraph of a part, (count, d, d): by the regressions along its perfect order."""
    K = np.zeros((count, len(D), len(D)))
    for variable, earlier in part.order:
        at = list(earlier)
        slopes, rest = regression(D, variable, at)
        variance = rest / random.chisquare(df + len(at), count)
        noise = random.standard_normal((count, len(at)))
        if at:
            noise = np.linalg.solve(np.linalg.cholesky(D[np.ix_(at, at)]).T, noise.T).T
        direction = np.concatenate([np.ones((count, 1)), np.sqrt(variance)[:, None] * noise - slopes], axis=1)
        family = [variable, *at]
        K[np.ix_(range(count), family, family)] += (
            direction[:, :, None] * direction[:, None, :] / variance[:, None, None]
        )
    return K


def _completed(count: int, graph: UndirectedGraph, df: float, D: Numbers, random: np.random.Generator) -> Numbers:
    """Return the completions of the inverses of Wishart draws of all variables, (count, d, d)."""
    inverses = np.linalg.inv(_wishart(count, df, D, random))
    return np.array([completed_precision((W + W.T) / 2, graph) for W in inverses]).reshape(count, len(D), len(D))


def _wishart(count: int, df: float, D: Numbers, random: np.random.Generator) -> Numbers:
    """Return draws of density ``|K|^((df - 2) / 2) exp(-tr(K D) / 2)``, (count, d, d): Bartlett's decomposition."""
    d = len(D)
    A = np.tril(random.standard_normal((count, d, d)), -1)
    A[:, range(d), range(d)] = np.sqrt(random.chisquare(df + np.arange(d)[::-1], (count, d)))
    half = np.linalg.inv(np.linalg.cholesky(D)).T @ A  # D^-1 is this inverse, turned, times itself
    return _symmetric(half @ half.transpose(0, 2, 1))


def _gibbs(K: Numbers, part: Part, df: float, D: Numbers, sweeps: int, random: np.random.Generator) -> Numbers:
    """Return where Gibbs chains end that start from K, (count, d, d).

    Given the rest, the block of clique C is K_CC - W_CC^-1 + (a Wishart draw). W is the inverse of K, which is
    kept up to date: W_CC becomes the inverse of the draw.
    """
    count = len(K)
    free = np.eye(len(D), dtype=bool)
    for v, others in enumerate(part.adjacency):
        free[v, others] = True
    blocks = [np.array(clique) for clique in cliques(part.adjacency)]
    for _ in range(sweeps):
        W = np.linalg.inv(K)  # anew, so that rounding does not add up
        for clique in blocks:
            at = np.ix_(np.arange(count), clique, clique)
            drawn = _wishart(count, df, D[np.ix_(clique, clique)], random)
            old = np.linalg.inv(W[at])
            pull = W[:, :, clique] @ old
            W += pull @ (np.linalg.inv(drawn) - W[at]) @ pull.transpose(0, 2, 1)
            K[at] += drawn - old
        K = np.where(free, _symmetric(K), 0.0)
    return K


def _symmetric(K: Numbers) -> Numbers:
    return np.asarray((K + K.transpose(0, 2, 1)) / 2)


def _checked_scale(scale: npt.ArrayLike, d: int) -> Numbers:
    D = checked_array(scale, "the scale", (d, d))
    if not np.allclose(D, D.T, rtol=1e-9, atol=0):
        raise SchemaError("the scale must be symmetric")
    try:
        np.linalg.cholesky(D)
    except np.linalg.LinAlgError:
        raise SchemaError("the scale must be positive definite") from None
    return D
