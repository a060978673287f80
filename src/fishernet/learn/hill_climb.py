"""Searches over graphs that change by one arc a step: hill climbing and tabu search; and the choice of candidates.

Hill climbing: from the start, the best of all single additions, removals and reversals of an arc is made until none
raises the score. Tabu search [1]_ goes on over the top: the best of all steps is made even when it lowers the score. An
arc that was changed in one of the last ``tenure`` steps stays as it is, in both directions, unless its change makes the
best graph so far. The search ends when ``patience`` steps in a row have not bettered the best score. Until its first
local optimum it is the climb, so it never ends lower. A restart makes some random steps from the best graph and
searches on; the best graph of all is kept.

The state (what every toggle of an arc would change, and who reaches whom) lives in the core. A tie is a difference
below max(1e-9, 1e-12 |score|) nats; ties go to additions before removals before reversals, then to the first parent,
then to the first child, in the order of the variables.

References
----------
.. [1] F. Glover, "Tabu search, part I", ORSA Journal on Computing 1 (1989).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.progress import Watch
from fishernet.base.random import stream_key
from fishernet.data import Source
from fishernet.learn.rules import Rules
from fishernet.learn.search import (
    CoreSearch,
    Scorer,
    Search,
    SearchResult,
    check_options,
    families_of_one_size,
    run_in_core,
    score_in_parts,
    tie,
)
from fishernet.scores import Families

Array = npt.NDArray[np.float64]

CLIMB_PERTURB = 20  # arcs; with fewer most restarts end where they began
TABU_PERTURB = 4
TENURE = 15  # steps; on fewer variables as many as there are, or no arc would be left
PATIENCE = 100
PAIRS_AT_ONCE = 1 << 18
MANY, CANDIDATES = 400, 20  # columns of labels and numbers, from which on only arcs among so many are looked at


class RunsInCore(Search, Protocol):
    """A search whose work the core does, perhaps among the most dependent pairs of variables alone."""

    @property
    def restarts(self) -> int | None: ...  # noqa: D102
    @property
    def perturb(self) -> int | None: ...  # noqa: D102
    @property
    def candidates(self) -> int | None: ...  # noqa: D102
    @property
    def seed(self) -> int: ...  # noqa: D102
    def in_core(self, rules: Rules, source: Source) -> CoreSearch: ...  # noqa: D102

    def __post_init__(self) -> None:
        check_options(self.restarts, self.perturb, self.candidates)

    def refining(self) -> Search:
        """Return the search that improves a good graph: this one without restarts."""
        again: Search = replace(self, restarts=0)  # type: ignore[type-var]
        return again

    def seeded(self, seed: int) -> Search:
        """Return the same search with another seed."""
        other: Search = replace(self, seed=seed)  # type: ignore[type-var]
        return other

    def run(self, scorer: Scorer, rules: Rules, watch: Watch) -> SearchResult:
        """Find a graph that keeps the rules."""
        most = self.candidates or _usual_candidates(scorer.source)
        if most is not None:
            fewer = among_candidates(scorer, rules, most, watch)
            if fewer is None:
                return SearchResult(rules.start, float("nan"), (), scorer.n_distinct, False, watch.seconds, self.seed)
            rules = fewer
        return run_in_core(self.in_core(rules, scorer.source), scorer, rules, watch, self.seed)


@dataclass(frozen=True)
class HillClimb(RunsInCore):
    """Greedy hill climbing."""

    restarts: int = 0
    """How often it goes on from the best graph with some arcs changed."""
    perturb: int | None = None
    """How many random steps a restart makes first; default 20."""
    candidates: int | None = None
    """Only arcs among the most dependent pairs of variables (`among_candidates`)."""
    seed: int = 0
    """All randomness comes from it."""

    def in_core(self, rules: Rules, source: Source) -> CoreSearch:  # noqa: ARG002
        """Return the core's search."""
        perturb = CLIMB_PERTURB if self.perturb is None else self.perturb
        return _core.HillClimb(
            rules.parents, *rules.limits, restarts=self.restarts, perturb=perturb, key=stream_key(self.seed)
        )


@dataclass(frozen=True)
class Tabu(RunsInCore):
    """Tabu search."""

    tenure: int | None = None
    """For how many steps an arc that was changed stays as it is; default 15, or the number of variables if that is
    less."""
    patience: int = PATIENCE
    """How many steps in a row may fail to better the best score."""
    restarts: int = 0
    """How often it goes on from the best graph with some arcs changed."""
    perturb: int | None = None
    """How many random steps a restart makes first; default 4."""
    candidates: int | None = None
    """Only arcs among the most dependent pairs of variables (`among_candidates`)."""
    seed: int = 0
    """All randomness comes from it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check.integer(self.patience, "patience", least=1)
        if self.tenure is not None:
            check.integer(self.tenure, "tenure", least=1)

    def in_core(self, rules: Rules, source: Source) -> CoreSearch:  # noqa: ARG002
        """Return the core's search."""
        return _core.HillClimb(
            rules.parents,
            *rules.limits,
            patience=self.patience,
            tenure=min(TENURE, len(rules.names)) if self.tenure is None else self.tenure,
            restarts=self.restarts,
            perturb=TABU_PERTURB if self.perturb is None else self.perturb,
            key=stream_key(self.seed),
        )


def _usual_candidates(source: Source) -> int | None:
    """Return the candidates of a search that names none: all, but of very many columns of labels and numbers."""
    kinds = {variable.is_continuous for variable in source.variables}
    return CANDIDATES if len(kinds) > 1 and len(source.variables) > MANY else None


def among_candidates(scorer: Scorer, rules: Rules, most: int, watch: Watch) -> Rules | None:
    """Forbid all arcs but those between the most dependent pairs of variables; None when the time was over first.

    With thousands of variables most arcs are not worth considering. For every variable the `most` others are kept with
    which it depends most, that is, an arc between which scores highest; two variables are candidates of each other when
    either kept the other. The required arcs and those of the start stay. Every pair is scored once and forgotten.
    Pairs between which both arcs are forbidden take no other pair's place.
    """
    n = len(rules.names)
    is_closed = rules.forbidden & rules.forbidden.T
    gains = np.full((n, n), -np.inf)
    children = np.arange(n, dtype=np.int32)
    without = Families(children, np.zeros(n + 1, np.int64), np.zeros(0, np.int32), once=True)
    alone = score_in_parts(scorer, without, lambda: watch.look(0))
    if alone is None:
        return None
    for begin, end in _blocks(n):
        block = children[begin:end]
        parents = np.concatenate([np.arange(child, dtype=np.int32) for child in block])
        later = np.repeat(block, block)
        are_open = ~is_closed[parents, later]
        parents, later = parents[are_open], later[are_open]
        turned = rules.forbidden[parents, later]  # numbers are no parents of labels
        parents, later = np.where(turned, later, parents), np.where(turned, parents, later)
        pairs = replace(families_of_one_size(later, parents[:, None]), once=True)
        scores = score_in_parts(scorer, pairs, lambda: watch.look(0))
        if scores is None:
            return None
        gains[pairs.children, parents] = gains[parents, pairs.children] = scores - alone[pairs.children]
    allowed = strongest(gains, most)
    allowed |= allowed.T
    for child, of in enumerate(rules.start.parents):
        allowed[list(of), child] = True
    return replace(rules, forbidden=rules.forbidden | ~allowed)


def _blocks(n: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of children whose pairs with those before them are not too many to be scored at once."""
    begin = 1
    while begin < n:
        end, pairs = begin + 1, begin
        while end < n and pairs <= PAIRS_AT_ONCE:
            pairs += end
            end += 1
        yield begin, end
        begin = end


def strongest(gains: Array, most: int) -> npt.NDArray[np.bool_]:
    """Mark the highest gains of every row, at most so many and only finite ones; the first among those that tie."""
    n = len(gains)
    if most >= n:
        return np.isfinite(gains)
    marked = np.zeros((n, n), dtype=bool)
    for row, chosen in zip(gains, marked, strict=True):
        least = np.partition(row, n - most)[n - most]
        if np.isneginf(least):
            chosen[:] = np.isfinite(row)
            continue
        chosen[:] = row > least + tie(least)
        level = np.flatnonzero(np.abs(row - least) <= tie(least))
        chosen[level[: most - int(chosen.sum())]] = True
    return marked
