"""Results that are kept in a file as they come, so that a run that was ended goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from studies.pool import Pool

Task = TypeVar("Task")


class Kept:
    """A pool whose results are looked up first, by what their task says of itself.

    A line of the file is ``[task, result]`` as JSON. What the tasks do is not in it: after a change of the methods the
    file must go.

    Parameters
    ----------
    pool : Pool
    path : Path, optional
        Without it nothing is kept.
    say : callable
        Told how many of the tasks are done.
    """

    def __init__(self, pool: Pool, path: Path | None = None, say: Callable[[str], None] = lambda _: None) -> None:
        self._pool, self._path, self._say = pool, path, say
        there = path.read_text().splitlines() if path is not None and path.exists() else []
        self._known: dict[str, Any] = dict(json.loads(line) for line in there)

    def map(self, work: Callable[[Task], Any], tasks: Sequence[Task]) -> Iterator[Any]:
        """Return what the work makes of each task; results must be what JSON can hold."""
        names = [f"{work.__module__} {task!r}" for task in tasks]
        open_tasks = [task for task, name in zip(tasks, names, strict=True) if name not in self._known]
        made = self._pool.map(work, open_tasks)
        for done, name in enumerate(names, 1):
            if name not in self._known:
                self._known[name] = next(made)
                self._write(name)
                self._say(f"{done} of {len(tasks)}")
            yield self._known[name]

    def _write(self, name: str) -> None:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as lines:
                lines.write(json.dumps([name, self._known[name]]) + "\n")
