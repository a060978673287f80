"""How long work tells its caller how far it is.

A *progress* is any function ``progress(what, done, total)``. It is called from the calling thread, at most ten times
a second and once at the end (with ``done == total`` where the total was known); an exception it raises ends the work
and reaches the caller. ``total`` is None while nobody can know it. True is a bar on stderr, `Bar`.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, Protocol, Self

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.names import shown

Call = Callable[[str, int, int | None], None]
Progress = Call | bool

FOREVER = 1e9  # seconds
INTERVAL = 0.1  # seconds between two calls
BAR = 30  # characters


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while something was learned.

    Attributes
    ----------
    best : Dag or model
        The best so far.
    checkpoint : path or None
        The file from which the same call goes on.
    size : str
        How large the best so far is, as "12 arcs"; empty where that says nothing.
    """

    def __init__(self, *message: str, best: Any, checkpoint: Path | None = None, size: str = "") -> None:
        super().__init__(*message)
        self.best = best
        self.checkpoint = checkpoint
        self.size = size


class Bar:
    """A progress that writes one line on stderr over and over, and wipes it at the end.

    Nothing has to be closed, so that an exception leaves at most this line. Where nobody looks on (stderr goes to a
    file), nothing is written.
    """

    def __init__(self) -> None:
        self.seen: bool = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._width = 0

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Write the line, or wipe it."""
        if self.seen:
            line = "" if done == total else self.line(what, done, total)
            sys.stderr.write(f"\r{line:<{self._width}}" + "\r" * (not line))
            sys.stderr.flush()
            self._width = len(line)

    def line(self, what: str, done: int, total: int | None) -> str:
        """Return the line: what is done, a bar where the total is known, and how far it is."""
        from rich.console import Console  # loading rich takes longer than many a piece of work
        from rich.progress_bar import ProgressBar

        console = Console(width=BAR, no_color=True, color_system=None, force_jupyter=False)
        with console.capture() as drawn:
            console.print(ProgressBar(total=total or 1, completed=min(done, total or 0), width=BAR), end="")
        return f"{what} {done:,}" if total is None else f"{what} {drawn.get():<{BAR}} {done:,} of {total:,}"


def checked(progress: Progress | None) -> Call | None:
    """Return what is called; None for nothing, a `Bar` for True."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return Bar()
    if not callable(progress):
        message = f"progress must be True for a bar, or a function progress(what, done, total), got {shown(progress)}"
        raise FishernetError(message, parameter="progress")
    return progress


class Reporter:
    """Calls a progress function at most every tenth of a second; None makes every call free."""

    def __init__(self, progress: Progress | None, what: str) -> None:
        self._progress = checked(progress)
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


class Resumable(Protocol):
    """Work that can be stopped and gone on with, by an object that was made in the same way."""

    @property
    def state(self) -> tuple[list[int], list[float]]:
        """What going on needs: whole numbers and others. It is whole whenever the work calls anybody."""

    def restore(self, whole: Sequence[int], real: Sequence[float]) -> None:
        """Take a state, before the work begins; raise ValueError or TypeError when it is none."""


class Keeper(Protocol):
    """Where such work leaves its state."""

    def give(self, work: Resumable) -> None:
        """Give work the state that an earlier run left, if one did."""

    def look(self, work: Resumable) -> None:
        """Keep the state, unless that was done a moment ago."""

    def keep(self, work: Resumable) -> None:
        """Keep the state."""


class Watch:
    """Progress and a deadline (`max_seconds` from now on; None: there is none), looked at by whoever works.

    With a keeper (`keeping`), work that can be gone on with later (`over`) leaves its state there.
    """

    def __init__(self, progress: Progress | None = None, what: str = "", max_seconds: float | None = None) -> None:
        if max_seconds is not None and not (isinstance(max_seconds, float) and max_seconds == math.inf):
            max_seconds = check.number(max_seconds, "max_seconds", least=0)
            max_seconds = max_seconds if max_seconds < FOREVER else math.inf  # clocks count nanoseconds in 64 bits
        self._progress = checked(progress)
        self._reporter = Reporter(self._progress, what)
        self._began = time.monotonic()
        self._deadline = math.inf if max_seconds is None else self._began + max_seconds
        self._keeper: Keeper | None = None

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

    def keeping(self, keeper: Keeper) -> Self:
        """Return the same watch with somebody who keeps states."""
        other = copy(self)
        other._keeper = keeper
        return other

    @contextmanager
    def over(self, work: Resumable) -> Iterator[Callable[[float], bool]]:
        """Yield what such work calls for a look; it goes on from a state that was kept, and its own is kept."""
        keeper = self._keeper
        if keeper is None:
            yield self.look
            return

        def look(done: float) -> bool:
            keeper.look(work)
            return self.look(done)

        keeper.give(work)
        try:
            yield look
        finally:
            keeper.keep(work)

    def about(self, what: str) -> Watch:
        """Return a watch with the same progress and deadline that calls the work something else."""
        other = Watch(self._progress, what)
        other._began, other._deadline = self._began, self._deadline
        return other
