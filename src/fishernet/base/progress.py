"""How long work tells its caller how far it is.

A *progress* is any function ``progress(what, done, total)``. It is called from the calling thread, at most ten times
a second and once at the end (with ``done == total`` where the total was known); an exception it raises ends the work
and reaches the caller. ``total`` is None while nobody can know it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from fishernet.base.errors import FishernetError

Progress = Callable[[str, int, int | None], None]

INTERVAL = 0.1  # seconds between two calls


class Reporter:
    """Calls a progress function at most every tenth of a second; None makes every call free."""

    def __init__(self, progress: Progress | None, what: str) -> None:
        self._progress = progress
        self._what = what
        self._last = float("-inf")

    def step(self, done: int, total: int | None = None) -> None:
        """Say how far the work is; passed on when the last call was long enough ago."""
        if self._progress is None:
            return
        now = time.monotonic()
        if now - self._last >= INTERVAL:
            self._last = now
            self._progress(self._what, done, total)

    def finish(self, done: int) -> None:
        """Say that the work is complete; always passed on."""
        if self._progress is not None:
            self._progress(self._what, done, done)


class Watch:
    """Progress and a deadline (`max_seconds` from now on; None: there is none), looked at by whoever works."""

    def __init__(self, progress: Progress | None = None, what: str = "", max_seconds: float | None = None) -> None:
        if max_seconds is not None and not max_seconds >= 0:
            raise FishernetError(f"max_seconds must not be negative, got {max_seconds}", parameter="max_seconds")
        self._progress = progress
        self._reporter = Reporter(progress, what)
        self._began = time.monotonic()
        self._deadline = math.inf if max_seconds is None else self._began + max_seconds

    @property
    def seconds(self) -> float:
        """How long it has been watching."""
        return time.monotonic() - self._began

    @property
    def seconds_left(self) -> float | None:
        """How long until the deadline; None when there is none."""
        return None if math.isinf(self._deadline) else max(0.0, self._deadline - time.monotonic())

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._deadline

    def look(self, done: float, total: float | None = None) -> bool:
        """Say how far the work is, and return whether its time is over."""
        if self._progress is not None:
            self._reporter.step(round(done), None if total is None else round(total))
        return self.late

    def finish(self, done: float) -> None:
        """Say that the work is complete."""
        self._reporter.finish(round(done))

    def about(self, what: str) -> Watch:
        """Return a watch with the same progress and deadline that calls the work something else."""
        other = Watch(self._progress, what)
        other._began, other._deadline = self._began, self._deadline
        return other
