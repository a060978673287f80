"""What this machine lets this process use, by the limits of its control groups."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from fishernet.base.errors import FishernetError

ROOT = Path("/sys/fs/cgroup")
MEMORY = ("memory.max", "memory/memory.limit_in_bytes")  # of cgroups v2, and v1


def control_groups() -> list[Path]:
    """Return the folders that hold the limits of this process: those of its control group and of all around it."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    own = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "/")
    group = ROOT / own.lstrip("/")
    return [folder for folder in (group, *group.parents) if folder.is_relative_to(ROOT)]


def memory_limit() -> int:
    """Return how many bytes the machine has, or its control groups allow where that is less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 2**63
    return min([machine, *(_limit(folder / name) for folder in control_groups() for name in MEMORY)])


def _limit(path: Path) -> int:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return 2**63


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of Python, of the system or of Arrow says that this process gets no more memory."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return any(
        words in str(error) for words in ("Failed to launch worker thread", "can't start new thread", "bad_alloc")
    )


def without_memory(when: str, why: str) -> FishernetError:
    """Return the error for memory that ran out while something was done."""
    remedy = "allow the process more of it (ulimit -v, the container's limit), or read fewer columns"
    return FishernetError(f"memory ran out while {when} ({why}); {remedy}", parameter="columns")
