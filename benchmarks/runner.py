"""Runs races: every contender in a process of its own, at its settings; checks what they tell; compares two trees."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.calls import Data, Result
from benchmarks.environment import CONTENDERS, HELD, OURS, ROOT, Contender
from benchmarks.race import Race, Run, Told, Verdict, duration

BNLEARN = ROOT / "benchmarks" / "peers" / "bnlearn_peer.R"
TURNS = 21  # of either tree in `against`
LONG, FEW_TURNS = 2.0, 5  # calls of so many seconds are given fewer turns


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a run is made."""

    folder: Path  # for what is given to the processes, and for what they write
    repeats: int
    budget: float  # seconds in which short calls are repeated


def entries(topic: ModuleType, place: int, race: Race, peers: bool) -> Iterator[tuple[Contender, str, str, str]]:
    """Yield contender, label, module and call of all who take part in a race."""
    for label in race.calls:
        yield CONTENDERS[OURS], label, topic.__name__, f"{place} {label}"
    for label, call in race.peers.items() if peers else ():
        contender = CONTENDERS[label.split(" (")[0]]
        yield contender, label, f"benchmarks.peers.{contender.module}", call


def run_race(topic: ModuleType, place: int, data: Data, settings: Settings, peers: bool, full: bool) -> list[Run]:
    """Run a race with everyone who takes part, and check the answers."""
    race, runs = topic.RACES[place], []
    for contender, label, module, call in entries(topic, place, race, peers):
        reason = "not available" if contender.version is None else race.skipped.get(label, "")
        if reason and not (full and "minutes" in reason):
            runs.append(Run(label, 0, None, reason))
            continue
        for threads in contender.threads:
            with busy_core() if HELD in label else contextlib.nullcontext():
                result, reason = run_job(contender, module, call, data, threads, settings)
            runs.append(Run(label, threads, result, reason))
            taken = reason if result is None else duration(median(result["seconds"]))
            print(f"{race.heading(data)}: {runs[-1].title}: {taken}", file=sys.stderr, flush=True)
    return checked(race, data, runs)


def checked(race: Race, data: Data, runs: Sequence[Run]) -> list[Run]:
    """Return the runs with their verdicts; equal answers of one label are judged once."""
    answers = {run.label: run.result["answer"] for run in reversed(runs) if run.result}
    verdicts: dict[tuple[str, str], Verdict] = {}
    for run in runs:
        if run.result and (run.label, run.result["bits"]) not in verdicts:
            right, text = race.check(Told(data, run.label, run.result["answer"], answers))
            verdicts[run.label, run.result["bits"]] = bool(right), text
    known = [verdicts[run.label, run.result["bits"]] if run.result else None for run in runs]
    return [dataclasses.replace(run, verdict=verdict) for run, verdict in zip(runs, known, strict=True)]


def wrong(runs: Sequence[Run]) -> list[str]:
    """Return what is not right: wrong answers, ours that gave none, and bits of ours that depend on the threads."""
    bad = [f"{run.title}: {run.verdict[1]}" for run in runs if run.verdict and not run.verdict[0]]
    ours = [run for run in runs if run.label.split(" (")[0] == OURS]
    bad += [f"{run.title}: {run.reason}" for run in ours if run.result is None]
    first = {run.label: run.result["bits"] for run in reversed(ours) if run.result}
    return bad + [f"{run.title}: other bits" for run in ours if run.result and run.result["bits"] != first[run.label]]


def run_job(
    contender: Contender, module: str, call: str, data: Data, threads: int, settings: Settings
) -> tuple[Result | None, str]:
    """Run one call in a process of its own; return its result, or why there is none."""
    job, written = settings.folder / "job", settings.folder / "result"
    written.unlink(missing_ok=True)
    if contender.name == "bnlearn":
        job.write_text(json.dumps(for_r(data, call, settings)))
        command = ["Rscript", os.fspath(BNLEARN), os.fspath(job), os.fspath(written)]
    else:
        job.write_bytes(pickle.dumps((data, settings.repeats, settings.budget)))
        command = [contender.python, "-m", "benchmarks.worker", module, call, os.fspath(job), os.fspath(written)]
    with tempfile.TemporaryDirectory(dir=settings.folder, ignore_cleanup_errors=True) as scratch:
        environment = os.environ | {"TMPDIR": scratch, "PYTHONHASHSEED": "0", "BENCHMARK_THREADS": str(threads)}
        process = start(command, environment, stdout=subprocess.DEVNULL)
        try:
            _, errors = process.communicate(timeout=contender.limit)
        except subprocess.TimeoutExpired:
            return None, f"over {contender.limit:.0f} s"
        finally:
            end(process)
    if process.returncode or not written.exists():
        return None, f"failed: {(errors.strip().splitlines() or [f'exit status {process.returncode}'])[-1]}"
    return (from_r(written, data) if contender.name == "bnlearn" else pickle.loads(written.read_bytes())), ""


def start(command: Sequence[str], environment: Mapping[str, str], **more: Any) -> subprocess.Popen[str]:
    """Start a process that leads a group of its own, so that whatever it starts can be ended with it."""
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True, **more
    )


def end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def busy_core() -> Iterator[None]:
    """Keep a core busy with an endless loop: the last that this process may use, where that can be chosen."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {max(os.sched_getaffinity(0))})
        yield
    finally:
        process.kill()
        process.wait()


def for_r(data: Data, call: str, settings: Settings) -> dict[str, Any]:
    """Return what R is told: arrays as lists, but the table as a file, one code a byte and column after column."""
    codes = settings.folder / "codes"
    np.ascontiguousarray(data.rows.T, dtype=np.uint8).tofile(codes)
    shared = {"task": call, "repeats": settings.repeats, "budget": settings.budget, "codes": os.fspath(codes)}
    network = {"parents": data.parents, "tables": [table.ravel().tolist() for table in data.tables]}
    return shared | network | {"cardinalities": data.cardinalities, "n_rows": len(data.rows)} | dict(data.options)


def from_r(written: Path, data: Data) -> Result:
    """Return R's result; a table that it drew is in the file of codes."""
    result: Result = json.loads(written.read_text())
    if result["answer"] == "codes":
        codes = np.fromfile(written.with_name("codes"), dtype=np.uint8)
        result["answer"] = codes.reshape(len(data.cardinalities), -1).T
    return {"handing": 0.0, "extra_bytes": None, "bits": "", "note": ""} | result


def against(
    topic: ModuleType, place: int, data: Data, settings: Settings, other: Path, only: Collection[str] = ()
) -> Iterator[tuple[str, str, float]]:
    """Run our calls of a race, or only some, in turns here and in another tree; yield who, a text, the lowest ratio."""
    job = settings.folder / "job"
    job.write_bytes(pickle.dumps((data, 0, 0.0)))
    for label in (label for label in topic.RACES[place].calls if HELD not in label):
        for threads in CONTENDERS[OURS].threads:
            command = [sys.executable, "-m", "benchmarks.worker", topic.__name__, f"{place} {label}", str(job), "-"]
            title = Run(label, threads, None).title
            if only and title not in only:
                continue
            try:
                now, before = in_turns([*command, "--turns"], threads, other, settings)
            except RuntimeError as error:
                yield title, str(error), math.nan
                continue
            ratio = median(a / b for a, b in zip(now, before, strict=True))
            best = min(now) / min(before)
            text = f"best of each {best:.3f} x; now {duration(median(now))}, before {duration(median(before))}"
            yield title, f"{ratio:.3f} x ({text})", min(ratio, best)


def in_turns(command: Sequence[str], threads: int, other: Path, settings: Settings) -> tuple[list[float], list[float]]:
    """Let two processes make their turns one after the other; return the times in this tree and in the other."""
    here = os.environ | {"PYTHONHASHSEED": "0", "BENCHMARK_THREADS": str(threads), "TMPDIR": str(settings.folder)}
    both = here, here | {"BENCHMARK_TREE": str(other)}
    processes = [start(command, each, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for each in both]
    times: tuple[list[float], list[float]] = ([], [])
    try:
        paths = [Path(answer_of(process)) for process in processes]
        if [path.is_relative_to(other) for path in paths] != [False, True]:
            raise RuntimeError(f"these are not two trees: {paths[0]} and {paths[1]}")
        while len(times[0]) < (FEW_TURNS if times[0] and max(times[0]) > LONG else TURNS):
            for which in (0, 1) if len(times[0]) % 2 else (1, 0):
                times[which].append(float(answer_of(processes[which], "\n")))
    finally:
        for process in processes:
            end(process)
    return times


def answer_of(process: subprocess.Popen[str], line: str = "") -> str:
    """Send a line, unless it is empty, and return the next one."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except BrokenPipeError:
        pass
    answer = process.stdout.readline().strip()
    if not answer:
        raise RuntimeError(f"failed: {(process.stderr.read().strip().splitlines() or ['no answer'])[-1]}")
    return answer
