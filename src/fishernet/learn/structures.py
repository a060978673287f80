"""Learning the structure of a Bayesian network."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.names import listed, several
from fishernet.base.progress import Interrupted, Progress, Watch
from fishernet.base.random import Seed, fixed_seed
from fishernet.base.vocabulary import IncompleteName, ScoreName, SearchName, word
from fishernet.data import Source, as_source
from fishernet.data.matching import is_frame
from fishernet.data.moments import without_determined
from fishernet.data.source import is_source
from fishernet.graphs import Dag
from fishernet.learn.checkpoint import run_with_checkpoint
from fishernet.learn.exact import Exact, proven
from fishernet.learn.hill_climb import HillClimb, Tabu
from fishernet.learn.keywords import StructureKeywords
from fishernet.learn.missing.gaussian_em import expected_numbers
from fishernet.learn.missing.structural_em import structural_em
from fishernet.learn.missing.ways import nearly_empty, way_with_missing
from fishernet.learn.order import Order
from fishernet.learn.rules import MAX_CELLS, Edge, Rules
from fishernet.learn.search import Search, SearchResult, column_names
from fishernet.scores import LocalScores, Score, named_score
from fishernet.scores.available import AvailableScore
from fishernet.scores.likelihood import Bic
from fishernet.scores.named import ScoreKeywords
from fishernet.scores.node_average import NodeAverage

ROWS_OF_PARENT = 4  # for each parent that a number may have where rows are no more than columns

# A search's fields are the options that it takes by name.
SEARCHES: dict[str, type[HillClimb | Tabu | Order | Exact]] = {
    "order": Order,
    "tabu": Tabu,
    "hill-climb": HillClimb,
    "exact": Exact,
}


def structure(
    table: Any,
    *,
    score: ScoreName | Score | None = None,
    search: SearchName | Search = "order",
    rules: Rules | None = None,
    max_parents: int | None = None,
    max_cells: float | None = MAX_CELLS,
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
    missing: IncompleteName | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Unpack[ScoreKeywords],
) -> SearchResult:
    """Learn the structure of a Bayesian network, and say how it was found.

    Parameters
    ----------
    table : Table, data frame or Source; for "fractional" also an (n, d) array or a Scatter
        The data. Cells of a Table or a frame may be missing. Where all columns are numbers, those that lack some teach
        their expected means and covariances, by EM for jointly normal columns.
    score : str or Score, optional
        What is maximized. By default "fractional" where all columns are numbers, and "bic" otherwise. "bic" (alias
        "mdl"), "aic", "hqc" and "loglik" are of labels, of numbers, and of both: a number has a regression in every
        configuration of its parents' labels, and no arc runs from a number to labels. "bdeu", "k2", "bdq", "fnml" and
        "qnml" are of labels; columns of numbers are cut into bins for them (``Table.discretize("auto")``).
        "fractional", the fractional marginal likelihood of a Gaussian network, is of columns of numbers. With
        "fractional", and where no score is named, each arc to a number pays 1.5 times the logarithm of the number of
        columns, and the k parameters of a regression beside labels count as ``k n / (n - k - 1)`` of n < 40 k rows
        (McQuarrie, 1999), unless ``prior=False``.
    search : str or Search
        "order": search over orders of the variables and over graphs, with restarts [1]_; nearly always the best of
        these but "exact", and never below "tabu". It takes a second for dozens of variables, several for 200, minutes
        for 700: `candidates`, `max_seconds` or another search make that less. Where it takes about a second (17 columns
        of 10,000 rows that are here, complete and without fractional weights; up to 63 where bounds leave few sets of
        parents), an exact search then proves the graph to be the best, or finds a better one; not with `restarts` or
        another option of the search. "tabu": greedy
        additions, removals and reversals of an arc, also where the score falls, with what was just changed held fast;
        never below the climb. "hill-climb": the same greedy steps while the score rises. "exact": the best graph of
        all, for some 25 variables.
        Or an object that is one (`fishernet.learn.Search`), as ``fishernet.learn.Tabu(tenure=20)``.
    rules : Rules, optional
        Rules in a search's own form, in place of `max_parents`, `max_cells`, `required`, `forbidden`, `tiers` and
        `start`.
    max_parents : int, optional
        At most this many parents per variable.
    max_cells : float, optional
        At most this many cells per family, that is, states of the variable times configurations of its parents; default
        2**24. Beyond, a conditional could hardly be stored. None means no limit.
    required, forbidden : iterables of (parent, child)
        Arcs that must, and must not, be there.
    tiers : iterable of iterables of names, optional
        No arc runs from a later tier to an earlier one.
    start : Dag, optional
        Where the search begins; without it, at the required arcs.
    candidates : int, optional
        Arcs only between a variable and this number of others, those on which it depends most (by the score of an arc
        between the two), and those that count it among theirs; the start's and the required arcs as well. For thousands
        of variables. By default all, and 20 of more than 400 columns of labels and numbers.
    restarts : int, optional
        How often the search goes on from the best graph with some of it changed at random; default 0. For "order" the
        default is 80, fewer where the number of variables times that of rows is above 500,000 or a graph has hundreds
        of arcs, but at least 4. More restarts with the same seed are never worse.
    perturb : int, optional
        How much a restart changes. "hill-climb": default 20 random steps; "tabu": 4; "order": by turns 3, 10 or 30
        variables put in random places, and 20 random steps.
    tenure : int, optional
        "tabu": for how many steps an arc that was changed stays as it is; default 15, or the number of variables if
        that is less.
    patience : int, optional
        "tabu": how many steps in a row may fail to better the best score; default 100.
    max_memory : float, optional
        Bytes that an exact search may take; default 2**33.
    max_seconds : float, optional
        After this time the best graph so far is the result; for "exact", the best that another search found.
    missing : {"em", "node-average"}, optional
        How a table with missing cells is learned from. "em": structural EM, searches on expected statistics, round by
        round; it uses all that is known of every row, and is right where cells are missing at random (whether one is
        missing may depend on what is known of its row). Of labels and numbers it begins with the graph that
        "node-average" finds, and what rows lack is drawn, several times over. "node-average": one search that scores
        each family on the rows that are complete in it [2]_, by a penalized likelihood of its own (no other `score`
        then); fast, and right where cells are missing completely at random. Default: "em" for up to 200,000 cells or
        50,000 missing ones, and for other scores than BIC.
    checkpoint : path, optional
        A file in which the search leaves its state, at most once a second and when it ends. After it was stopped (by a
        kill, Ctrl-C, an exception, `max_seconds`), the same call goes on from there and ends with the same graph, steps
        and score, to the last bit; when it had finished, the answer is that of the file. Candidates are chosen anew,
        and exact search keeps its result alone. For one search: not for structural EM.
    seed : None, int or numpy.random.Generator
        For searches with restarts. None is 0 here: the same call finds the same graph. Of an object, its field `seed`.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``.
    **options
        The score's own hyperparameters.

    Returns
    -------
    SearchResult
        The graph, its score, the steps and the number of distinct local scores.

    Warns
    -----
    FishernetWarning
        When columns of numbers are as many as the rows, or more, and `max_parents` is not given: each gets a parent for
        every four rows, at most. When a column of numbers is a linear combination of others: it is left out, and the
        graph does not have it, unless `rules`, `required` or `start` name it.

    Raises
    ------
    MissingValueError
        When a source that is no table lacks cells.
    SchemaError
        When there are no variables, a name is unknown, rules contradict each other, or a required family has more cells
        than may be.
    FishernetError
        When the search is unknown or does not take an option.
    FileFormatError
        When the checkpoint is none, is one of other data or of another search, or cannot be written.
    StateSpaceError
        When an exact search would take more than `max_memory`.
    KeyboardInterrupt
        On Ctrl-C; its attribute ``best`` is the best graph so far.

    References
    ----------
    .. [1] B. Andrews, J. Ramsey, R. Sanchez-Romero, J. Camchong and E. Kummerfeld, "Fast scalable and accurate
       discovery of DAGs using the best order score search and grow-shrink trees", NeurIPS 2023.
    .. [2] T. Bodewes and M. Scutari, "Learning Bayesian networks from incomplete data with the node-average
       likelihood", 2021.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(2000, seed=1)
    >>> found = fn.learn.structure(table)
    >>> found.steps[0].kind, found.finished
    ('add', True)
    """
    asked: dict[str, float | None] = {"candidates": candidates, "restarts": restarts, "perturb": perturb}
    asked |= {"tenure": tenure, "patience": patience, "max_memory": max_memory}
    searching = _chosen_search(search, seed, {name: value for name, value in asked.items() if value is not None})
    question = question_of(
        table,
        score,
        rules=rules,
        max_parents=max_parents,
        max_cells=max_cells,
        required=required,
        forbidden=forbidden,
        tiers=tiers,
        start=start,
        missing=missing,
        options=options,
    )
    source, how, rules = question.source, question.score, question.rules
    watch = Watch(progress, "learning the structure", max_seconds)
    if question.way == "em" and checkpoint is not None:
        message = "a checkpoint is of one search, and structural EM (missing='em') makes one in every round; "
        raise FishernetError(f"{message}take missing='node-average', or no checkpoint", parameter="checkpoint")
    try:
        if question.way == "em":
            return structural_em(source, how, searching, rules, watch)
        scorer = LocalScores(source, how)
        if checkpoint is not None:
            found = run_with_checkpoint(check.path(checkpoint, "checkpoint"), searching, scorer, rules, watch)
        else:
            found = searching.run(scorer, rules, watch)
        plain = search == "order" and restarts is None and perturb is None and candidates is None
        return proven(found, scorer, rules, watch) if plain else found
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(best=rules.start, size=several(rules.start.n_edges, "arc")) from None


class Question(NamedTuple):
    """What a search is asked: a source, its score, and the rules."""

    source: Source
    score: Score
    rules: Rules
    way: str | None
    """How missing cells are dealt with, where there are some."""


def question_of(
    table: Any,
    score: ScoreName | Score | None,
    *,
    rules: Rules | None = None,
    max_parents: int | None = None,
    max_cells: float | None = MAX_CELLS,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | None = None,
    start: Dag | None = None,
    missing: IncompleteName | None = None,
    options: Mapping[str, Any],
) -> Question:
    """Return what a search is asked, from what `structure` is given."""
    if score is None and not isinstance(table, np.ndarray):
        table = as_source(table)
    if score is None and not isinstance(table, np.ndarray):
        how = usual_score(table, **options)
    else:
        named = score or "fractional"
        how = named_score(named, **{**({"prior": True} if named == "fractional" else {}), **options})
    if how.takes_numbers and rules is None:
        required, forbidden = check.items(required, "required", "arcs"), check.items(forbidden, "forbidden", "arcs")
        every = _of_numbers(table, how)
        known = table.variables if is_source(table) else None
        table = without_determined(every, named_columns(required, start), variables=known)
        if len(table.names) < len(every.names):
            tiers, forbidden = of_the_rest(every.names, table.names, tiers, forbidden)
    source = how.source(expected_numbers(table) if how.takes_numbers else table)
    names = column_names(source)
    if rules is None:
        states = [variable.cardinality for variable in source.variables]
        limits: dict[str, Any] = {"states": states, "max_cells": max_cells}
        limits["max_parents"] = _allowed_parents(source, how, max_parents)
        if source.has_missing:
            required = check.items(required, "required", "arcs")
            rules = Rules.of(names, required=required, tiers=tiers, start=start, **limits)  # refuses what is no arc
            wanted = [*required, *([] if start is None else start.edges)]
            sparse = nearly_empty(source, {parent for parent, _ in wanted})
            forbidden = [*forbidden, *((parent, child) for parent in sparse for child in names if child != parent)]
        rules = Rules.of(names, required=required, forbidden=forbidden, tiers=tiers, start=start, **limits)
    elif rules.names != tuple(names):
        raise SchemaError(f"the rules are for the variables {listed(rules.names)}; the table has {listed(names)}")
    rules = rules.of_columns(source.variables)
    way = way_with_missing(source, missing, how)
    if way is None and source.has_missing:
        how = AvailableScore(how)
    if way == "node-average":
        how = NodeAverage(prior=how == Bic(prior=True))
    return Question(source, how, rules, way)


def _of_numbers(data: Any, how: Score) -> Source:
    """Return what a score of numbers is asked about: a scatter, or rows that lack some."""
    source = as_source(data) if is_frame(data) else data
    return source if is_source(source) and source.has_missing else how.source(source)


def named_columns(required: Iterable[Any] = (), start: Dag | None = None) -> set[str]:
    """Return the columns that arcs or a graph ask for; what is no arc is refused by the rules."""
    arcs = [arc for arc in required if isinstance(arc, tuple | list)]
    return {name for arc in arcs for name in arc if isinstance(name, str)} | {*([] if start is None else start.names)}


def options_for(names: Sequence[str], kept: Collection[str], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a search's options for the columns that are kept of a table: rules of the others ask for nothing."""
    if len(kept) == len(names) or options.get("rules") is not None:
        return options
    tiers, forbidden = of_the_rest(names, kept, options.get("tiers"), [*options.get("forbidden", ())])
    return {**options, "tiers": tiers, "forbidden": forbidden}


def of_the_rest(
    names: Sequence[str], kept: Iterable[str], tiers: Iterable[Iterable[str]] | None, forbidden: Iterable[Edge]
) -> tuple[Iterable[Iterable[str]] | None, Iterable[Edge]]:
    """Return tiers and forbidden arcs of the columns that are kept: these ask for no column."""
    layers = None
    if tiers is not None:
        every = [[tier] if isinstance(tier, str) else list(tier) for tier in check.items(tiers, "tiers")]
        layers = [[name for name in tier if name in kept] for tier in every]
    Rules.of(names, forbidden=forbidden, tiers=None if tiers is None else every)  # refuses what is no rule of columns
    return layers, [arc for arc in forbidden if set(kept).issuperset(arc)]


def _chosen_search(search: str | Search, seed: Seed, options: Mapping[str, Any]) -> Search:
    """Return the search of a name with its options, or the object as it is but for the seed."""
    number = 0 if seed is None else fixed_seed(seed)  # a bad seed is refused, whether the search draws or not
    if not isinstance(search, str):
        if options:
            raise FishernetError(f"{listed(options)} are for searches by name; give them to the object")
        return search if seed is None else search.seeded(number)
    named: str = word(search, "search", SEARCHES)
    for name in options:
        if name not in _fields(named):
            takers = listed(other for other in SEARCHES if name in _fields(other))
            raise FishernetError(f"search {named!r} takes no {name}; searches that do: {takers}", parameter=name)
    own: dict[str, Any] = {"seed": number} if "seed" in _fields(named) else {}
    return SEARCHES[named](**options, **own)


def _fields(search: str) -> set[str]:
    return {field.name for field in dataclasses.fields(SEARCHES[search])}


def _allowed_parents(source: Source, score: Score, asked: int | None) -> int | None:
    """Return how many parents the rows allow; few where rows are no more than columns, and a warning says so."""
    most, n = score.most_parents(source), len(source.variables)
    if most is None or (asked is not None and asked <= most):
        return asked
    if asked is None and source.total <= n:
        most = min(most, max(1, int(source.total - 1) // ROWS_OF_PARENT))
        rows = f"there are {source.total} rows"
        if source.total != int(source.total):  # of weights, or of rows that lack cells
            rows = f"the rows tell as much as {source.total:.0f} complete ones of equal weight"
        warn(
            f"{rows} for {n} columns: each gets at most {several(most, 'parent')}, since pure "
            "noise gets as many as it may; take more rows, or say how many",
            parameter="max_parents",
        )
    return most if most < n - 1 else asked


def usual_name(source: Source) -> ScoreName:
    """Return the name of the score that is maximized where none is asked for: by the kinds of columns."""
    numbers = bool(source.variables) and all(variable.is_continuous for variable in source.variables)
    return "fractional" if numbers else "bic"


def usual_score(source: Source, **options: Any) -> Score:
    """Return the score that is maximized where none is asked for: where there are numbers, with a prior on graphs."""
    numbers = any(variable.is_continuous for variable in source.variables)
    return named_score(usual_name(source), **(({"prior": True} if numbers else {}) | options))


def dag(table: Any, **as_structure: Unpack[StructureKeywords]) -> Dag:
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
    return structure(table, **as_structure).dag
