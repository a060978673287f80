"""Learning the structure of a Bayesian network."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError
from fishernet.base.names import listed
from fishernet.base.progress import Progress
from fishernet.base.random import Seed, fixed_seed, stream_key
from fishernet.data import CountSource, Scatter, Table
from fishernet.graphs import Dag
from fishernet.learn.exact import exact_search
from fishernet.learn.hill_climb import CandidateSearch, HillClimb, TabuSearch, check_number
from fishernet.learn.order import OrderSearch
from fishernet.learn.rules import Constraints, Edge, make_constraints
from fishernet.learn.search import Search, SearchResult, run_search
from fishernet.scores import LocalScores, Score, named_score
from fishernet.scores.gaussian import most_parents
from fishernet.scores.local import Numbers, source_for

# Each is made from the constraints and from the options that are its keyword arguments; one that draws takes a `key`.
SEARCHES: dict[str, Callable[..., Search]] = {
    "hill-climb": HillClimb,
    "tabu": TabuSearch,
    "order": OrderSearch,
}
EXACT = "exact"  # sees the counts of all sets of variables, so it is no `Search`


def structure(
    table: Table | CountSource | Numbers,
    *,
    score: str | Score = "bic",
    search: str = "hill-climb",
    max_parents: int | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | None = None,
    start: Dag | None = None,
    candidates: int | None = None,
    restarts: int | None = None,
    perturb: int | None = None,
    tenure: int | None = None,
    patience: int | None = None,
    max_memory: float | None = None,
    max_seconds: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Any,
) -> SearchResult:
    """Learn the structure of a Bayesian network, and say how it was found.

    Parameters
    ----------
    table : Table or CountSource; for "fractional" an array, a data frame of numbers or a Scatter
        The data, without missing cells.
    score : str or Score
        What is maximized: "bic" (alias "mdl"), "aic", "loglik", "hqc", "bdeu", "k2", "bdq", "fnml", "qnml"
        (`scores`); of columns of numbers "fractional", the fractional marginal likelihood of a Gaussian network.
    search : str
        "hill-climb": greedy additions, removals and reversals (P2, Algorithm 7). "tabu": the same steps, also down,
        with what was just changed held fast; never below the climb. "order": search over orders of the variables [1]_,
        from where a tabu search ends; never below that. It takes several times as long and is nearly always the best of
        these. "exact": the best graph of all, for some 25 variables (`fishernet.learn.searches.exact`).
    max_parents : int, optional
        At most this many parents a variable.
    required, forbidden : iterables of (parent, child)
        Arcs that must, and must not, be there.
    tiers : iterable of iterables of names, optional
        No arc runs from a later tier to an earlier one.
    start : Dag, optional
        Where the search begins; without it, at the required arcs.
    candidates : int, optional
        Arcs only between a variable and the so many others on which it depends most (by the score of an arc between
        the two), and those that count it among theirs; the start's and the required arcs as well. For thousands of
        variables.
    restarts : int, optional
        How often the search goes on from the best graph with some of it changed at random: 0, for "order" 50, when
        not said.
    perturb : int, optional
        How much a restart changes. "hill-climb": 20 random steps; "tabu": 4; "order": 5 variables put in random places.
    tenure : int, optional
        "tabu": for how many steps an arc that was changed stays as it is; 15 when not said, or the number of variables.
    patience : int, optional
        "tabu": how many steps in a row may fail to better the best score; 100 when not said.
    max_memory : float, optional
        Bytes that an exact search may take; 2**33 when not said.
    max_seconds : float, optional
        After this time the best graph so far is the result; for "exact", what hill climbing found.
    seed : None, int or numpy.random.Generator
        For searches with restarts. None is 0 here: the same call finds the same graph.
    progress : callable, optional
        ``progress(what, done, total)``.
    **options
        The score's own hyperparameters.

    Returns
    -------
    SearchResult
        The graph, its score, the steps and the number of distinct local scores.

    Warns
    -----
    FishernetWarning
        When columns of numbers are as many as the rows, or more, and `max_parents` is not said.

    Raises
    ------
    MissingValueError
        When a cell is missing.
    SchemaError
        When there are no variables, a name is unknown or rules contradict each other.
    FishernetError
        When the search is unknown or does not take an option.
    StateSpaceError
        When an exact search would take more than `max_memory`.
    KeyboardInterrupt
        On Ctrl-C; its attribute ``best`` is the best graph so far.

    References
    ----------
    .. [1] B. Andrews, J. Ramsey, R. Sanchez-Romero, J. Camchong and E. Kummerfeld, "Fast scalable and accurate
       discovery of DAGs using the best order score search and grow-shrink trees", NeurIPS 2023.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(2000, seed=1)
    >>> found = fn.learn.structure(table)
    >>> found.steps[0].kind, found.finished
    ('add', True)
    """
    number = 0 if seed is None else fixed_seed(seed)  # a bad seed is refused, whether the search draws or not
    how = named_score(score, **options)
    source = source_for(table, how)
    names = [variable.name for variable in source.variables]
    if not names:
        raise SchemaError("the table has no columns to learn from")
    if search not in SEARCHES and search != EXACT:
        raise FishernetError(f"unknown search {search!r}; there are {listed([*SEARCHES, EXACT])}", parameter="search")
    if isinstance(source, Scatter):
        max_parents = _allowed_parents(source, how, max_parents)
    rules = make_constraints(
        names, max_parents=max_parents, required=required, forbidden=forbidden, tiers=tiers, start=start
    )
    asked = {"restarts": restarts, "perturb": perturb, "tenure": tenure, "patience": patience}
    _refuse_options(search, asked | {"candidates": candidates, "max_memory": max_memory})
    if search == EXACT:
        return exact_search(source, how, rules, max_memory=max_memory, max_seconds=max_seconds, progress=progress)
    make = _named_search(search, number, **asked)
    if candidates is not None:
        make = partial(CandidateSearch, most=check_number("candidates", candidates, 1), make=make)
    found = run_search(make(rules), LocalScores(source, how), max_seconds=max_seconds, progress=progress)
    return replace(found, seed=number if "key" in _options(search) else None)


def _allowed_parents(scatter: Scatter, score: Score, asked: int | None) -> int | None:
    """Return how many parents the rows allow; warn where nobody asked for fewer, and noise would get as many."""
    if asked is None and scatter.n <= len(scatter.names):
        warnings.warn(
            FishernetWarning(
                f"there are {scatter.n} rows for {len(scatter.names)} columns: the score saturates, and pure noise "
                "gets as many parents as the rows allow; allow fewer, or take more rows",
                parameter="max_parents",
            ),
            stacklevel=3,
        )
    return most_parents(scatter, score, asked)


def _refuse_options(search: str, options: Mapping[str, object]) -> None:
    """Raise FishernetError when a search is given an option that is not its own."""
    for name, value in options.items():
        if value is not None and name not in _options(search):
            takers = listed(other for other in [*SEARCHES, EXACT] if name in _options(other))
            raise FishernetError(f"search {search!r} takes no {name}; searches that do: {takers}", parameter=name)


def _named_search(search: str, seed: int, **options: int | None) -> Callable[[Constraints], Search]:
    """Return what makes a search of a name from its constraints."""
    given = {name: value for name, value in options.items() if value is not None}
    if "key" in _options(search):
        given["key"] = stream_key(seed)
    return partial(SEARCHES[search], **given)


def _options(search: str) -> set[str]:
    if search == EXACT:
        return {"max_memory"}
    return {*inspect.signature(SEARCHES[search]).parameters, "candidates"}


def dag(
    table: Table | CountSource | Numbers,
    *,
    score: str | Score = "bic",
    search: str = "hill-climb",
    max_parents: int | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | None = None,
    start: Dag | None = None,
    candidates: int | None = None,
    restarts: int | None = None,
    perturb: int | None = None,
    tenure: int | None = None,
    patience: int | None = None,
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
        candidates=candidates,
        restarts=restarts,
        perturb=perturb,
        tenure=tenure,
        patience=patience,
        max_memory=max_memory,
        max_seconds=max_seconds,
        seed=seed,
        progress=progress,
        **options,
    ).dag
