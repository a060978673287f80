"""How many threads the core works with.

There is one pool, made at its first use and remade after a fork. Its size is the number of processors this process may
use: its affinity, cut down to the quota of its control group. ``FISHERNET_THREADS`` says another number, and where that
is not set ``OMP_NUM_THREADS`` does, by which joblib gives each of its workers its share of the machine. Both are read
when the library is imported. Threads without work sleep; the calling thread works too and takes over what others have
not begun, so another busy process slows a call down by no more than the time it takes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fishernet import _core
from fishernet.base.errors import FishernetError, warn
from fishernet.base.machine import control_groups
from fishernet.base.names import shown

VARIABLE = "FISHERNET_THREADS"
OPENMP = "OMP_NUM_THREADS"  # one number, or one for each level of nesting: "4" or "4,2"


def _quota(path: Path) -> float:
    """Processors that a cgroup v2 ``cpu.max`` file allows; infinity where it says nothing."""
    try:
        quota, period = path.read_text().split()
        return float(quota) / float(period)
    except (OSError, ValueError):
        return math.inf


def available_threads() -> int:
    """Return the number of processors this process may use, at least 1."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    quota = min((_quota(folder / "cpu.max") for folder in control_groups()), default=math.inf)
    return processors if quota >= processors else max(1, math.ceil(quota))


def _initial() -> int:
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return _openmp() or available_threads()
    if text.isdecimal() and 1 <= int(text) <= _core.MAX_THREADS:
        return int(text)
    known = available_threads()
    warn(f"{VARIABLE} must be a number from 1 to {_core.MAX_THREADS}, got {text!r}; using {known}")
    return known


def _openmp() -> int | None:
    """Return what the environment says of OpenMP; None where it says nothing that could be meant for us."""
    first = os.environ.get(OPENMP, "").partition(",")[0].strip()
    return min(int(first), _core.MAX_THREADS) if first.isdecimal() and int(first) else None


def set_threads(n: int | None = None) -> int:
    """Set the number of threads of the core.

    Parameters
    ----------
    n : int or None
        From 1 to 256; None means what ``FISHERNET_THREADS`` says, otherwise ``OMP_NUM_THREADS``, otherwise what the
        machine allows.

    Returns
    -------
    int
        The number that was in force before.

    Examples
    --------
    >>> import fishernet as fn
    >>> before = fn.set_threads(1)
    >>> fn.set_threads(before)
    1
    """
    wanted = _initial() if n is None else n
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= _core.MAX_THREADS:
        raise FishernetError(f"the number of threads must be from 1 to {_core.MAX_THREADS}, got {shown(wanted)}")
    before = _core.get_threads()
    _core.set_threads(wanted)
    return before


def get_threads() -> int:
    """Return the number of threads of the core.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.get_threads() >= 1
    True
    """
    return _core.get_threads()


@contextmanager
def threads(n: int | None = None) -> Iterator[None]:
    """Work with so many threads of the core within a ``with``, and with as many as before afterwards.

    The number is that of the whole process: of two ``with`` at once in threads of your own, the last to end decides.

    Parameters
    ----------
    n : int or None
        As for `set_threads`.

    Examples
    --------
    >>> import fishernet as fn
    >>> with fn.threads(1):
    ...     fn.get_threads()
    1
    """
    before = set_threads(n)
    try:
        yield
    finally:
        set_threads(before)


set_threads()
