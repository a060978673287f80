"""Cases one after the other in a process that may die, and the one beside it that says of what."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from tests.fuzz.case import Case, finding

PARTS = ("readers", "public", "core")
PATIENCE = 10.0  # seconds that a case may take
SLOW = "takes more than"  # what is told of a slow case begins so
PER_SEED = 10**9  # cases of a campaign's seed


def cases_of(part: str) -> Callable[[int], Case]:
    """Return what makes the case of a seed; what it needs is made now."""
    made: Callable[[int], Case] = importlib.import_module(f"tests.fuzz.{part}").case
    made(0)  # else the first case would be the one that takes the time
    return made


def work(part: str, first: int, seconds: float, memory: float) -> None:
    """Make cases until the time is over; print each one's number before it and what was wrong behind it."""
    faulthandler.enable()
    case = cases_of(part)
    if memory:
        most = int(memory * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    out = os.fdopen(os.dup(1), "w", buffering=1)
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123  # what the library prints is not for the process beside
        os.dup2(nowhere.fileno(), 1)
    end = time.monotonic() + seconds
    number = first
    while time.monotonic() < end:
        print(f"case {number}", file=out)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        found = finding(case(number))
        faulthandler.cancel_dump_traceback_later()
        if found:
            print(f"found {number} {' '.join(found.split())}", file=out)
        number += 1
    print("done", file=out)


def campaign(parts: list[str], seconds: float, seed: int, memory: float) -> int:
    """Run parts of the campaign for equal times; print the findings and return how many kinds there are, at most 1."""
    kinds: set[str] = set()
    share = seconds / len(parts)
    for part in parts:
        n = slow = 0
        for number, what in findings(part, share, seed * PER_SEED, memory):
            if not what:
                n += 1
                continue
            slow += what.startswith(SLOW)
            if (kind := _kind(what)) not in kinds:
                kinds.add(kind)
                print(f"python -m tests.fuzz {part} {number}  # {what}", flush=True)
        if not n:
            kinds.add(f"nothing of {part}")
        lost = f", {slow} of which took {slow * PATIENCE:g} of the {share:.3g} s" if slow else ""
        print(f"{part}: {n:,} cases{lost}" if n else f"{part}: no case was made in {share:.3g} s", flush=True)
    print(f"{len(kinds)} findings" if kinds else "nothing found")
    return bool(kinds)


def _kind(what: str) -> str:
    """Return where a finding was made, which one is told of; slow cases are others than wrong ones."""
    return what if what.startswith(SLOW) else what.partition(" at ")[2] or what


def findings(part: str, seconds: float, first: int, memory: float) -> Iterator[tuple[int, str]]:
    """Yield each case's number with nothing, and again with what is wrong.

    A crash and a case that takes too long begin a new process. One that ends without a case is the last one: it is a
    finding about the case that it should have made.
    """
    end = time.monotonic() + seconds
    number = first
    while (left := end - time.monotonic()) > 0:
        command = [sys.executable, *_command(part, number, left, memory)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout
            assert process.stderr
            os.set_blocking(process.stderr.fileno(), False)
            begun = done = False
            for line in process.stdout:
                word, _, rest = line.strip().partition(" ")
                done = word == "done"
                if word == "case":
                    begun = True
                    number = int(rest)
                    yield number, ""
                elif word == "found":
                    yield int(rest.partition(" ")[0]), rest.partition(" ")[2]
            said = ""
            with contextlib.suppress(TypeError):
                said = process.stderr.read()
        if done and process.returncode == 0:
            return
        how = _death(process.returncode, said)
        yield number, how if begun else f"no case was begun: {how}"
        if not begun:
            return
        number += 1


def _command(part: str, first: int, seconds: float, memory: float) -> list[str]:
    return ["-m", "tests.fuzz", part, "--memory", str(memory), "--work", str(first), str(seconds)]


def _death(code: int, said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    inner = next((line for line in lines if line.startswith("File") and "fishernet" in line), "")
    place = inner.partition("fishernet/")[2] or inner
    if any("Timeout" in line for line in lines):
        return f"{SLOW} {PATIENCE:g} s at {place}"
    if any("Fatal Python error" in line for line in lines):
        return f"the process died ({code}) at {place or 'no place of ours'}"
    return f"the process died ({code}): {' | '.join(lines[-12:])[-400:]}"


def repeat(part: str, numbers: list[int]) -> int:
    """Make cases of a part in this process, and print what they are and what is wrong."""
    case = cases_of(part)
    failed = 0
    for number in numbers:
        made = case(number)
        print(f"{number}: {made.what}", flush=True)
        found = finding(made)
        print(f"    {found or 'as it should be'}", flush=True)
        failed += found is not None
    return bool(failed)
