"""How sure each arc is by the data alone: networks are as probable as their scores say.

A score that is a marginal likelihood, or approximates one, makes a network's probability proportional to exp(score).
Networks are too many to be added up, but not those of one layering of the variables [1]_; random walks over layerings,
with arcs reversed between [2]_, meet each as often as its probability says (in the core).

Beforehand any variable is another's parent with a probability of one among the others, independently: everyone has one
parent in the mean. If all graphs were as probable, those with many arcs would have nearly all of the probability to
themselves, for there are so many. Scores with a prior on graphs of their own ("fractional", and "bic" where there are
numbers) keep theirs. That number and the equivalent sample size were chosen on networks of the literature and random
ones, and confirmed on others (`benchmarks/EDGES.md`).

References
----------
.. [1] J. Kuipers and G. Moffa, "Partition MCMC for inference on acyclic digraphs", Journal of the American Statistical
   Association 112, 2017.
.. [2] M. Grzegorczyk and D. Husmeier, "Improving the structure MCMC sampler for Bayesian networks by introducing a new
   edge reversal move", Machine Learning 71, 2008.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.progress import Progress, Watch
from fishernet.base.random import Seed, fixed_seed, stream_key
from fishernet.base.vocabulary import ScoreName
from fishernet.data import as_source
from fishernet.learn.exact import proven
from fishernet.learn.missing.ways import way_of_scores
from fishernet.learn.numbers.preparing import prepared_for
from fishernet.learn.order import Order
from fishernet.learn.parent_choices import families_of, find_choices
from fishernet.learn.resampling import EdgeStrengths, reusable
from fishernet.learn.rules import MAX_CELLS, Edge, Rules
from fishernet.learn.search import Scorer, joined_families
from fishernet.learn.structures import Question, options_for, question_of
from fishernet.scores import Families, LocalScores, Score, named_score
from fishernet.scores.named import ScoreKeywords

ESS = 4.0
N_WALKS = 8
FEWEST_SWEEPS = 100  # of the first part, which leads away from the start and does not count
LOOKS = 50  # at the watch, in each part
SHARE = 0.3  # of the time, for the start
ACCURACY = 0.02
MOST_SWEEPS = 2000


def edge_probabilities(
    table: Any,
    *,
    score: ScoreName | Score | None = None,
    max_parents: int | None = None,
    max_cells: float | None = MAX_CELLS,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | None = None,
    accuracy: float = ACCURACY,
    max_sweeps: int = MOST_SWEEPS,
    max_seconds: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Unpack[ScoreKeywords],
) -> EdgeStrengths:
    """Say how probable each edge is given the data, over all networks by their scores.

    `edge_strengths` asks in how many networks of resampled rows an edge is; this asks in what share of the networks
    that the rows leave open, without learning any of them anew.

    Parameters
    ----------
    table : Table, data frame or Source
        The data; of rows with numbers, what `bayesian_network` learns of. Where cells are missing each family is scored
        on the rows that are complete in it (node-average), and numbers alone by the moments that they are expected to
        have.
    score : str or Score, optional
        Default "bdeu" with an equivalent sample size of 4 for columns of labels without missing cells, otherwise that
        of `structure`.
    max_parents, max_cells, required, forbidden, tiers, **options
        As for `structure`. A variable's parents are among at most 63 others, those that say most of it by themselves.
    accuracy : float
        The walks go on until the largest standard error of a probability is no more.
    max_sweeps : int
        Or until each of the eight walks has taken every variable out of its place so often.
    max_seconds : float, optional
        After this time what was met so far is the result.
    seed : None, int or numpy.random.Generator
        All randomness comes from it.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``.

    Returns
    -------
    EdgeStrengths
        Its `error` is the largest standard error, by the differences between the walks. All begin at a good graph, and
        other good ones that no walk came to are not in it.

    Raises
    ------
    FishernetError
        When an option is out of range, or the time was over before every parent was scored.
    SchemaError, MissingValueError
        As for `structure`.
    KeyboardInterrupt
        On Ctrl-C.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(500, seed=1)
    >>> found = fn.learn.edge_probabilities(table, seed=1)
    >>> smoke, bronchitis, visit = (found.names.index(name) for name in ("smoke", "bronc", "asia"))
    >>> bool(found.strength[smoke, bronchitis] > 0.99), bool(found.strength[visit, bronchitis] < 0.2)
    (True, True)
    """
    check.number(accuracy, "accuracy", above=0)
    max_sweeps = check.integer(max_sweeps, "max_sweeps", least=1)
    rules = {"required": required, "forbidden": forbidden, "tiers": tiers}
    limits = {"max_parents": max_parents, "max_cells": max_cells}
    asked = _question(table, score, reusable(rules), limits, options)
    key = fixed_seed(seed)
    watch = Watch(progress, "walking over networks", max_seconds)
    scorer = LocalScores(asked.source, asked.score)
    kept = _at_a_good_graph(scorer, asked.rules, watch)
    n = len(kept.names)
    choices = find_choices(scorer, kept, 0.0 if asked.score.prior else math.log(max(1, n - 2)), watch)
    families, scores = families_of(choices)
    starts = joined_families([Families.from_pairs(enumerate(kept.start.parents))] * N_WALKS)
    walks = _core.LayerWalks(
        n,
        *(families.children, families.offsets, families.parents, scores),
        *(starts.children, starts.offsets, starts.parents),
        stream_key(key),
    )
    arcs, error, sweeps = _walked(walks, accuracy, max_sweeps, watch)
    both = arcs + arcs.T
    direction = np.divide(arcs, both, out=np.zeros((n, n)), where=both > 0)
    return EdgeStrengths(kept.names, both, direction, N_WALKS * sweeps, key, watch.seconds, error)


def _question(
    table: Any,
    score: ScoreName | Score | None,
    rules: Mapping[str, Any],
    limits: Mapping[str, Any],
    options: ScoreKeywords,
) -> Question:
    """Return what is asked, of the table of which `bayesian_network` would learn: numbers as it takes them."""
    if isinstance(table, np.ndarray):
        return question_of(table, score, **rules, **limits, options=options)
    source = as_source(table)
    if source.rows is not None:
        rows = prepared_for(source.rows, score=score, **rules)
        source, rules = rows, options_for(source.names, rows.names, rules)
    if score is None and not (source.has_missing or any(variable.is_continuous for variable in source.variables)):
        score, options = named_score("bdeu", **({"ess": ESS} | options)), {}
    missing = way_of_scores(source, score)
    return question_of(source, score, **rules, **limits, missing=missing, options=options)


def _at_a_good_graph(scorer: Scorer, rules: Rules, watch: Watch) -> Rules:
    """Return the rules with a start that is good, found in a part of the time."""
    left = watch.seconds_left
    searching = Watch(max_seconds=None if left is None else SHARE * left)
    found = proven(Order().run(scorer, rules, searching), scorer, rules, searching)
    return dataclasses.replace(rules, start=found.dag)


class _Walked(NamedTuple):
    """What walks met in a part of their way."""

    arcs: npt.NDArray[np.float64]
    """(n, n): the probability of the arc from the one to the other."""
    error: float
    """The largest standard error of an arc's or edge's probability, by the differences between the walks."""
    sweeps: int
    """How many there were, in each walk."""


def _walked(walks: _core.LayerWalks, accuracy: float, max_sweeps: int, watch: Watch) -> _Walked:
    """Walk, in parts as long as all before them, until the last part is accurate."""
    done, target = 0, FEWEST_SWEEPS
    before, begin = walks.arcs(), 0
    while True:
        last, before, begin = (before, begin), walks.arcs(), done
        target = min(max(target, 2 * done), max_sweeps)
        late = False
        while done < target and not late:
            walks.advance(min(target - done, max(1, (target - begin) // LOOKS)))
            done = walks.n_sweeps
            late = watch.look(done, max_sweeps)
        if late and 2 * begin > done > FEWEST_SWEEPS:  # the part before was longer
            before, begin = last
        met = _what_was_met(walks.arcs() - before, done - begin)
        if late or done == max_sweeps or (begin > 0 and met.error <= accuracy):
            return met


def _what_was_met(sums: npt.NDArray[np.float64], sweeps: int) -> _Walked:
    """Return what (n_walks, n ** 2) sums over so many sweeps say."""
    n = math.isqrt(sums.shape[1])
    arcs = sums.reshape(-1, n, n) / sweeps
    spread = max(every.std(axis=0, ddof=1).max() for every in (arcs, arcs + arcs.transpose(0, 2, 1)))
    error = float(spread) / math.sqrt(len(arcs))
    return _Walked(arcs.mean(axis=0), error, sweeps)
