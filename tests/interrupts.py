"""Ctrl-C while work goes on, and time that is over."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fishernet.base.progress import Progress

SOON = 0.05  # seconds after the work said that it had begun; the work takes dozens of times as long


@contextmanager
def interrupt_once_begun() -> Iterator[Progress]:
    """Give a progress function whose first call has Ctrl-C come soon, from outside and in the middle of the work."""
    gc.collect()  # Python swallows what is raised while garbage of earlier tests is collected
    timer = threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT))
    begun = threading.Event()

    def progress(what: str, done: int, total: int | None) -> None:
        if not begun.is_set():
            begun.set()
            timer.start()

    try:
        yield progress
    finally:
        if begun.is_set():
            timer.join()


def time_over_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> Progress:
    """Give a progress function that ends the time of any limit once more steps are made; the clock is a made one."""
    clock = itertools.count()
    monkeypatch.setattr("fishernet.base.progress.time.monotonic", lambda: next(clock))

    def progress(what: str, done: int, total: int | None) -> None:
        nonlocal clock
        if done > steps:
            clock = itertools.count(10**9)

    return progress
