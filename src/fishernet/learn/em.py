"""Expectation and maximization: what fitting a model with hidden states is, whatever the model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import SchemaError, warn
from fishernet.base.names import several
from fishernet.base.progress import Interrupted, Progress, Watch
from fishernet.base.random import Seed, fixed_seed
from fishernet.models.sequences.alphabet import Alphabet

Numbers = npt.NDArray[np.float64]
Model = TypeVar("Model")
Counts = TypeVar("Counts")

FIRST_REACH = 4.0  # how many steps the first leap may be worth
MOST_REACH = 2.0**40  # likewise of any: its square is a number
PATIENCE = 20  # evaluations without a better one, after which the best before them is taken
VANISHED = 1e-60  # a probability below it that no string needs becomes 0; so does the count of a row that is not used


@dataclass(frozen=True, eq=False, repr=False)
class EmResult(Generic[Model], Framed):
    """What expectation and maximization found."""

    model: Model
    """The best of all restarts."""
    log_likelihood: float
    """Of all strings together under the model, in nats."""
    trace: tuple[float, ...]
    """The objective of the model before each step, and at the end. It never falls but by rounding."""
    converged: bool
    """Whether a step gained less than the tolerance before the steps (or the time) were over."""
    restarts: tuple[float, ...]
    """The last objective of each restart."""
    seconds: float
    """How long it took."""
    seed: int | None
    """The seed that repeats it; None when nothing was drawn."""
    finished: bool = True
    """False when the time limit ended the work: this is the best so far."""
    scores: Mapping[tuple[int, ...], float] = field(default_factory=dict)
    """Where the numbers of states of hidden variables were chosen: the BIC of every choice that was tried, in nats,
    larger is better. A choice has one number per hidden variable, in their order."""

    def __repr__(self) -> str:
        end = "converged" if self.converged else "not converged"
        end += "" if self.finished else ", stopped by the time limit"
        work = f"{several(len(self.trace) - 1, 'step')}, {self.seconds:.2f} s, {end}"
        tried = f"; the best of {several(len(self.scores), 'number')} of hidden states by BIC" if self.scores else ""
        return f"EmResult({self.model!r}, log-likelihood {self.log_likelihood:,.4f}; {work}{tried})"

    @property
    def objective(self) -> float:
        """The log-likelihood with the prior's term, which is what is maximized.

        The term is ``smoothing`` times the sum of the logarithms of the parameters that are not 0.
        """
        return self.trace[-1]

    def to_frame(self) -> pa.Table:
        """Return the trace, one row a step, as a pyarrow Table."""
        return pa.table({"step": list(range(len(self.trace))), "objective": list(self.trace)})


class Steps(Protocol[Model, Counts]):
    """The two steps for one kind of model and some strings."""

    def expected(self, model: Model) -> tuple[float, Counts]:
        """Return the log-likelihood of all strings, and the expected counts."""

    def maximized(self, model: Model, counts: Counts) -> Model:
        """Return the model that maximizes the expected log-likelihood (with the prior)."""

    @property
    def size(self) -> int:
        """The number of symbols in all strings, or of known cells in all rows, for the tolerance; 0: there are none."""

    def log_prior(self, model: Model) -> float:
        """Return what the prior adds to the log-likelihood, up to a constant."""


MOST_STATES = 2**14  # hidden ones: a table of moves has their square


@dataclass(frozen=True)
class Effort:
    """How far a fit goes."""

    restarts: int
    """How many random models are fitted."""
    max_steps: int
    """Steps of each restart."""
    tolerance: float
    """A restart ends when a step gains less than this, in nats a symbol or cell.

    Where more is added to the counts than `Steps.log_prior` knows of, steps may lose as well: after 20 that bring
    nothing better the best before them is taken."""
    began: float = field(default_factory=time.monotonic)
    """When the work began."""

    def __post_init__(self) -> None:
        for name in ("restarts", "max_steps"):
            check.integer(getattr(self, name), name, least=1)
        check.number(self.tolerance, "tolerance", least=0)


def log_prior(parameters: Iterable[Numbers], smoothing: float) -> float:
    """Return the logarithm of a Dirichlet prior, `smoothing` being its parameters less one; zeros stay zeros."""
    if not smoothing:
        return 0.0
    return smoothing * sum(float(np.log(values[values > 0]).sum()) for values in parameters)


Leap = Callable[[Model, Model, Model, float], Model]


def fit(
    what: str,
    steps: Steps[Model, Counts],
    effort: Effort,
    *,
    start: Model | None,
    drawn: Callable[[np.random.Generator], Model],
    seed: Seed,
    progress: Progress | None = None,
    leap: Leap[Model] | None = None,
    watch: Watch | None = None,
) -> EmResult[Model]:
    """Improve a start, or random ones, until a step gains too little, and return the best; the first of equals.

    `leap` extrapolates three models that follow one another, by at most so many steps; where that would lose, it is not
    done. When the time of the watch is over, the best so far is returned; on Ctrl-C it is the attribute ``best`` of the
    interrupt.

    Progress is told ``("fitting " + what, done, total)``, in steps; or the watch, where one is given.
    """
    repeated = fixed_seed(seed) if start is None else None
    random = np.random.default_rng(repeated)
    starts = [drawn(random) for _ in range(effort.restarts)] if start is None else [start]
    if not steps.size:
        raise SchemaError(f"{what} is fitted to strings or rows; there is none")
    watch = Watch(progress, f"fitting {what}") if watch is None else watch
    total, done = effort.max_steps * len(starts), 0

    def late(step: int) -> bool:
        return watch.look(done + step, total)

    runs: list[EmResult[Model]] = []
    try:
        for begin in starts:
            runs.append(_improve(begin, steps, effort, late, leap, runs))
            done += effort.max_steps
            if watch.late:
                break
    except KeyboardInterrupt:
        best = max(runs, key=lambda run: run.objective).model if runs else starts[0]
        raise Interrupted(best=best) from None
    best_run = max(runs, key=lambda run: run.objective)
    watch.finish(sum(len(run.trace) - 1 for run in runs))
    return replace(
        best_run,
        restarts=tuple(run.objective for run in runs),
        seconds=time.monotonic() - effort.began,
        seed=repeated,
        finished=len(runs) == len(starts) and all(run.finished for run in runs),
    )


def _improve(
    start: Model,
    steps: Steps[Model, Counts],
    effort: Effort,
    late: Callable[[int], bool],
    leap: Leap[Model] | None,
    runs: list[EmResult[Model]],
) -> EmResult[Model]:
    """Return what becomes of one start; what was reached when it is interrupted is added to the runs."""

    def looked_at(model: Model) -> tuple[Model, float, Counts, float]:
        log_likelihood, counts = steps.expected(model)
        return model, log_likelihood, counts, log_likelihood + steps.log_prior(model)

    def so_far() -> EmResult[Model]:
        seconds = time.monotonic() - effort.began
        return EmResult(now[0], now[1], tuple(trace), converged, (trace[-1],), seconds, None, finished=not stopped)

    now = best = looked_at(start)
    trace, converged, reach, stopped, since = [now[3]], False, FIRST_REACH, late(0), 1
    try:
        while len(trace) <= effort.max_steps and not converged and not stopped:
            if now[3] > best[3]:
                best, since = now, len(trace)
            elif len(trace) - since >= PATIENCE:
                now, converged = best, True
                del trace[since:]
                break
            before, now = now, looked_at(steps.maximized(now[0], now[2]))
            trace.append(now[3])
            converged = abs(trace[-1] - trace[-2]) < effort.tolerance * steps.size
            stopped = late(len(trace) - 1) and not converged
            if leap is None or converged or stopped or len(trace) > effort.max_steps:
                continue
            later = steps.maximized(now[0], now[2])
            try:
                far = looked_at(leap(before[0], now[0], later, reach))
            except np.linalg.LinAlgError:  # so far that columns are collinear
                far = (*now[:3], -math.inf)
            gains = far[3] >= now[3]
            reach = min(4 * reach, MOST_REACH) if gains else max(FIRST_REACH, reach / 4)
            now = far if gains else looked_at(later)
            trace.append(now[3])
            stopped = late(len(trace) - 1)
    except KeyboardInterrupt:
        runs.append(so_far())
        raise
    return so_far()


def warn_of_stop(found: EmResult[Any], max_seconds: float | None) -> None:
    """Warn of a fit that the time limit ended."""
    if not found.finished:
        end = "converged" if found.converged else "has not converged"
        warn(
            f"stopped by max_seconds={math.nan if max_seconds is None else max_seconds:g}: the fit is the best of "
            f"{several(len(found.restarts), 'start')} so far, and {end}; give more time, or ask for fewer restarts",
            parameter="max_seconds",
        )


def weights(counts: Numbers, parameters: Numbers, smoothing: float) -> Numbers:
    """Return smoothed counts, 0 where the parameter is."""
    return np.where(parameters > 0, counts + smoothing, 0.0)


def shares(counts: Numbers, parameters: Numbers, smoothing: float) -> Numbers:
    """Return the parameters that maximize the expected log-likelihood; rows that are not used stay."""
    smoothed = weights(counts, parameters, smoothing)
    sums = smoothed.sum(axis=-1, keepdims=True)
    found: Numbers = np.divide(smoothed, sums, out=parameters.copy(), where=sums > VANISHED)
    found[found < VANISHED] = 0.0
    return found


def random_emission(
    frequency: npt.NDArray[np.floating[Any]], lead: tuple[int, ...], random: np.random.Generator
) -> Numbers:
    """Return random distributions of symbols, (*lead, n_symbols), about as frequent as they are."""
    emission = frequency * np.exp(random.normal(0.0, 0.7, (*lead, len(frequency))))
    scaled: Numbers = emission / emission.sum(axis=-1, keepdims=True)
    return scaled


def chosen_alphabet(
    strings: Sequence[Sequence[Hashable]],
    alphabet: Iterable[Hashable] | Alphabet | None,
    *,
    but: Hashable | None = None,
    unknown: Hashable | None = None,
) -> Alphabet:
    """Return the alphabet given, or that of the symbols that occur (but one), and what to do about others."""
    return Alphabet.of(Alphabet.seen(strings, but=but) if alphabet is None else alphabet, unknown=unknown)
