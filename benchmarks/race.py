"""What a race is: its data, the calls of all who take part, how an answer is checked, and what is hoped for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from benchmarks.calls import Array, Call, Data, Result
from benchmarks.environment import OURS

Verdict = tuple[bool, str]  # whether an answer is right, and what is known of it


@dataclass(frozen=True)
class Told:
    """An answer, and what is needed to check it."""

    data: Data
    label: str
    answer: Any
    answers: Mapping[str, Any]  # those of all, by label


@dataclass(frozen=True)
class Run:
    """One contender's run, in one of its forms and at one setting."""

    label: str  # the contender's name, and behind it in brackets the form, where it has several
    threads: int
    result: Result | None
    reason: str = ""  # why there is no result
    verdict: Verdict | None = None

    @property
    def title(self) -> str:
        """Who it was, with how many threads."""
        return self.label + (f", {self.threads} thread{'s' * (self.threads > 1)}" if self.threads else "")

    @property
    def seconds(self) -> float | None:
        """The median time, where the answer is not wrong."""
        wrong = self.verdict is not None and not self.verdict[0]
        return None if self.result is None or wrong else median(self.result["seconds"])


@dataclass(frozen=True)
class Target:
    """What a race is to show."""

    wish: str
    value: Callable[[Sequence[Run]], float]  # what came out; NaN where there is nothing to tell it by
    met: Callable[[float], bool]
    show: Callable[[float], str]

    def judged(self, runs: Sequence[Run]) -> tuple[str, str, bool]:
        """Return the wish, what came out, and whether it was met; without anything to compare with it is."""
        value = self.value(runs)
        if math.isnan(value):
            return self.wish, "nothing to compare with", True
        return self.wish, self.show(value), bool(self.met(value))


@dataclass(frozen=True)
class Race:
    """Calls that are timed on the same data."""

    data: Callable[[], Data]
    ours: Call | Mapping[str, Call]  # or several by label
    check: Callable[[Told], Verdict]
    peers: Mapping[str, str] = field(default_factory=dict)  # by label, the name of the peer's call
    targets: Sequence[Target] = ()
    title: str = ""
    needs: str = "--quick"  # always run; "": left out of quick runs; "--full": only run when that is said
    skipped: Mapping[str, str] = field(default_factory=dict)  # by label, why it does not start; "minutes": with --full
    tells: bool = False  # whether what is known of an answer stands beside its time

    @property
    def calls(self) -> Mapping[str, Call]:
        """Our calls by label."""
        return {OURS: self.ours} if isinstance(self.ours, Call) else self.ours

    def heading(self, data: Data) -> str:
        """Return what the row of a race is called."""
        return ": ".join(filter(None, (data.title, self.title)))


def calls_of(races: Sequence[Race]) -> dict[str, Call]:
    """Return our calls of a topic, by the race's place and the label: what a worker looks them up by."""
    return {f"{place} {label}": call for place, race in enumerate(races) for label, call in race.calls.items()}


def difference(found: Any, expected: Any) -> float:
    """Return the largest difference, relative where numbers exceed 1; NaN counts as infinitely far."""
    a, b = flat(found), flat(expected)
    return float(np.nan_to_num(np.abs(a - b) / np.maximum(1.0, np.abs(b)), nan=np.inf).max(initial=0.0))


def flat(numbers: Any) -> Array:
    """Return numbers, or lists of arrays of any shapes, one after another."""
    parts = [flat(part) for part in numbers] if isinstance(numbers, list | tuple) else [np.ravel(numbers)]
    return np.concatenate(parts).astype(np.float64)


def agrees(expected: Callable[[Told], Any] | None = None, tolerance: float = 1e-9) -> Callable[[Told], Verdict]:
    """Hold numbers to what is expected; without that everyone's to ours, and ours to those of a peer."""

    def check(told: Told) -> Verdict:
        rivals = [label for label in told.answers if (label == OURS) != (told.label == OURS)]
        if expected is None and not rivals:
            return True, "nothing to compare with"
        off = difference(told.answer, expected(told) if expected else told.answers[rivals[0]])
        return off <= tolerance, f"agrees with {'another computation' if expected else rivals[0]} to {off:.0e}"

    return check


def same(call: str, *names: str) -> dict[str, str]:
    """Return peers whose calls have one name."""
    return dict.fromkeys(names, call)


def duration(seconds: float) -> str:
    """Return a time with three digits in a fitting unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def best(runs: Sequence[Run], *names: str) -> Run | None:
    """Return the fastest run of some contenders, or forms of one, each at its best setting."""
    found = [run for run in runs if (run.label in names or run.label.split(" (")[0] in names) and run.seconds]
    return min(found, key=lambda run: run.seconds or 0.0, default=None)


def seconds(runs: Sequence[Run], *names: str) -> float:
    found = best(runs, *names)
    return (found and found.seconds) or math.nan


def faster(times: float, *names: str) -> Target:
    """So many times as fast as the fastest of some contenders."""
    wish = f"{times:g} x as fast as {', '.join(names)}"
    return Target(wish, lambda r: seconds(r, *names) / seconds(r, OURS), lambda x: x >= times, "{:.3g} x".format)


def below(limit: float) -> Target:
    """Below so many seconds."""
    return Target(f"below {duration(limit)}", lambda runs: seconds(runs, OURS), lambda x: x < limit, duration)


def rate(count: int, least: float) -> Target:
    """So many a second, of what is done so often in a call."""
    wish, show = f"{least / 1e6:.0f} million a second", lambda x: f"{x / 1e6:.0f} million"
    return Target(wish, lambda runs: count / seconds(runs, OURS), lambda x: x >= least, show)


def memory(limit: float) -> Target:
    """Peak below so many bytes beyond the data."""

    def value(runs: Sequence[Run]) -> float:
        used = [run.result["extra_bytes"] for run in runs if run.label == OURS and run.result]
        return max((x for x in used if x), default=math.nan)

    return Target(f"below {limit / 1e6:.0f} MB", value, lambda x: x < limit, lambda x: f"{x / 1e6:.0f} MB")


def within(times: float, form: str, of: str) -> Target:
    """At most so many times as long as another form takes, at every setting."""

    def value(runs: Sequence[Run]) -> float:
        other = {run.threads: run.seconds for run in runs if run.label == of}
        ratios = [
            run.seconds / (other.get(run.threads) or math.nan) for run in runs if run.label == form and run.seconds
        ]
        return max(ratios, default=math.nan)

    return Target(f"{form} within {times:g} x {of}", value, lambda x: x <= times, "{:.2f} x".format)
