"""Repetitions in several processes: each is small, and most of its time is Python's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

import fishernet as fn

S = TypeVar("S")
T = TypeVar("T")


class Pool:
    """Applies functions to tasks, the results in the order of the tasks, whatever the number of processes."""

    def __init__(self, processes: ProcessPoolExecutor | None) -> None:
        self._processes = processes

    def map(self, work: Callable[[S], T], tasks: Iterable[S]) -> Iterator[T]:
        """Return what the work makes of each task."""
        return map(work, tasks) if self._processes is None else self._processes.map(work, tasks)


@contextmanager
def pool(processes: int) -> Iterator[Pool]:
    """Start so many processes of one thread each; with one there is only this process, its threads as they are."""
    if processes == 1:
        yield Pool(None)
        return
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=fn.set_threads, initargs=(1,)
    ) as p:
        yield Pool(p)
