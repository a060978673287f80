"""Learning the structure of a Bayesian network."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fishernet.counts import CountSource, as_source
from fishernet.errors import FishernetError, SchemaError
from fishernet.graphs import Dag
from fishernet.learn.constraints import Constraints, Edge, make_constraints
from fishernet.learn.exact_search import exact_search
from fishernet.learn.hill_climb import HillClimb
from fishernet.learn.search import Search, SearchResult, run_search
from fishernet.progress import Progress
from fishernet.random import Seed, generator
from fishernet.scores import LocalScores, Score, named_score
from fishernet.table import Table
from fishernet.table.variable import listed

SEARCHES: dict[str, Callable[[Constraints], Search]] = {"hill-climb": HillClimb}
EXACT = "exact"  # sees the counts of all sets of variables, so it is no `Search`


def structure(
    table: Table | CountSource,
    *,
    score: str | Score = "bic",
    search: str = "hill-climb",
    max_parents: int | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | None = None,
    start: Dag | None = None,
    max_memory: float | None = None,
    max_seconds: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Any,
) -> SearchResult:
    """Learn the structure of a Bayesian network, and say how it was found.

    Parameters
    ----------
    table : Table or CountSource
        The data, without missing cells.
    score : str or Score
        What is maximized: "bic" (alias "mdl"), "aic", "loglik", "hqc", "bdeu", "k2", "bdq", "fnml", "qnml" (`scores`).
    search : str
        "hill-climb": greedy additions, removals and reversals (P2, Algorithm 7). "exact": the best graph of all, for
        some 25 variables (`fishernet.learn.exact_search`).
    max_parents : int, optional
        At most this many parents a variable.
    required, forbidden : iterables of (parent, child)
        Arcs that must, and must not, be there.
    tiers : iterable of iterables of names, optional
        No arc runs from a later tier to an earlier one.
    start : Dag, optional
        Where the search begins; without it, at the required arcs.
    max_memory : float, optional
        Bytes that an exact search may take; 2**33 when not said.
    max_seconds : float, optional
        After this time the best graph so far is the result; for "exact", what hill climbing found.
    seed : None, int or numpy.random.Generator
        For searches that draw; hill climbing does not.
    progress : callable, optional
        ``progress(what, done, total)``.
    **options
        The score's own hyperparameters.

    Returns
    -------
    SearchResult
        The graph, its score, the steps and the number of distinct local scores.

    Raises
    ------
    MissingValueError
        When a cell is missing.
    SchemaError
        When there are no variables, a name is unknown or rules contradict each other.
    StateSpaceError
        When an exact search would take more than `max_memory`.
    KeyboardInterrupt
        On Ctrl-C; its attribute ``best`` is the best graph so far.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(2000, seed=1)
    >>> found = fn.learn.structure(table)
    >>> found.steps[0].kind, found.finished
    ('add', True)
    """
    generator(seed)  # a bad seed is refused, whether the search draws or not
    source = as_source(table)
    names = [variable.name for variable in source.variables]
    if not names:
        raise SchemaError("the table has no columns to learn from")
    if search not in SEARCHES and search != EXACT:
        raise FishernetError(f"unknown search {search!r}; there are {listed([*SEARCHES, EXACT])}")
    rules = make_constraints(
        names, max_parents=max_parents, required=required, forbidden=forbidden, tiers=tiers, start=start
    )
    how = named_score(score, **options)
    if search == EXACT:
        return exact_search(source, how, rules, max_memory=max_memory, max_seconds=max_seconds, progress=progress)
    scores = LocalScores(source, how)
    return run_search(SEARCHES[search](rules), scores, max_seconds=max_seconds, progress=progress)


def dag(
    table: Table | CountSource,
    *,
    score: str | Score = "bic",
    search: str = "hill-climb",
    max_parents: int | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | None = None,
    start: Dag | None = None,
    max_memory: float | None = None,
    max_seconds: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Any,
) -> Dag:
    """Learn the structure of a Bayesian network.

    All arguments and errors are those of `structure`, which also says how the graph was found.

    Returns
    -------
    Dag

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(2000, seed=1)
    >>> all(len(parents) <= 1 for parents in fn.learn.dag(table, max_parents=1).parents)
    True
    """
    return structure(
        table,
        score=score,
        search=search,
        max_parents=max_parents,
        required=required,
        forbidden=forbidden,
        tiers=tiers,
        start=start,
        max_memory=max_memory,
        max_seconds=max_seconds,
        seed=seed,
        progress=progress,
        **options,
    ).dag
