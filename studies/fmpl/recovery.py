"""How many edges each method has wrong, and how long it takes, by the number of variables and of rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import fishernet as fn
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
        return means(self.distances[:, self.methods.index(method)])

    def error_of(self, method: str) -> Array:
        """Return the standard errors of the mean distances."""
        values = self.distances[:, self.methods.index(method)]
        counts = self.data_sets_of(method)
        spread = means((values - means(values)[:, None]) ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(counts > 1, np.sqrt(spread / (counts - 1)), np.nan))

    def seconds_of(self, method: str) -> Array:
        """Return a method's mean time by size."""
        return means(self.seconds[:, self.methods.index(method)])

    def data_sets_of(self, method: str) -> Array:
        """Return how many data sets are behind each mean."""
        there = ~np.isnan(self.distances[:, self.methods.index(method)])
        return np.asarray(there.sum(axis=1), dtype=np.float64)


def means(values: Array) -> Array:
    """Return the means of rows over what is there; NaN where nothing is."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0.0).sum(axis=1) / there.sum(axis=1))


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
    counts = {method: options.data_sets(d, method) for method in methods if method not in lacking}
    tasks, places = [], []
    for s, n in enumerate(options.sizes):
        for r in range(max(counts.values())):
            tasks.append(Task(Copies(d), n, r, tuple(m for m, count in counts.items() if r < count)))
            places.append((s, r))
    shape = (len(options.sizes), len(methods), max(counts.values()))
    distances, seconds = np.full(shape, np.nan), np.full(shape, np.nan)
    for (s, r), task, found in zip(places, tasks, kept.map(learn, tasks), strict=True):
        at = [list(methods).index(method) for method in task.methods]
        distances[s, at, r], seconds[s, at, r] = found
    return Recovery(Copies(d), options.sizes, tuple(methods), distances, seconds)
