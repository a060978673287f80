"""Undirected graphs of discrete variables by their marginal pseudo-likelihood.

The pseudo-likelihood of a Markov network is the product of every variable's conditional given its Markov blanket, its
neighbours. With a Dirichlet prior for each conditional the parameters integrate out, and the score of a graph is a sum
over variables of the local score of a variable given its neighbours [1]_: what `fishernet.score` gives for an
undirected graph. So any local score will do.

The search is that of FMPL (P4, 3.1.5): first each variable's blanket by itself, then hill climbing among the edges that
some blanket holds.

References
----------
.. [1] J. Pensar, H. Nyman, J. Niiranen and J. Corander, "Marginal pseudo-likelihood learning of discrete Markov network
   structures", Bayesian Analysis 12, 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.counts import CountSource, as_source
from fishernet.errors import SchemaError
from fishernet.graphs import UndirectedGraph
from fishernet.learn.markov.combine import check_rule, combined
from fishernet.learn.markov.prior import Prior, log_prior
from fishernet.learn.searches.arc_search import check_number
from fishernet.progress import Progress, Reporter
from fishernet.scores import Families, LocalScores, Score, named_score
from fishernet.table import Table

Blanket = tuple[int, ...]
Family = tuple[int, Blanket]
Floats = npt.NDArray[np.float64]


def discrete_markov_graph(
    table: Table | CountSource,
    *,
    score: str | Score = "bdeu",
    rule: str = "hc",
    prior: Prior = False,
    max_blanket: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> UndirectedGraph:
    """Learn an undirected graph of discrete variables by marginal pseudo-likelihood.

    Parameters
    ----------
    table : Table or CountSource
        The data, without missing cells.
    score : str or Score
        The local score of a variable given its neighbours. "bdeu" (with ``ess=1.0``) is the marginal pseudo-likelihood
        of [1]_; any of `fishernet.score` will do.
    rule : {"hc", "and", "or"}
        "and", "or": join variables that are in each other's blankets, or one in the other's. "hc": hill climbing among
        the edges of "or" from the empty graph, by single additions and removals.
    prior : bool or (a, b, m)
        Whether a blanket of p members also gets ``log B(a + p, b + m - p) / B(a, b)``, for edges that are present with
        a probability of unknown size; True is (1/2, 1/2, n_variables - 1).
    max_blanket : int, optional
        At most this many members a blanket.
    progress : callable, optional
        ``progress(what, done, None)``, in scores.
    **options
        The score's own hyperparameters.

    Returns
    -------
    UndirectedGraph

    Raises
    ------
    MissingValueError
        When a cell is missing.
    SchemaError
        When there are no variables.
    FishernetError
        When the rule, the score or an option is unknown or out of range.

    Notes
    -----
    A blanket takes the variable that raises its score most, and then loses members, the best first, while that raises
    the score; the first addition that does not raise it ends the search. A tie is a difference below
    max(1e-9, 1e-12 |score|) nats and goes to the first candidate in variable order.

    References
    ----------
    .. [1] J. Pensar, H. Nyman, J. Niiranen and J. Corander, "Marginal pseudo-likelihood learning of discrete Markov
       network structures", Bayesian Analysis 12, 2017, Eq. 7 and Algorithms 1 and 2.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(3000, seed=1)
    >>> fn.learn.discrete_markov_graph(table).neighbors("xray")
    ('either',)
    """
    check_rule(rule, ("hc", "and", "or"))
    source = as_source(table)
    names = [variable.name for variable in source.variables]
    if not names:
        raise SchemaError("the table has no columns to learn from")
    if max_blanket is not None:
        check_number("max_blanket", max_blanket, 0)
    local = LocalScores(source, named_score(score, **options))
    of_size = log_prior(prior, len(names))

    reporter = Reporter(progress, "learning a Markov network")
    n_scored = 0

    def scored(families: list[Family]) -> Floats:
        nonlocal n_scored
        n_scored += len(families)
        reporter.step(n_scored)
        sizes = np.array([len(of) for _, of in families], dtype=np.int64)
        return local(Families.from_pairs(families)) + of_size[sizes]

    found = find_blankets(len(names), scored, max_blanket)
    if rule != "hc":
        graph = combined(names, found, rule)
    else:
        candidates = combined(names, found, "or").adjacency
        graph = UndirectedGraph(names, climb(candidates, scored, max_blanket))
    reporter.finish(n_scored)
    return graph


@dataclass(slots=True)
class _Node:
    """Where the search of one variable's blanket is."""

    variable: int
    blanket: Blanket
    score: float
    shrinking: bool = False
    finished: bool = False

    def candidates(self, n_variables: int, most: int) -> list[Blanket]:
        if self.shrinking:
            return [tuple(v for v in self.blanket if v != member) for member in self.blanket]
        if len(self.blanket) >= most:
            return []
        others = (v for v in range(n_variables) if v != self.variable and v not in self.blanket)
        return [tuple(sorted((*self.blanket, v))) for v in others]

    def move(self, candidates: list[Blanket], scores: Floats) -> None:
        best = first_best(scores)
        if len(scores) and scores[best] > self.score + tie(scores[best], self.score):
            self.blanket, self.score = candidates[best], float(scores[best])
            self.shrinking = len(self.blanket) > 1
        elif self.shrinking:
            self.shrinking = False
        else:
            self.finished = True


def find_blankets(n_variables: int, scored: Callable[[list[Family]], Floats], max_blanket: int | None) -> list[Blanket]:
    """Return every variable's blanket; all variables move side by side, so that one call scores for all of them."""
    most = n_variables - 1 if max_blanket is None else max_blanket
    empty = scored([(v, ()) for v in range(n_variables)])
    nodes = [_Node(v, (), score) for v, score in enumerate(empty.tolist())]
    while open_nodes := [node for node in nodes if not node.finished]:
        asked = [node.candidates(n_variables, most) for node in open_nodes]
        scores = scored([(node.variable, of) for node, each in zip(open_nodes, asked, strict=True) for of in each])
        ends = np.cumsum([len(each) for each in asked])
        for node, each, part in zip(open_nodes, asked, np.split(scores, ends[:-1]), strict=True):
            node.move(each, part)
    return [node.blanket for node in nodes]


def climb(
    candidates: Iterable[Iterable[int]],
    scored: Callable[[list[Family]], Floats],
    max_blanket: int | None,
) -> list[list[int]]:
    """Return the adjacency after adding and removing candidate edges, the best first, while that raises the score."""
    near = [list(others) for others in candidates]
    edges = [(u, v) for u, others in enumerate(near) for v in others if u < v]
    blankets: list[Blanket] = [() for _ in near]
    current = scored([(v, ()) for v in range(len(near))])
    toggled: dict[tuple[int, int], float] = {}  # (v, w): v's score with w put in, or taken out
    stale = list(range(len(near)))
    while edges:
        asked = [(v, w) for v in stale for w in near[v]]
        fresh = scored([(v, _toggle(blankets[v], w)) for v, w in asked])
        toggled.update(zip(asked, fresh.tolist(), strict=True))
        gains = np.array([toggled[u, v] - current[u] + toggled[v, u] - current[v] for u, v in edges])
        if max_blanket is not None:
            full = [v not in blankets[u] and max(len(blankets[u]), len(blankets[v])) >= max_blanket for u, v in edges]
            gains[full] = -math.inf
        best = first_best(gains, float(np.abs(current).sum()))
        if not gains[best] > tie(float(np.abs(current).sum()), 0.0):
            break
        u, v = edges[best]
        current[u], current[v] = toggled[u, v], toggled[v, u]
        blankets[u], blankets[v] = _toggle(blankets[u], v), _toggle(blankets[v], u)
        stale = [u, v]
    return [list(blanket) for blanket in blankets]


def _toggle(blanket: Blanket, variable: int) -> Blanket:
    return tuple(sorted(set(blanket) ^ {variable}))


def first_best(scores: Floats, size: float = 0.0) -> int:
    """Return the first position whose score ties with the largest; scores are differences of numbers of some size."""
    if not len(scores):
        return 0
    top = float(scores.max())
    return int(np.argmax(scores >= top - tie(top, size)))


def tie(a: float, b: float) -> float:
    """Return the difference below which two scores are equal."""
    largest = max(abs(a), abs(b))
    return max(1e-9, 1e-12 * largest) if math.isfinite(largest) else 1e-9
