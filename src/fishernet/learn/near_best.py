"""All graphs that are nearly as good as the best, and what they agree on.

Data seldom tell one graph from all others: those within a few nats of the best score are as likely, or nearly so. Every
network has a last sink, whose parents are among the others, above a network over these; so networks are taken apart one
sink after the other, and a way ends where even the best network over what is left would be too low [1]_. Equivalent
networks, which no data tell apart, are one class and count once [2]_.

References
----------
.. [1] Z. Liao, C. Sharma, J. Cussens and P. van Beek, "Finding all Bayesian network structures within a factor of
   optimal", AAAI 2019, ask for the same networks by a factor of their probability.
.. [2] Y. Chen and J. Tian, "Finding the k-best equivalence classes of Bayesian network structures for model averaging",
   AAAI 2014.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import Fact, Framed
from fishernet.base.errors import FishernetError, StateSpaceError
from fishernet.base.names import several
from fishernet.base.progress import Progress, Watch
from fishernet.base.vocabulary import ScoreName
from fishernet.data import as_source
from fishernet.graphs import Dag
from fishernet.graphs.equivalence import UNDIRECTED, class_marks
from fishernet.learn.exact import MAX_MEMORY
from fishernet.learn.exact_sparse import ParentSetSearch
from fishernet.learn.missing.ways import way_of_scores
from fishernet.learn.resampling import EdgeStrengths
from fishernet.learn.rules import MAX_CELLS, Edge
from fishernet.learn.search import tie
from fishernet.learn.structures import question_of
from fishernet.scores import LocalScores, Score
from fishernet.scores.named import ScoreKeywords

NUMBER = 8  # bytes
MOST_VARIABLES = 25  # the core's tables have a number for each of their subsets
TIES = 1e-9  # nats by which a set is worse than a subset and counts: those that are as good are among the best


@dataclass(frozen=True, eq=False, repr=False)
class BestGraphs(Framed):
    """The graphs within some nats of the best one, a graph of each equivalence class, the best first.

    ``found[i]`` is the graph of the class in place i.
    """

    names: tuple[str, ...]
    """The variables."""
    scores: npt.NDArray[np.float64]
    """(n_graphs,): the score of each, in nats, falling."""
    within: float
    """How far from the best the search looked, in nats: less than was asked for where there are too many graphs, NaN
    where the time was over first."""
    complete: bool
    """Whether these are all classes within the nats that were asked for."""
    seconds: float
    """How long it took."""
    masks: npt.NDArray[np.uint64]
    """(n_graphs, n_variables): the parents of each variable, a bit for each position."""

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, place: int) -> Dag:
        n = len(self.names)
        parents = [[p for p in range(n) if mask >> p & 1] for mask in self.masks[place].tolist()]
        return Dag(self.names, parents)

    def __iter__(self) -> Iterator[Dag]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        size = f"{several(len(self), 'class', 'classes')} of graphs of {several(len(self.names), 'variable')}"
        far = "the time was over" if np.isnan(self.within) else f"all within {self.within:.4g} nats of it"
        return f"BestGraphs({size}, the best {self.scores[0]:,.4f}; {far})"

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """(n_graphs,): the probability of each class among these: proportional to ``exp(score)``."""
        weights = np.exp(self.scores - self.scores[0])
        shares: npt.NDArray[np.float64] = weights / weights.sum()
        return shares

    def edge_strengths(self) -> EdgeStrengths:
        """Return how sure each edge is: the share of the classes that have it, by their probability.

        An edge that is reversible in its class counts half each way. What graphs below these would say is not in it.
        """
        n, began = len(self.names), self.seconds
        halves = np.zeros((n, n))
        for share, graph in zip(self.shares.tolist(), self, strict=True):
            for (a, b), head in class_marks(graph.parents, graph.order).items():
                ways = [(a, b), (b, a)] if head == UNDIRECTED else [(a, b) if head == b else (b, a)]
                for way in ways:
                    halves[way] += 2 * share / len(ways)
        both = halves + halves.T
        direction = np.divide(halves, both, out=np.zeros(both.shape), where=both > 0)
        return EdgeStrengths(self.names, both / 2, direction, len(self), None, began)

    def facts(self) -> tuple[Fact, ...]:
        """Return what is to be said, in order."""
        best = Fact("score of the best", float(self.scores[0]), "nats")
        shares = Fact("share of the best", float(self.shares[0]))
        return (Fact("classes of graphs", len(self)), best, shares, *super().facts())

    def to_frame(self) -> pa.Table:
        """Return the graphs as a pyarrow Table: score, share, and the arcs in words; one row a class."""
        arcs = ["; ".join(f"{parent} -> {child}" for parent, child in graph.edges) for graph in self]
        return pa.table({"score": self.scores, "share": self.shares, "arcs": pa.array(arcs, pa.string())})


def best_graphs(
    table: Any,
    *,
    within: float = 3.0,
    most: int = 10_000,
    score: ScoreName | Score | None = None,
    max_parents: int | None = None,
    max_cells: float | None = MAX_CELLS,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | None = None,
    max_memory: float = MAX_MEMORY,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    **options: Unpack[ScoreKeywords],
) -> BestGraphs:
    """Find all graphs within some nats of the best, equivalent ones once.

    A graph that is 3 nats below the best is 20 times less probable (a Bayes factor, where the score is or approximates
    a marginal likelihood). Tables of a number for each set of variables set a limit of 25 variables.

    Parameters
    ----------
    table : Table, data frame or Source
        The data. Where cells are missing each family is scored on the rows that are complete in it (node-average), and
        numbers alone by the moments that they are expected to have.
    within : float
        How far below the best score, in nats.
    most : int
        At most so many classes, the best ones.
    score, max_parents, max_cells, required, forbidden, tiers, **options
        As for `structure`. With arcs required or forbidden, or tiers, a class is there when one of its graphs keeps the
        rules. Where equivalent graphs score differently ("fnml", "k2"), a class has the score
        of its best graph.
    max_memory : float
        Bytes that tables and parent sets may take; default 2**33.
    max_seconds : float, optional
        After this time what was found so far is the result, not `complete`.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``.

    Returns
    -------
    BestGraphs

    Raises
    ------
    StateSpaceError
        When there are more than 25 variables, or the parent sets take more than `max_memory`.
    FishernetError
        When `within` or `most` is out of range, or the time was over before a graph was found.
    SchemaError, MissingValueError
        As for `structure`.
    KeyboardInterrupt
        On Ctrl-C.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(500, seed=1)
    >>> found = fn.learn.best_graphs(table, within=2.0)
    >>> bool(abs(found.scores[0] - fn.learn.structure(table, search="exact").score) < 1e-6), found.complete
    (True, True)
    >>> found.edge_strengths().to_frame().column_names
    ['from', 'to', 'strength', 'direction']
    """
    check.number(within, "within", least=0)
    check.number(max_memory, "max_memory", above=0)
    most = check.integer(most, "most", least=1)
    source = table if isinstance(table, np.ndarray) else as_source(table)
    asked = question_of(
        source,
        score,
        max_parents=max_parents,
        max_cells=max_cells,
        required=required,
        forbidden=forbidden,
        tiers=tiers,
        missing=None if isinstance(source, np.ndarray) else way_of_scores(source, score),
        options=options,
    )
    n = len(asked.source.variables)
    if n > MOST_VARIABLES or NUMBER * (n + 2) << (n - 1) > max_memory:
        raise StateSpaceError(
            f"the tables of the best graphs of {several(n, 'variable')}",
            cells=(n + 2) << (n - 1),
            limit=int(min(max_memory, NUMBER * (MOST_VARIABLES + 2) << (MOST_VARIABLES - 1))) // NUMBER,
            remedy=f"up to {MOST_VARIABLES} variables have such tables: choose fewer columns, or take "
            "fn.learn.edge_strengths, which asks the same by the bootstrap",
        )
    watch = Watch(progress, "finding the best graphs", max_seconds)
    scorer = LocalScores(asked.source, asked.score)
    finding = ParentSetSearch(scorer, asked.rules, max_memory, slack=max(within, TIES))
    if not finding.run(watch) or finding.sets is None:
        _refuse_short(max_seconds)
    # a class that a rule cuts, or whose members score differently, is met by any of its graphs
    ruled = asked.rules.required.any() or (asked.rules.forbidden & ~np.eye(n, dtype=bool)).any()
    known = not any(variable.is_continuous for variable in asked.source.variables) and not asked.source.has_missing
    equivalent = asked.score.equivalent and known and not ruled
    search = _core.NearBest(finding.sets, within, most, equivalent)
    try:
        while not search.finished and not watch.look(finding.sets.n_wanted + search.n_met):
            search.advance()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted with {several(search.n_found, 'class', 'classes')} of graphs") from None
    scores, masks = search.networks()
    if not len(scores):
        _refuse_short(max_seconds)
    reached = search.best - search.least if search.finished else np.nan
    complete = reached >= within - tie(search.best)
    return BestGraphs(asked.source.names, scores, float(np.minimum(within, reached)), complete, watch.seconds, masks)


def _refuse_short(max_seconds: float | None) -> NoReturn:
    raise FishernetError(
        f"max_seconds ({max_seconds:g}) was over before a graph was found; give more, or allow fewer parents "
        "(max_parents)",
        parameter="max_seconds",
    )
