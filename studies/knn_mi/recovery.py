"""How many edges each method has wrong, by the number of rows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import fishernet as fn
from studies.averages import counts, means, standard_errors
from studies.kept import Kept
from studies.knn_mi.methods import learned, missing
from studies.knn_mi.truths import Array, Truth

SEED = 3240


@dataclass(frozen=True)
class Limit:
    """How far a method goes that takes long."""

    rows: int
    repetitions: int

    def allows(self, n: int, repetition: int) -> bool:
        """Return whether the method learns from so many rows, in that repetition."""
        return n <= self.rows and repetition < self.repetitions


@dataclass(frozen=True)
class Plan:
    """What to draw, and who learns from it."""

    truths: tuple[Truth, ...]
    sizes: tuple[int, ...]
    repetitions: int
    methods: tuple[str, ...]
    limits: Mapping[str, Limit]
    """Of methods that do not learn from everything."""


@dataclass(frozen=True)
class Task:
    """One data set."""

    truth: Truth
    n: int
    repetition: int
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Recovery:
    """What was found; [truth, size, repetition, method], NaN where a method did not learn."""

    plan: Plan
    distances: Array
    """Edges to add plus edges to delete."""
    seconds: Array
    """Of the processor, all threads together."""

    @property
    def mean(self) -> Array:
        """[truth, size, method]."""
        return means(self.distances, 2)

    @property
    def error(self) -> Array:
        """The standard error of `mean`."""
        return standard_errors(self.distances, 2)

    @property
    def repetitions(self) -> Array:
        """How many data sets are behind each mean."""
        return counts(self.distances, 2)

    @property
    def mean_seconds(self) -> Array:
        """[truth, size, method]."""
        return means(self.seconds, 2)

    def at(self, truth: int, method: str) -> Array:
        """Return the mean distances of a method, by size."""
        return np.asarray(self.mean[truth, :, self.plan.methods.index(method)])


def learn(task: Task) -> list[list[float]]:
    """Return distances and seconds, one a method; NaN for a method that is not to learn from these rows."""
    rng = np.random.default_rng([SEED, task.truth.n_variables, task.n, task.repetition, *task.truth.name.encode()])
    X, truth = task.truth.draw(task.n, rng)
    distances, seconds = [], []
    for method in task.methods:
        began = time.process_time()
        distances.append(float(fn.hamming(learned(method, X, task.repetition), truth)))
        seconds.append(time.process_time() - began)
    return [distances, seconds]


def recover(plan: Plan, kept: Kept) -> Recovery:
    """Draw, learn and compare; the data do not depend on the methods, nor a repetition on how many there are."""
    there = [method for method in plan.methods if method not in missing()]
    places = [
        (t, s, r) for s in range(len(plan.sizes)) for t in range(len(plan.truths)) for r in range(plan.repetitions)
    ]
    tasks = [
        Task(plan.truths[t], plan.sizes[s], r, tuple(m for m in there if allows(plan, m, plan.sizes[s], r)))
        for t, s, r in places
    ]
    shape = (len(plan.truths), len(plan.sizes), plan.repetitions, len(plan.methods))
    distances, seconds = np.full(shape, np.nan), np.full(shape, np.nan)
    for place, task, found in zip(places, tasks, kept.map(learn, tasks), strict=True):
        at = [plan.methods.index(method) for method in task.methods]
        distances[place][at], seconds[place][at] = found
    return Recovery(plan, distances, seconds)


def allows(plan: Plan, method: str, n: int, repetition: int) -> bool:
    """Return whether a method learns from so many rows, in that repetition."""
    limit = plan.limits.get(method)
    return limit is None or limit.allows(n, repetition)
