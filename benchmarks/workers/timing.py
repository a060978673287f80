"""Timing a call and watching its memory, inside the process that makes it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

Input = TypeVar("Input")
Answer = TypeVar("Answer")

SLOW = 5.0
"""A call of this many seconds needs no warm-up and no repetition."""
BUDGET = 2.0
"""Short calls are repeated for about this many seconds, at least `repeats` and at most `MOST` times."""
MOST = 200


@dataclass(frozen=True)
class Timing(Generic[Answer]):
    """What one job took."""

    seconds: list[float]
    """One a repetition, the warm-up left out."""
    setup_seconds: list[float]
    """What handing the data over took before each of them."""
    extra_bytes: int | None
    """Peak memory of the first call beyond what was in use before it; None where the system does not tell."""
    answer: Answer

    def as_result(self) -> dict[str, object]:
        """Return the part of a worker's result that every task has."""
        return {"seconds": self.seconds, "setup_seconds": self.setup_seconds, "extra_bytes": self.extra_bytes}


def measure(setup: Callable[[], Input], action: Callable[[Input], Answer], repeats: int) -> Timing[Answer]:
    """Time ``action(setup())``, the two parts apart.

    Every repetition is handed its data anew, so that a score or a count kept from the one before cannot help it. The
    first is a warm-up and is left out, unless it took `SLOW` seconds or more: then it is the only one.
    """
    started = time.perf_counter()
    data = setup()
    setups = [time.perf_counter() - started]
    before = _reset_peak()
    started = time.perf_counter()
    answer = action(data)
    seconds = [time.perf_counter() - started]
    peak = _status("VmHWM")
    extra = None if before is None or peak is None else peak - before
    if seconds[0] >= SLOW:
        return Timing(seconds, setups, extra, answer)
    seconds.clear()
    setups.clear()
    began = time.perf_counter()
    while len(seconds) < repeats or (len(seconds) < MOST and time.perf_counter() - began < BUDGET):
        del data, answer
        started = time.perf_counter()
        data = setup()
        ready = time.perf_counter()
        answer = action(data)
        seconds.append(time.perf_counter() - ready)
        setups.append(ready - started)
    return Timing(seconds, setups, extra, answer)


def _reset_peak() -> int | None:
    """Forget the peak memory so far and return the bytes in use now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _status(field: str) -> int | None:
    """Return one field of this process's status, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return None
