"""Writing down what the races gave: tables of times and ratios, targets, answers and bits."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.contenders import OURS, Contender
from benchmarks.environment import python_version
from benchmarks.races import TOPICS, Race
from benchmarks.targets import Entry, compare, duration, ratio


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def targets(entries: Sequence[Entry], races: Sequence[Race]) -> list[str]:
    rows, words = [], {True: "yes", False: "**no**", None: "-"}
    for race in races:
        for target in race.targets:
            found = compare(entries, race, target)
            rows.append([TOPICS[race.topic], race.title, found.wanted, found.got, words[found.met]])
    return ["## Targets", "", *markdown(["what", "on", "wanted", "got", "met"], rows), ""] if rows else []


def cell(entry: Entry | None) -> str:
    """Return what the table of times says of a run."""
    if entry is None:
        return ""
    if entry.outcome.seconds is None:
        return entry.outcome.reason
    return duration(entry.outcome.seconds) + ("" if entry.valid else " WRONG")


def topic_section(topic: str, entries: Sequence[Entry], races: Sequence[Race]) -> list[str]:
    """Return a topic's table of times, and below it what else is known."""
    mine = [entry for entry in entries if entry.race.topic == topic]
    labels = list(dict.fromkeys(entry.label for entry in mine))
    rows = []
    for race in races:
        runs = {entry.label: entry for entry in mine if entry.race is race}
        found = ratio(entries, race, [name for name in race.entrants if name != OURS])
        compared = f"{found[0]:.3g} x" if found else ""
        rows.append([race.title, *(cell(runs.get(label)) for label in labels), compared])
    header = ["", *labels, "ours is faster by"]
    remarks = [f"- {remark}" for race in races for remark in race.remarks]
    below = [*remarks, ""] if remarks else []
    return [f"## {TOPICS[topic]}", "", *markdown(header, rows), "", *below, *details(mine)]


def details(entries: Sequence[Entry]) -> list[str]:
    """Return one row a run: the answer, the hand-over, the memory and remarks."""
    rows = []
    for entry in entries:
        result = entry.outcome.result
        if result is None or entry.verdict is None:
            continue
        setup, extra = entry.outcome.setup_seconds, result["extra_bytes"]
        rows.append(
            [
                entry.race.title,
                entry.label,
                str(len(result["seconds"])),
                "-" if setup is None else duration(setup),
                "-" if extra is None else f"{extra / 1e6:.1f} MB",
                ("" if entry.verdict.right else "WRONG: ") + entry.verdict.text,
                result.get("note", ""),
            ]
        )
    header = ["", "who", "runs", "handing over", "memory beyond the data", "answer", "remark"]
    return [*markdown(header, rows), ""] if rows else []


def different_bits(entries: Sequence[Entry], races: Sequence[Race]) -> list[str]:
    """Return the races that give different bits at different numbers of threads."""
    different = []
    for race in races:
        ours = [e for e in entries if e.race is race and e.contender == OURS and e.outcome.result]
        told = {(e.form, e.outcome.result["digest"]) for e in ours if e.outcome.result and "digest" in e.outcome.result}
        if len(told) > len({form for form, _ in told}):
            different.append(race.title)
    return different


def wrong(entries: Sequence[Entry]) -> list[str]:
    """Return the runs whose answer is not right, and ours that gave none."""
    bad = []
    for entry in entries:
        if entry.verdict is not None and not entry.verdict.right:
            bad.append(f"{entry.race.title}: {entry.label}: {entry.verdict.text}")
        elif entry.contender == OURS and entry.outcome.result is None:
            bad.append(f"{entry.race.title}: {entry.label}: {entry.outcome.reason}")
    return bad


def answers(entries: Sequence[Entry], races: Sequence[Race]) -> list[str]:
    bad, differing = wrong(entries), different_bits(entries, races)
    judged = sum(entry.verdict is not None for entry in entries)
    lines = [f"- Answers: {judged} judged, {len(bad)} wrong or missing.", *(f"  - {text}" for text in bad)]
    compared = "the same" if not differing else "DIFFERENT in " + "; ".join(differing)
    return ["## Answers", "", *lines, f"- Our bits at one and at two threads: {compared}.", ""]


def processor() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def setting(contenders: Iterable[Contender]) -> list[str]:
    """Return the machine and the versions."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = [f"{contender.name} {contender.version or 'not available'}" for contender in contenders]
    versions += [f"{name} {version}" for name in ("torch", "pandas", "numpy") if (version := python_version(name))]
    return [
        f"- Machine: {processor()}, {cores} cores, {memory:.0f} GiB; {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}",
        f"- Versions: {', '.join(versions)}",
        f"- Date: {datetime.now(UTC):%Y-%m-%d}",
        "- Times are medians of repeated calls after a warm-up (calls of 5 s and more: once), each contender in a "
        "process of its own; `README.md` says what is timed.",
        "",
    ]


def report(entries: Sequence[Entry], contenders: Iterable[Contender]) -> str:
    """Return the whole report as Markdown."""
    races = list({id(entry.race): entry.race for entry in entries}.values())
    lines = ["# Results", "", *setting(contenders), *targets(entries, races), *answers(entries, races)]
    for topic in TOPICS:
        found = [race for race in races if race.topic == topic]
        if found:
            lines += topic_section(topic, entries, found)
    return "\n".join(lines).rstrip() + "\n"
