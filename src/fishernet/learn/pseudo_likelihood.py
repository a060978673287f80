"""Undirected graphs by marginal pseudo-likelihood, of discrete and of Gaussian variables.

The pseudo-likelihood of a Markov network is the product of every variable's conditional given its Markov blanket, its
neighbours. With a prior for each conditional the parameters integrate out, and the score of a graph is a sum over
variables of the local score of a variable given its neighbours (Pensar et al., 2017): what `fishernet.score` gives for
an undirected graph. So any local score will do. For Gaussian variables it is the fractional marginal pseudo-likelihood
(FMPL; Leppä-aho et al., 2017). A prior may say what the sizes of blankets are worth before the data are seen.

The search is that of FMPL: first each variable's blanket separately, then hill climbing among the edges that some
blanket holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.names import listed, shown
from fishernet.base.progress import Progress, Reporter
from fishernet.base.vocabulary import ClimbingRule, ScoreName, word
from fishernet.data import as_scatter, categorical_source
from fishernet.data.matching import as_numbers
from fishernet.data.moments import (
    Floats,
    rank,
    refuse_collinear,
    require_independent,
    scaled_products,
    without_determined,
)
from fishernet.data.source import is_statistics
from fishernet.graphs import UndirectedGraph
from fishernet.learn.blankets import Edge, combined, edges_between, joined
from fishernet.learn.local_learning import counted
from fishernet.learn.missing.gaussian_em import FEWEST, expected_numbers
from fishernet.learn.search import column_names, first_best, tie
from fishernet.scores import Families, LocalScores, Score, named_score
from fishernet.scores.gaussian import blanket_sizes, weight
from fishernet.scores.named import DirichletKeywords

Prior = bool | tuple[float, float, float]


def log_prior(prior: Prior, n_variables: int) -> Floats:
    """Return the log-probability of a blanket by its size, (n_variables,): ``log B(a + p, b + m - p) / B(a, b)``.

    An edge is there with a probability that has a Beta(a, b) distribution, and m could be.
    """
    if prior is False:
        return np.zeros(n_variables)
    try:
        a, b, m = (0.5, 0.5, float(n_variables - 1)) if prior is True else map(float, prior)
    except (TypeError, ValueError):
        raise FishernetError(f"prior must be True, False or three numbers (a, b, m), got {shown(prior)}") from None
    if not (0 < a < math.inf and 0 < b < math.inf and n_variables - 1 <= m < math.inf):
        raise FishernetError(
            f"prior (a, b, m) needs positive a and b and m at least {n_variables - 1}, got {shown(prior)}"
        )
    return np.array([_log_beta(a + size, b + m - size) - _log_beta(a, b) for size in range(n_variables)])


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


Blanket = tuple[int, ...]
Family = tuple[int, Blanket]

RULES = ("hc", "and", "or")


def discrete_markov_graph(
    table: Any,
    *,
    score: ScoreName | Score = "bdeu",
    rule: ClimbingRule = "hc",
    prior: Prior = False,
    max_blanket: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[DirichletKeywords],
) -> UndirectedGraph:
    """Learn an undirected graph of discrete variables by marginal pseudo-likelihood.

    Parameters
    ----------
    table : Table, data frame or Source
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
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, None)``, in scores.
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
    ``max(1e-9, 1e-12 |score|)`` nats and goes to the first candidate in variable order.

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
    rule = word(rule, "rule", RULES)
    how = named_score(score, **options)
    source = counted(categorical_source(table), None, how)
    names = column_names(source)
    max_blanket = check.optional_integer(max_blanket, "max_blanket", least=0)
    local = LocalScores(source, how)
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


AT_ONCE = 256  # blankets between two reports of progress


def gaussian_graph(
    X: Any,
    *,
    rule: ClimbingRule = "hc",
    prior: Prior = True,
    center: bool = True,
    names: Iterable[str] | None = None,
    progress: Progress | None = None,
) -> UndirectedGraph:
    """Learn the graph of a Gaussian Markov network by its fractional marginal pseudo-likelihood (FMPL).

    The score of a graph is the sum of `scores.fmpl` over the columns, each given its neighbours. It has no tuning
    parameter, and finds the graph of the generating distribution as the rows become many [1]_.

    Parameters
    ----------
    X : (n, d) array, pandas, polars or pyarrow frame, mapping from names to columns, or Scatter
        Columns of numbers.
    rule, prior
        As for `discrete_markov_graph`. The prior is needed where there are fewer rows than columns.
    center : bool
        Whether the columns' means are taken off. Either way n is the number of rows.
    names : sequence of str, optional
        Of the columns of an array; of a frame, those that are taken, in this order.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in columns.

    Returns
    -------
    UndirectedGraph

    Warns
    -----
    FishernetWarning
        When blankets ended for want of rows: the score saturates, and their edges mean nothing. When there are fewer
        rows than columns and no prior. When a column is a linear combination of others: it is left out of the graph.

    Raises
    ------
    SchemaError
        When a value is not finite (the message names column and row), columns are constant, or there are fewer than
        three rows.
    FishernetError
        When the rule is unknown or the prior out of range.

    Notes
    -----
    The search is that of `discrete_markov_graph`. A blanket holds at most n - 2 columns (n - 1 when not centred). Time
    O(d^2 p^2) for blankets of p columns, and O(n d^2) for the scatter; memory O(d^2 + n d).

    References
    ----------
    .. [1] J. Leppä-aho, J. Pensar, T. Roos and J. Corander, "Learning Gaussian graphical models with fractional
       marginal pseudo-likelihood", International Journal of Approximate Reasoning 83, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> noise = np.random.default_rng(2).normal(size=(500, 4))
    >>> X = noise.cumsum(axis=1)  # a random walk: every column depends on the one before
    >>> fn.learn.gaussian_graph(X).edges
    (('v0', 'v1'), ('v1', 'v2'), ('v2', 'v3'))
    """
    rule = word(rule, "rule", RULES)
    purpose = "a Gaussian model"
    every = as_scatter(X, names) if is_statistics(X) else as_numbers(X, names, purpose=purpose, gaps=True)
    check.flag(center, "center")
    scatter = as_scatter(expected_numbers(without_determined(every, center=center)))
    d = len(scatter.names)
    if scatter.n < FEWEST:
        raise SchemaError(f"a graph of Gaussian variables needs at least {FEWEST} rows, got {scatter.n}")
    of_prior = log_prior(prior, d)
    scaled = scaled_products(scatter, center=center)
    full = rank(scatter.n, center=center)
    require_independent(scatter.names, scaled, full)
    most = min(d - 1, full - 1)
    of_size = blanket_sizes(scatter.n, most) + of_prior[: most + 1]
    search = _Search(scatter.names, scaled, full, of_size, weight(scatter.n))

    blankets = search.blankets(Reporter(progress, "finding Markov blankets"))
    _warn_of_few_rows(search.saturated, few=prior is False and full < d)
    if rule != "hc":
        return combined(scatter.names, blankets, rule)
    return search.climb(edges_between(blankets, "or"))


class _Search:
    """The two steps of FMPL, in the core, on products scaled to 1 on the diagonal."""

    def __init__(self, names: tuple[str, ...], scaled: Floats, full_rank: int, of_size: Floats, weight: float) -> None:
        self._names, self._scaled = names, scaled
        self._score = (scaled, full_rank, of_size, weight)
        self.saturated: list[str] = []

    def blankets(self, reporter: Reporter) -> list[list[int]]:
        d = len(self._names)
        found: list[list[int]] = []
        for first in range(0, d, AT_ONCE):
            last = min(d, first + AT_ONCE)
            offsets, members, saturated, collinear = _core.find_blankets(*self._score, first, last)
            self._refuse(collinear)
            found.extend(part.tolist() for part in np.split(members, offsets[1:-1]))
            self.saturated.extend(self._names[first + v] for v in np.flatnonzero(saturated).tolist())
            reporter.step(last, d)
        reporter.finish(d)
        return found

    def climb(self, candidates: list[Edge]) -> UndirectedGraph:
        flat = np.array(candidates, dtype=np.int32).reshape(-1, 2)
        chosen, collinear = _core.climb_edges(*self._score, flat)
        self._refuse(collinear)
        return joined(self._names, flat[chosen.astype(bool)].tolist())

    def _refuse(self, collinear: npt.NDArray[np.int32]) -> None:
        if len(collinear):
            refuse_collinear(self._names, self._scaled, collinear)


def _warn_of_few_rows(saturated: list[str], *, few: bool) -> None:
    what = []
    if saturated:
        what.append(f"the Markov blankets of {listed(saturated)} ended for want of rows, and their edges mean nothing")
    if few:
        what.append("there are fewer rows than columns, and without the prior pure noise gets edges")
    if what:
        remedy = "; take the prior, or more rows" if few else "; take more rows"
        warn(" and ".join(what) + remedy, parameter="prior" if few else None)
