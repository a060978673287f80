"""A search over structures, and the one driver that runs it.

A search never touches data. It says which families it wants scored, is told the scores, and moves. Progress, time
limits and Ctrl-C live in the driver and nowhere else.

What the two ways of exact search have in common: progress, a deadline, and a word on how far they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import FishernetError
from fishernet.base.progress import Progress, Reporter
from fishernet.data import TableCounts
from fishernet.graphs import Dag
from fishernet.scores import Families, LocalScores

WORK_AT_ONCE = 1_000_000_000  # rows times families between two looks at the clock
MOST_AT_ONCE = 65_536  # families, however few rows there are


class Search(Protocol):
    """A search over directed acyclic graphs.

    Attributes
    ----------
    best : Dag
        The best graph so far; the start, before anything was told.
    score : float
        Its score; NaN before anything was told.
    steps : int
        How many steps were made, those in vain too.
    """

    @property
    def best(self) -> Dag:
        """The best graph so far."""
        ...

    @property
    def score(self) -> float:
        """Its score."""
        ...

    @property
    def steps(self) -> int:
        """How many steps were made."""
        ...

    def wanted(self) -> Families:
        """Return the families whose scores are needed before the next step; empty when the search is finished."""
        ...

    def tell(self, scores: npt.NDArray[np.float64]) -> None:
        """Take the scores of the wanted families, (n_families,), and move."""
        ...

    def trace(self) -> tuple[Step, ...]:
        """Return the steps from the start to the best graph so far."""
        ...


@dataclass(frozen=True)
class Step:
    """One step of a search.

    Attributes
    ----------
    kind : str
        "add", "remove" or "reverse"; in a search over orders also "order" and "move".
    parent, child : str
        The arc as it was before the step (as it came, for an addition). Of a move: the variable that `child` was put
        after ("" when it was put first), and the variable. Of the step to the graph of a graph's order: nothing.
    gain : float
        By how much the score rose, in nats. Of the random moves of a restart, the last has the gain of all.
    """

    kind: str
    parent: str
    child: str
    gain: float


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    dag : Dag
        The best graph.
    score : float
        Its score in nats.
    steps : tuple of Step
        The way there from the start, without what was in vain; their gains add up to that of the score.
    n_scores : int
        How many distinct local scores were computed; those that chose the candidates are counted apart.
    finished : bool
        False when the time limit ended the search.
    seconds : float
        How long it took.
    seed : int or None
        The seed that repeats it; None when the search never draws.
    """

    dag: Dag
    score: float
    steps: tuple[Step, ...]
    n_scores: int
    finished: bool
    seconds: float
    seed: int | None = None

    def to_frame(self) -> pa.Table:
        """Return the steps, one row each, as a pyarrow Table."""
        fields = ("kind", "parent", "child", "gain")
        return pa.table({field: [getattr(step, field) for step in self.steps] for field in fields})


def run_search(
    search: Search, scores: LocalScores, *, max_seconds: float | None = None, progress: Progress | None = None
) -> SearchResult:
    """Run a search to its end, or until the time is over.

    Parameters
    ----------
    search : Search
    scores : LocalScores
        Scores the families that the search wants.
    max_seconds : float, optional
        After this time the best graph so far is the result.
    progress : callable, optional
        ``progress("learning the structure", steps, None)``.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C; its attribute ``best`` is the best graph so far.
    """
    if max_seconds is not None and not max_seconds >= 0:
        raise FishernetError(f"max_seconds must not be negative, got {max_seconds}", parameter="max_seconds")
    began = time.monotonic()
    reporter = Reporter(progress, "learning the structure")
    try:
        finished = _drive(search, scores, reporter, None if max_seconds is None else began + max_seconds)
    except KeyboardInterrupt as interrupt:
        interrupt.best = search.best  # type: ignore[attr-defined]
        raise
    reporter.finish(search.steps)
    return SearchResult(
        search.best, search.score, search.trace(), scores.n_distinct, finished, time.monotonic() - began
    )


def _drive(search: Search, scores: LocalScores, reporter: Reporter, deadline: float | None) -> bool:
    """Loop until the search wants nothing more; False when the deadline came first."""
    families = search.wanted()
    while len(families):
        answers = score_families(families, scores, lambda: reporter.step(search.steps), deadline)
        if answers is None:
            return False
        search.tell(answers)
        families = search.wanted()
    return True


@overload
def score_families(
    families: Families, scores: LocalScores, after_part: Callable[[], None]
) -> npt.NDArray[np.float64]: ...
@overload
def score_families(
    families: Families, scores: LocalScores, after_part: Callable[[], None], deadline: float | None
) -> npt.NDArray[np.float64] | None: ...
def score_families(
    families: Families, scores: LocalScores, after_part: Callable[[], None], deadline: float | None = None
) -> npt.NDArray[np.float64] | None:
    """Score families part by part, with a call after each; None when the deadline came first."""
    answers = []
    for part in _parts(families, scores):
        if deadline is not None and time.monotonic() >= deadline:
            return None
        answers.append(scores(part))
        after_part()
    return answers[0] if len(answers) == 1 else np.concatenate(answers)


def _parts(families: Families, scores: LocalScores) -> Iterator[Families]:
    """Cut a long list so that the clock can be looked at; a source that is not in memory gets it whole."""
    size = len(families)
    if isinstance(scores.source, TableCounts):
        size = min(MOST_AT_ONCE, max(256, WORK_AT_ONCE // max(1, scores.source.table.n_rows)))
    if size >= len(families):
        yield families
        return
    for begin in range(0, len(families), size):
        yield families[begin : begin + size]


WHAT = "exact search"


class Watch:
    """Tells progress and looks at the clock.

    Parameters
    ----------
    progress : callable or None
    deadline : float or None
        When the time is over, by `time.monotonic`.
    """

    def __init__(self, progress: Progress | None, deadline: float | None) -> None:
        self._reporter = Reporter(progress, WHAT)
        self._deadline = deadline

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    @property
    def deadline(self) -> float | None:
        """When the time is over."""
        return self._deadline

    def tell(self, done: float, total: float | None) -> None:
        """Say how far the work is; total is None while nobody knows."""
        self._reporter.step(round(done), None if total is None else round(total))

    def finish(self, done: float) -> None:
        """Say that the work is complete."""
        self._reporter.finish(round(done))


class Run(Protocol):
    """One of the two ways."""

    @property
    def n_scores(self) -> int:
        """How many families there were to choose from, as far as they were looked at."""
        ...

    @property
    def how_far(self) -> str:
        """How far it is: "43% of the exact search was done"."""
        ...

    def parents(self) -> list[list[int]] | None:
        """Return the best network's parents; None when the time was over first."""
        ...
