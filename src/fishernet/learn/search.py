"""What a search over structures is: it is given somebody to score families, rules and a watch, and returns a result.

A search calls the scorer, which blocks until it knows and remembers what it knew before. It looks at the watch now and
then: there are the progress, the deadline and Ctrl-C. The searches over arcs and orders live in the core; over a table
they count there too, so that such a run never comes back to Python but to look at the watch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import Framed, page
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import several
from fishernet.base.progress import Interrupted, Resumable, Watch
from fishernet.data import Source
from fishernet.graphs import Dag
from fishernet.learn.rules import Rules
from fishernet.scores import Families, Score
from fishernet.scores.base import CoreTerm

Array = npt.NDArray[np.float64]

WORK_AT_ONCE = 1_000_000_000  # rows times families between two looks at the clock
MOST_AT_ONCE = 65_536  # families, however few rows there are
KINDS = ("add", "remove", "reverse", "order", "move")


class Scorer(Protocol):
    """Who scores families, each of them once (`fishernet.scores.LocalScores`)."""

    @property
    def source(self) -> Source:
        """The data."""

    @property
    def score(self) -> Score:
        """The score."""

    @property
    def in_core(self) -> tuple[_core.Columns, CoreTerm] | None:
        """Where the core counts and scores in one pass: the rows, and the score in its words."""

    @property
    def of_sets(self) -> bool:
        """Whether scores are differences of terms of sets."""

    @property
    def n_distinct(self) -> int:
        """How many distinct families were scored."""

    def __call__(self, families: Families) -> Array:
        """Return the scores of families, (n_families,) float64."""

    def for_core(self) -> _core.SetTerms | _core.MixedScores | Callable[..., Array]:
        """Return what the core calls: its own counting, or a function of children, offsets and parents."""


class Search(Protocol):
    """A search over directed acyclic graphs: a frozen object whose fields are its options.

    A class that names it as its base has `run`, and changes the other two where they do not hold.
    """

    def run(self, scorer: Scorer, rules: Rules, watch: Watch) -> SearchResult:
        """Find a graph that keeps the rules.

        ``watch.look(steps)`` is True when the time is over; then the best graph so far is the result. On Ctrl-C
        `fishernet.base.progress.Interrupted` carries it. A search that can go on from a state of its own works within
        ``watch.over(work)`` (`fishernet.base.progress.Resumable`); any other begins anew when it was stopped.
        """
        ...

    def refining(self) -> Search:
        """Return the search that improves a graph that is good already, in the rounds of structural EM."""
        return self

    def seeded(self, seed: int) -> Search:  # noqa: ARG002
        """Return the same search with another seed; a search that draws nothing stays as it is."""
        return self


@dataclass(frozen=True)
class Step:
    """One step of a search."""

    kind: str
    """What was done: "add", "remove" or "reverse"; in a search over orders also "order" and "move". "exact" is the step
    to a better graph that exact search found."""
    parent: str
    child: str
    """The arc as it was before the step (as it came, for an addition). Of a move: the variable that `child` was put
    after ("" when it was put first), and the variable. Of the steps to the graph of an order, and to that of exact
    search, nothing."""
    gain: float
    """By how much the score rose, in nats."""


@dataclass(frozen=True, repr=False)
class SearchResult(Framed):
    """What a search found."""

    dag: Dag
    """The best graph."""
    score: float
    """Its score in nats; NaN when there was no time to score one."""
    steps: tuple[Step, ...]
    """The way there from the start, without steps that led to nothing; their gains add up to that of the score."""
    n_scores: int
    """How many distinct local scores were computed; those that chose the candidates are counted apart. Of a search that
    went on from a checkpoint: since then, as is `seconds`."""
    finished: bool
    """False when the time limit ended the search."""
    seconds: float
    """How long it took."""
    seed: int | None = None
    """The seed that repeats it; None when the search never draws."""
    bound: float | None = None
    """No graph that keeps the rules has a higher score; None where nothing is proven."""

    @property
    def gap(self) -> float | None:
        """By how many nats the best graph of all may be better; 0 where this one is proven to be it; None: unknown."""
        return None if self.bound is None else max(0.0, self.bound - self.score)

    @property
    def proof(self) -> str:
        """What is known of the best graph of all, in words; empty where nothing is."""
        if self.gap is None:
            return ""
        return "proven best" if self.finished else f"within {self.gap:,.2f} nats of the best"

    def __repr__(self) -> str:
        size = f"{several(len(self.dag.names), 'variable')}, {several(self.dag.n_edges, 'arc')}"
        work = f"{several(len(self.steps), 'step')}, {several(self.n_scores, 'local score')}"
        end = "finished" if self.finished else "stopped by the time limit"
        end += f", {self.proof}" if self.proof else ""
        return f"SearchResult({size}, score {self.score:,.4f}; {work}, {self.seconds:.2f} s, {end})"

    def _repr_html_(self) -> str:
        return page(repr(self), self.dag._repr_html_())

    def to_frame(self) -> pa.Table:
        """Return the steps, one row each, as a pyarrow Table."""
        fields = ("kind", "parent", "child", "gain")
        return pa.table({field: [getattr(step, field) for step in self.steps] for field in fields})


class CoreSearch(Resumable, Protocol):
    """A search of the core (`core/search`)."""

    @property
    def parents(self) -> list[list[int]]: ...  # noqa: D102
    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def n_steps(self) -> int: ...  # noqa: D102
    @property
    def steps(self) -> list[tuple[int, int, int, float]]: ...  # noqa: D102
    def run(self, scorer: Any, watch: Callable[[int], bool]) -> bool: ...  # noqa: D102


def run_in_core(search: CoreSearch, scorer: Scorer, rules: Rules, watch: Watch, seed: int | None) -> SearchResult:
    """Run a search of the core to its end, or until its time is over."""
    names = rules.names
    try:
        with watch.over(search) as look:
            finished = search.run(scorer.for_core(), look)
    except KeyboardInterrupt:
        best = Dag(names, search.parents)
        raise Interrupted(best=best, size=several(best.n_edges, "arc")) from None
    watch.finish(search.n_steps)
    steps = tuple(
        Step(KINDS[kind], names[parent] if parent >= 0 else "", names[child] if child >= 0 else "", gain)
        for kind, parent, child, gain in search.steps
    )
    dag = Dag(names, search.parents)
    return SearchResult(dag, search.score, steps, scorer.n_distinct, finished, watch.seconds, seed)


@overload
def score_in_parts(scorer: Scorer, families: Families, look: Callable[[], None]) -> Array: ...
@overload
def score_in_parts(scorer: Scorer, families: Families, look: Callable[[], bool]) -> Array | None: ...
def score_in_parts(scorer: Scorer, families: Families, look: Callable[[], bool | None]) -> Array | None:
    """Score a long list part by part, with a look at the watch before each; None when the time was over.

    A source that is not in memory gets the list whole.
    """
    size = len(families)
    if scorer.in_core is not None:
        size = min(MOST_AT_ONCE, max(256, int(WORK_AT_ONCE // max(1, scorer.source.total))))
    answers = []
    for begin in range(0, max(1, len(families)), max(1, size)):
        if look():
            return None
        answers.append(scorer(families if size >= len(families) else families[begin : begin + size]))
    return answers[0] if len(answers) == 1 else np.concatenate(answers)


def families_of_one_size(children: npt.NDArray[np.integer[Any]], parents: npt.NDArray[np.integer[Any]]) -> Families:
    """Return the families of children (m,), each with a row of parents (m, p), ascending."""
    n, size = parents.shape
    offsets = np.arange(n + 1, dtype=np.int64) * size
    return Families(children.astype(np.int32), offsets, parents.astype(np.int32).ravel())


def joined_families(parts: Sequence[Families]) -> Families:
    """Return lists of families one after the other."""
    ends = np.cumsum([0, *(len(part.parents) for part in parts)])
    offsets = [part.offsets[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return Families(
        np.concatenate([part.children for part in parts]),
        np.concatenate([*offsets, ends[-1:]]).astype(np.int64),
        np.concatenate([part.parents for part in parts]),
    )


def tie(*scores: float) -> float:
    """Return the difference below which two scores of such a size are equal, in nats."""
    largest = max(map(abs, scores))
    return max(1e-9, 1e-12 * largest) if math.isfinite(largest) else 1e-9


def first_best(scores: Array, size: float = 0.0) -> int:
    """Return the first position whose score ties with the largest; scores are differences of numbers of some size."""
    if not len(scores):
        return 0
    top = float(scores.max())
    return int(np.argmax(scores >= top - tie(top, size)))


def column_names(source: Source) -> tuple[str, ...]:
    """Return the names of the variables to learn from; raise SchemaError when there are none."""
    if not source.variables:
        raise SchemaError("the table has no columns to learn from")
    return source.names


def check_options(restarts: int | None, perturb: int | None, candidates: int | None) -> None:
    """Raise FishernetError unless all are sensible; a perturbation that would never happen is not."""
    if candidates is not None:
        check.integer(candidates, "candidates", least=1)
    if restarts is not None:
        check.integer(restarts, "restarts", least=0)
    if perturb is not None and check.integer(perturb, "perturb", least=1) and restarts == 0:
        message = "perturb is how much a restart changes, and there are none; say restarts as well"
        raise FishernetError(message, parameter="perturb")
