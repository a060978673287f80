"""Starting workers, giving up on them in time, and keeping a core busy beside them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.environment import ROOT
from benchmarks.workers.job import Job, Result


@dataclass(frozen=True)
class Outcome:
    """What came of one job."""

    result: Result | None
    """The worker's result; None where there is none."""
    reason: str = ""
    """Why there is none."""
    output: str = ""
    """The file that a large answer is in; the next race may write over it."""

    @property
    def seconds(self) -> float | None:
        """The median time of the call."""
        return None if self.result is None else median(self.result["seconds"])

    @property
    def setup_seconds(self) -> float | None:
        """The median time of handing the data over."""
        return None if self.result is None or not self.result["setup_seconds"] else median(self.result["setup_seconds"])


def run_job(command: Sequence[str], job: Job, folder: Path, limit: float) -> Outcome:
    """Run a job in a process of its own; whatever it starts ends with it."""
    job_path, result_path = folder / "job.json", folder / "result.json"
    result_path.unlink(missing_ok=True)
    job_path.write_text(json.dumps(dataclasses.asdict(job)))
    arguments = [*command, os.fspath(job_path), os.fspath(result_path)]
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as scratch:
        process = _start(arguments, os.environ | {"TMPDIR": scratch, "PYTHONHASHSEED": "0"})
        try:
            _, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return Outcome(None, f"over {limit:.0f} s")
        finally:
            _end_group(process)
    if process.returncode or not result_path.exists():
        lines = errors.strip().splitlines() or [f"exit status {process.returncode}"]
        return Outcome(None, f"failed: {lines[-1]}")
    return Outcome(json.loads(result_path.read_text()))


def _start(arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        arguments,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _end_group(process: subprocess.Popen[str]) -> None:
    """End the worker and the processes it started: it leads a group of its own."""
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
