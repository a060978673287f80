"""How many edges each method has wrong, and how long it takes, by the number of variables and of rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import fishernet as fn
from studies.averages import counts, means, standard_errors
from studies.fmpl.methods import METHODS, learned, missing
from studies.fmpl.options import Options
from studies.fmpl.truths import Array, Copies
from studies.kept import Kept

SEED = 316


@dataclass(frozen=True)
class Task:
    """One data set, and who learns from it."""

    truth: Copies
    n: int
    repetition: int
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Recovery:
    """What was found for one number of variables; [size, method, repetition], NaN where a method did not learn."""

    truth: Copies
    sizes: tuple[int, ...]
    methods: tuple[str, ...]
    distances: Array
    """Edges to add plus edges to delete."""
    seconds: Array
    """Of the processor, all threads together."""

    def of(self, method: str) -> Array:
        """Return a method's mean distance by size; NaN where it did not learn."""
        return means(self._distances_of(method), 1)

    def error_of(self, method: str) -> Array:
        """Return the standard errors of the mean distances."""
        return standard_errors(self._distances_of(method), 1)

    def seconds_of(self, method: str) -> Array:
        """Return a method's mean time by size."""
        return means(self.seconds[:, self.methods.index(method)], 1)

    def data_sets_of(self, method: str) -> Array:
        """Return how many data sets are behind each mean."""
        return counts(self._distances_of(method), 1)

    def _distances_of(self, method: str) -> Array:
        return np.asarray(self.distances[:, self.methods.index(method)])


def learn(task: Task) -> list[list[float]]:
    """Return distances and seconds, one a method."""
    rng = np.random.default_rng([SEED, task.truth.n_variables, task.n, task.repetition])
    X, truth = task.truth.draw(task.n, rng)
    distances, seconds = [], []
    for method in task.methods:
        began = time.process_time()
        found = learned(method, X)
        seconds.append(time.process_time() - began)
        distances.append(float(fn.hamming(found, truth)))
    return [distances, seconds]


def recover(d: int, options: Options, kept: Kept, methods: Sequence[str] = tuple(METHODS)) -> Recovery:
    """Draw, learn and compare; the data depend neither on the methods nor on how many repetitions there are."""
    lacking = missing()
    asked = {method: options.data_sets(d, method) for method in methods if method not in lacking}
    tasks, places = [], []
    for s, n in enumerate(options.sizes):
        for r in range(max(asked.values())):
            tasks.append(Task(Copies(d), n, r, tuple(m for m, count in asked.items() if r < count)))
            places.append((s, r))
    shape = (len(options.sizes), len(methods), max(asked.values()))
    distances, seconds = np.full(shape, np.nan), np.full(shape, np.nan)
    for (s, r), task, found in zip(places, tasks, kept.map(learn, tasks), strict=True):
        at = [list(methods).index(method) for method in task.methods]
        distances[s, at, r], seconds[s, at, r] = found
    return Recovery(Copies(d), options.sizes, tuple(methods), distances, seconds)
