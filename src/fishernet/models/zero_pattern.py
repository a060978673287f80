"""The precision with a graph's zero pattern whose inverse agrees with a covariance on the graph.

It is the maximum of the likelihood ``log det K - tr(S K)`` among the precisions K with zeros where the graph has no
edge (Dempster's covariance selection [1]_). Connected parts are independent. For a chordal part it is a sum over
cliques; for others it is found by Newton's method, whose steps are solved for by conjugate gradients where they are
large. The function is self-concordant: with steps shortened to 1 / (1 + decrement) where need be, it arrives from
anywhere.

References
----------
.. [1] A. P. Dempster, "Covariance selection", Biometrics 28, 1972.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fishernet.base.errors import ConvergenceError, SchemaError
from fishernet.base.names import listed
from fishernet.graphs import UndirectedGraph
from fishernet.graphs.undirected import chordal_subgraph
from fishernet.models.conditionals.linear_gaussian import COLLINEAR, add_regression, regression
from fishernet.models.gaussian import Numbers
from fishernet.models.gaussian_markov_network import Curvature, Entries

AIM, ENOUGH = 1e-11, 1e-8  # of the gradient, for variances of 1
MOST_STEPS = 200
LARGEST = 1e11  # entry of the precision, for variances of 1: beyond, the maximum is nowhere
FEW_ENTRIES = 300  # whose curvature is written down as a matrix
QUADRATIC = 0.2  # decrement from which on whole steps are safe
PROOF = 0.5  # of the bound on the decrement, below 1, with room for rounding: then there is a maximum
GROWTH = 10.0
MOST_PRODUCTS = 4  # of conjugate gradients, for each entry: beyond, the curvature is singular but for rounding
ROUNDING = 1e-6  # a decrement after which the gradient can only fall, but for rounding
NARROW = 1e-10  # an eigenvalue that counts as 0 when the reason of a failure is looked for

Regressors = Sequence[tuple[int, tuple[int, ...]]]  # each variable, and those before it on which it depends


def completed_precision(S: Numbers, graph: UndirectedGraph) -> Numbers:
    """Return the precision with a graph's zeros whose inverse agrees with S on the diagonal and the edges, (d, d).

    What S holds between variables that are not joined does not matter. SchemaError names a clique on which S is
    singular; ConvergenceError when there is no such precision for another reason. For variances of 1, the inverse
    agrees to 1e-8 at least, mostly to 1e-11. Memory O(d^2).
    """
    own = np.diagonal(S)
    if not (own > 0).all():
        raise SchemaError(f"the variance of {graph.names[int(np.argmin(own > 0))]!r} is not positive")
    scales = np.outer(1 / np.sqrt(own), 1 / np.sqrt(own))  # so that what is symmetric stays so to the last bit
    K = np.zeros_like(S)
    for part in parts(graph):
        at = np.ix_(part.positions, part.positions)
        R = S[at] * scales[at]
        np.fill_diagonal(R, 1.0)
        K[at] = _of_part(R, part)
    return K * scales


class Part:
    """A connected part of a graph as a graph of its own."""

    def __init__(self, positions: list[int], graph: UndirectedGraph) -> None:
        self.positions = positions
        self.names: list[str] = [graph.names[v] for v in positions]
        place = {v: k for k, v in enumerate(positions)}
        self.adjacency: list[list[int]] = [[place[other] for other in graph.adjacency[v]] for v in positions]
        self.order: Regressors = chordal_subgraph(self.adjacency)

    @property
    def is_chordal(self) -> bool:
        """Whether `order` has all edges."""
        return 2 * sum(len(earlier) for _, earlier in self.order) == sum(map(len, self.adjacency))


def parts(graph: UndirectedGraph) -> list[Part]:
    """Return the connected parts of a graph."""
    where = {name: v for v, name in enumerate(graph.names)}
    return [Part([where[name] for name in names], graph) for names in graph.components()]


def chordal_precision(R: Numbers, order: Regressors, names: Sequence[str]) -> Numbers:
    """Return the precision of a chordal graph whose inverse agrees with R, of ones on its diagonal, on its cliques.

    Each variable is regressed on its earlier neighbors: ``K = sum_v (e_v - b_v)(e_v - b_v)' / rest_v``.
    """
    K = np.zeros_like(R)
    for variable, earlier in order:
        coefficients, rest = regression(R, variable, earlier)
        if rest < COLLINEAR:
            raise singular_clique([names[v] for v in sorted((variable, *earlier))])
        add_regression(K, variable, earlier, coefficients, rest)
    return K


def singular_clique(clique: Sequence[str]) -> SchemaError:
    """Return the error that says that a clique's variables are linear combinations of one another."""
    return SchemaError(
        f"the {len(clique)} variables {listed(clique)} are all joined with one another, and their covariance is "
        "singular: there are too few rows for so many, or one is a linear combination of others; take more rows, or "
        "fewer edges among them"
    )


def _of_part(R: Numbers, part: Part) -> Numbers:
    """Return the precision of a connected part, for variances of 1."""
    start = chordal_precision(R, part.order, part.names)
    if part.is_chordal:
        return start
    entries = Entries.of_adjacency(part.adjacency)
    found, gap, steps = _newton(entries, entries.taken(R), entries.taken(start))
    K, gradient = entries.filled(found), float(np.abs(gap).max())
    if gradient <= ENOUGH and _exists(K, entries.filled(gap), start):
        return K
    for clique in cliques(part.adjacency):
        if np.linalg.eigvalsh(R[np.ix_(clique, clique)])[0] < NARROW:
            raise singular_clique([part.names[v] for v in clique])
    raise ConvergenceError(
        f"no precision with this graph's zeros has an inverse that agrees with the covariance on the edges among "
        f"{listed(part.names)}: there are too few rows for the graph, or columns are nearly collinear (after {steps} "
        f"steps still {gradient:.1e} off); take more rows, or fewer edges",
        steps=steps,
        residual=gradient,
    )


def _exists(K: Numbers, gap: Numbers, start: Numbers) -> bool:
    """Return whether a maximum exists, given how far the inverse of K is off on the entries, (d, d).

    Where there is none, K grows without end and its inverse comes as near as one likes. A self-concordant function has
    a minimum if the decrement is anywhere below 1, and here it is at most the size of the gap times that of K. Columns
    that are nearly collinear make K, and the rounding of its inverse, too large for this proof, but from the start.
    """
    size = np.linalg.norm(K, 1)
    return bool(np.linalg.norm(gap) * size < PROOF or size < GROWTH * np.linalg.norm(start, 1))


def _newton(entries: Entries, target: Numbers, x: Numbers) -> tuple[Numbers, Numbers, int]:
    """Return the best entries, by how much those of their inverse are off, and the number of steps.

    The inverse should have the entries `target`; x are those of a positive definite matrix, to begin with.
    """
    best, least, steps = x, np.full(len(entries), np.inf), 0
    try:
        W, log_det = _inverse(entries.filled(x))
        while True:
            gap = entries.taken(W) - target
            off = np.abs(gap).max()
            if off < np.abs(least).max():
                best, least = x, gap
            if off <= AIM or steps == MOST_STEPS or not x[: entries.size].max() < LARGEST:
                break
            direction = _direction(entries, W, gap)
            decrement = math.sqrt(max(entries.inner(gap, direction), 0.0))
            if off > np.abs(least).max() and decrement < ROUNDING:
                break  # rounding: there is no more to win
            x, W, log_det = _moved(entries, target, x, direction, decrement, log_det)
            steps += 1
    except np.linalg.LinAlgError:
        pass  # entries so large that a factor or the curvature is singular: no better ones are within reach
    return best, least, steps


def _moved(
    entries: Entries, target: Numbers, x: Numbers, direction: Numbers, decrement: float, log_det: float
) -> tuple[Numbers, Numbers, float]:
    """Return the next entries, with the inverse and the log-determinant."""
    length = 1.0
    before = entries.inner(target, x) - log_det
    while True:
        after = x + length * direction
        W, log_det = _inverse(entries.filled(after), must=length * (1 + decrement) <= 1)
        gain = before - (entries.inner(target, after) - log_det)
        if decrement < QUADRATIC or length * (1 + decrement) <= 1 or gain > 0.1 * length * decrement**2:
            return after, W, log_det
        length = max(length / 2, 1 / (1 + decrement))


def _inverse(K: Numbers, *, must: bool = True) -> tuple[Numbers, float]:
    """Return the inverse and the log-determinant; -inf when K is not positive definite and need not be."""
    from scipy.linalg import lapack  # slow to import, and needed by few calls

    factor, failed = lapack.dpotrf(K, lower=1)
    if failed:
        if must:
            raise np.linalg.LinAlgError
        return K, -np.inf
    W, _ = lapack.dpotri(factor, lower=1)
    lower = np.tril(W, -1)
    return lower + lower.T + np.diag(np.diagonal(W)), float(2 * np.log(np.diagonal(factor)).sum())


def _direction(entries: Entries, W: Numbers, gap: Numbers) -> Numbers:
    """Return D with ``W D W = gap`` on the entries: exactly where they are few, else by conjugate gradients."""
    if len(entries) <= FEW_ENTRIES:
        twice = np.where(np.arange(len(entries)) < entries.size, 1.0, 2.0)
        return np.asarray(np.linalg.solve(2 * entries.information(W), twice * gap))
    curvature = Curvature(entries, W)
    diagonal = curvature.diagonal
    D, rest = np.zeros_like(gap), gap
    along = rest / diagonal
    size = entries.inner(rest, along)
    goal = size * min(0.01, size)  # the nearer, the more exactly: convergence stays quadratic
    for _ in range(MOST_PRODUCTS * len(entries)):
        if size <= goal:
            return D
        bent = curvature(along)
        length = size / entries.inner(along, bent)
        D = D + length * along
        rest = rest - length * bent
        ahead = rest / diagonal
        size, before = entries.inner(rest, ahead), size
        along = ahead + size / before * along
    raise np.linalg.LinAlgError


def cliques(adjacency: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return maximal cliques that hold every variable and every edge at least once."""
    neighbors = [set(others) for others in adjacency]
    found: list[list[int]] = [[v] for v, others in enumerate(adjacency) if not others]
    covered: set[tuple[int, int]] = set()
    for i, others in enumerate(adjacency):
        for j in others:
            if i < j and (i, j) not in covered:
                clique, common = [i, j], neighbors[i] & neighbors[j]
                while common:
                    v = max(common, key=lambda v: (len(common & neighbors[v]), -v))
                    clique.append(v)
                    common = common & neighbors[v]
                clique.sort()
                covered.update((a, b) for a in clique for b in clique if a < b)
                found.append(clique)
    return found
