"""Writing down what the races gave: tables for people, and everything as JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from benchmarks.calls import Data
from benchmarks.environment import CONTENDERS, OURS, python_version
from benchmarks.race import Race, Run, best, duration

Found = Sequence[tuple[ModuleType, Race, Data, list[Run]]]


def machine() -> dict[str, Any]:
    """Return what a time depends on besides the code."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    others = {name: python_version(name) for name in ("torch", "pandas", "numpy")}
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "GiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()}, {platform.python_implementation()} {platform.python_version()}",
        "versions": {name: contender.version for name, contender in CONTENDERS.items()} | others,
    }


def report(found: Found, left_out: Sequence[str], bad: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a run: the machine, what was wrong or left out, and tables of times."""
    of = machine()
    versions = ", ".join(f"{name} {version or 'not available'}" for name, version in of["versions"].items())
    yield from (f"## {of['date']}, {of['processor']}, {of['cores']} cores, {of['GiB']} GiB", "")
    yield f"- {of['system']}; {versions}."
    yield f"- Wrong or missing answers: {len(bad)}."
    yield from (f"  - {text}" for text in bad)
    if left_out:
        yield f"- Left out, because not in the folder of data: {', '.join(left_out)}."
    for topic, group in groupby(found, key=lambda entry: entry[0]):
        yield from ("", f"### {topic.TITLE}")
        for labels, races in groupby(group, key=lambda entry: tuple(run.title for run in entry[3] if run.result)):
            header = ["", *labels, "ours is faster by", "wanted"]
            rows = [[race.heading(data), *cells(race, runs, labels)] for _, race, data, runs in races]
            yield from ("", *("| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *rows)))


def cells(race: Race, runs: Sequence[Run], labels: Sequence[str]) -> list[str]:
    """Return the times of a race, how much faster ours is, and its targets."""
    times = {run.title: duration(run.seconds) if run.seconds else "WRONG" for run in runs if run.result}
    if race.tells:
        times |= {run.title: f"{times[run.title]} {known(run)}" for run in runs if run.result}
    ours, theirs = best(runs, OURS), best(runs, *race.peers)
    ratio = f"{theirs.seconds / ours.seconds:.3g} x" if ours and theirs and ours.seconds and theirs.seconds else ""
    targets = [target.outcome(runs) for target in race.targets]
    missing = [f"{run.label}: {run.reason}" for run in runs if run.result is None]
    return [*(times.get(label, "") for label in labels), ratio, "; ".join([*targets, *missing])]


def known(run: Run) -> str:
    """Return the processor's time in a call (of all its threads), and what is known of its answer."""
    worked = (run.result or {}).get("processor")
    return f"{f'({duration(worked)})' if worked is not None else ''} {run.verdict[1] if run.verdict else ''}".strip()


def as_json(found: Found) -> dict[str, Any]:
    """Return everything that was measured, and what is known of every answer."""
    rows = []
    for topic, race, data, runs in found:
        for run in runs:
            who = {"topic": topic.TITLE, "race": race.heading(data), "who": run.label, "threads": run.threads}
            kept = {key: value for key, value in (run.result or {}).items() if key not in ("answer", "seconds")}
            times = run.result["seconds"] if run.result else []
            told = {"best": min(times, default=None), "median": median(times) if times else None, "calls": len(times)}
            rows.append(who | told | {"verdict": run.verdict, "reason": run.reason} | kept)
    return machine() | {"runs": rows}
