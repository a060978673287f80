"""What is handed to a contender, what it does with it, and the clock beside it.

Every contender runs in a process of its own, so that threads, caches and memory of one never touch another. This
module is what these processes share; it needs NumPy alone, because the peers live in an environment without
fishernet.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Result = dict[str, Any]

# What a process begins with: with `--against` it may be told which tree to import ours from.
TREE_FIRST = """
import os, sys
if tree := os.environ.get('BENCHMARK_TREE'):
    sys.path.insert(0, tree)  # an editable installation is found before any path
    sys.meta_path[:] = [finder for finder in sys.meta_path if 'editable' not in type(finder).__module__]
"""
SLOW = 5.0  # seconds: such a call needs no warm-up and no repetition
MOST = 200  # repetitions of short calls, which end before when the budget of seconds is used up
TURN = 0.05  # seconds that a turn of `--against` lasts at least: a call of microseconds is made many times in it


@dataclass(frozen=True, eq=False)
class Data:
    """What a race is run on, the same for everyone; fields that a race does not need stay empty."""

    title: str
    rows: npt.NDArray[Any] = field(default_factory=lambda: np.empty((0, 0)))  # codes from 0 without gaps, or numbers
    cardinalities: tuple[int, ...] = ()
    parents: tuple[tuple[int, ...], ...] = ()  # of every variable, ascending; or its neighbours, or its inputs
    tables: tuple[Array, ...] = ()  # conditionals [parents ..., state], or the parts of a model of strings
    given: Mapping[int, int] = field(default_factory=dict)  # what is observed: the codes of some variables
    options: Mapping[str, Any] = field(default_factory=dict)  # what ours and the peers must agree about

    @property
    def names(self) -> list[str]:
        """The variables' names."""
        return [f"v{i}" for i in range(len(self.cardinalities) or self.rows.shape[1])]

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """Names of parent and child."""
        return [(f"v{parent}", f"v{child}") for child, parents in enumerate(self.parents) for parent in parents]

    @property
    def known(self) -> dict[str, int]:
        """What is observed, by name."""
        return {f"v{v}": code for v, code in self.given.items()}

    def family(self, child: int) -> tuple[int, ...]:
        """Return a variable's parents and the variable itself."""
        return (*self.parents[child], child)

    def asked(self) -> list[list[str]]:
        """Return the members of every family that are not given, where there are any."""
        free = [[f"v{i}" for i in self.family(v) if i not in self.given] for v in range(len(self.parents))]
        return [names for names in free if names]

    def split(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the features, and the class, which is the last column."""
        return np.ascontiguousarray(self.rows[:, :-1]), np.ascontiguousarray(self.rows[:, -1])

    def pairs(self) -> npt.NDArray[np.int64]:
        """Return the random pairs of rows whose entries of a kernel matrix are looked at, (n_entries, 2)."""
        return np.random.default_rng(6).integers(len(self.rows), size=(self.options["n_entries"], 2))


@dataclass(frozen=True)
class Call:
    """What one contender does: ``run(hand(data))``, of which `run` is timed."""

    hand: Callable[[Data], Any]  # anew for every repetition, so that nothing kept from the one before can help it
    run: Callable[[Any], Any]
    tell: Callable[[Any, Data], Any] = lambda found, _: found  # the answer, of plain numbers and arrays
    note: str = ""
    clock: Callable[[Any, float], float] = lambda _, seconds: seconds  # where what `run` returned knows the time better


def once(call: Call, data: Data, watch: bool = False) -> tuple[float, float, float, int | None, Any]:
    """Make one call; return the seconds of handing over, of the call, and of the processor in it, and what it gave.

    Before its answer comes its peak memory, if asked.
    """
    started = time.perf_counter()
    handed = call.hand(data)
    handing = time.perf_counter() - started
    before = reset_peak() if watch else None
    started, worked = time.perf_counter(), time.process_time()
    found = call.run(handed)
    seconds = call.clock(found, time.perf_counter() - started)
    processor = time.process_time() - worked
    peak = status("VmHWM") if watch else None
    return handing, seconds, processor, None if before is None or peak is None else peak - before, found


def measure(call: Call, data: Data, repeats: int, budget: float) -> Result:
    """Make a call until it has been timed often enough; the first is a warm-up, unless it is slow."""
    handing, seconds, processor, extra, found = once(call, data, watch=True)
    handings, times, works, began = [handing], [seconds], [processor], time.perf_counter()
    if seconds < SLOW:
        handings, times, works = [], [], []
        while len(times) < repeats or (len(times) < MOST and time.perf_counter() - began < budget):
            del found
            handing, seconds, processor, _, found = once(call, data)
            handings.append(handing)
            times.append(seconds)
            works.append(processor)
    told = {"answer": call.tell(found, data), "note": call.note, "extra_bytes": extra, "handing": median(handings)}
    return told | {"seconds": times, "processor": median(works), "bits": digest(told["answer"])}


def turn(call: Call, data: Data) -> float:
    """Return the median time of the calls of one turn, which ends early where handing over takes long."""
    times, began = [once(call, data)[1]], time.perf_counter()
    while sum(times) < TURN and len(times) < MOST and time.perf_counter() - began < 5 * TURN:
        times.append(once(call, data)[1])
    return median(times)


def digest(answer: object) -> str:
    """Return a short name of the exact bits of an answer."""
    total = hashlib.sha256()

    def add(item: object) -> None:
        if isinstance(item, list | tuple):
            total.update(b"%d:" % len(item))
            for part in item:
                add(part)
        else:
            total.update(item.encode() if isinstance(item, str) else np.ascontiguousarray(item).reshape(-1).data)

    add(answer)
    return total.hexdigest()[:16]


def python(code: str, *arguments: str, clock: Callable[[Any, float], float] = lambda _, seconds: seconds) -> Call:
    """Return a call that runs Python to its end; braces in its arguments are filled in from the data's options."""

    def run(filled: list[str]) -> str:
        command = [sys.executable, "-c", f"{TREE_FIRST}\n{code}", *filled]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return Call(lambda data: [part.format(**data.options) for part in arguments], run, lambda *_: "", clock=clock)


def importing(module: str) -> Call:
    """Return a call that imports a module in a fresh interpreter, which tells what the import alone took."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return python(code, clock=lambda printed, _: float(printed.split()[-1]))


def threads() -> int:
    """Return the number of threads that this process is to use; 0: whatever the library does by itself."""
    return int(os.environ.get("BENCHMARK_THREADS", "0"))


def reset_peak() -> int | None:
    """Forget the peak memory so far and return the bytes in use now; None where the system does not tell."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return status("VmRSS")


def status(field_name: str) -> int | None:
    """Return one field of this process's status, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field_name + ":")), None)
