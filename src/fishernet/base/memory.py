"""How much memory this process may use."""

from __future__ import annotations

import os
from pathlib import Path

LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of cgroups v2, and v1


def memory_limit() -> int:
    """Return how many bytes the machine has, or the cgroup of this process allows where that is less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 2**63
    return min([machine, *(_limit(folder / name) for folder in _cgroups() for name in LIMITS)])


def _cgroups() -> list[Path]:
    """Return the folders that may hold the limits of this process: those of its cgroup and of all around it."""
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
    own = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "/")
    group = root / own.lstrip("/")
    return [folder for folder in (group, *group.parents) if folder.is_relative_to(root)]


def _limit(path: Path) -> int:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return 2**63
