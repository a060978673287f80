"""Runs as files, and the page and the picture that are made of all of them: ``python -m benchmarks.report``.

A run is a file `runs/DATE-NN-NAME.json`: the date, the machine, the versions, and of every workload the goals and what
each contender took. The page `RESULTS.md` shows the newest run of each workload: our best setting beside the fastest
peer's. `results.svg` draws the ratios. Neither is edited by hand.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from itertools import groupby
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from benchmarks.calls import Data
from benchmarks.environment import CONTENDERS, HELD, OURS, python_version
from benchmarks.race import Race, Run, duration

Found = Sequence[tuple[ModuleType, Race, Data, list[Run]]]
Fields = dict[str, Any]  # a part of a run's file

HERE = Path(__file__).parent
RUNS, PAGE, PICTURE = HERE / "runs", HERE / "RESULTS.md", HERE / "results.svg"
TOPICS = ["startup", "reading", "climbing", "searches", "parameters", "sampling", "inference", "kernels"]
TOPICS += [
    "dependency_networks",
    "classifiers",
    "sequences",
    "gaussian",
    "neighbours",
    "graphs",
    "missing",
    "comparison",
    "explanations",
]
TOPICS += ["mixed", "prototypes", "streams"]


# -- a run as a file -------------------------------------------------------------------------------------------------


def machine() -> Fields:
    """Return what a time depends on besides the code."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "GiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()}, {platform.python_implementation()} {platform.python_version()}",
    }


def versions() -> dict[str, str | None]:
    """Return the version of every contender, None where it is not available, and of what they share."""
    others = {name: python_version(name) for name in ("torch", "pandas", "numpy")}
    return {name: contender.version for name, contender in CONTENDERS.items()} | others


def today() -> str:
    """Return the date of a run, of the same day everywhere."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def run_of(found: Found, command: str, remarks: Sequence[str], load: Sequence[float]) -> Fields:
    """Return a run as its file holds it; `load` is that of the machine before and after."""
    head = {"date": today(), "command": command, "machine": machine(), "load": [round(x, 1) for x in load]}
    return head | {"versions": versions(), "remarks": list(remarks), "workloads": [_workload(*one) for one in found]}


def _workload(topic: ModuleType, race: Race, data: Data, runs: Sequence[Run]) -> Fields:
    goals = [dict(zip(("wish", "got", "met"), target.judged(runs), strict=True)) for target in race.targets]
    named = {"topic": topic.__name__.rpartition(".")[2], "title": topic.TITLE, "workload": race.heading(data)}
    return named | {"tells": race.tells, "goals": goals, "runs": [_contender(run) for run in runs]}


def _contender(run: Run) -> Fields:
    told: Fields = {"who": run.label, "threads": run.threads, "seconds": run.seconds}
    if run.result is None:
        return told | {"reason": run.reason}
    kept = {key: run.result[key] for key in ("handing", "processor", "extra_bytes", "note") if run.result.get(key)}
    told |= {"calls": len(run.result["seconds"]), "least": min(run.result["seconds"])} | kept
    return told | ({"right": run.verdict[0], "answer": run.verdict[1]} if run.verdict else {})


def write_run(run: Fields, name: str) -> Path:
    """Write a run beside the others, after those of its day, a contender a line."""
    number = 1 + len(list(RUNS.glob(f"{run['date']}-*.json")))
    path = RUNS / f"{run['date']}-{number:02}-{name}.json"
    lines = ["{", *(f" {json.dumps(key)}: {_line(value)}," for key, value in run.items() if key != "workloads")]
    lines.append(' "workloads": [')
    for workload in run["workloads"]:
        last = {key: value for key, value in workload.items() if key != "runs"}
        lines += [f'  {_line(last)[:-1]}, "runs": [', ",\n".join(f"   {_line(one)}" for one in workload["runs"])]
        lines.append("  ]}" + "," * (workload is not run["workloads"][-1]))
    path.write_text("\n".join([*lines, " ]", "}", ""]), encoding="utf-8")
    return path


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- what all runs say -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A form of ours on a workload, beside the fastest of its peers."""

    topic: str
    title: str
    workload: str
    ours: Fields | None
    peer: Fields | None
    goals: Sequence[Fields]
    tells: bool
    run: Fields
    file: str

    @property
    def ratio(self) -> float | None:
        """How many times as long the peer takes."""
        return self.peer["seconds"] / self.ours["seconds"] if self.ours and self.peer else None

    @property
    def wanted_ratio(self) -> float | None:
        """The largest ratio that a goal asks for."""
        asked = [re.search(r"([\d.]+) x as fast as", goal["wish"]) for goal in self.goals]
        return max((float(match[1]) for match in asked if match), default=None)


def newest_rows(folder: Path = RUNS) -> list[Row]:
    """Return the rows of the newest run of every workload, by topic."""
    seen: set[tuple[str, str]] = set()
    rows = []
    for path in sorted(folder.glob("*.json"), reverse=True):
        run = json.loads(path.read_text(encoding="utf-8"))
        for workload in run["workloads"]:
            key = workload["topic"], workload["workload"]
            if key not in seen:
                seen.add(key)
                rows += list(rows_of(run, workload, path.name))
    return sorted(rows, key=lambda row: TOPICS.index(row.topic))


def rows_of(run: Fields, workload: Fields, file: str) -> Iterator[Row]:
    """Yield a row for each form of ours; the goals stand in the first one.

    The plain form is compared with the fastest peer in whatever form, any other with the peers in the same form.
    """
    forms = dict.fromkeys(form for one in workload["runs"] for name, form in [_form(one)] if name == OURS)
    goals = workload["goals"]
    for form in forms or [""]:
        peers = [one for one in workload["runs"] if _form(one)[0] != OURS]
        peers = [one for one in peers if (_form(one)[1] == form if form else _form(one)[1] != HELD)]
        ours = [one for one in workload["runs"] if _form(one) == (OURS, form)]
        name = f"{workload['workload']} ({form})" if form else workload["workload"]
        named = workload["topic"], workload["title"], name
        yield Row(*named, _fastest(ours), _fastest(peers), goals, workload.get("tells", False), run, file)
        goals = []


def _form(contender: Fields) -> tuple[str, str]:
    name, _, form = contender["who"].partition(" (")
    return name, form.removesuffix(")")


def _fastest(contenders: Sequence[Fields]) -> Fields | None:
    return min((one for one in contenders if one["seconds"]), key=lambda one: float(one["seconds"]), default=None)


# -- the page --------------------------------------------------------------------------------------------------------

HEAD = """# Results

How fast fishernet is beside other libraries. [README.md](README.md) says what is timed and how answers are checked.

This page is made by `python -m benchmarks.report` from the files in [runs](runs): each row is the newest run of its
workload. *Ours* is our faster setting of one and two threads, *fastest peer* the fastest of the other libraries at its
best setting, *ratio* the peer's time divided by ours (above 1: ours is faster). Times are medians of repeated calls
after a warm-up; calls of 5 s and more are made once. Remarks on earlier runs are in the [history](runs/history.md).
"""


def page(rows: Sequence[Row]) -> str:
    """Return the text of the page."""
    lines = [HEAD, *_summary(rows), "", f"![Ratios of all workloads that have a peer](../benchmarks/{PICTURE.name})"]
    for title, group in groupby(rows, key=lambda row: row.title):
        lines += ["", f"## {title}", "", "| workload | ours | fastest peer | ratio | goal | date | machine |"]
        lines += [
            "| --- | --- | --- | --- | --- | --- | --- |",
            *("| " + " | ".join(_cells(row)) + " |" for row in group),
        ]
    return "\n".join(lines) + "\n"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    ratios = [row.ratio for row in rows if row.ratio is not None]
    goals = [(row, goal) for row in rows for goal in row.goals]
    missed = [(row, goal) for row, goal in goals if not goal["met"]]
    yield f"- {len(rows)} rows, {len(ratios)} with a peer; ours is the faster in {sum(r > 1 for r in ratios)} of them."
    yield f"- Median ratio: {shown_ratio(median(ratios))}." if ratios else "- No workload has a peer."
    yield f"- {len(goals)} goals, {len(missed)} of them missed{':' if missed else '.'}"
    yield from (f"  - {row.title}, {row.workload}: {shown_goal(goal)}" for row, goal in missed)


def _cells(row: Row) -> list[str]:
    computer = row.run["machine"]
    ratio = "" if row.ratio is None else shown_ratio(row.ratio)
    goals = "; ".join(shown_goal(goal) for goal in row.goals)
    peer = f"{row.peer['who']}: {shown_time(row.peer, row.tells)}" if row.peer else ""
    cells = [row.workload, shown_time(row.ours, row.tells) if row.ours else "", peer, ratio, goals]
    return [*cells, f"[{row.run['date']}](runs/{row.file})", f"{computer['processor']}, {computer['cores']} cores"]


def shown_time(contender: Fields, tells: bool) -> str:
    """Return a contender's time, and what it reached where the race says so."""
    reached = f" (reaches {contender['answer']})" if tells and contender.get("answer") else ""
    return duration(contender["seconds"]) + reached


def shown_ratio(ratio: float) -> str:
    """Return a ratio with three digits."""
    return f"{ratio:,.0f} x" if ratio >= 1000 else f"{ratio:.3g} x"


def shown_goal(goal: Fields) -> str:
    """Return a goal, and what became of it where that is known."""
    got = f" ({goal['got']})" if goal["got"] else ""
    return f"{goal['wish']}{got}" + ("" if goal["met"] else ", **missed**")


# -- the picture -----------------------------------------------------------------------------------------------------

LEFT, WIDTH, STEP, TOP = 430, 960, 17, 46  # where the axis begins, the picture's width, a row's height, the first row
INK, FAINT, FASTER, SLOWER = "#222222", "#DDDDDD", "#0072B2", "#B84C00"
LOW, HIGH = -4, 4  # powers of ten at the ends of the axis


def picture(rows: Sequence[Row]) -> str:
    """Return the drawing: a point for each ratio on a logarithmic axis, a bar where the goal is."""
    drawn, height = [row for row in rows if row.ratio is not None], TOP
    parts: list[str] = []
    for title, group in groupby(drawn, key=lambda row: row.title):
        parts.append(_text(8, height + 12, title, 'font-weight="bold"'))
        height += STEP
        for row in group:
            parts += [_text(20, height + 12, row.workload), *_marks(row, height + 8)]
            height += STEP
    frame = []
    for power in range(LOW, HIGH + 1):
        x, width = _x(10.0**power), 1.5 if power == 0 else 0.75
        frame.append(
            f'<path d="M{x} {TOP - 8}V{height}" stroke="{INK if power == 0 else FAINT}" stroke-width="{width}"/>'
        )
        frame.append(_text(x, TOP - 14, f"{10.0**power:g}", 'text-anchor="middle"'))
    head = _text(LEFT, 14, "peer's time divided by ours (blue: ours is faster; bar: the goal)")
    size = f'width="{WIDTH}" height="{height + 8}" viewBox="0 0 {WIDTH} {height + 8}"'
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11" fill="{INK}">'
    back = f'<rect width="{WIDTH}" height="{height + 8}" fill="white"/>'
    name = "<title>Ratios of the fastest peer's time to ours</title>"
    return "\n".join([opened, name, back, head, *frame, *parts, "</svg>", ""])


def _x(ratio: float) -> float:
    power = min(max(math.log10(ratio), LOW), HIGH)
    return round(LEFT + (power - LOW) / (HIGH - LOW) * (WIDTH - LEFT - 30), 1)


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}"{" " + more if more else ""}>{escape(text)}</text>'


def _marks(row: Row, y: float) -> Iterator[str]:
    assert row.ratio is not None
    tip = f"{row.workload}: {shown_ratio(row.ratio)}"
    colour = FASTER if row.ratio > 1 else SLOWER
    if row.wanted_ratio is not None:
        yield f'<path d="M{_x(row.wanted_ratio)} {y - 6}v12" stroke="{INK}" stroke-width="2"/>'
    yield f'<circle cx="{_x(row.ratio)}" cy="{y}" r="4" fill="{colour}"><title>{escape(tip)}</title></circle>'


def main() -> None:
    """Make the page and the picture from all runs."""
    rows = newest_rows()
    PAGE.write_text(page(rows), encoding="utf-8")
    PICTURE.write_text(picture(rows), encoding="utf-8")
    print(f"{PAGE.name} and {PICTURE.name} made of {len(list(RUNS.glob('*.json')))} runs")


if __name__ == "__main__":
    main()
