"""How long work tells its caller how far it is.

A *progress* is any function ``progress(what, done, total)``. It is called from the calling thread, at most ten times
a second and once at the end (with ``done == total`` where the total was known); an exception it raises ends the work
and reaches the caller. ``total`` is None while nobody can know it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]

INTERVAL = 0.1  # seconds between two calls


class Reporter:
    """Calls a progress function at most every tenth of a second.

    Parameters
    ----------
    progress : callable or None
        ``progress(what, done, total)``; None makes every call free.
    what : str
        What is being done, in a few words.
    """

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
