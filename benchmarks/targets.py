"""Whether the targets of a race were met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.checks import Verdict
from benchmarks.contenders import OURS
from benchmarks.process import Outcome
from benchmarks.races import Race, Target, who


@dataclass(frozen=True)
class Entry:
    """One contender's run of one race."""

    race: Race
    contender: str
    form: str
    """Which of its ways it went, where it has several."""
    threads: int
    outcome: Outcome
    verdict: Verdict | None = None

    @property
    def name(self) -> str:
        """Who it was, in which form."""
        return who(self.contender, self.form)

    @property
    def label(self) -> str:
        """Who it was, with how many threads."""
        if not self.threads:
            return self.name
        return f"{self.name}, {self.threads} thread{'s' if self.threads > 1 else ''}"

    @property
    def valid(self) -> bool:
        """Whether there is a time, of a right answer."""
        return self.outcome.result is not None and (self.verdict is None or self.verdict.right)


def duration(seconds: float) -> str:
    """Return a time with three digits in a fitting unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def fastest(entries: Iterable[Entry], race: Race, names: Sequence[str]) -> Entry | None:
    """Return the fastest valid run of a race among some contenders (or forms of one), each at its best setting."""
    mine = [entry for entry in entries if entry.race is race and entry.valid]
    found = [entry for entry in mine if entry.contender in names or entry.name in names]
    return min(found, key=lambda entry: entry.outcome.seconds or 0.0, default=None)


def ratio(entries: Sequence[Entry], race: Race, names: Sequence[str]) -> tuple[float, Entry] | None:
    """Return how many times faster than the fastest of some contenders we are, and which that is."""
    ours, theirs = fastest(entries, race, [OURS]), fastest(entries, race, names)
    if ours is None or theirs is None or not ours.outcome.seconds or not theirs.outcome.seconds:
        return None
    return theirs.outcome.seconds / ours.outcome.seconds, theirs


def runs(entries: Iterable[Entry], race: Race, contender: str) -> list[Entry]:
    """Return a contender's runs of a race that count."""
    return [entry for entry in entries if entry.race is race and entry.contender == contender and entry.valid]


def slowdown(entries: Sequence[Entry], race: Race, contender: str) -> float | None:
    """Return the worst ratio of a contender's times beside a busy process and without, over its settings."""
    idle_races = [entry.race for entry in entries if entry.race.job is race.job and not entry.race.busy]
    idle = {run.threads: run.outcome.seconds for other in idle_races for run in runs(entries, other, contender)}
    pairs = [(run.outcome.seconds, idle.get(run.threads)) for run in runs(entries, race, contender)]
    return max((beside / before for beside, before in pairs if beside and before), default=None)


def extra_bytes(entries: Iterable[Entry], race: Race) -> int | None:
    """Return our peak memory beyond the data, over our settings."""
    results = [run.outcome.result for run in runs(entries, race, OURS)]
    return max((result["extra_bytes"] for result in results if result and result["extra_bytes"]), default=None)


@dataclass(frozen=True)
class Comparison:
    """A target beside what became of it."""

    wanted: str
    got: str
    met: bool | None
    """None: there is nothing to tell it by."""


def compare(entries: Sequence[Entry], race: Race, target: Target) -> Comparison:
    """Hold a race's outcome against one of its targets."""
    wanted, measured = wish(target), None
    if not runs(entries, race, OURS):
        return Comparison(wanted, "no valid run", False)
    if target.ratio is not None:
        measured = measured_ratio(entries, race, target)
    elif target.seconds is not None:
        measured = measured_seconds(entries, race, target.seconds)
    elif target.extra_bytes is not None:
        measured = measured_bytes(entries, race, target.extra_bytes)
    elif target.rate is not None:
        measured = measured_rate(entries, race, target.rate)
    elif target.score is not None:
        measured = measured_score(entries, race, target.score)
    elif target.times is not None:
        measured = measured_times(entries, race, target)
    elif target.slowdown is not None:
        measured = measured_slowdown(entries, race, target.slowdown)
    return Comparison(wanted, "nothing to compare with", None) if measured is None else Comparison(wanted, *measured)


def wish(target: Target) -> str:
    """Return a target in words."""
    if target.ratio is not None:
        return f"at least {target.ratio:g} x as fast as the fastest of {', '.join(target.against)}"
    if target.seconds is not None:
        return f"below {duration(target.seconds)}"
    if target.extra_bytes is not None:
        return f"below {target.extra_bytes / 1e6:.0f} MB beyond the table"
    if target.rate is not None:
        return f"at least {target.rate / 1e6:.0f} million a second"
    if target.score is not None:
        return f"a score of at least {target.score:.3f}, the generating network's graph's"
    if target.times is not None:
        return f"{target.timed}: at most {target.times:g} x the time of {target.form}"
    return f"at most {target.slowdown:g} x the time on the idle machine"


def measured_ratio(entries: Sequence[Entry], race: Race, target: Target) -> tuple[str, bool] | None:
    found = ratio(entries, race, target.against)
    return None if found is None else (f"{found[0]:.3g} x ({found[1].label})", found[0] >= (target.ratio or 0.0))


def measured_seconds(entries: Sequence[Entry], race: Race, limit: float) -> tuple[str, bool] | None:
    best = fastest(entries, race, [OURS])
    if best is None or best.outcome.seconds is None:
        return None
    return duration(best.outcome.seconds), best.outcome.seconds < limit


def measured_bytes(entries: Sequence[Entry], race: Race, limit: float) -> tuple[str, bool] | None:
    used = extra_bytes(entries, race)
    return None if used is None else (f"{used / 1e6:.0f} MB", used < limit)


def measured_rate(entries: Sequence[Entry], race: Race, limit: float) -> tuple[str, bool] | None:
    best = fastest(entries, race, [OURS])
    if best is None or best.outcome.result is None or not best.outcome.seconds:
        return None
    rate = best.outcome.result["count"] / best.outcome.seconds
    return f"{rate / 1e6:.0f} million a second", rate >= limit


def measured_score(entries: Sequence[Entry], race: Race, least: float) -> tuple[str, bool] | None:
    scores = [run.outcome.result["score"] for run in runs(entries, race, OURS) if run.outcome.result]
    return (f"{min(scores):.3f}", min(scores) >= least) if scores else None


def measured_times(entries: Sequence[Entry], race: Race, target: Target) -> tuple[str, bool] | None:
    """Compare two forms of ours, each at its best setting; also by what their results count."""
    one, other = (fastest(entries, race, [who(OURS, form)]) for form in (target.timed, target.form))
    if one is None or other is None or not one.outcome.result or not other.outcome.result:
        return None
    found = (one.outcome.seconds or 0.0) / (other.outcome.seconds or 1.0)
    each = found * other.outcome.result["count"] / one.outcome.result["count"]
    return f"{found:.2f} x; a family {each:.2f} x", found <= (target.times or 0.0)


def measured_slowdown(entries: Sequence[Entry], race: Race, limit: float) -> tuple[str, bool] | None:
    ours, theirs = slowdown(entries, race, OURS), slowdown(entries, race, "pyAgrum")
    if ours is None:
        return None
    return f"{ours:.3g} x" + (f" (pyAgrum {theirs:.3g} x)" if theirs else ""), ours <= limit
