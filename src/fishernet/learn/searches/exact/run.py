"""What the two ways of exact search have in common: progress, a deadline, and a word on how far they are."""

from __future__ import annotations

import time
from typing import Protocol

from fishernet.progress import Progress, Reporter

WHAT = "exact search"


class Watch:
    """Tells progress and looks at the clock.

    Parameters
    ----------
    progress : callable or None
    deadline : float or None
        When the time is over, by `time.monotonic`.
    """

    def __init__(self, progress: Progress | None, deadline: float | None) -> None:
        self._reporter = Reporter(progress, WHAT)
        self._deadline = deadline

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    @property
    def deadline(self) -> float | None:
        """When the time is over."""
        return self._deadline

    def tell(self, done: float, total: float | None) -> None:
        """Say how far the work is; total is None while nobody knows."""
        self._reporter.step(round(done), None if total is None else round(total))

    def finish(self, done: float) -> None:
        """Say that the work is complete."""
        self._reporter.finish(round(done))


class Run(Protocol):
    """One of the two ways."""

    @property
    def n_scores(self) -> int:
        """How many families there were to choose from, as far as they were looked at."""
        ...

    @property
    def how_far(self) -> str:
        """How far it is: "43% of the exact search was done"."""
        ...

    def parents(self) -> list[list[int]] | None:
        """Return the best network's parents; None when the time was over first."""
        ...
