"""How long the parts of a command took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Measures the parts of a piece of work.

    Attributes
    ----------
    seconds : dict from str to float
        How long each part took, in the order in which they began.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def time(self, part: str) -> Iterator[None]:
        """Measure what happens inside as one part."""
        self.seconds[part] = 0.0
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = time.perf_counter() - began
